//! An event's fields as the columns of the relation `binlog` have them, and the check of every
//! event for the relation `problems`.

use super::charset::Text;
use super::cursor::Cursor;
use super::details::Details;
use super::event::{
    self, Event, EventContext, FormatDescription, Query, STMT_END_F, TableMapOwned, TableMaps,
};
use super::frame::{RawEvent, TypeSet};
use super::problem::{Problem, ProblemKind, Severity};
use crate::error::Result;
use std::borrow::Cow;
use std::sync::Arc;

mod check;
mod values;

pub use check::Checker;

/// Which fields are worth computing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Needs {
    /// Any field of the body.
    pub decode: bool,
    /// [`Fields::row_count`].
    pub row_count: bool,
    /// [`field@Fields::query`].
    pub query: bool,
    /// [`Fields::info`].
    pub info: bool,
    /// [`Fields::details`].
    pub details: bool,
}

impl Needs {
    /// Everything.
    pub const ALL: Self = Self {
        decode: true,
        row_count: true,
        query: true,
        info: true,
        details: true,
    };
}

/// Fields of an event; `None` where its type has none, or the field was not needed.
#[derive(Debug, Default)]
pub struct Fields<'a> {
    /// Number of the transaction that an XID commits.
    pub xid: Option<u64>,
    /// Connection that ran the statement.
    pub thread_id: Option<u32>,
    /// Error that the statement ended with.
    pub error_code: Option<u16>,
    /// Seconds that it ran.
    pub exec_time: Option<u32>,
    /// Number of row changes.
    pub row_count: Option<u32>,
    /// Default schema of a statement, or schema of the table.
    pub schema: Option<Cow<'a, str>>,
    /// Table.
    pub table: Option<Cow<'a, str>>,
    /// Statement text.
    pub query: Option<Cow<'a, str>>,
    /// One human line.
    pub info: Option<String>,
    /// Every further field, as a JSON object.
    pub details: Option<String>,
}

/// Whether this is a rows event, whose flags can end a statement.
pub fn is_rows(code: u8) -> bool {
    matches!(code, 20..=25 | 30..=32 | 39 | 166..=171)
}

/// The types for which [`is_rows`] holds.
pub fn rows_types() -> TypeSet {
    (0..=u8::MAX).filter(|&code| is_rows(code)).collect()
}

/// Takes note of an event in `maps`; the answer is the table of a rows event, if its map is in
/// force.
pub fn observe_tables(
    maps: &mut TableMaps,
    raw: &RawEvent<'_>,
    format: &FormatDescription,
) -> Option<Arc<TableMapOwned>> {
    match raw.header.type_code {
        event::FORMAT_DESCRIPTION | event::START_V3 => maps.clear(),
        event::TABLE_MAP => {
            let short_id = format.post_header_len(event::TABLE_MAP) == Some(6);
            if maps.repeat(raw.body(), short_id, format.flavor).is_some() {
                return None;
            }
            if let Ok(Event::TableMap(map)) = decode_event(raw, format) {
                let _ = maps.insert(&map);
            }
        }
        code if is_rows(code) => {
            let (id, flags) = rows_head(raw, format)?;
            let map = maps.get(id).cloned();
            if flags & STMT_END_F != 0 {
                maps.end_statement();
            }
            return map;
        }
        _ => {}
    }
    None
}

fn decode_event<'a>(raw: &RawEvent<'a>, format: &FormatDescription) -> Result<Event<'a>> {
    let cx = EventContext {
        header: &raw.header,
        format,
    };
    Event::decode(raw.body(), &cx)
}

/// Table id and flags of a rows event.
pub(super) fn rows_head(raw: &RawEvent<'_>, format: &FormatDescription) -> Option<(u64, u16)> {
    let mut body = Cursor::new(raw.body());
    let id_len = match format.post_header_len(raw.header.type_code) {
        Some(6) => 4,
        _ => 6,
    };
    Some((body.uint(id_len).ok()?, body.u16().ok()?))
}

/// Decodes an event into the fields that are needed. What does not decode is `None`, or raw where
/// there is a raw form, and noted in `problems`.
///
/// `table`: the table of a rows event, as [`observe_tables`] found it.
pub fn decode<'a>(
    raw: &RawEvent<'a>,
    payload_index: Option<u32>,
    format: &FormatDescription,
    table: Option<&Arc<TableMapOwned>>,
    needs: Needs,
    problems: &mut Vec<Problem>,
) -> Fields<'a> {
    let mut note = |kind, message| problems.push(problem_of(raw, payload_index, kind, message));
    match decode_event(raw, format) {
        Ok(event) => fields_of(&event, table, needs, note),
        Err(error) => {
            note(ProblemKind::BadEvent, error.to_string());
            Fields::default()
        }
    }
}

/// A problem with one event.
pub fn problem_of(
    raw: &RawEvent<'_>,
    payload_index: Option<u32>,
    kind: ProblemKind,
    message: String,
) -> Problem {
    let size = u64::from(raw.header.event_size);
    let type_name = event::type_name(raw.header.type_code);
    let message = format!("{type_name}: {message}");
    let mut problem = Problem::error(kind, raw.offset, size, message);
    if kind == ProblemKind::UndecodedValue {
        // Its raw form is in the result.
        problem.severity = Severity::Warning;
    }
    problem.payload_index = payload_index;
    problem
}

/// The fields of a decoded event; `note` is told what of them does not decode.
fn fields_of<'a>(
    decoded: &Event<'a>,
    table: Option<&Arc<TableMapOwned>>,
    needs: Needs,
    mut note: impl FnMut(ProblemKind, String),
) -> Fields<'a> {
    let mut fields = Fields::default();
    if let Err((kind, message)) = fields.fill(decoded, table, needs) {
        note(kind, message);
    }
    if needs.info {
        let mut info = String::new();
        if let Err(error) = decoded.info(&mut info) {
            note(ProblemKind::BadEvent, error.to_string());
        }
        fields.info = (!info.is_empty()).then_some(info);
    }
    if needs.details {
        let mut details = String::new();
        let mut empty = true;
        let done = Details::object(&mut details, |out| {
            let done = decoded.details(out);
            empty = out.is_empty();
            done
        });
        if let Err(error) = done {
            note(ProblemKind::BadEvent, error.to_string());
        }
        fields.details = (!empty).then_some(details);
    }
    fields
}

impl<'a> Fields<'a> {
    fn fill(
        &mut self,
        event: &Event<'a>,
        table: Option<&Arc<TableMapOwned>>,
        needs: Needs,
    ) -> Result<(), (ProblemKind, String)> {
        let bad = |error: crate::Error| (ProblemKind::BadEvent, error.to_string());
        match event {
            Event::Xid(event) => self.xid = Some(event.xid),
            Event::Query(event) => return self.query(event, needs),
            Event::ExecuteLoadQuery(event) => return self.query(&event.query, needs),
            Event::LoadData(event) => {
                self.thread_id = Some(event.thread_id);
                self.exec_time = Some(event.exec_time);
                self.schema = name(event.schema);
                self.table = name(event.table);
            }
            Event::RowsQuery(event) if needs.query => {
                return self.statement(Text::utf8(event.query));
            }
            Event::AnnotateRows(event) if needs.query => {
                return self.statement(Text::utf8(event.query));
            }
            Event::TransactionContext(event) => self.thread_id = Some(event.thread_id),
            Event::MariadbGtid(event) => self.thread_id = event.thread_id,
            Event::TableMap(map) => {
                self.schema = name(map.schema);
                self.table = name(map.table);
            }
            Event::Rows(rows) if !rows.is_dummy() => {
                let Some(map) = table else {
                    return if needs.row_count {
                        let id = rows.table_id;
                        let message = format!(
                            "no table map for table id {id}: the statement's beginning is missing"
                        );
                        Err((ProblemKind::BadEvent, message))
                    } else {
                        Ok(())
                    };
                };
                self.schema = Some(Cow::Owned(map.schema().to_owned()));
                self.table = Some(Cow::Owned(map.table().to_owned()));
                if needs.row_count {
                    self.row_count = Some(rows.count_rows(map).map_err(bad)?);
                }
            }
            Event::Rows(_) if needs.row_count => self.row_count = Some(0),
            _ => {}
        }
        Ok(())
    }

    fn query(&mut self, query: &Query<'a>, needs: Needs) -> Result<(), (ProblemKind, String)> {
        self.thread_id = Some(query.thread_id);
        self.exec_time = Some(query.exec_time);
        self.error_code = Some(query.error_code);
        self.schema = name(query.schema);
        if !needs.query {
            return Ok(());
        }
        let text = query
            .text()
            .map_err(|error| (ProblemKind::BadEvent, error.to_string()))?;
        self.statement(text)
    }

    fn statement(&mut self, text: Text<'a>) -> Result<(), (ProblemKind, String)> {
        self.query = Some(text.text);
        match text.undecodable_at {
            None => Ok(()),
            Some(at) => Err((
                ProblemKind::UndecodedValue,
                format!(
                    "the statement has bytes that are no text from its byte {at} on; they stand \
                     as \\xNN"
                ),
            )),
        }
    }
}

/// A name as the server writes it, in UTF-8; an empty one is none.
fn name(bytes: &[u8]) -> Option<Cow<'_, str>> {
    (!bytes.is_empty()).then(|| Text::utf8(bytes).text)
}
