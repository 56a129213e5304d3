//! Changes folded by key, beside what the server showed.

use super::answers::{Answers, Position};
use super::canon::{Val, ZeroDates, shown};
use super::model::Table;
use super::types::Ty;
use super::workload::{Config, Image, Workload};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What a change says of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// The image does not carry the column.
    Missing,
    Is(Val),
    /// Null in a before image: NULL, or not carried.
    #[cfg_attr(not(feature = "cli"), allow(dead_code))] // the relations have it
    NullOrMissing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Insert,
    Update,
    Delete,
}

/// A row change; columns in the order of the model.
#[derive(Debug, Clone)]
pub struct Change {
    pub at: Position,
    pub op: Op,
    /// After image, for a DELETE the before image.
    pub row: Vec<Cell>,
    pub before: Option<Vec<Cell>>,
    /// Indexes of the columns that an UPDATE changed.
    pub changed: BTreeSet<usize>,
}

/// Where changes come from.
pub trait Source {
    fn name(&self) -> String;

    /// Whether its values of GEOMETRY tell the reference system.
    fn shows_srid(&self) -> bool {
        true
    }

    /// Whether it is asked for this table.
    fn covers(&self, _table: &Table) -> bool {
        true
    }

    /// The changes of a table, of which this is the version, at `from` or behind it and before
    /// `to`, in the order of the log.
    fn changes(
        &mut self,
        table: &Table,
        from: Position,
        to: Position,
    ) -> Result<Vec<Change>, String>;
}

/// What was compared, and what was found.
#[derive(Debug, Default)]
pub struct Report {
    pub changes: u64,
    /// By type and by character set: values that SELECT showed.
    pub values: BTreeMap<String, u64>,
    pub charsets: BTreeMap<String, u64>,
    /// Values of before images.
    pub before: u64,
    /// Values that the log does not have.
    pub unknown: u64,
    pub differences: Vec<String>,
}

impl Report {
    fn differs(&mut self, place: &str, what: impl std::fmt::Display) {
        self.differences.push(format!("{place}: {what}"));
    }
}

/// Folds all changes, and compares the tables at each checkpoint.
pub fn check(
    workload: &Workload,
    answers: &Answers,
    source: &mut dyn Source,
    zero: ZeroDates,
) -> Report {
    let mut report = Report::default();
    let mut states: HashMap<(usize, usize), (Position, State)> = HashMap::new();
    for (checkpoint, answer) in workload.checkpoints.iter().zip(&answers.checkpoints) {
        let config = &workload.configs[checkpoint.group];
        for table in &checkpoint.tables {
            let shows_srid = source.shows_srid();
            let column = |(text, column): (&String, &super::model::Column)| match column.ty {
                // Behind the number of the reference system.
                Ty::Geometry(..) if !shows_srid && text != "NULL" => Val::of(&text[8..]),
                _ => shown(&column.ty, text, zero),
            };
            let texts = &answer.tables[&table.id];
            let rows: Vec<Vec<Val>> = texts
                .iter()
                .map(|row| row.iter().zip(&table.columns).map(column).collect())
                .collect();
            let id = (checkpoint.group, table.id);
            let fresh = State {
                keyed: !table.key.is_empty(),
                rows,
            };
            if !source.covers(table) {
                continue;
            }
            if !checkpoint.verify {
                states.insert(id, (answer.at, fresh));
                continue;
            }
            let (from, state) = states.get_mut(&id).unwrap();
            let place = format!(
                "{} {} ({:?}, metadata {})",
                source.name(),
                table.quoted(),
                config.image,
                config.metadata
            );
            match source.changes(table, *from, answer.at) {
                Ok(changes) => {
                    report.changes += changes.len() as u64;
                    for change in &changes {
                        let place = format!(
                            "{place} {:?} at {:06}:{}",
                            change.op, change.at.0, change.at.1
                        );
                        state.apply(table, config, change, &place, &mut report);
                    }
                    state.compare(table, &fresh, &place, &mut report);
                }
                Err(error) => report.differs(&place, error),
            }
            // A difference is reported once.
            states.insert(id, (answer.at, fresh));
        }
    }
    report
}

/// The rows of a table.
struct State {
    keyed: bool,
    rows: Vec<Vec<Val>>,
}

impl State {
    fn apply(
        &mut self,
        table: &Table,
        config: &Config,
        change: &Change,
        place: &str,
        report: &mut Report,
    ) {
        let old = match change.op {
            Op::Insert => {
                if change.before.is_some() {
                    report.differs(place, "an INSERT with a before image");
                }
                None
            }
            Op::Update | Op::Delete => {
                let Some(before) = &change.before else {
                    return report.differs(place, "no before image");
                };
                if change.op == Op::Delete && !agree(before, &change.row) {
                    report.differs(place, "the row of a DELETE is not its before image");
                }
                match self.take(table, config, before) {
                    Ok(old) => {
                        report.before += before
                            .iter()
                            .filter(|cell| matches!(cell, Cell::Is(_)))
                            .count() as u64;
                        Some(old)
                    }
                    Err(what) => return report.differs(place, what),
                }
            }
        };
        if change.op == Op::Delete {
            return;
        }
        let mut new = Vec::new();
        for (n, cell) in change.row.iter().enumerate() {
            new.push(match (cell, &old) {
                (Cell::Is(value), _) => value.clone(),
                // The server computes it.
                (_, _) if table.columns[n].generated.is_some() => Val::Unknown,
                (_, _) if config.image == Image::Full => {
                    let what = format!(
                        "column {} is missing in a FULL image",
                        table.columns[n].name
                    );
                    report.differs(place, what);
                    Val::Unknown
                }
                (_, Some(_)) if change.changed.contains(&n) => Val::Unknown,
                (_, Some(old)) => old[n].clone(),
                (_, None) if table.columns[n].has_default() => Val::Unknown,
                (_, None) => Val::Null,
            });
        }
        let same_key = |row: &Vec<Val>| table.key.iter().all(|&n| row[n] == new[n]);
        if self.keyed && self.rows.iter().any(same_key) {
            report.differs(
                place,
                format!("a row with this key is there: {}", line(table, &new)),
            );
        }
        self.rows.push(new);
    }

    /// Takes out the row that the before image is of.
    fn take(
        &mut self,
        table: &Table,
        config: &Config,
        before: &[Cell],
    ) -> Result<Vec<Val>, String> {
        let differing = |row: &[Val], n: usize| match &before[n] {
            Cell::Is(value) => !row[n].fits(value),
            // Nor need the log have what is computed.
            _ if table.columns[n].generated.is_some() => false,
            Cell::Missing => config.image == Image::Full,
            // A key is carried always, and without one the whole row.
            Cell::NullOrMissing => {
                let carried =
                    config.image == Image::Full || table.key.is_empty() || table.key.contains(&n);
                carried && !row[n].fits(&Val::Null)
            }
        };
        let wanted: Vec<usize> = match self.keyed {
            true => table.key.clone(),
            false => (0..table.columns.len()).collect(),
        };
        let found = self
            .rows
            .iter()
            .position(|row| wanted.iter().all(|&n| !differing(row, n)));
        let Some(found) = found else {
            let count = |row: &&Vec<Val>| wanted.iter().filter(|&&n| differing(row, n)).count();
            let nearest = self.rows.iter().min_by_key(count);
            let differences = nearest.map(|row| {
                let all = wanted.iter().filter(|&&n| differing(row, n));
                let all = all.map(|&n| {
                    format!(
                        "{} is {}, before is {:?}",
                        table.columns[n].name,
                        row[n].show(),
                        before[n]
                    )
                });
                all.collect::<Vec<_>>().join("; ")
            });
            return Err(format!(
                "no row is the before image; the nearest: {}",
                differences.unwrap_or_default()
            ));
        };
        let row = self.rows.swap_remove(found);
        for n in 0..row.len() {
            if differing(&row, n) {
                return Err(format!(
                    "column {} {}: the row has {}, the before image {:?}",
                    table.columns[n].name,
                    table.columns[n].ty.sql(),
                    row[n].show(),
                    before[n]
                ));
            }
        }
        Ok(row)
    }

    /// Compares with what the server showed.
    fn compare(&mut self, table: &Table, shown: &State, place: &str, report: &mut Report) {
        let mut rest = std::mem::take(&mut self.rows);
        for row in &shown.rows {
            let differing = |other: &[Val]| {
                (0..row.len())
                    .filter(|&n| !other[n].fits(&row[n]))
                    .collect::<Vec<_>>()
            };
            let same_key = |other: &&Vec<Val>| table.key.iter().all(|&n| other[n] == row[n]);
            let candidates = rest.iter().filter(same_key);
            let nearest = candidates
                .min_by_key(|other| differing(other).len())
                .cloned();
            let Some(nearest) = nearest else {
                report.differs(
                    place,
                    format!(
                        "SELECT shows a row that the log does not make: {}",
                        line(table, row)
                    ),
                );
                continue;
            };
            for n in differing(&nearest) {
                let column = &table.columns[n];
                let key: Vec<String> = table.key.iter().map(|&n| row[n].show()).collect();
                report.differs(
                    place,
                    format!(
                        "key {} column {} {}: the log makes {}, SELECT shows {}",
                        key.join(", "),
                        column.name,
                        column.ty.sql().chars().take(100).collect::<String>(),
                        nearest[n].show(),
                        row[n].show()
                    ),
                );
            }
            for (value, column) in nearest.iter().zip(&table.columns) {
                if *value == Val::Unknown {
                    report.unknown += 1;
                    continue;
                }
                *report.values.entry(column.ty.label()).or_default() += 1;
                if let (Some(set), Val::Is(_)) = (column.ty.charset(), value) {
                    *report.charsets.entry(set.to_owned()).or_default() += 1;
                }
            }
            let at = rest.iter().position(|other| *other == nearest).unwrap();
            rest.swap_remove(at);
        }
        for row in &rest {
            report.differs(
                place,
                format!(
                    "the log makes a row that SELECT does not show: {}",
                    line(table, row)
                ),
            );
        }
    }
}

/// Whether two readings of one image agree.
fn agree(before: &[Cell], row: &[Cell]) -> bool {
    before
        .iter()
        .zip(row)
        .all(|(before, row)| match (before, row) {
            (Cell::NullOrMissing, Cell::Missing | Cell::Is(Val::Null)) => true,
            _ => before == row,
        })
}

fn line(table: &Table, row: &[Val]) -> String {
    let cells = table.columns.iter().zip(row);
    let cells = cells.map(|(column, value)| {
        let shown: String = value.show().chars().take(60).collect();
        format!("{}={shown}", column.name)
    });
    cells.collect::<Vec<_>>().join(" ")
}
