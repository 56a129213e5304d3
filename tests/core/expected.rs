//! Facts about public logs that their projects state, or that two readers agreed on: EXPECTED.md
//! of the corpus, by section. Facts about row values are not here.

use crate::support::{Census, Decoded, corpus_file, decode_log, fixture, member};
use std::collections::BTreeMap;

/// The events of a log of the corpus; `None` where there is no corpus.
fn events(name: &str) -> Option<Vec<Decoded>> {
    let (events, _) = decode_log(&corpus_file(name)?);
    Some(events)
}

fn names(events: &[Decoded]) -> Vec<&str> {
    events.iter().map(|event| event.name).collect()
}

/// Issue 2, "Must show" 2: a whole log of 120 bytes.
#[test]
fn a_log_of_120_bytes() {
    const LOG: &str = "fe62696e7e8d3b540fe9030000740000007800000000000400352e362e31352d6c6f67\
        000000000000000000000000000000000000000000000000000000000000000000000000000000007e8d3b54\
        13380d0008001200040404041200005c00041a08000000080808020000000a0a0a19190001fad5172f";
    let log: Vec<u8> = (0..LOG.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&LOG[at..at + 2], 16).unwrap())
        .collect();
    assert_eq!(log.len(), 120);
    let (events, problems) = decode_log(&log);
    assert_eq!(problems, []);
    let [event] = events.as_slice() else {
        panic!("{events:?}");
    };
    assert_eq!((event.pos, event.end_pos), (4, 120));
    assert_eq!(event.payload_index, None);
    assert_eq!(event.name, "FORMAT_DESCRIPTION");
    assert_eq!(event.header.type_code, 15);
    // 2014-10-13 08:29:50 UTC.
    let days = (2014 - 1970) * 365 + 11 + (31 + 28 + 31 + 30 + 31 + 30 + 31 + 31 + 30) + 12;
    let seconds = (days * 24 + 8) * 3600 + 29 * 60 + 50;
    assert_eq!(event.header.timestamp, seconds);
    assert_eq!(event.header.server_id, 1001);
    assert_eq!(event.header.event_size, 116);
    assert_eq!(event.header.log_pos, 120);
    assert_eq!(event.header.flags, 0);
    assert_eq!(event.checksum_ok, Some(true));
    assert_eq!(event.body, log[23..116]);
    assert_eq!(event.info, "Server ver: 5.6.15-log, Binlog ver: 4");
    assert_eq!(
        event.details,
        format!(
            "{{\"server_version\":\"5.6.15-log\",\"binlog_version\":4,\"created\":{seconds},\
             \"header_length\":19,\"checksum\":\"CRC32\",\"flavor\":\"MySQL\",\
             \"post_header_lengths\":[56,13,0,8,0,18,0,4,4,4,4,18,0,0,92,0,4,26,8,0,0,0,8,8,8,2,\
             0,0,0,10,10,10,25,25,0]}}"
        )
    );
    assert_eq!(event.query, None);
    assert_eq!((&event.schema, &event.table), (&None, &None));
    assert_eq!((event.xid, event.row_count), (None, None));
}

/// EXPECTED.md §2: rows of Sakila by table.
#[test]
fn sakila() {
    let Some(events) = events("mysql-bin.sakila.gz") else {
        return;
    };
    assert_eq!(events.len(), 1462);
    let mut rows: BTreeMap<&str, u32> = BTreeMap::new();
    for event in &events {
        assert_eq!(event.checksum_ok, None);
        if event.name == "WRITE_ROWS_V1" {
            assert_eq!(event.schema.as_deref(), Some("sakila"));
            *rows.entry(event.table.as_deref().unwrap()).or_default() += event.row_count.unwrap();
        } else {
            assert_eq!(event.row_count, None, "{}", event.name);
        }
    }
    let want = [
        ("actor", 200),
        ("address", 603),
        ("category", 16),
        ("city", 600),
        ("country", 109),
        ("customer", 599),
        ("film", 1000),
        ("film_actor", 5462),
        ("film_category", 1000),
        ("film_text", 1000),
        ("inventory", 4581),
        ("language", 6),
        ("payment", 16049),
        ("rental", 16044),
        ("staff", 2),
        ("store", 2),
    ];
    assert_eq!(rows, BTreeMap::from(want));
    assert_eq!(rows.values().sum::<u32>(), 47_273);
}

/// EXPECTED.md §3: event counts, the format description included.
#[test]
fn osheroff() {
    let Some(none) = events("mysql-bin.checksum-none") else {
        return;
    };
    assert_eq!(none.len(), 191);
    assert_eq!(events("mysql-bin.checksum-crc32").unwrap().len(), 303);

    let compressed = events("mysql-bin.compressed").unwrap();
    let top = compressed.iter().filter(|e| e.payload_index.is_none());
    assert_eq!(top.count(), 5);
    // Unpacked in place: the payload gives way to its events.
    assert_eq!(compressed.len() - 1, 8);

    let aurora = events("mysql-bin.aurora-padding").unwrap();
    let places: Vec<(u64, u64, &str)> = aurora.iter().map(|e| (e.pos, e.end_pos, e.name)).collect();
    assert_eq!(
        places,
        [
            (4, 185, "FORMAT_DESCRIPTION"),
            (185, 216, "PREVIOUS_GTIDS"),
            (216, 281, "ANONYMOUS_GTID"),
            (281, 1209, "UNKNOWN(100)"),
            (1209, 1294, "QUERY"),
        ]
    );
    assert_eq!(aurora[4].query.as_deref(), Some("BEGIN"));
    assert_eq!(aurora[3].body.len(), 905);

    let gzip = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03".to_vec();
    let error = Census::of(&gzip).unwrap_err();
    assert!(error.contains("not a binary log"), "{error}");
}

/// EXPECTED.md §4.
#[test]
fn apecloud() {
    let Some(log) = events("parse_file_tests/mysql-bin.000057") else {
        return;
    };
    // Those inside its two payloads are not counted.
    let top = log.iter().filter(|event| event.payload_index.is_none());
    assert_eq!(top.count(), 8);
    let log = events("parse_file_tests/mysql-bin.000080");
    assert_eq!(log.unwrap().len(), 37);
}

/// EXPECTED.md §5: MySQL 5.0.91.
#[test]
fn ybinlogp() {
    let Some(log) = events("mysql-bin.default-path") else {
        return;
    };
    assert_eq!(log[0].name, "FORMAT_DESCRIPTION");
    assert_eq!(log.len() - 1, 38);
    let [.., query, xid, rotate] = log.as_slice() else {
        panic!();
    };
    assert_eq!(names(&log[36..]), ["QUERY", "XID", "ROTATE"]);
    assert_eq!(rotate.info, "mysql-bin.000008;pos=4");
    assert_eq!(query.schema.as_deref(), Some("foobar"));
    assert_eq!(
        query.query.as_deref(),
        Some("INSERT INTO test2(x) VALUES(\"Bananas r good\")")
    );
    assert!(xid.xid.is_some());

    // Timestamps are not monotonic: event 30 behind the format description has 10:02:37 of
    // 2013-07-30, two hours before its neighbours. (The project ran in UTC−7.)
    let delayed = events("mysql-bin.delayed-event").unwrap();
    let times: Vec<u32> = delayed.iter().map(|e| e.header.timestamp).collect();
    assert_eq!(times[31], 1_375_203_757);
    assert_eq!(1_375_203_757 % 86_400, (17 * 60 + 2) * 60 + 37);
    assert_eq!((times[30], times[32]), (times[31] + 7200, times[31] + 7200));
}

/// EXPECTED.md §7: the same workload on servers of five formats.
#[test]
fn old_formats() {
    for (name, kinds) in [
        (
            "ver_trunk_row_v2.001",
            ["WRITE_ROWS", "UPDATE_ROWS", "DELETE_ROWS"],
        ),
        (
            "ver_5_1_23.001",
            ["WRITE_ROWS_V1", "UPDATE_ROWS_V1", "DELETE_ROWS_V1"],
        ),
    ] {
        let Some(log) = events(name) else { return };
        assert_eq!(log[0].format.binlog_version, 4, "{name}");
        // INSERT (0,'one'),(1,'two'); UPDATE a=a+1; DELETE a=2.
        let rows: Vec<(&str, &str, u32)> = log
            .iter()
            .filter_map(|e| Some((e.name, e.table.as_deref()?, e.row_count?)))
            .collect();
        assert_eq!(
            rows,
            [
                (kinds[0], "t1", 2),
                (kinds[1], "t1", 2),
                (kinds[2], "t1", 1)
            ],
            "{name}"
        );
        let block = |kind: &str| {
            let event = log.iter().find(|event| event.name == kind).unwrap();
            member(&event.details, "block_length").unwrap().to_owned()
        };
        assert_eq!(block("BEGIN_LOAD_QUERY"), "131072", "{name}");
        assert_eq!(block("APPEND_BLOCK"), "17664", "{name}");
        let load = log.iter().find(|e| e.name == "EXECUTE_LOAD_QUERY").unwrap();
        assert!(load.query.as_deref().unwrap().starts_with("LOAD DATA"));
    }
    let log = events("binlog_old_version_4_1.000001").unwrap();
    assert_eq!(log[0].name, "START_V3");
    assert_eq!(log[0].format.binlog_version, 3);
    assert_eq!(log[0].info, "Server ver: 4.1.24-debug-log, Binlog ver: 3");
    assert_eq!(
        names(&log[9..12]),
        ["CREATE_FILE", "APPEND_BLOCK", "EXEC_LOAD"]
    );
    assert_eq!(log[9].table.as_deref(), Some("t3"));
    assert_eq!(member(&log[9].details, "block_length"), Some("131072"));
    assert_eq!(member(&log[10].details, "block_length"), Some("17664"));
}

/// EXPECTED.md §8: places that MariaDB's own test names.
#[test]
fn mdev35643() {
    let Some(log) = events("mdev35643_mysql_80_binlog.000001") else {
        return;
    };
    // The statement of row (4) begins behind its GTID event, and so does the next transaction
    // behind the payload.
    let at = |pos: u64| log.iter().find(|event| event.pos == pos).unwrap();
    assert_eq!(at(1178).query.as_deref(), Some("BEGIN"));
    assert_eq!(at(2297).name, "ANONYMOUS_GTID");
    let payload = at(1468);
    assert_eq!(payload.name, "TRANSACTION_PAYLOAD");
    assert_eq!(payload.end_pos, 2297);
    let inner: Vec<&Decoded> = log.iter().filter(|e| e.payload_index.is_some()).collect();
    assert!(inner.iter().all(|e| (e.pos, e.end_pos) == (1468, 2297)));
    let rows = inner.iter().filter(|e| e.name == "WRITE_ROWS");
    assert_eq!(rows.map(|e| e.row_count.unwrap()).sum::<u32>(), 100);
    assert!(
        inner
            .iter()
            .all(|e| e.table.as_deref().is_none_or(|t| t == "t1"))
    );
    let [.., last, xid, rotate] = log.as_slice() else {
        panic!();
    };
    assert_eq!(
        (last.name, xid.name, rotate.name),
        ("PARTIAL_UPDATE_ROWS", "XID", "ROTATE")
    );
    assert_eq!(last.row_count, Some(1));
    let statement = log.iter().find(|e| e.info.contains("[zyzzy]")).unwrap();
    assert_eq!(statement.name, "QUERY");
}

/// EXPECTED.md §9: GTIDs.
#[test]
fn gtids() {
    let Some(tagged) = events("binlog_transaction_with_GTID_TAG.000001") else {
        return;
    };
    let info = |log: &[Decoded], name: &str| -> Vec<String> {
        let of = log.iter().filter(|event| event.name == name);
        of.map(|event| event.info.clone()).collect()
    };
    assert_eq!(
        info(&tagged, "PREVIOUS_GTIDS"),
        ["55778904-0299-11f1-b1b8-4ef0c4956feb:1-13:mytag:1-2"]
    );
    assert_eq!(
        info(&tagged, "GTID_TAGGED"),
        ["SET @@SESSION.GTID_NEXT= '55778904-0299-11f1-b1b8-4ef0c4956feb:mytag:3'"]
    );
    let no_tag = events("binlog_transaction_previous_GTID_no_tag.000001").unwrap();
    assert_eq!(
        info(&no_tag, "PREVIOUS_GTIDS"),
        ["b9b88c66-0755-11f1-9899-4a9da94c4d71:1-2"]
    );
    let reserved = events("binlog_56_gtid_reserved_word.000001").unwrap();
    let want: Vec<String> = (1..=6)
        .map(|n| format!("SET @@SESSION.GTID_NEXT= '11111111-1111-1111-1111-111111111111:{n}'"))
        .collect();
    assert_eq!(info(&reserved, "GTID"), want);
    for (name, last) in [
        ("mdev6020-mysql-bin.000001", "0-1-1381"),
        ("master-bin-seq_10.3.36.000001", "0-1-102"),
    ] {
        let log = events(name).unwrap();
        let gtids = info(&log, "GTID");
        assert!(
            gtids.last().unwrap().ends_with(&format!("GTID {last}")),
            "{name}: {gtids:?}"
        );
    }
}

/// EXPECTED.md §10: encrypted logs say so in one line, and what stands before is read.
#[test]
fn encrypted() {
    let mysql = std::fs::read(fixture("mysql-9.7-encrypted.000001")).unwrap();
    assert!(mysql.starts_with(b"\xfdbin"));
    assert_eq!(
        Census::of(&mysql).unwrap_err(),
        "the log is encrypted by MySQL; read it from the server that wrote it"
    );
    let Some(mariadb) = corpus_file("binlog_before_20574.bin") else {
        return;
    };
    let (log, problems) = decode_log(&mariadb);
    assert_eq!(names(&log), ["FORMAT_DESCRIPTION", "START_ENCRYPTION"]);
    assert_eq!(log[1].pos, 256);
    let [problem] = problems.as_slice() else {
        panic!("{problems:?}");
    };
    assert_eq!((problem.pos, problem.length), (296, 726));
    assert_eq!(
        problem.message,
        "MariaDB has encrypted the log from here on; read it from the server that wrote it"
    );
}
