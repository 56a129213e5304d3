//! The relation `binlog` against what the servers themselves show of the same logs.

use crate::support::{cells, fixtures, over, query};

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
    assert_eq!(names.len(), 28);
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
