//! Issue 3: whatever a server stores comes back. Tables of random columns with random values,
//! encoded as servers do, give the texts and the JSON of what was encoded.

use super::*;
use crate::binlog::row::testing::{event, table};
use crate::binlog::row::{Cell, LocatePlan, Located, Place, RowJson, RowPlan, RowReader, changed};
use column::{Column, column};
use proptest::prelude::*;

mod column;
mod temporal;

/// Optional metadata that tells all of the columns: signedness, character sets, names, labels, key.
fn metadata(columns: &[Column], key: &[usize]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut field = |code: u8, value: Vec<u8>| {
        if !value.is_empty() {
            out.extend([code, 0xfc]);
            out.extend((value.len() as u16).to_le_bytes());
            out.extend(value);
        }
    };
    let mut bits = Vec::new();
    for (n, column) in columns.iter().filter(|column| column.numeric).enumerate() {
        bits.resize(n / 8 + 1, 0);
        bits[n / 8] |= u8::from(column.unsigned) << (7 - n % 8);
    }
    field(1, bits);
    let of = |labels: bool| {
        let columns = columns
            .iter()
            .filter(move |column| column.labels.is_some() == labels);
        columns.filter_map(|column| column.collation)
    };
    let collations = |all: &mut dyn Iterator<Item = u16>| {
        let lenenc = |id: u16| match id {
            0..=250 => vec![id as u8],
            _ => [&[0xfc][..], &id.to_le_bytes()].concat(),
        };
        all.flat_map(lenenc).collect::<Vec<u8>>()
    };
    field(3, collations(&mut of(false)));
    field(11, collations(&mut of(true)));
    let names = (0..columns.len()).map(|n| format!("c{n}"));
    field(
        4,
        names
            .flat_map(|name| [&[name.len() as u8], name.as_bytes()].concat())
            .collect(),
    );
    for (code, is_enum) in [(5, false), (6, true)] {
        let lists = columns
            .iter()
            .filter(|column| (column.metadata[..].first() == Some(&0xf7)) == is_enum);
        let lists = lists.filter_map(|column| column.labels.as_ref());
        let list = |labels: &Vec<Vec<u8>>| {
            let mut list = vec![labels.len() as u8];
            for label in labels {
                list.push(label.len() as u8);
                list.extend(label);
            }
            list
        };
        field(code, lists.flat_map(list).collect());
    }
    field(8, key.iter().map(|&n| n as u8).collect());
    out
}

fn bitmap(bits: impl Iterator<Item = bool>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (n, bit) in bits.enumerate() {
        bytes.resize(n / 8 + 1, 0);
        bytes[n / 8] |= u8::from(bit) << (n % 8);
    }
    bytes
}

/// Appends an image of row `n` with the columns that are present.
fn image(columns: &[Column], present: &[bool], n: usize, out: &mut Vec<u8>) {
    let there = || columns.iter().zip(present).filter(|(_, present)| **present);
    let mut nulls = bitmap(there().map(|(column, _)| column.values[n].is_none()));
    let used = there().count() % 8;
    if used > 0 {
        *nulls.last_mut().unwrap() |= 0xff << used; // as servers do
    }
    out.extend(nulls);
    for (column, _) in there() {
        if let Some(value) = &column.values[n] {
            out.extend(&value.bytes);
        }
    }
}

fn json(column: &Column, n: usize) -> String {
    column.values[n]
        .as_ref()
        .map_or("null".to_owned(), |value| value.json.clone())
}

/// An object of the columns that are there, each with the number of its row.
fn object(columns: &[Column], rows: impl Iterator<Item = Option<usize>>) -> String {
    let members = columns.iter().zip(rows).enumerate();
    let members =
        members.filter_map(|(n, (column, row))| Some(format!("\"c{n}\":{}", json(column, row?))));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn rows_that_servers_write_come_back(
        columns in prop::collection::vec(column(), 1..20),
        masks in any::<(u32, u32, bool)>(),
        key in prop::collection::vec(any::<prop::sample::Index>(), 0..3),
    ) {
        let count = columns.len();
        let mut key: Vec<usize> = key.iter().map(|index| index.index(count)).collect();
        key.dedup();
        // FULL images in half of the cases.
        let present = |mask: u32| (0..count).map(move |n| masks.2 || mask >> n & 1 == 1);
        let before: Vec<bool> = present(masks.0).collect();
        let mut after: Vec<bool> = present(masks.1).collect();
        after[0] |= !before.contains(&true);
        let types: Vec<u8> = columns.iter().map(|column| column.code).collect();
        let meta: Vec<u8> = columns.iter().flat_map(|column| column.metadata.clone()).collect();
        let map = table(&types, &meta, &metadata(&columns, &key));
        let plan = map.plan().unwrap();
        let (before_bits, after_bits) =
            (bitmap(before.iter().copied()), bitmap(after.iter().copied()));
        let event = event(RowsKind::Update, Some(&before_bits), Some(&after_bits), count);
        let mut block = vec![0x55; 7];
        let begin = block.len();
        for n in 0..column::ROWS - 1 {
            image(&columns, &before, n, &mut block);
            image(&columns, &after, n + 1, &mut block);
        }

        let all: Vec<usize> = (0..count).collect();
        let locate = LocatePlan::new(plan, map.shape(), &event, &all, &all).unwrap();
        let mut rows = locate.rows(begin, block.len());
        let mut located = Located::default();
        let (found, error) = locate.locate(&block, &mut rows, usize::MAX, &mut located);
        prop_assert_eq!((found, error.is_none()), (column::ROWS - 1, true));
        check_json(plan, &columns, &block, &located, &before, &after, &key)?;

        let mut reader = RowReader::new(&map, &event, &block[begin..]).unwrap();
        while let Some(row) = reader.next().unwrap() {
            let n = row.index as usize;
            check_texts(plan, &columns, row.before.unwrap(), &before, n)?;
            check_texts(plan, &columns, row.after.unwrap(), &after, n + 1)?;
        }
    }
}

fn check_json(
    plan: &RowPlan,
    columns: &[Column],
    block: &[u8],
    located: &Located,
    before: &[bool],
    after: &[bool],
    key: &[usize],
) -> Result<(), TestCaseError> {
    let keys = RowJson::new(plan);
    for n in 0..column::ROWS - 1 {
        let row_at = |c: usize| located.row[c][n];
        let before_at = |c: usize| located.before[c][n];
        let base = |_| Place::ABSENT;
        let mut notes = Vec::new();
        let mut note = |column: &ColumnPlan, note| notes.push((column.number, note));
        let mut out = String::new();
        keys.write_row(plan, block, row_at, base, &mut out, &mut note);
        let rows = before.iter().zip(after);
        let rows = rows.map(|(before, after)| after.then_some(n + 1).or(before.then_some(n)));
        prop_assert_eq!(&out, &object(columns, rows));
        out.clear();
        keys.write_row(plan, block, before_at, base, &mut out, &mut note);
        let rows = before.iter().map(|before| before.then_some(n));
        prop_assert_eq!(&out, &object(columns, rows));

        out.clear();
        let written = keys.write_key(plan, block, row_at, before_at, &mut out, &mut note);
        let members: Option<Vec<String>> = key
            .iter()
            .map(|&c| {
                let row = before[c].then_some(n).or(after[c].then_some(n + 1))?;
                Some(format!("\"c{c}\":{}", json(&columns[c], row)))
            })
            .collect();
        let members = members.filter(|members| !members.is_empty());
        let expected = members.map(|members| format!("{{{}}}", members.join(",")));
        prop_assert_eq!(
            (written, out),
            (expected.is_some(), expected.unwrap_or_default())
        );

        let mut found = Vec::new();
        changed(plan, block, row_at, before_at, &mut found, &mut note);
        let differs = |c: &usize| {
            // JSON null is not NULL.
            let value = |n: usize| columns[*c].values[n].as_ref().map(|value| &value.json);
            let same = before[*c] && value(n) == value(n + 1);
            after[*c] && !same
        };
        let expected: Vec<usize> = (0..columns.len()).filter(differs).collect();
        prop_assert_eq!(found, expected);
        prop_assert!(notes.is_empty(), "{:?}", notes);
        for (c, column) in plan.columns().iter().enumerate() {
            for place in [row_at(c), before_at(c)] {
                let note = column.check_at(block, place, Place::ABSENT);
                prop_assert!(note.is_none(), "{:?}", note);
            }
        }
    }
    Ok(())
}

fn check_texts(
    plan: &RowPlan,
    columns: &[Column],
    cells: &[Cell<'_>],
    present: &[bool],
    n: usize,
) -> Result<(), TestCaseError> {
    for (c, column) in columns.iter().enumerate() {
        let value = cells[c].value();
        prop_assert_eq!(value.is_some(), present[c]);
        if let Some(value) = value {
            let mut text = String::new();
            plan.columns()[c].write_text(value, &mut text).unwrap();
            let expected = column.values[n]
                .as_ref()
                .map_or("NULL", |value| &*value.text);
            prop_assert_eq!(text, expected);
        }
    }
    Ok(())
}
