//! The check of every value: what `problems` tells of rows.

use crate::forge::Forge;
use crate::support::peak_of;
use datafusion_binlog::binlog::event::TableMapOwned;
use datafusion_binlog::binlog::fields::Checker;
use datafusion_binlog::binlog::frame::Framer;
use datafusion_binlog::binlog::problem::ProblemKind::{BadEvent, UndecodedValue};
use datafusion_binlog::binlog::problem::{Problem, Severity};
use datafusion_binlog::binlog::reader::read_all;
use datafusion_binlog::binlog::row::{ColumnHint, DeclaredType, NameSource, RowPlan, TableHint};
use proptest::prelude::*;
use std::sync::Arc;

const TABLE_MAP: u8 = 19;
const XID: u8 = 16;
const WRITE: u8 = 30;
const UPDATE: u8 = 31;
const PARTIAL_UPDATE: u8 = 39;

/// Body of a TABLE_MAP of `shop.t`.
fn table_map(types: &[u8], metadata: &[u8], optional: &[u8]) -> Vec<u8> {
    let mut body = b"\x5d\0\0\0\0\0\x01\0\x04shop\0\x01t\0".to_vec();
    body.push(types.len() as u8);
    body.extend(types);
    body.push(metadata.len() as u8);
    body.extend(metadata);
    body.resize(body.len() + types.len().div_ceil(8), 0xff);
    body.extend(optional);
    body
}

/// Body of a rows event with all columns, of up to 8.
fn rows(code: u8, columns: u8, rows: &[u8]) -> Vec<u8> {
    let mut body = b"\x5d\0\0\0\0\0\x01\0\x02\0".to_vec();
    body.push(columns);
    body.push(0xff);
    if code != WRITE {
        body.push(0xff);
    }
    body.extend(rows);
    body
}

/// All problems that the check of a log finds, and whether its last event is reached.
fn check(mut checker: Checker, log: Vec<u8>) -> (Vec<Problem>, bool) {
    let mut problems = Vec::new();
    let mut last = 0;
    let framing = read_all(
        Framer::new().with_verify(true),
        log,
        |item, block, format| {
            problems.extend(checker.check(&item.raw(block), item.payload_index, format));
            last = item.header.type_code;
        },
    );
    problems.extend(framing.unwrap());
    (problems, last == XID)
}

/// The problems of one rows event, each `message`, after a table map.
fn problems_of(map: Vec<u8>, code: u8, event: &[u8]) -> Vec<Problem> {
    let mut forge = Forge::new();
    forge.event(TABLE_MAP, &map);
    let pos = forge.len();
    forge.event(code, event).event(XID, &[7; 8]);
    let (problems, complete) = check(Checker::default(), forge.build());
    assert!(complete, "the next event is not read");
    assert!(problems.iter().all(|problem| problem.pos == pos));
    problems
}

fn messages(problems: &[Problem]) -> Vec<&str> {
    problems.iter().map(|problem| &*problem.message).collect()
}

/// (a DECIMAL(4,2), b ENUM('x','y') and c VARCHAR(20) of utf8mb4, d DATE, e JSON).
fn of_every_check() -> Vec<u8> {
    let optional = [
        &[
            1, 1, 0, 2, 1, 45, 4, 10, 1, b'a', 1, b'b', 1, b'c', 1, b'd', 1, b'e',
        ][..],
        &[6, 5, 2, 1, b'x', 1, b'y', 10, 1, 45],
    ];
    table_map(
        &[246, 254, 15, 10, 245],
        &[4, 2, 0xf7, 1, 20, 0, 4],
        &optional.concat(),
    )
}

/// `1.00, 'x', 'a', 2026-11-02, 1`.
const GOOD: &[u8] = &[
    0xe0, 0x81, 0x00, 1, 1, b'a', 0x62, 0xd5, 0x0f, 3, 0, 0, 0, 5, 1, 0,
];

#[test]
fn each_value_is_told_by_table_column_and_row() {
    let bad = [
        0xe0, 0xff, 0xff, 3, 2, b'a', 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 12, 0x7f,
    ];
    let event = rows(WRITE, 5, &[GOOD, &bad, GOOD].concat());
    let problems = problems_of(of_every_check(), WRITE, &event);
    assert_eq!(
        messages(&problems),
        [
            "WRITE_ROWS: shop.t.a: row 2 of the event: a DECIMAL group of 2 digits holds 127",
            "WRITE_ROWS: shop.t.b: row 2 of the event: label 3 of an ENUM of 2",
            "WRITE_ROWS: shop.t.c: row 2 of the event: the bytes at offset 1 are no utf8mb4 \
             character; bytes that are none stand as \\xNN",
            "WRITE_ROWS: shop.t.d: row 2 of the event: the date 32767-15-31",
            "WRITE_ROWS: shop.t.e: row 2 of the event: byte 1 of the JSON document: a field needs \
             127 bytes, but 0 are left",
        ]
    );
    let severities: Vec<Severity> = problems.iter().map(|p| p.severity).collect();
    let (error, warning) = (Severity::Error, Severity::Warning);
    assert_eq!(severities, [error, error, warning, error, error]);
    assert!(problems.iter().all(|p| p.kind == UndecodedValue));
    let event = rows(WRITE, 5, &GOOD.repeat(1000));
    assert_eq!(problems_of(of_every_check(), WRITE, &event), []);
}

#[test]
fn of_many_values_a_few_are_told_and_the_others_counted() {
    let mut bad = GOOD.to_vec();
    bad[5] = 0xff;
    let mut worse = GOOD.to_vec();
    worse[3] = 7;
    let all = [&GOOD.repeat(300), &bad.repeat(600)[..], &worse].concat();
    let problems = problems_of(of_every_check(), WRITE, &rows(WRITE, 5, &all));
    assert_eq!(problems.len(), 11);
    for (n, problem) in problems[..10].iter().enumerate() {
        let row = format!("shop.t.c: row {} of the event: ", 301 + n);
        assert!(problem.message.contains(&row), "{problem}");
        assert_eq!(problem.severity, Severity::Warning);
    }
    let last = &problems[10];
    assert_eq!(
        last.message,
        "WRITE_ROWS: shop.t: 591 more values of the event are not exact"
    );
    // The worst of them is one that does not decode.
    assert_eq!(last.severity, Severity::Error);
}

#[test]
fn rows_before_one_that_does_not_fit_are_checked() {
    let mut bad = GOOD.to_vec();
    bad[3] = 7;
    let event = rows(WRITE, 5, &[&bad, GOOD, &GOOD[..9]].concat());
    let problems = problems_of(of_every_check(), WRITE, &event);
    assert_eq!(problems.len(), 2, "{problems:#?}");
    let row = "WRITE_ROWS shop.t.e: row 3 of the event, at byte 32 of its rows: ";
    let row = row.replacen(' ', ": ", 1);
    assert!(problems[0].message.starts_with(&row), "{}", problems[0]);
    assert_eq!(problems[0].kind, BadEvent);
    assert!(problems[1].message.contains("shop.t.b: row 1"));
}

#[test]
fn both_images_of_an_update_are_checked() {
    let map = || table_map(&[15], &[20, 0], &[2, 1, 45]);
    let event = rows(
        UPDATE,
        1,
        &[0xfe, 1, 0xff, 0xfe, 1, b'a', 0xfe, 1, b'a', 0xff],
    );
    let problems = problems_of(map(), UPDATE, &event);
    assert_eq!(problems.len(), 1);
    let place = "UPDATE_ROWS: shop.t.@1: row 1 of the event before the change: the bytes";
    assert!(problems[0].message.starts_with(place), "{}", problems[0]);
    let event = rows(UPDATE, 1, &[0xfe, 1, b'a', 0xfe, 1, 0xff]);
    let problems = problems_of(map(), UPDATE, &event);
    let place = "UPDATE_ROWS: shop.t.@1: row 1 of the event: the bytes";
    assert!(problems[0].message.starts_with(place), "{}", problems[0]);
}

#[test]
fn changes_of_json_are_made() {
    let map = || table_map(&[245], &[4], &[]);
    // {"a": 1}, then $.a = 2; the same on 1; a path that is none, on a NULL.
    let object = [13, 0, 0, 0, 0, 1, 0, 12, 0, 11, 0, 1, 0, 5, 1, 0, b'a'];
    let change = [9, 0, 0, 0, 0, 3, b'$', b'.', b'a', 3, 5, 2, 0];
    let row = |before: &[u8], change: &[u8]| [&[0xfe], before, &[1, 1, 0xfe], change].concat();
    let good = row(&object, &change);
    let on_a_number = row(&[3, 0, 0, 0, 5, 1, 0], &change);
    let event = rows(
        PARTIAL_UPDATE,
        1,
        &[good.clone(), on_a_number, good].concat(),
    );
    let problems = problems_of(map(), PARTIAL_UPDATE, &event);
    assert_eq!(
        messages(&problems),
        [
            "PARTIAL_UPDATE_ROWS: shop.t.@1: row 2 of the event: JSON change 1 at byte 0: replace \
             $.a: nothing is there; was the document before another one?"
        ]
    );
    let mut no_path = change;
    no_path[6] = b'#';
    let event = rows(PARTIAL_UPDATE, 1, &row(&object, &no_path));
    let problems = problems_of(map(), PARTIAL_UPDATE, &event);
    assert_eq!((problems.len(), problems[0].severity), (1, Severity::Error));
}

#[test]
fn what_the_log_does_not_tell_is_told_once_of_a_column_or_by_a_hint() {
    // Nothing is told of (TINYINT, VARCHAR).
    let mut forge = Forge::new();
    let row = [0xfc, 0xff, 1, 0xfc];
    for _ in 0..3 {
        forge.event(TABLE_MAP, &table_map(&[1, 15], &[20, 0], &[]));
        forge.event(WRITE, &rows(WRITE, 2, &row.repeat(300)));
    }
    forge.event(XID, &[7; 8]);
    let (problems, _) = check(Checker::default(), forge.build());
    assert_eq!(
        messages(&problems),
        [
            "WRITE_ROWS: shop.t.@1: row 1 of the event: -1 (255): the log does not tell whether \
             the column is unsigned; a schema file (--schema) does",
            "WRITE_ROWS: shop.t.@2: row 1 of the event: the bytes at offset 0 are no UTF-8, and the \
             log does not tell the column's character set; a schema file (--schema) does",
        ]
    );
    let column = |name: &str, ty, unsigned, collation| ColumnHint {
        name: name.to_owned(),
        ty,
        unsigned,
        collation,
        labels: Vec::new(),
        nullable: true,
        visible: true,
    };
    let hint = TableHint {
        source: NameSource::Ddl,
        columns: vec![
            column("n", DeclaredType::TinyInt, true, None),
            column("name", DeclaredType::VarChar, false, Some(8)),
        ],
        primary_key: Vec::new(),
    };
    let asked = Arc::new(std::sync::Mutex::new(Vec::new()));
    let note = Arc::clone(&asked);
    let plan_of = move |map: &Arc<TableMapOwned>, pos: u64, index: Option<u32>| {
        note.lock().unwrap().push((pos, index));
        RowPlan::with_hint(map, &hint).ok().map(Arc::new)
    };
    let (problems, _) = check(Checker::with_plans(plan_of), forge.build());
    assert_eq!(problems, []);
    assert_eq!(asked.lock().unwrap().len(), 3);
}

/// A table with a column of each type, of which nothing but the types is told.
fn of_every_type() -> Vec<u8> {
    let types = [
        1, 2, 3, 8, 9, 4, 5, 246, 16, 13, 10, 11, 12, 7, 17, 18, 19, 15, 254, 254, 254, 252, 245,
        255, 242, 140, 141,
    ];
    let metadata = [
        4, 8, 20, 5, 3, 1, 3, 6, 2, 200, 0, 0xfe, 10, 0xf7, 1, 0xf8, 2, 2, 4, 4, 4, 2, 20, 0,
    ];
    // Labels of the SET and of the ENUM.
    table_map(&types, &metadata, &[5, 3, 1, 1, b's', 6, 3, 1, 1, b'e'])
}

/// Asserts what holds for the problems of any rows: each names the table; and the column, unless
/// what is between the values does not fit.
fn assert_named(problems: &[Problem]) -> Result<(), TestCaseError> {
    prop_assert!(problems.len() <= 12);
    for problem in problems {
        let message = &problem.message;
        let between = [
            "a field needs 4 bytes",
            "value options 0x",
            "does not begin a length",
        ];
        let named = message.contains(": shop.t.@")
            || message.contains(": shop.t: ")
                && (message.contains(" more values of the event")
                    || between.iter().any(|what| message.contains(what)));
        prop_assert!(named, "{}", problem);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Issue 3: random bytes in a rows event decode or give an error that names table and column,
    /// memory is bounded, and the next event is read.
    #[test]
    fn random_rows(
        code in prop::sample::select(vec![WRITE, UPDATE, 32, PARTIAL_UPDATE]),
        bytes in prop::collection::vec(prop_oneof![4 => any::<u8>(), 2 => Just(0u8)], 0..600),
    ) {
        let mut body = b"\x5d\0\0\0\0\0\x01\0\x02\0\x1b".to_vec();
        body.extend([0xff; 4]);
        if matches!(code, UPDATE | PARTIAL_UPDATE) {
            body.extend([0xff; 4]);
        }
        body.extend(&bytes);
        let mut problems = Vec::new();
        let peak = peak_of(|| problems = problems_of(of_every_type(), code, &body));
        prop_assert!(peak < 64 << 20, "{}", peak);
        assert_named(&problems)?;
    }

    /// The same of one column, so that many rows fit and their values are looked at.
    #[test]
    fn random_values_of_one_type(
        (code, metadata) in prop::sample::select(vec![
            (246, &[4, 2][..]), (246, &[65, 30]), (16, &[3, 1]), (10, &[]), (11, &[]), (12, &[]),
            (17, &[3]), (18, &[6]), (19, &[2]), (15, &[200, 0]), (254, &[0xf7, 1]),
            (254, &[0xf8, 1]), (252, &[1]), (245, &[1]), (255, &[1]), (242, &[1]), (140, &[1]),
            (141, &[20, 0]),
        ]),
        bytes in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let mut rows_of = Vec::new();
        // Each byte but the last few begins a row that fits: no NULL, then bytes as they come.
        let mut rest = &bytes[..];
        while let Some((&len, tail)) = rest.split_first() {
            let value = &tail[..tail.len().min(usize::from(len) % 32)];
            rows_of.push(0xfe);
            if matches!(code, 15 | 252 | 245 | 255 | 242 | 140 | 141) {
                rows_of.push(value.len() as u8);
            }
            rows_of.extend(value);
            rest = &tail[value.len()..];
        }
        let optional = match (code, metadata[..].first()) {
            (15 | 252, _) => &[2, 1, 45][..],
            (254, Some(0xf7)) => &[6, 3, 1, 1, b'e'],
            (254, _) => &[5, 3, 1, 1, b's'],
            _ => &[],
        };
        let map = table_map(&[code], metadata, optional);
        let problems = problems_of(map, WRITE, &rows(WRITE, 1, &rows_of));
        assert_named(&problems)?;
    }
}
