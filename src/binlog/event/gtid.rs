//! MySQL's GTID events: which transaction begins, and (`previous`) which ones came before this file.
//!
//! ```text
//! GTID, ANONYMOUS_GTID
//!   flags 1 │ uuid 16 │ gno 8                                              5.6 ends here
//!   │ 2 │ last_committed 8 │ sequence_number 8                             5.7 ends here
//!   │ immediate_commit_timestamp 7 (top bit: │ original_commit_timestamp 7)
//!   │ transaction_length (packed)                                          since 8.0.2
//!   │ immediate_server_version 4 (top bit: │ original_server_version 4)    since 8.0.14
//!   │ commit_group_ticket 8                                                where there is one
//! GTID_TAGGED (integers: varlen of `mysql::serialization`)
//!   version │ size of all │ last field that must be known + 1 │ (field id │ value)…
//! ```
//!
//! Source: `libs/mysql/binlog/event/control_events.{h,cpp}`, `libs/mysql/serialization/readme.md`.

use super::{Cursor, Describe, Details, Event, EventDef, Vendor};
use crate::binlog::gtid::{AnyGtid, Gtid, Interval, MAX_GNO, MAX_TAG_LEN, Tag, Tsid};
use crate::error::{Error, Result};
use std::borrow::Cow;
use std::fmt::Write;

mod previous;

pub use previous::PreviousGtids;

pub(super) const DEFS: &[EventDef] = &[
    EventDef {
        code: 33,
        name: "GTID",
        vendor: Vendor::MySql,
        since: "5.6",
        doc: "begins a transaction and names it",
        decode: |body, _| GtidEvent::read(body, false).map(Event::Gtid),
    },
    EventDef {
        code: 34,
        name: "ANONYMOUS_GTID",
        vendor: Vendor::MySql,
        since: "5.6",
        doc: "begins a transaction that has no GTID",
        decode: |body, _| GtidEvent::read(body, true).map(Event::Gtid),
    },
    EventDef {
        code: 35,
        name: "PREVIOUS_GTIDS",
        vendor: Vendor::MySql,
        since: "5.6",
        doc: "the GTIDs of all files before this one",
        decode: |body, _| PreviousGtids::read(body).map(Event::PreviousGtids),
    },
    EventDef {
        code: 42,
        name: "GTID_TAGGED",
        vendor: Vendor::MySql,
        since: "8.3",
        doc: "begins a transaction whose GTID has a tag",
        decode: |body, _| GtidEvent::read_tagged(body).map(Event::Gtid),
    },
];

impl Event<'_> {
    /// The GTID of the transaction that this event begins; `None` for anonymous transactions and
    /// for every event that is not a GTID event of either vendor.
    pub fn gtid(&self) -> Option<AnyGtid> {
        match self {
            Self::Gtid(event) => event.gtid.map(AnyGtid::MySql),
            Self::MariadbGtid(event) => Some(AnyGtid::MariaDb(event.gtid)),
            _ => None,
        }
    }

    /// When the transaction that this event begins was committed on the server that wrote the log,
    /// in microseconds since 1970 (UTC); `None` where the event does not tell (MySQL 5.7 and
    /// older, MariaDB) and for events that begin none.
    pub fn commit_timestamp(&self) -> Option<i64> {
        match self {
            Self::Gtid(event) => event
                .immediate_commit_timestamp
                .and_then(|micros| i64::try_from(micros).ok())
                .filter(|micros| *micros != 0),
            _ => None,
        }
    }
}

/// A transaction begins: GTID, ANONYMOUS_GTID and GTID_TAGGED.
///
/// A field is `None` where the server that wrote the event did not know it yet.
#[derive(Debug, Clone, Copy)]
pub struct GtidEvent<'a> {
    /// Bit 1, `MAY_HAVE_SBR`: changes may be logged as statements.
    pub flags: u8,
    /// GTID of the transaction; `None` when it is anonymous.
    pub gtid: Option<Gtid>,
    /// UUID of the event. Anonymous transactions have one too: all zeros, and without a meaning.
    pub uuid: [u8; 16],
    /// Logical clock: this transaction may run in parallel with all behind that number. Numbers
    /// begin anew with each file.
    pub last_committed: Option<i64>,
    /// Logical clock: number of this transaction in the file.
    pub sequence_number: Option<i64>,
    /// When the server that wrote this log committed, in microseconds since 1970 (UTC).
    pub immediate_commit_timestamp: Option<u64>,
    /// When the server that ran the transaction first committed, in microseconds since 1970; 0:
    /// that server was too old to tell. Logged only where it differs from the one before.
    pub original_commit_timestamp: Option<u64>,
    /// Bytes of the whole transaction in the log, this event included; before compression.
    pub transaction_length: Option<u64>,
    /// Version of the server that wrote this log, as in `80400`; 999999: not known.
    pub immediate_server_version: Option<u32>,
    /// Version of the server that ran the transaction first; 999999: not known. Logged only where
    /// it differs from the one before.
    pub original_server_version: Option<u32>,
    /// Transactions of one ticket were committed as one group; `None` where none was given.
    pub commit_group_ticket: Option<u64>,
    /// Bytes behind the fields that are known, from a later server or a development release.
    pub rest: &'a [u8],
}

impl<'a> GtidEvent<'a> {
    /// `flags`: changes may be logged as statements.
    pub const MAY_HAVE_SBR: u8 = 1;
    /// Marks the logical clock; development releases before 5.7.5 had others.
    const LOGICAL_CLOCK: u8 = 2;
    /// Fields of GTID_TAGGED that are known here: identifiers 0 to 11.
    const TAGGED_FIELDS: u64 = 12;

    const EMPTY: Self = Self {
        flags: 0,
        gtid: None,
        uuid: [0; 16],
        last_committed: None,
        sequence_number: None,
        immediate_commit_timestamp: None,
        original_commit_timestamp: None,
        transaction_length: None,
        immediate_server_version: None,
        original_server_version: None,
        commit_group_ticket: None,
        rest: &[],
    };

    fn read(body: &mut Cursor<'a>, anonymous: bool) -> Result<Self> {
        let mut event = Self {
            flags: body.u8()?,
            uuid: body.array()?,
            ..Self::EMPTY
        };
        let gno = body.u64()?;
        if !anonymous {
            event.gtid = Some(gtid(event.uuid, Tag::NONE, gno)?);
        } else if gno != 0 {
            return Err(Error::corrupt(format!(
                "an anonymous transaction has the number {gno}"
            )));
        }
        event.read_clock(body)?;
        event.rest = body.rest();
        Ok(event)
    }

    /// Reads what servers since 5.7 write behind the GTID. Each group of fields is absent or whole.
    fn read_clock(&mut self, body: &mut Cursor<'a>) -> Result<()> {
        const TIMESTAMP_PAIR: u64 = 1 << 55;
        const VERSION_PAIR: u32 = 1 << 31;

        if body.peek().first() != Some(&Self::LOGICAL_CLOCK) {
            return Ok(());
        }
        body.skip(1)?;
        self.last_committed = Some(body.i64()?);
        self.sequence_number = Some(body.i64()?);
        if body.is_empty() {
            return Ok(());
        }
        let timestamp = body.uint(7)?;
        let immediate = timestamp & !TIMESTAMP_PAIR;
        self.immediate_commit_timestamp = Some(immediate);
        self.original_commit_timestamp = Some(if timestamp & TIMESTAMP_PAIR != 0 {
            body.uint(7)?
        } else {
            immediate
        });
        if body.is_empty() {
            return Ok(());
        }
        self.transaction_length = Some(body.lenenc()?);
        if body.is_empty() {
            return Ok(());
        }
        let version = body.u32()?;
        let immediate = version & !VERSION_PAIR;
        self.immediate_server_version = Some(immediate);
        self.original_server_version = Some(if version & VERSION_PAIR != 0 {
            body.u32()?
        } else {
            immediate
        });
        if !body.is_empty() {
            self.commit_group_ticket = Some(body.u64()?);
        }
        Ok(())
    }

    fn read_tagged(body: &mut Cursor<'a>) -> Result<Self> {
        let mut head = *body;
        let version = head.varlen_uint()?;
        if version != 1 {
            return Err(Error::unsupported(format!(
                "version {version} of the serialization format; version 1 is known"
            )));
        }
        let size = head.varlen_uint()?;
        let head_len = body.len().saturating_sub(head.len());
        let fields = usize::try_from(size)
            .ok()
            .and_then(|size| size.checked_sub(head_len))
            .ok_or_else(|| Error::corrupt(format!("a message of {size} bytes")))?;
        let mut message = head.sub(fields)?;
        // One more than the identifier, so that 0 says: none.
        let must_know = message.varlen_uint()?;
        if must_know > Self::TAGGED_FIELDS {
            return Err(Error::unsupported(format!(
                "fields up to number {} must be understood, but those from {} on are not known here",
                must_know.saturating_sub(1),
                Self::TAGGED_FIELDS
            )));
        }
        let mut event = Self::EMPTY;
        let unknown = event.read_fields(&mut message)?;
        // What is not known, in the message and behind it, is one run to the end of the event.
        let rest = unknown.saturating_add(head.len());
        let whole = body.rest();
        event.rest = whole
            .get(whole.len().saturating_sub(rest)..)
            .unwrap_or_default();
        Ok(event)
    }

    /// Reads the fields of a tagged event and tells how many bytes belong to unknown ones. Values
    /// carry no length: behind the first unknown field nothing can be told apart.
    fn read_fields(&mut self, message: &mut Cursor<'a>) -> Result<usize> {
        let mut uuid = None;
        let mut tag = Tag::NONE;
        let mut gno = None;
        let mut next = 0;
        let mut unknown = 0;
        while !message.is_empty() {
            let before = message.len();
            let field = message.varlen_uint()?;
            if field >= Self::TAGGED_FIELDS {
                unknown = before;
                break;
            }
            if field < next {
                return Err(Error::corrupt(format!("field {field} is out of order")));
            }
            next = field.saturating_add(1);
            match field {
                0 => self.flags = narrow(message.varlen_uint()?, "flags")?,
                1 => uuid = Some(read_varlen_uuid(message)?),
                2 => gno = Some(message.varlen_int()?),
                3 => tag = read_tag(message)?,
                4 => self.last_committed = Some(message.varlen_int()?),
                5 => self.sequence_number = Some(message.varlen_int()?),
                6 => self.immediate_commit_timestamp = Some(message.varlen_uint()?),
                7 => self.original_commit_timestamp = Some(message.varlen_uint()?),
                8 => self.transaction_length = Some(message.varlen_uint()?),
                9 => {
                    self.immediate_server_version =
                        Some(narrow(message.varlen_uint()?, "a server version")?);
                }
                10 => {
                    self.original_server_version =
                        Some(narrow(message.varlen_uint()?, "a server version")?);
                }
                _ => self.commit_group_ticket = Some(message.varlen_uint()?),
            }
        }
        let (Some(uuid), Some(gno)) = (uuid, gno) else {
            return Err(Error::corrupt("the UUID or the number is missing"));
        };
        self.uuid = uuid;
        self.gtid = Some(gtid(uuid, tag, gno.cast_unsigned())?);
        // Left out where they are equal.
        self.original_commit_timestamp = self
            .original_commit_timestamp
            .or(self.immediate_commit_timestamp);
        self.original_server_version = self
            .original_server_version
            .or(self.immediate_server_version);
        Ok(unknown)
    }
}

/// A GTID of the log, whose number must be one that a server gives.
fn gtid(uuid: [u8; 16], tag: Tag, gno: u64) -> Result<Gtid> {
    if Interval::new(gno, gno).is_none() {
        return Err(Error::corrupt(format!(
            "the transaction number {} is not in 1 … {MAX_GNO}",
            gno.cast_signed()
        )));
    }
    Ok(Gtid {
        tsid: Tsid { uuid, tag },
        gno,
    })
}

fn narrow<N: TryFrom<u64>>(value: u64, what: &str) -> Result<N> {
    N::try_from(value).map_err(|_| Error::corrupt(format!("{value} is too large for {what}")))
}

/// Reads a UUID whose bytes are 16 integers of their own, of one or two bytes each.
fn read_varlen_uuid(message: &mut Cursor<'_>) -> Result<[u8; 16]> {
    let mut uuid = [0; 16];
    for byte in &mut uuid {
        *byte = narrow(message.varlen_uint()?, "a byte of a UUID")?;
    }
    Ok(uuid)
}

/// Reads a tag with its length before it; length 0 is no tag.
fn read_tag(body: &mut Cursor<'_>) -> Result<Tag> {
    let len = body.varlen_uint()?;
    let len = usize::try_from(len)
        .ok()
        .filter(|len| *len <= MAX_TAG_LEN)
        .ok_or_else(|| Error::corrupt(format!("a tag of {len} characters")))?;
    let text = body.bytes(len)?;
    Tag::new(text).ok_or_else(|| Error::corrupt(format!("'{}' is no tag", text.escape_ascii())))
}

/// Names of the bits that are set, lowest first; a bit without a name is `0x40`.
pub(super) fn flag_names<'n>(bits: u8, names: &'n [&'n str]) -> impl Iterator<Item = Cow<'n, str>> {
    (0..8usize).filter_map(move |i| {
        let bit = bits & 1u8.checked_shl(u32::try_from(i).ok()?)?;
        (bit != 0).then(|| match names.get(i) {
            Some(name) => Cow::Borrowed(*name),
            None => Cow::Owned(format!("0x{bit:02x}")),
        })
    })
}

/// Writes `rest`, the bytes behind the known fields, unless they are padding.
pub(super) fn rest_details(rest: &[u8], out: &mut Details<'_>) {
    if rest.iter().any(|b| *b != 0) {
        out.hex("rest", rest);
    }
}

impl Describe for GtidEvent<'_> {
    fn info(&self, out: &mut String) -> Result<()> {
        let _ = match self.gtid {
            Some(gtid) => write!(out, "SET @@SESSION.GTID_NEXT= '{gtid}'"),
            None => write!(out, "SET @@SESSION.GTID_NEXT= 'ANONYMOUS'"),
        };
        Ok(())
    }

    fn details(&self, out: &mut Details<'_>) -> Result<()> {
        out.strs("gtid_flags", flag_names(self.flags, &["MAY_HAVE_SBR"]));
        if self.gtid.is_none() && self.uuid != [0; 16] {
            out.hex("uuid", &self.uuid);
        }
        for (key, clock) in [
            ("last_committed", self.last_committed),
            ("sequence_number", self.sequence_number),
        ] {
            if let Some(clock) = clock {
                out.num(key, clock);
            }
        }
        for (key, value) in [
            (
                "immediate_commit_timestamp",
                self.immediate_commit_timestamp,
            ),
            ("original_commit_timestamp", self.original_commit_timestamp),
            ("transaction_length", self.transaction_length),
            (
                "immediate_server_version",
                self.immediate_server_version.map(u64::from),
            ),
            (
                "original_server_version",
                self.original_server_version.map(u64::from),
            ),
            ("commit_group_ticket", self.commit_group_ticket),
        ] {
            if let Some(value) = value {
                out.num(key, value);
            }
        }
        rest_details(self.rest, out);
        Ok(())
    }

    fn undecoded(&self) -> usize {
        super::beyond_padding(self.rest)
    }
}

#[cfg(test)]
pub(super) mod testing;
#[cfg(test)]
mod tests;
