//! DECIMAL: the packed form → exact text.
//!
//! ```text
//! DECIMAL(14,4)  1234567890.1234
//!   digits        1 │ 234567890 │ . │ 1234        groups of nine, counted from the point
//!   bytes        81 │ 0d fb 38 d2 │   04 d2       big-endian; the first bit is inverted
//! ```
//!
//! A group of nine digits takes four bytes, the group of fewer digits at either end as many as its
//! digits need. A negative number has all bits inverted. Source: MySQL `strings/decimal.cc`,
//! `decimal2bin`.

use super::cursor::Cursor;
use crate::error::{Error, Result};
use std::fmt::Write;

/// Greatest number of digits that a server declares.
pub const MAX_PRECISION: u8 = 65;
/// Greatest number of digits behind the point. MySQL stops at 30, MariaDB at 38.
pub const MAX_SCALE: u8 = 38;

/// Digits of a full group.
const GROUP: u8 = 9;

/// Bytes of a group of 0–9 digits.
fn group_len(digits: u8) -> usize {
    match digits {
        0 => 0,
        1 | 2 => 1,
        3 | 4 => 2,
        5 | 6 => 3,
        _ => 4,
    }
}

/// Length of the packed form of `DECIMAL(precision, scale)` in bytes.
///
/// # Errors
/// `precision` is 0 or above 65, or `scale` is above 38 or above `precision`.
pub fn decimal_len(precision: u8, scale: u8) -> Result<usize> {
    let valid = (1..=MAX_PRECISION).contains(&precision) && scale <= MAX_SCALE;
    packed_len(precision, scale)
        .filter(|_| valid)
        .ok_or_else(|| impossible(precision, scale))
}

#[cold]
fn impossible(precision: u8, scale: u8) -> Error {
    Error::corrupt(format!("DECIMAL({precision},{scale})"))
}

/// The same where no column declares the digits: inside JSON the server counts full groups, so that
/// they may be a few more. `None`: more digits behind the point than there are.
pub(super) fn packed_len(precision: u8, scale: u8) -> Option<usize> {
    let whole = precision.checked_sub(scale)?;
    let side = |digits: u8| {
        usize::from(digits / GROUP)
            .saturating_mul(4)
            .saturating_add(group_len(digits % GROUP))
    };
    Some(side(whole).saturating_add(side(scale)))
}

/// The number in the packed form, as the server prints it: all `scale` digits behind the point, no
/// leading zeros, `0` before a bare fraction.
///
/// Bytes behind the first [`decimal_len`] are not looked at.
///
/// # Errors
/// Fewer bytes than [`decimal_len`]; a group that is greater than its digits allow; an impossible
/// precision or scale.
pub fn decimal_text(bytes: &[u8], precision: u8, scale: u8) -> Result<String> {
    decimal_len(precision, scale)?;
    packed_text(bytes, precision, scale)
}

/// As [`decimal_text`], appended to `out`, which is as before where there is an error.
///
/// # Errors
/// As of [`decimal_text`].
pub fn write_decimal(bytes: &[u8], precision: u8, scale: u8, out: &mut String) -> Result<()> {
    decimal_len(precision, scale)?;
    write_packed(bytes, precision, scale, out)
}

/// Whether [`decimal_text`] has a text for it.
///
/// # Errors
/// As of [`decimal_text`].
pub fn check_decimal(bytes: &[u8], precision: u8, scale: u8) -> Result<()> {
    decimal_len(precision, scale)?;
    let (mut groups, _) = Groups::new(bytes, precision, scale)?;
    let whole = precision.saturating_sub(scale);
    groups.read(whole % GROUP)?;
    for _ in 0..(whole / GROUP).saturating_add(scale / GROUP) {
        groups.read(GROUP)?;
    }
    groups.read(scale % GROUP).map(|_| ())
}

/// The text where no column declares the digits, see [`packed_len`].
pub(super) fn packed_text(bytes: &[u8], precision: u8, scale: u8) -> Result<String> {
    let mut text = String::with_capacity(usize::from(precision).saturating_add(3));
    write_packed(bytes, precision, scale, &mut text)?;
    Ok(text)
}

fn write_packed(bytes: &[u8], precision: u8, scale: u8, out: &mut String) -> Result<()> {
    let begin = out.len();
    write_digits(bytes, precision, scale, out).inspect_err(|_| out.truncate(begin))
}

fn write_digits(bytes: &[u8], precision: u8, scale: u8, out: &mut String) -> Result<()> {
    let (mut groups, negative) = Groups::new(bytes, precision, scale)?;
    let whole = precision.saturating_sub(scale);
    let begin = out.len();
    if negative {
        out.push('-');
    }
    let sign_end = out.len();
    let odd = whole % GROUP;
    let first = (odd > 0).then_some(odd);
    for digits in first.into_iter().chain((0..whole / GROUP).map(|_| GROUP)) {
        let value = groups.read(digits)?;
        // Zeros in front are not printed.
        if out.len() > sign_end {
            write_group(value, digits, out);
        } else if value > 0 {
            let _ = write!(out, "{value}");
        }
    }
    if out.len() == sign_end {
        // The server keeps no sign for a plain 0.
        if scale == 0 {
            out.truncate(begin);
        }
        out.push('0');
    }
    if scale > 0 {
        out.push('.');
        for _ in 0..scale / GROUP {
            write_group(groups.read(GROUP)?, GROUP, out);
        }
        let odd = scale % GROUP;
        write_group(groups.read(odd)?, odd, out);
    }
    Ok(())
}

/// Writes so many digits, 0 to 9.
fn write_group(value: u32, digits: u8, out: &mut String) {
    if digits > 0 {
        let _ = write!(out, "{value:0width$}", width = usize::from(digits));
    }
}

/// The number × 10^scale, in two's complement of 256 bits, low byte first.
///
/// Bytes behind the first [`decimal_len`] are not looked at.
///
/// # Errors
/// As of [`decimal_text`].
pub fn decimal_unscaled(bytes: &[u8], precision: u8, scale: u8) -> Result<[u8; 32]> {
    decimal_len(precision, scale)?;
    let (mut groups, negative) = Groups::new(bytes, precision, scale)?;
    let whole = precision.saturating_sub(scale);
    let mut number = [0u64; 4];
    let mut push = |digits: u8| {
        let group = groups.read(digits)?;
        // 65 digits take 217 bits, so nothing is carried out.
        let mut carry = u128::from(group);
        let factor = u128::from(10u64.saturating_pow(u32::from(digits)));
        for limb in &mut number {
            let sum = u128::from(*limb)
                .saturating_mul(factor)
                .saturating_add(carry);
            *limb = sum as u64;
            carry = sum >> 64;
        }
        Ok::<(), Error>(())
    };
    push(whole % GROUP)?;
    for _ in 0..(whole / GROUP).saturating_add(scale / GROUP) {
        push(GROUP)?;
    }
    push(scale % GROUP)?;
    if negative {
        let mut carry = true;
        for limb in &mut number {
            (*limb, carry) = (!*limb).overflowing_add(u64::from(carry));
        }
    }
    let mut out = [0; 32];
    for (bytes, limb) in out.chunks_exact_mut(8).zip(number) {
        bytes.copy_from_slice(&limb.to_le_bytes());
    }
    Ok(out)
}

/// Reads DECIMALs of up to 38 digits, all of one precision and scale, without an allocation.
#[derive(Debug, Clone, Copy)]
pub struct UnscaledReader {
    /// Bytes of each group, and how many numbers its digits have.
    groups: [(u8, u32); Self::MAX_GROUPS],
    len: usize,
    small: bool,
}

impl UnscaledReader {
    /// Groups of 38 digits: full ones, and at both ends one of fewer digits.
    const MAX_GROUPS: usize = 6;
    /// Digits that `i128` has room for.
    const MAX_PRECISION: u8 = 38;

    /// A reader of `DECIMAL(precision, scale)`; `None` where no column has that, or more digits.
    pub fn new(precision: u8, scale: u8) -> Option<Self> {
        let len = decimal_len(precision, scale).ok()?;
        if precision > Self::MAX_PRECISION {
            return None;
        }
        let whole = precision.checked_sub(scale)?;
        let digits = std::iter::once(whole % GROUP)
            .chain((0..whole / GROUP).map(|_| GROUP))
            .chain((0..scale / GROUP).map(|_| GROUP))
            .chain(std::iter::once(scale % GROUP));
        // Groups without bytes end the list.
        let mut groups = [(0, 1); Self::MAX_GROUPS];
        let digits = digits.filter(|&digits| digits > 0);
        for (group, digits) in groups.iter_mut().zip(digits) {
            let bytes = u8::try_from(group_len(digits)).ok()?;
            *group = (bytes, 10u32.saturating_pow(u32::from(digits)));
        }
        Some(Self {
            groups,
            len,
            small: precision <= 18,
        })
    }

    /// The number × 10^scale that begins here; `None` where [`decimal_unscaled`] has an error.
    #[inline]
    pub fn read(&self, bytes: &[u8]) -> Option<i128> {
        let packed = bytes.get(..self.len)?;
        let negative = packed.first()? & 0x80 == 0;
        let invert = if negative { 0xff } else { 0 };
        let absolute = if self.small {
            let number = self.digits(packed, invert, 0u64, |number, limit, group| {
                number
                    .wrapping_mul(u64::from(limit))
                    .wrapping_add(u64::from(group))
            });
            i128::from(number?)
        } else {
            let number = self.digits(packed, invert, 0u128, |number, limit, group| {
                number
                    .wrapping_mul(u128::from(limit))
                    .wrapping_add(u128::from(group))
            });
            number?.cast_signed()
        };
        Some(if negative {
            absolute.wrapping_neg()
        } else {
            absolute
        })
    }

    #[inline]
    fn digits<N>(
        &self,
        packed: &[u8],
        invert: u8,
        zero: N,
        append: impl Fn(N, u32, u32) -> N,
    ) -> Option<N> {
        let (mut number, mut rest, mut sign) = (zero, packed, 0x80);
        for &(bytes, limit) in &self.groups {
            if bytes == 0 {
                break;
            }
            let (group, behind) = rest.split_at_checked(usize::from(bytes))?;
            rest = behind;
            let mut value = 0u32;
            for byte in group {
                value = (value << 8) | u32::from(byte ^ invert ^ sign);
                sign = 0;
            }
            if value >= limit {
                return None;
            }
            number = append(number, limit, value);
        }
        Some(number)
    }
}

struct Groups<'a> {
    packed: Cursor<'a>,
    /// The inverted bit, until the first byte is read.
    sign: Option<u8>,
    invert: u8,
}

impl<'a> Groups<'a> {
    /// The groups of a number, and whether it is negative.
    fn new(bytes: &'a [u8], precision: u8, scale: u8) -> Result<(Self, bool)> {
        let len = packed_len(precision, scale).ok_or_else(|| impossible(precision, scale))?;
        let Some(packed) = bytes.get(..len) else {
            return Err(Error::truncated("a DECIMAL", len, bytes.len()));
        };
        let negative = packed.first().is_some_and(|b| b & 0x80 == 0);
        let groups = Self {
            packed: Cursor::new(packed),
            sign: Some(0x80),
            invert: if negative { 0xff } else { 0 },
        };
        Ok((groups, negative))
    }

    /// Reads a group of `digits` digits.
    fn read(&mut self, digits: u8) -> Result<u32> {
        let mut value = 0u32;
        for byte in self.packed.bytes(group_len(digits))? {
            let byte = byte ^ self.invert ^ self.sign.take().unwrap_or(0);
            value = (value << 8) | u32::from(byte);
        }
        if value >= 10u32.saturating_pow(u32::from(digits)) {
            return Err(Error::corrupt(format!(
                "a DECIMAL group of {digits} digits holds {value}"
            )));
        }
        Ok(value)
    }
}

#[cfg(test)]
pub(super) mod tests;
