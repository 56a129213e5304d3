//! Columns of views: short values in the view, long ones in the block where they arrived.
//!
//! ```text
//! view 16 bytes   length 4 │ the value, up to 12 bytes
//!                 length 4 │ its first 4 bytes │ buffer 4 │ offset 4
//! buffers         blocks that are shared … │ copies …
//! ```
//!
//! A view keeps its whole block alive. So a block is only shared where the values of the column are
//! a fair part of it; others are copied.

use super::Stretch;
use crate::batch::text::{FAIR_SHARE, buffer_of, offset_in};
use crate::binlog::charset::Text;
use crate::binlog::reader::Block;
use arrow::array::builder::NullBufferBuilder;
use arrow::array::{ArrayRef, BinaryViewArray, StringViewArray};
use arrow::buffer::Buffer;
use arrow::error::ArrowError;
use std::collections::HashMap;
use std::sync::Arc;

/// Up to this length a view holds the value itself.
const INLINE: usize = 12;
/// A buffer of copies is closed before it grows beyond this.
const MAX_COPIES: usize = 1 << 30;

/// Collects views.
pub(super) struct Views {
    views: Vec<u128>,
    nulls: NullBufferBuilder,
    /// Those before the current buffer of copies.
    buffers: Vec<Buffer>,
    copies: Vec<u8>,
}

/// Which blocks a column shares, and as which buffers.
#[derive(Default)]
pub(super) struct Shares {
    buffers: Vec<Buffer>,
    /// By number of the block.
    indices: HashMap<u32, u32>,
}

impl Shares {
    /// Decides which blocks to share: `len` gives the length of the value that begins where it is
    /// given bytes.
    pub fn of(
        stretches: &[Stretch<'_>],
        blocks: &[Block],
        len: impl Fn(&Stretch<'_>, &[u8]) -> Option<usize>,
    ) -> Self {
        let mut used: HashMap<u32, usize> = HashMap::new();
        for stretch in stretches.iter().filter(|stretch| stretch.column.is_some()) {
            let bytes = stretch.block.as_ref();
            let lens = stretch.places.iter().filter_map(|place| {
                let len = len(stretch, bytes.get(place.offset()?..)?)?;
                (len > INLINE).then_some(len)
            });
            *used.entry(stretch.number).or_default() += lens.sum::<usize>();
        }
        let mut shares = Self::default();
        for (number, used) in used {
            let len = blocks.get(number as usize).map_or(0, |b| b.as_ref().len());
            // Arrow's views reach 4 GiB into a buffer.
            let is_fair = used > 0 && used.saturating_mul(FAIR_SHARE) >= len;
            if is_fair && len < u32::MAX as usize {
                let index = u32::try_from(shares.buffers.len()).unwrap_or(u32::MAX);
                shares.buffers.push(buffer_of(blocks, number));
                shares.indices.insert(number, index);
            }
        }
        shares
    }

    /// The buffer that is this block, if it is shared.
    pub fn index(&self, number: u32) -> Option<u32> {
        self.indices.get(&number).copied()
    }

    pub fn take_buffers(&mut self) -> Vec<Buffer> {
        std::mem::take(&mut self.buffers)
    }
}

impl Views {
    /// Room for so many views, which may point into `buffers`.
    pub fn new(rows: usize, buffers: Vec<Buffer>) -> Self {
        Self {
            views: Vec::with_capacity(rows),
            nulls: NullBufferBuilder::new(rows),
            buffers,
            copies: Vec::new(),
        }
    }

    #[inline]
    pub fn push_null(&mut self) {
        self.views.push(0);
        self.nulls.append_null();
    }

    pub fn push_nulls(&mut self, n: usize) {
        self.views.resize(self.views.len() + n, 0);
        self.nulls.append_n_nulls(n);
    }

    /// Adds a value that stands in `bytes`, where it may stay if they are a buffer.
    #[inline]
    pub fn push(&mut self, value: &[u8], buffer: Option<u32>, bytes: &[u8]) {
        let short = if value.len() <= INLINE {
            inline(value)
        } else {
            None
        };
        if let Some(view) = short {
            self.push_view(view);
        } else if let (Some(buffer), Some(offset)) = (buffer, offset_in(bytes, value)) {
            self.push_view(view(value, buffer, offset));
        } else {
            self.push_owned(value);
        }
    }

    /// Adds a copy of a value.
    pub fn push_owned(&mut self, value: &[u8]) {
        self.push_padded(value, value.len());
    }

    /// Adds a value with zeros at its end, `len` bytes in all.
    pub fn push_padded(&mut self, value: &[u8], len: usize) {
        let len = len.max(value.len());
        let view = match inline(value) {
            // What lies behind an inline value is zero anyway.
            Some(view) if len <= INLINE => view & !u128::from(u32::MAX) | len as u128,
            _ => self.copy(value, len),
        };
        self.push_view(view);
    }

    #[inline]
    fn push_view(&mut self, view: u128) {
        self.views.push(view);
        self.nulls.append_non_null();
    }

    /// Copies a long value; its view.
    fn copy(&mut self, value: &[u8], len: usize) -> u128 {
        if self.copies.len() + len > MAX_COPIES && !self.copies.is_empty() {
            let full = std::mem::take(&mut self.copies);
            self.buffers.push(Buffer::from_vec(full));
        }
        let offset = self.copies.len();
        self.copies.extend_from_slice(value);
        self.copies.resize(offset + len, 0);
        let buffer = u32::try_from(self.buffers.len()).unwrap_or(u32::MAX);
        view(&self.copies[offset..], buffer, offset)
    }

    /// The values as bytes.
    ///
    /// # Errors
    /// None: views point to what is there. But it is Arrow that looks.
    pub fn finish_bytes(mut self) -> Result<ArrayRef, ArrowError> {
        let buffers = self.take_buffers();
        let nulls = self.nulls.finish();
        let array = BinaryViewArray::try_new(self.views.into(), buffers, nulls)?;
        Ok(Arc::new(array))
    }

    /// The values as text. What is no UTF-8 is written as `\xNN`, and `escaped` is called with the
    /// row from 0 and the offset of the first such byte in its value.
    ///
    /// All are checked in one pass.
    ///
    /// # Errors
    /// As of [`Views::finish_bytes`].
    pub fn finish_text(
        mut self,
        escaped: &mut dyn FnMut(usize, usize),
    ) -> Result<ArrayRef, ArrowError> {
        let buffers = self.take_buffers();
        let nulls = self.nulls.finish();
        let array =
            StringViewArray::try_new(self.views.clone().into(), buffers.clone(), nulls.clone());
        if let Ok(array) = array {
            return Ok(Arc::new(array));
        }
        // Some are no UTF-8.
        self.buffers = buffers;
        for row in 0..self.views.len() {
            let inline = self.views[row].to_le_bytes();
            let value = bytes_of(&inline, &self.buffers);
            let text = Text::utf8(value);
            if let Some(offset) = text.undecodable_at {
                escaped(row, offset);
                let text = text.text.into_owned();
                self.views[row] = match self::inline(text.as_bytes()) {
                    Some(view) => view,
                    None => self.copy(text.as_bytes(), text.len()),
                };
            }
        }
        let buffers = self.take_buffers();
        let array = StringViewArray::try_new(self.views.into(), buffers, nulls)?;
        Ok(Arc::new(array))
    }

    fn take_buffers(&mut self) -> Vec<Buffer> {
        let mut buffers = std::mem::take(&mut self.buffers);
        if !self.copies.is_empty() {
            buffers.push(Buffer::from_vec(std::mem::take(&mut self.copies)));
        }
        buffers
    }
}

/// The view of a short value.
///
/// It is put together of two halves that may overlap: a copy of a length that the compiler does not
/// know is a call.
#[inline]
fn inline(value: &[u8]) -> Option<u128> {
    let len = value.len();
    let bytes = match len {
        8..=INLINE => {
            let (first, last) = (value.first_chunk()?, value.last_chunk()?);
            let last = u128::from(u64::from_le_bytes(*last)) << ((len - 8) * 8);
            u128::from(u64::from_le_bytes(*first)) | last
        }
        4..8 => {
            let (first, last) = (value.first_chunk()?, value.last_chunk()?);
            let last = u128::from(u32::from_le_bytes(*last)) << ((len - 4) * 8);
            u128::from(u32::from_le_bytes(*first)) | last
        }
        1..4 => {
            let at = |n: usize| u128::from(value.get(n).copied().unwrap_or(0)) << (n * 8);
            at(0) | at(len / 2) | at(len - 1)
        }
        0 => 0,
        _ => return None,
    };
    Some(bytes << 32 | len as u128)
}

/// The view of a long value at `offset` of a buffer.
#[inline]
fn view(value: &[u8], buffer: u32, offset: usize) -> u128 {
    let prefix = value.first_chunk().copied().unwrap_or_default();
    // Buffers are shorter than 4 GiB.
    value.len() as u128
        | u128::from(u32::from_le_bytes(prefix)) << 32
        | u128::from(buffer) << 64
        | (offset as u128) << 96
}

/// The value of a view.
fn bytes_of<'v>(view: &'v [u8; 16], buffers: &'v [Buffer]) -> &'v [u8] {
    let bits = u128::from_le_bytes(*view);
    let len = bits as u32 as usize;
    if len <= INLINE {
        return &view[4..4 + len];
    }
    let buffer = (bits >> 64) as u32 as usize;
    let offset = (bits >> 96) as usize;
    let bytes = buffers.get(buffer).map_or(&[][..], |buffer| buffer);
    bytes.get(offset..offset + len).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_values_are_in_their_view() {
        let value: Vec<u8> = (0xf1..0xff).collect();
        for len in 0..=value.len() {
            let value = &value[..len];
            let Some(view) = inline(value) else {
                assert!(len > INLINE);
                continue;
            };
            let mut wanted = vec![len as u8, 0, 0, 0];
            wanted.extend(value);
            wanted.resize(16, 0);
            assert_eq!(view.to_le_bytes()[..], wanted);
        }
    }
}
