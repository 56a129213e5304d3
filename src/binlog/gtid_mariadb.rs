//! MariaDB GTIDs, and positions made of them.
//!
//! ```text
//! GTID       domain-server-seq    0-1-100        domain, server: 32 bits; seq: 64 bits
//! position   GTID[,GTID]…         0-1-100,1-2-5  at most one GTID of each domain
//! ```
//!
//! Sequence numbers of one domain grow along the log, whichever server wrote them; so the last
//! GTID of each domain tells all that came before it.
//!
//! Source: MariaDB documentation, "Global Transaction ID"; `sql/rpl_gtid.cc`.

use super::gtid::shorten;
use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Identifies one event group of a MariaDB server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MariadbGtid {
    /// `gtid_domain_id`: one stream of event groups.
    pub domain_id: u32,
    /// `server_id` of the server that ran the event group first.
    pub server_id: u32,
    /// Number of the event group in its domain.
    pub seq_no: u64,
}

impl fmt::Display for MariadbGtid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.domain_id, self.server_id, self.seq_no)
    }
}

impl FromStr for MariadbGtid {
    type Err = Error;

    /// Reads `domain-server-seq`, with blanks around it allowed.
    fn from_str(text: &str) -> Result<Self> {
        let parse = || {
            let mut parts = text.trim_ascii().split('-');
            let gtid = Self {
                domain_id: number(parts.next()?)?,
                server_id: number(parts.next()?)?,
                seq_no: number(parts.next()?)?,
            };
            parts.next().is_none().then_some(gtid)
        };
        parse().ok_or_else(|| {
            Error::invalid(format!(
                "'{}' is not a MariaDB GTID; write domain-server-sequence, as in 0-1-100",
                shorten(text)
            ))
        })
    }
}

/// A decimal number without a sign, which `parse` alone would take.
fn number<N: FromStr>(text: &str) -> Option<N> {
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().ok())?
}

/// How far each domain has come, as in `@@gtid_binlog_pos`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct MariadbPosition {
    last: BTreeMap<u32, MariadbGtid>,
}

impl FromIterator<MariadbGtid> for MariadbPosition {
    /// Collects GTIDs in the order of the log: the last one of each domain stays.
    fn from_iter<I: IntoIterator<Item = MariadbGtid>>(gtids: I) -> Self {
        let mut position = Self::default();
        for gtid in gtids {
            position.advance(gtid);
        }
        position
    }
}

impl MariadbPosition {
    /// The position before everything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether no domain has come anywhere.
    pub fn is_empty(&self) -> bool {
        self.last.is_empty()
    }

    /// Moves the domain of `gtid` to it, the next one in the log.
    pub fn advance(&mut self, gtid: MariadbGtid) {
        self.last.insert(gtid.domain_id, gtid);
    }

    /// The last GTID of a domain.
    pub fn last(&self, domain_id: u32) -> Option<MariadbGtid> {
        self.last.get(&domain_id).copied()
    }

    /// The last GTID of each domain, sorted by domain.
    pub fn gtids(&self) -> impl Iterator<Item = MariadbGtid> + '_ {
        self.last.values().copied()
    }

    /// Whether the domain of `gtid` has come to its sequence number or further.
    pub fn contains(&self, gtid: &MariadbGtid) -> bool {
        self.last(gtid.domain_id)
            .is_some_and(|last| gtid.seq_no <= last.seq_no)
    }
}

impl fmt::Display for MariadbPosition {
    /// Writes the GTIDs sorted by domain, `0-1-100,1-2-5`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, gtid) in self.gtids().enumerate() {
            write!(f, "{}{gtid}", if i > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

impl FromStr for MariadbPosition {
    type Err = Error;

    /// Reads a position. Empty text is the position before everything; two GTIDs of one domain
    /// are an error, as they are to the server.
    fn from_str(text: &str) -> Result<Self> {
        let mut position = Self::default();
        if text.trim_ascii().is_empty() {
            return Ok(position);
        }
        for part in text.split(',') {
            let gtid: MariadbGtid = part.parse()?;
            if let Some(other) = position.last.insert(gtid.domain_id, gtid) {
                return Err(Error::invalid(format!(
                    "{other} and {gtid} are of one domain; a position has one GTID of each"
                )));
            }
        }
        Ok(position)
    }
}

#[cfg(test)]
mod tests;
