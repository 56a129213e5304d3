//! Texts and bytes as view columns: long ones stay in the block where they arrived.
//!
//! A view keeps its whole block alive. So a block is only shared where the texts in it are a fair
//! part of it; a few short texts out of a large block are copied.

use crate::binlog::reader::Block;
use arrow::array::{ArrayRef, GenericByteViewBuilder};
use arrow::buffer::Buffer;
use arrow::datatypes::{BinaryViewType, ByteViewType, StringViewType};
use std::collections::HashMap;
use std::sync::Arc;

/// Collects the texts of a column.
#[derive(Debug, Default)]
pub(super) struct TextColumn {
    entries: Vec<Entry>,
    /// Texts that stand in no block.
    owned: Vec<u8>,
    /// Bytes referenced in each block.
    shared: HashMap<u32, usize>,
}

#[derive(Debug, Clone, Copy)]
enum Entry {
    Null,
    Block { block: u32, start: u32, len: u32 },
    Owned { start: usize, len: usize },
}

/// Bytes of an entry, and the block to share and where they begin in it.
type Resolved<'a> = (&'a [u8], Option<(u32, u32)>);

/// A block is shared when at least one in this many of its bytes is text of the column.
pub(super) const FAIR_SHARE: usize = 8;
/// Up to this length a view holds the text itself.
const INLINE: usize = 12;

impl TextColumn {
    pub fn push_null(&mut self) {
        self.entries.push(Entry::Null);
    }

    /// Adds a text. Where it is part of `block`, number `at`, it may stay there.
    pub fn push(&mut self, text: &[u8], at: u32, block: &Block) {
        // Arrow's views reach 4 GiB into a buffer.
        if text.len() > INLINE
            && block.as_ref().len() < u32::MAX as usize
            && let Some(start) = offset_in(block.as_ref(), text)
            && let (Ok(start), Ok(len)) = (u32::try_from(start), u32::try_from(text.len()))
        {
            *self.shared.entry(at).or_default() += text.len();
            self.entries.push(Entry::Block {
                block: at,
                start,
                len,
            });
            return;
        }
        let start = self.owned.len();
        self.owned.extend_from_slice(text);
        self.entries.push(Entry::Owned {
            start,
            len: text.len(),
        });
    }

    /// The texts as Utf8View. All of them have been valid UTF-8 when they were pushed.
    pub fn finish_text(self, blocks: &[Block]) -> ArrayRef {
        self.finish::<StringViewType>(blocks, |builder, bytes| match std::str::from_utf8(bytes) {
            Ok(text) => builder.append_value(text),
            Err(_) => builder.append_value(String::from_utf8_lossy(bytes)),
        })
    }

    /// The bytes as BinaryView.
    pub fn finish_bytes(self, blocks: &[Block]) -> ArrayRef {
        self.finish::<BinaryViewType>(blocks, |builder, bytes| builder.append_value(bytes))
    }

    /// Views into the blocks that are shared, copies by `append` of everything else.
    fn finish<T: ByteViewType>(
        self,
        blocks: &[Block],
        append: impl Fn(&mut GenericByteViewBuilder<T>, &[u8]),
    ) -> ArrayRef {
        let mut builder = GenericByteViewBuilder::<T>::with_capacity(self.entries.len());
        let mut buffers = HashMap::new();
        for entry in &self.entries {
            let Some((bytes, block)) = self.resolve(entry, blocks) else {
                builder.append_null();
                continue;
            };
            if let Some((at, start)) = block {
                let buffer = *buffers
                    .entry(at)
                    .or_insert_with(|| builder.append_block(buffer_of(blocks, at)));
                if builder
                    .try_append_view(buffer, start, bytes.len() as u32)
                    .is_ok()
                {
                    continue;
                }
            }
            append(&mut builder, bytes);
        }
        Arc::new(builder.finish())
    }

    /// The bytes of an entry, and the block to share and where, if one is to be shared.
    fn resolve<'a>(&'a self, entry: &Entry, blocks: &'a [Block]) -> Option<Resolved<'a>> {
        match *entry {
            Entry::Null => None,
            Entry::Owned { start, len } => {
                let bytes = self.owned.get(start..start + len).unwrap_or_default();
                Some((bytes, None))
            }
            Entry::Block { block, start, len } => {
                let all = blocks.get(block as usize).map_or(&[][..], Block::as_ref);
                let start_at = start as usize;
                let bytes = all.get(start_at..start_at + len as usize);
                let used = self.shared.get(&block).copied().unwrap_or(0);
                let share = used.saturating_mul(FAIR_SHARE) >= all.len();
                Some((bytes.unwrap_or_default(), share.then_some((block, start))))
            }
        }
    }
}

/// Where `part` begins in `whole`, if it is a part of it.
pub(super) fn offset_in(whole: &[u8], part: &[u8]) -> Option<usize> {
    let start = (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
    (start.checked_add(part.len())? <= whole.len()).then_some(start)
}

pub(super) fn buffer_of(blocks: &[Block], at: u32) -> Buffer {
    match blocks.get(at as usize) {
        Some(block) => Buffer::from(bytes::Bytes::from_owner(block.clone())),
        None => Buffer::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Array, AsArray};

    #[test]
    fn a_block_is_shared_only_where_its_texts_are_a_fair_part_of_it() {
        let mut bytes = vec![b'.'; 10_000];
        bytes[100..2100].fill(b'a');
        let large = Block::new(bytes);
        let mut bytes = vec![b'.'; 10_000];
        bytes[100..200].fill(b'b');
        let small = Block::new(bytes);
        let mut column = TextColumn::default();
        column.push(&large.as_ref()[100..2100], 0, &large);
        column.push(&small.as_ref()[100..200], 1, &small);
        column.push(b"short", 1, &small);
        column.push_null();
        let blocks = [large, small];
        let array = column.finish_text(&blocks);
        let array = array.as_string_view();
        assert_eq!(array.value(0), "a".repeat(2000));
        assert_eq!(array.value(1), "b".repeat(100));
        assert_eq!(array.value(2), "short");
        assert!(array.is_null(3));
        let whole = |b: &&Buffer| b.len() == 10_000;
        assert_eq!(array.data_buffers().iter().filter(whole).count(), 1);
    }
}
