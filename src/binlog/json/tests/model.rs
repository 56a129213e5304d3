//! A naive model: documents as trees, encoded as the server does, printed and changed by the rules.

use super::super::JsonOp;
use std::fmt::Write;

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Str(String),
    Binary(Vec<u8>),
    Array(Vec<Value>),
    /// Sorted as stored, each key once.
    Object(Vec<(String, Value)>),
}

pub use Value::*;

impl Value {
    pub fn object(mut members: Vec<(String, Self)>) -> Self {
        members.sort_by_key(|(key, _)| stored_order(key));
        members.dedup_by(|a, b| a.0 == b.0);
        Object(members)
    }

    /// The document as the server stores it.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![0];
        let type_code = self.encode_value(&mut out);
        out[0] = type_code;
        out
    }

    fn encode_value(&self, out: &mut Vec<u8>) -> u8 {
        match self {
            Null => out.push(0),
            Bool(value) => out.push(if *value { 1 } else { 2 }),
            Int(value) => match (i16::try_from(*value), i32::try_from(*value)) {
                (Ok(value), _) => {
                    out.extend(value.to_le_bytes());
                    return 5;
                }
                (_, Ok(value)) => {
                    out.extend(value.to_le_bytes());
                    return 7;
                }
                _ => {
                    out.extend(value.to_le_bytes());
                    return 9;
                }
            },
            Uint(value) => match (u16::try_from(*value), u32::try_from(*value)) {
                (Ok(value), _) => {
                    out.extend(value.to_le_bytes());
                    return 6;
                }
                (_, Ok(value)) => {
                    out.extend(value.to_le_bytes());
                    return 8;
                }
                _ => {
                    out.extend(value.to_le_bytes());
                    return 10;
                }
            },
            Double(value) => {
                out.extend(value.to_le_bytes());
                return 11;
            }
            Str(value) => {
                varlen(value.len(), out);
                out.extend(value.as_bytes());
                return 12;
            }
            Binary(value) => {
                out.push(15);
                varlen(value.len(), out);
                out.extend(value);
                return 15;
            }
            Array(elements) => {
                let members: Vec<_> = elements.iter().map(|value| (None, value)).collect();
                return 2 + u8::from(container(&members, out));
            }
            Object(members) => {
                let members: Vec<_> = members
                    .iter()
                    .map(|(key, value)| (Some(key.as_str()), value))
                    .collect();
                return u8::from(container(&members, out));
            }
        }
        4
    }

    /// The text as the server prints it.
    pub fn text(&self) -> String {
        match self {
            Null => "null".to_owned(),
            Bool(value) => value.to_string(),
            Int(value) => value.to_string(),
            Uint(value) => value.to_string(),
            Double(value) => double(*value),
            Str(value) => string(value),
            Binary(value) => {
                assert!(value.len() <= 57, "the model breaks no lines");
                let bits: String = value.iter().map(|byte| format!("{byte:08b}")).collect();
                let mut text = String::new();
                for six in bits.as_bytes().chunks(6) {
                    let six = format!("{:0<6}", std::str::from_utf8(six).unwrap());
                    let digit = u32::from_str_radix(&six, 2).unwrap();
                    text.push(match digit {
                        0..=25 => char::from_u32(65 + digit).unwrap(),
                        26..=51 => char::from_u32(97 + digit - 26).unwrap(),
                        52..=61 => char::from_u32(48 + digit - 52).unwrap(),
                        62 => '+',
                        _ => '/',
                    });
                }
                while !text.len().is_multiple_of(4) {
                    text.push('=');
                }
                format!("\"base64:type15:{text}\"")
            }
            Array(elements) => {
                let elements: Vec<_> = elements.iter().map(Self::text).collect();
                format!("[{}]", elements.join(", "))
            }
            Object(members) => {
                let members: Vec<_> = members
                    .iter()
                    .map(|(key, value)| format!("{}: {}", string(key), value.text()))
                    .collect();
                format!("{{{}}}", members.join(", "))
            }
        }
    }

    /// Makes a change; `None` where the server refuses it.
    pub fn change(&mut self, op: JsonOp, legs: &[Step], value: Option<&Self>) -> Option<()> {
        let (first, rest) = legs.split_first()?;
        if !rest.is_empty() {
            let inner = match (self, first) {
                (Array(elements), Step::At(n)) => elements.get_mut(*n)?,
                (Array(elements), Step::Last(n)) => {
                    let n = elements.len().checked_sub(n + 1)?;
                    &mut elements[n]
                }
                (Object(members), Step::Key(key)) => {
                    &mut members.iter_mut().find(|member| member.0 == *key)?.1
                }
                _ => return None,
            };
            return inner.change(op, rest, value);
        }
        match (self, first) {
            (Object(members), Step::Key(key)) => {
                let found = members.iter().position(|member| member.0 == *key);
                match (op, found) {
                    (JsonOp::Replace, Some(n)) => members[n].1 = value?.clone(),
                    (JsonOp::Remove, Some(n)) => drop(members.remove(n)),
                    (JsonOp::Insert, None) => {
                        members.push((key.clone(), value?.clone()));
                        members.sort_by_key(|(key, _)| stored_order(key));
                    }
                    _ => return None,
                }
            }
            (Array(elements), Step::At(_) | Step::Last(_)) => {
                let len = elements.len();
                let found = match first {
                    Step::At(n) => Some(*n).filter(|&n| n < len),
                    Step::Last(n) => len.checked_sub(n + 1),
                    Step::Key(_) => None,
                };
                match op {
                    JsonOp::Replace => elements[found?] = value?.clone(),
                    JsonOp::Remove => drop(elements.remove(found?)),
                    JsonOp::Insert => {
                        let outside = if matches!(first, Step::At(_)) { len } else { 0 };
                        elements.insert(found.unwrap_or(outside), value?.clone());
                    }
                }
            }
            _ => return None,
        }
        Some(())
    }
}

/// One step of a path.
#[derive(Debug, Clone)]
pub enum Step {
    Key(String),
    At(usize),
    Last(usize),
}

/// A change as it stands in a row.
pub fn encode_change(op: JsonOp, legs: &[Step], value: Option<&Value>) -> Vec<u8> {
    let mut path = String::from("$");
    for leg in legs {
        match leg {
            Step::Key(key) => path += &format!(".{}", string(key)),
            Step::At(n) => path += &format!("[{n}]"),
            Step::Last(0) => path += "[last]",
            Step::Last(n) => path += &format!("[last-{n}]"),
        }
    }
    raw_change(
        op as u8,
        path.as_bytes(),
        value.map(Value::encode).as_deref(),
    )
}

/// The same of raw parts.
pub fn raw_change(op: u8, path: &[u8], value: Option<&[u8]>) -> Vec<u8> {
    let mut out = vec![op];
    for part in [Some(path), value].into_iter().flatten() {
        match part.len() {
            len @ 0..=250 => out.push(len as u8),
            len => {
                out.push(0xfd);
                out.extend(&(len as u32).to_le_bytes()[..3]);
            }
        }
        out.extend(part);
    }
    out
}

fn stored_order(key: &str) -> (usize, Vec<u8>) {
    (key.len(), key.as_bytes().to_vec())
}

fn varlen(mut len: usize, out: &mut Vec<u8>) {
    while len > 0x7f {
        out.push(len as u8 | 0x80);
        len >>= 7;
    }
    out.push(len as u8);
}

/// Writes a container, small if it fits, and says whether it is large.
fn container(members: &[(Option<&str>, &Value)], out: &mut Vec<u8>) -> bool {
    let begin = out.len();
    if try_container(members, 2, out).is_some() {
        return false;
    }
    out.truncate(begin);
    try_container(members, 4, out).unwrap();
    true
}

fn try_container(members: &[(Option<&str>, &Value)], word: usize, out: &mut Vec<u8>) -> Option<()> {
    let begin = out.len();
    let number = |n: usize| {
        let fits = word == 4 || n <= 0xffff;
        fits.then(|| n.to_le_bytes()[..word].to_vec())
    };
    out.extend(number(members.len())?);
    out.extend(number(0)?); // the size
    let keys = members.iter().filter(|member| member.0.is_some()).count();
    let mut entry = out.len() + keys * (word + 2);
    let mut key_at = entry + members.len() * (word + 1) - begin;
    for key in members.iter().filter_map(|member| member.0) {
        out.extend(number(key_at)?);
        out.extend((key.len() as u16).to_le_bytes());
        key_at += key.len();
    }
    out.resize(entry + members.len() * (word + 1), 0);
    for key in members.iter().filter_map(|member| member.0) {
        out.extend(key.as_bytes());
    }
    for (_, value) in members {
        let mut bytes = Vec::new();
        out[entry] = value.encode_value(&mut bytes);
        let inline = match out[entry] {
            4..=6 => true,
            7 | 8 => word == 4,
            _ => false,
        };
        let stored = if inline {
            bytes.resize(word, 0);
            bytes.clone()
        } else {
            number(out.len() - begin)?
        };
        out[entry + 1..entry + 1 + word].copy_from_slice(&stored);
        if !inline {
            out.extend(bytes);
        }
        entry += word + 1;
    }
    let size = number(out.len() - begin)?;
    out[begin + word..begin + 2 * word].copy_from_slice(&size);
    Some(())
}

/// A string in quotes.
pub fn string(value: &str) -> String {
    let mut text = String::from("\"");
    for c in value.chars() {
        match c {
            '"' => text += "\\\"",
            '\\' => text += "\\\\",
            '\u{8}' => text += "\\b",
            '\u{c}' => text += "\\f",
            '\n' => text += "\\n",
            '\r' => text += "\\r",
            '\t' => text += "\\t",
            '\0'..='\u{1f}' => write!(text, "\\u{:04x}", c as u32).unwrap(),
            _ => text.push(c),
        }
    }
    text + "\""
}

/// The shortest text `d.ddde-n`; of two that are equally near the one that ends with an even digit.
fn even_where_equally_near(value: f64) -> String {
    let short = format!("{value:e}");
    let (mantissa, exponent) = short.split_once('e').unwrap();
    let digits = mantissa.len() - usize::from(mantissa.contains('.'));
    // All the digits that the double has.
    let exact = format!("{value:.1100e}");
    let (exact, _) = exact.split_once('e').unwrap();
    let exact = exact.replace('.', "");
    let exact = exact.trim_end_matches('0');
    let Some(below) = exact
        .strip_suffix('5')
        .filter(|below| below.len() == digits)
    else {
        return short;
    };
    let text = format!("{}.{}e{exponent}", &below[..1], &below[1..]);
    let even = below.ends_with(['0', '2', '4', '6', '8']);
    if even && text.replace(".e", "e").parse() == Ok(value) {
        text.replace(".e", "e")
    } else {
        short
    }
}

fn double(value: f64) -> String {
    let short = even_where_equally_near(value.abs());
    let (mantissa, exponent) = short.split_once('e').unwrap();
    let digits = mantissa.replace('.', "");
    let point = exponent.parse::<i64>().unwrap() + 1;
    let sign = if value.is_sign_negative() { "-" } else { "" };
    // The rule of my_gcvt for a width that all digits have.
    let plain = point >= -14 && (point <= 15 || digits.len() as i64 > point);
    if !plain {
        return format!("{sign}{short}");
    }
    let padded = format!("{}{digits}{}", "0".repeat(20), "0".repeat(20));
    let (whole, fraction) = padded.split_at((20 + point) as usize);
    let whole = whole.trim_start_matches('0');
    let fraction = fraction.trim_end_matches('0');
    let or_zero = |text: &str| if text.is_empty() { "0" } else { text }.to_owned();
    format!("{sign}{}.{}", or_zero(whole), or_zero(fraction))
}
