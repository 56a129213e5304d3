//! PREVIOUS_GTIDS: the transactions that came before this file.
//!
//! ```text
//! untagged   sources 7 │ format 1 = 0                │ source…
//! tagged     format 1 = 1 │ sources 6 │ format 1 = 1 │ source…
//! source     uuid 16 │ (tagged: length (varlen) │ tag) │ intervals 8 │ (first 8 │ last + 1 8)…
//! ```
//!
//! Source: `sql/rpl_gtid_set.cc`, functions `encode` and `add_gtid_encoding`.

use super::{Cursor, Describe, Details, read_tag};
use crate::binlog::gtid::{GtidSet, Interval, Tag, Tsid};
use crate::error::{Error, Result};
use std::fmt::Write;

/// The GTIDs of all files before this one; empty where no transaction before it had one.
#[derive(Debug, Clone, Copy)]
pub struct PreviousGtids<'a> {
    tagged: bool,
    count: u64,
    sources: &'a [u8],
}

/// The intervals of one TSID, as the log has them: each 8 bytes for the first number, 8 for the
/// one behind the last.
type RawIntervals<'a> = &'a [[u8; 16]];

impl<'a> PreviousGtids<'a> {
    /// Reads and checks the whole body; nothing is kept but where it lies.
    pub(super) fn read(body: &mut Cursor<'a>) -> Result<Self> {
        let head = body.u64()?;
        let (tagged, count) = match head >> 56 {
            0 => (false, head),
            // The marker stands at both ends, so that older servers fail on the huge count.
            1 => (true, (head & 0x00ff_ffff_ffff_ffff) >> 8),
            other => {
                return Err(Error::unsupported(format!(
                    "format {other} of GTID sets; formats 0 and 1 are known"
                )));
            }
        };
        let event = Self {
            tagged,
            count,
            sources: body.rest(),
        };
        for interval in event.intervals() {
            interval?;
        }
        Ok(event)
    }

    /// Whether the set is in the format that has tags (since 8.3, when a tag is in it).
    pub fn is_tagged(&self) -> bool {
        self.tagged
    }

    /// All intervals in the order of the log. An error is the last item.
    pub fn intervals(&self) -> impl Iterator<Item = Result<(Tsid, Interval)>> + use<'a> {
        let mut walk = Walk {
            rest: Cursor::new(self.sources),
            left: self.count,
            tagged: self.tagged,
            source: None,
            previous_end: 0,
        };
        let mut failed = false;
        std::iter::from_fn(move || {
            if failed {
                return None;
            }
            let next = walk.next();
            failed = next.is_err();
            next.transpose()
        })
    }

    /// The set.
    pub fn to_set(&self) -> Result<GtidSet> {
        self.intervals().collect()
    }
}

/// Where a walk over the intervals of a set stands.
struct Walk<'a> {
    rest: Cursor<'a>,
    left: u64,
    tagged: bool,
    source: Option<(Tsid, RawIntervals<'a>)>,
    previous_end: i64,
}

impl<'a> Walk<'a> {
    fn next(&mut self) -> Result<Option<(Tsid, Interval)>> {
        loop {
            if let Some((tsid, [raw, behind @ ..])) = self.source {
                let interval = self.interval(*raw)?;
                self.source = Some((tsid, behind));
                return Ok(Some((tsid, interval)));
            }
            if self.left == 0 {
                return match self.rest.len() {
                    0 => Ok(None),
                    n => Err(Error::corrupt(format!("{n} bytes follow the GTID set"))),
                };
            }
            self.left = self.left.saturating_sub(1);
            self.source = Some(self.source()?);
        }
    }

    fn source(&mut self) -> Result<(Tsid, RawIntervals<'a>)> {
        self.previous_end = 0;
        let uuid = self.rest.array()?;
        let tag = if self.tagged {
            read_tag(&mut self.rest)?
        } else {
            Tag::NONE
        };
        let count = self.rest.u64()?;
        let len = usize::try_from(count)
            .ok()
            .and_then(|count| count.checked_mul(16))
            .ok_or_else(|| Error::corrupt(format!("a GTID set of {count} intervals")))?;
        let (intervals, _) = self.rest.bytes(len)?.as_chunks();
        Ok((Tsid { uuid, tag }, intervals))
    }

    /// Like the server, refuses intervals that are empty, out of order or not apart.
    fn interval(&mut self, raw: [u8; 16]) -> Result<Interval> {
        let raw = u128::from_le_bytes(raw);
        let (first, end) = (raw as i64, (raw >> 64) as i64);
        if first <= self.previous_end || end <= first {
            return Err(Error::corrupt(format!(
                "the interval {first} … {end} of a GTID set is empty or out of order"
            )));
        }
        self.previous_end = end;
        Interval::new(first.cast_unsigned(), end.cast_unsigned().saturating_sub(1))
            .ok_or_else(|| Error::corrupt(format!("the interval {first} … {end} of a GTID set")))
    }
}

impl Describe for PreviousGtids<'_> {
    fn info(&self, out: &mut String) -> Result<()> {
        let _ = write!(out, "{}", self.to_set()?);
        Ok(())
    }

    fn details(&self, out: &mut Details<'_>) -> Result<()> {
        out.str("previous_gtids", &self.to_set()?.to_string());
        Ok(())
    }
}

#[cfg(test)]
mod tests;
