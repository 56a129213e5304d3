//! Where the wanted values of rows begin: the first of two passes over a log's rows.
//!
//! ```text
//! RowPlan + RowsEvent + wanted columns ─▶ LocatePlan ─ locate(block) ─▶ Located: a list of Places for each wanted column
//! ```
//!
//! No value is decoded, and columns that nobody wants are hopped over, several of fixed width in
//! one hop. What is wrong inside a value comes out when it is decoded; here a row fits or not.
//!
//! **The row of a change** is the after image of an INSERT or UPDATE and the before image of a
//! DELETE. A column of an UPDATE that only the before image has is unchanged, as servers write each
//! column that a statement sets: the row's value is the one before. A JSON value of which there are
//! only changes has the value before as its *base*.

use super::plan::RowPlan;
use super::reader::{check_event, in_row, partial_bits};
use super::{Hops, Place, RowShape};
use crate::binlog::cursor::Cursor;
use crate::binlog::event::{RowsEvent, RowsKind};
use crate::error::{Error, Result};
use image::{Image, List, Target};

mod image;

/// How the wanted values of a table's rows are found: compiled once for a table map, a kind of
/// change, the columns that the images have and the columns that are wanted.
#[derive(Debug)]
pub struct LocatePlan {
    kind: RowsKind,
    column_count: usize,
    columns_before: Option<Box<[u8]>>,
    columns_after: Option<Box<[u8]>>,
    before: Option<Image>,
    after: Option<Image>,
    /// Of a partial update: bytes of its partial bits, one for each JSON column of the table.
    partial_bytes: Option<usize>,
    /// Lists that no image fills.
    absent: Box<[Target]>,
    /// Number of columns wanted in the row, and before.
    wanted: (usize, usize),
    hops: Hops,
    /// Name for people of the first column whose width the log may not tell.
    watched: Option<Box<str>>,
    table: Box<str>,
}

/// The rows of one event, as far as they are still to be located.
#[derive(Debug, Clone)]
pub struct EventRows {
    start: usize,
    at: usize,
    end: usize,
    /// Number of rows before `at`.
    index: u32,
    /// A row without a column and without a byte is still to come.
    empty_row: bool,
    failed: bool,
}

impl EventRows {
    /// Number of rows that have been located.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Offset of the next row in its block.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Whether no row is left: all are located, or one did not fit.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.failed || self.at >= self.end && !self.empty_row
    }
}

/// Where values stand, by wanted column. Lists only grow, by one place for each row.
#[derive(Debug, Clone, Default)]
pub struct Located {
    /// For each column wanted in the row of the change: where its values are.
    pub row: Vec<Vec<Place>>,
    /// For each column wanted before the change: where its values are in the before image.
    pub before: Vec<Vec<Place>>,
    /// For each column wanted in the row: if it is a JSON column, where its values are in the before
    /// image; else the list is empty.
    pub base: Vec<Vec<Place>>,
}

impl Located {
    /// Empties the lists and keeps their memory.
    pub fn clear(&mut self) {
        let lists = self.row.iter_mut().chain(&mut self.before);
        lists.chain(&mut self.base).for_each(Vec::clear);
    }

    /// Number of rows, where any column is wanted.
    pub fn len(&self) -> usize {
        let first = self.row.first().or(self.before.first());
        first.map_or(0, Vec::len)
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn list(&mut self, target: Target) -> Option<&mut Vec<Place>> {
        let (list, slot) = target.parts();
        match list {
            List::Row => self.row.get_mut(slot),
            List::Before => self.before.get_mut(slot),
            List::Base => self.base.get_mut(slot),
        }
    }

    #[inline]
    fn push(&mut self, target: Target, place: Place) {
        if let Some(places) = self.list(target) {
            places.push(place);
        }
    }

    /// Makes sure that there are lists for so many columns.
    #[inline]
    fn have(&mut self, (row, before): (usize, usize)) {
        let lists = [
            (&mut self.row, row),
            (&mut self.before, before),
            (&mut self.base, row),
        ];
        for (lists, count) in lists {
            if lists.len() < count {
                lists.resize_with(count, Vec::new);
            }
        }
    }

    #[cold]
    fn truncate(&mut self, len: usize) {
        let lists = self.row.iter_mut().chain(&mut self.before);
        lists
            .chain(&mut self.base)
            .for_each(|list| list.truncate(len));
    }
}

impl LocatePlan {
    /// Compiles a plan for `event` and those like it, see [`LocatePlan::is_of`]. `shape` is that of
    /// the same table map as `plan`. `row`: indices of the columns wanted in the row of the change,
    /// `before`: in the before image.
    ///
    /// # Errors
    /// Those of [`RowReader::new`](super::RowReader::new), except for what a row says. The error
    /// names the table.
    pub fn new(
        plan: &RowPlan,
        shape: &RowShape,
        event: &RowsEvent<'_>,
        row: &[usize],
        before: &[usize],
    ) -> Result<Self> {
        Self::compile(plan, shape, event, row, before).map_err(|error| error.in_table(plan.table()))
    }

    fn compile(
        plan: &RowPlan,
        shape: &RowShape,
        event: &RowsEvent<'_>,
        row: &[usize],
        before: &[usize],
    ) -> Result<Self> {
        check_event(plan, event)?;
        let (columns_before, columns_after) = (event.columns_before, event.columns_after);
        let has = |present: Option<&[u8]>, n| {
            present.is_some_and(|present| n < plan.columns().len() && super::bit(present, n))
        };
        let mut wanted_before = Vec::new();
        let mut wanted_after = Vec::new();
        let mut absent = Vec::new();
        for (slot, &n) in row.iter().enumerate() {
            let target = Target::new(List::Row, slot)?;
            if has(columns_after, n) {
                wanted_after.push((n, target));
            } else if has(columns_before, n) {
                wanted_before.push((n, target));
            } else {
                absent.push(target);
            }
            if plan.columns().get(n).is_some_and(|column| column.is_json()) {
                let base = Target::new(List::Base, slot)?;
                match has(columns_before, n) {
                    true => wanted_before.push((n, base)),
                    false => absent.push(base),
                }
            }
        }
        for (slot, &n) in before.iter().enumerate() {
            let target = Target::new(List::Before, slot)?;
            match has(columns_before, n) {
                true => wanted_before.push((n, target)),
                false => absent.push(target),
            }
        }
        let image = |present: Option<&[u8]>, wanted| {
            let image = present.map(|present| Image::new(plan, present, wanted));
            image.transpose()
        };
        Ok(Self {
            kind: event.kind,
            column_count: event.column_count,
            columns_before: columns_before.map(Into::into),
            columns_after: columns_after.map(Into::into),
            before: image(columns_before, wanted_before)?,
            after: image(columns_after, wanted_after)?,
            partial_bytes: plan.partial_bytes(event.kind),
            absent: absent.into(),
            wanted: (row.len(), before.len()),
            hops: shape.hops(event.kind, columns_before, columns_after)?,
            watched: plan
                .watched
                .and_then(|n| plan.columns().get(n))
                .map(|column| column.label().into()),
            table: plan.table().into(),
        })
    }

    /// Whether this plan is also that of another event of the same table map and with the same
    /// wanted columns: it has the same kind, and its images have the same columns.
    #[inline]
    pub fn is_of(&self, event: &RowsEvent<'_>) -> bool {
        self.kind == event.kind
            && self.column_count == event.column_count
            && self.columns_before.as_deref() == event.columns_before
            && self.columns_after.as_deref() == event.columns_after
    }

    /// The rows of an event, which are `block[start..end]`, uncompressed.
    pub fn rows(&self, start: usize, end: usize) -> EventRows {
        let no_columns = || self.after.as_ref().is_some_and(Image::is_empty);
        EventRows {
            start,
            at: start,
            end,
            index: 0,
            // They take no bytes, so that the log does not tell how many they are; as servers do,
            // one is read.
            empty_row: start == end && self.kind == RowsKind::Insert && no_columns(),
            failed: false,
        }
    }

    /// Counts the rows of an event and locates none, as
    /// [`RowsEvent::count_rows`](crate::binlog::event::RowsEvent::count_rows) does.
    ///
    /// # Errors
    /// A row that does not fit; the error names table, column and row.
    pub fn count(&self, rows: &[u8]) -> Result<u32> {
        if self.rows(0, rows.len()).empty_row {
            return Ok(1);
        }
        self.hops
            .count(rows)
            .map_err(|error| error.in_table(&*self.table))
    }

    /// Locates at most `limit` of the rows that are left, moves behind them, and returns how many
    /// they are. Each list of `out` is longer by as many.
    ///
    /// Where a column may have a width that the log does not tell (see
    /// [`OLD_TEMPORAL`](crate::binlog::types::OLD_TEMPORAL)), all rows are hopped over first, so
    /// that none is located of an event that does not fit.
    ///
    /// # Errors
    /// The first row that does not fit: the rows before it are located, and none is left behind it.
    /// The error names table, column and row.
    pub fn locate(
        &self,
        block: &[u8],
        rows: &mut EventRows,
        limit: usize,
        out: &mut Located,
    ) -> (usize, Option<Error>) {
        if rows.is_done() || limit == 0 {
            return (0, None);
        }
        let bytes = match self.begin(block, rows) {
            Ok(bytes) => bytes,
            Err(error) => {
                rows.failed = true;
                return (0, Some(error.in_table(&*self.table)));
            }
        };
        out.have(self.wanted);
        let begin = out.len();
        let (mut count, mut error) = (0usize, None);
        while count < limit && !rows.is_done() {
            match self.row(bytes, rows.at, out) {
                Some(next) if next > rows.at || rows.empty_row => {
                    rows.at = next;
                    rows.index = rows.index.saturating_add(1);
                    rows.empty_row = false;
                    count = count.saturating_add(1);
                }
                _ => {
                    rows.failed = true;
                    out.truncate(begin.saturating_add(count));
                    error = Some(self.explain(bytes, rows));
                }
            }
        }
        for &target in &self.absent {
            if let Some(places) = out.list(target) {
                places.resize(places.len().saturating_add(count), Place::ABSENT);
            }
        }
        (count, error)
    }

    /// The block up to the end of the rows; the checks before the first of them.
    #[inline]
    fn begin<'b>(&self, block: &'b [u8], rows: &EventRows) -> Result<&'b [u8]> {
        let bytes = block.get(..rows.end).filter(|_| rows.at <= rows.end);
        let bytes = bytes
            .ok_or_else(|| Error::invalid("the rows of an event stand outside of their block"))?;
        if Place::at(rows.end).is_none() {
            return Err(Error::unsupported("a block of more than 2 GiB"));
        }
        if let Some(watched) = &self.watched
            && rows.index == 0
        {
            let all = bytes.get(rows.start..).unwrap_or_default();
            self.hops
                .count(all)
                .map_err(|error| error.in_column(&**watched))?;
        }
        Ok(bytes)
    }

    /// Locates one row and returns where it ends; `None` if it does not fit. Lists may then have a
    /// place of it or not.
    #[inline]
    fn row(&self, bytes: &[u8], mut at: usize, out: &mut Located) -> Option<usize> {
        if let Some(before) = &self.before {
            at = before.locate(bytes, at, None, out)?;
        }
        let mut partial = None;
        if let Some(partial_bytes) = self.partial_bytes {
            let mut rest = Cursor::new(bytes.get(at..)?);
            partial = partial_bits(&mut rest, partial_bytes).ok()?;
            at = bytes.len().saturating_sub(rest.len());
        }
        match &self.after {
            Some(after) => after.locate(bytes, at, partial, out),
            None => Some(at),
        }
    }

    /// Why the row at which `rows` stands does not fit. The event is whole, so what does not fit is
    /// wrong rather than cut.
    #[cold]
    fn explain(&self, bytes: &[u8], rows: &EventRows) -> Error {
        let left = bytes.get(rows.at..).unwrap_or_default();
        let error = match self.hop(&mut Cursor::new(left)) {
            Err(error) => error,
            Ok(()) => Error::corrupt(format!("{} bytes of rows without a column", left.len())),
        };
        let start = rows.at.saturating_sub(rows.start);
        in_row(error, rows.index, start).in_table(&*self.table)
    }

    fn hop(&self, rows: &mut Cursor<'_>) -> Result<()> {
        if let Some(before) = &self.before {
            before.hop(rows)?;
        }
        if let Some(partial_bytes) = self.partial_bytes {
            partial_bits(rows, partial_bytes)?;
        }
        match &self.after {
            Some(after) => after.hop(rows),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
