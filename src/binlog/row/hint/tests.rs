use super::*;
use crate::binlog::event::{RowsKind, TableMapOwned};
use crate::binlog::row::testing::{event, table};
use crate::binlog::row::{RowPlan, RowReader};
use crate::binlog::types::{Signedness, Value};
use crate::error::ErrorKind;

fn column(name: &str, ty: DeclaredType) -> ColumnHint {
    ColumnHint {
        name: name.to_owned(),
        ty,
        unsigned: false,
        collation: None,
        labels: Vec::new(),
        nullable: true,
        visible: true,
    }
}

fn hint(columns: Vec<ColumnHint>) -> TableHint {
    TableHint {
        source: NameSource::Ddl,
        columns,
        primary_key: vec![(0, None)],
    }
}

fn with_labels(ty: DeclaredType, count: usize) -> ColumnHint {
    ColumnHint {
        labels: (0..count).map(|n| format!("l{n}")).collect(),
        ..column("c", ty)
    }
}

fn ty(code: u8, meta: u16) -> ColumnType {
    ColumnType {
        code,
        meta,
        element: None,
    }
}

#[test]
fn types_and_what_servers_write_for_them() {
    use DeclaredType as D;
    let decimal = D::Decimal {
        precision: 10,
        scale: 2,
    };
    let fits = [
        (D::TinyInt, ty(1, 0)),
        (D::SmallInt, ty(2, 0)),
        (D::Int, ty(3, 0)),
        (D::MediumInt, ty(9, 0)),
        (D::BigInt, ty(8, 0)),
        (D::Float, ty(4, 4)),
        (D::Double, ty(5, 8)),
        (decimal, ty(246, 0x0a02)),
        (D::Bit { len: 10 }, ty(16, 0x0102)),
        (D::Bit { len: 64 }, ty(16, 0x0800)),
        (D::Year, ty(13, 0)),
        (D::Date, ty(10, 0)),
        (D::Time(3), ty(19, 3)),
        (D::Time(3), ty(11, 0)),
        (D::DateTime(0), ty(18, 0)),
        (D::DateTime(6), ty(12, 0)),
        (D::Timestamp(6), ty(17, 6)),
        (D::Timestamp(0), ty(7, 0)),
        (D::Char, ty(254, 40)),
        (D::Binary, ty(254, 16)),
        (D::VarChar, ty(15, 400)),
        (D::VarChar, ty(253, 20)),
        (D::VarBinary, ty(141, 20)),
        (D::Text(0), ty(252, 3)),
        (D::Text(2), ty(252, 2)),
        (D::Text(4), ty(140, 4)),
        (D::Blob(1), ty(252, 1)),
        (D::Json, ty(245, 4)),
        (D::Json, ty(252, 4)),
        (D::Geometry, ty(255, 4)),
        (D::Vector, ty(242, 4)),
        (D::Vector, ty(15, 12)),
        (D::Uuid, ty(254, 16)),
        (D::Inet6, ty(254, 16)),
        (D::Inet4, ty(254, 4)),
    ];
    for (declared, real) in fits {
        assert!(column("c", declared).fits(real), "{declared:?} {real:?}");
    }
    let unfit = [
        (D::Int, ty(8, 0)),
        (D::Int, ty(9, 0)),
        (D::Float, ty(5, 8)),
        (decimal, ty(246, 0x0a03)),
        (D::Bit { len: 10 }, ty(16, 0x0103)),
        (D::DateTime(0), ty(18, 6)),
        (D::DateTime(0), ty(7, 0)),
        (D::Char, ty(15, 40)),
        (D::VarChar, ty(254, 40)),
        (D::Text(2), ty(252, 3)),
        (D::Json, ty(252, 2)),
        (D::Vector, ty(15, 13)),
        (D::Inet4, ty(254, 16)),
        (D::Enum, ty(247, 1)), // without labels
    ];
    for (declared, real) in unfit {
        assert!(!column("c", declared).fits(real), "{declared:?} {real:?}");
    }
    let widths = |declared, counts: &[(usize, u16)], code| {
        for &(count, width) in counts {
            for other in [1, 2, 3, 4, 8] {
                let fits = with_labels(declared, count).fits(ty(code, other));
                assert_eq!(fits, other == width, "{declared:?} of {count}: {other}");
            }
        }
    };
    widths(D::Enum, &[(1, 1), (255, 1), (256, 2), (0, 0)], 247);
    let set = [
        (1, 1),
        (8, 1),
        (9, 2),
        (24, 3),
        (32, 4),
        (33, 8),
        (64, 8),
        (65, 0),
        (0, 0),
    ];
    widths(D::Set, &set, 248);
}

/// The after image of one row.
fn row(map: &TableMapOwned, plan: &RowPlan, bytes: &[u8]) -> Vec<String> {
    let present = [0xff, 0xff];
    let columns = plan.columns();
    let event = event(RowsKind::Insert, None, Some(&present), columns.len());
    let mut reader = RowReader::with_plan(map, plan, &event, bytes).unwrap();
    let row = reader.next().unwrap().unwrap();
    let cells = columns.iter().zip(row.after.unwrap());
    cells
        .map(|(column, cell)| {
            let mut out = String::new();
            let value = cell.value().unwrap();
            column.write_text(value, &mut out).unwrap();
            out
        })
        .collect()
}

/// (INT, VARCHAR, BINARY(4), ENUM, SET, LONGTEXT, TEXT) without optional metadata.
fn bare() -> TableMapOwned {
    let types = [3, 15, 254, 254, 254, 252, 252];
    table(&types, &[40, 0, 0xfe, 4, 0xf7, 1, 0xf8, 1, 4, 2], &[])
}

fn bare_hint() -> TableHint {
    use DeclaredType as D;
    let labels = |labels: &[&str]| labels.iter().map(|&l| l.to_owned()).collect();
    hint(vec![
        ColumnHint {
            unsigned: true,
            nullable: false,
            ..column("id", D::Int)
        },
        ColumnHint {
            collation: Some(8), // latin1
            ..column("naïve", D::VarChar)
        },
        column("raw", D::Binary),
        ColumnHint {
            labels: labels(&["ü", "b"]),
            collation: Some(8),
            ..column("e", D::Enum)
        },
        ColumnHint {
            labels: labels(&["x", "ü"]),
            visible: false,
            ..column("s", D::Set)
        },
        column("j", D::Json),
        column("t", D::Text(2)),
    ])
}

#[test]
fn a_hint_fills_what_the_table_map_does_not_tell() {
    let map = bare();
    let bytes = b"\x80\xff\xff\xff\xff\x02\x80\xe9\x01\x01\x01\x03\x02\0\0\0{}\x01\0\xff";
    let plan = RowPlan::new(&map).unwrap();
    let expected = [
        "-1 (4294967295)",
        "\\x80\\xe9",
        "\u{1}",
        "1",
        "3",
        "{}",
        "\\xff",
    ];
    assert_eq!(row(&map, &plan, bytes), expected);
    let names: Vec<_> = plan.columns().iter().map(|c| c.display_name()).collect();
    assert_eq!(names[..2], ["col_1", "col_2"]);
    assert_eq!(plan.columns()[0].name_source(), NameSource::None);
    assert_eq!(plan.columns()[0].declared(), None);

    let plan = RowPlan::with_hint(&map, &bare_hint()).unwrap();
    let expected = ["4294967295", "€é", "0x01000000", "ü", "x,ü", "{}", "\\xff"];
    assert_eq!(row(&map, &plan, bytes), expected);
    let columns = plan.columns();
    let names: Vec<_> = columns.iter().map(|c| c.display_name()).collect();
    assert_eq!(names, ["id", "naïve", "raw", "e", "s", "j", "t"]);
    assert_eq!(columns[1].name_source(), NameSource::Ddl);
    assert_eq!(columns[5].declared(), Some(DeclaredType::Json));
    assert_eq!(columns[5].charset().map(|c| c.name), Some("utf8mb4"));
    // Declared text is text, though its character set is not known.
    assert_eq!(columns[6].context.content, Content::Text);
    assert!(columns[6].charset().is_none());
    assert_eq!(
        (columns[4].visible, columns[0].visible),
        (Some(false), Some(true))
    );
    assert_eq!(plan.primary_key(), [(0, None)]);
    let texts: Vec<_> = columns[3].label_texts().unwrap().collect();
    assert_eq!(texts, ["ü", "b"]);
    assert_eq!(columns[3].enum_text(1).unwrap(), Some("ü"));
    assert_eq!(columns[3].enum_text(0).unwrap(), Some(""));
    assert!(columns[3].enum_text(3).is_err());
    let set: Vec<_> = columns[4].set_texts(2).unwrap().unwrap().collect();
    assert_eq!(set, ["ü"]);
    assert!(columns[4].set_texts(4).is_err());
}

#[test]
fn what_the_table_map_tells_wins() {
    // INT signed, VARCHAR in latin1 with name and ENUM with labels in latin1; key: column 2.
    let optional = b"\x01\x01\x00\x03\x01\x08\x04\x06\x01A\x01B\x01E\x06\x05\x02\x01\xfc\x01\x62\
        \x0a\x01\x08\x08\x01\x01\x0c\x01\xe0";
    let map = table(&[3, 15, 254], &[40, 0, 0xf7, 1], optional);
    let hinted = hint(vec![
        ColumnHint {
            unsigned: true,
            ..column("a", DeclaredType::Int)
        },
        ColumnHint {
            collation: Some(45),
            ..column("b", DeclaredType::VarChar)
        },
        ColumnHint {
            labels: vec!["x".to_owned(), "y".to_owned()],
            visible: false,
            ..column("e", DeclaredType::Enum)
        },
    ]);
    let plan = RowPlan::with_hint(&map, &hinted).unwrap();
    let columns = plan.columns();
    assert_eq!(columns[0].display_name(), "A");
    assert_eq!(columns[0].name_source(), NameSource::TableMap);
    assert_eq!(columns[0].context.signedness, Signedness::Signed);
    assert_eq!(columns[1].collation, Some(8));
    let texts: Vec<_> = columns[2].label_texts().unwrap().collect();
    assert_eq!(texts, ["ü", "b"]);
    assert_eq!(columns[2].enum_label(1).unwrap(), Some(&b"\xfc"[..]));
    assert_eq!(columns[2].visible, Some(true));
    assert_eq!(plan.primary_key(), [(1, None)]);
    // Columns of other names are another table.
    let mut renamed = hinted;
    renamed.columns[1].name = "c".to_owned();
    let error = RowPlan::with_hint(&map, &renamed).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert_eq!(
        error.to_string(),
        "s.t.B: VARCHAR is declared (ddl), but under the name `c`"
    );
}

#[test]
fn a_hint_that_does_not_fit_is_refused() {
    let map = bare();
    let refused = |change: &dyn Fn(&mut TableHint)| {
        let mut hint = bare_hint();
        change(&mut hint);
        let error = RowPlan::with_hint(&map, &hint).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        error.to_string()
    };
    assert_eq!(
        refused(&|hint| drop(hint.columns.pop())),
        "s.t: 6 columns are declared (ddl), but the table map has 7"
    );
    assert_eq!(
        refused(&|hint| hint.columns[0].ty = DeclaredType::BigInt),
        "s.t.@1: BIGINT is declared (ddl), but the table map has INT"
    );
    assert_eq!(
        refused(&|hint| hint.primary_key = vec![(7, None)]),
        "s.t: column 7 in the key that is declared"
    );
    // BINARY where the table map says text.
    let map = table(&[254], &[0xfe, 4], b"\x03\x01\x08");
    let binary = hint(vec![column("b", DeclaredType::Binary)]);
    let error = RowPlan::with_hint(&map, &binary).unwrap_err();
    assert_eq!(
        error.to_string(),
        "s.t.@1: BINARY of bytes is declared (ddl), but the table map has text"
    );
    let text = hint(vec![column("b", DeclaredType::Char)]);
    assert!(RowPlan::with_hint(&map, &text).is_ok());
}

#[test]
fn labels_that_are_no_text() {
    // ENUM in utf8mb4 with a label of one byte ff.
    let map = table(&[254], &[0xf7, 1], b"\x06\x04\x01\x02a\xff\x0a\x01\x2d");
    let column = &map.plan().unwrap().columns()[0];
    assert_eq!(
        column.label_texts().unwrap().collect::<Vec<_>>(),
        ["a\\xff"]
    );
    assert_eq!(column.enum_text(1).unwrap(), Some("a\\xff"));
    let mut out = String::new();
    assert!(column.write_text(Value::Enum(1), &mut out).is_err());
}
