//! What the builders of all types share: a run of stretches, and columns of fixed width.

use super::{Note, Stretch, TypeOptions};
use crate::binlog::cursor::Cursor;
use crate::binlog::reader::Block;
use crate::binlog::row::{ColumnPlan, Place};
use crate::binlog::types::{Date, Value};
use crate::error::{Error, ErrorKind};
use arrow::array::builder::NullBufferBuilder;
use arrow::array::{ArrayRef, ArrowPrimitiveType, PrimitiveArray, new_null_array};
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use std::sync::Arc;

/// Stretches whose columns are alike.
pub(super) struct Run<'r> {
    pub stretches: &'r [Stretch<'r>],
    pub blocks: &'r [Block],
    pub options: &'r TypeOptions,
    /// The type to build.
    pub data_type: &'r DataType,
    /// Number of the first row in the batch.
    pub first_row: usize,
    /// Number of rows.
    pub rows: usize,
    pub note: &'r mut dyn FnMut(usize, Note),
}

impl<'r> Run<'r> {
    /// The stretches, each with the number of its first row in the batch.
    pub fn stretches(&self) -> impl Iterator<Item = (usize, &'r Stretch<'r>)> + use<'r> {
        let mut row = self.first_row;
        self.stretches.iter().map(move |stretch| {
            let first = row;
            row += stretch.places.len();
            (first, stretch)
        })
    }

    /// The array, or all null if there is none.
    pub fn finished(&mut self, array: Result<ArrayRef, ArrowError>) -> ArrayRef {
        let wanted = self.data_type;
        array.unwrap_or_else(|error| self.give_up(wanted, &error.to_string()))
    }

    /// All null, with an error for each value.
    #[cold]
    pub fn give_up(&mut self, wanted: &DataType, why: &str) -> ArrayRef {
        for (first, stretch) in self.stretches() {
            for (row, place) in (first..).zip(stretch.places) {
                if place.offset().is_some() && stretch.column.is_some() {
                    (self.note)(row, Note::Undecoded(Error::unsupported(why)));
                }
            }
        }
        new_null_array(wanted, self.rows)
    }
}

/// Builds an array of numbers: `stretch` adds the values of one stretch of a column.
pub(super) fn numbers<T: ArrowPrimitiveType>(
    run: &mut Run<'_>,
    mut stretch: impl FnMut(&ColumnPlan, &mut Filling<'_, T>),
) -> ArrayRef {
    let mut values = Vec::with_capacity(run.rows);
    let mut nulls = NullBufferBuilder::new(run.rows);
    for (first_row, places) in run.stretches() {
        let Some(column) = places.column else {
            values.resize(values.len() + places.places.len(), T::default_value());
            nulls.append_n_nulls(places.places.len());
            continue;
        };
        let mut filling = Filling {
            stretch: places,
            column,
            first_row,
            values: &mut values,
            nulls: &mut nulls,
            note: run.note,
        };
        stretch(column, &mut filling);
    }
    let array = PrimitiveArray::<T>::new(values.into(), nulls.finish());
    Arc::new(array.with_data_type(run.data_type.clone()))
}

/// An array of numbers, into which a stretch goes.
pub(super) struct Filling<'f, T: ArrowPrimitiveType> {
    stretch: &'f Stretch<'f>,
    column: &'f ColumnPlan,
    first_row: usize,
    values: &'f mut Vec<T::Native>,
    nulls: &'f mut NullBufferBuilder,
    note: &'f mut dyn FnMut(usize, Note),
}

impl<T: ArrowPrimitiveType> Filling<'_, T> {
    /// Adds all values. `read` reads the one that begins where it is given bytes; what it does not
    /// read is null, and [`explain`] tells why.
    #[inline]
    pub fn each(&mut self, read: impl Fn(&[u8]) -> Option<T::Native>) {
        let bytes = self.stretch.block.as_ref();
        let nulls = &mut *self.nulls;
        let mut unread = false;
        self.values.extend(self.stretch.places.iter().map(|place| {
            let at = bytes_at(bytes, *place);
            let value = at.and_then(&read);
            unread |= at.is_some() && value.is_none();
            nulls.append(value.is_some());
            value.unwrap_or_default()
        }));
        if unread {
            self.again(|column, at| match read(at) {
                Some(_) => None,
                None => Some(explain(column, at)),
            });
        }
    }

    /// Notes what is to be told of the values added.
    #[cold]
    pub fn again(&mut self, look: impl Fn(&ColumnPlan, &[u8]) -> Option<Note>) {
        let bytes = self.stretch.block.as_ref();
        for (row, place) in (self.first_row..).zip(self.stretch.places) {
            let at = bytes_at(bytes, *place);
            if let Some(note) = at.and_then(|at| look(self.column, at)) {
                (self.note)(row, note);
            }
        }
    }
}

/// The bytes from a value on; `None` where there is no value. Of a place behind the block, which is
/// no place of it, they are none, so that the value is an error and not a NULL.
#[inline]
pub(super) fn bytes_at(block: &[u8], place: Place) -> Option<&[u8]> {
    let offset = place.offset()?;
    Some(block.get(offset..).unwrap_or_default())
}

/// Why the value that begins here is null.
#[cold]
pub(super) fn explain(column: &ColumnPlan, at: &[u8]) -> Note {
    const ZERO: Date = Date {
        year: 0,
        month: 0,
        day: 0,
    };
    let decode = column.ty.decode();
    let value = decode.and_then(|decode| decode(&mut Cursor::new(at), column.context));
    let error = match value {
        Ok(Value::Date(date)) if date.days().is_none() => return Note::ZeroDate(date),
        Ok(Value::DateTime(value)) if value.date.days().is_none() => {
            return Note::ZeroDate(value.date);
        }
        Ok(Value::Timestamp(value)) if value.is_zero() => return Note::ZeroDate(ZERO),
        Ok(value) => {
            let mut text = String::new();
            match column.write_text(value, &mut text) {
                Err(error) => error,
                Ok(()) => Error::unsupported(format!("the value {text} does not fit the type")),
            }
        }
        Err(error) => error,
    };
    undecoded(column, error)
}

/// A value that does not decode. The row is whole, so what does not fit is wrong rather than cut.
#[cold]
pub(super) fn undecoded(column: &ColumnPlan, error: Error) -> Note {
    let error = match error.kind() {
        ErrorKind::Truncated => Error::corrupt(error.message()),
        _ => error,
    };
    Note::Undecoded(error.in_column(column.label()))
}
