//! Tests of the relations as SQL sees them, and of the command as a process.

mod cli;
mod columns;
mod differential;
mod embed;
mod logs;
mod parquet;
mod pushdown;
mod readme;
mod relations;
mod slt;
mod sources;
mod support;
