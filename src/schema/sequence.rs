//! CREATE SEQUENCE of MariaDB: a table of one row, whose columns no statement names.
//!
//! Source: MariaDB `sql/sql_sequence.cc` (`sequence_structure`).

use super::charset::Charset;
use super::decl::{ColumnDecl, TableDecl};
use super::parser::{Parser, Result};
use crate::binlog::row::DeclaredType;
use std::sync::Arc;

/// Takes the options. The first four columns have the type behind `AS`, which is BIGINT if there is
/// none.
pub(super) fn columns(parser: &mut Parser<'_>) -> Result<TableDecl> {
    let mut value = (DeclaredType::BigInt, false);
    while !parser.at_end() {
        if parser.accept("AS") {
            let column = parser.column_type()?;
            value = (column.ty, column.unsigned);
        } else {
            parser.skip_one()?;
        }
    }
    let columns = [
        ("next_not_cached_value", value),
        ("minimum_value", value),
        ("maximum_value", value),
        ("start_value", value),
        ("increment", (DeclaredType::BigInt, false)),
        ("cache_size", (DeclaredType::BigInt, true)),
        ("cycle_option", (DeclaredType::TinyInt, true)),
        ("cycle_count", (DeclaredType::BigInt, false)),
    ];
    let columns = columns.map(|(name, (ty, unsigned))| {
        Arc::new(ColumnDecl {
            name: name.to_owned(),
            ty,
            unsigned,
            charset: Charset::Unknown,
            nullable: false,
            ..ColumnDecl::default()
        })
    });
    Ok(TableDecl {
        columns: columns.into(),
        ..TableDecl::default()
    })
}
