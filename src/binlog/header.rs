//! The common header that begins every event, and the checksum that may end it.
//!
//! ```text
//! v3, v4   timestamp 4 │ type 1 │ server_id 4 │ event_size 4 │ log_pos 4 │ flags 2 │ (extra) │ body │ (CRC32 4)
//! v1       timestamp 4 │ type 1 │ server_id 4 │ event_size 4 │ body
//! ```
//!
//! Source: MySQL manual, "Binary Log Event Header"; `libbinlogevents/include/binlog_event.h`.

/// Length of the header of binlog versions 3 and 4; version 4 may announce a longer one.
pub const HEADER_LEN: usize = 19;
/// Length of the header of binlog version 1 (MySQL 3.23): no `log_pos`, no `flags`.
pub const HEADER_LEN_V1: usize = 13;
/// Length of the checksum behind a body.
pub const CHECKSUM_LEN: usize = 4;

/// The fixed fields of an event, as they stand in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Header {
    /// Seconds since 1970 (UTC) when the statement began on the server that ran it; 0: not known.
    pub timestamp: u32,
    /// Type code; see [`EVENTS`](super::event::EVENTS).
    pub type_code: u8,
    /// `server_id` of the server that wrote the event first.
    pub server_id: u32,
    /// Length of the whole event, header and checksum included.
    pub event_size: u32,
    /// End position as the server wrote it: 32 bits that wrap at 4 GiB, another file's position in
    /// a relay log, 0 inside transactions of MariaDB ≥ 11.4, the *start* position in version 3.
    /// 0 in version 1. Positions that can be relied on are the framer's own.
    pub log_pos: u32,
    /// `LOG_EVENT_*_F` flags; 0 in version 1.
    pub flags: u16,
}

/// The log is open for writing, or was when the server died. On format descriptions only.
pub const FLAG_BINLOG_IN_USE: u16 = 0x1;
/// Made by a replica's I/O thread or for a dump client; not part of the server's own log.
pub const FLAG_ARTIFICIAL: u16 = 0x20;
/// Written to the relay log by the replica itself.
pub const FLAG_RELAY_LOG: u16 = 0x40;
/// May be skipped by a reader that does not know the type.
pub const FLAG_IGNORABLE: u16 = 0x80;

impl Header {
    /// Reads a header of version 3 or 4; `None` when fewer than 19 bytes are there.
    #[inline]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let b = bytes.first_chunk::<HEADER_LEN>()?;
        Some(Self {
            timestamp: u32::from_le_bytes([b[0], b[1], b[2], b[3]]),
            type_code: b[4],
            server_id: u32::from_le_bytes([b[5], b[6], b[7], b[8]]),
            event_size: u32::from_le_bytes([b[9], b[10], b[11], b[12]]),
            log_pos: u32::from_le_bytes([b[13], b[14], b[15], b[16]]),
            flags: u16::from_le_bytes([b[17], b[18]]),
        })
    }

    /// Reads a header of version 1; `None` when fewer than 13 bytes are there.
    #[inline]
    pub fn read_v1(bytes: &[u8]) -> Option<Self> {
        let b = bytes.first_chunk::<HEADER_LEN_V1>()?;
        Some(Self {
            timestamp: u32::from_le_bytes([b[0], b[1], b[2], b[3]]),
            type_code: b[4],
            server_id: u32::from_le_bytes([b[5], b[6], b[7], b[8]]),
            event_size: u32::from_le_bytes([b[9], b[10], b[11], b[12]]),
            ..Self::default()
        })
    }
}

/// What a log says of its checksums.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Checksum {
    /// No format description has told. An event whose last four bytes are the CRC32 of the rest
    /// settles it.
    #[default]
    Unknown,
    /// Events end with their body.
    None,
    /// Events end with the CRC32 (IEEE) of all bytes before it.
    Crc32,
}

impl Checksum {
    /// Name as in `@@binlog_checksum`, `UNKNOWN` where no format description tells.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unknown => "UNKNOWN",
            Self::None => "NONE",
            Self::Crc32 => "CRC32",
        }
    }
}

/// Whether the last four bytes of `event` are the CRC32 of the bytes before them.
///
/// `clear_in_use`: the server computes the checksum of a format description without the in-use
/// flag, and clears the flag in place when it closes the log.
pub fn crc_matches(event: &[u8], clear_in_use: bool) -> bool {
    let Some((covered, stored)) = event.split_last_chunk::<CHECKSUM_LEN>() else {
        return false;
    };
    let stored = u32::from_le_bytes(*stored);
    let mut crc = crc32fast::Hasher::new();
    match covered.split_at_checked(17) {
        Some((before, [low, after @ ..])) if clear_in_use => {
            crc.update(before);
            crc.update(&[low & !(FLAG_BINLOG_IN_USE as u8)]);
            crc.update(after);
        }
        _ => crc.update(covered),
    }
    crc.finalize() == stored
}
