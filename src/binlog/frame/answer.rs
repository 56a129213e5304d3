//! What the framer answers: an event whose header is read and whose body is not, or why there is
//! none.

use crate::binlog::event;
use crate::binlog::header::{Header, crc_matches};
use crate::binlog::problem::Problem;

/// An event, still undecoded.
#[derive(Debug, Clone, Copy)]
pub struct RawEvent<'b> {
    /// The header; its type code is in today's numbering.
    pub header: Header,
    /// Offset of its first byte.
    pub offset: u64,
    /// The whole event; empty when its body was hopped over.
    pub bytes: &'b [u8],
    /// Length of the header in `bytes`.
    pub header_len: u8,
    /// Length of the checksum at the end of `bytes`: 0 or 4.
    pub checksum_len: u8,
}

impl<'b> RawEvent<'b> {
    /// Offset behind its last byte.
    #[inline]
    pub fn end(&self) -> u64 {
        self.offset
            .saturating_add(u64::from(self.header.event_size))
    }

    /// The body, header and checksum removed; empty when it was hopped over.
    #[inline]
    pub fn body(&self) -> &'b [u8] {
        let end = self
            .bytes
            .len()
            .saturating_sub(usize::from(self.checksum_len));
        self.bytes
            .get(usize::from(self.header_len)..end)
            .unwrap_or_default()
    }

    /// Whether the checksum fits the bytes; `None` where the event has none.
    pub fn checksum_ok(&self) -> Option<bool> {
        (self.checksum_len != 0 && !self.bytes.is_empty()).then(|| {
            crc_matches(
                self.bytes,
                self.header.type_code == event::FORMAT_DESCRIPTION,
            )
        })
    }
}

/// What the bytes begin with.
#[derive(Debug)]
pub enum Frame<'b> {
    /// At least this many bytes from [`Framer::position`](super::Framer::position) on are needed to tell; ask again with
    /// more, or with `at_end`.
    NeedMore(usize),
    /// An event. Its bytes are done with.
    Event(RawEvent<'b>),
    /// Something is wrong here; reading goes on.
    Problem(Problem),
    /// The log ends.
    End,
}
