//! Every public log of the corpus: its events are those that its manifest counts.

use crate::support::{Census, corpus, histogram};
use datafusion_binlog::binlog::problem::ProblemKind;
use std::collections::BTreeMap;

/// The manifest's names of event types, where they are not ours.
const NAMES: &[(&str, u8)] = &[
    ("FDE", 15),
    ("START_V3", 1),
    ("QUERY", 2),
    ("STOP", 3),
    ("ROTATE", 4),
    ("INTVAR", 5),
    ("CREATE_FILE", 8),
    ("APPEND_BLOCK", 9),
    ("EXEC_LOAD", 10),
    ("RAND", 13),
    ("USER_VAR", 14),
    ("XID", 16),
    ("BEGIN_LOAD_QUERY", 17),
    ("EXECUTE_LOAD_QUERY", 18),
    ("TABLE_MAP", 19),
    ("PRE_GA_WRITE_ROWS", 20),
    ("PRE_GA_UPDATE_ROWS", 21),
    ("PRE_GA_DELETE_ROWS", 22),
    ("WRITE_ROWS_V1", 23),
    ("UPDATE_ROWS_V1", 24),
    ("DELETE_ROWS_V1", 25),
    ("INCIDENT", 26),
    ("ROWS_QUERY", 29),
    ("WRITE_ROWS_V2", 30),
    ("UPDATE_ROWS_V2", 31),
    ("DELETE_ROWS_V2", 32),
    ("GTID", 33),
    ("ANON_GTID", 34),
    ("PREVIOUS_GTIDS", 35),
    ("XA_PREPARE", 38),
    ("PARTIAL_UPDATE_ROWS", 39),
    ("TXN_PAYLOAD", 40),
    ("GTID_TAGGED", 42),
    ("type48", 48),
    ("type100", 100),
    ("M_ANNOTATE_ROWS", 160),
    ("M_BINLOG_CHECKPOINT", 161),
    ("M_GTID", 162),
    ("M_GTID_LIST", 163),
    ("M_START_ENCRYPTION", 164),
];

fn counts(field: &str) -> BTreeMap<u8, u64> {
    // Remarks on flags and positions stand between the counts, in parentheses.
    let mut plain = String::new();
    let mut depth = 0;
    for c in field.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            c if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    plain
        .split_whitespace()
        .filter_map(|entry| {
            let (name, n) = entry.rsplit_once(':')?;
            if name.is_empty() {
                return None;
            }
            let code = NAMES
                .iter()
                .find(|(known, _)| *known == name)
                .unwrap_or_else(|| panic!("the manifest names an event type {name}"))
                .1;
            Some((code, n.parse().unwrap()))
        })
        .collect()
}

/// Logs of pre-release servers that numbered event types otherwise. The manifest counts the codes
/// as they stand in the log; these are what they meant (EXPECTED.md §7, the MariaDB oracle texts).
const OLD_NUMBERING: &[&str] = &["ver_5_1-wl2325_r.001", "ver_5_1-wl2325_s.001"];

fn todays_code(code: u8) -> u8 {
    match code {
        16..=19 => code + 3,
        20..=22 => code - 4,
        _ => code,
    }
}

#[test]
fn events_of_every_file_are_those_of_the_manifest() {
    let Some(corpus) = corpus() else { return };
    let manifest = std::fs::read_to_string(corpus.join("MANIFEST.tsv")).unwrap();
    let mut lines = manifest.lines();
    let header: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let column = |name: &str| header.iter().position(|h| *h == name).unwrap();
    let (outer, inner) = (column("event_histogram"), column("payload_inner_histogram"));
    let mut failures = Vec::new();
    let mut files = 0;
    let mut events = 0;
    for line in lines {
        let fields: Vec<&str> = line.split('\t').collect();
        let path = corpus.join(fields[0]);
        let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let census = match Census::of(&bytes) {
            Ok(census) => census,
            Err(error) => {
                if bytes.starts_with(b"\xfdbin") && error.contains("encrypted") {
                    continue;
                }
                failures.push(format!("{}: {error}", fields[0]));
                continue;
            }
        };
        files += 1;
        events += census.outer.values().sum::<u64>();
        let (mut want_outer, want_inner) = (counts(fields[outer]), counts(fields[inner]));
        if OLD_NUMBERING.iter().any(|name| fields[0].ends_with(name)) {
            want_outer = want_outer
                .into_iter()
                .map(|(code, n)| (todays_code(code), n))
                .collect();
        }
        if census.outer != want_outer || census.inner != want_inner {
            failures.push(format!(
                "{}\n   have {} / {}\n   want {} / {}\n   {:?}",
                fields[0],
                histogram(&census.outer),
                histogram(&census.inner),
                histogram(&want_outer),
                histogram(&want_inner),
                census.problems
            ));
        } else {
            for p in &census.problems {
                eprintln!("{}: {p}", fields[0]);
            }
        }
    }
    println!("{files} files, {events} events");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let _ = ProblemKind::Truncated;
}
