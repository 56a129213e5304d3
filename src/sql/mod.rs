//! Functions for SQL.

mod read_binlog;

pub use read_binlog::{ReadBinlog, ReadChanges};

use crate::table::BinlogOptions;
use datafusion::prelude::SessionContext;
use std::sync::Arc;

/// Registers every function of this crate.
pub fn register_all(ctx: &SessionContext, options: &BinlogOptions) {
    ctx.register_udtf("read_binlog", Arc::new(ReadBinlog::new(options.clone())));
    ctx.register_udtf("read_changes", Arc::new(ReadChanges::new(options.clone())));
}
