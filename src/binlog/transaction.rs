//! Which transaction an event belongs to.
//!
//! ```text
//! MySQL    GTID │ BEGIN │ TABLE_MAP │ rows │ XID          a block: ends with XID, COMMIT, ROLLBACK, XA_PREPARE
//!          GTID │ CREATE TABLE …                          a statement is a transaction of its own
//!          GTID │ TRANSACTION_PAYLOAD                     the events inside belong to it too
//! MariaDB  GTID (not standalone) │ TABLE_MAP │ rows │ XID the GTID event itself begins the block
//! older    BEGIN │ … │ COMMIT;  INTVAR │ INSERT …         no GTID event at all
//! ```
//!
//! Events about the log itself (ROTATE, PREVIOUS_GTIDS, heartbeats …) belong to none.

use super::cursor::Cursor;
use super::event::{self, Event, EventContext, FormatDescription, MariadbGtidEvent, STMT_END_F};
use super::fields::{is_rows, rows_head};
use super::frame::{RawEvent, TypeSet};
use super::gtid::AnyGtid;

/// A transaction, as far as its first event tells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transaction {
    /// Offset of its first event.
    pub pos: u64,
    /// Its GTID; `None` where the log has none, or an anonymous one.
    pub gtid: Option<AnyGtid>,
    /// When it was committed, in µs since 1970, where its GTID event tells.
    pub commit_timestamp: Option<i64>,
    /// The connection that wrote it: MariaDB's GTID event tells it (from 11.5 on), else its first
    /// QUERY, which for MySQL is `BEGIN`. `None` before that QUERY, and where there is none.
    pub thread_id: Option<u32>,
}

/// Follows the transactions of one log.
#[derive(Debug, Clone, Default)]
pub struct TransactionTracker {
    current: Option<Transaction>,
    /// A COMMIT, XID or the like is needed to end it.
    block: bool,
    /// It ended with the last event.
    ended: bool,
}

/// Types whose bodies [`TransactionTracker::observe`] looks into.
pub fn transaction_types() -> TypeSet {
    (0..=u8::MAX)
        .filter(|&code| is_query(code) || is_gtid(code) || is_rows(code))
        .collect()
}

/// Code of QUERY.
const QUERY: u8 = 2;
/// Fixed bytes of a QUERY behind its thread id, at least.
const QUERY_HEAD: usize = 7;
/// Code of MariaDB's QUERY_COMPRESSED, which begins as QUERY does.
const QUERY_COMPRESSED: u8 = 165;
/// Code of INCIDENT.
const INCIDENT: u8 = 26;

/// Whether events of this type belong to the log, not to a transaction.
pub fn is_of_the_log(code: u8) -> bool {
    matches!(code, 1 | 3 | 4 | 7 | 15 | 27 | 35 | 41 | 161 | 163 | 164)
}

fn is_query(code: u8) -> bool {
    matches!(code, QUERY | QUERY_COMPRESSED)
}

/// Whether this is a GTID event of either vendor: GTID, ANONYMOUS_GTID, GTID_TAGGED.
pub fn is_gtid(code: u8) -> bool {
    matches!(code, 33 | 34 | 42 | 162)
}

impl Transaction {
    /// Takes the thread id from a QUERY, if none is known.
    fn learn(&mut self, raw: &RawEvent<'_>) {
        if self.thread_id.is_none() && is_query(raw.header.type_code) {
            let mut body = Cursor::new(raw.body());
            let thread_id = body.u32().ok();
            self.thread_id = thread_id.filter(|_| body.len() >= QUERY_HEAD);
        }
    }
}

impl TransactionTracker {
    /// The transaction of the next event; `inner`: it stands inside a TRANSACTION_PAYLOAD.
    ///
    /// Its thread id may come with a later event than its first.
    ///
    /// An event that does not decode changes nothing; whoever decodes it for its own sake reports
    /// it.
    pub fn observe(
        &mut self,
        raw: &RawEvent<'_>,
        inner: bool,
        format: &FormatDescription,
    ) -> Option<Transaction> {
        let code = raw.header.type_code;
        if inner {
            if let Some(current) = &mut self.current {
                current.learn(raw);
            }
            return self.current;
        }
        if is_of_the_log(code) {
            if matches!(
                code,
                event::FORMAT_DESCRIPTION | event::START_V3 | event::STOP
            ) {
                *self = Self::default();
            }
            return None;
        }
        if self.ended {
            *self = Self::default();
        }
        if is_gtid(code) {
            self.begin(raw, format);
            return self.current;
        }
        if code == INCIDENT && self.current.is_none() {
            // MySQL gives it a GTID; without one it is no transaction.
            return None;
        }
        let current = self.current.get_or_insert(Transaction {
            pos: raw.offset,
            gtid: None,
            commit_timestamp: None,
            thread_id: None,
        });
        current.learn(raw);
        let current = *current;
        match code {
            QUERY => self.statement(query_text(raw, format)),
            QUERY_COMPRESSED => self.ended = !self.block,
            // XID, XA_PREPARE, TRANSACTION_PAYLOAD.
            16 | 38 | 40 | INCIDENT => self.ended = true,
            // The last event of a LOAD DATA: LOAD, EXEC_LOAD, DELETE_FILE, NEW_LOAD,
            // EXECUTE_LOAD_QUERY.
            6 | 10 | 11 | 12 | 18 => self.ended = !self.block,
            _ if is_rows(code) && !self.block => {
                self.ended = ends_statement(raw, format);
            }
            _ => {}
        }
        Some(current)
    }

    fn begin(&mut self, raw: &RawEvent<'_>, format: &FormatDescription) {
        let cx = EventContext {
            header: &raw.header,
            format,
        };
        let decoded = Event::decode(raw.body(), &cx).ok();
        let (block, thread_id) = match &decoded {
            Some(Event::MariadbGtid(event)) => {
                (!event.has(MariadbGtidEvent::STANDALONE), event.thread_id)
            }
            _ => (false, None),
        };
        *self = Self {
            current: Some(Transaction {
                pos: raw.offset,
                gtid: decoded.as_ref().and_then(Event::gtid),
                commit_timestamp: decoded.as_ref().and_then(Event::commit_timestamp),
                thread_id,
            }),
            block,
            ended: false,
        };
    }

    fn statement(&mut self, text: &[u8]) {
        let is = |keyword: &str| begins_with(text, keyword);
        if self.block {
            self.ended = text.eq_ignore_ascii_case(b"COMMIT")
                || text.eq_ignore_ascii_case(b"ROLLBACK")
                || is("XA COMMIT")
                || is("XA ROLLBACK");
        } else if text.eq_ignore_ascii_case(b"BEGIN") || is("XA START") || is("XA BEGIN") {
            self.block = true;
        } else {
            self.ended = true;
        }
    }
}

fn begins_with(text: &[u8], keyword: &str) -> bool {
    text.get(..keyword.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(keyword.as_bytes()))
}

/// The text of a QUERY, found without decoding the rest.
fn query_text<'a>(raw: &RawEvent<'a>, format: &FormatDescription) -> &'a [u8] {
    let mut body = Cursor::new(raw.body());
    let mut find = || {
        body.skip(8)?;
        let schema = body.u8()?;
        body.skip(2)?;
        if format.post_header_len(2).is_some_and(|len| len >= 13) {
            let vars = body.u16()?;
            body.skip(usize::from(vars))?;
        }
        body.skip(usize::from(schema))?;
        body.skip(1)
    };
    match find() {
        Ok(()) => body.rest().trim_ascii(),
        Err(_) => &[],
    }
}

/// Whether a rows event is the last of its statement.
fn ends_statement(raw: &RawEvent<'_>, format: &FormatDescription) -> bool {
    rows_head(raw, format).is_some_and(|(_, flags)| flags & STMT_END_F != 0)
}

#[cfg(test)]
mod tests;
