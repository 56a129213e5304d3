//! Logs made by hand, for what no server would write.

use crate::support::fixture;

/// A log of version 4, event by event.
pub struct Forge {
    bytes: Vec<u8>,
    checksum: bool,
}

impl Forge {
    /// A log with checksums that begins as MySQL 9.7 begins one.
    pub fn new() -> Self {
        let log = std::fs::read(fixture("mysql-9.7-shop.000001")).unwrap();
        Self {
            bytes: log[..127].to_vec(),
            checksum: true,
        }
    }

    /// Number of bytes so far: where the next event begins.
    pub fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Adds an event with a true length, `log_pos` and checksum.
    pub fn event(&mut self, code: u8, body: &[u8]) -> &mut Self {
        let size = 19 + body.len() + if self.checksum { 4 } else { 0 };
        let end = self.bytes.len() + size;
        let mut event = header(code, size, end as u32).to_vec();
        event.extend_from_slice(body);
        if self.checksum {
            let crc = crc32fast::hash(&event);
            event.extend_from_slice(&crc.to_le_bytes());
        }
        self.bytes.extend_from_slice(&event);
        self
    }

    /// Adds a format description; the events behind it have checksums or not.
    pub fn format(&mut self, checksum: bool) -> &mut Self {
        let log = std::fs::read(fixture("mysql-9.7-shop.000001")).unwrap();
        let mut body = log[23..127 - 4].to_vec();
        *body.last_mut().unwrap() = u8::from(checksum);
        // Its own checksum is there in any case.
        self.checksum = true;
        self.event(15, &body);
        self.checksum = checksum;
        self
    }

    pub fn build(&self) -> Vec<u8> {
        self.bytes.clone()
    }
}

/// An event header.
pub fn header(code: u8, size: usize, log_pos: u32) -> [u8; 19] {
    let mut header = [0; 19];
    header[..4].copy_from_slice(&1_793_600_000u32.to_le_bytes());
    header[4] = code;
    header[5] = 1;
    header[9..13].copy_from_slice(&(size as u32).to_le_bytes());
    header[13..17].copy_from_slice(&log_pos.to_le_bytes());
    header
}

/// An event as it stands inside a payload: no checksum, no position.
pub fn inner(code: u8, body: &[u8]) -> Vec<u8> {
    let mut event = header(code, 19 + body.len(), 0).to_vec();
    event.extend_from_slice(body);
    event
}

/// Body of a QUERY.
pub fn query(text: &str) -> Vec<u8> {
    let mut body = vec![0; 13];
    body[8] = 4;
    body.extend(b"shop\0");
    body.extend(text.as_bytes());
    body
}

/// Body of an XID.
pub fn xid(number: u64) -> Vec<u8> {
    number.to_le_bytes().to_vec()
}

/// Body of a GTID event.
pub fn gtid(number: u64) -> Vec<u8> {
    let mut body = vec![1];
    body.extend([0x11; 16]);
    body.extend(number.to_le_bytes());
    body
}

/// Body of a TRANSACTION_PAYLOAD: compression 0 is Zstandard, 255 none.
pub fn payload(compression: u64, claimed: u64, data: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    for (field, value) in [(2, compression), (3, claimed), (1, data.len() as u64)] {
        let value = lenenc(value);
        body.push(field);
        body.push(value.len() as u8);
        body.extend(value);
    }
    body.push(0);
    body.extend_from_slice(data);
    body
}

/// An integer in the packed form of the protocol.
fn lenenc(value: u64) -> Vec<u8> {
    let bytes = value.to_le_bytes();
    match value {
        0..=250 => vec![value as u8],
        251..=0xffff => [&[0xfc][..], &bytes[..2]].concat(),
        0x1_0000..=0xff_ffff => [&[0xfd][..], &bytes[..3]].concat(),
        _ => [&[0xfe][..], &bytes].concat(),
    }
}

/// A Zstandard frame of which the content is `bytes`.
pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(bytes, 3).unwrap()
}

/// A Zstandard frame of blocks that are `(byte, how often)` or bytes as they are: zeros by the
/// gigabyte cost nothing to make. `content_size`: what the frame's header claims.
pub struct Frame(Vec<u8>);

impl Frame {
    /// A frame with a window of 128 KiB.
    pub fn new(content_size: Option<u64>) -> Self {
        let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd];
        match content_size {
            None => frame.extend([0x00, 7 << 3]),
            Some(size) => {
                frame.extend([0xc0, 7 << 3]);
                frame.extend(size.to_le_bytes());
            }
        }
        Self(frame)
    }

    fn block(&mut self, kind: u32, len: usize, bytes: &[u8]) {
        let head = ((len as u32) << 3) | (kind << 1);
        self.0.extend_from_slice(&head.to_le_bytes()[..3]);
        self.0.extend_from_slice(bytes);
    }

    pub fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.block(0, bytes.len(), bytes);
        self
    }

    pub fn repeat(&mut self, byte: u8, mut times: u64) -> &mut Self {
        while times > 0 {
            let n = times.min(128 << 10);
            self.block(1, n as usize, &[byte]);
            times -= n;
        }
        self
    }

    pub fn build(&mut self) -> Vec<u8> {
        let mut bytes = self.0.clone();
        bytes.extend([1, 0, 0]); // the last block, empty
        bytes
    }
}
