//! The changes that a partial update makes to a document.
//!
//! ```text
//! operation 1 │ path length (packed) │ path │ REPLACE, INSERT: value length (packed) │ value, a document │ …
//! ```
//!
//! In a row the changes have a length of 4 bytes before them, as a document has. No changes at all:
//! the document is as before. Source: MySQL `json_diff.cc` (`Json_diff_vector::read_binary`).

use super::Json;
use super::text::write_string;
use crate::binlog::cursor::Cursor;
use crate::error::{Error, Result};

/// What a change does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JsonOp {
    /// Gives a value that exists another one.
    Replace,
    /// Adds a member to an object, or an element to an array before the one of the path.
    Insert,
    /// Removes a member or an element.
    Remove,
}

impl JsonOp {
    /// `replace`, `insert` or `remove`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Replace => "replace",
            Self::Insert => "insert",
            Self::Remove => "remove",
        }
    }
}

/// One change.
#[derive(Debug, Clone, Copy)]
pub struct JsonDiff<'a> {
    /// What it does.
    pub op: JsonOp,
    /// Where, as the server writes paths: `$.a."b c"[0]`.
    pub path: &'a str,
    /// The new value; `None` for [`JsonOp::Remove`].
    pub value: Option<Json<'a>>,
}

/// The changes that stand for a document in an after image.
#[derive(Debug, Clone, Copy)]
pub struct JsonDiffs<'a> {
    bytes: &'a [u8],
}

impl<'a> JsonDiffs<'a> {
    /// Reads changes, without the length before them, and all of their values.
    ///
    /// # Errors
    /// An unknown operation, a change that does not fit, a path that is not one, or a damaged value;
    /// the error says the number of the change and its offset.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let diffs = Self::unchecked(bytes);
        let mut text = String::new();
        diffs.each(|_, diff| {
            text.clear();
            super::path::parse(diff.path)?;
            match diff.value {
                Some(value) => value.to_text(&mut text),
                None => Ok(()),
            }
        })?;
        Ok(diffs)
    }

    /// Changes that [`JsonDiffs::each`] will read for the first time.
    pub(super) fn unchecked(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Calls `see` with the number (from 1) and each change; its errors are given the place.
    pub(super) fn each(
        &self,
        mut see: impl FnMut(usize, JsonDiff<'a>) -> Result<()>,
    ) -> Result<()> {
        let mut rest = Cursor::new(self.bytes);
        let mut number = 0usize;
        while !rest.is_empty() {
            number = number.saturating_add(1);
            let at = self.bytes.len().saturating_sub(rest.len());
            read(&mut rest)
                .and_then(|diff| see(number, diff))
                .map_err(|error| {
                    Error::new(
                        error.kind(),
                        format!("JSON change {number} at byte {at}: {}", error.message()),
                    )
                })?;
        }
        Ok(())
    }

    /// The changes, in the order in which they are made.
    pub fn iter(&self) -> impl Iterator<Item = JsonDiff<'a>> + use<'a> {
        let mut rest = Cursor::new(self.bytes);
        // `parse` has read them all.
        std::iter::from_fn(move || read(&mut rest).ok())
    }

    /// Whether there is none: the document is as before.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Appends the changes as a JSON array:
    /// `[{"op": "replace", "path": "$.a", "value": 1}, {"op": "remove", "path": "$.b[0]"}]`.
    ///
    /// # Errors
    /// None in practice: [`JsonDiffs::parse`] has read all values.
    pub fn to_text(&self, out: &mut String) -> Result<()> {
        out.push('[');
        for (n, diff) in self.iter().enumerate() {
            out.push_str(if n == 0 {
                "{\"op\": \""
            } else {
                ", {\"op\": \""
            });
            out.push_str(diff.op.name());
            out.push_str("\", \"path\": ");
            write_string(diff.path, out);
            if let Some(value) = diff.value {
                out.push_str(", \"value\": ");
                value.to_text(out)?;
            }
            out.push('}');
        }
        out.push(']');
        Ok(())
    }
}

fn read<'a>(rest: &mut Cursor<'a>) -> Result<JsonDiff<'a>> {
    let op = match rest.u8()? {
        0 => JsonOp::Replace,
        1 => JsonOp::Insert,
        2 => JsonOp::Remove,
        other => return Err(Error::corrupt(format!("unknown operation {other}"))),
    };
    let path = std::str::from_utf8(rest.lenenc_bytes()?)
        .map_err(|_| Error::corrupt("the path is not UTF-8"))?;
    let value = match op {
        JsonOp::Replace | JsonOp::Insert => Some(Json::parse(rest.lenenc_bytes()?)?),
        JsonOp::Remove => None,
    };
    Ok(JsonDiff { op, path, value })
}
