//! The leaf of a plan: what DataFusion asks of a file format, answered for logs.

use super::filter::EventFilter;
use super::metrics::ScanMetrics;
use super::options::BinlogOptions;
use super::partition::ScanFile;
use super::relation::Relation;
use super::stream::{self, EventScan};
use crate::batch::columns::EventColumn;
use crate::error::Error;
use arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{
    FileOpenFuture, FileOpener, FileScanConfig, FileSource,
};
use datafusion::datasource::projection::{ProjectionOpener, SplitProjection};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::{DisplayFormatType, PhysicalExpr};
use object_store::ObjectStore;
use std::fmt;
use std::sync::Arc;

/// Reads one relation from the files of a scan.
#[derive(Debug, Clone)]
pub struct BinlogSource {
    relation: Relation,
    options: BinlogOptions,
    table_schema: TableSchema,
    projection: SplitProjection,
    filter: EventFilter,
    batch_size: Option<usize>,
    metrics: ExecutionPlanMetricsSet,
}

impl BinlogSource {
    /// A source of every row and column of `relation`.
    pub(super) fn new(relation: Relation, options: BinlogOptions, filter: EventFilter) -> Self {
        let table_schema = TableSchema::from(relation.schema());
        Self {
            relation,
            options,
            projection: SplitProjection::unprojected(&table_schema),
            table_schema,
            filter,
            batch_size: None,
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }

    /// The relation that is read.
    pub fn relation(&self) -> Relation {
        self.relation
    }

    fn projected_schema(&self) -> Result<SchemaRef> {
        let schema = self.table_schema.file_schema();
        Ok(Arc::new(schema.project(&self.projection.file_indices)?))
    }
}

impl FileSource for BinlogSource {
    fn create_file_opener(
        &self,
        _object_store: Arc<dyn ObjectStore>,
        config: &FileScanConfig,
        partition: usize,
    ) -> Result<Arc<dyn FileOpener>> {
        let scan = stream::Scan {
            relation: self.relation,
            options: self.options.clone(),
            schema: self.projected_schema()?,
            columns: self.projection.file_indices.clone(),
            filter: self.filter.clone(),
            batch_size: self.batch_size.or(config.batch_size).unwrap_or(8192).max(1),
            limit: config.limit,
            metrics: ScanMetrics::new(&self.metrics, partition),
        };
        ProjectionOpener::try_new(
            self.projection.clone(),
            Arc::new(BinlogOpener(Arc::new(scan))),
            self.table_schema.file_schema(),
        )
    }

    fn table_schema(&self) -> &TableSchema {
        &self.table_schema
    }

    fn with_batch_size(&self, batch_size: usize) -> Arc<dyn FileSource> {
        Arc::new(Self {
            batch_size: Some(batch_size),
            ..self.clone()
        })
    }

    fn filter(&self) -> Option<Arc<dyn PhysicalExpr>> {
        self.filter.predicate.clone()
    }

    fn projection(&self) -> Option<&ProjectionExprs> {
        Some(&self.projection.source)
    }

    fn try_pushdown_projection(
        &self,
        projection: &ProjectionExprs,
    ) -> Result<Option<Arc<dyn FileSource>>> {
        let merged = self.projection.source.try_merge(projection)?;
        Ok(Some(Arc::new(Self {
            projection: SplitProjection::new(self.table_schema.file_schema(), &merged),
            ..self.clone()
        })))
    }

    fn metrics(&self) -> &ExecutionPlanMetricsSet {
        &self.metrics
    }

    fn file_type(&self) -> &str {
        "binlog"
    }

    /// One log is one unit: a transaction must not be cut, and what its events mean depends on
    /// those before.
    fn supports_repartitioning(&self) -> bool {
        false
    }

    fn fmt_extra(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if matches!(format, DisplayFormatType::TreeRender) {
            return writeln!(f, "relation={}", self.relation.name());
        }
        write!(f, ", relation={}", self.relation.name())?;
        if let Some(predicate) = &self.filter.predicate {
            write!(f, ", predicate={predicate}")?;
        }
        Ok(())
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        let predicate = self.filter.predicate.iter();
        let projected = self.projection.source.iter().map(|p| &p.expr);
        for expr in predicate.chain(projected) {
            if f(expr)? == TreeNodeRecursion::Stop {
                return Ok(TreeNodeRecursion::Stop);
            }
        }
        Ok(TreeNodeRecursion::Continue)
    }
}

/// Opens the files of one partition.
struct BinlogOpener(Arc<stream::Scan>);

impl FileOpener for BinlogOpener {
    fn open(&self, file: PartitionedFile) -> Result<FileOpenFuture> {
        let scan = Arc::clone(&self.0);
        let Some(file) = file.extension::<ScanFile>().cloned() else {
            let path = file.object_meta.location.to_string();
            return Err(Error::invalid("the plan carries no source for this file")
                .in_file(&path)
                .into());
        };
        Ok(Box::pin(async move {
            match scan.relation {
                Relation::Binlog => EventScan::open(scan, file).await,
                Relation::Files => stream::files(scan, file).await,
                Relation::Problems => stream::problems(scan, file).await,
            }
        }))
    }
}

impl stream::Scan {
    /// The projected columns of `binlog`.
    pub(super) fn event_columns(&self) -> Vec<EventColumn> {
        self.columns
            .iter()
            .filter_map(|&index| EventColumn::at(index))
            .collect()
    }
}
