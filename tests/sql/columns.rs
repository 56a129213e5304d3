//! The README's tables of columns and options come from the code. `BLESS=1 cargo test --test sql
//! columns` writes them anew.

use arrow::datatypes::{DataType, Field, TimeUnit};
use datafusion_binlog::batch::columns::EventColumn;
use datafusion_binlog::batch::files::file_columns;
use datafusion_binlog::batch::problems::problem_columns;
use datafusion_binlog::batch::rows::MetaColumn;
use datafusion_binlog::batch::rows::columns::BEFORE;
use datafusion_binlog::batch::tables::{column_columns, table_columns};
use datafusion_binlog::table::options::OPTION_NAMES;
use std::fmt::Write;
use std::sync::PoisonError;

/// An Arrow type in few words.
fn type_name(data_type: &DataType) -> String {
    match data_type {
        DataType::Timestamp(TimeUnit::Microsecond, Some(zone)) => format!("Timestamp(µs, {zone})"),
        DataType::Dictionary(key, value) => {
            format!("Dictionary({}, {})", type_name(key), type_name(value))
        }
        DataType::List(item) => format!("List({})", type_name(item.data_type())),
        other => other.to_string(),
    }
}

fn table<'a>(title: &str, columns: impl Iterator<Item = (Field, &'a str)>) -> String {
    let mut text = format!("{title}\n\n| column | type | meaning |\n|---|---|---|\n");
    for (field, doc) in columns {
        let null = if field.is_nullable() { ", null" } else { "" };
        let shown = type_name(field.data_type());
        writeln!(text, "| {} | {shown}{null} | {doc} |", field.name()).unwrap();
    }
    text
}

fn tables() -> String {
    let events = EventColumn::ALL.iter().map(|c| (c.field(), c.doc()));
    let changes = MetaColumn::CHANGES.iter().map(|c| (c.field(), c.doc()));
    let typed = MetaColumn::TYPED
        .iter()
        .map(|c| (c.field().with_name(c.typed_name()), c.doc()));
    let mut typed = table(
        "`<schema>.<table>`: one row per row change of that table.",
        typed,
    );
    writeln!(
        typed,
        "| the table's own columns | [their types](#column-types), null | the row after the change; on DELETE the row before it |\n\
         | {BEFORE} | Struct of the table's own columns, null | the row before the change; null on INSERT |"
    )
    .unwrap();
    [
        table("`binlog`: one row per event.", events),
        table("`changes`: one row per row change, of any table.", changes),
        typed,
        table(
            "`tables`: one row per table and version of it.",
            table_columns().iter().cloned(),
        ),
        table(
            "`columns`: one row per column of these.",
            column_columns().iter().cloned(),
        ),
        table("`files`: one row per log.", file_columns().iter().cloned()),
        table(
            "`problems`: one row per gap or defect.",
            problem_columns().iter().cloned(),
        ),
    ]
    .join("\n")
}

/// What `OPTIONS` takes.
fn options() -> String {
    let mut text = String::from("| option | value |\n|---|---|\n");
    for (name, doc) in OPTION_NAMES {
        writeln!(text, "| `{name}` | {doc} |").unwrap();
    }
    text
}

/// Compares what stands in the README between the two marks; with `BLESS` set, writes it.
fn in_the_readme(what: &str, wanted: &str) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let (begin, end) = (
        format!("<!-- {what}:begin -->\n"),
        format!("<!-- {what}:end -->"),
    );
    let _writing = crate::readme::WRITING
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let readme = std::fs::read_to_string(path).unwrap();
    let (before, behind) = readme.split_once(&begin).expect(&begin);
    let (found, after) = behind.split_once(&end).expect(&end);
    if std::env::var_os("BLESS").is_some() {
        let text = [before, &begin, wanted, &end, after].concat();
        std::fs::write(path, text).unwrap();
        return;
    }
    assert!(
        found == wanted,
        "between {what}:begin and {what}:end README.md should say\n\n{wanted}"
    );
}

#[test]
fn the_readme_lists_every_column() {
    in_the_readme("columns", &tables());
}

#[test]
fn the_readme_lists_every_option() {
    in_the_readme("options", &options());
}

#[test]
fn every_column_says_what_it_tells() {
    let text = tables();
    for line in text.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
        assert_eq!(cells.len(), 3, "{line}");
        assert!(cells.iter().all(|cell| !cell.trim().is_empty()), "{line}");
    }
    assert!(text.contains("| timestamp | Timestamp(µs, UTC), null | when the statement began"));
    assert!(text.contains("| type | Dictionary(UInt8, Utf8) | event type, without _EVENT |"));
    assert!(text.contains("| key | Utf8, null | primary key of the row before the change"));
    assert!(text.contains("| _changed | List(Utf8), null | columns that an UPDATE changed"));
}
