//! Facts that are known of the rows of logs: what the projects that published them say, and what
//! the servers that wrote them showed at the end.

use super::*;
use crate::binlog::json::apply;
use crate::binlog::row::testing::each_rows_event;
use crate::binlog::types::Value;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// Finds a file of the corpus by the end of its path. `None` (said loudly) without a corpus.
fn corpus_log(name: &str) -> Option<Vec<u8>> {
    let Some(corpus) = std::env::var_os("BINLOG_CORPUS").map(PathBuf::from) else {
        eprintln!("SKIPPED: BINLOG_CORPUS does not name the corpus of binary logs");
        return None;
    };
    let manifest = std::fs::read_to_string(corpus.join("MANIFEST.tsv")).unwrap();
    let mut paths = manifest.lines().filter_map(|line| line.split('\t').next());
    let path = paths.find(|path| path.ends_with(name)).unwrap();
    Some(std::fs::read(corpus.join(path)).unwrap())
}

/// A row change as text; `None`: absent from the log.
#[derive(Debug, Clone, PartialEq)]
struct Change {
    table: String,
    before: Option<Vec<Option<String>>>,
    after: Option<Vec<Option<String>>>,
}

/// The texts of an image; changes of JSON are applied to the image before.
fn texts(columns: &[ColumnPlan], before: &[Cell<'_>], cells: &[Cell<'_>]) -> Vec<Option<String>> {
    let text = |(column, cell): (&ColumnPlan, &Cell<'_>)| match cell {
        Cell::JsonDiff(diffs) => match before[column.number as usize - 1] {
            Cell::Value(Value::Json(document)) => Some(apply(document, diffs).unwrap()),
            _ => Some(format!("JSON changes of {} bytes", diffs.len())),
        },
        Cell::Value(value) => {
            let mut out = String::new();
            column.write_text(*value, &mut out).unwrap();
            Some(out)
        }
        Cell::Absent => None,
    };
    columns.iter().zip(cells).map(text).collect()
}

fn changes(log: Vec<u8>) -> Vec<Change> {
    let mut changes = Vec::new();
    let errors = each_rows_event(log, |map, event, rows| {
        let columns = map.plan()?.columns();
        let mut reader = RowReader::new(map, event, rows)?;
        while let Some(row) = reader.next()? {
            changes.push(Change {
                table: map.table().to_owned(),
                before: row.before.map(|cells| texts(columns, &[], cells)),
                after: row
                    .after
                    .map(|cells| texts(columns, row.before.unwrap_or_default(), cells)),
            });
        }
        Ok(())
    });
    assert_eq!(errors, [""; 0]);
    changes
}

/// Known to be there.
fn shown(image: &Option<Vec<Option<String>>>) -> Vec<&str> {
    let cells = image.as_ref().unwrap().iter();
    cells
        .map(|cell| cell.as_deref().unwrap_or("absent"))
        .collect()
}

#[test]
fn the_decimal_matrix_of_go_mysql() {
    let Some(log) = corpus_log("tcb-eval002c-bin.003320") else {
        return;
    };
    let corpus = PathBuf::from(std::env::var_os("BINLOG_CORPUS").unwrap());
    let expected = std::fs::read_to_string(corpus.join("EXPECTED.md")).unwrap();
    let rows = expected
        .lines()
        .skip_while(|line| !line.starts_with("## 1."));
    let rows = rows.skip(3).take_while(|line| line.starts_with('|'));
    let rows: Vec<Vec<&str>> = rows
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let changes = changes(log);
    assert_eq!((rows.len(), changes.len()), (17, 17));
    let mut cells = 0;
    for (expected, change) in rows.iter().zip(&changes) {
        let shown = shown(&change.after);
        assert_eq!(shown[..expected.len()], expected[..]);
        cells += shown.len();
    }
    assert_eq!(cells, 238);
}

#[test]
fn the_rows_of_old_formats() {
    // EXPECTED.md §7: the same statements on 5.1.23 and 5.7.1.
    for (name, random) in [
        ("ver_5_1_23.001", "674568"),
        ("ver_trunk_row_v2.001", "62046"),
    ] {
        let Some(log) = corpus_log(name) else { return };
        let rows: Vec<String> = changes(log)
            .iter()
            .map(|change| {
                let image = |image: &Option<_>| match image {
                    Some(_) => shown(image).join(" "),
                    None => String::new(),
                };
                format!("{}>{}", image(&change.before), image(&change.after))
            })
            .collect();
        let expected = [">0 one", ">1 two", "0 one>1 one", "1 two>2 two", "2 two>"];
        assert_eq!(rows, expected, "{name} (random {random})");
    }
}

#[test]
fn values_seen_by_eye() {
    // EXPECTED.md §11.
    let Some(log) = corpus_log("test-data/binlogs/time_issue.000001") else {
        return;
    };
    assert_eq!(shown(&changes(log)[0].after), ["-507:48:27"]);
    let log = corpus_log("test-data/binlogs/mysql_type_bit.000001").unwrap();
    let first = changes(log).remove(0);
    assert_eq!(shown(&first.after), ["4", "foo", "32"]);
    // buglog 64: INT UNSIGNED under a MINIMAL image.
    let log = corpus_log("test-data/binlogs/minimal_row_metadata.000001").unwrap();
    let first = changes(log).remove(0);
    assert!(shown(&first.after).contains(&"3230202323"), "{first:?}");
    // buglog 68: a hidden column.
    let log = corpus_log("test-data/binlogs/rpl_unfiltered_hidden_gcol.000001").unwrap();
    let first = changes(log).remove(0);
    assert_eq!(shown(&first.after), ["1", "absent", "1"]);
}

#[test]
fn rows_of_a_payload_and_those_around_it() {
    // EXPECTED.md §8.
    let Some(log) = corpus_log("mdev35643_mysql_80_binlog.000001") else {
        return;
    };
    let changes = changes(log);
    let t1: Vec<Vec<&str>> = changes
        .iter()
        .filter(|change| change.table == "t1")
        .map(|change| shown(&change.after))
        .collect();
    assert_eq!(t1.len(), 105);
    for (row, expected) in t1.iter().zip([
        ["1", "0", ""],
        ["2", "0", "hulu"],
        ["3", "0", "bulu"],
        ["4", "0", "skip"],
    ]) {
        assert_eq!(row[..], expected);
    }
    for (i, row) in t1[4..104].iter().enumerate() {
        let text = format!("--{i}--{}--", "/".repeat(100));
        assert_eq!(row[..], [(i + 1000).to_string(), i.to_string(), text]);
    }
    assert_eq!(t1[104], ["5", "0", "after compressed"]);
    let last = changes.last().unwrap();
    assert_eq!(last.table, "t2");
    // PARTIAL_UPDATE_ROWS: JSON_REPLACE(b, '$.b', REPEAT('oOo', 50)).
    let json = format!(
        r#"{{"a": "hulu", "b": "{}", "c": "bulu"}}"#,
        "oOo".repeat(50)
    );
    assert_eq!(shown(&last.after)[1], json);
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// `SERVER-shop.tables.tsv`: by table, the names of the columns, and the rows in key order.
type Tables = BTreeMap<String, (Vec<String>, Vec<Vec<String>>)>;

fn tables(server: &str) -> Tables {
    let text =
        std::fs::read_to_string(fixtures().join(format!("{server}-shop.tables.tsv"))).unwrap();
    let mut tables = Tables::new();
    for part in text.split("## ").skip(1) {
        let mut lines = part.lines().filter(|line| !line.is_empty());
        let table = lines.next().unwrap().to_owned();
        let mut rows = lines.map(|line| {
            // The client escapes these.
            let cell = |cell: &str| cell.replace("\\n", "\n").replace("\\t", "\t");
            line.split('\t').map(cell).collect::<Vec<String>>()
        });
        let names = rows.next().unwrap_or_default();
        tables.insert(table, (names, rows.collect()));
    }
    tables
}

/// The rows of each table, by the text of the key, as the row changes leave them.
fn fold(
    server: &str,
    key: &HashMap<&str, usize>,
) -> HashMap<String, BTreeMap<Vec<String>, Vec<Option<String>>>> {
    let mut tables: HashMap<String, BTreeMap<Vec<String>, Vec<Option<String>>>> = HashMap::new();
    for file in ["000001", "000002"] {
        let log = std::fs::read(fixtures().join(format!("{server}-shop.{file}"))).unwrap();
        for change in changes(log) {
            let Some(&width) = key.get(change.table.as_str()) else {
                continue;
            };
            let rows = tables.entry(change.table).or_default();
            let key = |image: &[Option<String>]| -> Vec<String> {
                image[..width]
                    .iter()
                    .map(|cell| cell.clone().unwrap())
                    .collect()
            };
            let mut row = Vec::new();
            if let Some(before) = &change.before {
                row = rows.remove(&key(before)).unwrap_or_default();
            }
            if let Some(after) = change.after {
                // An image without a column leaves it as it was.
                row.resize(after.len(), None);
                for (cell, new) in row.iter_mut().zip(after) {
                    *cell = new.or(cell.take());
                }
                rows.insert(key(&row), row);
            }
        }
    }
    tables
}

/// What `SELECT` shows where the log has less: a number for a label, the scale before `credit`
/// was altered, the bytes of a UUID and an INET6.
fn as_select_shows(column: &str, ours: &str, expected: &str) -> String {
    let labels: &[&str] = match column {
        "status" => &["new", "paid", "shipped", "cancelled"],
        "newsletter" => &["never", "weekly", "daily"],
        "interests" => &["books", "music", "tools", "garden"],
        _ => &[],
    };
    match (column, ours.parse::<usize>()) {
        ("status" | "newsletter", Ok(index)) => labels[index - 1].to_owned(),
        ("interests", Ok(bits)) => {
            let set = (0..4).filter(|n| bits >> n & 1 == 1);
            set.map(|n| labels[n]).collect::<Vec<_>>().join(",")
        }
        ("credit", _) if ours.len() + 2 == expected.len() => format!("{ours}00"),
        ("token", _) if expected != "NULL" => {
            assert_eq!(
                ours,
                format!("0x{}", expected.replace('-', "").to_uppercase())
            );
            expected.to_owned()
        }
        ("seen_from", _) if expected != "NULL" => {
            assert_eq!(ours, "0x20010DB8000000000000FF0000428329");
            expected.to_owned()
        }
        _ => ours.to_owned(),
    }
}

#[test]
fn row_changes_of_the_shop_leave_what_the_servers_show() {
    // The columns of a key come first in every table.
    let key = HashMap::from([
        ("order_items", 2),
        ("orders", 1),
        ("products", 1),
        ("customers", 1),
    ]);
    // Changed by statements, which are no rows; deleted by an XA transaction that was rolled back.
    let by_statement = [
        ("customers", "1", "city"),
        ("products", "BK-00001", "title"),
        ("products", "TL-00001", "title"),
    ];
    let rolled_back = [["1001", "1"], ["1001", "2"]];
    for (server, full) in [
        ("mysql-9.7", true),
        ("mariadb-10.11", true),
        ("mariadb-11.8", false),
        ("mariadb-10.5", false),
    ] {
        let ours = fold(server, &key);
        let (mut same, mut exempt) = (0, 0);
        for (table, (names, rows)) in tables(server) {
            let Some(ours) = ours.get(&table) else {
                continue;
            };
            let mut missing = 0;
            for row in &rows {
                let Some(found) = ours.get(&row[..key[table.as_str()]]) else {
                    assert!(
                        table == "order_items" && rolled_back.iter().any(|k| row[..2] == k[..])
                    );
                    missing += 1;
                    continue;
                };
                // Columns that were added later are not in rows that were not changed since.
                assert!(found.len() <= names.len());
                for ((name, expected), cell) in names.iter().zip(row).zip(found) {
                    let cell = cell.as_ref().unwrap();
                    let column = name.as_str();
                    // Without metadata the log tells no character set, and no text from bytes.
                    let untold = matches!(
                        column,
                        "city" | "thumbnail" | "embedding" | "token" | "seen_from"
                    );
                    if by_statement.contains(&(table.as_str(), row[0].as_str(), column))
                        || untold && !full
                    {
                        exempt += 1;
                        continue;
                    }
                    let cell = as_select_shows(column, cell, expected);
                    assert_eq!(&cell, expected, "{server} {table} {:?} {name}", row[0]);
                    same += 1;
                }
            }
            // Four orders were deleted with four items each: MySQL 9.7 logs what a foreign key
            // deletes, MariaDB does not.
            let cascade = server.starts_with("mariadb") && table == "order_items";
            let left = if cascade { 16 } else { 0 };
            assert_eq!(ours.len() + missing, rows.len() + left, "{server} {table}");
        }
        eprintln!("{server}: {same} cells equal, {exempt} exempt");
        assert!(same > 1000 && exempt <= if full { 5 } else { 40 });
    }
}
