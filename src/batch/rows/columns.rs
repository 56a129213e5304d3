//! The columns of the relations of rows: `changes`, and one relation for each table.
//!
//! ```text
//! changes    file  pos  payload_index  row_index … op  key  before  after  changed  query
//! orders     _file _pos _payload_index _row_index … _op _changed _missing │ id  customer  total │ _before {id, customer, total}
//! ```

use super::typed::TypedTable;
use crate::batch::columns::{dictionary32, timestamp};
use crate::binlog::event::event_def;
use crate::binlog::fields::is_rows;
use crate::binlog::frame::TypeSet;
use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};
use std::sync::{Arc, LazyLock};

/// What has to be looked at to know a column's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowCost {
    /// The event and its surroundings: the same for all its rows.
    Event,
    /// Where the rows are.
    Row,
    /// The values in them.
    Value,
}

macro_rules! meta_columns {
    ($($variant:ident $name:literal $cost:ident $nullable:literal $type:expr, $doc:literal;)*) => {
        /// A column that is told of a row change, beside the columns of its table.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum MetaColumn {
            $(#[doc = $doc] $variant,)*
        }

        impl MetaColumn {
            /// Its name in `changes`; in the relation of a table an underscore stands before it.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// What it tells, in one line.
            pub fn doc(self) -> &'static str {
                match self { $(Self::$variant => $doc,)* }
            }

            /// What its value costs.
            pub fn cost(self) -> RowCost {
                match self { $(Self::$variant => RowCost::$cost,)* }
            }

            fn data_type(self) -> DataType {
                match self { $(Self::$variant => $type,)* }
            }

            fn nullable(self) -> bool {
                match self { $(Self::$variant => $nullable,)* }
            }
        }
    };
}

meta_columns! {
    File "file" Event false dictionary32(), "base name of the log";
    Pos "pos" Event false DataType::UInt64, "offset of the rows event";
    PayloadIndex "payload_index" Event true DataType::UInt32,
        "index of the rows event inside a TRANSACTION_PAYLOAD, whose pos it then carries; else null";
    RowIndex "row_index" Row false DataType::UInt32, "number of the row inside its event, from 0";
    TxPos "tx_pos" Event true DataType::UInt64, "pos of the first event of the transaction";
    Timestamp "timestamp" Event true timestamp(), "when the statement began; null where the header says 0";
    CommitTimestamp "commit_timestamp" Event true timestamp(),
        "when the transaction was committed, where its GTID event tells";
    Gtid "gtid" Event true DataType::Utf8, "GTID of the transaction";
    ServerId "server_id" Event false DataType::UInt32, "server that wrote the event first";
    ThreadId "thread_id" Event true DataType::UInt32,
        "connection that ran the transaction, where the log tells: MySQL's BEGIN does";
    SchemaName "schema_name" Event false dictionary32(), "schema of the table";
    TableName "table_name" Event false dictionary32(), "table";
    Op "op" Event false DataType::Dictionary(Box::new(DataType::UInt8), Box::new(DataType::Utf8)),
        "INSERT, UPDATE or DELETE";
    Key "key" Value true DataType::Utf8,
        "primary key of the row before the change, as a JSON object; null when the log does not tell the key";
    Before "before" Value true DataType::Utf8,
        "the row before the change, as a JSON object of the columns that the log has; null on INSERT";
    After "after" Value true DataType::Utf8,
        "the row after the change, as a JSON object of the columns that the log has; null on DELETE";
    Changed "changed" Value true list_of_text(),
        "columns that an UPDATE changed, or wrote without telling what was there before; null on INSERT and DELETE";
    Query "query" Event true DataType::Utf8View,
        "statement text, where the log has it: binlog_rows_query_log_events, binlog_annotate_row_events";
    Missing "missing" Value false list_of_text(),
        "columns whose value the log does not have (binlog_row_image): they are null here, but not NULL";
}

fn list_of_text() -> DataType {
    DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, false)))
}

impl MetaColumn {
    /// The columns of `changes`, in order.
    pub const CHANGES: &'static [Self] = &[
        Self::File,
        Self::Pos,
        Self::PayloadIndex,
        Self::RowIndex,
        Self::TxPos,
        Self::Timestamp,
        Self::CommitTimestamp,
        Self::Gtid,
        Self::ServerId,
        Self::ThreadId,
        Self::SchemaName,
        Self::TableName,
        Self::Op,
        Self::Key,
        Self::Before,
        Self::After,
        Self::Changed,
        Self::Query,
    ];

    /// The columns that the relation of a table has before those of the table, in order.
    pub const TYPED: &'static [Self] = &[
        Self::File,
        Self::Pos,
        Self::PayloadIndex,
        Self::RowIndex,
        Self::TxPos,
        Self::Timestamp,
        Self::CommitTimestamp,
        Self::Gtid,
        Self::ServerId,
        Self::ThreadId,
        Self::Op,
        Self::Changed,
        Self::Missing,
    ];

    /// Its Arrow field in `changes`.
    pub fn field(self) -> Field {
        Field::new(self.name(), self.data_type(), self.nullable())
    }

    /// Its name in the relation of a table.
    pub fn typed_name(self) -> String {
        format!("_{}", self.name())
    }
}

/// Name of the struct of the values before the change.
pub const BEFORE: &str = "_before";

/// A column of a relation of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RowColumn {
    /// Told of the change.
    Meta(MetaColumn),
    /// The table's own, by its place in [`TypedTable::columns`].
    Value(usize),
    /// The struct of the table's own columns before the change.
    Before,
}

impl RowColumn {
    /// What its value costs.
    pub fn cost(self) -> RowCost {
        match self {
            Self::Meta(column) => column.cost(),
            Self::Value(_) | Self::Before => RowCost::Value,
        }
    }
}

/// The columns of one relation of rows.
#[derive(Debug)]
pub struct RowLayout {
    columns: Vec<RowColumn>,
    schema: SchemaRef,
    table: Option<Arc<TypedTable>>,
}

impl RowLayout {
    /// `changes`.
    pub fn changes() -> Arc<Self> {
        static LAYOUT: LazyLock<Arc<RowLayout>> = LazyLock::new(|| {
            let columns = MetaColumn::CHANGES;
            let fields: Vec<Field> = columns.iter().map(|column| column.field()).collect();
            Arc::new(RowLayout {
                columns: columns
                    .iter()
                    .map(|&column| RowColumn::Meta(column))
                    .collect(),
                schema: Arc::new(Schema::new(fields)),
                table: None,
            })
        });
        Arc::clone(&LAYOUT)
    }

    /// The relation of one table.
    pub fn typed(table: TypedTable) -> Arc<Self> {
        let meta = MetaColumn::TYPED;
        let mut columns: Vec<RowColumn> = meta.iter().map(|&c| RowColumn::Meta(c)).collect();
        let mut fields: Vec<Field> = meta
            .iter()
            .map(|column| column.field().with_name(column.typed_name()))
            .collect();
        columns.extend((0..table.columns().len()).map(RowColumn::Value));
        fields.extend(table.columns().iter().cloned());
        columns.push(RowColumn::Before);
        let before = DataType::Struct(Fields::from(table.columns().to_vec()));
        fields.push(Field::new(BEFORE, before, true));
        Arc::new(Self {
            columns,
            schema: Arc::new(Schema::new(fields)),
            table: Some(Arc::new(table)),
        })
    }

    /// The columns in order.
    pub fn columns(&self) -> &[RowColumn] {
        &self.columns
    }

    /// The columns as Arrow has them.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The table, where the relation is that of one.
    pub fn table(&self) -> Option<&Arc<TypedTable>> {
        self.table.as_ref()
    }

    /// The column at this place.
    pub fn at(&self, index: usize) -> Option<RowColumn> {
        self.columns.get(index).copied()
    }
}

/// What happens to a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op {
    /// It is new.
    Insert,
    /// It is another.
    Update,
    /// It is gone.
    Delete,
}

impl Op {
    /// All, in the order of their dictionary keys.
    pub const ALL: [Self; 3] = [Self::Insert, Self::Update, Self::Delete];

    /// Name in the column `op`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Insert => "INSERT",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }

    /// What a rows event of this type does; `None` for any other event.
    pub fn of(type_code: u8) -> Option<Self> {
        static OPS: LazyLock<[Option<Op>; 256]> = LazyLock::new(|| {
            std::array::from_fn(|code| {
                let code = code as u8;
                let name = event_def(code).map_or("", |def| def.name);
                is_rows(code).then(|| match name {
                    name if name.contains("WRITE") => Op::Insert,
                    name if name.contains("DELETE") => Op::Delete,
                    _ => Op::Update,
                })
            })
        });
        OPS[usize::from(type_code)]
    }

    /// The event types that do one of `ops`.
    pub fn types(ops: &[Self]) -> TypeSet {
        let does = |&code: &u8| Self::of(code).is_some_and(|op| ops.contains(&op));
        (0..=u8::MAX).filter(does).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_each_event_type_does() {
        let of = |op| -> Vec<u8> {
            let types = Op::types(&[op]);
            (0..=u8::MAX).filter(|&code| types.contains(code)).collect()
        };
        assert_eq!(of(Op::Insert), [20, 23, 30, 166, 169]);
        assert_eq!(of(Op::Update), [21, 24, 31, 39, 167, 170]);
        assert_eq!(of(Op::Delete), [22, 25, 32, 168, 171]);
    }
}
