//! Relations written as Parquet, CSV and JSON, and read again: by DataFusion, and by readers that
//! share no code with it.

use crate::support::{config, over, query, rows};
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Float64Type, Int64Type, Schema};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::prelude::{CsvReadOptions, JsonReadOptions, ParquetReadOptions, SessionContext};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

const LOGS: &[&str] = &[
    "mysql-9.7-shop.000001",
    "mysql-9.7-shop.000002",
    "mysql-9.7-payload.000001",
    "mysql-9.7-relay.000004",
    "mariadb-11.8-shop.000001",
    "mariadb-11.8-shop.000002",
    "mariadb-10.11-compressed.000001",
];

/// What is written, and the order of its rows.
const RELATIONS: &[(&str, &str)] = &[
    ("binlog", "file, pos, payload_index"),
    ("files", "file"),
    ("problems", "file, pos"),
];

fn in_order(relation: &str, order: &str) -> String {
    format!("select * from {relation} order by {order}")
}

pub async fn copy(ctx: &SessionContext, sql: &str, to: &Path, format: &str) {
    let sql = format!("copy ({sql}) to '{}' stored as {format}", to.display());
    query(ctx, &sql).await;
}

pub fn empty() -> SessionContext {
    SessionContext::new_with_config(config().with_create_default_catalog_and_schema(true))
}

#[tokio::test]
async fn parquet_read_back_is_what_was_written() {
    let ctx = over(LOGS).await;
    let directory = tempfile::tempdir().unwrap();
    for (relation, order) in RELATIONS {
        let path = directory.path().join(format!("{relation}.parquet"));
        let sql = in_order(relation, order);
        copy(&ctx, &sql, &path, "parquet").await;
        let back = empty();
        let options = ParquetReadOptions::default();
        let at = path.display().to_string();
        back.register_parquet("t", &at, options).await.unwrap();
        let written = query(&ctx, &sql).await;
        let read = query(&back, &format!("select * from t order by {order}")).await;
        assert!(written.iter().map(RecordBatch::num_rows).sum::<usize>() > 0);
        assert_eq!(rows(&read), rows(&written), "{relation}");
        for (read, written) in read[0]
            .schema()
            .fields()
            .iter()
            .zip(written[0].schema().fields())
        {
            assert_eq!(read.name(), written.name());
            // DataFusion reads every text as a view.
            let written = match written.data_type() {
                DataType::Utf8 => &DataType::Utf8View,
                other => other,
            };
            assert_eq!(read.data_type(), written, "{}", read.name());
        }
    }
}

#[tokio::test]
async fn csv_read_back_is_what_was_written() {
    let ctx = over(LOGS).await;
    let directory = tempfile::tempdir().unwrap();
    for (relation, order) in RELATIONS {
        let path = directory.path().join(format!("{relation}.csv"));
        let sql = in_order(relation, order);
        copy(&ctx, &sql, &path, "csv").await;
        let schema = ctx
            .table(*relation)
            .await
            .unwrap()
            .schema()
            .as_arrow()
            .clone();
        let texts = schema
            .fields()
            .iter()
            .map(|f| Field::new(f.name(), DataType::Utf8, true));
        let texts = Schema::new(texts.collect::<Vec<_>>());
        let back = empty();
        let options = CsvReadOptions::new()
            .schema(&texts)
            .newlines_in_values(true);
        let at = path.display().to_string();
        back.register_csv("t", &at, options).await.unwrap();
        // CSV has one sign for null and the empty text.
        let plain = |batches: &[RecordBatch]| -> Vec<String> {
            let rows = rows(batches).into_iter();
            rows.map(|row| row.replace("NULL", "")).collect()
        };
        let read = plain(&query(&back, "select * from t").await);
        assert_eq!(read, plain(&query(&ctx, &sql).await), "{relation}");
    }
}

#[tokio::test]
async fn json_read_back_is_what_was_written() {
    let ctx = over(LOGS).await;
    let directory = tempfile::tempdir().unwrap();
    for (relation, order) in RELATIONS {
        let path = directory.path().join(format!("{relation}.json"));
        let sql = in_order(relation, order);
        copy(&ctx, &sql, &path, "json").await;
        let back = empty();
        let schema = ctx
            .table(*relation)
            .await
            .unwrap()
            .schema()
            .as_arrow()
            .clone();
        // JSON has no bytes: they are written in hexadecimal.
        let fields = schema.fields().iter().map(|f| match f.data_type() {
            DataType::BinaryView | DataType::Dictionary(..) => {
                Field::new(f.name(), DataType::Utf8, true)
            }
            _ => f.as_ref().clone(),
        });
        let schema = Schema::new(fields.collect::<Vec<_>>());
        let options = JsonReadOptions::default()
            .schema(&schema)
            .file_extension(".json");
        let at = path.display().to_string();
        back.register_json("t", &at, options).await.unwrap();
        let read = rows(&query(&back, "select * from t").await);
        assert_eq!(read, rows(&query(&ctx, &sql).await), "{relation}");
    }
}

/// The rows as `check_parquet.py` prints them.
pub fn canonical(batches: &[RecordBatch]) -> Vec<String> {
    let mut lines = Vec::new();
    for batch in batches {
        let columns: Vec<Vec<String>> = batch.columns().iter().map(canonical_column).collect();
        for row in 0..batch.num_rows() {
            let cells: Vec<&str> = columns.iter().map(|column| column[row].as_str()).collect();
            lines.push(cells.join("\t"));
        }
    }
    lines
}

fn canonical_column(column: &Arc<dyn Array>) -> Vec<String> {
    let valid = |row: usize, text: String| match column.is_null(row) {
        true => "\\N".to_owned(),
        false => text,
    };
    let rows = 0..column.len();
    match column.data_type() {
        DataType::Timestamp(..) | DataType::Duration(_) => {
            let micros = cast(column, &DataType::Int64).unwrap();
            let micros = micros.as_primitive::<Int64Type>();
            rows.map(|row| valid(row, micros.value(row).to_string()))
                .collect()
        }
        DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            let bytes = cast(column, &DataType::Binary).unwrap();
            let bytes = bytes.as_binary::<i32>();
            let hex = |row| {
                bytes
                    .value(row)
                    .iter()
                    .map(|b| format!("{b:02x}"))
                    .collect()
            };
            rows.map(|row| valid(row, hex(row))).collect()
        }
        DataType::Float32 | DataType::Float64 => {
            let numbers = cast(column, &DataType::Float64).unwrap();
            let numbers = numbers.as_primitive::<Float64Type>();
            let bits = |row| format!("{:016x}", numbers.value(row).to_bits());
            rows.map(|row| valid(row, bits(row))).collect()
        }
        DataType::List(_) => {
            let lists = column.as_list::<i32>();
            let list = |row| match lists.is_null(row) {
                true => String::new(),
                false => format!("[{}]", canonical_column(&lists.value(row)).join(",")),
            };
            rows.map(|row| valid(row, list(row))).collect()
        }
        DataType::Struct(fields) => {
            let columns = column.as_struct().columns();
            let columns: Vec<Vec<String>> = columns.iter().map(canonical_column).collect();
            let object = |row: usize| {
                let values = fields.iter().zip(&columns);
                let values =
                    values.map(|(field, column)| format!("{}={}", field.name(), column[row]));
                format!("{{{}}}", values.collect::<Vec<_>>().join(","))
            };
            rows.map(|row| valid(row, object(row))).collect()
        }
        _ => {
            let options = FormatOptions::default();
            let values = ArrayFormatter::try_new(column, &options).unwrap();
            let escaped = |row| {
                let text = values.value(row).to_string();
                text.replace('\\', "\\\\")
                    .replace('\t', "\\t")
                    .replace('\n', "\\n")
                    .replace('\r', "\\r")
            };
            rows.map(|row| valid(row, escaped(row))).collect()
        }
    }
}

/// The Python to ask: `BINLOG_PYTHON`, or `python3`; `None` if it has not both libraries.
pub fn python() -> Option<String> {
    let python = std::env::var("BINLOG_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let probe = Command::new(&python)
        .args(["-c", "import pyarrow, duckdb"])
        .output();
    let found = probe.is_ok_and(|output| output.status.success());
    found.then_some(python)
}

#[tokio::test]
async fn other_readers_see_the_same_parquet() {
    let Some(python) = python() else {
        eprintln!(
            "SKIPPED other_readers_see_the_same_parquet: no Python with pyarrow and duckdb; \
             set BINLOG_PYTHON to one that has them"
        );
        return;
    };
    let ctx = over(LOGS).await;
    let directory = tempfile::tempdir().unwrap();
    let mut written = Vec::new();
    for (relation, order) in RELATIONS {
        let path = directory.path().join(format!("{relation}.parquet"));
        let sql = in_order(relation, order);
        copy(&ctx, &sql, &path, "parquet").await;
        written.push((path, canonical(&query(&ctx, &sql).await)));
    }
    check_seen(&python, "pyarrow", &written);
    check_seen(&python, "duckdb", &written);
}

/// Checks that another reader sees these rows in these Parquet files.
pub fn check_seen(python: &str, reader: &str, files: &[(PathBuf, Vec<String>)]) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sql/check_parquet.py");
    let paths = files.iter().map(|(path, _)| path);
    let output = Command::new(python)
        .arg(script)
        .arg(reader)
        .args(paths)
        .output();
    let output = output.unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{reader}: {errors}");
    let text = String::from_utf8(output.stdout).unwrap();
    let tables: Vec<&str> = text.split_terminator("\u{c}\n").collect();
    assert_eq!(tables.len(), files.len(), "{reader}");
    for (table, (path, wanted)) in tables.iter().zip(files) {
        let found: Vec<&str> = table.split_terminator('\n').collect();
        assert_eq!(found.len(), wanted.len(), "{reader}, {}", path.display());
        for (found, wanted) in found.iter().zip(wanted) {
            assert_eq!(found, wanted, "{reader}, {}", path.display());
        }
    }
}
