use super::*;
use crate::binlog::event::Flavor;

mod encoded;
mod expected;
mod oracle;

/// The shape of a table with columns of these types.
fn shape(types: &[u8], metadata: &[u8]) -> RowShape {
    let mut body = b"\x5d\0\0\0\0\0\0\0\x01s\0\x01t\0".to_vec();
    body.push(types.len() as u8);
    body.extend(types);
    body.push(metadata.len() as u8);
    body.extend(metadata);
    body.resize(body.len() + types.len().div_ceil(8), 0xff);
    RowShape::new(&TableMap::read_body(&body, false, Flavor::MySql).unwrap()).unwrap()
}

fn insert(shape: &RowShape, present: &[u8], rows: &[u8]) -> Result<u32> {
    shape
        .hops(RowsKind::Insert, None, Some(present))?
        .count(rows)
}

#[test]
fn buglog_120_null_bits_stand_for_the_columns_present() {
    // 20 columns, 9 present: two bytes of null bits, not three.
    let shape = shape(&[1; 20], &[]);
    let present = [0xff, 0x01, 0x00];
    let row = [0x00, 0xfe, 1, 2, 3, 4, 5, 6, 7, 8, 9];
    assert_eq!(insert(&shape, &present, &row).unwrap(), 1);
    assert_eq!(insert(&shape, &present, &row.repeat(7)).unwrap(), 7);
    assert!(insert(&shape, &present, &row[..10]).is_err());
}

#[test]
fn buglog_75_absent_is_not_null() {
    // UPDATE t SET c = 30 under MINIMAL: (a, b, c), before image a, after image c.
    let shape = shape(&[3, 3, 3], &[]);
    let hops = shape
        .hops(RowsKind::Update, Some(&[0b001]), Some(&[0b100]))
        .unwrap();
    let row = [0xfe, 1, 0, 0, 0, 0xfe, 30, 0, 0, 0];
    assert_eq!(hops.count(&row).unwrap(), 1);
    // A NULL is present and takes a bit but no byte.
    let row = [0xfe, 1, 0, 0, 0, 0xff];
    assert_eq!(hops.count(&row).unwrap(), 1);
}

#[test]
fn mixed_widths_with_and_without_null() {
    // INT, VARCHAR(300), DECIMAL(10,2), BLOB, TINYINT
    let shape = shape(&[3, 15, 246, 252, 1], &[0x2c, 1, 10, 2, 2]);
    let full = [
        0xe0, 1, 0, 0, 0, 2, 0, b'a', b'b', 0x80, 0, 0, 1, 5, 1, 0, b'x', 9,
    ];
    let nulls = [0xe0 | 0b01010, 1, 0, 0, 0, 0x80, 0, 0, 1, 5, 9];
    let rows = [&full[..], &nulls, &full].concat();
    assert_eq!(insert(&shape, &[0x1f], &rows).unwrap(), 3);
    let error = insert(&shape, &[0x1f], &rows[..rows.len() - 1]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert_eq!(error.at().column.as_deref(), Some("@5"));
    assert_eq!(
        error.message(),
        "row 3 of the event: a field needs 1 bytes, but 0 are left"
    );
}

#[test]
fn partial_updates_have_a_bit_for_each_json_column_present_or_not() {
    // (INT, 9 × JSON), only the first two columns in the after image.
    let types = [3, 245, 245, 245, 245, 245, 245, 245, 245, 245];
    let shape = shape(&types, &[4; 9]);
    let hops = shape
        .hops(RowsKind::PartialUpdate, Some(&[1, 0]), Some(&[3, 0]))
        .unwrap();
    let before = [0xfe, 1, 0, 0, 0];
    let partial = [1, 0b1, 0, 0xfc, 1, 0, 0, 0, 2, 0, 0, 0, 0xaa, 0xbb];
    assert_eq!(hops.count(&[&before[..], &partial].concat()).unwrap(), 1);
    // Value options 0: no partial bits.
    let full = [0, 0xfc, 1, 0, 0, 0, 1, 0, 0, 0, 0xaa];
    assert_eq!(hops.count(&[&before[..], &full].concat()).unwrap(), 1);
    let unknown = [&before[..], &[2], &partial[1..]].concat();
    assert_eq!(
        hops.count(&unknown).unwrap_err().kind(),
        ErrorKind::Unsupported
    );
}

#[test]
fn old_times_with_an_unlogged_fraction_are_noticed() {
    // MariaDB 10.11, mysql56_temporal_format=OFF: `ot3 (id int, d datetime(3))`, type 12 without
    // metadata; 12 rows of 1+4+7 bytes, taken for 1+4+8.
    let shape = shape(&[3, 12], &[]);
    let row = |d: &[u8]| [&[0xfc, 1, 0, 0, 0][..], d].concat();
    let whole = row(&[0; 8]);
    assert_eq!(insert(&shape, &[3], &whole.repeat(12)).unwrap(), 12);
    let fraction = row(&[0; 7]);
    let error = insert(&shape, &[3], &fraction.repeat(13)).unwrap_err();
    assert!(error.message().contains("fraction"), "{error}");
}

#[test]
fn a_type_without_length_matters_only_where_it_is_present() {
    // The hidden column of a functional index (rpl_unfiltered_hidden_gcol): never present.
    let shape = shape(&[3, 20, 3], &[8]);
    let row = [0xfc, 1, 0, 0, 0, 2, 0, 0, 0];
    assert_eq!(insert(&shape, &[0b101], &row).unwrap(), 1);
    let error = insert(&shape, &[0b111], &row).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(error.at().column.as_deref(), Some("@2"));
}

#[test]
fn bytes_without_a_column_do_not_go_on_for_ever() {
    let shape = shape(&[3], &[]);
    assert_eq!(insert(&shape, &[0], &[]).unwrap(), 0);
    assert!(insert(&shape, &[0], &[1, 2, 3]).is_err());
}
