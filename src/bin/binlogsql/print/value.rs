//! One value → text, the same in every format that is text.

use std::fmt::Write as _;

use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::arrow::util::display::{
    ArrayFormatter, ArrayFormatterFactory, DisplayIndex, FormatOptions, FormatResult,
};

use crate::errors::Failure;

/// `%.f` prints the fraction only where there is one, in 3, 6 or 9 digits.
const TIMESTAMP: &str = "%Y-%m-%d %H:%M:%S%.f";

static OPTIONS: FormatOptions<'static> = FormatOptions::new()
    .with_display_error(false)
    .with_null("NULL")
    .with_timestamp_format(Some(TIMESTAMP))
    .with_timestamp_tz_format(Some(TIMESTAMP))
    .with_datetime_format(Some(TIMESTAMP))
    .with_formatter_factory(Some(&HexFactory));

/// Binary values, at any depth of nesting, as `0x0a1b`.
#[derive(Debug)]
struct HexFactory;

impl ArrayFormatterFactory for HexFactory {
    fn create_array_formatter<'formatter>(
        &self,
        array: &'formatter dyn Array,
        options: &FormatOptions<'formatter>,
        _field: Option<&'formatter Field>,
    ) -> Result<Option<ArrayFormatter<'formatter>>, ArrowError> {
        let binary = matches!(
            array.data_type(),
            DataType::Binary
                | DataType::LargeBinary
                | DataType::BinaryView
                | DataType::FixedSizeBinary(_)
        );
        Ok(binary.then(|| {
            let hex = Hex {
                array,
                null: options.null(),
            };
            ArrayFormatter::new(Box::new(hex), options.safe())
        }))
    }
}

struct Hex<'a> {
    array: &'a dyn Array,
    null: &'a str,
}

impl DisplayIndex for Hex<'_> {
    fn write(&self, index: usize, f: &mut dyn std::fmt::Write) -> FormatResult {
        if self.array.is_null(index) {
            f.write_str(self.null)?;
            return Ok(());
        }
        let bytes = match self.array.data_type() {
            DataType::Binary => self.array.as_binary::<i32>().value(index),
            DataType::LargeBinary => self.array.as_binary::<i64>().value(index),
            DataType::BinaryView => self.array.as_binary_view().value(index),
            _ => self.array.as_fixed_size_binary().value(index),
        };
        f.write_str("0x")?;
        for byte in bytes {
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

/// The values of a batch as text.
pub struct Cells<'a> {
    columns: Vec<(ArrayFormatter<'a>, Option<NullBuffer>)>,
}

impl<'a> Cells<'a> {
    /// Fails on a type that has no text.
    pub fn new(batch: &'a RecordBatch) -> Result<Self, Failure> {
        let columns = batch
            .columns()
            .iter()
            .map(|column| {
                // A dictionary's nulls may be in its values.
                let nulls = column.logical_nulls();
                // The options' factory is asked for nested values only.
                let hex = HexFactory.create_array_formatter(column.as_ref(), &OPTIONS, None)?;
                let formatter = match hex {
                    Some(hex) => hex,
                    None => ArrayFormatter::try_new(column.as_ref(), &OPTIONS)?,
                };
                Ok((formatter, nulls))
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
        let (formatter, nulls) = &self.columns[column];
        if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return Ok(false);
        }
        write!(text, "{}", formatter.value(row)).map_err(|_| {
            Failure::Message(format!(
                "row {row}, column {column}: no text for this value"
            ))
        })?;
        Ok(true)
    }
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
