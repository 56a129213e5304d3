//! The leaf of a plan: what DataFusion asks of a file format, answered for logs.

use super::filter::Filter;
use super::metrics::ScanMetrics;
use super::options::BinlogOptions;
use super::partition::ScanFile;
use super::problems;
use super::relation::Relation;
use super::rows::RowScan;
use super::stream::{self, EventScan};
use crate::batch::columns::EventColumn;
use crate::batch::rows::{RowColumn, RowLayout};
use crate::error::Error;
use crate::schema::Dictionary;
use arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{
    FileOpenFuture, FileOpener, FileScanConfig, FileSource,
};
use datafusion::datasource::projection::{ProjectionOpener, SplitProjection};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::physical_expr::ScalarFunctionExpr;
use datafusion::physical_expr::expressions::{Column, Literal};
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::{DisplayFormatType, PhysicalExpr};
use object_store::ObjectStore;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// Reads one relation from the files of a scan.
#[derive(Debug, Clone)]
pub struct BinlogSource {
    /// `None`: the rows of one table.
    relation: Option<Relation>,
    name: String,
    rows: Option<RowsOf>,
    options: BinlogOptions,
    table_schema: TableSchema,
    projection: SplitProjection,
    filter: Filter,
    batch_size: Option<usize>,
    metrics: ExecutionPlanMetricsSet,
}

/// What a scan of rows reads.
#[derive(Debug, Clone)]
pub(super) struct RowsOf {
    /// The columns of the relation.
    pub layout: Arc<RowLayout>,
    /// What is known of the tables; `None`: nothing needs it.
    pub dictionary: Option<Arc<Dictionary>>,
}

impl BinlogSource {
    /// A source of every row and column of a relation.
    pub(super) fn new(
        relation: Option<Relation>,
        name: String,
        schema: SchemaRef,
        rows: Option<RowsOf>,
        options: BinlogOptions,
        filter: Filter,
    ) -> Self {
        let table_schema = TableSchema::from(schema);
        Self {
            relation,
            name,
            rows,
            options,
            projection: SplitProjection::unprojected(&table_schema),
            table_schema,
            filter,
            batch_size: None,
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }

    /// Name of the relation or table that is read.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The fields of `_before` that any expression looks at; all, if one takes it whole.
    fn before_fields(&self) -> Vec<usize> {
        let Some(layout) = self.rows.as_ref().map(|rows| &rows.layout) else {
            return Vec::new();
        };
        let Some(at) = layout
            .columns()
            .iter()
            .position(|&column| column == RowColumn::Before)
        else {
            return Vec::new();
        };
        let projected = self
            .projection
            .source
            .iter()
            .map(|projected| &projected.expr);
        let mut used = FieldUse::default();
        for expr in projected.chain(&self.filter.predicate) {
            used.of(expr, at);
        }
        let fields = layout.table().map_or(&[][..], |table| table.columns());
        let is_used = |name: &String| used.whole || used.names.contains(name);
        (0..fields.len())
            .filter(|&n| is_used(fields[n].name()))
            .collect()
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
            rows: self.rows.clone(),
            before: self.before_fields(),
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
            return writeln!(f, "relation={}", self.name);
        }
        write!(f, ", relation={}", self.name)?;
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

/// Which fields of a struct expressions look at.
#[derive(Debug, Default)]
struct FieldUse {
    whole: bool,
    names: HashSet<String>,
}

impl FieldUse {
    /// Takes note of how `expr` uses the column at `column`.
    fn of(&mut self, expr: &Arc<dyn PhysicalExpr>, column: usize) {
        let is_it = |expr: &Arc<dyn PhysicalExpr>| {
            expr.downcast_ref::<Column>()
                .is_some_and(|c| c.index() == column)
        };
        if is_it(expr) {
            self.whole = true;
            return;
        }
        if let Some(function) = expr.downcast_ref::<ScalarFunctionExpr>()
            && function.name() == "get_field"
            && let [of, name, rest @ ..] = function.args()
            && is_it(of)
            && let Some(name) = name.downcast_ref::<Literal>()
            && let Some(Some(name)) = name.value().try_as_str()
        {
            self.names.insert(name.to_owned());
            rest.iter().for_each(|expr| self.of(expr, column));
            return;
        }
        expr.children()
            .into_iter()
            .for_each(|expr| self.of(expr, column));
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
                Some(Relation::Binlog) => EventScan::open(scan, file).await,
                Some(Relation::Files) => stream::files(scan, file).await,
                Some(Relation::Problems) => problems::scan(scan, file).await,
                _ => RowScan::open(scan, file).await,
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
