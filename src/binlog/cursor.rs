//! Bounded reads from a byte slice: every primitive of the format, each of which may fail.
//!
//! **Invariant:** nothing here can read past the slice, whatever the bytes say.

use crate::error::{Error, Result};

/// A position in a byte slice, from which the format's primitives are read in order.
///
/// Integers are little-endian unless a method says otherwise. After an error the cursor has not
/// moved.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'a> {
    rest: &'a [u8],
}

macro_rules! little_endian {
    ($($name:ident: $ty:ty, $what:literal;)*) => {$(
        #[doc = concat!("Reads ", $what, ".")]
        #[inline]
        pub fn $name(&mut self) -> Result<$ty> {
            self.array().map(<$ty>::from_le_bytes)
        }
    )*};
}

impl<'a> Cursor<'a> {
    /// A cursor at the start of `bytes`.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Number of bytes left.
    #[inline]
    pub fn len(&self) -> usize {
        self.rest.len()
    }

    /// Whether no byte is left.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The bytes left, without moving.
    #[inline]
    pub fn peek(&self) -> &'a [u8] {
        self.rest
    }

    /// All bytes left; the cursor is then at the end.
    #[inline]
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    /// The next `n` bytes.
    #[inline]
    pub fn bytes(&mut self, n: usize) -> Result<&'a [u8]> {
        match self.rest.split_at_checked(n) {
            Some((head, rest)) => {
                self.rest = rest;
                Ok(head)
            }
            None => Err(Error::truncated("a field", n, self.rest.len())),
        }
    }

    /// The next `n` bytes as a cursor of their own.
    #[inline]
    pub fn sub(&mut self, n: usize) -> Result<Cursor<'a>> {
        self.bytes(n).map(Cursor::new)
    }

    /// Hops over `n` bytes.
    #[inline]
    pub fn skip(&mut self, n: usize) -> Result<()> {
        self.bytes(n).map(|_| ())
    }

    /// The next `N` bytes as an array.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        match self.rest.split_first_chunk::<N>() {
            Some((head, rest)) => {
                self.rest = rest;
                Ok(*head)
            }
            None => Err(Error::truncated("a field", N, self.rest.len())),
        }
    }

    little_endian! {
        u8: u8, "one byte";
        u16: u16, "a 2-byte unsigned integer";
        u32: u32, "a 4-byte unsigned integer";
        u64: u64, "an 8-byte unsigned integer";
        i64: i64, "an 8-byte signed integer";
    }

    /// Reads an unsigned integer of `n` ≤ 8 bytes (3, 6 and 7 occur in the format).
    #[inline]
    pub fn uint(&mut self, n: usize) -> Result<u64> {
        let mut wide = [0u8; 8];
        match wide.get_mut(..n) {
            Some(low) => low.copy_from_slice(self.bytes(n)?),
            None => return Err(Error::corrupt(format!("an integer of {n} bytes"))),
        }
        Ok(u64::from_le_bytes(wide))
    }

    /// Reads a length-encoded integer (MySQL protocol: `fb` is NULL and `ff` an error, both
    /// refused here).
    #[inline]
    pub fn lenenc(&mut self) -> Result<u64> {
        let before = *self;
        let value = match self.u8()? {
            first @ 0..=0xfa => return Ok(u64::from(first)),
            0xfc => self.uint(2),
            0xfd => self.uint(3),
            0xfe => self.uint(8),
            other => Err(Error::corrupt(format!(
                "byte 0x{other:02x} does not begin a length"
            ))),
        };
        if value.is_err() {
            *self = before;
        }
        value
    }

    /// Reads a length-encoded integer that counts bytes or items in memory.
    #[inline]
    pub fn lenenc_len(&mut self) -> Result<usize> {
        let n = self.lenenc()?;
        usize::try_from(n).map_err(|_| Error::corrupt(format!("a length of {n}")))
    }

    /// The bytes behind a length-encoded length.
    #[inline]
    pub fn lenenc_bytes(&mut self) -> Result<&'a [u8]> {
        let n = self.lenenc_len()?;
        self.bytes(n)
    }

    /// The bytes before the next NUL; the NUL is consumed.
    pub fn until_nul(&mut self) -> Result<&'a [u8]> {
        let at = self.rest.iter().position(|&b| b == 0);
        match at.and_then(|n| self.rest.split_at_checked(n)) {
            Some((head, rest)) => {
                self.rest = rest.get(1..).unwrap_or_default();
                Ok(head)
            }
            None => Err(Error::corrupt("a string has no end")),
        }
    }

    /// Reads a field of MySQL's serialization library (GTID_TAGGED): an integer whose first byte
    /// tells its length in trailing one bits. Source: `mysql/serialization/variable_length_integers.h`.
    pub fn varlen_uint(&mut self) -> Result<u64> {
        let before = *self;
        let first = self.u8()?;
        let extra = first.trailing_ones() as usize;
        let high = self.uint(extra).inspect_err(|_| *self = before)?;
        // Nine bytes: the first is all ones and carries no bits. Else it carries 7 - extra bits.
        if extra >= 8 {
            return Ok(high);
        }
        let low_bits = 7usize.saturating_sub(extra) as u32;
        let low = u64::from(
            first
                .checked_shr(8u32.saturating_sub(low_bits))
                .unwrap_or(0),
        );
        Ok(high.checked_shl(low_bits).unwrap_or(0) | low)
    }

    /// A signed field of the same library: zig-zag encoded.
    pub fn varlen_int(&mut self) -> Result<i64> {
        let n = self.varlen_uint()?;
        Ok((n >> 1).cast_signed() ^ (n & 1).wrapping_neg().cast_signed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_every_size() {
        let bytes = [
            0xfa, 0xfc, 0xfb, 0x00, 0xfd, 1, 2, 3, 0xfe, 1, 0, 0, 0, 0, 0, 0, 0x80,
        ];
        let mut c = Cursor::new(&bytes);
        assert_eq!(c.lenenc().unwrap(), 250);
        assert_eq!(c.lenenc().unwrap(), 251);
        assert_eq!(c.lenenc().unwrap(), 0x030201);
        assert_eq!(c.lenenc().unwrap(), 0x8000_0000_0000_0001);
        assert!(Cursor::new(&[0xfb]).lenenc().is_err());
        assert!(Cursor::new(&[0xff]).lenenc().is_err());
    }

    #[test]
    fn a_failed_read_does_not_move() {
        let mut c = Cursor::new(&[0xfd, 1, 2]);
        assert!(c.lenenc().is_err());
        assert!(c.u32().is_err());
        assert_eq!(c.len(), 3);
    }

    #[test]
    fn variable_length_integers() {
        // 65535 takes three bytes: two trailing ones, a zero, then the value from bit 3 on.
        let encoded = ((65535u32 << 3) | 0b011).to_le_bytes();
        assert_eq!(Cursor::new(&encoded).varlen_uint().unwrap(), 65535);
        assert_eq!(Cursor::new(&[0x02]).varlen_uint().unwrap(), 1);
        let mut nine = [0xff; 9];
        assert_eq!(Cursor::new(&nine).varlen_uint().unwrap(), u64::MAX);
        nine[1..].copy_from_slice(&(i64::MAX as u64).to_le_bytes());
        assert_eq!(Cursor::new(&nine).varlen_uint().unwrap(), i64::MAX as u64);
        assert_eq!(Cursor::new(&[0x02]).varlen_int().unwrap(), -1);
    }
}
