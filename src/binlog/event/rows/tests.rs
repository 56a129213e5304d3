use super::*;
use crate::binlog::event::table_map::tests::{F, bytes, table_map};
use crate::binlog::event::{Flavor, FormatDescription, TableMap};
use crate::binlog::header::Header;
use crate::error::ErrorKind;
use proptest::prelude::*;

fn decode(code: u8, body: &[u8]) -> Result<Event<'_>> {
    let format = FormatDescription::assumed();
    let header = Header {
        type_code: code,
        ..Header::default()
    };
    let cx = EventContext {
        header: &header,
        format: &format,
    };
    Event::decode(body, &cx)
}

fn rows(code: u8, body: &[u8]) -> RowsEvent<'_> {
    match decode(code, body).unwrap() {
        Event::Rows(rows) => rows,
        other => panic!("{other:?}"),
    }
}

fn map(body: &[u8]) -> TableMapOwned {
    TableMapOwned::new(&TableMap::read_body(body, false, Flavor::MySql).unwrap()).unwrap()
}

fn told(code: u8, body: &[u8]) -> (String, String) {
    let event = decode(code, body).unwrap();
    let (mut info, mut details) = (String::new(), String::new());
    event.info(&mut info).unwrap();
    Details::object(&mut details, |out| event.details(out)).unwrap();
    (info, details)
}

/// A compressed part with a length of one byte.
fn compress(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut out = vec![0x81, bytes.len() as u8];
    let mut zlib = flate2::write::ZlibEncoder::new(&mut out, flate2::Compression::fast());
    zlib.write_all(bytes).unwrap();
    zlib.finish().unwrap();
    out
}

/// PARTIAL_UPDATE_ROWS of MySQL 9.7 on `t.v (id, v VECTOR, j JSON, u, d DATE)`: one row.
const PARTIAL: &str = "7200000000001100020005ffff00010000000c0000000000803f000020400000404031000000\
    0003003000190001001a0001001b000300050100021e000b2800616264656302000a00050100050200000000000000f0\
    3f00286bee000000010100010000000c0000000000803f000020400000404009000000000 3242e61030502000028\
    6bee000000";

fn partial_map() -> TableMapOwned {
    map(&table_map(&[3, 242, 245, 3, 10], &[4, 4], &[]))
}

#[test]
fn names_and_layouts() {
    let names: Vec<_> = DEFS.iter().map(|def| (def.code, def.name)).collect();
    let expected = [
        (20, "PRE_GA_WRITE_ROWS"),
        (21, "PRE_GA_UPDATE_ROWS"),
        (22, "PRE_GA_DELETE_ROWS"),
        (23, "WRITE_ROWS_V1"),
        (24, "UPDATE_ROWS_V1"),
        (25, "DELETE_ROWS_V1"),
        (30, "WRITE_ROWS"),
        (31, "UPDATE_ROWS"),
        (32, "DELETE_ROWS"),
        (39, "PARTIAL_UPDATE_ROWS"),
        (166, "WRITE_ROWS_COMPRESSED_V1"),
        (167, "UPDATE_ROWS_COMPRESSED_V1"),
        (168, "DELETE_ROWS_COMPRESSED_V1"),
        (169, "WRITE_ROWS_COMPRESSED"),
        (170, "UPDATE_ROWS_COMPRESSED"),
        (171, "DELETE_ROWS_COMPRESSED"),
        (172, "PARTIAL_ROW_DATA"),
    ];
    assert_eq!(names, expected);
    let body = bytes("5d0000000000 0100 01 ff fe 01000000");
    let v1 = rows(23, &body);
    assert_eq!(
        (v1.kind, v1.layout, v1.table_id),
        (RowsKind::Insert, RowsLayout::V1, 93)
    );
    let body = bytes("5d0000000000 0100 0200 01 ff fe 01000000");
    let v2 = rows(32, &body);
    assert_eq!((v2.kind, v2.layout), (RowsKind::Delete, RowsLayout::V2));
    assert_eq!(
        (v2.columns_before, v2.columns_after),
        (Some(&[0xff][..]), None)
    );
    let body = bytes("5d0000000000 0000 0200 03 01 04 fe 01000000 fe 1e000000");
    let update = rows(31, &body);
    assert_eq!(update.columns_before, Some(&[1][..]));
    assert_eq!(update.columns_after, Some(&[4][..]));
    assert!(!update.ends_statement());
}

#[test]
fn partial_update_of_mysql_97() {
    let body = bytes(PARTIAL);
    let event = rows(39, &body);
    assert_eq!(event.count_rows(&partial_map()).unwrap(), 1);
    let (info, details) = told(39, &body);
    assert_eq!(
        info,
        "table_id: 114 flags: STMT_END_F USE_SQL_FOREIGN_KEY_F"
    );
    assert_eq!(
        details,
        r#"{"table_id":114,"flags":["STMT_END_F","USE_SQL_FOREIGN_KEY_F"],"column_count":5}"#
    );
}

#[test]
fn buglog_64_and_75_minimal_images_tell_which_columns_are_present() {
    // The UPDATE of the 9.7 log: before image has the key, after image the 8th column.
    let body = bytes("700000000000110002000c0100800000010000000005000000");
    let (_, details) = told(31, &body);
    assert!(
        details.ends_with(r#""column_count":12,"columns_before":[1],"columns_after":[8]}"#),
        "{details}"
    );
    assert_eq!(rows(31, &body).count_rows(&map(&bytes(F))).unwrap(), 1);
    // INSERT of columns 1, 3, 5 of (INT, BLOB, CHAR, INT, INT): metadata of absent columns counts.
    let table = map(&table_map(&[3, 252, 254, 3, 3], &[2, 0xfe, 40], &[]));
    let insert = bytes("5d0000000000 0100 0200 05 15 f8 01000000 01 61 93018ac0");
    assert_eq!(rows(30, &insert).count_rows(&table).unwrap(), 1);
}

#[test]
fn buglog_78_extra_row_information() {
    let table = map(&table_map(&[3], &[], &[]));
    // Partition 3; an update from partition 2 to 3; NDB's; an unknown tag.
    let insert = bytes("5d0000000000 0100 0500 01 0300 01 ff fe 01000000");
    assert_eq!(rows(30, &insert).count_rows(&table).unwrap(), 1);
    assert!(
        told(30, &insert)
            .1
            .ends_with(r#""column_count":1,"partition_id":3}"#)
    );
    let update = bytes("5d0000000000 0100 0700 01 0300 0200 01 ff ff fe 01000000 fe 02000000");
    assert_eq!(rows(31, &update).count_rows(&table).unwrap(), 1);
    let details = told(31, &update).1;
    assert!(
        details.ends_with(r#""partition_id":3,"source_partition_id":2}"#),
        "{details}"
    );
    let ndb = bytes("5d0000000000 0100 0700 00 04 01 aabb 01 ff fe 01000000");
    assert_eq!(rows(30, &ndb).count_rows(&table).unwrap(), 1);
    assert!(
        told(30, &ndb)
            .1
            .ends_with(r#""ndb":{"format":1,"payload":"aabb"}}"#)
    );
    let unknown = bytes("5d0000000000 0100 0400 07 cc 01 ff fe 01000000");
    assert_eq!(rows(30, &unknown).count_rows(&table).unwrap(), 1);
    assert!(told(30, &unknown).1.ends_with(r#""unknown_extra":"07cc"}"#));
}

#[test]
fn buglog_113_short_extra_row_information_is_an_error() {
    // The three events of invalid_row_v2_tag.001, and a length below its own two bytes.
    for body in [
        "000000000000 0000 0300 00 00",
        "000000000000 0000 0500 0001ff 00 00",
        "000000000000 0000 0500 0000ff 00 00",
        "000000000000 0000 0100 00 00",
    ] {
        let body = bytes(body);
        let error = decode(30, &body).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.message().contains("extra row information"), "{error}");
    }
}

#[test]
fn buglog_114_compressed_rows_with_a_false_length() {
    let table = map(&table_map(&[3], &[], &[]));
    let one = bytes("fe 01000000");
    let event = |rows: &[u8]| [&bytes("5d0000000000 0100 01 ff")[..], rows].concat();
    let good = event(&compress(&one.repeat(3)));
    assert_eq!(rows(166, &good).count_rows(&table).unwrap(), 3);
    assert!(told(166, &good).1.contains(r#""compressed_size":"#));
    let compressed = compress(&one.repeat(3));
    for bad in [
        [&[0x81, 14][..], &compressed[2..]].concat(),
        [&[0x81, 255][..], &compressed[2..]].concat(),
        [&[0x84, 0x7f, 0xff, 0xff, 0xff][..], &compressed[2..]].concat(),
        [&[0x01, 15][..], &compressed[2..]].concat(),
        [&[0x91, 15][..], &compressed[2..]].concat(),
        compressed[..compressed.len() / 2].to_vec(),
        vec![],
    ] {
        let body = event(&bad);
        let error = rows(166, &body).count_rows(&table).unwrap_err();
        assert_eq!(error.at().table.as_deref(), Some("s.t"), "{bad:?}");
    }
}

#[test]
fn buglog_119_rows_before_5_1_16_are_refused_not_misread() {
    // Of the 5.1.15-ndb log of the corpus.
    let event = bytes("100011000000 0100 01 ff fd 01000000");
    let event = rows(20, &event);
    assert_eq!((event.layout, event.column_count), (RowsLayout::PreGa, 1));
    let error = event
        .count_rows(&map(&table_map(&[3], &[], &[])))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}

#[test]
fn a_dummy_only_ends_the_statement() {
    let dummy = bytes("ffffff000000 0100 0200 01 ff");
    assert!(rows(30, &dummy).is_dummy() && rows(30, &dummy).ends_statement());
    let with_rows = bytes("ffffff000000 0100 0200 01 ff fe 01000000");
    assert!(!rows(30, &with_rows).is_dummy());
}

#[test]
fn an_insert_without_columns_counts_as_one() {
    let table = map(&table_map(&[3], &[], &[]));
    let event = bytes("5d0000000000 0100 0200 01 00");
    assert_eq!(rows(30, &event).count_rows(&table).unwrap(), 1);
    assert!(told(30, &event).1.contains(r#""columns_after":[]"#));
    let none = bytes("5d0000000000 0100 0200 01 ff");
    assert_eq!(rows(30, &none).count_rows(&table).unwrap(), 0);
}

#[test]
fn rows_of_another_table_are_refused() {
    let table = map(&table_map(&[3, 3], &[], &[]));
    let event = bytes("5d0000000000 0100 0200 01 ff fe 01000000");
    let error = rows(30, &event).count_rows(&table).unwrap_err();
    assert_eq!(
        error.to_string(),
        "s.t: rows of 1 columns, but the table map has 2"
    );
}

#[test]
fn a_piece_of_a_rows_event() {
    let first = bytes("03000000 01000000 01 0010000000000000 cafe");
    let (info, details) = told(172, &first);
    assert_eq!(info, "piece 1 of 3");
    assert_eq!(
        details,
        r#"{"piece":1,"pieces":3,"piece_size":2,"piece_flags":1,"event_size":4096}"#
    );
    assert!(matches!(
        decode(172, &bytes("03000000 02000000 00 cafe")).unwrap(),
        Event::PartialRowData(PartialRowData {
            number: 2,
            event_size: None,
            bytes: [0xca, 0xfe],
            ..
        })
    ));
}

#[test]
fn cut_at_every_byte() {
    let body = bytes(PARTIAL);
    let table = partial_map();
    let rows_at = body.len() - rows(39, &body).rows.len();
    for cut in 0..body.len() {
        match decode(39, &body[..cut]) {
            Err(_) => assert!(cut < rows_at, "{cut}"),
            Ok(Event::Rows(event)) if cut == rows_at => {
                assert_eq!(event.count_rows(&table).unwrap(), 0);
            }
            Ok(Event::Rows(event)) => {
                let error = event.count_rows(&table).unwrap_err();
                assert!(error.to_string().starts_with("s.t"), "{error}");
            }
            Ok(other) => panic!("{other:?}"),
        }
    }
}

proptest! {
    #[test]
    fn random_bytes_never_panic_and_counting_ends(
        code in proptest::sample::select(DEFS.iter().map(|def| def.code).collect::<Vec<_>>()),
        body in proptest::collection::vec(any::<u8>(), 0..200),
        types in proptest::collection::vec(any::<u8>(), 1..12),
        metadata in proptest::collection::vec(any::<u8>(), 24),
        rest in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        // Random bodies seldom get far; these have a fixed part that fits the table.
        let bits = types.len().div_ceil(8);
        let mut fit = bytes("5d0000000000 0100");
        if matches!(code, 30..=39 | 169..=171) {
            fit.extend([2, 0]);
        }
        fit.push(types.len() as u8);
        fit.resize(fit.len() + bits, 0xff);
        fit.extend(&rest);
        let used: usize = types
            .iter()
            .filter_map(|&t| crate::binlog::types::type_def(t))
            .map(|def| def.meta.len())
            .sum();
        let map_body = table_map(&types, &metadata[..used.min(24)], &[]);
        let read = TableMap::read_body(&map_body, false, Flavor::MariaDb).unwrap();
        for body in [body, fit] {
            if let Ok(event) = decode(code, &body) {
                let mut out = String::new();
                let _ = event.info(&mut out);
                let _ = Details::object(&mut out, |out| event.details(out));
                if let (Event::Rows(event), Ok(map)) = (event, TableMapOwned::new(&read)) {
                    let counted = event.count_rows(&map);
                    let longest = event.row_bytes().map_or(0, |rows| rows.len());
                    prop_assert!(counted.map_or(0, |n| n as usize) <= longest.max(1));
                }
            }
        }
    }

    #[test]
    fn rows_of_random_tables_are_counted(
        columns in proptest::collection::vec((0usize..6, any::<bool>()), 1..20),
        nulls in proptest::collection::vec(proptest::collection::vec(any::<bool>(), 20), 0..30),
        lens in proptest::collection::vec(0usize..30, 20),
    ) {
        // (type, metadata, bytes of the length, width)
        const KINDS: [(u8, &[u8], usize, usize); 6] = [
            (3, &[], 0, 4),
            (15, &[20, 0], 1, 0),
            (15, &[0, 2], 2, 0),
            (246, &[10, 2], 0, 5),
            (252, &[3], 3, 0),
            (254, &[0xf7, 1], 0, 1),
        ];
        let types: Vec<u8> = columns.iter().map(|&(k, _)| KINDS[k].0).collect();
        let metadata: Vec<u8> = columns.iter().flat_map(|&(k, _)| KINDS[k].1).copied().collect();
        let bitmap = |bits: &[bool]| -> Vec<u8> {
            let byte = |b: &[bool]| b.iter().rev().fold(0, |byte, &bit| (byte << 1) | u8::from(bit));
            bits.chunks(8).map(byte).collect()
        };
        let present: Vec<bool> = columns.iter().map(|&(_, present)| present).collect();
        let mut body = bytes("5d0000000000 0100 0200");
        body.push(types.len() as u8);
        body.extend(bitmap(&present));
        let width = present.iter().filter(|&&p| p).count();
        prop_assume!(width > 0);
        for row in &nulls {
            body.extend(bitmap(&row[..width]));
            let used = columns.iter().zip(&lens).filter(|((_, present), _)| *present);
            for (((kind, _), &len), &null) in used.zip(row) {
                if null {
                    continue;
                }
                let (_, _, prefix, fixed) = KINDS[*kind];
                body.extend(&len.to_le_bytes()[..prefix]);
                body.resize(body.len() + if prefix > 0 { len } else { fixed }, 0x5a);
            }
        }
        let table = map(&table_map(&types, &metadata, &[]));
        prop_assert_eq!(rows(30, &body).count_rows(&table).unwrap() as usize, nulls.len());
    }
}
