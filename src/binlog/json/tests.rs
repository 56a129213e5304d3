//! Documents of a real server, the bugs of other readers, and hostile bytes.

use super::*;
use model::{Value, encode_change, raw_change};

mod corpus;
pub(in crate::binlog) mod model;
pub(in crate::binlog) mod random;

/// Text of a document.
fn text(document: &[u8]) -> String {
    let mut out = String::new();
    Json::parse(document).unwrap().to_text(&mut out).unwrap();
    out
}

/// Why a document has no text.
fn refusal(document: &[u8]) -> String {
    let mut out = String::from("before");
    let error = Json::parse(document)
        .and_then(|json| json.to_text(&mut out))
        .unwrap_err();
    assert_eq!(out, "before");
    error.message().to_owned()
}

fn unhex(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.map(byte).collect()
}

#[test]
fn documents_of_mysql_97() {
    // Each line: a document as it stood in a row event of MySQL 9.7.4, and its SELECT.
    let mut count = 0;
    for line in include_str!("tests/documents.tsv").lines() {
        let (document, expected) = line.split_once('\t').unwrap();
        assert_eq!(text(&unhex(document)), expected, "{document}");
        count += 1;
    }
    assert_eq!(count, 232);
}

#[test]
fn updates_of_mysql_97() {
    // Each line: the document before, the changes, the SELECT after. The last 12 are of one row, which
    // was updated in place: its documents have holes, and values in any order.
    let mut count = 0;
    for line in include_str!("tests/updates.tsv").lines() {
        let [before, changes, after] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        assert_eq!(
            apply(&unhex(before), &unhex(changes)).unwrap(),
            after,
            "{before} {changes}"
        );
        count += 1;
    }
    assert_eq!(count, 48);
}

#[test]
fn a_large_document_of_mysql_97() {
    // JSON_OBJECT('a', REPEAT('x', 70000), 'b', JSON_ARRAY(1, 70000, -70000, 5000000000, …)): 4-byte
    // offsets outside, 2-byte offsets inside.
    let head = "0102000000c71101001e00000001001f00000001000c2000000002931101006162f0a204";
    let tail = "08003400050100071c00072000092400092c000400000401000402007011010090eefeff\
                00f2052a01000000ffffffff00000000";
    let document = [unhex(head), vec![b'x'; 70_000], unhex(tail)].concat();
    let expected = format!(
        "{{\"a\": \"{}\", \"b\": [1, 70000, -70000, 5000000000, 4294967295, null, true, false]}}",
        "x".repeat(70_000)
    );
    assert_eq!(text(&document), expected);
}

/// A document `{"v": value}` with an opaque value.
fn opaque(type_code: u8, data: &[u8]) -> Vec<u8> {
    let mut document = vec![0, 1, 0, 0, 0, 11, 0, 1, 0, 15, 12, 0, b'v', type_code];
    document.push(data.len() as u8);
    document.extend(data);
    document[3] = (document.len() - 1) as u8;
    document
}

/// The value in the text of such a document.
fn opaque_text(type_code: u8, data: &[u8]) -> String {
    let text = text(&opaque(type_code, data));
    let value = text.strip_prefix("{\"v\": ").unwrap();
    value.strip_suffix('}').unwrap().to_owned()
}

#[test]
fn buglog_28_decimal_has_a_digit_before_the_point() {
    assert_eq!(opaque_text(246, &[1, 1, 0x81]), "0.1");
    assert_eq!(opaque_text(246, &[1, 1, 0x7e]), "-0.1");
}

#[test]
fn buglog_48_opaque_values_have_a_length() {
    assert_eq!(opaque_text(246, &[3, 2, 0x81, 99]), "1.99");
    assert_eq!(opaque_text(16, &[1, 0x55]), "\"base64:type16:AVU=\"");
    assert_eq!(opaque_text(252, b"bl"), "\"base64:type252:Ymw=\"");
    assert_eq!(opaque_text(255, &[]), "\"base64:type255:\"");
}

#[test]
fn buglog_49_decimal_keeps_its_scale() {
    let data = [0x13, 0x0a, 0x80, 0, 0, 0x69, 0, 0, 0, 0, 0];
    assert_eq!(opaque_text(246, &data), "105.0000000000");
}

#[test]
fn buglog_50_temporal_values_are_packed_as_in_memory() {
    let text = |type_code, hex| opaque_text(type_code, &unhex(hex));
    assert_eq!(text(11, "f1fb09ee77050000"), "\"87:31:46.654321\"");
    assert_eq!(text(11, "0f04f61188faffff"), "\"-87:31:46.654321\"");
    assert_eq!(text(11, "000000fb6e340000"), "\"838:59:59.000000\"");
    let datetime = "\"2012-03-18 11:30:45.654321\"";
    assert_eq!(text(12, "f1fb09adb7e48b19"), datetime);
    assert_eq!(text(7, "f1fb09adb7e48b19"), datetime);
    assert_eq!(text(10, "0000000000e48b19"), "\"2012-03-18\"");
    let zero = "0000000000000000";
    assert_eq!(text(12, zero), "\"0000-00-00 00:00:00.000000\"");
    assert_eq!(text(10, zero), "\"0000-00-00\"");
}

#[test]
fn buglog_51_doubles_and_decimals_keep_their_point() {
    assert_eq!(text(&Value::Double(1.0).encode()), "1.0");
    assert_eq!(text(&Value::Double(-0.0).encode()), "-0.0");
    assert_eq!(opaque_text(246, &[2, 1, 0x81, 0]), "1.0");
}

#[test]
fn buglog_52_zero_time() {
    assert_eq!(opaque_text(11, &[0; 8]), "\"00:00:00.000000\"");
}

#[test]
fn buglog_53_exponents() {
    let text = |value| text(&Value::Double(value).encode());
    assert_eq!(text(1e15), "1e15");
    assert_eq!(text(1e30), "1e30");
    assert_eq!(text(1.5), "1.5");
    assert_eq!(text(1e14), "100000000000000.0");
    // MySQL 9.7.4 prints this one without an exponent, and one with it from 1e-16 on.
    assert_eq!(text(1e-7), "0.0000001");
    assert_eq!(text(1e-16), "1e-16");
}

#[test]
fn buglog_54_55_integers_are_exact() {
    let text = |value: Value| text(&value.encode());
    assert_eq!(text(Value::Int(9_007_199_254_740_993)), "9007199254740993");
    assert_eq!(text(Value::Uint(u64::MAX)), "18446744073709551615");
    assert_eq!(text(Value::Int(i64::MIN)), "-9223372036854775808");
}

#[test]
fn buglog_56_large_objects_and_literals() {
    let literals = Value::Array(vec![Value::Null, Value::Bool(true), Value::Bool(false)]);
    let value = Value::object(vec![
        ("long".to_owned(), Value::Str("é".repeat(40_000))),
        ("literals".to_owned(), literals.clone()),
        ("i32".to_owned(), Value::Int(-70_000)),
        ("u32".to_owned(), Value::Uint(70_000)),
        ("i64".to_owned(), Value::Int(1 << 40)),
        ("inner".to_owned(), Value::Array(vec![literals; 9_000])),
    ]);
    let document = value.encode();
    assert_eq!(document[0], 1, "a large object");
    assert_eq!(text(&document), value.text());
}

#[test]
fn buglog_57_no_bytes_are_json_null() {
    assert_eq!(text(&[]), "null");
}

#[test]
fn buglog_58_a_damaged_document_is_an_error_that_says_where() {
    assert_eq!(
        refusal(&unhex("000100ff00")),
        "byte 1 of the JSON document: an object or array of 255 bytes, but 4 are left"
    );
    assert_eq!(
        refusal(&[13]),
        "byte 1 of the JSON document: value of unknown type 13"
    );
    assert_eq!(
        refusal(&[12, 5, b'a']),
        "byte 1 of the JSON document: a field needs 5 bytes, but 1 are left"
    );
}

#[test]
fn buglog_59_60_partial_updates() {
    let before = Value::object(vec![
        ("a".to_owned(), Value::Int(1)),
        ("b c".to_owned(), Value::Array(vec![Value::Null; 3])),
    ])
    .encode();
    let changes = [
        raw_change(0, b"$.a", Some(&Value::Double(2.0).encode())),
        raw_change(1, b"$.\"b c\"[1]", Some(&Value::Bool(true).encode())),
        raw_change(2, b"$.\"b c\"[last]", None),
    ]
    .concat();
    let diffs = JsonDiffs::parse(&changes).unwrap();
    assert_eq!(diffs.iter().count(), 3);
    let mut shown = String::new();
    diffs.to_text(&mut shown).unwrap();
    assert_eq!(
        shown,
        r#"[{"op": "replace", "path": "$.a", "value": 2.0}, {"op": "insert", "path": "$.\"b c\"[1]", "value": true}, {"op": "remove", "path": "$.\"b c\"[last]"}]"#
    );
    let after = r#"{"a": 2.0, "b c": [null, true, null]}"#;
    assert_eq!(apply(&before, &changes).unwrap(), after);
    // No changes: as before, which is not NULL.
    assert!(JsonDiffs::parse(&[]).unwrap().is_empty());
    assert_eq!(
        apply(&before, &[]).unwrap(),
        r#"{"a": 1, "b c": [null, null, null]}"#
    );
}

#[test]
fn changes_that_the_server_refuses() {
    let before = Value::object(vec![
        ("a".to_owned(), Value::Int(1)),
        ("b".to_owned(), Value::Array(vec![])),
    ])
    .encode();
    let one = Value::Int(1).encode();
    let refused = |change: &[u8]| apply(&before, change).unwrap_err().message().to_owned();
    assert_eq!(
        refused(&raw_change(0, b"$.c", Some(&one))),
        "JSON change 1 at byte 0: replace $.c: nothing is there; was the document before another one?"
    );
    for (op, path, why) in [
        (0, "$", "the whole document"),
        (1, "$", "the whole document"),
        (1, "$.a", "the member exists"),
        (1, "$.a.b", "nothing is there"),
        (1, "$.c.d", "nothing is there"),
        (1, "$[0]", "nothing is there"),
        (0, "$.b[0]", "nothing is there"),
        (0, "$.b.c", "nothing is there"),
        (0, "$.*", "path"),
        (0, "a", "path"),
        (3, "$.a", "unknown operation 3"),
    ] {
        let error = refused(&raw_change(op, path.as_bytes(), Some(&one)));
        assert!(error.contains(why), "{path}: {error}");
    }
    for path in ["$.c", "$.b[0]", "$.b[last]", "$.a.b", "$"] {
        assert!(apply(&before, &raw_change(2, path.as_bytes(), None)).is_err());
    }
    let second = [
        raw_change(2, b"$.a", None),
        raw_change(0, b"$.b", Some(&[12, 9])),
    ];
    assert_eq!(
        refused(&second.concat()),
        "JSON change 2 at byte 5: byte 1 of the JSON document: a field needs 9 bytes, but 0 are left"
    );
    assert!(JsonDiffs::parse(&[0, 200, b'$']).is_err());
}

#[test]
fn damaged_values_of_sql_types() {
    for (type_code, hex) in [
        (246, ""),
        (246, "01"),
        (246, "0302"),
        (246, "030281"),     // one byte short
        (246, "0302816300"), // one too many
        (246, "02038100"),   // more digits behind the point than all
        (246, "0101ff"),     // 0x7f is no digit
        (10, "00000000"),
        (12, "00000000000000000000"),
        (12, "ffffffffffffffff"),
        (12, "ffffffffffffff7f"),
        (11, "00000000ffffff7f"),
        (11, "40420f0000000000"), // 1000000 microseconds
    ] {
        let error = refusal(&opaque(type_code, &unhex(hex)));
        assert!(error.contains("byte 13 of the JSON document"), "{error}");
        assert!(error.contains("are no value of"), "{error}");
    }
    assert!(refusal(&Value::Double(f64::NAN).encode()).contains("no number of JSON"));
    assert!(refusal(&[12, 1, 0xff]).contains("not UTF-8"));
    assert!(refusal(&[4, 3]).contains("literal 3"));
}

/// `value` inside `depth` arrays.
fn nested(depth: usize, value: Value) -> Value {
    (0..depth).fold(value, |inner, _| Value::Array(vec![inner]))
}

#[test]
fn depth_is_bounded_as_the_server_does() {
    let deepest = nested(100, Value::Int(1));
    assert_eq!(text(&deepest.encode()), deepest.text());
    assert!(refusal(&nested(101, Value::Int(1)).encode()).contains("nested deeper than 100"));
    assert!(refusal(&nested(300, Value::Int(1)).encode()).contains("nested deeper than 100"));

    // A change must not get around it.
    let path = format!("${}", "[0]".repeat(99));
    let value = nested(1, Value::Int(7)).encode();
    let before = deepest.encode();
    let change = raw_change(0, path.as_bytes(), Some(&value));
    assert_eq!(
        apply(&before, &change).unwrap(),
        nested(100, Value::Int(7)).text()
    );
    let path = path + "[0]";
    let change = raw_change(0, path.as_bytes(), Some(&value));
    assert!(
        apply(&before, &change)
            .unwrap_err()
            .message()
            .contains("deeper than 100")
    );
}

#[test]
fn overlapping_values_cannot_multiply_the_work() {
    // 60 arrays of two elements, both the next array: 2^60 values in 600 bytes.
    let mut document = vec![2];
    for n in 0..60u16 {
        let size = (60 - n) * 10;
        document.extend([2, 0]);
        document.extend(size.to_le_bytes());
        document.extend([2, 10, 0, 2, 10, 0]);
    }
    let last = document.len() - 6;
    document[last..].copy_from_slice(&[4, 0, 0, 4, 0, 0]);
    assert!(refusal(&document).contains("lie on top of each other"));
    // The same by an array in itself: offsets cannot lead back.
    assert!(refusal(&unhex("0201000700020000")).contains("leads out of"));
    // An object all of whose keys are the same 60 kB.
    let mut document = vec![0, 200, 0, 0xff, 0xff];
    document.extend((0..200).flat_map(|_| [0x7c, 5, 0x60, 0xea]));
    document.extend((0..200).flat_map(|_| [4, 0, 0]));
    document.resize(0x1_0000, b'k');
    assert!(refusal(&document).contains("lie on top of each other"));
}

#[test]
fn a_change_takes_no_overlapping_values_apart() {
    // 1000 elements that are the same 60 kB.
    let mut document = vec![2, 0xe8, 3, 0xff, 0xff];
    document.extend((0..1000).flat_map(|_| [12, 0xbc, 0x0b]));
    document.resize(0xbbd, 0);
    document.extend([0xe0, 0xd4, 3]);
    document.resize(0x1_0000, b's');
    let change = raw_change(2, b"$[5]", None);
    let error = apply(&document, &change).unwrap_err();
    assert!(
        error.message().contains("lie on top of each other"),
        "{error}"
    );
}

#[test]
fn many_changes_of_one_array_end() {
    let before = Value::Array(vec![Value::Null; 200_000]).encode();
    let one = encode_change(JsonOp::Insert, &[model::Step::At(0)], Some(&Value::Null));
    assert!(apply(&before, &one.repeat(40)).is_ok());
    let error = apply(&before, &one.repeat(10_000)).unwrap_err();
    assert_eq!(error.kind(), crate::error::ErrorKind::Unsupported);
}

#[test]
fn nodes_are_read_in_place() {
    let value = Value::object(vec![
        (
            "k".to_owned(),
            Value::Array(vec![Value::Int(1), Value::Str("x".to_owned())]),
        ),
        ("kk".to_owned(), Value::Bool(true)),
    ]);
    let document = value.encode();
    let Node::Object(object) = Json::parse(&document).unwrap().root() else {
        panic!("an object");
    };
    assert_eq!((object.len(), object.is_empty()), (2, false));
    let members: Vec<_> = object.members().map(Result::unwrap).collect();
    assert_eq!((members[0].0, members[1].0), ("k", "kk"));
    assert!(matches!(members[1].1, Node::Bool(true)));
    let Node::Array(array) = members[0].1 else {
        panic!("an array");
    };
    assert_eq!(array.members().count(), 0);
    let elements: Vec<_> = array.elements().map(Result::unwrap).collect();
    assert!(matches!(elements[..], [Node::Int(1), Node::String("x")]));
}
