use super::*;
use crate::binlog::event::testing::{decode, hex};
use crate::binlog::event::{Event, FormatDescription};
use crate::binlog::row::testing::{event, table};
use crate::binlog::types::{AnyInt, Date};
use crate::error::ErrorKind;
use proptest::prelude::*;

mod mariadb;

/// The images of all rows, or the error.
type Images<'a> = Vec<(Option<Vec<Cell<'a>>>, Option<Vec<Cell<'a>>>)>;

fn read<'a>(map: &TableMapOwned, event: &RowsEvent<'_>, rows: &'a [u8]) -> Result<Images<'a>> {
    let mut reader = RowReader::new(map, event, rows)?;
    let mut images = Vec::new();
    while let Some(row) = reader.next()? {
        assert_eq!(row.index as usize, images.len());
        images.push((row.before.map(<[_]>::to_vec), row.after.map(<[_]>::to_vec)));
    }
    Ok(images)
}

fn any_int(bits: u64) -> Cell<'static> {
    Cell::Value(Value::AnyInt(AnyInt { bits, bytes: 4 }))
}

const NULL: Cell<'static> = Cell::Value(Value::Null);

/// The texts of all cells of the after images.
fn texts(map: &TableMapOwned, event: &RowsEvent<'_>, rows: &[u8]) -> Vec<Vec<String>> {
    let columns = map.plan().unwrap().columns();
    let text = |(column, cell): (&super::super::ColumnPlan, &Cell<'_>)| {
        let mut out = String::new();
        column.write_text(cell.value().unwrap(), &mut out).unwrap();
        out
    };
    let images = read(map, event, rows).unwrap().into_iter();
    images
        .map(|(_, after)| columns.iter().zip(&after.unwrap()).map(text).collect())
        .collect()
}

#[test]
fn buglog_75_absent_is_not_null() {
    // UPDATE t SET c = 30 under MINIMAL: (a, b, c), before image a, after image c.
    let map = table(&[3, 3, 3], &[], &[]);
    let event = event(RowsKind::Update, Some(&[0b001]), Some(&[0b100]), 3);
    let rows = [0xfe, 1, 0, 0, 0, 0xfe, 30, 0, 0, 0, 0xfe, 2, 0, 0, 0, 0xff];
    let images = read(&map, &event, &rows).unwrap();
    let absent = Cell::Absent;
    assert_eq!(
        images[0].0.as_deref(),
        Some(&[any_int(1), absent, absent][..])
    );
    assert_eq!(
        images[0].1.as_deref(),
        Some(&[absent, absent, any_int(30)][..])
    );
    assert_eq!(images[1].1.as_deref(), Some(&[absent, absent, NULL][..]));
    assert_eq!(images.len(), 2);
}

#[test]
fn buglog_120_null_bits_stand_for_the_columns_present() {
    let map = table(&[1; 20], &[], &[]);
    let event = event(RowsKind::Insert, None, Some(&[0xff, 0x01, 0x00]), 20);
    let row = [0x02, 0xfe, 1, 3, 4, 5, 6, 7, 8, 9];
    let images = read(&map, &event, &row).unwrap();
    let after = images[0].1.as_ref().unwrap();
    assert_eq!((after[1], after[9], after.len()), (NULL, Cell::Absent, 20));
    assert!(matches!(
        after[8],
        Cell::Value(Value::AnyInt(AnyInt { bits: 9, .. }))
    ));
}

#[test]
fn buglog_64_metadata_of_absent_columns_is_not_taken_by_present_ones() {
    // SIGNEDNESS 01010 (high bit first): columns 2 and 4; columns 1, 3 and 5 are present.
    let map = table(&[3; 5], &[], &[1, 1, 0b0101_0000]);
    let event = event(RowsKind::Insert, None, Some(&[0b10101]), 5);
    let row = [0xf8, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 3, 0, 0, 0];
    let images = read(&map, &event, &row).unwrap();
    let after = images[0].1.as_ref().unwrap();
    assert_eq!(after[0], Cell::Value(Value::Int(-1)));
    assert_eq!(after[2], Cell::Value(Value::Int(2)));
    let columns = map.plan().unwrap().columns();
    assert_eq!(
        columns[1].context.signedness,
        crate::binlog::types::Signedness::Unsigned
    );
}

#[test]
fn buglog_22_23_and_77_signedness_counts_numeric_columns_only() {
    // (int unsigned, int, varchar, int unsigned); ten TINYINTs between text: the ninth is bit 7 of
    // the second byte.
    let map = table(&[3, 3, 15, 3], &[20, 0], &[1, 1, 0b1010_0000]);
    let event = event(RowsKind::Insert, None, Some(&[0xf]), 4);
    let row = hex("f0 ffffffff ffffffff 00 ffffffff");
    let shown = texts(&map, &event, &row);
    assert_eq!(shown, [["4294967295", "-1", "", "4294967295"]]);
    let types = [1, 15, 1, 1, 1, 1, 1, 15, 1, 1, 1, 1];
    let map = table(&types, &[20, 0, 20, 0], &[1, 2, 0, 0x80]);
    let unsigned: Vec<u32> = map
        .plan()
        .unwrap()
        .columns()
        .iter()
        .filter(|c| c.context.signedness == crate::binlog::types::Signedness::Unsigned)
        .map(|c| c.number)
        .collect();
    assert_eq!(unsigned, [11]);
}

#[test]
fn buglog_32_and_33_labels_belong_to_their_columns() {
    // (SET, INT, ENUM, ENUM): the ENUM is not the first column; labels in utf8mb4 (255).
    let optional =
        hex("05 0a 04 0161 0162 0163 026464  06 0b 02 0178 02c3bc 02 0131 0132  0a 01 2d");
    let map = table(&[254, 3, 254, 254], &[0xf8, 1, 0xf7, 1, 0xf7, 1], &optional);
    let event = event(RowsKind::Insert, None, Some(&[0xf]), 4);
    let shown = texts(
        &map,
        &event,
        &hex("f0 09 01000000 02 00  f0 00 01000000 01 02"),
    );
    assert_eq!(shown, [["a,dd", "1", "ü", ""], ["", "1", "x", "2"]]);
    // What is no label is an error that names the column.
    let rows = hex("f0 10 01000000 03 00");
    let images = read(&map, &event, &rows).unwrap();
    let after = images[0].1.as_ref().unwrap();
    let columns = map.plan().unwrap().columns();
    for n in [0, 2] {
        let value = after[n].value().unwrap();
        let error = columns[n]
            .write_text(value, &mut String::new())
            .unwrap_err();
        assert_eq!(error.at().column.clone(), Some(format!("@{}", n + 1)));
    }
}

#[test]
fn a_set_with_empty_labels() {
    // ('', 'b', '', 'dd'): servers write no comma behind empty labels at the beginning.
    let map = table(
        &[254],
        &[0xf8, 1],
        &hex("05 08 04 00 0162 00 026464  0a 01 2d"),
    );
    let event = event(RowsKind::Insert, None, Some(&[1]), 1);
    let shown = texts(&map, &event, &hex("fe 05  fe 07  fe 0d  fe 0f"));
    assert_eq!(shown, [[""], ["b,"], ["dd"], ["b,,dd"]]);
}

#[test]
fn buglog_34_enum_of_more_than_127_labels() {
    let labels: Vec<u8> = (0..200u32)
        .flat_map(|n| {
            let label = format!("l{n}");
            [&[label.len() as u8], label.as_bytes()].concat()
        })
        .collect();
    let mut optional = vec![6, 0xfc];
    optional.extend(((labels.len() + 1) as u16).to_le_bytes());
    optional.push(200);
    optional.extend(&labels);
    let map = table(&[254], &[0xf7, 1], &optional);
    let column = &map.plan().unwrap().columns()[0];
    assert_eq!(column.enum_label(200).unwrap(), Some(&b"l199"[..]));
    assert_eq!(column.enum_label(0).unwrap(), Some(&b""[..]));
    assert!(column.enum_label(201).is_err());
    assert_eq!(column.labels().unwrap().len(), 200);
}

#[test]
fn buglog_38_and_39_text_by_its_collation() {
    // VARCHAR in gbk (28): 测试; CHAR(2) in utf8mb4 (45), 8 bytes; latin1 (8); BLOB.
    let optional = hex("03 04 1c 2d 08 3f");
    let map = table(&[15, 254, 15, 252], &[40, 0, 0xfe, 8, 40, 0, 2], &optional);
    let event = event(RowsKind::Insert, None, Some(&[0xf]), 4);
    let row = hex("f0 04 b2e2cad4 04 f09f9880 02 80e9 0200 00ff");
    assert_eq!(texts(&map, &event, &row), [["测试", "😀", "€é", "0x00FF"]]);
    // Without collations the bytes are kept; what is not UTF-8 is shown as such.
    let map = table(&[15, 254, 15, 252], &[40, 0, 0xfe, 8, 40, 0, 2], &[]);
    let shown = texts(&map, &event, &row);
    assert_eq!(
        shown,
        [["\\xb2\\xe2\\xca\\xd4", "😀", "\\x80\\xe9", "\\x00\\xff"]
            .map(|s| s.replace("\\x00", "\0"))]
    );
}

#[test]
fn buglog_68_a_hidden_column_shifts_nothing() {
    // rpl_unfiltered_hidden_gcol: (INT, hidden array of a functional index, INT).
    let map = table(&[3, 20, 3], &[8], &[]);
    let hidden = event(RowsKind::Insert, None, Some(&[0b101]), 3);
    let rows = [0xfc, 1, 0, 0, 0, 2, 0, 0, 0];
    let images = read(&map, &hidden, &rows).unwrap();
    assert_eq!(
        images[0].1.as_deref(),
        Some(&[any_int(1), Cell::Absent, any_int(2)][..])
    );
    let present = event(RowsKind::Insert, None, Some(&[0b111]), 3);
    let error = read(&map, &present, &rows).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().starts_with("s.t.@2: "), "{error}");
}

#[test]
fn buglog_71_a_row_of_another_table_is_refused() {
    let map = table(&[3, 3], &[], &[]);
    let event = event(RowsKind::Insert, None, Some(&[0b111]), 3);
    let error = RowReader::new(&map, &event, &[]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "s.t: rows of 3 columns, but the table map has 2"
    );
}

#[test]
fn partial_updates_hand_out_the_changes() {
    // (INT, JSON, INT, JSON, JSON): JSON column 1 absent from the after image, 2 a diff, 3 whole.
    let map = table(&[3, 245, 3, 245, 245], &[4, 4, 4], &[]);
    let partial = event(RowsKind::PartialUpdate, Some(&[1]), Some(&[0b11001]), 5);
    let before = hex("fe 01000000");
    let after = hex("01 02 f8 02000000 02000000 aabb 01000000 cc");
    let rows = [before.clone(), after].concat();
    let images = read(&map, &partial, &rows).unwrap();
    let expected = [
        any_int(2),
        Cell::Absent,
        Cell::Absent,
        Cell::JsonDiff(&[0xaa, 0xbb]),
        Cell::Value(Value::Json(&[0xcc])),
    ];
    assert_eq!(images[0].1.as_deref(), Some(&expected[..]));
    // Value options 0: no partial bits; a NULL is a NULL.
    let rows = [before.clone(), hex("00 fc 02000000 01000000 cc")].concat();
    let images = read(&map, &partial, &rows).unwrap();
    assert_eq!(images[0].1.as_ref().unwrap()[4], NULL);
    let rows = [before, hex("02 f8")].concat();
    assert_eq!(
        read(&map, &partial, &rows).unwrap_err().kind(),
        ErrorKind::Unsupported
    );
}

#[test]
fn an_error_names_row_table_and_column_and_ends_the_event() {
    // (INT, DATE) with names.
    let map = table(&[3, 10], &[], b"\x04\x08\x02id\x04born");
    let event = event(RowsKind::Insert, None, Some(&[3]), 2);
    let good = hex("fc 01000000 8a2f0e");
    let bad = hex("fc 02000000 ffffff");
    let rows = [&good[..], &bad, &good].concat();
    let mut reader = RowReader::new(&map, &event, &rows).unwrap();
    assert!(reader.next().unwrap().is_some());
    let error = reader.next().unwrap_err();
    assert_eq!(
        error.to_string(),
        "s.t.born: row 2 of the event, at byte 8 of its rows: the date 32767-15-31"
    );
    assert!(reader.next().unwrap().is_none());
    // A cut row is not cut, but wrong: the event is whole.
    let mut reader = RowReader::new(&map, &event, &rows[..6]).unwrap();
    let error = reader.next().unwrap_err();
    assert_eq!(
        (error.kind(), error.at().column.as_deref()),
        (ErrorKind::Corrupt, Some("born"))
    );
}

#[test]
fn rows_without_columns() {
    let map = table(&[3], &[], &[]);
    let empty = event(RowsKind::Insert, None, Some(&[0]), 1);
    let images = read(&map, &empty, &[]).unwrap();
    assert_eq!(images, [(None, Some(vec![Cell::Absent]))]);
    assert!(read(&map, &empty, &[1, 2, 3]).is_err());
    let none = event(RowsKind::Insert, None, Some(&[1]), 1);
    assert_eq!(read(&map, &none, &[]).unwrap(), []);
}

#[test]
fn buglog_8_9_and_10_no_row_is_decoded_of_an_event_that_does_not_fit() {
    // MariaDB 10.11, mysql56_temporal_format=OFF: (INT, DATETIME(3)) of 7 bytes, type 12.
    let map = table(&[3, 12], &[], &[]);
    let event = event(RowsKind::Insert, None, Some(&[3]), 2);
    let rows = hex("fc 01000000 00000000000000").repeat(3);
    let error = RowReader::new(&map, &event, &rows).unwrap_err();
    assert!(
        error.to_string().starts_with("s.t.@2: row 2 of the event"),
        "{error}"
    );
    assert!(error.message().contains("fraction"), "{error}");
}

#[test]
fn buglog_76_bad_metadata_is_an_error_that_names_the_table() {
    // SIGNEDNESS of two bytes for one column; a length beyond the event.
    for optional in [&[1, 2, 0, 0][..], &[4, 0xfc, 0xff, 0xff, 1]] {
        let error = table(&[3], &[], optional).plan().unwrap_err();
        assert_eq!(error.at().table.as_deref(), Some("s.t"), "{error}");
    }
}

#[test]
fn buglog_78_extra_row_information_changes_no_row() {
    let map = table(&[3], &[], &[]);
    let row = [0xfe, 7, 0, 0, 0];
    let format = FormatDescription::assumed();
    for extra in ["0200", "0a00 00 07 00 0102030405", "0500 01 0300"] {
        let head = [hex("5d0000000000 0100"), hex(extra), vec![1, 1]].concat();
        let head = head.into_iter().chain(row).collect::<Vec<u8>>();
        let Ok(Event::Rows(event)) = decode(30, &head, &format) else {
            panic!("{extra}");
        };
        let images = read(&map, &event, event.rows).unwrap();
        assert_eq!(images[0].1.as_deref(), Some(&[any_int(7)][..]), "{extra}");
    }
}

#[test]
fn buglog_81_bits_and_text_without_the_checksum() {
    // (INT, BIT(1), BIT(1), BIT(1), VARCHAR(20)): a CRC32 behind the row is no part of it.
    let map = table(&[3, 16, 16, 16, 15], &[1, 0, 1, 0, 1, 0, 20, 0], &[1, 1, 0]);
    let format = FormatDescription::assumed();
    let body = hex("5d0000000000 0100 0200 05 1f e0 01000000 01 00 01 02 6162");
    let Event::Rows(event) = decode(30, &body, &format).unwrap() else {
        panic!("not rows");
    };
    assert_eq!(
        texts(&map, &event, event.rows),
        [["1", "1", "0", "1", "ab"]]
    );
    let with_checksum = [event.rows, &[0x1c, 0x2d, 0x3e, 0x4f]].concat();
    assert!(read(&map, &event, &with_checksum).is_err());
}

#[test]
fn buglog_16_rows_of_small_and_large_integers() {
    let map = table(&[3, 3], &[], &[1, 1, 0]);
    let event = event(RowsKind::Insert, None, Some(&[3]), 2);
    let rows = hex("fc 0e270000 02000000  fc 5221ed30 01000000");
    let shown = texts(&map, &event, &rows);
    assert_eq!(shown, [["9998", "2"], ["820846930", "1"]]);
}

#[test]
fn a_date_that_no_calendar_has_is_a_value() {
    let map = table(&[10], &[], &[]);
    let event = event(RowsKind::Insert, None, Some(&[1]), 1);
    let row = hex("fe 0fa00f");
    let images = read(&map, &event, &row).unwrap();
    let date = Date {
        year: 2000,
        month: 0,
        day: 15,
    };
    assert_eq!(
        images[0].1.as_deref(),
        Some(&[Cell::Value(Value::Date(date))][..])
    );
}

proptest! {
    /// Random bytes as rows of random tables: rows or an error, and as many rows as hopping finds.
    #[test]
    fn any_bytes(
        columns in prop::collection::vec((any::<u8>(), any::<[u8; 3]>()), 1..12),
        before: [u8; 2], after: [u8; 2], kind in 0..4usize,
        rows in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let (mut types, mut metadata) = (Vec::new(), Vec::new());
        for (code, meta) in &columns {
            let mut rest = Cursor::new(meta);
            let Ok(ty) = crate::binlog::types::ColumnType::read(*code, &mut rest) else { continue };
            if ty.width().is_err_and(|error| error.kind() != ErrorKind::Unsupported) { continue }
            types.push(*code);
            metadata.extend(&meta[..3 - rest.len()]);
        }
        prop_assume!(!types.is_empty());
        let map = table(&types, &metadata, &[]);
        let kind = [RowsKind::Insert, RowsKind::Update, RowsKind::Delete, RowsKind::PartialUpdate][kind];
        let event = event(
            kind,
            (kind != RowsKind::Insert).then_some(&before[..]),
            (kind != RowsKind::Delete).then_some(&after[..]),
            types.len(),
        );
        let event = RowsEvent { rows: &rows, ..event };
        let hopped = event.count_rows(&map);
        match read(&map, &event, &rows) {
            Ok(images) => prop_assert_eq!(hopped.unwrap() as usize, images.len()),
            Err(error) => prop_assert_eq!(error.at().table.as_deref(), Some("s.t")),
        }
    }
}
