//! The progress bar: on standard error, when that is a terminal and a query takes longer than half
//! a second, until it ends or its rows need the screen.

use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::session::ScanProgress;

const BEFORE_FIRST: Duration = Duration::from_millis(500);
const BETWEEN: Duration = Duration::from_millis(100);

/// Columns that a bar and its figures need.
const ROOM: u16 = 70;

/// A bar that draws itself until it is hidden or dropped.
pub struct Progress {
    /// Dropping the sender ends the thread.
    running: Mutex<Option<(Sender<()>, JoinHandle<()>)>>,
}

impl Progress {
    /// No bar.
    pub fn off() -> Self {
        Self {
            running: Mutex::new(None),
        }
    }

    /// A bar for what is read from now on, if standard error is a terminal.
    pub fn start(scan: &ScanProgress) -> Self {
        if !stderr().is_terminal() {
            return Self::off();
        }
        let (sender, receiver) = mpsc::channel::<()>();
        let scan = scan.clone();
        // Not in the thread, which may begin after the scan.
        let (done, total) = (scan.bytes_done(), scan.bytes_total());
        let thread = std::thread::Builder::new().name("progress".to_owned());
        let thread = thread.spawn(move || {
            let begun = Instant::now();
            let mut bar: Option<ProgressBar> = None;
            let mut wait = BEFORE_FIRST;
            while let Err(RecvTimeoutError::Timeout) = receiver.recv_timeout(wait) {
                wait = BETWEEN;
                let done = scan.bytes_done().saturating_sub(done);
                let total = scan.bytes_total().saturating_sub(total);
                if done > 0 {
                    draw(
                        bar.get_or_insert_with(|| new_bar(total)),
                        done,
                        total,
                        begun.elapsed(),
                    );
                }
            }
            if let Some(bar) = bar {
                bar.finish_and_clear();
            }
        });
        // Without a thread there is no bar; the query does not mind.
        let running = thread.ok().map(|thread| (sender, thread));
        Self {
            running: Mutex::new(running),
        }
    }

    /// Takes the bar off the screen for good.
    pub fn hide(&self) {
        let running = self.running.lock();
        let running = running.unwrap_or_else(PoisonError::into_inner).take();
        if let Some((sender, thread)) = running {
            drop(sender);
            let _ = thread.join();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.hide();
    }
}

/// A bar proper only where its length is known and the terminal has room for it.
fn new_bar(total: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let width = terminal_size::terminal_size_of(stderr()).map_or(0, |(width, _)| width.0);
    let template = if total > 0 && width >= ROOM {
        "{wide_bar} {msg}"
    } else {
        "{wide_msg}"
    };
    let style = ProgressStyle::with_template(template);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

fn draw(bar: &ProgressBar, done: u64, total: u64, elapsed: Duration) {
    let seconds = elapsed.as_secs_f64();
    let rate = done as f64 / seconds;
    let mut text = if total > 0 {
        format!("{} of {}", HumanBytes(done), HumanBytes(total))
    } else {
        HumanBytes(done).to_string()
    };
    text.push_str(&format!(", {}/s", HumanBytes(rate as u64)));
    if total > done && rate > 0.0 {
        let left = ((total - done) as f64 / rate).ceil() as u64;
        text.push_str(&format!(", {} left", clock(left)));
    }
    if total > 0 {
        bar.set_length(total);
        bar.set_position(done.min(total));
    }
    bar.set_message(text);
    bar.tick();
}

/// `7 s`, `3:07`, `2:03:07`.
fn clock(seconds: u64) -> String {
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{rest} s"),
        (0, _) => format!("{minutes}:{rest:02}"),
        _ => format!("{hours}:{minutes:02}:{rest:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks() {
        assert_eq!(clock(7), "7 s");
        assert_eq!(clock(187), "3:07");
        assert_eq!(clock(7387), "2:03:07");
    }
}
