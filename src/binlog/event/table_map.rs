//! TABLE_MAP: which table an id in the following rows events means, and what its columns are.
//!
//! ```text
//! table_id 6 (4 before 5.1.4) │ flags 2 │
//! schema: length 1, text, 0 │ table: length 1, text, 0 │
//! column count (packed) │ types 1 each │ metadata: length (packed), bytes │ null bitmap (count+7)/8 │
//! optional metadata: { field 1 │ length (packed) │ value } …
//! ```
//!
//! Logs of MySQL before 5.1.16 end after the types. Reading is cheap: it finds the parts.
//! [`TableMap::columns`] decodes them. Source: MySQL `libs/mysql/binlog/event/rows_event.h`
//! (`Table_map_event`); MariaDB `log_event.cc` (`Table_map_log_event`).

use super::format::Flavor;
use super::table_meta::{self, OptionalMetadata, TableMetadata};
use super::{Cursor, Describe, Details, Event, EventContext, EventDef, Vendor};
use crate::binlog::charset::Text;
use crate::binlog::types::{ColumnType, type_def};
use crate::error::{Error, Result};
use std::fmt::Write;

/// Code of TABLE_MAP.
pub const TABLE_MAP: u8 = 19;

pub(super) const DEFS: &[EventDef] = &[EventDef {
    code: TABLE_MAP,
    name: "TABLE_MAP",
    vendor: Vendor::Both,
    since: "5.1",
    doc: "the table and columns that a table id in rows events means",
    decode: |body, cx| TableMap::read(body, cx).map(Event::TableMap),
}];

/// More columns than any server allows (4096). Each takes one byte here, and a hundred or more once
/// decoded: a limit keeps that in proportion.
const MAX_COLUMNS: usize = 0xffff;

/// Flags of a table map that have a name.
const FLAGS: &[(u16, &str)] = &[
    (1, "TM_BIT_LEN_EXACT_F"),
    (2, "TM_REFERRED_FK_DB_F"),
    (4, "TM_GENERATED_INVISIBLE_PK_F"),
    (0x4000, "TM_BIT_HAS_TRIGGERS_F"),
];

/// A table map, undecoded but for its parts.
#[derive(Debug, Clone, Copy)]
pub struct TableMap<'a> {
    /// The id by which rows events name the table, until the statement ends.
    pub table_id: u64,
    /// `TM_*_F` flags.
    pub flags: u16,
    /// Schema (database) of the table; UTF-8 as servers write it.
    pub schema: &'a [u8],
    /// Name of the table; UTF-8 as servers write it.
    pub table: &'a [u8],
    /// Type codes of the columns, as they stand in the log: ENUM and SET are STRING here.
    pub column_types: &'a [u8],
    /// Metadata of the columns, 0 to 4 bytes each.
    pub metadata: &'a [u8],
    /// Bit n (low bit first): column n may be NULL. Empty where the log has none (before 5.1.16).
    pub null_bitmap: &'a [u8],
    /// Fields of `binlog_row_metadata`, undecoded.
    pub optional: OptionalMetadata<'a>,
    /// Whose server wrote it: which columns a field of the optional metadata counts differs.
    pub flavor: Flavor,
    body: &'a [u8],
    short_id: bool,
}

impl<'a> TableMap<'a> {
    /// Reads the body of a TABLE_MAP.
    ///
    /// # Errors
    /// A part that does not fit into the body.
    pub fn read(body: &mut Cursor<'a>, cx: &EventContext<'_>) -> Result<Self> {
        let short_id = cx.post_header_len() == Some(6);
        Self::read_body(body.rest(), short_id, cx.format.flavor)
    }

    pub(crate) fn read_body(bytes: &'a [u8], short_id: bool, flavor: Flavor) -> Result<Self> {
        let mut body = Cursor::new(bytes);
        let table_id = body.uint(if short_id { 4 } else { 6 })?;
        let flags = body.u16()?;
        let schema = name(&mut body, "schema")?;
        let table = name(&mut body, "table")?;
        let in_table = |error: Error| error.in_table(full_name(schema, table));
        let mut rest = || {
            let count = body.lenenc_len()?;
            if count > body.len() {
                return Err(Error::corrupt(format!(
                    "column count {count} but only {} bytes are left",
                    body.len()
                )));
            }
            if count > MAX_COLUMNS {
                return Err(Error::corrupt(format!(
                    "column count {count}, but no server has tables of more than 4096 columns"
                )));
            }
            let column_types = body.bytes(count)?;
            if body.is_empty() {
                return Ok((column_types, &[][..], &[][..], &[][..]));
            }
            let metadata = body.lenenc_bytes()?;
            let null_bitmap = body.bytes(count.div_ceil(8))?;
            Ok((column_types, metadata, null_bitmap, body.rest()))
        };
        let (column_types, metadata, null_bitmap, optional) = rest().map_err(in_table)?;
        Ok(Self {
            table_id,
            flags,
            schema,
            table,
            column_types,
            metadata,
            null_bitmap,
            optional: OptionalMetadata::new(optional),
            flavor,
            body: bytes,
            short_id,
        })
    }

    /// `schema.table`, for messages: bytes that are not UTF-8 are replaced.
    pub fn full_name(&self) -> String {
        full_name(self.schema, self.table)
    }

    /// Number of columns.
    pub fn column_count(&self) -> usize {
        self.column_types.len()
    }

    /// Whether the log tells more of the columns than type codes: not before MySQL 5.1.16.
    pub fn has_metadata(&self) -> bool {
        !self.null_bitmap.is_empty() || self.column_types.is_empty()
    }

    /// Types of the columns in order, ENUM and SET told from STRING.
    ///
    /// # Errors
    /// See [`ColumnType::read`]; the error names the column. Metadata that no column takes.
    pub fn types(&self) -> Result<Vec<ColumnType>> {
        let mut metadata = Cursor::new(self.metadata);
        let mut types = Vec::with_capacity(self.column_types.len());
        for (&code, n) in self.column_types.iter().zip(1u32..) {
            let ty = ColumnType::read(code, &mut metadata);
            types.push(ty.map_err(|error| error.in_column(format!("@{n}")))?);
        }
        if metadata.is_empty() {
            return Ok(types);
        }
        Err(Error::corrupt(format!(
            "{} bytes of metadata are left behind the last column",
            metadata.len()
        )))
    }

    /// Everything that the table map tells of its columns and key.
    ///
    /// # Errors
    /// Types, metadata or optional metadata that do not fit the columns.
    pub fn columns(&self) -> Result<TableMetadata<'a>> {
        table_meta::read(self).map_err(|error| error.in_table(self.full_name()))
    }

    /// The body as it stands in the log.
    pub(crate) fn body(&self) -> &'a [u8] {
        self.body
    }

    /// Whether the table id takes 4 bytes.
    pub(super) fn short_id(&self) -> bool {
        self.short_id
    }
}

/// A name: length 1, text, 0.
fn name<'a>(body: &mut Cursor<'a>, what: &str) -> Result<&'a [u8]> {
    let len = body.u8()?;
    let text = body.bytes(usize::from(len))?;
    match body.u8()? {
        0 => Ok(text),
        other => Err(Error::corrupt(format!(
            "byte {other:02x} ends the {what} name, not 00"
        ))),
    }
}

/// `schema.table` for people.
pub(super) fn full_name(schema: &[u8], table: &[u8]) -> String {
    let schema = Text::utf8(schema).text;
    let table = Text::utf8(table).text;
    format!("{schema}.{table}")
}

/// Writes the names of the set flags; bits without a name as `0x…`.
pub(super) fn write_flags(out: &mut Details<'_>, flags: u16, names: &[(u16, &str)]) {
    let mut unnamed = flags;
    let mut set: Vec<String> = Vec::new();
    for &(bit, name) in names {
        if flags & bit != 0 {
            set.push(name.to_owned());
            unnamed &= !bit;
        }
    }
    if unnamed != 0 {
        set.push(format!("0x{unnamed:x}"));
    }
    out.strs("flags", set);
}

impl Describe for TableMap<'_> {
    fn info(&self, out: &mut String) -> Result<()> {
        let _ = write!(out, "table_id: {} ({})", self.table_id, self.full_name());
        Ok(())
    }

    fn details(&self, out: &mut Details<'_>) -> Result<()> {
        out.num("table_id", self.table_id);
        write_flags(out, self.flags, FLAGS);
        out.num("column_count", self.column_count());
        if !self.has_metadata() {
            let name = |code: &u8| type_def(*code).map_or("UNKNOWN", |def| def.name);
            out.strs("column_types", self.column_types.iter().map(name));
            return Ok(());
        }
        self.columns()?.details(out)
    }

    fn undecoded(&self) -> usize {
        self.columns().map_or(0, |columns| {
            columns.unknown.iter().map(|field| field.value.len()).sum()
        })
    }
}

#[cfg(test)]
pub(super) mod tests;
