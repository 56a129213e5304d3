//! Rows events: the changed rows of one table.
//!
//! ```text
//! table_id 6 (4 before 5.1.4) │ flags 2 │ version 2 only: extra length 2 (its own bytes too), extra │
//! column count (packed) │ columns present (count+7)/8 │ updates, not pre-GA: columns present after (count+7)/8 │
//! rows (MariaDB *_COMPRESSED: compressed)
//!
//! extra    tag 0: length 1 (from itself on) │ format 1 │ payload          NDB
//!          tag 1: partition 2 │ updates: partition before 2               rows of a partitioned table
//! ```
//!
//! | types | server |
//! |---|---|
//! | `PRE_GA_*_ROWS` | MySQL 5.1.0 to 5.1.15; their rows cannot be read, see [`RowsEvent::count_rows`] |
//! | `*_ROWS_V1` | MySQL 5.1.16 to 5.5, MariaDB |
//! | `*_ROWS` | MySQL from 5.6 |
//! | `PARTIAL_UPDATE_ROWS` | MySQL 8.0 with `binlog_row_value_options=PARTIAL_JSON` |
//! | `*_ROWS_COMPRESSED_V1` | MariaDB 10.2 with `log_bin_compress` |
//! | `*_ROWS_COMPRESSED` | none yet; MariaDB reserves them |
//! | `PARTIAL_ROW_DATA` | MariaDB 12.3: a piece of a rows event that is too long |
//!
//! Source: MySQL `libs/mysql/binlog/event/rows_event.h`, `log_event_old.cc` of 5.7; MariaDB
//! `log_event.cc` (`row_log_event_uncompress`), MariaDB documentation, "PARTIAL_ROW_DATA_EVENT".

use super::table_map::write_flags;
use super::table_maps::TableMapOwned;
use super::table_meta::bit_low_first;
use super::{Cursor, Describe, Details, Event, EventContext, EventDef, Vendor};
use crate::binlog::compressed::uncompress;
use crate::error::{Error, Result};
use std::borrow::Cow;
use std::fmt::Write;

/// What a rows event does to its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RowsKind {
    /// Inserts them.
    Insert,
    /// Updates them.
    Update,
    /// Deletes them.
    Delete,
    /// Updates them; JSON values may be given as changes to the value before.
    PartialUpdate,
}

/// The layout of a rows event, in the order of the servers that wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RowsLayout {
    /// MySQL 5.1.0 to 5.1.15.
    PreGa,
    /// MySQL 5.1.16 to 5.5, MariaDB.
    V1,
    /// MySQL from 5.6: with extra row information.
    V2,
}

macro_rules! defs {
    ($($code:literal $name:literal $vendor:ident $since:literal $doc:literal: $kind:ident $layout:ident $compressed:literal;)*) => {
        &[$(EventDef {
            code: $code,
            name: $name,
            vendor: Vendor::$vendor,
            since: $since,
            doc: $doc,
            decode: |body, cx| {
                RowsEvent::read(body, cx, RowsKind::$kind, RowsLayout::$layout, $compressed)
                    .map(Event::Rows)
            },
        },)*
        EventDef {
            code: 172,
            name: "PARTIAL_ROW_DATA",
            vendor: Vendor::MariaDb,
            since: "12.3",
            doc: "a piece of a rows event that is too long for one packet",
            decode: |body, _| PartialRowData::read(body).map(Event::PartialRowData),
        }]
    };
}

pub(super) const DEFS: &[EventDef] = defs! {
    20 "PRE_GA_WRITE_ROWS" MySql "5.1.0" "inserted rows, layout before 5.1.16": Insert PreGa false;
    21 "PRE_GA_UPDATE_ROWS" MySql "5.1.0" "updated rows, layout before 5.1.16": Update PreGa false;
    22 "PRE_GA_DELETE_ROWS" MySql "5.1.0" "deleted rows, layout before 5.1.16": Delete PreGa false;
    23 "WRITE_ROWS_V1" Both "5.1.16" "inserted rows": Insert V1 false;
    24 "UPDATE_ROWS_V1" Both "5.1.16" "updated rows, before and after": Update V1 false;
    25 "DELETE_ROWS_V1" Both "5.1.16" "deleted rows": Delete V1 false;
    30 "WRITE_ROWS" MySql "5.6" "inserted rows": Insert V2 false;
    31 "UPDATE_ROWS" MySql "5.6" "updated rows, before and after": Update V2 false;
    32 "DELETE_ROWS" MySql "5.6" "deleted rows": Delete V2 false;
    39 "PARTIAL_UPDATE_ROWS" MySql "8.0.3" "updated rows, JSON as changes": PartialUpdate V2 false;
    166 "WRITE_ROWS_COMPRESSED_V1" MariaDb "10.2" "inserted rows, compressed": Insert V1 true;
    167 "UPDATE_ROWS_COMPRESSED_V1" MariaDb "10.2" "updated rows, compressed": Update V1 true;
    168 "DELETE_ROWS_COMPRESSED_V1" MariaDb "10.2" "deleted rows, compressed": Delete V1 true;
    169 "WRITE_ROWS_COMPRESSED" MariaDb "10.2" "inserted rows, compressed": Insert V2 true;
    170 "UPDATE_ROWS_COMPRESSED" MariaDb "10.2" "updated rows, compressed": Update V2 true;
    171 "DELETE_ROWS_COMPRESSED" MariaDb "10.2" "deleted rows, compressed": Delete V2 true;
};

/// The event is the last of its statement.
pub const STMT_END_F: u16 = 1;

/// Flags of a rows event that have a name.
const FLAGS: &[(u16, &str)] = &[
    (STMT_END_F, "STMT_END_F"),
    (2, "NO_FOREIGN_KEY_CHECKS_F"),
    (4, "RELAXED_UNIQUE_CHECKS_F"),
    (8, "COMPLETE_ROWS_F"),
    (0x10, "USE_SQL_FOREIGN_KEY_F"),
    (0x80, "NO_CHECK_CONSTRAINT_CHECKS_F"),
];

/// Table ids that stand for no table: a rows event that only ends a statement.
const DUMMY_IDS: [u64; 2] = [0x00ff_ffff, 0xffff_ffff_ffff];

/// Longest rows part that is uncompressed: the longest event that servers exchange.
const MAX_ROWS_LEN: usize = 1 << 30;

/// The changed rows of one table, undecoded.
#[derive(Debug, Clone, Copy)]
pub struct RowsEvent<'a> {
    /// What happens to the rows.
    pub kind: RowsKind,
    /// Layout of the event.
    pub layout: RowsLayout,
    /// The rows are compressed.
    pub compressed: bool,
    /// The table, by the id of the TABLE_MAP before.
    pub table_id: u64,
    /// `*_F` flags; see [`STMT_END_F`].
    pub flags: u16,
    /// Extra row information of version 2, undecoded; see [`RowsEvent::extra_info`].
    pub extra: &'a [u8],
    /// Number of columns of the table.
    pub column_count: usize,
    /// Bit n (low bit first): the image before the change has column n. `None` for an insert.
    /// A column that is not present is not NULL; its value is not in the log.
    pub columns_before: Option<&'a [u8]>,
    /// The same of the image after the change. `None` for a delete.
    pub columns_after: Option<&'a [u8]>,
    /// The rows as they stand in the log, perhaps compressed; see [`RowsEvent::row_bytes`].
    pub rows: &'a [u8],
}

/// What the extra row information of version 2 tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExtraRowInfo<'a> {
    /// Format and payload of NDB.
    pub ndb: Option<(u8, &'a [u8])>,
    /// Partition of the rows; of an update: after it.
    pub partition_id: Option<u16>,
    /// Partition of the rows before an update.
    pub source_partition_id: Option<u16>,
    /// From the first tag on that nothing here knows.
    pub unknown: &'a [u8],
}

impl<'a> RowsEvent<'a> {
    /// Reads the body of an event; `None`: it is no rows event. The same as [`Event::decode`], for
    /// those who have many of them.
    ///
    /// # Errors
    /// A part that does not fit into the body.
    pub fn decode(body: &'a [u8], cx: &EventContext<'_>) -> Result<Option<Self>> {
        use RowsKind::{Delete, Insert, PartialUpdate, Update};
        use RowsLayout::{V1, V2};
        // The usual ones; the others take the way of all events.
        let (kind, layout) = match cx.header.type_code {
            23 => (Insert, V1),
            24 => (Update, V1),
            25 => (Delete, V1),
            30 => (Insert, V2),
            31 => (Update, V2),
            32 => (Delete, V2),
            39 => (PartialUpdate, V2),
            _ => {
                return Ok(match Event::decode(body, cx)? {
                    Event::Rows(rows) => Some(rows),
                    _ => None,
                });
            }
        };
        Self::read(&mut Cursor::new(body), cx, kind, layout, false).map(Some)
    }

    fn read(
        body: &mut Cursor<'a>,
        cx: &EventContext<'_>,
        kind: RowsKind,
        layout: RowsLayout,
        compressed: bool,
    ) -> Result<Self> {
        // Format descriptions of servers that do not write a type announce 0 for it.
        let announced = cx.post_header_len().filter(|&len| len > 0);
        let announced = announced.unwrap_or(match layout {
            RowsLayout::PreGa | RowsLayout::V1 => 8,
            RowsLayout::V2 => 10,
        });
        let mut fixed = body.sub(announced)?;
        let table_id = fixed.uint(if announced == 6 { 4 } else { 6 })?;
        let flags = fixed.u16()?;
        let mut extra = &[][..];
        if layout == RowsLayout::V2 && announced >= 10 {
            let len = fixed.u16()?;
            let len = usize::from(len).checked_sub(2).ok_or_else(|| {
                Error::corrupt(format!(
                    "extra row information of {len} bytes, which its own length exceeds"
                ))
            })?;
            extra = body.bytes(len)?;
        }
        let column_count = body.lenenc_len()?;
        let present = |body: &mut Cursor<'a>| {
            let len = column_count.div_ceil(8);
            body.bytes(len).map_err(|_| {
                Error::corrupt(format!(
                    "column count {column_count} but only {} bytes are left",
                    body.len()
                ))
            })
        };
        let first = present(body)?;
        let (columns_before, columns_after) = match kind {
            RowsKind::Insert => (None, Some(first)),
            RowsKind::Delete => (Some(first), None),
            RowsKind::Update if layout == RowsLayout::PreGa => (Some(first), Some(first)),
            RowsKind::Update | RowsKind::PartialUpdate => (Some(first), Some(present(body)?)),
        };
        let event = Self {
            kind,
            layout,
            compressed,
            table_id,
            flags,
            extra,
            column_count,
            columns_before,
            columns_after,
            rows: body.rest(),
        };
        event.extra_info()?;
        Ok(event)
    }

    /// Whether the event is the last of its statement.
    pub fn ends_statement(&self) -> bool {
        self.flags & STMT_END_F != 0
    }

    /// Whether the event changes no table and only ends a statement: its id stands for no table,
    /// and it has no rows.
    pub fn is_dummy(&self) -> bool {
        DUMMY_IDS.contains(&self.table_id) && self.rows.is_empty()
    }

    /// Decodes the extra row information.
    ///
    /// # Errors
    /// None in practice: reading the event has tried it. A part that ends early.
    pub fn extra_info(&self) -> Result<ExtraRowInfo<'a>> {
        self.read_extra()
            .map_err(|error| Error::corrupt(format!("extra row information: {}", error.message())))
    }

    fn read_extra(&self) -> Result<ExtraRowInfo<'a>> {
        let mut info = ExtraRowInfo::default();
        let mut rest = Cursor::new(self.extra);
        while !rest.is_empty() {
            let from_tag = rest.peek();
            match rest.u8()? {
                0 => {
                    let len = rest.u8()?;
                    let len = usize::from(len).checked_sub(2).ok_or_else(|| {
                        Error::corrupt(format!("NDB's row information of {len} bytes"))
                    })?;
                    let format = rest.u8()?;
                    info.ndb = Some((format, rest.bytes(len)?));
                }
                1 => {
                    info.partition_id = Some(rest.u16()?);
                    if matches!(self.kind, RowsKind::Update | RowsKind::PartialUpdate) {
                        info.source_partition_id = Some(rest.u16()?);
                    }
                }
                _ => {
                    // The length of an unknown tag is unknown too.
                    info.unknown = from_tag;
                    break;
                }
            }
        }
        Ok(info)
    }

    /// The rows, uncompressed.
    ///
    /// # Errors
    /// Compressed rows that cannot be uncompressed, or would be longer than 1 GiB.
    pub fn row_bytes(&self) -> Result<Cow<'a, [u8]>> {
        if self.compressed {
            uncompress(self.rows, MAX_ROWS_LEN).map(Cow::Owned)
        } else {
            Ok(Cow::Borrowed(self.rows))
        }
    }

    /// Counts the row changes; `map` is the table map of [`RowsEvent::table_id`]. An update counts
    /// once. Every byte of the rows is accounted for, but no value is decoded.
    ///
    /// Rows inserted without a column (`INSERT INTO t VALUES ()` under `binlog_row_image=MINIMAL`)
    /// take no bytes, so the log does not tell how many they are; they count as one, as which
    /// servers apply them.
    ///
    /// # Errors
    /// Rows that do not fit the table map; the error names the table. Rows of MySQL before 5.1.16:
    /// they begin with the table's own null bytes, whose number depends on the table's definition
    /// and is nowhere in the log.
    pub fn count_rows(&self, map: &TableMapOwned) -> Result<u32> {
        self.count(map)
            .map_err(|error| error.in_table(map.full_name()))
    }

    fn count(&self, map: &TableMapOwned) -> Result<u32> {
        if self.layout == RowsLayout::PreGa {
            return Err(Error::unsupported(
                "rows of MySQL before 5.1.16 depend on the table's definition, which is not in \
                 the log",
            ));
        }
        let shape = map.shape();
        if self.column_count != shape.column_count() {
            return Err(Error::corrupt(format!(
                "rows of {} columns, but the table map has {}",
                self.column_count,
                shape.column_count()
            )));
        }
        let rows = self.row_bytes()?;
        let hops = shape.hops(self.kind, self.columns_before, self.columns_after)?;
        let no_columns = || {
            present(self.columns_after, self.column_count)
                .next()
                .is_none()
        };
        if rows.is_empty() && self.kind == RowsKind::Insert && no_columns() {
            return Ok(1);
        }
        hops.count(&rows)
    }
}

/// Numbers from 1 of the columns that a bitmap has.
fn present(bits: Option<&[u8]>, count: usize) -> impl Iterator<Item = usize> {
    let bits = bits.unwrap_or_default();
    (0..count)
        .filter(|&n| bit_low_first(bits, n) == Some(true))
        .map(|n| n.saturating_add(1))
}

impl Describe for RowsEvent<'_> {
    fn info(&self, out: &mut String) -> Result<()> {
        let _ = write!(out, "table_id: {}", self.table_id);
        // MySQL names all flags since 9.6; servers that write version 1 name the first only.
        let shown = match self.layout {
            RowsLayout::V2 => FLAGS,
            RowsLayout::PreGa | RowsLayout::V1 => FLAGS.get(..1).unwrap_or_default(),
        };
        let mut head = " flags:";
        for (_, name) in shown.iter().filter(|(bit, _)| self.flags & bit != 0) {
            let _ = write!(out, "{head} {name}");
            head = "";
        }
        Ok(())
    }

    /// Columns are told by their numbers from 1, as `@1` of mysqlbinlog; `columns_*` is left out
    /// where all are present.
    fn details(&self, out: &mut Details<'_>) -> Result<()> {
        out.num("table_id", self.table_id);
        write_flags(out, self.flags, FLAGS);
        out.num("column_count", self.column_count);
        for (key, bits) in [
            ("columns_before", self.columns_before),
            ("columns_after", self.columns_after),
        ] {
            if bits.is_some() && present(bits, self.column_count).count() < self.column_count {
                out.nums(key, present(bits, self.column_count));
            }
        }
        if self.compressed {
            out.num("compressed_size", self.rows.len());
        }
        let extra = self.extra_info()?;
        if let Some((format, payload)) = extra.ndb {
            out.nested("ndb", |out| {
                out.num("format", format);
                out.hex("payload", payload);
            });
        }
        if let Some(partition) = extra.partition_id {
            out.num("partition_id", partition);
        }
        if let Some(partition) = extra.source_partition_id {
            out.num("source_partition_id", partition);
        }
        if !extra.unknown.is_empty() {
            out.hex("unknown_extra", extra.unknown);
        }
        Ok(())
    }

    fn undecoded(&self) -> usize {
        self.extra_info().map_or(0, |extra| extra.unknown.len())
    }
}

/// A piece of a rows event; the pieces follow each other, and together are the event.
///
/// ```text
/// pieces 4 │ number 4 │ flags 1 │ flags & 1: size of the whole event 8 │ bytes
/// ```
#[derive(Debug, Clone, Copy)]
pub struct PartialRowData<'a> {
    /// How many pieces there are.
    pub pieces: u32,
    /// Which of them this is, from 1.
    pub number: u32,
    /// 1: `FL_ORIG_EVENT_SIZE`, on the first piece.
    pub flags: u8,
    /// Size of the whole event, on the first piece.
    pub event_size: Option<u64>,
    /// The piece.
    pub bytes: &'a [u8],
}

impl<'a> PartialRowData<'a> {
    fn read(body: &mut Cursor<'a>) -> Result<Self> {
        let pieces = body.u32()?;
        let number = body.u32()?;
        let flags = body.u8()?;
        let event_size = if flags & 1 != 0 {
            Some(body.u64()?)
        } else {
            None
        };
        Ok(Self {
            pieces,
            number,
            flags,
            event_size,
            bytes: body.rest(),
        })
    }
}

impl Describe for PartialRowData<'_> {
    fn info(&self, out: &mut String) -> Result<()> {
        let _ = write!(out, "piece {} of {}", self.number, self.pieces);
        Ok(())
    }

    fn details(&self, out: &mut Details<'_>) -> Result<()> {
        out.num("piece", self.number);
        out.num("pieces", self.pieces);
        out.num("piece_size", self.bytes.len());
        out.num("piece_flags", self.flags);
        if let Some(size) = self.event_size {
            out.num("event_size", size);
        }
        Ok(())
    }

    fn undecoded(&self) -> usize {
        self.bytes.len()
    }
}

#[cfg(test)]
mod corpus_tests;
#[cfg(test)]
mod tests;
