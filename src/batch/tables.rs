//! The relations `tables` and `columns`: what the logs tell of the tables whose rows they hold.

use crate::binlog::row::{ColumnPlan, DeclaredType, NameSource, RowPlan};
use crate::binlog::types::{Content, OLD_TEMPORAL, Signedness, code};
use arrow::array::{
    ArrayRef, BooleanArray, ListBuilder, RecordBatch, StringArray, StringBuilder, UInt32Array,
    UInt64Array, UInt64Builder,
};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use std::sync::{Arc, LazyLock};

/// A version of a table: a stretch of the logs in which it looked the same.
#[derive(Debug)]
pub struct TableRow<'a> {
    /// Schema of the table.
    pub schema: &'a str,
    /// Its name.
    pub table: &'a str,
    /// Number of the version, from 1.
    pub version: u32,
    /// Its columns.
    pub plan: &'a RowPlan,
    /// Ids under which rows events named it.
    pub ids: Vec<u64>,
    /// Log and offset of its first table map.
    pub first: (&'a str, u64),
    /// Log and offset of its last table map.
    pub last: (&'a str, u64),
}

impl TableRow<'_> {
    /// Where the names of its columns come from: of several sources the least certain.
    fn name_source(&self) -> NameSource {
        let sources = self.plan.columns().iter().map(ColumnPlan::name_source);
        sources.max().unwrap_or_default()
    }
}

fn list(item: DataType) -> DataType {
    DataType::List(Arc::new(Field::new_list_field(item, false)))
}

/// The columns of the relation `tables`, each with what it tells in one line.
pub fn table_columns() -> &'static [(Field, &'static str)] {
    static COLUMNS: LazyLock<Vec<(Field, &str)>> = LazyLock::new(|| {
        let field = Field::new;
        let (text, number) = (DataType::Utf8, DataType::UInt64);
        vec![
            (
                field("schema_name", text.clone(), false),
                "schema of the table",
            ),
            (field("table_name", text.clone(), false), "table"),
            (
                field("version", DataType::UInt32, false),
                "number of the version: a stretch of the logs in which the table looked the same, from 1",
            ),
            (
                field("columns", DataType::UInt32, false),
                "number of its columns",
            ),
            (
                field("primary_key", list(text.clone()), true),
                "names of the columns of the primary key, in its order; null when the log does not tell",
            ),
            (
                field("name_source", text.clone(), false),
                "where the names come from: `metadata`, `ddl`, `schema file`, `none`",
            ),
            (
                field("table_ids", list(number.clone()), false),
                "ids under which rows events named it",
            ),
            (
                field("first_file", text.clone(), false),
                "log of its first TABLE_MAP",
            ),
            (
                field("first_pos", number.clone(), false),
                "offset of its first TABLE_MAP",
            ),
            (field("last_file", text, false), "log of its last TABLE_MAP"),
            (
                field("last_pos", number, false),
                "offset of its last TABLE_MAP",
            ),
        ]
    });
    &COLUMNS
}

/// The columns of the relation `columns`, each with what it tells in one line.
pub fn column_columns() -> &'static [(Field, &'static str)] {
    static COLUMNS: LazyLock<Vec<(Field, &str)>> = LazyLock::new(|| {
        let field = Field::new;
        let text = DataType::Utf8;
        vec![
            (
                field("schema_name", text.clone(), false),
                "schema of the table",
            ),
            (field("table_name", text.clone(), false), "table"),
            (
                field("version", DataType::UInt32, false),
                "version of the table, as in `tables`",
            ),
            (
                field("ordinal_position", DataType::UInt32, false),
                "number of the column, from 1",
            ),
            (
                field("column_name", text.clone(), false),
                "name; `col_1` … where nothing tells it",
            ),
            (
                field("name_source", text.clone(), false),
                "where the name comes from: `metadata`, `ddl`, `schema file`, `none`",
            ),
            (
                field("column_type", text.clone(), false),
                "type, with those parameters that are certain",
            ),
            (
                field("nullable", DataType::Boolean, true),
                "may be NULL; null when the log does not tell",
            ),
            (
                field("unsigned", DataType::Boolean, true),
                "of a number: is unsigned; null for other types, and when the log does not tell",
            ),
            (
                field("charset", text.clone(), true),
                "character set; `binary` for bytes; null for other types, and when the log does not tell",
            ),
            (
                field("collation_id", DataType::UInt32, true),
                "id of the collation, where the table map tells it",
            ),
            (
                field("key_position", DataType::UInt32, true),
                "place in the primary key, from 1",
            ),
            (
                field("key_prefix", DataType::UInt32, true),
                "characters that the primary key covers, where it does not cover all",
            ),
            (
                field("labels", list(text.clone()), true),
                "labels of ENUM and SET, where they are known",
            ),
            (
                field("visible", DataType::Boolean, true),
                "`SELECT *` shows it; null when the log does not tell",
            ),
            (
                field("not_told", list(text), false),
                "what of the values the log does not tell: `signedness`, `character set`, `labels`, `width`",
            ),
        ]
    });
    &COLUMNS
}

fn schema_of(columns: &[(Field, &str)]) -> SchemaRef {
    let fields = columns.iter().map(|(field, _)| field.clone());
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// Schema of the relation `tables`.
pub fn table_schema() -> SchemaRef {
    static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| schema_of(table_columns()));
    Arc::clone(&SCHEMA)
}

/// Schema of the relation `columns`.
pub fn column_schema() -> SchemaRef {
    static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| schema_of(column_columns()));
    Arc::clone(&SCHEMA)
}

fn texts<'a>(values: impl Iterator<Item = &'a str>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

/// A list of texts for each row; `None`: null.
fn lists<I: IntoIterator<Item = S>, S: AsRef<str>>(
    values: impl Iterator<Item = Option<I>>,
) -> ArrayRef {
    let item = Field::new_list_field(DataType::Utf8, false);
    let mut builder = ListBuilder::new(StringBuilder::new()).with_field(item);
    for value in values {
        let present = value.is_some();
        for text in value.into_iter().flatten() {
            builder.values().append_value(text);
        }
        builder.append(present);
    }
    Arc::new(builder.finish())
}

/// The tables as rows, all columns.
///
/// # Errors
/// Never in practice: the arrays are made for the schema.
pub fn table_batch(rows: &[TableRow<'_>]) -> Result<RecordBatch, ArrowError> {
    let number = |of: fn(&TableRow<'_>) -> u64| -> ArrayRef {
        Arc::new(UInt64Array::from_iter_values(rows.iter().map(of)))
    };
    let small = |of: fn(&TableRow<'_>) -> u32| -> ArrayRef {
        Arc::new(UInt32Array::from_iter_values(rows.iter().map(of)))
    };
    let keys = rows.iter().map(|row| {
        let key = row.plan.primary_key();
        let name = |&(at, _): &(usize, Option<u32>)| row.plan.columns()[at].display_name();
        (!key.is_empty()).then(|| key.iter().map(name))
    });
    let item = Field::new_list_field(DataType::UInt64, false);
    let mut ids = ListBuilder::new(UInt64Builder::new()).with_field(item);
    for row in rows {
        ids.values().append_slice(&row.ids);
        ids.append(true);
    }
    RecordBatch::try_new(
        table_schema(),
        vec![
            texts(rows.iter().map(|row| row.schema)),
            texts(rows.iter().map(|row| row.table)),
            small(|row| row.version),
            small(|row| row.plan.columns().len() as u32),
            lists(keys),
            texts(rows.iter().map(|row| row.name_source().name())),
            Arc::new(ids.finish()),
            texts(rows.iter().map(|row| row.first.0)),
            number(|row| row.first.1),
            texts(rows.iter().map(|row| row.last.0)),
            number(|row| row.last.1),
        ],
    )
}

/// Columns of tables as rows, all columns.
///
/// # Errors
/// Never in practice: the arrays are made for the schema.
pub fn column_batch(tables: &[TableRow<'_>]) -> Result<RecordBatch, ArrowError> {
    type Entry<'a> = (&'a TableRow<'a>, &'a ColumnPlan);
    let mut rows: Vec<Entry<'_>> = Vec::new();
    for table in tables {
        rows.extend(table.plan.columns().iter().map(|column| (table, column)));
    }
    let flag = |of: fn(&ColumnPlan) -> Option<bool>| -> ArrayRef {
        Arc::new(
            rows.iter()
                .map(|(_, column)| of(column))
                .collect::<BooleanArray>(),
        )
    };
    let numbers = |of: &dyn Fn(&Entry<'_>) -> Option<u32>| -> ArrayRef {
        Arc::new(rows.iter().map(of).collect::<UInt32Array>())
    };
    let names: Vec<_> = rows
        .iter()
        .map(|(_, column)| column.display_name())
        .collect();
    let types: Vec<_> = rows.iter().map(|(_, column)| sql_type(column)).collect();
    let charset = |(_, column): &Entry<'_>| column.charset().map(|charset| charset.name);
    RecordBatch::try_new(
        column_schema(),
        vec![
            texts(rows.iter().map(|(table, _)| table.schema)),
            texts(rows.iter().map(|(table, _)| table.table)),
            numbers(&|(table, _)| Some(table.version)),
            numbers(&|(_, column)| Some(column.number)),
            texts(names.iter().map(|name| &**name)),
            texts(rows.iter().map(|(_, column)| column.name_source().name())),
            texts(types.iter().map(String::as_str)),
            flag(|column| column.nullable),
            flag(unsigned),
            Arc::new(rows.iter().map(charset).collect::<StringArray>()),
            numbers(&|(_, column)| column.collation.map(u32::from)),
            numbers(&|entry| key_part(entry).map(|(position, _)| position)),
            numbers(&|entry| key_part(entry).and_then(|(_, prefix)| prefix)),
            lists(rows.iter().map(|(_, column)| column.label_texts())),
            flag(|column| column.visible),
            lists(rows.iter().map(|(_, column)| Some(not_told(column)))),
        ],
    )
}

/// Place of a column in the primary key, from 1, and the prefix that it covers.
fn key_part((table, column): &(&TableRow<'_>, &ColumnPlan)) -> Option<(u32, Option<u32>)> {
    let at = column.number as usize - 1;
    let key = (1u32..).zip(table.plan.primary_key());
    let mut parts = key.filter(|(_, part)| part.0 == at);
    parts.next().map(|(position, part)| (position, part.1))
}

/// Type of a column in SQL, as far as it is known.
pub fn sql_type(column: &ColumnPlan) -> String {
    use DeclaredType::{Inet4, Inet6, Json, Uuid};
    if let Some(declared @ (Json | Uuid | Inet4 | Inet6)) = column.declared() {
        return declared.name().to_owned();
    }
    let sql = column.ty.sql();
    let mut sql = match column.context.content {
        Content::Text => sql.replace("BLOB", "TEXT"),
        Content::Bytes => sql.replace("CHAR", "BINARY"),
        Content::Unknown => sql,
    };
    // A year has no sign, but servers set its bit.
    if unsigned(column) == Some(true) && column.ty.code != code::YEAR {
        sql.push_str(" UNSIGNED");
    }
    sql
}

fn unsigned(column: &ColumnPlan) -> Option<bool> {
    match column.context.signedness {
        Signedness::Unsigned => Some(true),
        Signedness::Signed => Some(false),
        Signedness::Unknown => None,
    }
}

/// What of the values of a column the log does not tell.
fn not_told(column: &ColumnPlan) -> Vec<&'static str> {
    let mut missing = Vec::new();
    let ty = column.ty.code;
    if matches!(ty, 1 | 2 | 3 | 8 | 9) && column.context.signedness == Signedness::Unknown {
        missing.push("signedness");
    }
    let string = matches!(
        ty,
        code::VARCHAR | code::VAR_STRING | code::STRING | code::BLOB | 249
            ..=251 | code::VARCHAR_COMPRESSED | code::BLOB_COMPRESSED
    );
    if string && (column.context.content == Content::Unknown || column.collation.is_none()) {
        missing.push("character set");
    }
    if matches!(ty, code::ENUM | code::SET) && column.label_texts().is_none() {
        missing.push("labels");
    }
    if OLD_TEMPORAL.contains(&ty) {
        missing.push("width");
    }
    missing
}
