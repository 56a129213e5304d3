//! `markdown`: a pipe table, for an issue or a wiki.

use std::io::Write;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;

use super::value::{Cells, Nested, push_escaped};
use super::{Printer, is_right_aligned};
use crate::errors::Failure;

/// Writes a result as a Markdown table.
pub struct Markdown {
    /// Header and rule, until they are written.
    head: Option<String>,
}

impl Markdown {
    pub fn new(schema: &SchemaRef) -> Self {
        let mut head = String::from("|");
        let mut rule = String::from("|");
        for field in schema.fields() {
            head.push(' ');
            push_text(&mut head, field.name());
            head.push_str(" |");
            rule.push_str(if is_right_aligned(field.data_type()) {
                " ---: |"
            } else {
                " --- |"
            });
        }
        let head = format!("{head}\n{rule}\n");
        Self { head: Some(head) }
    }

    fn write_head(&mut self, out: &mut dyn Write) -> Result<(), Failure> {
        if let Some(head) = self.head.take() {
            out.write_all(head.as_bytes())?;
        }
        Ok(())
    }
}

/// Appends a text so that it stays in its cell and is not read as markup of a table or of HTML.
fn push_text(line: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '|' => line.push_str("\\|"),
            '\n' => line.push_str("<br>"),
            '<' => line.push_str("&lt;"),
            '&' => line.push_str("&amp;"),
            c => push_escaped(line, c),
        }
    }
}

impl Printer for Markdown {
    fn batch(&mut self, out: &mut dyn Write, batch: &RecordBatch) -> Result<(), Failure> {
        self.write_head(out)?;
        let cells = Cells::new(batch, Nested::Plain)?;
        let (mut line, mut text) = (String::new(), String::new());
        for row in 0..batch.num_rows() {
            line.clear();
            line.push('|');
            for column in 0..cells.width() {
                line.push(' ');
                if cells.read(row, column, &mut text)? {
                    push_text(&mut line, &text);
                } else {
                    line.push_str("NULL");
                }
                line.push_str(" |");
            }
            line.push('\n');
            out.write_all(line.as_bytes())?;
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> Result<(), Failure> {
        self.write_head(out)
    }
}
