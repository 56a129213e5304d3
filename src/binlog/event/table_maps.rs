//! The table maps in force: which table an id in a rows event means.
//!
//! ```text
//! TABLE_MAP 93 shop.orders │ TABLE_MAP 94 shop.items │ WRITE_ROWS 93 │ WRITE_ROWS 94 STMT_END_F
//! └ insert(93)               └ insert(94)              └ get(93)       └ get(94), then end_statement()
//! ```
//!
//! A server forgets all maps at the end of a statement and when the log's server restarted. Here
//! they only go out of force at the end of a statement: the next statement on the table sends the
//! same bytes again, and then nothing is parsed again.

use super::format::Flavor;
use super::table_map::TableMap;
use crate::binlog::charset::Text;
use crate::binlog::row::{ColumnPlan, RowPlan, RowShape};
use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// A table map that outlives its event.
#[derive(Debug)]
pub struct TableMapOwned {
    table_id: u64,
    flavor: Flavor,
    short_id: bool,
    name: String,
    schema_len: usize,
    body: Box<[u8]>,
    shape: RowShape,
    plan: OnceLock<RowPlan>,
}

impl TableMapOwned {
    /// Copies a table map and prepares for hopping over its rows.
    ///
    /// # Errors
    /// Column types or metadata that do not fit; the error names the table.
    pub fn new(map: &TableMap<'_>) -> Result<Self> {
        let name = map.full_name();
        let schema_len = Text::utf8(map.schema).text.len();
        let shape = RowShape::new(map).map_err(|error| error.in_table(name.as_str()))?;
        Ok(Self {
            table_id: map.table_id,
            flavor: map.flavor,
            short_id: map.short_id(),
            name,
            schema_len,
            body: map.body().into(),
            shape,
            plan: OnceLock::new(),
        })
    }

    /// The id by which rows events name the table.
    pub fn table_id(&self) -> u64 {
        self.table_id
    }

    /// `schema.table`; bytes that are not UTF-8 stand as `\xNN`.
    pub fn full_name(&self) -> &str {
        &self.name
    }

    /// Schema of the table; bytes that are not UTF-8 stand as `\xNN`.
    pub fn schema(&self) -> &str {
        self.name.split_at(self.schema_len).0
    }

    /// Name of the table; bytes that are not UTF-8 stand as `\xNN`.
    pub fn table(&self) -> &str {
        let (_, dot_table) = self.name.split_at(self.schema_len);
        dot_table.strip_prefix('.').unwrap_or(dot_table)
    }

    /// What hopping over rows needs.
    pub fn shape(&self) -> &RowShape {
        &self.shape
    }

    /// How the values of rows are decoded. Resolved when it is first asked for.
    ///
    /// # Errors
    /// Those of [`RowPlan::new`].
    pub fn plan(&self) -> Result<&RowPlan> {
        if let Some(plan) = self.plan.get() {
            return Ok(plan);
        }
        let plan = RowPlan::new(self)?;
        Ok(self.plan.get_or_init(|| plan))
    }

    /// The whole table map again.
    ///
    /// # Errors
    /// None in practice: the same bytes were read before.
    pub fn map(&self) -> Result<TableMap<'_>> {
        TableMap::read_body(&self.body, self.short_id, self.flavor)
    }

    /// What it says of the table, as it stands in the log: all but id and flags. Two table maps
    /// with the same content mean the same table and columns.
    pub fn content(&self) -> &[u8] {
        let id_and_flags = if self.short_id { 6 } else { 8 };
        self.body.get(id_and_flags..).unwrap_or_default()
    }

    /// Whether `map` says the same, byte for byte.
    fn is(&self, map: &TableMap<'_>) -> bool {
        *self.body == *map.body() && self.flavor == map.flavor && self.short_id == map.short_id()
    }

    /// Bytes of memory, roughly, those of the plan among them.
    fn weight(&self) -> usize {
        const ENTRY: usize = 256;
        // A label of no bytes takes one in the body, and the ends of its bytes and of its text in
        // the plan; a byte that is no character takes four in a text.
        let plan = self
            .body
            .len()
            .saturating_mul(8)
            .saturating_add(size_of::<ColumnPlan>().saturating_mul(self.shape.column_count()));
        ENTRY
            .saturating_add(self.body.len())
            .saturating_add(self.name.len())
            .saturating_add(self.shape.weight())
            .saturating_add(plan)
    }
}

struct Entry {
    map: Arc<TableMapOwned>,
    /// The statement that sent it last.
    statement: u64,
    /// Order of arrival.
    arrival: u64,
}

/// The table maps of a log, kept as a server keeps them.
///
/// Memory is bounded: beyond [`TableMaps::DEFAULT_LIMIT`] bytes (or a limit of your own) the maps
/// that are out of force are forgotten, then the oldest; [`TableMaps::dropped`] counts those that
/// were still in force. Only a hostile log comes near.
pub struct TableMaps {
    maps: BTreeMap<u64, Entry>,
    /// The id taken in last.
    latest: Option<u64>,
    statement: u64,
    arrivals: u64,
    bytes: usize,
    limit: usize,
    dropped: u64,
}

impl Default for TableMaps {
    fn default() -> Self {
        Self::new()
    }
}

impl TableMaps {
    /// Bytes of memory that the maps may take: thousands of wide tables in one statement.
    pub const DEFAULT_LIMIT: usize = 64 << 20;

    /// No maps.
    pub fn new() -> Self {
        Self::with_limit(Self::DEFAULT_LIMIT)
    }

    /// No maps, and `limit` bytes of memory for them. The newest is always kept.
    pub fn with_limit(limit: usize) -> Self {
        Self {
            maps: BTreeMap::new(),
            latest: None,
            statement: 0,
            arrivals: 0,
            bytes: 0,
            limit,
            dropped: 0,
        }
    }

    /// Takes a table map in; from now on its id means this table. The same bytes under the same id
    /// are recognised and not parsed again.
    ///
    /// # Errors
    /// Those of [`TableMapOwned::new`]. The id then means no table.
    pub fn insert(&mut self, map: &TableMap<'_>) -> Result<Arc<TableMapOwned>> {
        self.arrivals = self.arrivals.saturating_add(1);
        self.latest = Some(map.table_id);
        if let Some(known) = self.maps.get_mut(&map.table_id)
            && known.map.is(map)
        {
            known.statement = self.statement;
            known.arrival = self.arrivals;
            return Ok(Arc::clone(&known.map));
        }
        if let Some(old) = self.maps.remove(&map.table_id) {
            self.bytes = self.bytes.saturating_sub(old.map.weight());
        }
        let map = Arc::new(TableMapOwned::new(map)?);
        self.make_room(map.weight());
        self.bytes = self.bytes.saturating_add(map.weight());
        let entry = Entry {
            map: Arc::clone(&map),
            statement: self.statement,
            arrival: self.arrivals,
        };
        self.maps.insert(map.table_id, entry);
        Ok(map)
    }

    /// Takes a table map in that has the same bytes as the one taken in last, which is what
    /// neighbours mostly have: `body` is then not looked into. `None`: it has others.
    #[inline]
    pub fn repeat(&mut self, body: &[u8], short_id: bool, flavor: Flavor) -> Option<()> {
        let known = self.maps.get_mut(&self.latest?)?;
        let same = *known.map.body == *body
            && known.map.short_id == short_id
            && known.map.flavor == flavor;
        if !same {
            return None;
        }
        self.arrivals = self.arrivals.saturating_add(1);
        known.statement = self.statement;
        known.arrival = self.arrivals;
        Some(())
    }

    /// The table that `table_id` means in this statement; `None` if the statement has sent no
    /// table map for it, or see [`TableMaps::dropped`].
    pub fn get(&self, table_id: u64) -> Option<&Arc<TableMapOwned>> {
        self.maps
            .get(&table_id)
            .filter(|entry| entry.statement == self.statement)
            .map(|entry| &entry.map)
    }

    /// As [`TableMaps::get`], but says what is missing.
    ///
    /// # Errors
    /// No table map of this id is in force.
    pub fn require(&self, table_id: u64) -> Result<&Arc<TableMapOwned>> {
        self.get(table_id).ok_or_else(|| {
            let why = if self.dropped > 0 {
                "it may be one of those dropped to keep memory bounded"
            } else {
                "the statement's beginning is missing"
            };
            Error::corrupt(format!("no table map for table id {table_id}: {why}"))
        })
    }

    /// A rows event with `STMT_END_F` was the last of its statement: no map is in force any more.
    pub fn end_statement(&mut self) {
        self.statement = self.statement.saturating_add(1);
    }

    /// Number of the statement: how many ended before it.
    pub fn statement(&self) -> u64 {
        self.statement
    }

    /// Forgets all maps: after a format description that says the server started, whose table ids
    /// begin anew, and after any gap in the log.
    pub fn clear(&mut self) {
        self.maps.clear();
        self.bytes = 0;
    }

    /// How many maps in force were dropped to keep memory bounded. Rows of their tables then have
    /// no map: say so where that happens.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Forgets maps until `more` bytes have room, or none is left. What has to go takes half the
    /// limit along, so that the next call has less to do.
    fn make_room(&mut self, more: usize) {
        if self.bytes.saturating_add(more) <= self.limit {
            return;
        }
        let (statement, mut bytes) = (self.statement, 0usize);
        self.maps.retain(|_, entry| {
            let keep = entry.statement == statement;
            if keep {
                bytes = bytes.saturating_add(entry.map.weight());
            }
            keep
        });
        self.bytes = bytes;
        if self.bytes.saturating_add(more) <= self.limit {
            return;
        }
        let mut oldest: Vec<(u64, u64)> = self
            .maps
            .iter()
            .map(|(&id, entry)| (entry.arrival, id))
            .collect();
        oldest.sort_unstable();
        for (_, id) in oldest {
            if self.bytes.saturating_add(more) <= self.limit / 2 {
                break;
            }
            if let Some(entry) = self.maps.remove(&id) {
                self.bytes = self.bytes.saturating_sub(entry.map.weight());
                self.dropped = self.dropped.saturating_add(1);
            }
        }
    }
}

#[cfg(test)]
mod tests;
