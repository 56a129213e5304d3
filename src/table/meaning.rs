//! What the columns of a relation mean to a filter.

use crate::batch::columns::{Cost, EventColumn, event_schema};
use crate::batch::rows::{MetaColumn, RowColumn, RowCost, RowLayout};
use arrow::datatypes::{Schema, SchemaRef};
use std::sync::Arc;

/// What a column's value decides before the event is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Which file it is in.
    File,
    /// Where it stands in the file.
    Pos,
    /// The header's timestamp.
    Timestamp,
    /// Name of the event type.
    Type,
    /// Code of the event type.
    TypeCode,
    /// What happens to rows: a matter of the event type.
    Op,
    /// The transaction's GTID, by which files can be skipped.
    Gtid,
    /// Nothing.
    Other,
}

/// The columns of a relation, as a filter sees them.
#[derive(Debug, Clone)]
pub(super) struct Meaning {
    /// The columns.
    pub schema: SchemaRef,
    /// The relation has a row for each row change, not for each event.
    pub of_rows: bool,
    columns: Vec<(Role, u8)>,
}

/// Of relations of rows: the cost from which on rows have to be looked at.
pub(super) const ROWS: u8 = RowCost::Row as u8;

impl Meaning {
    /// The relation `binlog`.
    pub fn of_events() -> Self {
        let column = |column: &EventColumn| {
            let role = match column {
                EventColumn::File => Role::File,
                EventColumn::Pos => Role::Pos,
                EventColumn::Timestamp => Role::Timestamp,
                EventColumn::Type => Role::Type,
                EventColumn::TypeCode => Role::TypeCode,
                EventColumn::Gtid => Role::Gtid,
                _ => Role::Other,
            };
            let cost = match column.cost() {
                Cost::Header => 0,
                Cost::Transaction => 1,
                Cost::Body => 2,
                Cost::Checksum => 3,
            };
            (role, cost)
        };
        Self {
            schema: event_schema(),
            of_rows: false,
            columns: EventColumn::ALL.iter().map(column).collect(),
        }
    }

    /// A relation of rows.
    pub fn of_rows(layout: &RowLayout) -> Self {
        let column = |column: &RowColumn| {
            let role = match column {
                RowColumn::Meta(MetaColumn::File) => Role::File,
                RowColumn::Meta(MetaColumn::Pos) => Role::Pos,
                RowColumn::Meta(MetaColumn::Timestamp) => Role::Timestamp,
                RowColumn::Meta(MetaColumn::Op) => Role::Op,
                RowColumn::Meta(MetaColumn::Gtid) => Role::Gtid,
                _ => Role::Other,
            };
            (role, column.cost() as u8)
        };
        Self {
            schema: Arc::clone(layout.schema()),
            of_rows: true,
            columns: layout.columns().iter().map(column).collect(),
        }
    }

    /// A relation whose filters are not ours.
    pub fn none() -> Self {
        Self {
            schema: Arc::new(Schema::empty()),
            of_rows: false,
            columns: Vec::new(),
        }
    }

    /// What the column at this place decides.
    pub fn role(&self, at: usize) -> Role {
        self.columns.get(at).map_or(Role::Other, |&(role, _)| role)
    }

    /// What the column at this place costs; more is later.
    pub fn cost(&self, at: usize) -> u8 {
        self.columns.get(at).map_or(0, |&(_, cost)| cost)
    }
}
