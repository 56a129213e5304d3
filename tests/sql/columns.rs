//! The README's tables of columns come from the code.

use arrow::datatypes::{DataType, Field, TimeUnit};
use datafusion_binlog::batch::columns::EventColumn;
use datafusion_binlog::batch::files::file_columns;
use datafusion_binlog::batch::problems::problem_columns;
use std::fmt::Write;

const BEGIN: &str = "<!-- columns:begin -->\n";
const END: &str = "<!-- columns:end -->";

/// An Arrow type in few words.
fn type_name(data_type: &DataType) -> String {
    match data_type {
        DataType::Timestamp(TimeUnit::Microsecond, Some(zone)) => format!("Timestamp(µs, {zone})"),
        DataType::Dictionary(key, value) => {
            format!("Dictionary({}, {})", type_name(key), type_name(value))
        }
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
    [
        table("`binlog`: one row per event.", events),
        table("`files`: one row per log.", file_columns().iter().cloned()),
        table(
            "`problems`: one row per gap or defect.",
            problem_columns().iter().cloned(),
        ),
    ]
    .join("\n")
}

#[test]
fn the_readme_lists_every_column() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let Ok(readme) = std::fs::read_to_string(path) else {
        eprintln!("SKIPPED the_readme_lists_every_column: there is no README.md");
        return;
    };
    let Some((_, behind)) = readme.split_once(BEGIN) else {
        eprintln!("SKIPPED the_readme_lists_every_column: README.md has no {BEGIN}");
        return;
    };
    let (found, _) = behind
        .split_once(END)
        .expect("columns:end behind columns:begin");
    let wanted = tables();
    assert!(
        found.trim() == wanted.trim(),
        "between columns:begin and columns:end README.md should say\n\n{wanted}"
    );
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
}
