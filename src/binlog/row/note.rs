//! What is not exact about a value.

use crate::binlog::charset::Undecodable;
use crate::binlog::problem::Severity;
use crate::binlog::types::AnyInt;
use crate::error::Error;
use std::fmt;

/// Why a value is not given, or not given exactly.
#[derive(Debug)]
#[non_exhaustive]
pub enum ValueNote {
    /// It does not decode; null is given. The error names the column.
    Undecoded(Error),
    /// Bytes are no characters of the column's character set; they are given as `\xNN`.
    NotText(Undecodable),
    /// The log does not tell whether the column is text, nor in which character set, and the bytes
    /// from this offset on are no UTF-8; they are given as `\xNN`.
    NoCharset(usize),
    /// The column's character set is not known by this collation id; the bytes are given.
    UnknownCollation(u16),
    /// The log does not tell whether the integer is unsigned, and both readings differ.
    TwoReadings(AnyInt),
}

impl ValueNote {
    /// [`Severity::Error`] where there is no value, else [`Severity::Warning`].
    pub fn severity(&self) -> Severity {
        match self {
            Self::Undecoded(_) => Severity::Error,
            Self::NotText(_)
            | Self::NoCharset(_)
            | Self::UnknownCollation(_)
            | Self::TwoReadings(_) => Severity::Warning,
        }
    }

    /// Whether the log lacks what would tell the column's values, so that the note holds for the
    /// column rather than for this value.
    pub fn is_of_column(&self) -> bool {
        matches!(
            self,
            Self::NoCharset(_) | Self::UnknownCollation(_) | Self::TwoReadings(_)
        )
    }
}

/// What is wrong, without the place.
impl fmt::Display for ValueNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undecoded(error) => f.write_str(error.message()),
            Self::NotText(undecodable) => {
                write!(f, "{undecodable}; bytes that are none stand as \\xNN")
            }
            Self::NoCharset(offset) => write!(
                f,
                "the bytes at offset {offset} are no UTF-8, and the log does not tell the \
                 column's character set; a schema file (--schema) does"
            ),
            Self::UnknownCollation(id) => write!(
                f,
                "the character set of collation {id} is not known; the bytes are given"
            ),
            Self::TwoReadings(int) => write!(
                f,
                "{int}: the log does not tell whether the column is unsigned; a schema file \
                 (--schema) does"
            ),
        }
    }
}
