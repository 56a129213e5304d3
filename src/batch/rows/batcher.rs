//! Gathers rows events, and finds their rows.

use super::columns::{MetaColumn, Op, RowColumn, RowLayout};
use super::{EventPlace, Plans};
use crate::batch::events::{last, same_table};
use crate::binlog::event::{self, FormatDescription, TableMapOwned, TableMaps};
use crate::binlog::fields::{self, Needs};
use crate::binlog::frame::TypeSet;
use crate::binlog::problem::{Problem, ProblemKind};
use crate::binlog::reader::{Block, Item};
use crate::binlog::row::{EventRows, LocatePlan, Located, RowJson, RowPlan};
use crate::binlog::transaction::{Transaction, TransactionTracker, transaction_types};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// Codes of ROWS_QUERY and ANNOTATE_ROWS.
const STATEMENTS: [u8; 2] = [29, 160];

/// Rows that are located between two looks at how many bytes they take.
pub(super) const STEP: usize = 256;
/// Bytes of rows that one batch has at most, but for the last row: what is made of them is a few
/// times as long.
const MAX_ROW_BYTES: usize = 8 << 20;
/// Ways of locating that are kept for one table: kinds of events times row images.
pub(super) const MAX_LOCATORS: usize = 8;
/// Table maps whose plans are kept from one batch to the next.
const MAX_TABLES: usize = 16 << 10;

/// What the columns that will be asked for need to know.
#[derive(Debug, Clone, Copy, Default)]
pub struct RowNeeds {
    pub(super) transaction: bool,
    pub(super) statement: bool,
    /// Every column of the row image, of the image before, of the key.
    pub(super) after: bool,
    pub(super) before: bool,
    pub(super) key: bool,
    /// JSON columns, of which the log may have only changes.
    pub(super) missing: bool,
}

/// Gathers rows events and builds columns from their rows.
pub struct RowBatcher {
    pub(super) file: Arc<str>,
    pub(super) layout: Arc<RowLayout>,
    pub(super) needs: RowNeeds,
    /// Columns of the table that are asked for, of the row and of the row before.
    pub(super) wanted: (Vec<usize>, Vec<usize>),
    pub(super) plans: Box<dyn Plans>,
    tracker: TransactionTracker,
    maps: TableMaps,
    transaction: Option<Transaction>,
    table: Option<Arc<TableMapOwned>>,
    statement: Option<Arc<str>>,
    /// Number of the statement that it is the text of.
    statement_number: u64,

    pub(super) events: Vec<RowsItem>,
    pub(super) blocks: Vec<Block>,
    held: usize,
    pub(super) formats: Vec<Arc<FormatDescription>>,
    pub(super) transactions: Vec<Option<Transaction>>,
    pub(super) maps_used: Vec<Option<Arc<TableMapOwned>>>,
    pub(super) statements: Vec<Option<Arc<str>>>,

    /// The tables met, each with what its plan makes of the columns asked for.
    pub(super) tables: Vec<RowTable>,
    pub(super) table_of: BTreeMap<usize, KnownTable>,
    /// The entry of it that was asked for last.
    pub(super) latest: Option<(usize, u32, Option<EventPlace>)>,
    pub(super) table_of_plan: HashMap<usize, u32>,
    /// Lists of columns of which an event has no image.
    pub(super) absent: Vec<Vec<usize>>,
    /// Events whose rows are not located yet, the next one last.
    pub(super) queue: Vec<u32>,
    pub(super) open: Option<OpenEvent>,
    pub(super) runs: Vec<Run>,
    pub(super) run_of: HashMap<(u32, u32), u32>,
    pub(super) rows: Vec<RowItem>,
    /// Columns, by plan and number, of which it was told what the log does not tell of them.
    told: RefCell<HashSet<(usize, usize)>>,
}

/// A rows event and the places of what belongs to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowsItem {
    pub item: Item,
    pub op: Op,
    pub block: u32,
    pub format: u32,
    pub transaction: u32,
    pub map: u32,
    pub statement: u32,
}

/// A row change.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowItem {
    pub event: u32,
    /// Number inside the event.
    pub index: u32,
    pub run: u32,
    /// Number inside the run.
    pub at: u32,
    /// List of the columns that neither image has.
    pub absent: u32,
}

/// Rows of one table whose bytes are in one block.
#[derive(Debug)]
pub(super) struct Run {
    pub table: u32,
    pub block: u32,
    pub len: u32,
    pub located: Located,
}

pub(super) struct KnownTable {
    /// While it is kept, its address means no other.
    pub _map: Arc<TableMapOwned>,
    pub table: u32,
    pub until: Option<EventPlace>,
}

/// A table, as one plan has it.
pub(super) struct RowTable {
    pub plan: Arc<RowPlan>,
    /// Where values are asked for as JSON.
    pub json: Option<RowJson>,
    pub map: Arc<TableMapOwned>,
    /// For each column of the relation its number in the plan.
    pub mapping: Vec<Option<usize>>,
    /// Names of the plan's columns in the relation.
    pub names: Vec<String>,
    /// Columns that are located, of the row and of the row before, in the order of their slots.
    pub row: Vec<usize>,
    pub before: Vec<usize>,
    /// Slot of each column of the plan.
    pub row_slots: Vec<Option<u32>>,
    pub before_slots: Vec<Option<u32>>,
    /// Ways of locating its rows, each with its list in [`RowBatcher::absent`].
    pub locators: Vec<(LocatePlan, u32)>,
}

/// An event whose rows are partly located.
pub(super) struct OpenEvent {
    pub event: u32,
    pub table: u32,
    pub locator: usize,
    pub block: u32,
    pub rows: EventRows,
}

impl RowBatcher {
    /// A batcher for the rows events of `file`, of which only the columns `columns` of `layout`
    /// will be asked for, and of `_before` only the fields `before`.
    pub fn new(
        file: Arc<str>,
        layout: Arc<RowLayout>,
        columns: &[RowColumn],
        before: &[usize],
        plans: Box<dyn Plans>,
    ) -> Self {
        use MetaColumn::{After, Before, Changed, CommitTimestamp, Gtid, Key, Missing, Query};
        use MetaColumn::{ThreadId, TxPos};
        let mut needs = RowNeeds::default();
        let mut wanted = (Vec::new(), Vec::new());
        for column in columns {
            match column {
                RowColumn::Meta(TxPos | CommitTimestamp | Gtid | ThreadId) => {
                    needs.transaction = true;
                }
                RowColumn::Meta(Query) => needs.statement = true,
                RowColumn::Meta(Key) => needs.key = true,
                RowColumn::Meta(Before) => needs.before = true,
                RowColumn::Meta(After) => needs.after = true,
                RowColumn::Meta(Changed) => (needs.after, needs.before) = (true, true),
                RowColumn::Meta(Missing) => needs.missing = true,
                RowColumn::Meta(_) => {}
                RowColumn::Value(at) => wanted.0.push(*at),
                RowColumn::Before => wanted.1.extend_from_slice(before),
            }
        }
        for list in [&mut wanted.0, &mut wanted.1] {
            list.sort_unstable();
            list.dedup();
        }
        Self {
            file,
            layout,
            needs,
            wanted,
            plans,
            tracker: TransactionTracker::default(),
            maps: TableMaps::default(),
            transaction: None,
            table: None,
            statement: None,
            statement_number: 0,
            events: Vec::new(),
            blocks: Vec::new(),
            held: 0,
            formats: Vec::new(),
            transactions: Vec::new(),
            maps_used: Vec::new(),
            statements: Vec::new(),
            tables: Vec::new(),
            table_of: BTreeMap::new(),
            latest: None,
            table_of_plan: HashMap::new(),
            absent: Vec::new(),
            queue: Vec::new(),
            open: None,
            runs: Vec::new(),
            run_of: HashMap::new(),
            rows: Vec::new(),
            told: RefCell::default(),
        }
    }

    /// Whether something is told of this column for the first time.
    pub(super) fn is_news(&self, plan: &Arc<RowPlan>, column: usize) -> bool {
        self.told
            .borrow_mut()
            .insert((Arc::as_ptr(plan) as usize, column))
    }

    /// Types of events whose bodies are needed, when those of `wanted` may become rows.
    pub fn bodies(&self, wanted: TypeSet) -> TypeSet {
        // What ends a statement ends its table maps, whatever it does.
        let mut bodies = fields::rows_types().union(wanted);
        bodies.insert(event::TABLE_MAP);
        if self.needs.transaction {
            bodies = bodies.union(transaction_types());
        }
        if self.needs.statement {
            bodies = bodies.union(STATEMENTS.into_iter().collect());
        }
        bodies
    }

    /// Takes note of an event, whether its rows are wanted or not.
    pub fn observe(
        &mut self,
        item: &Item,
        block: &Block,
        format: &Arc<FormatDescription>,
        problems: &mut Vec<Problem>,
    ) {
        let code = item.header.type_code;
        let raw = item.raw(block);
        if self.needs.transaction {
            let inner = item.payload_index.is_some();
            self.transaction = self.tracker.observe(&raw, inner, format);
        }
        if self.needs.statement {
            if STATEMENTS.contains(&code) {
                let needs = Needs {
                    decode: true,
                    query: true,
                    ..Needs::default()
                };
                let fields =
                    fields::decode(&raw, item.payload_index, format, None, needs, problems);
                self.statement = fields.query.map(|text| Arc::from(&*text));
                self.statement_number = self.maps.statement();
            } else if !fields::is_rows(code) && code != event::TABLE_MAP
                || self.statement_number != self.maps.statement()
            {
                // It belongs to the statement that it stands before, and to no later one.
                self.statement = None;
            }
        }
        self.table = fields::observe_tables(&mut self.maps, &raw, format);
    }

    /// Whether the rows of the event observed last may be of the relation. Those without a table
    /// map may.
    pub fn is_of_relation(&self) -> bool {
        let (Some(wanted), Some(map)) = (self.layout.table(), &self.table) else {
            return true;
        };
        map.table() == wanted.table() && map.schema() == wanted.schema()
    }

    /// Makes the rows event observed last a candidate.
    pub fn push(&mut self, item: &Item, block: &Block, format: &Arc<FormatDescription>) {
        let Some(op) = Op::of(item.header.type_code) else {
            return;
        };
        if !self.blocks.last().is_some_and(|last| last.same(block)) {
            self.held += block.as_ref().len();
            self.blocks.push(block.clone());
        }
        if !self
            .formats
            .last()
            .is_some_and(|last| Arc::ptr_eq(last, format))
        {
            self.formats.push(Arc::clone(format));
        }
        if self.transactions.last() != Some(&self.transaction) {
            self.transactions.push(self.transaction);
        }
        if !same_table(self.maps_used.last(), self.table.as_ref()) {
            self.maps_used.push(self.table.clone());
        }
        let statement = |last: &Option<Arc<str>>| match (last, &self.statement) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        if !self.statements.last().is_some_and(statement) {
            self.statements.push(self.statement.clone());
        }
        self.events.push(RowsItem {
            item: *item,
            op,
            block: last(self.blocks.len()),
            format: last(self.formats.len()),
            transaction: last(self.transactions.len()),
            map: last(self.maps_used.len()),
            statement: last(self.statements.len()),
        });
    }

    /// The columns of its relation.
    pub fn layout(&self) -> &Arc<RowLayout> {
        &self.layout
    }

    /// Number of candidates.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Bytes of the blocks that the candidates keep alive.
    pub fn held(&self) -> usize {
        self.held
    }

    /// Forgets the candidates; what is known of transactions and tables stays.
    pub fn clear(&mut self) {
        self.clear_rows();
        self.queue.clear();
        self.open = None;
        self.events.clear();
        self.blocks.clear();
        self.held = 0;
        self.formats.clear();
        self.transactions.clear();
        self.maps_used.clear();
        self.statements.clear();
        if self.table_of.len() > MAX_TABLES || self.absent.len() > MAX_TABLES {
            self.tables.clear();
            self.table_of.clear();
            self.latest = None;
            self.table_of_plan.clear();
            self.absent.clear();
            self.told.borrow_mut().clear();
        }
    }

    /// Forgets the rows that were located.
    pub fn clear_rows(&mut self) {
        self.rows.clear();
        self.runs.clear();
        self.run_of.clear();
    }

    /// Chooses the candidates whose rows [`Self::locate`] finds; all, if `events` is `None`.
    pub fn choose(&mut self, events: Option<Vec<u32>>) {
        self.queue = events.unwrap_or_else(|| (0..self.events.len() as u32).collect());
        self.queue.reverse();
    }

    /// Finds up to `limit` further rows of the chosen events; the answer is how many there are now.
    /// What does not fit is noted in `problems`.
    pub fn locate(&mut self, limit: usize, problems: &mut Vec<Problem>) -> usize {
        let mut bytes = 0;
        while self.rows.len() < limit && bytes < MAX_ROW_BYTES {
            if self.open.is_none() {
                let Some(event) = self.queue.pop() else {
                    break;
                };
                match self.open_event(event) {
                    Ok(open) => self.open = open,
                    Err((kind, message)) => problems.push(self.problem(event, kind, message)),
                }
            } else {
                bytes += self.locate_some(limit, problems);
            }
        }
        self.rows.len()
    }

    /// Whether all rows of the chosen events were located.
    pub fn is_exhausted(&self) -> bool {
        self.open.is_none() && self.queue.is_empty()
    }

    pub(super) fn problem(&self, event: u32, kind: ProblemKind, message: String) -> Problem {
        let event = &self.events[event as usize];
        let raw = event.item.raw(&self.blocks[event.block as usize]);
        fields::problem_of(&raw, event.item.payload_index, kind, message)
    }
}
