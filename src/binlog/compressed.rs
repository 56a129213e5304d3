//! What MariaDB compresses: events (`log_bin_compress`) and columns (`COMPRESSED`).
//!
//! The compressed part of QUERY_COMPRESSED and of the compressed rows events:
//!
//! ```text
//! 1 alg 3 │ 0 │ n 3     one byte: bit 7 set, algorithm in bits 4–6, number of length bytes in 0–2
//! length n              big-endian, 1–4 bytes
//! zlib stream           to the end
//! ```
//!
//! A value of a COMPRESSED column, unless it has no bytes and is empty:
//!
//! ```text
//! 8 │ w 1 bit │ n 3       one byte: method in bits 4–7, bit 3 set if the zlib header is missing
//! length n                big-endian
//! zlib or deflate stream  to the end
//!
//! 0 │ 0                   one byte: the value follows as it is
//! ```
//!
//! Source: MariaDB `sql/log_event.cc` (`binlog_get_uncompress_len`, `binlog_buf_uncompress`),
//! `sql/field_comp.cc`.
//!
//! **Invariant:** memory is taken for bytes that the stream has given, never for the length that
//! the header claims.

use super::cursor::Cursor;
use crate::error::{Error, Result};
use flate2::{Decompress, FlushDecompress, Status};
use std::borrow::Cow;

/// What a server accepts at most (the greatest `max_allowed_packet`): 1 GiB.
pub const MAX_UNCOMPRESSED: usize = 1 << 30;

/// Output grows in steps of this.
const STEP: usize = 64 * 1024;

/// The uncompressed length that the header claims, in bytes.
///
/// # Errors
/// The header is cut, is none, or names an algorithm other than zlib.
pub fn claimed_len(bytes: &[u8]) -> Result<u32> {
    read_header(&mut Cursor::new(bytes))
}

fn read_header(bytes: &mut Cursor<'_>) -> Result<u32> {
    let first = bytes.u8()?;
    if first & 0x80 == 0 {
        return Err(Error::corrupt(format!(
            "compressed data begins with byte 0x{first:02x}"
        )));
    }
    match (first & 0x70) >> 4 {
        0 => {}
        other => {
            return Err(Error::unsupported(format!("compression algorithm {other}")));
        }
    }
    let n = usize::from(first & 0x07);
    if !(1..=4).contains(&n) || first & 0x08 != 0 {
        return Err(Error::corrupt(format!(
            "compressed data begins with byte 0x{first:02x}"
        )));
    }
    let length = bytes.bytes(n)?;
    Ok(length
        .iter()
        .fold(0, |length, &b| (length << 8) | u32::from(b)))
}

/// Uncompresses: header and zlib stream, to the end of `bytes`.
///
/// `limit` is the greatest length accepted; see [`MAX_UNCOMPRESSED`].
///
/// # Errors
/// The header claims more than `limit`; the stream is damaged or cut; its length is not what the
/// header claims; bytes follow it.
pub fn uncompress(bytes: &[u8], limit: usize) -> Result<Vec<u8>> {
    let mut input = Cursor::new(bytes);
    let claimed = read_header(&mut input)? as usize;
    inflate(input, claimed, true, limit)
}

/// Uncompresses a value of a COMPRESSED column.
///
/// `limit` is the greatest length accepted; see [`MAX_UNCOMPRESSED`].
///
/// # Errors
/// As of [`uncompress`]; a method that is not known.
pub fn uncompress_column(bytes: &[u8], limit: usize) -> Result<Cow<'_, [u8]>> {
    let mut input = Cursor::new(bytes);
    if input.is_empty() {
        return Ok(Cow::Borrowed(bytes));
    }
    let first = input.u8()?;
    match first >> 4 {
        0 if first == 0 => return Ok(Cow::Borrowed(input.rest())),
        8 => {}
        method => {
            return Err(Error::unsupported(format!(
                "a COMPRESSED column of method {method} (byte 0x{first:02x})"
            )));
        }
    }
    let length = input.bytes(usize::from(first & 7))?;
    let claimed = length
        .iter()
        .fold(0, |length: u64, &b| (length << 8) | u64::from(b));
    let claimed = usize::try_from(claimed).unwrap_or(usize::MAX);
    inflate(input, claimed, first & 8 == 0, limit).map(Cow::Owned)
}

/// Inflates all of `input`, which must give `claimed` bytes.
fn inflate(
    mut input: Cursor<'_>,
    claimed: usize,
    zlib_header: bool,
    limit: usize,
) -> Result<Vec<u8>> {
    if claimed > limit {
        return Err(Error::unsupported(format!(
            "{claimed} bytes when uncompressed, more than the {limit} that are accepted"
        )));
    }
    let mut stream = Decompress::new(zlib_header);
    let mut out = Vec::new();
    loop {
        // One byte of room more than is claimed: a stream that fills it is too long.
        let room = claimed.saturating_add(1).saturating_sub(out.len());
        if room == 0 {
            return Err(Error::corrupt(format!(
                "compressed data holds more than the {claimed} bytes that it claims"
            )));
        }
        if out.len() == out.capacity() {
            let step = out.capacity().max(STEP).min(room);
            out.reserve_exact(step);
        }
        let before = (stream.total_in(), stream.total_out());
        let status = stream
            .decompress_vec(input.peek(), &mut out, FlushDecompress::None)
            .map_err(|e| Error::corrupt(format!("compressed data is damaged: {e}")))?;
        let read = stream.total_in().saturating_sub(before.0);
        input.skip(usize::try_from(read).unwrap_or(usize::MAX))?;
        if status == Status::StreamEnd {
            break;
        }
        if before == (stream.total_in(), stream.total_out()) && out.len() < out.capacity() {
            return Err(Error::corrupt(format!(
                "compressed data is cut: {} of {claimed} bytes are there",
                out.len()
            )));
        }
    }
    if out.len() != claimed {
        return Err(Error::corrupt(format!(
            "compressed data holds {} bytes, but claims {claimed}",
            out.len()
        )));
    }
    if !input.is_empty() {
        return Err(Error::corrupt(format!(
            "{} bytes follow the compressed data",
            input.len()
        )));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binlog::event::testing::hex;
    use flate2::{Compression, write::ZlibEncoder};
    use proptest::prelude::*;
    use std::io::Write;

    fn compress(data: &[u8], claimed: u32, n: usize) -> Vec<u8> {
        let mut out = vec![0x80 | n as u8];
        out.extend(&claimed.to_be_bytes()[4 - n..]);
        let mut zlib = ZlibEncoder::new(out, Compression::default());
        zlib.write_all(data).unwrap();
        zlib.finish().unwrap()
    }

    #[test]
    fn a_query_of_mariadb_11() {
        let bytes = hex("8121789c4b2e4a4d2c495528494cca495548d1a850c8cc2b5128\
             28cacc4d2caa54c84eadd40400cbb90be2");
        assert_eq!(claimed_len(&bytes).unwrap(), 33);
        let text = b"create table d(x int primary key)";
        assert_eq!(uncompress(&bytes, 33).unwrap(), text);
        assert!(uncompress(&bytes, 32).is_err());
    }

    #[test]
    fn buglog_114_false_length_is_refused_without_being_allocated() {
        let text = vec![b'x'; 1000];
        for (claimed, n) in [(999, 2), (1001, 2), (0, 1), (u32::MAX >> 2, 4)] {
            let error = uncompress(&compress(&text, claimed, n), MAX_UNCOMPRESSED).unwrap_err();
            assert!(error.message().contains("compressed data holds"), "{error}");
        }
        assert!(uncompress(&compress(&text, u32::MAX, 4), MAX_UNCOMPRESSED).is_err());
    }

    #[test]
    fn other_headers_are_refused() {
        for first in [0x00, 0x01, 0x80, 0x85, 0x89, 0x91, 0xf1, 0xff] {
            assert!(claimed_len(&[first, 1, 1, 1, 1, 1, 1, 1, 1]).is_err());
        }
        let mut trailing = compress(b"x", 1, 1);
        trailing.push(0);
        let error = uncompress(&trailing, 10).unwrap_err();
        assert_eq!(error.message(), "1 bytes follow the compressed data");
    }

    #[test]
    fn a_bomb_is_stopped_at_its_claim() {
        let bomb = compress(&vec![0; 1 << 20], 100, 1);
        let error = uncompress(&bomb, MAX_UNCOMPRESSED).unwrap_err();
        assert!(error.message().contains("more than the 100 bytes"));
    }

    /// A value of a COMPRESSED column.
    fn compress_column(data: &[u8], claimed: u32, zlib_header: bool) -> Vec<u8> {
        let mut out = vec![if zlib_header { 0x84 } else { 0x8c }];
        out.extend(claimed.to_be_bytes());
        let level = Compression::default();
        let mut stream = flate2::Compress::new(level, zlib_header);
        let mut packed = Vec::with_capacity(data.len() + 100);
        stream
            .compress_vec(data, &mut packed, flate2::FlushCompress::Finish)
            .unwrap();
        out.extend(packed);
        out
    }

    #[test]
    fn columns_with_and_without_a_zlib_header() {
        let text = b"abcabcabc".repeat(50);
        for zlib_header in [false, true] {
            let bytes = compress_column(&text, 450, zlib_header);
            assert_eq!(*uncompress_column(&bytes, 450).unwrap(), text);
            assert!(uncompress_column(&bytes, 449).is_err());
            for claimed in [0, 449, 451, u32::MAX] {
                let bytes = compress_column(&text, claimed, zlib_header);
                assert!(uncompress_column(&bytes, MAX_UNCOMPRESSED).is_err());
            }
        }
        assert_eq!(*uncompress_column(b"", 0).unwrap(), *b"");
        assert_eq!(*uncompress_column(b"\0short", 0).unwrap(), *b"short");
        for unknown in [&b"\x01x"[..], b"\x10x", b"\x90x", b"\xf0"] {
            assert!(uncompress_column(unknown, 100).is_err(), "{unknown:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn what_is_compressed_is_read(len in 0..200_000usize, step: u8) {
            let data: Vec<u8> = (0..len).map(|i| (i / 7 * usize::from(step)) as u8).collect();
            let bytes = compress(&data, data.len() as u32, 4);
            prop_assert_eq!(uncompress(&bytes, data.len()).unwrap(), data);
        }

        #[test]
        fn any_cut(data in prop::collection::vec(any::<u8>(), 0..100)) {
            let bytes = compress(&data, data.len() as u32, 1);
            for cut in 0..bytes.len() {
                prop_assert!(uncompress(&bytes[..cut], 100).is_err());
            }
        }

        #[test]
        fn any_bytes(mut bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = uncompress(&bytes, 1000);
            let _ = uncompress_column(&bytes, 1000);
            bytes.splice(0..0, [0x82, 0x01, 0x00, 0x78, 0x9c]);
            let _ = uncompress(&bytes, 1000);
        }
    }
}
