//! Every TABLE_MAP and rows event of the corpus, counted and compared with two mysqlbinlogs.

use super::*;
use crate::binlog::event::{FormatDescription, TableMaps, payload};
use crate::binlog::header::{CHECKSUM_LEN, Checksum, HEADER_LEN, Header, crc_matches};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where the corpus is; `None` (said loudly) where it is not.
fn corpus() -> Option<PathBuf> {
    let dir = std::env::var_os("BINLOG_CORPUS").map(PathBuf::from);
    if dir.is_none() {
        eprintln!("SKIPPED: BINLOG_CORPUS does not name the corpus of binary logs");
    }
    dir
}

#[derive(Default, Debug)]
struct Totals {
    inserts: u64,
    updates: u64,
    deletes: u64,
    table_maps: u64,
    rows_events: u64,
    /// Rows by `OP schema.table`.
    tables: BTreeMap<String, u64>,
    problems: Vec<String>,
}

struct Walk {
    totals: Totals,
    maps: TableMaps,
    format: FormatDescription,
    stop: bool,
}

fn walk(log: &[u8]) -> Totals {
    let mut walk = Walk {
        totals: Totals::default(),
        maps: TableMaps::new(),
        format: FormatDescription::assumed(),
        stop: false,
    };
    if log.starts_with(b"\xfebin") {
        walk.events(&log[4..], true);
    }
    walk.totals
}

impl Walk {
    fn events(&mut self, mut bytes: &[u8], top: bool) {
        while let Some(header) = Header::read(bytes) {
            let size = header.event_size as usize;
            let Some((event, rest)) = bytes.split_at_checked(size.max(HEADER_LEN)) else {
                break;
            };
            bytes = rest;
            let mut body = &event[HEADER_LEN..];
            let trailer = match header.type_code {
                15 => FormatDescription::own_checksum_len(body),
                _ if !top => 0,
                // Damaged events are other people's tests.
                _ if self.format.checksum == Checksum::Crc32 && !crc_matches(event, false) => {
                    continue;
                }
                _ if self.format.checksum == Checksum::Crc32 => CHECKSUM_LEN,
                _ => 0,
            };
            body = &body[..body.len() - trailer];
            if header.type_code == 164 {
                break; // The rest is encrypted.
            }
            self.event(&header, body);
            if self.stop {
                break;
            }
        }
    }

    fn event(&mut self, header: &Header, body: &[u8]) {
        let header = Header {
            type_code: self.format.type_code(header.type_code),
            ..*header
        };
        if !matches!(header.type_code, 15 | 19..=25 | 30..=32 | 39 | 40 | 166..=172) {
            return;
        }
        let format = self.format.clone();
        let cx = EventContext {
            header: &header,
            format: &format,
        };
        let mut details = String::new();
        let event = Event::decode(body, &cx).and_then(|event| {
            Details::object(&mut details, |out| event.details(out))?;
            Ok(event)
        });
        let result = event.and_then(|event| match event {
            Event::FormatDescription(format) => {
                // Google's patched servers have longer headers; their logs have no rows.
                self.stop |= usize::from(format.header_len) != HEADER_LEN;
                self.format = format;
                self.maps.clear();
                Ok(())
            }
            Event::TableMap(map) => {
                self.totals.table_maps += 1;
                self.maps.insert(&map).map(|_| ())
            }
            Event::Rows(rows) => self.rows(&rows),
            Event::TransactionPayload(payload) => {
                assert_eq!(payload.compression, payload::Compression::Zstd);
                let inner = zstd::decode_all(payload.payload).unwrap();
                self.events(&inner, false);
                Ok(())
            }
            other => panic!("{other:?}"),
        });
        if let Err(error) = result {
            self.totals.problems.push(error.to_string());
        }
    }

    fn rows(&mut self, rows: &RowsEvent<'_>) -> Result<()> {
        self.totals.rows_events += 1;
        if !rows.is_dummy() {
            let map = std::sync::Arc::clone(self.maps.require(rows.table_id)?);
            let count = u64::from(rows.count_rows(&map)?);
            let (total, op) = match rows.kind {
                RowsKind::Insert => (&mut self.totals.inserts, "INSERT"),
                RowsKind::Delete => (&mut self.totals.deletes, "DELETE"),
                RowsKind::Update | RowsKind::PartialUpdate => (&mut self.totals.updates, "UPDATE"),
            };
            *total += count;
            let name = format!("{op} {}", map.full_name());
            *self.totals.tables.entry(name).or_default() += count;
        }
        if rows.ends_statement() {
            self.maps.end_statement();
        }
        Ok(())
    }
}

fn walk_file(path: &Path) -> Totals {
    walk(&std::fs::read(path).unwrap())
}

#[test]
fn counts_equal_those_of_mysqlbinlog() {
    let Some(dir) = corpus() else { return };
    let manifest = std::fs::read_to_string(dir.join("MANIFEST.tsv")).unwrap();
    let mut lines = manifest.lines();
    let head: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let column = |name: &str| head.iter().position(|&h| h == name).unwrap();
    let (file, version) = (column("file"), column("binlog_version"));
    let oracles = [
        (column("maria10.11_vv_rc"), column("rows_ins/upd/del_maria")),
        (column("mysql9.7_vv_rc"), column("rows_ins/upd/del_mysql97")),
    ];
    let (mut files, mut compared, mut rows) = (0, 0, 0);
    for line in lines {
        let fields: Vec<&str> = line.split('\t').collect();
        if fields[version] != "v4" {
            continue;
        }
        files += 1;
        let totals = walk_file(&dir.join(fields[file]));
        let known_problem = match fields[file].rsplit('/').next().unwrap() {
            "bug32407.001" if fields[file].starts_with("MariaDB") => Some("before 5.1.16"),
            "ver_5_1-wl2325_r.001" => Some("before 5.1.16"),
            "invalid_row_v2_tag.001" => Some("extra row information"),
            _ => None,
        };
        for problem in &totals.problems {
            let known = known_problem.is_some_and(|part| problem.contains(part));
            assert!(known, "{}: {problem}", fields[file]);
        }
        assert_eq!(
            known_problem.is_some(),
            !totals.problems.is_empty(),
            "{}",
            fields[file]
        );
        let ours = format!("{}/{}/{}", totals.inserts, totals.updates, totals.deletes);
        for (rc, theirs) in oracles {
            if fields[rc] == "0" && totals.problems.is_empty() {
                assert_eq!(ours, fields[theirs], "{}", fields[file]);
                compared += 1;
            }
        }
        rows += totals.inserts + totals.updates + totals.deletes;
    }
    eprintln!("{files} files, {compared} comparisons, {rows} row changes");
    assert!(files > 100 && compared > 100);
}

#[test]
fn sakila_has_the_published_rows() {
    let Some(dir) = corpus() else { return };
    let name = "osheroff__mysql-binlog-connector-java/src/test/resources/mysql-bin.sakila.gz";
    let totals = walk_file(&dir.join(name));
    assert_eq!(totals.problems, [""; 0]);
    assert_eq!(
        (totals.inserts, totals.updates, totals.deletes),
        (47_273, 0, 0)
    );
    let rows = |table: &str| totals.tables[&format!("INSERT sakila.{table}")];
    for (table, expected) in [
        ("actor", 200),
        ("address", 603),
        ("category", 16),
        ("city", 600),
        ("country", 109),
        ("customer", 599),
        ("film", 1000),
        ("film_actor", 5462),
        ("film_category", 1000),
        ("film_text", 1000),
        ("inventory", 4581),
        ("language", 6),
        ("payment", 16_049),
        ("rental", 16_044),
        ("staff", 2),
        ("store", 2),
    ] {
        assert_eq!(rows(table), expected, "{table}");
    }
    assert_eq!(totals.tables.len(), 16);
}

#[test]
fn old_formats_have_the_rows_of_one_workload() {
    // EXPECTED.md §7: two inserts, one UPDATE of two rows, one delete.
    let Some(dir) = corpus() else { return };
    let dir = dir.join("blackbeam__rust_mysql_common/test-data/binlogs");
    for name in ["ver_5_1_23.001", "ver_trunk_row_v2.001"] {
        let totals = walk_file(&dir.join(name));
        assert_eq!(totals.problems, [""; 0]);
        assert_eq!((totals.inserts, totals.updates, totals.deletes), (2, 2, 1));
    }
}

#[test]
fn fresh_logs_of_mysql_97_and_mariadb_1011() {
    // Counted by hand in their bytes.
    let Some(dir) = corpus() else { return };
    for (name, expected) in [
        (
            "mariadb1011_compressed_events_compressed_cols_uuid_inet6.bin",
            (1, 1, 1),
        ),
        ("mysql97_fk_xa_savepoint_gipk.bin", (10, 0, 3)),
        (
            "mysql97_types_partialjson_minimal_payload_tag_ddl.bin",
            (4, 2, 0),
        ),
        ("mysql97_vector_json_payload_multidb.bin", (3, 1, 0)),
    ] {
        let totals = walk_file(&dir.join("fresh").join(name));
        assert_eq!(totals.problems, [""; 0], "{name}");
        assert_eq!(
            (totals.inserts, totals.updates, totals.deletes),
            expected,
            "{name} {totals:?}"
        );
    }
}
