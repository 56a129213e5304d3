//! Rows events → one row per row change.
//!
//! ```text
//!  Item + Block ─▶ observe, push ─▶ events ── event columns ─▶ filter ─▶ locate ─▶ rows ─▶ values of some columns ─▶ filter ─▶ the others
//!                                   (no row looked at yet)               (places, nothing decoded yet)
//! ```
//!
//! | file | question |
//! |---|---|
//! | `columns` | what the columns are, and what each costs |
//! | `typed` | what the relation of one table looks like |
//! | `batcher` | which events are there |
//! | `locate` | which rows they have |
//! | `meta` | columns that are the same for all rows of an event |
//! | `build` | columns of values |

mod batcher;
mod build;
pub mod columns;
mod locate;
mod meta;
pub mod typed;

pub use batcher::{RowBatcher, RowNeeds};
pub use columns::{MetaColumn, Op, RowColumn, RowCost, RowLayout};
pub use meta::op_array;
pub use typed::TypedTable;

use crate::binlog::event::TableMapOwned;
use crate::binlog::row::RowPlan;
use crate::error::Result;
use std::sync::Arc;

/// Offset of an event, and its index inside a TRANSACTION_PAYLOAD at that offset.
pub type EventPlace = (u64, Option<u32>);

/// How the rows of tables are decoded, by what is known of the tables.
pub trait Plans: Send {
    /// The plan for rows under `map` at `place` of the log, and the place of the first event from
    /// which on it may be another.
    ///
    /// # Errors
    /// A table map that does not fit together.
    fn plan(
        &self,
        map: &TableMapOwned,
        place: EventPlace,
    ) -> Result<(Arc<RowPlan>, Option<EventPlace>)>;
}

/// Plans from table maps alone.
#[derive(Debug, Clone, Copy, Default)]
pub struct MapsOnly;

impl Plans for MapsOnly {
    fn plan(
        &self,
        map: &TableMapOwned,
        _: EventPlace,
    ) -> Result<(Arc<RowPlan>, Option<EventPlace>)> {
        Ok((Arc::new(RowPlan::new(map)?), None))
    }
}
