//! Any value as text: what `SELECT` shows.

use super::Note;
use super::run::{Run, bytes_at, undecoded};
use super::view::Views;
use crate::binlog::cursor::Cursor;
use crate::binlog::row::ColumnPlan;
use crate::binlog::types::{Signedness, Value};
use crate::error::Result;
use arrow::array::ArrayRef;

/// Builds texts, which `write` writes.
pub(super) fn build(
    run: &mut Run<'_>,
    write: fn(&ColumnPlan, Value<'_>, &mut String) -> Result<()>,
) -> ArrayRef {
    let mut views = Views::new(run.rows, Vec::new());
    let mut text = String::new();
    for (first_row, stretch) in run.stretches() {
        let Some(column) = stretch.column else {
            views.push_nulls(stretch.places.len());
            continue;
        };
        let bytes = stretch.block.as_ref();
        for (row, place) in (first_row..).zip(stretch.places) {
            let Some(at) = bytes_at(bytes, *place) else {
                views.push_null();
                continue;
            };
            text.clear();
            let decode = column.ty.decode();
            let value = decode.and_then(|decode| decode(&mut Cursor::new(at), column.context));
            match value.and_then(|value| write(column, value, &mut text).map(|()| value)) {
                Ok(value) => {
                    if column.context.signedness == Signedness::Unknown
                        && let Value::AnyInt(n) = value
                        && n.certain().is_none()
                    {
                        (run.note)(row, Note::Signedness(n));
                    }
                    views.push_owned(text.as_bytes());
                }
                Err(error) => {
                    (run.note)(row, undecoded(column, error));
                    views.push_null();
                }
            }
        }
    }
    // Strings are UTF-8.
    let finished = views.finish_text(&mut |_, _| {});
    run.finished(finished)
}
