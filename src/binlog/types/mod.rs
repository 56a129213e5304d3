//! Column types: one table of them, and what is fixed about each.
//!
//! ```text
//! TABLE_MAP   types     03 fe 0f …            one byte a column
//!             metadata  │f7 01│c8 00│ …       0, 1 or 2 bytes a column, as its type has it
//!                         │
//!            TYPES: code → TypeDef { name, meta, real, width, decode }
//!                         ▼
//!             ColumnType { code: ENUM, meta: 1 } ──▶ Width::Fixed(1)
//!                         │
//! ROW         02 …        └─ decode ──▶ Value::Enum(2)
//! ```
//!
//! Each family file holds its types; its `DEFS` is the only place that names them. A code claimed
//! twice does not compile.
//!
//! **Invariant:** every value in a row is either of a fixed width, or begins with its length in 1
//! to 4 little-endian bytes. So rows can be hopped over without being decoded.
//!
//! Source: MySQL `field_types.h`, `rpl_utility.cc` (`table_def`), `binary_log_funcs.cpp`
//! (`calc_field_size`); MariaDB `rpl_utility.cc`.

use super::cursor::Cursor;
use crate::error::{Error, Result};

mod bits;
mod blob;
mod decimal;
mod float;
mod mariadb;
mod number;
mod temporal;
mod text;
mod value;

pub use bits::Bits;
pub use blob::{Geometry, Vector};
pub use decimal::Decimal;
pub use float::{write_f32, write_f64};
pub use mariadb::{write_inet4, write_inet6, write_uuid};
pub use number::AnyInt;
pub use temporal::{Date, DateTime, OLD_TEMPORAL, Time, Timestamp};
pub use text::Binary;
pub use value::Value;

/// Codes of the types that other modules ask for.
pub mod code {
    /// Integer of one byte.
    pub const TINYINT: u8 = 1;
    /// Integer of two bytes.
    pub const SMALLINT: u8 = 2;
    /// Integer of four bytes.
    pub const INT: u8 = 3;
    /// Number of single precision.
    pub const FLOAT: u8 = 4;
    /// Number of double precision.
    pub const DOUBLE: u8 = 5;
    /// Integer of eight bytes.
    pub const BIGINT: u8 = 8;
    /// Integer of three bytes.
    pub const MEDIUMINT: u8 = 9;
    /// Year.
    pub const YEAR: u8 = 13;
    /// JSON of MySQL (MariaDB's is a BLOB).
    pub const JSON: u8 = 245;
    /// ENUM, inside STRING in a table map.
    pub const ENUM: u8 = 247;
    /// SET, inside STRING in a table map.
    pub const SET: u8 = 248;
    /// BLOB and TEXT of every size.
    pub const BLOB: u8 = 252;
    /// VARCHAR of MySQL before 5.0.
    pub const VAR_STRING: u8 = 253;
    /// CHAR and BINARY.
    pub const STRING: u8 = 254;
    /// GEOMETRY and its subtypes.
    pub const GEOMETRY: u8 = 255;
    /// VECTOR of MySQL 9.0 (MariaDB's is a VARCHAR).
    pub const VECTOR: u8 = 242;
    /// Hidden column of a multi-valued index.
    pub const TYPED_ARRAY: u8 = 20;
    /// VARCHAR and VARBINARY.
    pub const VARCHAR: u8 = 15;
    /// Exact decimal.
    pub const NEWDECIMAL: u8 = 246;
    /// TEXT or BLOB COMPRESSED of MariaDB.
    pub const BLOB_COMPRESSED: u8 = 140;
    /// VARCHAR or VARBINARY COMPRESSED of MariaDB.
    pub const VARCHAR_COMPRESSED: u8 = 141;
}

/// One column type: all that is fixed about it.
pub struct TypeDef {
    /// Code in a table map.
    pub code: u8,
    /// Name in SQL, without parameters. `BLOB` stands for TEXT too, `CHAR` for BINARY, `VARCHAR`
    /// for VARBINARY: the code does not tell them apart, the character set does.
    pub name: &'static str,
    /// The metadata that a table map has for a column of this type.
    pub meta: MetaForm,
    /// The code and metadata that the metadata tells, where the type hides another.
    pub real: Option<Real>,
    /// How many bytes a value takes, by the metadata.
    ///
    /// # Errors
    /// Metadata that the type cannot have; a type whose values have no length in the log.
    pub width: fn(u16) -> Result<Width>,
    /// Reads one value, which takes as many bytes as `width` says.
    pub decode: Decode,
    /// Name in SQL with its parameters, by the metadata; `None`: it has none.
    pub sql: Option<fn(u16) -> String>,
}

/// Reads one value that is present and not NULL.
///
/// # Errors
/// Bytes that end early, or that are no value of the type.
pub type Decode = for<'a> fn(&mut Cursor<'a>, Context) -> Result<Value<'a>>;

/// What reading a value needs to know of its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Context {
    /// As [`ColumnType::meta`].
    pub meta: u16,
    /// Of an integer.
    pub signedness: Signedness,
    /// Of a string.
    pub content: Content,
}

/// Whether an integer is signed. The bytes of a value do not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Signedness {
    /// It is.
    Signed,
    /// It is not.
    Unsigned,
    /// The table map does not tell: [`AnyInt`] keeps both readings.
    Unknown,
}

/// What a string holds. The bytes of a value do not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Content {
    /// Characters: CHAR, VARCHAR, TEXT.
    Text,
    /// Bytes: BINARY, VARBINARY, BLOB.
    Bytes,
    /// The table map does not tell.
    Unknown,
}

/// Finds the real code and its metadata in the metadata of a type that hides another.
pub type Real = fn(u16) -> Result<(u8, u16)>;

impl TypeDef {
    /// A type without metadata.
    const fn plain(
        code: u8,
        name: &'static str,
        width: fn(u16) -> Result<Width>,
        decode: Decode,
    ) -> Self {
        Self::with_meta(code, name, MetaForm::None, width, decode)
    }

    /// A type with metadata.
    const fn with_meta(
        code: u8,
        name: &'static str,
        meta: MetaForm,
        width: fn(u16) -> Result<Width>,
        decode: Decode,
    ) -> Self {
        Self {
            code,
            name,
            meta,
            real: None,
            width,
            decode,
            sql: None,
        }
    }
}

/// Reads a value of a type whose values have no length in the log: [`TypeDef::width`] has said why
/// before anyone comes here.
fn no_value<'a>(_: &mut Cursor<'a>, _: Context) -> Result<Value<'a>> {
    Err(Error::unsupported("a value of this type cannot be read"))
}

/// Reads the bytes behind a length of `n` bytes.
#[inline]
fn prefixed<'a>(row: &mut Cursor<'a>, n: usize) -> Result<&'a [u8]> {
    let before = *row;
    let len = row.uint(n)?;
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    row.bytes(len).inspect_err(|_| *row = before)
}

/// How a table map writes the metadata of one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetaForm {
    /// Not at all; it counts as 0.
    None,
    /// One byte.
    Byte,
    /// Two bytes, the low one first.
    Little,
    /// Two bytes, the high one first.
    Big,
}

impl MetaForm {
    /// Number of bytes.
    pub fn len(self) -> usize {
        match self {
            Self::None => 0,
            Self::Byte => 1,
            Self::Little | Self::Big => 2,
        }
    }

    /// Whether there are no bytes.
    pub fn is_empty(self) -> bool {
        self == Self::None
    }

    fn read(self, from: &mut Cursor<'_>) -> Result<u16> {
        match self {
            Self::None => Ok(0),
            Self::Byte => from.u8().map(u16::from),
            Self::Little => from.u16(),
            Self::Big => from.array().map(u16::from_be_bytes),
        }
    }
}

/// How many bytes a value takes in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// Always so many.
    Fixed(u16),
    /// As many as the first 1 to 4 bytes say (low byte first), and those.
    Prefixed(u8),
}

impl Width {
    /// Hops over one value.
    #[inline]
    pub fn skip(self, row: &mut Cursor<'_>) -> Result<()> {
        match self {
            Self::Fixed(n) => row.skip(usize::from(n)),
            Self::Prefixed(n) => prefixed(row, usize::from(n)).map(|_| ()),
        }
    }
}

const FAMILIES: &[&[TypeDef]] = &[
    number::DEFS,
    decimal::DEFS,
    bits::DEFS,
    temporal::DEFS,
    text::DEFS,
    blob::DEFS,
];

/// Every known column type by its code.
pub static TYPES: [Option<&'static TypeDef>; 256] = index(FAMILIES);

#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)] // runs in the compiler only
const fn index(families: &'static [&'static [TypeDef]]) -> [Option<&'static TypeDef>; 256] {
    let mut table: [Option<&'static TypeDef>; 256] = [None; 256];
    let mut f = 0;
    while f < families.len() {
        let mut i = 0;
        while i < families[f].len() {
            let code = families[f][i].code as usize;
            assert!(table[code].is_none(), "two column types claim one code");
            table[code] = Some(&families[f][i]);
            i += 1;
        }
        f += 1;
    }
    table
}

/// The definition of a type code, if it is known.
#[inline]
pub fn type_def(code: u8) -> Option<&'static TypeDef> {
    TYPES.get(usize::from(code)).copied().flatten()
}

/// The type of a column, as far as types and metadata of a table map tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnType {
    /// The real type: ENUM and SET, which table maps write as STRING, are told.
    pub code: u8,
    /// By type:
    ///
    /// | type | metadata |
    /// |---|---|
    /// | CHAR, VARCHAR (also COMPRESSED) | longest value in bytes |
    /// | ENUM, SET | bytes a value takes |
    /// | BLOB, JSON, GEOMETRY, VECTOR | bytes of the length before a value |
    /// | DECIMAL | precision × 256 + scale |
    /// | BIT | whole bytes × 256 + further bits |
    /// | TIMESTAMP2, DATETIME2, TIME2 | digits of the fraction |
    /// | FLOAT, DOUBLE | bytes a value takes |
    /// | others | 0 |
    pub meta: u16,
    /// The type of the elements of a `TYPED_ARRAY`, whose metadata `meta` then is.
    pub element: Option<u8>,
}

impl ColumnType {
    /// Reads the metadata of a column of type `code` from a table map's metadata.
    ///
    /// # Errors
    /// An unknown type, whose metadata has an unknown length; metadata that ends early or that
    /// contradicts the type.
    pub fn read(code: u8, metadata: &mut Cursor<'_>) -> Result<Self> {
        if code == code::TYPED_ARRAY {
            return blob::read_typed_array(metadata);
        }
        let def = known(code)?;
        let meta = def.meta.read(metadata)?;
        let (code, meta) = match def.real {
            Some(real) => real(meta)?,
            None => (code, meta),
        };
        Ok(Self {
            code,
            meta,
            element: None,
        })
    }

    /// How many bytes a value takes in a row.
    ///
    /// # Errors
    /// Metadata that the type cannot have; a type whose values have no length in the log.
    pub fn width(self) -> Result<Width> {
        (known(self.code)?.width)(self.meta)
    }

    /// What reads a value, see [`TypeDef::decode`].
    ///
    /// # Errors
    /// An unknown type.
    pub fn decode(self) -> Result<Decode> {
        known(self.code).map(|def| def.decode)
    }

    /// Name in SQL, without parameters.
    pub fn name(self) -> &'static str {
        type_def(self.code).map_or("UNKNOWN", |def| def.name)
    }

    /// Name in SQL, with those parameters that are certain: `DECIMAL(10,2)`, `DATETIME(6)`.
    /// Lengths of text are in bytes and so are not among them.
    pub fn sql(self) -> String {
        if let Some(element) = self.element {
            let element = Self {
                code: element,
                element: None,
                ..self
            };
            return format!("{} ARRAY", element.sql());
        }
        match type_def(self.code).and_then(|def| def.sql) {
            Some(sql) => sql(self.meta),
            None => self.name().to_owned(),
        }
    }
}

fn known(code: u8) -> Result<&'static TypeDef> {
    type_def(code).ok_or_else(|| Error::unsupported(format!("column type {code} is not known")))
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
