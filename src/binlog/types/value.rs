//! One value of a row.

use super::{AnyInt, Binary, Bits, Date, DateTime, Decimal, Geometry, Time, Timestamp, Vector};

/// A value as it stands in a row: exact, and borrowed from the row.
///
/// What only the column knows (labels, the character set, whether an integer is unsigned) is not
/// in it; [`ColumnPlan`](crate::binlog::row::ColumnPlan) has it. A variant depends on the column
/// alone, never on the value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// NULL. A column that the log does not have is not NULL, see
    /// [`Cell`](crate::binlog::row::Cell).
    Null,
    /// TINYINT to BIGINT.
    Int(i64),
    /// TINYINT UNSIGNED to BIGINT UNSIGNED.
    UInt(u64),
    /// An integer of which the log does not tell whether it is unsigned.
    AnyInt(AnyInt),
    /// FLOAT.
    Float(f32),
    /// DOUBLE.
    Double(f64),
    /// DECIMAL.
    Decimal(Decimal<'a>),
    /// BIT.
    Bits(Bits),
    /// YEAR: 1901 to 2155, or 0 for `0000`.
    Year(u16),
    /// DATE.
    Date(Date),
    /// TIME.
    Time(Time),
    /// DATETIME.
    DateTime(DateTime),
    /// TIMESTAMP.
    Timestamp(Timestamp),
    /// CHAR, VARCHAR, TEXT, in the column's character set.
    Text(&'a [u8]),
    /// VARBINARY, BLOB.
    Bytes(&'a [u8]),
    /// BINARY, and UUID, INET4 and INET6 of MariaDB.
    Binary(Binary<'a>),
    /// A string of which the log does not tell whether it is text or bytes. Of BINARY, the zeros
    /// at the end are missing; [`ColumnType::meta`](super::ColumnType::meta) tells its length.
    TextOrBytes(&'a [u8]),
    /// VARCHAR, TEXT, VARBINARY or BLOB COMPRESSED of MariaDB, as it is stored; see
    /// [`uncompress_column`](crate::binlog::compressed::uncompress_column).
    Compressed(&'a [u8]),
    /// ENUM: number of the label, from 1; 0 is the empty string of an invalid value.
    Enum(u16),
    /// SET: bit n (low bit first) stands for label n.
    Set(u64),
    /// JSON of MySQL, in its binary form. No bytes: JSON null.
    Json(&'a [u8]),
    /// GEOMETRY and its subtypes.
    Geometry(Geometry<'a>),
    /// VECTOR of MySQL.
    Vector(Vector<'a>),
}
