//! Batches → plan: the relations as DataFusion tables.
//!
//! ```text
//!  BinlogTable (TableProvider) ─ scan ─▶ DataSourceExec { FileScanConfig, BinlogSource }
//!        │                                     │ one partition: a run of files
//!        │ resolve: paths, globs, …            ▼
//!        └──────── Segment ─────────▶ stream: BlockReader ─▶ EventReader ─▶ EventBatcher ─▶ RecordBatch
//! ```
//!
//! `stream` is the only place where a source, a reader and a batcher meet.
//!
//! **Invariant:** nothing here prints, and nothing registers itself: [`crate::session`] does.

mod catalog;
mod factory;
mod filter;
mod metrics;
pub mod options;
mod partition;
mod probe;
mod provider;
mod relation;
mod source;
mod stream;

pub use catalog::BinlogCatalog;
pub use factory::{BinlogTableFactory, BinlogUrlTables};
pub use options::{BinlogOptions, ProblemLog, ScanProgress};
pub use provider::BinlogTable;
pub use relation::Relation;
pub use source::BinlogSource;
