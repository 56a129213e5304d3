//! Columns that are the same for all rows of an event.

use super::batcher::{RowBatcher, RowsItem};
use super::columns::{MetaColumn, Op};
use crate::batch::events::{dictionary, file_array, gtid_array, seconds_array};
use crate::binlog::transaction::Transaction;
use arrow::array::{
    ArrayRef, StringArray, StringDictionaryBuilder, StringViewBuilder, TimestampMicrosecondArray,
    UInt8Array, UInt32Array, UInt64Array,
};
use arrow::buffer::Buffer;
use arrow::datatypes::{Int32Type, UInt8Type};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

impl RowBatcher {
    /// A column of the events, one value for each number in `events`.
    pub(super) fn event_column(&self, column: MetaColumn, events: &[u32]) -> ArrayRef {
        let event = |&at: &u32| &self.events[at as usize];
        let transaction = |at: &u32| -> Option<&Transaction> {
            let of = self.transactions.get(event(at).transaction as usize);
            of.and_then(Option::as_ref)
        };
        match column {
            MetaColumn::File => file_array(&self.file, events.len()),
            MetaColumn::Pos => {
                let values = events.iter().map(|at| event(at).item.pos);
                Arc::new(UInt64Array::from_iter_values(values))
            }
            MetaColumn::PayloadIndex => {
                let values = events.iter().map(|at| event(at).item.payload_index);
                Arc::new(values.collect::<UInt32Array>())
            }
            MetaColumn::Timestamp => {
                seconds_array(events.iter().map(|at| event(at).item.header.timestamp))
            }
            MetaColumn::ServerId => {
                let values = events.iter().map(|at| event(at).item.header.server_id);
                Arc::new(UInt32Array::from_iter_values(values))
            }
            MetaColumn::Op => op_array(events.iter().map(|at| event(at).op)),
            MetaColumn::TxPos => {
                let values = events.iter().map(|at| transaction(at).map(|t| t.pos));
                Arc::new(values.collect::<UInt64Array>())
            }
            MetaColumn::CommitTimestamp => {
                let values = events.iter().map(|at| transaction(at)?.commit_timestamp);
                let array: TimestampMicrosecondArray = values.collect();
                Arc::new(array.with_timezone("UTC"))
            }
            MetaColumn::Gtid => gtid_array(events.iter().map(|at| transaction(at)?.gtid)),
            MetaColumn::ThreadId => {
                let values = events.iter().map(|at| transaction(at)?.thread_id);
                Arc::new(values.collect::<UInt32Array>())
            }
            MetaColumn::SchemaName => self.name_column(events, |map| map.schema()),
            MetaColumn::TableName => self.name_column(events, |map| map.table()),
            MetaColumn::Query => self.statement_column(events.iter().map(event)),
            MetaColumn::RowIndex
            | MetaColumn::Key
            | MetaColumn::Before
            | MetaColumn::After
            | MetaColumn::Changed
            | MetaColumn::Missing => {
                arrow::array::new_null_array(column.field().data_type(), events.len())
            }
        }
    }

    /// Schema or name of the tables; empty where there is no table map, whose rows are not shown.
    fn name_column(
        &self,
        events: &[u32],
        name: impl Fn(&crate::binlog::event::TableMapOwned) -> &str,
    ) -> ArrayRef {
        let mut builder = StringDictionaryBuilder::<Int32Type>::new();
        for &at in events {
            let map = self.events[at as usize].map;
            let map_of = self.maps_used.get(map as usize).and_then(Option::as_ref);
            builder.append_value(map_of.map_or("", |map| name(map)));
        }
        Arc::new(builder.finish())
    }

    /// Each statement's text stands once, however many rows it has.
    fn statement_column<'e>(&self, events: impl Iterator<Item = &'e RowsItem>) -> ArrayRef {
        let mut builder = StringViewBuilder::new();
        let mut block_of: HashMap<u32, u32> = HashMap::new();
        for event in events {
            let text = self.statements.get(event.statement as usize);
            let Some(text) = text.and_then(Option::as_ref) else {
                builder.append_null();
                continue;
            };
            let block = *block_of
                .entry(event.statement)
                .or_insert_with(|| builder.append_block(Buffer::from(text.as_bytes().to_vec())));
            if builder
                .try_append_view(block, 0, text.len() as u32)
                .is_err()
            {
                builder.append_value(text);
            }
        }
        Arc::new(builder.finish())
    }
}

/// The column `op`.
pub fn op_array(ops: impl Iterator<Item = Op>) -> ArrayRef {
    static NAMES: LazyLock<ArrayRef> =
        LazyLock::new(|| Arc::new(StringArray::from_iter_values(Op::ALL.map(Op::name))));
    let keys = UInt8Array::from_iter_values(ops.map(|op| op as u8));
    dictionary::<UInt8Type>(keys, Arc::clone(&NAMES))
}
