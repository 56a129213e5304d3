//! The relation `problems`: everything of a log is verified and decoded.

use super::partition::ScanFile;
use super::rows::{KnownPlans, lost_names};
use super::stream::{BatchStream, LogNext, LogReader, Scan, file_problem};
use crate::batch::problems::problem_batch;
use crate::binlog::fields::Checker;
use crate::binlog::frame::Framer;
use crate::binlog::problem::Problem;
use crate::source::Segment;
use arrow::array::RecordBatch;
use datafusion::common::{DataFusionError, Result};
use futures::{StreamExt, TryStreamExt};
use std::sync::Arc;

/// The rows of one log in `problems`: everything is verified and decoded.
pub(super) async fn scan(scan: Arc<Scan>, file: ScanFile) -> Result<BatchStream> {
    let progress = scan.progress(&file.segment);
    let opened = match &file.segment.rejected {
        Some(rejected) => Err(rejected.error(&file.segment.name)),
        None => {
            let framer = Framer::new().with_verify(true);
            scan.open(&file.segment, 0, framer).await
        }
    };
    let state = match opened {
        Ok(log) => {
            let dictionary = scan.rows.as_ref().and_then(|rows| rows.dictionary.clone());
            let (checker, lost) = match dictionary {
                Some(dictionary) => {
                    let lost = lost_names(&file.segment, &dictionary);
                    let plans = KnownPlans::new(dictionary, &file.segment.name);
                    (Checker::with_plans(plans.remembered()), lost)
                }
                None => (Checker::default(), Vec::new()),
            };
            let reported = lost
                .into_iter()
                .map(|problem| scan.report(&file.segment, problem));
            ProblemScan {
                found: reported.collect::<Result<_, _>>()?,
                scan,
                segment: file.segment,
                log: Some(log.with_progress(progress)),
                checker,
            }
        }
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
