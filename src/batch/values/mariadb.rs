//! UUID, INET4 and INET6 of MariaDB, which only a declaration tells from BINARY.
//!
//! All three are written as BINARY, so that zeros at the end are missing. A UUID is written in the
//! order of its text, although tables store most of them with their parts swapped; the other two
//! with the high byte first. Source: MariaDB `plugin/type_uuid/sql_type_uuid.h` (`pack`),
//! `plugin/type_inet/sql_type_inet.cc` (`to_string`).

use super::run::{Run, bytes_at, explain};
use super::string::value_of;
use super::{ArrowType, Extension, ValueDef};
use crate::binlog::row::{ColumnPlan, DeclaredType};
use crate::binlog::types::{Value, code, write_inet4, write_inet6, write_uuid};
use crate::error::{Error, Result};
use arrow::array::builder::NullBufferBuilder;
use arrow::array::{ArrayRef, FixedSizeBinaryArray, StringBuilder};
use arrow::buffer::Buffer;
use arrow::datatypes::DataType;
use std::sync::Arc;

pub(super) const DEFS: &[ValueDef] = &[
    ValueDef {
        claims: |column| is(column, DeclaredType::Uuid, 16),
        arrow: |_, _| ArrowType {
            data_type: DataType::FixedSizeBinary(16),
            extension: Some(&UUID),
        },
        build: uuids,
        text: |_, value, out| {
            write_uuid(padded(stored(value)?)?, out);
            Ok(())
        },
    },
    ValueDef {
        claims: |column| is(column, DeclaredType::Inet4, 4),
        arrow: |_, _| DataType::Utf8.into(),
        build: |run| texts(run, write_inet4),
        text: |_, value, out| {
            write_inet4(padded(stored(value)?)?, out);
            Ok(())
        },
    },
    ValueDef {
        claims: |column| is(column, DeclaredType::Inet6, 16),
        arrow: |_, _| DataType::Utf8.into(),
        build: |run| texts(run, write_inet6),
        text: |_, value, out| {
            write_inet6(padded(stored(value)?)?, out);
            Ok(())
        },
    },
];

static UUID: Extension = Extension {
    name: "arrow.uuid",
    metadata: None,
};

fn is(column: &ColumnPlan, declared: DeclaredType, len: u16) -> bool {
    column.declared() == Some(declared) && column.ty.code == code::STRING && column.ty.meta == len
}

/// The bytes that the log has of a value.
fn stored(value: Value<'_>) -> Result<&[u8]> {
    match value {
        Value::Binary(binary) => Ok(binary.stored),
        Value::Bytes(bytes) | Value::Text(bytes) | Value::TextOrBytes(bytes) => Ok(bytes),
        _ => Err(Error::corrupt("a value of BINARY of another type")),
    }
}

/// The bytes with the zeros at their end.
fn padded<const N: usize>(stored: &[u8]) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    match bytes.get_mut(..stored.len()) {
        Some(front) => {
            front.copy_from_slice(stored);
            Ok(bytes)
        }
        None => Err(Error::corrupt(format!(
            "{} bytes in a BINARY({N})",
            stored.len()
        ))),
    }
}

fn uuids(run: &mut Run<'_>) -> ArrayRef {
    let mut bytes: Vec<u8> = Vec::with_capacity(run.rows * 16);
    let mut nulls = NullBufferBuilder::new(run.rows);
    each::<16>(run, |uuid| {
        bytes.extend(uuid.unwrap_or_default());
        nulls.append(uuid.is_some());
    });
    let array = FixedSizeBinaryArray::try_new(16, Buffer::from_vec(bytes), nulls.finish());
    run.finished(array.map(|array| Arc::new(array) as ArrayRef))
}

/// Texts of at most 45 characters, so that no batch has 2 GiB of them.
fn texts<const N: usize>(run: &mut Run<'_>, write: fn([u8; N], &mut String)) -> ArrayRef {
    let mut texts = StringBuilder::with_capacity(run.rows, run.rows * 16);
    let mut text = String::new();
    each::<N>(run, |address| match address {
        Some(address) => {
            text.clear();
            write(address, &mut text);
            texts.append_value(&text);
        }
        None => texts.append_null(),
    });
    Arc::new(texts.finish())
}

/// Calls `push` with each value, or with nothing.
fn each<const N: usize>(run: &mut Run<'_>, mut push: impl FnMut(Option<[u8; N]>)) {
    for (first_row, stretch) in run.stretches() {
        let block = stretch.block.as_ref();
        for (row, place) in (first_row..).zip(stretch.places) {
            let at = bytes_at(block, *place);
            let (Some(column), Some(at)) = (stretch.column, at) else {
                push(None);
                continue;
            };
            let value = value_of(column, at).and_then(|value| padded(value).ok());
            if value.is_none() {
                (run.note)(row, explain(column, at));
            }
            push(value);
        }
    }
}
