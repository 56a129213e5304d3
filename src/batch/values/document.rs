//! JSON: text as the server prints it.
//!
//! MySQL's is a type of its own, and the log may have only the changes of a value; MariaDB's is
//! text, and only a declaration tells that it is JSON.

use super::run::{Run, bytes_at, undecoded};
use super::string::{is_blob, texts, value_of};
use super::view::Views;
use super::{ArrowType, Extension, TypeOptions, ValueDef};
use crate::binlog::json::{Json, apply};
use crate::binlog::row::{ColumnPlan, DeclaredType, Place};
use crate::binlog::types::{Content, code};
use crate::error::{Error, Result};
use arrow::array::ArrayRef;
use arrow::datatypes::DataType;

pub(super) const DEFS: &[ValueDef] = &[
    ValueDef {
        claims: |column| column.ty.code == code::JSON,
        arrow,
        build: documents,
        text: ColumnPlan::write_text,
    },
    // MariaDB's
    ValueDef {
        claims: |column| {
            column.declared() == Some(DeclaredType::Json)
                && is_blob(column)
                && column.context.content == Content::Text
                && (column.collation.is_none() || column.charset().is_some())
        },
        arrow,
        build: texts,
        text: ColumnPlan::write_text,
    },
];

static JSON: Extension = Extension {
    name: "arrow.json",
    metadata: Some(""),
};

fn arrow(_: &ColumnPlan, _: &TypeOptions) -> ArrowType {
    ArrowType {
        data_type: DataType::Utf8View,
        extension: Some(&JSON),
    }
}

fn documents(run: &mut Run<'_>) -> ArrayRef {
    let mut views = Views::new(run.rows, Vec::new());
    let mut text = String::new();
    for (first_row, stretch) in run.stretches() {
        let Some(column) = stretch.column else {
            views.push_nulls(stretch.places.len());
            continue;
        };
        let bytes = stretch.block.as_ref();
        let document = |place: Place| {
            let at = bytes_at(bytes, place)?;
            let value = value_of(column, at);
            Some(value.ok_or_else(|| Error::corrupt("a JSON document that ends early")))
        };
        for (n, &place) in stretch.places.iter().enumerate() {
            let Some(value) = document(place) else {
                views.push_null();
                continue;
            };
            text.clear();
            let written: Result<bool> = if place.is_diff() {
                match stretch.bases.get(n) {
                    // Changes of nothing. The caller knows that the value is missing.
                    None | Some(&Place::ABSENT) => Ok(false),
                    Some(&base) => value.and_then(|diffs| {
                        let base = match document(base) {
                            Some(document) if !base.is_diff() => document?,
                            _ => return Err(Error::corrupt("JSON changes of no value")),
                        };
                        text.push_str(&apply(base, diffs)?);
                        Ok(true)
                    }),
                }
            } else {
                let written = value.and_then(|value| Json::parse(value)?.to_text(&mut text));
                written.map(|()| true)
            };
            match written {
                Ok(true) => views.push_owned(text.as_bytes()),
                Ok(false) => views.push_null(),
                Err(error) => {
                    (run.note)(first_row + n, undecoded(column, error));
                    views.push_null();
                }
            }
        }
    }
    // The writer of JSON writes strings.
    let finished = views.finish_text(&mut |_, _| {});
    run.finished(finished)
}
