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
use super::fields::{rows_head, rows_types};
use super::frame::{RawEvent, TypeSet};
use super::gtid::AnyGtid;
use std::sync::LazyLock;

/// A transaction, as far as its first event tells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transaction {
    /// Offset of its first event.
    pub pos: u64,
    /// Its GTID; `None` where the log has none, or an anonymous one.
    pub gtid: Option<AnyGtid>,
    /// When it was committed, in µs since 1970, where its GTID event tells.
    pub commit_timestamp: Option<i64>,
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
    let own: TypeSet = [2, 33, 34, 42, 162].into_iter().collect();
    own.union(rows_types())
}

/// Code of INCIDENT.
const INCIDENT: u8 = 26;

/// Types that belong to the log, not to a transaction.
static OF_THE_LOG: LazyLock<TypeSet> = LazyLock::new(|| {
    [1, 3, 4, 7, 15, 27, 35, 41, 161, 163, 164]
        .into_iter()
        .collect()
});

impl TransactionTracker {
    /// The transaction of the next event; `inner`: it stands inside a TRANSACTION_PAYLOAD.
    ///
    /// An event that does not decode changes nothing; whoever decodes it for its own sake reports
    /// it.
    pub fn observe(
        &mut self,
        raw: &RawEvent<'_>,
        inner: bool,
        format: &FormatDescription,
    ) -> Option<Transaction> {
        if inner {
            return self.current;
        }
        let code = raw.header.type_code;
        if OF_THE_LOG.contains(code) {
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
        if matches!(code, 33 | 34 | 42 | 162) {
            self.begin(raw, format);
            return self.current;
        }
        if code == INCIDENT && self.current.is_none() {
            // MySQL gives it a GTID; without one it is no transaction.
            return None;
        }
        let current = *self.current.get_or_insert(Transaction {
            pos: raw.offset,
            gtid: None,
            commit_timestamp: None,
        });
        match code {
            2 => self.statement(query_text(raw, format)),
            165 => self.ended = !self.block,
            // XID, XA_PREPARE, TRANSACTION_PAYLOAD.
            16 | 38 | 40 | INCIDENT => self.ended = true,
            // The last event of a LOAD DATA: LOAD, EXEC_LOAD, DELETE_FILE, NEW_LOAD,
            // EXECUTE_LOAD_QUERY.
            6 | 10 | 11 | 12 | 18 => self.ended = !self.block,
            20..=25 | 30..=32 | 39 | 166..=171 if !self.block => {
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
        let block = match &decoded {
            Some(Event::MariadbGtid(event)) => !event.has(MariadbGtidEvent::STANDALONE),
            _ => false,
        };
        *self = Self {
            current: Some(Transaction {
                pos: raw.offset,
                gtid: decoded.as_ref().and_then(Event::gtid),
                commit_timestamp: decoded.as_ref().and_then(Event::commit_timestamp),
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
