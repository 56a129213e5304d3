//! What something other than the table map tells of a table: a statement in the log, a schema file.
//!
//! Most servers write neither names nor labels into a table map (`binlog_row_metadata=MINIMAL`, or
//! none at all): a [`TableHint`] fills in what is missing. What the table map tells itself always
//! wins.

use super::plan::BINARY;
use crate::binlog::types::{ColumnType, Content, code};

/// Where the name of a column comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum NameSource {
    /// The table map itself (`binlog_row_metadata=FULL`).
    TableMap,
    /// A statement in the log.
    Ddl,
    /// A schema file that the user gave.
    SchemaFile,
    /// Nowhere: the column is known by its number only.
    #[default]
    None,
}

impl NameSource {
    /// Name in the column `name_source`.
    pub fn name(self) -> &'static str {
        match self {
            Self::TableMap => "metadata",
            Self::Ddl => "ddl",
            Self::SchemaFile => "schema file",
            Self::None => "none",
        }
    }
}

/// A table as a statement declares it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TableHint {
    /// Where it comes from.
    pub source: NameSource,
    /// The columns that table maps have, in their order.
    pub columns: Vec<ColumnHint>,
    /// Columns of the primary key in key order: index in `columns`, and length of the prefix in
    /// characters where the key covers only that.
    pub primary_key: Vec<(usize, Option<u32>)>,
}

/// A column as a statement declares it.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnHint {
    /// Name, as it is written.
    pub name: String,
    /// Type.
    pub ty: DeclaredType,
    /// Is an unsigned number.
    pub unsigned: bool,
    /// Collation of text, ENUM or SET, some collation of its character set where only that is
    /// declared; 63: binary. `None`: the statement does not tell, and neither does its table or
    /// schema.
    pub collation: Option<u16>,
    /// Labels of an ENUM or SET, in order.
    pub labels: Vec<String>,
    /// May be NULL.
    pub nullable: bool,
    /// `SELECT *` shows it.
    pub visible: bool,
}

/// The type of a column, synonyms resolved: INTEGER is INT, NUMERIC is DECIMAL, BOOL is TINYINT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeclaredType {
    /// TINYINT.
    TinyInt,
    /// SMALLINT.
    SmallInt,
    /// MEDIUMINT.
    MediumInt,
    /// INT.
    Int,
    /// BIGINT.
    BigInt,
    /// FLOAT.
    Float,
    /// DOUBLE.
    Double,
    /// DECIMAL.
    Decimal {
        /// Digits.
        precision: u8,
        /// Digits behind the point.
        scale: u8,
    },
    /// BIT.
    Bit {
        /// Bits, 1 to 64.
        len: u8,
    },
    /// YEAR.
    Year,
    /// DATE.
    Date,
    /// TIME, by digits of the fraction.
    Time(u8),
    /// DATETIME, by digits of the fraction.
    DateTime(u8),
    /// TIMESTAMP, by digits of the fraction.
    Timestamp(u8),
    /// CHAR.
    Char,
    /// VARCHAR.
    VarChar,
    /// TINYTEXT to LONGTEXT, by bytes of the length (1 to 4); 0: not certain (`TEXT(n)`).
    Text(u8),
    /// BINARY.
    Binary,
    /// VARBINARY.
    VarBinary,
    /// TINYBLOB to LONGBLOB, by bytes of the length; 0: not certain (`BLOB(n)`).
    Blob(u8),
    /// ENUM.
    Enum,
    /// SET.
    Set,
    /// JSON: a type of MySQL; for MariaDB a name of LONGTEXT.
    Json,
    /// GEOMETRY and its subtypes.
    Geometry,
    /// VECTOR.
    Vector,
    /// UUID of MariaDB.
    Uuid,
    /// INET4 of MariaDB.
    Inet4,
    /// INET6 of MariaDB.
    Inet6,
}

impl DeclaredType {
    /// Name in SQL, without parameters.
    pub fn name(self) -> &'static str {
        match self {
            Self::TinyInt => "TINYINT",
            Self::SmallInt => "SMALLINT",
            Self::MediumInt => "MEDIUMINT",
            Self::Int => "INT",
            Self::BigInt => "BIGINT",
            Self::Float => "FLOAT",
            Self::Double => "DOUBLE",
            Self::Decimal { .. } => "DECIMAL",
            Self::Bit { .. } => "BIT",
            Self::Year => "YEAR",
            Self::Date => "DATE",
            Self::Time(_) => "TIME",
            Self::DateTime(_) => "DATETIME",
            Self::Timestamp(_) => "TIMESTAMP",
            Self::Char => "CHAR",
            Self::VarChar => "VARCHAR",
            Self::Text(1) => "TINYTEXT",
            Self::Text(3) => "MEDIUMTEXT",
            Self::Text(4) => "LONGTEXT",
            Self::Text(_) => "TEXT",
            Self::Binary => "BINARY",
            Self::VarBinary => "VARBINARY",
            Self::Blob(1) => "TINYBLOB",
            Self::Blob(3) => "MEDIUMBLOB",
            Self::Blob(4) => "LONGBLOB",
            Self::Blob(_) => "BLOB",
            Self::Enum => "ENUM",
            Self::Set => "SET",
            Self::Json => "JSON",
            Self::Geometry => "GEOMETRY",
            Self::Vector => "VECTOR",
            Self::Uuid => "UUID",
            Self::Inet4 => "INET4",
            Self::Inet6 => "INET6",
        }
    }

    pub(super) fn is_integer(self) -> bool {
        matches!(
            self,
            Self::TinyInt | Self::SmallInt | Self::MediumInt | Self::Int | Self::BigInt
        )
    }

    fn is_text(self) -> bool {
        matches!(
            self,
            Self::Char | Self::VarChar | Self::Text(_) | Self::Json
        )
    }

    fn is_bytes(self) -> bool {
        matches!(
            self,
            Self::Binary
                | Self::VarBinary
                | Self::Blob(_)
                | Self::Vector
                | Self::Uuid
                | Self::Inet4
                | Self::Inet6
        )
    }
}

/// utf8mb4_bin, the collation of MariaDB's JSON.
const UTF8MB4_BIN: u16 = 46;

impl ColumnHint {
    /// Whether a table map can have this type for the declared column.
    ///
    /// | declared | code (metadata) |
    /// |---|---|
    /// | DECIMAL, BIT | 246, 16 (the same parameters) |
    /// | TIME, DATETIME, TIMESTAMP | 19, 18, 17 (the same digits), or 11, 12, 7 of old servers, which tell no digits |
    /// | CHAR, BINARY | 254 |
    /// | VARCHAR, VARBINARY | 15, 253, or 141 (COMPRESSED of MariaDB) |
    /// | TEXT, BLOB | 252, or 140 (COMPRESSED) (the same length bytes) |
    /// | ENUM, SET | 247, 248 (as many bytes as so many labels take) |
    /// | JSON | 245, or a LONGTEXT (MariaDB) |
    /// | VECTOR | 242, or a VARBINARY of whole numbers (MariaDB) |
    /// | UUID, INET6, INET4 of MariaDB | 254 (16, 16, 4 bytes) |
    ///
    /// Source: MySQL `field.cc` (`do_save_field_metadata`), MariaDB `field.cc`
    /// (`save_field_metadata`, `binlog_type`).
    pub fn fits(&self, ty: ColumnType) -> bool {
        let meta = usize::from(ty.meta);
        let temporal = |new: u8, old: u8, digits: u8| {
            ty.code == new && ty.meta == u16::from(digits) || ty.code == old
        };
        let blob = |length_bytes: u8| {
            matches!(ty.code, 249..=code::BLOB | code::BLOB_COMPRESSED)
                && (length_bytes == 0 || ty.meta == u16::from(length_bytes))
        };
        let labels = self.labels.len();
        match self.ty {
            DeclaredType::TinyInt => ty.code == 1,
            DeclaredType::SmallInt => ty.code == 2,
            DeclaredType::MediumInt => ty.code == 9,
            DeclaredType::Int => ty.code == 3,
            DeclaredType::BigInt => ty.code == 8,
            DeclaredType::Float => ty.code == 4,
            DeclaredType::Double => ty.code == 5,
            DeclaredType::Decimal { precision, scale } => {
                ty.code == code::NEWDECIMAL && ty.meta == u16::from_be_bytes([precision, scale])
            }
            DeclaredType::Bit { len } => {
                ty.code == 16 && ty.meta == u16::from_be_bytes([len / 8, len % 8])
            }
            DeclaredType::Year => ty.code == 13,
            DeclaredType::Date => matches!(ty.code, 10 | 14),
            DeclaredType::Time(digits) => temporal(19, 11, digits),
            DeclaredType::DateTime(digits) => temporal(18, 12, digits),
            DeclaredType::Timestamp(digits) => temporal(17, 7, digits),
            DeclaredType::Char | DeclaredType::Binary => ty.code == code::STRING,
            DeclaredType::VarChar | DeclaredType::VarBinary => is_var(ty.code),
            DeclaredType::Text(n) | DeclaredType::Blob(n) => blob(n),
            DeclaredType::Enum => {
                let bytes = if labels < 256 { 1 } else { 2 };
                ty.code == code::ENUM && labels > 0 && meta == bytes
            }
            DeclaredType::Set => {
                let bytes = match labels.div_ceil(8) {
                    n @ 0..=4 => n,
                    _ => 8,
                };
                ty.code == code::SET && labels > 0 && labels <= 64 && meta == bytes
            }
            DeclaredType::Json => ty.code == code::JSON || blob(4),
            DeclaredType::Geometry => ty.code == code::GEOMETRY,
            DeclaredType::Vector => {
                ty.code == code::VECTOR || is_var(ty.code) && meta.is_multiple_of(4)
            }
            DeclaredType::Uuid | DeclaredType::Inet6 => ty.code == code::STRING && meta == 16,
            DeclaredType::Inet4 => ty.code == code::STRING && meta == 4,
        }
    }

    /// Whether a string is text or bytes, where that is certain: `TEXT` in a table whose character
    /// set is not known may be a BLOB.
    pub(super) fn content(&self) -> Option<Content> {
        match self.string_collation() {
            Some(BINARY) if self.ty.is_text() || self.ty.is_bytes() => Some(Content::Bytes),
            Some(_) if self.ty.is_text() => Some(Content::Text),
            _ => None,
        }
    }

    /// Collation of a string.
    pub(super) fn string_collation(&self) -> Option<u16> {
        match self.ty {
            ty if ty.is_bytes() => Some(BINARY),
            DeclaredType::Json => self.collation.or(Some(UTF8MB4_BIN)),
            _ => self.collation,
        }
    }
}

fn is_var(code: u8) -> bool {
    matches!(
        code,
        code::VARCHAR | code::VAR_STRING | code::VARCHAR_COMPRESSED
    )
}

#[cfg(test)]
mod tests;
