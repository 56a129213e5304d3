//! Integers, YEAR, FLOAT and DOUBLE.
//!
//! ```text
//! TINYINT, YEAR 1 │ SMALLINT 2 │ MEDIUMINT 3 │ INT 4 │ BIGINT 8       low byte first
//! FLOAT 4 │ DOUBLE 8                                                 IEEE 754, low byte first
//! ```
//!
//! Whether an integer is unsigned is no part of the type; see `SIGNEDNESS` of table maps. YEAR is
//! the year less 1900; 0 is the year 0000.

use super::{Context, Cursor, MetaForm, Signedness, TypeDef, Value, Width, code, no_value};
use crate::error::{Error, Result};
use std::fmt;

pub(super) const DEFS: &[TypeDef] = &[
    TypeDef::plain(code::TINYINT, "TINYINT", |_| Ok(Width::Fixed(1)), int::<1>),
    TypeDef::plain(
        code::SMALLINT,
        "SMALLINT",
        |_| Ok(Width::Fixed(2)),
        int::<2>,
    ),
    TypeDef::plain(code::INT, "INT", |_| Ok(Width::Fixed(4)), int::<4>),
    TypeDef::with_meta(
        code::FLOAT,
        "FLOAT",
        MetaForm::Byte,
        |meta| float(meta, 4),
        |row, _| row.array().map(f32::from_le_bytes).map(Value::Float),
    ),
    TypeDef::with_meta(
        code::DOUBLE,
        "DOUBLE",
        MetaForm::Byte,
        |meta| float(meta, 8),
        |row, _| row.array().map(f64::from_le_bytes).map(Value::Double),
    ),
    // The type of a column that is NULL in every row: `CREATE TABLE t AS SELECT NULL`.
    TypeDef::plain(6, "NULL", |_| Ok(Width::Fixed(0)), |_, _| Ok(Value::Null)),
    TypeDef::plain(code::BIGINT, "BIGINT", |_| Ok(Width::Fixed(8)), int::<8>),
    TypeDef::plain(
        code::MEDIUMINT,
        "MEDIUMINT",
        |_| Ok(Width::Fixed(3)),
        int::<3>,
    ),
    TypeDef::plain(
        code::YEAR,
        "YEAR",
        |_| Ok(Width::Fixed(1)),
        |row, _| {
            Ok(Value::Year(match row.u8()? {
                0 => 0,
                n => u16::from(n).saturating_add(1900),
            }))
        },
    ),
    // A placeholder in the server's list; no server writes it.
    TypeDef::plain(
        244,
        "BOOL",
        |_| {
            Err(Error::unsupported(
                "BOOL (244) is written by no known server",
            ))
        },
        no_value,
    ),
];

fn float(meta: u16, size: u16) -> Result<Width> {
    if meta == size {
        Ok(Width::Fixed(size))
    } else {
        Err(Error::corrupt(format!(
            "a floating-point column of {meta} bytes, not {size}"
        )))
    }
}

#[inline]
fn int<'a, const N: usize>(row: &mut Cursor<'a>, column: Context) -> Result<Value<'a>> {
    let int = AnyInt {
        bits: row.uint(N)?,
        bytes: N as u8,
    };
    Ok(match column.signedness {
        Signedness::Signed => Value::Int(int.signed()),
        Signedness::Unsigned => Value::UInt(int.bits),
        Signedness::Unknown => Value::AnyInt(int),
    })
}

/// An integer of which the log does not tell whether it is unsigned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AnyInt {
    /// The value, if it is unsigned.
    pub bits: u64,
    /// Bytes it takes: 1, 2, 3, 4 or 8.
    pub bytes: u8,
}

impl AnyInt {
    /// The value, if it is signed.
    #[inline]
    pub fn signed(self) -> i64 {
        let spare = 64u32.saturating_sub(u32::from(self.bytes).saturating_mul(8));
        let high = self.bits.checked_shl(spare).unwrap_or(0).cast_signed();
        high.checked_shr(spare).unwrap_or(0)
    }

    /// The value, if both readings are the same.
    #[inline]
    pub fn certain(self) -> Option<i64> {
        i64::try_from(self.bits)
            .ok()
            .filter(|&unsigned| unsigned == self.signed())
    }
}

/// The signed value, and the unsigned in parentheses if it is another: `5`, `-1 (255)`.
impl fmt::Display for AnyInt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.certain() {
            Some(value) => write!(f, "{value}"),
            None => write!(f, "{} ({})", self.signed(), self.bits),
        }
    }
}
