//! Integers, FLOAT and DOUBLE, YEAR; and columns that have no values.

use super::run::{Filling, Run, numbers};
use super::{ArrowType, Note, TypeOptions, ValueDef};
use crate::binlog::cursor::Cursor;
use crate::binlog::row::ColumnPlan;
use crate::binlog::types::{AnyInt, Signedness};
use arrow::array::{ArrayRef, ArrowPrimitiveType, new_null_array};
use arrow::datatypes::{
    DataType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};

pub(super) const DEFS: &[ValueDef] = &[
    ValueDef {
        claims: |column| matches!(column.ty.code, 1..=3 | 8 | 9),
        arrow: integer,
        build: integers,
        text: ColumnPlan::write_text,
    },
    ValueDef {
        claims: |column| column.ty.code == 4,
        arrow: |_, _| DataType::Float32.into(),
        build: |run| {
            numbers::<Float32Type>(run, |_, all| {
                all.each(|at| at.first_chunk().map(|bytes| f32::from_le_bytes(*bytes)));
            })
        },
        text: ColumnPlan::write_text,
    },
    ValueDef {
        claims: |column| column.ty.code == 5,
        arrow: |_, _| DataType::Float64.into(),
        build: |run| {
            numbers::<Float64Type>(run, |_, all| {
                all.each(|at| at.first_chunk().map(|bytes| f64::from_le_bytes(*bytes)));
            })
        },
        text: ColumnPlan::write_text,
    },
    // YEAR
    ValueDef {
        claims: |column| column.ty.code == 13,
        arrow: |_, _| DataType::UInt16.into(),
        build: |run| {
            numbers::<UInt16Type>(run, |_, all| {
                all.each(|at| match at.first()? {
                    0 => Some(0),
                    &n => Some(u16::from(n) + 1900),
                });
            })
        },
        text: ColumnPlan::write_text,
    },
];

/// A column of type NULL, or of one whose values have no length in the log: no row has a value.
pub(super) const NOTHING: ValueDef = ValueDef {
    claims: |_| true,
    arrow: |_, _| DataType::Null.into(),
    build: |run| new_null_array(run.data_type, run.rows),
    text: ColumnPlan::write_text,
};

/// An integer of unknown signedness is signed.
fn integer(column: &ColumnPlan, _: &TypeOptions) -> ArrowType {
    let unsigned = column.context.signedness == Signedness::Unsigned;
    let data_type = match (column.ty.code, unsigned) {
        (1, false) => DataType::Int8,
        (1, true) => DataType::UInt8,
        (2, false) => DataType::Int16,
        (2, true) => DataType::UInt16,
        (8, false) => DataType::Int64,
        (8, true) => DataType::UInt64,
        // INT and MEDIUMINT.
        (_, false) => DataType::Int32,
        (_, true) => DataType::UInt32,
    };
    data_type.into()
}

fn integers(run: &mut Run<'_>) -> ArrayRef {
    match run.data_type {
        DataType::Int8 => fixed::<Int8Type, 1>(run, i8::from_le_bytes),
        DataType::UInt8 => fixed::<UInt8Type, 1>(run, u8::from_le_bytes),
        DataType::Int16 => fixed::<Int16Type, 2>(run, i16::from_le_bytes),
        DataType::UInt16 => fixed::<UInt16Type, 2>(run, u16::from_le_bytes),
        DataType::Int64 => fixed::<Int64Type, 8>(run, i64::from_le_bytes),
        DataType::UInt64 => fixed::<UInt64Type, 8>(run, u64::from_le_bytes),
        DataType::UInt32 => numbers::<UInt32Type>(run, |column, all| match column.ty.code {
            9 => all.each(|at| at.first_chunk().map(|&bytes| unsigned_24(bytes))),
            _ => all.each(|at| at.first_chunk().map(|&bytes| u32::from_le_bytes(bytes))),
        }),
        _ => numbers::<Int32Type>(run, |column, all| match column.ty.code {
            9 => signed(column, all, |bytes| {
                (unsigned_24(bytes) << 8).cast_signed() >> 8
            }),
            _ => signed(column, all, i32::from_le_bytes),
        }),
    }
}

fn unsigned_24([low, middle, high]: [u8; 3]) -> u32 {
    u32::from_le_bytes([low, middle, high, 0])
}

/// Integers of `N` bytes.
fn fixed<T: ArrowPrimitiveType, const N: usize>(
    run: &mut Run<'_>,
    read: impl Fn([u8; N]) -> T::Native,
) -> ArrayRef {
    numbers::<T>(run, |column, all| signed(column, all, &read))
}

/// Adds integers, and notes those that are others if the column is unsigned, where nothing tells
/// whether it is.
fn signed<T: ArrowPrimitiveType, const N: usize>(
    column: &ColumnPlan,
    all: &mut Filling<'_, T>,
    read: impl Fn([u8; N]) -> T::Native,
) {
    all.each(|at| at.first_chunk().map(|&bytes| read(bytes)));
    if column.context.signedness == Signedness::Unknown {
        all.again(|_, at| {
            let int = AnyInt {
                bits: Cursor::new(at).uint(N).ok()?,
                bytes: N as u8,
            };
            int.certain().is_none().then_some(Note::Signedness(int))
        });
    }
}
