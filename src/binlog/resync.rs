//! Which bytes are an event: evidence for one, and the search for the next after damage.
//!
//! An event proves itself by where it stands: in version 4 its `log_pos` is the offset behind it
//! (modulo 2³²), in version 3 the offset of its first byte. Relay logs, MariaDB ≥ 11.4 (zero inside
//! transactions) and version 1 do not have that; there the checksum has to fit, or plausible
//! headers have to follow.
//!
//! **Invariants:** a search looks at each byte once, and its checksums cost no more than a fixed
//! multiple of the bytes searched, whatever the bytes say.

use super::event::event_def;
use super::header::{
    Checksum, FLAG_ARTIFICIAL, FLAG_IGNORABLE, FLAG_RELAY_LOG, HEADER_LEN, HEADER_LEN_V1, Header,
    crc_matches,
};
use super::problem::{Problem, ProblemKind, Severity};

/// A body up to this size is waited for in order to judge an event by what follows it.
const WAIT_LIMIT: usize = 64 << 20;
/// No server writes an event larger than its `max_allowed_packet` of 1 GiB by more than this.
pub(super) const MAX_EVENT_SIZE: usize = (1 << 30) + (16 << 20);
/// Flags that some server sets; the others are zero in every log.
const KNOWN_FLAGS: u16 = 0x8fff;

/// What is known of the positions in a log.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Evidence {
    /// Binlog version.
    pub version: u16,
    /// Length of the log, where it is known.
    pub length: Option<u64>,
    /// Positions mean nothing and lengths are believed (inside a payload).
    pub trusts: bool,
    /// Events were met whose `log_pos` is not of this file.
    foreign: bool,
    /// An odd `log_pos` was reported; one is enough.
    warned: bool,
}

impl Default for Evidence {
    fn default() -> Self {
        Self {
            version: 4,
            length: None,
            trusts: false,
            foreign: false,
            warned: false,
        }
    }
}

impl Evidence {
    pub fn trusting() -> Self {
        Self {
            trusts: true,
            ..Self::default()
        }
    }

    /// The log says that it relays another's events.
    pub fn expect_foreign(&mut self) {
        self.foreign = true;
    }

    /// Whether the header's `log_pos` is what it must be at `offset`.
    #[inline]
    pub fn fits(&self, header: &Header, offset: u64) -> bool {
        match self.version {
            1 => false,
            3 => u64::from(header.log_pos) == offset & u64::from(u32::MAX),
            _ => self.trusts || header.log_pos == (offset as u32).wrapping_add(header.event_size),
        }
    }

    /// Whether `size` bytes from `offset` on are known to be there.
    #[inline]
    pub fn holds(&self, offset: u64, size: u32) -> bool {
        self.left(offset)
            .is_some_and(|left| u64::from(size) <= left)
    }

    pub fn holds_or_unknown(&self, offset: u64, size: u32) -> bool {
        self.length.is_none() || self.holds(offset, size)
    }

    /// Number of bytes from `offset` to the end of the log, where its length is known.
    pub fn left(&self, offset: u64) -> Option<u64> {
        self.length.map(|length| length.saturating_sub(offset))
    }

    fn header_len(&self) -> usize {
        if self.version == 1 {
            HEADER_LEN_V1
        } else {
            HEADER_LEN
        }
    }

    fn read(&self, bytes: &[u8]) -> Option<Header> {
        if self.version == 1 {
            Header::read_v1(bytes)
        } else {
            Header::read(bytes)
        }
    }

    /// Whether a header could be that of an event. The event may be cut by the end of the log.
    fn plausible(&self, header: &Header, offset: u64) -> bool {
        let size = header.event_size as usize;
        if self.fits(header, offset) {
            return (self.header_len()..=MAX_EVENT_SIZE).contains(&size)
                && header.flags & !KNOWN_FLAGS == 0;
        }
        (header.log_pos == 0 || self.foreign || self.version == 1) && self.header_like(header)
    }

    /// Judges an event whose `log_pos` does not fit. `input` begins with it.
    ///
    /// `Err(n)`: at least `n` bytes are needed to tell.
    pub fn judge(
        &self,
        header: &Header,
        offset: u64,
        input: &[u8],
        at_end: bool,
        checksum: Checksum,
    ) -> Result<bool, usize> {
        let size = header.event_size as usize;
        let need = size.saturating_add(self.header_len());
        let ends_log = self.ends(offset, size);
        let Some(bytes) = input.get(..size) else {
            if size <= WAIT_LIMIT {
                return Err(size);
            }
            return Ok(self.plausible(header, offset));
        };
        let after = input.get(size..).unwrap_or_default();
        let Some(next) = self.read(after) else {
            if !at_end && !ends_log {
                return Err(need);
            }
            // Nothing whole follows. Exactly the end is as good as a header that fits; where no
            // position can fit, the next header may be cut.
            let exact = after.is_empty();
            if checksum == Checksum::None {
                return Ok((exact || self.is_placeless(header)) && self.header_like(header));
            }
            let known = exact && event_def(header.type_code).is_some();
            return Ok(crc_matches(bytes, false) || (known && !self.hides_an_event(bytes)));
        };
        if self.ends_earlier(header, offset, bytes) {
            return Ok(false);
        }
        let next_offset = offset.saturating_add(size as u64);
        let next_fits = self.fits(&next, next_offset) && event_def(next.type_code).is_some();
        if checksum == Checksum::None {
            return if next_fits {
                Ok(true)
            } else {
                self.judge_by_chain(header, &next, next_offset, after, at_end)
                    .map_err(|more| size.saturating_add(more))
            };
        }
        if crc_matches(bytes, false) {
            return Ok(true);
        }
        // Its own bytes are damaged. Its length is right where the next event is sound and none is
        // hidden in between.
        let next_size = next.event_size as usize;
        if !self.header_like(header) || !self.header_like(&next) {
            return Ok(false);
        }
        if next_fits {
            return Ok(!self.hides_an_event(bytes));
        }
        match after.get(..next_size) {
            Some(next) => Ok(crc_matches(next, true) && !self.hides_an_event(bytes)),
            None if at_end || next_size > WAIT_LIMIT => Ok(false),
            None if !self.holds_or_unknown(next_offset, next.event_size) => Ok(false),
            None => Err(size.saturating_add(next_size)),
        }
    }

    /// Judges an event of a log without checksums by what follows: two more headers, or the end.
    ///
    /// `Err(n)`: at least `n` bytes of `after` are needed to tell.
    fn judge_by_chain(
        &self,
        header: &Header,
        next: &Header,
        next_offset: u64,
        after: &[u8],
        at_end: bool,
    ) -> Result<bool, usize> {
        if !self.header_like(header) || !self.header_like(next) {
            return Ok(false);
        }
        // Where positions should fit, an event that is followed by one beyond the end of the log
        // has a wrong length.
        if !self.is_placeless(header) && !self.holds_or_unknown(next_offset, next.event_size) {
            return Ok(false);
        }
        let next_size = next.event_size as usize;
        let Some(third) = after.get(next_size..) else {
            return if at_end || self.ends(next_offset, next_size) || next_size > WAIT_LIMIT {
                Ok(true)
            } else {
                Err(next_size)
            };
        };
        match self.read(third) {
            Some(third) => Ok(self.header_like(&third)),
            None if at_end || self.ends(next_offset, next_size) => Ok(true),
            None => Err(next_size.saturating_add(self.header_len())),
        }
    }

    /// Whether the event's `log_pos` need not be its place.
    fn is_placeless(&self, header: &Header) -> bool {
        header.log_pos == 0
            || header.type_code == super::event::START_V3
            || self.foreign
            || self.version == 1
            || header.flags & (FLAG_ARTIFICIAL | FLAG_RELAY_LOG) != 0
    }

    /// Whether `log_pos` names a place inside `bytes` where an event stands that proves itself: then
    /// it is the length that is wrong.
    fn ends_earlier(&self, header: &Header, offset: u64, bytes: &[u8]) -> bool {
        let len = header.log_pos.wrapping_sub(offset as u32) as usize;
        let Some(inner) = bytes.get(len..).and_then(|rest| self.read(rest)) else {
            return false;
        };
        self.version == 4
            && len >= HEADER_LEN
            && event_def(inner.type_code).is_some()
            && self.fits(&inner, offset.saturating_add(len as u64))
    }

    /// Whether an event with a true checksum stands inside these bytes: then their length is wrong,
    /// and only happens to reach from one event to another.
    fn hides_an_event(&self, bytes: &[u8]) -> bool {
        let mut budget = bytes.len().saturating_mul(8);
        (HEADER_LEN..bytes.len()).any(|at| {
            let rest = bytes.get(at..).unwrap_or_default();
            let Some(header) = self.read(rest) else {
                return false;
            };
            let Some(event) = rest.get(..header.event_size as usize) else {
                return false;
            };
            if !self.header_like(&header) || event.len() > budget {
                return false;
            }
            budget = budget.saturating_sub(event.len());
            crc_matches(event, true)
        })
    }

    /// Whether `size` bytes at `offset` reach the end of the log, or beyond.
    fn ends(&self, offset: u64, size: usize) -> bool {
        self.left(offset).is_some_and(|left| left <= size as u64)
    }

    /// Whether a header has the form of one, wherever it stands.
    fn header_like(&self, header: &Header) -> bool {
        let size = header.event_size as usize;
        (self.header_len()..=MAX_EVENT_SIZE).contains(&size)
            && header.flags & !KNOWN_FLAGS == 0
            && (event_def(header.type_code).is_some() || header.flags & FLAG_IGNORABLE != 0)
    }

    /// Notes that an event was accepted whose `log_pos` is not its place, and says so where that
    /// is odd: in a log that so far had its own positions.
    pub fn note_foreign(&mut self, header: &Header, offset: u64) -> Option<Problem> {
        let relayed = header.flags & (FLAG_ARTIFICIAL | FLAG_RELAY_LOG) != 0
            || header.type_code == super::event::FORMAT_DESCRIPTION;
        if relayed {
            self.foreign = true;
        }
        if self.foreign || self.warned || header.log_pos == 0 || self.version == 1 {
            return None;
        }
        self.warned = true;
        Some(
            Problem::error(
                ProblemKind::BadEvent,
                offset,
                u64::from(header.event_size),
                format!(
                    "log_pos says {}, but the event ends at {}",
                    header.log_pos,
                    offset.saturating_add(u64::from(header.event_size))
                ),
            )
            .with_severity(Severity::Warning),
        )
    }
}

/// A search for the next event.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Search {
    from: u64,
    why: String,
    cut: bool,
    /// The byte at `from` is known not to begin an event.
    rejected_first: bool,
    quiet: bool,
    crc_budget: usize,
}

/// How far a search came.
pub(super) struct Progress {
    /// Bytes of the input that are done with.
    pub passed: usize,
    pub outcome: Outcome,
}

pub(super) enum Outcome {
    /// Go on with at least this many bytes.
    NeedMore(usize),
    /// An event begins behind the passed bytes.
    Found,
    /// The log ends, and no event was found.
    Nothing,
}

impl Search {
    /// A search that begins behind bytes that are no event.
    pub fn new(from: u64, why: String, cut: bool) -> Self {
        Self {
            from,
            why,
            cut,
            rejected_first: true,
            quiet: false,
            crc_budget: WAIT_LIMIT,
        }
    }

    /// A search from an arbitrary place: what it passes over is nobody's loss.
    pub fn quiet(from: u64) -> Self {
        Self {
            rejected_first: false,
            quiet: true,
            ..Self::new(from, String::new(), false)
        }
    }

    /// Looks through `input`, which stands at `offset`.
    pub fn advance(
        &mut self,
        evidence: &Evidence,
        offset: u64,
        input: &[u8],
        at_end: bool,
        checksum: Checksum,
    ) -> Progress {
        let min = evidence.header_len();
        let first = usize::from(self.rejected_first);
        let mut at = first;
        while let Some(rest) = input.get(at..)
            && let Some(header) = evidence.read(rest)
        {
            let here = offset.saturating_add(at as u64);
            match self.prove(evidence, &header, here, rest, at_end, checksum) {
                Ok(true) => {
                    self.rejected_first = false;
                    return Progress {
                        passed: at,
                        outcome: Outcome::Found,
                    };
                }
                Ok(false) => {}
                Err(need) => {
                    self.rejected_first &= at == 0;
                    return Progress {
                        passed: at,
                        outcome: Outcome::NeedMore(need),
                    };
                }
            }
            at = at.saturating_add(1);
        }
        if at_end {
            return Progress {
                passed: input.len(),
                outcome: Outcome::Nothing,
            };
        }
        // Each searched byte buys some checksum work.
        self.crc_budget = self.crc_budget.saturating_add(at.saturating_mul(8));
        let passed = at.min(input.len());
        self.rejected_first = passed < first;
        Progress {
            passed,
            outcome: Outcome::NeedMore(min.saturating_mul(2)),
        }
    }

    /// Whether an event begins with `bytes`, by more than its own word.
    fn prove(
        &mut self,
        evidence: &Evidence,
        header: &Header,
        offset: u64,
        bytes: &[u8],
        at_end: bool,
        checksum: Checksum,
    ) -> Result<bool, usize> {
        let fits = evidence.fits(header, offset);
        let size = header.event_size as usize;
        let known = event_def(header.type_code).is_some();
        // Where its place says nothing for it, a checksum can.
        let candidate = if checksum == Checksum::None {
            evidence.plausible(header, offset)
        } else {
            fits || evidence.header_like(header)
        };
        if !candidate || !evidence.holds_or_unknown(offset, header.event_size) {
            return Ok(false);
        }
        let Some(event) = bytes.get(..size) else {
            return if at_end || size > WAIT_LIMIT {
                Ok(false)
            } else {
                Err(size.saturating_add(evidence.header_len()))
            };
        };
        let after = bytes.get(size..).unwrap_or_default();
        let next = evidence.read(after);
        if next.is_none() && !at_end && evidence.left(offset) != Some(size as u64) {
            return Err(size.saturating_add(evidence.header_len()));
        }
        let next_offset = offset.saturating_add(size as u64);
        let exact_end = next.is_none() && after.is_empty();
        let next_fits = next.is_some_and(|next| {
            evidence.fits(&next, next_offset) && evidence.plausible(&next, next_offset)
        });
        if fits && known && (exact_end || next_fits || next.is_none()) {
            return Ok(true);
        }
        let crc = checksum != Checksum::None && size <= self.crc_budget && {
            self.crc_budget = self.crc_budget.saturating_sub(size);
            crc_matches(event, header.type_code == super::event::FORMAT_DESCRIPTION)
        };
        if crc {
            return Ok(true);
        }
        let chain = exact_end || next.is_some_and(|next| evidence.plausible(&next, next_offset));
        if checksum != Checksum::None || !chain || fits {
            return Ok(checksum == Checksum::None && chain);
        }
        evidence
            .chain_of_three(next, next_offset, after, at_end)
            .map_err(|more| size.saturating_add(more))
    }

    /// The stretch that was passed over.
    pub fn gap(&self, found: u64) -> Option<Problem> {
        let length = found.saturating_sub(self.from);
        (!self.quiet).then(|| {
            Problem::error(
                ProblemKind::Resync,
                self.from,
                length,
                format!(
                    "{}; {length} bytes passed over, the next event is at {found}",
                    self.why
                ),
            )
        })
    }

    /// The stretch up to the end of the log, in which no event was found.
    pub fn tail(&self, end: u64, in_use: bool) -> Option<Problem> {
        let length = end.saturating_sub(self.from);
        if self.quiet {
            return None;
        }
        Some(if self.cut && in_use {
            Problem::error(
                ProblemKind::Truncated,
                self.from,
                length,
                format!(
                    "{}: the log is still being written, or its server died",
                    self.why
                ),
            )
            .with_severity(Severity::Info)
        } else if self.cut {
            Problem::error(ProblemKind::Truncated, self.from, length, self.why.clone())
        } else {
            Problem::error(
                ProblemKind::BadEvent,
                self.from,
                length,
                format!("{}; no event follows in the last {length} bytes", self.why),
            )
        })
    }
}

impl Evidence {
    /// Whether two more plausible headers follow each other, or the log ends in between.
    ///
    /// `Err(n)`: at least `n` bytes of `after` are needed to tell.
    fn chain_of_three(
        &self,
        next: Option<Header>,
        next_offset: u64,
        after: &[u8],
        at_end: bool,
    ) -> Result<bool, usize> {
        let Some(next) = next else { return Ok(true) };
        let size = next.event_size as usize;
        let no_more = at_end || !self.holds_or_unknown(next_offset, next.event_size);
        let Some(rest) = after.get(size..) else {
            return if no_more || size > WAIT_LIMIT {
                Ok(false)
            } else {
                Err(size)
            };
        };
        let offset = next_offset.saturating_add(u64::from(next.event_size));
        match self.read(rest) {
            Some(third) => Ok(self.plausible(&third, offset)),
            None if at_end || self.ends(next_offset, size) => Ok(rest.is_empty()),
            None => Err(size.saturating_add(self.header_len())),
        }
    }
}
