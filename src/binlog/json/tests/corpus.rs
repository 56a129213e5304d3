//! The JSON values of real logs, compared with mysqlbinlog and with the server's own SELECT.

use super::*;
use crate::binlog::cursor::Cursor;
use crate::binlog::event::{Event, EventContext, RowsEvent, RowsKind, TableMaps};
use crate::binlog::frame::Framer;
use crate::binlog::reader::read_all;
use crate::binlog::types::{ColumnType, Width, code};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where the corpus is; `None` (said loudly) where it is not.
fn corpus() -> Option<PathBuf> {
    let dir = std::env::var_os("BINLOG_CORPUS").map(PathBuf::from);
    if dir.is_none() {
        eprintln!("SKIPPED: BINLOG_CORPUS does not name the corpus of binary logs");
    }
    dir
}

/// A JSON value in a row.
enum Stored {
    Null,
    Document(Vec<u8>),
    Changes(Vec<u8>),
}

/// The JSON values of one image, by column number from 1, and the bytes of its first column.
#[derive(Default)]
struct Image {
    first: Vec<u8>,
    json: BTreeMap<usize, Stored>,
}

/// One changed row.
struct Change {
    table: String,
    before: Option<Image>,
    after: Option<Image>,
}

fn changes(log: &Path) -> Vec<Change> {
    let mut maps = TableMaps::new();
    let mut out = Vec::new();
    let bytes = std::fs::read(log).unwrap();
    let problems = read_all(Framer::new(), bytes, |item, block, format| {
        let raw = item.raw(block);
        let cx = EventContext {
            header: &item.header,
            format,
        };
        match Event::decode(raw.body(), &cx).unwrap() {
            Event::TableMap(map) => drop(maps.insert(&map).unwrap()),
            Event::Rows(rows) if !rows.is_dummy() => {
                let map = maps.require(rows.table_id).unwrap();
                let types = map.map().unwrap().types().unwrap();
                if types.iter().any(|ty| ty.code == code::JSON) {
                    read_rows(&rows, &types, map.full_name(), &mut out);
                }
            }
            _ => {}
        }
    });
    assert_eq!(problems.unwrap().len(), 0, "{}", log.display());
    out
}

fn read_rows(event: &RowsEvent<'_>, types: &[ColumnType], table: &str, out: &mut Vec<Change>) {
    let rows = event.row_bytes().unwrap();
    let mut rows = Cursor::new(&rows);
    while !rows.is_empty() {
        let mut change = Change {
            table: table.to_owned(),
            before: None,
            after: None,
        };
        if let Some(present) = event.columns_before {
            change.before = Some(read_image(&mut rows, types, present, &[]));
        }
        let mut partial = &[][..];
        if event.kind == RowsKind::PartialUpdate && rows.lenenc().unwrap() == 1 {
            let json = types.iter().filter(|ty| ty.code == code::JSON).count();
            partial = rows.bytes(json.div_ceil(8)).unwrap();
        }
        if let Some(present) = event.columns_after {
            change.after = Some(read_image(&mut rows, types, present, partial));
        }
        out.push(change);
    }
}

fn read_image(
    rows: &mut Cursor<'_>,
    types: &[ColumnType],
    present: &[u8],
    partial: &[u8],
) -> Image {
    let bit = |bits: &[u8], n: usize| bits.get(n / 8).is_some_and(|b| b >> (n % 8) & 1 == 1);
    let count = (0..types.len()).filter(|&n| bit(present, n)).count();
    let nulls = rows.bytes(count.div_ceil(8)).unwrap();
    let (mut image, mut nth, mut json) = (Image::default(), 0, 0);
    for (n, ty) in types.iter().enumerate() {
        let is_partial = ty.code == code::JSON && bit(partial, json);
        json += usize::from(ty.code == code::JSON);
        if !bit(present, n) {
            continue;
        }
        let is_null = bit(nulls, nth);
        nth += 1;
        let mut value = &[][..];
        if !is_null {
            let len = match ty.width().unwrap() {
                Width::Fixed(len) => usize::from(len),
                Width::Prefixed(bytes) => rows.uint(usize::from(bytes)).unwrap() as usize,
            };
            value = rows.bytes(len).unwrap();
        }
        if n == 0 {
            image.first = value.to_vec();
        }
        if ty.code == code::JSON {
            let stored = match (is_null, is_partial) {
                (true, _) => Stored::Null,
                (_, true) => Stored::Changes(value.to_vec()),
                _ => Stored::Document(value.to_vec()),
            };
            image.json.insert(n + 1, stored);
        }
    }
    image
}

/// A JSON value as mysqlbinlog prints it.
fn printed(column: usize, stored: &Stored) -> String {
    let scalar = |text: &str| match text.strip_prefix('"') {
        Some(text) => format!("'{}'", text.strip_suffix('"').unwrap()),
        None => text.to_owned(),
    };
    match stored {
        Stored::Null => "NULL".to_owned(),
        Stored::Document(document) => format!("'{}'", text(document)),
        Stored::Changes(changes) => {
            let diffs = JsonDiffs::parse(changes).unwrap();
            let diff = diffs.iter().next().unwrap();
            assert_eq!((diffs.iter().count(), diff.op), (1, JsonOp::Replace));
            let mut value = String::new();
            diff.value.unwrap().to_text(&mut value).unwrap();
            let value = scalar(&value);
            format!("JSON_REPLACE(@{column}, '{}', {value})", diff.path)
        }
    }
}

#[test]
fn values_equal_those_of_mysqlbinlog() {
    let Some(dir) = corpus() else { return };
    let mut compared = 0;
    for (log, oracle) in [
        (
            "blackbeam__rust_mysql_common/test-data/binlogs/json.binlog.000001",
            "5d5ced34124ca98d",
        ),
        (
            "blackbeam__rust_mysql_common/test-data/binlogs/json-opaque.binlog",
            "116d7cfbcd990158",
        ),
        (
            "MariaDB__server/std_data/mdev35643_mysql_80_binlog.000001",
            "9bda05f6c5bd657a",
        ),
        (
            "apecloud__mysql-binlog-connector-rust/tests/parse_file_tests/mysql-bin.000057",
            "dfe12086009e313c",
        ),
    ] {
        let oracle = dir.join("oracle").join(format!("{oracle}.my97.txt"));
        let expected: Vec<String> = std::fs::read_to_string(oracle)
            .unwrap()
            .lines()
            .filter_map(|line| {
                let (_, value) = line.strip_prefix("###   @")?.split_once('=')?;
                Some(value.split_once(" /* JSON ")?.0.to_owned())
            })
            .collect();
        let mut ours = Vec::new();
        for change in changes(&dir.join(log)) {
            for image in [change.before, change.after].into_iter().flatten() {
                for (column, stored) in &image.json {
                    ours.push(printed(*column, stored));
                }
            }
        }
        assert_eq!(ours, expected, "{log}");
        compared += ours.len();
    }
    assert_eq!(compared, 37);
}

#[test]
fn partial_update_of_the_test_suite_of_mysql() {
    // EXPECTED.md §8.
    let Some(dir) = corpus() else { return };
    let log = dir.join("MariaDB__server/std_data/mdev35643_mysql_80_binlog.000001");
    let last = changes(&log).pop().unwrap();
    let (Some(before), Some(after)) = (last.before, last.after) else {
        panic!("an update");
    };
    let (Stored::Document(before), Stored::Changes(diffs)) = (&before.json[&2], &after.json[&2])
    else {
        panic!("a partial update");
    };
    let document = |b: &str| format!(r#"{{"a": "hulu", "b": "{b}", "c": "bulu"}}"#);
    assert_eq!(text(before), document(&"[zyzzy]".repeat(100)));
    assert_eq!(apply(before, diffs).unwrap(), document(&"oOo".repeat(50)));
}

/// The tables of logs, by the first column of their JSON, folded from the changes.
fn fold(logs: &[PathBuf], table: &str) -> BTreeMap<Vec<u8>, Option<String>> {
    let mut state: BTreeMap<Vec<u8>, Option<String>> = BTreeMap::new();
    let (mut partial, mut with_before) = (0, 0);
    for change in logs.iter().flat_map(|log| changes(log.as_path())) {
        if change.table != table {
            continue;
        }
        let document = |image: &Image| match image.json.values().next() {
            Some(Stored::Document(document)) => Some(document.clone()),
            _ => None,
        };
        let before = change.before.as_ref().and_then(document);
        if let (Some(before), Some(image)) = (&before, &change.before) {
            with_before += 1;
            assert_eq!(state[&image.first].as_deref(), Some(text(before).as_str()));
        }
        let Some(after) = change.after else {
            state.remove(&change.before.unwrap().first);
            continue;
        };
        let key = match after.first.is_empty() {
            true => change.before.as_ref().unwrap().first.clone(),
            false => after.first.clone(),
        };
        let value = match after.json.values().next() {
            Some(Stored::Document(document)) => Some(text(document)),
            Some(Stored::Null) => None,
            Some(Stored::Changes(diffs)) => {
                partial += 1;
                Some(apply(&before.expect("a full before image"), diffs).unwrap())
            }
            None => state[&key].clone(), // not in the image
        };
        state.insert(key, value);
    }
    eprintln!(
        "{table}: {} rows, {partial} partial updates, {with_before} before images",
        state.len()
    );
    assert!(partial > 0 && with_before > 0);
    state
}

#[test]
fn the_shop_folds_to_its_select() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let logs = [1, 2].map(|n| fixtures.join(format!("mysql-9.7-shop.00000{n}")));
    let state = fold(&logs, "shop.orders");
    let tables = std::fs::read_to_string(fixtures.join("mysql-9.7-shop.tables.tsv")).unwrap();
    let (_, orders) = tables.split_once("## orders\n").unwrap();
    let mut rows = 0;
    for line in orders.lines().skip(1).take_while(|line| !line.is_empty()) {
        let fields: Vec<&str> = line.split('\t').collect();
        let id: u64 = fields[0].parse().unwrap();
        let expected = Some(fields[7]).filter(|&text| text != "NULL");
        assert_eq!(state[&id.to_le_bytes()[..]].as_deref(), expected, "{id}");
        rows += 1;
    }
    assert_eq!(state.len(), rows);
    assert!(rows > 10);
}

#[test]
fn fresh_logs_of_mysql_97() {
    let Some(dir) = corpus() else { return };
    let mut shown = Vec::new();
    for name in [
        "mysql97_types_partialjson_minimal_payload_tag_ddl.bin",
        "mysql97_vector_json_payload_multidb.bin",
        "mysql97_fk_xa_savepoint_gipk.bin",
    ] {
        for change in changes(&dir.join("fresh").join(name)) {
            for image in [change.before, change.after].into_iter().flatten() {
                for (column, stored) in &image.json {
                    shown.push(format!("{}@{}", change.table, printed(*column, stored)));
                }
            }
        }
    }
    let document = r#"'{"a": 1, "b": [1, 2], "dec": 1.0}'"#;
    let updated = |table: &str, column: usize| {
        vec![
            format!("{table}@{document}"), // inserted
            format!("{table}@{document}"), // before
            format!("{table}@JSON_REPLACE(@{column}, '$.a', 2)"),
        ]
    };
    let null = |table: &str, count: usize| vec![format!("{table}@NULL"); count];
    let expected = [
        updated("t.f", 12),
        null("t.f", 3),
        updated("t.v", 3),
        null("t.v", 1),
    ];
    assert_eq!(shown, expected.concat());
}
