//! The relations of some logs, asked by SQL.

use super::answers::Position;
use super::canon::ZeroDates;
use super::fold::Op;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::{cast, concat_batches};
use arrow::datatypes::{DataType, UInt64Type};
use datafusion::prelude::SessionContext;
use datafusion_binlog::{BinlogOptions, SessionContextBinlogExt};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use tokio::runtime::Runtime;

/// A session that has the logs as catalog `logs`.
pub struct Session {
    runtime: Runtime,
    ctx: SessionContext,
    options: BinlogOptions,
}

impl Session {
    pub fn open(logs: &[PathBuf], zero: ZeroDates) -> Rc<Self> {
        let runtime = Runtime::new().unwrap();
        let ctx = SessionContext::new();
        let options = BinlogOptions::default().with_zero_dates(match zero {
            ZeroDates::Null => datafusion_binlog::ZeroDates::Null,
            ZeroDates::Text => datafusion_binlog::ZeroDates::Text,
        });
        let logs: Vec<String> = logs.iter().map(|log| log.display().to_string()).collect();
        let registered = ctx.register_binlog("logs", logs, options.clone());
        runtime.block_on(registered).unwrap();
        Rc::new(Self {
            runtime,
            ctx,
            options,
        })
    }

    /// Whether the logs have such a table.
    pub fn has(&self, schema: &str, table: &str) -> bool {
        let schema = self.ctx.catalog("logs").unwrap().schema(schema);
        schema.is_some_and(|schema| schema.table_exist(table))
    }

    pub fn query(&self, sql: &str) -> Result<RecordBatch, String> {
        let answer = async {
            let frame = self.ctx.sql(sql).await?;
            let schema = Arc::clone(frame.schema().inner());
            Ok((schema, frame.collect().await?))
        };
        let answer: datafusion::error::Result<_> = self.runtime.block_on(answer);
        let (schema, batches) = answer.map_err(|error| format!("{sql}: {error}"))?;
        concat_batches(&schema, &batches).map_err(|error| error.to_string())
    }

    /// The problems that the queries met; warnings for zero dates that are null apart.
    pub fn problems(&self) -> Vec<String> {
        let (errors, warnings) = self.options.problem_log().counts();
        let sample = self.options.problem_log().sample();
        let zero_dates = |message: &str| message.contains("zero_dates");
        let others = sample
            .iter()
            .filter(|problem| !zero_dates(&problem.message));
        let mut all: Vec<String> = others.map(ToString::to_string).collect();
        if errors + warnings > sample.len() as u64 {
            all.push(format!(
                "{errors} errors and {warnings} warnings, not all kept"
            ));
        }
        all
    }
}

/// Dictionaries unpacked.
pub fn plain(array: &ArrayRef) -> ArrayRef {
    match array.data_type() {
        DataType::Dictionary(_, value) => cast(array, value).unwrap(),
        _ => Arc::clone(array),
    }
}

pub fn text(array: &ArrayRef, row: usize) -> Result<String, String> {
    match array.data_type() {
        DataType::Utf8 => Ok(array.as_string::<i32>().value(row).to_owned()),
        DataType::Utf8View => Ok(array.as_string_view().value(row).to_owned()),
        other => Err(format!("text of type {other}")),
    }
}

/// The texts of a list; null is an empty one.
pub fn list(array: &ArrayRef, row: usize) -> Result<Vec<String>, String> {
    if array.is_null(row) {
        return Ok(Vec::new());
    }
    let items = plain(&array.as_list::<i32>().value(row));
    (0..items.len()).map(|n| text(&items, n)).collect()
}

/// Where the rows come from.
pub fn positions(file: &ArrayRef, pos: &ArrayRef) -> Result<Vec<Position>, String> {
    let pos = pos.as_primitive::<UInt64Type>();
    (0..pos.len())
        .map(|row| {
            let file = text(file, row)?;
            let number = file.rsplit('.').next().unwrap().parse().unwrap();
            Ok((number, pos.value(row)))
        })
        .collect()
}

/// The column `op`.
pub fn ops(array: &ArrayRef) -> Result<Vec<Op>, String> {
    (0..array.len())
        .map(|row| match text(array, row)?.as_str() {
            "INSERT" => Ok(Op::Insert),
            "UPDATE" => Ok(Op::Update),
            "DELETE" => Ok(Op::Delete),
            other => Err(format!("op is {other}")),
        })
        .collect()
}
