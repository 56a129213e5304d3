//! Every event of every log decodes, or is a problem that is expected of that log.

use crate::support::{corpus, fixture_logs, fixtures};
use datafusion_binlog::binlog::fields::Checker;
use datafusion_binlog::binlog::frame::Framer;
use datafusion_binlog::binlog::problem::ProblemKind::{
    self, BadChecksum, BadEvent, Encrypted, Truncated, UndecodedValue, UnknownEvent,
};
use datafusion_binlog::binlog::problem::{Problem, Severity};
use datafusion_binlog::binlog::reader::read_all;
use std::collections::{BTreeMap, BTreeSet};

/// All problems of a log: what `problems` shows of it.
fn check(bytes: &[u8]) -> Result<Vec<Problem>, String> {
    let mut checker = Checker::default();
    let mut problems = Vec::new();
    let framer = Framer::new().with_verify(true);
    let framing = read_all(framer, bytes.to_vec(), |item, block, format| {
        problems.extend(checker.check(&item.raw(block), item.payload_index, format));
    })
    .map_err(|error| error.to_string())?;
    problems.extend(framing);
    problems.sort_by_key(|problem| (problem.pos, problem.payload_index));
    Ok(problems)
}

/// The problems of the logs of this project: file, kind, how often, why.
const OF_FIXTURES: &[(&str, ProblemKind, usize, &str)] = &[
    (
        "mariadb-10.11-encrypted.000001",
        Encrypted,
        1,
        "all behind START_ENCRYPTION",
    ),
    ("mariadb-10.11-shop.000002", UndecodedValue, 1, LATIN1),
    ("mariadb-10.5-shop.000002", UndecodedValue, 1, LATIN1),
    ("mariadb-11.8-shop.000002", UndecodedValue, 1, LATIN1),
    ("mysql-9.7-shop.000002", UndecodedValue, 1, LATIN1),
];

const LATIN1: &str = "ANNOTATE_ROWS, ROWS_QUERY: text in latin1, which no event tells";
const PRE_GA: &str = "the length of a row is in the table's definition, which is not in the log";
const LOG_POS: &str = "the log was tampered with: one log_pos is not its place";
const TAMPERED: &str = "the log was tampered with: one checksum does not fit";

/// The problems of the public logs.
const OF_CORPUS: &[(&str, ProblemKind, usize, &str)] = &[
    (
        "std_data/binlog_before_20574.bin",
        Encrypted,
        1,
        "EXPECTED.md §10: START_ENCRYPTION at 256",
    ),
    (
        "MariaDB__server/std_data/master-bin.000001",
        BadEvent,
        1,
        "the first event says log_pos 1",
    ),
    (
        "mdev-39404-binlog.000001",
        BadEvent,
        2,
        "made to break readers: XID parts of 170 and 187 bytes, and a log_pos",
    ),
    ("trunc_binlog.000001", BadEvent, 1, LOG_POS),
    ("suite/binlog/std_data/bug32407.001", BadEvent, 2, PRE_GA),
    (
        "invalid_row_v2_tag.001",
        BadChecksum,
        1,
        "its format description was edited",
    ),
    (
        "invalid_row_v2_tag.001",
        BadEvent,
        3,
        "made to break readers: three rows events with bad extra information",
    ),
    (
        "binlog_truncated_event.000001",
        Truncated,
        1,
        "as its name says",
    ),
    (
        "binlog_truncated_prev_gtid_event.000001",
        Truncated,
        1,
        "as its name says, in use",
    ),
    ("ver_5_1-wl2325_r.001", BadEvent, 3, PRE_GA),
    (
        "ver_5_1-wl2325_s.001",
        BadEvent,
        1,
        "a pre-release server that wrote log_pos otherwise",
    ),
    (
        "binlog_no_fd_event.000001",
        UnknownEvent,
        1,
        "no format description but an event of type 48",
    ),
    ("binlog_no_fd_event.000001", BadEvent, 1, "as its name says"),
    ("duplicate_xid.000001", BadChecksum, 1, TAMPERED),
    ("duplicate_xid_ddl.000001", BadChecksum, 1, TAMPERED),
    ("duplicate_xid_xa_commit.000001", BadEvent, 1, LOG_POS),
    ("duplicate_xid_xa_prepare.000001", BadChecksum, 1, TAMPERED),
    ("malformed_xid_xa_rollback.000001", BadChecksum, 1, TAMPERED),
    ("orphan_commit.000001", BadEvent, 1, LOG_POS),
    ("orphan_rollback.000001", BadEvent, 1, LOG_POS),
    ("orphan_xa_commit.000001", BadEvent, 1, LOG_POS),
    ("orphan_xa_prepare.000001", BadEvent, 1, LOG_POS),
    ("orphan_xa_rollback.000001", BadEvent, 1, LOG_POS),
    ("orphan_xid.000001", BadEvent, 1, LOG_POS),
    (
        "mysql-bin.aurora-padding",
        UnknownEvent,
        1,
        "EXPECTED.md §3: type 100, ignorable",
    ),
];

/// Said once of each column of which no table map tells what it is, where that makes a difference:
/// most logs that are older than such metadata have some, and they are not counted.
const NOT_TOLD: &str = "the log does not tell";

/// Logs that MySQL encrypted: not one event can be read.
const ENCRYPTED: &[&str] = &["mysql-9.7-encrypted.000001"];

/// Asserts that a log has the problems of `table` and no other.
fn assert_problems(
    name: &str,
    bytes: &[u8],
    table: &[(&str, ProblemKind, usize, &str)],
    met: &mut BTreeSet<String>,
) {
    let problems = match check(bytes) {
        Ok(problems) => problems,
        Err(error) => {
            assert!(
                ENCRYPTED.iter().any(|end| name.ends_with(end)),
                "{name}: {error}"
            );
            assert_eq!(
                error,
                "the log is encrypted by MySQL; read it from the server that wrote it"
            );
            met.insert(name.to_owned());
            return;
        }
    };
    let mut have: BTreeMap<ProblemKind, usize> = BTreeMap::new();
    let untold = |problem: &&Problem| problem.message.contains(NOT_TOLD);
    for problem in problems.iter().filter(untold) {
        assert_eq!(
            (problem.kind, problem.severity),
            (UndecodedValue, Severity::Warning)
        );
    }
    for problem in problems.iter().filter(|problem| !untold(problem)) {
        *have.entry(problem.kind).or_default() += 1;
    }
    let want: BTreeMap<ProblemKind, usize> = table
        .iter()
        .filter(|row| name.ends_with(row.0))
        .map(|&(_, kind, count, _)| (kind, count))
        .collect();
    assert_eq!(have, want, "{name}: {problems:#?}");
    if !want.is_empty() {
        met.insert(name.to_owned());
    }
    for problem in problems {
        assert!(problem.length > 0, "{name}: {problem}");
        assert!(!problem.message.contains('\n'), "{name}: {problem}");
        let end = problem.pos + problem.length;
        assert!(end <= bytes.len() as u64, "{name}: {problem}");
    }
}

/// Asserts that each row of a table was of use.
fn assert_all_met(table: &[(&str, ProblemKind, usize, &str)], met: &BTreeSet<String>) {
    for (name, ..) in table {
        let files = met.iter().filter(|path| path.ends_with(name)).count();
        assert_eq!(files, 1, "{name} in {met:?}");
    }
}

#[test]
fn every_event_of_the_fixtures_decodes() {
    let mut met = BTreeSet::new();
    for name in fixture_logs() {
        let bytes = std::fs::read(fixtures().join(&name)).unwrap();
        assert_problems(&name, &bytes, OF_FIXTURES, &mut met);
    }
    assert_all_met(OF_FIXTURES, &met);
    assert!(met.contains("mysql-9.7-encrypted.000001"));
}

#[test]
fn a_log_that_the_server_decrypted_has_no_problem() {
    for name in ["mysql-9.7-encrypted", "mariadb-10.11-encrypted"] {
        let bytes = std::fs::read(fixtures().join(format!("{name}.000001.plain"))).unwrap();
        assert_eq!(check(&bytes).unwrap(), [], "{name}");
    }
}

#[test]
fn every_event_of_the_corpus_decodes() {
    let Some(corpus) = corpus() else { return };
    let manifest = std::fs::read_to_string(corpus.join("MANIFEST.tsv")).unwrap();
    let mut met = BTreeSet::new();
    let mut files = 0;
    for line in manifest.lines().skip(1) {
        let path = line.split('\t').next().unwrap();
        let bytes = std::fs::read(corpus.join(path)).unwrap();
        assert_problems(path, &bytes, OF_CORPUS, &mut met);
        files += 1;
    }
    assert!(files >= 160, "{files}");
    assert_all_met(OF_CORPUS, &met);
}
