//! The columns of the relation `binlog`: one table, from which the schema and its documentation
//! come.

use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use std::sync::{Arc, LazyLock};

/// What has to be looked at to know a column's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    /// The 19-byte header and the place.
    Header,
    /// The events that begin and end transactions.
    Transaction,
    /// The event's own body.
    Body,
    /// Every byte of the event.
    Checksum,
}

macro_rules! event_columns {
    ($($variant:ident $name:literal $cost:ident $nullable:literal $type:expr, $doc:literal;)*) => {
        /// A column of the relation `binlog`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum EventColumn {
            $(#[doc = $doc] $variant,)*
        }

        impl EventColumn {
            /// Every column, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Its name in SQL.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// What it tells, in one line.
            pub fn doc(self) -> &'static str {
                match self { $(Self::$variant => $doc,)* }
            }

            /// What its value costs.
            pub fn cost(self) -> Cost {
                match self { $(Self::$variant => Cost::$cost,)* }
            }

            /// Its Arrow field.
            pub fn field(self) -> Field {
                match self { $(Self::$variant => Field::new($name, $type, $nullable),)* }
            }
        }
    };
}

event_columns! {
    File "file" Header false dictionary32(), "base name of the log";
    Pos "pos" Header false DataType::UInt64, "offset of the event's first byte";
    EndPos "end_pos" Header false DataType::UInt64, "offset behind its last byte";
    PayloadIndex "payload_index" Header true DataType::UInt32,
        "index inside a TRANSACTION_PAYLOAD, whose pos and end_pos the event then carries; else null";
    Timestamp "timestamp" Header true timestamp(), "when the statement began; null where the header says 0";
    Type "type" Header false DataType::Dictionary(Box::new(DataType::UInt8), Box::new(DataType::Utf8)),
        "event type, without _EVENT";
    TypeCode "type_code" Header false DataType::UInt8, "type code in the header";
    ServerId "server_id" Header false DataType::UInt32, "server that wrote the event first";
    Size "size" Header false DataType::UInt32, "bytes, header and checksum included";
    Flags "flags" Header false DataType::UInt16, "header flags";
    LogPos "log_pos" Header false DataType::UInt32, "end position as the header has it";
    Gtid "gtid" Transaction true DataType::Utf8, "GTID of the event's transaction";
    TxPos "tx_pos" Transaction true DataType::UInt64, "pos of the first event of its transaction";
    CommitTimestamp "commit_timestamp" Transaction true timestamp(),
        "when its transaction was committed, where the GTID event tells";
    Xid "xid" Body true DataType::UInt64, "number of the committed transaction, on XID events";
    ThreadId "thread_id" Body true DataType::UInt32, "connection that ran the statement";
    SchemaName "schema_name" Body true dictionary32(),
        "default schema of a statement; schema of the table of TABLE_MAP and rows events";
    TableName "table_name" Body true dictionary32(), "table of TABLE_MAP and rows events";
    Query "query" Body true DataType::Utf8View, "statement text";
    ErrorCode "error_code" Body true DataType::UInt16, "error that the statement ended with";
    ExecTime "exec_time" Body true DataType::UInt32, "seconds that the statement ran";
    RowCount "row_count" Body true DataType::UInt32, "number of row changes in a rows event";
    Info "info" Body true DataType::Utf8View, "one human line, close to SHOW BINLOG EVENTS";
    Details "details" Body true DataType::Utf8, "every further decoded field, as a JSON object";
    ChecksumOk "checksum_ok" Checksum true DataType::Boolean,
        "whether the checksum fits; null where the event has none";
    Body "body" Body false DataType::BinaryView, "the bytes between header and checksum";
}

pub(super) fn dictionary32() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// The type of every point in time: microseconds, UTC.
pub fn timestamp() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, Some(Arc::from("UTC")))
}

impl EventColumn {
    /// The column at this place of [`event_schema`].
    pub fn at(index: usize) -> Option<Self> {
        Self::ALL.get(index).copied()
    }
}

/// Schema of the relation `binlog`.
pub fn event_schema() -> SchemaRef {
    static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
        Arc::new(Schema::new(
            EventColumn::ALL
                .iter()
                .map(|c| c.field())
                .collect::<Vec<_>>(),
        ))
    });
    Arc::clone(&SCHEMA)
}
