//! The tables of a source: what each looked like, where, and how its rows are decoded there.

use super::history::{History, Place};
use super::schema_file::SchemaFile;
use super::seen::{EventPlace, FileTables};
use crate::binlog::event::TableMapOwned;
use crate::binlog::frame::Framer;
use crate::binlog::row::{ColumnPlan, RowPlan, TableHint};
use crate::error::Result;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// A version of a table: a stretch of the logs in which it looked the same.
#[derive(Debug, Clone)]
pub struct TableVersion {
    /// Its columns.
    pub plan: Arc<RowPlan>,
    /// Ids under which rows events named it.
    pub ids: BTreeSet<u64>,
    /// Where its first table map stands: number of the file, and place in it.
    pub first: (u32, EventPlace),
    /// Where its last table map stands.
    pub last: (u32, EventPlace),
}

/// A statement after which the names of some table's columns are not known.
#[derive(Debug, Clone)]
pub struct LostNames {
    /// Number of the file.
    pub file: u32,
    /// Place of the statement.
    pub place: EventPlace,
    /// What became of which table, and why.
    pub message: String,
}

/// The tables of a source.
#[derive(Debug)]
pub struct Dictionary {
    files: Vec<Arc<str>>,
    logs: Vec<Arc<FileTables>>,
    number_of: HashMap<Arc<str>, u32>,
    history: History,
    /// Places of all statements that may change tables, in order.
    changes: Vec<(u32, EventPlace)>,
    tables: BTreeMap<(String, String), Vec<TableVersion>>,
    lost: Vec<LostNames>,
    plans: PlanCache,
}

/// What a table map says but for its id, and the address of the hint.
type PlanKey = (Box<[u8]>, usize);

/// A plan, and the hint: while it is kept, its address means no other.
type KnownPlan = (Arc<RowPlan>, Option<Arc<TableHint>>);

#[derive(Debug, Default)]
struct PlanCache(Mutex<HashMap<PlanKey, KnownPlan>>);

/// Plans that are kept. Beyond it they are made again.
const MAX_PLANS: usize = 64 << 10;

impl PlanCache {
    fn get(&self, map: &TableMapOwned, hint: Option<Arc<TableHint>>) -> Result<Arc<RowPlan>> {
        let address = hint.as_ref().map_or(0, |hint| Arc::as_ptr(hint) as usize);
        let key = (map.content().into(), address);
        let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((plan, _)) = plans.get(&key) {
            return Ok(Arc::clone(plan));
        }
        let plan = Arc::new(match &hint {
            Some(hint) => RowPlan::with_hint(map, hint)?,
            None => RowPlan::new(map)?,
        });
        if plans.len() >= MAX_PLANS {
            plans.clear();
        }
        plans.insert(key, (Arc::clone(&plan), hint));
        Ok(plan)
    }
}

impl Dictionary {
    /// Puts together what the logs of a source tell, in their order, each under its name; and what
    /// a schema file tells of the tables at the beginning.
    pub fn new(
        logs: impl IntoIterator<Item = (Arc<str>, Arc<FileTables>)>,
        schema_file: Option<&SchemaFile>,
    ) -> Self {
        let logs: Vec<(Arc<str>, Arc<FileTables>)> = logs.into_iter().collect();
        let mut builder = History::builder(schema_file);
        let (mut changes, mut lost) = (Vec::new(), Vec::new());
        for (file, (_, tables)) in (0u32..).zip(&logs) {
            for statement in &tables.statements {
                let at = place(file, statement.place);
                changes.push((file, statement.place));
                let lost_names = statement.query(|query| builder.query(at, query)).flatten();
                if let Some(message) = lost_names {
                    lost.push(LostNames {
                        file,
                        place: statement.place,
                        message,
                    });
                }
            }
        }
        let mut this = Self {
            number_of: (0u32..)
                .zip(&logs)
                .map(|(number, (name, _))| (Arc::clone(name), number))
                .collect(),
            files: logs.iter().map(|(name, _)| Arc::clone(name)).collect(),
            logs: logs.iter().map(|(_, tables)| Arc::clone(tables)).collect(),
            history: builder.finish(),
            changes,
            tables: BTreeMap::new(),
            lost,
            plans: PlanCache::default(),
        };
        for (file, (_, tables)) in (0u32..).zip(&logs) {
            for seen in &tables.seen {
                // What does not fit together is reported where its rows are.
                if let Ok((plan, _)) = this.plan(&seen.map, file, seen.first) {
                    let name = (seen.map.schema().to_owned(), seen.map.table().to_owned());
                    let version = TableVersion {
                        plan,
                        ids: seen.ids.clone(),
                        first: (file, seen.first),
                        last: (file, seen.last),
                    };
                    add_version(this.tables.entry(name).or_default(), version);
                }
            }
        }
        this
    }

    /// Names of the logs, by number.
    pub fn files(&self) -> &[Arc<str>] {
        &self.files
    }

    /// Where a log can be cut between two transactions: framers that stand there, in order.
    pub fn cuts(&self, name: &str) -> &[Framer] {
        let number = self.number_of.get(name);
        let log = number.and_then(|&number| self.logs.get(number as usize));
        log.map_or(&[], |log| &log.cuts)
    }

    /// Number of a log; of one that was not there, one behind the last.
    pub fn file_number(&self, name: &str) -> u32 {
        let behind = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        self.number_of.get(name).copied().unwrap_or(behind)
    }

    /// The tables by schema and name, each with its versions in order.
    pub fn tables(&self) -> &BTreeMap<(String, String), Vec<TableVersion>> {
        &self.tables
    }

    /// A table by its name; if there is none, the only one whose name differs in upper and lower
    /// case alone.
    pub fn table(&self, schema: &str, table: &str) -> Option<(&(String, String), &[TableVersion])> {
        let exact = (schema.to_owned(), table.to_owned());
        if let Some((name, versions)) = self.tables.get_key_value(&exact) {
            return Some((name, versions));
        }
        let alike = |(s, t): &(String, String)| {
            s.to_lowercase() == schema.to_lowercase() && t.to_lowercase() == table.to_lowercase()
        };
        let mut found = self.tables.iter().filter(|(name, _)| alike(name));
        match (found.next(), found.next()) {
            (Some((name, versions)), None) => Some((name, versions)),
            _ => None,
        }
    }

    /// Statements after which names are not known.
    pub fn lost(&self) -> &[LostNames] {
        &self.lost
    }

    /// How rows under `map` are decoded at a place of a log, and the place in the same log of the
    /// next statement that may change it.
    ///
    /// # Errors
    /// A table map that does not fit together.
    pub fn plan(
        &self,
        map: &TableMapOwned,
        file: u32,
        at: EventPlace,
    ) -> Result<(Arc<RowPlan>, Option<EventPlace>)> {
        let hint = match map.map().and_then(|map| map.types()) {
            Ok(types) => self
                .history
                .hint(map.schema(), map.table(), place(file, at), &types),
            Err(_) => None,
        };
        let next = self.changes.partition_point(|change| *change <= (file, at));
        let until = self.changes.get(next).filter(|(of, _)| *of == file);
        Ok((self.plans.get(map, hint)?, until.map(|&(_, place)| place)))
    }
}

fn place(file: u32, (pos, payload_index): EventPlace) -> Place {
    Place {
        file,
        pos,
        payload_index,
    }
}

/// Adds a version, or what is the same as the last one to that.
fn add_version(versions: &mut Vec<TableVersion>, version: TableVersion) {
    match versions.last_mut() {
        Some(last) if alike(&last.plan, &version.plan) => {
            last.last = version.last;
            last.ids.extend(version.ids);
        }
        _ => versions.push(version),
    }
}

/// Whether two plans tell the same of their table.
fn alike(a: &Arc<RowPlan>, b: &Arc<RowPlan>) -> bool {
    let column = |column: &ColumnPlan| {
        let name = column.display_name().into_owned();
        let told = (column.collation, column.nullable, column.visible);
        let labels = column
            .label_texts()
            .map(|labels| labels.map(str::to_owned).collect::<Vec<_>>());
        let source = (column.name_source(), column.declared());
        (name, column.ty, column.context, told, labels, source)
    };
    Arc::ptr_eq(a, b)
        || a.primary_key() == b.primary_key()
            && a.columns().len() == b.columns().len()
            && a.columns()
                .iter()
                .zip(b.columns())
                .all(|(a, b)| column(a) == column(b))
}
