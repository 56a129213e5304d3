use super::*;
use crate::binlog::cursor::Cursor;
use crate::binlog::event::TableMapOwned;
use crate::binlog::event::testing::hex;
use crate::binlog::row::testing::{event, table};
use crate::binlog::row::{Cell, ColumnPlan, RowReader};
use crate::binlog::types::Value;
use crate::error::ErrorKind;

mod agree;

const NULL: Place = Place::NULL;
const ABSENT: Place = Place::ABSENT;

fn at(offset: usize) -> Place {
    Place::at(offset).unwrap()
}

fn plan(
    map: &TableMapOwned,
    event: &RowsEvent<'_>,
    row: &[usize],
    before: &[usize],
) -> Result<LocatePlan> {
    LocatePlan::new(map.plan().unwrap(), map.shape(), event, row, before)
}

/// Locates all rows of `rows`, which are the whole block.
fn locate(
    map: &TableMapOwned,
    event: &RowsEvent<'_>,
    wanted: (&[usize], &[usize]),
    rows: &[u8],
) -> (Located, Option<Error>) {
    let plan = plan(map, event, wanted.0, wanted.1).unwrap();
    let mut left = plan.rows(0, rows.len());
    let mut out = Located::default();
    let (_, error) = plan.locate(rows, &mut left, usize::MAX, &mut out);
    assert!(left.is_done());
    (out, error)
}

#[test]
fn inserted_rows_with_and_without_null() {
    // INT, VARCHAR(300), DECIMAL(10,2), BLOB, TINYINT
    let map = table(&[3, 15, 246, 252, 1], &[0x2c, 1, 10, 2, 2], &[]);
    let event = event(RowsKind::Insert, None, Some(&[0x1f]), 5);
    let full = hex("e0 01000000 0200 6162 8000000105 0100 78 09");
    let nulls = hex("ea 01000000 8000000105 09");
    let rows = [&full[..], &nulls, &full].concat();
    let (found, error) = locate(&map, &event, (&[4, 0, 1, 2, 3], &[0]), &rows);
    assert!(error.is_none());
    let second = full.len();
    let third = second + nulls.len();
    let lists = [
        [17, second + 10, third + 17].map(at).to_vec(),
        [1, second + 1, third + 1].map(at).to_vec(),
        vec![at(5), NULL, at(third + 5)],
        [9, second + 5, third + 9].map(at).to_vec(),
        vec![at(14), NULL, at(third + 14)],
    ];
    assert_eq!(found.row, lists);
    assert_eq!(found.before, [[ABSENT; 3]]);
    assert_eq!(found.base, [(); 5].map(|()| Vec::new()));
    assert_eq!(found.len(), 3);
    // The same, one row a call, and behind what is there already.
    let plan = plan(&map, &event, &[4, 0, 1, 2, 3], &[0]).unwrap();
    assert!(plan.is_of(&event));
    let mut left = plan.rows(0, rows.len());
    let mut again = Located::default();
    for n in 1..=3 {
        assert_eq!(plan.locate(&rows, &mut left, 1, &mut again).0, 1);
        assert_eq!((again.len(), left.index()), (n, n as u32));
    }
    assert_eq!(left.at(), rows.len());
    assert_eq!(again.row, found.row);
    assert_eq!(plan.locate(&rows, &mut left, 1, &mut again).0, 0);
    assert_eq!(plan.count(&rows).unwrap(), 3);
    again.clear();
    assert!(again.is_empty() && again.row.len() == 5);
    // Nothing wanted: rows are counted.
    let (none, error) = locate(&map, &event, (&[], &[]), &rows);
    assert!(none.is_empty() && error.is_none());
}

#[test]
fn a_column_that_only_the_before_image_has_is_unchanged() {
    // (a, b, c) under MINIMAL: before image a, after image c. b is in neither.
    let map = table(&[3, 3, 3], &[], &[]);
    let event = event(RowsKind::Update, Some(&[0b001]), Some(&[0b100]), 3);
    let rows = hex("fe 01000000 fe 1e000000  fe 02000000 ff");
    let (found, error) = locate(&map, &event, (&[0, 1, 2], &[0, 1, 2]), &rows);
    assert!(error.is_none());
    assert_eq!(found.row, [[at(1), at(11)], [ABSENT; 2], [at(6), NULL]]);
    assert_eq!(found.before, [[at(1), at(11)], [ABSENT; 2], [ABSENT; 2]]);
    // A column that both have is the one after.
    let both = event_of(RowsKind::Update, Some(&[0b001]), Some(&[0b101]));
    let rows = hex("fe 01000000 fc 02000000 1e000000");
    let (found, _) = locate(&map, &both, (&[0], &[0]), &rows);
    assert_eq!(
        (found.row, found.before),
        (vec![vec![at(6)]], vec![vec![at(1)]])
    );
    assert!(!plan(&map, &both, &[], &[]).unwrap().is_of(&event));
}

fn event_of<'a>(
    kind: RowsKind,
    before: Option<&'a [u8]>,
    after: Option<&'a [u8]>,
) -> RowsEvent<'a> {
    event(kind, before, after, 3)
}

#[test]
fn a_deleted_row_is_the_one_before() {
    let map = table(&[3, 3, 3], &[], &[]);
    let event = event_of(RowsKind::Delete, Some(&[0b101]), None);
    let rows = hex("fc 01000000 03000000");
    let (found, _) = locate(&map, &event, (&[2, 1, 0], &[0]), &rows);
    assert_eq!(found.row, [[at(5)], [ABSENT], [at(1)]]);
    assert_eq!(found.before, [[at(1)]]);
}

#[test]
fn changes_of_json_come_with_the_value_before() {
    // (INT, JSON, INT, JSON, JSON): JSON column 1 absent from the after image, 2 a diff, 3 whole.
    let map = table(&[3, 245, 3, 245, 245], &[4, 4, 4], &[]);
    let partial = |before| event(RowsKind::PartialUpdate, before, Some(&[0b11001]), 5);
    let before = hex("f4 01000000 01000000 11 01000000 22");
    let after = hex("01 02 f8 02000000 02000000 aabb 01000000 cc");
    let rows = [before.clone(), after.clone()].concat();
    let event = partial(Some(&[0b01011]));
    // In the before image: the INT, JSON 1 and 2.
    let rows = [hex("f8"), rows[1..].to_vec()].concat();
    let wanted = (&[0, 1, 2, 3, 4][..], &[3][..]);
    let (found, error) = locate(&map, &event, wanted, &rows);
    assert!(error.is_none(), "{error:?}");
    let after_at = before.len();
    let diff = at(after_at + 7).diff();
    assert_eq!(
        found.row,
        [
            [at(after_at + 3)],
            [at(5)],
            [ABSENT],
            [diff],
            [at(after_at + 13)]
        ]
    );
    assert!(diff.is_diff() && found.row[3][0].offset() == Some(after_at + 7));
    assert_eq!(found.before, [[at(10)]]);
    let none = Vec::new;
    assert_eq!(
        found.base,
        [none(), vec![at(5)], none(), vec![at(10)], vec![ABSENT]]
    );
    // Without the value before there are only the changes.
    let rows = [hex("fe 01000000"), after].concat();
    let (found, error) = locate(&map, &partial(Some(&[1])), wanted, &rows);
    assert!(error.is_none());
    assert_eq!((found.row[3][0], found.base[3][0]), (at(12).diff(), ABSENT));
    // Value options 0: no partial bits; a NULL is a NULL.
    let rows = hex("fe 01000000 00 fc 02000000 01000000 cc");
    let (found, _) = locate(&map, &partial(Some(&[1])), wanted, &rows);
    assert_eq!((found.row[3][0], found.row[4][0]), (at(11), NULL));
    let rows = hex("fe 01000000 02 f8");
    let (found, error) = locate(&map, &partial(Some(&[1])), wanted, &rows);
    assert_eq!(error.unwrap().kind(), ErrorKind::Unsupported);
    assert!(found.is_empty() && found.base.iter().all(Vec::is_empty));
}

#[test]
fn an_error_names_row_table_and_column_and_leaves_the_rows_before() {
    // (INT, VARCHAR(3)) with names.
    let map = table(&[3, 15], &[3, 0], b"\x04\x08\x02id\x04city");
    let event = event(RowsKind::Insert, None, Some(&[3]), 2);
    let good = hex("fc 01000000 02 6162");
    let bad = hex("fc 01000000 04 61626364");
    let rows = [&good[..], &good, &bad, &good].concat();
    let wanted = (&[1, 0][..], &[][..]);
    let (found, error) = locate(&map, &event, wanted, &rows);
    let error = error.unwrap();
    assert_eq!(
        error.to_string(),
        "s.t.city: row 3 of the event, at byte 16 of its rows: 4 bytes in a column of at most 3"
    );
    assert_eq!(found.row, [[at(5), at(13)], [at(1), at(9)]]);
    // Every cut, and with NULL too: the words of the reader of rows.
    let nulls = hex("fd 02 6162  fe 02000000");
    let rows = [&good[..], &nulls, &good].concat();
    let mut errors = 0;
    for cut in 0..rows.len() {
        let rows = &rows[..cut];
        let (found, error) = locate(&map, &event, wanted, rows);
        let mut reader = RowReader::new(&map, &event, rows).unwrap();
        let mut count = 0;
        let expected = loop {
            match reader.next() {
                Ok(Some(_)) => count += 1,
                Ok(None) => break None,
                Err(error) => break Some(error.to_string()),
            }
        };
        assert_eq!(error.map(|error| error.to_string()), expected);
        assert!(found.row.iter().all(|list| list.len() == count));
        errors += usize::from(expected.is_some());
    }
    assert_eq!(errors, rows.len() - 4);
}

#[test]
fn rows_without_columns() {
    let map = table(&[3], &[], &[]);
    let empty = event(RowsKind::Insert, None, Some(&[0]), 1);
    let (found, error) = locate(&map, &empty, (&[0], &[]), &[]);
    assert_eq!(found.row, [[ABSENT]]);
    assert!(error.is_none());
    assert_eq!(
        plan(&map, &empty, &[0], &[]).unwrap().count(&[]).unwrap(),
        1
    );
    let (found, error) = locate(&map, &empty, (&[0], &[]), &[1, 2, 3]);
    assert_eq!(
        error.unwrap().to_string(),
        "s.t: row 1 of the event, at byte 0 of its rows: 3 bytes of rows without a column"
    );
    assert!(found.is_empty());
    let none = event(RowsKind::Insert, None, Some(&[1]), 1);
    assert!(locate(&map, &none, (&[0], &[]), &[]).0.is_empty());
}

#[test]
fn buglog_8_9_and_10_no_row_is_located_of_an_event_that_does_not_fit() {
    // MariaDB 10.11, mysql56_temporal_format=OFF: (INT, DATETIME(3)) of 7 bytes, type 12.
    let map = table(&[3, 12], &[], &[]);
    let event = event(RowsKind::Insert, None, Some(&[3]), 2);
    let rows = hex("fc 01000000 00000000000000").repeat(3);
    let (found, error) = locate(&map, &event, (&[0], &[]), &rows);
    let reader = RowReader::new(&map, &event, &rows).unwrap_err();
    assert_eq!(error.unwrap().to_string(), reader.to_string());
    assert!(found.is_empty());
}

#[test]
fn what_belongs_to_no_table_or_block_is_refused() {
    let map = table(&[3, 20, 3], &[8], &[]);
    let refused = |event: &RowsEvent<'_>| {
        let ours = plan(&map, event, &[0], &[]).unwrap_err().to_string();
        let reader = RowReader::new(&map, event, &[]).unwrap_err().to_string();
        assert_eq!(ours, reader);
        ours
    };
    let columns = refused(&event(RowsKind::Insert, None, Some(&[3]), 2));
    assert_eq!(columns, "s.t: rows of 2 columns, but the table map has 3");
    let hidden = refused(&event_of(RowsKind::Insert, None, Some(&[7])));
    assert!(hidden.starts_with("s.t.@2: "), "{hidden}");
    let event = event_of(RowsKind::Insert, None, Some(&[5]));
    let plan = plan(&map, &event, &[0], &[]).unwrap();
    let mut left = plan.rows(3, 12);
    let (count, error) = plan.locate(&[0; 11], &mut left, 1, &mut Located::default());
    assert_eq!((count, error.unwrap().kind()), (0, ErrorKind::Invalid));
    assert!(left.is_done());
}

/// What the log has of a column, read where its place is.
fn cell_at<'a>(column: &ColumnPlan, block: &'a [u8], place: Place) -> Result<Cell<'a>> {
    let Some(offset) = place.offset() else {
        return Ok(match place {
            Place::NULL => Cell::Value(Value::Null),
            _ => Cell::Absent,
        });
    };
    let decode = column.ty.decode()?;
    let value = decode(&mut Cursor::new(&block[offset..]), column.context)?;
    Ok(match (value, place.is_diff()) {
        (Value::Json(diff), true) => Cell::JsonDiff(diff),
        _ => Cell::Value(value),
    })
}
