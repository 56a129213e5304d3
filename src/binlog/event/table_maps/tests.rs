use super::*;
use crate::binlog::event::table_map::tests::table_map;

fn map_of(id: u8, types: &[u8]) -> Vec<u8> {
    let mut body = table_map(types, &[], &[]);
    body[0] = id;
    body
}

fn read(body: &[u8]) -> TableMap<'_> {
    TableMap::read_body(body, false, Flavor::MySql).unwrap()
}

#[test]
fn the_same_bytes_are_not_parsed_again() {
    let mut maps = TableMaps::new();
    let body = map_of(93, &[3, 3]);
    let first = maps.insert(&read(&body)).unwrap();
    maps.end_statement();
    let again = maps.insert(&read(&body)).unwrap();
    assert!(Arc::ptr_eq(&first, &again));
    // Another table under the same id replaces it.
    let other = maps.insert(&read(&map_of(93, &[3]))).unwrap();
    assert!(!Arc::ptr_eq(&first, &other));
    assert_eq!(maps.get(93).unwrap().shape().column_count(), 1);
}

#[test]
fn names_and_the_map_come_back() {
    let mut maps = TableMaps::new();
    let owned = maps.insert(&read(&map_of(93, &[3, 8]))).unwrap();
    assert_eq!(
        (owned.schema(), owned.table(), owned.full_name()),
        ("s", "t", "s.t")
    );
    assert_eq!(owned.map().unwrap().column_types, [3, 8]);
    // A dot in a name does not move the border.
    let body = b"\x5d\0\0\0\0\0\0\0\x03a.b\0\x03c.d\0\x01\x03\0\0";
    let dotted = TableMapOwned::new(&read(body)).unwrap();
    assert_eq!((dotted.schema(), dotted.table()), ("a.b", "c.d"));
}

#[test]
fn buglog_72_a_map_serves_all_events_of_its_statement_and_no_more() {
    let mut maps = TableMaps::new();
    maps.insert(&read(&map_of(1, &[3]))).unwrap();
    maps.insert(&read(&map_of(2, &[3]))).unwrap();
    for _ in 0..3 {
        assert!(maps.get(1).is_some() && maps.get(2).is_some());
    }
    maps.end_statement();
    assert!(maps.get(1).is_none());
    let error = maps.require(2).unwrap_err().to_string();
    assert_eq!(
        error,
        "no table map for table id 2: the statement's beginning is missing"
    );
    maps.insert(&read(&map_of(1, &[3]))).unwrap();
    assert!(maps.get(1).is_some() && maps.get(2).is_none());
    maps.clear();
    assert!(maps.get(1).is_none());
}

#[test]
fn a_map_that_does_not_fit_leaves_its_id_without_a_table() {
    let mut maps = TableMaps::new();
    maps.insert(&read(&map_of(93, &[3]))).unwrap();
    let error = maps.insert(&read(&map_of(93, &[3, 99]))).unwrap_err();
    assert_eq!(error.to_string(), "s.t.@2: column type 99 is not known");
    assert!(maps.get(93).is_none());
}

#[test]
fn memory_is_bounded_and_what_is_dropped_is_counted() {
    let mut maps = TableMaps::with_limit(100_000);
    for id in 0..=255 {
        maps.insert(&read(&map_of(id, &[3; 30]))).unwrap();
        assert!(maps.bytes <= 100_000);
        assert!(maps.get(u64::from(id)).is_some());
    }
    assert!(maps.dropped() > 200);
    assert!(maps.get(0).is_none());
    assert!(maps.require(0).unwrap_err().to_string().contains("dropped"));
    // Maps out of force go first, and are not counted.
    let dropped = maps.dropped();
    maps.end_statement();
    for id in 0..10 {
        maps.insert(&read(&map_of(id, &[8; 30]))).unwrap();
    }
    assert_eq!(maps.dropped(), dropped);
    assert!((0..10).all(|id| maps.get(id).is_some()));
    let held: usize = maps.maps.values().map(|entry| entry.map.weight()).sum();
    assert_eq!(maps.bytes, held);
}
