//! The session: sources as catalogs, and statements that run on a pool of threads. Everything that
//! the command uses of the library is used here.

use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::error::DataFusionError;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::{SendableRecordBatchStream, execute_stream_partitioned};
use datafusion::prelude::{SessionConfig, SessionContext};
use futures::StreamExt;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use datafusion_binlog::{BinlogOptions, SchemaFile, SessionContextBinlogExt, ZeroDates};
pub use datafusion_binlog::{ProblemLog, Relation, ScanProgress, Severity};

use crate::args;
use crate::config::Config;
use crate::errors::Failure;
use crate::params::Params;
use crate::print::escape_control;

/// Batches that may wait for the printer.
const QUEUE: usize = 4;
/// Statements of a schema file that are told one by one.
const SCHEMA_LINES: usize = 10;
/// Planning recurses; only what is touched of a stack takes memory.
const STACK: usize = 8 << 20;

/// A DataFusion session over the sources.
pub struct Session {
    /// DataFusion's part.
    pub context: SessionContext,
    /// The sources by the names of their catalogs.
    pub sources: Vec<String>,
    /// Problems that queries have met since the log was last cleared.
    pub problems: ProblemLog,
    /// What scans have read.
    pub progress: ScanProgress,
    /// Taken only when the session ends.
    pool: Option<Runtime>,
}

impl Session {
    /// Opens the sources.
    pub fn open(config: &Config) -> Result<Self, Failure> {
        let pool = Builder::new_multi_thread()
            .worker_threads(config.threads)
            .thread_stack_size(STACK)
            .enable_all()
            .build()?;
        let mut settings = SessionConfig::new()
            .with_target_partitions(config.threads)
            .with_information_schema(true);
        if let Some((name, _)) = config.sources.first() {
            // Nothing is created under these names: the catalog comes with the source.
            settings = settings
                .with_create_default_catalog_and_schema(false)
                .with_default_catalog_and_schema(name, "binlog");
        }
        let mut runtime = RuntimeEnvBuilder::new();
        if let Some(limit) = config.memory_limit {
            runtime = runtime.with_memory_pool(Arc::new(FairSpillPool::new(limit)));
        }
        let context = SessionContext::new_with_config_rt(settings, runtime.build_arc()?);
        let problems = ProblemLog::new();
        let progress = ScanProgress::default();
        let mut options = BinlogOptions::default()
            .with_strict(config.strict)
            .with_zero_dates(match config.zero_dates {
                args::ZeroDates::Null => ZeroDates::Null,
                args::ZeroDates::Text => ZeroDates::Text,
            })
            .with_problem_log(problems.clone())
            .with_progress(progress.clone());
        if let Some((path, text)) = &config.schema {
            options = options.with_schema_file(schema_file(path, text)?);
        }
        context.enable_binlog(options.clone());
        pool.block_on(async {
            for (name, paths) in &config.sources {
                context
                    .register_binlog(name, paths.clone(), options.clone())
                    .await?;
            }
            Ok::<_, DataFusionError>(())
        })?;
        Ok(Self {
            context,
            sources: config
                .sources
                .iter()
                .map(|(name, _)| name.clone())
                .collect(),
            problems,
            progress,
            pool: Some(pool),
        })
    }

    /// Starts a statement on the pool.
    pub fn start(&self, sql: &str, params: Params) -> Running {
        let (sender, messages) = mpsc::channel(QUEUE);
        let context = self.context.clone();
        let sql = sql.to_owned();
        let task = self.pool().spawn(async move {
            if let Err(error) = execute(&context, &sql, &params, &sender).await {
                // The receiver has gone when the statement was cancelled.
                let _ = sender.send(Err(error)).await;
            }
        });
        Running { messages, task }
    }

    /// Runs a short task to its end, outside of any statement.
    #[cfg(test)]
    pub fn block_on<T>(&self, task: impl Future<Output = T>) -> T {
        self.pool().block_on(task)
    }

    /// The pool, for those who outlive a borrow of the session.
    pub fn handle(&self) -> Handle {
        self.pool().handle().clone()
    }

    fn pool(&self) -> &Runtime {
        match &self.pool {
            Some(pool) => pool,
            None => unreachable!("the pool is taken by drop alone"),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // What still runs was cancelled; waiting for it helps nobody.
        if let Some(pool) = self.pool.take() {
            pool.shutdown_background();
        }
    }
}

/// Reads a schema file; tells what of it is of no use.
fn schema_file(path: &Path, text: &str) -> Result<SchemaFile, Failure> {
    let path = path.display();
    let file = SchemaFile::parse(text, None)
        .map_err(|error| Failure::Message(format!("{path}: {error}")))?;
    let problems = file.problems();
    for problem in problems.iter().take(SCHEMA_LINES) {
        let mut line = problem.clone();
        escape_control(&mut line);
        eprintln!("warning: {path}: {line}");
    }
    if problems.len() > SCHEMA_LINES {
        let more = problems.len() - SCHEMA_LINES;
        eprintln!("warning: {path}: … and {more} more statements");
    }
    Ok(file)
}

async fn execute(
    context: &SessionContext,
    sql: &str,
    params: &Params,
    sender: &mpsc::Sender<Result<Message, Failure>>,
) -> Result<(), Failure> {
    let frame = params.bind(context.sql(sql).await?)?;
    if let LogicalPlan::Copy(copy) = frame.logical_plan() {
        refuse_device(&copy.output_url)?;
    }
    let task = Arc::new(frame.task_ctx());
    let plan = frame.create_physical_plan().await?;
    let schema = Message::Schema(plan.schema());
    if sender.send(Ok(schema)).await.is_err() {
        return Ok(());
    }
    for mut partition in partitions(execute_stream_partitioned(plan, task)?) {
        while let Some(batch) = partition.batches.recv().await {
            if sender.send(Ok(Message::Batch(batch?))).await.is_err() {
                return Ok(());
            }
        }
        // A panic has told its message already.
        (&mut partition.task).await.map_err(|_| Failure::Reported)?;
    }
    Ok(())
}

/// A partition of a result that is computed while others are printed.
struct Partition {
    batches: mpsc::Receiver<Result<RecordBatch, DataFusionError>>,
    task: JoinHandle<()>,
}

impl Drop for Partition {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Partitions of a scan are runs of neighbouring files. Printed one after the other they are in
/// the order of the log, whatever is selected; merged as they come they would be in none.
fn partitions(streams: Vec<SendableRecordBatchStream>) -> Vec<Partition> {
    streams
        .into_iter()
        .map(|mut stream| {
            let (sender, batches) = mpsc::channel(QUEUE);
            let task = tokio::spawn(async move {
                while let Some(batch) = stream.next().await {
                    if sender.send(batch).await.is_err() {
                        return;
                    }
                }
            });
            Partition { batches, task }
        })
        .collect()
}

/// COPY replaces its target by a finished file, which is no way to treat a device or named pipe.
fn refuse_device(url: &str) -> Result<(), Failure> {
    let path = url.strip_prefix("file://").unwrap_or(url);
    match std::fs::metadata(path) {
        Ok(known) if !known.is_file() && !known.is_dir() => Err(Failure::Message(format!(
            "COPY writes files, and {path} is none: select the rows, with --format or -o"
        ))),
        _ => Ok(()),
    }
}

/// What a running statement says.
pub enum Message {
    /// First: its columns.
    Schema(SchemaRef),
    /// Then: rows.
    Batch(RecordBatch),
}

/// A statement at work; dropping it cancels it.
pub struct Running {
    messages: mpsc::Receiver<Result<Message, Failure>>,
    task: JoinHandle<()>,
}

impl Running {
    /// The next message; none at the end.
    pub async fn next(&mut self) -> Result<Option<Message>, Failure> {
        match self.messages.recv().await {
            Some(message) => message.map(Some),
            None => match (&mut self.task).await {
                Ok(()) => Ok(None),
                // The panic has told its message already.
                Err(error) if error.is_panic() => Err(Failure::Reported),
                Err(_) => Err(Failure::Interrupted),
            },
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::args::Args;
    use clap::Parser;

    /// A real log: DDL, row changes, tagged GTIDs.
    pub const LOG: &str = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/mysql-9.7-shop.000001"
    );

    /// A session over one source.
    pub fn session() -> Session {
        let args = Args::parse_from(["binlogsql", LOG, "-c", ""]);
        Session::open(&Config::new(args).unwrap()).unwrap()
    }
}
