//! Optional metadata of a TABLE_MAP: what `binlog_row_metadata` adds to types.
//!
//! ```text
//! { field 1 │ length (packed) │ value } …            in any order; packed integers unless told otherwise
//!
//!  1 SIGNEDNESS                   a bit for each numeric column, high bit first; 1: unsigned
//!  2 DEFAULT_CHARSET              collation │ { which text column │ its collation } …
//!  3 COLUMN_CHARSET               collation of each text column
//!  4 COLUMN_NAME                  { length │ name } for each column
//!  5 SET_STR_VALUE                { count │ { length │ label } … } for each SET
//!  6 ENUM_STR_VALUE               { count │ { length │ label } … } for each ENUM
//!  7 GEOMETRY_TYPE                type of each GEOMETRY column
//!  8 SIMPLE_PRIMARY_KEY           column …
//!  9 PRIMARY_KEY_WITH_PREFIX      { column │ prefix in characters, 0: whole } …
//! 10 ENUM_AND_SET_DEFAULT_CHARSET as 2, of ENUM and SET columns
//! 11 ENUM_AND_SET_COLUMN_CHARSET  as 3, of ENUM and SET columns
//! 12 COLUMN_VISIBILITY            a bit for each column, high bit first; 1: visible
//! 13 VECTOR_DIMENSIONALITY        dimensions of each VECTOR column
//! ```
//!
//! Numeric are TINYINT to BIGINT, FLOAT, DOUBLE, DECIMAL and YEAR. Text are CHAR, VARCHAR and BLOB;
//! for MySQL also VECTOR, for MariaDB also GEOMETRY and compressed columns (UUID and INET are CHAR).
//!
//! Source: MySQL `rows_event.h` (`Optional_metadata_fields`), MariaDB `log_event_server.cc`
//! (`Table_map_log_event::init_metadata_fields`); which columns count: logs of MySQL 9.7 and
//! MariaDB 10.11 with one column of each type.

use super::format::Flavor;
use super::table_map::TableMap;
use super::{Cursor, Details};
use crate::binlog::types::{ColumnType, code};
use crate::error::{Error, Result};
use labels::write_labels;

mod labels;

/// The fields of the optional metadata, one after the other; ends after the first error.
#[derive(Debug, Clone, Copy)]
pub struct OptionalMetadata<'a> {
    rest: Cursor<'a>,
}

/// One field of the optional metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptionalField<'a> {
    /// Its code, 1 to 13 so far.
    pub code: u8,
    /// Its value.
    pub value: &'a [u8],
}

impl<'a> OptionalMetadata<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            rest: Cursor::new(bytes),
        }
    }

    /// Whether the table map has none.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    fn read(&mut self) -> Result<OptionalField<'a>> {
        let code = self.rest.u8()?;
        let value = self.rest.lenenc_bytes().map_err(|error| {
            Error::corrupt(format!(
                "optional metadata, field {code}: {}",
                error.message()
            ))
        })?;
        Ok(OptionalField { code, value })
    }
}

impl<'a> Iterator for OptionalMetadata<'a> {
    type Item = Result<OptionalField<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.read();
        if field.is_err() {
            self.rest.rest();
        }
        Some(field)
    }
}

/// What a table map tells of its columns and key.
#[derive(Debug, Clone, Default)]
pub struct TableMetadata<'a> {
    /// The columns in order.
    pub columns: Vec<ColumnMetadata<'a>>,
    /// Columns of the primary key in key order: index in `columns`, and length of the prefix in
    /// characters where the key covers only that. Empty: no key, or none told.
    pub primary_key: Vec<(usize, Option<u32>)>,
    /// Fields that nothing here knows, of a later server.
    pub unknown: Vec<OptionalField<'a>>,
}

/// What a table map tells of one column. `None` always means: not told.
#[derive(Debug, Clone)]
pub struct ColumnMetadata<'a> {
    /// Real type and its metadata.
    pub ty: ColumnType,
    /// May be NULL. Not told by logs of MySQL before 5.1.16.
    pub nullable: Option<bool>,
    /// Is an unsigned number.
    pub unsigned: Option<bool>,
    /// Collation id of a text, ENUM or SET column; 63: binary.
    pub charset: Option<u16>,
    /// Name, in UTF-8 as servers write it.
    pub name: Option<&'a [u8]>,
    /// Labels of an ENUM or SET, in the column's character set.
    pub labels: Option<Vec<&'a [u8]>>,
    /// 0 GEOMETRY, 1 POINT, 2 LINESTRING, 3 POLYGON, 4 MULTIPOINT, 5 MULTILINESTRING,
    /// 6 MULTIPOLYGON, 7 GEOMETRYCOLLECTION.
    pub geometry_type: Option<u32>,
    /// `SELECT *` shows it.
    pub visible: Option<bool>,
    /// Largest number of dimensions of a VECTOR.
    pub dimensions: Option<u32>,
}

/// Decodes all that a table map tells. Fields come in any order, so they are assigned after all
/// were read.
pub(super) fn read<'a>(map: &TableMap<'a>) -> Result<TableMetadata<'a>> {
    let mut table = TableMetadata::default();
    for (n, ty) in map.types()?.into_iter().enumerate() {
        table.columns.push(ColumnMetadata {
            ty,
            nullable: bit_low_first(map.null_bitmap, n),
            unsigned: None,
            charset: None,
            name: None,
            labels: None,
            geometry_type: None,
            visible: None,
            dimensions: None,
        });
    }
    for field in map.optional {
        let field = field?;
        table.assign(field, map.flavor).map_err(|error| {
            let name = field_name(field.code);
            Error::new(error.kind(), format!("{name}: {}", error.message()))
        })?;
    }
    Ok(table)
}

impl<'a> TableMetadata<'a> {
    fn assign(&mut self, field: OptionalField<'a>, flavor: Flavor) -> Result<()> {
        let mut value = Cursor::new(field.value);
        match field.code {
            1 => self.signedness(field.value)?,
            2 => self.default_charset(&mut value, |ty| is_text(ty, flavor))?,
            3 => self.charsets(&mut value, |ty| is_text(ty, flavor))?,
            4 => {
                for column in &mut self.columns {
                    column.name = Some(value.lenenc_bytes()?);
                }
                at_end(&value)?;
            }
            5 => self.labels(&mut value, code::SET)?,
            6 => self.labels(&mut value, code::ENUM)?,
            7 => {
                for column in self.of_type(code::GEOMETRY) {
                    column.geometry_type = Some(packed_u32(&mut value)?);
                }
                at_end(&value)?;
            }
            8 | 9 => self.primary_key(&mut value, field.code == 9)?,
            10 => self.default_charset(&mut value, is_label)?,
            11 => self.charsets(&mut value, is_label)?,
            12 => {
                bits_fit(field.value, self.columns.len())?;
                for (n, column) in self.columns.iter_mut().enumerate() {
                    column.visible = bit_high_first(field.value, n);
                }
            }
            13 => {
                for column in self.of_type(code::VECTOR) {
                    column.dimensions = Some(packed_u32(&mut value)?);
                }
                at_end(&value)?;
            }
            _ => self.unknown.push(field),
        }
        Ok(())
    }

    /// The columns of one type.
    fn of_type(&mut self, code: u8) -> impl Iterator<Item = &mut ColumnMetadata<'a>> {
        self.columns.iter_mut().filter(move |c| c.ty.code == code)
    }

    /// The columns that a field counts, up to the first array, and whether there is one: only MySQL
    /// 8.0.17 writes arrays, and whether it counts them is not known.
    fn counted(
        &mut self,
        counts: impl Fn(&ColumnType) -> bool,
    ) -> (Vec<&mut ColumnMetadata<'a>>, bool) {
        let array = self.columns.iter().position(|c| c.ty.element.is_some());
        let known = array.unwrap_or(self.columns.len());
        let counted = self
            .columns
            .iter_mut()
            .take(known)
            .filter(|c| counts(&c.ty))
            .collect();
        (counted, array.is_some())
    }

    fn signedness(&mut self, bits: &[u8]) -> Result<()> {
        let (numeric, arrays) = self.counted(is_numeric);
        if !arrays {
            bits_fit(bits, numeric.len())?;
        }
        for (n, column) in numeric.into_iter().enumerate() {
            column.unsigned = bit_high_first(bits, n);
        }
        Ok(())
    }

    fn default_charset(
        &mut self,
        value: &mut Cursor<'a>,
        counts: impl Fn(&ColumnType) -> bool,
    ) -> Result<()> {
        let (mut columns, arrays) = self.counted(counts);
        let default = packed_u16(value)?;
        for column in &mut columns {
            column.charset = Some(default);
        }
        while !value.is_empty() {
            let n = value.lenenc_len()?;
            let charset = packed_u16(value)?;
            match columns.get_mut(n) {
                Some(column) => column.charset = Some(charset),
                None if arrays => {}
                None => {
                    return Err(Error::corrupt(format!(
                        "collation {charset} for text column {n}, but there are {}",
                        columns.len()
                    )));
                }
            }
        }
        Ok(())
    }

    fn charsets(
        &mut self,
        value: &mut Cursor<'a>,
        counts: impl Fn(&ColumnType) -> bool,
    ) -> Result<()> {
        let (columns, arrays) = self.counted(counts);
        for column in columns {
            column.charset = Some(packed_u16(value)?);
        }
        if arrays { Ok(()) } else { at_end(value) }
    }

    fn labels(&mut self, value: &mut Cursor<'a>, code: u8) -> Result<()> {
        for column in self.of_type(code) {
            let count = value.lenenc_len()?;
            let mut labels = Vec::new();
            for _ in 0..count {
                // At least a byte each, so a false count ends with the value.
                labels.push(value.lenenc_bytes()?);
            }
            column.labels = Some(labels);
        }
        at_end(value)
    }

    fn primary_key(&mut self, value: &mut Cursor<'a>, with_prefix: bool) -> Result<()> {
        self.primary_key.clear();
        while !value.is_empty() {
            let column = value.lenenc_len()?;
            if column >= self.columns.len() {
                return Err(Error::corrupt(format!(
                    "column {column} in the key, but there are {}",
                    self.columns.len()
                )));
            }
            let prefix = if with_prefix { packed_u32(value)? } else { 0 };
            self.primary_key
                .push((column, Some(prefix).filter(|&n| n > 0)));
        }
        Ok(())
    }

    /// Writes the columns and what else is told of the table.
    pub(super) fn details(&self, out: &mut Details<'_>) -> Result<()> {
        // Position and prefix in the key by column, so that a wide table takes no quadratic time.
        let mut in_key = vec![None; self.columns.len()];
        for (position, &(column, prefix)) in self.primary_key.iter().enumerate() {
            if let Some(slot) = in_key.get_mut(column) {
                *slot = Some((position, prefix));
            }
        }
        out.objects("columns", self.columns.iter().zip(in_key), |out, column| {
            let (column, in_key) = column;
            column.details(out);
            if let Some((position, prefix)) = in_key {
                out.num("primary_key", position.saturating_add(1));
                if let Some(prefix) = prefix {
                    out.num("primary_key_prefix", prefix);
                }
            }
            Ok::<(), Error>(())
        })?;
        if !self.unknown.is_empty() {
            out.objects("unknown_metadata", &self.unknown, |out, field| {
                out.num("field", field.code);
                out.hex("hex", field.value);
                Ok::<(), Error>(())
            })?;
        }
        Ok(())
    }
}

impl ColumnMetadata<'_> {
    /// Name in SQL with the parameters that are certain, and TEXT told from BLOB, BINARY from CHAR
    /// where the collation is known: `DECIMAL(10,2)`, `MEDIUMTEXT`, `VARBINARY`, `POINT`.
    pub fn sql_type(&self) -> String {
        let name = self.ty.sql();
        match (self.ty.code, self.charset) {
            (code::BLOB | code::BLOB_COMPRESSED, Some(charset)) if charset != BINARY => {
                name.replace("BLOB", "TEXT")
            }
            (code::STRING, Some(BINARY)) => "BINARY".to_owned(),
            (code::VARCHAR | code::VAR_STRING | code::VARCHAR_COMPRESSED, Some(BINARY)) => {
                name.replace("VARCHAR", "VARBINARY")
            }
            (code::GEOMETRY, _) => self
                .geometry_type
                .and_then(|n| GEOMETRIES.get(usize::try_from(n).ok()?))
                .map_or(name, |geometry| (*geometry).to_owned()),
            _ => name,
        }
    }

    fn details(&self, out: &mut Details<'_>) {
        if let Some(name) = self.name {
            out.text("name", name);
        }
        out.str("type", &self.sql_type());
        if is_text_by_bytes(&self.ty) {
            out.num("max_bytes", self.ty.meta);
        }
        match self.nullable {
            Some(nullable) => out.bool("nullable", nullable),
            None => out.null("nullable"),
        }
        if let Some(unsigned) = self.unsigned {
            out.bool("unsigned", unsigned);
        }
        if let Some(charset) = self.charset {
            out.num("collation", charset);
        }
        if let Some(labels) = &self.labels {
            write_labels(out, labels, self.charset);
        }
        if let Some(geometry_type) = self.geometry_type {
            out.num("geometry_type", geometry_type);
        }
        if let Some(dimensions) = self.dimensions {
            out.num("dimensions", dimensions);
        }
        if let Some(visible) = self.visible {
            out.bool("visible", visible);
        }
    }
}

/// Collation id of BINARY, VARBINARY and BLOB.
const BINARY: u16 = 63;

const GEOMETRIES: [&str; 8] = [
    "GEOMETRY",
    "POINT",
    "LINESTRING",
    "POLYGON",
    "MULTIPOINT",
    "MULTILINESTRING",
    "MULTIPOLYGON",
    "GEOMETRYCOLLECTION",
];

fn is_numeric(ty: &ColumnType) -> bool {
    matches!(ty.code, 1..=5 | 8 | 9 | 13 | code::NEWDECIMAL)
}

fn is_label(ty: &ColumnType) -> bool {
    matches!(ty.code, code::ENUM | code::SET)
}

/// Whether the metadata is the longest value in bytes.
fn is_text_by_bytes(ty: &ColumnType) -> bool {
    matches!(
        ty.code,
        code::STRING | code::VAR_STRING | code::VARCHAR | code::VARCHAR_COMPRESSED
    )
}

fn is_text(ty: &ColumnType, flavor: Flavor) -> bool {
    match ty.code {
        code::STRING | code::VAR_STRING | code::VARCHAR | code::BLOB => true,
        code::VECTOR => flavor == Flavor::MySql,
        code::GEOMETRY | code::VARCHAR_COMPRESSED | code::BLOB_COMPRESSED => {
            flavor == Flavor::MariaDb
        }
        _ => false,
    }
}

fn field_name(code: u8) -> &'static str {
    match code {
        1 => "SIGNEDNESS",
        2 => "DEFAULT_CHARSET",
        3 => "COLUMN_CHARSET",
        4 => "COLUMN_NAME",
        5 => "SET_STR_VALUE",
        6 => "ENUM_STR_VALUE",
        7 => "GEOMETRY_TYPE",
        8 => "SIMPLE_PRIMARY_KEY",
        9 => "PRIMARY_KEY_WITH_PREFIX",
        10 => "ENUM_AND_SET_DEFAULT_CHARSET",
        11 => "ENUM_AND_SET_COLUMN_CHARSET",
        12 => "COLUMN_VISIBILITY",
        13 => "VECTOR_DIMENSIONALITY",
        _ => "unknown field",
    }
}

/// Bit `n` of a bitmap, bit 0 being the lowest of the first byte; `None` behind the end.
pub(super) fn bit_low_first(bits: &[u8], n: usize) -> Option<bool> {
    bits.get(n / 8).map(|byte| byte & (1 << (n % 8)) != 0)
}

/// Bit `n` of a bitmap, bit 0 being the highest of the first byte; `None` behind the end.
fn bit_high_first(bits: &[u8], n: usize) -> Option<bool> {
    bits.get(n / 8).map(|byte| byte & (0x80 >> (n % 8)) != 0)
}

fn bits_fit(bits: &[u8], columns: usize) -> Result<()> {
    if bits.len() == columns.div_ceil(8) {
        return Ok(());
    }
    Err(Error::corrupt(format!(
        "{} bytes of bits for {columns} columns",
        bits.len()
    )))
}

fn packed_u16(value: &mut Cursor<'_>) -> Result<u16> {
    let n = value.lenenc()?;
    u16::try_from(n).map_err(|_| Error::corrupt(format!("collation {n}")))
}

fn packed_u32(value: &mut Cursor<'_>) -> Result<u32> {
    let n = value.lenenc()?;
    u32::try_from(n).map_err(|_| Error::corrupt(format!("a number of {n}")))
}

fn at_end(value: &Cursor<'_>) -> Result<()> {
    if value.is_empty() {
        return Ok(());
    }
    Err(Error::corrupt(format!(
        "{} bytes are left behind the last column",
        value.len()
    )))
}
