//! The scan of the rows of one log: `changes`, and the relation of one table.
//!
//! ```text
//! events that may match ─▶ filter on what is known of the event ─▶ rows located, as many as fit a batch
//!                                                                    └▶ filter on values, column by column ─▶ batch
//! ```

use super::filter::Stage;
use super::meaning::ROWS;
use super::partition::ScanFile;
use super::probe;
use super::source::RowsOf;
use super::stream::{BatchStream, LogReader, MAX_HELD, Scan, Sink, file_problem, gather};
use crate::batch::rows::{EventPlace, MapsOnly, Plans, RowBatcher, RowColumn};
use crate::binlog::event::TableMapOwned;
use crate::binlog::frame::{Framer, TypeSet};
use crate::binlog::problem::{Problem, ProblemKind, Severity};
use crate::binlog::reader::{EventReader, Item, structural_types};
use crate::binlog::row::RowPlan;
use crate::error::Error;
use crate::schema::Dictionary;
use crate::source::Segment;
use arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::common::{DataFusionError, Result};
use futures::StreamExt;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Candidate events that are gathered at a time: they are cheap, as no row of them is looked at.
const MAX_EVENTS: usize = 8192;
/// Candidates that are gathered first where a few rows may be enough; then ever more.
const FIRST_EVENTS: usize = 64;

/// Plans by what is known of the tables at each place of a file.
pub(super) struct KnownPlans {
    dictionary: Arc<Dictionary>,
    file: u32,
}

impl KnownPlans {
    /// Plans for the rows of `file`.
    pub fn new(dictionary: Arc<Dictionary>, file: &str) -> Self {
        let file = dictionary.file_number(file);
        Self { dictionary, file }
    }
}

impl KnownPlans {
    /// The same, where each is asked for again and again.
    pub fn remembered(
        self,
    ) -> impl Fn(&Arc<TableMapOwned>, u64, Option<u32>) -> Option<Arc<RowPlan>> + Send + Sync {
        let known: Mutex<HashMap<usize, RememberedPlan>> = Mutex::default();
        move |map, pos, payload_index| {
            let place = (pos, payload_index);
            let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
            let key = Arc::as_ptr(map) as usize;
            if let Some(plan) = known.get(&key)
                && plan.until.is_none_or(|until| place < until)
            {
                return Some(Arc::clone(&plan.plan));
            }
            let (plan, until) = self.plan(map, place).ok()?;
            if known.len() >= MAX_REMEMBERED {
                known.clear();
            }
            let remembered = RememberedPlan {
                plan: Arc::clone(&plan),
                until,
                _map: Arc::clone(map),
            };
            known.insert(key, remembered);
            Some(plan)
        }
    }
}

/// A plan of one table map.
struct RememberedPlan {
    plan: Arc<RowPlan>,
    until: Option<EventPlace>,
    /// While it is kept, its address means no other.
    _map: Arc<TableMapOwned>,
}

/// Table maps whose plans are kept at a time.
const MAX_REMEMBERED: usize = 16 << 10;

impl Plans for KnownPlans {
    fn plan(
        &self,
        map: &TableMapOwned,
        place: EventPlace,
    ) -> Result<(Arc<RowPlan>, Option<EventPlace>), Error> {
        self.dictionary.plan(map, self.file, place)
    }
}

/// A scan of the rows of one log.
pub(super) struct RowScan {
    scan: Arc<Scan>,
    segment: Arc<Segment>,
    log: LogReader,
    batcher: RowBatcher,
    /// The relation has this many stages that need no row, then those that do.
    event_stages: usize,
    columns: Vec<RowColumn>,
    /// Candidates to gather the next time.
    portion: usize,
    emitted: usize,
    /// Offset of the first event that is not of the scan.
    end: u64,
    done: bool,
}

impl RowScan {
    pub async fn open(scan: Arc<Scan>, file: ScanFile) -> Result<BatchStream> {
        let progress = scan.progress_of(&file);
        let Some(RowsOf { layout, dictionary }) = scan.rows.clone() else {
            let what = "a scan of rows without the columns of its relation";
            return Err(DataFusionError::Internal(what.to_owned()));
        };
        if !probe::may_match(&scan, &file).await {
            scan.metrics.files_skipped.add(1);
            return Ok(futures::stream::empty().boxed());
        }
        let (start, end) = (file.start(), file.end.unwrap_or(u64::MAX));
        let framer = match file.begin {
            Some(framer) => Framer::clone(&framer),
            None => Framer::new(),
        };
        let segment = file.segment;
        let column = |&at: &usize| layout.at(at);
        let columns: Vec<RowColumn> = scan.columns.iter().filter_map(column).collect();
        let mut needs = columns.clone();
        needs.extend(scan.filter.columns().filter_map(|at| layout.at(at)));
        let plans: Box<dyn Plans> = match dictionary {
            Some(dictionary) => {
                if start == 0 {
                    report_lost_names(&scan, &segment, &dictionary)?;
                }
                Box::new(KnownPlans::new(dictionary, &segment.name))
            }
            None => Box::new(MapsOnly),
        };
        let name = Arc::clone(&segment.name);
        let batcher = RowBatcher::new(name, layout, &needs, &scan.before, plans);
        let wanted = scan.filter.wanted.types;
        let bodies = structural_types(true).union(batcher.bodies(wanted));
        let opened = match &segment.rejected {
            Some(rejected) => Err(rejected.error(&segment.name)),
            None => {
                let framer = framer.with_bodies(bodies);
                scan.open(&segment, start, framer).await
            }
        };
        let log = match opened {
            Ok(log) => log.with_progress(progress),
            Err(error) => {
                scan.report(&segment, file_problem(&error, 0))?;
                return Ok(futures::stream::empty().boxed());
            }
        };
        let of_event = |stage: &&Stage| stage.cost < ROWS;
        let this = Self {
            event_stages: scan.filter.stages.iter().take_while(of_event).count(),
            portion: scan
                .limit
                .map_or(MAX_EVENTS, |rows| rows.clamp(FIRST_EVENTS, MAX_EVENTS)),
            scan,
            segment,
            log,
            batcher,
            columns,
            emitted: 0,
            end,
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
            if self.batcher.is_exhausted() {
                self.batcher.clear();
                if self.done {
                    return Ok(None);
                }
                self.gather(limit - self.emitted).await?;
                self.choose()?;
            }
            let batch = self.batch(limit - self.emitted)?;
            if batch.num_rows() > 0 {
                self.emitted += batch.num_rows();
                return Ok(Some((batch, self)));
            }
            tokio::task::yield_now().await;
        }
    }

    /// Gathers events that may have rows that match.
    async fn gather(&mut self, rows: usize) -> Result<()> {
        let unfiltered = self.scan.filter.stages.is_empty();
        let mut sink = RowSink {
            batcher: &mut self.batcher,
            scan: &self.scan,
            end: self.end,
            // Each has a row at least.
            target: if unfiltered {
                rows.min(MAX_EVENTS)
            } else {
                self.portion
            },
            skipped: 0,
        };
        self.portion = (self.portion * 4).min(MAX_EVENTS);
        self.done = gather(&self.scan, &self.segment, &mut self.log, &mut sink).await?;
        let skipped = sink.skipped;
        self.scan.metrics.events_skipped.add(skipped);
        Ok(())
    }

    /// Chooses among the gathered events those whose rows are to be looked at.
    fn choose(&mut self) -> Result<()> {
        let mut chosen: Option<Vec<u32>> = None;
        for stage in &self.scan.filter.stages[..self.event_stages] {
            let count = chosen.as_ref().map_or(self.batcher.len(), Vec::len);
            if count == 0 {
                break;
            }
            let columns = self
                .batcher
                .event_columns(&self.row_columns(stage), chosen.as_deref());
            stage.narrow(&mut chosen, columns, count)?;
        }
        let count = chosen.as_ref().map_or(self.batcher.len(), Vec::len);
        self.scan
            .metrics
            .events_skipped
            .add(self.batcher.len() - count);
        self.scan.metrics.events_decoded.add(count);
        self.batcher.choose(chosen);
        Ok(())
    }

    fn row_columns(&self, stage: &Stage) -> Vec<RowColumn> {
        let layout = self.batcher.layout();
        stage
            .columns
            .iter()
            .filter_map(|&at| layout.at(at))
            .collect()
    }

    /// The next rows that match, as a batch.
    fn batch(&mut self, limit: usize) -> Result<RecordBatch> {
        let mut problems = Vec::new();
        let stages = &self.scan.filter.stages[self.event_stages..];
        let target = if stages.is_empty() {
            self.scan.batch_size.min(limit)
        } else {
            self.scan.batch_size
        };
        let located = self.batcher.locate(target, &mut problems);
        let before = &self.scan.before;
        let mut rows: Option<Vec<u32>> = None;
        for stage in stages {
            let count = rows.as_ref().map_or(located, Vec::len);
            if count == 0 {
                break;
            }
            let columns = self.row_columns(stage);
            let columns = self
                .batcher
                .columns(&columns, before, rows.as_deref(), &mut problems);
            stage.narrow(&mut rows, columns, count)?;
        }
        if rows.as_ref().map_or(located, Vec::len) > limit {
            rows.get_or_insert_with(|| (0..located as u32).collect())
                .truncate(limit);
        }
        let count = rows.as_ref().map_or(located, Vec::len);
        self.scan.metrics.rows_skipped.add(located - count);
        let columns = self
            .batcher
            .columns(&self.columns, before, rows.as_deref(), &mut problems);
        self.batcher.clear_rows();
        for problem in problems {
            self.scan.report(&self.segment, problem)?;
        }
        let options = RecordBatchOptions::new().with_row_count(Some(count));
        let schema = Arc::clone(&self.scan.schema);
        Ok(RecordBatch::try_new_with_options(
            schema, columns, &options,
        )?)
    }
}

struct RowSink<'a> {
    batcher: &'a mut RowBatcher,
    scan: &'a Scan,
    end: u64,
    target: usize,
    skipped: usize,
}

impl Sink for RowSink<'_> {
    fn is_full(&self) -> bool {
        self.batcher.len() >= self.target || self.batcher.held() >= MAX_HELD
    }

    #[inline]
    fn event(&mut self, item: &Item, reader: &EventReader, problems: &mut Vec<Problem>) -> bool {
        let wanted = &self.scan.filter.wanted;
        if item.pos > *wanted.pos.end() || item.pos >= self.end {
            return false;
        }
        let (block, format) = (reader.block(), reader.format());
        self.batcher.observe(item, block, format, problems);
        if wanted.admits(item) && self.batcher.is_of_relation() {
            self.batcher.push(item, block, format);
        } else {
            self.skipped += 1;
        }
        true
    }
}

/// Tells of statements in this log after which names are not known.
fn report_lost_names(scan: &Scan, segment: &Segment, dictionary: &Dictionary) -> Result<()> {
    for problem in lost_names(segment, dictionary) {
        scan.report(segment, problem)?;
    }
    Ok(())
}

/// Statements in this log after which names are not known, as problems.
pub(super) fn lost_names(segment: &Segment, dictionary: &Dictionary) -> Vec<Problem> {
    let file = dictionary.file_number(&segment.name);
    let lost = dictionary.lost().iter().filter(|lost| lost.file == file);
    lost.map(|lost| {
        let (pos, payload_index) = lost.place;
        let mut problem = Problem::error(ProblemKind::UnknownNames, pos, 0, lost.message.as_str())
            .with_severity(Severity::Warning);
        problem.payload_index = payload_index;
        problem
    })
    .collect()
}
