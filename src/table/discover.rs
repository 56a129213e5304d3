//! Finds the tables of a source: one pass over each log that looks at table maps and statements.
//!
//! What was found of a log is kept as long as the source is open and the log does not change, so a
//! log is read once for any number of queries.

use super::options::{BinlogOptions, FileProgress};
use super::pieces;
use super::stream::{LogReader, file_problem};
use crate::binlog::frame::Framer;
use crate::binlog::problem::Problem;
use crate::binlog::reader::{Next, structural_types};
use crate::error::{Error, Result};
use crate::schema::{Dictionary, FileTables, TableCollector};
use crate::source::{Location, Segment};
use datafusion::common::runtime::SpawnedTask;
use datafusion::physical_plan::metrics::Count;
use futures::StreamExt;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;
use tokio::sync::Mutex;

/// Identity of a log: while it is the same, so is what was found.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct FileKey {
    location: String,
    size: u64,
    modified: Option<SystemTime>,
    e_tag: Option<String>,
}

impl FileKey {
    fn of(segment: &Segment) -> Self {
        Self {
            location: segment.display_location(),
            size: segment.size,
            modified: segment.modified,
            e_tag: match &segment.location {
                Location::Store { e_tag, .. } => e_tag.clone(),
                _ => None,
            },
        }
    }
}

/// What was found so far of the logs of a source.
#[derive(Debug, Default)]
pub(super) struct Discovery(Mutex<Found>);

#[derive(Debug, Default)]
struct Found {
    logs: HashMap<FileKey, ReadLog>,
    /// The logs that the dictionary is of, and it.
    last: Option<(Vec<FileKey>, Arc<Dictionary>)>,
}

/// A log that was read for its tables.
#[derive(Debug)]
struct ReadLog {
    tables: Arc<FileTables>,
    /// What was wrong with it.
    problems: Vec<Problem>,
}

/// Problems of one log that are kept.
const MAX_PROBLEMS: usize = 1000;

impl Discovery {
    /// This one, or an empty one if someone is reading with this one just now. For callers who
    /// block their thread: the reader may need it.
    pub fn or_apart(this: &Arc<Self>) -> Arc<Self> {
        match this.0.try_lock() {
            Ok(_) => Arc::clone(this),
            Err(_) => Arc::default(),
        }
    }

    /// The tables of these logs, which are in order. Logs that are not known yet are read, as many
    /// at a time as `parallel`.
    ///
    /// # Errors
    /// A log that has more tables than memory is meant for. What else is wrong with a log is
    /// reported by the scan that reads its rows, or by [`Self::report`] where there is none.
    pub async fn dictionary(
        &self,
        segments: &[Arc<Segment>],
        options: &BinlogOptions,
        parallel: usize,
    ) -> Result<Arc<Dictionary>> {
        // Others wait meanwhile, rather than to read the same logs.
        let mut found = self.0.lock().await;
        let keys: Vec<FileKey> = segments
            .iter()
            .map(|segment| FileKey::of(segment))
            .collect();
        if let Some((known, dictionary)) = &found.last
            && *known == keys
        {
            return Ok(Arc::clone(dictionary));
        }
        // All of it is work to be done, from the start: a bar that shows it never runs back.
        let progress = options.progress();
        let unknown: Vec<(FileKey, Arc<Segment>, FileProgress)> = keys
            .iter()
            .zip(segments)
            .filter(|(key, _)| !found.logs.contains_key(*key))
            .map(|(key, segment)| {
                progress.add_total(segment.size);
                let progress = progress.file(segment.size);
                (key.clone(), Arc::clone(segment), progress)
            })
            .collect();
        // Fewer logs than threads are read in pieces.
        let pieces = parallel / unknown.len().max(1);
        let mut reads = futures::stream::iter(unknown)
            .map(|(key, segment, progress)| {
                let options = options.clone();
                let read = async move {
                    match pieces::read(&segment, &options, pieces).await? {
                        // Where anything is wrong it is not read in pieces.
                        Some(tables) => Ok((tables, Vec::new())),
                        None => read_tables(&segment, &options, progress).await,
                    }
                };
                let task = SpawnedTask::spawn(read);
                async move { (key, task.join_unwind().await) }
            })
            .buffer_unordered(parallel.max(1));
        while let Some((key, tables)) = reads.next().await {
            let (tables, problems) = tables.map_err(|error| {
                Error::source("reading the tables of a log was cancelled", error)
            })??;
            let tables = Arc::new(tables);
            found.logs.insert(key, ReadLog { tables, problems });
        }
        drop(reads);
        found.logs.retain(|key, _| keys.contains(key));
        let logs = keys.iter().zip(segments).filter_map(|(key, segment)| {
            let log = found.logs.get(key)?;
            Some((Arc::clone(&segment.name), Arc::clone(&log.tables)))
        });
        let dictionary = Arc::new(Dictionary::new(logs, options.schema_file()));
        found.last = Some((keys, Arc::clone(&dictionary)));
        Ok(dictionary)
    }

    /// Reports what was wrong with these logs when their tables were looked for.
    ///
    /// # Errors
    /// The first problem of severity error, where the source is read strictly.
    pub async fn report(&self, segments: &[Arc<Segment>], options: &BinlogOptions) -> Result<()> {
        let found = self.0.lock().await;
        for segment in segments {
            let problems = found.logs.get(&FileKey::of(segment));
            for problem in problems.map_or(&[][..], |log| &log.problems) {
                options.report(segment, problem.clone())?;
            }
        }
        Ok(())
    }
}

/// The tables of one log, and what is wrong with it.
async fn read_tables(
    segment: &Segment,
    options: &BinlogOptions,
    progress: FileProgress,
) -> Result<(FileTables, Vec<Problem>)> {
    let mut collector = TableCollector::default();
    let mut problems = Vec::new();
    if let Some(rejected) = &segment.rejected {
        problems.push(file_problem(&rejected.error(&segment.name), 0));
        return Ok((collector.finish(), problems));
    }
    let framer = Framer::new().with_bodies(structural_types(true).union(TableCollector::bodies()));
    let mut log = match LogReader::open(options, Count::new(), segment, 0, framer).await {
        Ok(log) => log,
        Err(error) => {
            problems.push(file_problem(&error, 0));
            return Ok((collector.finish(), problems));
        }
    };
    log = log.with_progress(progress);
    loop {
        // Straight to the reader: only its need for bytes is worth waiting for.
        match log.reader.next() {
            Ok(Next::Event(item)) => {
                let (block, format) = (log.reader.block(), log.reader.format());
                let observed = collector.observe(&item, block, format);
                observed.map_err(|error| error.in_file(&segment.name))?;
                collector.cut_behind(&item, &log.reader);
            }
            Ok(Next::NeedMore { skip, at_least }) => {
                if let Err(error) = log.fill(skip, at_least).await {
                    problems.push(file_problem(&error, log.reader.position()));
                    return Ok((collector.finish(), problems));
                }
            }
            Ok(Next::Problem(problem)) => {
                if problems.len() < MAX_PROBLEMS {
                    problems.push(problem);
                }
            }
            Ok(Next::End) => return Ok((collector.finish(), problems)),
            Err(error) => {
                problems.push(file_problem(&error, log.reader.position()));
                return Ok((collector.finish(), problems));
            }
        }
    }
}
