use super::*;
use crate::binlog::event::testing::{decode, details, hex, info, maria_format};
use crate::binlog::event::{Flavor, FormatDescription, flag_names, sql_mode_names};
use proptest::prelude::*;

/// A QUERY of version 4 with the given status variables.
fn query_body(vars: &[u8], schema: &[u8], query: &[u8]) -> Vec<u8> {
    let mut body = vec![7, 0, 0, 0, 1, 0, 0, 0, schema.len() as u8, 0x48, 0x04];
    body.extend((vars.len() as u16).to_le_bytes());
    body.extend([vars, schema, &[0], query].concat());
    body
}

fn query<'a>(body: &'a [u8], format: &FormatDescription) -> Query<'a> {
    match decode(2, body, format) {
        Ok(Event::Query(query)) => query,
        other => panic!("{other:?}"),
    }
}

fn text(body: &[u8]) -> String {
    let query = query(body, &FormatDescription::assumed());
    query.text().unwrap().text.into_owned()
}

/// Status variables of `create table t2(a timestamp)` on MySQL 9.7.4.
const MYSQL_9: &str = "00 00000000 01 2000a04500000000 06 03 737464 03 0500 0200
    04 0800 0800 ff00 10 01 11 e800000000000000 12 ff00 13 00";

#[test]
fn every_field() {
    let body = query_body(&hex(MYSQL_9), b"qq", b"create table t2(a timestamp)");
    let query = query(&body, &FormatDescription::assumed());
    assert_eq!(
        (query.thread_id, query.exec_time, query.error_code),
        (7, 1, 1096)
    );
    assert_eq!(query.schema, b"qq");
    assert_eq!(query.status_vars.client_charset(), Some(8));
    assert_eq!(query.status_vars.time_zone(), None);
    let event = Event::Query(query);
    assert_eq!(
        info(&event),
        "use `qq`; create table t2(a timestamp) /* xid=232 */"
    );
    assert_eq!(
        details(&event),
        concat!(
            r#"{"flags2":0,"flags2_names":[],"sql_mode":1168113696,"sql_mode_names":["#,
            r#""ONLY_FULL_GROUP_BY","STRICT_TRANS_TABLES","NO_ZERO_IN_DATE","NO_ZERO_DATE","#,
            r#""ERROR_FOR_DIVISION_BY_ZERO","NO_ENGINE_SUBSTITUTION"],"catalog":"std","#,
            r#""auto_increment_increment":5,"auto_increment_offset":2,"#,
            r#""character_set_client":"latin1","collation_client_id":8,"#,
            r#""collation_connection_id":8,"collation_server_id":255,"#,
            r#""explicit_defaults_for_timestamp":true,"ddl_xid":232,"#,
            r#""default_collation_for_utf8mb4_id":255,"sql_require_primary_key":0}"#,
        )
    );
}

#[test]
fn buglog_015_time_zone_and_microseconds_are_shown() {
    // `insert into t(ts) values (now(6))` under time_zone = '+03:00'; MySQL 9.7.4.
    let vars = hex(
        "00 00000000 01 2000a04500000000 06 03 737464 04 ff00 ff00 ff00
        05 06 2b30333a3030 0c 01 7171 00 0d afcd03 12 ff00 15 00",
    );
    let body = query_body(&vars, b"qq", b"insert into t(ts) values (now(6))");
    let query = query(&body, &FormatDescription::assumed());
    assert_eq!(query.status_vars.time_zone(), Some(&b"+03:00"[..]));
    assert_eq!(query.status_vars.microseconds(), Some(249_263));
    let details = details(&Event::Query(query));
    let shown = r#""time_zone":"+03:00","updated_dbs":["qq"],"microseconds":249263,"#;
    assert!(details.contains(shown), "{details}");
    assert!(details.ends_with(r#""enable_cascade_triggers":0}"#));
}

#[test]
fn buglog_043_text_that_is_not_utf8() {
    let bytes = b"insert into t values ('\xd6\xc6\xdb')";
    let latin1 = query_body(&hex("04 0800 0800 0800"), b"", bytes);
    assert_eq!(text(&latin1), "insert into t values ('ÖÆÛ')");
    // Without a character set, as before 5.0.3; with an unknown collation; with `binary`.
    for vars in ["", "04 ffff ffff ffff", "04 3f00 3f00 3f00"] {
        let body = query_body(&hex(vars), b"", bytes);
        assert_eq!(text(&body), r"insert into t values ('\xd6\xc6\xdb')");
        let event = decode(2, &body, &FormatDescription::assumed()).unwrap();
        assert!(details(&event).contains(r#""query_undecodable_at":23"#));
        let utf8 = query_body(&hex(vars), b"", "select 'é'".as_bytes());
        assert_eq!(text(&utf8), "select 'é'");
    }
}

#[test]
fn buglog_044_schema_and_text_are_cut_where_they_end() {
    let vars = hex("04 1c00 1c00 1c00"); // gbk
    let statement = b"insert into \xb2\xe2 values ('\xca\xd4')";
    let body = query_body(&vars, "测试".as_bytes(), statement);
    let event = decode(2, &body, &FormatDescription::assumed()).unwrap();
    assert_eq!(info(&event), "use `测试`; insert into 测 values ('试')");
    assert!(!details(&event).contains("undecodable"));
}

#[test]
fn buglog_097_create_table_as_select_of_mysql_8_is_text() {
    let statement = b"CREATE TABLE `t` (`a` int) START TRANSACTION";
    let body = query_body(&hex("11 0700000000000000"), b"d", statement);
    let event = decode(2, &body, &FormatDescription::assumed()).unwrap();
    let shown = "use `d`; CREATE TABLE `t` (`a` int) START TRANSACTION /* xid=7 */";
    assert_eq!(info(&event), shown);
}

#[test]
fn buglog_100_variables_of_mariadb() {
    // `create table t3(…)` with character_set_collations='utf8mb4=uca1400_ai_ci,latin1=latin1_bin'
    // on MariaDB 11.8.9: 131 stands before 4.
    let vars = hex(
        "00 00000001 01 0000205400000000 06 03 737464 83 02 0800 2f00 2d00 0009
        04 0900 0900 0009 81 9700000000000000",
    );
    let body = query_body(&vars, b"", b"create table t3(a int)");
    let format = maria_format();
    let query = query(&body, &format);
    assert_eq!(query.status_vars.client_charset(), Some(9));
    assert_eq!(query.status_vars.ddl_xid(), Some(151));
    assert_eq!(query.status_vars.undecoded().unwrap(), b"");
    let shown = details(&Event::Query(query));
    assert!(
        shown.contains(r#""flags2_names":["EXPLICIT_DEF_TIMESTAMP"]"#),
        "{shown}"
    );
    let collations = concat!(
        r#""character_set_collations":[{"character_set":"latin1","character_set_id":8,"#,
        r#""collation_id":47},{"character_set":"utf8mb4","character_set_id":45,"#,
        r#""collation_id":2304}]"#,
    );
    assert!(shown.contains(collations), "{shown}");
    // START ALTER and COMMIT ALTER: 130 has one byte or nine.
    let vars = hex("80 63f808 81 9f00000000000000 82 02 82 04 2300000000000000 07 0100");
    let body = query_body(&vars, b"", b"alter table t add d int");
    assert_eq!(
        details(&decode(2, &body, &format).unwrap()),
        concat!(
            r#"{"microseconds":587875,"ddl_xid":159,"gtid_flags_extra":2,"#,
            r#""gtid_flags_extra":4,"start_alter_seq_no":35,"lc_time_names":1}"#,
        )
    );
}

#[test]
fn buglog_100_an_unknown_variable_ends_the_variables_only() {
    let body = query_body(&hex("07 0400 f0 01 02 03"), b"d", b"select 1");
    let query = query(&body, &FormatDescription::assumed());
    assert_eq!(query.status_vars.undecoded().unwrap(), hex("f0 01 02 03"));
    assert_eq!(query.raw_query, b"select 1");
    let shown = details(&Event::Query(query));
    assert_eq!(shown, r#"{"lc_time_names":4,"undecoded":"f0010203"}"#);
}

#[test]
fn buglog_101_dml_in_statement_format_is_text() {
    let body = query_body(b"", b"d", b"delete from t where a = 1");
    let event = decode(2, &body, &FormatDescription::assumed()).unwrap();
    assert_eq!(info(&event), "use `d`; delete from t where a = 1");
}

#[test]
fn flags_and_modes_have_names() {
    let flags = |n, flavor| flag_names(n, flavor).collect::<Vec<_>>().join(",");
    assert_eq!(
        flags(0x0c08_4000, Flavor::MySql),
        "AUTO_IS_NULL,NOT_AUTOCOMMIT,NO_FOREIGN_KEY_CHECKS,RELAXED_UNIQUE_CHECKS"
    );
    assert_eq!(
        flags(0x5100_8000, Flavor::MariaDb),
        "NO_CHECK_CONSTRAINT_CHECKS,EXPLICIT_DEF_TIMESTAMP,IF_EXISTS,INSERT_HISTORY"
    );
    let modes = |n, flavor| sql_mode_names(n, flavor).collect::<Vec<_>>().join(",");
    assert_eq!(
        modes(0x1_8000_0000, Flavor::MySql),
        "PAD_CHAR_TO_FULL_LENGTH,TIME_TRUNCATE_FRACTIONAL"
    );
    assert_eq!(
        modes(0x7_2000_0010, Flavor::MariaDb),
        "IGNORE_BAD_TABLE_OPTIONS,HIGH_NOT_PRECEDENCE,EMPTY_STRING_IS_NULL,\
         SIMULTANEOUS_ASSIGNMENT,TIME_ROUND_FRACTIONAL"
    );
}

#[test]
fn updated_schemas() {
    let format = FormatDescription::assumed();
    let shown = |vars: &str| {
        let body = query_body(&hex(vars), b"", b"");
        details(&decode(2, &body, &format).unwrap())
    };
    assert_eq!(shown("0c 02 6100 623a00"), r#"{"updated_dbs":["a","b:"]}"#);
    assert_eq!(
        shown("0c fe 07 0400"),
        r#"{"updated_dbs":"too many","lc_time_names":4}"#
    );
    let cut = query_body(&hex("0c 02 6100 62"), b"", b"");
    assert!(query(&cut, &format).status_vars.undecoded().is_err());
}

#[test]
fn version_3_has_no_status_variables() {
    let body = [&hex("01000000 00000000 04 0000")[..], b"test\0select 1"].concat();
    let event = decode(2, &body, &FormatDescription::assumed_old(3)).unwrap();
    assert_eq!(info(&event), "use `test`; select 1");
    assert_eq!(details(&event), "{}");
}

#[test]
fn a_compressed_statement() {
    use std::io::Write as _;
    let statement = b"alter table t add `c` in";
    let mut zlib = flate2::write::ZlibEncoder::new(vec![0x81, 0x18], Default::default());
    zlib.write_all(statement).unwrap();
    let compressed = zlib.finish().unwrap();
    let len = compressed.len();
    let mut body = query_body(&hex("04 0800 0800 0009"), b"qq", &compressed);
    let format = maria_format();
    let event = decode(165, &body, &format).unwrap();
    assert_eq!(info(&event), "use `qq`; alter table t add `c` in");
    let sizes =
        format!(r#","compression":"ZLIB","compressed_size":{len},"uncompressed_size":24}}"#);
    assert!(details(&event).ends_with(&sizes));
    // The length in the header is a claim, no more.
    let at = body.len() - len + 1;
    body[at] = 0x19;
    let Ok(Event::Query(query)) = decode(165, &body, &format) else {
        panic!()
    };
    assert!(query.text().is_err());
}

#[test]
fn a_log_without_the_event_type_is_refused() {
    let mut format = FormatDescription::assumed();
    format.post_header_lens.truncate(1);
    let body = query_body(b"", b"", b"");
    assert!(decode(2, &body, &format).is_err());
    format.post_header_lens.push(5);
    assert!(decode(2, &body, &format).is_err());
}

#[test]
fn cut_at_every_byte() {
    let vars = hex(MYSQL_9);
    let body = query_body(&vars, b"qq", b"x");
    let format = FormatDescription::assumed();
    let needed = body.len() - 1; // the statement may be empty
    for cut in 0..needed {
        assert!(decode(2, &body[..cut], &format).is_err(), "{cut}");
    }
    assert!(decode(2, &body[..needed], &format).is_ok());
    // The variables alone: a cut one is an error, one that is not there is not.
    let ends = [0, 5, 14, 19, 24, 31, 33, 42, 45, 47];
    for cut in 0..=vars.len() {
        let body = query_body(&vars[..cut], b"qq", b"x");
        let undecoded = query(&body, &format).status_vars.undecoded();
        assert_eq!(undecoded.is_ok(), ends.contains(&cut), "{cut}");
    }
}

proptest! {
    #[test]
    fn any_bytes(mut body in prop::collection::vec(any::<u8>(), 0..200), tame: bool) {
        let tame = tame && body.len() > 61;
        if tame {
            // A schema and status variables that fit.
            body[8] %= 8;
            body[11] %= 40;
            body[12] = 0;
            let nul = 13 + usize::from(body[8]) + usize::from(body[11]);
            body[nul] = 0;
        }
        for (code, format) in [(2, FormatDescription::assumed()), (165, maria_format())] {
            match decode(code, &body, &format) {
                Ok(event) => {
                    let _ = event.info(&mut String::new());
                    let _ = Details::object(&mut String::new(), |out| event.details(out));
                }
                Err(error) => prop_assert!(!tame, "{}", error),
            }
        }
    }
}

/// Every QUERY, INTVAR, RAND, USER_VAR and LOAD event of the corpus decodes, info and details too,
/// and the status variables are those that MANIFEST.tsv counts.
mod corpus {
    use super::*;
    use crate::binlog::event::{EventContext, StatusVar};
    use crate::binlog::header::{CHECKSUM_LEN, Checksum, HEADER_LEN, Header};
    use std::collections::BTreeMap;
    use std::path::Path;

    /// The name that MANIFEST.tsv gives a variable.
    fn manifest_name(var: &StatusVar<'_>) -> &'static str {
        match var {
            StatusVar::Flags2(_) => "FLAGS2",
            StatusVar::SqlMode(_) => "SQL_MODE",
            StatusVar::Catalog(_) => "CATALOG_NZ",
            StatusVar::Charset { .. } => "CHARSET",
            StatusVar::TimeZone(_) => "TIME_ZONE",
            StatusVar::TableMapForUpdate(_) => "TABLE_MAP_UPD",
            StatusVar::Invoker { .. } => "INVOKER",
            StatusVar::UpdatedDbs(_) => "UPDATED_DBS",
            StatusVar::Microseconds(_) => "MICROSECONDS",
            StatusVar::DdlXid(_) => "DDL_XID",
            StatusVar::DefaultCollationForUtf8mb4(_) => "DEF_COLL_UTF8MB4",
            StatusVar::SqlRequirePrimaryKey(_) => "SQL_REQUIRE_PK",
            StatusVar::DefaultTableEncryption(_) => "DEF_TABLE_ENCRYPTION",
            other => panic!("{other:?}"),
        }
    }

    #[derive(Default)]
    struct Seen {
        events: BTreeMap<&'static str, u32>,
        vars: BTreeMap<String, u32>,
        undecodable: u32,
    }

    fn look(seen: &mut Seen, event: &Event<'_>, name: &'static str) -> Result<()> {
        let query = match event {
            Event::Query(query) => Some(query),
            Event::ExecuteLoadQuery(load) => Some(&load.query),
            Event::Intvar(_) | Event::Rand(_) | Event::UserVar(_) => None,
            Event::LoadData(_) | Event::BlockOfFile(_) | Event::LoadFile(_) => None,
            Event::DeleteFile(_) => None,
            _ => return Ok(()),
        };
        *seen.events.entry(name).or_default() += 1;
        event.info(&mut String::new())?;
        Details::object(&mut String::new(), |out| event.details(out))?;
        let Some(query) = query else { return Ok(()) };
        seen.undecodable += u32::from(query.text()?.undecodable_at.is_some());
        if let Event::Query(query) = event {
            for var in query.status_vars.iter() {
                *seen.vars.entry(manifest_name(&var?).into()).or_default() += 1;
            }
            if let Some(code) = query.status_vars.undecoded()?.first() {
                *seen.vars.entry(format!("sv{code}")).or_default() += 1;
            }
        }
        Ok(())
    }

    /// Hops from header to header and unpacks compressed transactions in place.
    fn walk(seen: &mut Seen, log: &[u8], format: &mut FormatDescription) -> Result<()> {
        let mut rest = log;
        while let Some(header) = Header::read(rest) {
            let Some((event, tail)) = rest.split_at_checked(header.event_size as usize) else {
                break;
            };
            rest = tail;
            let code = format.type_code(header.type_code);
            let (header_len, crc) = match code {
                15 => (
                    HEADER_LEN,
                    FormatDescription::own_checksum_len(&event[HEADER_LEN..]),
                ),
                _ if format.checksum == Checksum::Crc32 => (format.header_len.into(), CHECKSUM_LEN),
                _ => (format.header_len.into(), 0),
            };
            let Some(body) = event.get(header_len..event.len() - crc) else {
                break;
            };
            let header = Header {
                type_code: code,
                ..header
            };
            let cx = EventContext {
                header: &header,
                format,
            };
            match code {
                2 | 5 | 6 | 8..=14 | 17 | 18 | 165 => {
                    let name = crate::binlog::event::type_name(code);
                    look(seen, &Event::decode(body, &cx)?, name)?;
                }
                15 => *format = FormatDescription::read(body)?,
                40 => {
                    if let Event::TransactionPayload(payload) = Event::decode(body, &cx)? {
                        let inner = zstd::decode_all(payload.payload).unwrap();
                        let mut format = format.clone();
                        format.checksum = Checksum::None;
                        walk(seen, &inner, &mut format)?;
                    }
                }
                164 => break, // the rest is encrypted
                _ => {}
            }
        }
        Ok(())
    }

    #[test]
    fn statements_decode_and_their_variables_are_those_of_the_manifest() {
        let Some(corpus) = std::env::var_os("BINLOG_CORPUS") else {
            eprintln!("SKIPPED: BINLOG_CORPUS is not set");
            return;
        };
        let corpus = Path::new(&corpus);
        let manifest = std::fs::read_to_string(corpus.join("MANIFEST.tsv")).unwrap();
        let mut lines = manifest.lines();
        let names: Vec<&str> = lines.next().unwrap().split('\t').collect();
        let mut bad = Vec::new();
        let mut total = Seen::default();
        for line in lines {
            let fields: BTreeMap<_, _> = names.iter().copied().zip(line.split('\t')).collect();
            let file = fields["file"];
            let log = std::fs::read(corpus.join(file)).unwrap();
            let mut format = match fields["binlog_version"] {
                "v4" => FormatDescription::assumed(),
                "v3" => FormatDescription::assumed_old(3),
                _ => continue,
            };
            let mut seen = Seen::default();
            match walk(&mut seen, &log[4..], &mut format) {
                Ok(()) => {
                    let counts = seen.vars.iter().map(|(name, n)| format!("{name}:{n}"));
                    let mut found: Vec<_> = counts.collect();
                    // The manifest takes every header for one of 19 bytes.
                    let wanted = match format.header_len {
                        19 => fields["query_status_vars"],
                        _ => "CATALOG_NZ:3 CHARSET:3 FLAGS2:3 SQL_MODE:3",
                    };
                    let mut wanted: Vec<_> = wanted.split_whitespace().collect();
                    found.sort();
                    wanted.sort();
                    if found != wanted {
                        bad.push(format!("{file}: {found:?}, not {wanted:?}"));
                    }
                    for (name, n) in seen.events {
                        *total.events.entry(name).or_default() += n;
                    }
                    total.undecodable += seen.undecodable;
                }
                Err(error) => bad.push(format!("{file}: {error}")),
            }
        }
        eprintln!(
            "{:?}, {} with undecodable text",
            total.events, total.undecodable
        );
        assert!(bad.is_empty(), "{}", bad.join("\n"));
    }
}
