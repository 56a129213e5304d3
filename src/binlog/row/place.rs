//! Where the value of one column of one row stands.

/// Where a value stands in its block, or why none stands there.
///
/// It takes 4 bytes, so that the places of a batch of rows are small beside their values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place(u32);

impl Place {
    /// The value is NULL.
    pub const NULL: Self = Self(u32::MAX);
    /// The log does not have the column in this image; it is not NULL.
    pub const ABSENT: Self = Self(u32::MAX - 1);
    /// Bit of a JSON value of which the log has only the changes.
    const DIFF: u32 = 1 << 31;

    /// The value begins at this offset of the block; `None` beyond 2 GiB, which no event reaches.
    #[inline]
    pub fn at(offset: usize) -> Option<Self> {
        match u32::try_from(offset) {
            // The two last with the bit of a diff are the constants.
            Ok(offset) if offset < Self::DIFF - 2 => Some(Self(offset)),
            _ => None,
        }
    }

    /// As [`Place::at`], for an offset of a block that has been found to be short enough.
    #[inline]
    pub(super) fn unchecked(offset: usize) -> Self {
        Self(offset as u32)
    }

    /// The same, but there are only the changes of a JSON value.
    #[inline]
    #[must_use]
    pub fn diff(self) -> Self {
        Self(self.0 | Self::DIFF)
    }

    /// Offset of the value, whole or changes.
    #[inline]
    pub fn offset(self) -> Option<usize> {
        if self.0 >= Self::ABSENT.0 {
            return None;
        }
        Some((self.0 & !Self::DIFF) as usize)
    }

    /// Whether there are only the changes of a JSON value.
    #[inline]
    pub fn is_diff(self) -> bool {
        self.0 & Self::DIFF != 0 && self.0 < Self::ABSENT.0
    }
}

#[cfg(test)]
mod tests {
    use super::Place;

    #[test]
    fn kinds_of_places() {
        let at = Place::at(7).unwrap();
        assert_eq!((at.offset(), at.is_diff()), (Some(7), false));
        assert_eq!((at.diff().offset(), at.diff().is_diff()), (Some(7), true));
        for none in [Place::NULL, Place::ABSENT] {
            assert_eq!((none.offset(), none.is_diff()), (None, false));
        }
        assert_eq!(Place::at((1 << 31) - 2), None);
        let far = Place::at((1 << 31) - 3).unwrap().diff();
        assert_eq!((far.offset(), far.is_diff()), (Some((1 << 31) - 3), true));
    }
}
