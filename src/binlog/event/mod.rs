//! What an event says: one table of event types, and the decoded form of each.
//!
//! ```text
//!            EVENTS: code → EventDef { name, flavor, decode }
//!  RawEvent ───────────────────────────────────────────────▶ Event<'a>  (borrows the body)
//!                                                             ├─ info()     one human line
//!                                                             └─ details()  every further field, as JSON
//! ```
//!
//! Each family file holds the structs of its events, their decoders, and how they describe
//! themselves; its `DEFS` is the only place that names the type. A code that no `DEFS` claims is
//! [`Event::Other`], never an error; a code claimed twice does not compile.
//!
//! **Invariant:** decoders borrow the body and allocate nothing that grows with a length field.

use super::cursor::Cursor;
use super::details::Details;
use super::header::Header;
use crate::error::Result;

mod format;
mod gtid;
mod load;
mod mariadb;
mod payload;
mod query;
mod rotate;
mod rows;
mod session;
mod status_vars;
mod table_map;
mod table_maps;
mod table_meta;
#[cfg(test)]
pub(crate) mod testing;
mod transaction;

pub use super::gtid::AnyGtid;
pub use format::{
    FORMAT_DESCRIPTION, Flavor, FormatDescription, START_ENCRYPTION, START_V3, StartEncryption,
};
pub use gtid::{GtidEvent, PreviousGtids};
pub use load::{BlockOfFile, DeleteFile, ExecuteLoadQuery, LoadData, LoadFile, LoadFormat};
pub use mariadb::{AnnotateRows, BinlogCheckpoint, MariadbGtidEvent, MariadbGtidList, MariadbXid};
pub use payload::{Compression, TRANSACTION_PAYLOAD, TransactionPayload};
pub use query::Query;
pub use rotate::{Heartbeat, ROTATE, Rotate, STOP};
pub use rows::{ExtraRowInfo, PartialRowData, RowsEvent, RowsKind, RowsLayout, STMT_END_F};
pub use session::{Intvar, Rand, UserVar, UserVarValue};
pub use status_vars::{
    CharsetCollations, StatusVar, StatusVarIter, StatusVars, UpdatedDbs, flag_names, sql_mode_names,
};
pub use table_map::{TABLE_MAP, TableMap};
pub use table_maps::{TableMapOwned, TableMaps};
pub use table_meta::{ColumnMetadata, OptionalField, OptionalMetadata, TableMetadata};
pub use transaction::{Incident, RowsQuery, TransactionContext, ViewChange, XaPrepare, Xid};

/// Which vendor's servers write an event type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vendor {
    /// Both.
    Both,
    /// MySQL (and its forks Percona Server and Aurora) only.
    MySql,
    /// MariaDB only.
    MariaDb,
}

/// One event type: all that is fixed about it.
pub struct EventDef {
    /// Code in the header.
    pub code: u8,
    /// Name in the column `type`: the server's, upper case, without `_EVENT`.
    pub name: &'static str,
    /// Who writes it.
    pub vendor: Vendor,
    /// First server version that writes it.
    pub since: &'static str,
    /// What it is for, in a few words.
    pub doc: &'static str,
    /// Reads the body (header and checksum removed).
    pub decode: for<'a> fn(&mut Cursor<'a>, &EventContext<'_>) -> Result<Event<'a>>,
}

/// What a decoder may know besides the body.
#[derive(Clone, Copy)]
pub struct EventContext<'c> {
    /// The event's own header.
    pub header: &'c Header,
    /// The format description in force.
    pub format: &'c FormatDescription,
}

impl EventContext<'_> {
    /// Length of the fixed part that the format description announces for this event's type;
    /// `None` where it announces none for the type.
    pub fn post_header_len(&self) -> Option<usize> {
        self.format.post_header_len(self.header.type_code)
    }
}

/// A decoded event. Variants borrow from the event's body.
#[derive(Debug, Clone)]
#[non_exhaustive]
#[allow(missing_docs)] // each variant is documented by its struct
pub enum Event<'a> {
    FormatDescription(FormatDescription),
    StartEncryption(StartEncryption<'a>),
    Query(Query<'a>),
    Rotate(Rotate<'a>),
    /// STOP and SLAVE: no body.
    Empty,
    Heartbeat(Heartbeat<'a>),
    Intvar(Intvar),
    Rand(Rand),
    UserVar(UserVar<'a>),
    Xid(Xid),
    XaPrepare(XaPrepare<'a>),
    RowsQuery(RowsQuery<'a>),
    Incident(Incident<'a>),
    /// IGNORABLE: the body is for whoever knows it.
    Ignorable(&'a [u8]),
    TransactionContext(TransactionContext<'a>),
    ViewChange(ViewChange<'a>),
    Gtid(GtidEvent<'a>),
    PreviousGtids(PreviousGtids<'a>),
    MariadbGtid(MariadbGtidEvent<'a>),
    MariadbGtidList(MariadbGtidList<'a>),
    BinlogCheckpoint(BinlogCheckpoint<'a>),
    AnnotateRows(AnnotateRows<'a>),
    LoadData(LoadData<'a>),
    BlockOfFile(BlockOfFile<'a>),
    LoadFile(LoadFile),
    DeleteFile(DeleteFile),
    ExecuteLoadQuery(ExecuteLoadQuery<'a>),
    TableMap(TableMap<'a>),
    Rows(RowsEvent<'a>),
    PartialRowData(PartialRowData<'a>),
    TransactionPayload(TransactionPayload<'a>),
    /// A type that no table entry knows (Aurora's 100, say); its size is known, so the scan goes on.
    Other(&'a [u8]),
}

/// How an event tells about itself.
///
/// `info` writes one line, close to what `SHOW BINLOG EVENTS` prints. `details` writes every
/// decoded field that has no column of its own. Both are total: a field that does not decode is
/// an error, and what was written before it may be kept.
pub(crate) trait Describe {
    /// One human line.
    fn info(&self, out: &mut String) -> Result<()>;
    /// The members of a JSON object.
    fn details(&self, out: &mut Details<'_>) -> Result<()>;
    /// Number of the body's bytes that no field covers: those of a later server's fields.
    fn undecoded(&self) -> usize {
        0
    }
}

/// Length of `rest`, unless it is all zeros, with which servers pad.
fn beyond_padding(rest: &[u8]) -> usize {
    if rest.iter().all(|&byte| byte == 0) {
        0
    } else {
        rest.len()
    }
}

const FAMILIES: &[&[EventDef]] = &[
    format::DEFS,
    rotate::DEFS,
    query::DEFS,
    session::DEFS,
    load::DEFS,
    transaction::DEFS,
    gtid::DEFS,
    mariadb::DEFS,
    table_map::DEFS,
    rows::DEFS,
    payload::DEFS,
];

/// Every known event type by its code.
pub static EVENTS: [Option<&'static EventDef>; 256] = index(FAMILIES);

#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)] // runs in the compiler only
const fn index(families: &'static [&'static [EventDef]]) -> [Option<&'static EventDef>; 256] {
    let mut table: [Option<&'static EventDef>; 256] = [None; 256];
    let mut f = 0;
    while f < families.len() {
        let mut i = 0;
        while i < families[f].len() {
            let code = families[f][i].code as usize;
            assert!(table[code].is_none(), "two event types claim one code");
            table[code] = Some(&families[f][i]);
            i += 1;
        }
        f += 1;
    }
    table
}

/// The definition of a type code, if it is known.
#[inline]
pub fn event_def(code: u8) -> Option<&'static EventDef> {
    EVENTS.get(usize::from(code)).copied().flatten()
}

/// The name of a type code as the column `type` has it: `QUERY`, `UNKNOWN(171)`.
pub fn type_name(code: u8) -> &'static str {
    TYPE_NAMES
        .get(usize::from(code))
        .map_or("UNKNOWN", String::as_str)
}

/// Names of all 256 codes.
static TYPE_NAMES: std::sync::LazyLock<Vec<String>> = std::sync::LazyLock::new(|| {
    (0..=255u8)
        .map(|code| match event_def(code) {
            Some(def) => def.name.to_owned(),
            None => format!("UNKNOWN({code})"),
        })
        .collect()
});

impl<'a> Event<'a> {
    /// Decodes the body of an event (header and checksum removed).
    pub fn decode(body: &'a [u8], cx: &EventContext<'_>) -> Result<Self> {
        Self::decode_with_rest(body, cx).map(|(event, _)| event)
    }

    /// As [`Self::decode`], with the bytes behind the last field that is known.
    pub fn decode_with_rest(body: &'a [u8], cx: &EventContext<'_>) -> Result<(Self, &'a [u8])> {
        let mut body = Cursor::new(body);
        let event = match event_def(cx.header.type_code) {
            Some(def) => (def.decode)(&mut body, cx)?,
            None => Self::Other(body.rest()),
        };
        Ok((event, body.rest()))
    }

    /// Number of the body's bytes that the decoded fields do not cover. 0 for [`Event::Other`],
    /// none of whose bytes are.
    pub fn undecoded(&self) -> usize {
        self.describe().map_or(0, Describe::undecoded)
    }

    /// One human line, as `SHOW BINLOG EVENTS` would print.
    pub fn info(&self, out: &mut String) -> Result<()> {
        match self.describe() {
            Some(event) => event.info(out),
            None => Ok(()),
        }
    }

    /// Every decoded field that has no column of its own, as members of a JSON object.
    pub fn details(&self, out: &mut Details<'_>) -> Result<()> {
        match self.describe() {
            Some(event) => event.details(out),
            None => Ok(()),
        }
    }

    fn describe(&self) -> Option<&dyn Describe> {
        Some(match self {
            Self::FormatDescription(e) => e,
            Self::StartEncryption(e) => e,
            Self::Query(e) => e,
            Self::Rotate(e) => e,
            Self::Heartbeat(e) => e,
            Self::Intvar(e) => e,
            Self::Rand(e) => e,
            Self::UserVar(e) => e,
            Self::Xid(e) => e,
            Self::XaPrepare(e) => e,
            Self::RowsQuery(e) => e,
            Self::Incident(e) => e,
            Self::TransactionContext(e) => e,
            Self::ViewChange(e) => e,
            Self::Gtid(e) => e,
            Self::PreviousGtids(e) => e,
            Self::MariadbGtid(e) => e,
            Self::MariadbGtidList(e) => e,
            Self::BinlogCheckpoint(e) => e,
            Self::AnnotateRows(e) => e,
            Self::LoadData(e) => e,
            Self::BlockOfFile(e) => e,
            Self::LoadFile(e) => e,
            Self::DeleteFile(e) => e,
            Self::ExecuteLoadQuery(e) => e,
            Self::TableMap(e) => e,
            Self::Rows(e) => e,
            Self::PartialRowData(e) => e,
            Self::TransactionPayload(e) => e,
            Self::Empty | Self::Ignorable(_) | Self::Other(_) => return None,
        })
    }
}
