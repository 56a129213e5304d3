//! Strings, documents, geometries and the types of MariaDB by hand.

use super::*;
use crate::binlog::compressed::uncompress_column;
use crate::binlog::json::apply;

/// Hexadecimal digits of a value behind a length of `n` bytes.
fn prefixed(n: usize, value: &[u8]) -> String {
    let len = value.len().to_le_bytes();
    let all = len[..n].iter().chain(value);
    all.map(|byte| format!("{byte:02x}")).collect()
}

fn escaped(notes: &Notes) -> Vec<(usize, String)> {
    let text = |(row, note): &(usize, Note)| match note {
        Note::Escaped(error) => (*row, error.message().to_owned()),
        other => panic!("{other:?}"),
    };
    notes.iter().map(text).collect()
}

#[test]
fn buglog_35_zeros_at_the_end_of_binary() {
    let long = "ab".repeat(14);
    let (data_type, texts) = certain(
        254,
        "fe 04",
        BINARY,
        &["020102", "00", "NULL", "0401020304"],
    );
    assert_eq!(data_type, "BinaryView");
    assert_eq!(texts, ["0x01020000", "0x00000000", "NULL", "0x01020304"]);
    // Longer than a view holds.
    let (_, texts) = certain(254, "fe 10", BINARY, &["00", &format!("0e{long}"), "0100"]);
    assert_eq!(texts[0], format!("0x{}", "00".repeat(16)));
    assert_eq!(texts[1], format!("0x{}0000", long.to_uppercase()));
    assert_eq!(texts[2], texts[0]);
    // VARBINARY is as long as it is.
    assert_eq!(
        certain(15, "10 00", BINARY, &["020100", "00"]).1,
        ["0x0100", "0x"]
    );
}

#[test]
fn buglog_37_length_by_the_longest_value() {
    assert_eq!(certain(15, "ff 00", UTF8MB4, &["0161"]).1, ["a"]);
    assert_eq!(certain(15, "00 01", UTF8MB4, &["010061"]).1, ["a"]);
    // CHAR of 1020 bytes (buglog 36).
    assert_eq!(certain(254, "ce fc", UTF8MB4, &["010061"]).1, ["a"]);
    // More than the column has room for.
    let (_, texts, notes) = column(15, "02 00", UTF8MB4, &["03616263", "026162"]);
    assert_eq!(texts, ["NULL", "ab"]);
    let error = "3 bytes in a column of at most 2".to_owned();
    assert_eq!(errors(&notes), [(0, error)]);
}

#[test]
fn buglog_39_to_41_character_sets() {
    for (collation, value, text) in [
        ("1c", &b"\xb2\xe2\xca\xd4"[..], "测试"), // gbk
        (
            "08",
            b"Z\xfcrich \x80 \x81 long enough for a buffer",
            "Zürich € \u{81} long enough for a buffer",
        ), // latin1
        (
            "08",
            b"only ASCII, which needs no transcoding",
            "only ASCII, which needs no transcoding",
        ),
        ("36", b"\0a\xd8\x3d\xde\0", "a😀"), // utf16
        ("3c", b"\0\x01\xf6\0", "😀"),       // utf32
        ("5f", b"\x82\xa0", "あ"),           // cp932
        (
            "2d",
            "😀 and so on, longer than a view holds".as_bytes(),
            "😀 and so on, longer than a view holds",
        ),
    ] {
        let optional = format!("02 01 {collation}");
        let (data_type, texts) = certain(252, "02", &optional, &["NULL", &prefixed(2, value)]);
        assert_eq!((data_type.as_str(), texts[1].as_str()), ("Utf8View", text));
    }
}

#[test]
fn buglog_42_43_bytes_that_are_no_character() {
    // utf8mb4, in views and behind them.
    let bad = prefixed(2, b"a\xff\xfe");
    let long = prefixed(2, b"long enough not to be held by a view \xf0\x9f");
    let good = prefixed(2, b"good");
    let (_, texts, notes) = column(252, "02", UTF8MB4, &[&good, &bad, "NULL", &long, &good]);
    assert_eq!(texts[0], "good");
    assert_eq!(texts[1], "a\\xff\\xfe");
    assert_eq!(texts[3], "long enough not to be held by a view \\xf0\\x9f");
    assert_eq!(texts[4], "good");
    let notes = escaped(&notes);
    assert_eq!((notes[0].0, notes[1].0), (1, 3));
    assert_eq!(
        notes[0].1,
        "the bytes at offset 1 are no utf8mb4 character, and shown as \\xNN"
    );
    // gbk.
    let (_, texts, notes) = column(252, "02", "02 01 1c", &[&prefixed(2, b"a\x81")]);
    assert_eq!(texts, ["a\\x81"]);
    assert!(escaped(&notes)[0].1.contains("gbk"));
    // Of nothing known.
    let (data_type, texts, notes) = column(252, "02", "", &[&good, &prefixed(2, b"\xe9")]);
    assert_eq!(
        (data_type.as_str(), texts[1].as_str()),
        ("Utf8View", "\\xe9")
    );
    assert!(escaped(&notes)[0].1.contains("does not tell"));
}

#[test]
fn buglog_47_unknown_collation_keeps_bytes() {
    let (data_type, texts) = certain(15, "10 00", "02 03 fc ff 07", &["0361ff62"]);
    assert_eq!(
        (data_type.as_str(), texts[0].as_str()),
        ("BinaryView", "0x61FF62")
    );
}

#[test]
fn escapes_are_noted_for_their_row_of_the_batch() {
    let text = table(&[252], &[2], &bytes(UTF8MB4));
    let plan = text.plan().unwrap();
    let (block, places) = values(&[&prefixed(2, b"\xff"), &prefixed(2, b"ok"), "NULL"]);
    let stretch = Stretch {
        column: Some(&plan.columns()[0]),
        block: &block,
        number: 0,
        places: &places,
        bases: &[],
    };
    let none = Stretch {
        column: None,
        ..stretch
    };
    let number = table(&[1], &[], &bytes(SIGNED));
    let number = number.plan().unwrap();
    let (other_block, other_places) = values(&["ff", "05"]);
    let other = Stretch {
        column: Some(&number.columns()[0]),
        block: &other_block,
        number: 1,
        places: &other_places,
        bases: &[],
    };
    let field = Field::new("c", DataType::Utf8View, true);
    let stretches = [none, other, stretch, none, stretch, other];
    let blocks = [block.clone(), other_block.clone()];
    let (array, notes) = build_all(&field, &TypeOptions::default(), &stretches, &blocks);
    assert_eq!(
        texts_of(&array).join("|"),
        "NULL|NULL|NULL|-1|5|\\xff|ok|NULL|NULL|NULL|NULL|\\xff|ok|NULL|-1|5"
    );
    assert_eq!(
        escaped(&notes).iter().map(|n| n.0).collect::<Vec<_>>(),
        [5, 11]
    );
}

#[test]
fn long_values_stay_in_their_block() {
    let text = prefixed(2, &[b'x'; 500]);
    let (block, places) = values(&[&text, &text, "NULL", &prefixed(2, b"short")]);
    for (optional, views) in [
        (UTF8MB4, "Utf8View"),
        (BINARY, "BinaryView"),
        ("02 01 08", "Utf8View"),
    ] {
        let map = table(&[252], &[2], &bytes(optional));
        let plan = &map.plan().unwrap().columns()[0];
        let field = field_of(plan, &NULL_DATES);
        assert_eq!(field.data_type().to_string(), views);
        let (array, _) = build_one(&field, &NULL_DATES, plan, &block, &places, &[]);
        let data = array.to_data();
        let [_, buffer] = data.buffers() else {
            panic!("{} buffers", data.buffers().len());
        };
        assert_eq!(buffer.as_ptr(), block.as_ref().as_ptr());
    }
    // One such text in a large block is copied.
    let mut large = vec![0; 100_000];
    large[..502].copy_from_slice(&bytes(&text));
    let block = Block::new(large);
    let map = table(&[252], &[2], &bytes(UTF8MB4));
    let plan = &map.plan().unwrap().columns()[0];
    let field = field_of(plan, &NULL_DATES);
    let places = [Place::at(0).unwrap()];
    let (array, _) = build_one(&field, &NULL_DATES, plan, &block, &places, &[]);
    assert_eq!(array.to_data().buffers()[1].len(), 500);
}

/// A value of a COMPRESSED column.
fn compressed(value: &[u8]) -> Vec<u8> {
    let mut out = vec![0x84];
    out.extend((value.len() as u32).to_be_bytes());
    let mut stream = flate2::Compress::new(flate2::Compression::default(), true);
    let mut packed = Vec::with_capacity(value.len() + 100);
    stream
        .compress_vec(value, &mut packed, flate2::FlushCompress::Finish)
        .unwrap();
    out.extend(packed);
    assert_eq!(*uncompress_column(&out, 1 << 20).unwrap(), *value);
    out
}

#[test]
fn compressed_columns_are_as_the_uncompressed_type() {
    let long = "é".repeat(300);
    let stored = prefixed(2, b"\0plain, and longer than a view holds");
    let packed = prefixed(2, &compressed(long.as_bytes()));
    let hexes = [packed.as_str(), &stored, "0000", "NULL", "020081ff"];
    for (code, metadata) in [(140, "02"), (141, "00 10")] {
        let (data_type, texts, notes) = column(code, metadata, "", &hexes);
        assert_eq!(data_type, "Utf8View");
        let plain = "plain, and longer than a view holds";
        assert_eq!(texts, [long.as_str(), plain, "", "NULL", "NULL"], "{code}");
        assert_eq!(errors(&notes)[0].0, 4);
    }
    // Declared as bytes, which are not looked into.
    let plan = declared(140, "02", DeclaredType::Blob(2), &[]);
    let (data_type, texts, notes) = column_with(&plan.columns()[0], &NULL_DATES, &hexes);
    assert_eq!(data_type, "BinaryView");
    assert_eq!(texts[0], hex(long.as_bytes()));
    assert_eq!(texts[1], hex(b"plain, and longer than a view holds"));
    assert_eq!(texts[2..], ["0x", "NULL", "NULL"]);
    assert_eq!(errors(&notes)[0].0, 4);
}

#[test]
fn buglog_57_json() {
    let (data_type, texts) = certain(245, "04", "", &["00000000", "NULL", "0300000005 2a00"]);
    assert_eq!(data_type, "Utf8View");
    assert_eq!(texts, ["null", "NULL", "42"]);
    let map = table(&[245], &[4], &[]);
    let field = field_of(&map.plan().unwrap().columns()[0], &NULL_DATES);
    assert_eq!(field.metadata()[EXTENSION_NAME], "arrow.json");
    assert_eq!(field.metadata()[EXTENSION_METADATA], "");
    let (_, texts, notes) = column(245, "04", "", &["0200000063ff", "0300000005 2a00"]);
    assert_eq!(texts, ["NULL", "42"]);
    assert!(errors(&notes)[0].1.contains("JSON"), "{notes:?}");
}

#[test]
fn buglog_59_60_json_of_which_there_are_only_changes() {
    // {"a": 1}, and: replace $.a by 2.
    let document = bytes("00 0100 0c00 0b00 0100 05 0100 61");
    let diffs = bytes("00 03 242e61 03 050200");
    let diffs_len = diffs.len();
    assert_eq!(apply(&document, &diffs).unwrap(), r#"{"a": 2}"#);
    let document_hex = prefixed(4, &document);
    let diffs_hex = prefixed(4, &diffs);
    let (block, places) = values(&[&document_hex, &diffs_hex, "0000000000"]);
    let (base, diff) = (places[0], places[1].diff());
    assert!(diff.is_diff() && diffs_len > 0);
    let map = table(&[245], &[4], &[]);
    let plan = &map.plan().unwrap().columns()[0];
    let field = field_of(plan, &NULL_DATES);
    let rows = [diff, diff, diff, base, diff, Place::ABSENT, places[2]];
    let bases = [
        base,
        Place::ABSENT,
        Place::NULL,
        Place::ABSENT,
        diff,
        base,
        base,
    ];
    let (array, notes) = build_one(&field, &NULL_DATES, plan, &block, &rows, &bases);
    let wanted = [
        r#"{"a": 2}"#,
        "NULL",
        "NULL",
        r#"{"a": 1}"#,
        "NULL",
        "NULL",
        "null",
    ];
    assert_eq!(texts_of(&array), wanted);
    // A missing base is for the caller to tell.
    let error = "JSON changes of no value".to_owned();
    assert_eq!(errors(&notes), [(2, error.clone()), (4, error)]);
    let (array, notes) = build_one(&field, &NULL_DATES, plan, &block, &[diff], &[]);
    assert_eq!((array.null_count(), notes.len()), (1, 0));
}

#[test]
fn json_of_mariadb_where_it_is_declared() {
    let plan = declared(252, "04", DeclaredType::Json, &[]);
    let plan = &plan.columns()[0];
    let field = field_of(plan, &NULL_DATES);
    assert_eq!(field.metadata()[EXTENSION_NAME], "arrow.json");
    let value = prefixed(4, br#"{"a":  [1,2]}"#);
    let (_, texts, _) = column_with(plan, &NULL_DATES, &[&value]);
    assert_eq!(texts, [r#"{"a":  [1,2]}"#]);
}

#[test]
fn buglog_79_vectors() {
    let numbers = bytes("6666863f 66668ec1 00000042");
    let (data_type, texts) = certain(242, "04", "", &[&prefixed(4, &numbers), "NULL", "00000000"]);
    assert_eq!(data_type, "List(Float32)");
    assert_eq!(texts, [hex(&numbers), "NULL".to_owned(), "0x".to_owned()]);
    let map = table(&[242], &[4], &[]);
    let plan = &map.plan().unwrap().columns()[0];
    let (block, places) = values(&[&prefixed(4, &numbers), "06000000 000000000000"]);
    let field = field_of(plan, &NULL_DATES);
    let (array, notes) = build_one(&field, &NULL_DATES, plan, &block, &places, &[]);
    let list = array.as_list::<i32>().value(0);
    assert_eq!(
        list.as_primitive::<Float32Type>().values(),
        &[1.05, -17.8, 32.0]
    );
    assert_eq!(errors(&notes), [(1, "a VECTOR of 6 bytes".to_owned())]);
    // MariaDB's, where it is declared.
    let plan = declared(15, "0c 00", DeclaredType::Vector, &[]);
    let found = column_with(&plan.columns()[0], &NULL_DATES, &[&prefixed(1, &numbers)]);
    assert_eq!(
        (found.0.as_str(), &found.1[0]),
        ("List(Float32)", &hex(&numbers))
    );
}

#[test]
fn buglog_80_geometries() {
    // SRID 4326, POINT(1 2).
    let wkb = bytes("01 01000000 000000000000f03f 0000000000000040");
    let mut stored = bytes("e6100000");
    stored.extend(&wkb);
    let hexes = [&prefixed(4, &stored), "00000000", "NULL", "02000000 0102"];
    let (data_type, texts, notes) = column(255, "04", "", &hexes);
    assert_eq!(data_type, "BinaryView");
    assert_eq!(texts, [hex(&wkb).as_str(), "0x", "NULL", "NULL"]);
    assert_eq!(errors(&notes), [(3, "a GEOMETRY of 2 bytes".to_owned())]);
    let map = table(&[255], &[4], &[]);
    let field = field_of(&map.plan().unwrap().columns()[0], &NULL_DATES);
    assert_eq!(field.metadata()[EXTENSION_NAME], "geoarrow.wkb");
}

#[test]
fn buglog_46_uuid() {
    let plan = declared(254, "fe 10", DeclaredType::Uuid, &[]);
    let plan = &plan.columns()[0];
    let field = field_of(plan, &NULL_DATES);
    assert_eq!(field.metadata()[EXTENSION_NAME], "arrow.uuid");
    let full = prefixed(1, &bytes("123e4567e89b12d3a456426655440001"));
    // The zeros at the end are not in the log.
    let cut = prefixed(1, &bytes("123e4567e89b12d3a4564266554400")[..14]);
    let hexes = [full.as_str(), &cut, "NULL", "00"];
    let (data_type, texts, notes) = column_with(plan, &NULL_DATES, &hexes);
    assert_eq!(data_type, "FixedSizeBinary(16)");
    assert_eq!(texts[0], "0x123E4567E89B12D3A456426655440001");
    assert_eq!(texts[1], "0x123E4567E89B12D3A456426655440000");
    assert_eq!(
        texts[2..],
        ["NULL".to_owned(), format!("0x{}", "00".repeat(16))]
    );
    assert!(notes.is_empty());
    // Beside another type it is its text.
    let (block, places) = values(&hexes);
    let field = widened(&field, &Field::new("c", DataType::Int8, true));
    let (array, _) = build_one(&field, &NULL_DATES, plan, &block, &places, &[]);
    assert_eq!(texts_of(&array)[0], "123e4567-e89b-12d3-a456-426655440001");
    // Undeclared it is bytes.
    assert_eq!(certain(254, "fe 10", BINARY, &[&cut]).1, [texts[1].clone()]);
}

#[test]
fn inet4_and_inet6_as_the_server_shows_them() {
    let plan = declared(254, "fe 04", DeclaredType::Inet4, &[]);
    let found = column_with(
        &plan.columns()[0],
        &NULL_DATES,
        &["04c0a80001", "017f", "NULL", "00"],
    );
    assert_eq!(found.0, "Utf8");
    assert_eq!(found.1, ["192.168.0.1", "127.0.0.0", "NULL", "0.0.0.0"]);
    let plan = declared(254, "fe 10", DeclaredType::Inet6, &[]);
    for (address, text) in [
        ("20010db8000000000000ff0000428329", "2001:db8::ff00:42:8329"),
        ("00000000000000000000000000000001", "::1"),
        ("00", "::"),
        ("00000000000000000000ffffc0a80001", "::ffff:192.168.0.1"),
        ("000000000000000000000000c0a80001", "::192.168.0.1"),
        // One word of zeros is a gap as well.
        ("00010000000200030004000500060007", "1::2:3:4:5:6:7"),
        // The first of two that are equally long.
        ("00010000000000020000000000030004", "1::2:0:0:3:4"),
        ("00010002000300040005000600070000", "1:2:3:4:5:6:7::"),
        ("00010000", "1::"),
        (
            "ffffffffffffffffffffffffffffffff",
            "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        ),
        ("fe80", "fe80::"),
    ] {
        let value = prefixed(1, &bytes(address));
        let found = column_with(&plan.columns()[0], &NULL_DATES, &[&value]);
        assert_eq!(found.1, [text]);
        if let Ok(parsed) = text.parse::<std::net::Ipv6Addr>() {
            let mut stored = bytes(address);
            stored.resize(16, 0);
            assert_eq!(parsed.octets()[..], stored);
        } else {
            panic!("{text}");
        }
    }
}

#[test]
fn buglog_82_columns_without_values() {
    // DECIMAL of MySQL 4, and the hidden column of an index.
    for code in [0, 6] {
        let map = table(&[code], &[], &[]);
        let plan = &map.plan().unwrap().columns()[0];
        let field = field_of(plan, &NULL_DATES);
        assert_eq!(*field.data_type(), DataType::Null);
        let places = [Place::NULL, Place::ABSENT];
        let block = Block::new(Vec::new());
        let (array, notes) = build_one(&field, &NULL_DATES, plan, &block, &places, &[]);
        assert_eq!((array.len(), notes.len()), (2, 0));
    }
}

#[test]
fn places_behind_the_block_are_errors() {
    // Nothing that walks rows gives them.
    for (code, metadata) in [
        (1, ""),
        (246, "0a 02"),
        (16, "01 00"),
        (254, "f7 01"),
        (10, ""),
        (252, "04"),
        (245, "04"),
        (242, "04"),
        (255, "04"),
    ] {
        let map = table(&[code], &bytes(metadata), &[]);
        let plan = &map.plan().unwrap().columns()[0];
        let block = Block::new(vec![0xff; 3]);
        let field = field_of(plan, &NULL_DATES);
        for at in [3, 2, 1, 0] {
            let places = [Place::at(at).unwrap()];
            let (array, notes) = build_one(&field, &NULL_DATES, plan, &block, &places, &[]);
            let signed = at < 3 && code == 1;
            let label = at < 3 && matches!(code, 16 | 254);
            if !signed && !label && code != 10 {
                assert_eq!(array.null_count(), 1, "{code} at {at}");
                assert!(notes.iter().all(|(_, note)| note.is_error()));
            }
            assert_eq!(
                array.null_count() > 0,
                notes
                    .iter()
                    .any(|(_, note)| { !matches!(note, Note::Signedness(_)) }),
                "{code} at {at} {notes:?}"
            );
        }
    }
}
