//! The values of a row as JSON objects, and which of them an update changed.
//!
//! ```text
//! block   … 01 00 00 00 04 6e 61 6d 65 …            {"id":1,"name":"name","doc":{"a": 1}}
//! places    └ id        └ name                 ─▶    columns that are ABSENT have no key
//! ```
//!
//! The values are taken from where they stand, so that only what is written is decoded.

use super::note::ValueNote;
use super::place::Place;
use super::plan::{ColumnPlan, RowPlan};
use crate::binlog::compressed::{MAX_UNCOMPRESSED, uncompress_column};
use crate::binlog::cursor::Cursor;
use crate::binlog::json::{Json, JsonDiffs, apply, write_string};
use crate::binlog::types::Value;
use crate::error::{Error, Result};

/// The column names of a plan as keys of JSON, made once.
#[derive(Debug)]
pub struct RowJson {
    /// `"name":` of each column.
    keys: Box<[Box<str>]>,
}

impl RowJson {
    /// The keys of a plan; the names are those of [`ColumnPlan::display_name`].
    pub fn new(plan: &RowPlan) -> Self {
        let key = |column: &ColumnPlan| {
            let mut key = String::new();
            write_string(&column.display_name(), &mut key);
            key.push(':');
            key.into()
        };
        Self {
            keys: plan.columns().iter().map(key).collect(),
        }
    }

    /// Bytes of memory that the keys take.
    pub fn weight(&self) -> usize {
        let keys = self.keys.iter().map(|key| key.len());
        keys.fold(size_of_val(&*self.keys), usize::saturating_add)
    }

    /// Appends an object of all columns that are not absent: `{"id":1,"name":"a"}`.
    ///
    /// `plan` is the one of [`RowJson::new`]. `place` and `base` are asked for the places of column n
    /// in `block`, n from 0. The base of a JSON column is where the changes of
    /// [`Place::is_diff`] are to be made; where it is absent, the changes are shown:
    /// `{"$json_diff":[{"op": "replace", "path": "$.a", "value": 1}]}`.
    ///
    /// What is not exact about a value is told to `note`; one that does not decode is `null`.
    pub fn write_row(
        &self,
        plan: &RowPlan,
        block: &[u8],
        place: impl Fn(usize) -> Place,
        base: impl Fn(usize) -> Place,
        out: &mut String,
        note: &mut dyn FnMut(&ColumnPlan, ValueNote),
    ) {
        out.push('{');
        let mut separator = "";
        for (n, (column, key)) in plan.columns().iter().zip(&self.keys).enumerate() {
            let place = place(n);
            if place == Place::ABSENT {
                continue;
            }
            out.push_str(separator);
            out.push_str(key);
            separator = ",";
            let base = || base(n);
            if let Some(doubt) = write_at(column, block, place, base, out) {
                note(column, doubt);
            }
        }
        out.push('}');
    }

    /// Appends an object of the primary key, in key order, and returns true; or appends nothing,
    /// where no key is told or neither image has all of it.
    ///
    /// A column is taken from the image before, where that has it: `before` and `row` are asked for
    /// the places of column n in `block`.
    pub fn write_key(
        &self,
        plan: &RowPlan,
        block: &[u8],
        row: impl Fn(usize) -> Place,
        before: impl Fn(usize) -> Place,
        out: &mut String,
        note: &mut dyn FnMut(&ColumnPlan, ValueNote),
    ) -> bool {
        let begin = out.len();
        out.push('{');
        let mut separator = "";
        for &(n, _) in plan.primary_key() {
            let place = match before(n) {
                Place::ABSENT => row(n),
                place => place,
            };
            let (Some(column), Some(key)) = (plan.columns().get(n), self.keys.get(n)) else {
                break; // the plan has checked its key
            };
            if place == Place::ABSENT {
                out.truncate(begin);
                return false;
            }
            out.push_str(separator);
            out.push_str(key);
            separator = ",";
            if let Some(doubt) = write_at(column, block, place, || Place::ABSENT, out) {
                note(column, doubt);
            }
        }
        if separator.is_empty() {
            out.truncate(begin);
            return false;
        }
        out.push('}');
        true
    }
}

/// Writes the value that stands at a place.
fn write_at(
    column: &ColumnPlan,
    block: &[u8],
    place: Place,
    base: impl FnOnce() -> Place,
    out: &mut String,
) -> Option<ValueNote> {
    let begin = out.len();
    let failed = |error: Error, out: &mut String| {
        out.truncate(begin);
        out.push_str("null");
        Some(ValueNote::Undecoded(error.in_column(column.label())))
    };
    if place.is_diff() {
        let written = write_changed(column, block, place, base(), out);
        return written.err().and_then(|error| failed(error, out));
    }
    match value_at(column, block, place) {
        Ok(value) => column.write_json(value, out),
        Err(error) => failed(error, out),
    }
}

impl ColumnPlan {
    /// What [`RowJson::write_row`] would find of the value at `place` of `block`, without writing
    /// it. `base`: where the document is to which the changes of [`Place::is_diff`] are made.
    pub fn check_at(&self, block: &[u8], place: Place, base: Place) -> Option<ValueNote> {
        place.offset()?;
        let checked = if place.is_diff() {
            check_changed(self, block, place, base).map(|()| None)
        } else {
            value_at(self, block, place).map(|value| self.check(value))
        };
        checked.unwrap_or_else(|error| Some(ValueNote::Undecoded(error.in_column(self.label()))))
    }
}

fn check_changed(column: &ColumnPlan, block: &[u8], place: Place, base: Place) -> Result<()> {
    let diffs = document_at(column, block, place)?;
    match base_at(column, block, base)? {
        Some(document) => apply(document, diffs).map(|_| ()),
        None => JsonDiffs::parse(diffs).map(|_| ()),
    }
}

/// Writes a JSON document of which there are the changes, or the changes.
fn write_changed(
    column: &ColumnPlan,
    block: &[u8],
    place: Place,
    base: Place,
    out: &mut String,
) -> Result<()> {
    let diffs = document_at(column, block, place)?;
    match base_at(column, block, base)? {
        Some(document) => out.push_str(&apply(document, diffs)?),
        None => {
            let diffs = JsonDiffs::parse(diffs)?;
            out.push_str("{\"$json_diff\":");
            diffs.to_text(out)?;
            out.push('}');
        }
    }
    Ok(())
}

/// The value at a place that is not absent.
fn value_at<'b>(column: &ColumnPlan, block: &'b [u8], place: Place) -> Result<Value<'b>> {
    let Some(offset) = place.offset() else {
        return Ok(Value::Null);
    };
    let decode = column
        .decode
        .ok_or_else(|| Error::unsupported("a type without length"))?;
    decode(&mut Cursor::new(bytes_at(block, offset)?), column.context)
}

/// The document or the changes at a place of a JSON column.
fn document_at<'b>(column: &ColumnPlan, block: &'b [u8], place: Place) -> Result<&'b [u8]> {
    match value_at(column, block, place)? {
        Value::Json(document) => Ok(document),
        _ => Err(Error::corrupt("changes of a value that is no document")),
    }
}

/// The document to which changes are made; `None`: the log does not have it.
fn base_at<'b>(column: &ColumnPlan, block: &'b [u8], base: Place) -> Result<Option<&'b [u8]>> {
    if base == Place::ABSENT || base.is_diff() {
        return Ok(None);
    }
    document_at(column, block, base).map(Some)
}

fn bytes_at(block: &[u8], offset: usize) -> Result<&[u8]> {
    block
        .get(offset..)
        .ok_or_else(|| Error::truncated("a value", offset, block.len()))
}

/// Appends the columns that an update changed, in order, n from 0: those whose value differs, and
/// those that the image after has while the image before does not.
///
/// `row` and `before` are asked for the places of column n in `block`. Values are compared as they
/// stand in the row, COMPRESSED ones by what is in them, JSON by its text. A value that cannot be
/// compared is told to `note` and counts as changed.
pub fn changed(
    plan: &RowPlan,
    block: &[u8],
    row: impl Fn(usize) -> Place,
    before: impl Fn(usize) -> Place,
    out: &mut Vec<usize>,
    note: &mut dyn FnMut(&ColumnPlan, ValueNote),
) {
    for (n, column) in plan.columns().iter().enumerate() {
        let (row, before) = (row(n), before(n));
        if row == before || row == Place::ABSENT {
            continue;
        }
        let differs = differs(column, block, row, before).unwrap_or_else(|error| {
            note(
                column,
                ValueNote::Undecoded(error.in_column(column.label())),
            );
            true
        });
        if differs {
            out.push(n);
        }
    }
}

/// Whether a value is another one than before; it is not absent, and stands elsewhere.
fn differs(column: &ColumnPlan, block: &[u8], row: Place, before: Place) -> Result<bool> {
    if row.is_diff() {
        let diffs = document_at(column, block, row)?;
        // No changes at all: the document is as before.
        if diffs.is_empty() {
            return Ok(false);
        }
        let Some(document) = base_at(column, block, before)? else {
            return Ok(true);
        };
        return Ok(apply(document, diffs)? != text_of(document)?);
    }
    if before == Place::ABSENT || row == Place::NULL || before == Place::NULL {
        // They are not the same place.
        return Ok(true);
    }
    let (new, old) = (
        encoded(column, block, row)?,
        encoded(column, block, before)?,
    );
    if new == old {
        return Ok(false);
    }
    Ok(
        match (
            value_at(column, block, row)?,
            value_at(column, block, before)?,
        ) {
            (Value::Json(new), Value::Json(old)) => text_of(new)? != text_of(old)?,
            (Value::Compressed(new), Value::Compressed(old)) => {
                uncompress_column(new, MAX_UNCOMPRESSED)?
                    != uncompress_column(old, MAX_UNCOMPRESSED)?
            }
            _ => true,
        },
    )
}

/// The bytes that a value takes in the row.
fn encoded<'b>(column: &ColumnPlan, block: &'b [u8], place: Place) -> Result<&'b [u8]> {
    let from = bytes_at(block, place.offset().unwrap_or(usize::MAX))?;
    let mut rest = Cursor::new(from);
    column.ty.width()?.skip(&mut rest)?;
    let len = from.len().saturating_sub(rest.len());
    Ok(from.get(..len).unwrap_or_default())
}

fn text_of(document: &[u8]) -> Result<String> {
    let mut text = String::new();
    Json::parse(document)?.to_text(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests;
