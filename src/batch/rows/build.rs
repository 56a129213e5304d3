//! Columns of values: a table's own, and the JSON of rows.

use super::batcher::{RowBatcher, RowItem, RowTable};
use super::columns::{MetaColumn, Op, RowColumn};
use crate::batch::values::{Note, Stretch, build};
use crate::binlog::fields;
use crate::binlog::problem::{Problem, ProblemKind, Severity};
use crate::binlog::row::{ColumnPlan, Located, Place, ValueNote, changed};
use crate::binlog::types::code;
use arrow::array::{
    ArrayRef, ListBuilder, StringBuilder, StructArray, UInt32Array, new_null_array,
};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Field};
use std::borrow::Cow;
use std::sync::Arc;

/// Rows of one run that follow each other among those asked for.
struct Group {
    run: u32,
    start: usize,
    end: usize,
}

/// A row, and where to look for its values.
#[derive(Clone, Copy)]
struct RowPlaces<'a> {
    row: &'a RowItem,
    table: &'a RowTable,
    located: &'a Located,
    block: &'a [u8],
}

impl RowPlaces<'_> {
    fn at(&self, lists: &[Vec<Place>], slots: &[Option<u32>], column: usize) -> Place {
        let slot = slots.get(column).copied().flatten();
        let list = slot.and_then(|slot| lists.get(slot as usize));
        let place = list.and_then(|list| list.get(self.row.at as usize));
        place.copied().unwrap_or(Place::ABSENT)
    }

    /// The column in the row of the change.
    fn after(&self, column: usize) -> Place {
        self.at(&self.located.row, &self.table.row_slots, column)
    }

    /// The column in the image before.
    fn before(&self, column: usize) -> Place {
        self.at(&self.located.before, &self.table.before_slots, column)
    }

    /// A JSON column, of which the row has only changes, in the image before.
    fn base(&self, column: usize) -> Place {
        self.at(&self.located.base, &self.table.row_slots, column)
    }
}

impl RowBatcher {
    /// Columns that are the same for all rows of an event, of the candidates `events` or all.
    pub fn event_columns(&self, columns: &[RowColumn], events: Option<&[u32]>) -> Vec<ArrayRef> {
        let all: Vec<u32>;
        let events = match events {
            Some(events) => events,
            None => {
                all = (0..self.events.len() as u32).collect();
                &all
            }
        };
        let column = |column: &RowColumn| match column {
            RowColumn::Meta(column) => self.event_column(*column, events),
            RowColumn::Value(_) | RowColumn::Before => {
                new_null_array(&DataType::Null, events.len())
            }
        };
        columns.iter().map(column).collect()
    }

    /// Columns of the rows that were located, or of those of them at `rows` (in order). Of the
    /// struct `_before` only the fields `before` have values.
    ///
    /// What does not decode is null and noted in `problems`.
    pub fn columns(
        &self,
        columns: &[RowColumn],
        before: &[usize],
        rows: Option<&[u32]>,
        problems: &mut Vec<Problem>,
    ) -> Vec<ArrayRef> {
        let rows: Cow<'_, [RowItem]> = match rows {
            None => Cow::Borrowed(&self.rows),
            Some(rows) => rows.iter().map(|&at| self.rows[at as usize]).collect(),
        };
        let mut built = Building {
            batcher: self,
            rows: &rows,
            groups: groups(&rows),
            events: rows.iter().map(|row| row.event).collect(),
            problems,
        };
        columns
            .iter()
            .map(|&column| built.column(column, before))
            .collect()
    }
}

/// Cuts rows where the run changes.
fn groups(rows: &[RowItem]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        match groups.last_mut() {
            Some(group) if group.run == row.run => group.end = at + 1,
            _ => groups.push(Group {
                run: row.run,
                start: at,
                end: at + 1,
            }),
        }
    }
    groups
}

struct Building<'a> {
    batcher: &'a RowBatcher,
    rows: &'a [RowItem],
    groups: Vec<Group>,
    /// The event of each row.
    events: Vec<u32>,
    problems: &'a mut Vec<Problem>,
}

impl Building<'_> {
    fn column(&mut self, column: RowColumn, before: &[usize]) -> ArrayRef {
        match column {
            RowColumn::Value(at) => self.value(at, false),
            RowColumn::Before => self.before(before),
            RowColumn::Meta(MetaColumn::RowIndex) => {
                let index = self.rows.iter().map(|row| row.index);
                Arc::new(UInt32Array::from_iter_values(index))
            }
            RowColumn::Meta(MetaColumn::Missing) => self.missing(),
            RowColumn::Meta(MetaColumn::Changed) => self.changed(),
            RowColumn::Meta(
                column @ (MetaColumn::Key | MetaColumn::Before | MetaColumn::After),
            ) => self.json(column),
            RowColumn::Meta(column) => self.batcher.event_column(column, &self.events),
        }
    }

    /// A column of the table, of the row or of the row before.
    fn value(&mut self, at: usize, before: bool) -> ArrayRef {
        let batcher = self.batcher;
        let Some(table) = batcher.layout.table() else {
            return new_null_array(&DataType::Null, self.rows.len());
        };
        let field = &table.columns()[at];
        let gathered: Vec<[Cow<'_, [Place]>; 2]> = self
            .groups
            .iter()
            .map(|group| {
                let of = self.list(group, at, before);
                [self.places(group, of.0), self.places(group, of.1)]
            })
            .collect();
        let stretches: Vec<Stretch<'_>> = self
            .groups
            .iter()
            .zip(&gathered)
            .map(|(group, [places, bases])| {
                let run = &batcher.runs[group.run as usize];
                let table = &batcher.tables[run.table as usize];
                Stretch {
                    column: table.mapping[at].map(|n| &table.plan.columns()[n]),
                    block: &batcher.blocks[run.block as usize],
                    number: run.block,
                    places,
                    bases: if bases.len() == places.len() {
                        bases
                    } else {
                        &[]
                    },
                }
            })
            .collect();
        let (rows, mut notes) = (self.rows, Vec::new());
        let mut note = |row: usize, note: Note| {
            if notes.len() < MAX_NOTES {
                notes.push((row, note));
            }
        };
        let array = build(
            field,
            table.options(),
            &stretches,
            &batcher.blocks,
            &mut note,
        );
        for (row, note) in notes {
            let Some(item) = rows.get(row) else { continue };
            let run = &batcher.runs[item.run as usize];
            let table = &batcher.tables[run.table as usize];
            let Some(n) = table.mapping[at] else { continue };
            let once = matches!(note, Note::ZeroDate(_) | Note::Signedness(_));
            if once && !batcher.is_news(&table.plan, n) {
                continue;
            }
            let severity = if note.is_error() {
                Severity::Error
            } else {
                Severity::Warning
            };
            let message = note.into_error().message().to_owned();
            self.note(item, &table.plan.columns()[n], severity, &message);
        }
        array
    }

    /// Places of the column in a run, and of its values before where it is JSON.
    fn list(&self, group: &Group, at: usize, before: bool) -> (Option<&[Place]>, Option<&[Place]>) {
        let run = &self.batcher.runs[group.run as usize];
        let table = &self.batcher.tables[run.table as usize];
        let Some(column) = table.mapping[at] else {
            return (None, None);
        };
        let list = |lists: &'_ [Vec<Place>], slots: &[Option<u32>]| -> Option<usize> {
            slots[column]
                .map(|slot| slot as usize)
                .filter(|&slot| slot < lists.len())
        };
        let located = &run.located;
        if before {
            let slot = list(&located.before, &table.before_slots);
            return (slot.map(|slot| &*located.before[slot]), None);
        }
        let slot = list(&located.row, &table.row_slots);
        (
            slot.map(|slot| &*located.row[slot]),
            slot.map(|slot| &*located.base[slot])
                .filter(|base| !base.is_empty()),
        )
    }

    /// The places of a group's rows; without a list, all are absent.
    fn places<'l>(&self, group: &Group, list: Option<&'l [Place]>) -> Cow<'l, [Place]> {
        let rows = &self.rows[group.start..group.end];
        let Some(list) = list else {
            return Cow::Owned(vec![Place::ABSENT; rows.len()]);
        };
        // Mostly all rows of the run are asked for.
        if rows.len() == list.len() {
            return Cow::Borrowed(list);
        }
        let place = |row: &RowItem| list.get(row.at as usize).copied().unwrap_or(Place::ABSENT);
        Cow::Owned(rows.iter().map(place).collect())
    }

    /// The struct of the table's columns before the change, null where nothing was before.
    fn before(&mut self, wanted: &[usize]) -> ArrayRef {
        let fields = match self.batcher.layout.table() {
            Some(table) => arrow::datatypes::Fields::from(table.columns().to_vec()),
            None => arrow::datatypes::Fields::empty(),
        };
        let columns: Vec<ArrayRef> = (0..fields.len())
            .map(|at| {
                if wanted.contains(&at) {
                    self.value(at, true)
                } else {
                    new_null_array(fields[at].data_type(), self.rows.len())
                }
            })
            .collect();
        let there = self.rows.iter().map(|row| self.op(row) != Op::Insert);
        let nulls: NullBuffer = there.collect();
        if fields.is_empty() {
            return Arc::new(StructArray::new_empty_fields(self.rows.len(), Some(nulls)));
        }
        match StructArray::try_new(fields.clone(), columns, Some(nulls)) {
            Ok(array) => Arc::new(array),
            Err(_) => new_null_array(&DataType::Struct(fields), self.rows.len()),
        }
    }

    fn op(&self, row: &RowItem) -> Op {
        self.batcher.events[row.event as usize].op
    }

    fn places_of<'r>(&'r self, row: &'r RowItem) -> RowPlaces<'r> {
        let run = &self.batcher.runs[row.run as usize];
        RowPlaces {
            row,
            table: &self.batcher.tables[run.table as usize],
            located: &run.located,
            block: self.batcher.blocks[run.block as usize].as_ref(),
        }
    }

    /// `key`, `before` or `after`.
    fn json(&mut self, column: MetaColumn) -> ArrayRef {
        let mut builder = StringBuilder::with_capacity(self.rows.len(), self.rows.len() * 64);
        let mut text = String::new();
        let mut notes: Vec<(usize, u32, ValueNote)> = Vec::new();
        for (at, row) in self.rows.iter().enumerate() {
            let op = self.op(row);
            let absent = match column {
                MetaColumn::Before => op == Op::Insert,
                MetaColumn::After => op == Op::Delete,
                _ => false,
            };
            let places = self.places_of(row);
            let Some(json) = places.table.json.as_ref().filter(|_| !absent) else {
                builder.append_null();
                continue;
            };
            let (plan, block) = (&places.table.plan, places.block);
            let mut note = |column: &ColumnPlan, note: ValueNote| {
                if notes.len() < MAX_NOTES {
                    notes.push((at, column.number, note));
                }
            };
            let (after, before) = (|n| places.after(n), |n| places.before(n));
            text.clear();
            let written = match column {
                MetaColumn::Key => json.write_key(plan, block, after, before, &mut text, &mut note),
                MetaColumn::Before => {
                    let none = |_| Place::ABSENT;
                    json.write_row(plan, block, before, none, &mut text, &mut note);
                    true
                }
                _ => {
                    let base = |n| places.base(n);
                    json.write_row(plan, block, after, base, &mut text, &mut note);
                    true
                }
            };
            builder.append_option(written.then_some(&text));
        }
        self.note_all(notes);
        Arc::new(builder.finish())
    }

    /// Columns that an update changed.
    fn changed(&mut self) -> ArrayRef {
        let mut builder = list_builder();
        let mut notes: Vec<(usize, u32, ValueNote)> = Vec::new();
        let mut columns = Vec::new();
        for (at, row) in self.rows.iter().enumerate() {
            if self.op(row) != Op::Update {
                builder.append(false);
                continue;
            }
            let places = self.places_of(row);
            let plan = &places.table.plan;
            let mut note = |column: &ColumnPlan, note: ValueNote| {
                if notes.len() < MAX_NOTES {
                    notes.push((at, column.number, note));
                }
            };
            columns.clear();
            let (after, before) = (|n| places.after(n), |n| places.before_or_base(n));
            changed(plan, places.block, after, before, &mut columns, &mut note);
            for &n in &columns {
                builder.values().append_value(&places.table.names[n]);
            }
            builder.append(true);
        }
        self.note_all(notes);
        Arc::new(builder.finish())
    }

    /// Columns whose value the log does not have.
    fn missing(&self) -> ArrayRef {
        let mut builder = list_builder();
        for row in self.rows {
            let places = self.places_of(row);
            let columns = places.table.plan.columns();
            let absent = self.batcher.absent.get(row.absent as usize);
            let absent = absent.map_or(&[][..], Vec::as_slice);
            for &n in absent {
                if columns[n].ty.code != code::TYPED_ARRAY {
                    builder.values().append_value(&places.table.names[n]);
                }
            }
            for column in columns.iter().filter(|column| column.ty.code == code::JSON) {
                let n = column.number as usize - 1;
                if places.after(n).is_diff() && places.base(n) == Place::ABSENT {
                    builder.values().append_value(&places.table.names[n]);
                }
            }
            builder.append(true);
        }
        Arc::new(builder.finish())
    }

    fn note_all(&mut self, notes: Vec<(usize, u32, ValueNote)>) {
        let batcher = self.batcher;
        for (at, number, note) in notes {
            let Some(row) = self.rows.get(at) else {
                continue;
            };
            let run = &batcher.runs[row.run as usize];
            let table = &batcher.tables[run.table as usize];
            let n = number as usize - 1;
            if note.is_of_column() && !batcher.is_news(&table.plan, n) {
                continue;
            }
            let column = &table.plan.columns()[n];
            self.note(row, column, note.severity(), &note.to_string());
        }
    }

    /// Notes what is not exact about the value of a row.
    fn note(&mut self, row: &RowItem, column: &ColumnPlan, severity: Severity, message: &str) {
        let event = &self.batcher.events[row.event as usize];
        let run = &self.batcher.runs[row.run as usize];
        let table = self.batcher.tables[run.table as usize].plan.table();
        let message = format!(
            "{table}.{}, row {} of the event: {message}",
            column.label(),
            row.index.saturating_add(1)
        );
        let raw = event.item.raw(&self.batcher.blocks[event.block as usize]);
        let index = event.item.payload_index;
        let problem = fields::problem_of(&raw, index, ProblemKind::UndecodedValue, message);
        self.problems.push(problem.with_severity(severity));
    }
}

impl RowPlaces<'_> {
    /// The column in the image before, whichever list it is in.
    fn before_or_base(&self, column: usize) -> Place {
        match self.before(column) {
            Place::ABSENT => self.base(column),
            place => place,
        }
    }
}

/// Values of one column in one batch that are noted one by one. They are reported as they are met,
/// and the first thousand of a source are kept.
const MAX_NOTES: usize = 1024;

fn list_builder() -> ListBuilder<StringBuilder> {
    let item = Field::new_list_field(DataType::Utf8, false);
    ListBuilder::new(StringBuilder::new()).with_field(item)
}
