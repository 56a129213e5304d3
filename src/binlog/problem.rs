//! What could not be read: the rows of the relation `problems`.

use std::fmt;
use std::sync::Arc;

/// What is wrong with a stretch of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ProblemKind {
    /// The log ends inside an event.
    Truncated,
    /// The checksum of an event does not fit its bytes.
    BadChecksum,
    /// An event's bytes contradict the format.
    BadEvent,
    /// An event type that nothing here knows; its size is known, so nothing else is lost.
    UnknownEvent,
    /// Bytes that are no event were passed over, up to the next one that proves itself.
    Resync,
    /// Everything from here on is encrypted.
    Encrypted,
    /// A file that is no binary log.
    NotABinlog,
    /// Reading failed.
    Unreadable,
    /// A value or a text could not be decoded exactly; its raw form is given instead.
    UndecodedValue,
    /// A statement that changes a table could not be read: the names of its columns, where the table
    /// map does not tell them, are not known from there on.
    UnknownNames,
}

impl ProblemKind {
    /// Name in the column `kind`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Truncated => "TRUNCATED",
            Self::BadChecksum => "BAD_CHECKSUM",
            Self::BadEvent => "BAD_EVENT",
            Self::UnknownEvent => "UNKNOWN_EVENT",
            Self::Resync => "RESYNC",
            Self::Encrypted => "ENCRYPTED",
            Self::NotABinlog => "NOT_A_BINLOG",
            Self::Unreadable => "UNREADABLE",
            Self::UndecodedValue => "UNDECODED_VALUE",
            Self::UnknownNames => "UNKNOWN_NAMES",
        }
    }
}

/// How much it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// As it should be, but worth knowing: the open tail of a log that is being written.
    Info,
    /// Nothing is lost, but something is odd.
    Warning,
    /// Something of the log is not in the result, or not exactly.
    Error,
}

impl Severity {
    /// Name in the column `severity`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// One gap or defect of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Name of the file, as in the column `file`; empty until the scan that knows it fills it in.
    pub file: Arc<str>,
    /// Offset of the first byte concerned, in the uncompressed log.
    pub pos: u64,
    /// Number of bytes concerned.
    pub length: u64,
    /// Index of the event inside the TRANSACTION_PAYLOAD at `pos`, where it is inside one.
    pub payload_index: Option<u32>,
    /// What is wrong.
    pub kind: ProblemKind,
    /// How much it matters.
    pub severity: Severity,
    /// The whole story, in one line.
    pub message: String,
}

impl Problem {
    /// A problem of severity error. Control characters in the message are escaped.
    #[cold]
    pub fn error(kind: ProblemKind, pos: u64, length: u64, message: impl Into<String>) -> Self {
        Self {
            file: Arc::from(""),
            pos,
            length,
            payload_index: None,
            kind,
            severity: Severity::Error,
            message: one_line(message.into()),
        }
    }

    /// All from `pos` on is encrypted.
    pub(super) fn encrypted(pos: u64, length: u64) -> Self {
        let message = "MariaDB has encrypted the log from here on; read it from the server that \
                       wrote it";
        Self::error(ProblemKind::Encrypted, pos, length, message)
    }

    /// The same with another severity.
    #[must_use]
    pub fn with_severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }
}

/// Names out of a log may hold anything; control characters are written as `\n`, `\u{1b}`.
fn one_line(message: String) -> String {
    if !message.contains(char::is_control) {
        return message;
    }
    let mut line = String::with_capacity(message.len());
    for c in message.chars() {
        if c.is_control() {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
    }
    line
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.file.is_empty() {
            write!(f, "{} ", self.file)?;
        }
        write!(f, "@ {}", self.pos)?;
        if let Some(index) = self.payload_index {
            write!(f, " (payload event {index})")?;
        }
        write!(f, ", {}: {}", self.kind.name(), self.message)
    }
}
