//! Cut, flipped and forged logs: never a panic, never an endless loop, memory bounded, and every
//! event that was not touched is still there.

use crate::forge::{Forge, query, xid};
use crate::support::{corpus_file, decode_log, fixture, peak_of};
use datafusion_binlog::binlog::frame::{Framer, TypeSet};
use datafusion_binlog::binlog::problem::{Problem, ProblemKind, Severity};
use datafusion_binlog::binlog::reader::{EventReader, Next, read_all};
use proptest::prelude::*;

/// Small logs of each kind: with and without checksums, of both vendors, positions of their own,
/// of another file, and none.
const LOGS: &[&str] = &[
    "mysql-9.7-anonymous.000001",
    "mysql-9.7-payload.000001",
    "mysql-9.7-nochecksum.000001",
    "mysql-9.7-relay.000002",
    "mariadb-10.11-nochecksum.000001",
    "mariadb-10.11-relay.000002",
    "mariadb-11.8-shop.000002",
];

#[derive(Debug, Clone, PartialEq)]
struct Seen {
    pos: u64,
    end: u64,
    type_code: u8,
    payload_index: Option<u32>,
}

fn read(bytes: &[u8], verify: bool) -> Result<(Vec<Seen>, Vec<Problem>), String> {
    let mut seen = Vec::new();
    let framer = Framer::new().with_verify(verify);
    let problems = read_all(framer, bytes.to_vec(), |item, _, _| {
        seen.push(Seen {
            pos: item.pos,
            end: item.end_pos,
            type_code: item.header.type_code,
            payload_index: item.payload_index,
        });
    })
    .map_err(|error| error.to_string())?;
    Ok((seen, problems))
}

fn outer(seen: &[Seen]) -> Vec<Seen> {
    let outer = seen.iter().filter(|event| event.payload_index.is_none());
    outer.cloned().collect()
}

#[test]
fn a_log_cut_at_every_byte_gives_its_whole_events_and_names_the_cut() {
    for name in LOGS {
        let log = std::fs::read(fixture(name)).unwrap();
        let (all, problems) = read(&log, false).unwrap();
        assert_eq!(problems, [], "{name}");
        let all = outer(&all);
        for cut in 0..log.len() {
            let result = read(&log[..cut], false);
            if cut < 4 {
                assert!(result.unwrap_err().contains("not a binary log"), "{name}");
                continue;
            }
            let (seen, problems) = result.unwrap();
            let whole: Vec<Seen> = all
                .iter()
                .filter(|event| event.end <= cut as u64)
                .cloned()
                .collect();
            assert_eq!(outer(&seen), whole, "{name} cut at {cut}: {problems:?}");
            let end = whole.last().map_or(4, |event| event.end);
            if end == cut as u64 {
                assert_eq!(problems, [], "{name} cut at {cut}, between two events");
            } else {
                let [problem] = problems.as_slice() else {
                    panic!("{name} cut at {cut}: {problems:?}");
                };
                assert_eq!(problem.kind, ProblemKind::Truncated, "{name} cut at {cut}");
                assert_eq!(problem.pos, end, "{name} cut at {cut}");
                assert_eq!(problem.length, cut as u64 - end, "{name} cut at {cut}");
            }
        }
    }
}

#[test]
fn a_log_that_is_in_use_ends_quietly() {
    let log = std::fs::read(fixture("mysql-9.7-inuse.000001")).unwrap();
    let (seen, problems) = read(&log[..log.len() - 5], true).unwrap();
    assert!(seen.len() > 5);
    let [problem] = problems.as_slice() else {
        panic!("{problems:?}");
    };
    assert_eq!(problem.kind, ProblemKind::Truncated);
    assert_eq!(problem.severity, Severity::Info);
}

#[test]
fn with_every_byte_flipped_in_turn_the_untouched_events_are_still_there() {
    for name in LOGS {
        let log = std::fs::read(fixture(name)).unwrap();
        let all = outer(&read(&log, false).unwrap().0);
        for at in 4..log.len() {
            let mut flipped = log.clone();
            flipped[at] ^= [0x01, 0xff, 0x80][at % 3];
            let (seen, problems) = read(&flipped, true).unwrap();
            let at = at as u64;
            for event in &all {
                if event.pos <= at && at < event.end {
                    continue;
                }
                assert!(
                    seen.contains(event),
                    "{name}, byte {at} flipped: {event:?} is lost; {problems:?}"
                );
            }
            // With a checksum every flip is noticed, and the problem names the place. Only the
            // in-use flag is not covered: the server clears it in place when it closes the log.
            let in_use_flag = all.iter().any(|event| {
                let flags = event.pos + 17;
                event.type_code == 15 && at == flags && flipped[at as usize] ^ log[at as usize] == 1
            });
            if !name.contains("nochecksum") && !in_use_flag {
                assert!(
                    problems
                        .iter()
                        .any(|p| p.pos <= at && at < p.pos + p.length),
                    "{name}, byte {at} flipped: {problems:?}"
                );
            }
        }
    }
}

#[test]
fn a_flipped_magic_is_not_a_binary_log() {
    let log = std::fs::read(fixture(LOGS[0])).unwrap();
    for at in 0..4 {
        let mut flipped = log.clone();
        flipped[at] ^= 0x10;
        assert!(read(&flipped, false).is_err());
    }
}

/// Reads a log pushed in pieces, as it comes over a wire.
fn read_in_pieces(log: &[u8], mut piece: impl FnMut() -> usize) -> Vec<Seen> {
    let mut reader = EventReader::new(Framer::new());
    let mut seen = Vec::new();
    let mut rest = log;
    loop {
        match reader.next().unwrap() {
            Next::Event(item) => seen.push(Seen {
                pos: item.pos,
                end: item.end_pos,
                type_code: item.header.type_code,
                payload_index: item.payload_index,
            }),
            Next::Problem(problem) => panic!("{problem}"),
            Next::NeedMore { .. } if rest.is_empty() => reader.finish(),
            Next::NeedMore { .. } => {
                let (head, tail) = rest.split_at(piece().clamp(1, rest.len()));
                reader.push(head);
                rest = tail;
            }
            Next::End => return seen,
        }
    }
}

#[test]
fn pieces_of_any_size_give_the_same_events() {
    for name in LOGS {
        let log = std::fs::read(fixture(name)).unwrap();
        let all = read(&log, false).unwrap().0;
        for size in [1, 2, 3, 7, 18, 19, 20, 100, 1000, 100_000] {
            assert_eq!(
                read_in_pieces(&log, || size),
                all,
                "{name} in pieces of {size}"
            );
        }
    }
}

#[test]
fn a_forged_length_of_4_gib_takes_no_memory_and_no_other_event() {
    for name in ["mysql-9.7-anonymous.000001", "mysql-9.7-nochecksum.000001"] {
        let mut log = std::fs::read(fixture(name)).unwrap();
        let all = read(&log, false).unwrap().0;
        let third = &all[2];
        let others: Vec<Seen> = all
            .iter()
            .filter(|event| *event != third)
            .cloned()
            .collect();
        let size = third.pos as usize + 9;
        log[size..size + 4].copy_from_slice(&0xffff_fff0u32.to_le_bytes());
        for fitting in [false, true] {
            if fitting {
                // Only the missing bytes speak against it.
                let log_pos = (third.pos as u32).wrapping_add(0xffff_fff0);
                log[size + 4..size + 8].copy_from_slice(&log_pos.to_le_bytes());
            }
            for length in [None, Some(log.len() as u64)] {
                let mut reader = EventReader::new(Framer::new().with_length(length));
                let mut rest = log.as_slice();
                let (mut seen, mut problems) = (Vec::new(), Vec::new());
                let grown = peak_of(|| {
                    loop {
                        match reader.next().unwrap() {
                            Next::NeedMore { .. } if rest.is_empty() => reader.finish(),
                            Next::NeedMore { .. } => reader.push(std::mem::take(&mut rest)),
                            Next::End => break,
                            Next::Event(item) => seen.push(Seen {
                                pos: item.pos,
                                end: item.end_pos,
                                type_code: item.header.type_code,
                                payload_index: item.payload_index,
                            }),
                            Next::Problem(problem) => problems.push(problem),
                        }
                    }
                });
                let at = format!("{name}, {fitting}, {length:?}: {problems:?}");
                assert!(grown < 64 << 20, "{at}: {grown} bytes");
                assert_eq!(seen, others, "{at}");
                let [problem] = problems.as_slice() else {
                    panic!("{at}");
                };
                let place = (problem.pos, problem.pos + problem.length);
                assert_eq!(place, (third.pos, third.end), "{at}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn random_bytes_after_the_magic_end(
        bytes in proptest::collection::vec(any::<u8>(), 0..2000),
        verify in any::<bool>(),
    ) {
        let mut log = b"\xfebin".to_vec();
        log.extend(bytes);
        let (seen, problems) = read(&log, verify).unwrap();
        // Every byte is in an event or in a problem.
        let covered: u64 = outer(&seen).iter().map(|e| e.end - e.pos).sum::<u64>()
            + problems
                .iter()
                .filter(|p| p.kind != ProblemKind::BadChecksum && p.severity == Severity::Error)
                .map(|p| p.length)
                .sum::<u64>();
        prop_assert!(covered >= log.len() as u64 - 4, "{seen:?} {problems:?}");
    }

    #[test]
    fn damage_of_any_kind_ends(
        log in proptest::sample::select(LOGS),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut log = std::fs::read(fixture(log)).unwrap();
        for (at, value) in edits {
            let at = at.index(log.len() - 4) + 4;
            log[at] = value;
        }
        let cut = cut.index(log.len() - 4) + 4;
        let (seen, _) = read(&log[..cut], true).unwrap();
        prop_assert!(seen.iter().all(|event| event.end <= cut as u64));
    }

    #[test]
    fn random_pieces_give_the_same_events(
        log in proptest::sample::select(LOGS),
        sizes in proptest::collection::vec(1usize..3000, 1..50),
    ) {
        let log = std::fs::read(fixture(log)).unwrap();
        let mut sizes = sizes.into_iter().cycle();
        let pieces = read_in_pieces(&log, || sizes.next().unwrap());
        prop_assert_eq!(pieces, read(&log, false).unwrap().0);
    }
}

/// A log of version 1 (MySQL 3.23), which no public folder has: headers of 13 bytes.
fn version_1() -> Vec<u8> {
    let mut log = b"\xfebin".to_vec();
    let mut event = |code: u8, body: &[u8]| {
        log.extend(1_000_000_000u32.to_le_bytes());
        log.push(code);
        log.extend(1u32.to_le_bytes());
        log.extend((13 + body.len() as u32).to_le_bytes());
        log.extend_from_slice(body);
    };
    let mut start = vec![1, 0];
    start.extend(b"3.23.58-log");
    start.resize(52, 0);
    start.extend(1_000_000_000u32.to_le_bytes());
    event(1, &start);
    for statement in ["CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1)"] {
        let mut query = vec![7, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0];
        query.extend(b"shop\0");
        query.extend(statement.as_bytes());
        event(2, &query);
        event(5, &[2, 9, 0, 0, 0, 0, 0, 0, 0]);
    }
    event(4, b"bin.002");
    log
}

#[test]
fn old_versions_cut_at_every_byte() {
    let mut logs = vec![("version 1".to_owned(), version_1())];
    for name in ["std_data/master-bin.000001", "bug47142_master-bin.000001"] {
        logs.extend(corpus_file(name).map(|log| (name.to_owned(), log)));
    }
    if let Some(log) = corpus_file("binlog_old_version_4_1.000001") {
        // Without its blocks of 128 KiB.
        logs.push(("binlog_old_version_4_1".to_owned(), log[..1000].to_vec()));
    }
    for (name, log) in logs {
        let (all, _) = read(&log, false).unwrap();
        assert!(all.len() >= 2, "{name}: {all:?}");
        for cut in 4..log.len() {
            let (seen, problems) = read(&log[..cut], false).unwrap();
            let whole: Vec<Seen> = all
                .iter()
                .filter(|e| e.end <= cut as u64)
                .cloned()
                .collect();
            // Where less than a header of today is there, the version cannot be told.
            if cut < 4 + 19 {
                assert_eq!(seen, [], "{name} cut at {cut}");
                continue;
            }
            assert_eq!(seen, whole, "{name} cut at {cut}: {problems:?}");
            let end = whole.last().map_or(4, |event| event.end);
            let lost = problems
                .iter()
                .any(|p| p.pos == end && p.kind == ProblemKind::Truncated);
            assert_eq!(lost, end < cut as u64, "{name} cut at {cut}: {problems:?}");
        }
    }
}

#[test]
fn a_log_of_version_1() {
    let log = version_1();
    let (seen, problems) = read(&log, true).unwrap();
    assert_eq!(problems, []);
    let codes: Vec<u8> = seen.iter().map(|event| event.type_code).collect();
    assert_eq!(codes, [1, 2, 5, 2, 5, 4]);
    assert_eq!((seen[0].pos, seen[0].end), (4, 4 + 13 + 56));
    assert_eq!(seen[5].end, log.len() as u64);
    let (events, problems) = decode_log(&log);
    assert_eq!(problems, []);
    assert_eq!(events[0].info, "Server ver: 3.23.58-log, Binlog ver: 1");
    assert_eq!(events[1].query.as_deref(), Some("CREATE TABLE t (a INT)"));
    assert_eq!(events[1].schema.as_deref(), Some("shop"));
    assert_eq!(events[2].info, "INSERT_ID=9");
    assert_eq!(events[5].info, "bin.002");
}

/// What follows a format description is read by it, also in the middle of a log.
#[test]
fn several_format_descriptions() {
    let mut forge = Forge::new();
    forge.event(2, &query("BEGIN")).event(16, &xid(1));
    forge.format(false);
    forge.event(2, &query("BEGIN")).event(16, &xid(2));
    forge.format(true);
    forge.event(2, &query("BEGIN")).event(16, &xid(3));
    let log = forge.build();
    let (events, problems) = decode_log(&log);
    assert_eq!(problems, []);
    let told: Vec<(u8, Option<bool>, Option<u64>)> = events
        .iter()
        .map(|e| (e.header.type_code, e.checksum_ok, e.xid))
        .collect();
    let yes = Some(true);
    assert_eq!(
        told,
        [
            (15, yes, None),
            (2, yes, None),
            (16, yes, Some(1)),
            (15, yes, None),
            (2, None, None),
            (16, None, Some(2)),
            (15, yes, None),
            (2, yes, None),
            (16, yes, Some(3)),
        ]
    );
    for cut in 4..log.len() {
        let (seen, _) = read(&log[..cut], true).unwrap();
        let whole = events.iter().filter(|e| e.end_pos <= cut as u64).count();
        assert_eq!(seen.len(), whole, "cut at {cut}");
    }
}

#[test]
fn behind_start_encryption_nothing_is_guessed() {
    let log = std::fs::read(fixture("mariadb-10.11-encrypted.000001")).unwrap();
    for cut in 297..=log.len() {
        let (seen, problems) = read(&log[..cut], true).unwrap();
        assert_eq!(seen.len(), 2, "cut at {cut}");
        let [problem] = problems.as_slice() else {
            panic!("cut at {cut}: {problems:?}");
        };
        assert_eq!(problem.kind, ProblemKind::Encrypted);
        assert_eq!((problem.pos, problem.length), (296, cut as u64 - 296));
    }
    // It makes no difference that nobody wants the event's body.
    let framer = Framer::new().with_length(Some(log.len() as u64));
    let mut reader = EventReader::new(framer.with_bodies(TypeSet::NONE));
    reader.push(&log);
    reader.finish();
    let mut told = Vec::new();
    loop {
        match reader.next().unwrap() {
            Next::Event(item) => told.push(item.header.type_code.to_string()),
            Next::Problem(problem) => told.push(problem.kind.name().to_owned()),
            Next::NeedMore { .. } => panic!("all of it is there"),
            Next::End => break,
        }
    }
    assert_eq!(told, ["15", "164", "ENCRYPTED"]);
}
