//! Finds the rows of the chosen events: opens an event under its table's plan, and locates its rows
//! step by step.

use super::EventPlace;
use super::batcher::{
    KnownTable, MAX_LOCATORS, OpenEvent, RowBatcher, RowItem, RowTable, Run, STEP,
};
use crate::batch::events::last;
use crate::binlog::event::{EventContext, RowsEvent, TableMapOwned};
use crate::binlog::problem::{Problem, ProblemKind};
use crate::binlog::reader::Block;
use crate::binlog::row::{LocatePlan, Located, RowJson, RowPlan};
use crate::binlog::types::code;
use crate::error::Error;
use std::sync::Arc;

impl RowBatcher {
    pub(super) fn open_event(
        &mut self,
        number: u32,
    ) -> Result<Option<OpenEvent>, (ProblemKind, String)> {
        let bad = |error: Error| (ProblemKind::BadEvent, error.to_string());
        let event = self.events[number as usize];
        let place = (event.item.pos, event.item.payload_index);
        let map = self.maps_used[event.map as usize].as_ref();
        let latest = map.and_then(|map| self.latest_table(map, place));
        let table = match latest {
            Some(table) => Some(Ok(table)),
            None => map.cloned().map(|map| self.table_of(&map, place)),
        };
        let block = &self.blocks[event.block as usize];
        let raw = event.item.raw(block);
        let cx = EventContext {
            header: &raw.header,
            format: &self.formats[event.format as usize],
        };
        let Some(rows) = RowsEvent::decode(raw.body(), &cx).map_err(bad)? else {
            return Ok(None);
        };
        if rows.is_dummy() {
            return Ok(None);
        }
        let Some(table) = table else {
            return Err((
                ProblemKind::BadEvent,
                format!(
                    "no table map for table id {}: the statement's beginning is missing, so its \
                     rows are not shown",
                    rows.table_id
                ),
            ));
        };
        let table = table.map_err(bad)?;
        let known = &mut self.tables[table as usize];
        let locator = match known
            .locators
            .iter()
            .position(|(locator, _)| locator.is_of(&rows))
        {
            Some(at) => at,
            None => {
                let (row, before) = (&known.row, &known.before);
                let locator = LocatePlan::new(&known.plan, known.map.shape(), &rows, row, before)
                    .map_err(bad)?;
                if known.locators.len() >= MAX_LOCATORS {
                    known.locators.clear();
                }
                self.absent.push(absent(&rows));
                known.locators.push((locator, last(self.absent.len())));
                known.locators.len() - 1
            }
        };
        let (block, at, end) = if rows.compressed {
            let uncompressed = rows.row_bytes().map_err(bad)?.into_owned();
            let end = uncompressed.len();
            self.blocks.push(Block::new(uncompressed));
            (last(self.blocks.len()), 0, end)
        } else {
            let body = raw.body();
            let behind = body.as_ptr() as usize - block.as_ref().as_ptr() as usize + body.len();
            (event.block, behind - rows.rows.len(), behind)
        };
        Ok(Some(OpenEvent {
            event: number,
            table,
            locator,
            block,
            rows: self.tables[table as usize].locators[locator]
                .0
                .rows(at, end),
        }))
    }

    /// Locates some rows of the open event, and closes it at its end. The answer is how many bytes
    /// they take.
    pub(super) fn locate_some(&mut self, limit: usize, problems: &mut Vec<Problem>) -> usize {
        let Some(mut open) = self.open.take() else {
            return 0;
        };
        let run = self.run(open.table, open.block);
        let table = &self.tables[open.table as usize];
        let (locator, absent) = &table.locators[open.locator];
        let block = &self.blocks[open.block as usize];
        let some = STEP.min(limit - self.rows.len());
        let (start, first) = (open.rows.at(), open.rows.index());
        let into = &mut self.runs[run as usize];
        let located = &mut into.located;
        let (count, error) = locator.locate(block.as_ref(), &mut open.rows, some, located);
        let (at, count) = (into.len, count as u32);
        into.len += count;
        self.rows.extend((0..count).map(|n| RowItem {
            event: open.event,
            index: first.saturating_add(n),
            run,
            at: at + n,
            absent: *absent,
        }));
        let bytes = open.rows.at() - start;
        if let Some(error) = error {
            problems.push(self.problem(open.event, ProblemKind::BadEvent, error.to_string()));
        } else if !open.rows.is_done() {
            self.open = Some(open);
        }
        bytes
    }

    /// The run of rows of this table in this block.
    fn run(&mut self, table: u32, block: u32) -> u32 {
        // Rows of one table keep their order, and so each run is a stretch of the batch.
        if let Some(run) = self.runs.last()
            && (run.table, run.block) == (table, block)
        {
            return last(self.runs.len());
        }
        let grouped = self.layout.table().is_none();
        if grouped && let Some(&run) = self.run_of.get(&(table, block)) {
            return run;
        }
        self.runs.push(Run {
            table,
            block,
            len: 0,
            located: Located::default(),
        });
        let run = last(self.runs.len());
        if grouped {
            self.run_of.insert((table, block), run);
        }
        run
    }

    /// The table of `map` at this place, if it is the one that was asked for last: neighbours are
    /// mostly of the same table.
    fn latest_table(&self, map: &Arc<TableMapOwned>, place: EventPlace) -> Option<u32> {
        let (key, table, until) = self.latest?;
        let same = key == Arc::as_ptr(map) as usize && until.is_none_or(|until| place < until);
        same.then_some(table)
    }

    /// The table of `map` at this place.
    fn table_of(&mut self, map: &Arc<TableMapOwned>, place: EventPlace) -> crate::Result<u32> {
        let key = Arc::as_ptr(map) as usize;
        if let Some(known) = self.table_of.get(&key)
            && known.until.is_none_or(|until| place < until)
        {
            self.latest = Some((key, known.table, known.until));
            return Ok(known.table);
        }
        let (plan, until) = self.plans.plan(map, place)?;
        let plan_key = Arc::as_ptr(&plan) as usize;
        let table = match self.table_of_plan.get(&plan_key) {
            Some(&at) => at,
            None => {
                self.tables.push(self.row_table(plan, Arc::clone(map)));
                let at = last(self.tables.len());
                self.table_of_plan.insert(plan_key, at);
                at
            }
        };
        let known = KnownTable {
            _map: Arc::clone(map),
            table,
            until,
        };
        self.table_of.insert(key, known);
        Ok(table)
    }

    fn row_table(&self, plan: Arc<RowPlan>, map: Arc<TableMapOwned>) -> RowTable {
        let count = plan.columns().len();
        let mapping = match self.layout.table() {
            Some(table) => table.mapping(&plan).0,
            None => Vec::new(),
        };
        let columns = plan.columns().iter();
        let mut names: Vec<String> = columns.map(|c| c.display_name().into_owned()).collect();
        if let Some(table) = self.layout.table() {
            for (field, n) in table.columns().iter().zip(&mapping) {
                if let Some(n) = *n {
                    names[n].clone_from(field.name());
                }
            }
        }
        let of = |wanted: &[usize]| -> Vec<usize> {
            wanted
                .iter()
                .filter_map(|&at| mapping.get(at).copied().flatten())
                .collect()
        };
        let (mut row, mut before) = (of(&self.wanted.0), of(&self.wanted.1));
        let needs = &self.needs;
        if needs.after {
            row = (0..count).collect();
        }
        if needs.before {
            before = (0..count).collect();
        }
        if needs.key {
            let key = plan.primary_key().iter().map(|&(at, _)| at);
            row.extend(key.clone());
            before.extend(key);
        }
        if needs.missing {
            let json = plan
                .columns()
                .iter()
                .filter(|column| column.ty.code == code::JSON);
            row.extend(json.map(|column| column.number as usize - 1));
        }
        for list in [&mut row, &mut before] {
            list.sort_unstable();
            list.dedup();
        }
        let slots = |list: &[usize]| {
            let mut slots = vec![None; count];
            for (slot, &at) in list.iter().enumerate() {
                slots[at] = Some(slot as u32);
            }
            slots
        };
        RowTable {
            row_slots: slots(&row),
            before_slots: slots(&before),
            json: (needs.after || needs.before || needs.key).then(|| RowJson::new(&plan)),
            plan,
            names,
            map,
            mapping,
            row,
            before,
            locators: Vec::new(),
        }
    }
}

/// Columns, by number from 0, that neither image of the event has.
fn absent(rows: &RowsEvent<'_>) -> Vec<usize> {
    let has = |bits: Option<&[u8]>, n: usize| {
        let byte = bits.and_then(|bits| bits.get(n / 8));
        byte.is_some_and(|byte| byte & (1 << (n % 8)) != 0)
    };
    (0..rows.column_count)
        .filter(|&n| !has(rows.columns_after, n) && !has(rows.columns_before, n))
        .collect()
}
