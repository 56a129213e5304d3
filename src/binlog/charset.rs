//! Character sets: from a collation identifier to characters.
//!
//! ```text
//! collation id ──charset_of──▶ Charset ──decode──────────▶ &str     or the offset of the first bad byte
//!                                      └─decode_lossless─▶ Text     bad bytes written as \xNN
//! ```
//!
//! A character set means here what it means to the server, which is often not what its name says:
//! `latin1` is windows-1252 with its five holes filled by control characters, `sjis` has a
//! backslash at 81 5F. Each set is compared with the server byte by byte (see the tests).
//!
//! | module | question |
//! |---|---|
//! | `collations` | which set does a collation belong to |
//! | `sets` | which sets are there |
//! | `single`, `multi` | which character is this byte, or these bytes |
//!
//! **Invariant:** bytes that are no character are never replaced by one.

use crate::error::Error;
use std::borrow::Cow;
use std::fmt::{self, Write};

mod collations;
mod multi;
mod sets;
mod single;

pub use sets::*;

/// A character set of the server.
pub struct Charset {
    /// The server's name of it; `utf8mb3` for what older servers call `utf8`.
    pub name: &'static str,
    /// Bytes of the longest character.
    pub max_len: u8,
    encoding: Encoding,
}

/// How bytes become characters.
enum Encoding {
    Utf8,
    /// ASCII in the lower half and nothing in the upper.
    Ascii,
    /// ASCII in the lower half, a table in the upper.
    Single(&'static single::High),
    Swe7,
    Multi(&'static multi::Multi),
    /// Units of two bytes, without pairs of surrogates.
    Ucs2,
    Utf16 {
        little_endian: bool,
    },
    Utf32,
}

/// The character set that a collation belongs to.
///
/// Knows the collations of MySQL to 9.7 and MariaDB to 11.8; `None` for any other identifier, whose
/// bytes have then to be kept as bytes.
#[inline]
pub fn charset_of(collation_id: u16) -> Option<&'static Charset> {
    collations::charset_of(collation_id)
}

/// A collation of the character set that a name means: `utf8mb4`, `latin1_swedish_ci`, `binary`.
///
/// It is *some* collation of the set: enough to know which characters bytes are, not how they sort.
/// `None`: no set known here has that name, or begins that of the collation.
pub fn collation_named(name: &str) -> Option<u16> {
    collations::collation_named(name)
}

/// Bytes that are no character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Undecodable {
    /// Name of the character set.
    pub charset: &'static str,
    /// Offset of the first byte that begins no character.
    pub offset: usize,
}

impl fmt::Display for Undecodable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { charset, offset } = self;
        write!(f, "the bytes at offset {offset} are no {charset} character")
    }
}

impl std::error::Error for Undecodable {}

impl From<Undecodable> for Error {
    fn from(error: Undecodable) -> Self {
        Self::corrupt(error.to_string())
    }
}

/// Text made from bytes, of which some may not have been characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text<'a> {
    /// The text. Bytes that are no character stand in it as `\xNN`.
    pub text: Cow<'a, str>,
    /// Offset of the first such byte in the source; `None`: the text is exact.
    pub undecodable_at: Option<usize>,
}

impl<'a> Text<'a> {
    /// Bytes of which no character set is known: what is UTF-8 is taken as that, and all else is
    /// escaped.
    pub fn utf8(bytes: &'a [u8]) -> Self {
        UTF8MB4.decode_lossless(bytes)
    }

    /// Text in a character set. `None` and `binary` tell nothing, so that it is [`Text::utf8`].
    pub fn of(bytes: &'a [u8], charset: Option<&Charset>) -> Self {
        match charset {
            Some(charset) if !charset.is_binary() => charset.decode_lossless(bytes),
            _ => Self::utf8(bytes),
        }
    }

    /// The same text, which borrows nothing.
    pub fn into_owned(self) -> Text<'static> {
        Text {
            text: Cow::Owned(self.text.into_owned()),
            undecodable_at: self.undecodable_at,
        }
    }
}

impl Charset {
    /// Whether this is `binary`: bytes that are not meant to be characters at all.
    pub fn is_binary(&self) -> bool {
        std::ptr::eq(self, &BINARY)
    }

    /// The characters of `bytes`. Borrows where the bytes are UTF-8 already.
    ///
    /// In `binary` only ASCII bytes are characters.
    ///
    /// # Errors
    /// The offset of the first bytes that are no character of this set.
    pub fn decode<'a>(&self, bytes: &'a [u8]) -> Result<Cow<'a, str>, Undecodable> {
        let undecodable = |offset| Undecodable {
            charset: self.name,
            offset,
        };
        if let Some(text) = self.as_utf8(bytes) {
            return text
                .map(Cow::Borrowed)
                .map_err(|e| undecodable(e.valid_up_to()));
        }
        let mut out = String::with_capacity(bytes.len());
        match self.run(bytes, &mut out, false) {
            None => Ok(Cow::Owned(out)),
            Some(offset) => Err(undecodable(offset)),
        }
    }

    /// Whether all bytes are characters.
    ///
    /// # Errors
    /// As of [`Charset::decode`].
    pub fn check(&self, bytes: &[u8]) -> Result<(), Undecodable> {
        let offset = match self.as_utf8(bytes) {
            Some(Ok(_)) => return Ok(()),
            Some(Err(error)) => error.valid_up_to(),
            None => {
                let mut rest = bytes;
                loop {
                    if rest.is_empty() {
                        return Ok(());
                    }
                    match self.next(rest) {
                        (len, Some(_)) => rest = rest.get(len.max(1)..).unwrap_or_default(),
                        (_, None) => break bytes.len().saturating_sub(rest.len()),
                    }
                }
            }
        };
        Err(Undecodable {
            charset: self.name,
            offset,
        })
    }

    /// As [`Charset::decode`], but bytes that are no character are written as `\xNN`.
    pub fn decode_lossless<'a>(&self, bytes: &'a [u8]) -> Text<'a> {
        match self.as_utf8(bytes) {
            Some(Ok(text)) => Text {
                text: Cow::Borrowed(text),
                undecodable_at: None,
            },
            Some(Err(error)) => {
                let mut out = String::with_capacity(bytes.len());
                for chunk in bytes.utf8_chunks() {
                    out.push_str(chunk.valid());
                    escape(chunk.invalid(), &mut out);
                }
                Text {
                    text: Cow::Owned(out),
                    undecodable_at: Some(error.valid_up_to()),
                }
            }
            None => {
                let mut out = String::with_capacity(bytes.len());
                let undecodable_at = self.run(bytes, &mut out, true);
                Text {
                    text: Cow::Owned(out),
                    undecodable_at,
                }
            }
        }
    }

    /// The bytes as they are, where the set is UTF-8, or where they are ASCII and the set has ASCII
    /// in its lower half.
    fn as_utf8<'a>(&self, bytes: &'a [u8]) -> Option<Result<&'a str, std::str::Utf8Error>> {
        match self.encoding {
            Encoding::Utf8 => Some(std::str::from_utf8(bytes)),
            _ if self.has_ascii() && bytes.is_ascii() => Some(std::str::from_utf8(bytes)),
            _ => None,
        }
    }

    /// Whether the bytes below 0x80 that do not belong to a longer character are ASCII.
    fn has_ascii(&self) -> bool {
        match self.encoding {
            Encoding::Utf8 | Encoding::Ascii | Encoding::Single(_) | Encoding::Multi(_) => true,
            Encoding::Swe7 | Encoding::Ucs2 | Encoding::Utf16 { .. } | Encoding::Utf32 => false,
        }
    }

    /// Decodes to `out` and returns the offset of the first undecodable byte. Stops there, unless
    /// such bytes are to be escaped.
    fn run(&self, bytes: &[u8], out: &mut String, escaped: bool) -> Option<usize> {
        let mut first_bad = None;
        let mut rest = bytes;
        while !rest.is_empty() {
            let (len, character) = self.next(rest);
            let Some((head, tail)) = rest.split_at_checked(len.max(1)) else {
                break; // no `next` tells more than there is
            };
            match character {
                Some(c) => out.push(c),
                None => {
                    first_bad.get_or_insert(bytes.len().saturating_sub(rest.len()));
                    if !escaped {
                        break;
                    }
                    escape(head, out);
                }
            }
            rest = tail;
        }
        first_bad
    }

    /// The first character and its length, or how many bytes are not one.
    #[inline]
    fn next(&self, rest: &[u8]) -> (usize, Option<char>) {
        let Some(&byte) = rest.first() else {
            return (0, None);
        };
        if byte < 0x80 && self.has_ascii() {
            return (1, Some(char::from(byte)));
        }
        match self.encoding {
            Encoding::Utf8 | Encoding::Ascii => (1, None),
            Encoding::Single(table) => {
                let at = usize::from(byte & 0x7f);
                let c = table.get(at).filter(|&&c| c != single::UNDEFINED);
                (1, c.and_then(|&c| char::from_u32(u32::from(c))))
            }
            Encoding::Swe7 => (1, single::swe7(byte)),
            Encoding::Multi(multi) => multi.next(rest),
            Encoding::Ucs2 => match rest.first_chunk() {
                Some(&unit) => (2, char::from_u32(u32::from(u16::from_be_bytes(unit)))),
                None => (1, None),
            },
            Encoding::Utf16 { little_endian } => utf16(rest, little_endian),
            Encoding::Utf32 => match rest.first_chunk() {
                Some(&unit) => (4, char::from_u32(u32::from_be_bytes(unit))),
                None => (rest.len(), None),
            },
        }
    }
}

impl fmt::Debug for Charset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The first character of UTF-16.
fn utf16(rest: &[u8], little_endian: bool) -> (usize, Option<char>) {
    let unit = |pair: [u8; 2]| {
        if little_endian {
            u16::from_le_bytes(pair)
        } else {
            u16::from_be_bytes(pair)
        }
    };
    let Some(&first) = rest.first_chunk() else {
        return (rest.len(), None);
    };
    let second = rest.get(2..).and_then(<[u8]>::first_chunk).copied();
    let units = std::iter::once(unit(first)).chain(second.map(unit));
    match char::decode_utf16(units).next() {
        Some(Ok(c)) => (c.len_utf16().saturating_mul(2), Some(c)),
        _ => (2, None),
    }
}

/// Writes bytes as `\xNN`.
fn escape(bytes: &[u8], out: &mut String) {
    for byte in bytes {
        let _ = write!(out, "\\x{byte:02x}");
    }
}

#[cfg(test)]
mod tests;
