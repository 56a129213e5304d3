//! The answer of EXPLAIN, where a table is asked for: its text as it is, line by line.

use std::io::Write;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;

use super::Printer;
use super::value::{Cells, Nested, push_escaped};
use crate::errors::Failure;

/// Whether a result is what EXPLAIN gives.
pub fn is_plan(schema: &SchemaRef) -> bool {
    let names: Vec<&str> = schema.fields().iter().map(|f| f.name().as_str()).collect();
    names == ["plan_type", "plan"]
}

/// Writes plans.
pub struct Plan;

impl Printer for Plan {
    fn batch(&mut self, out: &mut dyn Write, batch: &RecordBatch) -> Result<(), Failure> {
        let cells = Cells::new(batch, Nested::Plain)?;
        let mut text = String::new();
        for row in 0..batch.num_rows() {
            cells.read(row, 0, &mut text)?;
            writeln!(out, "{text}:")?;
            cells.read(row, 1, &mut text)?;
            for line in text.lines() {
                let mut shown = String::from("  ");
                line.chars().for_each(|c| push_escaped(&mut shown, c));
                writeln!(out, "{shown}")?;
            }
        }
        Ok(())
    }

    fn finish(&mut self, _out: &mut dyn Write) -> Result<(), Failure> {
        Ok(())
    }
}
