//! DECIMAL: exact decimal numbers.
//!
//! ```text
//! metadata   precision 1 │ scale 1
//! value      integer digits: first the odd ones, then 9 digits in each 4 bytes │ fraction: 9 digits in each 4 bytes, then the odd ones
//! odd digits take  0 1 2 3 4 5 6 7 8 digits
//!                  0 1 1 2 2 3 3 4 4 bytes
//! ```
//!
//! Source: MySQL `strings/decimal.cc` (`decimal_bin_size`).

use super::{Context, Cursor, MetaForm, TypeDef, Value, Width, code, no_value};
use crate::binlog::decimal::{
    check_decimal, decimal_len, decimal_text, decimal_unscaled, write_decimal,
};
use crate::error::{Error, Result};

/// Digits of the longest DECIMAL.
const MAX_PRECISION: u16 = 65;

pub(super) const DEFS: &[TypeDef] = &[
    // Text of MySQL before 5.0. A table map has no metadata for it, so its length is not in the log.
    TypeDef::plain(
        0,
        "DECIMAL",
        |_| {
            Err(Error::unsupported(
                "a DECIMAL of a table made before MySQL 5.0 has no length in the log; \
                 ALTER TABLE … FORCE on the source converts it",
            ))
        },
        no_value,
    ),
    TypeDef {
        sql: Some(|meta| {
            let (precision, scale) = parts(meta);
            format!("DECIMAL({precision},{scale})")
        }),
        ..TypeDef::with_meta(
            code::NEWDECIMAL,
            "DECIMAL",
            MetaForm::Big,
            |meta| {
                let (precision, scale) = parts(meta);
                width(precision, scale)
            },
            decode,
        )
    },
];

/// Precision and scale.
fn parts(meta: u16) -> (u16, u16) {
    let [precision, scale] = meta.to_be_bytes();
    (u16::from(precision), u16::from(scale))
}

fn width(precision: u16, scale: u16) -> Result<Width> {
    let whole = precision
        .checked_sub(scale)
        .filter(|_| (1..=MAX_PRECISION).contains(&precision))
        .ok_or_else(|| Error::corrupt(format!("a column of type DECIMAL({precision},{scale})")))?;
    Ok(Width::Fixed(
        group_bytes(whole).saturating_add(group_bytes(scale)),
    ))
}

/// Bytes that so many digits take: 9 digits in 4, fewer in half as many, rounded up.
fn group_bytes(digits: u16) -> u16 {
    let odd = (digits % 9).div_ceil(2);
    (digits / 9).saturating_mul(4).saturating_add(odd)
}

fn decode<'a>(row: &mut Cursor<'a>, column: Context) -> Result<Value<'a>> {
    let [precision, scale] = column.meta.to_be_bytes();
    let packed = row.bytes(decimal_len(precision, scale)?)?;
    Ok(Value::Decimal(Decimal {
        packed,
        precision,
        scale,
    }))
}

/// A DECIMAL in its packed form: `precision` digits, `scale` of them behind the point.
///
/// The bytes are checked where the number is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal<'a> {
    /// The packed form.
    pub packed: &'a [u8],
    /// Number of digits, 1 to 65.
    pub precision: u8,
    /// Number of digits behind the point.
    pub scale: u8,
}

impl Decimal<'_> {
    /// The number as the server prints it, see [`decimal_text`].
    ///
    /// # Errors
    /// Bytes that are no number of so many digits.
    pub fn text(self) -> Result<String> {
        decimal_text(self.packed, self.precision, self.scale)
    }

    /// Appends [`Decimal::text`]; `out` is as before where there is an error.
    ///
    /// # Errors
    /// Bytes that are no number of so many digits.
    pub fn write(self, out: &mut String) -> Result<()> {
        write_decimal(self.packed, self.precision, self.scale, out)
    }

    /// Whether [`Decimal::text`] has a text for it.
    ///
    /// # Errors
    /// Bytes that are no number of so many digits.
    pub fn check(self) -> Result<()> {
        check_decimal(self.packed, self.precision, self.scale)
    }

    /// The number × 10^scale, in two's complement of 256 bits, low byte first. 65 digits take 217
    /// bits.
    ///
    /// # Errors
    /// Bytes that are no number of so many digits.
    pub fn unscaled_256(self) -> Result<[u8; 32]> {
        decimal_unscaled(self.packed, self.precision, self.scale)
    }

    /// The number × 10^scale; `None` where it does not fit, which takes more than 38 digits.
    ///
    /// # Errors
    /// Bytes that are no number of so many digits.
    pub fn unscaled_128(self) -> Result<Option<i128>> {
        let wide = self.unscaled_256()?;
        let (low, high) = wide.split_at(16);
        let low: [u8; 16] = low.try_into().unwrap_or_default();
        let low = i128::from_le_bytes(low);
        let sign = if low < 0 { 0xff } else { 0 };
        Ok(Some(low).filter(|_| high.iter().all(|&byte| byte == sign)))
    }
}
