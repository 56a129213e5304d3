//! What a log holds, from its head and its tail: the relation `files`, and which files a filter on
//! `gtid` or `timestamp` can skip.

use super::partition::ScanFile;
use super::stream::{LogNext, LogReader, Scan, file_problem};
use crate::batch::files::FileRow;
use crate::binlog::event::{self, AnyGtid, Event, EventContext, FormatDescription};
use crate::binlog::frame::{Framer, TypeSet};
use crate::binlog::gtid::{Gtid, GtidSet};
use crate::binlog::header::{FLAG_ARTIFICIAL, FLAG_RELAY_LOG, Header};
use crate::binlog::problem::{Problem, ProblemKind};
use crate::binlog::reader::{Item, structural_types};
use crate::binlog::transaction::{is_gtid, is_of_the_log};
use crate::error::Result;
use crate::source::{Content, Encoding, Segment, split_number};
use std::sync::Arc;

/// Bytes at the end of a log that are searched for its last transaction; twice as many each time,
/// until it is found.
const TAIL: u64 = 64 << 10;

/// The row of a log in `files`, and what could not be read of its head and tail.
pub(super) async fn probe(scan: &Arc<Scan>, segment: &Segment) -> (FileRow, Vec<Problem>) {
    let mut row = FileRow {
        file: segment.name.to_string(),
        path: segment.display_location(),
        size: segment.size,
        compression: match segment.encoding {
            Encoding::Plain => None,
            Encoding::Gzip => Some("gzip"),
            Encoding::Zstd => Some("zstd"),
        },
        ..FileRow::default()
    };
    let mut problems = Vec::new();
    if let Some(rejected) = &segment.rejected {
        let error = rejected.error(&segment.name);
        row.encrypted = segment
            .sniffed
            .as_ref()
            .is_some_and(|sniffed| sniffed.content == Content::EncryptedBinlog);
        row.problem = Some(error.message_with_source());
        problems.push(file_problem(&error, 0));
        return (row, problems);
    }
    if let Err(error) = read(scan, segment, &mut row, &mut problems).await {
        row.problem = Some(error.message_with_source());
        problems.push(file_problem(&error, 0));
    }
    (row, problems)
}

async fn read(
    scan: &Arc<Scan>,
    segment: &Segment,
    row: &mut FileRow,
    problems: &mut Vec<Problem>,
) -> Result<()> {
    let head = Head::read(scan, segment, row, problems).await?;
    if row.encrypted {
        return Ok(());
    }
    let mut window = match segment.encoding {
        Encoding::Plain => TAIL,
        // An archive is read from the front; there is no other way to its end.
        _ => u64::MAX,
    };
    loop {
        let start = segment.size.saturating_sub(window);
        let whole = start <= head.end || window == u64::MAX;
        let framer = if whole {
            Framer::new()
        } else {
            Framer::search(Arc::clone(&head.format), start)
        };
        let start = if whole { 0 } else { start };
        let tail = Tail::read(scan, segment, start, framer).await?;
        if whole || tail.is_enough(head.has_gtids) {
            row.last_timestamp = micros(tail.last_timestamp);
            row.last_gtid = tail.last_gtid.flatten().map(|gtid| gtid.to_string());
            row.next_file = tail.next_file;
            problems.extend(tail.problems);
            return Ok(());
        }
        window = window.saturating_mul(8);
    }
}

/// Seconds of a header as microseconds; 0 is not known.
fn micros(seconds: u32) -> Option<i64> {
    (seconds != 0).then(|| i64::from(seconds) * 1_000_000)
}

/// The events up to the first transaction.
struct Head {
    format: Arc<FormatDescription>,
    /// Offset behind them.
    end: u64,
    /// Transactions begin with GTID events, of whichever kind.
    has_gtids: bool,
}

impl Head {
    async fn read(
        scan: &Arc<Scan>,
        segment: &Segment,
        row: &mut FileRow,
        problems: &mut Vec<Problem>,
    ) -> Result<Self> {
        // The body of what ends the head, which may be huge, is not needed.
        let bodies: TypeSet = [33, 34, 35, 42, 162, 163].into_iter().collect();
        let framer = Framer::new().with_bodies(bodies.union(structural_types(false)));
        let mut log = scan.open(segment, 0, framer).await?;
        let mut first = true;
        let mut relay = false;
        let mut has_gtids = false;
        while let Some(next) = log.next().await? {
            let item = match next {
                LogNext::Event(item) => item,
                LogNext::Problem(problem) => {
                    if problem.kind == ProblemKind::Encrypted {
                        row.encrypted = true;
                        row.problem = Some(problem.message.clone());
                    }
                    problems.push(problem);
                    continue;
                }
            };
            let Header {
                timestamp, flags, ..
            } = item.header;
            let code = item.header.type_code;
            relay |= flags & FLAG_RELAY_LOG != 0
                || (code == event::ROTATE && flags & FLAG_ARTIFICIAL != 0);
            if first {
                first = false;
                row.server_id = Some(item.header.server_id);
                let format = log.reader.format();
                row.created = micros(timestamp);
                row.binlog_version = Some(format.binlog_version);
                row.checksum = Some(format.checksum.name());
                if matches!(code, event::FORMAT_DESCRIPTION | event::START_V3) {
                    row.server_version = Some(format.server_version.clone());
                    row.flavor = Some(format.flavor.name());
                    row.in_use = Some(log.reader.in_use());
                    continue;
                }
            }
            if row.first_timestamp.is_none() {
                row.first_timestamp = micros(timestamp);
            }
            let raw = item.raw(log.reader.block());
            let cx = EventContext {
                header: &item.header,
                format: log.reader.format(),
            };
            match Event::decode(raw.body(), &cx) {
                Ok(Event::PreviousGtids(previous)) => {
                    if row.previous_gtids.is_none() {
                        row.previous_gtids = Some(previous.to_set()?.to_string());
                    }
                }
                Ok(Event::MariadbGtidList(list)) => {
                    if row.previous_gtids.is_none() {
                        row.previous_gtids = Some(list.position().to_string());
                    }
                }
                Ok(decoded @ (Event::Gtid(_) | Event::MariadbGtid(_))) => {
                    has_gtids = true;
                    row.first_gtid = decoded.gtid().map(|gtid| gtid.to_string());
                    break;
                }
                _ if is_of_the_log(code) => {}
                _ => break,
            }
        }
        row.relay = Some(relay);
        Ok(Self {
            format: Arc::clone(log.reader.format()),
            end: log.reader.position(),
            has_gtids,
        })
    }
}

/// The events from some place to the end.
#[derive(Default)]
struct Tail {
    last_timestamp: u32,
    /// The last transaction's GTID event was met; `None` inside: an anonymous one.
    last_gtid: Option<Option<AnyGtid>>,
    next_file: Option<String>,
    problems: Vec<Problem>,
}

impl Tail {
    async fn read(scan: &Arc<Scan>, segment: &Segment, start: u64, framer: Framer) -> Result<Self> {
        let bodies: TypeSet = [1, 4, 15, 33, 34, 42, 162, 164].into_iter().collect();
        let framer = framer.with_bodies(bodies);
        let mut log = scan.open(segment, start, framer).await?;
        let mut tail = Self::default();
        while let Some(next) = log.next().await? {
            match next {
                LogNext::Event(item) => tail.event(&item, &log),
                LogNext::Problem(problem) => tail.problems.push(problem),
            }
        }
        Ok(tail)
    }

    fn event(&mut self, item: &Item, log: &LogReader) {
        let Header {
            timestamp,
            type_code,
            ..
        } = item.header;
        if timestamp != 0 {
            self.last_timestamp = timestamp;
        }
        self.next_file = None;
        let raw = item.raw(log.reader.block());
        let cx = EventContext {
            header: &item.header,
            format: log.reader.format(),
        };
        match type_code {
            event::ROTATE => {
                if let Ok(Event::Rotate(rotate)) = Event::decode(raw.body(), &cx) {
                    self.next_file = Some(String::from_utf8_lossy(rotate.file).into_owned());
                }
            }
            code if is_gtid(code) => {
                let decoded = Event::decode(raw.body(), &cx);
                self.last_gtid = Some(decoded.ok().and_then(|event| event.gtid()));
            }
            _ => {}
        }
    }

    /// Whether a longer tail would tell nothing new.
    fn is_enough(&self, has_gtids: bool) -> bool {
        self.last_timestamp != 0 && (!has_gtids || self.last_gtid.is_some())
    }
}

/// Whether a file may hold a row that the filter admits, as far as its head and tail tell. What
/// cannot be read says nothing: the scan will report it.
pub(super) async fn may_match(scan: &Arc<Scan>, file: &ScanFile) -> bool {
    if let Some(gtids) = &scan.filter.gtids
        && !may_hold_gtids(scan, file, gtids).await.unwrap_or(true)
    {
        return false;
    }
    if let Some(seconds) = &scan.filter.wanted.seconds
        && scan.options.assume_time_order()
        && file.segment.encoding == Encoding::Plain
    {
        let (row, problems) = probe(scan, &file.segment).await;
        let first = row.created.into_iter().chain(row.first_timestamp).min();
        if let (Some(first), Some(last)) = (first, row.last_timestamp)
            && problems.is_empty()
        {
            let second = |micros: i64| u32::try_from(micros / 1_000_000).unwrap_or(u32::MAX);
            return *seconds.start() <= second(last) && *seconds.end() >= second(first);
        }
    }
    true
}

/// A log holds the GTIDs that its PREVIOUS_GTIDS lacks and that of the next log has. MariaDB's
/// GTID_LIST does not tell as much: sequence numbers may be out of order.
async fn may_hold_gtids(scan: &Arc<Scan>, file: &ScanFile, gtids: &[String]) -> Result<bool> {
    let gtids: Vec<Gtid> = gtids.iter().filter_map(|gtid| gtid.parse().ok()).collect();
    let Some(own) = GtidBounds::read(scan, &file.segment).await? else {
        return Ok(true);
    };
    if gtids.iter().all(|gtid| own.previous.contains(gtid)) {
        return Ok(gtids.is_empty());
    }
    if let Some(next) = &file.next
        && follows(&file.segment, next)
        && let Some(next) = GtidBounds::read(scan, next).await?
        && next.server_id == own.server_id
        // Else it is not the history that this log belongs to.
        && next.previous.contains_set(&own.previous)
    {
        return Ok(gtids.iter().any(|gtid| next.previous.contains(gtid)));
    }
    Ok(true)
}

/// Whether `next` is the log that the same server wrote next, told by name and place.
fn follows(log: &Segment, next: &Segment) -> bool {
    let parent = |segment: &Segment| {
        let path = segment.display_location();
        path.rsplit_once('/').map(|(parent, _)| parent.to_owned())
    };
    let number = |digits: &str| digits.parse::<u64>().ok();
    match (split_number(&log.base_name), split_number(&next.base_name)) {
        (Some((base, n)), Some((next_base, next_n))) => {
            base == next_base
                && parent(log) == parent(next)
                && number(n).and_then(|n| n.checked_add(1)) == number(next_n)
        }
        _ => false,
    }
}

struct GtidBounds {
    server_id: Option<u32>,
    previous: GtidSet,
}

impl GtidBounds {
    /// `None` where the log does not tell: no PREVIOUS_GTIDS, or a relay log.
    async fn read(scan: &Arc<Scan>, segment: &Segment) -> Result<Option<Self>> {
        if segment.rejected.is_some() {
            return Ok(None);
        }
        let mut row = FileRow::default();
        Head::read(scan, segment, &mut row, &mut Vec::new()).await?;
        let mysql = row.flavor == Some("MySQL") && row.relay == Some(false);
        Ok(match row.previous_gtids {
            Some(previous) if mysql => Some(Self {
                server_id: row.server_id,
                previous: previous.parse()?,
            }),
            _ => None,
        })
    }
}
