//! Places against what [`RowReader`] reads: every row of every log, and any bytes.

use super::*;
use crate::binlog::row::testing::each_rows_event;
use crate::binlog::types::ColumnType;
use proptest::prelude::*;
use std::path::{Path, PathBuf};

/// Bytes around the rows in their block.
const AROUND: (&[u8], &[u8]) = (&[0xaa; 7], &[0x55; 300]);

#[derive(Default, Debug)]
struct Count {
    logs: u32,
    rows: u64,
    cells: u64,
    nulls: u64,
    absent: u64,
    carried: u64,
    diffs: u64,
}

/// Locates all rows in a block with other bytes around them, `limit` a call.
fn all(
    map: &TableMapOwned,
    event: &RowsEvent<'_>,
    block: &[u8],
    (row, before): (&[usize], &[usize]),
    limit: usize,
) -> Result<(Located, Option<Error>)> {
    let plan = plan(map, event, row, before)?;
    let mut left = plan.rows(AROUND.0.len(), block.len() - AROUND.1.len());
    let (mut out, mut count) = (Located::default(), 0);
    let error = loop {
        let (located, error) = plan.locate(block, &mut left, limit, &mut out);
        count += located;
        assert!(located <= limit);
        if error.is_some() || left.is_done() {
            break error;
        }
    };
    assert_eq!(left.index() as usize, count);
    let lists = out.row.iter().chain(&out.before);
    assert!(lists.into_iter().all(|list| list.len() == count));
    Ok((out, error))
}

/// Compares every cell with the place of its value; the error of the reader, if it has one.
fn compare(
    map: &TableMapOwned,
    event: &RowsEvent<'_>,
    rows: &[u8],
    count: &mut Count,
) -> Option<Error> {
    let columns = match map.plan() {
        Ok(plan) => plan.columns(),
        Err(error) => return Some(error),
    };
    let every: Vec<usize> = (0..columns.len()).collect();
    let block = [AROUND.0, rows, AROUND.1].concat();
    let mut reader = match RowReader::new(map, event, rows) {
        Ok(reader) => reader,
        Err(error) => {
            // Before any row, or all of them were hopped over first.
            let ours = match all(map, event, &block, (&every, &every), 100) {
                Ok((found, ours)) => {
                    assert!(found.is_empty());
                    ours.unwrap()
                }
                Err(error) => error,
            };
            assert_eq!(ours.to_string(), error.to_string());
            return Some(error);
        }
    };
    let (found, error) = all(map, event, &block, (&every, &every), 3).unwrap();
    let mut read = 0;
    let end = loop {
        let row = match reader.next() {
            Ok(Some(row)) => row,
            Ok(None) => break None,
            Err(error) => break Some(error),
        };
        for (n, column) in columns.iter().enumerate() {
            let before = row.before.map_or(Cell::Absent, |cells| cells[n]);
            let after = row.after.map_or(Cell::Absent, |cells| cells[n]);
            let expected = if after == Cell::Absent { before } else { after };
            let place = found.row[n][read];
            let ours = cell_at(column, &block, place).unwrap();
            same(ours, expected);
            same(
                cell_at(column, &block, found.before[n][read]).unwrap(),
                before,
            );
            let base = found.base[n].get(read);
            assert_eq!(base.is_some(), column.is_json());
            if let Some(&base) = base {
                same(cell_at(column, &block, base).unwrap(), before);
            }
            match ours {
                Cell::Absent => count.absent += 1,
                Cell::JsonDiff(_) => count.diffs += 1,
                Cell::Value(Value::Null) => count.nulls += 1,
                Cell::Value(_) if row.after.is_some() && after == Cell::Absent => {
                    count.carried += 1;
                }
                Cell::Value(_) => count.cells += 1,
            }
        }
        read += 1;
        count.rows += 1;
    };
    match &end {
        // Rows fit that have values which do not decode.
        Some(expected) if found.len() == read && error.is_some() => {
            let ours = error.as_ref().unwrap();
            assert_eq!(ours.at().table, expected.at().table);
        }
        Some(_) => assert!(found.len() >= read),
        None => {
            assert!(error.is_none(), "{error:?}");
            assert_eq!(found.len(), read);
        }
    }
    // Fewer columns, other fusing, the same places.
    for step in [2, 3, 7] {
        let part = |rest: usize| every.iter().copied().filter(move |n| n % step == rest);
        let (row, before): (Vec<_>, Vec<_>) = (part(0).collect(), part(1).collect());
        let (some, again) = all(map, event, &block, (&row, &before), usize::MAX).unwrap();
        for (lists, all, wanted) in [
            (some.row, &found.row, &row),
            (some.before, &found.before, &before),
            (some.base, &found.base, &row),
        ] {
            for (list, &n) in lists.iter().zip(wanted) {
                assert_eq!(list, &all[n]);
            }
        }
        assert_eq!(
            again.map(|e| e.to_string()),
            error.as_ref().map(Error::to_string)
        );
    }
    end
}

/// NaN is like itself here.
#[track_caller]
fn same(ours: Cell<'_>, expected: Cell<'_>) {
    assert_eq!(format!("{ours:?}"), format!("{expected:?}"));
}

fn compare_log(log: Vec<u8>, count: &mut Count) -> Vec<String> {
    count.logs += 1;
    each_rows_event(log, |map, event, rows| {
        match compare(map, event, rows, count) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    })
}

#[test]
fn places_of_every_row_of_the_fixtures() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut count = Count::default();
    for entry in std::fs::read_dir(&fixtures).unwrap() {
        let path = entry.unwrap().path();
        let log = std::fs::read(&path).unwrap_or_default();
        if log.starts_with(b"\xfebin") {
            let errors = compare_log(log, &mut count);
            assert_eq!(errors, [""; 0], "{}", path.display());
        }
    }
    eprintln!("{count:?}");
    assert!(
        count.logs > 10 && count.rows > 500 && count.nulls > 0,
        "{count:?}"
    );
    assert!(count.carried > 0, "{count:?}");
}

#[test]
fn places_of_every_row_of_the_corpus() {
    let Some(corpus) = std::env::var_os("BINLOG_CORPUS").map(PathBuf::from) else {
        eprintln!("SKIPPED: BINLOG_CORPUS does not name the corpus of binary logs");
        return;
    };
    let manifest = std::fs::read_to_string(corpus.join("MANIFEST.tsv")).unwrap();
    let mut count = Count::default();
    for path in manifest
        .lines()
        .skip(1)
        .filter_map(|line| line.split('\t').next())
    {
        let log = std::fs::read(corpus.join(path)).unwrap();
        // Damaged logs are among them; what is wrong there is wrong for the reader too.
        compare_log(log, &mut count);
    }
    eprintln!("{count:?}");
    assert!(
        count.logs > 150 && count.rows > 5000 && count.diffs > 0,
        "{count:?}"
    );
}

/// A table of random columns.
fn random_table(columns: &[(u8, [u8; 3])]) -> (Vec<u8>, Vec<u8>) {
    let (mut types, mut metadata) = (Vec::new(), Vec::new());
    for (code, meta) in columns {
        let mut rest = Cursor::new(meta);
        let Ok(ty) = ColumnType::read(*code, &mut rest) else {
            continue;
        };
        let width = ty.width();
        if width.is_err_and(|error| error.kind() != ErrorKind::Unsupported) {
            continue;
        }
        types.push(*code);
        metadata.extend(&meta[..3 - rest.len()]);
    }
    (types, metadata)
}

const KINDS: [RowsKind; 4] = [
    RowsKind::Insert,
    RowsKind::Update,
    RowsKind::Delete,
    RowsKind::PartialUpdate,
];

proptest! {
    /// Random bytes as rows of random tables, whose strings are short.
    #[test]
    fn any_bytes(
        columns in prop::collection::vec((prop_oneof![
            any::<u8>(),
            prop::sample::select(&[1u8, 3, 15, 245, 252, 254][..]),
        ], any::<[u8; 3]>()), 1..14),
        before: [u8; 2], after: [u8; 2], kind in 0..4usize,
        rows in prop::collection::vec(prop_oneof![any::<u8>(), 0..3u8], 0..200),
    ) {
        let (types, metadata) = random_table(&columns);
        prop_assume!(!types.is_empty());
        let map = table(&types, &metadata, &[]);
        let kind = KINDS[kind];
        let event = event(
            kind,
            (kind != RowsKind::Insert).then_some(&before[..]),
            (kind != RowsKind::Delete).then_some(&after[..]),
            types.len(),
        );
        compare(&map, &event, &rows, &mut Count::default());
    }

    /// Rows of a log with a byte that is another, or without their end.
    #[test]
    fn damaged_rows(which in 0..100usize, at: prop::sample::Index, byte: u8, cut: bool) {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/fixtures/mysql-9.7-shop.000001");
        let mut n = 0;
        each_rows_event(std::fs::read(fixture).unwrap(), |map, event, rows| {
            n += 1;
            if n - 1 == which && !rows.is_empty() {
                let mut rows = rows.to_vec();
                let at = at.index(rows.len());
                rows[at] = byte;
                if cut {
                    rows.truncate(at);
                }
                compare(map, event, &rows, &mut Count::default());
            }
            Ok(())
        });
    }
}
