//! The relation `files`: one row per log.

use super::columns::timestamp;
use arrow::array::{
    ArrayRef, BooleanArray, RecordBatch, StringArray, TimestampMicrosecondArray, UInt16Array,
    UInt32Array, UInt64Array,
};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use std::sync::{Arc, LazyLock};

/// What is known of a log from its head and its tail.
#[derive(Debug, Clone, Default)]
pub struct FileRow {
    /// Name, as in the column `file` of `binlog`.
    pub file: String,
    /// Where it is: path or URL.
    pub path: String,
    /// Bytes as stored (of an archive: compressed).
    pub size: u64,
    /// Server version of the format description.
    pub server_version: Option<String>,
    /// `MySQL` or `MariaDB`.
    pub flavor: Option<&'static str>,
    /// 1, 3 or 4.
    pub binlog_version: Option<u16>,
    /// `NONE`, `CRC32`, `UNKNOWN`.
    pub checksum: Option<&'static str>,
    /// When the log was begun: the timestamp of its format description, µs.
    pub created: Option<i64>,
    /// Timestamp of the first event behind the format description that has one, µs.
    pub first_timestamp: Option<i64>,
    /// Timestamp of the last whole event, µs.
    pub last_timestamp: Option<i64>,
    /// GTID of the first transaction.
    pub first_gtid: Option<String>,
    /// GTID of the last transaction.
    pub last_gtid: Option<String>,
    /// GTIDs of all earlier logs: PREVIOUS_GTIDS, or MariaDB's GTID_LIST.
    pub previous_gtids: Option<String>,
    /// Server that wrote the log.
    pub server_id: Option<u32>,
    /// The log is open for writing, or its server died.
    pub in_use: Option<bool>,
    /// It is a relay log.
    pub relay: Option<bool>,
    /// It is encrypted.
    pub encrypted: bool,
    /// `gzip`, `zstd`; null when it is stored as it is.
    pub compression: Option<&'static str>,
    /// Name of the next log, where it ends with a ROTATE.
    pub next_file: Option<String>,
    /// Why it cannot be read, when it cannot.
    pub problem: Option<String>,
}

/// The columns of the relation `files`, each with what it tells in one line.
pub fn file_columns() -> &'static [(Field, &'static str)] {
    static COLUMNS: LazyLock<Vec<(Field, &str)>> = LazyLock::new(|| {
        vec![
            (
                Field::new("file", DataType::Utf8, false),
                "name of the log, as in the column `file` of `binlog`",
            ),
            (
                Field::new("path", DataType::Utf8, false),
                "where it is: path or URL",
            ),
            (
                Field::new("size", DataType::UInt64, false),
                "bytes as stored (of an archive: compressed)",
            ),
            (
                Field::new("server_version", DataType::Utf8, true),
                "server version in its format description",
            ),
            (
                Field::new("flavor", DataType::Utf8, true),
                "`MySQL` or `MariaDB`",
            ),
            (
                Field::new("binlog_version", DataType::UInt16, true),
                "1, 3 or 4",
            ),
            (
                Field::new("checksum", DataType::Utf8, true),
                "`NONE`, `CRC32` or `UNKNOWN`",
            ),
            (
                Field::new("created", timestamp(), true),
                "when the log was begun: timestamp of its format description",
            ),
            (
                Field::new("first_timestamp", timestamp(), true),
                "timestamp of the first event behind the format description that has one",
            ),
            (
                Field::new("last_timestamp", timestamp(), true),
                "timestamp of the last whole event that has one",
            ),
            (
                Field::new("first_gtid", DataType::Utf8, true),
                "GTID of the first transaction; null where it has none",
            ),
            (
                Field::new("last_gtid", DataType::Utf8, true),
                "GTID of the last transaction; null where it has none",
            ),
            (
                Field::new("previous_gtids", DataType::Utf8, true),
                "GTIDs of all earlier logs: PREVIOUS_GTIDS, or MariaDB's GTID_LIST",
            ),
            (
                Field::new("server_id", DataType::UInt32, true),
                "server that wrote the log",
            ),
            (
                Field::new("in_use", DataType::Boolean, true),
                "the log is open for writing, or its server died",
            ),
            (
                Field::new("relay", DataType::Boolean, true),
                "it is a relay log",
            ),
            (
                Field::new("encrypted", DataType::Boolean, false),
                "it is encrypted",
            ),
            (
                Field::new("compression", DataType::Utf8, true),
                "`gzip` or `zstd`; null when it is stored as it is",
            ),
            (
                Field::new("next_file", DataType::Utf8, true),
                "name of the next log, where it ends with a ROTATE",
            ),
            (
                Field::new("problem", DataType::Utf8, true),
                "why it cannot be read, when it cannot",
            ),
        ]
    });
    &COLUMNS
}

/// Schema of the relation `files`.
pub fn file_schema() -> SchemaRef {
    static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
        let fields = file_columns().iter().map(|(field, _)| field.clone());
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    });
    Arc::clone(&SCHEMA)
}

/// The logs as rows, all columns.
///
/// # Errors
/// Never in practice: the arrays are made for the schema.
pub fn file_batch(rows: &[FileRow]) -> Result<RecordBatch, ArrowError> {
    let text = |of: fn(&FileRow) -> Option<&str>| -> ArrayRef {
        Arc::new(rows.iter().map(of).collect::<StringArray>())
    };
    let time = |of: fn(&FileRow) -> Option<i64>| -> ArrayRef {
        Arc::new(
            rows.iter()
                .map(of)
                .collect::<TimestampMicrosecondArray>()
                .with_timezone("UTC"),
        )
    };
    let flag = |of: fn(&FileRow) -> Option<bool>| -> ArrayRef {
        Arc::new(rows.iter().map(of).collect::<BooleanArray>())
    };
    RecordBatch::try_new(
        file_schema(),
        vec![
            text(|f| Some(&f.file)),
            text(|f| Some(&f.path)),
            Arc::new(rows.iter().map(|f| f.size).collect::<UInt64Array>()),
            text(|f| f.server_version.as_deref()),
            text(|f| f.flavor),
            Arc::new(
                rows.iter()
                    .map(|f| f.binlog_version)
                    .collect::<UInt16Array>(),
            ),
            text(|f| f.checksum),
            time(|f| f.created),
            time(|f| f.first_timestamp),
            time(|f| f.last_timestamp),
            text(|f| f.first_gtid.as_deref()),
            text(|f| f.last_gtid.as_deref()),
            text(|f| f.previous_gtids.as_deref()),
            Arc::new(rows.iter().map(|f| f.server_id).collect::<UInt32Array>()),
            flag(|f| f.in_use),
            flag(|f| f.relay),
            flag(|f| Some(f.encrypted)),
            text(|f| f.compression),
            text(|f| f.next_file.as_deref()),
            text(|f| f.problem.as_deref()),
        ],
    )
}
