//! Dates and times.
//!
//! ```text
//! DATE 3       year 15 bits │ month 4 │ day 5                 low byte first
//! TIMESTAMP 4  seconds since 1970 in UTC                      low byte first; before MySQL 5.6
//! TIME 3       the decimal number hhmmss, negative or not     low byte first; before MySQL 5.6
//! DATETIME 8   the decimal number YYYYMMDDhhmmss              low byte first; before MySQL 5.6
//!
//! TIMESTAMP2 4+f   seconds since 1970 in UTC │ fraction       high byte first
//! DATETIME2 5+f    1 │ year×13+month 17 bits │ day 5 │ hour 5 │ minute 6 │ second 6 │ fraction
//! TIME2 3+f        1 │ 0 │ hour 10 bits │ minute 6 │ second 6 │ fraction
//!                  negative: the whole number, fraction included, is subtracted from 80 00 00 …
//! ```
//!
//! The metadata of the last three is the digits of the fraction; f is 0, 1, 2, 3 bytes for 0, 1–2,
//! 3–4, 5–6 digits.
//!
//! MariaDB 5.3 to 10.0 (later with `mysql56_temporal_format=OFF`) writes TIME, DATETIME and
//! TIMESTAMP with a fraction under the old codes, without its digits: then the width is not in the
//! log, and old codes are taken at their old width. [`OLD_TEMPORAL`] lets a reader of rows watch
//! for the rows that do not fit.
//!
//! Zero and partial dates (`0000-00-00`, `2000-00-15`) and days that a month does not have
//! (`2001-02-31`, with `ALLOW_INVALID_DATES`) are values like any other. Source: MySQL
//! `mysys/my_time.cc`, `sql/field.cc`.

use super::{Context, Cursor, MetaForm, TypeDef, Value, Width};
use crate::error::{Error, Result};
use std::fmt;

mod calendar;

/// Codes whose width MariaDB does not always tell: TIMESTAMP, TIME, DATETIME.
pub const OLD_TEMPORAL: [u8; 3] = [7, 11, 12];

pub(super) const DEFS: &[TypeDef] = &[
    TypeDef::plain(
        7,
        "TIMESTAMP",
        |_| Ok(Width::Fixed(4)),
        |row, _| Timestamp::read_old(row).map(Value::Timestamp),
    ),
    TypeDef::plain(10, "DATE", |_| Ok(Width::Fixed(3)), date),
    TypeDef::plain(11, "TIME", |_| Ok(Width::Fixed(3)), old_time),
    TypeDef::plain(12, "DATETIME", |_| Ok(Width::Fixed(8)), old_datetime),
    TypeDef::plain(14, "DATE", |_| Ok(Width::Fixed(3)), date),
    TypeDef {
        sql: Some(|digits| with_digits("TIMESTAMP", digits)),
        ..TypeDef::with_meta(
            17,
            "TIMESTAMP",
            MetaForm::Byte,
            |digits| width(4, digits),
            timestamp,
        )
    },
    TypeDef {
        sql: Some(|digits| with_digits("DATETIME", digits)),
        ..TypeDef::with_meta(
            18,
            "DATETIME",
            MetaForm::Byte,
            |digits| width(5, digits),
            datetime,
        )
    },
    TypeDef {
        sql: Some(|digits| with_digits("TIME", digits)),
        ..TypeDef::with_meta(19, "TIME", MetaForm::Byte, |digits| width(3, digits), time)
    },
];

fn width(whole: u16, digits: u16) -> Result<Width> {
    if digits > 6 {
        return Err(Error::corrupt(format!(
            "a time with {digits} digits of fraction"
        )));
    }
    Ok(Width::Fixed(whole.saturating_add(digits.div_ceil(2))))
}

fn with_digits(name: &str, digits: u16) -> String {
    if digits == 0 {
        name.to_owned()
    } else {
        format!("{name}({digits})")
    }
}

/// A DATE. Month and day may be 0, and the day may be one that the month does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    /// 0 to 9999.
    pub year: u16,
    /// 0 to 12.
    pub month: u8,
    /// 0 to 31.
    pub day: u8,
}

/// A DATETIME.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DateTime {
    /// The date.
    pub date: Date,
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 59.
    pub second: u8,
    /// Digits of the fraction that the column has.
    pub digits: u8,
    /// The fraction in microseconds.
    pub micros: u32,
}

/// A TIME: a span, or the time of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Time {
    /// The whole is negative.
    pub negative: bool,
    /// Digits of the fraction that the column has.
    pub digits: u8,
    /// 0 to 838.
    pub hours: u16,
    /// 0 to 59.
    pub minutes: u8,
    /// 0 to 59.
    pub seconds: u8,
    /// The fraction in microseconds.
    pub micros: u32,
}

/// A TIMESTAMP: an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Timestamp {
    /// Seconds since 1970 in UTC.
    pub seconds: u32,
    /// The fraction in microseconds.
    pub micros: u32,
    /// Digits of the fraction that the column has.
    pub digits: u8,
}

fn date<'a>(row: &mut Cursor<'a>, _: Context) -> Result<Value<'a>> {
    Date::read(row).map(Value::Date)
}

fn old_time<'a>(row: &mut Cursor<'a>, _: Context) -> Result<Value<'a>> {
    Time::read_old(row).map(Value::Time)
}

fn old_datetime<'a>(row: &mut Cursor<'a>, _: Context) -> Result<Value<'a>> {
    DateTime::read_old(row).map(Value::DateTime)
}

fn timestamp<'a>(row: &mut Cursor<'a>, column: Context) -> Result<Value<'a>> {
    Timestamp::read(row, column.meta).map(Value::Timestamp)
}

fn datetime<'a>(row: &mut Cursor<'a>, column: Context) -> Result<Value<'a>> {
    DateTime::read(row, column.meta).map(Value::DateTime)
}

fn time<'a>(row: &mut Cursor<'a>, column: Context) -> Result<Value<'a>> {
    Time::read(row, column.meta).map(Value::Time)
}

/// Bytes of a fraction of so many digits.
fn fraction_len(digits: u16) -> usize {
    usize::from(digits.div_ceil(2))
}

#[inline]
fn big_endian(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |n, &byte| n << 8 | u64::from(byte))
}

/// Reads a number of `whole` bytes and a fraction, whose first bit is inverted: its sign, and the
/// absolute of both parts.
#[inline]
fn signed(row: &mut Cursor<'_>, whole: usize, digits: u16) -> Result<(bool, u64, u64)> {
    let bytes = row.bytes(whole.saturating_add(fraction_len(digits)))?;
    let fraction_bits = u32::from(digits.div_ceil(2)).saturating_mul(8);
    let bits = u32::try_from(bytes.len()).unwrap_or(8).saturating_mul(8);
    // At most 8 bytes: 5 and 3.
    let zero = 1u64.checked_shl(bits.saturating_sub(1)).unwrap_or(0);
    let number = big_endian(bytes);
    let absolute = number.abs_diff(zero);
    let whole = absolute.checked_shr(fraction_bits).unwrap_or(0);
    let part = absolute ^ whole.checked_shl(fraction_bits).unwrap_or(0);
    Ok((number < zero, whole, part))
}

/// Microseconds and digits of a fraction as it is stored: hundredths, ten-thousandths or
/// millionths.
#[inline]
fn fraction(part: u64, digits: u16) -> Result<(u32, u8)> {
    let unit = match digits {
        0 => 0,
        1 | 2 => 10_000,
        3 | 4 => 100,
        _ => 1,
    };
    let micros = part.saturating_mul(unit);
    match (u32::try_from(micros), u8::try_from(digits)) {
        (Ok(micros), Ok(digits)) if micros < 1_000_000 => Ok((micros, digits)),
        _ => Err(Error::corrupt(format!(
            "{micros} microseconds in the fraction of a second"
        ))),
    }
}

/// `value` if it is at most `max`.
#[inline]
fn at_most<T: TryFrom<u64>>(value: u64, max: u64) -> Option<T> {
    T::try_from(value).ok().filter(|_| value <= max)
}

impl Date {
    /// Reads a DATE.
    ///
    /// # Errors
    /// A field beyond its range.
    #[inline]
    pub fn read(row: &mut Cursor<'_>) -> Result<Self> {
        let packed = row.uint(3)?;
        let (year, month, day) = (packed >> 9, packed >> 5 & 15, packed & 31);
        Self::checked(year, month, day)
    }

    /// Checks the ranges; see the fields.
    #[inline]
    fn checked(year: u64, month: u64, day: u64) -> Result<Self> {
        match (at_most(year, 9999), at_most(month, 12), at_most(day, 31)) {
            (Some(year), Some(month), Some(day)) => Ok(Self { year, month, day }),
            _ => Err(Error::corrupt(format!(
                "the date {year:04}-{month:02}-{day:02}"
            ))),
        }
    }
}

impl DateTime {
    /// Reads a DATETIME2 with so many digits of fraction.
    ///
    /// # Errors
    /// A field beyond its range.
    #[inline]
    pub fn read(row: &mut Cursor<'_>, digits: u16) -> Result<Self> {
        let (negative, whole, part) = signed(row, 5, digits)?;
        if negative {
            return Err(Error::corrupt("a negative DATETIME"));
        }
        let year_month = whole >> 22;
        let date = (year_month / 13, year_month % 13, whole >> 17 & 31);
        let time = (whole >> 12 & 31, whole >> 6 & 63, whole & 63);
        Self::checked(date, time, fraction(part, digits)?)
    }

    /// Reads a DATETIME.
    ///
    /// # Errors
    /// A field beyond its range.
    pub fn read_old(row: &mut Cursor<'_>) -> Result<Self> {
        let n = row.u64()?;
        let date = n / 1_000_000;
        let date = (date / 10_000, date / 100 % 100, date % 100);
        let time = (n / 10_000 % 100, n / 100 % 100, n % 100);
        Self::checked(date, time, (0, 0)).map_err(|error| {
            Error::corrupt(format!(
                "{}; if the server was MariaDB, this may be a DATETIME with a fraction, whose \
                 width is not in the log",
                error.message()
            ))
        })
    }

    #[inline]
    fn checked(
        date: (u64, u64, u64),
        (hour, minute, second): (u64, u64, u64),
        (micros, digits): (u32, u8),
    ) -> Result<Self> {
        let date = Date::checked(date.0, date.1, date.2)?;
        match (at_most(hour, 23), at_most(minute, 59), at_most(second, 59)) {
            (Some(hour), Some(minute), Some(second)) => Ok(Self {
                date,
                hour,
                minute,
                second,
                digits,
                micros,
            }),
            _ => Err(Error::corrupt(format!(
                "the time {hour:02}:{minute:02}:{second:02}"
            ))),
        }
    }

    /// Microseconds since 1970-01-01 00:00:00 of the same, nameless time zone; `None` where
    /// [`Date::days`] is.
    #[inline]
    pub fn micros_since_1970(self) -> Option<i64> {
        let seconds = i64::from(self.date.days()?)
            .saturating_mul(24)
            .saturating_add(i64::from(self.hour))
            .saturating_mul(60)
            .saturating_add(i64::from(self.minute))
            .saturating_mul(60)
            .saturating_add(i64::from(self.second));
        Some(
            seconds
                .saturating_mul(1_000_000)
                .saturating_add(i64::from(self.micros)),
        )
    }
}

impl Time {
    /// Reads a TIME2 with so many digits of fraction.
    ///
    /// # Errors
    /// A field beyond its range.
    #[inline]
    pub fn read(row: &mut Cursor<'_>, digits: u16) -> Result<Self> {
        let (negative, whole, part) = signed(row, 3, digits)?;
        let fraction = fraction(part, digits)?;
        let (hours, minutes, seconds) = (whole >> 12, whole >> 6 & 63, whole & 63);
        Self::checked(negative, hours, minutes, seconds, fraction)
    }

    /// Reads a TIME.
    ///
    /// # Errors
    /// A field beyond its range.
    pub fn read_old(row: &mut Cursor<'_>) -> Result<Self> {
        let unsigned = row.uint(3)?;
        let signed = (unsigned << 40).cast_signed() >> 40;
        let n = signed.unsigned_abs();
        let (hours, minutes, seconds) = (n / 10_000, n / 100 % 100, n % 100);
        Self::checked(signed < 0, hours, minutes, seconds, (0, 0))
    }

    #[inline]
    fn checked(
        negative: bool,
        hours: u64,
        minutes: u64,
        seconds: u64,
        (micros, digits): (u32, u8),
    ) -> Result<Self> {
        match (
            at_most(hours, 838),
            at_most(minutes, 59),
            at_most(seconds, 59),
        ) {
            (Some(hours), Some(minutes), Some(seconds)) => Ok(Self {
                negative,
                digits,
                hours,
                minutes,
                seconds,
                micros,
            }),
            _ => Err(Error::corrupt(format!(
                "the time {hours}:{minutes:02}:{seconds:02}"
            ))),
        }
    }

    /// The span in microseconds.
    #[inline]
    pub fn total_micros(self) -> i64 {
        let micros = i64::from(self.hours)
            .saturating_mul(60)
            .saturating_add(i64::from(self.minutes))
            .saturating_mul(60)
            .saturating_add(i64::from(self.seconds))
            .saturating_mul(1_000_000)
            .saturating_add(i64::from(self.micros));
        if self.negative {
            micros.saturating_neg()
        } else {
            micros
        }
    }
}

impl Timestamp {
    /// Reads a TIMESTAMP2 with so many digits of fraction.
    ///
    /// # Errors
    /// A fraction beyond its range.
    #[inline]
    pub fn read(row: &mut Cursor<'_>, digits: u16) -> Result<Self> {
        let seconds = row.array().map(u32::from_be_bytes)?;
        let bytes = row.bytes(fraction_len(digits))?;
        let (micros, digits) = fraction(big_endian(bytes), digits)?;
        Ok(Self {
            seconds,
            micros,
            digits,
        })
    }

    /// Reads a TIMESTAMP.
    ///
    /// # Errors
    /// Fewer than 4 bytes.
    #[inline]
    pub fn read_old(row: &mut Cursor<'_>) -> Result<Self> {
        Ok(Self {
            seconds: row.u32()?,
            micros: 0,
            digits: 0,
        })
    }

    /// Whether this is the zero date `0000-00-00 00:00:00`: no server stores the instant of 0.
    pub fn is_zero(self) -> bool {
        self.seconds == 0 && self.micros == 0
    }

    /// Microseconds since 1970 in UTC; `None` for the zero date.
    #[inline]
    pub fn micros_since_1970(self) -> Option<i64> {
        let micros = i64::from(self.seconds)
            .saturating_mul(1_000_000)
            .saturating_add(i64::from(self.micros));
        (!self.is_zero()).then_some(micros)
    }

    /// Date and time in UTC, or the zero date.
    pub fn utc(self) -> DateTime {
        const ZERO: Date = Date {
            year: 0,
            month: 0,
            day: 0,
        };
        let (days, second) = (self.seconds / 86_400, self.seconds % 86_400);
        let date = if self.is_zero() {
            ZERO
        } else {
            Date::from_days(days)
        };
        // Each is below 60 or 24.
        let small = |n: u32| u8::try_from(n).unwrap_or(u8::MAX);
        DateTime {
            date,
            hour: small(second / 3600),
            minute: small(second / 60 % 60),
            second: small(second % 60),
            digits: self.digits,
            micros: self.micros,
        }
    }
}

/// `.` and the digits of a fraction, if there are any.
fn write_fraction(f: &mut fmt::Formatter<'_>, micros: u32, digits: u8) -> fmt::Result {
    let cut = 6u32.saturating_sub(u32::from(digits));
    let shown = micros.checked_div(10u32.saturating_pow(cut)).unwrap_or(0);
    match digits {
        0 => Ok(()),
        _ => write!(f, ".{shown:0width$}", width = usize::from(digits)),
    }
}

/// `2026-11-02`, `0000-00-00`.
impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

/// `2026-11-02 09:01:00.250`.
impl fmt::Display for DateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (date, hour) = (self.date, self.hour);
        write!(f, "{date} {hour:02}:{:02}:{:02}", self.minute, self.second)?;
        write_fraction(f, self.micros, self.digits)
    }
}

/// `-838:59:59.000000`, `07:00:00`.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.negative { "-" } else { "" };
        let (hours, minutes, seconds) = (self.hours, self.minutes, self.seconds);
        write!(f, "{sign}{hours:02}:{minutes:02}:{seconds:02}")?;
        write_fraction(f, self.micros, self.digits)
    }
}

/// In UTC: what `SELECT` shows after `SET time_zone = '+00:00'`.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.utc().fmt(f)
    }
}

#[cfg(test)]
mod tests;
