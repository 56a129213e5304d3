//! A source as a catalog: its schema `binlog` holds the relations that every source has.

use super::provider::BinlogTable;
use super::relation::Relation;
use crate::error::Error;
use async_trait::async_trait;
use datafusion::catalog::{CatalogProvider, MemorySchemaProvider, SchemaProvider, TableProvider};
use datafusion::common::Result;
use std::sync::Arc;

/// Name of the schema that holds the relations of a source.
pub const BINLOG_SCHEMA: &str = "binlog";

/// A source as a catalog.
#[derive(Debug)]
pub struct BinlogCatalog {
    relations: Arc<Relations>,
}

impl BinlogCatalog {
    /// The catalog of the source that `table` is a relation of.
    pub fn new(table: BinlogTable) -> Self {
        Self {
            relations: Arc::new(Relations {
                table,
                added: MemorySchemaProvider::new(),
            }),
        }
    }
}

impl CatalogProvider for BinlogCatalog {
    fn schema_names(&self) -> Vec<String> {
        vec![BINLOG_SCHEMA.to_owned()]
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        (name == BINLOG_SCHEMA).then(|| Arc::clone(&self.relations) as _)
    }
}

/// The schema `binlog` of a source: its relations, and whatever tables and views the session adds.
#[derive(Debug)]
struct Relations {
    table: BinlogTable,
    added: MemorySchemaProvider,
}

#[async_trait]
impl SchemaProvider for Relations {
    fn table_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Relation::ALL.iter().map(|r| r.name().to_owned()).collect();
        names.extend(self.added.table_names());
        names
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        match name.parse::<Relation>() {
            Ok(relation) => Ok(Some(Arc::new(self.table.clone().with_relation(relation)))),
            Err(_) => self.added.table(name).await,
        }
    }

    fn table_exist(&self, name: &str) -> bool {
        name.parse::<Relation>().is_ok() || self.added.table_exist(name)
    }

    fn register_table(
        &self,
        name: String,
        table: Arc<dyn TableProvider>,
    ) -> Result<Option<Arc<dyn TableProvider>>> {
        if name.parse::<Relation>().is_ok() {
            return Err(Error::invalid(format!("'{name}' is a relation of the source")).into());
        }
        self.added.register_table(name, table)
    }

    fn deregister_table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        if name.parse::<Relation>().is_ok() {
            return Err(Error::invalid(format!("'{name}' is a relation of the source")).into());
        }
        self.added.deregister_table(name)
    }
}
