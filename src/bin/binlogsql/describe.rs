//! What there is, for people: the relations of each source (`.tables`), the columns of one
//! (`.schema`).
//!
//! Of the tables of the logs, both tell where the names of columns come from: `metadata` and `ddl`
//! are the log's own words, `schema file` is the user's, `none` is `col_1`, `col_2`, ….

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, SchemaRef, TimeUnit};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::{ResolvedTableReference, TableReference};

use crate::errors::Failure;
use crate::names::{self, Relation, quoted};
use crate::print::{extension, text_of};
use crate::run::App;

/// Where a name comes from that no table of a log has.
const BUILT_IN: &str = "built in";

/// A relation, and what the logs tell of it when it is a table of theirs.
struct Entry {
    relation: Relation,
    logged: Option<Logged>,
}

/// A table of the logs.
struct Logged {
    versions: usize,
    /// Of the newest version.
    columns: String,
    /// Where their names come from.
    names: String,
}

/// All relations. Waits until the tables of the logs are found; Ctrl-C ends it.
fn inventory(app: &App) -> Result<Vec<Entry>, Failure> {
    let mut logged: HashMap<Relation, Logged> = HashMap::new();
    for catalog in &app.session.sources {
        let sql = format!(
            "select schema_name, table_name, columns, name_source from {}.binlog.tables \
             order by schema_name, table_name, version",
            quoted(catalog)
        );
        for row in text_of(&app.query(&sql)?)? {
            let [schema, name, columns, names] = cells(row);
            let catalog = catalog.clone();
            let relation = Relation {
                catalog,
                schema,
                name,
            };
            let versions = logged.get(&relation).map_or(0, |known| known.versions) + 1;
            let found = Logged {
                versions,
                columns,
                names,
            };
            logged.insert(relation, found);
        }
    }
    let relations = names::relations(&app.session.context).into_iter();
    Ok(relations
        .map(|relation| Entry {
            logged: logged.remove(&relation),
            relation,
        })
        .collect())
}

/// A row of as many columns as were asked for; NULL is the empty text.
fn cells<const N: usize>(row: Vec<Option<String>>) -> [String; N] {
    let mut row = row.into_iter();
    std::array::from_fn(|_| row.next().flatten().unwrap_or_default())
}

/// The answer of `.tables`.
pub fn tables(app: &App) -> Result<RecordBatch, Failure> {
    let home = names::home(&app.session.context);
    let entries = inventory(app)?;
    let column = |of: &dyn Fn(&Entry) -> String| entries.iter().map(of).collect();
    let logged = |of: fn(&Logged) -> String| {
        column(&move |entry: &Entry| entry.logged.as_ref().map_or_else(String::new, of))
    };
    rows(vec![
        ("source", column(&|e| e.relation.catalog.clone())),
        ("schema", column(&|e| e.relation.schema.clone())),
        ("relation", column(&|e| e.relation.name.clone())),
        ("versions", logged(|table| table.versions.to_string())),
        ("columns", logged(|table| table.columns.clone())),
        (
            "names",
            column(&|e| {
                let names = e.logged.as_ref().map(|table| table.names.as_str());
                names.unwrap_or(BUILT_IN).to_owned()
            }),
        ),
        ("write", column(&|e| e.relation.short(&home))),
    ])
}

/// The answer of `.schema` without a name: the columns of all but the tables of the logs, of which
/// there may be thousands.
pub fn schemas(app: &App) -> Result<RecordBatch, Failure> {
    let context = &app.session.context;
    let home = names::home(context);
    let (tables, others): (Vec<Entry>, Vec<Entry>) = inventory(app)?
        .into_iter()
        .partition(|e| e.logged.is_some());
    let mut answer: [Vec<String>; 4] = Default::default();
    for Entry { relation, .. } in &others {
        let Relation {
            catalog,
            schema,
            name,
        } = relation;
        let reference = TableReference::full(catalog.as_str(), schema.as_str(), name.as_str());
        let context = context.clone();
        let table = app.wait(async move { context.table_provider(reference).await })??;
        for field in table.schema().fields() {
            let null = yes_or_no(field.is_nullable());
            let cells = [
                relation.short(&home),
                field.name().clone(),
                type_name(field),
                null,
            ];
            push(&mut answer, cells);
        }
    }
    if let Some(Entry { relation, .. }) = tables.first() {
        let few = match tables.len() {
            1 => "1 table".to_owned(),
            many => format!("{many} tables"),
        };
        let one = relation.short(&home);
        eprintln!("and {few} of the logs: .tables lists them, .schema {one} shows one");
    }
    let names = ["relation", "column", "type", "null"];
    rows(names.into_iter().zip(answer).collect())
}

/// The answer of `.schema NAME`.
pub fn schema(app: &App, name: &str) -> Result<RecordBatch, Failure> {
    let (reference, columns) = find(app, name)?;
    let versions = versions(app, &reference)?;
    if versions.is_empty() {
        let mut answer: [Vec<String>; 3] = Default::default();
        for field in columns.fields() {
            let null = yes_or_no(field.is_nullable());
            push(&mut answer, [field.name().clone(), type_name(field), null]);
        }
        let names = ["column", "type", "null"];
        return rows(names.into_iter().zip(answer).collect());
    }
    let mut answer: [Vec<String>; 6] = Default::default();
    let own = own_columns(&columns);
    for (at, field) in columns.fields().iter().enumerate() {
        let name = field.name();
        let known = own.contains(&at).then(|| {
            // Where the relation has the name for something else, one underscore was put before it.
            let found = versions.get(&name.to_lowercase());
            found.or_else(|| versions.get(&name.strip_prefix('_')?.to_lowercase()))
        });
        let cells = match known.flatten() {
            Some(column) => [
                name.clone(),
                type_name(field),
                column.sql_type.clone(),
                column.null.clone(),
                column.names.clone(),
                column.versions(),
            ],
            None => [
                name.clone(),
                type_name(field),
                String::new(),
                yes_or_no(field.is_nullable()),
                BUILT_IN.to_owned(),
                String::new(),
            ],
        };
        push(&mut answer, cells);
    }
    let names = [
        "column",
        "type",
        "in MySQL",
        "null",
        "name from",
        "versions",
    ];
    rows(names.into_iter().zip(answer).collect())
}

/// Which columns of the relation of a table are the table's own: as many as `_before` has, which is
/// the last.
fn own_columns(columns: &SchemaRef) -> Range<usize> {
    let fields = columns.fields();
    let last = fields.len().saturating_sub(1);
    match fields.last().map(|field| field.data_type()) {
        Some(DataType::Struct(before)) => last.saturating_sub(before.len())..last,
        _ => 0..0,
    }
}

/// Opens the relation of this name, written with or without quotes.
fn find(app: &App, name: &str) -> Result<(ResolvedTableReference, SchemaRef), Failure> {
    let context = &app.session.context;
    let home = names::home(context);
    // The quotes of `shop."Orders"` are gone with the reading of the line.
    let as_it_is = match name.split('.').collect::<Vec<_>>()[..] {
        [table] => Some(TableReference::bare(table)),
        [schema, table] => Some(TableReference::partial(schema, table)),
        [catalog, schema, table] => Some(TableReference::full(catalog, schema, table)),
        _ => None,
    };
    for reference in as_it_is
        .into_iter()
        .chain([TableReference::parse_str(name)])
    {
        let resolved = reference.clone().resolve(&home.0, &home.1);
        let context = context.clone();
        let table = app.wait(async move { context.table_provider(reference).await })?;
        if let Ok(table) = table {
            return Ok((resolved, table.schema()));
        }
    }
    let known = names::relations(context);
    let known: Vec<String> = known.iter().map(|r| r.short(&home)).collect();
    let near = names::nearest_relation(name, &known);
    let near = near.map(|near| format!("; did you mean {near}?"));
    let near = near.unwrap_or_else(|| "; .tables lists them".to_owned());
    Err(Failure::Message(format!("no relation '{name}'{near}")))
}

/// A column of a table, as its newest version that has it declares it.
struct Column {
    sql_type: String,
    null: String,
    names: String,
    first: String,
    last: String,
}

impl Column {
    fn versions(&self) -> String {
        if self.first == self.last {
            self.first.clone()
        } else {
            format!("{}-{}", self.first, self.last)
        }
    }
}

/// The columns of a table of the logs, by name in small letters; none: it is no such table.
fn versions(
    app: &App,
    reference: &ResolvedTableReference,
) -> Result<HashMap<String, Column>, Failure> {
    let mut out: HashMap<String, Column> = HashMap::new();
    if !app
        .session
        .sources
        .iter()
        .any(|s| **s == *reference.catalog)
    {
        return Ok(out);
    }
    let text = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let (schema, table) = (text(&reference.schema), text(&reference.table));
    // As tables are found: by the very name, else by one that differs in capitals alone.
    let exact = format!("schema_name = {schema} and table_name = {table}");
    let sql = format!(
        "select column_name, column_type, nullable, name_source, version, {exact} \
         from {}.binlog.columns \
         where lower(schema_name) = lower({schema}) and lower(table_name) = lower({table}) \
         order by version, ordinal_position",
        quoted(&reference.catalog)
    );
    let mut found: Vec<[String; 6]> = text_of(&app.query(&sql)?)?.into_iter().map(cells).collect();
    if found.iter().any(|row| row[5] == "true") {
        found.retain(|row| row[5] == "true");
    }
    for [name, sql_type, nullable, names, version, _] in found {
        let name = name.to_lowercase();
        let first = out.remove(&name).map(|known| known.first);
        let column = Column {
            sql_type,
            null: match nullable.as_str() {
                "true" => "yes".to_owned(),
                "false" => "no".to_owned(),
                _ => String::new(),
            },
            names,
            first: first.unwrap_or_else(|| version.clone()),
            last: version,
        };
        out.insert(name, column);
    }
    Ok(out)
}

fn yes_or_no(value: bool) -> String {
    (if value { "yes" } else { "no" }).to_owned()
}

fn push<const N: usize>(answer: &mut [Vec<String>; N], row: [String; N]) {
    for (column, cell) in answer.iter_mut().zip(row) {
        column.push(cell);
    }
}

/// Columns of text as rows.
fn rows(columns: Vec<(&str, Vec<String>)>) -> Result<RecordBatch, Failure> {
    let columns = columns.into_iter().map(|(name, values)| {
        let column: ArrayRef = Arc::new(StringArray::from(values));
        (name, column)
    });
    Ok(RecordBatch::try_from_iter(columns)?)
}

/// A type for people: a dictionary is a matter of storage, as is the way a text is kept.
fn type_name(field: &Field) -> String {
    let plain = plain_type(field.data_type());
    match extension(field) {
        Some(extension) => format!("{plain}, {extension}"),
        None => plain,
    }
}

fn plain_type(data_type: &DataType) -> String {
    match data_type {
        DataType::Dictionary(_, values) => plain_type(values),
        DataType::Utf8View | DataType::LargeUtf8 => "Utf8".to_owned(),
        DataType::BinaryView | DataType::LargeBinary => "Binary".to_owned(),
        DataType::Timestamp(TimeUnit::Microsecond, Some(zone)) => format!("Timestamp(µs, {zone})"),
        DataType::List(item) => format!("List({})", type_name(item)),
        DataType::Struct(fields) if fields.len() > 4 => {
            format!("Struct of {} columns", fields.len())
        }
        DataType::Struct(fields) => {
            let fields = fields.iter();
            let fields: Vec<String> = fields
                .map(|field| format!("{} {}", field.name(), type_name(field)))
                .collect();
            format!("Struct({})", fields.join(", "))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_named_for_people() {
        let name = |data_type| type_name(&Field::new("x", data_type, true));
        let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        assert_eq!(name(dictionary), "Utf8");
        assert_eq!(name(DataType::BinaryView), "Binary");
        assert_eq!(name(DataType::UInt64), "UInt64");
        assert_eq!(
            name(DataType::Duration(TimeUnit::Microsecond)),
            "Duration(µs)"
        );
        let zone = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
        assert_eq!(name(zone), "Timestamp(µs, UTC)");
        let item = Field::new_list_field(DataType::Utf8View, true);
        assert_eq!(name(DataType::List(Arc::new(item))), "List(Utf8)");
        let one = Field::new("a", DataType::Int8, true);
        let of = |n: usize| DataType::Struct(vec![one.clone(); n].into());
        assert_eq!(name(of(1)), "Struct(a Int8)");
        assert_eq!(name(of(9)), "Struct of 9 columns");
        let metadata = [("ARROW:extension:name".to_owned(), "arrow.json".to_owned())];
        let json = Field::new("x", DataType::Utf8View, true).with_metadata(metadata.into());
        assert_eq!(type_name(&json), "Utf8, arrow.json");
    }
}
