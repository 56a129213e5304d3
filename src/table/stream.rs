//! The loop that joins the stages: blocks from a source, events from the blocks, batches from the
//! events.
//!
//! **Invariants:** it is the only place that holds a source, a reader and a batcher. A batch is
//! bounded in rows and in the bytes that it keeps alive; between batches the task yields, so a
//! query can be cancelled.

use super::filter::EventFilter;
use super::metrics::ScanMetrics;
use super::options::{BinlogOptions, FileProgress};
use super::partition::ScanFile;
use super::probe;
use super::relation::Relation;
use crate::batch::columns::EventColumn;
use crate::batch::events::EventBatcher;
use crate::batch::files::file_batch;
use crate::batch::problems::problem_batch;
use crate::binlog::fields::Checker;
use crate::binlog::frame::{Framer, TypeSet};
use crate::binlog::problem::{Problem, ProblemKind, Severity};
use crate::binlog::reader::{Block, EventReader, Item, Next, structural_types};
use crate::error::{Error, ErrorKind};
use crate::source::{BlockReader, Segment};
use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use datafusion::common::{DataFusionError, Result};
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use std::sync::Arc;

/// Everything that the files of a scan have in common.
pub(super) struct Scan {
    pub relation: Relation,
    pub options: BinlogOptions,
    /// The projected columns, as a schema and as places in the relation's schema.
    pub schema: SchemaRef,
    pub columns: Vec<usize>,
    pub filter: EventFilter,
    pub batch_size: usize,
    pub limit: Option<usize>,
    pub metrics: ScanMetrics,
}

type BatchStream = BoxStream<'static, Result<RecordBatch>>;

/// Bytes of blocks that the candidates of one batch keep alive at most.
const MAX_HELD: usize = 16 << 20;

impl Scan {
    /// Reports a problem of a file.
    ///
    /// # Errors
    /// The problem itself, where the source is read strictly and the problem is an error.
    fn report(&self, segment: &Segment, mut problem: Problem) -> Result<Problem, Error> {
        problem.file = Arc::clone(&segment.name);
        self.metrics.problems.add(1);
        self.options.problem_log().report(&problem);
        if self.options.strict() && problem.severity == Severity::Error {
            return Err(strict_error(&problem));
        }
        Ok(problem)
    }

    /// How far the scan of this file is, for the scan that planned it.
    fn progress(&self, segment: &Segment) -> FileProgress {
        self.options.progress().file(segment.size)
    }

    fn project(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        Ok(batch.project(&self.columns)?)
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
    scan: Arc<Scan>,
    reported: u64,
    /// `None`: a look at the head or the tail, beside the scan.
    progress: Option<FileProgress>,
}

impl LogReader {
    pub async fn open(
        scan: &Arc<Scan>,
        segment: &Segment,
        offset: u64,
        framer: Framer,
    ) -> Result<Self, Error> {
        let blocks = BlockReader::open(segment, offset, scan.options.block_size()).await?;
        let framer = framer.with_length(blocks.size());
        Ok(Self {
            reader: EventReader::new(framer),
            blocks,
            scan: Arc::clone(scan),
            reported: 0,
            progress: None,
        })
    }

    /// Tells how far it is.
    fn with_progress(mut self, progress: FileProgress) -> Self {
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

    async fn fill(&mut self, skip: u64, at_least: usize) -> Result<(), Error> {
        if skip > 0 {
            self.blocks.skip(skip).await?;
        }
        match self.blocks.next(self.reader.tail(), at_least).await? {
            Some(block) => self.reader.push_block(Block::new(block)),
            None => self.reader.finish(),
        }
        let read = self.blocks.bytes_read();
        let new = read.saturating_sub(self.reported);
        self.reported = read;
        self.scan.metrics.bytes_read.add(new as usize);
        if let Some(progress) = &mut self.progress {
            // Offsets of a plain file count what was hopped over; of an archive there are none.
            let plain = self.blocks.size().is_some();
            progress.reach(if plain { self.blocks.offset() } else { read });
        }
        Ok(())
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
            .chain(scan.filter.columns())
            .collect();
        let batcher = EventBatcher::new(Arc::clone(&segment.name), &needs);
        let wanted = scan.filter.wanted.types;
        let bodies = structural_types(true).union(batcher.bodies(wanted));
        let opened = match &segment.rejected {
            Some(rejected) => Err(rejected.error(&segment.name)),
            None => {
                let framer = Framer::new().with_bodies(bodies);
                LogReader::open(&scan, &segment, 0, framer).await
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
            self.gather(target).await?;
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
        let mut skipped = 0usize;
        let wanted = &self.scan.filter.wanted;
        while !self.done && self.batcher.len() < target && self.batcher.held() < MAX_HELD {
            // Straight to the reader: only its need for bytes is worth waiting for.
            let problem = match self.log.reader.next() {
                Ok(Next::Event(item)) => {
                    if item.pos > *wanted.pos.end() {
                        self.done = true;
                        break;
                    }
                    let reader = &self.log.reader;
                    self.batcher.observe(&item, reader.block(), reader.format());
                    if wanted.admits(&item) {
                        self.batcher.push(&item, reader.block(), reader.format());
                    } else {
                        skipped += 1;
                    }
                    continue;
                }
                Ok(Next::NeedMore { skip, at_least }) => {
                    match self.log.fill(skip, at_least).await {
                        Ok(()) => {
                            // A long search shares its thread.
                            tokio::task::consume_budget().await;
                            continue;
                        }
                        Err(error) => {
                            self.done = true;
                            file_problem(&error, self.log.reader.position())
                        }
                    }
                }
                Ok(Next::Problem(problem)) => problem,
                Ok(Next::End) => {
                    self.done = true;
                    break;
                }
                Err(error) => {
                    self.done = true;
                    file_problem(&error, self.log.reader.position())
                }
            };
            self.scan.report(&self.segment, problem)?;
        }
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
            let columns = self
                .batcher
                .columns(&stage.columns, rows.as_deref(), &mut problems);
            let mask = stage.evaluate(columns, count)?;
            if mask.true_count() < count {
                let at = |i: usize| rows.as_ref().map_or(i as u32, |rows| rows[i]);
                rows = Some(mask.values().set_indices().map(at).collect());
            }
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

/// The rows of one log in `problems`: everything is verified and decoded.
pub(super) async fn problems(scan: Arc<Scan>, file: ScanFile) -> Result<BatchStream> {
    let progress = scan.progress(&file.segment);
    let opened = match &file.segment.rejected {
        Some(rejected) => Err(rejected.error(&file.segment.name)),
        None => {
            let framer = Framer::new().with_verify(true);
            LogReader::open(&scan, &file.segment, 0, framer).await
        }
    };
    let state = match opened {
        Ok(log) => ProblemScan {
            scan,
            segment: file.segment,
            log: Some(log.with_progress(progress)),
            checker: Checker::default(),
            found: Vec::new(),
        },
        Err(error) => {
            let found = vec![scan.report(&file.segment, file_problem(&error, 0))?];
            ProblemScan {
                scan,
                segment: file.segment,
                log: None,
                checker: Checker::default(),
                found,
            }
        }
    };
    let rows = futures::stream::try_unfold(state, ProblemScan::step);
    Ok(rows.map_err(DataFusionError::from).boxed())
}

struct ProblemScan {
    scan: Arc<Scan>,
    segment: Arc<Segment>,
    log: Option<LogReader>,
    checker: Checker,
    found: Vec<Problem>,
}

impl ProblemScan {
    async fn step(mut self) -> Result<Option<(RecordBatch, Self)>> {
        let mut events = 0usize;
        while let Some(log) = &mut self.log
            && self.found.len() < self.scan.batch_size
        {
            match log.next().await {
                Ok(Some(LogNext::Event(item))) => {
                    let raw = item.raw(log.reader.block());
                    let format = log.reader.format();
                    for problem in self.checker.check(&raw, item.payload_index, format) {
                        self.found.push(self.scan.report(&self.segment, problem)?);
                    }
                    events += 1;
                    if events.is_multiple_of(1 << 12) {
                        tokio::task::yield_now().await;
                    }
                }
                Ok(Some(LogNext::Problem(problem))) => {
                    self.found.push(self.scan.report(&self.segment, problem)?);
                }
                Ok(None) => self.log = None,
                Err(error) => {
                    let problem = file_problem(&error, log.reader.position());
                    self.found.push(self.scan.report(&self.segment, problem)?);
                    self.log = None;
                }
            }
        }
        self.scan.metrics.events_decoded.add(events);
        if self.found.is_empty() {
            return Ok(None);
        }
        let found = std::mem::take(&mut self.found);
        let batch = self.scan.project(&problem_batch(&found)?)?;
        Ok(Some((batch, self)))
    }
}
