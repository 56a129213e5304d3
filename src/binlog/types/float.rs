//! FLOAT and DOUBLE as text, in the forms in which the server prints them.
//!
//! ```text
//! 0.03   1.5   100000000000000   1e15   0.0000001   1e-16   -2.5e300
//! ```
//!
//! The digits are the fewest that give the same number back. (For FLOAT, `SELECT` stops at six
//! digits, and so prints 16777216 as 16777200; here no digit is lost.)
//!
//! Source: MySQL `strings/dtoa.cc` (`my_gcvt`).

use std::fmt::Write;

/// Most digits before the point, and most behind it up to the first that is not 0, that are
/// written without an exponent.
const MAX_PLAIN: i32 = 15;

/// Writes a DOUBLE.
pub fn write_f64(value: f64, out: &mut String) {
    if value.is_finite() {
        let text = ShortText::shortest(value.abs());
        write(value.is_sign_negative(), text.as_str(), out);
    } else {
        // No server stores one; a forged log may.
        let _ = write!(out, "{value}");
    }
}

/// Writes a FLOAT.
pub fn write_f32(value: f32, out: &mut String) {
    let mut text = ShortText::default();
    if value.is_finite() && write!(text, "{:e}", value.abs()).is_ok() {
        write(value.is_sign_negative(), text.as_str(), out);
    } else {
        let _ = write!(out, "{value}");
    }
}

/// Writes a number of the form `d.ddde-n`.
fn write(negative: bool, text: &str, out: &mut String) {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (first, rest) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if negative {
        out.push('-');
    }
    // Number of digits before the point; 0 and less: zeros behind it come first.
    let before = exponent.saturating_add(1);
    let digits = rest.len().saturating_add(1);
    let has_fraction = i32::try_from(digits).is_ok_and(|digits| digits > before);
    let plain = before > -MAX_PLAIN && (before <= MAX_PLAIN || has_fraction);
    if !plain {
        let point = if rest.is_empty() { "" } else { "." };
        let _ = write!(out, "{first}{point}{rest}e{exponent}");
        return;
    }
    match usize::try_from(before) {
        Err(_) | Ok(0) => {
            let zeros = usize::try_from(before.unsigned_abs()).unwrap_or(0);
            let _ = write!(out, "0.{:0<zeros$}{first}{rest}", "");
        }
        Ok(before) => {
            out.push_str(first);
            let behind_first = before.saturating_sub(1);
            match rest.split_at_checked(behind_first) {
                Some((whole, "")) => out.push_str(whole),
                Some((whole, fraction)) => {
                    let _ = write!(out, "{whole}.{fraction}");
                }
                None => {
                    let _ = write!(out, "{rest:0<behind_first$}");
                }
            }
        }
    }
}

/// Number of digits behind the point.
fn digits_behind(text: &str) -> i32 {
    let digits = text.split_once('.').map_or(0, |(_, digits)| digits.len());
    i32::try_from(digits).unwrap_or(i32::MAX)
}

/// Text of up to 32 bytes, without an allocation; more than a double needs.
#[derive(Default)]
struct ShortText {
    bytes: [u8; 32],
    len: usize,
}

impl ShortText {
    /// `d.ddde-n`, with no more digits and exponent than needed.
    fn shortest(value: f64) -> Self {
        let mut text = Self::default();
        let _ = write!(text, "{value:e}");
        text.even_neighbour(value).unwrap_or(text)
    }

    /// Two shortest texts can be equally near to the double. The server takes the one whose last
    /// digit is even, Rust the greater one. `None`: there is no such other text.
    fn even_neighbour(&self, value: f64) -> Option<Self> {
        let (mantissa, exponent) = self.as_str().split_once('e')?;
        // value = digits * 10^power, nearly.
        let exponent: i32 = exponent.parse().ok()?;
        let power = exponent.checked_sub(digits_behind(mantissa))?;
        let mut digits = 0u64;
        for digit in mantissa.chars().filter_map(|c| c.to_digit(10)) {
            digits = digits.checked_mul(10)?.checked_add(digit.into())?;
        }
        // 2 * value = odd * 2^binary, exactly.
        let bits = value.to_bits();
        let (fraction, biased) = (
            bits & 0x000f_ffff_ffff_ffff,
            i32::try_from(bits >> 52).ok()?,
        );
        let significand = if biased == 0 {
            fraction
        } else {
            fraction | 0x0010_0000_0000_0000
        };
        let zeros = significand.trailing_zeros();
        let odd = u128::from(significand.checked_shr(zeros)?);
        let binary = biased.max(1).checked_sub(1074)?;
        let binary = binary.checked_add(zeros.cast_signed())?;
        if digits.is_multiple_of(2) || binary != power {
            return None;
        }
        // The middle between digits and its neighbour is (2 * digits ± 1) / 2, and the twos agree.
        let fives = 5u128.checked_pow(power.unsigned_abs())?;
        let is_middle = |doubled: u64| {
            let doubled = u128::from(doubled);
            if power < 0 {
                odd.checked_mul(fives) == Some(doubled)
            } else {
                doubled.checked_mul(fives) == Some(odd)
            }
        };
        let doubled = digits.checked_mul(2)?;
        let even = if is_middle(doubled.checked_sub(1)?) {
            digits.checked_sub(1)?
        } else if is_middle(doubled.checked_add(1)?) {
            digits.checked_add(1)?
        } else {
            return None;
        };
        let mut plain = Self::default();
        write!(plain, "{even}").ok()?;
        let (first, others) = plain.as_str().split_at_checked(1)?;
        let mut text = Self::default();
        write!(text, "{first}.{others}e{exponent}").ok()?;
        (text.as_str().parse() == Ok(value)).then_some(text)
    }

    fn as_str(&self) -> &str {
        let text = self.bytes.get(..self.len).unwrap_or_default();
        std::str::from_utf8(text).unwrap_or_default()
    }
}

impl Write for ShortText {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let end = self.len.saturating_add(text.len());
        let to = self.bytes.get_mut(self.len..end).ok_or(std::fmt::Error)?;
        to.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn double(value: f64) -> String {
        let mut out = String::new();
        write_f64(value, &mut out);
        out
    }

    #[test]
    fn the_forms_of_the_server() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (-1.5, "-1.5"),
            (100.0, "100"),
            (1e14, "100000000000000"),
            (1e15, "1e15"),
            (1e30, "1e30"),
            (123456789012345680.0, "1.2345678901234568e17"),
            (1234567890123456.5, "1234567890123456.5"),
            (0.1, "0.1"),
            (0.0025, "0.0025"),
            (-2.5e300, "-2.5e300"),
            (1e-15, "0.000000000000001"),
            (1e-16, "1e-16"),
            (1.25e-16, "1.25e-16"),
            (f64::MAX, "1.7976931348623157e308"),
            (5e-324, "5e-324"),
        ] {
            assert_eq!(double(value), text);
        }
    }

    #[test]
    fn buglog_30_float_is_the_shortest_that_round_trips() {
        let mut out = String::new();
        write_f32(0.03, &mut out);
        assert_eq!(out, "0.03");
        out.clear();
        write_f32(f32::MAX, &mut out);
        assert_eq!(out, "3.4028235e38");
    }

    proptest! {
        #[test]
        fn every_double_comes_back(bits: u64) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            prop_assert_eq!(double(value).parse::<f64>().unwrap().to_bits(), bits);
        }

        #[test]
        fn every_float_comes_back(bits: u32) {
            let value = f32::from_bits(bits);
            prop_assume!(value.is_finite());
            let mut out = String::new();
            write_f32(value, &mut out);
            prop_assert_eq!(out.parse::<f32>().unwrap().to_bits(), bits);
        }
    }
}
