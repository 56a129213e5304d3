use super::*;
use crate::binlog::event::{ColumnMetadata, FormatDescription};
use crate::binlog::header::Header;
use proptest::prelude::*;

/// `d.cs` of MariaDB 10.11, `binlog_row_metadata=FULL`: 12 columns of text, ENUM and SET.
pub(in crate::binlog) const CS: &str = "1200000000000100016400026373000c0f0ffcfefc0f0ffc8cfefefe14\
    0a00280002cefc02b00414000102f701f801f701fc0f02072d0008043f063f041b01610162016301640165016601670\
    16801690265310265320265330a032d010805050201780179060b020161016202017002c3a9090401030000";
/// `d.y` of MariaDB 10.11: numbers, BIT, POINT, UUID, INET4, times.
const Y: &str = "1b00000000000100016400017900110d0102090405f6100803fffefe0a1312110e0408050201010\
    4fe10fe04030205ffff010102db8002013f0701010432027931027431027331026d31026631026431026e31026231026\
    c310269310167017502693402647402746d03647474027473";
/// `t.f` of MySQL 9.7: YEAR, ENUM, SET, GEOMETRY, VECTOR, JSON, an invisible column.
pub(in crate::binlog) const F: &str = "70000000000001000174000166000c030dfefe0ffff203030311f50af701f80114\
    0004040004fe0f0101600302083f0701000d0103041e026964017901650173016c0167017601750367656e03696e760\
    27a74016a0b0408fcff0005070301780179017a0607030161016201e90801000c02ffb0";

pub(in crate::binlog) fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let text = |pair: &[u8]| String::from_utf8(pair.to_vec()).unwrap();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(&text(pair), 16).unwrap())
        .collect()
}

fn read(body: &[u8], flavor: Flavor) -> Result<TableMap<'_>> {
    TableMap::read_body(body, false, flavor)
}

fn details(map: &TableMap<'_>) -> Result<String> {
    let mut out = String::new();
    Details::object(&mut out, |out| map.details(out))?;
    Ok(out)
}

/// A table map `s.t` with these types, metadata and optional metadata; all columns nullable.
pub(in crate::binlog) fn table_map(types: &[u8], metadata: &[u8], optional: &[u8]) -> Vec<u8> {
    let lenenc = |body: &mut Vec<u8>, n: usize| {
        if n < 251 {
            body.push(n as u8);
        } else {
            body.push(0xfc);
            body.extend((n as u16).to_le_bytes());
        }
    };
    let mut body = vec![93, 0, 0, 0, 0, 0, 1, 0, 1, b's', 0, 1, b't', 0];
    lenenc(&mut body, types.len());
    body.extend(types);
    lenenc(&mut body, metadata.len());
    body.extend(metadata);
    body.resize(body.len() + types.len().div_ceil(8), 0xff);
    body.extend(optional);
    body
}

/// What MySQL tells of columns of these types.
fn columns<'a, T: 'a>(
    types: &[u8],
    metadata: &[u8],
    optional: &[u8],
    what: impl Fn(&ColumnMetadata<'_>) -> T,
) -> Vec<T> {
    let body = table_map(types, metadata, optional);
    let map = read(&body, Flavor::MySql).unwrap();
    map.columns().unwrap().columns.iter().map(what).collect()
}

#[test]
fn mariadb_text_columns_with_default_and_differing_collations() {
    let body = bytes(CS);
    let map = read(&body, Flavor::MariaDb).unwrap();
    assert_eq!((map.table_id, map.full_name().as_str()), (18, "d.cs"));
    let table = map.columns().unwrap();
    let told: Vec<_> = table
        .columns
        .iter()
        .map(|c| {
            let name = std::str::from_utf8(c.name.unwrap()).unwrap();
            format!("{name} {} {} {:?}", c.sql_type(), c.ty.meta, c.charset)
        })
        .collect();
    assert_eq!(
        told,
        [
            "a VARCHAR 10 Some(8)",
            "b VARCHAR 40 Some(45)",
            "c TEXT 2 Some(45)",
            "d CHAR 1020 Some(45)",
            "e BLOB 2 Some(63)",
            "f VARCHAR 1200 Some(45)",
            "g VARBINARY 20 Some(63)",
            "h TINYTEXT 1 Some(45)",
            "i TEXT COMPRESSED 2 Some(45)",
            "e1 ENUM 1 Some(45)",
            "e2 SET 1 Some(8)",
            "e3 ENUM 1 Some(45)",
        ]
    );
    assert_eq!(table.primary_key, [(1, Some(3)), (0, None)]);
    let json = details(&map).unwrap();
    assert!(json.contains(
        r#"{"name":"b","type":"VARCHAR","max_bytes":40,"nullable":false,"collation":45,"primary_key":1,"primary_key_prefix":3}"#
    ), "{json}");
    assert!(json.ends_with(r#""labels":["p","é"]}]}"#), "{json}");
    // A reader that took MySQL's view of COMPRESSED columns would give `i` no collation.
    let mysql = read(&body, Flavor::MySql).unwrap();
    assert_eq!(mysql.columns().unwrap().columns[8].charset, None);
}

#[test]
fn mariadb_numbers_count_year_and_geometry_has_a_collation() {
    let body = bytes(Y);
    let map = read(&body, Flavor::MariaDb).unwrap();
    let table = map.columns().unwrap();
    let unsigned: Vec<_> = table.columns.iter().map(|c| c.unsigned).collect();
    let (yes, no) = (Some(true), Some(false));
    let numbers = [yes, yes, no, yes, yes, no, yes, None, yes, yes];
    assert_eq!(unsigned[..10], numbers);
    assert_eq!(unsigned[10..], [None; 7]);
    let types: Vec<_> = table.columns.iter().map(ColumnMetadata::sql_type).collect();
    assert_eq!(
        types[6..],
        [
            "DECIMAL(5,2)",
            "BIT(9)",
            "BIGINT",
            "INT",
            "POINT",
            "BINARY",
            "BINARY",
            "DATE",
            "TIME(3)",
            "DATETIME(2)",
            "TIMESTAMP(5)",
        ]
    );
    let collations: Vec<_> = table.columns[10..13].iter().map(|c| c.charset).collect();
    assert_eq!(collations, [Some(63); 3]);
}

#[test]
fn mysql_97_with_full_metadata() {
    let body = bytes(F);
    let map = read(&body, Flavor::MySql).unwrap();
    assert_eq!(
        details(&map).unwrap(),
        concat!(
            r#"{"table_id":112,"flags":["TM_BIT_LEN_EXACT_F"],"column_count":12,"columns":["#,
            r#"{"name":"id","type":"INT","nullable":false,"unsigned":false,"visible":true,"primary_key":1},"#,
            r#"{"name":"y","type":"YEAR","nullable":true,"unsigned":true,"visible":true},"#,
            r#"{"name":"e","type":"ENUM","nullable":true,"collation":8,"labels_hex":["61","62","e9"],"visible":true},"#,
            r#"{"name":"s","type":"SET","nullable":true,"collation":255,"labels":["x","y","z"],"visible":true},"#,
            r#"{"name":"l","type":"VARCHAR","max_bytes":20,"nullable":true,"collation":8,"visible":true},"#,
            r#"{"name":"g","type":"GEOMETRY","nullable":true,"geometry_type":0,"visible":true},"#,
            r#"{"name":"v","type":"VECTOR","nullable":true,"collation":63,"dimensions":3,"visible":true},"#,
            r#"{"name":"u","type":"INT","nullable":true,"unsigned":true,"visible":true},"#,
            r#"{"name":"gen","type":"INT","nullable":true,"unsigned":false,"visible":true},"#,
            r#"{"name":"inv","type":"INT","nullable":true,"unsigned":false,"visible":false},"#,
            r#"{"name":"zt","type":"TIMESTAMP","nullable":true,"visible":true},"#,
            r#"{"name":"j","type":"JSON","nullable":true,"visible":true}]}"#,
        )
    );
    let mut info = String::new();
    map.info(&mut info).unwrap();
    assert_eq!(info, "table_id: 112 (t.f)");
}

#[test]
fn buglog_22_one_bit_for_each_numeric_column() {
    let mut types = [15; 12];
    types[7] = 3;
    let metadata: Vec<u8> = [20, 0].repeat(11);
    let unsigned = columns(&types, &metadata, &[1, 1, 0x80], |c| c.unsigned);
    let mut expected = [None; 12];
    expected[7] = Some(true);
    assert_eq!(unsigned, expected);
    // Two bytes of bits do not fit one numeric column.
    let body = table_map(&types, &metadata, &[1, 2, 0x80, 0]);
    let error = read(&body, Flavor::MySql).unwrap().columns().unwrap_err();
    assert_eq!(
        error.to_string(),
        "s.t: SIGNEDNESS: 2 bytes of bits for 1 columns"
    );
}

#[test]
fn buglog_23_bits_belong_to_numeric_columns_only() {
    let unsigned = columns(&[3, 3, 15, 3], &[20, 0], &[1, 1, 0b1010_0000], |c| {
        c.unsigned
    });
    assert_eq!(unsigned, [Some(true), Some(false), None, Some(true)]);
}

#[test]
fn buglog_77_ninth_numeric_column_is_the_high_bit_of_the_second_byte() {
    let types = [3, 15, 3, 3, 3, 3, 3, 15, 3, 3, 3];
    let unsigned = columns(&types, &[20, 0, 20, 0], &[1, 2, 0, 0x80], |c| c.unsigned);
    let (no, yes) = (Some(false), Some(true));
    assert_eq!(unsigned, [no, None, no, no, no, no, no, None, no, no, yes]);
}

#[test]
fn buglog_33_labels_follow_only_enum_and_set_columns() {
    let metadata = [0xf8, 1, 20, 0, 0xf7, 1, 0xf7, 1];
    let optional = [
        6, 10, 2, 1, b'a', 1, b'b', 1, 3, b'c', b'd', b'e', 5, 3, 1, 1, b's',
    ];
    let labels = columns(&[3, 254, 15, 254, 254], &metadata, &optional, |c| {
        c.labels.as_ref().map(|labels| labels.concat())
    });
    let text = |s: &str| Some(s.as_bytes().to_vec());
    assert_eq!(labels, [None, text("s"), None, text("ab"), text("cde")]);
}

#[test]
fn buglog_62_and_63_counts_and_lengths_are_packed() {
    // 300 columns: column count, metadata length and field length all take three bytes.
    let types = [246u8; 300];
    let metadata = [10, 2].repeat(300);
    let names: Vec<u8> = (0..300u16)
        .flat_map(|n| {
            let name = format!("column_{n}");
            [vec![name.len() as u8], name.into_bytes()].concat()
        })
        .collect();
    let mut optional = vec![4, 0xfc];
    optional.extend((names.len() as u16).to_le_bytes());
    optional.extend(names);
    optional.extend([1, 38]);
    optional.extend([0xff; 38]);
    let told = columns(&types, &metadata, &optional, |c| {
        (c.name.map(<[u8]>::to_vec), c.unsigned, c.sql_type())
    });
    assert_eq!(told.len(), 300);
    let last = (
        Some(b"column_299".to_vec()),
        Some(true),
        "DECIMAL(10,2)".to_owned(),
    );
    assert_eq!(told[299], last);
}

#[test]
fn buglog_65_unknown_fields_are_skipped_by_length_and_reported() {
    let optional = [99, 2, 0xca, 0xfe, 1, 1, 0x80];
    let body = table_map(&[3], &[], &optional);
    let map = read(&body, Flavor::MySql).unwrap();
    let json = details(&map).unwrap();
    assert!(json.contains(r#""unsigned":true"#), "{json}");
    assert!(
        json.ends_with(r#""unknown_metadata":[{"field":99,"hex":"cafe"}]}"#),
        "{json}"
    );
    let visible = columns(&[3, 3], &[], &[12, 1, 0x40], |c| c.visible);
    assert_eq!(visible, [Some(false), Some(true)]);
    let dimensions = columns(&[3, 242], &[4], &[13, 1, 3], |c| c.dimensions);
    assert_eq!(dimensions, [None, Some(3)]);
}

#[test]
fn buglog_66_without_names_nothing_fails() {
    assert_eq!(
        columns(&[3, 15], &[20, 0], &[1, 1, 0], |c| c.name.is_some()),
        [false; 2]
    );
}

#[test]
fn buglog_76_lengths_beyond_the_event_are_errors() {
    // Metadata too short for the types.
    let body = table_map(&[15, 15], &[20, 0], &[]);
    let error = read(&body, Flavor::MySql).unwrap().columns().unwrap_err();
    assert_eq!(error.at().column.as_deref(), Some("@2"));
    // A field longer than the event.
    for optional in [
        &[1, 200, 0][..],
        &[4, 0xfe, 255, 255, 255, 255, 255, 255, 255, 255],
        &[1],
    ] {
        let body = table_map(&[3], &[], optional);
        let error = read(&body, Flavor::MySql).unwrap().columns().unwrap_err();
        assert_eq!(error.at().table.as_deref(), Some("s.t"), "{error}");
    }
    // Label and name counts that promise more than there is, a key beyond the columns.
    for optional in [
        &[6, 9, 0xfe, 255, 255, 255, 255, 255, 255, 255, 127][..],
        &[4, 2, 200, b'a'],
        &[8, 1, 1],
        &[3, 3, 8, 8, 8],
        &[2, 3, 8, 5, 9],
    ] {
        let body = table_map(&[254], &[0xf7, 1], optional);
        assert!(
            read(&body, Flavor::MySql).unwrap().columns().is_err(),
            "{optional:?}"
        );
    }
}

#[test]
fn metadata_that_no_column_takes_is_an_error() {
    let body = table_map(&[15, 3], &[20, 0, 7], &[]);
    let error = read(&body, Flavor::MySql).unwrap().columns().unwrap_err();
    assert_eq!(
        error.to_string(),
        "s.t: 1 bytes of metadata are left behind the last column"
    );
}

#[test]
fn columns_behind_a_typed_array_stay_unknown() {
    // (INT, BIGINT ARRAY, INT): whether the array has a bit is not known.
    let unsigned = columns(&[3, 20, 3], &[8], &[1, 1, 0xe0], |c| c.unsigned);
    assert_eq!(unsigned, [Some(true), None, None]);
}

#[test]
fn buglog_119_maps_of_51_before_metadata() {
    // The 5.2.2-a_drop6 log of the corpus: `test.t1 (int, char(50))`.
    let body = bytes("000000000000 0000 04 74657374 00 02 7431 00 02 03fe");
    let map = read(&body, Flavor::MySql).unwrap();
    assert!(!map.has_metadata());
    assert_eq!(
        details(&map).unwrap(),
        r#"{"table_id":0,"flags":[],"column_count":2,"column_types":["INT","CHAR"]}"#
    );
}

#[test]
fn four_byte_ids_where_the_format_description_says_so() {
    let mut format = FormatDescription::assumed();
    format.post_header_lens[usize::from(TABLE_MAP) - 1] = 6;
    let header = Header {
        type_code: TABLE_MAP,
        ..Header::default()
    };
    let cx = EventContext {
        header: &header,
        format: &format,
    };
    let body = bytes("2a000000 0000 01 73 00 01 74 00 01 03 00 00");
    let map = TableMap::read(&mut Cursor::new(&body), &cx).unwrap();
    assert_eq!((map.table_id, map.full_name().as_str()), (42, "s.t"));
}

#[test]
fn cut_at_every_byte() {
    for (hex, flavor) in [
        (CS, Flavor::MariaDb),
        (Y, Flavor::MariaDb),
        (F, Flavor::MySql),
    ] {
        let body = bytes(hex);
        let whole = details(&read(&body, flavor).unwrap()).unwrap();
        for cut in 0..body.len() {
            // Optional metadata may end between two fields; then less is told, but nothing else.
            if let Ok(map) = read(&body[..cut], flavor)
                && let Ok(json) = details(&map)
            {
                assert_ne!(json, whole, "{cut}");
                assert!(
                    !map.has_metadata()
                        || map.column_types.len() == map.columns().unwrap().columns.len()
                );
            }
        }
    }
}

proptest! {
    #[test]
    fn random_bytes_never_panic(
        types in proptest::collection::vec(any::<u8>(), 0..40),
        metadata in proptest::collection::vec(any::<u8>(), 0..80),
        optional in proptest::collection::vec(0u8..30, 0..120),
        raw in proptest::collection::vec(any::<u8>(), 0..80),
        maria in any::<bool>(),
    ) {
        let flavor = if maria { Flavor::MariaDb } else { Flavor::MySql };
        for body in [table_map(&types, &metadata, &optional), raw] {
            if let Ok(map) = read(&body, flavor) {
                let _ = details(&map);
                let mut info = String::new();
                let _ = map.info(&mut info);
            }
        }
    }
}
