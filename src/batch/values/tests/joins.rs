//! Types of several versions of a table.

use super::*;
use std::collections::BTreeSet;

/// A column and its least and greatest values, with which the type is full.
pub(super) struct Kind {
    map: crate::binlog::event::TableMapOwned,
    hexes: Vec<String>,
}

impl Kind {
    pub(super) fn plan(&self) -> &ColumnPlan {
        &self.map.plan().unwrap().columns()[0]
    }

    pub(super) fn field(&self) -> Field {
        field_of(self.plan(), &NULL_DATES)
    }
}

fn kind(code: u8, metadata: &str, optional: &str, hexes: &[&str]) -> Kind {
    Kind {
        map: table(&[code], &bytes(metadata), &bytes(optional)),
        hexes: hexes.iter().map(|&hexes| hexes.to_owned()).collect(),
    }
}

/// A DECIMAL with the greatest and the least number.
fn decimal(precision: u8, scale: u8) -> Kind {
    let mut packed = Vec::new();
    let whole = precision - scale;
    let digits = std::iter::once(whole % 9)
        .chain((0..whole / 9).chain(0..scale / 9).map(|_| 9))
        .chain(std::iter::once(scale % 9));
    for digits in digits {
        let bytes = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4][usize::from(digits)];
        let all_nines = 10u32.pow(u32::from(digits)) - 1;
        packed.extend(&all_nines.to_be_bytes()[4 - bytes..]);
    }
    packed[0] ^= 0x80;
    let text = |bytes: &[u8]| {
        bytes
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    };
    let least: Vec<u8> = packed.iter().map(|byte| !byte).collect();
    Kind {
        map: table(&[246], &[precision, scale], &[]),
        hexes: vec![text(&packed), text(&least)],
    }
}

pub(super) fn numbers() -> Vec<Kind> {
    let mut kinds = vec![
        kind(4, "04", "", &["ffff7f7f", "01000000", "0000c03f"]),
        kind(5, "08", "", &["ffffffffffffef7f", "0100000000000000"]),
        kind(13, "", "", &["00", "ff"]),
        kind(16, "00 08", "", &["ffffffffffffffff"]),
        kind(254, "f7 02", "", &["ffff"]),
        kind(254, "f8 08", "", &["ffffffffffffffff"]),
    ];
    for (code, bytes) in [(1, 1), (2, 2), (9, 3), (3, 4), (8, 8)] {
        let ones = "ff".repeat(bytes);
        let least = format!("{}80", "00".repeat(bytes - 1));
        let greatest = format!("{}7f", "ff".repeat(bytes - 1));
        kinds.push(kind(code, "", SIGNED, &[&least, &greatest, &ones]));
        kinds.push(kind(code, "", UNSIGNED, &[&ones, &least]));
        kinds.push(kind(code, "", "", &[&greatest]));
    }
    for (precision, scale) in [
        (1, 0),
        (3, 0),
        (5, 0),
        (9, 2),
        (10, 2),
        (10, 10),
        (18, 0),
        (19, 0),
        (20, 0),
        (20, 19),
        (30, 25),
        (38, 0),
        (38, 38),
        (39, 0),
        (40, 10),
        (65, 0),
        (65, 30),
        (65, 38),
    ] {
        kinds.push(decimal(precision, scale));
    }
    kinds
}

pub(super) fn others() -> Vec<Kind> {
    vec![
        kind(10, "", "", &["21cc0f"]),
        kind(18, "06", "", &["999ab8f7aa000001"]),
        kind(17, "00", "", &["00000001"]),
        kind(19, "00", "", &["7fffff"]),
        kind(15, "10 00", UTF8MB4, &["03616263"]),
        kind(15, "10 00", BINARY, &["0361ff63"]),
        kind(252, "02", "", &["0100 41"]),
        kind(254, "f7 01", "06 05 02 01 61 01 62", &["02"]),
        kind(254, "f8 01", "05 05 02 01 61 01 62", &["03"]),
        kind(245, "04", "", &["0300000005 2a00"]),
        kind(255, "04", "", &["05000000 e610000001"]),
        kind(242, "04", "", &["04000000 6666863f"]),
        kind(6, "", "", &[]),
    ]
}

/// Type and extension.
fn essence(field: &Field) -> String {
    format!("{} {:?}", field.data_type(), {
        let sorted: BTreeSet<_> = field.metadata().iter().collect();
        sorted
    })
}

#[test]
fn joins_know_no_order() {
    let mut fields: Vec<Field> = numbers().iter().chain(&others()).map(Kind::field).collect();
    let mut names: BTreeSet<String> = BTreeSet::new();
    fields.retain(|field| names.insert(essence(field)));
    // And every type that comes out of joining two.
    let mut all = fields.clone();
    for a in &fields {
        for b in &fields {
            let joined = widened(a, b);
            if names.insert(essence(&joined)) {
                all.push(joined);
            }
        }
    }
    assert!(all.len() > 40, "{}", all.len());
    let same =
        |a: &Field, b: &Field| a.data_type() == b.data_type() && a.metadata() == b.metadata();
    for a in &all {
        assert!(same(&widened(a, a), a));
        for b in &all {
            let joined = widened(a, b);
            assert!(same(&joined, &widened(b, a)), "{a} {b}");
            assert!(same(&joined, &widened(&joined, a)), "{a} {b}");
            assert_eq!(joined.name(), b.name());
            assert!(joined.is_nullable());
            for c in &all {
                let left = widened(&joined, c);
                let right = widened(a, &widened(b, c));
                assert!(same(&left, &right), "{a} {b} {c}: {left}, {right}");
            }
        }
    }
}

#[test]
fn joins_are_those_of_the_table() {
    let types = [
        ("Int8", "UInt8", "Int16"),
        ("Int8", "UInt32", "Int64"),
        ("UInt8", "UInt64", "UInt64"),
        ("Int8", "UInt64", "Decimal128(20, 0)"),
        ("Int8", "Decimal128(9, 2)", "Decimal128(9, 2)"),
        ("Int64", "Decimal128(9, 2)", "Decimal128(21, 2)"),
        ("UInt64", "Decimal128(38, 38)", "Decimal256(58, 38)"),
        (
            "Decimal128(10, 2)",
            "Decimal128(20, 19)",
            "Decimal128(27, 19)",
        ),
        (
            "Decimal256(65, 30)",
            "Decimal128(38, 38)",
            "Decimal256(73, 38)",
        ),
        ("Decimal256(65, 0)", "Decimal128(38, 38)", "Utf8View"),
        ("Int16", "Float32", "Float32"),
        ("Int32", "Float32", "Float64"),
        ("UInt16", "Float64", "Float64"),
        ("UInt32", "Float64", "Utf8View"),
        ("Int64", "Float64", "Utf8View"),
        ("Float32", "Float64", "Float64"),
        ("Float64", "Decimal128(9, 2)", "Utf8View"),
        ("Date32", "Timestamp(µs)", "Utf8View"),
        ("Timestamp(µs)", "Timestamp(µs, \"UTC\")", "Utf8View"),
        ("BinaryView", "Utf8View", "Utf8View"),
        ("Dictionary(UInt16, Utf8)", "Utf8View", "Utf8View"),
        ("Dictionary(UInt16, Utf8)", "UInt16", "Utf8View"),
        ("Null", "Date32", "Date32"),
    ];
    let fields: Vec<Field> = numbers().iter().chain(&others()).map(Kind::field).collect();
    let find = |name: &str| {
        let field = fields.iter().find(|f| f.data_type().to_string() == name);
        field.unwrap_or_else(|| panic!("{name}"))
    };
    for (a, b, joined) in types {
        let found = widened(find(a), find(b));
        assert_eq!(found.data_type().to_string(), joined, "{a} {b}");
    }
    // An extension stays where all versions have it.
    let json = find("Utf8View")
        .clone()
        .with_metadata([(EXTENSION_NAME.to_owned(), "arrow.json".to_owned())].into());
    assert_eq!(widened(&json, &json).metadata(), json.metadata());
    assert_eq!(widened(&json, find("Null")).metadata(), json.metadata());
    assert!(widened(&json, find("Utf8View")).metadata().is_empty());
    // Bytes and WKB are not the same bytes.
    let wkb = find("BinaryView")
        .clone()
        .with_metadata([(EXTENSION_NAME.to_owned(), "geoarrow.wkb".to_owned())].into());
    assert_eq!(
        *widened(&wkb, find("BinaryView")).data_type(),
        DataType::Utf8View
    );
}

/// A number without what does not change it.
fn canonical(text: &str) -> String {
    match text.split_once('.') {
        Some((whole, fraction)) => {
            let fraction = fraction.trim_end_matches('0');
            let dot = if fraction.is_empty() { "" } else { "." };
            format!("{whole}{dot}{fraction}")
        }
        None => text.to_owned(),
    }
}

#[test]
fn values_are_the_same_in_every_joined_type() {
    let all: Vec<Kind> = numbers().into_iter().chain(others()).collect();
    let mut compared = 0;
    for a in &all {
        let hexes: Vec<&str> = a.hexes.iter().map(String::as_str).collect();
        let (block, places) = values(&hexes);
        let own = a.field();
        let (own_array, notes) = build_one(&own, &NULL_DATES, a.plan(), &block, &places, &[]);
        assert_eq!(own_array.null_count(), 0, "{own} {notes:?}");
        let mut shown = Vec::new();
        let decode = a.plan().ty.decode().unwrap();
        for place in &places {
            let mut cursor =
                crate::binlog::cursor::Cursor::new(&block.as_ref()[place.offset().unwrap()..]);
            let mut text = String::new();
            let value = decode(&mut cursor, a.plan().context).unwrap();
            a.plan().write_text(value, &mut text).unwrap();
            shown.push(text);
        }
        for b in &all {
            let joined = widened(&own, &b.field());
            let (array, notes) = build_one(&joined, &NULL_DATES, a.plan(), &block, &places, &[]);
            assert!(notes.is_empty(), "{own} as {joined}: {notes:?}");
            assert_eq!(array.null_count(), 0, "{own} as {joined}");
            for (row, shown) in shown.iter().enumerate() {
                let found = text_of(&array, row).unwrap();
                let wanted = match joined.data_type() {
                    DataType::Utf8View => shown.clone(),
                    _ => text_of(&own_array, row).unwrap(),
                };
                if let DataType::Float32 | DataType::Float64 = joined.data_type() {
                    let (found, wanted): (f64, f64) =
                        (found.parse().unwrap(), wanted.parse().unwrap());
                    // A float written out and read as a double is a near one.
                    let exact = *own.data_type() != DataType::Float32;
                    assert!(found == wanted || !exact && found as f32 == wanted as f32);
                } else {
                    assert_eq!(canonical(&found), canonical(&wanted), "{own} as {joined}");
                }
                compared += 1;
            }
        }
    }
    assert!(compared > 3000, "{compared}");
}

#[test]
fn a_field_of_another_type_is_refused_loudly() {
    let int = kind(3, "", SIGNED, &["01000000"]);
    let (block, mut places) = values(&["01000000"]);
    places.push(Place::NULL);
    for data_type in [DataType::Int8, DataType::Date32, DataType::BinaryView] {
        let field = Field::new("c", data_type, true);
        let (array, notes) = build_one(&field, &NULL_DATES, int.plan(), &block, &places, &[]);
        assert_eq!(array.null_count(), 2);
        let [(0, Note::Undecoded(_))] = notes.as_slice() else {
            panic!("{notes:?}");
        };
    }
}

#[test]
fn nothing_is_built_of_nothing() {
    let int = kind(3, "", SIGNED, &[]);
    let (array, _) = build_all(&int.field(), &NULL_DATES, &[], &[]);
    assert_eq!(array.len(), 0);
    let block = Block::new(Vec::new());
    let stretch = Stretch {
        column: None,
        block: &block,
        number: 0,
        places: &[Place::ABSENT, Place::ABSENT],
        bases: &[],
    };
    for kind in numbers().iter().chain(&others()) {
        let (array, _) = build_all(&kind.field(), &NULL_DATES, &[stretch], &[]);
        assert_eq!(array.len(), 2);
        assert_eq!(texts_of(&array), ["NULL", "NULL"]);
    }
}
