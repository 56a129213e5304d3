//! One relation of a source as a DataFusion table.

use super::discover::Discovery;
use super::filter::{self, Filter};
use super::meaning::{Meaning, ROWS};
use super::options::BinlogOptions;
use super::partition::{ScanFile, cut, file_group, runs};
use super::relation::Relation;
use super::rows::lost_names;
use super::source::BinlogSource;
use super::source::RowsOf;
use super::waiting;
use crate::batch::rows::{RowLayout, TypedTable};
use crate::batch::tables::{TableRow, column_batch, table_batch};
use crate::schema::Dictionary;
use crate::source::{Resolver, Segment, Stdin, Stores, admit, resolve};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DFSchema, Result};
use datafusion::datasource::memory::MemorySourceConfig;
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
use tokio::runtime::Handle;

/// One relation of a source: paths, globs, directories, index files, archives or standard input.
///
/// The files are looked for anew at every scan, so a directory that grows is seen to grow.
#[derive(Clone)]
pub struct BinlogTable {
    view: View,
    locations: Arc<[String]>,
    options: BinlogOptions,
    stdin: Arc<Stdin>,
    discovery: Arc<Discovery>,
}

/// What is shown of the source.
#[derive(Debug, Clone)]
enum View {
    Relation(Relation),
    /// The rows of one table, as it was when it was looked for.
    Table(Arc<RowLayout>, Arc<Dictionary>),
}

impl fmt::Debug for BinlogTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BinlogTable")
            .field("relation", &self.name())
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
            view: View::Relation(relation),
            locations: locations.into_iter().map(Into::into).collect(),
            options,
            stdin: Resolver::default().stdin,
            discovery: Arc::default(),
        }
    }

    /// The same source's other relation.
    #[must_use]
    pub fn with_relation(mut self, relation: Relation) -> Self {
        self.view = View::Relation(relation);
        self
    }

    /// The same source's rows of one table, by its name; `None` if its logs have no such table. If
    /// no name is the same but one that differs in upper and lower case alone, it is that.
    ///
    /// The columns are those that the table has in the logs now.
    ///
    /// # Errors
    /// Those of [`Self::segments`]; logs with more tables than memory is meant for.
    pub async fn table(
        &self,
        runtime: &Arc<RuntimeEnv>,
        schema: &str,
        table: &str,
    ) -> Result<Option<Self>> {
        let dictionary = self.dictionary(runtime).await?;
        let Some((name, versions)) = dictionary.table(schema, table) else {
            return Ok(None);
        };
        let plans = versions.iter().map(|version| &*version.plan);
        let typed = TypedTable::new(&name.0, &name.1, plans, *self.options.types());
        let mut this = self.clone();
        this.view = View::Table(RowLayout::typed(typed), dictionary);
        Ok(Some(this))
    }

    /// The same source's relation of this name: `changes`, `shop.orders`.
    ///
    /// # Errors
    /// No such relation or table; those of [`Self::table`].
    pub async fn named(&self, runtime: &Arc<RuntimeEnv>, name: &str) -> Result<Self> {
        let relation = name.parse::<Relation>();
        match (relation, name.split_once('.')) {
            (Ok(relation), _) => Ok(self.clone().with_relation(relation)),
            (Err(error), None) => Err(error.into()),
            (Err(_), Some((schema, table))) => {
                let found = self.table(runtime, schema, table).await?;
                found.ok_or_else(|| {
                    let message = format!("the logs have no row of a table {schema}.{table}");
                    crate::error::Error::invalid(message).into()
                })
            }
        }
    }

    /// Its relation; `None`: the rows of one table.
    pub fn relation(&self) -> Option<Relation> {
        match &self.view {
            View::Relation(relation) => Some(*relation),
            View::Table(..) => None,
        }
    }

    /// Name of its relation or table.
    fn name(&self) -> String {
        match &self.view {
            View::Relation(relation) => relation.name().to_owned(),
            View::Table(layout, _) => match layout.table() {
                Some(table) => format!("{}.{}", table.schema(), table.table()),
                None => String::new(),
            },
        }
    }

    /// The tables whose rows the logs hold.
    ///
    /// # Errors
    /// Those of [`Self::segments`]; logs with more tables than memory is meant for.
    pub async fn dictionary(&self, runtime: &Arc<RuntimeEnv>) -> Result<Arc<Dictionary>> {
        let segments = self.segments_in(runtime).await?;
        let segments: Vec<Arc<Segment>> = segments.into_iter().map(Arc::new).collect();
        self.dictionary_of(&segments).await
    }

    /// A relation of the source by its name, as [`Self::named`] finds it. The thread waits for it.
    ///
    /// # Errors
    /// Those of [`Self::named`].
    pub fn named_blocking(&self, runtime: &Arc<RuntimeEnv>, name: &str) -> Result<Self> {
        match name.parse::<Relation>() {
            Ok(relation) => Ok(self.clone().with_relation(relation)),
            Err(_) => waiting(self.apart().named(runtime, name)),
        }
    }

    /// The tables of the source. The thread waits for it.
    pub(super) fn dictionary_blocking(&self, runtime: &Arc<RuntimeEnv>) -> Result<Arc<Dictionary>> {
        waiting(self.apart().dictionary(runtime))
    }

    /// The same, not waiting for what another task does.
    fn apart(&self) -> Self {
        Self {
            discovery: Discovery::or_apart(&self.discovery),
            ..self.clone()
        }
    }

    async fn dictionary_of(&self, segments: &[Arc<Segment>]) -> Result<Arc<Dictionary>> {
        // As many at a time as there are threads to read them.
        let parallel = Handle::try_current().map_or(1, |handle| handle.metrics().num_workers());
        let found = self.discovery.dictionary(segments, &self.options, parallel);
        Ok(found.await?)
    }

    /// The files of the source as they are now, in the order of the log.
    ///
    /// # Errors
    /// A missing path, no permission, a pattern that matches nothing; a file that is no binary
    /// log where it is the only one, or where the source is read strictly.
    pub async fn segments(&self, state: &dyn Session) -> Result<Vec<Segment>> {
        self.segments_in(state.runtime_env()).await
    }

    async fn segments_in(&self, runtime: &Arc<RuntimeEnv>) -> Result<Vec<Segment>> {
        let resolver = Resolver {
            stores: Some(Arc::new(RuntimeStores(Arc::clone(runtime)))),
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

    /// What its columns mean to a filter.
    fn meaning(&self) -> Meaning {
        match &self.view {
            View::Relation(Relation::Binlog) => Meaning::of_events(),
            View::Relation(Relation::Changes) => Meaning::of_rows(&RowLayout::changes()),
            View::Relation(_) => Meaning::none(),
            View::Table(layout, _) => Meaning::of_rows(layout),
        }
    }

    fn filter(&self, state: &dyn Session, filters: &[Expr], meaning: &Meaning) -> Result<Filter> {
        let predicate = match conjunction(filters.to_vec()) {
            Some(predicate) if !meaning.schema.fields().is_empty() => {
                let schema = DFSchema::try_from(Arc::clone(&meaning.schema))?;
                Some(state.create_physical_expr(predicate, &schema)?)
            }
            _ => None,
        };
        Filter::new(predicate, meaning)
    }

    /// The files that may hold matching rows, each with the one that follows it.
    fn files(
        &self,
        segments: &[Arc<Segment>],
        filter: &Filter,
        meaning: &Meaning,
    ) -> Result<Vec<ScanFile>> {
        let names: Vec<&str> = segments.iter().map(|s| &*s.name).collect();
        let admitted = filter::matching_files(filter, meaning, &names)?;
        let files = segments
            .iter()
            .enumerate()
            .map(|(i, segment)| ScanFile::whole(Arc::clone(segment), segments.get(i + 1).cloned()));
        Ok(files
            .zip(admitted)
            .filter_map(|(file, admitted)| admitted.then_some(file))
            .collect())
    }

    /// For a relation of rows: its columns, and what is known of the tables, where the columns that
    /// are asked for need it.
    async fn rows_of(
        &self,
        segments: &[Arc<Segment>],
        projection: Option<&Vec<usize>>,
        filter: &Filter,
        meaning: &Meaning,
    ) -> Result<Option<RowsOf>> {
        let (layout, dictionary) = match &self.view {
            View::Table(layout, dictionary) => (Arc::clone(layout), Some(Arc::clone(dictionary))),
            // Names are a matter of values, and of what is wrong with them.
            View::Relation(Relation::Problems) => {
                let dictionary = self.dictionary_of(segments).await?;
                (RowLayout::changes(), Some(dictionary))
            }
            View::Relation(Relation::Changes) => {
                let costly = |at: usize| meaning.cost(at) > ROWS;
                let wanted = match projection {
                    Some(projection) => projection.iter().any(|&at| costly(at)),
                    None => true,
                };
                let dictionary = if wanted || filter.columns().any(costly) {
                    Some(self.dictionary_of(segments).await?)
                } else {
                    None
                };
                (RowLayout::changes(), dictionary)
            }
            View::Relation(_) => return Ok(None),
        };
        Ok(Some(RowsOf { layout, dictionary }))
    }

    /// The rows of `tables` or `columns`.
    async fn table_rows(
        &self,
        segments: &[Arc<Segment>],
        relation: Relation,
    ) -> Result<RecordBatch> {
        let dictionary = self.dictionary_of(segments).await?;
        // Nothing else reads these logs for this query.
        self.discovery.report(segments, &self.options).await?;
        for segment in segments {
            for problem in lost_names(segment, &dictionary) {
                self.options.report(segment, problem)?;
            }
        }
        let name = |file: u32| {
            dictionary
                .files()
                .get(file as usize)
                .map_or("", |name| &**name)
        };
        let mut rows = Vec::new();
        for ((schema, table), versions) in dictionary.tables() {
            for (number, version) in (1u32..).zip(versions) {
                rows.push(TableRow {
                    schema,
                    table,
                    version: number,
                    plan: &version.plan,
                    ids: version.ids.iter().copied().collect(),
                    first: (name(version.first.0), version.first.1.0),
                    last: (name(version.last.0), version.last.1.0),
                });
            }
        }
        Ok(match relation {
            Relation::Tables => table_batch(&rows)?,
            _ => column_batch(&rows)?,
        })
    }

    /// The order of the log, where the names sort as the log does.
    fn ordering(&self, files: &[ScanFile]) -> Result<Option<LexOrdering>> {
        let sorted = files.windows(2).all(|pair| match pair {
            [a, b] => a.segment.name < b.segment.name,
            _ => true,
        });
        let names: &[&str] = match &self.view {
            View::Relation(Relation::Binlog) => &["file", "pos"],
            View::Relation(Relation::Changes) => &["file", "pos", "payload_index", "row_index"],
            View::Table(..) => &["_file", "_pos", "_payload_index", "_row_index"],
            View::Relation(_) => return Ok(None),
        };
        if !sorted {
            return Ok(None);
        }
        let schema = self.schema();
        let ascending = |name: &&str| -> Result<PhysicalSortExpr> {
            Ok(PhysicalSortExpr::new_default(col(name, &schema)?)
                .asc()
                .nulls_last())
        };
        let columns = names.iter().map(ascending).collect::<Result<Vec<_>>>()?;
        Ok(LexOrdering::new(columns))
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
        match &self.view {
            View::Relation(relation) => relation.schema(),
            View::Table(layout, _) => Arc::clone(layout.schema()),
        }
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        let ours = !self.meaning().schema.fields().is_empty();
        Ok(filters
            .iter()
            .map(|filter| {
                if ours && !filter.is_volatile() {
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
        let meaning = self.meaning();
        let filter = self.filter(state, filters, &meaning)?;
        let segments = self.segments(state).await?;
        let segments: Vec<Arc<Segment>> = segments.into_iter().map(Arc::new).collect();
        if let View::Relation(relation @ (Relation::Tables | Relation::Columns)) = self.view {
            let rows = vec![vec![self.table_rows(&segments, relation).await?]];
            let plan = MemorySourceConfig::try_new_exec(&rows, self.schema(), projection.cloned())?;
            return Ok(plan);
        }
        let rows = self
            .rows_of(&segments, projection, &filter, &meaning)
            .await?;
        let files = self.files(&segments, &filter, &meaning)?;
        if files.is_empty() {
            let schema = match projection {
                Some(indices) => Arc::new(self.schema().project(indices)?),
                None => self.schema(),
            };
            return Ok(Arc::new(EmptyExec::new(schema)));
        }
        let total = files.iter().map(ScanFile::size).sum();
        self.options.progress().add_total(total);
        let ordering = self.ordering(&files)?;
        let columns = self.schema().fields().len();
        // A limit is best served from the front of the log, and `files` is read in its order.
        let relation = self.relation();
        let target = if limit.is_some() || relation == Some(Relation::Files) {
            1
        } else {
            state.config().target_partitions()
        };
        let optimizer = &state.config_options().optimizer;
        let files = match rows.as_ref().and_then(|rows| rows.dictionary.as_ref()) {
            Some(dictionary)
                if optimizer.repartition_file_scans && relation != Some(Relation::Problems) =>
            {
                let cuts = |segment: &Segment| dictionary.cuts(&segment.name);
                cut(
                    files,
                    cuts,
                    target,
                    optimizer.repartition_file_min_size as u64,
                )
            }
            _ => files,
        };
        let sizes: Vec<u64> = files.iter().map(ScanFile::size).collect();
        let ordered = ordering.as_ref().map_or(0, |ordering| ordering.len());
        let groups = runs(&sizes, target)
            .into_iter()
            .map(|run| file_group(&files[run], columns, ordered))
            .collect();
        let source = BinlogSource::new(
            relation,
            self.name(),
            self.schema(),
            rows,
            self.options.clone(),
            filter,
        );
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
