//! The loop that joins the stages: blocks from a source, events from the blocks, batches from the
//! events.
//!
//! **Invariants:** it is the only place that holds a source, a reader and a batcher. A batch is
//! bounded in rows and in the bytes that it keeps alive; between batches the task yields, so a
//! query can be cancelled.

use super::filter::{Filter, Wanted};
use super::metrics::ScanMetrics;
use super::options::{BinlogOptions, FileProgress};
use super::partition::ScanFile;
use super::probe;
use super::relation::Relation;
use super::source::RowsOf;
use crate::batch::columns::EventColumn;
use crate::batch::events::EventBatcher;
use crate::batch::files::file_batch;
use crate::binlog::frame::{Framer, TypeSet};
use crate::binlog::problem::{Problem, ProblemKind, Severity};
use crate::binlog::reader::{Block, EventReader, Item, Next, structural_types};
use crate::error::{Error, ErrorKind};
use crate::source::{BlockReader, Segment};
use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::physical_plan::metrics::Count;
use futures::StreamExt;
use futures::stream::BoxStream;
use std::sync::{Arc, Mutex, PoisonError};

/// Everything that the files of a scan have in common.
pub(super) struct Scan {
    /// `None`: the rows of one table.
    pub relation: Option<Relation>,
    /// For a relation of rows, and for `problems`.
    pub rows: Option<RowsOf>,
    /// Of the struct `_before`, the fields that are asked for.
    pub before: Vec<usize>,
    pub options: BinlogOptions,
    /// The projected columns, as a schema and as places in the relation's schema.
    pub schema: SchemaRef,
    pub columns: Vec<usize>,
    pub filter: Filter,
    pub batch_size: usize,
    pub limit: Option<usize>,
    pub metrics: ScanMetrics,
}

pub(super) type BatchStream = BoxStream<'static, Result<RecordBatch>>;

/// Bytes of blocks that the candidates of one batch keep alive at most.
pub(super) const MAX_HELD: usize = 16 << 20;

impl Scan {
    /// Reports a problem of a file.
    ///
    /// # Errors
    /// The problem itself, where the source is read strictly and the problem is an error.
    pub fn report(&self, segment: &Segment, problem: Problem) -> Result<Problem, Error> {
        self.metrics.problems.add(1);
        self.options.report(segment, problem)
    }

    /// The events of a file, from `offset` on.
    pub async fn open(
        &self,
        segment: &Segment,
        offset: u64,
        framer: Framer,
    ) -> Result<LogReader, Error> {
        let bytes_read = self.metrics.bytes_read.clone();
        LogReader::open(&self.options, bytes_read, segment, offset, framer).await
    }

    /// How far the scan of this file is, for the scan that planned it.
    pub fn progress(&self, segment: &Segment) -> FileProgress {
        self.options.progress().file(segment.size)
    }

    /// The same for a piece of a file.
    pub fn progress_of(&self, file: &ScanFile) -> FileProgress {
        self.options.progress().piece(file.start(), file.size())
    }

    pub fn project(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        Ok(batch.project(&self.columns)?)
    }
}

impl BinlogOptions {
    /// Reports a problem of a log.
    ///
    /// # Errors
    /// The problem itself, where the source is read strictly and the problem is an error.
    pub(super) fn report(&self, segment: &Segment, mut problem: Problem) -> Result<Problem, Error> {
        problem.file = Arc::clone(&segment.name);
        self.problem_log().report(&problem);
        if self.strict() && problem.severity == Severity::Error {
            return Err(strict_error(&problem));
        }
        Ok(problem)
    }
}

fn strict_error(problem: &Problem) -> Error {
    let kind = match problem.kind {
        ProblemKind::Truncated => ErrorKind::Truncated,
        ProblemKind::Encrypted => ErrorKind::Unsupported,
        ProblemKind::Unreadable => ErrorKind::Source,
        _ => ErrorKind::Corrupt,
    };
    let mut error = Error::new(kind, format!("{} {}", problem.kind.name(), problem.message));
    error = error.in_file(&problem.file);
    error.at_offset(problem.pos)
}

/// What a file that cannot be read, or not from `pos` on, is reported as.
pub(super) fn file_problem(error: &Error, pos: u64) -> Problem {
    let kind = match error.kind() {
        ErrorKind::Source => ProblemKind::Unreadable,
        ErrorKind::Unsupported if error.message().contains("encrypted") => ProblemKind::Encrypted,
        _ => ProblemKind::NotABinlog,
    };
    Problem::error(kind, pos, 0, error.message_with_source())
}

/// The events of one log, read block by block.
pub(super) struct LogReader {
    pub reader: EventReader,
    blocks: BlockReader,
    bytes_read: Count,
    spare: Spare,
    reported: u64,
    /// `None`: a look at the head or the tail, beside the scan.
    progress: Option<FileProgress>,
}

impl LogReader {
    pub async fn open(
        options: &BinlogOptions,
        bytes_read: Count,
        segment: &Segment,
        offset: u64,
        framer: Framer,
    ) -> Result<Self, Error> {
        let blocks = BlockReader::open(segment, offset, options.block_size()).await?;
        let framer = framer.with_length(blocks.size());
        Ok(Self {
            reader: EventReader::new(framer),
            blocks,
            bytes_read,
            spare: Spare::default(),
            reported: 0,
            progress: None,
        })
    }

    /// Tells how far it is.
    pub fn with_progress(mut self, progress: FileProgress) -> Self {
        self.progress = Some(progress);
        self
    }

    /// The next event or problem; `None` at the end.
    ///
    /// # Errors
    /// When this is not a binary log, or reading fails.
    pub async fn next(&mut self) -> Result<Option<LogNext>, Error> {
        loop {
            match self.reader.next()? {
                Next::Event(item) => return Ok(Some(LogNext::Event(item))),
                Next::Problem(problem) => return Ok(Some(LogNext::Problem(problem))),
                Next::End => return Ok(None),
                Next::NeedMore { skip, at_least } => self.fill(skip, at_least).await?,
            }
        }
    }

    /// Gives the reader what it needs, see [`Next::NeedMore`].
    ///
    /// # Errors
    /// When reading fails.
    pub async fn fill(&mut self, skip: u64, at_least: usize) -> Result<(), Error> {
        if skip > 0 {
            self.blocks.skip(skip).await?;
        }
        self.blocks.reuse(self.spare.take());
        match self.blocks.next(self.reader.tail(), at_least).await? {
            Some(bytes) => self.reader.push_block(self.spare.block(bytes)),
            None => self.reader.finish(),
        }
        let read = self.blocks.bytes_read();
        let new = read.saturating_sub(self.reported);
        self.reported = read;
        self.bytes_read.add(new as usize);
        if let Some(progress) = &mut self.progress {
            // Offsets of a plain file count what was hopped over; of an archive there are none.
            let plain = self.blocks.size().is_some();
            progress.reach(if plain { self.blocks.offset() } else { read });
        }
        // A long search shares its thread.
        tokio::task::consume_budget().await;
        Ok(())
    }
}

/// Memory of blocks that nobody looks at any more, for the next ones: fresh memory costs a fault for
/// every page of it.
#[derive(Clone, Default)]
struct Spare(Arc<Mutex<Vec<Vec<u8>>>>);

/// Blocks whose memory is kept.
const MAX_SPARE: usize = 4;
/// Memory of a block that was made for one huge event is not kept.
const MAX_SPARE_BYTES: usize = 4 << 20;

impl Spare {
    fn take(&self) -> Option<Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn block(&self, bytes: Vec<u8>) -> Block {
        Block::new(SpareBlock {
            bytes,
            spare: self.clone(),
        })
    }
}

/// A block that gives its memory back.
struct SpareBlock {
    bytes: Vec<u8>,
    spare: Spare,
}

impl AsRef<[u8]> for SpareBlock {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for SpareBlock {
    fn drop(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        let mut spare = self.spare.0.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < MAX_SPARE && bytes.capacity() <= MAX_SPARE_BYTES {
            spare.push(bytes);
        }
    }
}

pub(super) enum LogNext {
    Event(Item),
    Problem(Problem),
}

/// A scan of the events of one log.
pub(super) struct EventScan {
    scan: Arc<Scan>,
    segment: Arc<Segment>,
    log: LogReader,
    batcher: EventBatcher,
    columns: Vec<EventColumn>,
    emitted: usize,
    done: bool,
}

impl EventScan {
    pub async fn open(scan: Arc<Scan>, file: ScanFile) -> Result<BatchStream> {
        let progress = scan.progress(&file.segment);
        if !probe::may_match(&scan, &file).await {
            scan.metrics.files_skipped.add(1);
            return Ok(futures::stream::empty().boxed());
        }
        let segment = file.segment;
        let columns = scan.event_columns();
        let needs: Vec<EventColumn> = columns
            .iter()
            .copied()
            .chain(scan.filter.columns().filter_map(EventColumn::at))
            .collect();
        let batcher = EventBatcher::new(Arc::clone(&segment.name), &needs);
        let wanted = scan.filter.wanted.types;
        let bodies = structural_types(true).union(batcher.bodies(wanted));
        let opened = match &segment.rejected {
            Some(rejected) => Err(rejected.error(&segment.name)),
            None => {
                let framer = Framer::new().with_bodies(bodies);
                scan.open(&segment, 0, framer).await
            }
        };
        let log = match opened {
            Ok(log) => log.with_progress(progress),
            Err(error) => {
                scan.report(&segment, file_problem(&error, 0))?;
                return Ok(futures::stream::empty().boxed());
            }
        };
        let this = Self {
            scan,
            segment,
            log,
            batcher,
            columns,
            emitted: 0,
            done: wanted == TypeSet::NONE,
        };
        Ok(futures::stream::try_unfold(this, Self::step).boxed())
    }

    async fn step(mut self) -> Result<Option<(RecordBatch, Self)>> {
        loop {
            let limit = self.scan.limit.unwrap_or(usize::MAX);
            if self.emitted >= limit {
                return Ok(None);
            }
            // Without a filter no more candidates are gathered than rows are wanted.
            let target = if self.scan.filter.stages.is_empty() {
                self.scan.batch_size.min(limit - self.emitted)
            } else {
                self.scan.batch_size
            };
            if !self.done {
                self.gather(target).await?;
            }
            if self.batcher.is_empty() && self.done {
                return Ok(None);
            }
            let batch = self.batch(limit - self.emitted)?;
            if batch.num_rows() > 0 {
                self.emitted += batch.num_rows();
                return Ok(Some((batch, self)));
            }
            tokio::task::yield_now().await;
        }
    }

    /// Gathers candidates until there are `target` of them, or enough bytes.
    async fn gather(&mut self, target: usize) -> Result<()> {
        let mut sink = EventSink {
            batcher: &mut self.batcher,
            wanted: &self.scan.filter.wanted,
            target,
            skipped: 0,
        };
        self.done = gather(&self.scan, &self.segment, &mut self.log, &mut sink).await?;
        let skipped = sink.skipped;
        self.scan.metrics.events_skipped.add(skipped);
        self.scan.metrics.events_decoded.add(self.batcher.len());
        Ok(())
    }

    /// The candidates that match, as a batch; the candidates are gone then.
    fn batch(&mut self, limit: usize) -> Result<RecordBatch> {
        let mut problems = Vec::new();
        let mut rows: Option<Vec<u32>> = None;
        for stage in &self.scan.filter.stages {
            let count = rows.as_ref().map_or(self.batcher.len(), Vec::len);
            if count == 0 {
                break;
            }
            let columns: Vec<EventColumn> = stage
                .columns
                .iter()
                .filter_map(|&at| EventColumn::at(at))
                .collect();
            let columns = self
                .batcher
                .columns(&columns, rows.as_deref(), &mut problems);
            stage.narrow(&mut rows, columns, count)?;
        }
        if rows.as_ref().map_or(self.batcher.len(), Vec::len) > limit {
            let all = 0..self.batcher.len() as u32;
            rows.get_or_insert_with(|| all.collect()).truncate(limit);
        }
        let count = rows.as_ref().map_or(self.batcher.len(), Vec::len);
        let columns = self
            .batcher
            .columns(&self.columns, rows.as_deref(), &mut problems);
        self.batcher.clear();
        for problem in problems {
            self.scan.report(&self.segment, problem)?;
        }
        let options = RecordBatchOptions::new().with_row_count(Some(count));
        Ok(RecordBatch::try_new_with_options(
            Arc::clone(&self.scan.schema),
            columns,
            &options,
        )?)
    }
}

struct EventSink<'a> {
    batcher: &'a mut EventBatcher,
    wanted: &'a Wanted,
    target: usize,
    skipped: usize,
}

impl Sink for EventSink<'_> {
    fn is_full(&self) -> bool {
        self.batcher.len() >= self.target || self.batcher.held() >= MAX_HELD
    }

    #[inline]
    fn event(&mut self, item: &Item, reader: &EventReader, _: &mut Vec<Problem>) -> bool {
        if item.pos > *self.wanted.pos.end() {
            return false;
        }
        self.batcher.observe(item, reader.block(), reader.format());
        if self.wanted.admits(item) {
            self.batcher.push(item, reader.block(), reader.format());
        } else {
            self.skipped += 1;
        }
        true
    }
}

/// Takes the events of a log until it has enough.
pub(super) trait Sink {
    /// It has enough.
    fn is_full(&self) -> bool;

    /// Takes an event, and notes what is wrong with it; `false`: it wants no further one.
    fn event(&mut self, item: &Item, reader: &EventReader, problems: &mut Vec<Problem>) -> bool;
}

/// Feeds `sink` with the next events of a log; the answer is whether it wants no more, or the log
/// is at its end.
pub(super) async fn gather(
    scan: &Scan,
    segment: &Segment,
    log: &mut LogReader,
    sink: &mut impl Sink,
) -> Result<bool> {
    let mut problems = Vec::new();
    while !sink.is_full() {
        // Straight to the reader: only its need for bytes is worth waiting for.
        let problem = match log.reader.next() {
            Ok(Next::Event(item)) => {
                if !sink.event(&item, &log.reader, &mut problems) {
                    return Ok(true);
                }
                if problems.is_empty() {
                    continue;
                }
                for problem in problems.drain(..) {
                    scan.report(segment, problem)?;
                }
                continue;
            }
            Ok(Next::NeedMore { skip, at_least }) => match log.fill(skip, at_least).await {
                Ok(()) => continue,
                Err(error) => Err(file_problem(&error, log.reader.position())),
            },
            Ok(Next::Problem(problem)) => Ok(problem),
            Ok(Next::End) => return Ok(true),
            Err(error) => Err(file_problem(&error, log.reader.position())),
        };
        match problem {
            Ok(problem) => scan.report(segment, problem)?,
            Err(last) => {
                scan.report(segment, last)?;
                return Ok(true);
            }
        };
    }
    Ok(false)
}

/// The row of one log in `files`.
pub(super) async fn files(scan: Arc<Scan>, file: ScanFile) -> Result<BatchStream> {
    let _progress = scan.progress(&file.segment);
    let (row, problems) = probe::probe(&scan, &file.segment).await;
    for problem in problems {
        scan.report(&file.segment, problem)?;
    }
    let batch = scan.project(&file_batch(&[row])?)?;
    Ok(futures::stream::iter([Ok(batch)]).boxed())
}
