//! The definition of a column: its type under all its names, and what is said of it.
//!
//! ```text
//! VARCHAR(20) CHARACTER SET latin1 NOT NULL DEFAULT 'x' COMMENT 'y' …   , or ) or FIRST or AFTER
//! └─ type ──┘└─ attributes of the type ┘└─ of the column ────────┘
//! ```
//!
//! Source: MySQL `sql/sql_yacc.yy` (`type`, `column_attribute`), MariaDB `sql/sql_yacc.yy`
//! (`field_type_all`, `attribute_list`); the manuals' chapters on data types.

use super::charset::Charset;
use super::decl::{ColumnDecl, Position};
use super::lex::Kind;
use super::parser::{Parser, Result};
use crate::binlog::row::DeclaredType;

/// Bit of `sql_mode`: REAL is FLOAT.
const REAL_AS_FLOAT: u64 = 1;
/// Bit of `sql_mode`: the types of another product.
const ORACLE: u64 = 1 << 9;
/// A collation of utf8mb3, which NATIONAL CHAR has.
const NATIONAL: Charset = Charset::Id(33);
/// A collation of utf8mb4, which JSON has.
const JSON_CHARSET: Charset = Charset::Id(46);

/// Types without parameters, or whose parameters are only for display.
#[rustfmt::skip]
const PLAIN: &[(&str, DeclaredType)] = &[
    ("TINYINT", DeclaredType::TinyInt), ("INT1", DeclaredType::TinyInt),
    ("BOOL", DeclaredType::TinyInt), ("BOOLEAN", DeclaredType::TinyInt),
    ("SMALLINT", DeclaredType::SmallInt), ("INT2", DeclaredType::SmallInt),
    ("MEDIUMINT", DeclaredType::MediumInt), ("INT3", DeclaredType::MediumInt),
    ("MIDDLEINT", DeclaredType::MediumInt),
    ("INT", DeclaredType::Int), ("INTEGER", DeclaredType::Int), ("INT4", DeclaredType::Int),
    ("BIGINT", DeclaredType::BigInt), ("INT8", DeclaredType::BigInt),
    ("YEAR", DeclaredType::Year), ("DATE", DeclaredType::Date),
    ("TINYTEXT", DeclaredType::Text(1)), ("MEDIUMTEXT", DeclaredType::Text(3)),
    ("LONGTEXT", DeclaredType::Text(4)), ("CLOB", DeclaredType::Text(4)),
    ("XMLTYPE", DeclaredType::Text(4)),
    ("TINYBLOB", DeclaredType::Blob(1)), ("MEDIUMBLOB", DeclaredType::Blob(3)),
    ("LONGBLOB", DeclaredType::Blob(4)),
    ("JSON", DeclaredType::Json), ("VECTOR", DeclaredType::Vector),
    ("UUID", DeclaredType::Uuid), ("INET4", DeclaredType::Inet4), ("INET6", DeclaredType::Inet6),
    ("GEOMETRY", DeclaredType::Geometry), ("POINT", DeclaredType::Geometry),
    ("LINESTRING", DeclaredType::Geometry), ("POLYGON", DeclaredType::Geometry),
    ("MULTIPOINT", DeclaredType::Geometry), ("MULTILINESTRING", DeclaredType::Geometry),
    ("MULTIPOLYGON", DeclaredType::Geometry), ("GEOMETRYCOLLECTION", DeclaredType::Geometry),
    ("GEOMCOLLECTION", DeclaredType::Geometry),
];

/// Words that begin the definition of a column's successor in the same clause, not an attribute.
pub(super) const BEHIND_COLUMN: &[&str] = &["FIRST", "AFTER", "PARTITION", "REMOVE"];

impl Parser<'_> {
    /// Takes a type and nothing more, as a column without a name.
    pub(super) fn column_type(&mut self) -> Result<ColumnDecl> {
        let mut column = ColumnDecl::default();
        self.data_type(&mut column)?;
        while self.peek().is_any(&["SIGNED", "UNSIGNED", "ZEROFILL"]) {
            self.attribute(&mut column)?;
        }
        Ok(column)
    }

    /// Takes name and definition of a column.
    pub(super) fn column(&mut self) -> Result<ColumnDecl> {
        let mut column = ColumnDecl {
            name: self.identifier()?,
            ..ColumnDecl::default()
        };
        self.data_type(&mut column)?;
        while !self.at_item_end() && !self.peek().is_any(BEHIND_COLUMN) {
            self.attribute(&mut column)?;
        }
        settle_charset(&mut column);
        Ok(column)
    }

    /// Takes `FIRST` or `AFTER x`.
    pub(super) fn position(&mut self) -> Result<Position> {
        if self.accept("FIRST") {
            return Ok(Position::First);
        }
        if self.accept("AFTER") {
            return self.identifier().map(Position::After);
        }
        Ok(Position::Default)
    }

    fn data_type(&mut self, column: &mut ColumnDecl) -> Result<()> {
        let word = self.peek();
        if word.kind != Kind::Word {
            return self.unexpected("a data type");
        }
        if let Some((_, ty)) = PLAIN.iter().find(|(name, _)| word.is(name)) {
            self.next();
            self.skip_parens()?;
            column.ty = match ty {
                DeclaredType::Date if self.session.sql_mode & ORACLE != 0 => {
                    DeclaredType::DateTime(0)
                }
                ty => *ty,
            };
            // The server counts it among the numbers without a sign.
            column.unsigned = column.ty == DeclaredType::Year;
            return Ok(());
        }
        self.next();
        match word.text.to_ascii_uppercase().as_str() {
            "SERIAL" => {
                column.ty = DeclaredType::BigInt;
                column.unsigned = true;
                column.nullable = false;
            }
            "DECIMAL" | "DEC" | "NUMERIC" | "FIXED" => {
                let (precision, scale) = self.precision_and_scale()?.unwrap_or((10, 0));
                column.ty = DeclaredType::Decimal { precision, scale };
            }
            "NUMBER" => {
                column.ty = match self.precision_and_scale()? {
                    Some((precision, scale)) => DeclaredType::Decimal { precision, scale },
                    None => DeclaredType::Double,
                };
            }
            "FLOAT" => column.ty = self.float()?,
            "FLOAT4" => {
                self.skip_parens()?;
                column.ty = DeclaredType::Float;
            }
            "DOUBLE" | "FLOAT8" => {
                self.accept("PRECISION");
                self.skip_parens()?;
                column.ty = DeclaredType::Double;
            }
            "REAL" => {
                self.skip_parens()?;
                column.ty = match self.session.sql_mode & REAL_AS_FLOAT {
                    0 => DeclaredType::Double,
                    _ => DeclaredType::Float,
                };
            }
            "BIT" => {
                let len = self.length()?.unwrap_or(1);
                let len = u8::try_from(len).map_err(|_| format!("BIT({len})"))?;
                column.ty = DeclaredType::Bit { len };
            }
            "TIME" => column.ty = DeclaredType::Time(self.fraction()?),
            "DATETIME" => column.ty = DeclaredType::DateTime(self.fraction()?),
            "TIMESTAMP" => column.ty = DeclaredType::Timestamp(self.fraction()?),
            "NATIONAL" | "NCHAR" | "NVARCHAR" => {
                let varying = word.is("NVARCHAR");
                self.accept_any(&["CHAR", "CHARACTER"]);
                self.string(column, varying)?;
                column.charset = NATIONAL;
            }
            "CHAR" | "CHARACTER" => self.string(column, false)?,
            "VARCHAR" | "VARCHARACTER" | "VARCHAR2" => self.string(column, true)?,
            "BINARY" => {
                column.length = Some(self.length()?.unwrap_or(1));
                column.ty = DeclaredType::Binary;
            }
            "VARBINARY" | "RAW" => {
                column.length = self.length()?;
                column.ty = DeclaredType::VarBinary;
            }
            "TEXT" => column.ty = DeclaredType::Text(if self.skip_parens()? { 0 } else { 2 }),
            "BLOB" => column.ty = DeclaredType::Blob(if self.skip_parens()? { 0 } else { 2 }),
            "LONG" => {
                if self.accept("VARBINARY") {
                    column.ty = DeclaredType::Blob(3);
                } else {
                    self.accept_any(&["VARCHAR", "VARCHARACTER", "CHAR", "CHARACTER"]);
                    self.accept("VARYING");
                    column.ty = DeclaredType::Text(3);
                }
            }
            "ENUM" => {
                column.labels = self.labels()?;
                column.ty = DeclaredType::Enum;
            }
            "SET" => {
                column.labels = self.labels()?;
                column.ty = DeclaredType::Set;
            }
            other => {
                return Err(format!(
                    "data type {other} of column {} is not known",
                    column.name
                ));
            }
        }
        Ok(())
    }

    /// The rest of CHAR or VARCHAR.
    fn string(&mut self, column: &mut ColumnDecl, mut varying: bool) -> Result<()> {
        varying |= self.accept_any(&["VARYING", "VARCHAR", "VARCHARACTER"]);
        column.length = self.length()?;
        column.ty = if varying {
            DeclaredType::VarChar
        } else {
            column.length.get_or_insert(1);
            DeclaredType::Char
        };
        Ok(())
    }

    /// FLOAT(24) is a FLOAT, FLOAT(25) a DOUBLE, FLOAT(7,4) a FLOAT.
    fn float(&mut self) -> Result<DeclaredType> {
        if !self.accept_symbol("(") {
            return Ok(DeclaredType::Float);
        }
        let n = self.number()?;
        let two = self.accept_symbol(",");
        if two {
            self.number()?;
        }
        self.require_symbol(")")?;
        Ok(if n > 24 && !two {
            DeclaredType::Double
        } else {
            DeclaredType::Float
        })
    }

    fn precision_and_scale(&mut self) -> Result<Option<(u8, u8)>> {
        if !self.accept_symbol("(") {
            return Ok(None);
        }
        let precision = self.number()?;
        let scale = if self.accept_symbol(",") {
            self.number()?
        } else {
            0
        };
        self.require_symbol(")")?;
        match (precision, u8::try_from(scale)) {
            // The server takes 0 as "not said".
            (0, Ok(0)) => Ok(Some((10, 0))),
            (1..=65, Ok(scale)) if u32::from(scale) <= precision => {
                let precision = u8::try_from(precision).unwrap_or(u8::MAX);
                Ok(Some((precision, scale)))
            }
            _ => Err(format!("DECIMAL({precision},{scale})")),
        }
    }

    /// Digits of the fraction of a temporal type.
    fn fraction(&mut self) -> Result<u8> {
        match self.length()?.unwrap_or(0) {
            digits @ 0..=6 => Ok(u8::try_from(digits).unwrap_or(0)),
            digits => Err(format!("a temporal type with {digits} digits")),
        }
    }

    /// Takes one attribute of a column.
    fn attribute(&mut self, column: &mut ColumnDecl) -> Result<()> {
        if let Some(charset) = self.charset()? {
            column.charset = charset;
            return Ok(());
        }
        if let Some(name) = self.collate()? {
            column.charset = column.charset.collated(&name);
            return Ok(());
        }
        let token = self.next();
        match token.text.to_ascii_uppercase().as_str() {
            _ if !token.is_identifier() => {
                return Err(format!("{:?} stands in column {}", token.text, column.name));
            }
            "UNSIGNED" | "ZEROFILL" => column.unsigned = true,
            // KEY behind it is only a word, not the primary key.
            "UNIQUE" => {
                self.accept("KEY");
            }
            "SERIAL" => {
                column.nullable = false;
                self.accept_pair("DEFAULT", "VALUE");
            }
            "SIGNED" | "AUTO_INCREMENT" | "VIRTUAL" | "STORED" | "PERSISTENT" => {}
            // The collation `_bin` of the column's set.
            "BINARY" => {}
            "ASCII" => column.charset = Charset::named("latin1"),
            "UNICODE" => column.charset = Charset::named("ucs2"),
            "BYTE" => column.charset = Charset::BINARY,
            "COMPRESSED" => {
                if self.accept_symbol("=") {
                    self.next();
                }
            }
            "NOT" => {
                if self.accept("NULL") {
                    column.nullable = false;
                } else {
                    // NOT ENFORCED, NOT SECONDARY
                    self.identifier()?;
                }
            }
            "NULL" => column.nullable = true,
            "DEFAULT" => self.default_value()?,
            "ON" => {
                // ON UPDATE NOW(), ON DELETE SET NULL
                self.accept_any(&["UPDATE", "DELETE"]);
                if self.accept("SET") {
                    self.accept_any(&["NULL", "DEFAULT"]);
                } else if !self.accept("CASCADE")
                    && !self.accept("RESTRICT")
                    && !self.accept_pair("NO", "ACTION")
                {
                    self.default_value()?;
                }
            }
            "PRIMARY" => {
                self.accept("KEY");
                column.is_key = true;
            }
            "KEY" => column.is_key = true,
            "COMMENT" => {
                self.accept_symbol("=");
                self.skip_one()?;
            }
            "GENERATED" => {
                self.accept("ALWAYS");
            }
            "AS" => {
                if self.accept("ROW") {
                    column.is_row_time = self.accept_any(&["START", "END"]);
                } else if !self.skip_parens()? {
                    return self.unexpected("(");
                }
            }
            "CHECK" => {
                if !self.skip_parens()? {
                    return self.unexpected("(");
                }
            }
            "ENFORCED" => {}
            "CONSTRAINT" => {
                if !self.peek().is("CHECK") && !self.peek().is("REFERENCES") {
                    self.identifier()?;
                }
            }
            "REFERENCES" => {
                self.table_name()?;
                self.skip_parens()?;
            }
            "MATCH" => {
                self.identifier()?;
            }
            "VISIBLE" => column.visible = true,
            "INVISIBLE" => column.visible = false,
            "COLUMN_FORMAT" | "STORAGE" | "SRID" => self.skip_one()?,
            "WITH" | "WITHOUT" => {
                if !self.accept_pair("SYSTEM", "VERSIONING") {
                    return self.unexpected("SYSTEM VERSIONING");
                }
            }
            // Options of storage engines: ENGINE_ATTRIBUTE, REF_SYSTEM_ID, ENCRYPTED …
            _ if self.peek().is_symbol("=") => {
                self.next();
                self.skip_one()?;
            }
            "ENGINE_ATTRIBUTE" | "SECONDARY_ENGINE_ATTRIBUTE" => self.skip_one()?,
            _ => {
                return Err(format!(
                    "{:?} of column {} is not known",
                    token.text, column.name
                ));
            }
        }
        Ok(())
    }

    /// Hops over the value behind DEFAULT or ON UPDATE.
    fn default_value(&mut self) -> Result<()> {
        while self.accept_symbol("-") || self.accept_symbol("+") {}
        if self.peek().is("CASE") {
            return self.skip_case();
        }
        if self.accept("NEXT") || self.accept("PREVIOUS") {
            self.accept("VALUE");
            self.accept("FOR");
            self.table_name()?;
            return Ok(());
        }
        let mut last = self.peek();
        self.skip_one()?;
        if last.kind == Kind::Word {
            self.skip_parens()?;
        }
        // What belongs to one value: `1.5e-3`, `b'0'`, strings side by side, `s.sequence`.
        loop {
            let exponent = last.text.starts_with(|c: char| c.is_ascii_digit())
                && last.text.ends_with(['e', 'E'])
                && last.kind == Kind::Word;
            if last.is_symbol(".")
                || (exponent && (self.accept_symbol("-") || self.accept_symbol("+")))
            {
                last = self.peek();
                self.skip_one()?;
                self.skip_parens()?;
            } else if self.peek().is_string() || self.peek().is_symbol(".") {
                last = self.next();
            } else {
                return Ok(());
            }
        }
    }

    fn skip_case(&mut self) -> Result<()> {
        let mut depth = 0usize;
        loop {
            if self.peek().is("CASE") {
                depth = depth.saturating_add(1);
            } else if self.peek().is("END") {
                depth = depth.saturating_sub(1);
            }
            self.skip_one()?;
            if depth == 0 {
                return Ok(());
            }
        }
    }
}

/// Gives each type the character set that it has by itself, and labels their final form.
fn settle_charset(column: &mut ColumnDecl) {
    let said = column.charset;
    column.charset = match column.ty {
        DeclaredType::Char
        | DeclaredType::VarChar
        | DeclaredType::Text(_)
        | DeclaredType::Enum
        | DeclaredType::Set => said,
        DeclaredType::Binary | DeclaredType::VarBinary | DeclaredType::Blob(_) => Charset::BINARY,
        DeclaredType::Json if said == Charset::Inherited => JSON_CHARSET,
        DeclaredType::Json => said,
        _ => Charset::Unknown,
    };
    if said == Charset::BINARY {
        column.text_of_bytes();
    } else if matches!(column.ty, DeclaredType::Enum | DeclaredType::Set) {
        // The server cuts the spaces at their end, except of bytes.
        for label in &mut column.labels {
            label.truncate(label.trim_end_matches(' ').len());
        }
    }
}
