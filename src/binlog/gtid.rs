//! MySQL GTIDs and sets of them: parse, print, compare.
//!
//! ```text
//! GTID       uuid:gno                     3e11fa47-71ca-11e1-9e33-c80aa9429562:23
//!            uuid:tag:gno   (since 8.3)   3e11fa47-71ca-11e1-9e33-c80aa9429562:batch:7
//! GTID set   uuid:interval[:interval]…[:tag:interval[:interval]…]…[,uuid:…]…
//! interval   n | n-m                      both ends belong to it; 1 ≤ n ≤ m < 2⁶³ − 1
//! ```
//!
//! UUID and tag together are the *TSID*: GTIDs of two tags of one server are numbered apart. Text
//! is read as the server reads it (any case, blanks around the parts, parts in any order) and
//! written in one form only: lower case, UUIDs and tags sorted, intervals sorted and merged, no
//! blanks.
//!
//! Source: MySQL manual, "GTID Format and Storage"; `sql/rpl_gtid_set.cc`;
//! `libs/mysql/gtid/{tag,tsid,uuid}.h`.

use super::gtid_mariadb::MariadbGtid;
use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Largest number that a transaction can have: the server's end mark is 2⁶³ − 1.
pub const MAX_GNO: u64 = i64::MAX.cast_unsigned() - 1;

/// Length of the longest tag.
pub const MAX_TAG_LEN: usize = 32;

/// A tag of up to 32 characters: a lower-case letter or `_`, then those or digits. Empty: no tag.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Tag {
    // Padded with zeros, so that the derived order is that of the text.
    bytes: [u8; MAX_TAG_LEN],
    len: u8,
}

impl Tag {
    /// No tag: what every GTID before MySQL 8.3 has.
    pub const NONE: Self = Self {
        bytes: [0; MAX_TAG_LEN],
        len: 0,
    };

    /// A tag as the log has it, which is lower case; `None` where it breaks the rule above. No
    /// bytes at all are [`Tag::NONE`].
    pub fn new(text: &[u8]) -> Option<Self> {
        let mut tag = Self::NONE;
        tag.bytes.get_mut(..text.len())?.copy_from_slice(text);
        tag.len = u8::try_from(text.len()).ok()?;
        let letter = |b: &u8| b.is_ascii_lowercase() || *b == b'_';
        let fits =
            text.first().is_none_or(letter) && text.iter().all(|b| letter(b) || b.is_ascii_digit());
        fits.then_some(tag)
    }

    /// The tag's text; empty where there is none.
    pub fn as_str(&self) -> &str {
        let text = self.bytes.get(..usize::from(self.len)).unwrap_or_default();
        std::str::from_utf8(text).unwrap_or_default()
    }

    /// Whether there is no tag.
    pub fn is_none(&self) -> bool {
        self.len == 0
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

/// What numbers transactions: a server's UUID, and perhaps a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tsid {
    /// `server_uuid` of the server that ran the transactions first, or any UUID a client chose.
    pub uuid: [u8; 16],
    /// Tag; [`Tag::NONE`] where there is none.
    pub tag: Tag,
}

impl fmt::Display for Tsid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(uuid_text(&self.uuid, &mut [0; 36]))?;
        if !self.tag.is_none() {
            f.write_str(":")?;
            f.write_str(self.tag.as_str())?;
        }
        Ok(())
    }
}

/// Writes a UUID in its usual form, `3e11fa47-71ca-11e1-9e33-c80aa9429562`.
fn uuid_text<'t>(uuid: &[u8; 16], text: &'t mut [u8; 36]) -> &'t str {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    *text = [b'-'; 36];
    let mut slots = text.iter_mut();
    for (i, byte) in uuid.iter().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            slots.next();
        }
        for nibble in [byte >> 4, byte & 0xf] {
            if let (Some(slot), Some(digit)) = (slots.next(), DIGITS.get(usize::from(nibble))) {
                *slot = *digit;
            }
        }
    }
    std::str::from_utf8(text).unwrap_or_default()
}

/// Reads a UUID: 32 hexadecimal digits of any case, with or without the four hyphens.
fn parse_uuid(text: &str) -> Option<[u8; 16]> {
    let hyphens = match text.len() {
        36 => &[8, 13, 18, 23][..],
        32 => &[],
        _ => return None,
    };
    let mut uuid = [0u8; 16];
    let mut digits = 0usize;
    for (i, c) in text.bytes().enumerate() {
        if hyphens.contains(&i) {
            if c != b'-' {
                return None;
            }
            continue;
        }
        let digit = u8::try_from(char::from(c).to_digit(16)?).ok()?;
        let byte = uuid.get_mut(digits >> 1)?;
        *byte = *byte << 4 | digit;
        digits = digits.saturating_add(1);
    }
    Some(uuid)
}

/// Identifies one transaction of a MySQL server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gtid {
    /// Server and tag.
    pub tsid: Tsid,
    /// Number of the transaction, 1 ≤ `gno` ≤ [`MAX_GNO`].
    pub gno: u64,
}

impl fmt::Display for Gtid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.tsid, self.gno)
    }
}

impl FromStr for Gtid {
    type Err = Error;

    /// Reads `uuid:gno` or `uuid:tag:gno`.
    fn from_str(text: &str) -> Result<Self> {
        let set: GtidSet = text.parse()?;
        match (set.count(), set.intervals().next()) {
            (1, Some((tsid, interval))) => Ok(Self {
                tsid,
                gno: interval.first,
            }),
            _ => Err(Error::invalid(format!(
                "'{}' is not one GTID; write uuid:number or uuid:tag:number",
                shorten(text)
            ))),
        }
    }
}

/// The GTID of a transaction, of whichever vendor: what the column `gtid` shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AnyGtid {
    /// `uuid:n` or `uuid:tag:n`.
    MySql(Gtid),
    /// `domain-server-seq`.
    MariaDb(MariadbGtid),
}

impl fmt::Display for AnyGtid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MySql(gtid) => gtid.fmt(f),
            Self::MariaDb(gtid) => gtid.fmt(f),
        }
    }
}

/// Consecutive transaction numbers, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Interval {
    /// Lowest number, at least 1.
    pub first: u64,
    /// Highest number, at least `first` and at most [`MAX_GNO`].
    pub last: u64,
}

impl Interval {
    /// An interval; `None` unless 1 ≤ `first` ≤ `last` ≤ [`MAX_GNO`].
    pub fn new(first: u64, last: u64) -> Option<Self> {
        (1 <= first && first <= last && last <= MAX_GNO).then_some(Self { first, last })
    }

    fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| -> Option<u64> {
            let text = text.trim_ascii();
            // `parse` alone would take a sign.
            let digits = text.bytes().all(|b| b.is_ascii_digit());
            digits.then(|| text.parse().ok())?
        };
        match text.split_once('-') {
            Some((first, last)) => Self::new(number(first)?, number(last)?),
            None => number(text).and_then(|n| Self::new(n, n)),
        }
    }

    /// How many numbers it has.
    pub fn count(&self) -> u64 {
        self.last.saturating_sub(self.first).saturating_add(1)
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.first)?;
        if self.last > self.first {
            write!(f, "-{}", self.last)?;
        }
        Ok(())
    }
}

/// A set of GTIDs, as in `@@gtid_executed`.
///
/// **Invariant:** the intervals of each TSID are at least one, sorted, and apart by at least one
/// number; so equal sets are equal values.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct GtidSet {
    sources: BTreeMap<Tsid, Vec<Interval>>,
}

impl FromIterator<(Tsid, Interval)> for GtidSet {
    /// Collects intervals, which may overlap and come in any order. O(n log n).
    fn from_iter<I: IntoIterator<Item = (Tsid, Interval)>>(intervals: I) -> Self {
        let mut sources = BTreeMap::<Tsid, Vec<Interval>>::new();
        for (tsid, interval) in intervals {
            sources.entry(tsid).or_default().push(interval);
        }
        for intervals in sources.values_mut() {
            intervals.sort_unstable();
            merge(intervals);
        }
        Self { sources }
    }
}

/// Joins sorted intervals that overlap or touch.
fn merge(intervals: &mut Vec<Interval>) {
    intervals.dedup_by(|next, kept| {
        let joins = next.first <= kept.last.saturating_add(1);
        if joins {
            kept.last = kept.last.max(next.last);
        }
        joins
    });
}

impl GtidSet {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether it has no GTID.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// How many GTIDs it has.
    pub fn count(&self) -> u128 {
        self.intervals()
            .map(|(_, interval)| u128::from(interval.count()))
            .fold(0, u128::saturating_add)
    }

    /// All intervals, sorted by UUID, tag and number.
    pub fn intervals(&self) -> impl Iterator<Item = (Tsid, Interval)> + '_ {
        self.sources
            .iter()
            .flat_map(|(tsid, intervals)| intervals.iter().map(|interval| (*tsid, *interval)))
    }

    /// Whether `gtid` is in the set. O(log n).
    pub fn contains(&self, gtid: &Gtid) -> bool {
        self.sources.get(&gtid.tsid).is_some_and(|intervals| {
            let at = intervals.partition_point(|interval| interval.last < gtid.gno);
            intervals.get(at).is_some_and(|i| i.first <= gtid.gno)
        })
    }

    /// Whether every GTID of `other` is in the set (`GTID_SUBSET(other, self)`). O(n + m).
    pub fn contains_set(&self, other: &Self) -> bool {
        other.sources.iter().all(|(tsid, wanted)| {
            let mut have = self.sources.get(tsid).into_iter().flatten().peekable();
            wanted.iter().all(|want| {
                while have.next_if(|i| i.last < want.first).is_some() {}
                have.peek()
                    .is_some_and(|i| i.first <= want.first && want.last <= i.last)
            })
        })
    }

    /// Adds one GTID; a `gno` outside 1 … [`MAX_GNO`] is no GTID and is ignored. Constant time
    /// where it follows the highest number of its TSID, as in a log; O(n) elsewhere.
    pub fn insert(&mut self, gtid: Gtid) {
        let Some(new) = Interval::new(gtid.gno, gtid.gno) else {
            return;
        };
        let intervals = self.sources.entry(gtid.tsid).or_default();
        match intervals.last_mut() {
            Some(last) if last.first <= new.first && new.first <= last.last.saturating_add(1) => {
                last.last = last.last.max(new.last);
            }
            Some(last) if new.first < last.first => {
                let at = intervals.partition_point(|i| i < &new);
                intervals.insert(at, new);
                merge(intervals);
            }
            _ => intervals.push(new),
        }
    }

    /// The GTIDs of either set.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.intervals().chain(other.intervals()).collect()
    }

    /// The GTIDs of this set that are not in `other` (`GTID_SUBTRACT(self, other)`). O(n + m).
    #[must_use]
    pub fn subtract(&self, other: &Self) -> Self {
        let mut sources = BTreeMap::new();
        for (tsid, intervals) in &self.sources {
            let mut left = Vec::new();
            let mut holes = other.sources.get(tsid).into_iter().flatten().peekable();
            for interval in intervals {
                let mut first = interval.first;
                while let Some(hole) = holes.peek().filter(|hole| hole.first <= interval.last) {
                    left.extend(Interval::new(first, hole.first.saturating_sub(1)));
                    first = first.max(hole.last.saturating_add(1));
                    if hole.last > interval.last {
                        break; // it may reach into the next interval
                    }
                    holes.next();
                }
                left.extend(Interval::new(first, interval.last));
            }
            if !left.is_empty() {
                sources.insert(*tsid, left);
            }
        }
        Self { sources }
    }
}

impl fmt::Display for GtidSet {
    /// Writes the set in its one form, `uuid:1-5:11:tag:1-3,uuid:…`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut previous = None;
        for (tsid, intervals) in &self.sources {
            if previous != Some(tsid.uuid) {
                f.write_str(if previous.is_some() { "," } else { "" })?;
                f.write_str(uuid_text(&tsid.uuid, &mut [0; 36]))?;
                previous = Some(tsid.uuid);
            }
            if !tsid.tag.is_none() {
                write!(f, ":{}", tsid.tag.as_str())?;
            }
            for interval in intervals {
                write!(f, ":{interval}")?;
            }
        }
        Ok(())
    }
}

impl FromStr for GtidSet {
    type Err = Error;

    /// Reads a set. Empty text and empty parts between commas are no GTIDs; a UUID or tag without
    /// an interval, or an interval that runs backwards, is an error.
    fn from_str(text: &str) -> Result<Self> {
        let mut found = Vec::new();
        for part in text.split(',').map(str::trim_ascii) {
            if part.is_empty() {
                continue;
            }
            let mut items = part.split(':').map(str::trim_ascii);
            let uuid = items.next().unwrap_or_default();
            let uuid = parse_uuid(uuid).ok_or_else(|| not_a("UUID", uuid, text))?;
            let mut tag = Tag::NONE;
            let mut complete = false;
            for item in items {
                let begins_tag = item.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
                if begins_tag && (complete || tag.is_none()) {
                    tag = Tag::new(item.to_ascii_lowercase().as_bytes())
                        .ok_or_else(|| not_a("tag", item, text))?;
                    complete = false;
                } else {
                    let interval =
                        Interval::parse(item).ok_or_else(|| not_a("interval", item, text))?;
                    found.push((Tsid { uuid, tag }, interval));
                    complete = true;
                }
            }
            if !complete {
                return Err(Error::invalid(format!(
                    "no interval ends '{}' in a GTID set; write uuid:1-5 or uuid:tag:1-5",
                    shorten(part)
                )));
            }
        }
        Ok(found.into_iter().collect())
    }
}

fn not_a(what: &str, item: &str, text: &str) -> Error {
    Error::invalid(format!(
        "'{}' is not a valid {what} in the GTID set '{}'",
        shorten(item),
        shorten(text)
    ))
}

/// The beginning of a text that may be megabytes long.
pub(super) fn shorten(text: &str) -> &str {
    let end = text.char_indices().nth(80).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(text)
}

#[cfg(test)]
mod tests;
