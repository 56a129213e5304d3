//! MySQL and MariaDB binary logs as SQL tables.
//!
//! ```text
//!     source/            binlog/frame      binlog/event     batch/            table/           session      bin
//! file·glob·archive ─▶ Framer ─RawEvent─▶ Event<'a> ─────▶ RecordBatch ────▶ plan node ─────▶ SQL ───────▶ REPL, files
//!     blocks          header,CRC,size    EVENTS table     one arm a column  stream joins
//!                            ▲
//!             table/filter ──┘ an unwanted event is dropped on its header, before its body is read
//! ```
//!
//! Rows take two passes: where their values begin, then one loop for each column that is asked for,
//! under the names that table maps, the log's DDL ([`schema`]) or a schema file tell.
//!
//! Features are a ladder, each usable alone: the bare decoder, `arrow`, `datafusion`, `parquet`,
//! and `cli` (the default), which is all that the command needs.

#[cfg(feature = "arrow")]
pub mod batch;
pub mod binlog;
pub mod error;
pub mod schema;

#[cfg(feature = "datafusion")]
pub mod session;
#[cfg(feature = "datafusion")]
pub mod source;
#[cfg(feature = "datafusion")]
pub mod sql;
#[cfg(feature = "datafusion")]
pub mod table;

pub use error::{Error, ErrorKind, Result};

pub use binlog::problem::{Problem, ProblemKind, Severity};

#[cfg(feature = "arrow")]
pub use batch::values::ZeroDates;
pub use schema::SchemaFile;

#[cfg(feature = "datafusion")]
pub use session::{Location, SessionContextBinlogExt};
#[cfg(feature = "datafusion")]
pub use table::{BinlogOptions, BinlogTable, ProblemLog, Relation, ScanProgress};

#[cfg(all(doctest, feature = "datafusion"))]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(doc)]
#[doc = include_str!("../ARCHITECTURE.md")]
pub mod _architecture {}
