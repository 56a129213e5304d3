//! The check of every event and value, for the relation `problems`.

use super::values::ValueCheck;
use super::{Needs, fields_of, observe_tables, problem_of};
use crate::binlog::event::{
    Event, EventContext, FormatDescription, TableMapOwned, TableMaps, event_def,
};
use crate::binlog::frame::RawEvent;
use crate::binlog::header::FLAG_IGNORABLE;
use crate::binlog::problem::{Problem, ProblemKind, Severity};
use crate::binlog::row::RowPlan;
use std::sync::Arc;

/// Finds the plan of a table map for a rows event at an offset, and index in its payload; `None`:
/// the table map's own.
type PlanOf = dyn Fn(&Arc<TableMapOwned>, u64, Option<u32>) -> Option<Arc<RowPlan>> + Send + Sync;

/// Checks every event of one log for the relation `problems`, and every value of every row.
#[derive(Default)]
pub struct Checker {
    maps: TableMaps,
    plan_of: Option<Box<PlanOf>>,
    values: ValueCheck,
}

impl Checker {
    /// A checker that knows more of tables than their table maps tell.
    ///
    /// `plan_of` is asked before the values of a rows event are checked: with the table map, the
    /// offset of the event in the log, and its index in a TRANSACTION_PAYLOAD. It answers with a plan
    /// of that table map (see [`RowPlan::with_hint`]), the same for as long as nothing changes, or
    /// `None`, where the table map's own plan is to be taken.
    pub fn with_plans(
        plan_of: impl Fn(&Arc<TableMapOwned>, u64, Option<u32>) -> Option<Arc<RowPlan>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self {
            plan_of: Some(Box::new(plan_of)),
            ..Self::default()
        }
    }

    /// What of an event does not decode, its rows and their values among it.
    ///
    /// Of one event a few values are told, and of others their number. What is wrong with all values
    /// of a column, because the log does not tell what they are, is told once.
    pub fn check(
        &mut self,
        raw: &RawEvent<'_>,
        payload_index: Option<u32>,
        format: &FormatDescription,
    ) -> Vec<Problem> {
        let mut problems = Vec::new();
        let table = observe_tables(&mut self.maps, raw, format);
        if event_def(raw.header.type_code).is_none() {
            let mut problem = Problem::error(
                ProblemKind::UnknownEvent,
                raw.offset,
                u64::from(raw.header.event_size),
                format!(
                    "event type {} is not known; its {} bytes are in the column body",
                    raw.header.type_code,
                    raw.body().len()
                ),
            )
            .with_severity(if raw.header.flags & FLAG_IGNORABLE != 0 {
                Severity::Info
            } else {
                Severity::Warning
            });
            problem.payload_index = payload_index;
            problems.push(problem);
        }
        let cx = EventContext {
            header: &raw.header,
            format,
        };
        let mut note = |kind, message| problems.push(problem_of(raw, payload_index, kind, message));
        match Event::decode_with_rest(raw.body(), &cx) {
            Ok((event, rest)) => {
                let undecoded = rest.len().saturating_add(event.undecoded());
                if undecoded > 0 {
                    let message = format!(
                        "{undecoded} bytes belong to no known field; they are in the column body"
                    );
                    note(ProblemKind::UndecodedValue, message);
                }
                let rows = match (&event, &table) {
                    (Event::Rows(rows), Some(map)) if !rows.is_dummy() => Some((rows, map)),
                    _ => None,
                };
                let needs = Needs {
                    // The values are checked instead, and the rows are counted with them.
                    row_count: rows.is_none(),
                    ..Needs::ALL
                };
                fields_of(&event, table.as_ref(), needs, &mut note);
                if let Some((rows, map)) = rows {
                    let plan_of = self.plan_of.as_ref();
                    let plan = plan_of.and_then(|of| of(map, raw.offset, payload_index));
                    self.values
                        .check(map, plan, rows, |kind, severity, message| {
                            let problem = problem_of(raw, payload_index, kind, message);
                            problems.push(problem.with_severity(severity));
                        });
                }
            }
            Err(error) => note(ProblemKind::BadEvent, error.to_string()),
        }
        problems
    }
}
