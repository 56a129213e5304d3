//! Blocks in, events out: the framer over blocks of bytes, with compressed transactions unpacked.
//!
//! ```text
//!  push(Block) ─▶ ┌──────────────┐ next() ─▶ Event(Item)   (bytes stay in the block)
//!                 │ Framer       │          Problem
//!                 │  └ payload ──┼─ zstd ─▶ Framer ─▶ Event(Item, payload_index)
//!                 └──────────────┘          NeedMore{skip, tail, at_least} │ End
//! ```
//!
//! An event's bytes are never copied out of the block in which they arrived; whoever keeps an
//! [`Item`] keeps its [`Block`]. Only the event that straddles two blocks is carried over, by the
//! caller, who asks for [`EventReader::tail`] and begins the next block with it.
//!
//! **Invariants:** memory is the current block and one block of an unpacked payload; both grow by
//! doubling and only as bytes arrive.

use super::event::{Compression, FormatDescription, TRANSACTION_PAYLOAD, TransactionPayload};
use super::frame::{Frame, Framer, RawEvent, TypeSet};
use super::header::Header;
use super::problem::{Problem, ProblemKind};
use super::{cursor::Cursor, event};
use crate::error::Result;
use std::io::Read;
use std::sync::Arc;

/// Bytes of a log that several owners share: a `Vec`, a mapped file, a buffer of another library.
#[derive(Clone)]
pub struct Block(Arc<dyn AsRef<[u8]> + Send + Sync>);

impl Block {
    /// A block that owns `bytes`.
    pub fn new(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        Self(Arc::new(bytes))
    }

    /// Whether both are the same block.
    pub fn same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl AsRef<[u8]> for Block {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}

impl std::fmt::Debug for Block {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Block({} bytes)", self.as_ref().len())
    }
}

/// An event and where its bytes are.
#[derive(Debug, Clone, Copy)]
pub struct Item {
    /// The header; its type code is in today's numbering.
    pub header: Header,
    /// Offset of the first byte in the log; inside a payload, that of the payload's event.
    pub pos: u64,
    /// Offset behind the last byte; inside a payload, that of the payload's event.
    pub end_pos: u64,
    /// Index inside a TRANSACTION_PAYLOAD, from 0.
    pub payload_index: Option<u32>,
    /// Where the event begins in [`EventReader::block`].
    pub start: usize,
    /// Number of its bytes there: all, or none when its body was hopped over.
    pub len: usize,
    /// Length of the header in the bytes.
    pub header_len: u8,
    /// Length of the checksum at their end: 0 or 4.
    pub checksum_len: u8,
}

impl Item {
    /// The event in the block that was current when the item was read.
    pub fn raw<'b>(&self, block: &'b Block) -> RawEvent<'b> {
        let end = self.start.saturating_add(self.len);
        RawEvent {
            header: self.header,
            offset: self.pos,
            bytes: block.as_ref().get(self.start..end).unwrap_or_default(),
            header_len: self.header_len,
            checksum_len: self.checksum_len,
        }
    }
}

/// What comes next in a log.
#[derive(Debug)]
pub enum Next {
    /// An event.
    Event(Item),
    /// Something is wrong; reading goes on.
    Problem(Problem),
    /// A block is needed: one that begins with [`EventReader::tail`], then `skip` bytes further on
    /// in the log, and has at least `at_least` bytes unless the log ends before.
    NeedMore {
        /// Number of bytes of the log behind the tail that nobody wants. The tail is empty when
        /// this is not 0.
        skip: u64,
        /// Length that the block should have, tail included. A claim of the log: take memory for
        /// it only as bytes arrive.
        at_least: usize,
    },
    /// The log ends.
    End,
}

/// Reads the events of one log from blocks of its bytes.
pub struct EventReader {
    framer: Framer,
    block: Block,
    /// Offset of the block's first byte.
    block_offset: u64,
    at_end: bool,
    expand: bool,
    payload: Option<Payload>,
}

impl EventReader {
    /// A reader at the place where `framer` stands, which unpacks TRANSACTION_PAYLOADs.
    pub fn new(framer: Framer) -> Self {
        Self {
            block: Block::new([]),
            block_offset: framer.position(),
            framer,
            at_end: false,
            expand: true,
            payload: None,
        }
    }

    /// Sets whether the events inside TRANSACTION_PAYLOADs are read too.
    #[must_use]
    pub fn with_expand(mut self, expand: bool) -> Self {
        self.expand = expand;
        self
    }

    /// The format description in force.
    pub fn format(&self) -> &Arc<FormatDescription> {
        self.framer.format()
    }

    /// Whether the log says that it is open for writing.
    pub fn in_use(&self) -> bool {
        self.framer.in_use()
    }

    /// Offset of the first byte that is not done with.
    pub fn position(&self) -> u64 {
        self.framer.position()
    }

    /// A framer for a reader that begins behind the last event; of a payload: behind all of it.
    pub fn checkpoint(&self) -> Framer {
        self.framer.clone()
    }

    /// The block that holds the bytes of the last event.
    pub fn block(&self) -> &Block {
        match &self.payload {
            Some(payload) if payload.index > 0 => &payload.block,
            _ => &self.block,
        }
    }

    fn at(&self) -> usize {
        let at = self.framer.position().saturating_sub(self.block_offset);
        usize::try_from(at).unwrap_or(usize::MAX)
    }

    /// The bytes that are not done with: the next block begins with them.
    pub fn tail(&self) -> &[u8] {
        self.block.as_ref().get(self.at()..).unwrap_or_default()
    }

    /// Goes on with `block`, whose first byte is that at [`Self::position`].
    pub fn push_block(&mut self, block: Block) {
        self.block_offset = self.framer.position();
        self.block = block;
    }

    /// Goes on with a copy of `bytes`, which follow those pushed before. For callers that do not
    /// care about copies: see [`Self::tail`] for those that do.
    ///
    /// Bytes that nobody wants ([`Next::NeedMore::skip`]) are dropped here, so a caller may push
    /// the log as it is.
    pub fn push(&mut self, bytes: &[u8]) {
        let mut joined = self.tail().to_vec();
        let block_len = self.block.as_ref().len();
        let ahead = self.at().saturating_sub(block_len);
        let fresh = bytes.get(ahead..).unwrap_or_default();
        if ahead > bytes.len() {
            // All of it is skipped; remember how far the log has come.
            self.block_offset = self.block_offset.saturating_add(bytes.len() as u64);
            return;
        }
        joined.extend_from_slice(fresh);
        self.push_block(Block::new(joined));
    }

    /// Tells that no byte follows those pushed.
    pub fn finish(&mut self) {
        self.at_end = true;
    }

    /// The next event, problem, or need.
    ///
    /// # Errors
    /// When this is not a binary log, or one that cannot be read at all.
    #[inline]
    #[allow(clippy::should_implement_trait)] // it lends: not an iterator
    pub fn next(&mut self) -> Result<Next> {
        if self.payload.is_some()
            && let Some(next) = self.next_in_payload()
        {
            return Ok(next);
        }
        let at = self.at();
        let Some(input) = self.block.as_ref().get(at..) else {
            let skip = at.saturating_sub(self.block.as_ref().len()) as u64;
            if self.at_end {
                return Ok(Next::End);
            }
            return Ok(Next::NeedMore { skip, at_least: 1 });
        };
        match self.framer.step(input, self.at_end)? {
            Frame::Event(event) => {
                // Not `at`: the framer may have passed over bytes on its way to the event.
                let start = event.offset.saturating_sub(self.block_offset);
                let item = Item {
                    header: event.header,
                    pos: event.offset,
                    end_pos: event.end(),
                    payload_index: None,
                    start: usize::try_from(start).unwrap_or(usize::MAX),
                    len: event.bytes.len(),
                    header_len: event.header_len,
                    checksum_len: event.checksum_len,
                };
                if item.header.type_code == TRANSACTION_PAYLOAD && self.expand && item.len > 0 {
                    self.payload = Some(Payload::open(&item, &self.block, self.framer.format()));
                }
                Ok(Next::Event(item))
            }
            Frame::Problem(problem) => Ok(Next::Problem(problem)),
            Frame::NeedMore(at_least) => {
                let at = self.at();
                let skip = at.saturating_sub(self.block.as_ref().len()) as u64;
                Ok(Next::NeedMore { skip, at_least })
            }
            Frame::End => Ok(Next::End),
        }
    }

    /// The next event of the open payload; `None` when it is used up.
    fn next_in_payload(&mut self) -> Option<Next> {
        let payload = self.payload.as_mut()?;
        let next = payload.next();
        if next.is_none() {
            self.payload = None;
        }
        next
    }

    /// Hops over the rest of an open payload, when nobody wants its events.
    pub fn leave_payload(&mut self) {
        self.payload = None;
    }
}

/// An open TRANSACTION_PAYLOAD.
struct Payload {
    pos: u64,
    end_pos: u64,
    source: PayloadSource,
    framer: Framer,
    block: Block,
    /// Where the payload ends in `block`.
    block_end: usize,
    /// Offset in the unpacked payload of the block's first byte.
    block_offset: u64,
    /// Number of events read.
    index: u32,
    claimed: Option<u64>,
    unpacked: u64,
    at_end: bool,
    failed: Option<String>,
}

enum PayloadSource {
    /// The block holds all of it.
    Stored,
    Zstd(Box<zstd::stream::read::Decoder<'static, BlockBytes>>),
}

/// Part of a block, read from front to back.
struct BlockBytes {
    block: Block,
    at: usize,
    end: usize,
}

impl Read for BlockBytes {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let left = self.block.as_ref().get(self.at..self.end);
        let n = left.unwrap_or_default().read(out)?;
        self.at = self.at.saturating_add(n);
        Ok(n)
    }
}

impl std::io::BufRead for BlockBytes {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        Ok(self
            .block
            .as_ref()
            .get(self.at..self.end)
            .unwrap_or_default())
    }

    fn consume(&mut self, n: usize) {
        self.at = self.at.saturating_add(n).min(self.end);
    }
}

/// Bytes that are unpacked at a time.
const UNPACK: usize = 256 << 10;

impl Payload {
    fn open(item: &Item, block: &Block, format: &FormatDescription) -> Self {
        let body = item.raw(block).body();
        let body_start = item.start.saturating_add(usize::from(item.header_len));
        let mut payload = Self {
            pos: item.pos,
            end_pos: item.end_pos,
            source: PayloadSource::Stored,
            framer: Framer::for_payload(format),
            block: Block::new([]),
            block_end: 0,
            block_offset: 0,
            index: 0,
            claimed: None,
            unpacked: 0,
            at_end: false,
            failed: None,
        };
        let event = match TransactionPayload::read(&mut Cursor::new(body)) {
            Ok(event) => event,
            Err(error) => {
                payload.failed = Some(error.to_string());
                return payload;
            }
        };
        payload.claimed = event.uncompressed_size;
        let end = body_start.saturating_add(body.len());
        let start = end.saturating_sub(event.payload.len());
        match event.compression {
            Compression::None => {
                // The events stand in the outer event's own bytes.
                payload.block = Block::new(BlockPart {
                    block: block.clone(),
                    start,
                    end,
                });
                payload.block_end = event.payload.len();
                payload.unpacked = event.payload.len() as u64;
                payload.at_end = true;
            }
            Compression::Zstd => {
                let bytes = BlockBytes {
                    block: block.clone(),
                    at: start,
                    end,
                };
                match zstd::stream::read::Decoder::with_buffer(bytes) {
                    Ok(decoder) => payload.source = PayloadSource::Zstd(Box::new(decoder)),
                    Err(error) => payload.failed = Some(error.to_string()),
                }
            }
            Compression::Unknown(code) => {
                payload.failed = Some(format!("compression {code} is not known"));
            }
        }
        payload
    }

    fn problem(&self, message: String) -> Next {
        let length = self.end_pos.saturating_sub(self.pos);
        let mut problem = Problem::error(ProblemKind::BadEvent, self.pos, length, message);
        problem.payload_index = Some(self.index);
        Next::Problem(problem)
    }

    fn next(&mut self) -> Option<Next> {
        if let Some(failed) = self.failed.take() {
            self.stop();
            return Some(self.problem(format!(
                "TRANSACTION_PAYLOAD: {failed}; its events from index {} on are lost",
                self.index
            )));
        }
        loop {
            let at = self.framer.position().saturating_sub(self.block_offset);
            let at = usize::try_from(at).unwrap_or(usize::MAX);
            let input = self.block.as_ref().get(at..self.block_end);
            match self.framer.step(input.unwrap_or_default(), self.at_end) {
                Ok(Frame::Event(inner)) => {
                    let index = self.index;
                    let start = inner.offset.saturating_sub(self.block_offset);
                    self.index = self.index.saturating_add(1);
                    if inner.header.type_code == TRANSACTION_PAYLOAD {
                        self.failed = Some("a payload inside a payload".to_owned());
                    }
                    return Some(Next::Event(Item {
                        header: inner.header,
                        pos: self.pos,
                        end_pos: self.end_pos,
                        payload_index: Some(index),
                        start: usize::try_from(start).unwrap_or(usize::MAX),
                        len: inner.bytes.len(),
                        header_len: inner.header_len,
                        checksum_len: 0,
                    }));
                }
                Ok(Frame::Problem(problem)) => {
                    // Where the next event begins is not known, even if the framer has an idea.
                    self.stop();
                    let message = format!(
                        "TRANSACTION_PAYLOAD, byte {} of the unpacked payload: {}; its events \
                         from index {} on are lost",
                        problem.pos, problem.message, self.index
                    );
                    return Some(self.problem(message));
                }
                Ok(Frame::NeedMore(at_least)) => {
                    if let Err(error) = self.unpack(at, at_least) {
                        self.failed = Some(format!("it does not unpack: {error}"));
                        return self.next();
                    }
                }
                Ok(Frame::End) => {
                    let claimed = self.claimed.take()?;
                    if claimed == self.unpacked {
                        return None;
                    }
                    return Some(self.problem(format!(
                        "TRANSACTION_PAYLOAD: {claimed} bytes claimed, {} unpacked",
                        self.unpacked
                    )));
                }
                Err(error) => {
                    self.failed = Some(error.to_string());
                    return self.next();
                }
            }
        }
    }

    /// Drops what is left of the payload.
    fn stop(&mut self) {
        self.at_end = true;
        self.block_end = 0;
        self.claimed = None;
        self.source = PayloadSource::Stored;
    }

    /// Makes a block of the bytes not done with and some more.
    fn unpack(&mut self, at: usize, at_least: usize) -> std::io::Result<()> {
        let PayloadSource::Zstd(decoder) = &mut self.source else {
            self.at_end = true;
            return Ok(());
        };
        let tail = self
            .block
            .as_ref()
            .get(at..self.block_end)
            .unwrap_or_default();
        // Grown by doubling: the event's own length is a claim until its bytes have arrived.
        let more = at_least
            .saturating_sub(tail.len())
            .clamp(UNPACK, tail.len().max(UNPACK));
        let mut bytes = Vec::with_capacity(tail.len().saturating_add(more));
        bytes.extend_from_slice(tail);
        let got = decoder.by_ref().take(more as u64).read_to_end(&mut bytes)?;
        self.unpacked = self.unpacked.saturating_add(got as u64);
        self.at_end = got == 0;
        self.block_offset = self.framer.position();
        self.block_end = bytes.len();
        self.block = Block::new(bytes);
        Ok(())
    }
}

/// Part of a block as a block of its own.
struct BlockPart {
    block: Block,
    start: usize,
    end: usize,
}

impl AsRef<[u8]> for BlockPart {
    fn as_ref(&self) -> &[u8] {
        self.block
            .as_ref()
            .get(self.start..self.end)
            .unwrap_or_default()
    }
}

/// Reads a whole log that is in memory: every event with its block, and every problem.
///
/// # Errors
/// When this is not a binary log, or one that cannot be read at all.
pub fn read_all(
    framer: Framer,
    log: impl AsRef<[u8]> + Send + Sync + 'static,
    mut event: impl FnMut(&Item, &Block, &Arc<FormatDescription>),
) -> Result<Vec<Problem>> {
    let log = Block::new(log);
    let length = log.as_ref().len() as u64;
    let mut reader = EventReader::new(framer.with_length(Some(length)));
    reader.push_block(log);
    reader.finish();
    let mut problems = Vec::new();
    loop {
        match reader.next()? {
            Next::Event(item) => event(&item, reader.block(), reader.format()),
            Next::Problem(problem) => problems.push(problem),
            Next::NeedMore { .. } | Next::End => return Ok(problems),
        }
    }
}

/// Event types whose bodies change how the rest of a log is read, or hold events.
pub fn structural_types(expand_payloads: bool) -> TypeSet {
    let changing = [
        event::FORMAT_DESCRIPTION,
        event::START_V3,
        event::START_ENCRYPTION,
    ];
    let payload = expand_payloads.then_some(TRANSACTION_PAYLOAD);
    changing.into_iter().chain(payload).collect()
}
