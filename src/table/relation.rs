//! The relations that every source has.

use crate::batch::columns::event_schema;
use crate::batch::files::file_schema;
use crate::batch::problems::problem_schema;
use crate::batch::rows::RowLayout;
use crate::batch::tables::{column_schema, table_schema};
use crate::error::{Error, Result};
use arrow::datatypes::SchemaRef;
use std::str::FromStr;
use std::sync::Arc;

/// A relation of the schema `binlog`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Relation {
    /// One row per event.
    #[default]
    Binlog,
    /// One row per row change, of any table.
    Changes,
    /// One row per table, and version of it.
    Tables,
    /// One row per column of these.
    Columns,
    /// One row per log.
    Files,
    /// One row per gap or defect: a scan that verifies and decodes everything.
    Problems,
}

impl Relation {
    /// Every relation.
    pub const ALL: &'static [Self] = &[
        Self::Binlog,
        Self::Changes,
        Self::Tables,
        Self::Columns,
        Self::Files,
        Self::Problems,
    ];

    /// Its name in SQL.
    pub fn name(self) -> &'static str {
        match self {
            Self::Binlog => "binlog",
            Self::Changes => "changes",
            Self::Tables => "tables",
            Self::Columns => "columns",
            Self::Files => "files",
            Self::Problems => "problems",
        }
    }

    /// Its columns.
    pub fn schema(self) -> SchemaRef {
        match self {
            Self::Binlog => event_schema(),
            Self::Changes => Arc::clone(RowLayout::changes().schema()),
            Self::Tables => table_schema(),
            Self::Columns => column_schema(),
            Self::Files => file_schema(),
            Self::Problems => problem_schema(),
        }
    }
}

impl FromStr for Relation {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let known = |relation: &&Self| relation.name().eq_ignore_ascii_case(name);
        Self::ALL.iter().find(known).copied().ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|r| r.name()).collect();
            Error::invalid(format!(
                "no relation '{name}'; there are {}, and the tables of the log as 'schema.table'",
                names.join(", ")
            ))
        })
    }
}
