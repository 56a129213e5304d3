//! Changes as the relation `changes` shows them: rows as JSON objects.

use super::answers::Position;
use super::canon::{Val, ZeroDates, date, decimal, float, micros};
use super::fold::{Cell, Change, Op, Source};
use super::model::Table;
use super::relations::{Session, list, ops, plain, positions, text};
use super::types::Ty;
use super::values::hex;
use arrow::array::{Array, ArrayRef};
use std::collections::{BTreeSet, HashMap};

/// All changes of some logs, by table.
pub struct Objects {
    server: &'static str,
    documents: Documents,
    tables: HashMap<(String, String), Vec<Row>>,
}

/// What a value of type JSON is.
#[derive(Clone, Copy, PartialEq)]
enum Documents {
    /// MySQL's are documents within the object.
    Embedded,
    /// MariaDB's are text.
    Text,
}

struct Row {
    at: Position,
    op: Op,
    key: Option<String>,
    before: Option<String>,
    after: Option<String>,
    changed: Option<Vec<String>>,
}

impl Objects {
    pub fn read(server: &'static str, session: &Session) -> Result<Self, String> {
        let columns = "file, pos, schema_name, table_name, op, key, before, after, changed";
        let order = "file, pos, payload_index, row_index";
        let sql = format!("select {columns} from logs.binlog.changes order by {order}");
        let batch = session.query(&sql)?;
        let columns: Vec<ArrayRef> = batch.columns().iter().map(plain).collect();
        let at = positions(&columns[0], &columns[1])?;
        let ops = ops(&columns[4])?;
        let mut tables: HashMap<_, Vec<Row>> = HashMap::new();
        for (row, (&at, &op)) in at.iter().zip(&ops).enumerate() {
            let optional = |column: &ArrayRef| -> Result<Option<String>, String> {
                column.is_valid(row).then(|| text(column, row)).transpose()
            };
            let changed = columns[8].is_valid(row).then(|| list(&columns[8], row));
            let place = (text(&columns[2], row)?, text(&columns[3], row)?);
            tables.entry(place).or_default().push(Row {
                at,
                op,
                key: optional(&columns[5])?,
                before: optional(&columns[6])?,
                after: optional(&columns[7])?,
                changed: changed.transpose()?,
            });
        }
        let documents = match server.starts_with("mysql") {
            true => Documents::Embedded,
            false => Documents::Text,
        };
        Ok(Self {
            server,
            documents,
            tables,
        })
    }
}

impl Source for Objects {
    fn name(&self) -> String {
        format!("{} changes", self.server)
    }

    fn changes(
        &mut self,
        table: &Table,
        from: Position,
        to: Position,
    ) -> Result<Vec<Change>, String> {
        let place = (table.schema.clone(), table.name.clone());
        let rows = self.tables.get(&place).map(Vec::as_slice);
        let rows = rows.unwrap_or_default().iter();
        rows.filter(|row| from <= row.at && row.at < to)
            .map(|row| {
                change(table, row, self.documents).map_err(|error| {
                    format!(
                        "at {:?}: {error}\n    key {:?}\n    before {:?}\n    after {:?}",
                        row.at, row.key, row.before, row.after
                    )
                })
            })
            .collect()
    }
}

fn change(table: &Table, row: &Row, documents: Documents) -> Result<Change, String> {
    let image = |text: &Option<String>| {
        text.as_ref()
            .map(|t| image(table, t, documents))
            .transpose()
    };
    let (before, after) = (image(&row.before)?, image(&row.after)?);
    let is_update = row.op == Op::Update;
    let nulls = (before.is_none(), after.is_none(), row.changed.is_none());
    if nulls != (row.op == Op::Insert, row.op == Op::Delete, !is_update) {
        return Err("null in other columns than the operation demands".to_owned());
    }
    let cells = |key: &Vec<(String, Json)>| -> Result<Vec<Cell>, String> {
        let cells = table.columns.iter();
        cells
            .map(|column| cell(key, &column.name, &column.ty, documents))
            .collect()
    };
    // The key.
    let key = row.key.as_ref().map(|key| object(key)).transpose()?;
    let names: Vec<&str> = table
        .key
        .iter()
        .map(|&n| table.columns[n].name.as_str())
        .collect();
    let found = key.iter().flatten().map(|(name, _)| name.as_str());
    if !found.eq(names) {
        return Err("the key has other columns than the table's".to_owned());
    }
    if let Some(key) = key {
        let key = cells(&key)?;
        for &n in &table.key {
            let cell = match &before {
                Some(before) if before[n] != Cell::Missing => &before[n],
                _ => after.as_ref().map_or(&Cell::Missing, |after| &after[n]),
            };
            if key[n] != *cell {
                return Err(format!("the key has {:?}, the row {cell:?}", key[n]));
            }
        }
    }
    let mut changed = BTreeSet::new();
    for name in row.changed.iter().flatten() {
        let n = table.columns.iter().position(|column| column.name == *name);
        changed.insert(n.ok_or_else(|| format!("there is no column {name} to change"))?);
    }
    if let (Some(before), Some(after)) = (&before, &after) {
        for (n, cells) in before.iter().zip(after).enumerate() {
            let differs = match cells {
                (_, Cell::Missing) | (Cell::Is(Val::Unknown), _) | (_, Cell::Is(Val::Unknown)) => {
                    continue;
                }
                // Among them what was written without telling what was there.
                (old, new) => old != new,
            };
            // The number of a label that is empty differs from that of no label.
            let ty = &table.columns[n].ty;
            if !differs && ty.labels().iter().any(String::is_empty) {
                continue;
            }
            if differs != changed.contains(&n) {
                return Err(format!(
                    "changed is {:?}, but column {} was {:?} and is {:?}",
                    row.changed, table.columns[n].name, cells.0, cells.1
                ));
            }
        }
    }
    let row_cells = match (&after, &before) {
        (Some(row), _) | (None, Some(row)) => row.clone(),
        (None, None) => return Err("no image".to_owned()),
    };
    Ok(Change {
        at: row.at,
        op: row.op,
        row: row_cells,
        before,
        changed,
    })
}

fn image(table: &Table, text: &str, documents: Documents) -> Result<Vec<Cell>, String> {
    let object = object(text)?;
    if let Some((name, _)) = object
        .iter()
        .find(|(name, _)| !table.columns.iter().any(|column| column.name == *name))
    {
        return Err(format!("{name} is no column"));
    }
    let columns = table.columns.iter();
    columns
        .map(|column| cell(&object, &column.name, &column.ty, documents))
        .collect()
}

fn cell(
    object: &[(String, Json)],
    name: &str,
    ty: &Ty,
    documents: Documents,
) -> Result<Cell, String> {
    let mut found = object.iter().filter(|(key, _)| key == name);
    let Some((_, json)) = found.next() else {
        return Ok(Cell::Missing);
    };
    if found.next().is_some() {
        return Err(format!("{name} is there twice"));
    }
    if json.raw.starts_with("{\"$json_diff\":") {
        return Ok(Cell::Missing);
    }
    let value =
        value(json, ty, documents).ok_or_else(|| format!("{name} {} is {}", ty.sql(), json.raw))?;
    Ok(Cell::Is(value))
}

/// A value as it is written, and as a string if it is one.
struct Json {
    raw: String,
    string: Option<String>,
}

/// One value as [`super::canon`] writes it; `None`: it is not of such a kind.
fn value(json: &Json, ty: &Ty, documents: Documents) -> Option<Val> {
    if json.raw == "null" {
        return Some(match (ty, documents) {
            // A document that is null, or NULL.
            (Ty::Json, Documents::Embedded) => Val::Unknown,
            _ => Val::Null,
        });
    }
    let number = || {
        let is_number = json
            .raw
            .starts_with(|c: char| c == '-' || c.is_ascii_digit());
        is_number.then_some(json.raw.as_str())
    };
    let string = json.string.as_deref();
    Some(match ty {
        Ty::Compressed(inner) => return value(json, inner, documents),
        Ty::Int { .. } | Ty::Bit(_) | Ty::Year => Val::of(number()?),
        Ty::Decimal { .. } => Val::of(decimal(number()?)),
        Ty::Float { .. } => Val::of(float(number()?.parse::<f32>().ok()?.into())),
        Ty::Double { .. } => Val::of(float(number()?.parse().ok()?)),
        Ty::Date | Ty::DateTime(_) | Ty::Timestamp(_) => date(string?, ZeroDates::Text),
        Ty::Time(_) => Val::of(micros(string?).to_string()),
        Ty::Uuid | Ty::Inet4 | Ty::Inet6 => Val::of(string?),
        Ty::Binary(_) => Val::of(hex(&bytes(string?, 254)?)),
        Ty::VarBinary(_) => Val::of(hex(&bytes(string?, 15)?)),
        Ty::Blob(_) => Val::of(hex(&bytes(string?, 252)?)),
        Ty::Geometry(..) => Val::of(hex(&bytes(string?, 255)?)),
        Ty::Vector(_) => {
            let numbers = json.raw.strip_prefix('[')?.strip_suffix(']')?.split(',');
            let floats = numbers.map(|number| number.parse::<f32>().ok());
            let floats: Option<Vec<f32>> = floats.collect();
            let bytes = floats?.into_iter().flat_map(f32::to_le_bytes);
            Val::of(hex(&bytes.collect::<Vec<_>>()))
        }
        Ty::Json => Val::of(hex(match documents {
            Documents::Embedded => json.raw.as_bytes(),
            Documents::Text => string?.as_bytes(),
        })),
        _ if ty.charset().is_some() => Val::of(hex(string?.as_bytes())),
        _ => return None,
    })
}

/// The bytes of `base64:type<N>:…`.
fn bytes(text: &str, code: u8) -> Option<Vec<u8>> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let text = text.strip_prefix(&format!("base64:type{code}:"))?;
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0u32, 0);
    for digit in text.chars().filter(|c| !matches!(c, '\n' | '=')) {
        bits = bits << 6 | u32::try_from(DIGITS.find(digit)?).ok()?;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    Some(bytes)
}

/// The members of an object that is the whole text.
fn object(text: &str) -> Result<Vec<(String, Json)>, String> {
    let mut at = 0;
    let mut members = Vec::new();
    let bad = |at: usize| format!("no JSON object from byte {at} on: {text:?}");
    let byte = |at: usize| text.as_bytes().get(at).copied();
    if byte(at) != Some(b'{') {
        return Err(bad(at));
    }
    at += 1;
    while byte(at) != Some(b'}') {
        let name = string(text, &mut at).ok_or_else(|| bad(at))?;
        if byte(at) != Some(b':') {
            return Err(bad(at));
        }
        at += 1;
        let from = at;
        let value = match byte(at) {
            Some(b'"') => Some(string(text, &mut at).ok_or_else(|| bad(from))?),
            _ => {
                skip(text, &mut at).ok_or_else(|| bad(from))?;
                None
            }
        };
        let raw = text[from..at].to_owned();
        members.push((name, Json { raw, string: value }));
        match byte(at) {
            Some(b',') if byte(at + 1) != Some(b'}') => at += 1,
            Some(b'}') => {}
            _ => return Err(bad(at)),
        }
    }
    if at + 1 == text.len() {
        Ok(members)
    } else {
        Err(bad(at))
    }
}

/// Goes behind a value that is no string.
fn skip(text: &str, at: &mut usize) -> Option<()> {
    let mut depth = 0;
    let from = *at;
    loop {
        match text.as_bytes().get(*at)? {
            b'"' => {
                string(text, at)?;
                continue;
            }
            b'[' | b'{' => depth += 1,
            b',' | b'}' if depth == 0 => return (*at > from).then_some(()),
            b']' | b'}' => depth -= 1,
            _ => {}
        }
        *at += 1;
    }
}

/// Reads a string.
fn string(text: &str, at: &mut usize) -> Option<String> {
    let mut out = String::new();
    let mut high = None;
    let mut chars = text.get(*at..)?.char_indices();
    if chars.next()?.1 != '"' {
        return None;
    }
    loop {
        let (offset, c) = chars.next()?;
        let c = match c {
            '"' => {
                *at += offset + 1;
                return high.is_none().then_some(out);
            }
            '\\' => match chars.next()?.1 {
                'u' => {
                    let digits: String = chars.by_ref().take(4).map(|(_, c)| c).collect();
                    let unit = u32::from_str_radix(&digits, 16).ok()?;
                    match (unit, high.take()) {
                        (0xd800..0xdc00, None) => {
                            high = Some(unit);
                            continue;
                        }
                        (_, Some(high)) => {
                            char::from_u32(0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00))?
                        }
                        (_, None) => char::from_u32(unit)?,
                    }
                }
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                'b' => '\u{8}',
                'f' => '\u{c}',
                c @ ('"' | '\\' | '/') => c,
                _ => return None,
            },
            '\0'..' ' => return None,
            c => c,
        };
        if high.is_some() {
            return None;
        }
        out.push(c);
    }
}
