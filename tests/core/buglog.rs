//! Cases of public bug reports that need a whole log. The number in a name is that of the report;
//! cases of one type or event are tested beside it.

use crate::forge::{Forge, inner, payload, query, zstd};
use crate::support::{corpus_file, decode_log, peak_of};
use datafusion_binlog::binlog::event::{Event, EventContext, RowsEvent, TableMapOwned, TableMaps};
use datafusion_binlog::binlog::fields::{self, Checker};
use datafusion_binlog::binlog::frame::Framer;
use datafusion_binlog::binlog::problem::{Problem, ProblemKind, Severity};
use datafusion_binlog::binlog::reader::read_all;
use datafusion_binlog::binlog::row::{LocatePlan, Located, Place, RowJson, RowReader};
use datafusion_binlog::binlog::types::Value;
use flate2::{Compression, write::ZlibEncoder};
use std::io::Write;

const QUERY: u8 = 2;
const XID: u8 = 16;
const TABLE_MAP: u8 = 19;
const WRITE: u8 = 30;

/// Body of a TABLE_MAP of `shop.t` under an id.
fn table_map(id: u8, types: &[u8], metadata: &[u8], optional: &[u8]) -> Vec<u8> {
    let mut body = vec![id, 0, 0, 0, 0, 0, 1, 0];
    body.extend(b"\x04shop\0\x01t\0");
    body.push(types.len() as u8);
    body.extend(types);
    body.push(metadata.len() as u8);
    body.extend(metadata);
    body.resize(body.len() + types.len().div_ceil(8), 0xff);
    body.extend(optional);
    body
}

/// Body of a WRITE_ROWS of a table of up to 8 columns, with all of them.
fn rows(id: u8, flags: u8, columns: u8, rows: &[u8]) -> Vec<u8> {
    let mut body = vec![id, 0, 0, 0, 0, 0, flags, 0, 2, 0, columns, 0xff];
    body.extend(rows);
    body
}

/// Calls `each` with every rows event of a log that has its table map.
fn each_rows(log: Vec<u8>, mut each: impl FnMut(&TableMapOwned, &RowsEvent<'_>)) -> Vec<Problem> {
    let mut maps = TableMaps::default();
    read_all(
        Framer::new().with_verify(true),
        log,
        |item, block, format| {
            let raw = item.raw(block);
            let Some(map) = fields::observe_tables(&mut maps, &raw, format) else {
                return;
            };
            let cx = EventContext {
                header: &raw.header,
                format,
            };
            if let Event::Rows(rows) = Event::decode(raw.body(), &cx).unwrap() {
                each(&map, &rows);
            }
        },
    )
    .unwrap()
}

/// The rows of a log as JSON, in order.
fn json(log: Vec<u8>) -> Vec<String> {
    let mut all = Vec::new();
    let problems = each_rows(log, |map, event| {
        let (plan, block) = (map.plan().unwrap(), event.row_bytes().unwrap());
        let wanted: Vec<usize> = (0..plan.columns().len()).collect();
        let locate = LocatePlan::new(plan, map.shape(), event, &wanted, &[]).unwrap();
        let mut located = Located::default();
        let mut rows = locate.rows(0, block.len());
        let (count, error) = locate.locate(&block, &mut rows, usize::MAX, &mut located);
        assert!(error.is_none(), "{error:?}");
        for n in 0..count {
            let mut out = String::new();
            RowJson::new(plan).write_row(
                plan,
                &block,
                |column| located.row[column][n],
                |_| Place::ABSENT,
                &mut out,
                &mut |_, note| panic!("{note}"),
            );
            all.push(out);
        }
    });
    assert_eq!(problems, []);
    all
}

/// What `problems` shows of a log.
fn problems(log: Vec<u8>) -> Vec<Problem> {
    let mut checker = Checker::default();
    let mut problems = Vec::new();
    let framing = read_all(
        Framer::new().with_verify(true),
        log,
        |item, block, format| {
            problems.extend(checker.check(&item.raw(block), item.payload_index, format));
        },
    );
    problems.extend(framing.unwrap());
    problems
}

#[test]
fn buglog_45_a_blob_of_40_megabytes_comes_back() {
    const LEN: usize = 40 << 20;
    let mut seen = 0;
    // Measured, so that it does not disturb those who measure.
    let peak = peak_of(|| {
        let mut row = vec![0xfe];
        row.extend((LEN as u32).to_le_bytes());
        row.resize(row.len() + LEN, 0x6d);
        let log = Forge::new()
            .event(TABLE_MAP, &table_map(9, &[252], &[4], &[2, 1, 63]))
            .event(WRITE, &rows(9, 1, 1, &row))
            .build();
        each_rows(log, |map, event| {
            let mut reader = RowReader::new(map, event, event.rows).unwrap();
            let row = reader.next().unwrap().unwrap();
            let Some(Value::Bytes(bytes)) = row.after.unwrap()[0].value() else {
                panic!("not bytes");
            };
            assert!(bytes.len() == LEN && bytes.iter().all(|&byte| byte == 0x6d));
            seen += 1;
        });
    });
    assert_eq!(seen, 1);
    assert!(peak < 10 * LEN, "{peak}");
}

#[test]
fn buglog_61_and_67_json_and_names_in_the_order_of_the_table_map() {
    // (z JSON, a INT, m INT).
    let names = [1, 1, 0, 4, 6, 1, b'z', 1, b'a', 1, b'm'];
    let log = Forge::new()
        .event(TABLE_MAP, &table_map(9, &[245, 3, 3], &[4], &names))
        .event(
            WRITE,
            &rows(9, 1, 3, &[0xf8, 2, 0, 0, 0, 4, 1, 1, 0, 0, 0, 2, 0, 0, 0]),
        )
        .build();
    assert_eq!(json(log), [r#"{"z":true,"a":1,"m":2}"#]);
}

#[test]
fn buglog_69_and_70_each_row_has_the_names_of_its_own_table_map() {
    let names = |a: u8, b: u8| [1, 1, 0, 4, 4, 1, a, 1, b];
    let row = [0xfc, 1, 0, 0, 0, 2, 0, 0, 0];
    let mut forge = Forge::new();
    // Renamed, put in another order, and back: under a new id, and under the same.
    for (id, a, b) in [
        (9, b'a', b'b'),
        (10, b'a', b'x'),
        (10, b'x', b'a'),
        (9, b'a', b'b'),
    ] {
        forge
            .event(QUERY, &query("ALTER TABLE t …"))
            .event(TABLE_MAP, &table_map(id, &[3, 3], &[], &names(a, b)))
            .event(WRITE, &rows(id, 1, 2, &row));
    }
    assert_eq!(
        json(forge.build()),
        [
            r#"{"a":1,"b":2}"#,
            r#"{"a":1,"x":2}"#,
            r#"{"x":1,"a":2}"#,
            r#"{"a":1,"b":2}"#
        ]
    );
}

#[test]
fn buglog_73_and_74_rows_without_their_table_map_are_told_and_passed() {
    let row = [0xfe, 1, 0, 0, 0];
    let map = table_map(9, &[3], &[], &[1, 1, 0]);
    let mut forge = Forge::new();
    let pos = forge.len();
    forge
        .event(WRITE, &rows(0x55, 1, 1, &row))
        .event(TABLE_MAP, &map)
        .event(WRITE, &rows(9, 0, 1, &row))
        .event(WRITE, &rows(9, 1, 1, &row.repeat(2)));
    let problems = problems(forge.build());
    let [problem] = &problems[..] else {
        panic!("{problems:#?}");
    };
    assert_eq!(
        (problem.pos, problem.kind, problem.severity),
        (pos, ProblemKind::BadEvent, Severity::Error)
    );
    assert_eq!(
        problem.message,
        "WRITE_ROWS: no table map for table id 85: the statement's beginning is missing"
    );
    assert_eq!(json(forge.build()), [r#"{"col_1":1}"#; 3]);
}

#[test]
fn buglog_83_rows_of_a_compressed_transaction_are_those_of_a_plain_one() {
    let map = table_map(9, &[3, 15], &[20, 0], &[1, 1, 0, 2, 1, 45]);
    let row = |n: u8| [&[0xfc, n, 0, 0, 0, 3][..], b"abc"].concat();
    let events = [
        (QUERY, query("BEGIN")),
        (TABLE_MAP, map),
        (WRITE, rows(9, 0, 2, &[row(1), row(2)].concat())),
        (WRITE, rows(9, 1, 2, &row(3))),
        (XID, vec![7; 8]),
    ];
    let mut plain = Forge::new();
    for (code, body) in &events {
        plain.event(*code, body);
    }
    let inner: Vec<u8> = events
        .iter()
        .flat_map(|(code, body)| inner(*code, body))
        .collect();
    let body = payload(0, inner.len() as u64, &zstd(&inner));
    let packed = Forge::new().event(40, &body).build();
    let expected = [1, 2, 3].map(|n| format!(r#"{{"col_1":{n},"col_2":"abc"}}"#));
    assert_eq!(json(plain.build()), expected);
    assert_eq!(json(packed.clone()), expected);
    assert_eq!(problems(packed), []);
}

#[test]
fn buglog_86_compressed_rows_of_mariadb_with_long_strings() {
    let text = "x".repeat(300);
    let mut row = vec![0xfe, 0x2c, 1];
    row.extend(text.as_bytes());
    let mut packed = vec![0x82];
    packed.extend((row.len() as u16).to_be_bytes());
    let mut zlib = ZlibEncoder::new(packed, Compression::default());
    zlib.write_all(&row).unwrap();
    let packed = zlib.finish().unwrap();
    // WRITE_ROWS_COMPRESSED_V1 has no extra row information.
    let mut body = vec![9, 0, 0, 0, 0, 0, 1, 0, 1, 0xff];
    body.extend(packed);
    let log = Forge::new()
        .event(TABLE_MAP, &table_map(9, &[15], &[0xf4, 1], &[2, 1, 45]))
        .event(166, &body)
        .build();
    assert_eq!(json(log.clone()), [format!(r#"{{"col_1":"{text}"}}"#)]);
    assert_eq!(problems(log), []);
}

#[test]
fn buglog_95_an_unknown_event_is_passed_by_its_size() {
    // Its body looks like a QUERY.
    let mut forge = Forge::new();
    let pos = forge.len();
    let log = forge
        .event(200, &query("DROP TABLE t"))
        .event(QUERY, &query("SELECT 1"))
        .build();
    let (events, _) = decode_log(&log);
    let shown: Vec<_> = events
        .iter()
        .map(|e| (e.header.type_code, e.query.as_deref()))
        .collect();
    assert_eq!(shown, [(15, None), (200, None), (QUERY, Some("SELECT 1"))]);
    let problems = problems(log);
    assert_eq!(problems.len(), 1);
    assert_eq!(
        (problems[0].pos, problems[0].kind),
        (pos, ProblemKind::UnknownEvent)
    );
}

#[test]
fn buglog_96_events_of_aurora_are_passed_as_a_whole() {
    let Some(log) = corpus_file("mysql-bin.aurora-padding") else {
        return;
    };
    let (events, problems) = decode_log(&log);
    assert_eq!(problems, []);
    let at = events
        .iter()
        .position(|e| e.header.type_code == 100)
        .unwrap();
    assert_eq!(events[at + 1].name, "QUERY");
    assert_eq!(events[at + 1].pos, events[at].end_pos);
    assert!(events[at + 1].query.is_some());
}

#[test]
fn buglog_98_and_99_rows_query_of_any_length() {
    // The length byte in front holds the length modulo 256.
    for len in [10usize, 255, 256, 70_000, 32 << 20] {
        let mut shown = 0;
        let peak = peak_of(|| {
            let mut body = vec![len as u8];
            body.resize(1 + len, b'x');
            let log = Forge::new().event(29, &body).build();
            let (events, problems) = decode_log(&log);
            assert_eq!(problems, []);
            shown = events.last().unwrap().query.as_ref().unwrap().len();
        });
        assert_eq!(shown, len);
        // The log is made of some copies; then there are the body, its text and its line.
        assert!(peak < 10 * len + (64 << 20), "{peak} bytes for {len}");
    }
}

#[test]
fn buglog_103_the_text_of_a_statement_ends_before_the_checksum() {
    for checksum in [false, true] {
        let mut forge = Forge::new();
        forge.format(checksum);
        let log = forge.event(QUERY, &query("DELETE FROM t")).build();
        let (events, problems) = decode_log(&log);
        assert_eq!(problems, []);
        let last = events.last().unwrap();
        assert_eq!(last.query.as_deref(), Some("DELETE FROM t"));
        assert_eq!(last.checksum_ok, checksum.then_some(true));
    }
}

#[test]
fn buglog_105_behind_a_false_length_no_event_is_made_up() {
    let mut forge = Forge::new();
    forge.event(QUERY, &query("SELECT 1"));
    let at = forge.len() as usize;
    // What follows looks like events, from the middle of this one on.
    forge.event(QUERY, &query(&"\u{6}".repeat(200)));
    let next = forge.len();
    let good = forge
        .event(QUERY, &query("SELECT 2"))
        .event(XID, &[7; 8])
        .build();
    for wrong in [1u32, 19, 100, 240, 260, 1 << 20] {
        let mut log = good.clone();
        log[at + 9..at + 13].copy_from_slice(&wrong.to_le_bytes());
        let mut seen = Vec::new();
        let problems = read_all(Framer::new().with_verify(true), log, |item, _, _| {
            seen.push((item.pos, item.header.type_code));
        })
        .unwrap();
        let before = [(4, 15), (127, QUERY)];
        assert_eq!(seen[..2], before, "{wrong}");
        let behind: Vec<_> = seen[2..]
            .iter()
            .filter(|event| event.0 != at as u64)
            .collect();
        assert_eq!(behind[0], &(next, QUERY), "{wrong}");
        assert_eq!(behind[1].1, XID, "{wrong}");
        assert_eq!(behind.len(), 2, "{wrong}");
        let first = problems.iter().map(|problem| problem.pos).min();
        assert_eq!(first, Some(at as u64), "{wrong}");
    }
}
