//! Local paths: files, directories, globs, pipes.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::index;
use super::segment::{Location, Rejection, Segment, is_companion, is_log_name, split_number};
use super::sniff::{self, HEAD, sniff};
use super::stdin::{Spool, in_thread};
use crate::error::{Error, ErrorKind, Result};

/// The files that a pattern means: itself, what it matches, what it contains or lists.
///
/// `all` are the patterns that the user gave along with it.
pub(super) fn expand(pattern: &str, all: &[String]) -> Result<Vec<PathBuf>> {
    if pattern.is_empty() {
        return Err(Error::invalid(
            "an empty path; name a binary log, a directory, or -",
        ));
    }
    let path = Path::new(pattern);
    match std::fs::metadata(path) {
        Ok(meta) if meta.is_dir() => directory(path),
        Ok(meta) if meta.is_file() && is_companion(&file_name(path)) => {
            match (is_index(path), beside_its_logs(path, all)) {
                (true, beside) => index::local(path, beside),
                (false, true) => Ok(Vec::new()),
                (false, false) => Ok(vec![path.to_owned()]),
            }
        }
        Ok(_) => Ok(vec![path.to_owned()]),
        // A name with brackets that exists is that file; else it is a pattern.
        Err(_) if pattern.contains(['*', '?', '[']) => glob(pattern),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Err(missing(path)),
            // Found to be unreadable again, and rejected, when it is looked into.
            io::ErrorKind::PermissionDenied => Ok(vec![path.to_owned()]),
            _ => Err(Error::source("cannot look at it", error).in_file(pattern)),
        },
    }
}

/// Whether a companion of logs was named along with some of them, most likely by the shell:
/// `mysql-bin.*`, unquoted, becomes the logs, their index and their state.
fn beside_its_logs(path: &Path, all: &[String]) -> bool {
    let name = file_name(path);
    let stem = name.split('.').next().unwrap_or(&name);
    all.iter().map(Path::new).any(|other| {
        let other_name = file_name(other);
        other.parent() == path.parent()
            && is_log_name(&other_name)
            && other_name
                .strip_prefix(stem)
                .is_some_and(|rest| rest.starts_with('.'))
    })
}

fn is_index(path: &Path) -> bool {
    file_name(path).ends_with(".index")
        && !read_head(path).is_ok_and(|h| h.starts_with(&sniff::MAGIC))
}

/// A path's own name, for people and for its suffix.
pub(super) fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned()
}

fn glob(pattern: &str) -> Result<Vec<PathBuf>> {
    let options = glob::MatchOptions {
        case_sensitive: true,
        require_literal_separator: true,
        require_literal_leading_dot: true,
    };
    let matches = glob::glob_with(pattern, options)
        .map_err(|e| Error::invalid(format!("not a glob: {e}")).in_file(pattern))?;
    let (mut files, mut companions, mut directories) = (Vec::new(), Vec::new(), 0_usize);
    for entry in matches {
        let path = entry.map_err(|error| {
            let at = error.path().display().to_string();
            let error = io::Error::from(error);
            Error::source("cannot look into it; narrow the glob", error).in_file(&at)
        })?;
        if path.is_dir() {
            directories += 1;
        } else if is_companion(&file_name(&path)) {
            companions.push(path);
        } else {
            files.push(path);
        }
    }
    if !files.is_empty() {
        return Ok(files);
    }
    // Only what is beside the logs: then an index is meant as such.
    for path in companions {
        if is_index(&path) {
            files.extend(index::local(&path, false)?);
        } else {
            files.push(path);
        }
    }
    match (files.is_empty(), directories) {
        (false, _) => Ok(files),
        (true, 0) => Err(Error::invalid("no file matches").in_file(pattern)),
        (true, _) => Err(Error::invalid(format!(
            "only directories match ({directories}); name one, or add /* to the glob"
        ))
        .in_file(pattern)),
    }
}

/// The logs of a directory: by their names, or by what they begin with. Other files of a data
/// directory are not considered.
fn directory(path: &Path) -> Result<Vec<PathBuf>> {
    let shown = path.display().to_string();
    let failed = |error: io::Error| unreadable(&error).error(&shown);
    let (mut logs, mut others) = (Vec::new(), 0_usize);
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        let name = file_name(&file);
        let regular = std::fs::metadata(&file).is_ok_and(|meta| meta.is_file());
        // What has a log's name but cannot be looked at is reported later, not passed over.
        let dangling =
            is_log_name(&name) && std::fs::symlink_metadata(&file).is_ok() && !file.exists();
        if !regular && !dangling {
            continue;
        }
        if is_considered(&file, &name) {
            logs.push(file);
        } else {
            others += 1;
        }
    }
    if logs.is_empty() {
        return Err(Error::invalid(format!(
            "no binary log in this directory: none of its {others} files has a name like \
             mysql-bin.000001 or begins with fe 62 69 6e; name a file, or another directory"
        ))
        .in_file(&shown));
    }
    Ok(logs)
}

fn is_considered(file: &Path, name: &str) -> bool {
    // Aria numbers its logs as a server numbers binary logs.
    if name.starts_with("aria_log.") {
        return false;
    }
    is_log_name(name)
        || sniff::is_ibb_name(name)
        || read_head(file).is_ok_and(|head| sniff(&head, name).is_log())
}

/// The error for a path that is not there.
pub(super) fn missing(path: &Path) -> Error {
    let shown = path.display().to_string();
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let message = if shown.starts_with("~/") {
        "no such file; ~ stands for the home directory only where the shell sees it unquoted"
            .to_owned()
    } else if std::fs::symlink_metadata(path).is_ok() {
        "a symbolic link to a file that does not exist".to_owned()
    } else if !parent.is_dir() {
        format!("no such file: there is no directory {}", parent.display())
    } else {
        let names = std::fs::read_dir(parent).into_iter().flatten().flatten();
        let names = names.map(|e| e.file_name().to_string_lossy().into_owned());
        format!("no such file{}", hint(&near(&file_name(path), names)))
    };
    Error::new(ErrorKind::Source, message).in_file(&shown)
}

/// `; did you mean a, b or c?`
pub(super) fn hint(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [name] => format!("; did you mean {name}?"),
        [names @ .., last] => format!("; did you mean {} or {last}?", names.join(", ")),
    }
}

/// Up to three names that are most like `wanted`, of the first few thousand.
pub(super) fn near(wanted: &str, names: impl Iterator<Item = String>) -> Vec<String> {
    let limit = (wanted.chars().count() / 3).clamp(1, 3);
    let mut near: Vec<(usize, String)> = names
        .take(5000)
        .filter_map(|name| {
            let same_log = match (split_number(wanted), split_number(&name)) {
                (Some((a, _)), Some((b, _))) => a == b,
                _ => false,
            };
            let distance = distance(wanted, &name);
            (distance <= limit || same_log).then_some((distance, name))
        })
        .collect();
    near.sort();
    near.truncate(3);
    near.into_iter().map(|(_, name)| name).collect()
}

/// Levenshtein distance, in characters; far more than any limit where the lengths differ much.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > 5 || a.len() > 300 {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (y, cell) in b.iter().zip(row.iter_mut().skip(1)) {
            let best = (diagonal + usize::from(x != y))
                .min(left + 1)
                .min(*cell + 1);
            diagonal = *cell;
            *cell = best;
            left = best;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

/// Whether a quoted path in SQL means a log: it begins as one, some of the files that the pattern
/// matches do, or there is no such file and its name ends in a log's number, so that the error
/// speaks of logs.
pub fn looks_like_log(path: &str) -> bool {
    let numbered =
        |path: &Path| split_number(&file_name(path)).is_some_and(|(_, digits)| digits.len() >= 6);
    let begins_as_log =
        |path: &Path| read_head(path).is_ok_and(|head| sniff(&head, &file_name(path)).is_log());
    let whole = Path::new(path);
    if whole.is_file() {
        return begins_as_log(whole);
    }
    if whole.exists() {
        return false;
    }
    match glob(path) {
        Ok(files) => files.iter().any(|file| begins_as_log(file)),
        Err(_) => numbered(whole),
    }
}

/// The segment at a path, with what it turned out to be.
pub(super) async fn segment(path: PathBuf) -> Segment {
    let name = file_name(&path);
    let meta = match std::fs::metadata(&path) {
        Ok(meta) => meta,
        Err(error) => {
            return Segment::new(
                Location::Local(path),
                &name,
                0,
                None,
                Err(unreadable(&error)),
            );
        }
    };
    let modified = meta.modified().ok();
    if is_pipe(&meta) {
        let piped = path.clone();
        let spool = in_thread(move || {
            let mut pipe = File::open(&piped).map_err(|e| Error::source("cannot open it", e))?;
            Spool::fill(&mut pipe)
        });
        return match spool.await {
            Ok(spool) => spooled(Arc::new(spool), &name),
            Err(error) => {
                let rejected = Rejection::from(&error);
                Segment::new(Location::Local(path), &name, 0, modified, Err(rejected))
            }
        };
    }
    let sniffed = if meta.is_file() {
        read_head(&path)
            .map(|head| sniff(&head, &name))
            .map_err(|error| unreadable(&error))
    } else {
        Err(Rejection::new(
            ErrorKind::Invalid,
            "not a binary log: this is a directory, a device or a socket",
        ))
    };
    Segment::new(Location::Local(path), &name, meta.len(), modified, sniffed)
}

/// The segment of a pipe's bytes.
pub(super) fn spooled(spool: Arc<Spool>, name: &str) -> Segment {
    let size = spool.len();
    let sniffed = spool_head(&spool)
        .map(|head| sniff(&head, name))
        .map_err(|error| unreadable(&error));
    Segment::new(Location::Spool(spool), name, size, None, sniffed)
}

fn spool_head(spool: &Spool) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    spool.read_at(0, HEAD as u64, &mut head)?;
    let (have, wanted) = (head.len() as u64, sniff::wanted_head(&head) as u64);
    spool.read_at(have, wanted.saturating_sub(have), &mut head)?;
    Ok(head)
}

/// The bytes that [`sniff`](sniff()) wants.
fn read_head(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut head = Vec::with_capacity(HEAD);
    (&mut file).take(HEAD as u64).read_to_end(&mut head)?;
    let more = sniff::wanted_head(&head).saturating_sub(head.len());
    file.take(more as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// Why a file cannot be opened, and what to do.
pub(super) fn unreadable(error: &io::Error) -> Rejection {
    let message = match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "no permission to read it; run as a user who has it (mysql, root), or copy the file"
                .to_owned()
        }
        io::ErrorKind::NotFound => {
            "no such file, though it was listed; or a link to nothing".to_owned()
        }
        _ => format!("cannot read it: {error}"),
    };
    Rejection::new(ErrorKind::Source, message)
}

#[cfg(unix)]
fn is_pipe(meta: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    meta.file_type().is_fifo()
}

#[cfg(not(unix))]
fn is_pipe(_: &Metadata) -> bool {
    false
}
