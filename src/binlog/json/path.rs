//! Paths of changes: `$.member`, `$."any text"`, `$[0]`, `$[last]`, `$[last-1]`.
//!
//! Paths with wildcards and ranges exist in SQL, but never stand in a change. Source: MySQL
//! `json_path.cc`.

use super::MAX_DEPTH;
use crate::error::{Error, Result};
use std::borrow::Cow;

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Leg<'a> {
    /// The member of an object.
    Member(Cow<'a, str>),
    /// The element of an array, counted from 0; `from_end`: from the last one back.
    Cell { index: u32, from_end: bool },
}

impl Leg<'_> {
    /// The position in an array of `len` elements; `None` where it has none.
    pub(super) fn existing(&self, len: usize) -> Option<usize> {
        let Self::Cell { index, from_end } = *self else {
            return None;
        };
        let index = usize::try_from(index).ok().filter(|&index| index < len)?;
        Some(if from_end {
            len.saturating_sub(1).saturating_sub(index)
        } else {
            index
        })
    }

    /// The position for a new element: at the end where the path leads behind it, at the front where
    /// it leads before it.
    pub(super) fn insertion(&self, len: usize) -> Option<usize> {
        match *self {
            Self::Member(_) => None,
            Self::Cell { from_end, .. } => {
                let outside = if from_end { 0 } else { len };
                Some(self.existing(len).unwrap_or(outside))
            }
        }
    }
}

/// Reads a path.
///
/// # Errors
/// A path that breaks the grammar, or that could mean several places; one of more than 100 legs.
pub(super) fn parse(path: &str) -> Result<Vec<Leg<'_>>> {
    let damaged = || Error::corrupt(format!("path {path:?} of a JSON change"));
    let mut rest = trim(path).strip_prefix('$').ok_or_else(damaged)?;
    let mut legs = Vec::new();
    loop {
        rest = trim(rest);
        if rest.is_empty() {
            return Ok(legs);
        }
        if legs.len() >= MAX_DEPTH {
            return Err(Error::corrupt(format!(
                "a path of a JSON change has over {MAX_DEPTH} legs"
            )));
        }
        let leg = match rest.strip_prefix('[') {
            Some(cell) => cell_leg(cell),
            None => rest.strip_prefix('.').and_then(member_leg),
        };
        let (leg, behind) = leg.ok_or_else(damaged)?;
        legs.push(leg);
        rest = behind;
    }
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t'..='\r')
}

fn trim(text: &str) -> &str {
    text.trim_start_matches(is_space)
}

/// Reads what follows `[`.
fn cell_leg(text: &str) -> Option<(Leg<'_>, &str)> {
    let mut rest = trim(text);
    let mut from_end = false;
    let mut index = 0;
    let mut has_index = true;
    if let Some(behind) = rest.strip_prefix("last") {
        from_end = true;
        rest = trim(behind);
        match rest.strip_prefix('-') {
            Some(behind) => rest = trim(behind),
            None => has_index = false,
        }
    }
    if has_index {
        let behind = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        index = rest.strip_suffix(behind)?.parse().ok()?;
        rest = behind;
    }
    let rest = trim(rest).strip_prefix(']')?;
    Some((Leg::Cell { index, from_end }, rest))
}

/// Reads what follows `.`.
fn member_leg(text: &str) -> Option<(Leg<'_>, &str)> {
    let text = trim(text);
    let (name, rest) = match text.strip_prefix('"') {
        Some(quoted) => {
            let mut escaped = false;
            let end = quoted.find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            })?;
            let (name, rest) = quoted.split_at(end);
            (name, rest.strip_prefix('"')?)
        }
        None => {
            let end = text.find(|c| is_space(c) || matches!(c, '[' | '.' | '*' | '"'));
            let (name, rest) = text.split_at(end.unwrap_or(text.len()));
            if name.is_empty() {
                return None;
            }
            (name, rest)
        }
    };
    Some((Leg::Member(unescape(name)?), rest))
}

/// Undoes the escapes of a JSON string; `None` where it is none.
fn unescape(text: &str) -> Option<Cow<'_, str>> {
    if text.chars().any(|c| c < ' ') {
        return None;
    }
    let Some((plain, mut rest)) = text.split_once('\\') else {
        return Some(Cow::Borrowed(text));
    };
    let mut out = String::from(plain);
    loop {
        let mut chars = rest.chars();
        let escape = chars.next()?;
        rest = chars.as_str();
        out.push(match escape {
            '"' | '\\' | '/' => escape,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let (unit, behind) = hex4(rest)?;
                rest = behind;
                match unit {
                    0xd800..=0xdbff => {
                        let (low, behind) = hex4(rest.strip_prefix("\\u")?)?;
                        rest = behind;
                        char::decode_utf16([unit, low]).next()?.ok()?
                    }
                    _ => char::from_u32(u32::from(unit))?,
                }
            }
            _ => return None,
        });
        match rest.split_once('\\') {
            Some((plain, behind)) => {
                out.push_str(plain);
                rest = behind;
            }
            None => {
                out.push_str(rest);
                return Some(Cow::Owned(out));
            }
        }
    }
}

fn hex4(text: &str) -> Option<(u16, &str)> {
    let (digits, rest) = text.split_at_checked(4)?;
    let valid = digits.bytes().all(|b| b.is_ascii_hexdigit());
    let unit = u16::from_str_radix(digits, 16).ok().filter(|_| valid)?;
    Some((unit, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str) -> Leg<'_> {
        Leg::Member(Cow::Borrowed(name))
    }

    fn cell(index: u32, from_end: bool) -> Leg<'static> {
        Leg::Cell { index, from_end }
    }

    #[test]
    fn paths_as_the_server_writes_them() {
        assert_eq!(parse("$").unwrap(), []);
        assert_eq!(
            parse("$.a[0].\"b c\"[last][last-12].é").unwrap(),
            [
                member("a"),
                cell(0, false),
                member("b c"),
                cell(0, true),
                cell(12, true),
                member("é")
            ]
        );
        assert_eq!(
            parse(r#"$."q\"\\\n\u0001\ud83d\ude00".$"#).unwrap(),
            [member("q\"\\\n\u{1}😀"), member("$")]
        );
        assert_eq!(parse(r#"$."""#).unwrap(), [member("")]);
        assert_eq!(
            parse(" $ . a [ last - 4294967295 ] ").unwrap(),
            [member("a"), cell(u32::MAX, true)]
        );
    }

    #[test]
    fn what_is_no_path_of_one_place() {
        for path in [
            "",
            "a",
            "$.",
            "$a",
            "$..a",
            "$.*",
            "$[*]",
            "$**.a",
            "$[1 to 2]",
            "$[",
            "$[]",
            "$[-1]",
            "$[4294967296]",
            "$[last-]",
            "$[last+1]",
            "$.\"a",
            "$.\"\\x\"",
            "$.\"\\ud800\"",
            "$.\"\\u12\"",
            "$.\"\\",
            "$.a\"b\"",
            "$.\"a\u{1}\"",
            "$[0",
        ] {
            let error = parse(path).unwrap_err();
            assert!(error.message().contains("of a JSON change"), "{path}");
        }
        let longest = format!("${}", "[0]".repeat(100));
        assert_eq!(parse(&longest).unwrap().len(), 100);
        assert!(parse(&format!("{longest}[0]")).is_err());
    }

    #[test]
    fn positions_in_arrays() {
        assert_eq!(cell(0, false).existing(0), None);
        assert_eq!(cell(2, false).existing(3), Some(2));
        assert_eq!(cell(0, true).existing(3), Some(2));
        assert_eq!(cell(3, true).existing(3), None);
        assert_eq!(cell(9, false).insertion(3), Some(3));
        assert_eq!(cell(9, true).insertion(3), Some(0));
        assert_eq!(cell(0, true).insertion(3), Some(2));
        assert_eq!(member("a").insertion(3), None);
    }
}
