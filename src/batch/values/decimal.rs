//! DECIMAL: exact, of up to 38 digits in 128 bits, of up to 65 in 256.

use super::run::{Run, numbers};
use super::{ArrowType, TypeOptions, ValueDef};
use crate::binlog::decimal::{UnscaledReader, decimal_unscaled};
use crate::binlog::row::ColumnPlan;
use crate::binlog::types::code;
use arrow::array::ArrayRef;
use arrow::datatypes::{DECIMAL128_MAX_PRECISION, DataType, Decimal128Type, Decimal256Type, i256};

pub(super) const DEFS: &[ValueDef] = &[ValueDef {
    claims: |column| column.ty.code == code::NEWDECIMAL,
    arrow,
    build,
    text: ColumnPlan::write_text,
}];

fn arrow(column: &ColumnPlan, _: &TypeOptions) -> ArrowType {
    let [precision, scale] = column.ty.meta.to_be_bytes();
    data_type(precision, scale.cast_signed()).into()
}

/// The type of so many digits, of which `scale` are behind the point.
pub(super) fn data_type(precision: u8, scale: i8) -> DataType {
    if precision <= DECIMAL128_MAX_PRECISION {
        DataType::Decimal128(precision, scale)
    } else {
        DataType::Decimal256(precision, scale)
    }
}

fn build(run: &mut Run<'_>) -> ArrayRef {
    if matches!(run.data_type, DataType::Decimal128(..)) {
        return numbers::<Decimal128Type>(run, |column, all| {
            let [precision, scale] = column.ty.meta.to_be_bytes();
            let reader = UnscaledReader::new(precision, scale);
            all.each(|at| reader.as_ref()?.read(at));
        });
    }
    numbers::<Decimal256Type>(run, |column, all| {
        let [precision, scale] = column.ty.meta.to_be_bytes();
        all.each(|at| {
            let number = decimal_unscaled(at, precision, scale).ok()?;
            Some(i256::from_le_bytes(number))
        });
    })
}
