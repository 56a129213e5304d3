//! Options of a source: typed here, with one list of their names for SQL.

use crate::batch::values::{TypeOptions, ZeroDates};
use crate::binlog::problem::{Problem, ProblemKind, Severity};
use crate::error::{Error, Result};
use crate::schema::SchemaFile;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// How a source is read.
///
/// ```
/// use datafusion_binlog::{BinlogOptions, SchemaFile, ZeroDates};
/// # fn main() -> datafusion_binlog::Result<()> {
/// let names = SchemaFile::parse("USE shop; CREATE TABLE orders (id INT PRIMARY KEY, at DATE);", None)?;
/// assert!(names.problems().is_empty());
/// let options = BinlogOptions::default()
///     .with_strict(true)
///     .with_schema_file(names)
///     .with_zero_dates(ZeroDates::Text);
/// assert!(options.strict());
/// assert_eq!(options.schema_file().map_or(0, |file| file.table_names().len()), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct BinlogOptions {
    strict: bool,
    block_size: usize,
    assume_time_order: bool,
    schema_file: Option<Arc<SchemaFile>>,
    types: TypeOptions,
    problems: ProblemLog,
    progress: ScanProgress,
}

/// Name, meaning: what `OPTIONS ('binlog.name' 'value')` takes.
pub const OPTION_NAMES: &[(&str, &str)] = &[
    (
        "binlog.relation",
        "binlog (default), changes, tables, columns, files, problems, or a table of the log as schema.table",
    ),
    (
        "binlog.schema_file",
        "file of CREATE TABLE statements, as mysqldump --no-data writes it: names that the log does not have",
    ),
    (
        "binlog.zero_dates",
        "null (default): a date that no calendar has is null; text: DATE, DATETIME and TIMESTAMP are text",
    ),
    (
        "binlog.strict",
        "true: the first problem of severity error ends the query",
    ),
    (
        "binlog.block_size",
        "bytes that are read at a time, 64 KiB to 64 MiB",
    ),
    (
        "binlog.assume_time_order",
        "true: a file holds no timestamps outside those of its first and last event, so a filter \
         on timestamp may skip files",
    ),
];

impl Default for BinlogOptions {
    fn default() -> Self {
        Self {
            strict: false,
            block_size: 1 << 20,
            assume_time_order: false,
            schema_file: None,
            types: TypeOptions::default(),
            problems: ProblemLog::new(),
            progress: ScanProgress::default(),
        }
    }
}

impl BinlogOptions {
    /// Whether the first problem of severity error ends a query. Default: no.
    #[must_use]
    pub fn with_strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// See [`Self::with_strict`].
    pub fn strict(&self) -> bool {
        self.strict
    }

    /// Bytes that are read at a time; kept between 64 KiB and 64 MiB. Default: 1 MiB.
    #[must_use]
    pub fn with_block_size(mut self, bytes: usize) -> Self {
        self.block_size = bytes.clamp(64 << 10, 64 << 20);
        self
    }

    /// See [`Self::with_block_size`].
    pub fn block_size(&self) -> usize {
        self.block_size
    }

    /// Whether a filter on `timestamp` may skip a file by the timestamps of its first and last
    /// event. Default: no, because timestamps are when a statement *began* and can be set by the
    /// client: a file may hold one that is outside its neighbours'. With it, such an event can be
    /// missed.
    #[must_use]
    pub fn with_assume_time_order(mut self, assume: bool) -> Self {
        self.assume_time_order = assume;
        self
    }

    /// See [`Self::with_assume_time_order`].
    pub fn assume_time_order(&self) -> bool {
        self.assume_time_order
    }

    /// What the tables looked like, for those of which the log does not tell: names of columns,
    /// labels, character sets. What the log tells comes first, and a declaration is used only where
    /// the number of columns and every type fit.
    #[must_use]
    pub fn with_schema_file(mut self, schema_file: SchemaFile) -> Self {
        self.schema_file = Some(Arc::new(schema_file));
        self
    }

    /// See [`Self::with_schema_file`].
    pub fn schema_file(&self) -> Option<&SchemaFile> {
        self.schema_file.as_deref()
    }

    /// How dates that no calendar has (`0000-00-00`, `2000-00-15`) are shown in the relations of
    /// tables. Default: null, and a problem of severity warning.
    #[must_use]
    pub fn with_zero_dates(mut self, zero_dates: ZeroDates) -> Self {
        self.types.zero_dates = zero_dates;
        self
    }

    /// See [`Self::with_zero_dates`].
    pub fn zero_dates(&self) -> ZeroDates {
        self.types.zero_dates
    }

    /// How values become Arrow values.
    pub(crate) fn types(&self) -> &TypeOptions {
        &self.types
    }

    /// Where scans report the problems that they meet.
    #[must_use]
    pub fn with_problem_log(mut self, log: ProblemLog) -> Self {
        self.problems = log;
        self
    }

    /// See [`Self::with_problem_log`].
    pub fn problem_log(&self) -> &ProblemLog {
        &self.problems
    }

    /// Where scans report how far they are.
    #[must_use]
    pub fn with_progress(mut self, progress: ScanProgress) -> Self {
        self.progress = progress;
        self
    }

    /// See [`Self::with_progress`].
    pub fn progress(&self) -> &ScanProgress {
        &self.progress
    }

    /// Takes options as SQL gives them; a name that is not ours is an error that lists ours.
    /// `binlog.relation` is left to the caller.
    ///
    /// # Errors
    /// An unknown name, or a value that does not fit it.
    pub fn with_sql_options(mut self, options: &HashMap<String, String>) -> Result<Self> {
        // In order, so that the same statement always fails with the same text.
        for (name, value) in options.iter().collect::<BTreeMap<_, _>>() {
            match name.as_str() {
                "binlog.relation" => {}
                "binlog.strict" => self.strict = boolean(name, value)?,
                "binlog.assume_time_order" => self.assume_time_order = boolean(name, value)?,
                "binlog.zero_dates" => {
                    self.types.zero_dates = match value.to_ascii_lowercase().as_str() {
                        "null" => ZeroDates::Null,
                        "text" => ZeroDates::Text,
                        _ => {
                            return Err(Error::invalid(format!(
                                "option {name}: '{value}' is neither null nor text"
                            )));
                        }
                    };
                }
                "binlog.schema_file" => {
                    self = self.with_schema_file(read_schema_file(value)?);
                }
                "binlog.block_size" => {
                    let bytes = value.parse().map_err(|_| {
                        Error::invalid(format!("option {name}: '{value}' is not a number"))
                    })?;
                    self = self.with_block_size(bytes);
                }
                _ => {
                    let known: Vec<&str> = OPTION_NAMES.iter().map(|(name, _)| *name).collect();
                    // DataFusion puts this before a name without a dot.
                    let name = name.strip_prefix("format.").unwrap_or(name);
                    return Err(Error::invalid(format!(
                        "no option '{name}'; there are {}",
                        known.join(", ")
                    )));
                }
            }
        }
        Ok(self)
    }
}

fn read_schema_file(path: &str) -> Result<SchemaFile> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Error::source("the schema file cannot be read", error).in_file(path))?;
    SchemaFile::parse(&text, None).map_err(|error| error.in_file(path))
}

fn boolean(name: &str, value: &str) -> Result<bool> {
    match value.to_ascii_lowercase().as_str() {
        "true" | "on" | "1" | "yes" => Ok(true),
        "false" | "off" | "0" | "no" => Ok(false),
        _ => Err(Error::invalid(format!(
            "option {name}: '{value}' is neither true nor false"
        ))),
    }
}

/// Collects the problems that scans meet. Clones share one log.
#[derive(Clone, Default)]
pub struct ProblemLog(Arc<Mutex<Log>>);

#[derive(Default)]
struct Log {
    sample: Vec<Problem>,
    seen: HashSet<(Arc<str>, u64, Option<u32>, ProblemKind)>,
    errors: u64,
    warnings: u64,
}

/// Problems that are kept whole; the others are counted.
const SAMPLE: usize = 1000;

impl ProblemLog {
    /// An empty log.
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Log> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a problem. One that is already there (a file that is scanned twice) counts once.
    pub fn report(&self, problem: &Problem) {
        let mut log = self.lock();
        if log.seen.len() < SAMPLE {
            let place = (
                Arc::clone(&problem.file),
                problem.pos,
                problem.payload_index,
                problem.kind,
            );
            if !log.seen.insert(place) {
                return;
            }
        }
        match problem.severity {
            Severity::Error => log.errors += 1,
            Severity::Warning => log.warnings += 1,
            Severity::Info => {}
        }
        if log.sample.len() < SAMPLE {
            log.sample.push(problem.clone());
        }
    }

    /// The first problems, at most a thousand, errors before others.
    pub fn sample(&self) -> Vec<Problem> {
        let mut sample = self.lock().sample.clone();
        sample.sort_by_key(|p| std::cmp::Reverse(p.severity));
        sample
    }

    /// Number of problems of severity error and warning.
    pub fn counts(&self) -> (u64, u64) {
        let log = self.lock();
        (log.errors, log.warnings)
    }

    /// Forgets all.
    pub fn clear(&self) {
        *self.lock() = Log::default();
    }
}

impl fmt::Debug for ProblemLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (errors, warnings) = self.counts();
        write!(f, "ProblemLog({errors} errors, {warnings} warnings)")
    }
}

/// How far scans are, for a progress bar. Clones share one count.
#[derive(Debug, Clone, Default)]
pub struct ScanProgress(Arc<[AtomicU64; 2]>);

impl ScanProgress {
    /// Stored bytes that are done with: read, hopped over, or of files that were not read to their
    /// end because the rest cannot match.
    pub fn bytes_done(&self) -> u64 {
        self.0[0].load(Ordering::Relaxed)
    }

    /// Stored bytes of all files opened or planned so far.
    pub fn bytes_total(&self) -> u64 {
        self.0[1].load(Ordering::Relaxed)
    }

    /// Starts from zero.
    pub fn clear(&self) {
        self.0[0].store(0, Ordering::Relaxed);
        self.0[1].store(0, Ordering::Relaxed);
    }

    fn add_done(&self, bytes: u64) {
        self.0[0].fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn add_total(&self, bytes: u64) {
        self.0[1].fetch_add(bytes, Ordering::Relaxed);
    }

    /// A file of `size` stored bytes, of which none are done with yet.
    pub(crate) fn file(&self, size: u64) -> FileProgress {
        self.piece(0, size)
    }

    /// A piece of `size` stored bytes from offset `start` on.
    pub(crate) fn piece(&self, start: u64, size: u64) -> FileProgress {
        FileProgress {
            progress: self.clone(),
            start,
            size,
            done: 0,
        }
    }
}

/// How far the scan of one file is. When it goes, the file is done with, read to its end or not.
#[derive(Debug)]
pub(crate) struct FileProgress {
    progress: ScanProgress,
    start: u64,
    size: u64,
    done: u64,
}

impl FileProgress {
    /// The stored bytes before `offset` were read or hopped over. A file that has grown since it was
    /// planned counts no more than planned.
    pub fn reach(&mut self, offset: u64) {
        let reached = offset.saturating_sub(self.start).min(self.size);
        self.progress.add_done(reached.saturating_sub(self.done));
        self.done = self.done.max(reached);
    }
}

impl Drop for FileProgress {
    fn drop(&mut self) {
        self.reach(u64::MAX);
    }
}
