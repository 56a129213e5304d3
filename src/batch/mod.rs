//! Events → Arrow: the columns of the relations and how they are built.
//!
//! ```text
//!  Item + Block ─▶ EventBatcher ── build(columns, rows) ─▶ arrays ─▶ RecordBatch
//!                     │ header columns: copied from the headers
//!                     │ text and bodies: views into the blocks, not copied
//!                     └ everything else: decoded once an event, only when a column asks
//! ```
//!
//! **Invariant:** nothing here reads a file, waits, or knows DataFusion.

pub mod columns;
pub mod events;
pub mod files;
pub mod problems;
pub mod rows;
pub mod tables;
mod text;
pub mod values;

pub use columns::EventColumn;
pub use events::EventBatcher;
