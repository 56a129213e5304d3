//! Bytes → events: where one event ends and the next begins, and what to do when that is not clear.
//!
//! ```text
//!          ┌───────────── step(input, at_end) ──────────────┐
//!  bytes ─▶│ magic ─▶ first event ─▶ event ─▶ event ─▶ … end │─▶ Frame
//!          │                          │  ▲                   │
//!          │             not an event ▼  │ proves itself     │
//!          │                         resync ─▶ Problem       │
//!          └─────────────────────────────────────────────────┘
//! ```
//!
//! The framer owns no bytes. The caller shows it the bytes from [`Framer::position`] on; it answers
//! what they begin with and how many of them are done with. An event whose body nobody wants is
//! answered as soon as its header is there, so that the caller can hop over the body unread.
//!
//! An event is taken on trust only where it *proves itself*: its `log_pos` fits the place where it
//! stands, or its checksum does, or a chain of plausible headers follows (see `resync`).
//!
//! **Invariant:** positions are counted here, in 64 bits; `log_pos` is evidence, never a position.

mod answer;
mod type_set;

pub use answer::{Frame, RawEvent};
pub use type_set::TypeSet;

use super::event::{self, FormatDescription};
use super::header::{
    CHECKSUM_LEN, Checksum, FLAG_BINLOG_IN_USE, FLAG_IGNORABLE, FLAG_RELAY_LOG, HEADER_LEN,
    HEADER_LEN_V1, Header, crc_matches,
};
use super::problem::{Problem, ProblemKind, Severity};
use super::resync::{Evidence, MAX_EVENT_SIZE, Outcome, Search};
use crate::error::{Error, Result};
use std::sync::Arc;

/// The four bytes that begin a log.
pub const MAGIC: [u8; 4] = [0xfe, b'b', b'i', b'n'];
/// The four bytes that begin a log which MySQL has encrypted.
pub const MAGIC_ENCRYPTED: [u8; 4] = [0xfd, b'b', b'i', b'n'];

/// Finds the events in the bytes of one log.
#[derive(Debug, Clone)]
pub struct Framer {
    position: u64,
    state: State,
    format: Arc<FormatDescription>,
    in_use: bool,
    evidence: Evidence,
    bodies: TypeSet,
    verify: bool,
    pending: Option<Problem>,
}

#[derive(Debug, Clone, PartialEq)]
enum State {
    Magic,
    First,
    Events,
    Search(Search),
    /// From this offset on, to an end that is not known yet.
    Encrypted(u64),
    Done,
}

impl Framer {
    /// A framer at the first byte of a log.
    pub fn new() -> Self {
        Self {
            position: 0,
            state: State::Magic,
            format: Arc::new(FormatDescription::assumed()),
            in_use: false,
            evidence: Evidence::default(),
            bodies: TypeSet::ALL,
            verify: false,
            pending: None,
        }
    }

    /// A framer for the events inside a TRANSACTION_PAYLOAD: no magic, no checksums, positions
    /// that mean nothing.
    pub fn for_payload(format: &FormatDescription) -> Self {
        let format = FormatDescription {
            checksum: Checksum::None,
            ..format.clone()
        };
        Self {
            state: State::Events,
            format: Arc::new(format),
            evidence: Evidence::trusting(),
            ..Self::new()
        }
    }

    /// A framer that starts in the middle of a log, at the first byte of an event.
    pub fn resume(format: Arc<FormatDescription>, position: u64) -> Self {
        Self {
            position,
            state: State::Events,
            format,
            ..Self::new()
        }
    }

    /// A framer that starts anywhere in a log and first looks for an event.
    pub fn search(format: Arc<FormatDescription>, position: u64) -> Self {
        Self {
            state: State::Search(Search::quiet(position)),
            ..Self::resume(format, position)
        }
    }

    /// Sets the length of the log, where it is known: then bodies can be hopped over.
    #[must_use]
    pub fn with_length(mut self, length: Option<u64>) -> Self {
        self.evidence.length = length;
        self
    }

    /// Sets whose bodies are wanted; by default all are.
    #[must_use]
    pub fn with_bodies(mut self, bodies: TypeSet) -> Self {
        self.bodies = bodies;
        self
    }

    /// Sets whether every checksum is verified.
    #[must_use]
    pub fn with_verify(mut self, verify: bool) -> Self {
        self.verify = verify;
        self
    }

    /// Offset of the first byte that is not done with.
    #[inline]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The format description in force.
    #[inline]
    pub fn format(&self) -> &Arc<FormatDescription> {
        &self.format
    }

    /// Whether the log says that it is open for writing.
    pub fn in_use(&self) -> bool {
        self.in_use
    }

    /// What `input`, the bytes from [`Self::position`] on, begins with.
    ///
    /// `at_end`: no byte follows `input`. After [`Frame::Event`] and [`Frame::Problem`] the
    /// position has moved on, maybe beyond `input`.
    ///
    /// # Errors
    /// When this is not a binary log, or one that cannot be read at all.
    #[inline]
    pub fn step<'b>(&mut self, input: &'b [u8], at_end: bool) -> Result<Frame<'b>> {
        if self.state == State::Events && self.pending.is_none() {
            // The usual event: its place is proved by its log_pos, and nothing needs its body.
            if let Some(header) = Header::read(input)
                && self.evidence.fits(&header, self.position)
                && !matches!(
                    header.type_code,
                    event::FORMAT_DESCRIPTION | event::START_V3 | event::START_ENCRYPTION
                )
                && !self.format.old_numbering
                && self.format.checksum != Checksum::Unknown
                && usize::from(self.format.header_len) == HEADER_LEN
            {
                let size = header.event_size as usize;
                if let Some(bytes) = input.get(..size) {
                    if size >= HEADER_LEN && !self.verify {
                        return Ok(Frame::Event(self.accept(header, bytes)));
                    }
                } else if size >= HEADER_LEN
                    && !self.bodies.contains(header.type_code)
                    && !self.verify
                    && self.evidence.holds(self.position, header.event_size)
                {
                    return Ok(Frame::Event(self.accept(header, &[])));
                }
            }
        }
        self.slow_step(input, at_end)
    }

    fn slow_step<'b>(&mut self, input: &'b [u8], at_end: bool) -> Result<Frame<'b>> {
        if let Some(problem) = self.pending.take() {
            return Ok(Frame::Problem(problem));
        }
        match &self.state {
            State::Magic => self.magic(input, at_end),
            State::First => self.first(input, at_end),
            State::Events => self.event(input, at_end),
            State::Search(_) => self.searching(input, at_end),
            &State::Encrypted(from) => {
                self.advance(input.len() as u64);
                if !at_end {
                    return Ok(Frame::NeedMore(1));
                }
                self.state = State::Done;
                let length = self.position.saturating_sub(from);
                Ok(Frame::Problem(Problem::encrypted(from, length)))
            }
            State::Done => Ok(Frame::End),
        }
    }

    fn magic<'b>(&mut self, input: &'b [u8], at_end: bool) -> Result<Frame<'b>> {
        let Some(magic) = input.first_chunk::<4>() else {
            if at_end {
                return Err(Error::corrupt(format!(
                    "not a binary log: {} bytes",
                    input.len()
                )));
            }
            return Ok(Frame::NeedMore(4));
        };
        match *magic {
            MAGIC => {
                self.advance(4);
                self.state = State::First;
                self.first(input.get(4..).unwrap_or_default(), at_end)
            }
            MAGIC_ENCRYPTED => Err(Error::unsupported(
                "the log is encrypted by MySQL; read it from the server that wrote it",
            )),
            _ => Err(Error::corrupt(format!(
                "not a binary log: it begins with {:02x} {:02x} {:02x} {:02x}, not fe 62 69 6e",
                magic[0], magic[1], magic[2], magic[3]
            ))),
        }
    }

    /// The first event tells the version, if only by its layout.
    fn first<'b>(&mut self, input: &'b [u8], at_end: bool) -> Result<Frame<'b>> {
        let Some(header) = Header::read(input) else {
            if !at_end {
                return Ok(Frame::NeedMore(HEADER_LEN));
            }
            self.state = State::Events;
            return self.event(input, at_end);
        };
        self.state = State::Events;
        let size = header.event_size;
        // MySQL manual, "Determining the Binary Log Version": a START_V3 of less than 75 bytes is
        // of version 1. A 4.x log that the server only rotated to begins with another event, whose
        // log_pos is its own offset.
        match header.type_code {
            event::FORMAT_DESCRIPTION => {}
            event::START_V3 if size < 75 => self.assume(1),
            event::START_V3 => self.assume(3),
            _ if u64::from(header.log_pos) == self.position => self.assume(3),
            _ => {
                self.pending = Some(
                    Problem::error(
                        ProblemKind::BadEvent,
                        self.position,
                        HEADER_LEN as u64,
                        "the log does not begin with a format description: the layout of \
                         version 4 is assumed, and checksums where they fit",
                    )
                    .with_severity(Severity::Warning),
                );
            }
        }
        self.slow_step(input, at_end)
    }

    fn assume(&mut self, version: u16) {
        self.format = Arc::new(FormatDescription::assumed_old(version));
        self.evidence.version = version;
    }

    fn read_header(&self, input: &[u8]) -> Option<Header> {
        let mut header = if self.format.binlog_version == 1 {
            Header::read_v1(input)?
        } else {
            Header::read(input)?
        };
        header.type_code = self.format.type_code(header.type_code);
        Some(header)
    }

    fn event<'b>(&mut self, input: &'b [u8], at_end: bool) -> Result<Frame<'b>> {
        if input.is_empty() && at_end {
            self.state = State::Done;
            return Ok(Frame::End);
        }
        let min = if self.format.binlog_version == 1 {
            HEADER_LEN_V1
        } else {
            HEADER_LEN
        };
        let Some(header) = self.read_header(input) else {
            if at_end {
                return self.lost(input, at_end, "the log ends inside an event header", true);
            }
            return Ok(Frame::NeedMore(min));
        };
        let size = header.event_size as usize;
        if size < min {
            let zeros = input.iter().take(min).all(|&b| b == 0);
            let why = if zeros {
                "zeros where an event should begin".to_owned()
            } else {
                format!("an event length of {size}, less than its header")
            };
            return self.lost(input, at_end, &why, false);
        }
        let fits = self.evidence.fits(&header, self.position);
        let whole = input.get(..size);
        let cut = whole.is_none()
            && (at_end
                || !self
                    .evidence
                    .holds_or_unknown(self.position, header.event_size));
        if cut {
            let why = format!(
                "{} of {size} bytes, but the log ends after {}",
                event::type_name(header.type_code),
                self.evidence
                    .left(self.position)
                    .unwrap_or(input.len() as u64)
            );
            return self.lost(input, at_end, &why, true);
        }
        if !fits && let Some(answer) = self.doubt(&header, input, at_end)? {
            return Ok(answer);
        }
        if size > MAX_EVENT_SIZE && self.evidence.length.is_none() {
            let why = format!("an event length of {size}, more than any server writes");
            return self.lost(input, at_end, &why, false);
        }
        let needs_body = self.verify
            || self.bodies.contains(header.type_code)
            || header.type_code == event::FORMAT_DESCRIPTION
            || header.type_code == event::START_V3
            || self.format.checksum == Checksum::Unknown
            || self.evidence.length.is_none();
        if size > MAX_EVENT_SIZE && needs_body {
            self.pending = Some(Problem::error(
                ProblemKind::BadEvent,
                self.position,
                u64::from(header.event_size),
                format!(
                    "{} of {size} bytes, more than any server writes: its body is not read",
                    event::type_name(header.type_code)
                ),
            ));
            return Ok(Frame::Event(self.accept(header, &[])));
        }
        match whole {
            Some(bytes) => self.whole(header, bytes),
            None if needs_body => Ok(Frame::NeedMore(size)),
            None => Ok(Frame::Event(self.accept(header, &[]))),
        }
    }

    /// An event whose `log_pos` does not fit its place: a relay log, MariaDB ≥ 11.4, or damage.
    fn doubt<'b>(
        &mut self,
        header: &Header,
        input: &'b [u8],
        at_end: bool,
    ) -> Result<Option<Frame<'b>>> {
        let checksum = self.format.checksum;
        match self
            .evidence
            .judge(header, self.position, input, at_end, checksum)
        {
            Ok(true) => {
                self.pending = self.evidence.note_foreign(header, self.position);
                Ok(None)
            }
            Ok(false) => {
                let why = format!(
                    "{} of {} bytes with log_pos {} fits neither its place nor what follows",
                    event::type_name(header.type_code),
                    header.event_size,
                    header.log_pos
                );
                self.lost(input, at_end, &why, false).map(Some)
            }
            Err(need) => Ok(Some(Frame::NeedMore(need))),
        }
    }

    /// An event all of whose bytes are there.
    fn whole<'b>(&mut self, header: Header, bytes: &'b [u8]) -> Result<Frame<'b>> {
        let mut event = self.accept(header, bytes);
        if header.type_code == event::FORMAT_DESCRIPTION {
            event.checksum_len =
                FormatDescription::own_checksum_len(bytes.get(HEADER_LEN..).unwrap_or_default())
                    as u8;
        }
        // A format description carries a true checksum even where the others have none, and so
        // much depends on it that it is always looked at.
        let checked = self.verify || header.type_code == event::FORMAT_DESCRIPTION;
        let mut problem = None;
        if checked && event.checksum_ok() == Some(false) {
            problem = Some(Problem::error(
                ProblemKind::BadChecksum,
                event.offset,
                u64::from(header.event_size),
                format!(
                    "the checksum of {} does not fit its bytes",
                    event::type_name(header.type_code)
                ),
            ));
        }
        if let Err(error) = self.follow(&event, problem.is_none()) {
            problem.get_or_insert_with(|| {
                Problem::error(
                    ProblemKind::BadEvent,
                    event.offset,
                    u64::from(header.event_size),
                    format!("{}: {error}", event::type_name(header.type_code)),
                )
            });
        }
        self.pending = self.pending.take().or(problem);
        Ok(Frame::Event(event))
    }

    /// Lets an event that says how the log is to be read take effect. `sound`: its checksum does
    /// not speak against it.
    fn follow(&mut self, event: &RawEvent<'_>, sound: bool) -> Result<()> {
        match event.header.type_code {
            event::FORMAT_DESCRIPTION => {
                self.in_use = event.header.flags & FLAG_BINLOG_IN_USE != 0;
                let mut format = FormatDescription::read(event.body())?;
                if !sound {
                    // Its word on checksums may be what is damaged: the events themselves tell.
                    format.checksum = Checksum::Unknown;
                }
                self.evidence.version = format.binlog_version;
                if event.header.flags & FLAG_RELAY_LOG != 0 {
                    self.evidence.expect_foreign();
                }
                self.format = Arc::new(format);
            }
            event::START_V3 => {
                let v1 = self.format.binlog_version == 1;
                let format = FormatDescription::read_start_v3(event.body(), v1)?;
                self.format = Arc::new(format);
            }
            // A server that sends its encrypted log decrypts it, and marks this event as ignorable.
            event::START_ENCRYPTION if event.header.flags & FLAG_IGNORABLE != 0 => {}
            event::START_ENCRYPTION => match self.evidence.left(self.position) {
                Some(left) => {
                    self.state = State::Done;
                    self.pending = Some(Problem::encrypted(self.position, left));
                }
                None => self.state = State::Encrypted(self.position),
            },
            _ => {}
        }
        Ok(())
    }

    /// Takes the event and moves on.
    #[inline]
    fn accept<'b>(&mut self, header: Header, bytes: &'b [u8]) -> RawEvent<'b> {
        let offset = self.position;
        self.advance(u64::from(header.event_size));
        let checksum = match self.format.checksum {
            Checksum::Crc32 => CHECKSUM_LEN,
            Checksum::None => 0,
            Checksum::Unknown if crc_matches(bytes, false) => {
                Arc::make_mut(&mut self.format).checksum = Checksum::Crc32;
                CHECKSUM_LEN
            }
            Checksum::Unknown => 0,
        };
        let header_len = match header.type_code {
            event::FORMAT_DESCRIPTION => HEADER_LEN as u8,
            _ => self.format.header_len,
        };
        RawEvent {
            header,
            offset,
            bytes,
            header_len,
            checksum_len: checksum as u8,
        }
    }

    #[inline]
    fn advance(&mut self, bytes: u64) {
        self.position = self.position.saturating_add(bytes);
    }

    /// What stands here is no event: look for the next one that is.
    #[cold]
    fn lost<'b>(
        &mut self,
        input: &'b [u8],
        at_end: bool,
        why: &str,
        cut: bool,
    ) -> Result<Frame<'b>> {
        if self.evidence.trusts {
            // Inside a payload there are no positions to find the way by.
            self.state = State::Done;
            let length = input.len() as u64;
            return Ok(Frame::Problem(Problem::error(
                ProblemKind::BadEvent,
                self.position,
                length,
                why,
            )));
        }
        self.state = State::Search(Search::new(self.position, why.to_owned(), cut));
        self.searching(input, at_end)
    }

    fn searching<'b>(&mut self, input: &'b [u8], at_end: bool) -> Result<Frame<'b>> {
        let State::Search(search) = &mut self.state else {
            return Ok(Frame::End);
        };
        let checksum = self.format.checksum;
        let found = search.advance(&self.evidence, self.position, input, at_end, checksum);
        let passed = found.passed as u64;
        self.position = self.position.saturating_add(passed);
        Ok(match found.outcome {
            Outcome::NeedMore(more) => Frame::NeedMore(more),
            Outcome::Found => {
                self.pending = search.gap(self.position);
                self.state = State::Events;
                return self.slow_step(input.get(found.passed..).unwrap_or_default(), at_end);
            }
            Outcome::Nothing => {
                let problem = search.tail(self.position, self.in_use);
                self.state = State::Done;
                problem.map_or(Frame::End, Frame::Problem)
            }
        })
    }
}

impl Default for Framer {
    fn default() -> Self {
        Self::new()
    }
}
