//! The only error type of the crate: what went wrong, whose fault it is, and where.
//!
//! An [`Error`] is one word wide. Its text begins with the place, so that a user can go and look:
//!
//! ```text
//! mysql-bin.000042 @ 1337, TABLE_MAP shop.orders: column count 17 but only 3 bytes are left
//! ```
//!
//! The place is filled in from the inside out: a decoder knows only what is wrong, the framer adds
//! the offset and event, the scan adds the file. What is already known is never overwritten.

use std::fmt;
use std::sync::Arc;

/// Shorthand for a result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Whose fault it is, which decides what the user can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Bytes end before the value does: a cut file, or one that is still being written.
    Truncated,
    /// The bytes contradict the format: a bad length, checksum or value.
    Corrupt,
    /// The bytes are well-formed, but nothing here reads them (encrypted logs, say).
    Unsupported,
    /// The caller asked for something that makes no sense: an option, a path, a pattern.
    Invalid,
    /// Reading failed: a missing file, no permission, a broken connection.
    Source,
}

/// Where an error happened; each part is present as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct At {
    /// Base name or path of the file.
    pub file: Option<Arc<str>>,
    /// Offset of the event's first byte in the (uncompressed) file.
    pub offset: Option<u64>,
    /// Event type name, as in the column `type`.
    pub event: Option<&'static str>,
    /// `schema.table`.
    pub table: Option<String>,
    /// Column name, or `@n` where the log has no names.
    pub column: Option<String>,
}

/// An error of this crate: a kind, a message, and the place.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    message: String,
    at: At,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error of `kind` with a message and no place yet.
    #[cold]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            at: At::default(),
            source: None,
        }))
    }

    /// Bytes end early: `what` needs `need` bytes, `have` are left.
    #[cold]
    pub fn truncated(what: &str, need: usize, have: usize) -> Self {
        Self::new(
            ErrorKind::Truncated,
            format!("{what} needs {need} bytes, but {have} are left"),
        )
    }

    /// The bytes contradict the format.
    #[cold]
    pub fn corrupt(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Corrupt, message)
    }

    /// Nothing here reads this.
    #[cold]
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// The caller's request makes no sense.
    #[cold]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    /// Reading failed; `source` is the system's own error.
    #[cold]
    pub fn source(
        message: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        let mut error = Self::new(ErrorKind::Source, message);
        error.0.source = Some(source.into());
        error
    }

    /// Whose fault it is.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Where it happened.
    pub fn at(&self) -> &At {
        &self.0.at
    }

    /// What is wrong, without the place.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Adds the file, unless one is known.
    #[must_use]
    pub fn in_file(mut self, file: &str) -> Self {
        self.0.at.file.get_or_insert_with(|| Arc::from(file));
        self
    }

    /// Adds the offset, unless one is known.
    #[must_use]
    pub fn at_offset(mut self, offset: u64) -> Self {
        self.0.at.offset.get_or_insert(offset);
        self
    }

    /// The message with the system's own error behind it, without the place.
    pub fn message_with_source(&self) -> String {
        match &self.0.source {
            Some(source) => format!("{}: {source}", self.0.message),
            None => self.0.message.clone(),
        }
    }

    /// Adds the event's offset and type, unless they are known.
    #[must_use]
    pub fn in_event(mut self, offset: u64, event: &'static str) -> Self {
        self.0.at.offset.get_or_insert(offset);
        self.0.at.event.get_or_insert(event);
        self
    }

    /// Adds the table, unless one is known.
    #[must_use]
    pub fn in_table(mut self, table: impl Into<String>) -> Self {
        self.0.at.table.get_or_insert_with(|| table.into());
        self
    }

    /// Adds the column, unless one is known.
    #[must_use]
    pub fn in_column(mut self, column: impl Into<String>) -> Self {
        self.0.at.column.get_or_insert_with(|| column.into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = &self.0.at;
        let mut placed = false;
        if let Some(file) = &at.file {
            f.write_str(file)?;
            placed = true;
        }
        if let Some(offset) = at.offset {
            write!(f, "{}@ {offset}", if placed { " " } else { "" })?;
            placed = true;
        }
        if let Some(event) = at.event {
            write!(f, "{}{event}", if placed { ", " } else { "" })?;
            placed = true;
        }
        if let Some(table) = &at.table {
            write!(f, "{}{table}", if placed { " " } else { "" })?;
            placed = true;
        }
        if let Some(column) = &at.column {
            write!(f, "{}{column}", if at.table.is_some() { "." } else { " " })?;
            placed = true;
        }
        if placed {
            f.write_str(": ")?;
        }
        f.write_str(&self.0.message)?;
        if let Some(source) = &self.0.source {
            write!(f, ": {source}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({:?}: {self})", self.0.kind)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|s| s.as_ref() as _)
    }
}

#[cfg(feature = "arrow")]
impl From<Error> for arrow::error::ArrowError {
    fn from(error: Error) -> Self {
        Self::ExternalError(Box::new(error))
    }
}

#[cfg(feature = "datafusion")]
impl From<Error> for datafusion::error::DataFusionError {
    fn from(error: Error) -> Self {
        Self::External(Box::new(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_names_the_place_from_the_outside_in() {
        let error = Error::corrupt("digit group 0x3ff")
            .in_column("price")
            .in_table("shop.orders")
            .in_event(1337, "WRITE_ROWS")
            .in_file("mysql-bin.000042")
            .in_file("not this one");
        assert_eq!(
            error.to_string(),
            "mysql-bin.000042 @ 1337, WRITE_ROWS shop.orders.price: digit group 0x3ff"
        );
    }

    #[test]
    fn one_word_wide() {
        assert_eq!(size_of::<Error>(), size_of::<usize>());
    }
}
