//! `read_binlog('mysql-bin.*'[, 'files'])` and `read_changes('mysql-bin.*'[, 'shop.orders'])`: a
//! relation of a source, ad hoc.

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
        match args.exprs() {
            [location] => source("read_binlog", Relation::Binlog, location, &self.options),
            [location, relation] => {
                let name = text("read_binlog", relation)?;
                let location = text("read_binlog", location)?;
                named(&args, location, &name, &self.options)
            }
            other => Err(wrong_arguments(
                "read_binlog takes a location and, if you like, a relation",
                other,
                "read_binlog('mysql-bin.*', 'files')",
            )),
        }
    }
}

/// The table function `read_changes(location[, table])`.
#[derive(Debug)]
pub struct ReadChanges {
    options: BinlogOptions,
}

impl ReadChanges {
    /// Sources are read with these options.
    pub fn new(options: BinlogOptions) -> Self {
        Self { options }
    }
}

impl TableFunctionImpl for ReadChanges {
    fn call_with_args(&self, args: TableFunctionArgs) -> Result<Arc<dyn TableProvider>> {
        match args.exprs() {
            [location] => source("read_changes", Relation::Changes, location, &self.options),
            [location, table] => {
                let name = text("read_changes", table)?;
                let location = text("read_changes", location)?;
                if !name.contains('.') {
                    let message = format!(
                        "read_changes takes a table with its schema, 'shop.orders', not '{name}'"
                    );
                    return Err(Error::invalid(message).into());
                }
                named(&args, location, &name, &self.options)
            }
            other => Err(wrong_arguments(
                "read_changes takes a location and, if you like, a table",
                other,
                "read_changes('mysql-bin.*', 'shop.orders')",
            )),
        }
    }
}

fn source(
    function: &str,
    relation: Relation,
    location: &Expr,
    options: &BinlogOptions,
) -> Result<Arc<dyn TableProvider>> {
    let location = text(function, location)?;
    Ok(Arc::new(BinlogTable::new(
        relation,
        [location],
        options.clone(),
    )))
}

/// A relation whose columns may be known only when the logs were looked at.
fn named(
    args: &TableFunctionArgs,
    location: String,
    name: &str,
    options: &BinlogOptions,
) -> Result<Arc<dyn TableProvider>> {
    let table = BinlogTable::new(Relation::default(), [location], options.clone());
    Ok(Arc::new(
        table.named_blocking(args.session().runtime_env(), name)?,
    ))
}

fn wrong_arguments(
    takes: &str,
    given: &[Expr],
    example: &str,
) -> datafusion::error::DataFusionError {
    Error::invalid(format!("{takes}, not {} arguments: {example}", given.len())).into()
}

fn text(function: &str, expr: &Expr) -> Result<String> {
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
            Err(Error::invalid(format!("{function} takes texts in quotes, not {other}")).into())
        }
    }
}
