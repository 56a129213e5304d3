//! Logs that are cut, damaged, or begin in the middle: the rows that are left are given, and what is
//! not is reported.

use crate::corpus;
use crate::forge::{self, column};
use crate::logs::{self, events, log, read, type_code};
use crate::support::{error, fixture, lines, number, query, rows, run, session, try_query, value};
use datafusion::prelude::SessionContext;
use datafusion_binlog::{BinlogOptions, ProblemKind, SessionContextBinlogExt};
use tempfile::TempDir;

const TABLE_MAP: u8 = 19;

/// A session over one log of these bytes, and what it reports to.
async fn over(bytes: &[u8]) -> (TempDir, SessionContext, BinlogOptions) {
    let directory = tempfile::tempdir().unwrap();
    let path = logs::write(directory.path(), "mysql-bin.000001", bytes);
    let options = BinlogOptions::default();
    let ctx = session(&[&path], options.clone()).await;
    (directory, ctx, options)
}

/// Kinds of the problems reported so far, with their messages.
fn reported(options: &BinlogOptions) -> Vec<(ProblemKind, String)> {
    let problems = options.problem_log().sample();
    problems.into_iter().map(|p| (p.kind, p.message)).collect()
}

#[tokio::test]
async fn a_log_cut_inside_a_rows_event_gives_the_rows_before() {
    let bytes = read("mysql-9.7-shop.000001");
    let (_directory, whole, _) = over(&bytes).await;
    // The event at 4912 ends at 5260; the one at 5973 has five rows more.
    for (cut, before) in [(4920, 0), (5100, 0), (5990, 5), (6100, 5), (9000, 19)] {
        let (_directory, ctx, options) = over(&bytes[..cut]).await;
        let wanted = format!(
            "select * from changes where pos < {cut} order by pos, row_index limit {before}"
        );
        let found = lines(&ctx, "select * from changes order by pos, row_index").await;
        assert_eq!(found, lines(&whole, &wanted).await, "{cut}");
        assert_eq!(found.len(), before, "{cut}");
        let [(kind, message)] = &*reported(&options) else {
            panic!("{cut}: {:?}", reported(&options));
        };
        assert_eq!(*kind, ProblemKind::Truncated, "{cut}: {message}");
        if before > 0 {
            let typed = number(&ctx, "select count(*) from shop.customers").await;
            assert_eq!(typed, 5, "{cut}");
        }
    }
}

/// A statement that the log has no text of does not get that of the one before it.
#[tokio::test]
async fn a_text_belongs_to_one_statement() {
    let columns = [column("n", 3, &[])];
    let one = |n: u8| [0, n, 0, 0, 0];
    let map = forge::table_map(7, "t", &columns);
    let row = |n| forge::rows(forge::WRITE, 7, 1, &[&[0xff]], &one(n));
    let text = forge::event(29, b"\x05first");
    let log = forge::log(&[text, map.clone(), row(1), map, row(2)]);
    let (_directory, ctx, _options) = over(&log).await;
    let found = lines(&ctx, "select after, query from changes order by pos").await;
    assert_eq!(found, ["{\"n\":1}|first", "{\"n\":2}|NULL"]);
}

#[tokio::test]
async fn a_row_that_does_not_fit_ends_its_event_and_the_next_is_read() {
    let columns = [column("n", 3, &[]), column("label", 15, &[200, 0]).text()];
    let row = |n: u32, label: &[u8]| {
        let mut row = vec![0];
        row.extend(n.to_le_bytes());
        row.push(label.len() as u8);
        row.extend(label);
        row
    };
    // The third row claims a text that goes beyond the event.
    let mut third = row(3, b"three");
    third[5] = 0x60;
    let broken = [row(1, b"one"), row(2, b"two"), third, row(4, b"four")].concat();
    let log = forge::log(&[
        forge::table_map(7, "t", &columns),
        forge::rows(forge::WRITE, 7, 2, &[&[0xff]], &broken),
        forge::table_map(7, "t", &columns),
        forge::rows(forge::WRITE, 7, 2, &[&[0xff]], &row(5, b"five")),
    ]);
    let (_directory, ctx, options) = over(&log).await;
    let found = lines(&ctx, "select n, label, _row_index from shop.t").await;
    assert_eq!(found, ["1|one|0", "2|two|1", "5|five|0"]);
    let [(kind, message)] = &*reported(&options) else {
        panic!("{:?}", reported(&options));
    };
    assert_eq!(*kind, ProblemKind::BadEvent);
    for part in ["shop.t", "label"] {
        assert!(message.contains(part), "{message}");
    }
    assert_eq!(
        lines(&ctx, "select after from changes").await,
        [
            r#"{"n":1,"label":"one"}"#,
            r#"{"n":2,"label":"two"}"#,
            r#"{"n":5,"label":"five"}"#
        ]
    );
    // Counting and other columns meet it too.
    for sql in [
        "select count(*) from changes",
        "select count(n) from shop.t",
    ] {
        let ran = run(&ctx, sql).await;
        assert_eq!(
            (ran.rows[0].as_str(), ran.count("problems")),
            ("3", 1),
            "{sql}"
        );
    }
    assert_eq!(
        number(
            &ctx,
            "select count(*) from problems where kind = 'BAD_EVENT'"
        )
        .await,
        1
    );

    // Read strictly, it is an error that tells the place.
    let strict = SessionContext::new();
    let path = logs::write(_directory.path(), "again.000001", &log);
    strict
        .register_binlog(
            "cut",
            path.as_str(),
            BinlogOptions::default().with_strict(true),
        )
        .await
        .unwrap();
    let text = error(&strict, "select * from cut.shop.t").await;
    assert!(
        text.contains("again.000001 @ ") && text.contains("BAD_EVENT"),
        "{text}"
    );
}

#[tokio::test]
async fn rows_without_a_table_map_are_reported_and_the_others_read() {
    let source = read("mysql-9.7-nochecksum.000001");
    let all = events(&source);
    let maps = all
        .iter()
        .filter(|event| type_code(event) == TABLE_MAP)
        .count();
    assert_eq!(maps, 5);
    let (_directory, ctx, _) = over(&source).await;
    let whole = number(&ctx, "select count(*) from changes").await;
    let first = number(
        &ctx,
        "select count(*) from changes where pos = (select min(pos) from changes)",
    )
    .await;
    assert!(first > 0 && first < whole);

    // A log that begins in the middle of a statement.
    let mut seen = 0;
    let middle = all.iter().copied().filter(|event| {
        seen += usize::from(type_code(event) == TABLE_MAP);
        type_code(event) != TABLE_MAP || seen > 1
    });
    let (_directory, ctx, options) = over(&log(middle)).await;
    assert_eq!(
        number(&ctx, "select count(*) from changes").await,
        whole - first
    );
    let [(kind, message)] = &*reported(&options) else {
        panic!("{:?}", reported(&options));
    };
    assert_eq!(*kind, ProblemKind::BadEvent);
    assert!(message.contains("no table map for table id"), "{message}");
    // The relation of the table tells of it as well: the rows may be its own.
    options.problem_log().clear();
    let table = value(&ctx, "select distinct table_name from tables").await;
    let typed = format!("select count(*) from shop.{table}");
    assert!(number(&ctx, &typed).await > 0);
    assert_eq!(reported(&options).len(), 1);
    assert_eq!(number(&ctx, "select count(*) from problems").await, 1);

    // None at all: no rows, no tables, and no silence.
    let none = all
        .iter()
        .copied()
        .filter(|event| type_code(event) != TABLE_MAP);
    let (_directory, ctx, options) = over(&log(none)).await;
    assert_eq!(number(&ctx, "select count(*) from changes").await, 0);
    assert_eq!(number(&ctx, "select count(*) from tables").await, 0);
    assert_eq!(reported(&options).len(), 5);
}

/// What is short is reported: one byte of a body is another, anywhere.
#[tokio::test]
async fn a_flipped_byte_loses_no_row_in_silence() {
    for name in [
        "mysql-9.7-nochecksum.000001",
        "mariadb-10.11-nochecksum.000001",
    ] {
        let source = read(name);
        let (_directory, ctx, _) = over(&source).await;
        let sql = "select count(*) from changes";
        let whole = number(&ctx, sql).await;
        let table = value(
            &ctx,
            "select distinct schema_name || '.' || table_name from tables",
        )
        .await;
        let mut places = Vec::new();
        let mut at = 4;
        for event in events(&source) {
            // Table maps and rows.
            if matches!(type_code(event), TABLE_MAP | 23..=25 | 30..=32) {
                places.extend(at + logs::HEADER..at + event.len());
            }
            at += event.len();
        }
        assert!(places.len() > 300);
        let (mut short, mut reported) = (0, 0);
        for (n, place) in places.into_iter().enumerate().filter(|(n, _)| n % 9 == 0) {
            let mut bytes = source.clone();
            bytes[place] ^= 1 << (n % 8);
            let (_directory, ctx, options) = over(&bytes).await;
            let changes = query(&ctx, "select * from changes").await;
            let found: usize = changes.iter().map(|batch| batch.num_rows()).sum();
            let problems = options.problem_log().counts();
            if (found as u64) < whole {
                short += 1;
                assert!(
                    problems != (0, 0),
                    "{name}: byte {place} is flipped: {found} rows, no problem"
                );
            }
            reported += usize::from(problems != (0, 0));
            // The relation may be gone, but nothing breaks.
            let _ = try_query(&ctx, &format!("select * from {table}")).await;
        }
        assert!(short > 3 && reported >= short, "{short} {reported}");
    }
}

#[tokio::test]
async fn a_checksum_tells_of_a_byte_that_fits() {
    let mut bytes = read("mysql-9.7-shop.000001");
    // "København" in latin1, as the row has it.
    let at = bytes.windows(3).rposition(|w| w == [b'K', 0xf8, b'b']);
    let at = at.unwrap();
    bytes[at] = b'X';
    let (_directory, ctx, _) = over(&bytes).await;
    let found = lines(&ctx, "select kind, severity from problems").await;
    assert_eq!(found, ["BAD_CHECKSUM|error"]);
    let city = "select city from shop.customers where _op = 'UPDATE'";
    assert_eq!(lines(&ctx, city).await, ["Xøbenhavn"]);
}

#[tokio::test]
async fn encrypted_logs_are_reported() {
    for (name, rows) in [
        ("mysql-9.7-encrypted.000001", 0),
        ("mariadb-10.11-encrypted.000001", 0),
    ] {
        let options = BinlogOptions::default();
        let ctx = SessionContext::new();
        let paths = vec![fixture(name), fixture("mysql-9.7-nochecksum.000001")];
        ctx.register_binlog("logs", paths, options.clone())
            .await
            .unwrap();
        let sql = format!("select count(*) from logs.binlog.changes where file = '{name}'");
        assert_eq!(number(&ctx, &sql).await, rows, "{name}");
        let found = reported(&options);
        assert!(
            found
                .iter()
                .any(|(kind, _)| *kind == ProblemKind::Encrypted),
            "{name}: {found:?}"
        );
        // The other log is read.
        assert!(number(&ctx, "select count(*) from logs.binlog.changes").await > 5);
        assert!(number(&ctx, "select count(*) from logs.binlog.tables").await > 0);
    }
}

/// Rows events of before the first release that had them: each gives its rows, or is reported.
#[tokio::test]
async fn logs_of_before_the_first_release_of_rows() {
    let Some(logs) = corpus::logs() else { return };
    let has_such = |log: &&corpus::Log| {
        log.field("event_histogram").contains("PRE_GA_") || log.name.contains("wl2325")
    };
    let mut rows = 0;
    let logs: Vec<_> = logs.iter().filter(has_such).collect();
    assert_eq!(logs.len(), 3);
    for log in logs {
        let options = BinlogOptions::default();
        let ctx = session(&[&log.path.display().to_string()], options.clone()).await;
        let sql = "select count(*) from binlog where type like 'PRE_GA%'";
        let events = number(&ctx, sql).await;
        let read = number(&ctx, "select count(distinct pos) from changes").await;
        let refused = reported(&options);
        let refused = refused
            .iter()
            .filter(|(_, message)| message.contains("PRE_GA"));
        assert_eq!(read + refused.count() as u64, events, "{}", log.name);
        rows += number(&ctx, "select count(*) from changes").await;
        query(&ctx, "select * from changes").await;
    }
    println!("{rows} rows");
}

/// EXPECTED.md §7: the same workload, in rows events of versions 1 and 2.
#[tokio::test]
async fn the_same_workload_in_two_versions_of_events() {
    let all =
        "select op, before, after from changes where table_name = 't1' order by pos, row_index";
    for name in ["ver_5_1_23.001", "ver_trunk_row_v2.001"] {
        let Some(log) = corpus::log(name) else { return };
        let ctx = log.open().await;
        let row = |a: u32, b: &str| format!(r#"{{"a":{a},"b":"{b}"}}"#);
        let found = lines(&ctx, all).await;
        let wanted = [
            format!("INSERT|NULL|{}", row(0, "one")),
            format!("INSERT|NULL|{}", row(1, "two")),
            format!("UPDATE|{}|{}", row(0, "one"), row(1, "one")),
            format!("UPDATE|{}|{}", row(1, "two"), row(2, "two")),
            format!("DELETE|{}|NULL", row(2, "two")),
        ];
        assert_eq!(found[..5], wanted, "{name}");
    }
}

#[tokio::test]
async fn a_schema_that_is_called_binlog() {
    let columns = [column("n", 3, &[])];
    let row = |n: u32| [vec![0], n.to_le_bytes().to_vec()].concat();
    let names = ["orders", "changes", "Mixed \"Name\""];
    let mut body = Vec::new();
    for (id, name) in (1u8..).zip(names) {
        body.push(forge::table_map_in("binlog", id, name, &columns));
        body.push(forge::rows(
            forge::WRITE,
            id,
            1,
            &[&[0xff]],
            &row(u32::from(id)),
        ));
    }
    let (directory, ctx, _) = over(&forge::log(&body)).await;
    assert_eq!(lines(&ctx, "select n from binlog.orders").await, ["1"]);
    assert_eq!(lines(&ctx, "select n from orders").await, ["1"]);
    assert_eq!(
        lines(&ctx, "select n from \"Mixed \"\"Name\"\"\"").await,
        ["3"]
    );
    // The names of the relations win.
    assert_eq!(
        number(
            &ctx,
            "select count(*) from binlog.changes where op = 'INSERT'"
        )
        .await,
        3
    );
    let path = directory
        .path()
        .join("mysql-bin.000001")
        .display()
        .to_string();
    let sql = format!("select n from read_changes('{path}', 'binlog.changes')");
    assert_eq!(lines(&ctx, &sql).await, ["2"]);
    let catalog = ctx.catalog("logs").unwrap();
    assert_eq!(catalog.schema_names(), ["binlog"]);
    let names = catalog.schema("binlog").unwrap().table_names();
    assert!(names.contains(&"orders".to_owned()), "{names:?}");
    assert_eq!(names.iter().filter(|name| *name == "changes").count(), 1);
    let shown = rows(&query(&ctx, "show tables").await);
    let changes = shown.iter().filter(|row| row.contains("|changes|"));
    assert_eq!(changes.count(), 1, "{shown:?}");
}

/// Dates that no calendar has: null and told once of a column, or all as text where that is asked for.
#[tokio::test]
async fn dates_that_are_in_no_calendar() {
    let columns = [
        column("n", 3, &[]),
        column("d", 10, &[]),
        column("at", 18, &[0]),
    ];
    let row = |n: u32, (year, month, day): (u32, u32, u32), at: [u8; 5]| {
        let date = (year << 9 | month << 5 | day).to_le_bytes();
        [&[0], &n.to_le_bytes()[..], &date[..3], &at].concat()
    };
    // 2026-11-02 09:00:00 as servers store it.
    let at = ((2026u64 * 13 + 11) << 5 | 2) << 17 | 9 << 12;
    let at: [u8; 5] = (at + (1 << 39)).to_be_bytes()[3..].try_into().unwrap();
    let zero = [0x80, 0, 0, 0, 0];
    let values = [
        row(1, (0, 0, 0), zero),
        row(2, (2024, 0, 10), at),
        row(3, (2024, 2, 29), at),
        row(4, (0, 0, 0), zero),
    ];
    let log = forge::log(&[
        forge::table_map(7, "dates", &columns),
        forge::rows(forge::WRITE, 7, 3, &[&[0xff]], &values.concat()),
    ]);
    let (directory, ctx, options) = over(&log).await;
    assert_eq!(
        lines(&ctx, "select n, d, at, _missing from shop.dates").await,
        [
            "1|NULL|NULL|[]",
            "2|NULL|2026-11-02T09:00:00|[]",
            "3|2024-02-29|2026-11-02T09:00:00|[]",
            "4|NULL|NULL|[]"
        ]
    );
    let found = reported(&options);
    assert!(!found.is_empty() && found.len() <= 2, "{found:?}");
    assert!(
        found[0].1.contains("0000-00-00 is in no calendar"),
        "{found:?}"
    );
    assert_eq!(options.problem_log().counts().0, 0);
    // As JSON they keep their text.
    assert_eq!(
        lines(&ctx, "select after from changes where after like '%:2,%'").await,
        [r#"{"n":2,"d":"2024-00-10","at":"2026-11-02 09:00:00"}"#]
    );
    let path = directory
        .path()
        .join("mysql-bin.000001")
        .display()
        .to_string();
    let create = format!(
        "create external table dates stored as binlog location '{path}' \
         options ('binlog.relation' 'shop.dates', 'binlog.zero_dates' 'text')"
    );
    query(&ctx, &create).await;
    assert_eq!(
        lines(&ctx, "select n, d, at from dates").await,
        [
            "1|0000-00-00|0000-00-00 00:00:00",
            "2|2024-00-10|2026-11-02 09:00:00",
            "3|2024-02-29|2026-11-02 09:00:00",
            "4|0000-00-00|0000-00-00 00:00:00"
        ]
    );
}
