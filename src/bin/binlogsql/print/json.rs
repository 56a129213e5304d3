//! `json` (an array, one row a line) and `ndjson` (one object a line), by arrow's JSON writer: all
//! digits of 64-bit integers and decimals are kept, NULL is an explicit `null`, timestamps are
//! RFC 3339, binary values are hexadecimal digits.

use std::io::Write;

use datafusion::arrow::error::ArrowError;
use datafusion::arrow::json::WriterBuilder;
use datafusion::arrow::json::writer::{JsonFormat, LineDelimited};
use datafusion::arrow::record_batch::RecordBatch;

use super::Printer;
use crate::errors::Failure;

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
