//! URLs of object stores: objects, prefixes ending in `/`, globs in the last part, indexes.
//!
//! Stores are listed directly, at each call: a log grows by new files.

use std::collections::HashMap;
use std::sync::Arc;

use futures::{StreamExt as _, TryStreamExt as _};
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt as _};

use super::index;
use super::local::{hint, near};
use super::segment::{Location, Rejection, Segment, is_companion, is_log_name};
use super::sniff::{self, HEAD, Sniff, sniff};
use super::stored;
use crate::error::{Error, ErrorKind, Result};

/// An object that a URL means.
pub(super) struct Object {
    pub(super) store: Arc<dyn ObjectStore>,
    /// The whole URL: the object's identity.
    pub(super) url: String,
    meta: ObjectMeta,
}

/// The store's own part of a URL, `s3://bucket`, and the path in it.
pub(super) fn split(url: &str) -> Option<(&str, &str)> {
    let scheme = url.find("://")?;
    let rest = url.get(scheme + 3..)?;
    let at = scheme + 3 + rest.find('/').unwrap_or(rest.len());
    Some((url.get(..at)?, url.get(at..)?))
}

/// The objects that the URL `base` + `path` means.
pub(super) async fn expand(
    store: Arc<dyn ObjectStore>,
    base: &str,
    path: &str,
) -> Result<Vec<Object>> {
    let place = Place { store, base };
    let (folder, last) = path.rsplit_once('/').unwrap_or(("", path));
    if folder.contains(['*', '?', '[']) {
        return Err(Error::invalid("only the last part of a URL can be a glob"));
    }
    if last.is_empty() {
        return place.directory(&parse(folder)?).await;
    }
    if last.contains(['*', '?', '[']) {
        return place.glob(&parse(folder)?, last).await;
    }
    let path = parse(path)?;
    match place.store.head(&path).await {
        Ok(meta) if last.ends_with(".index") => place.index(meta).await,
        Ok(meta) => Ok(vec![place.object(meta)]),
        Err(object_store::Error::NotFound { .. }) => {
            let below = place.list(&path).await?;
            if below.is_empty() {
                return Err(place.missing(&path).await);
            }
            place.logs(below)
        }
        Err(error) => Err(Error::source("cannot look at it", error)),
    }
}

fn parse(path: &str) -> Result<Path> {
    Path::from_url_path(path).map_err(|error| Error::invalid(format!("not a path: {error}")))
}

struct Place<'a> {
    store: Arc<dyn ObjectStore>,
    base: &'a str,
}

impl Place<'_> {
    fn object(&self, meta: ObjectMeta) -> Object {
        Object {
            store: Arc::clone(&self.store),
            url: format!("{}/{}", self.base, meta.location),
            meta,
        }
    }

    /// The objects right under a prefix.
    async fn list(&self, prefix: &Path) -> Result<Vec<ObjectMeta>> {
        let listed = self.store.list_with_delimiter(Some(prefix)).await;
        Ok(listed
            .map_err(|e| Error::source("cannot list it", e))?
            .objects)
    }

    async fn directory(&self, prefix: &Path) -> Result<Vec<Object>> {
        self.logs(self.list(prefix).await?)
    }

    /// Those with a log's name; to look into every object would cost a request each.
    fn logs(&self, listed: Vec<ObjectMeta>) -> Result<Vec<Object>> {
        let others = listed.len();
        let logs: Vec<Object> = listed
            .into_iter()
            .filter(|meta| {
                let name = name(meta);
                (is_log_name(name) && !name.starts_with("aria_log.")) || sniff::is_ibb_name(name)
            })
            .map(|meta| self.object(meta))
            .collect();
        if logs.is_empty() {
            return Err(Error::invalid(format!(
                "none of the {others} objects here has a name like mysql-bin.000001; name an \
                 object, or use a glob"
            )));
        }
        Ok(logs)
    }

    async fn glob(&self, prefix: &Path, pattern: &str) -> Result<Vec<Object>> {
        let matcher = glob::Pattern::new(pattern)
            .map_err(|error| Error::invalid(format!("not a glob: {error}")))?;
        let mut found = self.list(prefix).await?;
        found.retain(|meta| matcher.matches(name(meta)));
        if found.is_empty() {
            return Err(Error::invalid("no object matches"));
        }
        // An index beside its logs is not one of them.
        if found.iter().any(|meta| !is_companion(name(meta))) {
            found.retain(|meta| !is_companion(name(meta)));
        } else {
            let mut files = Vec::new();
            for meta in found {
                if name(&meta).ends_with(".index") {
                    files.extend(self.index(meta).await?);
                } else {
                    files.push(self.object(meta));
                }
            }
            return Ok(files);
        }
        Ok(found.into_iter().map(|meta| self.object(meta)).collect())
    }

    /// The objects that an index lists, beside it.
    async fn index(&self, meta: ObjectMeta) -> Result<Vec<Object>> {
        let range = 0..meta.size.min(index::MAX_SIZE + 1);
        let store = Arc::clone(&self.store);
        let text = stored::get(store, meta.location.clone(), None, range).await?;
        let prefix = meta.location.parent().unwrap_or(Path::ROOT);
        let listed = self.list(&prefix).await?;
        let listed: HashMap<&str, &ObjectMeta> = listed.iter().map(|m| (name(m), m)).collect();
        let (mut files, mut missing) = (Vec::new(), Vec::new());
        for entry in index::entries(&text)? {
            let wanted = index::entry_name(entry);
            let found = ["", ".gz", ".zst"]
                .iter()
                .find_map(|suffix| listed.get(format!("{wanted}{suffix}").as_str()));
            match found {
                Some(meta) => files.push(self.object((*meta).clone())),
                None => missing.push(entry.to_owned()),
            }
        }
        if missing.is_empty() {
            Ok(files)
        } else {
            Err(index::not_there(&missing))
        }
    }

    async fn missing(&self, path: &Path) -> Error {
        let parent = path.parent().unwrap_or(Path::ROOT);
        let listed = self.store.list(Some(&parent)).take(1000);
        let names: Vec<String> = listed
            .map_ok(|meta| name(&meta).to_owned())
            .try_collect()
            .await
            .unwrap_or_default();
        let near = near(path.filename().unwrap_or(""), names.into_iter());
        Error::new(ErrorKind::Source, format!("no such object{}", hint(&near)))
    }
}

fn name(meta: &ObjectMeta) -> &str {
    meta.location.filename().unwrap_or("")
}

/// The segment of an object, with what it turned out to be.
pub(super) async fn segment(object: Object) -> Segment {
    let Object { store, url, meta } = object;
    // A weak tag (W/…) never matches a request.
    let e_tag = meta.e_tag.clone().filter(|tag| !tag.starts_with("W/"));
    let sniffed = head(&store, &meta, e_tag.clone()).await;
    let location = Location::Store {
        store,
        url: Arc::from(url),
        path: meta.location.clone(),
        e_tag,
    };
    Segment::new(
        location,
        name(&meta),
        meta.size,
        Some(meta.last_modified.into()),
        sniffed.map_err(|error| Rejection::from(&error)),
    )
}

async fn head(
    store: &Arc<dyn ObjectStore>,
    meta: &ObjectMeta,
    e_tag: Option<String>,
) -> Result<Sniff> {
    let get = |range| {
        stored::get(
            Arc::clone(store),
            meta.location.clone(),
            e_tag.clone(),
            range,
        )
    };
    let mut head = get(0..meta.size.min(HEAD as u64)).await?.to_vec();
    let wanted = meta.size.min(sniff::wanted_head(&head) as u64);
    let have = head.len() as u64;
    if wanted > have {
        head.extend_from_slice(&get(have..wanted).await?);
    }
    Ok(sniff(&head, name(meta)))
}
