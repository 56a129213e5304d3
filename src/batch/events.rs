//! Events → columns of `binlog`.
//!
//! The batcher sees every event ([`EventBatcher::observe`]), so that it knows transactions and
//! table maps, keeps those that may become rows ([`EventBatcher::push`]) and builds the columns
//! that are asked for ([`EventBatcher::columns`]), for all rows or for some: a filter's columns
//! first, the others only for the rows that it left.

use super::columns::{Cost, EventColumn};
use super::text::TextColumn;
use crate::binlog::event::{self, FormatDescription, TableMapOwned, TableMaps};
use crate::binlog::fields::{self, Fields, Needs};
use crate::binlog::frame::TypeSet;
use crate::binlog::gtid::AnyGtid;
use crate::binlog::header::Header;
use crate::binlog::problem::Problem;
use crate::binlog::reader::{Block, Item};
use crate::binlog::transaction::{Transaction, TransactionTracker, transaction_types};
use arrow::array::{
    ArrayRef, BooleanArray, DictionaryArray, Int32Array, StringArray, StringBuilder,
    StringDictionaryBuilder, TimestampMicrosecondArray, UInt8Array, UInt16Array, UInt32Array,
    UInt64Array,
};
use arrow::datatypes::{Int32Type, UInt8Type};
use std::fmt::Write;
use std::sync::{Arc, LazyLock};

/// Gathers events and builds columns from them.
pub struct EventBatcher {
    file: Arc<str>,
    /// The columns asked for need the transaction, the table maps, the body.
    wants_transaction: bool,
    wants_tables: bool,
    wants_body: bool,
    tracker: TransactionTracker,
    maps: TableMaps,
    /// Context of the event observed last.
    transaction: Option<Transaction>,
    table: Option<Arc<TableMapOwned>>,
    rows: Vec<Row>,
    blocks: Vec<Block>,
    held: usize,
    formats: Vec<Arc<FormatDescription>>,
    transactions: Vec<Option<Transaction>>,
    tables: Vec<Option<Arc<TableMapOwned>>>,
}

/// A candidate: the event and the places of what belongs to it.
#[derive(Debug, Clone, Copy)]
struct Row {
    item: Item,
    block: u32,
    format: u32,
    transaction: u32,
    table: u32,
}

impl EventBatcher {
    /// A batcher for the events of `file`, of which only `columns` will be asked for.
    pub fn new(file: Arc<str>, columns: &[EventColumn]) -> Self {
        let any = |cost| columns.iter().any(|c| c.cost() == cost);
        Self {
            file,
            wants_transaction: any(Cost::Transaction),
            wants_tables: columns.iter().any(|c| {
                use EventColumn::{Details, Info, RowCount, SchemaName, TableName};
                matches!(c, SchemaName | TableName | RowCount | Info | Details)
            }),
            wants_body: any(Cost::Body) || any(Cost::Checksum),
            tracker: TransactionTracker::default(),
            maps: TableMaps::default(),
            transaction: None,
            table: None,
            rows: Vec::new(),
            blocks: Vec::new(),
            held: 0,
            formats: Vec::new(),
            transactions: Vec::new(),
            tables: Vec::new(),
        }
    }

    /// Types of events whose bodies are needed, when those of `wanted` may become rows.
    pub fn bodies(&self, wanted: TypeSet) -> TypeSet {
        let mut bodies = TypeSet::NONE;
        if self.wants_transaction {
            bodies = bodies.union(transaction_types());
        }
        if self.wants_tables {
            bodies.insert(event::TABLE_MAP);
            // What ends a statement ends its table maps.
            bodies = bodies.union(fields::rows_types());
        }
        if self.wants_body {
            bodies = bodies.union(wanted);
        }
        bodies
    }

    /// Takes note of an event, whether it becomes a row or not.
    #[inline]
    pub fn observe(&mut self, item: &Item, block: &Block, format: &Arc<FormatDescription>) {
        if self.wants_transaction {
            let raw = item.raw(block);
            let inner = item.payload_index.is_some();
            self.transaction = self.tracker.observe(&raw, inner, format);
        }
        if self.wants_tables {
            let raw = item.raw(block);
            self.table = fields::observe_tables(&mut self.maps, &raw, format);
        }
    }

    /// Makes the event observed last a candidate.
    #[inline]
    pub fn push(&mut self, item: &Item, block: &Block, format: &Arc<FormatDescription>) {
        if self.wants_body && !self.blocks.last().is_some_and(|last| last.same(block)) {
            self.held += block.as_ref().len();
            self.blocks.push(block.clone());
        }
        if !self
            .formats
            .last()
            .is_some_and(|last| Arc::ptr_eq(last, format))
        {
            self.formats.push(Arc::clone(format));
        }
        if self.wants_transaction && self.transactions.last() != Some(&self.transaction) {
            self.transactions.push(self.transaction);
        }
        if self.wants_tables && !same_table(self.tables.last(), self.table.as_ref()) {
            self.tables.push(self.table.clone());
        }
        self.rows.push(Row {
            item: *item,
            block: last(self.blocks.len()),
            format: last(self.formats.len()),
            transaction: last(self.transactions.len()),
            table: last(self.tables.len()),
        });
    }

    /// Number of candidates.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Bytes of the blocks that the candidates keep alive.
    pub fn held(&self) -> usize {
        self.held
    }

    /// Forgets the candidates; what is known of transactions and tables stays.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.blocks.clear();
        self.held = 0;
        self.formats.clear();
        self.transactions.clear();
        self.tables.clear();
    }

    /// The columns, for the candidates at `rows` (in order), or for all.
    ///
    /// What does not decode is null, or raw where the column has a raw form, and noted in
    /// `problems`.
    pub fn columns(
        &self,
        columns: &[EventColumn],
        rows: Option<&[u32]>,
        problems: &mut Vec<Problem>,
    ) -> Vec<ArrayRef> {
        let selected: Vec<Row>;
        let rows = match rows {
            None => self.rows.as_slice(),
            Some(rows) => {
                let row = |&at: &u32| self.rows.get(at as usize).copied();
                selected = rows.iter().filter_map(row).collect();
                selected.as_slice()
            }
        };
        let mut decoded = DecodedColumns::new(columns);
        if decoded.wanted {
            decoded.append(self, rows, problems);
        }
        columns
            .iter()
            .map(|&column| match column.cost() {
                Cost::Header => self.header_column(column, rows),
                Cost::Transaction => self.transaction_column(column, rows),
                Cost::Checksum => {
                    let ok = |row: &Row| row.item.raw(self.block(row)).checksum_ok();
                    Arc::new(rows.iter().map(ok).collect::<BooleanArray>())
                }
                Cost::Body => decoded.finish(column, &self.blocks, rows.len()),
            })
            .collect()
    }

    fn block(&self, row: &Row) -> &Block {
        static EMPTY: LazyLock<Block> = LazyLock::new(|| Block::new([]));
        self.blocks.get(row.block as usize).unwrap_or(&EMPTY)
    }

    fn header_column(&self, column: EventColumn, rows: &[Row]) -> ArrayRef {
        let u32s = |of: fn(&Header) -> u32| -> ArrayRef {
            let values = rows.iter().map(|row| of(&row.item.header));
            Arc::new(UInt32Array::from_iter_values(values))
        };
        match column {
            EventColumn::File => file_array(&self.file, rows.len()),
            EventColumn::Pos => Arc::new(UInt64Array::from_iter_values(
                rows.iter().map(|row| row.item.pos),
            )),
            EventColumn::EndPos => Arc::new(UInt64Array::from_iter_values(
                rows.iter().map(|row| row.item.end_pos),
            )),
            EventColumn::PayloadIndex => Arc::new(
                rows.iter()
                    .map(|row| row.item.payload_index)
                    .collect::<UInt32Array>(),
            ),
            EventColumn::Timestamp => {
                seconds_array(rows.iter().map(|row| row.item.header.timestamp))
            }
            EventColumn::Type => {
                type_array(rows.iter().map(|row| row.item.header.type_code).collect())
            }
            EventColumn::TypeCode => Arc::new(UInt8Array::from_iter_values(
                rows.iter().map(|row| row.item.header.type_code),
            )),
            EventColumn::Flags => Arc::new(UInt16Array::from_iter_values(
                rows.iter().map(|row| row.item.header.flags),
            )),
            EventColumn::ServerId => u32s(|h| h.server_id),
            EventColumn::Size => u32s(|h| h.event_size),
            _ => u32s(|h| h.log_pos),
        }
    }

    fn transaction_column(&self, column: EventColumn, rows: &[Row]) -> ArrayRef {
        let of = |row: &Row| {
            let at = self.transactions.get(row.transaction as usize);
            at.and_then(Option::as_ref)
        };
        match column {
            EventColumn::Gtid => gtid_array(rows.iter().map(|row| of(row)?.gtid)),
            EventColumn::TxPos => Arc::new(
                rows.iter()
                    .map(|row| of(row).map(|t| t.pos))
                    .collect::<UInt64Array>(),
            ),
            _ => Arc::new(
                rows.iter()
                    .map(|row| of(row).and_then(|t| t.commit_timestamp))
                    .collect::<TimestampMicrosecondArray>()
                    .with_timezone("UTC"),
            ),
        }
    }
}

pub(super) fn last(len: usize) -> u32 {
    len.saturating_sub(1) as u32
}

pub(super) fn same_table(
    a: Option<&Option<Arc<TableMapOwned>>>,
    b: Option<&Arc<TableMapOwned>>,
) -> bool {
    match (a, b) {
        (Some(Some(a)), Some(b)) => Arc::ptr_eq(a, b),
        (Some(None), None) => true,
        _ => false,
    }
}

/// A column of GTIDs, of which neighbours are mostly the same: the events of a transaction follow
/// each other.
pub(super) fn gtid_array(gtids: impl ExactSizeIterator<Item = Option<AnyGtid>>) -> ArrayRef {
    let mut builder = StringBuilder::with_capacity(gtids.len(), gtids.len() * 44);
    let mut text = String::new();
    let mut shown = None;
    for gtid in gtids {
        let Some(gtid) = gtid else {
            builder.append_null();
            continue;
        };
        if shown != Some(gtid) {
            text.clear();
            let _ = write!(text, "{gtid}");
            shown = Some(gtid);
        }
        builder.append_value(&text);
    }
    Arc::new(builder.finish())
}

/// A column of header timestamps; 0 is none.
pub(super) fn seconds_array(seconds: impl Iterator<Item = u32>) -> ArrayRef {
    let micros = seconds.map(|seconds| match seconds {
        0 => None,
        seconds => Some(i64::from(seconds) * 1_000_000),
    });
    let array: TimestampMicrosecondArray = micros.collect();
    Arc::new(array.with_timezone("UTC"))
}

/// The column `file`: one value, `len` times.
pub(super) fn file_array(file: &str, len: usize) -> ArrayRef {
    let values = Arc::new(StringArray::from_iter_values([file]));
    let keys = Int32Array::from_iter_values(std::iter::repeat_n(0, len));
    dictionary::<Int32Type>(keys, values)
}

/// The column `type` of events with these type codes. The values are all 256 names; types of the
/// same name share a key.
pub fn type_array(codes: Vec<u8>) -> ArrayRef {
    static NAMES: LazyLock<(ArrayRef, [u8; 256])> = LazyLock::new(|| {
        let names: Vec<&str> = (0..=u8::MAX).map(event::type_name).collect();
        let mut first = [0; 256];
        for (key, name) in first.iter_mut().zip(&names) {
            *key = names.iter().position(|n| n == name).unwrap_or_default() as u8;
        }
        (Arc::new(StringArray::from_iter_values(names)), first)
    });
    let (values, first) = &*NAMES;
    let mut keys = codes;
    for key in &mut keys {
        *key = first[usize::from(*key)];
    }
    dictionary::<UInt8Type>(UInt8Array::from(keys), Arc::clone(values))
}

pub(super) fn dictionary<K: arrow::datatypes::ArrowDictionaryKeyType>(
    keys: arrow::array::PrimitiveArray<K>,
    values: ArrayRef,
) -> ArrayRef {
    // Every key is a place in the values by construction.
    Arc::new(DictionaryArray::<K>::new(keys, values))
}

/// Columns that come from the decoded event, built row by row so that each event is decoded once.
struct DecodedColumns {
    wanted: bool,
    needs: Needs,
    xid: Vec<Option<u64>>,
    thread_id: Vec<Option<u32>>,
    error_code: Vec<Option<u16>>,
    exec_time: Vec<Option<u32>>,
    row_count: Vec<Option<u32>>,
    schema_name: StringDictionaryBuilder<Int32Type>,
    table_name: StringDictionaryBuilder<Int32Type>,
    query: TextColumn,
    info: TextColumn,
    body: TextColumn,
    details: StringBuilder,
    columns: Vec<EventColumn>,
}

impl DecodedColumns {
    fn new(columns: &[EventColumn]) -> Self {
        let wants = |column| columns.contains(&column);
        Self {
            wanted: columns.iter().any(|c| c.cost() == Cost::Body),
            needs: Needs {
                decode: columns
                    .iter()
                    .any(|&c| c.cost() == Cost::Body && c != EventColumn::Body),
                row_count: wants(EventColumn::RowCount),
                query: wants(EventColumn::Query),
                info: wants(EventColumn::Info),
                details: wants(EventColumn::Details),
            },
            xid: Vec::new(),
            thread_id: Vec::new(),
            error_code: Vec::new(),
            exec_time: Vec::new(),
            row_count: Vec::new(),
            schema_name: StringDictionaryBuilder::new(),
            table_name: StringDictionaryBuilder::new(),
            query: TextColumn::default(),
            info: TextColumn::default(),
            body: TextColumn::default(),
            details: StringBuilder::new(),
            columns: columns.to_vec(),
        }
    }

    fn append(&mut self, batcher: &EventBatcher, rows: &[Row], problems: &mut Vec<Problem>) {
        let columns = std::mem::take(&mut self.columns);
        for row in rows {
            let block = batcher.block(row);
            let raw = row.item.raw(block);
            let decoded = if self.needs.decode {
                let format = batcher.formats.get(row.format as usize);
                let table = batcher.tables.get(row.table as usize);
                let table = table.and_then(Option::as_ref);
                let index = row.item.payload_index;
                match format {
                    Some(format) => {
                        fields::decode(&raw, index, format, table, self.needs, problems)
                    }
                    None => Fields::default(),
                }
            } else {
                Fields::default()
            };
            for &column in &columns {
                self.append_column(column, row, block, &decoded);
            }
        }
        self.columns = columns;
    }

    fn append_column(
        &mut self,
        column: EventColumn,
        row: &Row,
        block: &Block,
        decoded: &Fields<'_>,
    ) {
        match column {
            EventColumn::Xid => self.xid.push(decoded.xid),
            EventColumn::ThreadId => self.thread_id.push(decoded.thread_id),
            EventColumn::ErrorCode => self.error_code.push(decoded.error_code),
            EventColumn::ExecTime => self.exec_time.push(decoded.exec_time),
            EventColumn::RowCount => self.row_count.push(decoded.row_count),
            EventColumn::SchemaName => {
                self.schema_name.append_option(decoded.schema.as_deref());
            }
            EventColumn::TableName => self.table_name.append_option(decoded.table.as_deref()),
            EventColumn::Query => match &decoded.query {
                Some(text) => self.query.push(text.as_bytes(), row.block, block),
                None => self.query.push_null(),
            },
            EventColumn::Info => match &decoded.info {
                Some(text) => self.info.push(text.as_bytes(), row.block, block),
                None => self.info.push_null(),
            },
            EventColumn::Details => self.details.append_option(decoded.details.as_deref()),
            EventColumn::Body => {
                let body = row.item.raw(block).body();
                self.body.push(body, row.block, block);
            }
            _ => {}
        }
    }

    fn finish(&mut self, column: EventColumn, blocks: &[Block], rows: usize) -> ArrayRef {
        use std::mem::take;
        match column {
            EventColumn::Xid => Arc::new(UInt64Array::from(take(&mut self.xid))),
            EventColumn::ThreadId => Arc::new(UInt32Array::from(take(&mut self.thread_id))),
            EventColumn::ErrorCode => Arc::new(UInt16Array::from(take(&mut self.error_code))),
            EventColumn::ExecTime => Arc::new(UInt32Array::from(take(&mut self.exec_time))),
            EventColumn::RowCount => Arc::new(UInt32Array::from(take(&mut self.row_count))),
            EventColumn::SchemaName => Arc::new(self.schema_name.finish()),
            EventColumn::TableName => Arc::new(self.table_name.finish()),
            EventColumn::Query => take(&mut self.query).finish_text(blocks),
            EventColumn::Info => take(&mut self.info).finish_text(blocks),
            EventColumn::Body => take(&mut self.body).finish_bytes(blocks),
            EventColumn::Details => Arc::new(self.details.finish()),
            _ => arrow::array::new_null_array(column.field().data_type(), rows),
        }
    }
}

#[cfg(test)]
mod tests;
