//! The type that two versions of a column share.
//!
//! ```text
//!                              text
//!        ┌──────────────────────┼───────────────────┐
//!   Decimal(65, 30) …           │            every other type
//!        │                   Float64
//!   Decimal(20, 0)      ┌───────┴──────┐
//!     ┌──┴───┐        Int32         Float32
//!   UInt64 Int64      ┌─┴────┐         │
//!     └──┬───┘     UInt16  Int16 ──────┘            Null below all
//! ```
//!
//! Each type stands for the values that it holds, and the type of two is the least that holds those
//! of both. That there is one, whatever the order in which versions are joined, needs some care: an
//! unsigned integer counts as the signed integer of twice its size where it meets a DECIMAL or a
//! FLOAT, since that is what it becomes when it meets a signed one.
//!
//! | together | become | because |
//! |---|---|---|
//! | integers of one signedness | the wider | |
//! | signed and unsigned | the signed one that holds both; DECIMAL(20,0) with BIGINT UNSIGNED | |
//! | integer and DECIMAL | DECIMAL with digits for both | |
//! | DECIMALs | DECIMAL with digits for both before and behind the point | text beyond 76 digits |
//! | TINYINT, SMALLINT and FLOAT | FLOAT | it holds integers of 24 bits |
//! | up to INT, SMALLINT UNSIGNED, and DOUBLE | DOUBLE | it holds integers of 53 bits |
//! | INT UNSIGNED, BIGINT and FLOAT or DOUBLE | text | not every one is exact |
//! | DECIMAL and FLOAT or DOUBLE | text | no binary fraction is a tenth |
//! | DATE, DATETIME, TIMESTAMP, TIME among each other | text | with a zone or without is not the same |
//! | bytes and text | text | bytes as `0x…` |
//! | all else that differs | text | |

use super::{EXTENSION_METADATA, EXTENSION_NAME, decimal};
use arrow::datatypes::{DECIMAL256_MAX_PRECISION, DataType, Field};

/// The field of a column that has one type in some versions of a table and another in others. Its
/// name is that of `newer`. See the table above for which type it has.
///
/// The order of the versions does not matter for the type, however many they are, and a version
/// that is joined twice changes nothing. Fields are those of [`field_of`](super::field_of).
pub fn widened(older: &Field, newer: &Field) -> Field {
    let (a, b) = (older.data_type(), newer.data_type());
    let field = |data_type: DataType| Field::new(newer.name(), data_type, true);
    let with_extension_of = |of: &Field| {
        let kept = [EXTENSION_NAME, EXTENSION_METADATA].into_iter();
        let kept = kept.filter_map(|key| Some((key.to_owned(), of.metadata().get(key)?.clone())));
        field(of.data_type().clone()).with_metadata(kept.collect())
    };
    if *a == DataType::Null {
        return with_extension_of(newer);
    }
    if *b == DataType::Null {
        return with_extension_of(older);
    }
    let extension = |of: &Field| of.metadata().get(EXTENSION_NAME).cloned();
    if a == b && extension(older) == extension(newer) {
        return with_extension_of(newer);
    }
    let number = (a != b).then(|| number(a, b)).flatten();
    field(number.unwrap_or(DataType::Utf8View))
}

/// Whether every value of `own` is one of `wanted` too, for numbers.
pub(super) fn is_exact(own: &DataType, wanted: &DataType) -> bool {
    number(own, wanted).as_ref() == Some(wanted)
}

/// The kinds of numbers.
#[derive(Clone, Copy)]
enum Number {
    /// By bytes.
    Signed(u8),
    Unsigned(u8),
    /// Digits before the point and behind it.
    Decimal(u8, i8),
    /// By bytes.
    Float(u8),
}

impl Number {
    fn of(data_type: &DataType) -> Option<Self> {
        Some(match *data_type {
            DataType::Int8 => Self::Signed(1),
            DataType::Int16 => Self::Signed(2),
            DataType::Int32 => Self::Signed(4),
            DataType::Int64 => Self::Signed(8),
            DataType::UInt8 => Self::Unsigned(1),
            DataType::UInt16 => Self::Unsigned(2),
            DataType::UInt32 => Self::Unsigned(4),
            DataType::UInt64 => Self::Unsigned(8),
            DataType::Decimal128(precision, scale) | DataType::Decimal256(precision, scale) => {
                let behind = u8::try_from(scale).ok()?;
                Self::Decimal(precision.checked_sub(behind)?, scale)
            }
            DataType::Float32 => Self::Float(4),
            DataType::Float64 => Self::Float(8),
            _ => return None,
        })
    }

    fn data_type(self) -> Option<DataType> {
        Some(match self {
            Self::Signed(1) => DataType::Int8,
            Self::Signed(2) => DataType::Int16,
            Self::Signed(4) => DataType::Int32,
            Self::Signed(_) => DataType::Int64,
            Self::Unsigned(1) => DataType::UInt8,
            Self::Unsigned(2) => DataType::UInt16,
            Self::Unsigned(4) => DataType::UInt32,
            Self::Unsigned(_) => DataType::UInt64,
            Self::Float(4) => DataType::Float32,
            Self::Float(_) => DataType::Float64,
            Self::Decimal(before, scale) => {
                let precision = before.checked_add(scale.unsigned_abs())?;
                if precision > DECIMAL256_MAX_PRECISION {
                    return None;
                }
                decimal::data_type(precision, scale)
            }
        })
    }

    /// The signed integer that holds all values; BIGINT UNSIGNED has none.
    fn signed(self) -> Option<u8> {
        match self {
            Self::Signed(bytes) => Some(bytes),
            Self::Unsigned(bytes @ 1..=4) => Some(bytes * 2),
            _ => None,
        }
    }

    /// Digits before the point and behind it.
    fn digits(self) -> Option<(u8, i8)> {
        match (self, self.signed()) {
            (Self::Decimal(before, behind), _) => Some((before, behind)),
            (_, Some(1)) => Some((3, 0)),
            (_, Some(2)) => Some((5, 0)),
            (_, Some(4)) => Some((10, 0)),
            (_, Some(_)) => Some((19, 0)),
            (Self::Unsigned(_), None) => Some((20, 0)),
            _ => None,
        }
    }

    /// Bytes of the floating-point number that holds all values.
    fn float(self) -> Option<u8> {
        match (self, self.signed()) {
            (Self::Float(bytes), _) => Some(bytes),
            (_, Some(1 | 2)) => Some(4),
            (_, Some(4)) => Some(8),
            _ => None,
        }
    }
}

/// The number that holds all values of both.
fn number(a: &DataType, b: &DataType) -> Option<DataType> {
    use Number::{Decimal, Float, Signed, Unsigned};
    let (a, b) = (Number::of(a)?, Number::of(b)?);
    let joined = match (a, b) {
        (Unsigned(a), Unsigned(b)) => Unsigned(a.max(b)),
        (Float(_), _) | (_, Float(_)) => Float(a.float()?.max(b.float()?)),
        _ => match (a.signed(), b.signed()) {
            (Some(a), Some(b)) => Signed(a.max(b)),
            _ => {
                let (a, b) = (a.digits()?, b.digits()?);
                Decimal(a.0.max(b.0), a.1.max(b.1))
            }
        },
    };
    joined.data_type()
}
