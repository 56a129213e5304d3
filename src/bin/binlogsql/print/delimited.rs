//! `csv` (RFC 4180) and `tsv` (as `mysql --batch` escapes it).

use std::io::Write;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;

use super::Printer;
use super::value::{Cells, Nested};
use crate::errors::Failure;

/// Writes a result as lines of separated values.
pub struct Delimited {
    separator: u8,
    null: &'static str,
    push: fn(&mut Vec<u8>, &str),
    /// The header line, until it is written.
    head: Option<Vec<u8>>,
}

impl Delimited {
    pub fn csv(schema: &SchemaRef) -> Self {
        Self::new(schema, b',', "", push_csv)
    }

    pub fn tsv(schema: &SchemaRef) -> Self {
        Self::new(schema, b'\t', "\\N", push_tsv)
    }

    fn new(
        schema: &SchemaRef,
        separator: u8,
        null: &'static str,
        push: fn(&mut Vec<u8>, &str),
    ) -> Self {
        let mut head = Vec::new();
        for (column, field) in schema.fields().iter().enumerate() {
            if column > 0 {
                head.push(separator);
            }
            push(&mut head, field.name());
        }
        head.push(b'\n');
        Self {
            separator,
            null,
            push,
            head: Some(head),
        }
    }

    fn write_head(&mut self, out: &mut dyn Write) -> Result<(), Failure> {
        if let Some(head) = self.head.take() {
            out.write_all(&head)?;
        }
        Ok(())
    }
}

/// Appends a value, in quotes where it needs them; the empty text has them to differ from NULL.
fn push_csv(line: &mut Vec<u8>, text: &str) {
    let special = |b: u8| matches!(b, b',' | b'"' | b'\n' | b'\r');
    if !text.is_empty() && !text.bytes().any(special) {
        line.extend_from_slice(text.as_bytes());
        return;
    }
    line.push(b'"');
    for byte in text.bytes() {
        if byte == b'"' {
            line.push(b'"');
        }
        line.push(byte);
    }
    line.push(b'"');
}

/// Appends a value with the separator, line breaks, NUL and the backslash escaped.
fn push_tsv(line: &mut Vec<u8>, text: &str) {
    for byte in text.bytes() {
        match byte {
            b'\t' => line.extend_from_slice(b"\\t"),
            b'\n' => line.extend_from_slice(b"\\n"),
            b'\r' => line.extend_from_slice(b"\\r"),
            b'\0' => line.extend_from_slice(b"\\0"),
            b'\\' => line.extend_from_slice(b"\\\\"),
            byte => line.push(byte),
        }
    }
}

impl Printer for Delimited {
    fn batch(&mut self, out: &mut dyn Write, batch: &RecordBatch) -> Result<(), Failure> {
        self.write_head(out)?;
        let cells = Cells::new(batch, Nested::Json)?;
        let (mut line, mut text) = (Vec::new(), String::new());
        for row in 0..batch.num_rows() {
            line.clear();
            for column in 0..cells.width() {
                if column > 0 {
                    line.push(self.separator);
                }
                if cells.read(row, column, &mut text)? {
                    (self.push)(&mut line, &text);
                } else {
                    line.extend_from_slice(self.null.as_bytes());
                }
            }
            line.push(b'\n');
            out.write_all(&line)?;
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> Result<(), Failure> {
        self.write_head(out)
    }
}
