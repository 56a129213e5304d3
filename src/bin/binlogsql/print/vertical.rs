//! `vertical`: one line a column, a header a row, as `\G` prints in the `mysql` client.

use std::io::Write;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use unicode_width::UnicodeWidthStr;

use super::Printer;
use super::value::{Cells, Nested, escape_control, push_escaped};
use crate::errors::Failure;

/// Writes a result row by row.
pub struct Vertical {
    /// Names, padded on the left to one width, with `: ` behind.
    heads: Vec<String>,
    indent: String,
    row: u64,
}

impl Vertical {
    pub fn new(schema: &SchemaRef) -> Self {
        let names: Vec<String> = schema
            .fields()
            .iter()
            .map(|field| {
                let mut name = field.name().clone();
                escape_control(&mut name);
                name
            })
            .collect();
        let width = names.iter().map(|n| n.width()).max().unwrap_or(0);
        let heads = names
            .iter()
            .map(|name| format!("{}{name}: ", " ".repeat(width - name.width())))
            .collect();
        Self {
            heads,
            indent: " ".repeat(width + 2),
            row: 0,
        }
    }
}

impl Printer for Vertical {
    fn batch(&mut self, out: &mut dyn Write, batch: &RecordBatch) -> Result<(), Failure> {
        let cells = Cells::new(batch, Nested::Plain)?;
        let (mut text, mut lines) = (String::new(), String::new());
        let stars = "*".repeat(27);
        for row in 0..batch.num_rows() {
            self.row += 1;
            writeln!(out, "{stars} {}. row {stars}", self.row)?;
            for (column, head) in self.heads.iter().enumerate() {
                lines.clear();
                lines.push_str(head);
                if cells.read(row, column, &mut text)? {
                    // Each line of a text begins below the first, so that none looks like a name.
                    for c in text.chars() {
                        match c {
                            '\n' => {
                                lines.push('\n');
                                lines.push_str(&self.indent);
                            }
                            '\t' => lines.push('\t'),
                            c => push_escaped(&mut lines, c),
                        }
                    }
                } else {
                    lines.push_str("NULL");
                }
                lines.push('\n');
                out.write_all(lines.as_bytes())?;
            }
        }
        Ok(())
    }

    fn finish(&mut self, _out: &mut dyn Write) -> Result<(), Failure> {
        Ok(())
    }
}
