//! CHAR and VARCHAR, BINARY and VARBINARY.
//!
//! ```text
//! VARCHAR, VAR_STRING, VARCHAR_COMPRESSED   metadata: longest value in bytes 2
//! STRING                                    metadata: type ^ high bits of the length 1 │ low bits of the length 1
//! value                                     length 1, or 2 if the longest value has more than 255 bytes │ bytes
//! ```
//!
//! In the metadata of STRING, bits 4 and 5 of the first byte are the *inverted* bits 8 and 9 of the
//! length: all types it can hold have both bits set. `fe 20`: CHAR of 32 bytes; `ce fc`: CHAR of
//! 1020 bytes; `f7 02`: ENUM of 2 bytes. Source: MySQL `Field_string::do_save_field_metadata`.
//!
//! CHAR is written without the spaces at its end, as `SELECT` shows it. BINARY is written without
//! the zeros at its end, which `SELECT` shows: [`Binary`] puts them back (`Field_string::pack`).
//! UUID, INET4 and INET6 of MariaDB are written as BINARY of 16, 4 and 16 bytes, and no table map
//! tells them from it.

use super::{Content, Context, Cursor, MetaForm, TypeDef, Value, Width, code, prefixed};
use crate::error::{Error, Result};
use std::borrow::Cow;

pub(super) const DEFS: &[TypeDef] = &[
    TypeDef::with_meta(code::VARCHAR, "VARCHAR", MetaForm::Little, width, var),
    TypeDef::with_meta(code::VAR_STRING, "VARCHAR", MetaForm::Little, width, var),
    TypeDef {
        sql: Some(|_| "VARCHAR COMPRESSED".to_owned()),
        ..TypeDef::with_meta(
            code::VARCHAR_COMPRESSED,
            "VARCHAR",
            MetaForm::Little,
            width,
            |row, column| bytes(row, column).map(Value::Compressed),
        )
    },
    TypeDef {
        real: Some(real),
        ..TypeDef::with_meta(code::STRING, "CHAR", MetaForm::Big, width, fixed)
    },
];

fn width(longest: u16) -> Result<Width> {
    Ok(Width::Prefixed(if longest > 255 { 2 } else { 1 }))
}

/// The bytes of a value.
#[inline]
fn bytes<'a>(row: &mut Cursor<'a>, column: Context) -> Result<&'a [u8]> {
    let length_bytes = if column.meta > 255 { 2 } else { 1 };
    let bytes = prefixed(row, length_bytes)?;
    if bytes.len() > usize::from(column.meta) {
        return Err(Error::corrupt(format!(
            "{} bytes in a column of at most {}",
            bytes.len(),
            column.meta
        )));
    }
    Ok(bytes)
}

fn var<'a>(row: &mut Cursor<'a>, column: Context) -> Result<Value<'a>> {
    let bytes = bytes(row, column)?;
    Ok(match column.content {
        Content::Text => Value::Text(bytes),
        Content::Bytes => Value::Bytes(bytes),
        Content::Unknown => Value::TextOrBytes(bytes),
    })
}

fn fixed<'a>(row: &mut Cursor<'a>, column: Context) -> Result<Value<'a>> {
    let bytes = bytes(row, column)?;
    Ok(match column.content {
        Content::Text => Value::Text(bytes),
        Content::Bytes => Value::Binary(Binary {
            stored: bytes,
            len: column.meta,
        }),
        Content::Unknown => Value::TextOrBytes(bytes),
    })
}

/// A value of BINARY, which is stored without the zeros at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Binary<'a> {
    /// The bytes as they stand in the log.
    pub stored: &'a [u8],
    /// How many bytes the value has, zeros at the end included.
    pub len: u16,
}

impl<'a> Binary<'a> {
    /// The bytes with all zeros; borrowed where none are missing.
    pub fn padded(self) -> Cow<'a, [u8]> {
        let len = usize::from(self.len);
        if self.stored.len() >= len {
            return Cow::Borrowed(self.stored);
        }
        let mut bytes = self.stored.to_vec();
        bytes.resize(len, 0);
        Cow::Owned(bytes)
    }
}

/// What a STRING really is.
fn real(meta: u16) -> Result<(u8, u16)> {
    let [first, low] = meta.to_be_bytes();
    let high = (!first & 0x30) >> 4;
    let len = u16::from_be_bytes([high, low]);
    match first | 0x30 {
        real @ (code::ENUM | code::SET) if high == 0 => Ok((real, len)),
        // Tables made before MySQL 5.0 have VAR_STRING here.
        code::STRING | code::VAR_STRING => Ok((code::STRING, len)),
        _ => Err(Error::corrupt(format!(
            "a column of type STRING with metadata {first:02x} {low:02x}"
        ))),
    }
}
