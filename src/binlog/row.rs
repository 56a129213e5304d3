//! Rows inside a rows event: where each ends, and the values in them.
//!
//! ```text
//! INSERT          after      DELETE   before      UPDATE   before │ after
//! PARTIAL UPDATE  before │ value options (packed) │ partial bits, one for each JSON column │ after
//!
//! image           null bits, one for each column present, low bit first │ value of each that is present and not NULL
//! ```
//!
//! A [`RowShape`] holds the width of each column, once for a table map. [`Hops`] is that, for the
//! columns present in one event; hopping allocates nothing and decodes no value.
//!
//! [`RowJson`] writes a row as JSON, from where its values stand.
//!
//! A [`LocatePlan`] finds where the values of some columns begin, and decodes none.
//!
//! A [`RowPlan`] holds how the values of each column are decoded, once for a table map. A
//! [`RowReader`] decodes the rows of one event into [`Cell`]s; it allocates nothing for a row.
//!
//! Source: MySQL `rpl_record.cc` (`pack_row`, `unpack_row`), `log_event.cc`
//! (`print_verbose_one_row`).

use super::cursor::Cursor;
use super::event::{RowsKind, TableMap};
use super::types::{ColumnType, OLD_TEMPORAL, Width, code};
use crate::error::{Error, ErrorKind, Result};

mod display;
mod hint;
mod json_row;
mod json_value;
mod labels;
mod locate;
mod note;
mod place;
mod plan;
mod reader;

pub use hint::{ColumnHint, DeclaredType, NameSource, TableHint};
pub use json_row::{RowJson, changed};
pub use locate::{EventRows, LocatePlan, Located};
pub use note::ValueNote;
pub use place::Place;
pub use plan::{ColumnPlan, RowPlan};
pub use reader::{Cell, Row, RowReader};

/// What hopping over the rows of a table needs to know of its columns.
#[derive(Debug, Clone)]
pub struct RowShape {
    columns: Box<[ColumnShape]>,
    json_columns: usize,
    watch_padding: bool,
}

#[derive(Debug, Clone, Copy)]
struct ColumnShape {
    ty: ColumnType,
    /// `None`: values of the type have no length in the log.
    width: Option<Width>,
}

impl RowShape {
    /// The shape of a table's rows.
    ///
    /// # Errors
    /// A type that is not known, or metadata that the type cannot have; the error names the
    /// column. A type without a length in the log is an error only where a row has a value of it.
    pub fn new(map: &TableMap<'_>) -> Result<Self> {
        if !map.has_metadata() {
            return Ok(Self::without_metadata(map.column_types));
        }
        let mut columns = Vec::with_capacity(map.column_count());
        let (mut json_columns, mut watch_padding) = (0usize, false);
        for (ty, n) in map.types()?.into_iter().zip(1u32..) {
            let width = match ty.width() {
                Ok(width) => Some(width),
                Err(error) if error.kind() == ErrorKind::Unsupported => None,
                Err(error) => return Err(error.in_column(format!("@{n}"))),
            };
            json_columns = json_columns.saturating_add(usize::from(ty.code == code::JSON));
            watch_padding |= OLD_TEMPORAL.contains(&ty.code);
            columns.push(ColumnShape { ty, width });
        }
        Ok(Self {
            columns: columns.into(),
            json_columns,
            watch_padding,
        })
    }

    /// Codes alone tell no widths: the shape of a table map of MySQL before 5.1.16.
    fn without_metadata(codes: &[u8]) -> Self {
        let column = |&code| ColumnShape {
            ty: ColumnType {
                code,
                meta: 0,
                element: None,
            },
            width: None,
        };
        Self {
            columns: codes.iter().map(column).collect(),
            json_columns: 0,
            watch_padding: false,
        }
    }

    /// Number of columns.
    pub fn column_count(&self) -> usize {
        self.columns.len()
    }

    /// Bytes of memory that the columns take.
    pub(crate) fn weight(&self) -> usize {
        size_of_val(&*self.columns)
    }

    /// The hops over an image with the columns that `present` has.
    fn image(&self, present: &[u8]) -> Result<Image> {
        let mut columns = Vec::new();
        let mut hops: Vec<Hop> = Vec::new();
        for (n, column) in self.columns.iter().enumerate() {
            if !bit(present, n) {
                continue;
            }
            let number = u32::try_from(n).unwrap_or(u32::MAX).saturating_add(1);
            let Some(width) = column.width else {
                // Once more, for its words.
                let error = column.ty.width().err().unwrap_or_else(|| {
                    Error::unsupported("the table map has no metadata of its columns")
                });
                return Err(error.in_column(format!("@{number}")));
            };
            columns.push((number, width));
            match (hops.last_mut(), width) {
                (Some(Hop::Fixed(total)), Width::Fixed(n)) => {
                    *total = total.saturating_add(usize::from(n));
                }
                (_, Width::Fixed(n)) => hops.push(Hop::Fixed(usize::from(n))),
                (_, Width::Prefixed(n)) => hops.push(Hop::Prefixed(n)),
            }
        }
        let used = columns.len() % 8;
        Ok(Image {
            null_bytes: columns.len().div_ceil(8),
            padding: if used == 0 { 0 } else { 0xff << used },
            watch_padding: self.watch_padding,
            columns,
            hops,
        })
    }

    /// The hops over the rows of one event. `before` and `after` are its bitmaps of present
    /// columns, where it has such an image.
    ///
    /// # Errors
    /// A present column whose values have no length in the log.
    pub fn hops(
        &self,
        kind: RowsKind,
        before: Option<&[u8]>,
        after: Option<&[u8]>,
    ) -> Result<Hops> {
        Ok(Hops {
            before: before.map(|present| self.image(present)).transpose()?,
            after: after.map(|present| self.image(present)).transpose()?,
            json_columns: (kind == RowsKind::PartialUpdate).then_some(self.json_columns),
        })
    }
}

/// Bit `n` of a bitmap, low bit first; clear behind the end.
fn bit(bits: &[u8], n: usize) -> bool {
    bits.get(n / 8)
        .is_some_and(|byte| byte & (1 << (n % 8)) != 0)
}

/// Several columns of fixed width in one hop, or one with a length.
#[derive(Debug, Clone, Copy)]
enum Hop {
    Fixed(usize),
    Prefixed(u8),
}

/// The columns present in one image.
#[derive(Debug, Clone)]
struct Image {
    null_bytes: usize,
    /// Bits of the last null byte that stand for no column. Servers set them.
    padding: u8,
    watch_padding: bool,
    /// Number from 1 and width of each.
    columns: Vec<(u32, Width)>,
    /// The same for a row without NULL.
    hops: Vec<Hop>,
}

impl Image {
    fn hop(&self, rows: &mut Cursor<'_>) -> Result<()> {
        let nulls = rows.bytes(self.null_bytes)?;
        let Some((&last, all_but_last)) = nulls.split_last() else {
            return Ok(()); // no column is present
        };
        if self.watch_padding && last & self.padding != self.padding {
            return Err(Error::corrupt(
                "a row does not begin where the row before it ends; if the server was MariaDB, a \
                 TIME, DATETIME or TIMESTAMP with a fraction has a width that is not in the log",
            ));
        }
        let begin = *rows;
        if last & !self.padding == 0 && all_but_last.iter().all(|&byte| byte == 0) {
            if self.hop_all(rows).is_ok() {
                return Ok(());
            }
            // Again one by one, to name the column.
            *rows = begin;
        }
        for (n, &(number, width)) in self.columns.iter().enumerate() {
            if !bit(nulls, n) {
                width
                    .skip(rows)
                    .map_err(|error| error.in_column(format!("@{number}")))?;
            }
        }
        Ok(())
    }

    #[inline]
    fn hop_all(&self, rows: &mut Cursor<'_>) -> Result<()> {
        for hop in &self.hops {
            match *hop {
                Hop::Fixed(n) => rows.skip(n)?,
                Hop::Prefixed(n) => Width::Prefixed(n).skip(rows)?,
            }
        }
        Ok(())
    }
}

/// Bit of the value options: the partial bits follow.
const PARTIAL_JSON_UPDATES: u64 = 1;

/// The hops over the rows of one event.
#[derive(Debug, Clone)]
pub struct Hops {
    before: Option<Image>,
    after: Option<Image>,
    /// For partial updates: number of JSON columns of the table, present or not.
    json_columns: Option<usize>,
}

impl Hops {
    /// Hops over one row change.
    ///
    /// # Errors
    /// The row does not fit; where a column is to blame, the error names it as `@n`, n from 1.
    pub fn hop(&self, rows: &mut Cursor<'_>) -> Result<()> {
        if let Some(before) = &self.before {
            before.hop(rows)?;
        }
        if let Some(json_columns) = self.json_columns {
            match rows.lenenc()? {
                0 => {}
                // A partial value has a length of 4 bytes, as a full one has.
                PARTIAL_JSON_UPDATES => rows.skip(json_columns.div_ceil(8))?,
                other => {
                    return Err(Error::unsupported(format!("value options 0x{other:x}")));
                }
            }
        }
        match &self.after {
            Some(after) => after.hop(rows),
            None => Ok(()),
        }
    }

    /// Counts the row changes in `rows`, which they must fill exactly.
    ///
    /// # Errors
    /// The number of the first row that does not fit, from 1.
    pub fn count(&self, rows: &[u8]) -> Result<u32> {
        let mut rows = Cursor::new(rows);
        let mut count = 0u32;
        while !rows.is_empty() {
            let before = rows.len();
            let number = count.saturating_add(1);
            self.hop(&mut rows).map_err(|error| {
                let message = format!("row {number} of the event: {}", error.message());
                // The event is whole, so what does not fit is wrong rather than cut.
                let kind = match error.kind() {
                    ErrorKind::Truncated => ErrorKind::Corrupt,
                    kind => kind,
                };
                let wrapped = Error::new(kind, message);
                match error.at().column.clone() {
                    Some(column) => wrapped.in_column(column),
                    None => wrapped,
                }
            })?;
            if rows.len() == before {
                return Err(Error::corrupt(format!(
                    "{before} bytes of rows without a column"
                )));
            }
            count = number;
        }
        Ok(count)
    }
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
