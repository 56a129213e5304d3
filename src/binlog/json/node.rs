//! The values of a document, read in place: nothing is copied, nothing allocated.

use super::corrupt;
use crate::binlog::cursor::Cursor;
use crate::error::{Error, Result};

/// A JSON value.
#[derive(Debug, Clone, Copy)]
pub enum Node<'a> {
    /// `null`, which is not SQL's NULL.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer of any stored width.
    Int(i64),
    /// An integer that was stored unsigned.
    Uint(u64),
    /// A double.
    Double(f64),
    /// A string.
    String(&'a str),
    /// A value of an SQL type.
    Opaque(Opaque<'a>),
    /// An array.
    Array(Container<'a>),
    /// An object.
    Object(Container<'a>),
}

/// A value of an SQL type that JSON does not have.
#[derive(Debug, Clone, Copy)]
pub struct Opaque<'a> {
    /// Column type as in a table map: 246 DECIMAL, 10 DATE, 15 VARBINARY…
    pub type_code: u8,
    /// The value. DECIMAL: precision 1, scale 1, packed number. DATE, TIME, DATETIME, TIMESTAMP: 8
    /// bytes, little-endian. Else as in memory.
    pub data: &'a [u8],
    /// Offset of the type in the document.
    pub(super) at: usize,
}

/// An array or an object.
#[derive(Debug, Clone, Copy)]
pub struct Container<'a> {
    /// From the count to the end.
    bytes: &'a [u8],
    /// Offset of `bytes` in the document.
    at: usize,
    count: usize,
    wide: bool,
    keys: bool,
}

impl<'a> Node<'a> {
    /// The outermost value of a document.
    pub(super) fn root(document: &'a [u8]) -> Result<Self> {
        match document.split_first() {
            Some((&type_code, value)) => read(type_code, value, 1),
            None => Ok(Self::Null),
        }
    }

    /// Bytes that a string or a value of an SQL type has for itself. The bytes of numbers count with
    /// their entries: they cannot make the work grow.
    pub(super) fn payload_len(&self) -> usize {
        match self {
            Self::String(text) => text.len(),
            Self::Opaque(opaque) => opaque.data.len(),
            _ => 0,
        }
    }
}

/// Reads a value that stands at the beginning of `bytes`, at offset `at` of the document.
fn read(type_code: u8, bytes: &[u8], at: usize) -> Result<Node<'_>> {
    match type_code {
        0..=3 => {
            let keys = type_code < 2;
            let container = Container::read(bytes, at, type_code & 1 == 1, keys)?;
            Ok(if keys {
                Node::Object(container)
            } else {
                Node::Array(container)
            })
        }
        other => read_scalar(other, &mut Cursor::new(bytes), at),
    }
}

fn read_scalar<'a>(type_code: u8, value: &mut Cursor<'a>, at: usize) -> Result<Node<'a>> {
    let cut = |error: Error| corrupt(at, error.message());
    Ok(match type_code {
        4 => match value.u8().map_err(cut)? {
            0 => Node::Null,
            1 => Node::Bool(true),
            2 => Node::Bool(false),
            other => return Err(corrupt(at, format_args!("literal {other}"))),
        },
        5 => Node::Int(value.u16().map_err(cut)?.cast_signed().into()),
        6 => Node::Uint(value.u16().map_err(cut)?.into()),
        7 => Node::Int(value.u32().map_err(cut)?.cast_signed().into()),
        8 => Node::Uint(value.u32().map_err(cut)?.into()),
        9 => Node::Int(value.i64().map_err(cut)?),
        10 => Node::Uint(value.u64().map_err(cut)?),
        11 => {
            let double = f64::from_bits(value.u64().map_err(cut)?);
            if !double.is_finite() {
                return Err(corrupt(at, format_args!("{double} is no number of JSON")));
            }
            Node::Double(double)
        }
        12 => {
            let len = varlen(value).map_err(cut)?;
            Node::String(utf8(value.bytes(len).map_err(cut)?, at)?)
        }
        15 => {
            let type_code = value.u8().map_err(cut)?;
            let len = varlen(value).map_err(cut)?;
            Node::Opaque(Opaque {
                type_code,
                data: value.bytes(len).map_err(cut)?,
                at,
            })
        }
        other => return Err(corrupt(at, format_args!("value of unknown type {other}"))),
    })
}

/// Reads a length: 7 bits a byte, low bits first; the high bit says that another byte follows.
fn varlen(value: &mut Cursor<'_>) -> Result<usize> {
    let mut len = 0u64;
    for shift in [0, 7, 14, 21, 28] {
        let byte = value.u8()?;
        len |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            // Above 32 bits nothing fits anyway.
            return Ok(usize::try_from(len).unwrap_or(usize::MAX));
        }
    }
    Err(Error::corrupt("a length of over 5 bytes"))
}

fn utf8(bytes: &[u8], at: usize) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| corrupt(at, "a string that is not UTF-8"))
}

impl<'a> Container<'a> {
    fn read(bytes: &'a [u8], at: usize, wide: bool, keys: bool) -> Result<Self> {
        let mut container = Self {
            bytes,
            at,
            count: 0,
            wide,
            keys,
        };
        let header = container.number(0).zip(container.number(container.word()));
        let Some((count, size)) = header else {
            return Err(corrupt(
                at,
                format_args!("{} bytes for an object or array", bytes.len()),
            ));
        };
        container.count = count;
        match bytes.get(..size) {
            Some(bytes) if container.header_len() <= size => container.bytes = bytes,
            Some(_) => {
                return Err(corrupt(
                    at,
                    format_args!("an object or array with {count} members in {size} bytes"),
                ));
            }
            None => {
                return Err(corrupt(
                    at,
                    format_args!(
                        "an object or array of {size} bytes, but {} are left",
                        bytes.len()
                    ),
                ));
            }
        }
        Ok(container)
    }

    /// Number of members of an object or elements of an array.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The elements of an array, or the values of an object.
    ///
    /// In a damaged document many can be the same long string; only [`super::Json::to_text`] and
    /// [`apply`](super::apply()) bound the work.
    pub fn elements(&self) -> Elements<'a> {
        Elements {
            container: *self,
            next: 0,
        }
    }

    /// The keys and values of an object, in stored order. An array has none.
    pub fn members(&self) -> Members<'a> {
        Members(self.elements())
    }

    /// Offset in the document.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Bytes of the count, the size and the entries.
    pub(super) fn header_len(&self) -> usize {
        self.value_entry(self.count)
    }

    /// Bytes of a count, size or offset.
    fn word(&self) -> usize {
        if self.wide { 4 } else { 2 }
    }

    /// The count, size or offset at `offset`.
    fn number(&self, offset: usize) -> Option<usize> {
        let mut from = Cursor::new(self.bytes.get(offset..)?);
        usize::try_from(from.uint(self.word()).ok()?).ok()
    }

    /// Offset of key entry `n`.
    fn key_entry(&self, n: usize) -> usize {
        let entry = self.word().saturating_add(2);
        let begin = self.word().saturating_mul(2);
        begin.saturating_add(n.saturating_mul(entry))
    }

    /// Offset of value entry `n`.
    fn value_entry(&self, n: usize) -> usize {
        let begin = self.key_entry(if self.keys { self.count } else { 0 });
        begin.saturating_add(n.saturating_mul(self.word().saturating_add(1)))
    }

    /// What stands at an offset that an entry gives.
    fn target(&self, entry: usize, offset: Option<usize>) -> Result<(&'a [u8], usize)> {
        let offset = offset.filter(|&offset| offset >= self.header_len());
        match offset.and_then(|offset| Some((self.bytes.get(offset..)?, offset))) {
            Some((bytes, offset)) => Ok((bytes, self.at.saturating_add(offset))),
            None => Err(corrupt(
                self.at.saturating_add(entry),
                "an offset that leads out of the object or array",
            )),
        }
    }

    fn key(&self, n: usize) -> Result<&'a str> {
        let entry = self.key_entry(n);
        let (bytes, at) = self.target(entry, self.number(entry))?;
        let len = self
            .bytes
            .get(entry.saturating_add(self.word())..)
            .and_then(|from| Cursor::new(from).u16().ok());
        match len.and_then(|len| bytes.get(..usize::from(len))) {
            Some(key) => utf8(key, at),
            None => Err(corrupt(at, "a key that does not fit")),
        }
    }

    fn value(&self, n: usize) -> Result<Node<'a>> {
        let entry = self.value_entry(n);
        let inline = entry.saturating_add(1);
        let (Some(&type_code), Some(bytes)) = (self.bytes.get(entry), self.bytes.get(inline..))
        else {
            // The header was measured when the container was read.
            return Err(corrupt(self.at, "no entry"));
        };
        match type_code {
            4..=6 => read(type_code, bytes, self.at.saturating_add(inline)),
            7 | 8 if self.wide => read(type_code, bytes, self.at.saturating_add(inline)),
            _ => {
                let (bytes, at) = self.target(entry, self.number(inline))?;
                read(type_code, bytes, at)
            }
        }
    }
}

/// The elements of an array, or the values of an object. After an error it goes on with the next.
#[derive(Debug, Clone)]
pub struct Elements<'a> {
    container: Container<'a>,
    next: usize,
}

impl Elements<'_> {
    fn step(&mut self) -> Option<usize> {
        let n = self.next;
        self.next = n.saturating_add(1);
        (n < self.container.count).then_some(n)
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Result<Node<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let n = self.step()?;
        Some(self.container.value(n))
    }
}

/// The keys and values of an object. After an error it goes on with the next.
#[derive(Debug, Clone)]
pub struct Members<'a>(Elements<'a>);

impl<'a> Iterator for Members<'a> {
    type Item = Result<(&'a str, Node<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if !self.0.container.keys {
            return None;
        }
        let n = self.0.step()?;
        let container = &self.0.container;
        Some(
            container
                .key(n)
                .and_then(|key| Ok((key, container.value(n)?))),
        )
    }
}
