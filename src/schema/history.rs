//! Which columns a table had at each place of a log.
//!
//! ```text
//! place        ··· CREATE t ······ ALTER t ······· DROP t ···
//! definition      (none) │  version 1  │  version 2  │ (none)
//! ```
//!
//! A schema file is true at one place that nobody knows. Its tables count from the beginning of the
//! log, and statements change them. Where a statement does what the file has already (it adds a
//! column that is there), the file is from after the statement: it then counts from there on, and
//! says nothing of what was before.

use super::decl::TableName;
use super::names::Names;
use super::schema_file::SchemaFile;
use super::statement::{Statement, may_be_ddl, may_begin_ddl, parse};
use super::tables::{Definition, Tables};
use super::{DdlError, Session};
use crate::binlog::charset::Text;
use crate::binlog::event::{Query, StatusVar};
use crate::binlog::row::{NameSource, TableHint};
use crate::binlog::types::ColumnType;
use std::collections::HashMap;
use std::sync::Arc;

/// A place in a sequence of log files; places are in the order of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Place {
    /// Number of the file, from 0.
    pub file: u32,
    /// Offset of the event, or of the payload that it is in.
    pub pos: u64,
    /// Index in the payload.
    pub payload_index: Option<u32>,
}

/// A definition and where it begins to count; `None`: from here on nothing is known.
#[derive(Debug)]
struct Entry {
    at: Place,
    definition: Option<Arc<Definition>>,
}

/// What the statements of a log and a schema file tell of the tables, by place. It is read-only, and
/// can be shared between threads.
#[derive(Debug, Default)]
pub struct History {
    tables: Names<Names<Vec<Entry>>>,
    /// Where nothing was known of any table any more, in order.
    lost: Vec<Place>,
    /// By tables of the schema file: the last statement that they are from after.
    outdated: HashMap<usize, Place>,
}

impl History {
    /// A history that begins with the tables of a schema file.
    pub fn builder(schema_file: Option<&SchemaFile>) -> HistoryBuilder {
        let mut builder = HistoryBuilder {
            tables: Tables::new(NameSource::Ddl),
            history: Self::default(),
        };
        if let Some(file) = schema_file {
            builder.tables.set_base(file.definitions());
            builder.note(Place::default());
        }
        builder
    }

    /// The definition of a table that counts at a place, if a table map with these types can be of
    /// it. It is made once for each version of a table, and then shared.
    ///
    /// `None`: no statement before `at` tells the columns, or what one told does not fit.
    pub fn hint(
        &self,
        schema: &str,
        table: &str,
        at: Place,
        types: &[ColumnType],
    ) -> Option<Arc<TableHint>> {
        let definition = self.definition(schema, table, at)?;
        if !definition.decl.lengths_fit(types) {
            return None;
        }
        let hint = definition.hint();
        let mut pairs = hint.columns.iter().zip(types);
        pairs.all(|(column, ty)| column.fits(*ty)).then_some(hint)
    }

    /// Whether a definition of the table counts at a place, be it one that does not fit: then
    /// something changed the table that is not in the log.
    pub fn is_declared(&self, schema: &str, table: &str, at: Place) -> bool {
        self.definition(schema, table, at).is_some()
    }

    fn definition(&self, schema: &str, table: &str, at: Place) -> Option<&Definition> {
        let entries = self.tables.find(schema)?.find(table)?;
        let before = entries.partition_point(|entry| entry.at < at);
        let entry = entries.get(before.checked_sub(1)?)?;
        let lost = self.lost.partition_point(|&lost| lost < at);
        if let Some(lost) = self.lost.get(lost.wrapping_sub(1))
            && *lost >= entry.at
        {
            return None;
        }
        let definition = entry.definition.as_deref()?;
        let outdated = definition
            .origin
            .and_then(|origin| self.outdated.get(&origin));
        match outdated {
            Some(outdated) if at <= *outdated => None,
            _ => Some(definition),
        }
    }

    /// Whether no statement told anything.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }
}

/// Makes a [`History`] of statements in the order of the log.
#[derive(Debug)]
pub struct HistoryBuilder {
    tables: Tables,
    history: History,
}

impl HistoryBuilder {
    /// Takes a QUERY at its place. Anything but DDL costs one look at its first word.
    ///
    /// Returns why a table, which the text names, has no known columns from here on.
    pub fn query(&mut self, at: Place, query: &Query<'_>) -> Option<String> {
        // The first of the two events of an ALTER TABLE of MariaDB: it has not been done yet.
        const NOT_DONE: u8 = 2 | 8;
        if !query.compressed && !may_begin_ddl(query.raw_query) {
            return None;
        }
        let flags = query
            .status_vars
            .iter()
            .map_while(Result::ok)
            .find_map(|var| match var {
                StatusVar::GtidFlags3 { flags, .. } => Some(flags),
                _ => None,
            });
        if flags.is_some_and(|flags| flags & NOT_DONE != 0) {
            return None;
        }
        let schema = Text::utf8(query.schema).text;
        let session = Session::of(query, &schema);
        let text = match query.text() {
            Ok(text) => text,
            Err(error) => {
                return self.lose(
                    at,
                    DdlError {
                        table: None,
                        message: format!("a statement cannot be read: {error}"),
                    },
                );
            }
        };
        if !may_be_ddl(&text.text) {
            return None;
        }
        let statement = parse(&text.text, &session);
        let bad = text.undecodable_at.map(|offset| {
            format!(
                "the statement's bytes at offset {offset} are no characters of its character set"
            )
        });
        match (statement, bad) {
            (Ok(statement), Some(bad)) => match statement.declares() {
                Some(table) => self.lose(
                    at,
                    DdlError {
                        table: Some(table.clone()),
                        message: bad,
                    },
                ),
                None => self.apply(at, statement, &session),
            },
            (Ok(statement), None) if query.error_code != 0 => match statement.declares() {
                Some(table) => {
                    let message = format!("the statement failed with error {}", query.error_code);
                    self.lose(
                        at,
                        DdlError {
                            table: Some(table.clone()),
                            message,
                        },
                    )
                }
                // DROP TABLE a, b drops those that there are.
                None => self.apply(at, statement, &session),
            },
            (Ok(statement), None) => self.apply(at, statement, &session),
            (Err(error), _) => self.lose(at, error),
        }
    }

    /// Takes a statement at its place, of a session of which no more than the schema is known.
    ///
    /// Returns as [`HistoryBuilder::query`].
    pub fn statement(&mut self, at: Place, default_schema: &str, sql: &str) -> Option<String> {
        let session = Session {
            schema: default_schema,
            ..Session::default()
        };
        self.statement_in(at, &session, sql)
    }

    /// Takes a statement at its place.
    ///
    /// Returns as [`HistoryBuilder::query`].
    pub fn statement_in(&mut self, at: Place, session: &Session<'_>, sql: &str) -> Option<String> {
        match parse(sql, session) {
            Ok(statement) => self.apply(at, statement, session),
            Err(error) => self.lose(at, error),
        }
    }

    /// The history of all that was taken.
    pub fn finish(self) -> History {
        self.history
    }

    fn apply(&mut self, at: Place, statement: Statement, session: &Session<'_>) -> Option<String> {
        let message = self.tables.apply(statement, session);
        self.note(at);
        message
    }

    fn lose(&mut self, at: Place, error: DdlError) -> Option<String> {
        let message = self.tables.lose(&error);
        self.note(at);
        Some(message)
    }

    /// Writes down what a statement changed.
    fn note(&mut self, at: Place) {
        let changes = std::mem::take(&mut self.tables.changes);
        for (TableName { schema, table }, definition) in changes.tables {
            let entries = self.history.tables.entry(&schema).entry(&table);
            match entries.last_mut() {
                Some(last) if last.at == at => last.definition = definition,
                None if definition.is_none() => {}
                _ => entries.push(Entry { at, definition }),
            }
        }
        for origin in changes.outdated {
            self.history.outdated.insert(origin, at);
        }
        if changes.all {
            self.history.lost.push(at);
        }
    }
}

#[cfg(test)]
mod tests;
