//! Values by hand: the cases of public bug reports, and each way to be wrong.

use super::*;
use crate::binlog::row::DeclaredType;

#[test]
fn buglog_17_to_20_unsigned() {
    for (code, hexes, name, texts) in [
        (1, "ff", "UInt8", "255"),
        (2, "2aa0", "UInt16", "41002"),
        (9, "67a187", "UInt32", "8888679"),
        (3, "fdffffff", "UInt32", "4294967293"),
        (8, "0900000000000080", "UInt64", "9223372036854775817"),
        (8, "3e6e31d2e1d532d7", "UInt64", "15506708318740999742"),
        (8, "ffffffffffffffff", "UInt64", "18446744073709551615"),
    ] {
        let (data_type, found) = certain(code, "", UNSIGNED, &["NULL", hexes]);
        assert_eq!(data_type, name);
        assert_eq!(found[0], "NULL");
        let number = bytes(hexes)
            .iter()
            .rev()
            .fold(0u64, |n, &byte| n << 8 | u64::from(byte));
        assert_eq!(found[1], number.to_string());
        if code != 8 || hexes.starts_with('f') {
            assert_eq!(found[1], texts);
        }
    }
}

#[test]
fn buglog_24_signed_and_of_unknown_sign() {
    for (code, hexes, name, text) in [
        (1, "ff", "Int8", "-1"),
        (2, "0080", "Int16", "-32768"),
        (9, "ffff7f", "Int32", "8388607"),
        (9, "000080", "Int32", "-8388608"),
        (3, "00000080", "Int32", "-2147483648"),
        (8, "0000000000000080", "Int64", "-9223372036854775808"),
    ] {
        assert_eq!(
            certain(code, "", SIGNED, &[hexes]),
            (name.to_owned(), vec![text.to_owned()])
        );
        // The same, with a warning where it matters.
        let (data_type, texts, notes) = column(code, "", "", &["NULL", hexes, hexes]);
        assert_eq!((data_type.as_str(), texts[2].as_str()), (name, text));
        if text.starts_with('-') {
            assert_eq!(
                notes.iter().map(|(row, _)| *row).collect::<Vec<_>>(),
                [1, 2]
            );
            assert!(matches!(notes[0].1, Note::Signedness(n) if n.signed().to_string() == text));
            assert!(!notes[0].1.is_error());
        } else {
            assert!(notes.is_empty());
        }
    }
    // A declaration tells.
    let plan = declared(1, "", DeclaredType::TinyInt, &[]);
    let (data_type, texts, notes) = column_with(&plan.columns()[0], &NULL_DATES, &["ff"]);
    assert_eq!((data_type.as_str(), texts[0].as_str()), ("UInt8", "255"));
    assert!(notes.is_empty());
}

#[test]
fn buglog_21_bits() {
    let (data_type, texts) = certain(16, "00 08", "", &["8000000000000000", "ffffffffffffffff"]);
    assert_eq!(data_type, "UInt64");
    assert_eq!(texts, ["9223372036854775808", "18446744073709551615"]);
    assert_eq!(certain(16, "01 00", "", &["01", "00"]).1, ["1", "0"]);
    let (_, texts, notes) = column(16, "03 01", "", &["07ff", "08ff", "0000"]);
    assert_eq!(texts, ["2047", "NULL", "0"]);
    assert_eq!(errors(&notes), [(1, "0x8ff in a BIT(11)".to_owned())]);
}

#[test]
fn buglog_25_26_decimals() {
    let (data_type, texts) = certain(246, "0b 04", "", &["7fffffc6fb2d", "8000003904d2"]);
    assert_eq!(data_type, "Decimal128(11, 4)");
    assert_eq!(texts, ["-57.1234", "57.1234"]);
    let zero = format!("80{}", "00".repeat(29));
    let (data_type, texts) = certain(246, "40 10", "", &[&zero]);
    assert_eq!(data_type, "Decimal256(64, 16)");
    assert_eq!(texts, ["0.0000000000000000"]);
    // A group of nine digits that holds ten, in each width.
    for (metadata, value) in [
        ("09 00", "bb9aca00"),
        ("12 09", "800000003b9aca00"),
        ("26 00", "803b9aca00000000000000000000000000"),
        (
            "41 1e",
            "800000003b9aca0000000000000000000000000000000000000000000000",
        ),
    ] {
        let (_, texts, notes) = column(246, metadata, "", &[value, "NULL"]);
        assert_eq!(texts, ["NULL", "NULL"], "{metadata}");
        assert_eq!(notes.len(), 1, "{metadata}");
        assert!(errors(&notes)[0].1.contains("DECIMAL group of 9 digits"));
    }
}

#[test]
fn vectors_of_the_corpus() {
    let Some(corpus) = std::env::var_os("BINLOG_CORPUS") else {
        eprintln!("SKIPPED: BINLOG_CORPUS is not set");
        return;
    };
    let vectors = std::path::Path::new(&corpus).join("vectors.tsv");
    let vectors = std::fs::read_to_string(vectors).unwrap();
    let mut checked = 0;
    for line in vectors.lines().skip(1) {
        let [kind, parameters, hexes, value] =
            <[&str; 4]>::try_from(line.split('\t').collect::<Vec<_>>()).unwrap();
        let parameters: Vec<String> = parameters
            .split([' ', '='])
            .filter_map(|word| word.parse::<u8>().ok())
            .map(|number| format!("{number:02x}"))
            .collect();
        let code = match kind {
            "DECIMAL" => 246,
            "DATETIME2" => 18,
            "TIME2" => 19,
            other => panic!("{other}"),
        };
        let (_, texts, notes) = column(code, &parameters.concat(), "", &[hexes]);
        let full = match kind {
            "DECIMAL" => value.to_owned(),
            _ => format!(
                "{value}{}",
                &".000000"[value.split_once('.').map_or(0, |(_, f)| f.len() + 1)..]
            ),
        };
        let is_date = value.starts_with("0000") || value.contains("-00");
        if kind == "DATETIME2" && is_date {
            assert_eq!(texts, ["NULL"], "{line}");
            let [(0, Note::ZeroDate(date))] = notes.as_slice() else {
                panic!("{notes:?}");
            };
            assert!(value.starts_with(&date.to_string()));
        } else {
            assert_eq!(texts, [full], "{line}");
        }
        checked += 1;
    }
    assert!(checked > 200, "{checked}");
}

#[test]
fn buglog_29_30_floats() {
    let (data_type, texts) = certain(4, "04", "", &["8fc2f53c"]);
    assert_eq!((data_type.as_str(), texts[0].as_str()), ("Float32", "0.03"));
    let (data_type, texts) = certain(5, "08", "", &["b81e85eb51b89e3f", "NULL"]);
    assert_eq!(data_type, "Float64");
    assert_eq!(texts, ["0.03", "NULL"]);
}

#[test]
fn buglog_31_to_34_labels_and_numbers() {
    // ENUM of 300 and SET of 18 without labels: low byte first.
    assert_eq!(
        certain(254, "f7 02", "", &["0101", "0000"]),
        ("UInt16".to_owned(), vec!["257".to_owned(), "0".to_owned()])
    );
    assert_eq!(
        certain(254, "f8 03", "", &["050000"]),
        ("UInt64".to_owned(), vec!["5".to_owned()])
    );
    // ENUM('a','é') in latin1, with an index of no label.
    let labels = "06 05 02 01 61 01 e9  0a 01 08";
    let map = table(&[254], &bytes("f7 01"), &bytes(labels));
    let plan = &map.plan().unwrap().columns()[0];
    let (block, places) = values(&["02", "00", "NULL", "03", "01"]);
    let field = field_of(plan, &NULL_DATES);
    assert_eq!(field.data_type().to_string(), "Dictionary(UInt16, Utf8)");
    let (array, notes) = build_one(&field, &NULL_DATES, plan, &block, &places, &[]);
    assert_eq!(texts_of(&array), ["é", "", "NULL", "NULL", "a"]);
    assert_eq!(errors(&notes), [(3, "label 3 of an ENUM of 2".to_owned())]);
    // All labels are there, and keys are the numbers of the log.
    let array: &DictionaryArray<UInt16Type> = array.as_dictionary();
    let all: &StringArray = array.values().as_string();
    assert_eq!(all.iter().flatten().collect::<Vec<_>>(), ["", "a", "é"]);
    assert_eq!(array.key(0), Some(2));
    // 200 labels, and those of a declaration.
    let names: Vec<String> = (1..=200).map(|n| format!("label {n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let plan = declared(254, "f7 01", DeclaredType::Enum, &names);
    let found = column_with(&plan.columns()[0], &NULL_DATES, &["c8", "80"]);
    assert_eq!(found.1, ["label 200", "label 128"]);
}

#[test]
fn sets() {
    let labels = "05 07 03 01 61 01 62 01 e9  0a 01 08";
    let (data_type, texts, notes) = column(
        254,
        "f8 01",
        labels,
        &["05", "00", "NULL", "08", "04", "07"],
    );
    assert_eq!(data_type, "Utf8");
    assert_eq!(texts, ["a,é", "", "NULL", "NULL", "é", "a,b,é"]);
    assert_eq!(
        errors(&notes),
        [(3, "members 0x8 of a SET of 3".to_owned())]
    );
    // Behind empty labels that begin it stands no comma.
    let plan = declared(254, "f8 01", DeclaredType::Set, &["", "", "x"]);
    let found = column_with(&plan.columns()[0], &NULL_DATES, &["03", "07", "05", "06"]);
    assert_eq!(found.1, ["", "x", "x", "x"]);
    let plan = declared(254, "f8 01", DeclaredType::Set, &["a", "", "x"]);
    let found = column_with(&plan.columns()[0], &NULL_DATES, &["03", "07", "05", "06"]);
    assert_eq!(found.1, ["a,", "a,,x", "a,x", "x"]);
}

#[test]
fn enums_of_several_versions() {
    let old = declared(254, "f7 01", DeclaredType::Enum, &["a", "b"]);
    let new = declared(254, "f7 01", DeclaredType::Enum, &["b", "c", "a", "d"]);
    let (block, places) = values(&["01", "02", "00"]);
    let (other_block, other_places) = values(&["02", "01", "04", "00", "05", "NULL"]);
    let stretches = [
        Stretch {
            column: Some(&old.columns()[0]),
            block: &block,
            number: 0,
            places: &places,
            bases: &[],
        },
        Stretch {
            column: Some(&new.columns()[0]),
            block: &other_block,
            number: 1,
            places: &other_places,
            bases: &[],
        },
    ];
    let field = field_of(&old.columns()[0], &NULL_DATES);
    let blocks = [block.clone(), other_block.clone()];
    let (array, notes) = build_all(&field, &NULL_DATES, &stretches, &blocks);
    assert_eq!(
        texts_of(&array),
        ["a", "b", "", "c", "b", "d", "", "NULL", "NULL"]
    );
    assert_eq!(errors(&notes), [(7, "label 5 of an ENUM of 4".to_owned())]);
}

#[test]
fn buglog_1_to_6_times() {
    // MySQL 5.5 and MariaDB: −8385959 in three bytes.
    assert_eq!(
        certain(11, "", "", &["590a80", "a7f57f", "000000"]),
        (
            "Duration(µs)".to_owned(),
            vec![
                "-838:59:59.000000".to_owned(),
                "838:59:59.000000".to_owned(),
                "00:00:00.000000".to_owned()
            ]
        )
    );
    for (metadata, hexes, text) in [
        ("02", "7fffffff", "-00:00:00.010000"),
        ("02", "7ffffff4", "-00:00:00.120000"),
        ("06", "4b9105000000", "-838:59:59.000000"),
        ("00", "7efdfc", "-16:08:04.000000"),
        ("03", "7efdfbf63c", "-16:08:04.250000"),
        ("06", "7efdfbfc2f70", "-16:08:04.250000"),
        ("06", "800010000018", "00:00:16.000024"),
    ] {
        assert_eq!(certain(19, metadata, "", &[hexes]).1, [text]);
    }
    // 900 hours.
    let (_, texts, notes) = column(19, "00", "", &["b84000", "800001"]);
    assert_eq!(texts, ["NULL", "00:00:01.000000"]);
    assert_eq!(errors(&notes)[0].0, 0);
}

#[test]
fn buglog_7_to_14_dates() {
    let (data_type, texts) = certain(18, "06", "", &["999b2b1e500f423f", "NULL"]);
    assert_eq!(data_type, "Timestamp(µs)");
    assert_eq!(texts[1], "NULL");
    assert_eq!(texts[0], "2016-12-21 17:57:16.999999");
    // An instant, whatever the zone of the host.
    let (data_type, texts) = certain(17, "00", "", &["00000001", "ffffffff"]);
    assert_eq!(data_type, "Timestamp(µs, \"UTC\")");
    assert_eq!(
        texts,
        ["1970-01-01 00:00:01.000000", "2106-02-07 06:28:15.000000"]
    );
    let (data_type, texts) = certain(10, "", "", &["21cc0f", "9f1f4e"]);
    assert_eq!(data_type, "Date32");
    assert_eq!(texts, ["2022-01-01", "9999-12-31"]);
    // YEAR.
    let (data_type, texts) = certain(13, "", "", &["00", "01", "ff"]);
    assert_eq!(data_type, "UInt16");
    assert_eq!(texts, ["0", "1901", "2155"]);
    // Before MySQL 5.6.
    let old = format!("{:016x}", 20_240_229_235_959u64.swap_bytes());
    let (data_type, texts) = certain(12, "", "", &[&old]);
    assert_eq!(data_type, "Timestamp(µs)");
    assert_eq!(texts, ["2024-02-29 23:59:59.000000"]);
    assert_eq!(
        certain(7, "", "", &["01000000"]).1,
        ["1970-01-01 00:00:01.000000"]
    );
    // The 31st of the 13th of MariaDB's fractions is an error, not a date.
    let (_, texts, notes) = column(12, "", "", &["ffffffffffff0f00"]);
    assert_eq!(texts, ["NULL"]);
    assert!(errors(&notes)[0].1.contains("MariaDB"));
}

#[test]
fn buglog_12_13_zero_and_partial_dates() {
    for (code, metadata, hexes, dates, texts) in [
        (
            10,
            "",
            ["000000", "0fa00f"],
            ["0000-00-00", "2000-00-15"],
            ["0000-00-00", "2000-00-15"],
        ),
        (
            18,
            "00",
            ["8000000000", "9967fef7aa"],
            ["0000-00-00", "2001-02-31"],
            ["0000-00-00 00:00:00", "2001-02-31 15:30:42"],
        ),
        (
            17,
            "03",
            ["000000000000", "000000000000"],
            ["0000-00-00", "0000-00-00"],
            ["0000-00-00 00:00:00.000", "0000-00-00 00:00:00.000"],
        ),
        (
            7,
            "",
            ["00000000", "00000000"],
            ["0000-00-00", "0000-00-00"],
            ["0000-00-00 00:00:00", "0000-00-00 00:00:00"],
        ),
    ] {
        let map = table(&[code], &bytes(metadata), &[]);
        let plan = &map.plan().unwrap().columns()[0];
        // 2000-00-15: year 15 bits, month 4, day 5.
        let hexes: Vec<&str> = hexes.to_vec();
        let (_, found, notes) = column_with(plan, &NULL_DATES, &hexes);
        assert_eq!(found, ["NULL", "NULL"], "{code}");
        let noted: Vec<String> = notes
            .iter()
            .map(|(_, note)| match note {
                Note::ZeroDate(date) => date.to_string(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(noted, dates, "{code}");
        let (data_type, found, notes) = column_with(plan, &TEXT_DATES, &hexes);
        assert_eq!(data_type, "Utf8View");
        assert_eq!(found, texts, "{code}");
        assert!(notes.is_empty());
    }
    // TIME has no zero dates.
    let map = table(&[19], &[0], &[]);
    let plan = &map.plan().unwrap().columns()[0];
    assert_eq!(
        column_with(plan, &TEXT_DATES, &["800000"]).0,
        "Duration(µs)"
    );
}
