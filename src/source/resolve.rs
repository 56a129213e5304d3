//! From what the user typed to the segments, in the order in which they were written.

use std::collections::HashSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use futures::StreamExt as _;
use object_store::ObjectStore;

use super::segment::{Segment, name_apart, order};
use super::stdin::Stdin;
use super::{local, remote};
use crate::error::{Error, Result};

/// How many objects are looked into at a time.
const AT_ONCE: usize = 16;

/// Finds the object store of a URL.
pub trait Stores: Send + Sync {
    /// The store of `base`, which is scheme and authority only: `s3://bucket`.
    ///
    /// # Errors
    ///
    /// If there is none; the text says what to do.
    fn store(&self, base: &str) -> Result<Arc<dyn ObjectStore>>;
}

impl<F: Fn(&str) -> Result<Arc<dyn ObjectStore>> + Send + Sync> Stores for F {
    fn store(&self, base: &str) -> Result<Arc<dyn ObjectStore>> {
        self(base)
    }
}

/// What [`resolve`] needs to know of the world.
#[derive(Clone)]
pub struct Resolver {
    /// Object stores by URL; without it, local files and pipes only.
    pub stores: Option<Arc<dyn Stores>>,
    /// What `-` means.
    pub stdin: Arc<Stdin>,
}

impl fmt::Debug for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resolver")
            .field("stores", &self.stores.is_some())
            .finish_non_exhaustive()
    }
}

impl Default for Resolver {
    /// Local files, and the standard input of this process.
    fn default() -> Self {
        Self {
            stores: None,
            stdin: Stdin::process(),
        }
    }
}

/// The segments that `patterns` mean, in log order: by stem and number (`.999999` before
/// `.1000000`), each file once.
///
/// A pattern is one of:
/// - a path of a file, whatever its name, or of a pipe (`<(ssh db cat …)`);
/// - a glob over local paths (`logs/mysql-bin.*`); files that a server keeps beside its logs (their
///   index, MariaDB's state and GTID indexes) are left out if anything else matches;
/// - a directory: its files with a name like `mysql-bin.000001` (six digits or more, perhaps with
///   `.gz` or `.zst`), and those that begin as a log does; not what is below it;
/// - an index (`*.index`): the files that it lists;
/// - `-`, standard input;
/// - a `file://` URL, the same as its path;
/// - another URL, through [`Resolver::stores`]: an object, a prefix, an index, or a glob in its
///   last part.
///
/// A file that is not a readable log is among the segments, [`rejected`](Segment::rejected):
/// [`admit`] says what becomes of it.
///
/// # Errors
///
/// If a path does not exist, a glob matches nothing, a directory has no log, an index lists what
/// is not there, or a store cannot be listed.
pub async fn resolve(patterns: &[String], resolver: &Resolver) -> Result<Vec<Segment>> {
    if patterns.is_empty() {
        return Err(Error::invalid(
            "no source; name a binary log, a directory, a glob, an index, or - for standard input",
        ));
    }
    let mut segments = Vec::new();
    let (mut paths, mut urls, mut stdin) = (HashSet::new(), HashSet::new(), false);
    for pattern in patterns {
        if pattern == "-" {
            if !std::mem::replace(&mut stdin, true) {
                segments.push(local::spooled(resolver.stdin.spool().await?, "stdin"));
            }
            continue;
        }
        if let Some((base, path)) = remote_url(pattern) {
            let in_pattern = |error: Error| error.in_file(pattern);
            let stores = resolver.stores.as_ref().ok_or_else(|| {
                Error::invalid("a URL, but there is no object store to ask").in_file(pattern)
            })?;
            let store = stores.store(base).map_err(in_pattern)?;
            let mut objects = remote::expand(store, base, path)
                .await
                .map_err(in_pattern)?;
            objects.retain(|object| urls.insert(object.url.clone()));
            let found = futures::stream::iter(objects)
                .map(remote::segment)
                .buffered(AT_ONCE);
            segments.extend(found.collect::<Vec<_>>().await);
            continue;
        }
        for path in local::expand(&local_path(pattern)?, patterns)? {
            let real = std::fs::canonicalize(&path).unwrap_or_else(|_| PathBuf::from(&path));
            if paths.insert(real) {
                segments.push(local::segment(path).await);
            }
        }
    }
    segments.sort_by(order);
    name_apart(&mut segments);
    Ok(segments)
}

/// Store and path of a URL that is not of a local file; `None` for everything else.
fn remote_url(pattern: &str) -> Option<(&str, &str)> {
    let (base, path) = remote::split(pattern)?;
    let (scheme, _) = base.split_once("://")?;
    let is_scheme = scheme.len() > 1
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    (is_scheme && !scheme.eq_ignore_ascii_case("file")).then_some((base, path))
}

/// The path of a `file://` URL; any other pattern as it is.
fn local_path(pattern: &str) -> Result<String> {
    let is_url = pattern
        .get(..7)
        .is_some_and(|p| p.eq_ignore_ascii_case("file://"));
    let Some(rest) = pattern.get(7..).filter(|_| is_url) else {
        return Ok(pattern.to_owned());
    };
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !path.starts_with('/') {
        let text = "a file URL with another host; write file:///path";
        return Err(Error::invalid(text).in_file(pattern));
    }
    percent_decode(path).ok_or_else(|| {
        Error::invalid("not a URL: % without two hexadecimal digits, or not UTF-8").in_file(pattern)
    })
}

fn percent_decode(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let mut digit = || char::from(bytes.next()?).to_digit(16);
        let value = digit()? * 16 + digit()?;
        out.push(u8::try_from(value).ok()?);
    }
    String::from_utf8(out).ok()
}

/// What becomes of files that are not readable logs.
///
/// One that was found alone is an error, as are several of which none is a log; among logs it
/// stays, [`rejected`](Segment::rejected), for the caller to report. With `strict`, the first is an
/// error in any case.
///
/// # Errors
///
/// As said; the text names the file and says what it is.
pub fn admit(segments: Vec<Segment>, strict: bool) -> Result<Vec<Segment>> {
    let bad = segments
        .iter()
        .filter(|segment| segment.rejected.is_some())
        .count();
    let first = segments
        .iter()
        .find_map(|s| Some((s, s.rejected.as_ref()?)));
    match first {
        Some((segment, rejected)) if strict || bad == segments.len() => {
            let mut rejected = rejected.clone();
            if bad > 1 {
                rejected.message = format!(
                    "{} (and {} more that cannot be read)",
                    rejected.message,
                    bad - 1
                );
            }
            Err(rejected.error(&segment.name))
        }
        _ => Ok(segments),
    }
}

#[cfg(test)]
mod tests;
