//! One text for one value, wherever it comes from.
//!
//! | type | text |
//! |---|---|
//! | integers, BIT, YEAR | the number |
//! | DECIMAL | the number without zeros at the end of the fraction |
//! | FLOAT, DOUBLE | the number as a double, as few digits as tell it |
//! | TIME | microseconds |
//! | DATE, DATETIME, TIMESTAMP | `2024-02-29`, `2024-02-29 10:20:30.000000` |
//! | text, labels, JSON | hexadecimal digits of its UTF-8 |
//! | bytes, GEOMETRY (SRID and WKB), VECTOR | hexadecimal digits |
//! | UUID, INET4, INET6 | as shown |

use super::types::Ty;

/// A value of a column of one row.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Val {
    Null,
    /// The log does not tell, and need not.
    Unknown,
    Is(Box<str>),
}

impl Val {
    pub fn of(text: impl Into<Box<str>>) -> Self {
        Self::Is(text.into())
    }

    /// Equal, as far as is known.
    pub fn fits(&self, other: &Self) -> bool {
        self == other || *self == Self::Unknown || *other == Self::Unknown
    }

    /// For people: not too long.
    pub fn show(&self) -> String {
        match self {
            Self::Null => "NULL".to_owned(),
            Self::Unknown => "(not in the log)".to_owned(),
            Self::Is(text) if text.len() > 400 => {
                format!("«{}…» ({} long)", &text[..400], text.len())
            }
            Self::Is(text) => format!("«{text}»"),
        }
    }
}

/// What stands for a date that no calendar has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZeroDates {
    Null,
    Text,
}

/// The value that the server showed by [`Ty::shown`].
pub fn shown(ty: &Ty, text: &str, zero: ZeroDates) -> Val {
    if text == "NULL" {
        return Val::Null;
    }
    match ty {
        Ty::Decimal { .. } => Val::of(decimal(text)),
        Ty::Float { .. } | Ty::Double { .. } => Val::of(float(text.parse().unwrap())),
        Ty::Date | Ty::DateTime(_) | Ty::Timestamp(_) => date(text, zero),
        Ty::Time(_) => Val::of(micros(text).to_string()),
        Ty::Compressed(inner) => shown(inner, text, zero),
        _ => Val::of(text),
    }
}

/// A decimal number without what says nothing.
pub fn decimal(text: &str) -> String {
    let number = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => text,
    };
    if number == "-0" {
        "0".to_owned()
    } else {
        number.to_owned()
    }
}

pub fn float(number: f64) -> String {
    format!("{number:e}")
}

/// A date with or without a time of the day.
pub fn date(text: &str, zero: ZeroDates) -> Val {
    let (day, time) = text
        .split_once(' ')
        .map_or((text, None), |(day, time)| (day, Some(time)));
    let numbers: Vec<u32> = day.split('-').map(|n| n.parse().unwrap()).collect();
    if zero == ZeroDates::Null && !is_day(numbers[0], numbers[1], numbers[2]) {
        return Val::Null;
    }
    match time {
        None => Val::of(day),
        Some(time) => {
            let (clock, fraction) = time.split_once('.').unwrap_or((time, ""));
            Val::of(format!("{day} {clock}.{fraction:0<6}"))
        }
    }
}

fn is_day(year: u32, month: u32, day: u32) -> bool {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// Microseconds of a TIME.
pub fn micros(text: &str) -> i64 {
    let (sign, text) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let (clock, fraction) = text.split_once('.').unwrap_or((text, ""));
    let seconds = clock
        .split(':')
        .fold(0, |sum, n| sum * 60 + n.parse::<i64>().unwrap());
    let micros: i64 = format!("{fraction:0<6}").parse().unwrap();
    sign * (seconds * 1_000_000 + micros)
}
