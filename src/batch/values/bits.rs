//! BIT, ENUM and SET.
//!
//! The dictionary of an ENUM has every label in order behind the empty string, which is the value
//! of what was no label: so the value in the log is the key. Where versions of a table have other
//! labels, those of the first version come first, and of others those that are used.

use super::run::{Run, bytes_at, explain, numbers, undecoded};
use super::{ArrowType, TypeOptions, ValueDef};
use crate::binlog::row::ColumnPlan;
use crate::binlog::types::{Width, code};
use crate::error::Error;
use arrow::array::{ArrayRef, DictionaryArray, StringArray, StringBuilder, UInt16Array};
use arrow::datatypes::{DataType, UInt16Type, UInt64Type};
use std::collections::HashMap;
use std::sync::Arc;

pub(super) const DEFS: &[ValueDef] = &[
    // BIT
    ValueDef {
        claims: |column| column.ty.code == 16,
        arrow: |_, _| DataType::UInt64.into(),
        build: |run| {
            numbers::<UInt64Type>(run, |column, all| {
                let width = width(column);
                let [bytes, further] = column.ty.meta.to_be_bytes().map(u32::from);
                let bits = bytes * 8 + further;
                all.each(|at| {
                    let mut number = [0; 8];
                    number
                        .get_mut(8usize.checked_sub(width)?..)?
                        .copy_from_slice(at.get(..width)?);
                    let number = u64::from_be_bytes(number);
                    (number.checked_shr(bits).unwrap_or(0) == 0).then_some(number)
                });
            })
        },
        text: ColumnPlan::write_text,
    },
    ValueDef {
        claims: |column| column.ty.code == code::ENUM,
        arrow: |column, _| match column.labels() {
            Some(_) => labels().into(),
            None => DataType::UInt16.into(),
        },
        build: |run| match run.data_type {
            DataType::UInt16 => numbers::<UInt16Type>(run, |column, all| match width(column) {
                1 => all.each(|at| at.first().copied().map(u16::from)),
                _ => all.each(|at| at.first_chunk().map(|&bytes| u16::from_le_bytes(bytes))),
            }),
            _ => labelled(run),
        },
        text: ColumnPlan::write_text,
    },
    ValueDef {
        claims: |column| column.ty.code == code::SET,
        arrow: set,
        build: |run| match run.data_type {
            DataType::UInt64 => numbers::<UInt64Type>(run, |column, all| {
                let width = width(column);
                all.each(|at| members(at, width));
            }),
            _ => lists(run),
        },
        text: ColumnPlan::write_text,
    },
];

fn labels() -> DataType {
    DataType::Dictionary(Box::new(DataType::UInt16), Box::new(DataType::Utf8))
}

fn set(column: &ColumnPlan, _: &TypeOptions) -> ArrowType {
    match column.labels() {
        Some(_) => DataType::Utf8.into(),
        None => DataType::UInt64.into(),
    }
}

/// Bytes of a value. Not at most 8: of metadata that the type cannot have, there is no plan.
fn width(column: &ColumnPlan) -> usize {
    match column.ty.width() {
        Ok(Width::Fixed(width)) => usize::from(width),
        _ => usize::MAX,
    }
}

/// Reads a SET.
#[inline]
fn members(at: &[u8], width: usize) -> Option<u64> {
    let mut bits = [0; 8];
    bits.get_mut(..width)?.copy_from_slice(at.get(..width)?);
    Some(u64::from_le_bytes(bits))
}

/// The labels of a dictionary, from several versions of a column.
#[derive(Default)]
struct Dictionary {
    labels: Vec<String>,
    keys: HashMap<String, u16>,
}

impl Dictionary {
    /// Takes all labels of a column, in order.
    fn start(&mut self, column: &ColumnPlan) {
        self.labels.push(String::new());
        let labels = column.label_texts().into_iter().flatten();
        // Behind 65,535 no value reaches.
        self.labels
            .extend(labels.take(usize::from(u16::MAX)).map(str::to_owned));
        for (label, key) in self.labels.iter().zip(0u16..=u16::MAX) {
            self.keys.entry(label.clone()).or_insert(key);
        }
    }

    /// The key of a label; `None`: there are too many.
    fn key(&mut self, label: &str) -> Option<u16> {
        if let Some(&key) = self.keys.get(label) {
            return Some(key);
        }
        let key = u16::try_from(self.labels.len()).ok()?;
        self.labels.push(label.to_owned());
        self.keys.insert(label.to_owned(), key);
        Some(key)
    }

    fn is_of(&self, column: &ColumnPlan) -> bool {
        let labels = column.label_texts();
        labels.is_some_and(|labels| {
            labels.len() < self.labels.len()
                && labels
                    .zip(self.labels.iter().skip(1))
                    .all(|(a, b)| a == b.as_str())
        })
    }
}

/// An ENUM whose labels are known.
fn labelled(run: &mut Run<'_>) -> ArrayRef {
    let mut dictionary = Dictionary::default();
    let mut keys: Vec<Option<u16>> = Vec::with_capacity(run.rows);
    let mut last: Option<(*const ColumnPlan, bool, u16)> = None;
    for (first_row, stretch) in run.stretches() {
        let Some(column) = stretch.column else {
            keys.resize(keys.len() + stretch.places.len(), None);
            continue;
        };
        if dictionary.labels.is_empty() {
            dictionary.start(column);
        }
        // A plan is compared once, not for each of its stretches.
        let (same, count) = match last {
            Some((plan, same, count)) if std::ptr::eq(plan, column) => (same, count),
            _ => {
                let count = column.labels().map_or(0, |labels| labels.len());
                let count = u16::try_from(count).unwrap_or(u16::MAX);
                (dictionary.is_of(column), count)
            }
        };
        last = Some((column, same, count));
        let width = width(column);
        let bytes = stretch.block.as_ref();
        for (row, place) in (first_row..).zip(stretch.places) {
            let Some(at) = bytes_at(bytes, *place) else {
                keys.push(None);
                continue;
            };
            let index = match width {
                1 => at.first().copied().map(u16::from),
                _ => at.first_chunk().map(|&bytes| u16::from_le_bytes(bytes)),
            };
            let key = match index {
                Some(index) if index > count => None,
                Some(index) if same => Some(index),
                Some(index) => match column.enum_text(index) {
                    Ok(Some(label)) => {
                        let key = dictionary.key(label);
                        if key.is_none() {
                            let error = Error::unsupported("more labels than a dictionary holds");
                            (run.note)(row, undecoded(column, error));
                            keys.push(None);
                            continue;
                        }
                        key
                    }
                    _ => None,
                },
                None => None,
            };
            if key.is_none() {
                (run.note)(row, explain(column, at));
            }
            keys.push(key);
        }
    }
    if dictionary.labels.is_empty() {
        dictionary.labels.push(String::new());
    }
    let labels = StringArray::from_iter_values(&dictionary.labels);
    let keys = UInt16Array::from(keys);
    let array = DictionaryArray::<UInt16Type>::try_new(keys, Arc::new(labels));
    run.finished(array.map(|array| Arc::new(array) as ArrayRef))
}

/// Greatest number of bytes in an array of type Utf8.
const MAX_TEXT: usize = i32::MAX as usize;

/// A SET whose labels are known: `a,b`.
fn lists(run: &mut Run<'_>) -> ArrayRef {
    let mut texts = StringBuilder::with_capacity(run.rows, run.rows * 16);
    let mut text = String::new();
    for (first_row, stretch) in run.stretches() {
        let Some(column) = stretch.column else {
            texts.append_nulls(stretch.places.len());
            continue;
        };
        let labels: Vec<&str> = column.label_texts().into_iter().flatten().collect();
        let width = width(column);
        let bytes = stretch.block.as_ref();
        for (row, place) in (first_row..).zip(stretch.places) {
            let Some(at) = bytes_at(bytes, *place) else {
                texts.append_null();
                continue;
            };
            text.clear();
            let written = members(at, width).and_then(|bits| join(bits, &labels, &mut text));
            match written {
                Some(()) if texts.values_slice().len() + text.len() <= MAX_TEXT => {
                    texts.append_value(&text);
                }
                Some(()) => {
                    let error = Error::unsupported("2 GiB of text in one batch; make it smaller");
                    (run.note)(row, undecoded(column, error));
                    texts.append_null();
                }
                None => {
                    (run.note)(row, explain(column, at));
                    texts.append_null();
                }
            }
        }
    }
    Arc::new(texts.finish())
}

/// Writes the labels of a SET; `None`: there is no such label. As in servers, no comma stands behind
/// empty labels that begin it.
fn join(bits: u64, labels: &[&str], out: &mut String) -> Option<()> {
    let mut left = bits;
    while left != 0 {
        let n = left.trailing_zeros();
        left &= left - 1;
        if !out.is_empty() {
            out.push(',');
        }
        out.push_str(labels.get(n as usize)?);
    }
    Some(())
}
