//! One file of a log: its name, its place, its order among others, and what it turned out to be.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use object_store::ObjectStore;

use super::sniff::Sniff;
use super::stdin::Spool;
use crate::error::{Error, ErrorKind};

/// How the stored bytes are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// As the server wrote them: any offset can be read directly.
    Plain,
    /// gzip, of one or more members: only readable from the start.
    Gzip,
    /// Zstandard, of one or more frames: only readable from the start.
    Zstd,
}

/// Where a segment's stored bytes are.
#[derive(Debug, Clone)]
pub enum Location {
    /// A file of this machine, under the path that the user gave or that was found there.
    Local(PathBuf),
    /// An object of an object store.
    Store {
        /// The store.
        store: Arc<dyn ObjectStore>,
        /// The whole URL, for messages and as the object's identity.
        url: Arc<str>,
        /// The object's path in its store.
        path: object_store::path::Path,
        /// The strong entity tag that the object had when it was found; reads insist on it, so
        /// that an object that is replaced meanwhile is an error rather than a mixture.
        e_tag: Option<String>,
    },
    /// What came through a pipe, kept in a temporary file that has no name.
    Spool(Arc<Spool>),
}

/// Why a segment is not read; the cloneable form of an [`Error`] without its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// Whose fault it is.
    pub kind: ErrorKind,
    /// What the file is instead of a readable log, in one line, and what to do where that is known.
    pub message: String,
}

impl Rejection {
    pub(super) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    /// The rejection as an error of the file `name`.
    pub fn error(&self, name: &str) -> Error {
        Error::new(self.kind, self.message.clone()).in_file(name)
    }
}

impl From<&Error> for Rejection {
    /// Keeps the kind and the text, without the place and with the underlying cause.
    fn from(error: &Error) -> Self {
        let mut message = error.message().to_owned();
        if let Some(cause) = std::error::Error::source(error) {
            message = format!("{message}: {cause}");
        }
        Self::new(error.kind(), message)
    }
}

/// One file of a log.
#[derive(Debug, Clone)]
pub struct Segment {
    /// What the column `file` shows: the base name, or the shortest `dir/base` that tells it from
    /// the other segments of the same source. No two segments of one source have the same.
    pub name: Arc<str>,
    /// The file's own name, without `.gz` or `.zst` if it is such an archive; `stdin` for a pipe.
    pub base_name: Arc<str>,
    /// Where the bytes are.
    pub location: Location,
    /// Stored size in bytes when the segment was found. A log that is being written grows.
    pub size: u64,
    /// Time of the last change; `None` for a pipe.
    pub modified: Option<SystemTime>,
    /// How the bytes are packed.
    pub encoding: Encoding,
    /// What the first bytes say it is; `None` where they could not be read (see `rejected`).
    pub sniffed: Option<Sniff>,
    /// Why the segment cannot be read as a log; `None` for a good one.
    pub rejected: Option<Rejection>,
}

impl Segment {
    /// A segment whose head could (`Ok`) or could not (`Err`) be sniffed.
    pub(super) fn new(
        location: Location,
        file_name: &str,
        size: u64,
        modified: Option<SystemTime>,
        sniffed: Result<Sniff, Rejection>,
    ) -> Self {
        let (sniffed, rejected) = match sniffed {
            Ok(sniffed) => {
                let rejected = sniffed.rejection();
                (Some(sniffed), rejected)
            }
            Err(rejected) => (None, Some(rejected)),
        };
        let encoding = sniffed.as_ref().map_or(Encoding::Plain, |s| s.encoding);
        let base_name: Arc<str> = Arc::from(base_name(file_name, encoding));
        Self {
            name: Arc::clone(&base_name),
            base_name,
            location,
            size,
            modified,
            encoding,
            sniffed,
            rejected,
        }
    }

    /// Where the segment is, as a user would write it: path, URL, or `-`.
    pub fn display_location(&self) -> String {
        match &self.location {
            Location::Local(path) => path.display().to_string(),
            Location::Store { url, .. } => url.to_string(),
            Location::Spool(_) => "-".to_owned(),
        }
    }
}

/// The name without the suffix that says it is an archive, if it is one.
fn base_name(file_name: &str, encoding: Encoding) -> &str {
    let suffixes: &[&str] = match encoding {
        Encoding::Plain => &[],
        Encoding::Gzip => &[".gz", ".gzip"],
        Encoding::Zstd => &[".zst", ".zstd"],
    };
    suffixes
        .iter()
        .find_map(|suffix| file_name.strip_suffix(suffix))
        .filter(|stem| !stem.is_empty())
        .unwrap_or(file_name)
}

/// Splits `mysql-bin.000042` into `mysql-bin` and `000042`: the digits behind the last dot.
///
/// `None` where the name has no such number.
pub fn split_number(base_name: &str) -> Option<(&str, &str)> {
    let (stem, digits) = base_name.rsplit_once('.')?;
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then_some((stem, digits))
}

/// Whether a file is a log by its name: a dot and six or more digits, perhaps as an archive.
pub(super) fn is_log_name(file_name: &str) -> bool {
    let base = [".gz", ".gzip", ".zst", ".zstd"]
        .iter()
        .find_map(|suffix| file_name.strip_suffix(suffix))
        .unwrap_or(file_name);
    split_number(base).is_some_and(|(stem, digits)| !stem.is_empty() && digits.len() >= 6)
}

/// Whether a file is one that a server keeps beside its logs, and that a glob over the logs
/// therefore meets: `x.index`, its crash-safe copies, MariaDB's `x.state` and GTID indexes.
pub(super) fn is_companion(file_name: &str) -> bool {
    let gtid_index = file_name.strip_suffix(".idx").is_some_and(is_log_name);
    gtid_index
        || [".index", ".index_crash_safe", ".~rec~", ".state"]
            .iter()
            .any(|suffix| file_name.ends_with(suffix))
}

/// The order in which a server wrote its files: by stem, then by the number as a number.
///
/// A server counts on past six digits, so `.1000000` follows `.999999`.
pub(super) fn order(a: &Segment, b: &Segment) -> Ordering {
    fn key(name: &str) -> (&str, Option<(usize, &str)>) {
        match split_number(name) {
            // Numbers of any length: without leading zeros, the longer is the greater.
            Some((stem, digits)) => {
                let digits = digits.trim_start_matches('0');
                (stem, Some((digits.len(), digits)))
            }
            None => (name, None),
        }
    }
    key(&a.base_name)
        .cmp(&key(&b.base_name))
        .then_with(|| a.base_name.cmp(&b.base_name))
        .then_with(|| a.display_location().cmp(&b.display_location()))
}

/// Gives each segment the shortest name that no other has.
///
/// Candidates, from short to long: base name, stored name (`x.000001.gz`), `dir/stored`,
/// `dir/dir/stored`, …, the whole path or URL.
pub(super) fn name_apart(segments: &mut [Segment]) {
    let paths: Vec<Vec<String>> = segments.iter().map(parts).collect();
    let mut open: Vec<usize> = (0..segments.len()).collect();
    let mut taken: HashMap<String, usize> = HashMap::new();
    let deepest = paths.iter().map(Vec::len).max().unwrap_or(0);
    for depth in 0..=deepest {
        let mut seen: HashMap<String, u32> = HashMap::new();
        for i in &open {
            *seen
                .entry(candidate(segments, &paths, *i, depth))
                .or_default() += 1;
        }
        open.retain(|&i| {
            let name = candidate(segments, &paths, i, depth);
            if seen.get(&name) != Some(&1) || taken.contains_key(&name) {
                return true;
            }
            taken.insert(name, i);
            false
        });
        if open.is_empty() {
            break;
        }
    }
    for (name, i) in taken {
        if let Some(segment) = segments.get_mut(i) {
            segment.name = Arc::from(name);
        }
    }
    // What is still ambiguous (a URL and a path that read alike) shows all of its place.
    for i in open {
        if let Some(segment) = segments.get_mut(i) {
            segment.name = Arc::from(segment.display_location());
        }
    }
}

/// The place in parts, the last one first.
fn parts(segment: &Segment) -> Vec<String> {
    let text = match &segment.location {
        Location::Local(path) => path.to_string_lossy().into_owned(),
        Location::Store { url, .. } => url.to_string(),
        Location::Spool(_) => segment.base_name.to_string(),
    };
    text.split(['/', std::path::MAIN_SEPARATOR])
        .filter(|part| !part.is_empty() && *part != ".")
        .rev()
        .map(str::to_owned)
        .collect()
}

/// The name of segment `i` with `depth` parts of its place (0: the base name).
fn candidate(segments: &[Segment], paths: &[Vec<String>], i: usize, depth: usize) -> String {
    match (segments.get(i), paths.get(i)) {
        (Some(segment), _) if depth == 0 => segment.base_name.to_string(),
        (_, Some(parts)) => {
            let mut shown: Vec<&str> = parts.iter().take(depth).map(String::as_str).collect();
            shown.reverse();
            shown.join("/")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests;
