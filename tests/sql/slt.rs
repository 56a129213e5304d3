//! Runs `tests/slt/*.slt`. `BLESS=1 cargo test --test sql slt` writes the answers into them anew;
//! read the difference before you commit it.
//!
//! Besides SQL a file may say `source a b …`: from there on, the session is over these fixtures.
//! `${fixtures}` stands for their folder, in statements as in answers.

use crate::support::{cells, config, fixture, fixtures, session};
use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};
use async_trait::async_trait;
use datafusion::prelude::SessionContext;
use datafusion_binlog::{BinlogOptions, SessionContextBinlogExt};
use sqllogictest::{AsyncDB, DBOutput, DefaultColumnType, Runner};
use std::path::PathBuf;

struct Engine {
    ctx: SessionContext,
}

impl Engine {
    /// A session without a source.
    fn new() -> Self {
        let config = config().with_create_default_catalog_and_schema(true);
        let ctx = SessionContext::new_with_config(config);
        ctx.enable_binlog(BinlogOptions::default());
        Self { ctx }
    }

    async fn answer(&self, sql: &str) -> datafusion::error::Result<(SchemaRef, Vec<RecordBatch>)> {
        let frame = self.ctx.sql(sql).await?;
        let schema = frame.schema().as_arrow().clone().into();
        Ok((schema, frame.collect().await?))
    }
}

/// The text of a query's error.
#[derive(Debug)]
struct Failure(String);

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}

#[async_trait]
impl AsyncDB for Engine {
    type Error = Failure;
    type ColumnType = DefaultColumnType;

    async fn run(&mut self, sql: &str) -> Result<DBOutput<DefaultColumnType>, Failure> {
        let folder = fixtures().display().to_string();
        let portable = |text: String| text.replace(&folder, "${fixtures}");
        if let Some(names) = sql.strip_prefix("source ") {
            let paths: Vec<String> = names.split_whitespace().map(fixture).collect();
            let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            self.ctx = session(&paths, BinlogOptions::default()).await;
            return Ok(DBOutput::StatementComplete(0));
        }
        let sql = sql.replace("${fixtures}", &folder);
        let (schema, batches) = match self.answer(&sql).await {
            Ok(answer) => answer,
            Err(error) => return Err(Failure(portable(error.to_string()))),
        };
        if schema.fields().is_empty() {
            return Ok(DBOutput::StatementComplete(0));
        }
        let types = schema.fields().iter().map(|f| column_type(f.data_type()));
        let shown = |text: String| match text.as_str() {
            "" => "(empty)".to_owned(),
            _ => portable(text),
        };
        let rows = cells(&batches).into_iter();
        Ok(DBOutput::Rows {
            types: types.collect(),
            rows: rows
                .map(|row| row.into_iter().map(shown).collect())
                .collect(),
        })
    }

    async fn shutdown(&mut self) {}

    fn engine_name(&self) -> &str {
        "binlogsql"
    }
}

fn column_type(data_type: &DataType) -> DefaultColumnType {
    match data_type {
        t if t.is_integer() => DefaultColumnType::Integer,
        t if t.is_floating() => DefaultColumnType::FloatingPoint,
        DataType::Utf8 | DataType::Utf8View | DataType::LargeUtf8 => DefaultColumnType::Text,
        DataType::Dictionary(_, value) => column_type(value),
        _ => DefaultColumnType::Any,
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/slt")
}

async fn check(topic: &str) {
    let path = folder().join(format!("{topic}.slt"));
    let mut runner = Runner::new(|| async { Ok(Engine::new()) });
    let strict = sqllogictest::strict_column_validator;
    runner.with_column_validator(strict);
    if std::env::var_os("BLESS").is_some() {
        let (validator, normalizer) = (
            sqllogictest::default_validator,
            sqllogictest::default_normalizer,
        );
        let blessed = runner.update_test_file(&path, " ", validator, normalizer, strict);
        blessed.await.unwrap();
        return;
    }
    if let Err(error) = runner.run_file_async(&path).await {
        panic!("{}", error.display(false));
    }
}

macro_rules! topics {
    ($($topic:ident)*) => {
        const TOPICS: &[&str] = &[$(stringify!($topic)),*];

        $(#[tokio::test]
        async fn $topic() {
            check(stringify!($topic)).await;
        })*
    };
}

topics!(binlog changes files filters problems registration rows tables typed);

#[test]
fn every_file_is_run() {
    if std::env::var_os("BLESS").is_some() {
        return; // There are temporary files among them.
    }
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let wanted: Vec<String> = TOPICS.iter().map(|topic| format!("{topic}.slt")).collect();
    assert_eq!(names, wanted);
}
