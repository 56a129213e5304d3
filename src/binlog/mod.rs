//! Bytes → events: the format of binary logs, without I/O and without Arrow.
//!
//! ```text
//! file    magic fe 62 69 6e │ FORMAT_DESCRIPTION │ event │ event │ … │ ROTATE or STOP
//! event   header 19 │ body │ CRC32 4
//! ```
//!
//! | module | question |
//! |---|---|
//! | `cursor` | how is a primitive read from bytes that may end |
//! | `header` | what does every event begin and end with |
//! | `frame` | where does an event end and the next begin |
//! | `resync` | which bytes are an event, and where is the next one after damage |
//! | `reader` | which events are in these blocks, packed ones included |
//! | `problem` | what could not be read |
//! | `event` | what does an event say |
//! | `fields` | what do the columns of the relation `binlog` say of an event |
//! | `transaction` | which transaction does an event belong to |
//! | `types` | how long is a value of a column type, and what is it |
//! | `row` | where does a row end, and which values are in it |
//! | `gtid`, `gtid_mariadb` | which transactions does a set or position hold |
//! | `compressed` | what is inside a compressed event or column of MariaDB |
//! | `charset` | which characters are these bytes |
//! | `decimal` | which number is a packed DECIMAL |
//! | `json` | which document is MySQL's binary JSON |
//! | `details` | how is that written as JSON |
//!
//! **Invariant:** input is hostile. Nothing here panics, reads a file, looks at a clock or prints;
//! no loop runs longer than its input; memory is taken only for bytes that have arrived, never
//! because a length field says so.

#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

pub mod charset;
pub mod compressed;
pub mod cursor;
pub mod decimal;
pub mod details;
pub mod event;
pub mod fields;
pub mod frame;
pub mod gtid;
pub mod gtid_mariadb;
pub mod header;
pub mod json;
pub mod problem;
pub mod reader;
mod resync;
pub mod row;
pub mod transaction;
pub mod types;
