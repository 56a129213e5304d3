//! `json` (an array, one row a line) and `ndjson` (one object a line), by arrow's JSON writer: all
//! digits of 64-bit integers and decimals are kept, NULL is an explicit `null`, timestamps are
//! RFC 3339, binary values are hexadecimal digits, TIME is text as servers show it.

use std::io::Write;
use std::sync::{Arc, LazyLock};

use datafusion::arrow::array::Array as Values;
use datafusion::arrow::datatypes::FieldRef;
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::json::WriterBuilder;
use datafusion::arrow::json::writer::{
    Encoder, EncoderFactory, EncoderOptions, JsonFormat, LineDelimited, NullableEncoder,
};
use datafusion::arrow::record_batch::RecordBatch;

use super::Printer;
use super::value::Own;
use crate::errors::Failure;

/// Values that arrow would write in another way, at any depth of nesting.
#[derive(Debug)]
struct OwnEncoders;

impl EncoderFactory for OwnEncoders {
    fn make_default_encoder<'a>(
        &self,
        field: &'a FieldRef,
        array: &'a dyn Values,
        _options: &'a EncoderOptions,
    ) -> Result<Option<NullableEncoder<'a>>, ArrowError> {
        Ok(Own::of(array, Some(field)).map(|own| {
            let encoder = OwnEncoder { array, own };
            NullableEncoder::new(Box::new(encoder), array.nulls().cloned())
        }))
    }
}

struct OwnEncoder<'a> {
    array: &'a dyn Values,
    own: Own,
}

impl Encoder for OwnEncoder<'_> {
    fn encode(&mut self, index: usize, out: &mut Vec<u8>) {
        // Digits and punctuation: nothing to escape.
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.own.write(self.array, index, &mut text);
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    }
}

/// How values become JSON.
pub fn options() -> &'static EncoderOptions {
    static OPTIONS: LazyLock<EncoderOptions> = LazyLock::new(|| {
        EncoderOptions::default()
            .with_explicit_nulls(true)
            .with_encoder_factory(Arc::new(OwnEncoders))
    });
    &OPTIONS
}

/// Rows of the array, without its brackets; the first row of a batch has no comma in front.
#[derive(Debug, Default)]
struct Rows;

impl JsonFormat for Rows {
    fn start_row<W: Write>(&self, writer: &mut W, is_first_row: bool) -> Result<(), ArrowError> {
        let between: &[u8] = if is_first_row { b"" } else { b",\n" };
        Ok(writer.write_all(between)?)
    }
}

fn write<F: JsonFormat>(out: &mut dyn Write, batch: &RecordBatch) -> Result<(), Failure> {
    // The writer asks for a sized `Write`, which a reference to `dyn Write` is.
    let mut writer = WriterBuilder::new()
        .with_explicit_nulls(true)
        .with_encoder_factory(Arc::new(OwnEncoders))
        .build::<_, F>(out);
    writer.write(batch)?;
    writer.finish()?;
    Ok(())
}

/// Writes a result as an array of objects.
#[derive(Default)]
pub struct Array {
    rows: bool,
}

impl Printer for Array {
    fn batch(&mut self, out: &mut dyn Write, batch: &RecordBatch) -> Result<(), Failure> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        out.write_all(if self.rows { b",\n" } else { b"[\n" })?;
        self.rows = true;
        write::<Rows>(out, batch)
    }

    fn finish(&mut self, out: &mut dyn Write) -> Result<(), Failure> {
        out.write_all(if self.rows { b"\n]\n" } else { b"[]\n" })?;
        Ok(())
    }
}

/// Writes a result as one object a line.
#[derive(Default)]
pub struct Lines;

impl Printer for Lines {
    fn batch(&mut self, out: &mut dyn Write, batch: &RecordBatch) -> Result<(), Failure> {
        write::<LineDelimited>(out, batch)
    }

    fn finish(&mut self, _out: &mut dyn Write) -> Result<(), Failure> {
        Ok(())
    }
}
