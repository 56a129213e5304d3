//! Session values that a statement needs when it runs again: INTVAR, RAND, USER_VAR. They stand
//! before their statement.
//!
//! ```text
//! INTVAR    kind 1 │ value 8
//! RAND      seed1 8 │ seed2 8
//! USER_VAR  name_len 4 │ name │ is_null 1 │ (type 1 │ collation 4 │ value_len 4 │ value │ attributes)
//!   type    0 string │ 1 double 8 │ 2 integer 8 │ 4 decimal: precision 1, scale 1, packed
//!   attributes  none │ MySQL: flags 1 (bit 0: unsigned)
//!               MariaDB: 0 signed, 1 unsigned, 2 │ len 1 │ name of the data type
//! ```
//!
//! Source: MySQL `libs/mysql/binlog/event/statement_events.{h,cpp}`; MariaDB `sql/log_event.cc`,
//! `sql/log_event_data_type.h`.

use super::query::write_name;
use super::{Cursor, Describe, Details, Event, EventContext, EventDef, Vendor};
use crate::binlog::charset::{Charset, Text, charset_of};
use crate::binlog::decimal::{decimal_len, decimal_text};
use crate::error::{Error, Result};
use std::fmt::Write;

pub(super) const DEFS: &[EventDef] = &[
    EventDef {
        code: 5,
        name: "INTVAR",
        vendor: Vendor::Both,
        since: "3.23",
        doc: "value of INSERT_ID or LAST_INSERT_ID for the next statement",
        decode: |body, cx| {
            skip_post_header(body, cx)?;
            Intvar::read(body).map(Event::Intvar)
        },
    },
    EventDef {
        code: 13,
        name: "RAND",
        vendor: Vendor::Both,
        since: "4.0",
        doc: "seeds of RAND() for the next statement",
        decode: |body, cx| {
            skip_post_header(body, cx)?;
            Ok(Event::Rand(Rand {
                seed1: body.u64()?,
                seed2: body.u64()?,
            }))
        },
    },
    EventDef {
        code: 14,
        name: "USER_VAR",
        vendor: Vendor::Both,
        since: "4.1",
        doc: "value of a user variable that the next statement reads",
        decode: |body, cx| {
            skip_post_header(body, cx)?;
            UserVar::read(body).map(Event::UserVar)
        },
    },
];

/// No server writes a post-header here, but a log may announce one.
fn skip_post_header(body: &mut Cursor<'_>, cx: &EventContext<'_>) -> Result<()> {
    body.skip(cx.post_header_len().unwrap_or(0))
}

/// Value of INSERT_ID or LAST_INSERT_ID.
#[derive(Debug, Clone, Copy)]
pub struct Intvar {
    /// 1: LAST_INSERT_ID; 2: INSERT_ID.
    pub kind: u8,
    /// The value.
    pub value: u64,
}

impl Intvar {
    fn read(body: &mut Cursor<'_>) -> Result<Self> {
        let kind = body.u8()?;
        if !(1..=2).contains(&kind) {
            return Err(Error::corrupt(format!("variable kind {kind}")));
        }
        Ok(Self {
            kind,
            value: body.u64()?,
        })
    }

    /// `LAST_INSERT_ID` or `INSERT_ID`.
    pub fn name(&self) -> &'static str {
        match self.kind {
            1 => "LAST_INSERT_ID",
            _ => "INSERT_ID",
        }
    }
}

impl Describe for Intvar {
    fn info(&self, out: &mut String) -> Result<()> {
        let _ = write!(out, "{}={}", self.name(), self.value);
        Ok(())
    }

    fn details(&self, out: &mut Details<'_>) -> Result<()> {
        out.str("variable", self.name());
        out.num("value", self.value);
        Ok(())
    }
}

/// Seeds of `RAND()`.
#[derive(Debug, Clone, Copy)]
pub struct Rand {
    /// `rand_seed1`.
    pub seed1: u64,
    /// `rand_seed2`.
    pub seed2: u64,
}

impl Describe for Rand {
    fn info(&self, out: &mut String) -> Result<()> {
        let _ = write!(out, "rand_seed1={},rand_seed2={}", self.seed1, self.seed2);
        Ok(())
    }

    fn details(&self, out: &mut Details<'_>) -> Result<()> {
        out.num("rand_seed1", self.seed1);
        out.num("rand_seed2", self.seed2);
        Ok(())
    }
}

/// A user variable that the next statement reads.
#[derive(Debug, Clone, Copy)]
pub struct UserVar<'a> {
    /// Name without the `@`, in UTF-8.
    pub name: &'a [u8],
    /// The value.
    pub value: UserVarValue<'a>,
    /// Identifier of the value's collation; `None` for NULL.
    pub collation_id: Option<u32>,
    /// Name of the data type where MariaDB tells it (`inet6`).
    pub data_type: Option<&'a [u8]>,
    /// Attributes that nothing here knows; empty where all is read.
    pub undecoded: &'a [u8],
}

/// Value of a user variable.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum UserVarValue<'a> {
    /// NULL.
    Null,
    /// A string, in the character set of the variable's collation.
    String(&'a [u8]),
    /// A double.
    Real(f64),
    /// An integer. Logs before 5.1.23 do not tell its sign: it is then taken as the server takes
    /// it, signed.
    Int(i64),
    /// An unsigned integer.
    Unsigned(u64),
    /// A decimal; see [`decimal_text`].
    Decimal {
        /// Number of digits.
        precision: u8,
        /// Number of digits behind the point.
        scale: u8,
        /// The digits.
        packed: &'a [u8],
    },
}

impl<'a> UserVar<'a> {
    fn read(body: &mut Cursor<'a>) -> Result<Self> {
        let name_len = body.u32()? as usize;
        let name = body.bytes(name_len)?;
        if body.u8()? != 0 {
            return Ok(Self {
                name,
                value: UserVarValue::Null,
                collation_id: None,
                data_type: None,
                undecoded: body.rest(),
            });
        }
        let kind = body.u8()?;
        let collation_id = body.u32()?;
        let len = body.u32()? as usize;
        let value = body.bytes(len)?;
        let mut unsigned = false;
        let mut data_type = None;
        let mut undecoded: &[u8] = &[];
        while !body.is_empty() {
            let attribute = *body;
            match body.u8()? {
                0 => unsigned = false,
                1 => unsigned = true,
                2 => {
                    let len = body.u8()?;
                    data_type = Some(body.bytes(usize::from(len))?);
                }
                _ => {
                    undecoded = attribute.peek();
                    break;
                }
            }
        }
        Ok(Self {
            name,
            value: UserVarValue::read(kind, value, unsigned)?,
            collation_id: Some(collation_id),
            data_type,
            undecoded,
        })
    }

    /// Character set of the value; `None` for NULL and for an unknown collation.
    fn charset(&self) -> Option<&'static Charset> {
        charset_of(u16::try_from(self.collation_id?).ok()?)
    }
}

impl<'a> UserVarValue<'a> {
    fn read(kind: u8, bytes: &'a [u8], unsigned: bool) -> Result<Self> {
        let eight = || {
            bytes
                .first_chunk::<8>()
                .filter(|_| bytes.len() == 8)
                .copied()
                .ok_or_else(|| Error::corrupt(format!("a number of {} bytes, not 8", bytes.len())))
        };
        Ok(match kind {
            0 => Self::String(bytes),
            1 => Self::Real(f64::from_le_bytes(eight()?)),
            2 if unsigned => Self::Unsigned(u64::from_le_bytes(eight()?)),
            2 => Self::Int(i64::from_le_bytes(eight()?)),
            4 => {
                let mut value = Cursor::new(bytes);
                let (precision, scale) = (value.u8()?, value.u8()?);
                let packed = value.rest();
                let len = decimal_len(precision, scale)?;
                if packed.len() != len {
                    return Err(Error::corrupt(format!(
                        "DECIMAL({precision},{scale}) of {} bytes, not {len}",
                        packed.len()
                    )));
                }
                Self::Decimal {
                    precision,
                    scale,
                    packed,
                }
            }
            other => return Err(Error::corrupt(format!("a user variable of type {other}"))),
        })
    }

    fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "NULL",
            Self::String(_) => "STRING",
            Self::Real(_) => "REAL",
            Self::Int(_) => "INT",
            Self::Unsigned(_) => "INT UNSIGNED",
            Self::Decimal { .. } => "DECIMAL",
        }
    }
}

/// A double in the fewest digits that give it back, with an exponent from 1e15 on and below 1e-5.
fn write_real(value: f64, out: &mut String) {
    let plain = value == 0.0 || (1e-5..1e15).contains(&value.abs()) || !value.is_finite();
    let _ = if plain {
        write!(out, "{value}")
    } else {
        write!(out, "{value:e}")
    };
}

impl Describe for UserVar<'_> {
    fn info(&self, out: &mut String) -> Result<()> {
        out.push('@');
        write_name(self.name, out);
        out.push('=');
        match self.value {
            UserVarValue::Null => out.push_str("NULL"),
            UserVarValue::Real(n) => write_real(n, out),
            UserVarValue::Int(n) => {
                let _ = write!(out, "{n}");
            }
            UserVarValue::Unsigned(n) => {
                let _ = write!(out, "{n}");
            }
            UserVarValue::Decimal {
                precision,
                scale,
                packed,
            } => out.push_str(&decimal_text(packed, precision, scale)?),
            UserVarValue::String(bytes) => {
                if let Some(charset) = self.charset() {
                    let _ = write!(out, "_{} ", charset.name);
                }
                write_string(bytes, self.charset(), out);
            }
        }
        Ok(())
    }

    fn details(&self, out: &mut Details<'_>) -> Result<()> {
        out.text("name", self.name);
        out.str("type", self.value.type_name());
        match self.value {
            UserVarValue::Null => out.null("value"),
            UserVarValue::Int(n) => out.num("value", n),
            UserVarValue::Unsigned(n) => out.num("value", n),
            UserVarValue::Real(n) => {
                let mut text = String::new();
                write_real(n, &mut text);
                if n.is_finite() {
                    out.num("value", text);
                } else {
                    out.str("value", &text);
                }
            }
            UserVarValue::Decimal {
                precision,
                scale,
                packed,
            } => {
                out.str("value", &decimal_text(packed, precision, scale)?);
                out.num("precision", precision);
                out.num("scale", scale);
            }
            UserVarValue::String(bytes) => match self.charset().map(|c| c.decode(bytes)) {
                Some(Ok(text)) => out.str("value", &text),
                _ => out.nested("value", |out| out.hex("hex", bytes)),
            },
        }
        if let Some(id) = self.collation_id {
            if let Some(charset) = self.charset() {
                out.str("character_set", charset.name);
            }
            out.num("collation_id", id);
        }
        if let Some(name) = self.data_type {
            out.text("data_type", name);
        }
        if !self.undecoded.is_empty() {
            out.hex("undecoded", self.undecoded);
        }
        Ok(())
    }

    fn undecoded(&self) -> usize {
        self.undecoded.len()
    }
}

/// Writes a string literal, in hexadecimal where the bytes are no text.
fn write_string(bytes: &[u8], charset: Option<&Charset>, out: &mut String) {
    match charset.map(|c| c.decode(bytes)) {
        Some(Ok(text)) => write_quoted(&text, out),
        _ => {
            out.push_str("X'");
            for byte in bytes {
                let _ = write!(out, "{byte:02X}");
            }
            out.push('\'');
        }
    }
}

/// Writes text in single quotes, with the escapes of SQL.
pub(super) fn write_quoted(text: &str, out: &mut String) {
    out.push('\'');
    for c in text.chars() {
        match c {
            '\0' => out.push_str("\\0"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{1a}' => out.push_str("\\Z"),
            '\'' => out.push_str("\\'"),
            '\\' => out.push_str("\\\\"),
            c => out.push(c),
        }
    }
    out.push('\'');
}

/// Writes bytes of which only UTF-8 is known as a string literal.
pub(super) fn write_quoted_bytes(bytes: &[u8], out: &mut String) {
    write_quoted(&Text::utf8(bytes).text, out);
}

#[cfg(test)]
mod tests;
