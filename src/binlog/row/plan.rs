//! How the values of a table are decoded: resolved once for a table map.

use super::hint::{ColumnHint, DeclaredType, NameSource, TableHint};
use super::labels::Labels;
use crate::binlog::charset::{Charset, Text, charset_of};
use crate::binlog::event::{ColumnMetadata, RowsKind, TableMapOwned};
use crate::binlog::types::{ColumnType, Content, Context, Decode, OLD_TEMPORAL, Signedness, code};
use crate::error::{Error, ErrorKind, Result};
use std::borrow::Cow;

/// The columns of a table as its table map, and perhaps a hint, tell of them, ready for decoding.
#[derive(Debug)]
pub struct RowPlan {
    columns: Box<[ColumnPlan]>,
    primary_key: Box<[(usize, Option<u32>)]>,
    pub(super) table: Box<str>,
    /// The first column whose width MariaDB does not always tell.
    pub(super) watched: Option<usize>,
}

impl RowPlan {
    /// Resolves the columns of a table.
    ///
    /// # Errors
    /// Optional metadata that does not fit the columns; a table map of MySQL before 5.1.16, which
    /// has no metadata. The error names the table.
    pub fn new(map: &TableMapOwned) -> Result<Self> {
        Self::resolve(map).map_err(|error| error.in_table(map.full_name()))
    }

    /// As [`RowPlan::new`]; what the table map does not tell is taken from a hint.
    ///
    /// # Errors
    /// Those of [`RowPlan::new`], and a hint that is not of this table: another number of columns,
    /// a type that the column cannot have, another name than the table map tells. The error names
    /// the table, and the column.
    pub fn with_hint(map: &TableMapOwned, hint: &TableHint) -> Result<Self> {
        let mut plan = Self::new(map)?;
        match plan.fill(hint) {
            Ok(()) => Ok(plan),
            Err(error) => Err(error.in_table(map.full_name())),
        }
    }

    fn fill(&mut self, hint: &TableHint) -> Result<()> {
        if hint.columns.len() != self.columns.len() {
            return Err(Error::invalid(format!(
                "{} columns are declared ({}), but the table map has {}",
                hint.columns.len(),
                hint.source.name(),
                self.columns.len()
            )));
        }
        // A table map with names tells the key too, or that there is none.
        let key_is_told = self.columns.iter().any(|column| column.name.is_some());
        for (column, declared) in self.columns.iter_mut().zip(&hint.columns) {
            column.fill(declared, hint.source)?;
        }
        if self.primary_key.is_empty() && !key_is_told {
            if let Some(&(n, _)) = hint
                .primary_key
                .iter()
                .find(|(n, _)| *n >= self.columns.len())
            {
                return Err(Error::invalid(format!(
                    "column {n} in the key that is declared"
                )));
            }
            self.primary_key = hint.primary_key.as_slice().into();
        }
        Ok(())
    }

    fn resolve(owned: &TableMapOwned) -> Result<Self> {
        let map = owned.map()?;
        if !map.has_metadata() {
            return Err(Error::unsupported(
                "the table map has no metadata of its columns",
            ));
        }
        let table = map.columns()?;
        let columns = table.columns.iter().zip(1u32..);
        let columns = columns.map(|(column, number)| ColumnPlan::new(column, number));
        let columns = columns.collect::<Result<Box<[_]>>>()?;
        Ok(Self {
            watched: columns
                .iter()
                .position(|column| OLD_TEMPORAL.contains(&column.ty.code)),
            columns,
            primary_key: table.primary_key.into(),
            table: owned.full_name().into(),
        })
    }

    /// The columns in order.
    pub fn columns(&self) -> &[ColumnPlan] {
        &self.columns
    }

    /// Columns of the primary key in key order: index in [`RowPlan::columns`], and length of the
    /// prefix in characters where the key covers only that. Empty: no key, or none told.
    pub fn primary_key(&self) -> &[(usize, Option<u32>)] {
        &self.primary_key
    }

    /// `schema.table`.
    pub fn table(&self) -> &str {
        &self.table
    }

    /// Of a partial update: bytes of its partial bits, one for each JSON column, present or not.
    pub(super) fn partial_bytes(&self, kind: RowsKind) -> Option<usize> {
        (kind == RowsKind::PartialUpdate).then(|| {
            let json = self.columns.iter().filter(|column| column.is_json());
            json.count().div_ceil(8)
        })
    }

    /// The column of a cell, which are as many and in the same order.
    pub(super) fn in_column(&self, n: usize, error: Error) -> Error {
        match self.columns.get(n) {
            Some(column) => error.in_column(column.label()),
            None => error,
        }
    }
}

/// One column: how to read a value, and what its bytes do not tell.
#[derive(Debug)]
pub struct ColumnPlan {
    /// Number from 1.
    pub number: u32,
    /// Type and its metadata.
    pub ty: ColumnType,
    /// What reading needs to know.
    pub context: Context,
    /// Collation id, where table map or hint tells it; 63: binary. Of a hint it may be another one
    /// of the same character set.
    pub collation: Option<u16>,
    /// May be NULL; `None` where the table map does not tell.
    pub nullable: Option<bool>,
    /// Subtype of GEOMETRY, see [`ColumnMetadata::geometry_type`].
    pub geometry_type: Option<u32>,
    /// `SELECT *` shows it; `None` where neither table map nor hint tells.
    pub visible: Option<bool>,
    name: Option<Box<[u8]>>,
    name_source: NameSource,
    declared: Option<DeclaredType>,
    pub(super) labels: Option<Labels>,
    /// `None`: values of the type have no length in the log.
    pub(super) decode: Option<Decode>,
}

impl ColumnPlan {
    fn new(column: &ColumnMetadata<'_>, number: u32) -> Result<Self> {
        let readable = match column.ty.width() {
            Ok(_) => true,
            Err(error) if error.kind() == ErrorKind::Unsupported => false,
            Err(error) => return Err(error.in_column(format!("@{number}"))),
        };
        let decode = if readable {
            Some(column.ty.decode()?)
        } else {
            None
        };
        let signedness = match column.unsigned {
            Some(true) => Signedness::Unsigned,
            Some(false) => Signedness::Signed,
            None => Signedness::Unknown,
        };
        let content = match column.charset {
            Some(BINARY) => Content::Bytes,
            Some(_) => Content::Text,
            None => Content::Unknown,
        };
        Ok(Self {
            number,
            ty: column.ty,
            context: Context {
                meta: column.ty.meta,
                signedness,
                content,
            },
            collation: column.charset,
            nullable: column.nullable,
            geometry_type: column.geometry_type,
            visible: column.visible,
            name: column.name.map(Into::into),
            name_source: match column.name {
                Some(_) => NameSource::TableMap,
                None => NameSource::None,
            },
            declared: None,
            labels: column
                .labels
                .as_deref()
                .map(|labels| Labels::of_table_map(labels, column.charset)),
            decode,
        })
    }

    /// Takes from a hint what the table map has not told.
    fn fill(&mut self, hint: &ColumnHint, source: NameSource) -> Result<()> {
        let unfit = |column: &Self, of: &str, but: String| {
            let (declared, source) = (hint.ty.name(), source.name());
            let message = format!("{declared}{of} is declared ({source}), but {but}");
            Err(Error::invalid(message).in_column(column.label()))
        };
        if !hint.fits(self.ty) {
            return unfit(self, "", format!("the table map has {}", self.ty.sql()));
        }
        match (self.context.content, hint.content()) {
            (Content::Text, Some(Content::Bytes)) => {
                return unfit(self, " of bytes", "the table map has text".to_owned());
            }
            (Content::Bytes, Some(Content::Text)) => {
                return unfit(self, " of text", "the table map has bytes".to_owned());
            }
            _ => {}
        }
        if let Some(name) = &self.name {
            if Text::utf8(name).text.to_lowercase() != hint.name.to_lowercase() {
                return unfit(self, "", format!("under the name `{}`", hint.name));
            }
        } else {
            self.name = Some(hint.name.as_bytes().into());
            self.name_source = source;
        }
        self.declared = Some(hint.ty);
        if self.context.signedness == Signedness::Unknown && hint.ty.is_integer() {
            self.context.signedness = match hint.unsigned {
                true => Signedness::Unsigned,
                false => Signedness::Signed,
            };
        }
        if self.context.content == Content::Unknown && is_string(self.ty) {
            self.collation = hint.string_collation();
            self.context.content = match self.collation {
                Some(BINARY) => Content::Bytes,
                _ => Content::Text,
            };
        }
        if self.labels.is_none() && matches!(hint.ty, DeclaredType::Enum | DeclaredType::Set) {
            self.labels = Some(Labels::of_statement(&hint.labels));
            self.collation = self.collation.or(hint.collation);
        }
        self.nullable = self.nullable.or(Some(hint.nullable));
        self.visible = self.visible.or(Some(hint.visible));
        Ok(())
    }

    /// Where [`ColumnPlan::name`] comes from.
    pub fn name_source(&self) -> NameSource {
        self.name_source
    }

    /// The type as a statement declares it, where a hint was given. It tells UUID, INET4, INET6 and
    /// MariaDB's JSON and VECTOR, which table maps do not.
    pub fn declared(&self) -> Option<DeclaredType> {
        self.declared
    }

    /// Name for a column of a relation: the column's, or `col_n`, n from 1.
    pub fn display_name(&self) -> Cow<'_, str> {
        match &self.name {
            Some(name) => Text::utf8(name).text,
            None => Cow::Owned(format!("col_{}", self.number)),
        }
    }

    /// Name, in UTF-8 as servers write it; `None` where neither table map nor hint tells.
    pub fn name(&self) -> Option<&[u8]> {
        self.name.as_deref()
    }

    /// Name for people: the column's, or `@n`.
    pub fn label(&self) -> String {
        match &self.name {
            Some(name) => Text::utf8(name).text.into_owned(),
            None => format!("@{}", self.number),
        }
    }

    /// Character set of text, and of labels in a table map; `None` where nothing tells it, or it is
    /// not known.
    pub fn charset(&self) -> Option<&'static Charset> {
        self.collation.and_then(charset_of)
    }

    /// Whether a partial update counts this column among its JSON columns.
    pub(super) fn is_json(&self) -> bool {
        self.ty.code == code::JSON
    }
}

/// Collation id of BINARY, VARBINARY and BLOB.
pub(super) const BINARY: u16 = 63;

/// Whether only the collation tells text from bytes.
fn is_string(ty: ColumnType) -> bool {
    matches!(
        ty.code,
        code::STRING | code::VAR_STRING | code::VARCHAR | code::VARCHAR_COMPRESSED | 249
            ..=code::BLOB | code::BLOB_COMPRESSED
    )
}
