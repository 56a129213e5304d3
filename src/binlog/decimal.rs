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

/// The same where no column declares the digits, see [`packed_len`].
pub(super) fn packed_text(bytes: &[u8], precision: u8, scale: u8) -> Result<String> {
    let len = packed_len(precision, scale).ok_or_else(|| impossible(precision, scale))?;
    let Some(packed) = bytes.get(..len) else {
        return Err(Error::truncated("a DECIMAL", len, bytes.len()));
    };
    let negative = packed.first().is_some_and(|b| b & 0x80 == 0);
    let mut groups = Groups {
        packed: Cursor::new(packed),
        sign: Some(0x80),
        invert: if negative { 0xff } else { 0 },
    };
    let mut digits = String::with_capacity(usize::from(precision).saturating_add(3));
    let whole = precision.saturating_sub(scale);
    groups.push(whole % GROUP, &mut digits)?;
    for _ in 0..whole / GROUP {
        groups.push(GROUP, &mut digits)?;
    }
    let mut text = String::with_capacity(digits.len().saturating_add(3));
    let significant = digits.trim_start_matches('0');
    // The server keeps no sign for a plain 0.
    if negative && (scale > 0 || !significant.is_empty()) {
        text.push('-');
    }
    text.push_str(if significant.is_empty() {
        "0"
    } else {
        significant
    });
    if scale > 0 {
        text.push('.');
        for _ in 0..scale / GROUP {
            groups.push(GROUP, &mut text)?;
        }
        groups.push(scale % GROUP, &mut text)?;
    }
    Ok(text)
}

/// The number × 10^scale, in two's complement of 256 bits, low byte first.
///
/// Bytes behind the first [`decimal_len`] are not looked at.
///
/// # Errors
/// As of [`decimal_text`].
pub fn decimal_unscaled(bytes: &[u8], precision: u8, scale: u8) -> Result<[u8; 32]> {
    let len = decimal_len(precision, scale)?;
    let Some(packed) = bytes.get(..len) else {
        return Err(Error::truncated("a DECIMAL", len, bytes.len()));
    };
    let negative = packed.first().is_some_and(|b| b & 0x80 == 0);
    let mut groups = Groups {
        packed: Cursor::new(packed),
        sign: Some(0x80),
        invert: if negative { 0xff } else { 0 },
    };
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

struct Groups<'a> {
    packed: Cursor<'a>,
    /// The inverted bit, until the first byte is read.
    sign: Option<u8>,
    invert: u8,
}

impl Groups<'_> {
    /// Reads a group of `digits` digits and writes them all.
    fn push(&mut self, digits: u8, out: &mut String) -> Result<()> {
        if digits > 0 {
            let value = self.read(digits)?;
            let _ = write!(out, "{value:0width$}", width = usize::from(digits));
        }
        Ok(())
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
mod tests;
