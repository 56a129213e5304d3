//! The check of the values of rows events.
//!
//! The rows are located some at a time, and then checked column by column; no text is made where it
//! is only asked whether there is one.

use crate::binlog::event::{RowsEvent, TableMapOwned};
use crate::binlog::problem::{ProblemKind, Severity};
use crate::binlog::row::{ColumnPlan, LocatePlan, Located, Place, RowPlan, ValueNote};
use crate::error::{Error, Result};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// Rows that are located at a time.
const CHUNK: usize = 256;
/// Values of one event that are told; the others are counted.
const MOST: usize = 10;
/// Plans that are kept: the tables of a few statements.
const PLANS: usize = 16;
/// Columns of which it is remembered that they were told. A hostile log may have more; they are
/// told again.
const TOLD: usize = 1 << 16;

/// Checks the values of one log.
#[derive(Default)]
pub(super) struct ValueCheck {
    /// The newest last.
    plans: Vec<Compiled>,
    located: Located,
    told: Told,
}

/// The columns of which something was told once.
#[derive(Default)]
struct Told(HashSet<u64>);

impl Told {
    /// Whether a column was not told before.
    fn first(&mut self, table: &str, column: &ColumnPlan) -> bool {
        let mut hasher = DefaultHasher::new();
        (table, column.name(), column.number).hash(&mut hasher);
        if self.0.len() >= TOLD {
            self.0.clear();
        }
        self.0.insert(hasher.finish())
    }
}

/// What is resolved once for the events of a table map.
struct Compiled {
    map: Arc<TableMapOwned>,
    /// `None`: the table map's own.
    plan: Option<Arc<RowPlan>>,
    locate: LocatePlan,
    /// Indices of the columns whose values can be other than exact.
    columns: Box<[usize]>,
}

impl Compiled {
    fn new(
        map: &Arc<TableMapOwned>,
        plan: Option<Arc<RowPlan>>,
        event: &RowsEvent<'_>,
    ) -> Result<Self> {
        let own = match &plan {
            Some(plan) => plan,
            None => map.plan()?,
        };
        let columns = own.columns().iter().enumerate();
        let columns = columns.filter(|(_, column)| column.can_be_inexact());
        let columns: Box<[usize]> = columns.map(|(n, _)| n).collect();
        let locate = LocatePlan::new(own, map.shape(), event, &columns, &columns)?;
        Ok(Self {
            map: Arc::clone(map),
            plan,
            locate,
            columns,
        })
    }

    fn is_of(
        &self,
        map: &Arc<TableMapOwned>,
        plan: Option<&Arc<RowPlan>>,
        event: &RowsEvent<'_>,
    ) -> bool {
        let same_plan = match (&self.plan, plan) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        };
        Arc::ptr_eq(&self.map, map) && same_plan && self.locate.is_of(event)
    }
}

/// A value that is not exact.
struct Finding {
    /// Index of the row in its event.
    row: usize,
    /// Number of the column.
    column: u32,
    /// It stands in the image before an update, and another value is behind it.
    before: bool,
    severity: Severity,
    message: String,
}

/// What is not exact of one event.
#[derive(Default)]
struct Findings {
    told: Vec<Finding>,
    /// Number of others, and the worst of them.
    more: usize,
    worst: Option<Severity>,
}

impl Findings {
    fn add(&mut self, severity: Severity, finding: impl FnOnce() -> Finding) {
        if self.told.len() < MOST {
            self.told.push(finding());
        } else {
            self.more = self.more.saturating_add(1);
            self.worst = self.worst.max(Some(severity));
        }
    }
}

impl ValueCheck {
    /// Checks the rows of an event and their values; `note` is told what is wrong.
    pub(super) fn check(
        &mut self,
        map: &Arc<TableMapOwned>,
        plan: Option<Arc<RowPlan>>,
        event: &RowsEvent<'_>,
        mut note: impl FnMut(ProblemKind, Severity, String),
    ) {
        let mut findings = Findings::default();
        if let Err(error) = self.rows(map, plan, event, &mut findings) {
            let error = error.in_table(map.full_name());
            note(ProblemKind::BadEvent, Severity::Error, error.to_string());
        }
        findings
            .told
            .sort_by_key(|finding| (finding.row, finding.column, !finding.before));
        for finding in findings.told {
            note(
                ProblemKind::UndecodedValue,
                finding.severity,
                finding.message,
            );
        }
        if let Some(worst) = findings.worst {
            let (table, more) = (map.full_name(), findings.more);
            let message = format!("{table}: {more} more values of the event are not exact");
            note(ProblemKind::UndecodedValue, worst, message);
        }
    }

    fn rows(
        &mut self,
        map: &Arc<TableMapOwned>,
        plan: Option<Arc<RowPlan>>,
        event: &RowsEvent<'_>,
        findings: &mut Findings,
    ) -> Result<()> {
        let block = event.row_bytes()?;
        let known = self
            .plans
            .iter()
            .position(|known| known.is_of(map, plan.as_ref(), event));
        let compiled = match known {
            Some(n) => self.plans.remove(n),
            None => Compiled::new(map, plan, event)?,
        };
        let mut rows = compiled.locate.rows(0, block.len());
        let mut error = None;
        while error.is_none() && !rows.is_done() {
            let first = rows.index() as usize;
            self.located.clear();
            let (_, failed) = compiled
                .locate
                .locate(&block, &mut rows, CHUNK, &mut self.located);
            error = failed;
            self.located_rows(&compiled, &block, first, findings)?;
        }
        if self.plans.len() >= PLANS {
            self.plans.remove(0);
        }
        self.plans.push(compiled);
        error.map_or(Ok(()), Err)
    }

    /// Checks the values that were located, `first` being the index of their first row.
    fn located_rows(
        &mut self,
        compiled: &Compiled,
        block: &[u8],
        first: usize,
        findings: &mut Findings,
    ) -> Result<()> {
        let table = compiled.map.full_name();
        let columns = match &compiled.plan {
            Some(plan) => plan.columns(),
            None => compiled.map.plan()?.columns(),
        };
        for (slot, &n) in compiled.columns.iter().enumerate() {
            let Some(column) = columns.get(n) else {
                continue; // they were taken from there
            };
            let located = &self.located;
            let (row, before, base) = (
                places(&located.row, slot),
                places(&located.before, slot),
                places(&located.base, slot),
            );
            // Of a column, what the log does not tell is told once.
            let mut silent = false;
            let mut found = |i: usize, is_before: bool, note: ValueNote| {
                if note.is_of_column() && (silent || !self.told.first(table, column)) {
                    silent = true;
                    return;
                }
                let severity = note.severity();
                findings.add(severity, || {
                    let row = first.saturating_add(i);
                    Finding {
                        row,
                        column: column.number,
                        before: is_before,
                        severity,
                        message: message(table, column, row, is_before, &note),
                    }
                });
            };
            for (i, &place) in before.iter().enumerate() {
                if let Some(note) = column.check_at(block, place, Place::ABSENT) {
                    found(i, row.get(i).is_some_and(|&row| row != place), note);
                }
            }
            for (i, &place) in row.iter().enumerate() {
                if before.get(i) == Some(&place) {
                    continue; // the same value, or none
                }
                let base = base.get(i).copied().unwrap_or(Place::ABSENT);
                if let Some(note) = column.check_at(block, place, base) {
                    found(i, false, note);
                }
            }
        }
        Ok(())
    }
}

fn message(table: &str, column: &ColumnPlan, row: usize, before: bool, note: &ValueNote) -> String {
    let number = row.saturating_add(1);
    let image = if before { " before the change" } else { "" };
    let text = format!("row {number} of the event{image}: {note}");
    Error::corrupt(text)
        .in_table(table)
        .in_column(column.label())
        .to_string()
}

/// The places of a wanted column.
fn places(lists: &[Vec<Place>], slot: usize) -> &[Place] {
    lists.get(slot).map_or(&[], Vec::as_slice)
}
