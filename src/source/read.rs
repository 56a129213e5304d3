//! Reading a segment: blocks of the log's own bytes, one after another, with jumps.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::decode::{self, Decoder, Step};
use super::segment::{Encoding, Location, Rejection, Segment};
use super::stored::{self, Stored};
use crate::error::{Error, Result};

/// How many stored bytes of an archive are read at a time.
const ARCHIVE_CHUNK: usize = 128 * 1024;

/// Reads a segment forwards, in blocks.
///
/// Offsets are of the log, that is of the unpacked bytes. A local file is read to the length that
/// it has when it is opened, even if a server is writing it; if it is cut meanwhile, it ends there.
///
/// Local files are read in place, without a change of thread: a block comes from the page cache in
/// less time than that takes. Object stores are read by ranges, the next one ahead in a task of its
/// own if a tokio runtime is running. A call that is dropped before it is ready may have used up
/// bytes: drop the reader with it.
pub struct BlockReader {
    /// The segment's name, for errors.
    name: Arc<str>,
    encoding: Encoding,
    stored: Stored,
    decoder: Option<Decoder>,
    block_size: usize,
    /// Memory of an old block.
    spare: Vec<u8>,
    /// Offset of the next byte of the log.
    offset: u64,
    /// Reading failed, behind the bytes that were handed out: each further call says so.
    failed: Option<Rejection>,
}

impl fmt::Debug for BlockReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockReader")
            .field("name", &self.name)
            .field("encoding", &self.encoding)
            .field("offset", &self.offset)
            .field("failed", &self.failed)
            .finish_non_exhaustive()
    }
}

impl BlockReader {
    /// Opens `segment` at `offset`, to be read in blocks of about `block_size` bytes.
    ///
    /// # Errors
    ///
    /// If the segment was rejected, cannot be opened, or is an archive and `offset` is not 0.
    pub async fn open(segment: &Segment, offset: u64, block_size: usize) -> Result<Self> {
        if let Some(rejected) = &segment.rejected {
            return Err(rejected.error(&segment.name));
        }
        let packed = segment.encoding != Encoding::Plain;
        if packed && offset != 0 {
            return Err(not_plain(segment));
        }
        let block_size = block_size.max(1);
        let chunk = if packed {
            block_size.max(ARCHIVE_CHUNK)
        } else {
            block_size
        };
        let stored = Stored::open(segment, offset, chunk).map_err(|e| e.in_file(&segment.name))?;
        let decoder = Decoder::new(segment.encoding).map_err(|error| {
            Error::source("cannot start unpacking", error).in_file(&segment.name)
        })?;
        Ok(Self {
            name: Arc::clone(&segment.name),
            encoding: segment.encoding,
            stored,
            decoder,
            block_size,
            spare: Vec::new(),
            offset,
            failed: None,
        })
    }

    /// The next block: `tail`, the bytes of the last block that were not used, and behind it at
    /// least one new byte. `None` if there are none.
    ///
    /// The block aims at `block_size` bytes in all, `at_least` if that is more, and twice the tail
    /// if that is more still (so that a caller who cannot say how much it needs does not copy the
    /// same tail again and again); it is shorter only at the end or before an error. `at_least`
    /// may be any number that a log claims: memory is only taken, by doubling, for bytes that have
    /// arrived.
    ///
    /// # Errors
    ///
    /// If reading or unpacking fails. The bytes before the failure are handed out first. After
    /// that, each call fails again.
    pub async fn next(&mut self, tail: &[u8], at_least: usize) -> Result<Option<Vec<u8>>> {
        let goal = self
            .block_size
            .max(at_least)
            .max(tail.len().saturating_mul(2))
            .max(tail.len().saturating_add(1));
        // What is known not to come needs no room.
        let goal = match (&self.decoder, usize::try_from(self.stored.left())) {
            (None, Ok(left)) => goal.min(tail.len().saturating_add(left)),
            _ => goal,
        };
        if goal == tail.len() && self.failed.is_none() {
            return Ok(None);
        }
        let mut block = std::mem::take(&mut self.spare);
        block.clear();
        self.reserve(
            &mut block,
            goal.min(self.block_size.max(tail.len().saturating_mul(2))),
        )?;
        block.extend_from_slice(tail);
        while block.len() < goal && self.failed.is_none() {
            if block.len() == block.capacity() {
                let more = block.len().min(goal - block.len());
                self.reserve(&mut block, more)?;
            }
            let room = (block.capacity() - block.len()).min(goal - block.len());
            match self.fill(&mut block, room).await {
                Ok(true) => {}
                Ok(false) => break,
                Err(failed) => self.failed = Some(failed),
            }
        }
        if block.len() > tail.len() {
            return Ok(Some(block));
        }
        match &self.failed {
            Some(failed) => Err(failed.error(&self.name)),
            None => Ok(None),
        }
    }

    /// Memory for the next block, whatever is in it.
    pub fn reuse(&mut self, memory: Option<Vec<u8>>) {
        self.spare = memory.unwrap_or_default();
    }

    /// Jumps over `n` bytes of the log, or to its end; how far it went.
    ///
    /// A plain file is not read for that; an archive is unpacked, and the bytes are dropped.
    ///
    /// # Errors
    ///
    /// If unpacking fails on the way.
    pub async fn skip(&mut self, n: u64) -> Result<u64> {
        if let Some(failed) = &self.failed {
            return Err(failed.error(&self.name));
        }
        if self.decoder.is_none() {
            let n = self.stored.skip(n).map_err(|e| e.in_file(&self.name))?;
            self.offset += n;
            return Ok(n);
        }
        let mut dropped = Vec::new();
        self.reserve(&mut dropped, self.block_size)?;
        let mut left = n;
        while left > 0 {
            dropped.clear();
            let max = usize::try_from(left)
                .unwrap_or(usize::MAX)
                .min(self.block_size);
            match self.fill(&mut dropped, max).await {
                Ok(true) => left -= dropped.len() as u64,
                Ok(false) => break,
                Err(failed) => return Err(self.failed.insert(failed).error(&self.name)),
            }
        }
        Ok(n - left)
    }

    /// Offset in the log of the next byte that [`next`](Self::next) adds to the tail.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Stored (packed) bytes read so far.
    pub fn bytes_read(&self) -> u64 {
        self.stored.bytes_read()
    }

    /// Size of the log in bytes where it is known: the length of a plain file when it was opened
    /// (less, if it was cut meanwhile); `None` for an archive.
    pub fn size(&self) -> Option<u64> {
        self.decoder.is_none().then(|| self.stored.end())
    }

    /// Adds up to `max` bytes of the log; `false` at its end.
    async fn fill(&mut self, out: &mut Vec<u8>, max: usize) -> Result<bool, Rejection> {
        let before = out.len();
        let Some(decoder) = &mut self.decoder else {
            let n = self
                .stored
                .read_into(out, max)
                .await
                .map_err(|e| Rejection::from(&e))?;
            self.offset += n as u64;
            return Ok(n > 0);
        };
        loop {
            let step = decoder
                .read_into(out, max)
                .map_err(|error| decode::explain(&error, self.encoding, self.offset))?;
            match step {
                Step::Read => {
                    self.offset += (out.len() - before) as u64;
                    return Ok(true);
                }
                Step::End => return Ok(false),
                Step::Hungry => {
                    let fed = self.stored.read_into(decoder.feed(), ARCHIVE_CHUNK).await;
                    if fed.map_err(|e| Rejection::from(&e))? == 0 {
                        decoder.end_feed();
                    }
                }
            }
        }
    }

    fn reserve(&self, block: &mut Vec<u8>, more: usize) -> Result<()> {
        block.try_reserve_exact(more).map_err(|error| {
            Error::source(format!("no memory for {more} bytes"), error).in_file(&self.name)
        })
    }
}

/// The bytes `range` of a plain segment, fewer if it ends before. The caller bounds the range.
///
/// # Errors
///
/// If the segment was rejected, is an archive, or cannot be read.
pub async fn read_range(segment: &Segment, range: Range<u64>) -> Result<Vec<u8>> {
    if let Some(rejected) = &segment.rejected {
        return Err(rejected.error(&segment.name));
    }
    if segment.encoding != Encoding::Plain {
        return Err(not_plain(segment));
    }
    if let Location::Store {
        store, path, e_tag, ..
    } = &segment.location
    {
        let range = range.start..range.end.min(segment.size);
        let bytes = stored::get(Arc::clone(store), path.clone(), e_tag.clone(), range);
        return Ok(bytes.await.map_err(|e| e.in_file(&segment.name))?.into());
    }
    let wanted = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX);
    let mut stored =
        Stored::open(segment, range.start, wanted).map_err(|e| e.in_file(&segment.name))?;
    let mut out = Vec::new();
    while out.len() < wanted {
        let room = wanted - out.len();
        if stored
            .read_into(&mut out, room)
            .await
            .map_err(|e| e.in_file(&segment.name))?
            == 0
        {
            break;
        }
    }
    Ok(out)
}

#[cold]
fn not_plain(segment: &Segment) -> Error {
    Error::invalid("an archive can only be read from its start").in_file(&segment.name)
}

#[cfg(test)]
mod tests;
