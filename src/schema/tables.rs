//! Which tables there are after each statement.

use super::apply::Misfit;
use super::charset::Charset;
use super::decl::{AlterSpec, TableDecl, TableName};
use super::names::Names;
use super::statement::Statement;
use super::{DdlError, Session};
use crate::binlog::row::{NameSource, TableHint};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

/// Most columns of all definitions together; a log that has more is made to take memory.
const MAX_KEPT: usize = 4 << 20;

/// What is known of a table from one statement to the next.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) decl: TableDecl,
    pub(super) source: NameSource,
    /// Number of the table in the schema file from which all this began.
    pub(super) origin: Option<usize>,
    hint: OnceLock<Arc<TableHint>>,
}

impl Definition {
    pub(super) fn new(decl: TableDecl, source: NameSource, origin: Option<usize>) -> Self {
        Self {
            decl,
            source,
            origin,
            hint: OnceLock::new(),
        }
    }

    /// The table as the rest of the crate wants it, made once.
    pub(super) fn hint(&self) -> Arc<TableHint> {
        let hint = self
            .hint
            .get_or_init(|| Arc::new(self.decl.hint(self.source)));
        Arc::clone(hint)
    }
}

/// What is known of a table that exists; `None`: nothing.
type State = Option<Arc<Definition>>;

#[derive(Debug, Clone, Default)]
struct Schema {
    charset: Charset,
    tables: Names<State>,
}

/// All tables. What a statement did to them is noted for the history.
#[derive(Debug, Default)]
pub(super) struct Tables {
    schemas: Names<Schema>,
    /// Names that temporary tables have had; those hide the others.
    temporary: HashSet<TableName>,
    /// Definitions of the schema file, which are true at one unknown place of the log.
    base: Vec<Arc<Definition>>,
    base_names: HashMap<TableName, usize>,
    /// Names under which there may be a definition that came from one of those, where it is more
    /// than one name.
    copies: HashMap<usize, Vec<TableName>>,
    kept: usize,
    /// All was forgotten, so that tables may exist that are not here.
    forgotten: bool,
    /// What the last statement changed.
    pub(super) changes: Changes,
    source: NameSource,
}

/// What a statement changed.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Tables with a new definition, or without one from now on.
    pub(super) tables: Vec<(TableName, State)>,
    /// Tables of the schema file that are from after the statement.
    pub(super) outdated: Vec<usize>,
    /// Nothing is known of any table any more.
    pub(super) all: bool,
}

impl Tables {
    /// No tables yet; what statements declare comes from `source`.
    pub(super) fn new(source: NameSource) -> Self {
        Self {
            source,
            ..Self::default()
        }
    }

    /// The tables of a schema file.
    pub(super) fn set_base(&mut self, base: Vec<(TableName, Arc<Definition>)>) {
        for (origin, (name, definition)) in base.into_iter().enumerate() {
            self.base.push(Arc::clone(&definition));
            self.base_names.insert(name.clone(), origin);
            self.set(name, Some(definition));
        }
    }

    /// The tables there are.
    pub(super) fn into_known(self) -> impl Iterator<Item = (TableName, Arc<Definition>)> {
        self.schemas.into_iter().flat_map(|(schema, tables)| {
            tables.tables.into_iter().filter_map(move |(table, state)| {
                let schema = schema.clone();
                Some((TableName { schema, table }, state?))
            })
        })
    }

    fn resolve(&self, name: &TableName) -> Option<TableName> {
        let schema = self.schemas.resolve(&name.schema)?;
        let table = self.schemas.find(schema)?.tables.resolve(&name.table)?;
        Some(TableName {
            schema: schema.to_owned(),
            table: table.to_owned(),
        })
    }

    /// What is known of the table; outer `None`: not even that it exists.
    fn state(&self, name: &TableName) -> Option<&State> {
        self.schemas.find(&name.schema)?.tables.find(&name.table)
    }

    fn set(&mut self, name: TableName, state: State) {
        let schema = self.schemas.entry(&name.schema);
        schema.tables.insert(&name.table, state.clone());
        self.changes.tables.push((name, state));
    }

    fn take(&mut self, name: &TableName) -> Option<State> {
        let tables = &mut self.schemas.get_mut(&name.schema)?.tables;
        let state = tables.remove(&name.table)?;
        self.changes.tables.push((name.clone(), None));
        Some(state)
    }

    fn schema_charset(&self, schema: &str) -> Charset {
        let charset = self.schemas.find(schema).map(|schema| schema.charset);
        charset.unwrap_or_default().or(Charset::Unknown)
    }

    /// Forgets a table, which still exists. Whether there was something to forget.
    pub(super) fn forget(&mut self, name: &TableName) -> bool {
        let known = self.resolve(name);
        let was_known = self.state(name).is_some_and(Option::is_some);
        self.set(known.unwrap_or_else(|| name.clone()), None);
        was_known
    }

    /// Forgets what an unreadable statement may have changed.
    pub(super) fn lose(&mut self, error: &DdlError) -> String {
        match &error.table {
            Some(table) => {
                self.forget(table);
                lost(table, &error.message)
            }
            None => {
                self.schemas = Names::default();
                self.forgotten = true;
                self.changes.all = true;
                format!(
                    "{error}; the columns of all tables are not known from here on, but from their table maps"
                )
            }
        }
    }

    /// Does what a statement did. Returns why a table is not known any more.
    pub(super) fn apply(&mut self, statement: Statement, session: &Session<'_>) -> Option<String> {
        match statement {
            Statement::CreateTable {
                name,
                temporary: true,
                ..
            }
            | Statement::CreateTableLike {
                name,
                temporary: true,
                ..
            } => {
                self.temporary.insert(name);
                None
            }
            Statement::CreateTable {
                name,
                mut table,
                or_replace,
                if_not_exists,
                ..
            } => {
                table.inherit(self.schema_charset(&name.schema));
                let definition = Definition::new(table, self.source, None);
                self.create(name, Some(Arc::new(definition)), or_replace, if_not_exists)
            }
            Statement::CreateTableLike {
                name,
                like,
                or_replace,
                if_not_exists,
                ..
            } => {
                let Some(Some(definition)) = self.state(&like).cloned() else {
                    self.create(name.clone(), None, or_replace, if_not_exists);
                    return Some(lost(
                        &name,
                        &format!("it is like {like}, which is not known"),
                    ));
                };
                self.note_copy(&definition, [&like, &name]);
                self.create(name, Some(definition), or_replace, if_not_exists)
            }
            Statement::AlterTable { name, specs } => self.alter(&name, &specs),
            Statement::DropTables {
                names,
                temporary: true,
            } => {
                for name in names {
                    self.temporary.remove(&name);
                }
                None
            }
            Statement::DropTables { names, .. } => {
                for name in names {
                    if self.temporary.remove(&name) {
                        // Which of the two it was is not certain.
                        self.forget(&name);
                    } else if let Some(name) = self.resolve(&name) {
                        self.take(&name);
                    }
                }
                None
            }
            Statement::RenameTables(pairs) => self.rename(&pairs),
            Statement::CreateDatabase {
                schema,
                charset,
                if_not_exists,
                or_replace,
            } => {
                if or_replace {
                    self.drop_schema(&schema);
                }
                if if_not_exists && self.schemas.find(&schema).is_some() {
                    return None;
                }
                let server = session
                    .server_collation
                    .map_or(Charset::Unknown, Charset::Id);
                let charset = match if_not_exists {
                    // It may have existed, with another character set.
                    true => Charset::Unknown,
                    false => charset.or(server),
                };
                self.schemas.entry(&schema).charset = charset;
                None
            }
            Statement::AlterDatabase { schema, charset } => {
                if charset != Charset::Inherited {
                    let known = self.schemas.resolve(&schema).unwrap_or(&schema).to_owned();
                    self.schemas.entry(&known).charset = charset;
                }
                None
            }
            Statement::DropDatabase { schema } => {
                self.drop_schema(&schema);
                None
            }
            Statement::Use { .. } | Statement::Other => None,
        }
    }

    fn create(
        &mut self,
        name: TableName,
        mut state: State,
        or_replace: bool,
        if_not_exists: bool,
    ) -> Option<String> {
        if let Some(before) = self.state(&name) {
            if if_not_exists {
                return None;
            }
            if let (false, Some(origin)) = (or_replace, before.as_ref().and_then(|d| d.origin)) {
                self.outdate(origin, &name);
            }
        } else if if_not_exists && self.forgotten {
            state = None;
        }
        let message = self.keep(&name, &mut state);
        self.set(name, state);
        message
    }

    /// Counts a definition, of which there may not be too many.
    fn keep(&mut self, name: &TableName, state: &mut State) -> Option<String> {
        let columns = state.as_ref()?.decl.columns.len();
        self.kept = self.kept.saturating_add(columns).saturating_add(1);
        if self.kept <= MAX_KEPT {
            return None;
        }
        *state = None;
        Some(lost(
            name,
            &format!("the log has more definitions than are kept ({MAX_KEPT} columns)"),
        ))
    }

    fn note_copy(&mut self, definition: &Definition, names: [&TableName; 2]) {
        if let Some(origin) = definition.origin {
            let copies = self.copies.entry(origin).or_default();
            copies.extend(names.map(TableName::clone));
        }
    }

    /// The schema file's definition is from after this statement: it says nothing of what was
    /// before, and nothing of other tables that seemed to be made from it.
    fn outdate(&mut self, origin: usize, name: &TableName) {
        self.changes.outdated.push(origin);
        for copy in self.copies.remove(&origin).unwrap_or_default() {
            let same = |definition: &Arc<Definition>| definition.origin == Some(origin);
            if copy != *name
                && self
                    .state(&copy)
                    .is_some_and(|s| s.as_ref().is_some_and(same))
            {
                self.forget(&copy);
            }
        }
    }

    fn alter(&mut self, name: &TableName, specs: &[AlterSpec]) -> Option<String> {
        if self.temporary.contains(name) {
            let message = "whether this is of a temporary table of the same name is not certain";
            return self.forget(name).then(|| lost(name, message));
        }
        let known = self.resolve(name);
        let actual = known.clone().unwrap_or_else(|| name.clone());
        let mut message = None;
        let mut state = self.state(&actual).cloned().flatten();
        if let Some(definition) = state.clone() {
            let charset = self.schema_charset(&actual.schema);
            match (definition.decl.altered(specs, charset), definition.origin) {
                // Most parts change no column.
                (Ok(decl), _) if decl == definition.decl => {}
                (Ok(decl), origin) => {
                    let new = Definition::new(decl, definition.source, origin);
                    state = Some(Arc::new(new));
                    message = self.keep(&actual, &mut state);
                    self.set(actual.clone(), state.clone());
                }
                (Err(Misfit::Done), Some(origin)) => {
                    self.outdate(origin, &actual);
                    state = self.base.get(origin).map(Arc::clone);
                    self.set(actual.clone(), state.clone());
                }
                (Err(misfit), _) => {
                    let why = match misfit {
                        Misfit::Done => "what ALTER TABLE does is done already".to_owned(),
                        Misfit::Conflict(why) => format!("ALTER TABLE does not fit: {why}"),
                    };
                    message = Some(lost(&actual, &why));
                    state = None;
                    self.set(actual.clone(), None);
                }
            }
        }
        let mut now = actual;
        for spec in specs {
            match spec {
                AlterSpec::RenameTo(to) if *to != now => {
                    let renamed = self.rename(&[(now, to.clone())]);
                    message = message.or(renamed);
                    now = to.clone();
                }
                AlterSpec::PartitionToTable(to) => {
                    self.set(to.clone(), state.clone());
                }
                AlterSpec::TableToPartition(from) => {
                    if let Some(from) = self.resolve(from) {
                        self.take(&from);
                    }
                }
                _ => {}
            }
        }
        message
    }

    fn rename(&mut self, pairs: &[(TableName, TableName)]) -> Option<String> {
        let mut message = None;
        // The schema file has new names already, so it is from after the statement.
        let mut done = false;
        for (from, to) in pairs {
            let from_known = self
                .resolve(from)
                .filter(|_| !self.temporary.contains(from));
            // Only a change of case can name the table itself.
            let target = self
                .resolve(to)
                .filter(|to| Some(to) != from_known.as_ref());
            let target_state = target.as_ref().and_then(|to| self.state(to)?.clone());
            // No table can get the name of another one.
            done |= target_state.is_some_and(|definition| definition.origin.is_some());
            let source = from_known.and_then(|from| self.take(&from)).flatten();
            let of_log = source
                .as_ref()
                .is_some_and(|source| source.origin.is_none());
            if done && let Some(&origin) = self.base_names.get(to) {
                self.outdate(origin, to);
                if !of_log {
                    let state = self.base.get(origin).map(Arc::clone);
                    self.set(to.clone(), state);
                    continue;
                }
            }
            match source {
                Some(definition) if of_log || target.is_none() => {
                    if let Some(origin) = definition.origin
                        && let Some(copies) = self.copies.get_mut(&origin)
                    {
                        copies.push(to.clone());
                    }
                    self.set(to.clone(), Some(definition));
                }
                // It exists, and that is all.
                _ => {
                    if self.forget(to) {
                        let why = format!("{from}, which now has this name, is not known");
                        message = Some(lost(to, &why));
                    }
                }
            }
        }
        message
    }

    fn drop_schema(&mut self, schema: &str) {
        let Some(known) = self.schemas.resolve(schema).map(str::to_owned) else {
            return;
        };
        if let Some(schema) = self.schemas.remove(&known) {
            for (table, _) in schema.tables.into_iter() {
                let schema = known.clone();
                self.changes
                    .tables
                    .push((TableName { schema, table }, None));
            }
        }
    }
}

/// Why a table is not known any more.
fn lost(table: &TableName, why: &str) -> String {
    format!("{table}: {why}; its columns are not known from here on, but from its table maps")
}
