//! The relation `problems`: one row per gap or defect of a log.

use crate::binlog::problem::Problem;
use arrow::array::{ArrayRef, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use std::sync::{Arc, LazyLock};

/// The columns of the relation `problems`, each with what it tells in one line.
pub fn problem_columns() -> &'static [(Field, &'static str)] {
    static COLUMNS: LazyLock<Vec<(Field, &str)>> = LazyLock::new(|| {
        vec![
            (
                Field::new("file", DataType::Utf8, false),
                "name of the log, as in the column `file` of `binlog`",
            ),
            (
                Field::new("pos", DataType::UInt64, false),
                "offset of the first byte concerned, in the unpacked log",
            ),
            (
                Field::new("length", DataType::UInt64, false),
                "number of bytes concerned",
            ),
            (
                Field::new("payload_index", DataType::UInt32, true),
                "index of the event inside the TRANSACTION_PAYLOAD at `pos`; else null",
            ),
            (
                Field::new("kind", DataType::Utf8, false),
                "what is wrong: `TRUNCATED`, `BAD_CHECKSUM`, `BAD_EVENT`, `UNKNOWN_EVENT`, `RESYNC`, `ENCRYPTED`, `NOT_A_BINLOG`, `UNREADABLE`, `UNDECODED_VALUE`, `UNKNOWN_NAMES`",
            ),
            (
                Field::new("severity", DataType::Utf8, false),
                "`error`: something is missing or not exact; `warning`: odd, nothing is lost; `info`: as it should be",
            ),
            (
                Field::new("message", DataType::Utf8, false),
                "the whole story, in one line",
            ),
        ]
    });
    &COLUMNS
}

/// Schema of the relation `problems`.
pub fn problem_schema() -> SchemaRef {
    static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
        let fields = problem_columns().iter().map(|(field, _)| field.clone());
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    });
    Arc::clone(&SCHEMA)
}

/// The problems as rows, all columns.
///
/// # Errors
/// Never in practice: the arrays are made for the schema.
pub fn problem_batch(problems: &[Problem]) -> Result<RecordBatch, ArrowError> {
    let text = |of: fn(&Problem) -> &str| -> ArrayRef {
        Arc::new(
            problems
                .iter()
                .map(|p| Some(of(p)))
                .collect::<StringArray>(),
        )
    };
    let number = |of: fn(&Problem) -> u64| -> ArrayRef {
        Arc::new(problems.iter().map(of).collect::<UInt64Array>())
    };
    RecordBatch::try_new(
        problem_schema(),
        vec![
            text(|p| &p.file),
            number(|p| p.pos),
            number(|p| p.length),
            Arc::new(
                problems
                    .iter()
                    .map(|p| p.payload_index)
                    .collect::<UInt32Array>(),
            ),
            text(|p| p.kind.name()),
            text(|p| p.severity.name()),
            text(|p| &p.message),
        ],
    )
}
