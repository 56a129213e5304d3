//! The relations against what the servers themselves show of the same logs, and against each other.

use crate::support::{cells, fixtures, number, over, query};
use datafusion::prelude::SessionContext;
use std::collections::BTreeMap;

/// Names of event types in `SHOW BINLOG EVENTS`, as the column `type` has them.
fn type_name(shown: &str) -> String {
    match shown {
        "Format_desc" => "FORMAT_DESCRIPTION".to_owned(),
        "Gtid_tagged_log_event" => "GTID_TAGGED".to_owned(),
        "Update_rows_partial" => "PARTIAL_UPDATE_ROWS".to_owned(),
        other => other.to_uppercase().replace(' ', "_"),
    }
}

/// Every fixture that has the server's own list of its events beside it, unless it is encrypted.
fn listed() -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(fixtures())
        .unwrap()
        .filter_map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            Some(name.strip_suffix(".events.tsv")?.to_owned())
        })
        .filter(|name| !name.contains("encrypted"))
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn events_are_those_that_the_server_shows() {
    let names = listed();
    assert_eq!(names.len(), 32);
    for name in &names {
        let ctx = over(&[name]).await;
        let sql = "select case when payload_index is null then pos else end_pos end, type, \
                   server_id, log_pos, payload_index from binlog";
        let ours = cells(&query(&ctx, sql).await);
        let text = std::fs::read(fixtures().join(format!("{name}.events.tsv"))).unwrap();
        let text = String::from_utf8_lossy(&text);
        let theirs: Vec<Vec<&str>> = text
            .lines()
            .skip(1)
            .map(|line| line.split('\t').collect())
            .collect();
        assert_eq!(ours.len(), theirs.len(), "{name}: number of events");
        for (ours, theirs) in ours.iter().zip(&theirs) {
            let at = format!("{name} @ {}", ours[0]);
            assert_eq!(ours[0], theirs[1], "{at}: pos");
            assert_eq!(ours[1], type_name(theirs[2]), "{at}: type");
            assert_eq!(ours[2], theirs[3], "{at}: server_id");
            // Inside a payload the server shows where the payload ends; the events have no place.
            if ours[4] == "NULL" {
                assert_eq!(ours[3], theirs[4], "{at}: log_pos");
            }
        }
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Reads every table of a log whole, and checks that together they have the rows of `changes`. The
/// answer is how many tables and rows there are.
pub async fn read_tables(ctx: &SessionContext, name: &str) -> (usize, usize) {
    let sql = "select schema_name, table_name, count(*) from changes group by 1, 2";
    let counted = cells(&query(ctx, sql).await);
    let sql = "select distinct schema_name, table_name from tables";
    let known = cells(&query(ctx, sql).await).into_iter();
    let mut known: BTreeMap<(String, String), usize> = known
        .map(|row| ((row[0].clone(), row[1].clone()), 0))
        .collect();
    for row in counted {
        let key = (row[0].clone(), row[1].clone());
        let count = known.get_mut(&key);
        let count = count.unwrap_or_else(|| panic!("{name}: {key:?} is not in `tables`"));
        *count = row[2].parse().unwrap();
    }
    for ((schema, table), count) in &known {
        let relation = format!("{}.{}", quoted(schema), quoted(table));
        let batches = query(ctx, &format!("select * from {relation}")).await;
        let found: usize = batches.iter().map(|batch| batch.num_rows()).sum();
        assert_eq!(found, *count, "{name}: {relation}");
        assert!(batches.iter().all(|batch| batch.num_rows() <= 8192));
        // Without a value is what the log does not have, or NULL; the two are told apart.
        let sql = format!("select count(*) from {relation} where _missing is null");
        assert_eq!(number(ctx, &sql).await, 0, "{name}: {relation}");
    }
    // And all columns of `changes`.
    let batches = query(ctx, "select * from changes").await;
    let rows: usize = batches.iter().map(|batch| batch.num_rows()).sum();
    assert_eq!(rows, known.values().sum::<usize>(), "{name}");
    (known.len(), rows)
}

#[tokio::test]
async fn every_table_of_every_fixture_can_be_read_whole() {
    let (mut tables, mut rows) = (0, 0);
    for name in &listed() {
        let read = read_tables(&over(&[name]).await, name).await;
        (tables, rows) = (tables + read.0, rows + read.1);
    }
    println!("{tables} tables, {rows} rows");
    assert!(tables > 150 && rows > 3000, "{tables} tables, {rows} rows");
}
