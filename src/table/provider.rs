//! One relation of a source as a DataFusion table.

use super::filter::{self, EventFilter};
use super::options::BinlogOptions;
use super::partition::{ScanFile, file_group, runs};
use super::relation::Relation;
use super::source::BinlogSource;
use crate::batch::columns::event_schema;
use crate::source::{Resolver, Segment, Stdin, Stores, admit, resolve};
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DFSchema, Result};
use datafusion::datasource::physical_plan::FileScanConfigBuilder;
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType, utils::conjunction};
use datafusion::physical_expr::expressions::col;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use std::fmt;
use std::sync::Arc;

/// One relation of a source: paths, globs, directories, index files, archives or standard input.
///
/// The files are looked for anew at every scan, so a directory that grows is seen to grow.
#[derive(Clone)]
pub struct BinlogTable {
    relation: Relation,
    locations: Arc<[String]>,
    options: BinlogOptions,
    stdin: Arc<Stdin>,
}

impl fmt::Debug for BinlogTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BinlogTable")
            .field("relation", &self.relation)
            .field("locations", &self.locations)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl BinlogTable {
    /// The relation `relation` of the source `locations`.
    pub fn new(
        relation: Relation,
        locations: impl IntoIterator<Item = impl Into<String>>,
        options: BinlogOptions,
    ) -> Self {
        Self {
            relation,
            locations: locations.into_iter().map(Into::into).collect(),
            options,
            stdin: Resolver::default().stdin,
        }
    }

    /// The same source's other relation.
    #[must_use]
    pub fn with_relation(mut self, relation: Relation) -> Self {
        self.relation = relation;
        self
    }

    /// Its relation.
    pub fn relation(&self) -> Relation {
        self.relation
    }

    /// The files of the source as they are now, in the order of the log.
    ///
    /// # Errors
    /// A missing path, no permission, a pattern that matches nothing; a file that is no binary
    /// log where it is the only one, or where the source is read strictly.
    pub async fn segments(&self, state: &dyn Session) -> Result<Vec<Segment>> {
        let resolver = Resolver {
            stores: Some(Arc::new(RuntimeStores(Arc::clone(state.runtime_env())))),
            stdin: Arc::clone(&self.stdin),
        };
        let segments = resolve(&self.locations, &resolver).await?;
        Ok(admit(segments, self.options.strict())?)
    }

    /// Fails now if the source holds no binary log.
    ///
    /// # Errors
    /// Those of [`Self::segments`].
    pub async fn check(&self, state: &dyn Session) -> Result<()> {
        self.segments(state).await.map(drop)
    }

    fn event_filter(&self, state: &dyn Session, filters: &[Expr]) -> Result<EventFilter> {
        if self.relation != Relation::Binlog {
            return EventFilter::new(None);
        }
        let Some(predicate) = conjunction(filters.to_vec()) else {
            return EventFilter::new(None);
        };
        let schema = DFSchema::try_from(event_schema())?;
        EventFilter::new(Some(state.create_physical_expr(predicate, &schema)?))
    }

    /// The files that may hold matching rows, each with the one that follows it.
    async fn files(&self, state: &dyn Session, filter: &EventFilter) -> Result<Vec<ScanFile>> {
        let segments = self.segments(state).await?;
        let segments: Vec<Arc<Segment>> = segments.into_iter().map(Arc::new).collect();
        let names: Vec<&str> = segments.iter().map(|s| &*s.name).collect();
        let admitted = filter::matching_files(filter.predicate.as_ref(), &names)?;
        let files = segments.iter().enumerate().map(|(i, segment)| ScanFile {
            segment: Arc::clone(segment),
            next: segments.get(i + 1).cloned(),
        });
        Ok(files
            .zip(admitted)
            .filter_map(|(file, admitted)| admitted.then_some(file))
            .collect())
    }

    /// The order of the log, `file, pos`, where the names sort as the log does.
    fn ordering(&self, files: &[ScanFile]) -> Result<Option<LexOrdering>> {
        let sorted = files.windows(2).all(|pair| match pair {
            [a, b] => a.segment.name < b.segment.name,
            _ => true,
        });
        if self.relation != Relation::Binlog || !sorted {
            return Ok(None);
        }
        let schema = event_schema();
        let ascending = |name| -> Result<PhysicalSortExpr> {
            Ok(PhysicalSortExpr::new_default(col(name, &schema)?)
                .asc()
                .nulls_last())
        };
        Ok(LexOrdering::new([ascending("file")?, ascending("pos")?]))
    }
}

/// The session's object stores.
struct RuntimeStores(Arc<RuntimeEnv>);

impl Stores for RuntimeStores {
    fn store(&self, base: &str) -> crate::error::Result<Arc<dyn object_store::ObjectStore>> {
        let store = ObjectStoreUrl::parse(base).and_then(|url| self.0.object_store(url));
        store.map_err(|error| {
            let message = format!("no object store is registered for {base}");
            crate::error::Error::source(message, error)
        })
    }
}

#[async_trait]
impl TableProvider for BinlogTable {
    fn schema(&self) -> SchemaRef {
        self.relation.schema()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(filters
            .iter()
            .map(|filter| {
                if self.relation == Relation::Binlog && !filter.is_volatile() {
                    TableProviderFilterPushDown::Exact
                } else {
                    TableProviderFilterPushDown::Unsupported
                }
            })
            .collect())
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let filter = self.event_filter(state, filters)?;
        let files = self.files(state, &filter).await?;
        if files.is_empty() {
            let schema = match projection {
                Some(indices) => Arc::new(self.schema().project(indices)?),
                None => self.schema(),
            };
            return Ok(Arc::new(EmptyExec::new(schema)));
        }
        let total = files.iter().map(|file| file.segment.size).sum();
        self.options.progress().add_total(total);
        let ordering = self.ordering(&files)?;
        let sizes: Vec<u64> = files.iter().map(|file| file.segment.size).collect();
        let columns = self.schema().fields().len();
        // A limit is best served from the front of the log, and `files` is read in its order.
        let target = if limit.is_some() || self.relation == Relation::Files {
            1
        } else {
            state.config().target_partitions()
        };
        let groups = runs(&sizes, target)
            .into_iter()
            .map(|run| file_group(&files[run], columns, ordering.is_some()))
            .collect();
        let source = BinlogSource::new(self.relation, self.options.clone(), filter);
        let config =
            FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), Arc::new(source))
                .with_file_groups(groups)
                .with_output_ordering(ordering.into_iter().collect())
                // Without it partitions would take files from each other, in no order.
                .with_preserve_order(true)
                .with_projection_indices(projection.cloned())?
                .with_limit(limit)
                .build();
        Ok(DataSourceExec::from_data_source(config))
    }
}
