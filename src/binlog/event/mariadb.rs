//! MariaDB's own events about transactions: GTID, GTID_LIST, BINLOG_CHECKPOINT, ANNOTATE_ROWS.
//!
//! ```text
//! GTID               seq_no 8 │ domain 4 │ flags 1
//!                    │ commit_id 8                                      if GROUP_COMMIT_ID
//!                    │ format_id 4 │ gtrid_len 1 │ bqual_len 1 │ gtrid │ bqual  if …_XA
//!                    │ flags_extra 1                                    if a byte is left
//!                      │ engines 1        if MULTI_ENGINE
//!                      │ start_seq_no 8   if COMMIT_ALTER or ROLLBACK_ALTER
//!                      │ thread_id 4      if THREAD_ID (since 11.5)
//!                    padded with zeros to 19 bytes; the server id is the header's
//! GTID_LIST          count 28 bits, flags 4 bits │ (domain 4 │ server 4 │ seq_no 8) × count
//!                    an empty list is padded to 6 bytes
//! BINLOG_CHECKPOINT  length 4 │ name of a file
//! ANNOTATE_ROWS      statement
//! ```
//!
//! Source: MariaDB `sql/log_event.cc`, constructors of `Gtid_log_event`, `Gtid_list_log_event`,
//! `Binlog_checkpoint_log_event`, `Annotate_rows_log_event`; `sql/log_event.h`.

use super::gtid::{flag_names, rest_details};
use super::{Cursor, Describe, Details, Event, EventDef, Vendor};
use crate::binlog::charset::Text;
use crate::binlog::gtid_mariadb::{MariadbGtid, MariadbPosition};
use crate::error::{Error, Result};
use std::fmt::Write;

pub(super) const DEFS: &[EventDef] = &[
    EventDef {
        code: 160,
        name: "ANNOTATE_ROWS",
        vendor: Vendor::MariaDb,
        since: "5.3",
        doc: "text of the statement whose rows follow",
        decode: |body, _| Ok(Event::AnnotateRows(AnnotateRows { query: body.rest() })),
    },
    EventDef {
        code: 161,
        name: "BINLOG_CHECKPOINT",
        vendor: Vendor::MariaDb,
        since: "10.0",
        doc: "the oldest file that crash recovery may still need",
        decode: |body, _| {
            let len = body.u32()?;
            let file = body.bytes(len as usize)?;
            Ok(Event::BinlogCheckpoint(BinlogCheckpoint {
                file,
                rest: body.rest(),
            }))
        },
    },
    EventDef {
        code: 162,
        name: "GTID",
        vendor: Vendor::MariaDb,
        since: "10.0",
        doc: "begins an event group and names it",
        decode: |body, cx| {
            MariadbGtidEvent::read(body, cx.header.server_id).map(Event::MariadbGtid)
        },
    },
    EventDef {
        code: 163,
        name: "GTID_LIST",
        vendor: Vendor::MariaDb,
        since: "10.0",
        doc: "how far each domain and server had come when the file began",
        decode: |body, _| MariadbGtidList::read(body).map(Event::MariadbGtidList),
    },
];

/// An event group begins: a transaction, or one statement that stands alone.
#[derive(Debug, Clone, Copy)]
pub struct MariadbGtidEvent<'a> {
    /// Its GTID; the server is that of the event's header.
    pub gtid: MariadbGtid,
    /// Bits named by the constants.
    pub flags: u8,
    /// Groups with the same number were committed together; `None` where it was committed alone.
    pub commit_id: Option<u64>,
    /// Identifier of the XA transaction that is prepared, committed or rolled back.
    pub xid: Option<MariadbXid<'a>>,
    /// Bits named by the constants that begin with `EXTRA`; 0 where the event has none.
    pub flags_extra: u8,
    /// How many engines besides the first take part; `None`: only one does.
    pub extra_engines: Option<u8>,
    /// Sequence number of the event group that began the ALTER TABLE which ends here.
    pub start_alter_seq_no: Option<u64>,
    /// Thread that ran it (since 11.5).
    pub thread_id: Option<u32>,
    /// Bytes behind the fields that are known: zeros, or fields of a later server.
    pub rest: &'a [u8],
}

impl<'a> MariadbGtidEvent<'a> {
    /// The group is one statement: no XID or COMMIT ends it, the first QUERY does.
    pub const STANDALONE: u8 = 1;
    /// `commit_id` is there.
    pub const GROUP_COMMIT_ID: u8 = 1 << 1;
    /// All of it can be rolled back.
    pub const TRANSACTIONAL: u8 = 1 << 2;
    /// `skip_parallel_replication` was off.
    pub const ALLOW_PARALLEL: u8 = 1 << 3;
    /// It waited for a lock.
    pub const WAITED: u8 = 1 << 4;
    /// It has DDL.
    pub const DDL: u8 = 1 << 5;
    /// XA PREPARE; `xid` is there.
    pub const PREPARED_XA: u8 = 1 << 6;
    /// XA COMMIT or XA ROLLBACK; `xid` is there.
    pub const COMPLETED_XA: u8 = 1 << 7;

    /// `extra_engines` is there.
    pub const EXTRA_MULTI_ENGINE: u8 = 1;
    /// An ALTER TABLE begins (since 10.8).
    pub const EXTRA_START_ALTER: u8 = 1 << 1;
    /// An ALTER TABLE ends well; `start_alter_seq_no` is there.
    pub const EXTRA_COMMIT_ALTER: u8 = 1 << 2;
    /// An ALTER TABLE failed; `start_alter_seq_no` is there.
    pub const EXTRA_ROLLBACK_ALTER: u8 = 1 << 3;
    /// `thread_id` is there.
    pub const EXTRA_THREAD_ID: u8 = 1 << 4;

    fn read(body: &mut Cursor<'a>, server_id: u32) -> Result<Self> {
        let seq_no = body.u64()?;
        let domain_id = body.u32()?;
        if seq_no == 0 {
            return Err(Error::corrupt("the sequence number is 0"));
        }
        let mut event = Self {
            gtid: MariadbGtid {
                domain_id,
                server_id,
                seq_no,
            },
            flags: body.u8()?,
            commit_id: None,
            xid: None,
            flags_extra: 0,
            extra_engines: None,
            start_alter_seq_no: None,
            thread_id: None,
            rest: &[],
        };
        if event.has(Self::GROUP_COMMIT_ID) {
            event.commit_id = Some(body.u64()?);
        }
        if event.has(Self::PREPARED_XA | Self::COMPLETED_XA) {
            event.xid = Some(MariadbXid::read(body)?);
        }
        if !body.is_empty() {
            event.flags_extra = body.u8()?;
        }
        if event.has_extra(Self::EXTRA_MULTI_ENGINE) {
            event.extra_engines = Some(body.u8()?);
        }
        if event.has_extra(Self::EXTRA_COMMIT_ALTER | Self::EXTRA_ROLLBACK_ALTER) {
            event.start_alter_seq_no = Some(body.u64()?);
        }
        if event.has_extra(Self::EXTRA_THREAD_ID) {
            event.thread_id = Some(body.u32()?);
        }
        event.rest = body.rest();
        Ok(event)
    }

    /// Whether one of the bits is set in `flags`.
    pub fn has(&self, bits: u8) -> bool {
        self.flags & bits != 0
    }

    /// Whether one of the bits is set in `flags_extra`.
    pub fn has_extra(&self, bits: u8) -> bool {
        self.flags_extra & bits != 0
    }
}

impl Describe for MariadbGtidEvent<'_> {
    fn info(&self, out: &mut String) -> Result<()> {
        if self.has(Self::STANDALONE) {
            out.push_str("GTID ");
        } else if let (true, Some(xid)) = (self.has(Self::PREPARED_XA), self.xid) {
            let _ = write!(out, "XA START {xid} GTID ");
        } else {
            out.push_str("BEGIN GTID ");
        }
        let _ = write!(out, "{}", self.gtid);
        if let Some(commit_id) = self.commit_id {
            let _ = write!(out, " cid={commit_id}");
        }
        if self.has_extra(Self::EXTRA_START_ALTER) {
            out.push_str(" START ALTER");
        }
        for (bit, text) in [
            (Self::EXTRA_COMMIT_ALTER, "COMMIT"),
            (Self::EXTRA_ROLLBACK_ALTER, "ROLLBACK"),
        ] {
            if let (true, Some(start)) = (self.has_extra(bit), self.start_alter_seq_no) {
                let _ = write!(out, " {text} ALTER id={start}");
            }
        }
        Ok(())
    }

    fn details(&self, out: &mut Details<'_>) -> Result<()> {
        const FLAGS: &[&str] = &[
            "STANDALONE",
            "GROUP_COMMIT_ID",
            "TRANSACTIONAL",
            "ALLOW_PARALLEL",
            "WAITED",
            "DDL",
            "PREPARED_XA",
            "COMPLETED_XA",
        ];
        const FLAGS_EXTRA: &[&str] = &[
            "MULTI_ENGINE",
            "START_ALTER",
            "COMMIT_ALTER",
            "ROLLBACK_ALTER",
            "THREAD_ID",
        ];
        out.strs("gtid_flags", flag_names(self.flags, FLAGS));
        if self.flags_extra != 0 {
            out.strs("flags_extra", flag_names(self.flags_extra, FLAGS_EXTRA));
        }
        if let Some(commit_id) = self.commit_id {
            out.num("commit_id", commit_id);
        }
        if let Some(xid) = self.xid {
            out.str("xa_xid", &xid.to_string());
        }
        if let Some(engines) = self.extra_engines {
            out.num("extra_engines", engines);
        }
        if let Some(start) = self.start_alter_seq_no {
            out.num("start_alter_seq_no", start);
        }
        rest_details(self.rest, out);
        Ok(())
    }

    fn undecoded(&self) -> usize {
        super::beyond_padding(self.rest)
    }
}

/// Identifier of an XA transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MariadbXid<'a> {
    /// Format identifier.
    pub format_id: i32,
    /// Global part, up to 64 bytes.
    pub gtrid: &'a [u8],
    /// Branch part, up to 64 bytes.
    pub bqual: &'a [u8],
}

impl<'a> MariadbXid<'a> {
    /// Longest part that XA allows; a longer one is a damaged event (MDEV-39404).
    const MAX_PART: u8 = 64;

    fn read(body: &mut Cursor<'a>) -> Result<Self> {
        let format_id = body.u32()?.cast_signed();
        let gtrid_len = body.u8()?;
        let bqual_len = body.u8()?;
        if gtrid_len > Self::MAX_PART || bqual_len > Self::MAX_PART {
            return Err(Error::corrupt(format!(
                "an XID with parts of {gtrid_len} and {bqual_len} bytes, of at most 64 each"
            )));
        }
        Ok(Self {
            format_id,
            gtrid: body.bytes(usize::from(gtrid_len))?,
            bqual: body.bytes(usize::from(bqual_len))?,
        })
    }
}

impl std::fmt::Display for MariadbXid<'_> {
    /// Writes it as the server does: `X'67',X'62',1`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for part in [self.gtrid, self.bqual] {
            f.write_str("X'")?;
            for byte in part {
                write!(f, "{byte:02x}")?;
            }
            f.write_str("',")?;
        }
        write!(f, "{}", self.format_id)
    }
}

/// How far each domain and server had come when the file began.
#[derive(Debug, Clone, Copy)]
pub struct MariadbGtidList<'a> {
    /// Bits 1 `UNTIL_REACHED` and 2 `IGN_GTIDS`; only events that a server makes up for a replica
    /// have any.
    pub flags: u8,
    gtids: &'a [[u8; 16]],
    /// Bytes behind the list.
    pub rest: &'a [u8],
}

impl<'a> MariadbGtidList<'a> {
    fn read(body: &mut Cursor<'a>) -> Result<Self> {
        let head = body.u32()?;
        let count = (head & 0x0fff_ffff) as usize;
        let (gtids, _) = body.bytes(count.saturating_mul(16))?.as_chunks();
        Ok(Self {
            flags: (head >> 28) as u8,
            gtids,
            rest: body.rest(),
        })
    }

    /// The GTIDs in the order of the log: of each domain one for every server, the latest last.
    pub fn gtids(&self) -> impl Iterator<Item = MariadbGtid> + use<'a> {
        self.gtids.iter().map(|raw| {
            let raw = u128::from_le_bytes(*raw);
            MariadbGtid {
                domain_id: raw as u32,
                server_id: (raw >> 32) as u32,
                seq_no: (raw >> 64) as u64,
            }
        })
    }

    /// The latest GTID of each domain.
    pub fn position(&self) -> MariadbPosition {
        self.gtids().collect()
    }
}

impl Describe for MariadbGtidList<'_> {
    fn info(&self, out: &mut String) -> Result<()> {
        // By domain, as later servers list them; of one domain the latest stays last.
        let mut gtids: Vec<MariadbGtid> = self.gtids().collect();
        gtids.sort_by_key(|gtid| gtid.domain_id);
        out.push('[');
        for (i, gtid) in gtids.iter().enumerate() {
            let _ = write!(out, "{}{gtid}", if i > 0 { "," } else { "" });
        }
        out.push(']');
        Ok(())
    }

    fn details(&self, out: &mut Details<'_>) -> Result<()> {
        const FLAGS: &[&str] = &["UNTIL_REACHED", "IGN_GTIDS"];
        if self.flags != 0 {
            out.strs("gtid_list_flags", flag_names(self.flags, FLAGS));
        }
        out.strs("gtid_list", self.gtids().map(|gtid| gtid.to_string()));
        rest_details(self.rest, out);
        Ok(())
    }

    fn undecoded(&self) -> usize {
        // An empty list is padded, so that older servers take it for an event.
        super::beyond_padding(self.rest)
    }
}

/// The oldest file that crash recovery may still need.
#[derive(Debug, Clone, Copy)]
pub struct BinlogCheckpoint<'a> {
    /// Base name of that file.
    pub file: &'a [u8],
    /// Bytes behind the name.
    pub rest: &'a [u8],
}

impl Describe for BinlogCheckpoint<'_> {
    fn info(&self, out: &mut String) -> Result<()> {
        out.push_str(&Text::utf8(self.file).text);
        Ok(())
    }

    fn details(&self, out: &mut Details<'_>) -> Result<()> {
        out.text("checkpoint_file", self.file);
        rest_details(self.rest, out);
        Ok(())
    }

    fn undecoded(&self) -> usize {
        self.rest.len()
    }
}

/// Text of the statement whose rows follow (`binlog_annotate_row_events`).
#[derive(Debug, Clone, Copy)]
pub struct AnnotateRows<'a> {
    /// The statement, in the session's `character_set_client`, which the event does not tell.
    pub query: &'a [u8],
}

impl Describe for AnnotateRows<'_> {
    fn info(&self, out: &mut String) -> Result<()> {
        out.push_str(&Text::utf8(self.query).text);
        Ok(())
    }

    fn details(&self, _: &mut Details<'_>) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
