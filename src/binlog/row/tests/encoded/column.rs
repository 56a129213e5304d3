//! Random columns: values as servers encode them, and as people read them.

use super::temporal;
use crate::binlog::decimal::tests::pack;
use crate::binlog::json::tests::model::string;
use crate::binlog::json::tests::random;
use crate::binlog::types::code;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Rows of each column.
pub const ROWS: usize = 3;

/// A value: as it stands in a row, what `SELECT` shows, and what JSON has.
#[derive(Debug, Clone)]
pub struct Encoded {
    pub bytes: Vec<u8>,
    pub text: String,
    pub json: String,
}

impl Encoded {
    /// A value whose JSON is its text.
    pub fn number(bytes: impl Into<Vec<u8>>, text: impl ToString) -> Self {
        let text = text.to_string();
        Self {
            bytes: bytes.into(),
            json: text.clone(),
            text,
        }
    }

    /// A value whose JSON is a string.
    pub fn string(bytes: impl Into<Vec<u8>>, text: impl ToString) -> Self {
        let text = text.to_string();
        Self {
            bytes: bytes.into(),
            json: string(&text),
            text,
        }
    }

    /// Bytes, which JSON has as base64.
    fn of_bytes(code: u8, stored: Vec<u8>, bytes: &[u8]) -> Self {
        Self {
            bytes: stored,
            text: format!("0x{}", hex(bytes)),
            json: base64(code, bytes),
        }
    }
}

/// A column and its values; `None`: NULL.
#[derive(Debug, Clone)]
pub struct Column {
    pub code: u8,
    pub metadata: Vec<u8>,
    /// Has a bit in SIGNEDNESS.
    pub numeric: bool,
    pub unsigned: bool,
    /// Of text, and of what counts as text.
    pub collation: Option<u16>,
    pub labels: Option<Vec<Vec<u8>>>,
    pub values: Vec<Option<Encoded>>,
}

impl Column {
    pub fn bare(code: u8, metadata: &[u8], values: Vec<Option<Encoded>>) -> Self {
        Self {
            code,
            metadata: metadata.to_vec(),
            numeric: matches!(code, 1..=5 | 8 | 9 | 13 | 246),
            unsigned: false,
            collation: None,
            labels: None,
            values,
        }
    }
}

/// Values of a column, of which some are NULL.
pub fn values(
    value: impl Strategy<Value = Encoded> + 'static,
) -> impl Strategy<Value = Vec<Option<Encoded>>> {
    prop::collection::vec(prop::option::weighted(0.85, value), ROWS)
}

pub fn column() -> impl Strategy<Value = Column> {
    prop_oneof![
        4 => integer(),
        2 => decimal(),
        2 => float(),
        1 => bit_or_year(),
        6 => temporal::column(),
        4 => text(),
        4 => bytes(),
        2 => labels(),
        2 => json(),
    ]
}

fn integer() -> impl Strategy<Value = Column> {
    let widths = prop::sample::select(vec![(1, 1), (2, 2), (9, 3), (3, 4), (8, 8)]);
    (widths, any::<bool>()).prop_flat_map(|((code, len), unsigned)| {
        let edges = prop::sample::select(vec![0, 1, i64::MAX, i64::MIN, -1]);
        let value = prop_oneof![any::<i64>(), edges].prop_map(move |bits| {
            let spare = 64 - 8 * len as u32;
            let bytes = &bits.to_le_bytes()[..len];
            match unsigned {
                true => Encoded::number(bytes, bits.cast_unsigned() << spare >> spare),
                false => Encoded::number(bytes, bits << spare >> spare),
            }
        });
        values(value).prop_map(move |values| Column {
            unsigned,
            ..Column::bare(code, &[], values)
        })
    })
}

fn decimal() -> impl Strategy<Value = Column> {
    let form = (1u8..=65).prop_flat_map(|precision| (Just(precision), 0..=precision.min(38)));
    form.prop_flat_map(|(precision, scale)| {
        let digits = prop_oneof!["[0-9]{65}", "9{65}", "0{60}[0-9]{5}", "0{65}"];
        let value = (any::<bool>(), digits).prop_map(move |(negative, digits)| {
            let digits = &digits[65 - usize::from(precision)..];
            let (whole, fraction) = digits.split_at(usize::from(precision - scale));
            let negative = negative && digits.contains(|c| c != '0');
            let shown = whole.trim_start_matches('0');
            let mut text = String::from(if negative { "-" } else { "" });
            text += if shown.is_empty() { "0" } else { shown };
            if scale > 0 {
                text += &format!(".{fraction}");
            }
            Encoded::number(pack(negative, whole, fraction), text)
        });
        values(value).prop_map(move |values| Column::bare(246, &[precision, scale], values))
    })
}

fn float() -> impl Strategy<Value = Column> {
    // Sixteenths, which have few digits in either base.
    let double = any::<i32>().prop_map(|n| f64::from(n) / 16.0);
    let double = double.prop_map(|n| Encoded::number(n.to_le_bytes(), n));
    let single = (-100_000i32..100_000).prop_map(|n| n as f32 / 16.0);
    let single = single.prop_map(|n| Encoded::number(n.to_le_bytes(), n));
    prop_oneof![
        values(double).prop_map(|values| Column::bare(5, &[8], values)),
        values(single).prop_map(|values| Column::bare(4, &[4], values)),
    ]
}

fn bit_or_year() -> impl Strategy<Value = Column> {
    let bit = (1u8..=64).prop_flat_map(|len| {
        let value = any::<u64>().prop_map(move |bits| {
            let bits = bits >> (64 - len);
            let width = usize::from(len.div_ceil(8));
            Encoded::number(&bits.to_be_bytes()[8 - width..], bits)
        });
        values(value).prop_map(move |values| Column::bare(16, &[len % 8, len / 8], values))
    });
    let year = any::<u8>().prop_map(|byte| {
        let year = if byte == 0 { 0 } else { 1900 + u32::from(byte) };
        Encoded {
            text: format!("{year:04}"),
            ..Encoded::number([byte], year)
        }
    });
    prop_oneof![
        bit,
        values(year).prop_map(|values| Column::bare(13, &[], values)),
    ]
}

/// Characters of a set, and how it encodes them.
type Set = (u16, &'static str, fn(&str) -> Vec<u8>);

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_be_bytes).collect()
}

const SETS: &[Set] = &[
    (255, r#"a"\ 	\u{1}\u{7f}\u{2028}ü漢😀"#, |text| {
        text.as_bytes().to_vec()
    }),
    (33, "xyé€漢", |text| text.as_bytes().to_vec()),
    // windows-1252 with C1 in its holes.
    (8, "az'é€ÿ\u{81}\u{9d}", |text| {
        let byte = |c| match c {
            '€' => 0x80,
            c => c as u8,
        };
        text.chars().map(byte).collect()
    }),
    (28, "a测试中文", |text| {
        encoding_rs::GBK.encode(text).0.into_owned()
    }),
    (13, "aテスト漢字ｱ", |text| {
        encoding_rs::SHIFT_JIS.encode(text).0.into_owned()
    }),
    (19, "a한글데이터", |text| {
        encoding_rs::EUC_KR.encode(text).0.into_owned()
    }),
    (51, "zжЯё", |text| {
        encoding_rs::WINDOWS_1251.encode(text).0.into_owned()
    }),
    (35, "aß漢\"", utf16),
    (54, "aß漢😀", utf16),
    (60, "aß漢😀", |text| {
        text.chars()
            .flat_map(|c| u32::from(c).to_be_bytes())
            .collect()
    }),
];

/// Text in a character set, of so many characters.
fn text_of(
    (_, alphabet, encode): Set,
    len: RangeInclusive<usize>,
) -> impl Strategy<Value = (Vec<u8>, String)> {
    let alphabet: Vec<char> = alphabet.chars().collect();
    let chars = prop::collection::vec(prop::sample::select(alphabet), len);
    chars.prop_map(move |chars| {
        let text: String = chars.into_iter().collect();
        (encode(&text), text)
    })
}

/// Code, metadata and length of the prefix of a string column of at most 1020 bytes.
fn forms() -> impl Strategy<Value = (u8, [u8; 2], usize)> {
    prop::sample::select(vec![
        (15, [255, 0], 1),
        (15, [0xfc, 3], 2),
        (code::STRING, [0xfe, 255], 1),
        (code::STRING, [0xce, 0xfc], 2),
        (252, [1, 0], 1),
        (252, [2, 0], 2),
        (252, [3, 0], 3),
        (252, [4, 0], 4),
    ])
}

fn prefixed(len: usize, bytes: &[u8]) -> Vec<u8> {
    [&bytes.len().to_le_bytes()[..len], bytes].concat()
}

/// The metadata as it stands in a table map.
fn metadata_of(code: u8, metadata: [u8; 2]) -> Vec<u8> {
    match code {
        252 => vec![metadata[0]],
        _ => metadata.to_vec(),
    }
}

fn text() -> impl Strategy<Value = Column> {
    (forms(), prop::sample::select(SETS)).prop_flat_map(|((code, metadata, len), set)| {
        let most = if len == 1 { 60 } else { 250 };
        let value = text_of(set, 0..=most)
            .prop_map(move |(bytes, text)| Encoded::string(prefixed(len, &bytes), text));
        values(value).prop_map(move |values| Column {
            collation: Some(set.0),
            ..Column::bare(code, &metadata_of(code, metadata), values)
        })
    })
}

fn bytes() -> impl Strategy<Value = Column> {
    let any_bytes = || prop::collection::vec(prop_oneof![any::<u8>(), Just(0)], 0..200);
    let strings = forms().prop_flat_map(move |(code, metadata, len)| {
        let value = any_bytes().prop_map(move |mut bytes| {
            if code != code::STRING {
                return Encoded::of_bytes(code, prefixed(len, &bytes), &bytes);
            }
            // BINARY has a length; the zeros at its end are not stored.
            let declared = if len == 1 { 255 } else { 1020 };
            let end = bytes
                .iter()
                .rposition(|&byte| byte != 0)
                .map_or(0, |n| n + 1);
            bytes.truncate(end);
            let stored = prefixed(len, &bytes);
            bytes.resize(declared, 0);
            Encoded::of_bytes(code, stored, &bytes)
        });
        values(value).prop_map(move |values| Column {
            collation: Some(63),
            ..Column::bare(code, &metadata_of(code, metadata), values)
        })
    });
    let geometry = (any::<u32>(), any_bytes()).prop_map(|(srid, wkb)| {
        let bytes = [&srid.to_le_bytes()[..], &wkb].concat();
        Encoded::of_bytes(code::GEOMETRY, prefixed(4, &bytes), &bytes)
    });
    let vector = prop::collection::vec(-1000i16..1000, 0..20).prop_map(|numbers| {
        let numbers: Vec<f32> = numbers.iter().map(|&n| f32::from(n) / 8.0).collect();
        let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        let shown: Vec<String> = numbers.iter().map(f32::to_string).collect();
        Encoded {
            json: format!("[{}]", shown.join(",")),
            ..Encoded::of_bytes(0, prefixed(4, &bytes), &bytes)
        }
    });
    prop_oneof![
        4 => strings,
        1 => values(geometry).prop_map(|values| Column::bare(code::GEOMETRY, &[4], values)),
        1 => values(vector).prop_map(|values| Column {
            collation: Some(63),
            ..Column::bare(code::VECTOR, &[4], values)
        }),
    ]
}

fn labels() -> impl Strategy<Value = Column> {
    let labels = prop::sample::select(SETS).prop_flat_map(|set| {
        let labels = prop::collection::vec(text_of(set, 1..=3), 1..=64);
        (Just(set.0), labels)
    });
    (labels, any::<bool>()).prop_flat_map(|((collation, labels), is_enum)| {
        // Each once, as a server demands.
        let labels: BTreeMap<Vec<u8>, String> = labels.into_iter().collect();
        let (stored, shown): (Vec<_>, Vec<_>) = labels.into_iter().unzip();
        let count = shown.len();
        let size = match count.div_ceil(8) {
            5..=8 => 8,
            size => size,
        };
        let value = any::<u64>().prop_map(move |bits| {
            if is_enum {
                let index = bits as usize % (count + 1);
                let label = if index == 0 { "" } else { &shown[index - 1] };
                return Encoded::string([index as u8], label);
            }
            let bits = bits << (64 - count) >> (64 - count);
            let members = (0..count).filter(|n| bits >> n & 1 == 1);
            let members: Vec<&str> = members.map(|n| &*shown[n]).collect();
            Encoded::string(&bits.to_le_bytes()[..size], members.join(","))
        });
        let metadata = if is_enum {
            [0xf7, 1]
        } else {
            [0xf8, size as u8]
        };
        values(value).prop_map(move |values| Column {
            collation: Some(collation),
            labels: Some(stored.clone()),
            ..Column::bare(code::STRING, &metadata, values)
        })
    })
}

fn json() -> impl Strategy<Value = Column> {
    let value = random::value()
        .prop_map(|value| Encoded::number(prefixed(4, &value.encode()), value.text()));
    values(value).prop_map(|values| Column::bare(code::JSON, &[4], values))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

/// As the server has bytes in JSON: a line break after each 76 characters.
fn base64(code: u8, bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits: Vec<u8> = bytes
        .iter()
        .flat_map(|byte| (0..8).rev().map(move |n| byte >> n & 1))
        .collect();
    let mut digits: String = bits
        .chunks(6)
        .map(|six| {
            let index = (0..6).fold(0, |index, n| index << 1 | six.get(n).copied().unwrap_or(0));
            char::from(DIGITS[usize::from(index)])
        })
        .collect();
    while !digits.len().is_multiple_of(4) {
        digits.push('=');
    }
    let lines: Vec<&str> = digits
        .as_bytes()
        .chunks(76)
        .map(|line| std::str::from_utf8(line).unwrap())
        .collect();
    format!("\"base64:type{code}:{}\"", lines.join("\\n"))
}
