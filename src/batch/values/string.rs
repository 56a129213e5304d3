//! CHAR, VARCHAR and TEXT; BINARY, VARBINARY and BLOB; the same COMPRESSED.
//!
//! Text that is UTF-8 or ASCII stays in its block; all else is transcoded. Of BINARY, the zeros at
//! the end, which no log has, are put back.

use super::run::{Run, bytes_at, explain, undecoded};
use super::view::{Shares, Views};
use super::{ArrowType, Note, Stretch, TypeOptions, ValueDef};
use crate::binlog::charset::{Charset, UTF8MB3, UTF8MB4};
use crate::binlog::compressed::{MAX_UNCOMPRESSED, uncompress_column};
use crate::binlog::row::ColumnPlan;
use crate::binlog::types::{Content, Width, code};
use crate::error::{Error, Result};
use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use std::borrow::Cow;
use std::cell::OnceCell;

pub(super) const DEFS: &[ValueDef] = &[ValueDef {
    claims: |column| is_limited(column) || is_blob(column),
    arrow,
    build: |run| match run.data_type {
        DataType::BinaryView => bytes(run),
        _ => texts(run),
    },
    text: ColumnPlan::write_text,
}];

/// Whether the type has a longest value.
fn is_limited(column: &ColumnPlan) -> bool {
    matches!(
        column.ty.code,
        code::VARCHAR | code::VAR_STRING | code::STRING | code::VARCHAR_COMPRESSED
    )
}

/// Whether it is a BLOB or TEXT.
pub(super) fn is_blob(column: &ColumnPlan) -> bool {
    matches!(column.ty.code, 249..=code::BLOB | code::BLOB_COMPRESSED)
}

fn is_compressed(column: &ColumnPlan) -> bool {
    matches!(
        column.ty.code,
        code::VARCHAR_COMPRESSED | code::BLOB_COMPRESSED
    )
}

fn arrow(column: &ColumnPlan, _: &TypeOptions) -> ArrowType {
    let is_bytes = match column.context.content {
        Content::Bytes => true,
        Content::Unknown => false,
        // Characters of a set that is not known.
        Content::Text => column.collation.is_some() && column.charset().is_none(),
    };
    match is_bytes {
        true => DataType::BinaryView.into(),
        false => DataType::Utf8View.into(),
    }
}

/// How the text of a column becomes UTF-8; `None`: it is meant to be already.
fn transcoding(column: &ColumnPlan) -> Option<&'static Charset> {
    let charset = match column.context.content {
        Content::Text => column.charset(),
        Content::Bytes | Content::Unknown => None,
    };
    charset.filter(|charset| {
        !std::ptr::eq(*charset, &UTF8MB4)
            && !std::ptr::eq(*charset, &UTF8MB3)
            && !charset.is_binary()
    })
}

/// Reads a value behind its length of `N` bytes.
#[inline]
pub(super) fn value<const N: usize>(at: &[u8]) -> Option<&[u8]> {
    let (length, rest) = at.split_first_chunk::<N>()?;
    let mut wide = [0; 8];
    wide.get_mut(..N)?.copy_from_slice(length);
    rest.get(..usize::try_from(u64::from_le_bytes(wide)).ok()?)
}

/// Bytes of the length before a value.
pub(super) fn length_bytes(column: &ColumnPlan) -> u8 {
    match column.ty.width() {
        Ok(Width::Prefixed(n)) => n,
        _ => 0,
    }
}

/// Reads a value of a column.
pub(super) fn value_of<'v>(column: &ColumnPlan, at: &'v [u8]) -> Option<&'v [u8]> {
    match length_bytes(column) {
        1 => value::<1>(at),
        2 => value::<2>(at),
        3 => value::<3>(at),
        4 => value::<4>(at),
        _ => None,
    }
}

/// The blocks that a column of views shares.
pub(super) fn shares(run: &Run<'_>) -> Shares {
    Shares::of(run.stretches, run.blocks, |stretch, at| {
        let column = stretch.column?;
        let value = value_of(column, at)?;
        let stays = !is_compressed(column) && (transcoding(column).is_none() || value.is_ascii());
        stays.then_some(value.len())
    })
}

/// One stretch on its way into views.
pub(super) struct Filling<'f> {
    pub stretch: &'f Stretch<'f>,
    pub column: &'f ColumnPlan,
    pub first_row: usize,
    pub views: &'f mut Views,
    pub note: &'f mut dyn FnMut(usize, Note),
}

impl<'f> Filling<'f> {
    /// Adds all values by `push`, which may have something to tell; an error is a null.
    pub fn each(&mut self, push: impl FnMut(&mut Views, &'f [u8]) -> Result<Option<Note>>) {
        match length_bytes(self.column) {
            1 => self.prefixed::<1>(push),
            2 => self.prefixed::<2>(push),
            3 => self.prefixed::<3>(push),
            _ => self.prefixed::<4>(push),
        }
    }

    fn prefixed<const N: usize>(
        &mut self,
        mut push: impl FnMut(&mut Views, &'f [u8]) -> Result<Option<Note>>,
    ) {
        let longest = match is_limited(self.column) {
            true => usize::from(self.column.ty.meta),
            false => usize::MAX,
        };
        let bytes = self.stretch.block.as_ref();
        for (row, place) in (self.first_row..).zip(self.stretch.places) {
            let Some(at) = bytes_at(bytes, *place) else {
                self.views.push_null();
                continue;
            };
            match value::<N>(at) {
                Some(value) if value.len() <= longest => match push(self.views, value) {
                    Ok(None) => {}
                    Ok(Some(note)) => (self.note)(row, note),
                    Err(error) => {
                        (self.note)(row, undecoded(self.column, error));
                        self.views.push_null();
                    }
                },
                _ => {
                    (self.note)(row, explain(self.column, at));
                    self.views.push_null();
                }
            }
        }
    }
}

/// Calls `fill` with each stretch; the views.
pub(super) fn views(
    run: &mut Run<'_>,
    mut fill: impl FnMut(&mut Filling<'_>, Option<u32>),
) -> Views {
    let mut shares = shares(run);
    let mut views = Views::new(run.rows, shares.take_buffers());
    for (first_row, stretch) in run.stretches() {
        let Some(column) = stretch.column else {
            views.push_nulls(stretch.places.len());
            continue;
        };
        let mut filling = Filling {
            stretch,
            column,
            first_row,
            views: &mut views,
            note: run.note,
        };
        fill(&mut filling, shares.index(stretch.number));
    }
    views
}

/// Columns of bytes.
fn bytes(run: &mut Run<'_>) -> ArrayRef {
    let views = views(run, |all, buffer| {
        let block = all.stretch.block.as_ref();
        let column = all.column;
        let is_binary = column.context.content == Content::Bytes;
        if is_compressed(column) {
            all.each(|views, value| {
                match uncompress_column(value, MAX_UNCOMPRESSED)? {
                    Cow::Borrowed(value) => views.push(value, buffer, block),
                    Cow::Owned(value) => views.push_owned(&value),
                }
                Ok(None)
            });
        } else if column.ty.code == code::STRING && is_binary {
            let len = usize::from(column.ty.meta);
            all.each(|views, value| {
                match value.len() < len {
                    true => views.push_padded(value, len),
                    false => views.push(value, buffer, block),
                }
                Ok(None)
            });
        } else {
            all.each(|views, value| {
                views.push(value, buffer, block);
                Ok(None)
            });
        }
    });
    let finished = views.finish_bytes();
    run.finished(finished)
}

/// Columns of text.
pub(super) fn texts(run: &mut Run<'_>) -> ArrayRef {
    let views = views(run, |all, buffer| {
        let block = all.stretch.block.as_ref();
        let column = all.column;
        match (is_compressed(column), transcoding(column)) {
            (false, None) => all.each(|views, value| {
                views.push(value, buffer, block);
                Ok(None)
            }),
            (false, Some(charset)) => all.each(|views, value| {
                Ok(transcode(column, charset, views, value, |views, value| {
                    views.push(value, buffer, block);
                }))
            }),
            (true, charset) => all.each(|views, value| {
                let value = uncompress_column(value, MAX_UNCOMPRESSED)?;
                let Some(charset) = charset else {
                    views.push_owned(&value);
                    return Ok(None);
                };
                Ok(transcode(column, charset, views, &value, Views::push_owned))
            }),
        }
    });
    let starts = OnceCell::new();
    let (stretches, first_row) = (run.stretches, run.first_row);
    let finished = views.finish_text(&mut |row, offset| {
        let starts: &Vec<usize> = starts.get_or_init(|| {
            let mut row = 0;
            let starts = stretches.iter().map(|stretch| {
                row += stretch.places.len();
                row
            });
            starts.collect()
        });
        let stretch = stretches.get(starts.partition_point(|&end| end <= row));
        if let Some(column) = stretch.and_then(|stretch| stretch.column) {
            let charset = column.charset().map_or("utf8mb4", |charset| charset.name);
            (run.note)(first_row + row, escaped(column, charset, offset));
        }
    });
    run.finished(finished)
}

/// Adds text of another character set, by `stay` if it is ASCII.
fn transcode(
    column: &ColumnPlan,
    charset: &Charset,
    views: &mut Views,
    value: &[u8],
    stay: impl FnOnce(&mut Views, &[u8]),
) -> Option<Note> {
    let text = charset.decode_lossless(value);
    match &text.text {
        Cow::Borrowed(_) => stay(views, value),
        Cow::Owned(text) => views.push_owned(text.as_bytes()),
    }
    let offset = text.undecodable_at?;
    Some(escaped(column, charset.name, offset))
}

#[cold]
fn escaped(column: &ColumnPlan, charset: &str, offset: usize) -> Note {
    let why = match column.context.content {
        Content::Unknown => {
            "; the log does not tell the column's character set, nor that it has one"
        }
        _ => "",
    };
    let message =
        format!("the bytes at offset {offset} are no {charset} character, and shown as \\xNN{why}");
    Note::Escaped(Error::corrupt(message).in_column(column.label()))
}
