//! A file of CREATE TABLE statements: what `mysqldump --no-data` and `mariadb-dump --no-data` write,
//! or any script of DDL.
//!
//! The statements are done one after the other, so that a script of changes works like a dump. What
//! is no DDL (INSERT, SET, routines behind DELIMITER) is hopped over.

use super::Session;
use super::decl::TableName;
use super::lex::Kind;
use super::parser::Parser;
use super::statement::{Statement, parse_at, skip_statement};
use super::tables::{Definition, Tables};
use crate::binlog::event::Flavor;
use crate::binlog::row::NameSource;
use crate::error::{Error, Result};
use std::sync::Arc;

/// The tables of a schema file.
#[derive(Debug, Clone, Default)]
pub struct SchemaFile {
    tables: Vec<(TableName, Arc<Definition>)>,
    problems: Vec<String>,
}

impl SchemaFile {
    /// Reads the text of a file. `default_schema` is that of tables before any USE, of which a dump
    /// of one schema has none; without it, the schema that the head comment of a dump names.
    ///
    /// A statement that is not understood costs its table, see [`SchemaFile::problems`].
    ///
    /// # Errors
    /// No table is understood; or tables without a schema, and nothing tells which it is.
    pub fn parse(text: &str, default_schema: Option<&str>) -> Result<Self> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let head = default_schema
            .or_else(|| schema_in_head(text))
            .unwrap_or_default();
        let mut tables = Tables::new(NameSource::SchemaFile);
        let mut problems = Vec::new();
        let session = Session {
            schema: head,
            flavor: Flavor::MariaDb, // whose `/*M! … */` MySQL does not write
            ..Session::default()
        };
        let mut parser = Parser::new(text, session);
        while parser.peek().kind != Kind::End {
            if parser.peek().is("DELIMITER") {
                skip_delimited(&mut parser);
                continue;
            }
            let read = parse_at(&mut parser);
            let message = match read {
                Ok(Statement::Use { schema: used }) => {
                    parser.schema = used;
                    None
                }
                Ok(read) => tables.apply(read, &session),
                Err(error) => Some(tables.lose(&error)),
            };
            problems.extend(message);
            if !skip_statement(&mut parser) {
                break;
            }
        }
        let mut known: Vec<_> = tables.into_known().collect();
        known.sort_by(|(a, _), (b, _)| a.cmp(b));
        if let Some((name, _)) = known.iter().find(|(name, _)| name.schema.is_empty()) {
            return Err(Error::invalid(format!(
                "the schema file does not tell in which schema table {name} is: put USE `schema`; \
                 before its first CREATE TABLE"
            )));
        }
        if known.is_empty() {
            let why = problems.first().map(|why| format!(": {why}"));
            return Err(Error::invalid(format!(
                "the schema file declares no table{}",
                why.unwrap_or_default()
            )));
        }
        Ok(Self {
            tables: known,
            problems,
        })
    }

    /// Why tables of the file are not known.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// Names of the tables, sorted.
    pub fn table_names(&self) -> impl ExactSizeIterator<Item = &TableName> {
        self.tables.iter().map(|(name, _)| name)
    }

    /// The tables, as they are before any statement of a log.
    pub(super) fn definitions(&self) -> Vec<(TableName, Arc<Definition>)> {
        let tables = self.tables.iter().zip(0..);
        tables
            .map(|((name, definition), origin)| {
                let decl = definition.decl.clone();
                let definition = Definition::new(decl, NameSource::SchemaFile, Some(origin));
                (name.clone(), Arc::new(definition))
            })
            .collect()
    }
}

/// The schema in the head of a dump: `-- Host: localhost    Database: shop`.
fn schema_in_head(text: &str) -> Option<&str> {
    let line = text
        .lines()
        .take(20)
        .find(|line| line.starts_with("-- Host: "))?;
    let (_, schema) = line.split_once("Database: ")?;
    Some(schema.trim()).filter(|schema| !schema.is_empty())
}

/// Hops over statements that end with another delimiter (routines, triggers), to the line that sets
/// the usual one again.
fn skip_delimited(parser: &mut Parser<'_>) {
    let rest = parser.rest();
    let mut at = 0usize;
    for line in rest.split_inclusive('\n') {
        let word = line.split_whitespace().next().unwrap_or_default();
        // The first line is the rest of the one that is in the hand.
        let delimiter = match at {
            0 => Some(line.trim()),
            _ if word.eq_ignore_ascii_case("DELIMITER") => {
                line.trim().get(word.len()..).map(str::trim)
            }
            _ => None,
        };
        at = at.saturating_add(line.len());
        if delimiter == Some(";") {
            break;
        }
    }
    parser.skip_bytes(at);
}
