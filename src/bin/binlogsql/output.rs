//! Where results go: standard output (through a pager in the REPL) or a file that appears only when
//! it is complete.

use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::errors::{Failure, plain_io};
use crate::progress::Progress;

/// The destination of results.
pub enum Output {
    /// Standard output.
    Stdout,
    /// A file.
    File(FileOutput),
}

impl Output {
    /// A file, or standard output for `-`.
    pub fn to(path: &Path) -> Result<Self, Failure> {
        if path == Path::new("-") {
            return Ok(Self::Stdout);
        }
        FileOutput::create(path).map(Self::File)
    }

    /// Whether someone reads the results on a terminal.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Stdout) && io::stdout().is_terminal()
    }

    /// The writer for one result. `paged`: hold it back until it is known to fill the screen, and
    /// then show it with the pager.
    pub fn open<'a>(&'a mut self, paged: bool, progress: &'a Progress) -> Box<dyn Finish + 'a> {
        let terminal = self.is_terminal();
        match self {
            Self::File(file) => Box::new(&mut file.file),
            Self::Stdout if terminal => Box::new(Screen::new(paged, progress)),
            Self::Stdout => Box::new(BufWriter::with_capacity(1 << 16, io::stdout().lock())),
        }
    }

    /// Completes the file: from now on it has its name.
    pub fn finish(self) -> Result<(), Failure> {
        match self {
            Self::Stdout => Ok(()),
            Self::File(file) => file.finish(),
        }
    }
}

/// A writer that has something to do at the end of a result.
pub trait Finish: Write {
    /// Writes what is held back; waits for the pager.
    fn finish(&mut self) -> io::Result<()> {
        self.flush()
    }
}

impl Finish for &mut BufWriter<File> {}
impl Finish for BufWriter<io::StdoutLock<'_>> {}

/// A file under a temporary name beside its own.
pub struct FileOutput {
    path: PathBuf,
    /// None: there is nothing to rename (a device, a named pipe), or it is done.
    temporary: Option<PathBuf>,
    file: BufWriter<File>,
}

impl FileOutput {
    /// The file's own name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn create(path: &Path) -> Result<Self, Failure> {
        let failed = |error: io::Error| {
            Failure::Message(format!(
                "cannot write {}: {}",
                path.display(),
                plain_io(&error)
            ))
        };
        // A link stays a link: its target is replaced. A device or pipe is written as it is.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        match fs::metadata(&path) {
            Ok(known) if known.is_dir() => {
                return Err(failed(io::Error::other("it is a directory")));
            }
            Ok(known) if !known.is_file() => {
                let file = File::options().write(true).open(&path).map_err(failed)?;
                return Ok(Self {
                    path,
                    temporary: None,
                    file: BufWriter::with_capacity(1 << 16, file),
                });
            }
            _ => {}
        }
        let Some(name) = path.file_name() else {
            return Err(failed(io::Error::other("it is not the name of a file")));
        };
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.tmp", std::process::id()));
        let temporary = path.with_file_name(hidden);
        let file = File::create(&temporary).map_err(failed)?;
        if let Ok(known) = fs::metadata(&path) {
            // Who may read the old file may read the new one; a system without that goes on.
            let _ = file.set_permissions(known.permissions());
        }
        Ok(Self {
            path,
            temporary: Some(temporary),
            file: BufWriter::with_capacity(1 << 16, file),
        })
    }

    fn finish(mut self) -> Result<(), Failure> {
        self.file.flush()?;
        if let Some(temporary) = self.temporary.take()
            && let Err(error) = fs::rename(&temporary, &self.path)
        {
            let _ = fs::remove_file(&temporary);
            return Err(error.into());
        }
        Ok(())
    }
}

impl Drop for FileOutput {
    fn drop(&mut self) {
        if let Some(temporary) = self.temporary.take() {
            let _ = fs::remove_file(temporary);
        }
    }
}

/// A terminal, with or without a pager.
struct Screen<'a> {
    progress: &'a Progress,
    /// Lines of the screen; none: no pager is wanted.
    height: Option<usize>,
    held: Vec<u8>,
    lines: usize,
    started: bool,
    pager: Option<Child>,
}

impl<'a> Screen<'a> {
    fn new(paged: bool, progress: &'a Progress) -> Self {
        let height = terminal_size::terminal_size().map(|(_, height)| usize::from(height.0));
        Self {
            progress,
            height: height.filter(|_| paged),
            held: Vec::new(),
            lines: 0,
            started: false,
            pager: None,
        }
    }

    /// From here on bytes go out; the progress bar leaves the screen to them.
    fn start(&mut self, paged: bool) -> io::Result<()> {
        self.started = true;
        self.progress.hide();
        if paged {
            self.pager = spawn_pager();
        }
        let held = std::mem::take(&mut self.held);
        self.put(&held)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self.pager.as_mut().and_then(|pager| pager.stdin.as_mut()) {
            Some(stdin) => stdin.write_all(bytes),
            None => io::stdout().lock().write_all(bytes),
        }
    }
}

impl Write for Screen<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.height {
            Some(height) if !self.started => {
                self.held.extend_from_slice(bytes);
                self.lines += bytes.iter().filter(|b| **b == b'\n').count();
                // The next prompt and the line with the row count want to be seen as well.
                if self.lines + 2 >= height {
                    self.start(true)?;
                }
            }
            _ => {
                if !self.started {
                    self.start(false)?;
                }
                self.put(bytes)?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.pager.as_mut().and_then(|pager| pager.stdin.as_mut()) {
            Some(stdin) => stdin.flush(),
            None => io::stdout().lock().flush(),
        }
    }
}

impl Finish for Screen<'_> {
    fn finish(&mut self) -> io::Result<()> {
        if !self.started {
            self.start(false)?;
        }
        self.flush()
    }
}

impl Drop for Screen<'_> {
    /// The terminal is the pager's until it has left.
    fn drop(&mut self) {
        if let Some(mut pager) = self.pager.take() {
            drop(pager.stdin.take());
            let _ = pager.wait();
        }
    }
}

/// Starts `$PAGER`, or less; none where that is not to be had or not wanted.
fn spawn_pager() -> Option<Child> {
    let wanted = std::env::var("PAGER").ok();
    let mut command = match wanted.as_deref().map(str::trim) {
        None => {
            let mut less = Command::new("less");
            // Long lines are scrolled, one screenful needs no key, colours stay.
            less.args(["-S", "-F", "-R"]);
            less
        }
        Some("" | "cat") => return None,
        Some(line) if line.contains(|c: char| "|&;<>()$`\\\"'*?[#~=%".contains(c)) => {
            let mut shell = Command::new("sh");
            shell.args(["-c", line]);
            shell
        }
        // Without a shell a pager that is missing is noticed here.
        Some(line) => {
            let mut words = line.split_whitespace();
            let mut command = Command::new(words.next()?);
            command.args(words);
            if std::env::var_os("LESS").is_none() {
                command.env("LESS", "SFR");
            }
            command
        }
    };
    command.stdin(Stdio::piped()).spawn().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) -> Output {
        let mut output = Output::to(path).unwrap();
        let progress = Progress::off();
        let mut out = output.open(false, &progress);
        out.write_all(text.as_bytes()).unwrap();
        out.finish().unwrap();
        drop(out);
        output
    }

    #[test]
    fn a_file_appears_when_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.csv");
        fs::write(&path, "old").unwrap();
        let output = write(&path, "new");
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
        output.finish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn what_is_dropped_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.csv");
        drop(write(&path, "new"));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn links_and_devices_stay_what_they_are() {
        use std::os::unix::fs::FileTypeExt;
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("target.csv");
        fs::write(&target, "old").unwrap();
        let link = folder.path().join("link.csv");
        std::os::unix::fs::symlink(&target, &link).unwrap();
        write(&link, "new").finish().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
        write(Path::new("/dev/null"), "x").finish().unwrap();
        let null = fs::metadata("/dev/null").unwrap().file_type();
        assert!(null.is_char_device());
    }

    #[test]
    fn a_place_that_cannot_be_written_says_so() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path().to_path_buf(), folder.path().join("no/x.csv")] {
            let error = Output::to(&path).err().unwrap();
            let text = error.text(&crate::errors::Hints::default());
            assert!(text.starts_with("cannot write "), "{text}");
        }
    }
}
