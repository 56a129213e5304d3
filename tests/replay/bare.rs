//! Changes as the decoder alone reads them, without names or declared types.

use super::answers::Position;
use super::canon::{Val, ZeroDates, date, decimal, float, micros};
use super::fold::{Cell, Change, Op, Source};
use super::model::Table;
use super::types::Ty;
use super::values::hex;
use datafusion_binlog::binlog::charset::CHARSETS;
use datafusion_binlog::binlog::event::{
    self, Event, EventContext, RowsEvent, TableMapOwned, TableMaps,
};
use datafusion_binlog::binlog::frame::Framer;
use datafusion_binlog::binlog::json::apply;
use datafusion_binlog::binlog::reader::read_all;
use datafusion_binlog::binlog::row::{Cell as RawCell, ColumnPlan, RowReader};
use datafusion_binlog::binlog::types::Value;
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

/// A value as far as the table map tells it.
#[derive(Clone, PartialEq)]
enum Raw {
    Missing,
    Known(Val),
    /// Number of a label.
    Label(u16),
    /// Numbers of labels.
    Labels(u64),
    /// Bytes of strings of which the character set or the padding is not told.
    Loose(Box<[u8]>),
    /// Changes of a JSON value that is not in the log.
    Diff,
    /// Signed or unsigned.
    Int(i64),
}

struct RawChange {
    at: Position,
    op: Op,
    before: Option<Vec<Raw>>,
    after: Option<Vec<Raw>>,
}

/// All changes of some logs, by table.
pub struct Bare {
    server: &'static str,
    tables: HashMap<String, Vec<RawChange>>,
}

impl Bare {
    pub fn read(server: &'static str, logs: &[PathBuf]) -> Self {
        let mut bare = Self {
            server,
            tables: HashMap::new(),
        };
        for path in logs {
            let number = path.extension().unwrap().to_str().unwrap().parse().unwrap();
            bare.read_log(number, std::fs::read(path).unwrap());
        }
        bare
    }

    fn read_log(&mut self, number: u32, log: Vec<u8>) {
        let mut maps = TableMaps::new();
        let framer = Framer::new().with_verify(true);
        let read = read_all(framer, log, |item, block, format| {
            let raw = item.raw(block);
            let cx = EventContext {
                header: &raw.header,
                format,
            };
            if raw.header.type_code == event::FORMAT_DESCRIPTION {
                maps.clear();
            }
            match Event::decode(raw.body(), &cx).unwrap() {
                Event::TableMap(map) => {
                    maps.insert(&map).unwrap();
                }
                Event::Rows(rows) => {
                    if !rows.is_dummy() {
                        let map = Arc::clone(maps.require(rows.table_id).unwrap());
                        self.read_rows((number, raw.offset), &map, &rows);
                    }
                    if rows.ends_statement() {
                        maps.end_statement();
                    }
                }
                _ => {}
            }
        });
        read.unwrap();
    }

    fn read_rows(&mut self, at: Position, map: &Arc<TableMapOwned>, event: &RowsEvent<'_>) {
        let place = format!("{} {} at {at:?}", self.server, map.full_name());
        let bytes = event.row_bytes().unwrap();
        let columns = map.plan().unwrap().columns();
        let mut reader = RowReader::new(map, event, &bytes).unwrap();
        let changes = self.tables.entry(map.full_name().to_owned()).or_default();
        while let Some(row) = reader
            .next()
            .unwrap_or_else(|error| panic!("{place}: {error}"))
        {
            let image = |cells: &[RawCell<'_>]| -> Vec<Raw> {
                let read = |(n, (column, cell)): (usize, (&ColumnPlan, &RawCell<'_>))| {
                    raw(column, *cell, row.before.map(|before| before[n]))
                        .unwrap_or_else(|error| panic!("{place}: {error}"))
                };
                columns.iter().zip(cells).enumerate().map(read).collect()
            };
            changes.push(RawChange {
                at,
                op: match (row.before, row.after) {
                    (None, _) => Op::Insert,
                    (_, None) => Op::Delete,
                    _ => Op::Update,
                },
                before: row.before.map(image),
                after: row.after.map(image),
            });
        }
    }
}

fn raw(
    column: &ColumnPlan,
    cell: RawCell<'_>,
    before: Option<RawCell<'_>>,
) -> datafusion_binlog::Result<Raw> {
    let value = match (cell, before) {
        (RawCell::Absent, _) => return Ok(Raw::Missing),
        (RawCell::JsonDiff(diff), Some(RawCell::Value(Value::Json(document)))) => {
            return Ok(Raw::Known(Val::of(hex(apply(document, diff)?.as_bytes()))));
        }
        (RawCell::JsonDiff(_), _) => return Ok(Raw::Diff),
        (RawCell::Value(value), _) => value,
    };
    let mut text = String::new();
    column.write_text(value, &mut text)?;
    let bytes = || text.strip_prefix("0x").map(str::to_owned);
    Ok(match value {
        Value::Null => Raw::Known(Val::Null),
        Value::AnyInt(_) => {
            let signed = text.split(' ').next().unwrap_or_default().parse().unwrap();
            Raw::Int(signed)
        }
        Value::Float(n) => Raw::Known(Val::of(float(n.into()))),
        Value::Double(n) => Raw::Known(Val::of(float(n))),
        Value::Decimal(_) => Raw::Known(Val::of(decimal(&text))),
        Value::Year(year) => Raw::Known(Val::of(year.to_string())),
        Value::Date(_) | Value::DateTime(_) | Value::Timestamp(_) => {
            Raw::Known(date(&text, ZeroDates::Text))
        }
        Value::Time(_) => Raw::Known(Val::of(micros(&text).to_string())),
        Value::Enum(n) if column.labels().is_none() => Raw::Label(n),
        Value::Set(n) if column.labels().is_none() => Raw::Labels(n),
        Value::Text(_) | Value::Enum(_) | Value::Set(_) | Value::Json(_) => {
            Raw::Known(Val::of(hex(text.as_bytes())))
        }
        Value::Bytes(_) | Value::Binary(_) | Value::Vector(_) | Value::Geometry(_) => {
            Raw::Known(Val::of(bytes().unwrap()))
        }
        Value::TextOrBytes(bytes) => Raw::Loose(bytes.into()),
        Value::Compressed(_) => match (column.charset(), bytes()) {
            (Some(set), Some(bytes)) if set.is_binary() => Raw::Known(Val::of(bytes)),
            (Some(_), _) => Raw::Known(Val::of(hex(text.as_bytes()))),
            (None, _) => Raw::Known(Val::Unknown),
        },
        _ => Raw::Known(Val::of(text)),
    })
}

/// The value of a column whose type the model knows.
fn resolve(raw: &Raw, ty: &Ty) -> Cell {
    let label = |labels: &[String], n: usize| labels[n].clone();
    let value = match (raw, ty) {
        (Raw::Missing | Raw::Diff, _) => return Cell::Missing,
        (Raw::Known(_), Ty::Uuid | Ty::Inet4 | Ty::Inet6)
        | (Raw::Loose(_), Ty::Uuid | Ty::Inet4 | Ty::Inet6) => Val::Unknown,
        (Raw::Known(value), _) => value.clone(),
        (Raw::Label(0), _) => Val::of(""),
        (Raw::Label(n), Ty::Enum(labels, _)) => {
            Val::of(hex(label(labels, usize::from(*n) - 1).as_bytes()))
        }
        (Raw::Labels(n), Ty::Set(labels, _)) => {
            let set = (0..labels.len()).filter(|bit| n & (1 << bit) != 0);
            let mut text = String::new();
            for bit in set {
                // As servers do.
                if !text.is_empty() {
                    text.push(',');
                }
                text += &label(labels, bit);
            }
            Val::of(hex(text.as_bytes()))
        }
        (
            Raw::Int(n),
            Ty::Int {
                unsigned: false, ..
            },
        ) => Val::of(n.to_string()),
        (Raw::Int(n), Ty::Int { bytes, .. }) => {
            Val::of((*n as u64 & (u64::MAX >> (64 - u32::from(*bytes) * 8))).to_string())
        }
        (Raw::Loose(bytes), Ty::VarBinary(_) | Ty::Blob(_) | Ty::Geometry(..) | Ty::Vector(_)) => {
            Val::of(hex(bytes))
        }
        (Raw::Loose(bytes), Ty::Binary(n)) => {
            let mut bytes = bytes.to_vec();
            bytes.resize(usize::from(*n), 0);
            Val::of(hex(&bytes))
        }
        (Raw::Loose(bytes), Ty::Json) => Val::of(hex(bytes)),
        (Raw::Loose(bytes), _) => match ty.charset() {
            Some(set) => {
                let set = if set == "utf8" { "utf8mb3" } else { set };
                let set = CHARSETS.iter().find(|known| known.name == set).unwrap();
                Val::of(hex(set.decode(bytes).unwrap().as_bytes()))
            }
            None => Val::Unknown,
        },
        _ => Val::Unknown,
    };
    Cell::Is(value)
}

impl Source for Bare {
    fn name(&self) -> String {
        format!("{} decoder", self.server)
    }

    /// Not if it does not know the values of the key.
    fn covers(&self, table: &Table) -> bool {
        let mut keys = table.key.iter().map(|&n| &table.columns[n].ty);
        !keys.any(|ty| matches!(ty, Ty::Uuid | Ty::Inet4 | Ty::Inet6))
    }

    fn changes(
        &mut self,
        table: &Table,
        from: Position,
        to: Position,
    ) -> Result<Vec<Change>, String> {
        let name = format!("{}.{}", table.schema, table.name);
        let all = self
            .tables
            .get(&name)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let mut changes = Vec::new();
        for change in all
            .iter()
            .filter(|change| from <= change.at && change.at < to)
        {
            let image = |image: &Vec<Raw>| -> Result<Vec<Cell>, String> {
                if image.len() != table.columns.len() {
                    return Err(format!(
                        "{} columns in the log, {} in the table",
                        image.len(),
                        table.columns.len()
                    ));
                }
                Ok(image
                    .iter()
                    .zip(&table.columns)
                    .map(|(raw, column)| resolve(raw, &column.ty))
                    .collect())
            };
            let before = change.before.as_ref().map(image).transpose()?;
            let after = change.after.as_ref().map(image).transpose()?;
            let mut changed = BTreeSet::new();
            let row = match (&after, &before) {
                (Some(after), Some(before)) => {
                    for n in 0..after.len() {
                        let raw = &change.after.as_ref().unwrap()[n];
                        if *raw == Raw::Diff || *raw != Raw::Missing && after[n] != before[n] {
                            changed.insert(n);
                        }
                    }
                    let cells = after.iter().zip(before).zip(change.after.as_ref().unwrap());
                    cells
                        .map(|((after, before), raw)| {
                            if *raw == Raw::Missing {
                                before.clone()
                            } else {
                                after.clone()
                            }
                        })
                        .collect()
                }
                (Some(image), None) | (None, Some(image)) => image.clone(),
                (None, None) => return Err("a change without images".to_owned()),
            };
            changes.push(Change {
                at: change.at,
                op: change.op,
                row,
                before,
                changed,
            });
        }
        Ok(changes)
    }
}
