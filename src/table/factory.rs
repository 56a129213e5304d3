//! Tables made by SQL: `CREATE EXTERNAL TABLE … STORED AS BINLOG`, `select * from 'mysql-bin.000001'`.

use super::options::BinlogOptions;
use super::provider::BinlogTable;
use super::relation::Relation;
use crate::error::Error;
use crate::source::looks_like_log;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider, TableProviderFactory, UrlTableFactory};
use datafusion::common::Result;
use datafusion::logical_expr::CreateExternalTable;
use std::sync::Arc;

/// `CREATE EXTERNAL TABLE t STORED AS BINLOG LOCATION '…' OPTIONS ('binlog.relation' 'shop.orders')`.
#[derive(Debug, Clone, Default)]
pub struct BinlogTableFactory {
    options: BinlogOptions,
}

impl BinlogTableFactory {
    /// Tables are read with these options, where SQL says nothing else.
    pub fn new(options: BinlogOptions) -> Self {
        Self { options }
    }
}

#[async_trait]
impl TableProviderFactory for BinlogTableFactory {
    async fn create(
        &self,
        state: &dyn Session,
        cmd: &CreateExternalTable,
    ) -> Result<Arc<dyn TableProvider>> {
        let columns = cmd.schema.fields();
        if !columns.is_empty() {
            return Err(Error::invalid(format!(
                "table {}: the columns of a binary log are given, leave them out",
                cmd.name
            ))
            .into());
        }
        let options = self.options.clone().with_sql_options(&cmd.options)?;
        let table = BinlogTable::new(Relation::default(), cmd.locations.iter().cloned(), options);
        // Fail here, where the user wrote the location, not at the first query.
        table.check(state).await?;
        Ok(Arc::new(match cmd.options.get("binlog.relation") {
            Some(name) => table.named(state.runtime_env(), name).await?,
            None => table,
        }))
    }
}

/// Takes a quoted path in FROM for a log where it looks like one, and leaves the others to
/// `inner`.
#[derive(Debug)]
pub struct BinlogUrlTables {
    options: BinlogOptions,
    inner: Arc<dyn UrlTableFactory>,
}

impl BinlogUrlTables {
    /// Logs are read with `options`; what is none goes to `inner`.
    pub fn new(options: BinlogOptions, inner: Arc<dyn UrlTableFactory>) -> Self {
        Self { options, inner }
    }
}

#[async_trait]
impl UrlTableFactory for BinlogUrlTables {
    async fn try_new(&self, url: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        if looks_like_log(url) {
            let table = BinlogTable::new(Relation::default(), [url], self.options.clone());
            return Ok(Some(Arc::new(table)));
        }
        self.inner.try_new(url).await
    }
}
