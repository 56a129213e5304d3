//! gzip and zstd, unpacked from pieces that arrive one after another.
//!
//! ```text
//!  stored bytes ──▶ Feed ──▶ Decoder ──▶ bytes of the log
//!                    └── empty? the decoder stops and says so; the caller fills it and goes on
//! ```
//!
//! Only so much is unpacked as the caller has room for: a small archive of many bytes cannot
//! exhaust memory.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

use super::segment::{Encoding, Rejection};
use crate::error::ErrorKind;

/// Greatest window of a zstd frame that is accepted, as a power of two: 128 MiB, which is what
/// `zstd -d` accepts unless told otherwise.
pub(super) const ZSTD_WINDOW_LOG: u32 = 27;

/// Stored bytes on their way into a decoder.
#[derive(Debug, Default)]
pub(super) struct Feed {
    buffer: Vec<u8>,
    at: usize,
    ended: bool,
}

impl Feed {
    fn rest(&self) -> &[u8] {
        self.buffer.get(self.at..).unwrap_or(&[])
    }
}

impl Read for Feed {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.fill_buf()?.read(out)?;
        self.consume(n);
        Ok(n)
    }
}

impl BufRead for Feed {
    /// What is there; [`io::ErrorKind::WouldBlock`] if that is nothing and more may come.
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at >= self.buffer.len() && !self.ended {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        Ok(self.rest())
    }

    fn consume(&mut self, n: usize) {
        self.at = self.at.saturating_add(n).min(self.buffer.len());
    }
}

/// What [`Decoder::read_into`] came to.
pub(super) enum Step {
    /// Bytes were added, one at least.
    Read,
    /// Nothing more until [`Decoder::feed`] has been filled.
    Hungry,
    /// The archive is at its end, and whole.
    End,
}

/// Unpacks one archive.
pub(super) struct Decoder {
    format: Format,
    /// An error that came behind bytes: it is told with the next call, for not every decoder
    /// repeats it.
    failed: Option<io::Error>,
}

enum Format {
    Gzip {
        member: Box<GzDecoder<Feed>>,
        /// Between two members, or behind the last.
        between: bool,
    },
    Zstd(Box<zstd::stream::read::Decoder<'static, Feed>>),
}

impl Decoder {
    /// A decoder, or `None` where bytes need none.
    pub(super) fn new(encoding: Encoding) -> io::Result<Option<Self>> {
        let format = match encoding {
            Encoding::Plain => return Ok(None),
            Encoding::Gzip => Format::Gzip {
                member: Box::new(GzDecoder::new(Feed::default())),
                between: false,
            },
            Encoding::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(Feed::default())?;
                decoder.window_log_max(ZSTD_WINDOW_LOG)?;
                Format::Zstd(Box::new(decoder))
            }
        };
        Ok(Some(Self {
            format,
            failed: None,
        }))
    }

    /// The emptied buffer to fill with the next stored bytes.
    pub(super) fn feed(&mut self) -> &mut Vec<u8> {
        let feed = self.feed_mut();
        feed.buffer.clear();
        feed.at = 0;
        &mut feed.buffer
    }

    /// No stored bytes are left.
    pub(super) fn end_feed(&mut self) {
        self.feed_mut().ended = true;
    }

    fn feed_mut(&mut self) -> &mut Feed {
        match &mut self.format {
            Format::Gzip { member, .. } => member.get_mut(),
            Format::Zstd(decoder) => decoder.get_mut(),
        }
    }

    /// Unpacks up to `max` bytes (at least 1) behind what is in `out`, whose capacity has the room.
    pub(super) fn read_into(&mut self, out: &mut Vec<u8>, max: usize) -> io::Result<Step> {
        if let Some(failed) = self.failed.take() {
            return Err(failed);
        }
        let (before, limit) = (out.len(), max as u64);
        loop {
            let result = match &mut self.format {
                Format::Gzip { member, between } => {
                    if std::mem::take(between) {
                        match next_member(member.get_mut()) {
                            Ok(true) => {
                                let feed = std::mem::take(member.get_mut());
                                member.reset(feed);
                            }
                            Ok(false) => return Ok(Step::End),
                            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                                *between = true;
                                return Ok(Step::Hungry);
                            }
                            Err(error) => return Err(error),
                        }
                    }
                    member.as_mut().take(limit).read_to_end(out)
                }
                Format::Zstd(decoder) => decoder.as_mut().take(limit).read_to_end(out),
            };
            let read = out.len() > before;
            match (result, &mut self.format) {
                (Err(error), _) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(if read { Step::Read } else { Step::Hungry });
                }
                (Err(error), _) if read => {
                    self.failed = Some(error);
                    return Ok(Step::Read);
                }
                (Err(error), _) => return Err(error),
                (Ok(_), _) if read => return Ok(Step::Read),
                (Ok(_), Format::Zstd(_)) => return Ok(Step::End),
                (Ok(_), Format::Gzip { between, .. }) => *between = true,
            }
        }
    }
}

/// Whether another gzip member follows. Zero bytes behind the last one are padding (`gzip -d`
/// takes them as such); anything else there is an error, for it may have been part of the log.
fn next_member(feed: &mut Feed) -> io::Result<bool> {
    loop {
        let rest = feed.fill_buf()?;
        match rest.first() {
            None => return Ok(false),
            Some(0) => {
                let zeros = rest.iter().take_while(|byte| **byte == 0).count();
                feed.consume(zeros);
            }
            Some(0x1f) => return Ok(true),
            Some(_) => {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "what follows the last gzip member is not gzip",
                ));
            }
        }
    }
}

/// Whether zstd refused a frame for its window.
pub(super) fn is_window_error(error: &io::Error) -> bool {
    error.to_string().contains("too much memory")
}

/// What an error of a decoder means, `offset` bytes into the log.
pub(super) fn explain(error: &io::Error, encoding: Encoding, offset: u64) -> Rejection {
    let what = match encoding {
        Encoding::Gzip => "gzip",
        _ => "zstd",
    };
    if error.kind() == io::ErrorKind::UnexpectedEof {
        Rejection::new(
            ErrorKind::Truncated,
            format!(
                "the {what} archive is cut short: it ends after {offset} bytes of the log, in the \
                 middle of its data; get a whole copy"
            ),
        )
    } else if is_window_error(error) {
        Rejection::new(
            ErrorKind::Unsupported,
            format!(
                "the zstd archive needs a window over {} MiB after {offset} bytes of the log; \
                 unpack it first with zstd -d --long=31",
                (1_u64 << ZSTD_WINDOW_LOG) >> 20
            ),
        )
    } else {
        Rejection::new(
            ErrorKind::Corrupt,
            format!("the {what} archive is damaged after {offset} bytes of the log: {error}"),
        )
    }
}
