//! What statements declare: tables, columns, keys, and changes of them.

use super::charset::Charset;
use crate::binlog::row::{ColumnHint, DeclaredType, NameSource, TableHint};
use crate::binlog::types::ColumnType;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// Most columns that any server allows in a table.
pub(super) const MAX_COLUMNS: usize = 4096;

/// Name of a table with that of its schema.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableName {
    /// The schema (database); empty where neither the statement nor its session names one.
    pub schema: String,
    /// The table.
    pub table: String,
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.schema.is_empty() {
            write!(f, "{}.", self.schema)?;
        }
        f.write_str(&self.table)
    }
}

/// A table as it is declared.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TableDecl {
    /// The columns in order.
    pub columns: Vec<Arc<ColumnDecl>>,
    /// Columns of the primary key in key order; empty: there is none, or it is not certain.
    pub primary_key: Vec<KeyPart>,
    /// Default character set of columns.
    pub charset: Charset,
    /// `WITH SYSTEM VERSIONING` of MariaDB.
    pub versioned: bool,
}

/// A column as it is declared.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnDecl {
    /// Name, as it is written.
    pub name: String,
    /// Type.
    pub ty: DeclaredType,
    /// Characters (CHAR, VARCHAR) or bytes (BINARY, VARBINARY) of the longest value; `None` for
    /// other types.
    pub length: Option<u32>,
    /// Is an unsigned number.
    pub unsigned: bool,
    /// Character set of text and labels.
    pub charset: Charset,
    /// Labels of an ENUM or SET.
    pub labels: Vec<String>,
    /// May be NULL.
    pub nullable: bool,
    /// `SELECT *` shows it.
    pub visible: bool,
    /// `PRIMARY KEY` stands at the column; it is not kept.
    pub is_key: bool,
    /// `AS ROW START` or `AS ROW END`: since when or until when the row was so.
    pub is_row_time: bool,
}

/// A part of a primary key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPart {
    /// Name of the column, as the key writes it.
    pub column: String,
    /// Characters of the column that the key covers, where it is not the whole.
    pub prefix: Option<u32>,
}

/// Where a column is put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Position {
    /// Behind the last one; where it was.
    Default,
    /// `FIRST`.
    First,
    /// `AFTER` this column.
    After(String),
}

/// A part of an ALTER TABLE.
#[derive(Debug, Clone, PartialEq)]
pub enum AlterSpec {
    /// `ADD COLUMN`.
    AddColumn {
        /// The column.
        column: ColumnDecl,
        /// Where.
        position: Position,
        /// `IF NOT EXISTS`.
        if_not_exists: bool,
    },
    /// `DROP COLUMN`.
    DropColumn {
        /// Name of the column.
        name: String,
        /// `IF EXISTS`.
        if_exists: bool,
    },
    /// `CHANGE COLUMN`; `MODIFY COLUMN`, which keeps the name.
    ChangeColumn {
        /// Name so far.
        old: String,
        /// The column from now on.
        column: ColumnDecl,
        /// Where.
        position: Position,
        /// `IF EXISTS`.
        if_exists: bool,
    },
    /// `RENAME COLUMN`.
    RenameColumn {
        /// Name so far.
        old: String,
        /// Name from now on.
        new: String,
        /// `IF EXISTS`.
        if_exists: bool,
    },
    /// `ALTER COLUMN … SET VISIBLE` or `INVISIBLE`.
    SetVisible {
        /// Name of the column.
        name: String,
        /// Which of the two.
        visible: bool,
    },
    /// `ADD PRIMARY KEY`; without parts where they are not certain.
    AddPrimaryKey(Vec<KeyPart>),
    /// `DROP PRIMARY KEY`.
    DropPrimaryKey,
    /// `CONVERT TO CHARACTER SET`: of the columns there are.
    ConvertTo(Charset),
    /// `DEFAULT CHARACTER SET`: of columns that come later.
    DefaultCharset(Charset),
    /// `ADD` or `DROP SYSTEM VERSIONING`.
    Versioning(bool),
    /// `RENAME TO`.
    RenameTo(TableName),
    /// `CONVERT PARTITION … TO TABLE`: a new table of the same columns.
    PartitionToTable(TableName),
    /// `CONVERT TABLE … TO PARTITION`: that table is gone.
    TableToPartition(TableName),
}

/// Columns are compared without regard to case on all servers.
pub(super) fn folded(name: &str) -> String {
    name.to_lowercase()
}

/// Whether two names are of one column.
pub(super) fn same_name(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b) || (!a.is_ascii() && folded(a) == folded(b))
}

/// A column of type INT that is as columns are when nothing is said of them.
impl Default for ColumnDecl {
    fn default() -> Self {
        Self {
            name: String::new(),
            ty: DeclaredType::Int,
            length: None,
            unsigned: false,
            charset: Charset::Inherited,
            labels: Vec::new(),
            nullable: true,
            visible: true,
            is_key: false,
            is_row_time: false,
        }
    }
}

impl ColumnDecl {
    /// Gives the column the default character set of its table, unless it has its own.
    pub(super) fn inherit(&mut self, default: Charset) {
        if self.charset == Charset::Inherited {
            self.charset = default;
            self.text_of_bytes();
        }
    }

    /// Gives text another character set.
    pub(super) fn convert(&mut self, charset: Charset) {
        match &mut self.ty {
            DeclaredType::Char | DeclaredType::VarChar | DeclaredType::Enum | DeclaredType::Set => {
                self.charset = charset;
            }
            DeclaredType::Text(size) => {
                // Where characters take more bytes than before, the server takes a longer type.
                *size = 0;
                self.charset = charset;
            }
            // In MariaDB it is a text like any other, in MySQL it stays what it is.
            DeclaredType::Json => self.charset = Charset::Unknown,
            _ => {}
        }
        self.text_of_bytes();
    }

    /// Text in the character set `binary` is a type of its own.
    pub(super) fn text_of_bytes(&mut self) {
        if self.charset == Charset::BINARY {
            self.ty = match self.ty {
                DeclaredType::Char => DeclaredType::Binary,
                DeclaredType::VarChar => DeclaredType::VarBinary,
                DeclaredType::Text(size) => DeclaredType::Blob(size),
                other => other,
            };
        }
    }

    /// The column as the rest of the crate wants it.
    fn hint(&self) -> ColumnHint {
        ColumnHint {
            name: self.name.clone(),
            ty: self.ty,
            unsigned: self.unsigned,
            collation: self.charset.collation(),
            labels: self.labels.clone(),
            nullable: self.nullable,
            visible: self.visible,
        }
    }
}

impl TableDecl {
    /// The table as the rest of the crate wants it.
    pub(super) fn hint(&self, source: NameSource) -> TableHint {
        let numbers: HashMap<String, usize> = self
            .columns
            .iter()
            .map(|c| folded(&c.name))
            .zip(0..)
            .collect();
        let key = self.primary_key.iter().map(|part| {
            let number = numbers.get(&folded(&part.column))?;
            Some((*number, part.prefix))
        });
        // A key with a part that is no column is not known.
        let primary_key: Vec<_> = key.collect::<Option<_>>().unwrap_or_default();
        let columns = self.columns.iter().map(|column| column.hint());
        TableHint {
            source,
            columns: columns.chain(self.hidden_columns()).collect(),
            primary_key,
        }
    }

    /// Columns that the server adds to those that are declared: MariaDB puts `row_start` and
    /// `row_end` last where versioning has no columns of its own, and keeps them last.
    fn hidden_columns(&self) -> impl Iterator<Item = ColumnHint> {
        let explicit = self.columns.iter().any(|column| column.is_row_time);
        let names: &[&str] = match self.versioned && !explicit {
            true => &["row_start", "row_end"],
            false => &[],
        };
        names.iter().map(|name| ColumnHint {
            name: (*name).to_owned(),
            ty: DeclaredType::Timestamp(6),
            unsigned: false,
            collation: None,
            labels: Vec::new(),
            nullable: false,
            visible: false,
        })
    }

    /// Whether a table map has as many columns, with strings of these lengths.
    pub(super) fn lengths_fit(&self, types: &[ColumnType]) -> bool {
        let mut pairs = self.columns.iter().zip(types);
        let columns = self
            .columns
            .len()
            .saturating_add(self.hidden_columns().count());
        columns == types.len() && pairs.all(|(column, ty)| column.length_fits(*ty))
    }

    /// Gives columns and key what only the whole declaration tells.
    ///
    /// # Errors
    /// A declaration that no server takes.
    pub(super) fn finish(&mut self) -> Result<(), String> {
        if self.columns.len() > MAX_COLUMNS {
            return Err(format!("more than {MAX_COLUMNS} columns"));
        }
        let mut names = HashMap::new();
        for (column, number) in self.columns.iter().zip(0usize..) {
            if names.insert(folded(&column.name), number).is_some() {
                return Err(format!("two columns are named {}", column.name));
            }
        }
        for column in &mut self.columns {
            if column.is_key {
                let column = Arc::make_mut(column);
                column.is_key = false;
                self.primary_key = vec![KeyPart {
                    column: column.name.clone(),
                    prefix: None,
                }];
            }
        }
        // Its columns are not NULL, and stay so when the key is dropped.
        for part in &self.primary_key {
            if let Some(&number) = names.get(&folded(&part.column))
                && let Some(column) = self.columns.get_mut(number)
                && column.nullable
            {
                Arc::make_mut(column).nullable = false;
            }
        }
        Ok(())
    }

    /// Gives the table the default character set of its schema, unless it has its own, and the
    /// columns that of the table.
    pub(super) fn inherit(&mut self, of_schema: Charset) {
        self.charset = self.charset.or(of_schema);
        for column in &mut self.columns {
            if column.charset == Charset::Inherited {
                Arc::make_mut(column).inherit(self.charset);
            }
        }
    }
}
