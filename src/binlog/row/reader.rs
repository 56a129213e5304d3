//! The rows of an event, decoded.
//!
//! ```text
//! TableMapOwned + RowsEvent + bytes ─▶ RowReader ─ next() ─▶ Row { before: [Cell], after: [Cell] }
//! ```

use super::plan::RowPlan;
use super::{PARTIAL_JSON_UPDATES, RowShape, bit};
use crate::binlog::cursor::Cursor;
use crate::binlog::event::{RowsEvent, RowsKind, RowsLayout, TableMapOwned};
use crate::binlog::types::{Context, Decode, Value};
use crate::error::{Error, ErrorKind, Result};

/// What the log has of one column in one image of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// Nothing: the image was logged without the column (`binlog_row_image`). The value is not
    /// known; it is not NULL.
    Absent,
    /// A value, or NULL.
    Value(Value<'a>),
    /// What to change in the JSON value of the before image (`PARTIAL_JSON`): the changes in
    /// their binary form.
    JsonDiff(&'a [u8]),
}

impl<'a> Cell<'a> {
    /// The value, if the log has one.
    #[inline]
    pub fn value(self) -> Option<Value<'a>> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::JsonDiff(_) => None,
        }
    }
}

/// One row change. Both images have a cell for each column of the table, in its order.
#[derive(Debug, Clone, Copy)]
pub struct Row<'r, 'a> {
    /// Number inside the event, from 0.
    pub index: u32,
    /// The row before the change; `None` for an insert.
    pub before: Option<&'r [Cell<'a>]>,
    /// The row after the change; `None` for a delete.
    pub after: Option<&'r [Cell<'a>]>,
}

/// Decodes the rows of one event, one after the other, into the same two lists of cells.
///
/// The first error ends the event: where the next row begins is then not known.
#[derive(Debug)]
pub struct RowReader<'p, 'a> {
    plan: &'p RowPlan,
    rows: Cursor<'a>,
    /// Length of the rows.
    len: usize,
    index: u32,
    before: Option<Image<'a>>,
    after: Option<Image<'a>>,
    /// Of a partial update: bytes of its partial bits, one for each JSON column of the table.
    partial_bytes: Option<usize>,
    /// A row without a column and without a byte is still to come.
    empty_row: bool,
    done: bool,
}

/// A column that an image has.
#[derive(Debug)]
struct Present {
    /// Index among the columns of the table.
    n: usize,
    decode: Decode,
    context: Context,
    /// Index among the JSON columns of the table.
    json: Option<usize>,
}

/// One image: the columns it has, and the cells of the current row.
#[derive(Debug)]
struct Image<'a> {
    columns: Box<[Present]>,
    null_bytes: usize,
    cells: Vec<Cell<'a>>,
}

impl<'a> Image<'a> {
    fn new(plan: &RowPlan, present: &[u8]) -> Result<Self> {
        let mut columns = Vec::new();
        let mut json_columns = 0..;
        for (n, column) in plan.columns().iter().enumerate() {
            // Absent JSON columns are counted too.
            let json = column.is_json().then(|| json_columns.next()).flatten();
            if !bit(present, n) {
                continue;
            }
            let Some(decode) = column.decode else {
                // Once more, for its words.
                let error = column.ty.width().err();
                let error = error.unwrap_or_else(|| Error::unsupported("a type without length"));
                return Err(plan.in_column(n, error));
            };
            columns.push(Present {
                n,
                decode,
                context: column.context,
                json,
            });
        }
        Ok(Self {
            null_bytes: columns.len().div_ceil(8),
            columns: columns.into(),
            cells: vec![Cell::Absent; plan.columns().len()],
        })
    }

    /// Reads one image. `partial` has a bit for each JSON column of the table: its cell is a diff.
    fn read(
        &mut self,
        plan: &RowPlan,
        rows: &mut Cursor<'a>,
        partial: Option<&[u8]>,
    ) -> Result<()> {
        let nulls = rows.bytes(self.null_bytes)?;
        for (k, column) in self.columns.iter().enumerate() {
            let Some(cell) = self.cells.get_mut(column.n) else {
                break; // there are as many cells as columns
            };
            if bit(nulls, k) {
                *cell = Cell::Value(Value::Null);
                continue;
            }
            let value = (column.decode)(rows, column.context)
                .map_err(|error| plan.in_column(column.n, error))?;
            *cell = match (value, partial, column.json) {
                (Value::Json(diff), Some(partial), Some(json)) if bit(partial, json) => {
                    Cell::JsonDiff(diff)
                }
                _ => Cell::Value(value),
            };
        }
        Ok(())
    }
}

impl<'p, 'a> RowReader<'p, 'a> {
    /// A reader over the rows of `event`. `map` is the table map of its table id, and `rows` what
    /// [`RowsEvent::row_bytes`] gave.
    ///
    /// Where a column may have a width that the log does not tell (see
    /// [`OLD_TEMPORAL`](crate::binlog::types::OLD_TEMPORAL)), all rows are hopped over first, so
    /// that none is decoded of an event that does not fit.
    ///
    /// # Errors
    /// Rows that do not belong to the table map; columns that cannot be read. The error names the
    /// table.
    pub fn new(map: &'p TableMapOwned, event: &RowsEvent<'_>, rows: &'a [u8]) -> Result<Self> {
        let reader = map
            .plan()
            .and_then(|plan| Self::start(map.shape(), plan, event, rows));
        reader.map_err(|error| error.in_table(map.full_name()))
    }

    /// As [`RowReader::new`], but with a plan of that table map which has been made with a hint.
    ///
    /// # Errors
    /// Those of [`RowReader::new`].
    pub fn with_plan(
        map: &TableMapOwned,
        plan: &'p RowPlan,
        event: &RowsEvent<'_>,
        rows: &'a [u8],
    ) -> Result<Self> {
        Self::start(map.shape(), plan, event, rows).map_err(|error| error.in_table(map.full_name()))
    }

    fn start(
        shape: &RowShape,
        plan: &'p RowPlan,
        event: &RowsEvent<'_>,
        rows: &'a [u8],
    ) -> Result<Self> {
        check_event(plan, event)?;
        if let Some(watched) = plan.watched {
            shape
                .hops(event.kind, event.columns_before, event.columns_after)
                .and_then(|hops| hops.count(rows))
                .map_err(|error| plan.in_column(watched, error))?;
        }
        let image = |present: Option<&[u8]>| {
            let image = present.map(|present| Image::new(plan, present));
            image.transpose()
        };
        let (before, after) = (image(event.columns_before)?, image(event.columns_after)?);
        let no_columns = after.as_ref().is_some_and(|after| after.columns.is_empty());
        Ok(Self {
            plan,
            rows: Cursor::new(rows),
            len: rows.len(),
            index: 0,
            before,
            after,
            partial_bytes: plan.partial_bytes(event.kind),
            empty_row: rows.is_empty() && event.kind == RowsKind::Insert && no_columns,
            done: false,
        })
    }

    /// The next row, or `None` behind the last.
    ///
    /// Rows inserted without a column take no bytes, so that the log does not tell how many they
    /// are; as servers do, one is read.
    ///
    /// # Errors
    /// A value that cannot be decoded, or rows that do not end where the event does. The error
    /// names table, column and row; after it there is no further row.
    #[allow(clippy::should_implement_trait)] // a row borrows from the reader
    pub fn next(&mut self) -> Result<Option<Row<'_, 'a>>> {
        if self.done || self.rows.is_empty() && !self.empty_row {
            return Ok(None);
        }
        self.empty_row = false;
        let start = self.rows.len();
        if let Err(error) = self.read() {
            self.done = true;
            return Err(self.place(error, start));
        }
        if self.rows.len() == start && start > 0 {
            self.done = true;
            let error = Error::corrupt(format!("{start} bytes of rows without a column"));
            return Err(self.place(error, start));
        }
        let index = self.index;
        self.index = index.saturating_add(1);
        Ok(Some(Row {
            index,
            before: self.before.as_ref().map(|image| &*image.cells),
            after: self.after.as_ref().map(|image| &*image.cells),
        }))
    }

    fn read(&mut self) -> Result<()> {
        if let Some(before) = &mut self.before {
            before.read(self.plan, &mut self.rows, None)?;
        }
        let mut partial = None;
        if let Some(partial_bytes) = self.partial_bytes {
            partial = partial_bits(&mut self.rows, partial_bytes)?;
        }
        match &mut self.after {
            Some(after) => after.read(self.plan, &mut self.rows, partial),
            None => Ok(()),
        }
    }

    #[cold]
    fn place(&self, error: Error, start: usize) -> Error {
        in_row(error, self.index, self.len.saturating_sub(start)).in_table(self.plan.table())
    }
}

/// Adds the row, which begins at byte `start` of the event's rows. The event is whole, so what does
/// not fit is wrong rather than cut.
#[cold]
pub(super) fn in_row(error: Error, index: u32, start: usize) -> Error {
    let kind = match error.kind() {
        ErrorKind::Truncated => ErrorKind::Corrupt,
        kind => kind,
    };
    let number = index.saturating_add(1);
    let message = format!(
        "row {number} of the event, at byte {start} of its rows: {}",
        error.message()
    );
    let placed = Error::new(kind, message);
    match error.at().column.clone() {
        Some(column) => placed.in_column(column),
        None => placed,
    }
}

/// Whether the rows of an event can be those of a table.
pub(super) fn check_event(plan: &RowPlan, event: &RowsEvent<'_>) -> Result<()> {
    if event.layout == RowsLayout::PreGa {
        return Err(Error::unsupported(
            "rows of MySQL before 5.1.16 depend on the table's definition, which is not in the log",
        ));
    }
    if event.column_count != plan.columns().len() {
        return Err(Error::corrupt(format!(
            "rows of {} columns, but the table map has {}",
            event.column_count,
            plan.columns().len()
        )));
    }
    Ok(())
}

/// Reads the value options of a partial update, and its partial bits where they follow.
pub(super) fn partial_bits<'a>(rows: &mut Cursor<'a>, len: usize) -> Result<Option<&'a [u8]>> {
    match rows.lenenc()? {
        0 => Ok(None),
        PARTIAL_JSON_UPDATES => rows.bytes(len).map(Some),
        other => Err(Error::unsupported(format!("value options 0x{other:x}"))),
    }
}

#[cfg(test)]
mod tests;
