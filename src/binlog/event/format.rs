//! FORMAT_DESCRIPTION and START_V3: how the rest of the log is to be read; START_ENCRYPTION.
//!
//! ```text
//! FORMAT_DESCRIPTION   binlog_version 2 │ server_version 50 │ created 4 │ header_len 1 │ post-header lengths n │ (checksum alg 1)
//! START_V3             binlog_version 2 │ server_version 50 │ created 4
//! START_ENCRYPTION     scheme 1 │ key_version 4 │ nonce 12
//! ```
//!
//! The checksum algorithm is there from MySQL 5.6.1 and MariaDB 5.3 on, and then four checksum
//! bytes end the event even where the algorithm is NONE. Source: MySQL manual, "Binary Log Event
//! Header"; `libbinlogevents/src/control_events.cpp`; MariaDB `log_event.h` (START_ENCRYPTION).

use super::{Cursor, Describe, Details, Event, EventDef, Vendor};
use crate::binlog::header::{CHECKSUM_LEN, Checksum, HEADER_LEN, HEADER_LEN_V1};
use crate::error::{Error, Result};
use std::fmt::Write;

/// Code of START_V3.
pub const START_V3: u8 = 1;
/// Code of FORMAT_DESCRIPTION.
pub const FORMAT_DESCRIPTION: u8 = 15;
/// Code of START_ENCRYPTION.
pub const START_ENCRYPTION: u8 = 164;

pub(super) const DEFS: &[EventDef] = &[
    EventDef {
        code: START_V3,
        name: "START_V3",
        vendor: Vendor::Both,
        since: "3.23",
        doc: "begins a log of version 1 or 3",
        decode: |body, cx| {
            FormatDescription::read_start_v3(body.rest(), cx.format.binlog_version == 1)
                .map(Event::FormatDescription)
        },
    },
    EventDef {
        code: FORMAT_DESCRIPTION,
        name: "FORMAT_DESCRIPTION",
        vendor: Vendor::Both,
        since: "5.0",
        doc: "begins a log of version 4: server version, event layouts, checksums",
        decode: |body, _| FormatDescription::read(body.rest()).map(Event::FormatDescription),
    },
    EventDef {
        code: START_ENCRYPTION,
        name: "START_ENCRYPTION",
        vendor: Vendor::MariaDb,
        since: "10.1",
        doc: "all that follows is encrypted",
        decode: |body, _| {
            Ok(Event::StartEncryption(StartEncryption {
                scheme: body.u8()?,
                key_version: body.u32()?,
                nonce: body.rest(),
            }))
        },
    },
];

/// Whose server wrote a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Flavor {
    /// MySQL and its forks Percona Server and Aurora.
    #[default]
    MySql,
    /// MariaDB.
    MariaDb,
}

impl Flavor {
    /// `MySQL` or `MariaDB`.
    pub fn name(self) -> &'static str {
        match self {
            Self::MySql => "MySQL",
            Self::MariaDb => "MariaDB",
        }
    }
}

/// What a log says of its own layout. Every later event is read by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormatDescription {
    /// 4; 3 for MySQL 4.0 and 4.1; 1 for 3.23.
    pub binlog_version: u16,
    /// As the server wrote it, without the padding; bytes that are not UTF-8 are escaped as `\xNN`.
    pub server_version: String,
    /// Seconds since 1970 when the server started, 0 in a log that it only rotated to.
    pub created: u32,
    /// Length of the common header: 19; 13 in version 1; more in some patched servers.
    pub header_len: u8,
    /// Length of the fixed part of each event type, from code 1 on, as the log has it.
    pub post_header_lens: Vec<u8>,
    /// The checksum of the events that follow.
    pub checksum: Checksum,
    /// Whose server it was, told by the version string.
    pub flavor: Flavor,
    /// The log is of a pre-release server (5.1.1 to 5.2.2 `-a_drop`) that numbered its event types
    /// otherwise.
    pub old_numbering: bool,
}

impl FormatDescription {
    /// What is assumed of a log of version 4 until a format description tells.
    pub fn assumed() -> Self {
        Self {
            binlog_version: 4,
            server_version: String::new(),
            created: 0,
            header_len: HEADER_LEN as u8,
            post_header_lens: POST_HEADER_LENS_V4.to_vec(),
            checksum: Checksum::Unknown,
            flavor: Flavor::MySql,
            old_numbering: false,
        }
    }

    /// What is known of a log of version 1 or 3 without its START_V3.
    pub fn assumed_old(version: u16) -> Self {
        let mut lens = POST_HEADER_LENS_V3.to_vec();
        if version == 1
            && let Some(rotate) = lens.get_mut(3)
        {
            *rotate = 0; // A ROTATE of version 1 has a name only.
        }
        Self {
            binlog_version: version,
            header_len: if version == 1 {
                HEADER_LEN_V1
            } else {
                HEADER_LEN
            } as u8,
            post_header_lens: lens,
            checksum: Checksum::None,
            ..Self::assumed()
        }
    }

    /// Reads the body of a FORMAT_DESCRIPTION, checksum removed.
    pub fn read(body: &[u8]) -> Result<Self> {
        let mut body = Cursor::new(body);
        let binlog_version = body.u16()?;
        let version = version_text(body.bytes(50)?);
        let created = body.u32()?;
        let header_len = body.u8()?;
        let mut lens = body.rest();
        let flavor = if version.to_ascii_lowercase().contains("mariadb") {
            Flavor::MariaDb
        } else {
            Flavor::MySql
        };
        let mut checksum = Checksum::None;
        if writes_checksum_alg(&version, flavor) {
            let (alg, before) = lens
                .split_last()
                .ok_or_else(|| Error::truncated("the checksum algorithm", 1, 0))?;
            lens = before;
            checksum = match alg {
                0 => Checksum::None,
                1 => Checksum::Crc32,
                // 255 is "undefined": no server that writes the byte leaves it so in a file.
                255 => Checksum::Unknown,
                other => {
                    return Err(Error::corrupt(format!("checksum algorithm {other}")));
                }
            };
        } else if lens.len() > 32 {
            // 5.5, the last without checksums, knows 27 types and 5.6.1 more than 32.
            return Err(Error::corrupt(format!(
                "server version '{version}' does not go with {} event types",
                lens.len()
            )));
        }
        if usize::from(header_len) < HEADER_LEN {
            return Err(Error::corrupt(format!(
                "a common header of {header_len} bytes, less than {HEADER_LEN}"
            )));
        }
        let old_numbering = has_old_numbering(&version) && lens.len() == 22;
        Ok(Self {
            binlog_version,
            server_version: version,
            created,
            header_len,
            post_header_lens: lens.to_vec(),
            checksum,
            flavor,
            old_numbering,
        })
    }

    /// Reads the body of a START_V3.
    pub fn read_start_v3(body: &[u8], v1_header: bool) -> Result<Self> {
        let mut body = Cursor::new(body);
        let binlog_version = body.u16()?;
        let server_version = version_text(body.bytes(50)?);
        let created = body.u32()?;
        Ok(Self {
            binlog_version,
            server_version,
            created,
            ..Self::assumed_old(if v1_header { 1 } else { 3 })
        })
    }

    /// Length of the checksum trailer on the format description itself, told by the body behind
    /// the header: four bytes from those servers that know checksums, whatever the algorithm.
    pub fn own_checksum_len(body: &[u8]) -> usize {
        let version = version_text(body.get(2..52).unwrap_or_default());
        let maria = version.to_ascii_lowercase().contains("mariadb");
        let flavor = if maria {
            Flavor::MariaDb
        } else {
            Flavor::MySql
        };
        if writes_checksum_alg(&version, flavor) {
            CHECKSUM_LEN
        } else {
            0
        }
    }

    /// Length of the fixed part of an event type (today's numbering); `None` where the log
    /// announces none.
    pub fn post_header_len(&self, code: u8) -> Option<usize> {
        let own = if self.old_numbering {
            OLD_NUMBERING.iter().position(|&today| today == code)? as u8
        } else {
            code
        };
        let at = usize::from(own).checked_sub(1)?;
        self.post_header_lens.get(at).map(|&len| usize::from(len))
    }

    /// Today's code of a code in this log.
    #[inline]
    pub fn type_code(&self, own: u8) -> u8 {
        if self.old_numbering {
            return OLD_NUMBERING.get(usize::from(own)).copied().unwrap_or(own);
        }
        own
    }

    /// Major, minor and patch of the server version; zeros where it has none.
    pub fn version(&self) -> [u32; 3] {
        version_numbers(&self.server_version)
    }
}

impl Describe for FormatDescription {
    fn info(&self, out: &mut String) -> Result<()> {
        let _ = write!(
            out,
            "Server ver: {}, Binlog ver: {}",
            self.server_version, self.binlog_version
        );
        Ok(())
    }

    fn details(&self, out: &mut Details<'_>) -> Result<()> {
        out.str("server_version", &self.server_version);
        out.num("binlog_version", self.binlog_version);
        out.num("created", self.created);
        out.num("header_length", self.header_len);
        out.str("checksum", self.checksum.name());
        out.str("flavor", self.flavor.name());
        out.nums("post_header_lengths", &self.post_header_lens);
        Ok(())
    }
}

/// From here on the log is encrypted with a key that only the server has.
#[derive(Debug, Clone, Copy)]
pub struct StartEncryption<'a> {
    /// 1: AES in CBC mode, the position mixed into the initialisation vector.
    pub scheme: u8,
    /// Version of the key.
    pub key_version: u32,
    /// Nonce of this file.
    pub nonce: &'a [u8],
}

impl Describe for StartEncryption<'_> {
    fn info(&self, out: &mut String) -> Result<()> {
        let _ = write!(out, "encrypted with key version {}", self.key_version);
        Ok(())
    }

    fn details(&self, out: &mut Details<'_>) -> Result<()> {
        out.num("scheme", self.scheme);
        out.num("key_version", self.key_version);
        out.hex("nonce", self.nonce);
        Ok(())
    }
}

/// Post-header lengths that MySQL 8 writes, types 1 to 42.
const POST_HEADER_LENS_V4: &[u8] = &[
    56, 13, 0, 8, 0, 18, 0, 4, 4, 4, 4, 18, 0, 0, 95, 0, 4, 26, 8, 0, 0, 0, 8, 8, 8, 2, 0, 0, 0,
    10, 10, 10, 42, 42, 0, 18, 52, 0, 10, 40, 0, 0,
];

/// Fixed lengths of version 3, types 1 to 14.
const POST_HEADER_LENS_V3: &[u8] = &[56, 11, 0, 8, 0, 18, 0, 4, 4, 4, 4, 18, 0, 0];

/// Today's code for each code of the pre-release numbering.
const OLD_NUMBERING: [u8; 23] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 19, 20, 21, 22, 16, 17, 18,
];

/// Pre-release trees that numbered event types otherwise: 5.1.1 to 5.1.5 `-a_drop5`, 5.1.4
/// `-a_drop6`, 5.2.0 to 5.2.2 `-a_drop6`.
fn has_old_numbering(version: &str) -> bool {
    let Some((numbers, drop)) = version.split_once("-a_drop") else {
        return false;
    };
    match numbers {
        "5.1.4" => drop.starts_with(['5', '6']),
        "5.1.1" | "5.1.2" | "5.1.3" | "5.1.5" => drop.starts_with('5'),
        "5.2.0" | "5.2.1" | "5.2.2" => drop.starts_with('6'),
        _ => false,
    }
}

fn writes_checksum_alg(version: &str, flavor: Flavor) -> bool {
    let first = match flavor {
        Flavor::MySql => [5, 6, 1],
        Flavor::MariaDb => [5, 3, 0],
    };
    version_numbers(version) >= first
}

fn version_numbers(version: &str) -> [u32; 3] {
    let mut numbers = [0; 3];
    let mut parts = version.split('.');
    for number in &mut numbers {
        let Some(part) = parts.next() else { break };
        let digits = part
            .find(|c: char| !c.is_ascii_digit())
            .map_or(part, |end| part.split_at(end).0);
        *number = digits.parse().unwrap_or(0);
    }
    numbers
}

fn version_text(padded: &[u8]) -> String {
    let end = padded.iter().position(|&b| b == 0);
    let bytes = padded.split_at(end.unwrap_or(padded.len())).0;
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.escape_ascii().to_string(),
    }
}
