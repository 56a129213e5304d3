use super::*;
use crate::binlog::cursor::Cursor;
use crate::binlog::event::TableMapOwned;
use crate::binlog::event::testing::hex;
use crate::binlog::json::tests::random;
use crate::binlog::problem::Severity;
use crate::binlog::row::testing::table;
use crate::binlog::row::{ColumnHint, NameSource, RowPlan, TableHint};
use proptest::prelude::*;

/// The first column of a table.
fn plan(map: &TableMapOwned, hint: Option<ColumnHint>) -> RowPlan {
    match hint {
        None => RowPlan::new(map).unwrap(),
        Some(column) => {
            let hint = TableHint {
                source: NameSource::Ddl,
                columns: vec![column],
                primary_key: Vec::new(),
            };
            RowPlan::with_hint(map, &hint).unwrap()
        }
    }
}

/// JSON of a value, and the note. [`ColumnPlan::check`] finds the same.
fn json(plan: &RowPlan, bytes: &[u8]) -> (String, Option<ValueNote>) {
    let column = &plan.columns()[0];
    let value = column.decode.unwrap()(&mut Cursor::new(bytes), column.context).unwrap();
    let mut out = "…".to_owned();
    let note = column.write_json(value, &mut out);
    let text = |note: &Option<ValueNote>| note.as_ref().map(|note| format!("{note:?}"));
    assert_eq!(text(&column.check(value)), text(&note));
    (out.strip_prefix("…").unwrap().to_owned(), note)
}

/// JSON of a value of a type that is exact.
fn exact(code: u8, metadata: &[u8], optional: &str, bytes: &str) -> String {
    let map = table(&[code], metadata, &hex(optional));
    let (out, note) = json(&plan(&map, None), &hex(bytes));
    assert!(note.is_none(), "{note:?}");
    out
}

fn declared(ty: DeclaredType) -> ColumnHint {
    ColumnHint {
        name: "c".to_owned(),
        ty,
        unsigned: false,
        collation: None,
        labels: Vec::new(),
        nullable: true,
        visible: true,
    }
}

const SIGNED: &str = "010100";
const UNSIGNED: &str = "010180";
const LATIN1: &str = "020108";
const UTF8MB4: &str = "02012d";
const BINARY: &str = "02013f";

#[test]
fn numbers_are_numbers_with_all_digits() {
    assert_eq!(exact(3, &[], SIGNED, "ffffffff"), "-1");
    assert_eq!(
        exact(8, &[], UNSIGNED, "ffffffffffffffff"),
        u64::MAX.to_string()
    );
    // buglog 18.
    assert_eq!(
        exact(8, &[], UNSIGNED, "fec124ce0ee532d7"),
        "15506708318740857342"
    );
    assert_eq!(
        exact(8, &[], SIGNED, "0000000000000080"),
        i64::MIN.to_string()
    );
    assert_eq!(
        exact(246, &[65, 30], SIGNED, &format!("7e{}", "ff".repeat(29))),
        format!("-16777216{}.{}", "0".repeat(27), "0".repeat(30))
    );
    // buglog 26: zero keeps its scale.
    assert_eq!(
        exact(246, &[64, 16], SIGNED, &format!("80{}", "00".repeat(29))),
        "0.0000000000000000"
    );
    assert_eq!(exact(4, &[4], SIGNED, "8fc2f53c"), "0.03");
    assert_eq!(exact(5, &[8], SIGNED, "9a9999999999b93f"), "0.1");
    assert_eq!(exact(5, &[8], SIGNED, "000000000000f07f"), "\"inf\"");
    assert_eq!(
        exact(16, &[0, 8], "", "8000000000000000"),
        "9223372036854775808"
    );
    // buglog 11.
    for (byte, year) in [("00", "0"), ("01", "1901"), ("ff", "2155")] {
        assert_eq!(exact(13, &[], "", byte), year);
    }
}

#[test]
fn integers_that_may_be_unsigned_keep_both_readings() {
    let map = table(&[1], &[], &[]);
    let plan = plan(&map, None);
    assert_eq!(json(&plan, &[127]).0, "127");
    let (text, note) = json(&plan, &[0xff]);
    assert_eq!(text, "\"-1 (255)\"");
    let note = note.unwrap();
    assert!(note.is_of_column() && note.severity() == Severity::Warning);
    assert!(note.to_string().starts_with("-1 (255): "), "{note}");
}

#[test]
fn temporal_values_are_texts() {
    assert_eq!(exact(10, &[], "", "000000"), "\"0000-00-00\"");
    assert_eq!(exact(19, &[2], "", "7fffffff"), "\"-00:00:00.01\"");
    assert_eq!(exact(18, &[0], "", "8000000000"), "\"0000-00-00 00:00:00\"");
    assert_eq!(
        exact(17, &[3], "", "00000001 09c4"),
        "\"1970-01-01 00:00:01.250\""
    );
    assert_eq!(exact(17, &[0], "", "00000000"), "\"0000-00-00 00:00:00\"");
}

#[test]
fn text_is_escaped_and_bytes_that_are_none_are_kept() {
    // buglog 39 to 43.
    assert_eq!(exact(15, &[20, 0], LATIN1, "03 80e922"), "\"€é\\\"\"");
    assert_eq!(
        exact(15, &[20, 0], UTF8MB4, "0b 01 08 0a 1f 5c 7f e280a8 c3bc"),
        "\"\\u0001\\b\\n\\u001f\\\\\u{7f}\u{2028}ü\""
    );
    let map = table(&[15], &[20, 0], &hex(UTF8MB4));
    let plan_of_text = plan(&map, None);
    let (text, note) = json(&plan_of_text, &hex("03 61ff62"));
    assert_eq!(text, r#""a\\xffb""#);
    let note = note.unwrap();
    assert!(!note.is_of_column() && note.severity() == Severity::Warning);
    assert_eq!(
        note.to_string(),
        "the bytes at offset 1 are no utf8mb4 character; bytes that are none stand as \\xNN"
    );
    // Nothing is told: UTF-8, and the same note.
    let map = table(&[15], &[20, 0], &[]);
    let untold = plan(&map, None);
    assert!(json(&untold, &hex("03 61c3bc")).1.is_none());
    let (text, note) = json(&untold, &hex("03 61ff62"));
    assert_eq!(text, r#""a\\xffb""#);
    assert!(matches!(note, Some(ValueNote::NoCharset(1))));
    // buglog 47: a collation that is not known; its bytes are given.
    let map = table(&[15], &[20, 0], &hex("0203fce803"));
    let (text, note) = json(&plan(&map, None), &hex("02 6162"));
    assert_eq!(text, "\"base64:type15:YWI=\"");
    assert!(note.unwrap().is_of_column());
}

#[test]
fn bytes_are_what_the_server_makes_of_them() {
    // SELECT JSON_OBJECT('b', c) on MySQL gives these types.
    assert_eq!(
        exact(15, &[20, 0], BINARY, "03 000102"),
        "\"base64:type15:AAEC\""
    );
    // buglog 35: BINARY has its zeros.
    assert_eq!(
        exact(254, &[254, 4], BINARY, "02 0102"),
        "\"base64:type254:AQIAAA==\""
    );
    assert_eq!(exact(252, &[2], BINARY, "0000"), "\"base64:type252:\"");
    // buglog 80: SRID and WKB.
    let point = "19000000 00000000 0101000000000000000000f03f0000000000000040";
    assert_eq!(
        exact(255, &[4], "", point),
        "\"base64:type255:AAAAAAEBAAAAAAAAAAAA8D8AAAAAAAAAQA==\""
    );
    // buglog 79.
    let vector = "0c000000 6666863f 66668ec1 00000042";
    assert_eq!(exact(242, &[4], "", vector), "[1.05,-17.8,32]");
    assert_eq!(exact(242, &[4], "", "04000000 0000c07f"), "[\"NaN\"]");
}

#[test]
fn types_that_only_a_declaration_tells() {
    for (ty, code, metadata, bytes, text) in [
        // buglog 46.
        (
            DeclaredType::Uuid,
            254,
            [254, 16],
            "0f a0eebc999c0b1ef8bb6d6bb9bd380a",
            "\"a0eebc99-9c0b-1ef8-bb6d-6bb9bd380a00\"",
        ),
        (DeclaredType::Inet4, 254, [254, 4], "01 0a", "\"10.0.0.0\""),
        (
            DeclaredType::Inet6,
            254,
            [254, 16],
            "10 20010db8000000000000ff0000428329",
            "\"2001:db8::ff00:42:8329\"",
        ),
        (
            DeclaredType::Vector,
            15,
            [8, 0],
            "08 0000803f 000000bf",
            "[1,-0.5]",
        ),
    ] {
        let map = table(&[code], &metadata, &hex(BINARY));
        let (out, note) = json(&plan(&map, Some(declared(ty))), &hex(bytes));
        assert_eq!((out.as_str(), note.is_none()), (text, true));
    }
}

#[test]
fn labels_are_texts_and_numbers_without() {
    // buglog 31 to 34: labels in latin1 from the table map, in UTF-8 from a statement.
    let labels = "06 05 02 0178 01fc  0a 01 08";
    assert_eq!(exact(254, &[0xf7, 1], labels, "02"), "\"ü\"");
    assert_eq!(exact(254, &[0xf7, 1], labels, "00"), "\"\"");
    assert_eq!(exact(254, &[0xf7, 2], "", "0101"), "257");
    assert_eq!(exact(254, &[0xf8, 1], "", "05"), "5");
    let labels = "05 07 03 0178 0122 01fc  0a 01 08";
    assert_eq!(exact(254, &[0xf8, 1], labels, "07"), "\"x,\\\",ü\"");
    assert_eq!(exact(254, &[0xf8, 1], labels, "00"), "\"\"");
    // ('', 'b', '', 'dd'): no comma behind empty labels at the beginning.
    let labels = "05 08 04 00 0162 00 026464  0a 01 2d";
    for (bits, text) in [("05", ""), ("07", "b,"), ("0d", "dd"), ("0f", "b,,dd")] {
        assert_eq!(exact(254, &[0xf8, 1], labels, bits), format!("\"{text}\""));
    }
    let map = table(&[254], &[0xf7, 1], &[]);
    let hint = ColumnHint {
        labels: vec!["ü".to_owned()],
        collation: Some(8),
        ..declared(DeclaredType::Enum)
    };
    let (text, note) = json(&plan(&map, Some(hint)), &[1]);
    assert_eq!((text.as_str(), note.is_none()), ("\"ü\"", true));
    // A label that is no text, and one that is not there.
    let map = table(&[254], &[0xf7, 1], &hex("06 02 01 81  0a 01 2d"));
    assert!(map.plan().is_err());
    let map = table(&[254], &[0xf7, 1], &hex("06 03 01 01ff  0a 01 2d"));
    let plan = plan(&map, None);
    let (text, note) = json(&plan, &[1]);
    assert_eq!(text, r#""\\xff""#);
    assert!(matches!(note, Some(ValueNote::NotText(_))));
    let (text, note) = json(&plan, &[2]);
    assert_eq!(text, "null");
    assert_eq!(note.unwrap().to_string(), "label 2 of an ENUM of 1");
}

#[test]
fn documents_are_embedded() {
    // {"a": 1.0}; no bytes: JSON null (buglog 57).
    let document = "15000000 00 0100 1400 0b00 0100 0b 0c00 61 000000000000f03f";
    assert_eq!(exact(245, &[4], "", document), "{\"a\": 1.0}");
    assert_eq!(exact(245, &[4], "", "00000000"), "null");
}

#[test]
fn a_value_that_does_not_decode_is_null_and_an_error_that_names_the_column() {
    for (code, metadata, bytes, message) in [
        (
            246,
            &[4, 2][..],
            "ffff",
            "a DECIMAL group of 2 digits holds 127",
        ),
        (
            245,
            &[4],
            "02000000 0c7f",
            "byte 1 of the JSON document: a field needs 127 bytes, but 0 are left",
        ),
        (
            140,
            &[2],
            "0200 1061",
            "a COMPRESSED column of method 1 (byte 0x10)",
        ),
    ] {
        let map = table(&[code], metadata, &[]);
        let (text, note) = json(&plan(&map, None), &hex(bytes));
        assert_eq!(text, "null");
        let Some(ValueNote::Undecoded(error)) = note else {
            panic!("{note:?}");
        };
        assert_eq!(error.at().column.as_deref(), Some("@1"));
        assert_eq!(error.message(), message);
    }
}

/// The rest behind one JSON value; `None`: there is none.
fn after_json(text: &str) -> Option<&str> {
    let text = text.trim_start_matches(' ');
    match text.chars().next()? {
        '"' => {
            let mut chars = text[1..].char_indices();
            while let Some((n, c)) = chars.next() {
                match c {
                    '"' => return Some(&text[n + 2..]),
                    '\\' => match chars.next()?.1 {
                        'u' => {
                            let digits = text.get(n + 3..n + 7)?;
                            u16::from_str_radix(digits, 16).ok()?;
                        }
                        c => {
                            "\"\\/bfnrt".find(c)?;
                        }
                    },
                    '\0'..' ' => return None,
                    _ => {}
                }
            }
            None
        }
        open @ ('[' | '{') => {
            let close = if open == '[' { ']' } else { '}' };
            let mut rest = &text[1..];
            if let Some(rest) = rest.strip_prefix(close) {
                return Some(rest);
            }
            loop {
                if open == '{' {
                    rest = rest
                        .trim_start_matches(' ')
                        .strip_prefix('"')
                        .and(after_json(rest))?;
                    rest = rest.strip_prefix(':')?;
                }
                rest = after_json(rest)?;
                if let Some(rest) = rest.strip_prefix(close) {
                    return Some(rest);
                }
                rest = rest.strip_prefix(',')?;
            }
        }
        '-' | '0'..='9' => {
            let end = text.find([',', ']', '}']).unwrap_or(text.len());
            let (number, rest) = text.split_at(end);
            let digits = number.strip_prefix('-').unwrap_or(number);
            let (mantissa, exponent) = digits.split_once('e').unwrap_or((digits, "0"));
            let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
            let all_digits =
                |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            let plain = whole == "0" || !whole.starts_with('0');
            let exponent = exponent.strip_prefix('-').unwrap_or(exponent);
            let valid = [whole, fraction, exponent].into_iter().all(all_digits) && plain;
            valid.then_some(rest)
        }
        _ => ["null", "true", "false"]
            .iter()
            .find_map(|word| text.strip_prefix(word)),
    }
}

fn is_json(text: &str) -> bool {
    after_json(text) == Some("")
}

#[test]
fn the_checker_of_json_knows_json() {
    for good in [
        "null",
        "-0.10",
        "1e-7",
        "[]",
        "[1, {\"a\": \"\\u001f\\\"\"}]",
        "{\"\":1}",
    ] {
        assert!(is_json(good), "{good}");
    }
    for bad in [
        "", "01", "1.", "-", "NaN", "[1,]", "{1:1}", "\"\n\"", "\"\\x\"", "[1", "1 2",
    ] {
        assert!(!is_json(bad), "{bad}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// [`json`] asserts that writing and checking find the same.
    #[test]
    fn any_bytes_are_json_or_null(
        (code, metadata, optional) in prop::sample::select(vec![
            (1, &[][..], ""), (8, &[], UNSIGNED), (4, &[4], ""), (5, &[8], ""), (246, &[9, 4], ""),
            (246, &[65, 30], ""), (16, &[3, 1], ""), (13, &[], ""), (10, &[], ""), (12, &[], ""),
            (17, &[3], ""), (18, &[6], ""), (19, &[2], ""), (15, &[200, 0], UTF8MB4),
            (15, &[200, 0], LATIN1), (15, &[200, 0], "02010d"), (15, &[200, 0], "020136"),
            (15, &[200, 0], BINARY), (15, &[200, 0], "0203fce803"), (15, &[200, 0], ""),
            (254, &[254, 20], BINARY), (254, &[254, 20], ""), (254, &[0xf7, 1], "0605020178 0100"),
            (254, &[0xf8, 1], "0505020178 0122"), (254, &[0xf8, 2], ""), (252, &[1], UTF8MB4),
            (245, &[1], ""), (255, &[1], ""), (242, &[1], ""), (140, &[1], ""), (141, &[20, 0], ""),
        ]),
        mut bytes in prop::collection::vec(any::<u8>(), 40),
        document in random::value(),
        damage in prop::collection::vec(any::<(prop::sample::Index, u8)>(), 0..3),
    ) {
        let map = table(&[code], metadata, &hex(optional));
        if code == 245 {
            bytes = document.encode();
            bytes.truncate(255);
            for (at, byte) in damage {
                let len = bytes.len();
                bytes[at.index(len)] = byte;
            }
            bytes.insert(0, bytes.len() as u8);
        } else {
            // Lengths fit.
            bytes[0] %= 39;
        }
        let plan = plan(&map, None);
        let column = &plan.columns()[0];
        if column.decode.unwrap()(&mut Cursor::new(&bytes), column.context).is_ok() {
            let (text, _) = json(&plan, &bytes);
            prop_assert!(is_json(&text), "{}", text);
        }
    }
}
