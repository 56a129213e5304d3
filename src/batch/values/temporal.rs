//! DATE, DATETIME, TIMESTAMP, TIME.
//!
//! A date that no calendar has is null and noted, or all of the column is text
//! ([`ZeroDates`]).

use super::run::{Run, numbers};
use super::{ArrowType, TypeOptions, ValueDef, ZeroDates, text};
use crate::batch::columns::timestamp;
use crate::binlog::cursor::Cursor;
use crate::binlog::row::ColumnPlan;
use crate::binlog::types::{Date, DateTime, Time, Timestamp};
use crate::error::Result;
use arrow::array::ArrayRef;
use arrow::datatypes::{
    DataType, Date32Type, DurationMicrosecondType, TimeUnit, TimestampMicrosecondType,
};

pub(super) const DEFS: &[ValueDef] = &[
    // DATE
    ValueDef {
        claims: |column| matches!(column.ty.code, 10 | 14),
        arrow: |_, options| dated(options, || DataType::Date32),
        build: |run| {
            if run.options.zero_dates == ZeroDates::Text {
                return text::build(run, ColumnPlan::write_text);
            }
            numbers::<Date32Type>(run, |_, all| {
                all.each(|at| Date::read(&mut Cursor::new(at)).ok()?.days());
            })
        },
        text: ColumnPlan::write_text,
    },
    // DATETIME; 12: before MySQL 5.6
    ValueDef {
        claims: |column| matches!(column.ty.code, 12 | 18),
        arrow: |_, options| dated(options, || DataType::Timestamp(TimeUnit::Microsecond, None)),
        build: |run| {
            instants(
                run,
                |row, digits| Ok(DateTime::read(row, digits)?.micros_since_1970()),
                |row| Ok(DateTime::read_old(row)?.micros_since_1970()),
            )
        },
        text: ColumnPlan::write_text,
    },
    // TIMESTAMP; 7: before MySQL 5.6
    ValueDef {
        claims: |column| matches!(column.ty.code, 7 | 17),
        arrow: |_, options| dated(options, timestamp),
        build: |run| {
            instants(
                run,
                |row, digits| Ok(Timestamp::read(row, digits)?.micros_since_1970()),
                |row| Ok(Timestamp::read_old(row)?.micros_since_1970()),
            )
        },
        text: ColumnPlan::write_text,
    },
    // TIME; 11: before MySQL 5.6
    ValueDef {
        claims: |column| matches!(column.ty.code, 11 | 19),
        arrow: |_, _| DataType::Duration(TimeUnit::Microsecond).into(),
        build: |run| {
            numbers::<DurationMicrosecondType>(run, |column, all| match column.ty.code {
                11 => all.each(|at| {
                    let time = Time::read_old(&mut Cursor::new(at)).ok()?;
                    Some(time.total_micros())
                }),
                _ => all.each(|at| {
                    let time = Time::read(&mut Cursor::new(at), column.ty.meta).ok()?;
                    Some(time.total_micros())
                }),
            })
        },
        text: ColumnPlan::write_text,
    },
];

fn dated(options: &TypeOptions, data_type: impl Fn() -> DataType) -> ArrowType {
    match options.zero_dates {
        ZeroDates::Null => data_type().into(),
        ZeroDates::Text => DataType::Utf8View.into(),
    }
}

/// Builds microseconds since 1970: `read` reads a value with digits of fraction, `read_old` one of
/// before MySQL 5.6. They give none for dates that no calendar has.
fn instants(
    run: &mut Run<'_>,
    read: impl Fn(&mut Cursor<'_>, u16) -> Result<Option<i64>>,
    read_old: impl Fn(&mut Cursor<'_>) -> Result<Option<i64>>,
) -> ArrayRef {
    if run.options.zero_dates == ZeroDates::Text {
        return text::build(run, ColumnPlan::write_text);
    }
    numbers::<TimestampMicrosecondType>(run, |column, all| match column.ty.code {
        // Fractions of the same digits are in one loop, so that the compiler knows their bytes.
        17 | 18 => match column.ty.meta {
            0 => all.each(|at| read(&mut Cursor::new(at), 0).ok()?),
            3 => all.each(|at| read(&mut Cursor::new(at), 3).ok()?),
            6 => all.each(|at| read(&mut Cursor::new(at), 6).ok()?),
            digits => all.each(|at| read(&mut Cursor::new(at), digits).ok()?),
        },
        _ => all.each(|at| read_old(&mut Cursor::new(at)).ok()?),
    })
}
