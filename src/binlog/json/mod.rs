//! MySQL's binary JSON (5.7 and later): a stored document → the text that the server prints.
//!
//! ```text
//! document   type 1 │ value                               no bytes at all: JSON null
//!
//! object     count │ size │ key entries │ value entries │ keys │ values      numbers of 2 bytes (small)
//! array      count │ size │ value entries │ values                           or 4 bytes (large)
//!              size counts from `count` on; so do all offsets
//! key entry    offset │ length 2
//! value entry  type 1 │ offset, or the value itself: literals, int16, uint16; in large also int32, uint32
//!
//! string     length, 7 bits a byte, low bits first │ utf8mb4
//! opaque     column type 1 │ length as of a string │ bytes
//! ```
//!
//! | type | value | type | value |
//! |---|---|---|---|
//! | 0, 1 | small, large object | 7, 8 | int32, uint32 |
//! | 2, 3 | small, large array | 9, 10 | int64, uint64 |
//! | 4 | literal: 0 null, 1 true, 2 false | 11 | double |
//! | 5, 6 | int16, uint16 | 12, 15 | string, opaque |
//!
//! Keys are sorted by length, then by bytes. An update in place leaves gaps, and keys and values in
//! any order; so nothing here expects a value where the one before it ends.
//!
//! | module | question |
//! |---|---|
//! | `node` | which value stands here |
//! | `text` | how does the server print it |
//! | `opaque` | how does it print a value of an SQL type |
//! | `path` | which part of a document does a change mean |
//! | `diff` | what does a partial update change |
//! | `apply` | which document results |
//!
//! **Invariant:** no two values share bytes, or the document is refused; so the work is at most
//! linear in its length. Nothing is nested deeper than [`MAX_DEPTH`].
//!
//! Source: MySQL `sql/json_binary.h`, `sql/json_dom.cc`, `sql/json_diff.cc`.

mod apply;
mod diff;
mod node;
mod opaque;
mod path;
mod text;

pub use apply::apply;
pub use diff::{JsonDiff, JsonDiffs, JsonOp};
pub use node::{Container, Elements, Members, Node, Opaque};
pub(super) use opaque::write_base64;
pub(super) use text::{write_escaped, write_string};

use crate::error::{Error, Result};

/// Greatest number of objects and arrays inside each other, the outermost included: the server's
/// own limit.
pub const MAX_DEPTH: usize = 100;

/// A stored JSON document, read in place.
#[derive(Debug, Clone, Copy)]
pub struct Json<'a> {
    root: Node<'a>,
    len: usize,
}

impl<'a> Json<'a> {
    /// Reads the outermost value of a document as it stands in a row. Values inside are read, and
    /// their errors found, when they are asked for. Bytes that belong to no value, gaps of updates in
    /// place, are never looked at.
    ///
    /// A document without bytes is JSON null: what the server stores where a `NOT NULL` column is
    /// given no value.
    ///
    /// # Errors
    /// An unknown type, or a value that does not fit into the document.
    pub fn parse(document: &'a [u8]) -> Result<Self> {
        Ok(Self {
            root: Node::root(document)?,
            len: document.len(),
        })
    }

    /// The outermost value.
    pub fn root(&self) -> Node<'a> {
        self.root
    }

    /// Appends the text of the document as the server prints it.
    ///
    /// # Errors
    /// A damaged value; the error says its offset in the document, and `out` is as before.
    pub fn to_text(&self, out: &mut String) -> Result<()> {
        self.write(out).map(|_| ())
    }

    /// Whether [`Json::to_text`] has a text for all of it.
    ///
    /// # Errors
    /// As of [`Json::to_text`].
    pub fn check(&self) -> Result<()> {
        let mut scratch = String::new();
        text::check(self.root, 0, 0, &mut Budget::new(self.len), &mut scratch)
    }

    /// As [`Json::to_text`]; returns the depth of the document.
    fn write(&self, out: &mut String) -> Result<usize> {
        let begin = out.len();
        let mut budget = Budget::new(self.len);
        text::write(self.root, 0, 0, &mut budget, out).inspect_err(|_| out.truncate(begin))
    }
}

/// The error of a value at offset `at` of its document.
#[cold]
fn corrupt(at: usize, what: impl std::fmt::Display) -> Error {
    Error::corrupt(format!("byte {at} of the JSON document: {what}"))
}

/// Bytes of a document that no value has claimed yet.
///
/// Offsets can point anywhere, so a few bytes could stand for a great many values. The server never
/// writes that: each value has its own bytes. Claiming them bounds the work.
struct Budget {
    left: usize,
}

impl Budget {
    fn new(len: usize) -> Self {
        Self { left: len }
    }

    /// Claims `n` bytes for the value at offset `at`.
    fn claim(&mut self, n: usize, at: usize) -> Result<()> {
        match self.left.checked_sub(n) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(corrupt(at, "values lie on top of each other")),
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
