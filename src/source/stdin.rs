//! Logs that come through a pipe.
//!
//! A pipe can be read once, but a query may read its source again and from the middle. So what
//! comes is first kept in a temporary file, which has no name: it is gone when the process is.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, OnceLock};

use super::segment::Rejection;
use crate::error::{Error, ErrorKind, Result};

/// Bytes of a pipe, kept in an unnamed temporary file.
#[derive(Debug)]
pub struct Spool {
    // One file offset for all readers, hence the lock around seek + read.
    file: Mutex<File>,
    len: u64,
}

impl Spool {
    /// Keeps all that `input` gives.
    pub(super) fn fill(input: &mut dyn Read) -> Result<Self> {
        let no_room = |error: io::Error| {
            Error::source(
                format!(
                    "cannot keep the input in a temporary file in {}; TMPDIR names another place",
                    std::env::temp_dir().display()
                ),
                error,
            )
        };
        let mut file = tempfile::tempfile().map_err(no_room)?;
        let mut buffer = vec![0; 256 * 1024];
        let mut len = 0;
        loop {
            let n = match input.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Error::source("cannot read", error)),
            };
            file.write_all(buffer.get(..n).unwrap_or(&[]))
                .map_err(no_room)?;
            len += n as u64;
        }
        Ok(Self {
            file: Mutex::new(file),
            len,
        })
    }

    /// Length in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether nothing came.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds up to `max` bytes from offset `at` on to `out`.
    pub(super) fn read_at(&self, at: u64, max: u64, out: &mut Vec<u8>) -> io::Result<()> {
        let mut file = self
            .file
            .lock()
            .map_err(|_| io::Error::other("a reader has panicked"))?;
        file.seek(SeekFrom::Start(at))?;
        (&mut *file).take(max).read_to_end(out)?;
        Ok(())
    }
}

/// Standard input, or what stands for it: read to its end at the first use, and kept.
pub struct Stdin(futures::lock::Mutex<State>);

enum State {
    Unread(Box<dyn Read + Send>),
    Kept(Arc<Spool>),
    Failed(Rejection),
}

impl Stdin {
    /// Standard input of this process, the same at each call.
    pub fn process() -> Arc<Self> {
        static PROCESS: OnceLock<Arc<Stdin>> = OnceLock::new();
        Arc::clone(PROCESS.get_or_init(|| Arc::new(Self::from_reader(ProcessInput))))
    }

    /// A stand-in for standard input.
    pub fn from_reader(reader: impl Read + Send + 'static) -> Self {
        Self(futures::lock::Mutex::new(State::Unread(Box::new(reader))))
    }

    /// All of the input; waits for its end at the first call.
    ///
    /// # Errors
    ///
    /// If reading or keeping it fails, then and at each further call.
    pub async fn spool(&self) -> Result<Arc<Spool>> {
        let mut state = self.0.lock().await;
        let gone = Rejection::new(
            ErrorKind::Source,
            "reading it was interrupted before its end",
        );
        *state = match std::mem::replace(&mut *state, State::Failed(gone)) {
            State::Unread(mut reader) => match in_thread(move || Spool::fill(&mut *reader)).await {
                Ok(spool) => State::Kept(Arc::new(spool)),
                Err(error) => State::Failed(Rejection::from(&error)),
            },
            state => state,
        };
        match &*state {
            State::Kept(spool) => Ok(Arc::clone(spool)),
            State::Failed(failed) => Err(failed.error("stdin")),
            State::Unread(_) => Err(Error::new(ErrorKind::Source, "not read").in_file("stdin")),
        }
    }
}

/// Runs `work`, which may wait for a pipe for ever, in a thread that no one has to wait for: not
/// even a runtime that shuts down after Ctrl-C.
pub(super) async fn in_thread(
    work: impl FnOnce() -> Result<Spool> + Send + 'static,
) -> Result<Spool> {
    let (send, receive) = futures::channel::oneshot::channel();
    std::thread::Builder::new()
        .name("binlog-pipe".to_owned())
        .spawn(move || send.send(work()))
        .map_err(|error| Error::source("cannot start a thread to read it", error))?;
    receive
        .await
        .map_err(|error| Error::source("reading it failed", error))?
}

/// Standard input, unless it is a keyboard.
struct ProcessInput;

impl Read for ProcessInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let stdin = io::stdin();
        if stdin.is_terminal() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "it is a terminal; pipe a binary log in (zcat FILE | …), or name a file",
            ));
        }
        stdin.lock().read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives its bytes once, then counts further readings.
    struct Once(Option<Vec<u8>>);

    impl Read for Once {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some(bytes) = self.0.take() else {
                return Ok(0);
            };
            let n = bytes.len().min(buffer.len());
            buffer[..n].copy_from_slice(&bytes[..n]);
            self.0 = (n < bytes.len()).then(|| bytes[n..].to_vec());
            Ok(n)
        }
    }

    struct Broken;

    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the pipe broke"))
        }
    }

    #[tokio::test]
    async fn is_kept_and_read_again() {
        let bytes: Vec<u8> = (0..700_000_u32).map(|i| (i % 251) as u8).collect();
        let stdin = Stdin::from_reader(Once(Some(bytes.clone())));
        let (first, second) = (stdin.spool().await.unwrap(), stdin.spool().await.unwrap());
        assert!(Arc::ptr_eq(&first, &second));
        assert_eq!(first.len(), 700_000);
        let mut out = Vec::new();
        second.read_at(699_990, 100, &mut out).unwrap();
        first.read_at(0, 5, &mut out).unwrap();
        assert_eq!(out, [&bytes[699_990..], &bytes[..5]].concat());
    }

    #[tokio::test]
    async fn a_failure_is_said_each_time() {
        let stdin = Stdin::from_reader(Broken);
        for _ in 0..2 {
            let error = stdin.spool().await.unwrap_err();
            assert_eq!(error.to_string(), "stdin: cannot read: the pipe broke");
        }
    }
}
