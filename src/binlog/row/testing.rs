//! What the tests of rows share: tables, and every rows event of a log.

use crate::binlog::event::{
    self, Event, EventContext, Flavor, RowsEvent, RowsKind, RowsLayout, TableMap, TableMapOwned,
    TableMaps,
};
use crate::binlog::frame::Framer;
use crate::binlog::reader::read_all;
use crate::error::Result;
use std::sync::Arc;

/// Calls `each` with every rows event that has a table map and its uncompressed rows, and returns
/// what went wrong. Damaged events are other people's tests.
pub(crate) fn each_rows_event(
    log: Vec<u8>,
    mut each: impl FnMut(&Arc<TableMapOwned>, &RowsEvent<'_>, &[u8]) -> Result<()>,
) -> Vec<String> {
    let mut errors = Vec::new();
    let mut maps = TableMaps::new();
    let framer = Framer::new().with_verify(true);
    let walked = read_all(framer, log, |item, block, format| {
        let raw = item.raw(block);
        let code = raw.header.type_code;
        if code == event::FORMAT_DESCRIPTION {
            maps.clear();
        }
        if !matches!(code, 19..=25 | 30..=32 | 39 | 166..=171) || raw.checksum_ok() == Some(false) {
            return;
        }
        let cx = EventContext {
            header: &raw.header,
            format,
        };
        let mut decoded = || match Event::decode(raw.body(), &cx)? {
            Event::TableMap(map) => maps.insert(&map).map(|_| ()),
            Event::Rows(rows) => {
                if !rows.is_dummy() {
                    let map = Arc::clone(maps.require(rows.table_id)?);
                    each(&map, &rows, &rows.row_bytes()?)?;
                }
                if rows.ends_statement() {
                    maps.end_statement();
                }
                Ok(())
            }
            _ => Ok(()),
        };
        if let Err(error) = decoded() {
            errors.push(
                error
                    .in_event(raw.offset, event::type_name(code))
                    .to_string(),
            );
        }
    });
    if let Err(error) = walked {
        errors.push(error.to_string());
    }
    errors
}

/// A table `s.t` with columns of these types.
pub(crate) fn table(types: &[u8], metadata: &[u8], optional: &[u8]) -> TableMapOwned {
    let mut body = b"\x5d\0\0\0\0\0\0\0\x01s\0\x01t\0".to_vec();
    body.push(types.len() as u8);
    body.extend(types);
    body.push(metadata.len() as u8);
    body.extend(metadata);
    body.resize(body.len() + types.len().div_ceil(8), 0xff);
    body.extend(optional);
    let map = TableMap::read_body(&body, false, Flavor::MySql).unwrap();
    TableMapOwned::new(&map).unwrap()
}

/// A rows event without rows.
pub(crate) fn event<'a>(
    kind: RowsKind,
    before: Option<&'a [u8]>,
    after: Option<&'a [u8]>,
    columns: usize,
) -> RowsEvent<'a> {
    RowsEvent {
        kind,
        layout: RowsLayout::V2,
        compressed: false,
        table_id: 93,
        flags: 1,
        extra: &[],
        column_count: columns,
        columns_before: before,
        columns_after: after,
        rows: &[],
    }
}
