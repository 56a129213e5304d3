//! Tests of the relations as SQL sees them, and of the command as a process.

mod cli;
mod columns;
mod corpus;
mod differential;
mod embed;
mod forge;
mod logs;
mod oracle;
mod parquet;
mod pushdown;
mod readme;
mod relations;
#[path = "../replay/mod.rs"]
mod replay;
mod row_damage;
mod row_differential;
mod row_parquet;
mod row_pushdown;
mod slt;
mod sources;
mod support;
