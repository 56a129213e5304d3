//! GEOMETRY and VECTOR.
//!
//! A GEOMETRY is stored as SRID and WKB. The column has the WKB, which is what `geoarrow.wkb` means
//! (that with a SRID inside is EWKB, another format); a field cannot tell a SRID that differs from
//! value to value. Where it matters, `before` and `after` of `changes` have SRID and WKB.

use super::run::{Run, bytes_at, explain, undecoded};
use super::string::{value_of, views};
use super::{ArrowType, Extension, TypeOptions, ValueDef};
use crate::binlog::row::{ColumnPlan, DeclaredType};
use crate::binlog::types::code;
use crate::error::Error;
use arrow::array::builder::NullBufferBuilder;
use arrow::array::{ArrayRef, Float32Array, ListArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, FieldRef};
use std::sync::Arc;

pub(super) const DEFS: &[ValueDef] = &[
    ValueDef {
        claims: |column| column.ty.code == code::GEOMETRY,
        arrow: |_, _| ArrowType {
            data_type: DataType::BinaryView,
            extension: Some(&WKB),
        },
        build: geometries,
        text: ColumnPlan::write_text,
    },
    // MySQL's is a type of its own, MariaDB's a VARBINARY.
    ValueDef {
        claims: |column| {
            column.ty.code == code::VECTOR
                || column.declared() == Some(DeclaredType::Vector)
                    && column.ty.code == code::VARCHAR
        },
        arrow: |_, _: &TypeOptions| DataType::List(element()).into(),
        build: vectors,
        text: ColumnPlan::write_text,
    },
];

static WKB: Extension = Extension {
    name: "geoarrow.wkb",
    metadata: Some("{}"),
};

fn geometries(run: &mut Run<'_>) -> ArrayRef {
    let views = views(run, |all, buffer| {
        let block = all.stretch.block.as_ref();
        all.each(|views, value| match value.len() {
            // A column added as NOT NULL has no bytes in the rows that were there.
            0 => {
                views.push_owned(value);
                Ok(None)
            }
            n => match value.get(4..) {
                Some(wkb) => {
                    views.push(wkb, buffer, block);
                    Ok(None)
                }
                None => Err(Error::corrupt(format!("a GEOMETRY of {n} bytes"))),
            },
        });
    });
    let finished = views.finish_bytes();
    run.finished(finished)
}

fn element() -> FieldRef {
    Arc::new(Field::new_list_field(DataType::Float32, true))
}

/// Greatest number of elements of all lists in an array.
const MAX_ELEMENTS: usize = i32::MAX as usize;

fn vectors(run: &mut Run<'_>) -> ArrayRef {
    let mut numbers: Vec<f32> = Vec::new();
    let mut offsets: Vec<i32> = Vec::with_capacity(run.rows + 1);
    let mut nulls = NullBufferBuilder::new(run.rows);
    offsets.push(0);
    for (first_row, stretch) in run.stretches() {
        let bytes = stretch.block.as_ref();
        for (row, place) in (first_row..).zip(stretch.places) {
            let at = bytes_at(bytes, *place);
            let mut is_value = false;
            if let (Some(column), Some(at)) = (stretch.column, at) {
                match value_of(column, at) {
                    Some(value) if !value.len().is_multiple_of(4) => {
                        let error = Error::corrupt(format!("a VECTOR of {} bytes", value.len()));
                        (run.note)(row, undecoded(column, error));
                    }
                    Some(value) if numbers.len() + value.len() / 4 > MAX_ELEMENTS => {
                        let error = Error::unsupported("too many numbers in one batch");
                        (run.note)(row, undecoded(column, error));
                    }
                    Some(value) => {
                        let fours = value.chunks_exact(4).filter_map(|four| four.first_chunk());
                        numbers.extend(fours.map(|&four| f32::from_le_bytes(four)));
                        is_value = true;
                    }
                    None => (run.note)(row, explain(column, at)),
                }
            }
            offsets.push(i32::try_from(numbers.len()).unwrap_or(i32::MAX));
            nulls.append(is_value);
        }
    }
    let array = ListArray::try_new(
        element(),
        OffsetBuffer::new(offsets.into()),
        Arc::new(Float32Array::from(numbers)),
        nulls.finish(),
    );
    run.finished(array.map(|array| Arc::new(array) as ArrayRef))
}
