//! The stored bytes of a segment, one after another: of a local file, a pipe, or an object.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

use bytes::{Buf as _, Bytes};
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStore};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use super::segment::{Location, Segment};
use super::stdin::Spool;
use crate::error::{Error, Result};

/// A place in the stored bytes, from which they are read forwards.
pub(super) struct Stored {
    place: Place,
    /// Offset of the next byte.
    at: u64,
    /// Offset behind the last byte: the length when it was opened.
    end: u64,
    /// Bytes read from the file or store so far.
    bytes_read: u64,
}

enum Place {
    File(File),
    Spool(Arc<Spool>),
    Object(Object),
}

impl Stored {
    /// Opens the segment's stored bytes at `at`; object stores are asked for `chunk` bytes at a
    /// time.
    pub(super) fn open(segment: &Segment, at: u64, chunk: usize) -> Result<Self> {
        let (place, end) = match &segment.location {
            Location::Local(path) => {
                let mut file = File::open(path).map_err(|e| unreadable(segment, e))?;
                let end = file.metadata().map_err(|e| unreadable(segment, e))?.len();
                if at > 0 {
                    file.seek(SeekFrom::Start(at))
                        .map_err(|e| unreadable(segment, e))?;
                }
                (Place::File(file), end)
            }
            Location::Spool(spool) => (Place::Spool(Arc::clone(spool)), spool.len()),
            Location::Store {
                store, path, e_tag, ..
            } => {
                let object = Object {
                    store: Arc::clone(store),
                    path: path.clone(),
                    e_tag: e_tag.clone(),
                    chunk: chunk.max(1) as u64,
                    buffer: Bytes::new(),
                    ahead: None,
                    steady: false,
                };
                (Place::Object(object), segment.size)
            }
        };
        Ok(Self {
            place,
            at,
            end,
            bytes_read: 0,
        })
    }

    /// Bytes that are left.
    pub(super) fn left(&self) -> u64 {
        self.end.saturating_sub(self.at)
    }

    /// Offset behind the last byte.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    pub(super) fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// Adds up to `max` bytes to `out`; 0 only at the end.
    ///
    /// A file that has become shorter meanwhile ends where it ends now.
    pub(super) async fn read_into(&mut self, out: &mut Vec<u8>, max: usize) -> Result<usize> {
        let before = out.len();
        let max = self.left().min(max as u64);
        if max == 0 {
            return Ok(0);
        }
        let result = match &mut self.place {
            Place::File(file) => file.take(max).read_to_end(out).map(drop),
            Place::Spool(spool) => spool.read_at(self.at, max, out),
            Place::Object(object) => {
                if object.buffer.is_empty() {
                    object.fetch(self.at, self.end).await?;
                    self.bytes_read += object.buffer.len() as u64;
                }
                let n = usize::try_from(max)
                    .unwrap_or(usize::MAX)
                    .min(object.buffer.len());
                out.extend_from_slice(&object.buffer.split_to(n));
                Ok(())
            }
        };
        // An error behind some bytes returns with the next call, which reads on from there.
        if out.len() == before
            && let Err(error) = result
        {
            return Err(failed(error));
        }
        let read = out.len() - before;
        self.at += read as u64;
        if !matches!(self.place, Place::Object(_)) {
            self.bytes_read += read as u64;
        }
        if read == 0 {
            self.end = self.at;
        }
        Ok(read)
    }

    /// Moves on by `n` bytes, or to the end; how far it went.
    pub(super) fn skip(&mut self, n: u64) -> Result<u64> {
        let n = n.min(self.left());
        match &mut self.place {
            Place::File(file) => {
                file.seek(SeekFrom::Start(self.at + n)).map_err(failed)?;
            }
            Place::Spool(_) => {}
            Place::Object(object) => object.skip(self.at, n),
        }
        self.at += n;
        Ok(n)
    }
}

#[cold]
fn failed(error: std::io::Error) -> Error {
    Error::source("cannot read", error)
}

#[cold]
fn unreadable(segment: &Segment, error: std::io::Error) -> Error {
    super::local::unreadable(&error).error(&segment.name)
}

/// An object, read by ranged requests. While one range is worked on, the next is under way; but
/// not at the start and not after a jump, when it may never be asked for.
struct Object {
    store: Arc<dyn ObjectStore>,
    path: Path,
    e_tag: Option<String>,
    chunk: u64,
    /// Fetched, not yet handed out: the bytes from the place's offset on.
    buffer: Bytes,
    ahead: Option<Ahead>,
    /// Ranges follow one another: the next is worth fetching ahead.
    steady: bool,
}

impl Object {
    /// Fills the buffer with the bytes from `at` on, one at least.
    async fn fetch(&mut self, at: u64, end: u64) -> Result<()> {
        let after = match self.ahead.take() {
            Some(mut ahead) if ahead.range.contains(&at) => {
                let Range { start, end } = ahead.range.clone();
                let mut bytes = ahead.bytes().await?;
                // A jump may have landed inside the range.
                let passed = usize::try_from(at - start).unwrap_or(usize::MAX);
                self.buffer = bytes.split_off(passed.min(bytes.len()));
                end
            }
            _ => {
                let range = self.range(at, end);
                let after = range.end;
                self.buffer = self.request(range).await?;
                after
            }
        };
        if self.steady
            && after < end
            && let Ok(runtime) = Handle::try_current()
        {
            let range = self.range(after, end);
            let task = runtime.spawn(self.request(range.clone()));
            self.ahead = Some(Ahead { range, task });
        }
        self.steady = true;
        Ok(())
    }

    fn range(&self, at: u64, end: u64) -> Range<u64> {
        at..end.min(at.saturating_add(self.chunk))
    }

    fn request(&self, range: Range<u64>) -> impl Future<Output = Result<Bytes>> + use<> {
        get(
            Arc::clone(&self.store),
            self.path.clone(),
            self.e_tag.clone(),
            range,
        )
    }

    /// Moves on from `at` by `n` bytes. What is under way goes on if the jump lands in it.
    fn skip(&mut self, at: u64, n: u64) {
        let held = self.buffer.len() as u64;
        if n <= held {
            self.buffer
                .advance(usize::try_from(n).unwrap_or(usize::MAX));
            return;
        }
        self.buffer = Bytes::new();
        if self
            .ahead
            .as_ref()
            .is_some_and(|ahead| !ahead.range.contains(&(at + n)))
        {
            self.ahead = None;
        }
        // An event that crosses the border of two ranges is no reason to stop reading ahead.
        if n - held >= self.chunk {
            self.steady = false;
        }
    }
}

/// A range that is being fetched; dropping it ends the request.
struct Ahead {
    range: Range<u64>,
    task: JoinHandle<Result<Bytes>>,
}

impl Ahead {
    async fn bytes(&mut self) -> Result<Bytes> {
        match (&mut self.task).await {
            Ok(result) => result,
            Err(error) => Err(Error::source("reading ahead was interrupted", error)),
        }
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// All bytes of a range of an object.
pub(super) async fn get(
    store: Arc<dyn ObjectStore>,
    path: Path,
    e_tag: Option<String>,
    range: Range<u64>,
) -> Result<Bytes> {
    let wanted = range.end.saturating_sub(range.start);
    if wanted == 0 {
        return Ok(Bytes::new());
    }
    let options = GetOptions {
        if_match: e_tag,
        range: Some(GetRange::Bounded(range)),
        ..GetOptions::default()
    };
    let fetch = async { store.get_opts(&path, options).await?.bytes().await };
    let bytes = fetch.await.map_err(|error| match error {
        object_store::Error::Precondition { .. } => Error::source(
            "the object was replaced while it was being read; start again",
            error,
        ),
        error => Error::source("cannot read", error),
    })?;
    if bytes.len() as u64 != wanted {
        return Err(Error::new(
            crate::error::ErrorKind::Source,
            format!(
                "the store gave {} bytes instead of {wanted}: the object changed while it was \
                 being read; start again",
                bytes.len()
            ),
        ));
    }
    Ok(bytes)
}
