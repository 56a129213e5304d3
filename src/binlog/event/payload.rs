//! TRANSACTION_PAYLOAD: a whole transaction, compressed.
//!
//! ```text
//! fields: type (packed) │ length (packed) │ value         0 ends the list
//!         1 payload size │ 2 compression │ 3 uncompressed size
//! then the payload to the end of the event: complete events without checksums
//! ```
//!
//! The sizes are what the server claims; nothing is allocated by them. Source:
//! `libbinlogevents/include/codecs/binary.h`, `transaction_payload`.

use super::{Cursor, Describe, Details, Event, EventDef, Vendor};
use crate::error::{Error, Result};
use std::fmt::Write;

/// Code of TRANSACTION_PAYLOAD.
pub const TRANSACTION_PAYLOAD: u8 = 40;

pub(super) const DEFS: &[EventDef] = &[EventDef {
    code: TRANSACTION_PAYLOAD,
    name: "TRANSACTION_PAYLOAD",
    vendor: Vendor::MySql,
    since: "8.0.20",
    doc: "a compressed transaction; its events follow as rows of their own",
    decode: |body, _| TransactionPayload::read(body).map(Event::TransactionPayload),
}];

/// How a payload is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Zstandard.
    Zstd,
    /// Not at all.
    None,
    /// A code that no known server writes.
    Unknown(u64),
}

impl Compression {
    /// `ZSTD`, `NONE` or `UNKNOWN`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Zstd => "ZSTD",
            Self::None => "NONE",
            Self::Unknown(_) => "UNKNOWN",
        }
    }
}

/// A compressed transaction.
#[derive(Debug, Clone, Copy)]
pub struct TransactionPayload<'a> {
    /// How the payload is compressed.
    pub compression: Compression,
    /// Claimed size of the payload; its true size is that of `payload`.
    pub payload_size: Option<u64>,
    /// Claimed size once unpacked.
    pub uncompressed_size: Option<u64>,
    /// The payload.
    pub payload: &'a [u8],
}

impl<'a> TransactionPayload<'a> {
    /// Reads the body of a TRANSACTION_PAYLOAD.
    pub fn read(body: &mut Cursor<'a>) -> Result<Self> {
        let mut event = Self {
            compression: Compression::None,
            payload_size: None,
            uncompressed_size: None,
            payload: &[],
        };
        let mut compression = None;
        loop {
            let field = body.lenenc()?;
            if field == 0 {
                break;
            }
            let mut value = Cursor::new(body.lenenc_bytes()?);
            match field {
                1 => event.payload_size = Some(value.lenenc()?),
                2 => {
                    compression = Some(match value.lenenc()? {
                        0 => Compression::Zstd,
                        255 => Compression::None,
                        other => Compression::Unknown(other),
                    });
                }
                3 => event.uncompressed_size = Some(value.lenenc()?),
                // A field of a later server: its length is known, the payload is not touched by it.
                _ => {}
            }
        }
        event.compression =
            compression.ok_or_else(|| Error::corrupt("no compression type is given"))?;
        event.payload = body.rest();
        Ok(event)
    }
}

impl Describe for TransactionPayload<'_> {
    fn info(&self, out: &mut String) -> Result<()> {
        let _ = write!(out, "compression='{}'", self.compression.name());
        if let Some(size) = self.uncompressed_size {
            let _ = write!(out, ", decompressed_size={size} bytes");
        }
        Ok(())
    }

    fn details(&self, out: &mut Details<'_>) -> Result<()> {
        out.str("compression", self.compression.name());
        if let Compression::Unknown(code) = self.compression {
            out.num("compression_code", code);
        }
        if let Some(size) = self.payload_size {
            out.num("payload_size", size);
        }
        if let Some(size) = self.uncompressed_size {
            out.num("uncompressed_size", size);
        }
        Ok(())
    }
}
