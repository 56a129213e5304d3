//! What a file is, told from its first bytes.
//!
//! Facts: a log begins with `fe 62 69 6e` (`BINLOG_MAGIC`), a MySQL log that is encrypted on disk
//! with `fd 62 69 6e` (`Rpl_encryption_header`), both in MySQL's `sql/log_event.h` and
//! `sql/rpl_log_encryption.h`. The marks of other files are in [`foreign`].

mod foreign;

pub(super) use foreign::is_ibb_name;

use std::io::{ErrorKind as Io, Read};

use super::decode::ZSTD_WINDOW_LOG;
use super::segment::{Encoding, Rejection};
use crate::error::ErrorKind;

/// How many first bytes of a plain file [`sniff`] wants; fewer only if the file has fewer.
pub const HEAD: usize = 4096;

/// How many first bytes of an archive [`sniff`] wants: a zstd block (up to 128 KiB) gives nothing
/// before it is whole.
pub const ARCHIVE_HEAD: usize = 192 * 1024;

/// The first bytes of a binary log.
pub(super) const MAGIC: [u8; 4] = *b"\xfebin";
/// The first bytes of a MySQL binary log that is encrypted on disk.
const ENCRYPTED_MAGIC: [u8; 4] = *b"\xfdbin";
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// What a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sniff {
    /// How the file is packed.
    pub encoding: Encoding,
    /// What it is, unpacked.
    pub content: Content,
}

/// What the unpacked bytes are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A binary log (or relay log) that can be read.
    Binlog,
    /// A MySQL log that is encrypted on disk.
    EncryptedBinlog,
    /// Something else, or nothing that could be unpacked.
    Other(Rejection),
}

impl Sniff {
    /// Why the file is not read; `None` for a binary log.
    pub fn rejection(&self) -> Option<Rejection> {
        match &self.content {
            Content::Binlog => None,
            Content::EncryptedBinlog => Some(Rejection::new(
                ErrorKind::Unsupported,
                "this binary log is encrypted and only its server has the key; get a readable copy \
                 with mysqlbinlog --read-from-remote-server --raw",
            )),
            Content::Other(rejection) => Some(rejection.clone()),
        }
    }

    /// Whether it is a log, readable or encrypted.
    pub(super) fn is_log(&self) -> bool {
        !matches!(self.content, Content::Other(_))
    }
}

/// How many first bytes [`sniff`] wants of a file that begins with `head`.
pub(super) fn wanted_head(head: &[u8]) -> usize {
    match packed(head) {
        Encoding::Plain => HEAD,
        Encoding::Gzip | Encoding::Zstd => ARCHIVE_HEAD,
    }
}

fn packed(head: &[u8]) -> Encoding {
    // A zstd file may begin with a skippable frame, whose magic is 184d2a5? (little-endian);
    // pzstd writes one.
    let skippable = matches!(head, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]);
    if head.starts_with(&GZIP_MAGIC) {
        Encoding::Gzip
    } else if head.starts_with(&ZSTD_MAGIC) || skippable {
        Encoding::Zstd
    } else {
        Encoding::Plain
    }
}

/// What a file is whose first bytes are `head` and whose own name is `name`.
///
/// `head` is the whole file, or its first [`HEAD`] bytes ([`ARCHIVE_HEAD`] if it is an archive) or
/// more. The name only helps to tell apart files that look alike inside.
pub fn sniff(head: &[u8], name: &str) -> Sniff {
    let encoding = packed(head);
    let content = match encoding {
        Encoding::Plain => plain(head, name, ""),
        Encoding::Gzip => {
            let unpacked = unpack(flate2::bufread::MultiGzDecoder::new(head));
            archive(unpacked, head, name, "a gzip archive")
        }
        Encoding::Zstd => {
            let unpacked = match zstd::stream::read::Decoder::with_buffer(head) {
                Ok(mut decoder) => match decoder.window_log_max(ZSTD_WINDOW_LOG) {
                    Ok(()) => unpack(decoder),
                    Err(error) => (Vec::new(), Err(error)),
                },
                Err(error) => (Vec::new(), Err(error)),
            };
            archive(unpacked, head, name, "a zstd archive")
        }
    };
    Sniff { encoding, content }
}

/// The first bytes inside an archive, and how far that went.
type Unpacked = (Vec<u8>, std::io::Result<usize>);

fn unpack(decoder: impl Read) -> Unpacked {
    let mut out = Vec::new();
    let result = decoder.take(HEAD as u64).read_to_end(&mut out);
    (out, result)
}

fn archive((inside, result): Unpacked, head: &[u8], name: &str, what: &str) -> Content {
    let whole = head.len() < ARCHIVE_HEAD;
    let error = match result {
        // Enough to tell, or all there is.
        _ if inside.len() >= MAGIC.len() => return plain(&inside, name, &format!("{what} of ")),
        Ok(_) => return plain(&inside, name, &format!("{what} of ")),
        Err(error) => error,
    };
    let cut = matches!(error.kind(), Io::UnexpectedEof);
    Content::Other(if cut && whole {
        Rejection::new(
            ErrorKind::Truncated,
            format!("this is {what} that is cut short before its first bytes; get a whole copy"),
        )
    } else if cut {
        Rejection::new(
            ErrorKind::Unsupported,
            format!("this is {what} with nothing inside its first {ARCHIVE_HEAD} bytes"),
        )
    } else if super::decode::is_window_error(&error) {
        Rejection::new(
            ErrorKind::Unsupported,
            format!(
                "this is {what} that needs a window over {} MiB to unpack; unpack it first with \
                 zstd -d --long=31",
                (1_u64 << ZSTD_WINDOW_LOG) >> 20
            ),
        )
    } else {
        Rejection::new(
            ErrorKind::Corrupt,
            format!("this is {what} that is damaged: {error}"),
        )
    })
}

/// What unpacked bytes are; `packed` names the archive around them (`a gzip archive of `), if any.
fn plain(head: &[u8], name: &str, packed: &str) -> Content {
    if head.starts_with(&MAGIC) {
        return Content::Binlog;
    }
    if head.starts_with(&ENCRYPTED_MAGIC) {
        return Content::EncryptedBinlog;
    }
    let (kind, what) = foreign::describe(head, name);
    let verdict = match kind {
        // It may well hold a log, but nothing here reads it.
        ErrorKind::Unsupported => "not readable here",
        _ => "not a binary log",
    };
    Content::Other(Rejection::new(
        kind,
        format!("{verdict}: this is {packed}{what}"),
    ))
}

#[cfg(test)]
mod tests;
