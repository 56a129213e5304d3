//! Random dates and times, of the old encodings and the new.

use super::column::{Column, Encoded, values};
use proptest::prelude::*;

pub fn column() -> impl Strategy<Value = Column> {
    prop_oneof![
        old(
            10,
            date().prop_map(|(text, [y, m, d])| {
                let packed = y << 9 | m << 5 | d;
                Encoded::string(&packed.to_le_bytes()[..3], text)
            })
        ),
        old(
            11,
            clock(838).prop_map(|(text, negative, [h, m, s])| {
                let number = (h * 10_000 + m * 100 + s).cast_signed();
                let number = if negative { -number } else { number };
                Encoded::string(&number.to_le_bytes()[..3], text)
            })
        ),
        old(
            12,
            (date(), clock(23)).prop_map(|((date, [y, mo, d]), (time, _, [h, mi, s]))| {
                let day = u64::from(y * 10_000 + mo * 100 + d);
                let number = day * 1_000_000 + u64::from(h * 10_000 + mi * 100 + s);
                let time = time.trim_start_matches('-');
                Encoded::string(number.to_le_bytes(), format!("{date} {time}"))
            })
        ),
        old(
            7,
            any::<u32>().prop_map(|seconds| {
                Encoded::string(seconds.to_le_bytes(), instant(seconds, ""))
            })
        ),
        new(17, |digits| {
            (any::<u32>(), 0..1_000_000u32)
                .prop_map(move |(seconds, micros)| {
                    let (fraction, shown, _) = fraction(micros, digits);
                    // The instant of 0 is the zero date.
                    let seconds = seconds.max(1);
                    let bytes = [&seconds.to_be_bytes()[..], &fraction].concat();
                    Encoded::string(bytes, instant(seconds, &shown))
                })
                .boxed()
        }),
        new(18, |digits| {
            (date(), clock(23), 0..1_000_000u32)
                .prop_map(move |((date, [y, mo, d]), (time, _, [h, mi, s]), micros)| {
                    let (fraction, shown, _) = fraction(micros, digits);
                    let day = u64::from(y * 13 + mo) << 5 | u64::from(d);
                    let packed = 1 << 39 | day << 17 | u64::from(h << 12 | mi << 6 | s);
                    let bytes = [&packed.to_be_bytes()[3..], &fraction].concat();
                    let time = time.trim_start_matches('-');
                    Encoded::string(bytes, format!("{date} {time}{shown}"))
                })
                .boxed()
        }),
        new(19, |digits| {
            (clock(838), 0..1_000_000u32)
                .prop_map(move |((text, negative, [h, m, s]), micros)| {
                    let (_, shown, part) = fraction(micros, digits);
                    let bits = u32::from(digits.div_ceil(2)) * 8;
                    let whole = i64::from(h << 12 | m << 6 | s) << bits | i64::from(part);
                    let whole = if negative { -whole } else { whole };
                    let stored = (1i64 << (23 + bits)) + whole;
                    let len = 3 + bits as usize / 8;
                    let text = text.trim_start_matches('-');
                    let sign = if whole < 0 { "-" } else { "" };
                    Encoded::string(
                        &stored.to_be_bytes()[8 - len..],
                        format!("{sign}{text}{shown}"),
                    )
                })
                .boxed()
        }),
    ]
}

fn old(code: u8, value: impl Strategy<Value = Encoded> + 'static) -> BoxedStrategy<Column> {
    values(value)
        .prop_map(move |values| Column::bare(code, &[], values))
        .boxed()
}

fn new(code: u8, value: fn(u8) -> BoxedStrategy<Encoded>) -> BoxedStrategy<Column> {
    let column = (0u8..=6).prop_flat_map(move |digits| {
        values(value(digits)).prop_map(move |values| Column::bare(code, &[digits], values))
    });
    column.boxed()
}

/// A date and its text: zero and partial ones, and days that a month does not have, as well.
fn date() -> impl Strategy<Value = (String, [u32; 3])> {
    let zero = Just((0u32, 0u32, 0u32));
    let any = (0..=9999u32, 0..=12u32, 0..=31u32);
    prop_oneof![1 => zero, 9 => any]
        .prop_map(|(y, m, d)| (format!("{y:04}-{m:02}-{d:02}"), [y, m, d]))
}

/// A time of up to so many hours, with its sign. There is no `-00:00:00`.
fn clock(hours: u32) -> impl Strategy<Value = (String, bool, [u32; 3])> {
    let parts = prop_oneof![
        Just((0, 0, 0)),
        Just((hours, 59, 59)),
        (0..=hours, 0..60u32, 0..60u32)
    ];
    (any::<bool>(), parts).prop_map(|(negative, (h, m, s))| {
        let sign = if negative && (h, m, s) != (0, 0, 0) {
            "-"
        } else {
            ""
        };
        (format!("{sign}{h:02}:{m:02}:{s:02}"), negative, [h, m, s])
    })
}

/// A fraction of so many digits: its bytes, its text with the point, and its number as stored.
fn fraction(micros: u32, digits: u8) -> (Vec<u8>, String, u32) {
    if digits == 0 {
        return (Vec::new(), String::new(), 0);
    }
    let unit = 10u32.pow(u32::from(6 - digits));
    let shown = format!(".{:0len$}", micros / unit, len = usize::from(digits));
    let bytes = usize::from(digits.div_ceil(2));
    let stored = micros / unit * unit / 100u32.pow(3 - bytes as u32);
    (stored.to_be_bytes()[4 - bytes..].to_vec(), shown, stored)
}

/// The text of an instant, counted day by day.
fn instant(seconds: u32, fraction: &str) -> String {
    if seconds == 0 && fraction.trim_matches(['.', '0']).is_empty() {
        return format!("0000-00-00 00:00:00{fraction}");
    }
    let (mut days, rest) = (seconds / 86_400, seconds % 86_400);
    let leap = |year: u32| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while days >= 365 + u32::from(leap(year)) {
        days -= 365 + u32::from(leap(year));
        year += 1;
    }
    let mut month = 1;
    for len in [
        31,
        28 + u32::from(leap(year)),
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
        31,
    ] {
        if days < len {
            break;
        }
        days -= len;
        month += 1;
    }
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    let day = days + 1;
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}{fraction}")
}
