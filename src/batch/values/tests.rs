//! Arrays against what the decoder of single values says, and against what is known by hand.

use super::*;
use crate::binlog::event::testing::hex as bytes;
use crate::binlog::row::testing::table;
use crate::binlog::row::{ColumnHint, DeclaredType, NameSource, RowPlan, TableHint};
use arrow::array::{AsArray, DictionaryArray, StringArray, TimestampMicrosecondArray};
use arrow::datatypes::{
    Decimal128Type, Decimal256Type, DurationMicrosecondType, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, TimestampMicrosecondType, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type, i256,
};
use arrow::util::display::{ArrayFormatter, FormatOptions};

mod hand;
mod hostile;
mod joins;
mod logs;
mod readme;
mod strings;

/// Notes by row.
type Notes = Vec<(usize, Note)>;

/// Builds one column of one stretch.
fn build_one(
    field: &Field,
    options: &TypeOptions,
    column: &ColumnPlan,
    block: &Block,
    places: &[Place],
    bases: &[Place],
) -> (ArrayRef, Notes) {
    let stretch = Stretch {
        column: Some(column),
        block,
        number: 0,
        places,
        bases,
    };
    build_all(field, options, &[stretch], std::slice::from_ref(block))
}

fn build_all(
    field: &Field,
    options: &TypeOptions,
    stretches: &[Stretch<'_>],
    blocks: &[Block],
) -> (ArrayRef, Notes) {
    let mut notes = Vec::new();
    let array = build(field, options, stretches, blocks, &mut |row, note| {
        notes.push((row, note));
    });
    array.to_data().validate_full().unwrap();
    assert_eq!(array.data_type(), field.data_type());
    (array, notes)
}

/// An element as text, by the type alone.
fn text_of(array: &dyn Array, row: usize) -> Option<String> {
    use arrow::datatypes::{DataType as T, TimeUnit::Microsecond};
    if array.is_null(row) || array.data_type() == &T::Null {
        return None;
    }
    Some(match array.data_type() {
        T::Int8 => array.as_primitive::<Int8Type>().value(row).to_string(),
        T::Int16 => array.as_primitive::<Int16Type>().value(row).to_string(),
        T::Int32 => array.as_primitive::<Int32Type>().value(row).to_string(),
        T::Int64 => array.as_primitive::<Int64Type>().value(row).to_string(),
        T::UInt8 => array.as_primitive::<UInt8Type>().value(row).to_string(),
        T::UInt16 => array.as_primitive::<UInt16Type>().value(row).to_string(),
        T::UInt32 => array.as_primitive::<UInt32Type>().value(row).to_string(),
        T::UInt64 => array.as_primitive::<UInt64Type>().value(row).to_string(),
        T::Float32 => array.as_primitive::<Float32Type>().value(row).to_string(),
        T::Float64 => array.as_primitive::<Float64Type>().value(row).to_string(),
        T::Decimal128(_, scale) => {
            let n = array.as_primitive::<Decimal128Type>().value(row);
            point(&n.to_string(), *scale)
        }
        T::Decimal256(_, scale) => {
            let n: i256 = array.as_primitive::<Decimal256Type>().value(row);
            point(&n.to_string(), *scale)
        }
        T::Date32 => {
            let formatter = ArrayFormatter::try_new(array, &FormatOptions::default()).unwrap();
            formatter.value(row).to_string()
        }
        T::Timestamp(Microsecond, zone) => {
            assert!(zone.as_deref().is_none_or(|zone| zone == "UTC"));
            // The formatter knows no zones.
            let micros = array.as_primitive::<TimestampMicrosecondType>().value(row);
            let plain = TimestampMicrosecondArray::from(vec![micros]);
            let options = FormatOptions::default();
            let options = options.with_timestamp_format(Some("%Y-%m-%d %H:%M:%S%.6f"));
            let formatter = ArrayFormatter::try_new(&plain, &options).unwrap();
            formatter.value(0).to_string()
        }
        T::Duration(Microsecond) => {
            let n = array.as_primitive::<DurationMicrosecondType>().value(row);
            let (sign, n) = (if n < 0 { "-" } else { "" }, n.unsigned_abs());
            let (seconds, micros) = (n / 1_000_000, n % 1_000_000);
            let (minutes, hours) = (seconds / 60, seconds / 3600);
            format!(
                "{sign}{hours:02}:{:02}:{:02}.{micros:06}",
                minutes % 60,
                seconds % 60
            )
        }
        T::Dictionary(..) => {
            let array: &DictionaryArray<UInt16Type> = array.as_dictionary();
            let labels: &StringArray = array.values().as_string();
            labels.value(array.key(row).unwrap()).to_owned()
        }
        T::Utf8 => array.as_string::<i32>().value(row).to_owned(),
        T::Utf8View => array.as_string_view().value(row).to_owned(),
        T::BinaryView => hex(array.as_binary_view().value(row)),
        T::FixedSizeBinary(_) => hex(array.as_fixed_size_binary().value(row)),
        T::List(_) => {
            let list = array.as_list::<i32>().value(row);
            let numbers = list.as_primitive::<Float32Type>().values();
            hex(&numbers
                .iter()
                .flat_map(|n| n.to_le_bytes())
                .collect::<Vec<u8>>())
        }
        other => panic!("{other}"),
    })
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut out = "0x".to_owned();
    for byte in bytes {
        write!(out, "{byte:02X}").unwrap();
    }
    out
}

/// Puts the point into an unscaled number.
fn point(digits: &str, scale: i8) -> String {
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", digits),
    };
    let scale = usize::try_from(scale).unwrap();
    let digits = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    let dot = if scale > 0 { "." } else { "" };
    format!("{sign}{whole}{dot}{fraction}")
}

/// Texts of all elements; `NULL` of nulls.
fn texts_of(array: &dyn Array) -> Vec<String> {
    let text = |row| text_of(array, row).unwrap_or_else(|| "NULL".to_owned());
    (0..array.len()).map(text).collect()
}

const NULL_DATES: TypeOptions = TypeOptions {
    zero_dates: ZeroDates::Null,
};
const TEXT_DATES: TypeOptions = TypeOptions {
    zero_dates: ZeroDates::Text,
};
/// Optional metadata: unsigned, or signed; the collation of a string.
const UNSIGNED: &str = "01 01 80";
const SIGNED: &str = "01 01 00";
const BINARY: &str = "02 01 3f";
const UTF8MB4: &str = "02 01 2d";

/// Values one behind the other, and their places; `NULL` is none.
fn values(values: &[&str]) -> (Block, Vec<Place>) {
    let mut block = vec![0xee; 3];
    let places = values.iter().map(|value| {
        if *value == "NULL" {
            return Place::NULL;
        }
        let place = Place::at(block.len()).unwrap();
        block.extend(bytes(value));
        place
    });
    let places = places.collect();
    (Block::new(block), places)
}

/// Type, texts and notes of a column of `hexes`.
fn column_with(
    plan: &ColumnPlan,
    options: &TypeOptions,
    hexes: &[&str],
) -> (String, Vec<String>, Notes) {
    let (block, places) = values(hexes);
    let field = field_of(plan, options);
    let (array, notes) = build_one(&field, options, plan, &block, &places, &[]);
    (field.data_type().to_string(), texts_of(&array), notes)
}

fn column(
    code: u8,
    metadata: &str,
    optional: &str,
    hexes: &[&str],
) -> (String, Vec<String>, Notes) {
    let map = table(&[code], &bytes(metadata), &bytes(optional));
    column_with(&map.plan().unwrap().columns()[0], &NULL_DATES, hexes)
}

/// As [`column`], where nothing is to be told.
#[track_caller]
fn certain(code: u8, metadata: &str, optional: &str, hexes: &[&str]) -> (String, Vec<String>) {
    let (data_type, texts, notes) = column(code, metadata, optional, hexes);
    assert_eq!(format!("{notes:?}"), "[]");
    (data_type, texts)
}

/// The plan of a column that a statement declares.
fn declared(code: u8, metadata: &str, ty: DeclaredType, labels: &[&str]) -> RowPlan {
    let map = table(&[code], &bytes(metadata), &[]);
    let column = ColumnHint {
        name: "c".to_owned(),
        ty,
        unsigned: true,
        collation: None,
        labels: labels.iter().map(|&label| label.to_owned()).collect(),
        nullable: true,
        visible: true,
    };
    let hint = TableHint {
        source: NameSource::Ddl,
        columns: vec![column],
        primary_key: Vec::new(),
    };
    RowPlan::with_hint(&map, &hint).unwrap()
}

fn errors(notes: &Notes) -> Vec<(usize, String)> {
    let error = |(row, note): &(usize, Note)| match note {
        Note::Undecoded(error) => (*row, error.message().to_owned()),
        other => panic!("{other:?}"),
    };
    notes.iter().map(error).collect()
}
