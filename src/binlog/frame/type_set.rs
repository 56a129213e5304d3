//! Sets of event types.

/// A set of event types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeSet([u64; 4]);

impl TypeSet {
    /// No type.
    pub const NONE: Self = Self([0; 4]);
    /// Every type.
    pub const ALL: Self = Self([u64::MAX; 4]);

    /// Whether `code` is in the set.
    #[inline]
    pub fn contains(&self, code: u8) -> bool {
        self.0
            .get(usize::from(code >> 6))
            .is_some_and(|word| word & (1u64.wrapping_shl(u32::from(code))) != 0)
    }

    /// Adds `code`.
    pub fn insert(&mut self, code: u8) {
        if let Some(word) = self.0.get_mut(usize::from(code >> 6)) {
            *word |= 1u64.wrapping_shl(u32::from(code));
        }
    }

    /// The types in either set.
    #[must_use]
    pub fn union(mut self, other: Self) -> Self {
        for (word, more) in self.0.iter_mut().zip(other.0) {
            *word |= more;
        }
        self
    }
}

impl FromIterator<u8> for TypeSet {
    fn from_iter<I: IntoIterator<Item = u8>>(codes: I) -> Self {
        let mut set = Self::NONE;
        codes.into_iter().for_each(|code| set.insert(code));
        set
    }
}
