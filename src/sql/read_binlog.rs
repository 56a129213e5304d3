//! `read_binlog('mysql-bin.*'[, 'files'])`: a relation of a source, ad hoc.

use crate::error::Error;
use crate::table::{BinlogOptions, BinlogTable, Relation};
use datafusion::catalog::{TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Expr;
use std::sync::Arc;

/// The table function `read_binlog(location[, relation])`.
#[derive(Debug)]
pub struct ReadBinlog {
    options: BinlogOptions,
}

impl ReadBinlog {
    /// Sources are read with these options.
    pub fn new(options: BinlogOptions) -> Self {
        Self { options }
    }
}

impl TableFunctionImpl for ReadBinlog {
    fn call_with_args(&self, args: TableFunctionArgs) -> Result<Arc<dyn TableProvider>> {
        let (location, relation) = match args.exprs() {
            [location] => (text(location)?, Relation::default()),
            [location, relation] => (text(location)?, text(relation)?.parse()?),
            other => {
                return Err(Error::invalid(format!(
                    "read_binlog takes a location and, if you like, a relation, not {} arguments: \
                     read_binlog('mysql-bin.*', 'files')",
                    other.len()
                ))
                .into());
            }
        };
        Ok(Arc::new(BinlogTable::new(
            relation,
            [location],
            self.options.clone(),
        )))
    }
}

fn text(expr: &Expr) -> Result<String> {
    match expr {
        Expr::Literal(
            ScalarValue::Utf8(Some(text))
            | ScalarValue::Utf8View(Some(text))
            | ScalarValue::LargeUtf8(Some(text)),
            _,
        ) => Ok(text.clone()),
        // `read_binlog("x")`: with double quotes SQL takes it for a column.
        Expr::Column(column) => Ok(column.name.clone()),
        other => {
            Err(Error::invalid(format!("read_binlog takes texts in quotes, not {other}")).into())
        }
    }
}
