//! The relations that every source has.

use crate::batch::columns::event_schema;
use crate::batch::files::file_schema;
use crate::batch::problems::problem_schema;
use crate::error::{Error, Result};
use arrow::datatypes::SchemaRef;
use std::str::FromStr;

/// A relation of the schema `binlog`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Relation {
    /// One row per event.
    #[default]
    Binlog,
    /// One row per log.
    Files,
    /// One row per gap or defect: a scan that verifies and decodes everything.
    Problems,
}

impl Relation {
    /// Every relation.
    pub const ALL: &'static [Self] = &[Self::Binlog, Self::Files, Self::Problems];

    /// Its name in SQL.
    pub fn name(self) -> &'static str {
        match self {
            Self::Binlog => "binlog",
            Self::Files => "files",
            Self::Problems => "problems",
        }
    }

    /// Its columns.
    pub fn schema(self) -> SchemaRef {
        match self {
            Self::Binlog => event_schema(),
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
                "no relation '{name}'; there are {}",
                names.join(", ")
            ))
        })
    }
}
