//! Batches → text. One file a format; each writes batches as they come and holds back nothing but
//! what it needs for the width of its columns (`table`: the first 1000 rows).
//!
//! | | NULL | timestamp in UTC | binary | line break in a text |
//! |---|---|---|---|---|
//! | `table` | `NULL` | `2014-10-13 08:29:50` | `0x0a1b` | `\n` |
//! | `vertical` | `NULL` | `2014-10-13 08:29:50` | `0x0a1b` | as it is, indented |
//! | `markdown` | `NULL` | `2014-10-13 08:29:50` | `0x0a1b` | `<br>` |
//! | `csv` | nothing; the empty text is `""` | `2014-10-13 08:29:50` | `0x0a1b` | as it is, in quotes |
//! | `tsv` | `\N` | `2014-10-13 08:29:50` | `0x0a1b` | `\n`, and `\t`, `\\`, `\r`, `\0` |
//! | `json`, `ndjson` | `null` | `2014-10-13T08:29:50Z` | `"0a1b"` | `\n` |
//! | `parquet` | typed | typed | typed | as it is |
//!
//! Spans of time are written as servers show TIME (`-838:59:59.000001`), `arrow.uuid` as the text of
//! a UUID. Lists and structs are JSON in `csv`, `tsv`, `json` and `ndjson`, for a program to take
//! apart, and `{id: 1, note: NULL}` in those that are for eyes.
//!
//! **Invariant**: `csv`, `tsv`, `json`, `ndjson` and `parquet` lose nothing; the others are for eyes
//! and never pass control characters of a log on to a terminal.

mod delimited;
mod json;
mod markdown;
mod parquet;
mod plan;
mod table;
mod value;
mod vertical;

use std::io::Write;
use std::path::Path;

use clap::ValueEnum;
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;

use crate::errors::Failure;
pub use value::{escape_control, extension, text_of};

/// How results look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Columns in a frame
    Table,
    /// Comma-separated values with a header line
    Csv,
    /// Tab-separated values with a header line, escaped as by mysql --batch
    Tsv,
    /// An array of objects
    Json,
    /// One JSON object a line
    #[value(alias = "jsonl")]
    Ndjson,
    /// A Markdown table
    Markdown,
    /// One line a column, as by \G
    Vertical,
    /// A Parquet file (needs -o)
    Parquet,
}

impl Format {
    /// The format that a file's name asks for.
    pub fn of_file(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match extension.as_str() {
            "csv" => Self::Csv,
            "tsv" | "tab" => Self::Tsv,
            "json" => Self::Json,
            "ndjson" | "jsonl" => Self::Ndjson,
            "md" | "markdown" => Self::Markdown,
            "parquet" => Self::Parquet,
            _ => return None,
        })
    }

    /// Its name as it is typed.
    pub fn name(self) -> String {
        self.to_possible_value()
            .map_or_else(String::new, |v| v.get_name().to_owned())
    }
}

/// What the output is like, for the formats that fit themselves to it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Layout {
    /// Columns of the terminal; none: not a terminal, nothing is cut.
    pub width: Option<usize>,
    /// The user asked for this very format, so a table too wide stays a table.
    pub explicit: bool,
}

/// Writes one result.
pub trait Printer {
    /// Writes, or takes in, the next rows.
    fn batch(&mut self, out: &mut dyn Write, batch: &RecordBatch) -> Result<(), Failure>;
    /// Writes what was held back, and the end. A result without rows still has its header.
    fn finish(&mut self, out: &mut dyn Write) -> Result<(), Failure>;
}

/// The printer of a format for a result with this schema.
pub fn printer(format: Format, schema: &SchemaRef, layout: Layout) -> Box<dyn Printer> {
    match format {
        Format::Table if plan::is_plan(schema) => Box::new(plan::Plan),
        Format::Table => Box::new(table::Table::new(schema, layout)),
        Format::Csv => Box::new(delimited::Delimited::csv(schema)),
        Format::Tsv => Box::new(delimited::Delimited::tsv(schema)),
        Format::Json => Box::new(json::Array::default()),
        Format::Ndjson => Box::new(json::Lines),
        Format::Markdown => Box::new(markdown::Markdown::new(schema)),
        Format::Vertical => Box::new(vertical::Vertical::new(schema)),
        Format::Parquet => Box::new(parquet::Parquet::new(schema)),
    }
}

/// Whether values of a type stand on the right of their column.
fn is_right_aligned(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_right_aligned(values),
        other => other.is_numeric(),
    }
}

#[cfg(test)]
mod tests;
