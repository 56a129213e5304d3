//! Events about a transaction as a whole: XID, XA_PREPARE, ROWS_QUERY, INCIDENT, and those of
//! group replication.
//!
//! ```text
//! XID                  xid 8
//! XA_PREPARE           one_phase 1 │ format_id 4 │ gtrid_len 4 │ bqual_len 4 │ gtrid │ bqual
//! ROWS_QUERY           length 1 (to be ignored) │ statement
//! INCIDENT             number 2 │ length 1 │ message
//! TRANSACTION_CONTEXT  uuid_len 1 │ thread_id 4 │ gtid_specified 1 │ snapshot_len 4 │ writes 4 │ reads 4
//!                      │ uuid │ snapshot │ (length 2 │ hash) × writes │ (length 2 │ hash) × reads
//! VIEW_CHANGE          view_id 40 │ sequence_number 8 │ entries 4 │ (length 2 │ key │ length 4 │ value) × entries
//! ```
//!
//! Source: `libbinlogevents/include/{control_events,rows_event}.h`; `sql/log_event.cc`.

use super::{Cursor, Describe, Details, Event, EventDef, Vendor};
use crate::binlog::charset::Text;
use crate::error::Result;
use std::fmt::Write;

pub(super) const DEFS: &[EventDef] = &[
    EventDef {
        code: 16,
        name: "XID",
        vendor: Vendor::Both,
        since: "5.0",
        doc: "commits a transaction",
        decode: |body, _| Ok(Event::Xid(Xid { xid: body.u64()? })),
    },
    EventDef {
        code: 26,
        name: "INCIDENT",
        vendor: Vendor::Both,
        since: "5.1",
        doc: "the server could not log something: the log has a hole",
        decode: |body, _| {
            let number = body.u16()?;
            // MySQL writes no message where it has none to give.
            let message = if body.is_empty() {
                &[][..]
            } else {
                let len = body.u8()?;
                body.bytes(usize::from(len))?
            };
            Ok(Event::Incident(Incident { number, message }))
        },
    },
    EventDef {
        code: 28,
        name: "IGNORABLE",
        vendor: Vendor::MySql,
        since: "5.6",
        doc: "may be skipped by whoever does not know it",
        decode: |body, _| Ok(Event::Ignorable(body.rest())),
    },
    EventDef {
        code: 29,
        name: "ROWS_QUERY",
        vendor: Vendor::MySql,
        since: "5.6",
        doc: "text of the statement whose rows follow",
        decode: |body, _| {
            // The length byte wraps at 256; the text ends with the event.
            body.skip(1)?;
            Ok(Event::RowsQuery(RowsQuery { query: body.rest() }))
        },
    },
    EventDef {
        code: 36,
        name: "TRANSACTION_CONTEXT",
        vendor: Vendor::MySql,
        since: "5.7",
        doc: "what group replication certifies a transaction by",
        decode: |body, _| TransactionContext::read(body).map(Event::TransactionContext),
    },
    EventDef {
        code: 37,
        name: "VIEW_CHANGE",
        vendor: Vendor::MySql,
        since: "5.7",
        doc: "the members of the replication group changed",
        decode: |body, _| ViewChange::read(body).map(Event::ViewChange),
    },
    EventDef {
        code: 38,
        name: "XA_PREPARE",
        vendor: Vendor::Both,
        since: "5.7",
        doc: "prepares an XA transaction, or commits it in one phase",
        decode: |body, _| XaPrepare::read(body).map(Event::XaPrepare),
    },
];

/// Commits a transaction of a transactional engine.
#[derive(Debug, Clone, Copy)]
pub struct Xid {
    /// The server's own number of the transaction.
    pub xid: u64,
}

impl Describe for Xid {
    fn info(&self, out: &mut String) -> Result<()> {
        let _ = write!(out, "COMMIT /* xid={} */", self.xid);
        Ok(())
    }

    fn details(&self, _: &mut Details<'_>) -> Result<()> {
        Ok(())
    }
}

/// Text of the statement whose rows follow (`binlog_rows_query_log_events`).
#[derive(Debug, Clone, Copy)]
pub struct RowsQuery<'a> {
    /// The statement, in the server's `character_set_client` of the session, which the event does
    /// not tell.
    pub query: &'a [u8],
}

impl Describe for RowsQuery<'_> {
    fn info(&self, out: &mut String) -> Result<()> {
        out.push_str("# ");
        out.push_str(&Text::utf8(self.query).text);
        Ok(())
    }

    fn details(&self, _: &mut Details<'_>) -> Result<()> {
        Ok(())
    }
}

/// The server could not log something; a replica must stop here.
#[derive(Debug, Clone, Copy)]
pub struct Incident<'a> {
    /// 1: `LOST_EVENTS`; 0: `NONE`.
    pub number: u16,
    /// What the server says of it.
    pub message: &'a [u8],
}

impl Incident<'_> {
    fn name(&self) -> &'static str {
        match self.number {
            0 => "NONE",
            1 => "LOST_EVENTS",
            _ => "UNKNOWN",
        }
    }
}

impl Describe for Incident<'_> {
    fn info(&self, out: &mut String) -> Result<()> {
        let message = Text::utf8(self.message).text;
        let _ = write!(out, "#{} ({}) {message}", self.number, self.name());
        Ok(())
    }

    fn details(&self, out: &mut Details<'_>) -> Result<()> {
        out.num("incident", self.number);
        out.str("incident_name", self.name());
        out.text("message", self.message);
        Ok(())
    }
}

/// An XA transaction is prepared, or committed in one phase.
#[derive(Debug, Clone, Copy)]
pub struct XaPrepare<'a> {
    /// `XA COMMIT … ONE PHASE`: this is the commit.
    pub one_phase: bool,
    /// Format identifier of the XID; −1: null.
    pub format_id: i32,
    /// Global part of the XID.
    pub gtrid: &'a [u8],
    /// Branch part of the XID.
    pub bqual: &'a [u8],
}

impl<'a> XaPrepare<'a> {
    fn read(body: &mut Cursor<'a>) -> Result<Self> {
        let one_phase = body.u8()? != 0;
        let format_id = body.u32()?.cast_signed();
        let gtrid_len = body.u32()? as usize;
        let bqual_len = body.u32()? as usize;
        Ok(Self {
            one_phase,
            format_id,
            gtrid: body.bytes(gtrid_len)?,
            bqual: body.bytes(bqual_len)?,
        })
    }

    /// The XID as the server prints it: `X'67',X'62',1`.
    pub fn xid(&self) -> String {
        let mut out = String::new();
        for part in [self.gtrid, self.bqual] {
            out.push_str("X'");
            for byte in part {
                let _ = write!(out, "{byte:02x}");
            }
            out.push_str("',");
        }
        let _ = write!(out, "{}", self.format_id);
        out
    }
}

impl Describe for XaPrepare<'_> {
    fn info(&self, out: &mut String) -> Result<()> {
        let xid = self.xid();
        let _ = if self.one_phase {
            write!(out, "XA COMMIT {xid} ONE PHASE")
        } else {
            write!(out, "XA PREPARE {xid}")
        };
        Ok(())
    }

    fn details(&self, out: &mut Details<'_>) -> Result<()> {
        out.str("xa_xid", &self.xid());
        out.bool("one_phase", self.one_phase);
        Ok(())
    }
}

/// What group replication certifies a transaction by.
#[derive(Debug, Clone, Copy)]
pub struct TransactionContext<'a> {
    /// `server_uuid` of the member that ran the transaction.
    pub server_uuid: &'a [u8],
    /// Thread that ran it.
    pub thread_id: u32,
    /// Its GTID was given by the client.
    pub gtid_specified: bool,
    /// GTID set that it saw, in the server's encoding.
    pub snapshot_version: &'a [u8],
    /// Hashes of the rows that it wrote: length-prefixed items.
    pub write_set: &'a [u8],
    /// Hashes of the rows that it read.
    pub read_set: &'a [u8],
}

impl<'a> TransactionContext<'a> {
    fn read(body: &mut Cursor<'a>) -> Result<Self> {
        let uuid_len = body.u8()?;
        let thread_id = body.u32()?;
        let gtid_specified = body.u8()? != 0;
        let snapshot_len = body.u32()? as usize;
        let writes = body.u32()?;
        let reads = body.u32()?;
        Ok(Self {
            server_uuid: body.bytes(usize::from(uuid_len))?,
            thread_id,
            gtid_specified,
            snapshot_version: body.bytes(snapshot_len)?,
            write_set: items(body, writes)?,
            read_set: items(body, reads)?,
        })
    }
}

/// Hops over `count` items and returns their bytes.
fn items<'a>(body: &mut Cursor<'a>, count: u32) -> Result<&'a [u8]> {
    let start = *body;
    for _ in 0..count {
        let len = body.u16()?;
        body.skip(usize::from(len))?;
    }
    let len = start.len().saturating_sub(body.len());
    start
        .peek()
        .get(..len)
        .ok_or_else(|| crate::error::Error::truncated("a set of hashes", len, start.len()))
}

/// The items that [`items`] found.
fn each_item(set: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Cursor::new(set);
    std::iter::from_fn(move || {
        let len = rest.u16().ok()?;
        rest.bytes(usize::from(len)).ok()
    })
}

impl Describe for TransactionContext<'_> {
    fn info(&self, out: &mut String) -> Result<()> {
        let uuid = Text::utf8(self.server_uuid).text;
        let _ = write!(out, "server_uuid={uuid} thread_id={}", self.thread_id);
        Ok(())
    }

    fn details(&self, out: &mut Details<'_>) -> Result<()> {
        out.text("server_uuid", self.server_uuid);
        out.num("context_thread_id", self.thread_id);
        out.bool("gtid_specified", self.gtid_specified);
        out.hex("snapshot_version", self.snapshot_version);
        let text = |item: &[u8]| item.escape_ascii().to_string();
        out.strs("write_set", each_item(self.write_set).map(text));
        out.strs("read_set", each_item(self.read_set).map(text));
        Ok(())
    }
}

/// The members of the replication group changed.
#[derive(Debug, Clone, Copy)]
pub struct ViewChange<'a> {
    /// Identifier of the new view.
    pub view_id: &'a [u8],
    /// Number of the last certified transaction.
    pub sequence_number: i64,
    /// Certification state: `entries` pairs of key and value.
    pub entries: u32,
    certification: &'a [u8],
}

impl<'a> ViewChange<'a> {
    fn read(body: &mut Cursor<'a>) -> Result<Self> {
        let view_id = body.bytes(40)?;
        let end = view_id.iter().position(|&b| b == 0);
        let sequence_number = body.i64()?;
        let entries = body.u32()?;
        let certification = body.peek();
        for _ in 0..entries {
            let key = body.u16()?;
            body.skip(usize::from(key))?;
            let value = body.u32()?;
            body.skip(value as usize)?;
        }
        Ok(Self {
            view_id: view_id.split_at(end.unwrap_or(40)).0,
            sequence_number,
            entries,
            certification,
        })
    }
}

impl Describe for ViewChange<'_> {
    fn info(&self, out: &mut String) -> Result<()> {
        let view = Text::utf8(self.view_id).text;
        let _ = write!(out, "view_id={view}");
        Ok(())
    }

    fn details(&self, out: &mut Details<'_>) -> Result<()> {
        out.text("view_id", self.view_id);
        out.num("sequence_number", self.sequence_number);
        let mut rest = Cursor::new(self.certification);
        out.try_nested("certification_info", |out| {
            for _ in 0..self.entries {
                let key_len = rest.u16()?;
                let key = rest.bytes(usize::from(key_len))?;
                let value_len = rest.u32()?;
                let value = rest.bytes(value_len as usize)?;
                out.hex(&key.escape_ascii().to_string(), value);
            }
            Ok(())
        })
    }
}
