//! One value → text, the same in every format that is text.

use std::cell::RefCell;
use std::fmt::{self, Write};

use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::datatypes::{
    DataType, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType,
    DurationSecondType, Field, TimeUnit,
};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::json::writer::{NullableEncoder, make_encoder};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::arrow::util::display::{
    ArrayFormatter, ArrayFormatterFactory, DisplayIndex, FormatOptions, FormatResult,
};

use super::json;
use crate::errors::Failure;

/// `%.f` prints the fraction only where there is one, in 3, 6 or 9 digits.
const TIMESTAMP: &str = "%Y-%m-%d %H:%M:%S%.f";

static OPTIONS: FormatOptions<'static> = FormatOptions::new()
    .with_display_error(false)
    .with_null("NULL")
    .with_timestamp_format(Some(TIMESTAMP))
    .with_timestamp_tz_format(Some(TIMESTAMP))
    .with_datetime_format(Some(TIMESTAMP))
    .with_formatter_factory(Some(&OwnFactory));

/// Values that arrow would show in another way, at any depth of nesting.
#[derive(Debug)]
struct OwnFactory;

impl ArrayFormatterFactory for OwnFactory {
    fn create_array_formatter<'formatter>(
        &self,
        array: &'formatter dyn Array,
        options: &FormatOptions<'formatter>,
        field: Option<&'formatter Field>,
    ) -> Result<Option<ArrayFormatter<'formatter>>, ArrowError> {
        Ok(Own::of(array, field).map(|own| {
            let null = options.null();
            ArrayFormatter::new(Box::new(OwnDisplay { array, own, null }), options.safe())
        }))
    }
}

/// How a value is shown that arrow would show in another way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Own {
    /// Bytes as `0a1b`.
    Hex,
    /// 16 bytes as `01890a5d-ac96-774b-bcce-b302099a8057`.
    Uuid,
    /// A span of time as the servers show TIME: `-838:59:59.000001`.
    Time(TimeUnit),
}

impl Own {
    /// How values of this array, and this column of a result, are shown; none: as arrow does.
    pub fn of(array: &dyn Array, field: Option<&Field>) -> Option<Self> {
        match array.data_type() {
            DataType::FixedSizeBinary(16) if field.and_then(extension) == Some(UUID) => {
                Some(Self::Uuid)
            }
            DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_) => Some(Self::Hex),
            DataType::Duration(unit) => Some(Self::Time(*unit)),
            _ => None,
        }
    }

    /// Writes the value, which is not null.
    pub fn write(self, array: &dyn Array, index: usize, out: &mut dyn Write) -> fmt::Result {
        match self {
            Self::Time(unit) => write_time(duration(array, unit, index), unit, out),
            Self::Hex | Self::Uuid => {
                for (at, byte) in bytes(array, index).iter().enumerate() {
                    if self == Self::Uuid && matches!(at, 4 | 6 | 8 | 10) {
                        out.write_char('-')?;
                    }
                    write!(out, "{byte:02x}")?;
                }
                Ok(())
            }
        }
    }
}

const EXTENSION_TYPE_NAME_KEY: &str = "ARROW:extension:name";

/// Arrow's name of the extension type of a column.
pub fn extension(field: &Field) -> Option<&str> {
    field
        .metadata()
        .get(EXTENSION_TYPE_NAME_KEY)
        .map(String::as_str)
}

const UUID: &str = "arrow.uuid";

fn bytes(array: &dyn Array, index: usize) -> &[u8] {
    match array.data_type() {
        DataType::Binary => array.as_binary::<i32>().value(index),
        DataType::LargeBinary => array.as_binary::<i64>().value(index),
        DataType::BinaryView => array.as_binary_view().value(index),
        _ => array.as_fixed_size_binary().value(index),
    }
}

fn duration(array: &dyn Array, unit: TimeUnit, index: usize) -> i64 {
    match unit {
        TimeUnit::Second => array.as_primitive::<DurationSecondType>().value(index),
        TimeUnit::Millisecond => array.as_primitive::<DurationMillisecondType>().value(index),
        TimeUnit::Microsecond => array.as_primitive::<DurationMicrosecondType>().value(index),
        TimeUnit::Nanosecond => array.as_primitive::<DurationNanosecondType>().value(index),
    }
}

/// `17:30:00`, and a fraction of as many digits as the unit has where it is not zero.
fn write_time(value: i64, unit: TimeUnit, out: &mut dyn Write) -> fmt::Result {
    let (of_second, digits) = match unit {
        TimeUnit::Second => (1, 0),
        TimeUnit::Millisecond => (1_000, 3),
        TimeUnit::Microsecond => (1_000_000, 6),
        TimeUnit::Nanosecond => (1_000_000_000, 9),
    };
    let sign = if value < 0 { "-" } else { "" };
    let value = value.unsigned_abs();
    let (seconds, fraction) = (value / of_second, value % of_second);
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    write!(out, "{sign}{hours:02}:{minutes:02}:{:02}", seconds % 60)?;
    if fraction > 0 {
        write!(out, ".{fraction:0digits$}")?;
    }
    Ok(())
}

struct OwnDisplay<'a> {
    array: &'a dyn Array,
    own: Own,
    null: &'a str,
}

impl DisplayIndex for OwnDisplay<'_> {
    fn write(&self, index: usize, f: &mut dyn Write) -> FormatResult {
        if self.array.is_null(index) {
            f.write_str(self.null)?;
            return Ok(());
        }
        if self.own == Own::Hex {
            f.write_str("0x")?;
        }
        self.own.write(self.array, index, f)?;
        Ok(())
    }
}

/// How values with parts are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nested {
    /// For eyes: `{id: 1, note: NULL}`.
    Plain,
    /// As JSON, so that a program can read the parts: `{"id":1,"note":null}`.
    Json,
}

/// The values of a batch as text.
pub struct Cells<'a> {
    columns: Vec<(Cell<'a>, Option<NullBuffer>)>,
}

enum Cell<'a> {
    Text(ArrayFormatter<'a>),
    /// The encoder changes with each value.
    Json(RefCell<NullableEncoder<'a>>),
}

impl<'a> Cells<'a> {
    /// Fails on a type that has no text.
    pub fn new(batch: &'a RecordBatch, nested: Nested) -> Result<Self, Failure> {
        let fields = batch.schema_ref().fields().iter();
        let columns = fields
            .zip(batch.columns())
            .map(|(field, column)| {
                // A dictionary's nulls may be in its values.
                let nulls = column.logical_nulls();
                let array = column.as_ref();
                if nested == Nested::Json && array.data_type().is_nested() {
                    let encoder = make_encoder(field, array, json::options())?;
                    return Ok((Cell::Json(RefCell::new(encoder)), nulls));
                }
                // The options' factory is asked for nested values only.
                let own = OwnFactory.create_array_formatter(array, &OPTIONS, Some(field))?;
                let formatter = match own {
                    Some(own) => own,
                    None => ArrayFormatter::try_new(array, &OPTIONS)?,
                };
                Ok((Cell::Text(formatter), nulls))
            })
            .collect::<Result<_, ArrowError>>()?;
        Ok(Self { columns })
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// Puts the value's text into `text`, replacing what is there; says false for NULL.
    pub fn read(&self, row: usize, column: usize, text: &mut String) -> Result<bool, Failure> {
        text.clear();
        let (cell, nulls) = &self.columns[column];
        if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return Ok(false);
        }
        let written = match cell {
            Cell::Text(formatter) => write!(text, "{}", formatter.value(row)).is_ok(),
            Cell::Json(encoder) => {
                let mut bytes = Vec::new();
                encoder.borrow_mut().encode(row, &mut bytes);
                let json = str::from_utf8(&bytes).ok();
                json.map(|json| text.push_str(json)).is_some()
            }
        };
        if !written {
            let text = format!("row {row}, column {column}: no text for this value");
            return Err(Failure::Message(text));
        }
        Ok(true)
    }
}

/// The rows of a result as text; none for NULL.
pub fn text_of(batches: &[RecordBatch]) -> Result<Vec<Vec<Option<String>>>, Failure> {
    let mut out = Vec::new();
    let mut text = String::new();
    for batch in batches {
        let cells = Cells::new(batch, Nested::Plain)?;
        for row in 0..batch.num_rows() {
            let row = (0..cells.width())
                .map(|column| Ok(cells.read(row, column, &mut text)?.then(|| text.clone())));
            out.push(row.collect::<Result<_, Failure>>()?);
        }
    }
    Ok(out)
}

/// Makes a text fit for one line on a terminal: control characters become escapes, so that a log
/// cannot steer the terminal. `\n`, `\r`, `\t` and `\0` are written so, others as `\x1b`.
pub fn escape_control(text: &mut String) {
    if text.contains(is_steering) {
        let mut out = String::with_capacity(text.len() + 8);
        for c in text.chars() {
            push_escaped(&mut out, c);
        }
        *text = out;
    }
}

/// Appends a character as [`escape_control`] writes it.
pub fn push_escaped(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\0' => out.push_str("\\0"),
        // Writing to a string cannot fail.
        c if c.is_ascii_control() => drop(write!(out, "\\x{:02x}", u32::from(c))),
        c if is_steering(c) => drop(write!(out, "\\u{{{:x}}}", u32::from(c))),
        c => out.push(c),
    }
}

/// Control characters and those that turn the direction of writing.
fn is_steering(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
