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
mod discover;
mod factory;
mod filter;
mod meaning;
mod metrics;
pub mod options;
mod partition;
mod pieces;
mod probe;
mod problems;
mod provider;
mod relation;
mod rows;
mod source;
mod stream;

pub use catalog::{BINLOG_SCHEMA, BinlogCatalog};
pub use factory::{BinlogTableFactory, BinlogUrlTables};
pub use options::{BinlogOptions, ProblemLog, ScanProgress};
pub use provider::BinlogTable;
pub use relation::Relation;
pub use source::BinlogSource;

use datafusion::common::Result;

/// Runs `task` to its end while the thread waits, for callers that cannot wait in any other way.
/// It has a runtime of its own, so the caller's may have but one thread.
fn waiting<T: Send>(task: impl Future<Output = Result<T>> + Send) -> Result<T> {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            runtime.block_on(task)
        });
        let result = thread.join();
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
