//! What one log tells of tables: the distinct table maps, and the statements that may change tables.
//!
//! It is found in one pass that looks at the bodies of TABLE_MAP and QUERY events only.

use super::statement::{may_be_ddl, may_begin_ddl};
use crate::binlog::cursor::Cursor;
use crate::binlog::event::{self, Event, EventContext, FormatDescription, Query, TableMapOwned};
use crate::binlog::frame::{Framer, TypeSet};
use crate::binlog::header::Header;
use crate::binlog::reader::{Block, EventReader, Item};
use crate::error::{Error, Result};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Code of QUERY.
const QUERY: u8 = 2;
/// Codes of QUERY and of MariaDB's QUERY_COMPRESSED.
const QUERIES: [u8; 2] = [QUERY, 165];

/// The statement of a QUERY; `None` where it does not stand as in the logs of version 4.
///
/// ```text
/// thread_id 4 │ exec_time 4 │ schema_len 1 │ error_code 2 │ status_vars_len 2 │ status variables │ schema │ 0 │ statement
/// ```
fn statement<'b>(body: &'b [u8], cx: &EventContext<'_>) -> Option<&'b [u8]> {
    if cx.post_header_len() != Some(13) {
        return None;
    }
    let mut rest = Cursor::new(body);
    rest.skip(8).ok()?;
    let schema_len = usize::from(rest.u8().ok()?);
    rest.skip(2).ok()?;
    let status_vars_len = usize::from(rest.u16().ok()?);
    rest.skip(status_vars_len).ok()?;
    rest.skip(schema_len.saturating_add(1)).ok()?;
    Some(rest.rest())
}

/// Codes of XID, XA_PREPARE and TRANSACTION_PAYLOAD: what follows belongs to another transaction.
const ENDS_TRANSACTION: [u8; 3] = [16, 38, 40];

/// Bytes between two places where a log can be cut.
const CUT_DISTANCE: u64 = 1 << 20;

/// Bytes that the table maps and statements of one log may take in memory.
const MAX_BYTES: usize = 256 << 20;

/// Offset of an event, and its index inside a TRANSACTION_PAYLOAD at that offset.
pub type EventPlace = (u64, Option<u32>);

/// A table map, and where it stands.
#[derive(Debug)]
pub struct SeenTable {
    /// The first table map of its kind.
    pub map: Arc<TableMapOwned>,
    /// The ids under which it was sent.
    pub ids: BTreeSet<u64>,
    /// Place of the first.
    pub first: EventPlace,
    /// Place of the last.
    pub last: EventPlace,
}

/// A statement that may change tables: its event.
#[derive(Debug)]
pub struct DdlEvent {
    /// Where it stands.
    pub place: EventPlace,
    header: Header,
    format: Arc<FormatDescription>,
    body: Box<[u8]>,
}

impl DdlEvent {
    /// Hands the statement to `take`.
    pub fn query<T>(&self, take: impl FnOnce(&Query<'_>) -> T) -> Option<T> {
        let cx = EventContext {
            header: &self.header,
            format: &self.format,
        };
        match Event::decode(&self.body, &cx) {
            Ok(Event::Query(query)) => Some(take(&query)),
            _ => None,
        }
    }
}

/// What one log tells of tables.
#[derive(Debug, Default)]
pub struct FileTables {
    /// Table maps in the order of their first appearance. The same map appears again behind a
    /// statement that may have changed what it means.
    pub seen: Vec<SeenTable>,
    /// Statements in order.
    pub statements: Vec<DdlEvent>,
    /// Framers that stand between two transactions, some way apart: where the log can be cut.
    pub cuts: Vec<Framer>,
}

impl FileTables {
    /// Adds what the next piece of the same log tells.
    pub fn append(&mut self, next: Self) {
        self.seen.extend(next.seen);
        self.statements.extend(next.statements);
        self.cuts.extend(next.cuts);
    }
}

/// Collects the [`FileTables`] of one log.
#[derive(Default)]
pub struct TableCollector {
    found: FileTables,
    /// Since the last statement: what a table map says, but for its id, and its place in `seen`.
    current: HashMap<Box<[u8]>, usize>,
    latest: Option<Latest>,
    bytes: usize,
}

/// The table map that was met last.
struct Latest {
    /// What it says, but for its id.
    content: Box<[u8]>,
    /// Its place in `seen`.
    at: usize,
    id: u64,
}

impl TableCollector {
    /// Types of the events whose bodies are needed.
    pub fn bodies() -> TypeSet {
        QUERIES.into_iter().chain([event::TABLE_MAP]).collect()
    }

    /// Takes note of an event.
    ///
    /// # Errors
    /// More table maps than memory is meant for. An event that does not decode is none of these:
    /// the scan that meets it reports it.
    pub fn observe(
        &mut self,
        item: &Item,
        block: &Block,
        format: &Arc<FormatDescription>,
    ) -> Result<()> {
        let code = item.header.type_code;
        let place = (item.pos, item.payload_index);
        let raw = item.raw(block);
        if code == event::TABLE_MAP {
            self.table_map(raw.body(), place, &item.header, format)?;
        } else if QUERIES.contains(&code) {
            let cx = EventContext {
                header: &item.header,
                format,
            };
            // Most are BEGIN: that much shows without decoding all of them.
            if code == QUERY && statement(raw.body(), &cx).is_some_and(|sql| !may_begin_ddl(sql)) {
                return Ok(());
            }
            let Ok(Event::Query(query)) = Event::decode(raw.body(), &cx) else {
                return Ok(());
            };
            let may_change = (query.compressed || may_begin_ddl(query.raw_query))
                && query.text().is_ok_and(|text| may_be_ddl(&text.text));
            if may_change {
                self.current.clear();
                self.latest = None;
                self.take(raw.body().len())?;
                self.found.statements.push(DdlEvent {
                    place,
                    header: item.header,
                    format: Arc::clone(format),
                    body: raw.body().into(),
                });
            }
        }
        Ok(())
    }

    fn table_map(
        &mut self,
        body: &[u8],
        place: EventPlace,
        header: &Header,
        format: &Arc<FormatDescription>,
    ) -> Result<()> {
        let cx = EventContext { header, format };
        // The id takes 6 bytes, in very old logs 4; two bytes of flags follow.
        let id_len = if cx.post_header_len() == Some(6) {
            4
        } else {
            6
        };
        let mut rest = Cursor::new(body);
        let (Ok(id), Ok(_)) = (rest.uint(id_len), rest.skip(2)) else {
            return Ok(());
        };
        let rest = rest.rest();
        // Neighbours are mostly the same.
        let known = match &self.latest {
            Some(latest) if *latest.content == *rest => Some(latest.at),
            _ => self.current.get(rest).copied(),
        };
        if let Some(at) = known
            && let Some(seen) = self.found.seen.get_mut(at)
        {
            seen.last = place;
            match &mut self.latest {
                Some(latest) if latest.at == at && latest.id == id => {}
                latest => {
                    seen.ids.insert(id);
                    *latest = Some(Latest {
                        content: rest.into(),
                        at,
                        id,
                    });
                }
            }
            return Ok(());
        }
        let Ok(Event::TableMap(map)) = Event::decode(body, &cx) else {
            return Ok(());
        };
        let Ok(map) = TableMapOwned::new(&map) else {
            return Ok(());
        };
        self.take(rest.len().saturating_mul(8))?;
        self.current.insert(rest.into(), self.found.seen.len());
        self.found.seen.push(SeenTable {
            map: Arc::new(map),
            ids: BTreeSet::from([id]),
            first: place,
            last: place,
        });
        Ok(())
    }

    fn take(&mut self, bytes: usize) -> Result<()> {
        self.bytes = self.bytes.saturating_add(bytes).saturating_add(512);
        if self.bytes > MAX_BYTES {
            return Err(Error::unsupported(format!(
                "{} different tables and {} statements that change tables in one log are more \
                 than memory is meant for; read fewer logs at a time",
                self.found.seen.len(),
                self.found.statements.len()
            )));
        }
        Ok(())
    }

    /// Takes note of a place where the log can be cut, if the event observed last ends a
    /// transaction and the last such place is far enough.
    pub fn cut_behind(&mut self, item: &Item, reader: &EventReader) {
        let last = self.found.cuts.last().map_or(0, Framer::position);
        if ENDS_TRANSACTION.contains(&item.header.type_code)
            && item.payload_index.is_none()
            && item.end_pos.saturating_sub(last) >= CUT_DISTANCE
        {
            self.found.cuts.push(reader.checkpoint());
        }
    }

    /// What was found.
    pub fn finish(self) -> FileTables {
        self.found
    }
}
