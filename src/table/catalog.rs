//! A source as a catalog: its schema `binlog` holds the relations that every source has; each schema
//! of the server whose tables have rows in the logs holds a relation for each of them.

use super::provider::BinlogTable;
use super::relation::Relation;
use crate::error::Error;
use crate::schema::Dictionary;
use async_trait::async_trait;
use datafusion::catalog::{CatalogProvider, MemorySchemaProvider, SchemaProvider, TableProvider};
use datafusion::common::Result;
use datafusion::execution::runtime_env::RuntimeEnv;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Name of the schema that holds the relations of a source.
pub const BINLOG_SCHEMA: &str = "binlog";

/// A source as a catalog.
///
/// Tables are looked for when one is asked for by its name, or all are to be listed: that is one
/// pass over the logs, whose result is kept as long as they do not change.
pub struct BinlogCatalog {
    tables: SourceTables,
    schemas: Mutex<HashMap<String, Arc<SourceSchema>>>,
}

impl fmt::Debug for BinlogCatalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BinlogCatalog")
            .field("table", &self.tables.table)
            .finish_non_exhaustive()
    }
}

impl BinlogCatalog {
    /// The catalog of the source that `table` is a relation of. `runtime` has the object stores.
    pub fn new(table: BinlogTable, runtime: Arc<RuntimeEnv>) -> Self {
        Self {
            tables: SourceTables { table, runtime },
            schemas: Mutex::default(),
        }
    }

    fn source_schema(&self, name: &str) -> Arc<SourceSchema> {
        let mut schemas = self.schemas.lock().unwrap_or_else(PoisonError::into_inner);
        let schema = schemas.entry(name.to_owned()).or_insert_with(|| {
            Arc::new(SourceSchema {
                name: name.to_owned(),
                tables: self.tables.clone(),
                added: MemorySchemaProvider::new(),
            })
        });
        Arc::clone(schema)
    }
}

impl CatalogProvider for BinlogCatalog {
    /// Waits until all tables of the logs are found.
    fn schema_names(&self) -> Vec<String> {
        let mut names = vec![BINLOG_SCHEMA.to_owned()];
        if let Ok(dictionary) = self.tables.dictionary() {
            let schemas: BTreeSet<&String> = dictionary
                .tables()
                .keys()
                .map(|(schema, _)| schema)
                .collect();
            names.extend(
                schemas
                    .into_iter()
                    .filter(|name| *name != BINLOG_SCHEMA)
                    .cloned(),
            );
        }
        names
    }

    /// Whether there is such a schema shows when a table of it is asked for.
    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        Some(self.source_schema(name))
    }
}

/// The tables of a source.
#[derive(Clone)]
struct SourceTables {
    table: BinlogTable,
    runtime: Arc<RuntimeEnv>,
}

impl SourceTables {
    /// All tables. The thread waits for it: those who list tables cannot wait in any other way.
    fn dictionary(&self) -> Result<Arc<Dictionary>> {
        self.table.dictionary_blocking(&self.runtime)
    }
}

/// A schema of a source.
struct SourceSchema {
    name: String,
    tables: SourceTables,
    added: MemorySchemaProvider,
}

impl fmt::Debug for SourceSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceSchema")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl SourceSchema {
    /// The relation that every source has under this name.
    fn relation(&self, name: &str) -> Option<Relation> {
        let relation = name.parse().ok();
        relation.filter(|_| self.name == BINLOG_SCHEMA)
    }
}

#[async_trait]
impl SchemaProvider for SourceSchema {
    /// Waits until all tables of the logs are found.
    fn table_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.added.table_names();
        if self.name == BINLOG_SCHEMA {
            names.extend(Relation::ALL.iter().map(|r| r.name().to_owned()));
        }
        if let Ok(dictionary) = self.tables.dictionary() {
            let of_schema = dictionary
                .tables()
                .keys()
                .filter(|(schema, _)| *schema == self.name);
            let found = of_schema.map(|(_, table)| table.clone());
            names.extend(found.filter(|name| self.relation(name).is_none()));
        }
        names.sort();
        names.dedup();
        names
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        if let Some(relation) = self.relation(name) {
            let table = self.tables.table.clone().with_relation(relation);
            return Ok(Some(Arc::new(table)));
        }
        if let Some(added) = self.added.table(name).await? {
            return Ok(Some(added));
        }
        let SourceTables { table, runtime } = &self.tables;
        let table = table.table(runtime, &self.name, name).await?;
        Ok(table.map(|table| Arc::new(table) as _))
    }

    /// Waits until all tables of the logs are found, unless the name is known without.
    fn table_exist(&self, name: &str) -> bool {
        self.relation(name).is_some()
            || self.added.table_exist(name)
            || self.tables.dictionary().is_ok_and(|dictionary| {
                let place = (self.name.clone(), name.to_owned());
                dictionary.tables().contains_key(&place)
            })
    }

    fn register_table(
        &self,
        name: String,
        table: Arc<dyn TableProvider>,
    ) -> Result<Option<Arc<dyn TableProvider>>> {
        if self.relation(&name).is_some() {
            return Err(Error::invalid(format!("'{name}' is a relation of the source")).into());
        }
        self.added.register_table(name, table)
    }

    fn deregister_table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        if self.relation(name).is_some() {
            return Err(Error::invalid(format!("'{name}' is a relation of the source")).into());
        }
        self.added.deregister_table(name)
    }
}

#[cfg(test)]
mod tests {
    use crate::{BinlogOptions, SessionContextBinlogExt};
    use datafusion::prelude::SessionContext;

    #[tokio::test]
    async fn tables_of_the_logs_exist() {
        let ctx = SessionContext::new();
        let log = "tests/fixtures/mysql-9.7-shop.000001";
        let registered = ctx.register_binlog("prod", log, BinlogOptions::default());
        registered.await.unwrap();
        let catalog = ctx.catalog("prod").unwrap();
        for (schema, table, exists) in [
            ("binlog", "changes", true),
            ("binlog", "orders", false),
            ("shop", "orders", true),
            ("shop", "order", false),
            ("shop", "changes", false),
            ("no", "orders", false),
        ] {
            let schema = catalog.schema(schema).unwrap();
            assert_eq!(schema.table_exist(table), exists, "{schema:?} {table}");
            let found = schema.table(table).await.unwrap();
            assert_eq!(found.is_some(), exists, "{schema:?} {table}");
        }
    }
}
