//! ROTATE, STOP, SLAVE and the two heartbeats: where the log goes on.
//!
//! ```text
//! ROTATE         position 8 (not in version 1) │ name of the next file
//! STOP, SLAVE    –
//! HEARTBEAT      name of the current file; the header's log_pos is its position
//! HEARTBEAT_V2   fields: tag 1 │ length (packed) │ value;   1 = file name, 2 = position (packed)
//! ```
//!
//! Source: `libbinlogevents/include/control_events.h` and `codecs/binary.cpp`.

use super::{Cursor, Describe, Details, Event, EventDef, Vendor};
use crate::binlog::charset::Text;
use crate::error::{Error, Result};
use std::fmt::Write;

/// Code of STOP.
pub const STOP: u8 = 3;
/// Code of ROTATE.
pub const ROTATE: u8 = 4;

pub(super) const DEFS: &[EventDef] = &[
    EventDef {
        code: STOP,
        name: "STOP",
        vendor: Vendor::Both,
        since: "3.23",
        doc: "the server was shut down",
        decode: |_, _| Ok(Event::Empty),
    },
    EventDef {
        code: ROTATE,
        name: "ROTATE",
        vendor: Vendor::Both,
        since: "3.23",
        doc: "names the next file",
        decode: |body, cx| {
            let position = match cx.post_header_len() {
                Some(0) => None,
                _ => Some(body.u64()?),
            };
            Ok(Event::Rotate(Rotate {
                position,
                file: body.rest(),
            }))
        },
    },
    EventDef {
        code: 7,
        name: "SLAVE",
        vendor: Vendor::Both,
        since: "4.0",
        doc: "never written by any release",
        decode: |_, _| Ok(Event::Empty),
    },
    EventDef {
        code: 27,
        name: "HEARTBEAT",
        vendor: Vendor::Both,
        since: "5.6",
        doc: "the server is alive and has nothing to send; streams only",
        decode: |body, cx| {
            Ok(Event::Heartbeat(Heartbeat {
                file: body.rest(),
                position: Some(u64::from(cx.header.log_pos)),
            }))
        },
    },
    EventDef {
        code: 41,
        name: "HEARTBEAT_V2",
        vendor: Vendor::MySql,
        since: "8.0.26",
        doc: "a heartbeat with a 64-bit position; streams only",
        decode: |body, _| Heartbeat::read_v2(body).map(Event::Heartbeat),
    },
];

/// The log goes on in another file.
#[derive(Debug, Clone, Copy)]
pub struct Rotate<'a> {
    /// Where to go on in it: 4, or where the client asked to start. `None` in version 1.
    pub position: Option<u64>,
    /// Base name of the next file.
    pub file: &'a [u8],
}

impl Describe for Rotate<'_> {
    fn info(&self, out: &mut String) -> Result<()> {
        write_place(self.file, self.position, out);
        Ok(())
    }

    fn details(&self, out: &mut Details<'_>) -> Result<()> {
        out.text("next_file", self.file);
        if let Some(position) = self.position {
            out.num("next_pos", position);
        }
        Ok(())
    }
}

/// `mysql-bin.000042;pos=4`
fn write_place(file: &[u8], position: Option<u64>, out: &mut String) {
    out.push_str(&Text::utf8(file).text);
    if let Some(position) = position {
        let _ = write!(out, ";pos={position}");
    }
}

/// The server has nothing new; this is where it stands.
#[derive(Debug, Clone, Copy)]
pub struct Heartbeat<'a> {
    /// Base name of the server's current file.
    pub file: &'a [u8],
    /// Position in it; `None` where the event carries none.
    pub position: Option<u64>,
}

impl<'a> Heartbeat<'a> {
    fn read_v2(body: &mut Cursor<'a>) -> Result<Self> {
        let mut beat = Self {
            file: &[],
            position: None,
        };
        while !body.is_empty() {
            match body.u8()? {
                0 => break,
                tag => {
                    let mut value = Cursor::new(body.lenenc_bytes()?);
                    match tag {
                        1 => beat.file = value.rest(),
                        2 => beat.position = Some(value.lenenc()?),
                        other => {
                            return Err(Error::corrupt(format!("heartbeat field {other}")));
                        }
                    }
                }
            }
        }
        Ok(beat)
    }
}

impl Describe for Heartbeat<'_> {
    fn info(&self, out: &mut String) -> Result<()> {
        write_place(self.file, self.position, out);
        Ok(())
    }

    fn details(&self, out: &mut Details<'_>) -> Result<()> {
        out.text("current_file", self.file);
        if let Some(position) = self.position {
            out.num("current_pos", position);
        }
        Ok(())
    }
}
