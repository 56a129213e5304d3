//! Looks for the tables of one large log in several pieces at a time.
//!
//! ```text
//! piece 1  ├ events … ┤ next: 4711            each but the first searches for its first event;
//! piece 2             ├ first: 4711 … ┤       it counts only if the piece before ends exactly there
//! ```
//!
//! Where a piece begins is found by the evidence of a few events, which a hostile log can forge. So
//! nothing is believed before all is read: if one piece does not end where the next one begins, or
//! anything at all is odd, the log is read again from its front, as any other.

use super::options::BinlogOptions;
use super::stream::{LogNext, LogReader};
use crate::binlog::event::{self, FormatDescription};
use crate::binlog::frame::{Framer, TypeSet};
use crate::binlog::reader::{Next, structural_types};
use crate::error::Result;
use crate::schema::{FileTables, TableCollector};
use crate::source::{Encoding, Location, Segment};
use datafusion::common::runtime::SpawnedTask;
use datafusion::physical_plan::metrics::Count;
use std::sync::Arc;

/// A log of fewer bytes for each piece is read whole.
const MIN_PIECE: u64 = 16 << 20;

/// What one piece tells.
struct Piece {
    tables: FileTables,
    /// Offset of its first event.
    first: Option<u64>,
    /// Offset of the first event behind it; `None`: the log ends.
    next: Option<u64>,
}

/// Where a piece is: from the first event at or behind `start` to the last before `end`.
struct Bounds {
    start: u64,
    end: u64,
    framer: Framer,
}

/// The tables of a log, read in `pieces` at a time; `None`: it is to be read from its front.
///
/// # Errors
/// More tables than memory is meant for.
pub(super) async fn read(
    segment: &Arc<Segment>,
    options: &BinlogOptions,
    pieces: usize,
) -> Result<Option<FileTables>> {
    let pieces = (segment.size / MIN_PIECE).min(pieces as u64);
    read_in(segment, options, pieces).await
}

async fn read_in(
    segment: &Arc<Segment>,
    options: &BinlogOptions,
    pieces: u64,
) -> Result<Option<FileTables>> {
    let local = matches!(segment.location, Location::Local(_));
    if pieces < 2 || segment.encoding != Encoding::Plain || !local || segment.rejected.is_some() {
        return Ok(None);
    }
    let Some(format) = format_of(segment, options).await else {
        return Ok(None);
    };
    let bound = |n: u64| segment.size / pieces * n;
    let tasks: Vec<SpawnedTask<Result<Option<Piece>>>> = (0..pieces)
        .map(|n| {
            let bounds = Bounds {
                start: bound(n),
                end: if n + 1 == pieces {
                    u64::MAX
                } else {
                    bound(n + 1)
                },
                framer: match n {
                    0 => Framer::new(),
                    _ => Framer::search(Arc::clone(&format), bound(n)),
                },
            };
            let (segment, options) = (Arc::clone(segment), options.clone());
            SpawnedTask::spawn(async move { read_piece(&segment, &options, bounds).await })
        })
        .collect();
    let mut whole = FileTables::default();
    let mut next = None;
    for (n, task) in tasks.into_iter().enumerate() {
        let Ok(Some(piece)) = task.join_unwind().await.unwrap_or(Ok(None)) else {
            return Ok(None);
        };
        if n > 0 && (piece.first.is_none() || piece.first != next) {
            return Ok(None);
        }
        next = piece.next;
        whole.append(piece.tables);
    }
    Ok(next.is_none().then_some(whole))
}

/// The description of the events of a log, if it begins with one.
async fn format_of(segment: &Segment, options: &BinlogOptions) -> Option<Arc<FormatDescription>> {
    let framer = Framer::new().with_bodies(structural_types(false));
    let log = LogReader::open(options, Count::new(), segment, 0, framer).await;
    let mut log = log.ok()?;
    match log.next().await {
        Ok(Some(LogNext::Event(item))) if item.header.type_code == event::FORMAT_DESCRIPTION => {
            Some(Arc::clone(log.reader.format()))
        }
        _ => None,
    }
}

/// One piece; `None` where anything is odd.
async fn read_piece(
    segment: &Segment,
    options: &BinlogOptions,
    Bounds { start, end, framer }: Bounds,
) -> Result<Option<Piece>> {
    let bodies: TypeSet = structural_types(true).union(TableCollector::bodies());
    let framer = framer.with_bodies(bodies);
    let Ok(mut log) = LogReader::open(options, Count::new(), segment, start, framer).await else {
        return Ok(None);
    };
    let mut collector = TableCollector::default();
    let mut first = None;
    loop {
        // Straight to the reader: only its need for bytes is worth waiting for.
        let item = match log.reader.next() {
            Ok(Next::Event(item)) => item,
            Ok(Next::NeedMore { skip, at_least }) => match log.fill(skip, at_least).await {
                Ok(()) => continue,
                Err(_) => return Ok(None),
            },
            Ok(Next::End) => break,
            Ok(Next::Problem(_)) | Err(_) => return Ok(None),
        };
        if item.pos >= end {
            return Ok(Some(Piece {
                tables: collector.finish(),
                first,
                next: Some(item.pos),
            }));
        }
        // The pieces behind another description were read under the first.
        if item.header.type_code == event::FORMAT_DESCRIPTION && first.is_some() {
            return Ok(None);
        }
        first.get_or_insert(item.pos);
        let (block, format) = (log.reader.block(), log.reader.format());
        collector.observe(&item, block, format)?;
        collector.cut_behind(&item, &log.reader);
    }
    Ok(Some(Piece {
        tables: collector.finish(),
        first,
        next: None,
    }))
}

#[cfg(test)]
mod tests;
