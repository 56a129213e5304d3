//! What is fuzzed of rows, see [`rows`].

use super::mariadb;
use datafusion_binlog::binlog::cursor::Cursor;
use datafusion_binlog::binlog::event::{
    Event, EventContext, FormatDescription, RowsEvent, TableMapOwned,
};
use datafusion_binlog::binlog::header::Header;
use datafusion_binlog::binlog::row::{
    Cell, ColumnHint, ColumnPlan, DeclaredType, LocatePlan, Located, NameSource, Place, RowPlan,
    RowReader, TableHint,
};
use datafusion_binlog::binlog::types::{ColumnType, Value};

/// The rows of a table: type code of the rows event, which server and which columns are wanted,
/// length of the table map's body (2 bytes), that body, then the body of the rows event.
///
/// Values are text or an error; where places are, the reader's values are; a hint that fits changes
/// no place.
pub fn rows(data: &[u8]) {
    let [code, how, low, high, bodies @ ..] = data else {
        return;
    };
    let Some((map, body)) = bodies.split_at_checked(u16::from_le_bytes([*low, *high]).into())
    else {
        return;
    };
    let mut format = FormatDescription::assumed();
    if how & 1 != 0 {
        format = mariadb(format);
    }
    let decode = |code, body| {
        let header = Header {
            type_code: code,
            server_id: 1,
            ..Header::default()
        };
        let cx = EventContext {
            header: &header,
            format: &format,
        };
        Event::decode(body, &cx).ok()
    };
    let (Some(Event::TableMap(map)), Some(Event::Rows(event))) =
        (decode(19, map), decode(*code, body))
    else {
        return;
    };
    let (Ok(map), Ok(rows)) = (TableMapOwned::new(&map), event.row_bytes()) else {
        return;
    };
    let Ok(plan) = map.plan() else {
        return;
    };
    // Not all that is possible: what is located takes memory for each row and column.
    if plan.columns().len().saturating_mul(rows.len()) > 1 << 22 {
        return;
    }
    let step = usize::from(how >> 1) % 5 + 1;
    let wanted: Vec<usize> = (0..plan.columns().len()).step_by(step).collect();
    let located = locate(&map, plan, &event, &rows, &wanted);
    values(&map, plan, &event, &rows, (&wanted, located.as_ref()));
    let hint = hint_for(plan);
    let hinted = RowPlan::with_hint(&map, &hint);
    if let Ok(hinted) = &hinted {
        let again = locate(&map, hinted, &event, &rows, &wanted);
        assert_eq!(
            again.as_ref().map(|l| &l.row),
            located.as_ref().map(|l| &l.row)
        );
        values(&map, hinted, &event, &rows, (&wanted, again.as_ref()));
    }
}

/// The places of wanted columns in the rows that fit.
fn locate(
    map: &TableMapOwned,
    plan: &RowPlan,
    event: &RowsEvent<'_>,
    rows: &[u8],
    wanted: &[usize],
) -> Option<Located> {
    let locate = LocatePlan::new(plan, map.shape(), event, wanted, wanted).ok()?;
    assert!(locate.is_of(event));
    let mut left = locate.rows(0, rows.len());
    let mut located = Located::default();
    let mut count = 0;
    while !left.is_done() {
        let (some, error) = locate.locate(rows, &mut left, 7, &mut located);
        assert!(some > 0 || error.is_some());
        count += some;
        if let Some(error) = error {
            assert!(left.is_done() && error.at().table.is_some(), "{error}");
        }
    }
    let lists = located.row.iter().chain(&located.before);
    assert!(lists.into_iter().all(|list| list.len() == count));
    Some(located)
}

/// Reads all values, writes them, and compares them with those at their places.
fn values(
    map: &TableMapOwned,
    plan: &RowPlan,
    event: &RowsEvent<'_>,
    rows: &[u8],
    (wanted, located): (&[usize], Option<&Located>),
) {
    let Ok(mut reader) = RowReader::with_plan(map, plan, event, rows) else {
        return;
    };
    let located = located.expect("places of what can be read");
    let columns = plan.columns();
    let mut count = 0;
    let fits = loop {
        let row = match reader.next() {
            Ok(Some(row)) => row,
            Ok(None) => break true,
            Err(_) => break false,
        };
        for cells in [row.before, row.after].into_iter().flatten() {
            for (column, cell) in columns.iter().zip(cells) {
                if let Some(value) = cell.value() {
                    let _ = column.write_text(value, &mut String::new());
                }
            }
        }
        for (slot, &n) in wanted.iter().enumerate() {
            let before = row.before.map_or(Cell::Absent, |cells| cells[n]);
            let after = row.after.map_or(Cell::Absent, |cells| cells[n]);
            let now = if after == Cell::Absent { before } else { after };
            for (lists, expected) in [(&located.row, now), (&located.before, before)] {
                let ours = cell_at(&columns[n], rows, lists[slot][count]);
                assert_eq!(format!("{ours:?}"), format!("{expected:?}"));
            }
        }
        count += 1;
    };
    if let Some(list) = located.row.first() {
        assert!(list.len() >= count);
        // Values that do not decode end the reader only.
        assert!(!fits || list.len() == count);
    }
    if fits {
        assert_eq!(
            event.count_rows(map).expect("rows that fit") as usize,
            count
        );
    }
}

fn cell_at<'a>(column: &ColumnPlan, rows: &'a [u8], place: Place) -> Cell<'a> {
    let Some(offset) = place.offset() else {
        return match place {
            Place::NULL => Cell::Value(Value::Null),
            _ => Cell::Absent,
        };
    };
    let decode = column.ty.decode().expect("a type that is known");
    match decode(&mut Cursor::new(&rows[offset..]), column.context) {
        Ok(Value::Json(diff)) if place.is_diff() => Cell::JsonDiff(diff),
        Ok(value) => Cell::Value(value),
        Err(error) => panic!("a value that the reader reads: {error}"),
    }
}

/// A hint that fits a table, if there is one.
fn hint_for(plan: &RowPlan) -> TableHint {
    use DeclaredType as D;
    let declared = |ty: ColumnType| {
        let [high, low] = ty.meta.to_be_bytes();
        [
            D::TinyInt,
            D::SmallInt,
            D::MediumInt,
            D::Int,
            D::BigInt,
            D::Float,
            D::Double,
            D::Year,
            D::Decimal {
                precision: high,
                scale: low,
            },
            D::Date,
            D::Time(low),
            D::DateTime(low),
            D::Timestamp(low),
            D::Bit {
                len: high.saturating_mul(8).saturating_add(low),
            },
            D::Uuid,
            D::Inet4,
            D::Char,
            D::VarChar,
            D::Json,
            D::Text(0),
            D::Enum,
            D::Set,
            D::Geometry,
            D::Vector,
        ]
        .map(|declared| ColumnHint {
            name: "c".to_owned(),
            ty: declared,
            unsigned: low & 1 != 0,
            collation: [None, Some(8), Some(63), Some(28)][usize::from(low % 4)],
            labels: vec!["\u{fc}".to_owned(); if low > 1 { 300 } else { 3 }],
            nullable: true,
            visible: false,
        })
        .into_iter()
        .find(|hint| hint.fits(ty))
    };
    let columns = plan.columns().iter();
    TableHint {
        source: NameSource::SchemaFile,
        columns: columns.filter_map(|column| declared(column.ty)).collect(),
        primary_key: vec![(0, Some(3))],
    }
}
