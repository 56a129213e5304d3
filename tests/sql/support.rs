//! What the SQL tests share.

use arrow::array::RecordBatch;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::physical_plan::metrics::MetricValue;
use datafusion::physical_plan::{ExecutionPlan, collect, displayable};
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_binlog::{BinlogOptions, SessionContextBinlogExt};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the logs that this project made are.
pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// Path of a log that this project made, or a pattern over them.
pub fn fixture(name: &str) -> String {
    fixtures().join(name).display().to_string()
}

/// Settings as the command has them: the source's relations need no prefix. Two partitions, so
/// that answers do not depend on the machine.
pub fn config() -> SessionConfig {
    SessionConfig::new()
        .with_target_partitions(2)
        .with_default_catalog_and_schema("logs", "binlog")
        .with_create_default_catalog_and_schema(false)
        .with_information_schema(true)
}

/// A session over a source, or what is wrong with the source.
pub async fn try_session(
    locations: &[&str],
    options: BinlogOptions,
) -> datafusion::error::Result<SessionContext> {
    let ctx = SessionContext::new_with_config(config());
    let locations: Vec<String> = locations.iter().map(|l| (*l).to_owned()).collect();
    ctx.register_binlog("logs", locations, options.clone())
        .await?;
    ctx.enable_binlog(options);
    Ok(ctx)
}

/// A session over a source.
pub async fn session(locations: &[&str], options: BinlogOptions) -> SessionContext {
    try_session(locations, options).await.unwrap()
}

/// A session over fixtures.
pub async fn over(fixtures: &[&str]) -> SessionContext {
    let paths: Vec<String> = fixtures.iter().map(|name| fixture(name)).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    session(&paths, BinlogOptions::default()).await
}

/// The answer to a query, or the text of its error.
pub async fn try_query(ctx: &SessionContext, sql: &str) -> Result<Vec<RecordBatch>, String> {
    let frame = ctx.sql(sql).await.map_err(|e| e.to_string())?;
    frame.collect().await.map_err(|e| e.to_string())
}

/// The answer to a query.
pub async fn query(ctx: &SessionContext, sql: &str) -> Vec<RecordBatch> {
    try_query(ctx, sql)
        .await
        .unwrap_or_else(|e| panic!("{sql}\n{e}"))
}

/// The error of a query.
pub async fn error(ctx: &SessionContext, sql: &str) -> String {
    match try_query(ctx, sql).await {
        Ok(batches) => panic!("{sql}\nis no error: {:?}", rows(&batches)),
        Err(error) => error,
    }
}

/// The rows as texts: values between bars, line ends escaped, null as `NULL`.
pub fn rows(batches: &[RecordBatch]) -> Vec<String> {
    cells(batches)
        .into_iter()
        .map(|row| row.join("|"))
        .collect()
}

/// The values as texts, line ends escaped, null as `NULL`.
pub fn cells(batches: &[RecordBatch]) -> Vec<Vec<String>> {
    let options = FormatOptions::default().with_null("NULL");
    let mut rows = Vec::new();
    for batch in batches {
        let columns: Vec<_> = batch
            .columns()
            .iter()
            .map(|column| ArrayFormatter::try_new(column, &options).unwrap())
            .collect();
        for row in 0..batch.num_rows() {
            let cell = |column: &ArrayFormatter<'_>| {
                let text = column.value(row).to_string();
                text.replace('\\', "\\\\")
                    .replace('\n', "\\n")
                    .replace('\t', "\\t")
            };
            rows.push(columns.iter().map(cell).collect());
        }
    }
    rows
}

/// The answer's rows as texts.
pub async fn lines(ctx: &SessionContext, sql: &str) -> Vec<String> {
    rows(&query(ctx, sql).await)
}

/// The only value of an answer.
pub async fn value(ctx: &SessionContext, sql: &str) -> String {
    let lines = lines(ctx, sql).await;
    assert_eq!(lines.len(), 1, "{sql}\n{lines:?}");
    lines[0].clone()
}

/// The answer as a number.
pub async fn number(ctx: &SessionContext, sql: &str) -> u64 {
    value(ctx, sql).await.parse().unwrap()
}

/// The physical plan, as EXPLAIN shows it.
pub async fn plan(ctx: &SessionContext, sql: &str) -> String {
    let plan = ctx.sql(sql).await.unwrap().create_physical_plan().await;
    displayable(plan.unwrap().as_ref())
        .indent(false)
        .to_string()
}

/// A query that was run: its rows, and what its scans counted.
pub struct Run {
    pub rows: Vec<String>,
    counts: BTreeMap<String, usize>,
}

impl Run {
    /// A counter, summed over all scans and partitions.
    pub fn count(&self, name: &str) -> usize {
        match self.counts.get(name) {
            Some(&count) => count,
            None => panic!("no counter {name} in {:?}", self.counts),
        }
    }
}

/// Runs a query for its rows and its counters.
pub async fn run(ctx: &SessionContext, sql: &str) -> Run {
    let frame = ctx.sql(sql).await.unwrap();
    let plan = frame.create_physical_plan().await.unwrap();
    let batches = collect(Arc::clone(&plan), ctx.task_ctx()).await;
    let mut counts = BTreeMap::new();
    gather(plan.as_ref(), &mut counts);
    Run {
        rows: rows(&batches.unwrap_or_else(|e| panic!("{sql}\n{e}"))),
        counts,
    }
}

fn gather(plan: &dyn ExecutionPlan, counts: &mut BTreeMap<String, usize>) {
    if plan.name() == "DataSourceExec" {
        for metric in plan.metrics().unwrap_or_default().iter() {
            if let MetricValue::Count { name, count } = metric.value() {
                *counts.entry(name.to_string()).or_default() += count.value();
            }
        }
    }
    for child in plan.children() {
        gather(child.as_ref(), counts);
    }
}
