//! Where the bytes come from: what the user typed becomes an ordered list of segments to read.
//!
//! ```text
//!  "logs/mysql-bin.*"          resolve ──▶ [Segment] ──▶ admit ──▶ BlockReader ──▶ blocks of bytes
//!  "/var/lib/mysql/"             │ expand      what each is           │ seek, ranged GET,
//!  "mysql-bin.index"  "-"        │ sniff       (plain, gzip, zstd,    │ gunzip, unzstd,
//!  "s3://backup/binlog.*"        ▼ sort        not a log at all)      ▼ with a carried-over tail
//! ```
//!
//! **Invariant:** nothing here knows what an event is. The only facts about the format are the
//! four bytes with which a log begins, and those with which other files begin.

mod decode;
mod index;
mod local;
mod read;
mod remote;
mod resolve;
mod segment;
mod sniff;
mod stdin;
mod stored;

pub use local::looks_like_log;
pub use read::{BlockReader, read_range};
pub use resolve::{Resolver, Stores, admit, resolve};
pub use segment::{Encoding, Location, Rejection, Segment, split_number};
pub use sniff::{ARCHIVE_HEAD, Content, HEAD, Sniff, sniff};
pub use stdin::{Spool, Stdin};

#[cfg(test)]
mod testing;
