//! DDL → columns: what the statements of a log, or of a schema file, tell of the tables.
//!
//! ```text
//! QUERY events ─▶ Session + text ─▶ lex ─▶ Statement ─▶ Tables ─▶ History ─hint(table, place, types)─▶ TableHint
//! schema file  ─▶ SchemaFile ────────────────────────────┘           │
//!                                                     only where every type fits
//! ```
//!
//! | module | question |
//! |---|---|
//! | `lex`, `parser` | which tokens is a text made of; what is between parentheses |
//! | `statement` | which statement is this, and of which table |
//! | `create`, `column`, `alter`, `sequence` | which columns does it declare or change |
//! | `decl`, `charset` | what is a declared table |
//! | `apply` | what does ALTER TABLE make of a table |
//! | `tables` | which tables are there after this statement |
//! | `history` | which columns did a table have at this place of the log |
//! | `schema_file` | which tables are in a dump without data |
//! | `fits` | can a table map be of this table |
//! | `seen` | which table maps and statements does one log have |
//! | `dictionary` | what did each table look like, and how are its rows decoded there |
//!
//! Only what columns depend on is read, and the rest is hopped over by its parentheses: real
//! statements of twelve years of two vendors have more options than any full grammar knows. That is
//! why this is no use of a full SQL parser: sqlparser rejects much of what these servers accept
//! (options, partitions, attributes), and its tokens are not theirs (`/*M! … */`, `\f` in a
//! label, `"…"` under ANSI_QUOTES, strings inside `/*! … */`).
//!
//! **Invariants.** No name rather than a wrong one: what is not understood costs the table its
//! definition from there on, and says why. The text is hostile: time is linear, memory is bounded,
//! nothing recurses. No I/O, no Arrow, no printing.

#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

mod alter;
mod apply;
mod charset;
mod column;
mod create;
mod decl;
mod dictionary;
mod fits;
mod history;
mod lex;
mod names;
mod parser;
mod schema_file;
mod seen;
mod sequence;
mod session;
mod statement;
mod tables;

pub use charset::Charset;
pub use decl::{AlterSpec, ColumnDecl, KeyPart, Position, TableDecl, TableName};
pub use dictionary::{Dictionary, LostNames, TableVersion};
pub use history::{History, HistoryBuilder, Place};
pub use schema_file::SchemaFile;
pub use seen::{DdlEvent, EventPlace, FileTables, SeenTable, TableCollector};
pub use session::Session;
pub use statement::{Statement, may_be_ddl, parse};

/// Why a statement is not understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DdlError {
    /// The table whose columns are not known any more; `None`: those of any may have changed.
    pub table: Option<TableName>,
    /// What is wrong.
    pub message: String,
}

impl std::fmt::Display for DdlError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for DdlError {}

#[cfg(test)]
mod tests;
