//! The index of a binary log: a text with one log a line, as the server keeps it.
//!
//! A line is absolute, or relative to the data directory (`./mysql-bin.000001`), which need not be
//! the directory of the index, and neither may exist on this machine. So a listed file is looked
//! for under its own path, then beside the index, and there as an archive too.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind, Result};

/// Greatest index that is read: over a hundred thousand files.
pub(super) const MAX_SIZE: u64 = 16 << 20;

/// The files that an index of this machine lists.
///
/// A file that is not there is an error; or, if `lenient`, a path like the others, which becomes a
/// rejected segment.
pub(super) fn local(path: &Path, lenient: bool) -> Result<Vec<PathBuf>> {
    let shown = path.display().to_string();
    let mut text = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_SIZE + 1).read_to_end(&mut text))
        .map_err(|error| super::local::unreadable(&error).error(&shown))?;
    let beside = path.parent().unwrap_or(Path::new(""));
    let (mut files, mut missing) = (Vec::new(), Vec::new());
    for entry in entries(&text).map_err(|e| e.in_file(&shown))? {
        let own = beside.join(entry.strip_prefix("./").unwrap_or(entry));
        let copied = beside.join(entry_name(entry));
        match existing(&own).or_else(|| existing(&copied)) {
            Some(file) => files.push(file),
            None if lenient => files.push(copied),
            None => missing.push(entry.to_owned()),
        }
    }
    if missing.is_empty() {
        Ok(files)
    } else {
        Err(not_there(&missing).in_file(&shown))
    }
}

/// The path, or an archive of that name.
fn existing(path: &Path) -> Option<PathBuf> {
    ["", ".gz", ".zst"].iter().find_map(|suffix| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        let path = PathBuf::from(name);
        path.is_file().then_some(path)
    })
}

/// The lines of an index.
///
/// # Errors
///
/// If it is too big, not text, or lists nothing.
pub(super) fn entries(text: &[u8]) -> Result<Vec<&str>> {
    if text.len() as u64 > MAX_SIZE {
        return Err(Error::invalid(format!(
            "not the index of a binary log: over {} MiB",
            MAX_SIZE >> 20
        )));
    }
    let text = std::str::from_utf8(text)
        .ok()
        .filter(|text| !text.contains('\0'))
        .ok_or_else(|| Error::invalid("not the index of a binary log: it is not text"))?;
    let entries: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty())
        .collect();
    if entries.is_empty() {
        return Err(Error::invalid(
            "this index lists no files; name the logs themselves",
        ));
    }
    Ok(entries)
}

/// The listed file's own name; servers on Windows write `.\binlog.000001`.
pub(super) fn entry_name(entry: &str) -> &str {
    entry.rsplit(['/', '\\']).next().unwrap_or(entry)
}

/// The error for listed files that are not there.
pub(super) fn not_there(missing: &[String]) -> Error {
    let shown: Vec<&str> = missing.iter().take(5).map(String::as_str).collect();
    let more = match missing.len() - shown.len() {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    Error::new(
        ErrorKind::Source,
        format!(
            "lists {} file{} that {} not there: {}{more}; name the logs to read without them",
            missing.len(),
            if missing.len() == 1 { "" } else { "s" },
            if missing.len() == 1 { "is" } else { "are" },
            shown.join(", "),
        ),
    )
}
