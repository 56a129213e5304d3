//! The one place where everything is put together: a source becomes a catalog of a session.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> datafusion::error::Result<()> {
//! use datafusion::prelude::SessionContext;
//! use datafusion_binlog::{BinlogOptions, SessionContextBinlogExt};
//!
//! let ctx = SessionContext::new();
//! let options = BinlogOptions::default();
//! ctx.register_binlog("prod", "tests/fixtures/mysql-9.7-shop.00000?", options.clone()).await?;
//! let sql = "select type, count(*) from prod.binlog.binlog group by type";
//! let types = ctx.sql(sql).await?.count().await?;
//! assert_eq!(types, 21);
//!
//! // Each table of the log is a relation, with its own columns and types.
//! let sql = "select id, total from prod.shop.orders where _op = 'UPDATE' and total <> _before.total";
//! assert_eq!(ctx.sql(sql).await?.count().await?, 1);
//!
//! // What the queries met that could not be read, and how far they are.
//! let (errors, warnings) = options.problem_log().counts();
//! assert_eq!((errors, warnings), (0, 0));
//! assert_eq!(options.progress().bytes_done(), options.progress().bytes_total());
//! # Ok(())
//! # }
//! ```

use crate::sql;
use crate::table::{
    BinlogCatalog, BinlogOptions, BinlogTable, BinlogTableFactory, BinlogUrlTables, Relation,
};
use async_trait::async_trait;
use datafusion::catalog::DynamicFileCatalog;
use datafusion::common::Result;
use datafusion::datasource::dynamic_file::DynamicListTableFactory;
use datafusion::prelude::{DataFrame, SessionContext};
use datafusion_session::SessionStore;
use std::sync::Arc;

/// Where a source is: one or more paths, globs, directories, index files, URLs, or `-`.
#[derive(Debug, Clone)]
pub struct Location(Vec<String>);

impl From<&str> for Location {
    fn from(location: &str) -> Self {
        Self(vec![location.to_owned()])
    }
}

impl From<String> for Location {
    fn from(location: String) -> Self {
        Self(vec![location])
    }
}

impl From<Vec<String>> for Location {
    fn from(locations: Vec<String>) -> Self {
        Self(locations)
    }
}

impl From<&[&str]> for Location {
    fn from(locations: &[&str]) -> Self {
        Self(locations.iter().map(|&l| l.to_owned()).collect())
    }
}

/// Binary logs for a DataFusion session.
#[async_trait]
pub trait SessionContextBinlogExt {
    /// Registers a source as the catalog `name`. Its relations are `name.binlog.binlog`,
    /// `name.binlog.changes`, `name.binlog.tables`, `name.binlog.columns`, `name.binlog.files`,
    /// `name.binlog.problems`, and `name.shop.orders` for the rows of the table `shop.orders`.
    ///
    /// # Errors
    /// A location that holds no binary log.
    async fn register_binlog(
        &self,
        name: &str,
        location: impl Into<Location> + Send,
        options: BinlogOptions,
    ) -> Result<()>;

    /// The events of a source, without registering it.
    ///
    /// # Errors
    /// A location that holds no binary log.
    async fn read_binlog(
        &self,
        location: impl Into<Location> + Send,
        options: BinlogOptions,
    ) -> Result<DataFrame>;

    /// Makes `STORED AS BINLOG`, `read_binlog('…')` and `select * from 'mysql-bin.000001'` work.
    /// Files that are no logs are read by their extension, as
    /// [`SessionContext::enable_url_table`] does.
    fn enable_binlog(&self, options: BinlogOptions);
}

#[async_trait]
impl SessionContextBinlogExt for SessionContext {
    async fn register_binlog(
        &self,
        name: &str,
        location: impl Into<Location> + Send,
        options: BinlogOptions,
    ) -> Result<()> {
        let table = BinlogTable::new(Relation::default(), location.into().0, options);
        table.check(&self.state()).await?;
        self.register_catalog(
            name,
            Arc::new(BinlogCatalog::new(table, self.runtime_env())),
        );
        Ok(())
    }

    async fn read_binlog(
        &self,
        location: impl Into<Location> + Send,
        options: BinlogOptions,
    ) -> Result<DataFrame> {
        let table = BinlogTable::new(Relation::default(), location.into().0, options);
        table.check(&self.state()).await?;
        self.read_table(Arc::new(table))
    }

    fn enable_binlog(&self, options: BinlogOptions) {
        sql::register_all(self, &options);
        let state = self.state_ref();
        let factory = Arc::new(BinlogTableFactory::new(options.clone()));
        state
            .write()
            .table_factories_mut()
            .insert("BINLOG".to_owned(), factory);
        let files = Arc::new(DynamicListTableFactory::new(SessionStore::new()));
        files.session_store().with_state(self.state_weak_ref());
        let logs = Arc::new(BinlogUrlTables::new(options, files));
        let catalogs = Arc::clone(self.state().catalog_list());
        self.register_catalog_list(Arc::new(DynamicFileCatalog::new(catalogs, logs)));
    }
}
