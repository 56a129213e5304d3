//! Changes as the typed relation of a table shows them.

use super::answers::Position;
use super::canon::{Val, ZeroDates, date, decimal, float, micros};
use super::fold::{Cell, Change, Op, Source};
use super::model::Table;
use super::relations::{Session, list, ops, plain, positions, text};
use super::types::Ty;
use super::values::hex;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Decimal256Type, DecimalType, DurationMicrosecondType,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimeUnit,
    TimestampMicrosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

/// The columns in front of a table's own.
const METADATA: [&str; 13] = [
    "_file",
    "_pos",
    "_payload_index",
    "_row_index",
    "_tx_pos",
    "_timestamp",
    "_commit_timestamp",
    "_gtid",
    "_server_id",
    "_thread_id",
    "_op",
    "_changed",
    "_missing",
];

/// The typed relations over some logs.
pub struct Typed {
    server: &'static str,
    zero: ZeroDates,
    odd: bool,
    session: Rc<Session>,
    relations: HashMap<String, Option<Rc<Relation>>>,
}

/// All rows of a relation.
struct Relation {
    at: Vec<Position>,
    ops: Vec<Op>,
    missing: Vec<Vec<String>>,
    changed: Vec<Vec<String>>,
    /// The table's columns, and those of `_before`.
    columns: Vec<(String, ArrayRef)>,
    before: Vec<(String, ArrayRef)>,
    before_is: ArrayRef,
}

impl Typed {
    /// Of the schemas of even or of odd groups.
    pub fn new(server: &'static str, session: &Rc<Session>, zero: ZeroDates, odd: bool) -> Self {
        Self {
            server,
            zero,
            odd,
            session: Rc::clone(session),
            relations: HashMap::new(),
        }
    }

    /// `None`: the logs have no change of the table.
    fn relation(&mut self, schema: &str, name: &str) -> Result<Option<Rc<Relation>>, String> {
        let full = format!("{schema}.{name}");
        if let Some(relation) = self.relations.get(&full) {
            return Ok(relation.clone());
        }
        let relation = if self.session.has(schema, name) {
            let order = "_file, _pos, _payload_index, _row_index";
            let sql = format!("select * from logs.\"{schema}\".\"{name}\" order by {order}");
            Some(Rc::new(Relation::new(&self.session.query(&sql)?)?))
        } else {
            None
        };
        self.relations.insert(full, relation.clone());
        Ok(relation)
    }
}

impl Relation {
    fn new(batch: &RecordBatch) -> Result<Self, String> {
        let schema = batch.schema();
        let names: Vec<&str> = schema
            .fields()
            .iter()
            .map(|field| field.name().as_str())
            .collect();
        if names.get(..METADATA.len()) != Some(&METADATA[..]) || names.last() != Some(&"_before") {
            return Err(format!("the relation's columns are {names:?}"));
        }
        let column = |name: &str| plain(batch.column_by_name(name).unwrap());
        let (missing, changed) = (column("_missing"), column("_changed"));
        let at = positions(&column("_file"), &column("_pos"))?;
        let ops = ops(&column("_op"))?;
        let own = schema
            .fields()
            .iter()
            .zip(batch.columns())
            .skip(METADATA.len());
        let own = own.take(schema.fields().len() - METADATA.len() - 1);
        let before = batch.column(batch.num_columns() - 1);
        let images = before.as_struct();
        Ok(Self {
            at,
            ops,
            missing: (0..batch.num_rows())
                .map(|row| list(&missing, row))
                .collect::<Result<_, _>>()?,
            changed: (0..batch.num_rows())
                .map(|row| list(&changed, row))
                .collect::<Result<_, _>>()?,
            columns: own
                .map(|(field, array)| (field.name().clone(), plain(array)))
                .collect(),
            before: images
                .fields()
                .iter()
                .zip(images.columns())
                .map(|(field, array)| (field.name().clone(), plain(array)))
                .collect(),
            before_is: Arc::clone(before),
        })
    }
}

/// What a column of the table is called in the relation.
fn relation_name(name: &str) -> String {
    let taken = METADATA.contains(&name) || name == "_before";
    if taken {
        format!("_{name}")
    } else {
        name.to_owned()
    }
}

/// The column of the relation that a column of the table is.
fn find<'a>(columns: &'a [(String, ArrayRef)], name: &str) -> Result<&'a ArrayRef, String> {
    let name = relation_name(name);
    let same = |other: &&(String, ArrayRef)| other.0.to_lowercase() == name.to_lowercase();
    let found = columns.iter().find(same).map(|(_, array)| array);
    let names = || {
        columns
            .iter()
            .map(|(name, _)| name.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    };
    found.ok_or_else(|| format!("no column {name} among {}", names()))
}

impl Source for Typed {
    fn name(&self) -> String {
        format!("{} relation", self.server)
    }

    fn shows_srid(&self) -> bool {
        false
    }

    fn covers(&self, table: &Table) -> bool {
        let group: usize = table.schema.trim_start_matches('g').parse().unwrap();
        (group % 2 == 1) == self.odd
    }

    fn changes(
        &mut self,
        table: &Table,
        from: Position,
        to: Position,
    ) -> Result<Vec<Change>, String> {
        let Some(relation) = self.relation(&table.schema, &table.name)? else {
            return Ok(Vec::new());
        };
        let find_all = |columns: &[(String, ArrayRef)]| -> Result<Vec<ArrayRef>, String> {
            table
                .columns
                .iter()
                .map(|column| find(columns, &column.name).cloned())
                .collect()
        };
        let rows = relation
            .at
            .iter()
            .enumerate()
            .filter(|(_, at)| from <= **at && **at < to);
        let rows: Vec<usize> = rows.map(|(row, _)| row).collect();
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let (own, images) = (find_all(&relation.columns)?, find_all(&relation.before)?);
        let mut changes = Vec::new();
        for row in rows {
            let place = |error: String| {
                format!(
                    "at {:?}, row {row} of the relation: {error}",
                    relation.at[row]
                )
            };
            // Columns of other versions.
            for (name, array) in &relation.columns {
                if !array.is_null(row) && !own.iter().any(|own| Arc::ptr_eq(own, array)) {
                    return Err(place(format!(
                        "column {name} is not of this version, but has a value"
                    )));
                }
            }
            let named = |names: &[String]| -> BTreeSet<usize> {
                let is = |n: &usize| {
                    let name = relation_name(&table.columns[*n].name).to_lowercase();
                    names.iter().any(|other| other.to_lowercase() == name)
                };
                (0..table.columns.len()).filter(is).collect()
            };
            let (missing, changed) = (named(&relation.missing[row]), named(&relation.changed[row]));
            let mut cells = Vec::new();
            let mut before = Vec::new();
            for (n, column) in table.columns.iter().enumerate() {
                let value = value(&own[n], row, &column.ty, self.zero).map_err(place)?;
                cells.push(match missing.contains(&n) {
                    true if value != Val::Null => {
                        return Err(place(format!(
                            "column {} is missing and has a value",
                            column.name
                        )));
                    }
                    true => Cell::Missing,
                    false => Cell::Is(value),
                });
                before.push(
                    match self::value(&images[n], row, &column.ty, self.zero).map_err(place)? {
                        Val::Null => Cell::NullOrMissing,
                        value => Cell::Is(value),
                    },
                );
            }
            changes.push(Change {
                at: relation.at[row],
                op: relation.ops[row],
                row: cells,
                before: relation.before_is.is_valid(row).then_some(before),
                changed,
            });
        }
        Ok(changes)
    }
}

/// One value as [`super::canon`] writes it.
fn value(array: &ArrayRef, row: usize, ty: &Ty, zero: ZeroDates) -> Result<Val, String> {
    if array.is_null(row) {
        return Ok(Val::Null);
    }
    if let Ty::Compressed(inner) = ty {
        return value(array, row, inner, zero);
    }
    let unexpected = || format!("{} is of Arrow type {}", ty.sql(), array.data_type());
    let whole = |n: i128| match ty {
        Ty::Int { .. } | Ty::Bit(_) | Ty::Year => Ok(Val::of(n.to_string())),
        _ => Err(unexpected()),
    };
    let double = |n: f64| match ty {
        Ty::Float { .. } | Ty::Double { .. } => Ok(Val::of(float(n))),
        // Widened.
        Ty::Int { .. } => Ok(Val::of(format!("{n:.0}"))),
        _ => Err(unexpected()),
    };
    let number = |text: String| match ty {
        Ty::Int { .. } | Ty::Decimal { .. } => Ok(Val::of(decimal(&text))),
        _ => Err(unexpected()),
    };
    let bytes = |bytes: &[u8]| match ty {
        Ty::Binary(_) | Ty::VarBinary(_) | Ty::Blob(_) | Ty::Geometry(..) => {
            Ok(Val::of(hex(bytes)))
        }
        Ty::Uuid => {
            let hex = hex(bytes).to_lowercase();
            let groups = [
                &hex[..8],
                &hex[8..12],
                &hex[12..16],
                &hex[16..20],
                &hex[20..],
            ];
            Ok(Val::of(groups.join("-")))
        }
        _ => Err(unexpected()),
    };
    macro_rules! primitive {
        ($ty:ty) => {
            array.as_primitive::<$ty>().value(row)
        };
    }
    match array.data_type() {
        DataType::Int8 => whole(primitive!(Int8Type).into()),
        DataType::Int16 => whole(primitive!(Int16Type).into()),
        DataType::Int32 => whole(primitive!(Int32Type).into()),
        DataType::Int64 => whole(primitive!(Int64Type).into()),
        DataType::UInt8 => whole(primitive!(UInt8Type).into()),
        DataType::UInt16 => whole(primitive!(UInt16Type).into()),
        DataType::UInt32 => whole(primitive!(UInt32Type).into()),
        DataType::UInt64 => whole(primitive!(UInt64Type).into()),
        DataType::Float32 => double(primitive!(Float32Type).into()),
        DataType::Float64 => double(primitive!(Float64Type)),
        DataType::Decimal128(p, s) => number(Decimal128Type::format_decimal(
            primitive!(Decimal128Type),
            *p,
            *s,
        )),
        DataType::Decimal256(p, s) => number(Decimal256Type::format_decimal(
            primitive!(Decimal256Type),
            *p,
            *s,
        )),
        DataType::Date32 => match ty {
            Ty::Date => Ok(date(&day(primitive!(Date32Type).into()), zero)),
            _ => Err(unexpected()),
        },
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            let micros = primitive!(TimestampMicrosecondType);
            let time = moment(micros);
            match ty {
                Ty::DateTime(_) | Ty::Timestamp(_) => Ok(date(&time, zero)),
                // Widened.
                Ty::Date if micros % 86_400_000_000 == 0 => Ok(date(&time[..10], zero)),
                _ => Err(unexpected()),
            }
        }
        DataType::Duration(TimeUnit::Microsecond) => match ty {
            Ty::Time(_) => Ok(Val::of(primitive!(DurationMicrosecondType).to_string())),
            _ => Err(unexpected()),
        },
        DataType::Utf8 | DataType::Utf8View => {
            let text = text(array, row)?;
            match ty {
                _ if ty.charset().is_some() || *ty == Ty::Json => Ok(Val::of(hex(text.as_bytes()))),
                Ty::Date | Ty::DateTime(_) | Ty::Timestamp(_) => Ok(date(&text, zero)),
                Ty::Time(_) => Ok(Val::of(micros(&text).to_string())),
                Ty::Uuid | Ty::Inet4 | Ty::Inet6 | Ty::Int { .. } => Ok(Val::of(text)),
                Ty::Decimal { .. } => Ok(Val::of(decimal(&text))),
                // Widened; a FLOAT has the digits of a FLOAT.
                Ty::Float { .. } => Ok(Val::of(float(text.parse::<f32>().unwrap().into()))),
                Ty::Double { .. } => Ok(Val::of(float(text.parse().unwrap()))),
                _ => Err(unexpected()),
            }
        }
        DataType::BinaryView => bytes(array.as_binary_view().value(row)),
        DataType::FixedSizeBinary(_) => bytes(array.as_fixed_size_binary().value(row)),
        DataType::List(_) => match ty {
            Ty::Vector(_) => {
                let floats = array.as_list::<i32>().value(row);
                let floats = floats.as_primitive::<Float32Type>().values();
                Ok(Val::of(hex(&floats
                    .iter()
                    .flat_map(|x| x.to_le_bytes())
                    .collect::<Vec<_>>())))
            }
            _ => Err(unexpected()),
        },
        _ => Err(unexpected()),
    }
}

/// A day counted from 1970, in the calendar that goes on for ever.
fn day(days: i64) -> String {
    // From 0000-03-01 in eras of 400 years.
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month) = (
        day - (153 * month + 2) / 5 + 1,
        if month < 10 { month + 3 } else { month - 9 },
    );
    let year = era * 400 + year + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

fn moment(micros: i64) -> String {
    let (days, rest) = (
        micros.div_euclid(86_400_000_000),
        micros.rem_euclid(86_400_000_000),
    );
    let (seconds, fraction) = (rest / 1_000_000, rest % 1_000_000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!(
        "{} {hour:02}:{minute:02}:{second:02}.{fraction:06}",
        day(days)
    )
}
