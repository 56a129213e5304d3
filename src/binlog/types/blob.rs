//! BLOB and TEXT, and all that is written like them: JSON, GEOMETRY, VECTOR.
//!
//! ```text
//! metadata      bytes of the length (1 to 4) 1
//! value         length 1 to 4 │ bytes
//! TYPED_ARRAY   metadata: type of the elements 1 │ metadata of the elements (of VARCHAR: 3 bytes)
//! ```
//!
//! The length tells TINYBLOB (1), BLOB (2), MEDIUMBLOB (3) and LONGBLOB (4): servers write all of
//! them as 252. Source: MySQL `Field_blob::do_save_field_metadata`, `rpl_utility.cc`
//! (`read_field_metadata`).

use super::{
    ColumnType, Content, Context, Cursor, MetaForm, TypeDef, Value, Width, code, known, no_value,
    prefixed,
};
use crate::error::{Error, Result};

pub(super) const DEFS: &[TypeDef] = &[
    TypeDef {
        code: code::TYPED_ARRAY,
        name: "ARRAY",
        meta: MetaForm::Byte,
        real: None,
        // The hidden column of a multi-valued index is virtual: only MySQL 8.0.17 has it in table
        // maps, and no server in rows.
        width: |_| {
            Err(Error::unsupported(
                "the hidden column of a multi-valued index has no value in a row",
            ))
        },
        decode: no_value,
        sql: None,
    },
    TypeDef {
        sql: Some(|meta| format!("{} COMPRESSED", size_name(meta))),
        ..TypeDef::with_meta(
            code::BLOB_COMPRESSED,
            "BLOB",
            MetaForm::Byte,
            width,
            |row, column| bytes(row, column).map(Value::Compressed),
        )
    },
    TypeDef::with_meta(
        code::VECTOR,
        "VECTOR",
        MetaForm::Byte,
        width,
        |row, column| Vector::new(bytes(row, column)?).map(Value::Vector),
    ),
    TypeDef::plain(
        243,
        "INVALID",
        |_| {
            Err(Error::unsupported(
                "type INVALID (243) is written by no known server",
            ))
        },
        no_value,
    ),
    TypeDef::with_meta(code::JSON, "JSON", MetaForm::Byte, width, |row, column| {
        bytes(row, column).map(Value::Json)
    }),
    TypeDef::with_meta(249, "TINYBLOB", MetaForm::Byte, width, blob),
    TypeDef::with_meta(250, "MEDIUMBLOB", MetaForm::Byte, width, blob),
    TypeDef::with_meta(251, "LONGBLOB", MetaForm::Byte, width, blob),
    TypeDef {
        sql: Some(|meta| size_name(meta).to_owned()),
        ..TypeDef::with_meta(code::BLOB, "BLOB", MetaForm::Byte, width, blob)
    },
    TypeDef::with_meta(
        code::GEOMETRY,
        "GEOMETRY",
        MetaForm::Byte,
        width,
        |row, column| Geometry::new(bytes(row, column)?).map(Value::Geometry),
    ),
];

fn width(length_bytes: u16) -> Result<Width> {
    match u8::try_from(length_bytes) {
        Ok(n @ 1..=4) => Ok(Width::Prefixed(n)),
        _ => Err(Error::corrupt(format!(
            "a BLOB whose length takes {length_bytes} bytes"
        ))),
    }
}

/// The bytes of a value.
#[inline]
fn bytes<'a>(row: &mut Cursor<'a>, column: Context) -> Result<&'a [u8]> {
    prefixed(row, usize::from(column.meta))
}

fn blob<'a>(row: &mut Cursor<'a>, column: Context) -> Result<Value<'a>> {
    let bytes = bytes(row, column)?;
    Ok(match column.content {
        Content::Text => Value::Text(bytes),
        Content::Bytes => Value::Bytes(bytes),
        Content::Unknown => Value::TextOrBytes(bytes),
    })
}

/// A value of GEOMETRY: the identifier of its spatial reference system, then WKB.
///
/// ```text
/// SRID 4, low byte first │ WKB: byte order 1 │ type 4 │ …
/// ```
///
/// A column that was added as `NOT NULL` to rows holds no bytes at all in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry<'a>(&'a [u8]);

impl<'a> Geometry<'a> {
    /// # Errors
    /// 1 to 3 bytes, which are no SRID.
    fn new(bytes: &'a [u8]) -> Result<Self> {
        match bytes.len() {
            n @ 1..4 => Err(Error::corrupt(format!("a GEOMETRY of {n} bytes"))),
            _ => Ok(Self(bytes)),
        }
    }

    /// The bytes as they stand in the log.
    pub fn bytes(self) -> &'a [u8] {
        self.0
    }

    /// Identifier of the spatial reference system; `None` where there are no bytes.
    pub fn srid(self) -> Option<u32> {
        self.0.first_chunk().copied().map(u32::from_le_bytes)
    }

    /// Well-known binary, as OGC defines it.
    pub fn wkb(self) -> &'a [u8] {
        self.0.get(4..).unwrap_or_default()
    }
}

/// A value of VECTOR: numbers of single precision, low byte first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vector<'a>(&'a [u8]);

impl<'a> Vector<'a> {
    /// # Errors
    /// Bytes that are no whole number of numbers.
    pub(in crate::binlog) fn new(bytes: &'a [u8]) -> Result<Self> {
        if bytes.len().is_multiple_of(4) {
            return Ok(Self(bytes));
        }
        Err(Error::corrupt(format!("a VECTOR of {} bytes", bytes.len())))
    }

    /// The bytes as they stand in the log.
    pub fn bytes(self) -> &'a [u8] {
        self.0
    }

    /// The numbers in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = f32> + 'a {
        let numbers = self.0.chunks_exact(4);
        numbers.map(|four| f32::from_le_bytes(four.try_into().unwrap_or_default()))
    }
}

fn size_name(length_bytes: u16) -> &'static str {
    match length_bytes {
        1 => "TINYBLOB",
        3 => "MEDIUMBLOB",
        4 => "LONGBLOB",
        _ => "BLOB",
    }
}

/// Reads the metadata of a TYPED_ARRAY.
pub(super) fn read_typed_array(metadata: &mut Cursor<'_>) -> Result<ColumnType> {
    let element = metadata.u8()?;
    let meta = if element == code::VARCHAR {
        // An index key: its length always fits in two of the three bytes.
        let len = metadata.uint(3)?;
        u16::try_from(len).map_err(|_| Error::corrupt(format!("an array of VARCHAR({len})")))?
    } else {
        known(element)?.meta.read(metadata)?
    };
    Ok(ColumnType {
        code: code::TYPED_ARRAY,
        meta,
        element: Some(element),
    })
}
