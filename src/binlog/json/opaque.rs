//! Values of SQL types inside JSON.
//!
//! ```text
//! DECIMAL     precision 1 │ scale 1 │ packed number
//! DATE, DATETIME, TIMESTAMP      8 bytes, little-endian, from the high bit:
//!             year * 13 + month │ day 5 │ hour 5 │ minute 6 │ second 6 │ microsecond 24
//! TIME        8 bytes, little-endian, negative as a whole:  hour 10 │ minute 6 │ second 6 │ microsecond 24
//! others      "base64:type<code>:<base64>"
//! ```
//!
//! Source: MySQL `json_dom.cc` (`Json_wrapper::to_string`), `my_time.cc`
//! (`TIME_from_longlong_*_packed`), `base64.cc`.

use super::corrupt;
use super::node::Opaque;
use crate::binlog::decimal::{packed_len, packed_text};
use crate::error::Result;
use std::fmt::Write;

/// Column types whose values are no base64.
const TIMESTAMP: u8 = 7;
const DATE: u8 = 10;
const TIME: u8 = 11;
const DATETIME: u8 = 12;
const NEWDECIMAL: u8 = 246;

const MICROSECONDS_BITS: u32 = 24;

/// Characters of base64 in a line: the server breaks it, and the break stands escaped in the text.
const LINE: usize = 76;
/// Bytes in such a line.
const LINE_BYTES: usize = LINE / 4 * 3;

impl Opaque<'_> {
    /// Writes the value as the server prints it.
    pub(super) fn write(&self, out: &mut String) -> Result<()> {
        match self.type_code {
            NEWDECIMAL => self.decimal(out),
            DATE => self.date(false, out),
            DATETIME | TIMESTAMP => self.date(true, out),
            TIME => self.time(out),
            type_code => {
                write_base64(type_code, self.data, out);
                Ok(())
            }
        }
    }

    fn decimal(&self, out: &mut String) -> Result<()> {
        let text = match self.data {
            [precision, scale, packed @ ..] => packed_len(*precision, *scale)
                .filter(|&len| len == packed.len())
                .and_then(|_| packed_text(packed, *precision, *scale).ok()),
            _ => None,
        };
        out.push_str(&text.ok_or_else(|| self.damaged("DECIMAL"))?);
        Ok(())
    }

    fn date(&self, with_time: bool, out: &mut String) -> Result<()> {
        let what = if with_time { "DATETIME" } else { "DATE" };
        let packed = self.packed(what)?;
        let packed = u64::try_from(packed).map_err(|_| self.damaged(what))?;
        let (microsecond, seconds) = split(packed, MICROSECONDS_BITS);
        let (second, minutes) = split(seconds, 6);
        let (minute, hours) = split(minutes, 6);
        let (hour, days) = split(hours, 5);
        let (day, months) = split(days, 5);
        let (year, month) = (months / 13, months % 13);
        if year > 9999 || hour > 23 || minute > 59 || second > 59 || microsecond > 999_999 {
            return Err(self.damaged(what));
        }
        let _ = write!(out, "\"{year:04}-{month:02}-{day:02}");
        if with_time {
            let _ = write!(out, " {hour:02}:{minute:02}:{second:02}.{microsecond:06}");
        }
        out.push('"');
        Ok(())
    }

    fn time(&self, out: &mut String) -> Result<()> {
        let packed = self.packed("TIME")?;
        let (microsecond, seconds) = split(packed.unsigned_abs(), MICROSECONDS_BITS);
        let (second, minutes) = split(seconds, 6);
        let (minute, hour) = split(minutes, 6);
        if hour > 838 || minute > 59 || second > 59 || microsecond > 999_999 {
            return Err(self.damaged("TIME"));
        }
        let sign = if packed < 0 { "-" } else { "" };
        let _ = write!(
            out,
            "\"{sign}{hour:02}:{minute:02}:{second:02}.{microsecond:06}\""
        );
        Ok(())
    }

    fn packed(&self, what: &str) -> Result<i64> {
        match self.data.try_into() {
            Ok(bytes) => Ok(i64::from_le_bytes(bytes)),
            Err(_) => Err(self.damaged(what)),
        }
    }

    #[cold]
    fn damaged(&self, what: &str) -> crate::error::Error {
        let mut hex = String::new();
        for byte in self.data.iter().take(40) {
            let _ = write!(hex, "{byte:02x}");
        }
        let len = self.data.len();
        corrupt(
            self.at,
            format_args!("{len} bytes {hex} are no value of {what}"),
        )
    }
}

/// The low `bits` bits, and the bits above them.
fn split(value: u64, bits: u32) -> (u64, u64) {
    let high = value.checked_shr(bits).unwrap_or(0);
    (value ^ high.checked_shl(bits).unwrap_or(0), high)
}

/// Writes bytes of a column type as the server does, in quotes: `"base64:type15:AAECAw=="`.
pub(in crate::binlog) fn write_base64(type_code: u8, bytes: &[u8], out: &mut String) {
    let _ = write!(out, "\"base64:type{type_code}:");
    for (n, line) in bytes.chunks(LINE_BYTES).enumerate() {
        if n > 0 {
            out.push_str("\\n");
        }
        base64(line, out);
    }
    out.push('"');
}

fn base64(bytes: &[u8], out: &mut String) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for group in bytes.chunks(3) {
        let mut word = [0u8; 4];
        for (to, from) in word.iter_mut().skip(1).zip(group) {
            *to = *from;
        }
        let word = u32::from_be_bytes(word);
        for (n, shift) in [18, 12, 6, 0].into_iter().enumerate() {
            // A group of n bytes has n + 1 digits.
            let digit = DIGITS.get((word >> shift & 63) as usize);
            let digit = digit.filter(|_| n <= group.len());
            out.push(digit.map_or('=', |&digit| char::from(digit)));
        }
    }
}
