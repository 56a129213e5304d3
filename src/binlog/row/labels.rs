//! The labels of an ENUM or SET.
//!
//! A table map has them in the column's character set, a statement in UTF-8: as text, which is
//! decoded once for a column, both are the same.

use super::plan::ColumnPlan;
use crate::binlog::charset::{Charset, Text, UTF8MB4, charset_of};
use crate::error::{Error, Result};
use std::sync::OnceLock;

/// Labels one behind the other: many short ones take little memory.
#[derive(Debug)]
pub(super) struct Labels {
    bytes: Box<[u8]>,
    ends: Box<[u32]>,
    encoding: LabelEncoding,
    texts: OnceLock<Texts>,
}

/// What the bytes of labels are.
#[derive(Debug, Clone, Copy)]
pub(super) enum LabelEncoding {
    /// Text of a statement.
    Utf8,
    /// Text in the character set of this collation, where the table map tells one.
    Collation(Option<u16>),
}

#[derive(Debug)]
struct Texts {
    text: Box<str>,
    ends: Box<[u32]>,
}

impl Labels {
    /// From the table map, with its collation.
    pub(super) fn of_table_map(labels: &[&[u8]], collation: Option<u16>) -> Self {
        Self::new(labels, LabelEncoding::Collation(collation))
    }

    /// From a statement.
    pub(super) fn of_statement(labels: &[String]) -> Self {
        Self::new(labels, LabelEncoding::Utf8)
    }

    fn new(labels: &[impl AsRef<[u8]>], encoding: LabelEncoding) -> Self {
        let mut bytes = Vec::new();
        let mut ends = Vec::with_capacity(labels.len());
        for label in labels {
            bytes.extend_from_slice(label.as_ref());
            ends.push(position(bytes.len()));
        }
        Self {
            bytes: bytes.into(),
            ends: ends.into(),
            encoding,
            texts: OnceLock::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn encoding(&self) -> LabelEncoding {
        self.encoding
    }

    /// Label n from 0, as it was given.
    pub(super) fn get(&self, n: usize) -> Option<&[u8]> {
        let (start, end) = range(&self.ends, n)?;
        self.bytes.get(start..end)
    }

    /// The same as text.
    fn text(&self, n: usize) -> Option<&str> {
        let texts = self.texts.get_or_init(|| self.decode());
        let (start, end) = range(&texts.ends, n)?;
        texts.text.get(start..end)
    }

    fn decode(&self) -> Texts {
        let charset: Option<&Charset> = match self.encoding {
            LabelEncoding::Utf8 => Some(&UTF8MB4),
            LabelEncoding::Collation(collation) => collation.and_then(charset_of),
        };
        let mut text = String::with_capacity(self.bytes.len());
        let mut ends = Vec::with_capacity(self.len());
        for label in (0..self.len()).map_while(|n| self.get(n)) {
            text.push_str(&Text::of(label, charset).text);
            ends.push(position(text.len()));
        }
        Texts {
            text: text.into(),
            ends: ends.into(),
        }
    }
}

/// An event is shorter than 4 GiB, and so is a statement.
fn position(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

fn range(ends: &[u32], n: usize) -> Option<(usize, usize)> {
    let end = *ends.get(n)?;
    let start = match n.checked_sub(1) {
        Some(before) => *ends.get(before)?,
        None => 0,
    };
    Some((start as usize, end as usize))
}

impl ColumnPlan {
    /// Labels of an ENUM or SET; `None` where neither table map nor hint tells them.
    ///
    /// From a table map they are in the column's character set, from a hint in UTF-8:
    /// [`ColumnPlan::label_texts`] are characters in both cases.
    pub fn labels(&self) -> Option<impl ExactSizeIterator<Item = &[u8]>> {
        let labels = self.labels.as_ref()?;
        Some((0..labels.len()).map(|n| labels.get(n).unwrap_or_default()))
    }

    /// The label of a value of ENUM, in bytes as [`ColumnPlan::labels`] has them. Empty for 0, the
    /// value of what was no label.
    ///
    /// # Errors
    /// The column has no such label. `Ok(None)`: neither table map nor hint tells them.
    pub fn enum_label(&self, value: u16) -> Result<Option<&[u8]>> {
        self.enum_by(value, Labels::get)
    }

    /// The labels of a value of SET in their order, in bytes as [`ColumnPlan::labels`] has them.
    ///
    /// # Errors
    /// The column has no such label. `Ok(None)`: neither table map nor hint tells them.
    pub fn set_labels(&self, value: u64) -> Result<Option<impl Iterator<Item = &[u8]>>> {
        self.set_by(value, Labels::get)
    }

    /// Labels of an ENUM or SET as text, in order; what of a label is no character of the column's
    /// set stands as `\xNN`. `None` where neither table map nor hint tells them.
    ///
    /// They are decoded when they are first asked for, and once.
    pub fn label_texts(&self) -> Option<impl ExactSizeIterator<Item = &str>> {
        let labels = self.labels.as_ref()?;
        Some((0..labels.len()).map(|n| labels.text(n).unwrap_or_default()))
    }

    /// The label of a value of ENUM, as [`ColumnPlan::label_texts`] has it. Empty for 0, the value
    /// of what was no label.
    ///
    /// # Errors
    /// The column has no such label. `Ok(None)`: neither table map nor hint tells them.
    pub fn enum_text(&self, value: u16) -> Result<Option<&str>> {
        self.enum_by(value, Labels::text)
    }

    /// The labels of a value of SET in their order, as [`ColumnPlan::label_texts`] has them.
    ///
    /// # Errors
    /// The column has no such label. `Ok(None)`: neither table map nor hint tells them.
    pub fn set_texts(&self, value: u64) -> Result<Option<impl Iterator<Item = &str>>> {
        self.set_by(value, Labels::text)
    }

    fn enum_by<'l, T: Default>(
        &'l self,
        value: u16,
        get: impl Fn(&'l Labels, usize) -> Option<T>,
    ) -> Result<Option<T>> {
        let Some(labels) = &self.labels else {
            return Ok(None);
        };
        let Some(n) = value.checked_sub(1) else {
            return Ok(Some(T::default()));
        };
        match get(labels, usize::from(n)) {
            Some(label) => Ok(Some(label)),
            None => Err(
                Error::corrupt(format!("label {value} of an ENUM of {}", labels.len()))
                    .in_column(self.label()),
            ),
        }
    }

    fn set_by<'l, T: 'l>(
        &'l self,
        value: u64,
        get: impl Fn(&'l Labels, usize) -> Option<T> + 'l,
    ) -> Result<Option<impl Iterator<Item = T> + 'l>> {
        let Some(labels) = &self.labels else {
            return Ok(None);
        };
        let count = position(labels.len());
        if value.checked_shr(count).unwrap_or(0) != 0 {
            return Err(
                Error::corrupt(format!("members 0x{value:x} of a SET of {count}"))
                    .in_column(self.label()),
            );
        }
        let set = (0..64usize).filter(move |&n| value & (1 << n) != 0);
        Ok(Some(set.filter_map(move |n| get(labels, n))))
    }
}
