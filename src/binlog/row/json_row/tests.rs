use super::*;
use crate::binlog::event::testing::hex;
use crate::binlog::row::testing::table;
use std::collections::HashMap;

/// A table (id INT, name VARCHAR, doc JSON), signed, in utf8mb4, with a key on (name, id).
fn plan() -> RowPlan {
    let optional = hex("01 01 00  02 01 2d  04 0d 02 6964 0522 6e22 616d 03 646f63  08 02 01 00");
    RowPlan::new(&table(&[3, 15, 245], &[20, 0, 4], &optional)).unwrap()
}

/// `{"a": 1}` and `{"a": 2}` as they stand in a row, and another form of the first with a gap.
const A1: &str = "0d000000 00 0100 0c00 0b00 0100 05 0100 61";
const A2: &str = "0d000000 00 0100 0c00 0b00 0100 05 0200 61";
const A1_GAP: &str = "0e000000 00 0100 0d00 0c00 0100 05 0100 00 61";
/// Replaces `$.a` by 2.
const TO_2: &str = "09000000 00 03 242e61 03 05 0200";

/// A block of values and where each begins.
struct Block(Vec<u8>);

impl Block {
    fn new() -> Self {
        Self(vec![0xaa; 3])
    }

    fn put(&mut self, value: &str) -> Place {
        let place = Place::at(self.0.len()).unwrap();
        self.0.extend(hex(value));
        place
    }
}

fn row(plan: &RowPlan, block: &Block, places: [Place; 3], base: Place) -> (String, Vec<String>) {
    let mut out = String::new();
    let mut notes = Vec::new();
    RowJson::new(plan).write_row(
        plan,
        &block.0,
        |n| places[n],
        |_| base,
        &mut out,
        &mut |column, note| notes.push(format!("{}: {note}", column.number)),
    );
    (out, notes)
}

const ABSENT: Place = Place::ABSENT;
const NULL: Place = Place::NULL;

#[test]
fn a_row_has_a_key_for_each_column_that_is_not_absent() {
    let (plan, mut block) = (plan(), Block::new());
    let (id, name, doc) = (block.put("ffffffff"), block.put("02 6122"), block.put(A1));
    let all = row(&plan, &block, [id, name, doc], ABSENT);
    assert_eq!(all.0, r#"{"id":-1,"\"n\"am":"a\"","doc":{"a": 1}}"#);
    assert_eq!(
        row(&plan, &block, [ABSENT, NULL, ABSENT], ABSENT).0,
        r#"{"\"n\"am":null}"#
    );
    assert_eq!(row(&plan, &block, [ABSENT; 3], ABSENT).0, "{}");
    assert!(all.1.is_empty());
}

#[test]
fn buglog_59_60_changes_of_json_are_applied_or_shown() {
    let (plan, mut block) = (plan(), Block::new());
    let (doc, diff) = (block.put(A1), block.put(TO_2).diff());
    let of = |block: &Block, base| row(&plan, block, [ABSENT, ABSENT, diff], base);
    assert_eq!(of(&block, doc).0, r#"{"doc":{"a": 2}}"#);
    let shown = r#"{"doc":{"$json_diff":[{"op": "replace", "path": "$.a", "value": 2}]}}"#;
    for base in [ABSENT, diff] {
        assert_eq!(of(&block, base).0, shown);
    }
    // A document to which they do not fit; a NULL, which has no changes.
    let other = block.put("00000000");
    for base in [other, NULL] {
        let (text, notes) = of(&block, base);
        assert_eq!(
            (text.as_str(), notes.len()),
            (r#"{"doc":null}"#, 1),
            "{notes:?}"
        );
    }
}

#[test]
fn a_value_that_does_not_decode_costs_itself_only() {
    let (plan, mut block) = (plan(), Block::new());
    let (id, name) = (block.put("01000000"), block.put("02 61ff"));
    let doc = block.put("02000000 0c7f");
    let (text, notes) = row(&plan, &block, [id, name, doc], ABSENT);
    assert_eq!(text, r#"{"id":1,"\"n\"am":"a\\xff","doc":null}"#);
    assert_eq!(notes.len(), 2);
    assert!(notes[0].starts_with("2: ") && notes[1].starts_with("3: byte 1"));
    // A place that is none.
    let beyond = Place::at(1 << 30).unwrap();
    let (text, notes) = row(&plan, &block, [beyond, ABSENT, ABSENT], ABSENT);
    assert_eq!((text.as_str(), notes.len()), (r#"{"id":null}"#, 1));
}

#[test]
fn the_key_is_that_of_the_image_before() {
    let (plan, mut block) = (plan(), Block::new());
    let (old, new) = (block.put("01000000"), block.put("02000000"));
    let name = block.put("01 61");
    let key = |row: [Place; 3], before: [Place; 3]| {
        let mut out = "x".to_owned();
        let json = RowJson::new(&plan);
        let (row, before) = (|n: usize| row[n], |n: usize| before[n]);
        let known = json.write_key(&plan, &block.0, row, before, &mut out, &mut |_, note| {
            panic!("{note}")
        });
        known.then(|| out.strip_prefix('x').unwrap().to_owned())
    };
    let both = r#"{"\"n\"am":"a","id":1}"#;
    assert_eq!(
        key([new, name, ABSENT], [old, ABSENT, ABSENT]).as_deref(),
        Some(both)
    );
    assert_eq!(key([old, name, ABSENT], [ABSENT; 3]).as_deref(), Some(both));
    assert_eq!(key([old, ABSENT, ABSENT], [old, ABSENT, ABSENT]), None);
    // No key is told.
    let without = RowPlan::new(&table(&[3], &[], &[])).unwrap();
    let mut out = String::new();
    let json = RowJson::new(&without);
    let place = |_| NULL;
    assert!(!json.write_key(&without, &[], place, place, &mut out, &mut |_, _| {}));
    assert_eq!(out, "");
}

#[test]
fn what_an_update_changed() {
    let (plan, mut block) = (plan(), Block::new());
    let mut places = HashMap::from([("", ABSENT), ("NULL", NULL)]);
    for (name, value) in [
        ("1", "01000000"),
        ("1 again", "01000000"),
        ("2", "02000000"),
        ("a", "01 61"),
        ("A", "01 41"),
        ("{1}", A1),
        ("{1} with a gap", A1_GAP),
        ("{2}", A2),
    ] {
        places.insert(name, block.put(value));
    }
    places.insert("=2", block.put(TO_2).diff());
    places.insert("=", block.put("00000000").diff());
    let changed_of = |row: [&str; 3], before: [&str; 3]| {
        let (mut out, mut notes) = (Vec::new(), 0);
        changed(
            &plan,
            &block.0,
            |n| places[row[n]],
            |n| places[before[n]],
            &mut out,
            &mut |_, _| notes += 1,
        );
        (out, notes)
    };
    for (row, before, expected, errors) in [
        (["1", "a", "{1}"], ["1", "a", "{1}"], &[][..], 0),
        (
            ["1 again", "A", "{1}"],
            ["1", "a", "{1} with a gap"],
            &[1],
            0,
        ),
        (["2", "NULL", "{2}"], ["1", "a", "{1}"], &[0, 1, 2], 0),
        (["NULL", "a", "NULL"], ["NULL", "NULL", "{1}"], &[1, 2], 0),
        // MINIMAL: the key before, what was written after.
        (["1", "a", ""], ["1", "", ""], &[1], 0),
        (["", "", ""], ["1", "", ""], &[], 0),
        // Changes of JSON: with and without the document, to the same, none at all.
        (["1", "", "=2"], ["1", "", "{1}"], &[2], 0),
        (["1", "", "=2"], ["1", "", "{2}"], &[], 0),
        (["1", "", "=2"], ["1", "", ""], &[2], 0),
        (["1", "", "="], ["1", "", ""], &[], 0),
        (["1", "", "=2"], ["1", "", "NULL"], &[2], 1),
    ] {
        let found = changed_of(row, before);
        assert_eq!(found, (expected.to_vec(), errors), "{row:?} {before:?}");
    }
}
