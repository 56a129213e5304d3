//! How the values of a table are decoded: resolved once for a table map.

use crate::binlog::charset::{Charset, Text, charset_of};
use crate::binlog::event::{ColumnMetadata, TableMapOwned};
use crate::binlog::types::{ColumnType, Content, Context, Decode, OLD_TEMPORAL, Signedness, code};
use crate::error::{Error, ErrorKind, Result};

/// The columns of a table as its table map tells of them, ready for decoding.
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
    /// Collation id, where the table map tells it; 63: binary.
    pub collation: Option<u16>,
    /// May be NULL; `None` where the table map does not tell.
    pub nullable: Option<bool>,
    /// Subtype of GEOMETRY, see [`ColumnMetadata::geometry_type`].
    pub geometry_type: Option<u32>,
    /// `SELECT *` shows it; `None` where the table map does not tell.
    pub visible: Option<bool>,
    name: Option<Box<[u8]>>,
    labels: Option<Labels>,
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
            labels: column.labels.as_deref().map(Labels::new),
            decode,
        })
    }

    /// Name, in UTF-8 as servers write it; `None` where the table map does not tell.
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

    /// Character set of text and labels; `None` where the table map tells none, or one that is not
    /// known.
    pub fn charset(&self) -> Option<&'static Charset> {
        self.collation.and_then(charset_of)
    }

    /// Labels of an ENUM or SET, in the column's character set; `None` where the table map does
    /// not tell.
    pub fn labels(&self) -> Option<impl ExactSizeIterator<Item = &[u8]>> {
        let labels = self.labels.as_ref()?;
        Some((0..labels.ends.len()).map(|n| labels.get(n).unwrap_or_default()))
    }

    /// The label of a value of ENUM, in the column's character set. Empty for 0, the value of
    /// what was no label.
    ///
    /// # Errors
    /// The column has no such label. `Ok(None)`: the table map does not tell them.
    pub fn enum_label(&self, value: u16) -> Result<Option<&[u8]>> {
        let Some(labels) = &self.labels else {
            return Ok(None);
        };
        match value.checked_sub(1) {
            None => Ok(Some(&[])),
            Some(n) => match labels.get(usize::from(n)) {
                Some(label) => Ok(Some(label)),
                None => Err(Error::corrupt(format!(
                    "label {value} of an ENUM of {}",
                    labels.ends.len()
                ))
                .in_column(self.label())),
            },
        }
    }

    /// The labels of a value of SET, in the column's character set and order.
    ///
    /// # Errors
    /// The column has no such label. `Ok(None)`: the table map does not tell them.
    pub fn set_labels(&self, value: u64) -> Result<Option<impl Iterator<Item = &[u8]>>> {
        let Some(labels) = &self.labels else {
            return Ok(None);
        };
        let count = u32::try_from(labels.ends.len()).unwrap_or(u32::MAX);
        if value.checked_shr(count).unwrap_or(0) != 0 {
            return Err(
                Error::corrupt(format!("members 0x{value:x} of a SET of {count}"))
                    .in_column(self.label()),
            );
        }
        let set = (0..64usize).filter(move |&n| value & (1 << n) != 0);
        Ok(Some(set.filter_map(|n| labels.get(n))))
    }

    /// Whether a partial update counts this column among its JSON columns.
    pub(super) fn is_json(&self) -> bool {
        self.ty.code == code::JSON
    }
}

/// Collation id of BINARY, VARBINARY and BLOB.
const BINARY: u16 = 63;

/// Labels one behind the other: many short ones take little memory.
#[derive(Debug)]
struct Labels {
    bytes: Box<[u8]>,
    ends: Box<[u32]>,
}

impl Labels {
    fn new(labels: &[&[u8]]) -> Self {
        let bytes = labels.concat();
        let mut end = 0u32;
        let ends = labels.iter().map(|label| {
            // An event is shorter than 4 GiB.
            end = end.saturating_add(u32::try_from(label.len()).unwrap_or(u32::MAX));
            end
        });
        Self {
            ends: ends.collect(),
            bytes: bytes.into(),
        }
    }

    fn get(&self, n: usize) -> Option<&[u8]> {
        let end = *self.ends.get(n)?;
        let start = match n.checked_sub(1) {
            Some(before) => *self.ends.get(before)?,
            None => 0,
        };
        self.bytes.get(start as usize..end as usize)
    }
}
