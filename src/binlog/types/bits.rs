//! BIT, ENUM and SET.
//!
//! ```text
//! BIT    metadata: bits beyond whole bytes 1 │ whole bytes 1     value: high byte first
//! ENUM   inside STRING; metadata: 247 1 │ size 1                 value: index from 1, low byte first; 0 is ''
//! SET    inside STRING; metadata: 248 1 │ size 1                 value: bit n is label n, low byte first
//! ```

use super::{Context, Cursor, MetaForm, TypeDef, Value, Width, code};
use crate::error::{Error, Result};
use std::fmt;

pub(super) const DEFS: &[TypeDef] = &[
    TypeDef {
        sql: Some(|meta| format!("BIT({})", bits(meta))),
        ..TypeDef::with_meta(
            16,
            "BIT",
            MetaForm::Little,
            |meta| bit_width(meta).map(Width::Fixed),
            decode_bits,
        )
    },
    TypeDef {
        real: Some(|meta| Ok((code::ENUM, meta & 0xff))),
        ..TypeDef::with_meta(
            code::ENUM,
            "ENUM",
            MetaForm::Big,
            |size| match size {
                1 | 2 => Ok(Width::Fixed(size)),
                _ => Err(Error::corrupt(format!("an ENUM of {size} bytes"))),
            },
            |row, column| {
                let index = row.uint(usize::from(column.meta))?;
                let index = u16::try_from(index)
                    .map_err(|_| Error::corrupt(format!("label {index} of an ENUM")))?;
                Ok(Value::Enum(index))
            },
        )
    },
    TypeDef {
        real: Some(|meta| Ok((code::SET, meta & 0xff))),
        ..TypeDef::with_meta(
            code::SET,
            "SET",
            MetaForm::Big,
            |size| match size {
                1..=4 | 8 => Ok(Width::Fixed(size)),
                _ => Err(Error::corrupt(format!("a SET of {size} bytes"))),
            },
            |row, column| row.uint(usize::from(column.meta)).map(Value::Set),
        )
    },
];

/// Number of bits that the metadata of BIT tells.
fn bits(meta: u16) -> u16 {
    let [bytes, bits] = meta.to_be_bytes().map(u16::from);
    bytes.saturating_mul(8).saturating_add(bits)
}

fn bit_width(meta: u16) -> Result<u16> {
    let [bytes, bits] = meta.to_be_bytes().map(u16::from);
    let width = bytes.saturating_add(u16::from(bits > 0));
    if bits > 7 || !(1..=8).contains(&width) {
        return Err(Error::corrupt(format!(
            "a BIT column of {bytes} bytes and {bits} bits"
        )));
    }
    Ok(width)
}

fn decode_bits<'a>(row: &mut Cursor<'a>, column: Context) -> Result<Value<'a>> {
    let bytes = row.bytes(usize::from(bit_width(column.meta)?))?;
    let value = bytes
        .iter()
        .fold(0, |value: u64, &byte| value << 8 | u64::from(byte));
    let len = u8::try_from(bits(column.meta)).unwrap_or(u8::MAX);
    if value
        .checked_shr(u32::from(len))
        .is_some_and(|beyond| beyond != 0)
    {
        return Err(Error::corrupt(format!("0x{value:x} in a BIT({len})")));
    }
    Ok(Value::Bits(Bits { value, len }))
}

/// A value of BIT.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bits {
    /// The bits as a number.
    pub value: u64,
    /// How many bits the column has, 1 to 64.
    pub len: u8,
}

/// As a literal, with all its bits: `b'00101'`.
impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b'{:0len$b}'", self.value, len = usize::from(self.len))
    }
}
