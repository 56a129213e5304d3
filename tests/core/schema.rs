//! The statements of real logs, read for the columns of tables: do the names fit the table maps, and
//! are they those that the table maps themselves tell?

use crate::support::{corpus, fixture, fixture_logs};
use datafusion_binlog::binlog::charset::charset_of;
use datafusion_binlog::binlog::event::{ColumnMetadata, Event, EventContext};
use datafusion_binlog::binlog::frame::Framer;
use datafusion_binlog::binlog::reader::read_all;
use datafusion_binlog::binlog::row::{ColumnHint, DeclaredType, TableHint};
use datafusion_binlog::schema::{History, Place, SchemaFile, may_be_ddl};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What the statements of a log tell of the tables in it.
#[derive(Debug, Default)]
struct Outcome {
    /// Number of statements that may be DDL.
    statements: usize,
    /// Why tables lost their names.
    messages: Vec<String>,
    /// Number of table maps whose columns have names, by where those come from.
    named: BTreeMap<&'static str, usize>,
    /// Number of facts of table maps that were compared with a statement's.
    compared: usize,
    /// Tables without names in some table map, and in how many; a `!` before those of which a
    /// statement tells other columns than the table map.
    unnamed: BTreeMap<String, usize>,
    /// Where a table map and a statement contradict each other.
    differences: BTreeSet<String>,
}

/// Calls `each` for the events of a log of some files.
fn events(files: &[Vec<u8>], mut each: impl FnMut(Place, &Event<'_>)) {
    for (file, log) in (0..).zip(files) {
        // Damaged and encrypted logs are other tests' affair: what is readable is read.
        let _ = read_all(Framer::new(), log.clone(), |item, block, format| {
            let at = Place {
                file,
                pos: item.pos,
                payload_index: item.payload_index,
            };
            let header = &item.header;
            if let Ok(event) =
                Event::decode(item.raw(block).body(), &EventContext { header, format })
            {
                each(at, &event);
            }
        });
    }
}

impl Outcome {
    fn of(files: &[Vec<u8>], schema_file: Option<&SchemaFile>, with_statements: bool) -> Self {
        let mut outcome = Self::default();
        let mut builder = History::builder(schema_file);
        events(files, |at, event| {
            if let (Event::Query(query), true) = (event, with_statements) {
                outcome.statements += usize::from(query.text().is_ok_and(|t| may_be_ddl(&t.text)));
                outcome.messages.extend(builder.query(at, query));
            }
        });
        let history = builder.finish();
        events(files, |at, event| {
            let Event::TableMap(map) = event else { return };
            let (Ok(metadata), Ok(types)) = (map.columns(), map.types()) else {
                return;
            };
            let (schema, table) = (text(map.schema), text(map.table));
            let Some(hint) = history.hint(&schema, &table, at, &types) else {
                let declared = history.is_declared(&schema, &table, at);
                let name = format!("{}{schema}.{table}", if declared { "!" } else { "" });
                *outcome.unnamed.entry(name).or_default() += 1;
                return;
            };
            *outcome.named.entry(hint.source.name()).or_default() += 1;
            let differences = differences(&hint, &metadata.columns, &mut outcome.compared);
            let differences = differences.map(|d| format!("{schema}.{table}: {d}"));
            outcome.differences.extend(differences);
            if !metadata.primary_key.is_empty() && metadata.primary_key != hint.primary_key {
                outcome.differences.insert(format!(
                    "{schema}.{table}: key {:?}, but the table map has {:?}",
                    hint.primary_key, metadata.primary_key
                ));
            }
        });
        outcome
    }

    fn named(&self) -> usize {
        self.named.values().sum()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// What a statement and a table map say differently.
fn differences(
    hint: &TableHint,
    columns: &[ColumnMetadata<'_>],
    compared: &mut usize,
) -> impl Iterator<Item = String> {
    let mut found = Vec::new();
    for (hint, column) in hint.columns.iter().zip(columns) {
        let name = &hint.name;
        let mut check = |what: &str, hinted: Option<String>, told: Option<String>| {
            if let (Some(hinted), Some(told)) = (hinted, told) {
                *compared += 1;
                if hinted != told {
                    found.push(format!(
                        "{name}: {what} {hinted}, but the table map has {told}"
                    ));
                }
            }
        };
        check("name", Some(name.clone()), column.name.map(text));
        check(
            "unsigned",
            Some(hint.unsigned.to_string()),
            column.unsigned.map(|u| u.to_string()),
        );
        check(
            "visible",
            Some(hint.visible.to_string()),
            column.visible.map(|v| v.to_string()),
        );
        // Of TIMESTAMP it depends on the server's configuration.
        if !matches!(hint.ty, DeclaredType::Timestamp(_)) {
            check(
                "nullable",
                Some(hint.nullable.to_string()),
                column.nullable.map(|n| n.to_string()),
            );
        }
        let charset = |id: Option<u16>| id.and_then(charset_of).map(|c| c.name.to_owned());
        check("charset", charset(hint.collation), charset(column.charset));
        check(
            "labels",
            Some(format!("{:?}", hint.labels)),
            labels(hint, column),
        );
    }
    found.into_iter()
}

fn labels(hint: &ColumnHint, column: &ColumnMetadata<'_>) -> Option<String> {
    let charset = charset_of(column.charset.or(hint.collation)?)?;
    let labels = column.labels.as_ref()?.iter();
    let labels: Vec<_> = labels.map(|label| charset.decode(label).unwrap()).collect();
    Some(format!("{labels:?}"))
}

/// Of these the table map tells more than the statement.
const EXPECTED_DIFFERENCES: &[&str] = &[
    // SERIAL is a unique key; where there is no primary key, the table map tells it as such.
    "d1.ints: key [], but the table map has [(14, None)]",
    "dtb.foo: key [], but the table map has [(0, None)]",
    "dtb.bar: key [], but the table map has [(0, None)]",
    // Its key is over a period of two columns.
    "d1.per: key [], but the table map has [(0, None), (2, None), (1, None)]",
    "d1.per: id: nullable true, but the table map has false",
    "d1.per: s: nullable true, but the table map has false",
    "d1.per: e: nullable true, but the table map has false",
];

fn check_differences(name: &str, outcome: &Outcome) {
    let mut unexpected = outcome.differences.iter();
    let unexpected = unexpected.find(|d| !EXPECTED_DIFFERENCES.contains(&d.as_str()));
    assert_eq!(unexpected, None, "{name}: {outcome:#?}");
}

/// The fixtures by instance: a log of some files.
fn instances() -> BTreeMap<String, Vec<Vec<u8>>> {
    let mut instances: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
    for name in fixture_logs() {
        let (instance, _) = name.rsplit_once('.').unwrap();
        let log = std::fs::read(fixture(&name)).unwrap();
        instances.entry(instance.to_owned()).or_default().push(log);
    }
    instances
}

#[test]
fn fixtures_are_named_by_their_own_statements() {
    let (mut named, mut compared) = (0, 0);
    for (instance, files) in instances() {
        let outcome = Outcome::of(&files, None, true);
        check_differences(&instance, &outcome);
        assert!(outcome.messages.is_empty(), "{instance}: {outcome:#?}");
        for table in outcome.unnamed.keys() {
            // MariaDB adds a hidden column for a unique key over a long text.
            assert_eq!(table, "!d1.uq", "{instance}: {outcome:#?}");
        }
        named += outcome.named();
        compared += outcome.compared;
    }
    println!("{named} table maps named, {compared} facts compared");
    assert!(named >= 350 && compared >= 5500, "{named}, {compared}");
}

/// The dump is from after the log: it names the tables as they are in the end, and never wrongly.
#[test]
fn dumps_name_the_tables_that_they_show() {
    let mut dumps = 0;
    for (instance, files) in instances() {
        let Ok(dump) = std::fs::read_to_string(fixture(&format!("{instance}.dump.sql"))) else {
            continue;
        };
        dumps += 1;
        let file = SchemaFile::parse(&dump, None).unwrap();
        assert!(file.problems().is_empty(), "{:?}", file.problems());
        let mut alone = Outcome::of(&files, Some(&file), false);
        // Two columns swap their names in the log, which is not looked at here.
        alone
            .differences
            .retain(|difference| !difference.starts_with("d1.m1: "));
        check_differences(&instance, &alone);
        let tables: BTreeSet<String> = file.table_names().map(ToString::to_string).collect();
        assert!(tables.len() >= 26, "{tables:?}");
        assert!(alone.named() >= 28, "{instance}: {alone:#?}");
        for table in alone.unnamed.keys() {
            // Either it was dropped or renamed, or it changed after some of its table maps.
            let changed = ["al2", "dflt", "m1", "mv", "s1", "uq", "vers", "wide"];
            let known = changed.map(|table| format!("!d1.{table}")).contains(table);
            assert!(
                known || !tables.contains(table),
                "{instance}, {table}: {alone:#?}"
            );
        }
        // What the log tells itself is not worse for a schema file from after it.
        let both = Outcome::of(&files, Some(&file), true);
        check_differences(&instance, &both);
        let unnamed: Vec<_> = both
            .unnamed
            .keys()
            .filter(|table| *table != "!d1.uq")
            .collect();
        assert!(unnamed.is_empty(), "{instance}: {both:#?}");
    }
    assert_eq!(dumps, 4);
}

#[test]
fn the_corpus_is_named_by_its_own_statements() {
    let Some(corpus) = corpus() else { return };
    let manifest = std::fs::read_to_string(corpus.join("MANIFEST.tsv")).unwrap();
    let (mut named, mut compared, mut statements) = (0, 0, 0);
    let (mut mismatched, mut undeclared) = (BTreeSet::new(), 0);
    for line in manifest.lines().skip(1) {
        let path = line.split('\t').next().unwrap();
        let log = std::fs::read(corpus.join(path)).unwrap();
        let outcome = Outcome::of(&[log], None, true);
        check_differences(path, &outcome);
        assert!(outcome.messages.is_empty(), "{path}: {outcome:#?}");
        statements += outcome.statements;
        named += outcome.named();
        compared += outcome.compared;
        let file = Path::new(path).file_name().unwrap().to_str().unwrap();
        for (table, maps) in outcome.unnamed {
            match table.strip_prefix('!') {
                Some(table) => {
                    mismatched.insert(format!("{file} {table}"));
                }
                None => undeclared += maps,
            }
        }
    }
    println!(
        "{statements} statements; {named} table maps named, {undeclared} of tables that no statement declares, {compared} facts compared"
    );
    // A hidden column of a functional index stands between the others (before MySQL 8.0.18).
    assert_eq!(
        mismatched,
        BTreeSet::from(["rpl_unfiltered_hidden_gcol.000001 test.t".to_owned()])
    );
    assert_eq!((named, undeclared), (8975, 137));
    assert!(
        statements >= 666 && compared >= 81_000,
        "{statements}, {compared}"
    );
}
