//! Replay equals SELECT: changes are run on real servers, and their logs, folded by key, must be
//! the tables that the servers show.
//!
//! ```text
//! seed ─▶ workload ─▶ script.sql ─▶ run.sh SERVER ─▶ answers.tsv ──▶ rows that SELECT showed ─┐
//!                                        │                                                    ├─ equal?
//!                                        └────────▶ logs ─▶ changes ─▶ fold by key ───────────┘
//! ```
//!
//! `REPLAY_SEED` and `REPLAY_CHANGES` (row changes for each server) ask for another or a longer
//! run; `REPLAY_SERVER` for one server; `REPLAY_KEEP=DIR` keeps scripts, answers and logs.

mod alter;
mod answers;
mod bare;
mod canon;
mod changes;
mod edges;
mod fold;
mod json;
mod model;
#[cfg(feature = "cli")]
mod objects;
mod random;
#[cfg(feature = "cli")]
mod relations;
#[cfg(feature = "cli")]
mod typed;
mod types;
mod values;
mod workload;

use bare::Bare;
use canon::ZeroDates;
use fold::Report;
use std::io::Write;
use types::Server;
use workload::Workload;

fn number(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name}={text} is no number")),
        Err(_) => default,
    }
}

fn replay(server: Server) {
    if std::env::var("REPLAY_SERVER").is_ok_and(|only| only != server.name()) {
        return;
    }
    if let Some(missing) = answers::missing(server) {
        say(&format!(
            "SKIPPED: replay on {} needs {missing}",
            server.name()
        ));
        return;
    }
    let (seed, size) = (number("REPLAY_SEED", 1), number("REPLAY_CHANGES", 1500));
    let workload = Workload::new(server, seed, size as usize);
    let temporary = tempfile::tempdir().unwrap();
    let directory = match std::env::var_os("REPLAY_KEEP") {
        Some(keep) => std::path::PathBuf::from(keep).join(server.name()),
        None => temporary.path().to_owned(),
    };
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    let answers = answers::run(&workload, &directory);
    let mut bare = Bare::read(server.name(), &answers.logs);
    let report = fold::check(&workload, &answers, &mut bare, ZeroDates::Text);
    print(server, seed, "decoder", &report, answers.refused);
    #[cfg(feature = "cli")]
    for (zero, odd) in [(ZeroDates::Text, 0), (ZeroDates::Null, 1)] {
        let session = relations::Session::open(&answers.logs, zero);
        if zero == ZeroDates::Text {
            let mut objects = objects::Objects::read(server.name(), &session).unwrap();
            let report = fold::check(&workload, &answers, &mut objects, zero);
            print(server, seed, "relation changes", &report, answers.refused);
        }
        // Half of the tables in each way, the other half with the next seed.
        let odd = (seed + odd) % 2 == 1;
        let mut typed = typed::Typed::new(server.name(), &session, zero, odd);
        let report = fold::check(&workload, &answers, &mut typed, zero);
        let what = format!("relations of tables, zero dates as {zero:?}");
        print(server, seed, &what, &report, answers.refused);
        let problems = session.problems();
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }
}

/// Tells it where the test runner does not keep it to itself.
fn say(what: &str) {
    let _ = writeln!(std::io::stderr(), "{what}");
}

/// Prints what was compared, and fails on what differs.
fn print(server: Server, seed: u64, what: &str, report: &Report, refused: usize) {
    let list = |counts: &std::collections::BTreeMap<String, u64>| {
        let each: Vec<String> = counts
            .iter()
            .map(|(name, count)| format!("{name} {count}"))
            .collect();
        each.join(", ")
    };
    say(&format!(
        "replay {} seed {seed}, {what}: {} changes ({refused} statements refused), {} values as SELECT shows them, {} values \
         of before images, {} not in the log\n  by type: {}\n  by character set: {}",
        server.name(),
        report.changes,
        report.values.values().sum::<u64>(),
        report.before,
        report.unknown,
        list(&report.values),
        list(&report.charsets)
    ));
    let shown: Vec<&str> = report
        .differences
        .iter()
        .take(40)
        .map(String::as_str)
        .collect();
    assert!(
        report.differences.is_empty(),
        "{} seed {seed}: {} differences\n{}",
        server.name(),
        report.differences.len(),
        shown.join("\n")
    );
}

#[test]
fn mysql_9_7() {
    replay(Server::MySql97);
}

#[test]
fn mariadb_10_5() {
    replay(Server::MariaDb105);
}

#[test]
fn mariadb_10_11() {
    replay(Server::MariaDb1011);
}

#[test]
fn mariadb_11_8() {
    replay(Server::MariaDb118);
}
