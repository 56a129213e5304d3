//! `binlogsql`: MySQL and MariaDB binary logs at a SQL prompt, in a pipe and as files.
//!
//! ```text
//!  args ──▶ config ──▶ session ─── statement ──▶ batches ──▶ print ──▶ output
//!  typed    meant      catalogs,   split,         run         table,    terminal, pager,
//!                      functions   command, repl              csv, …    pipe, file
//! ```
//!
//! Queries run on a pool of threads; the main thread prints, and listens to Ctrl-C. Results go to
//! standard output (or `-o`), everything else to standard error.
//!
//! **Invariant**: this is another crate than the library and sees its public API only; all of that
//! is used in `session.rs`.

mod args;
mod command;
mod complete;
mod config;
mod describe;
mod errors;
mod known;
mod names;
mod output;
mod params;
mod print;
mod progress;
mod recipes;
mod repl;
mod run;
mod session;
mod split;

use std::process::ExitCode;

use clap::Parser;

use errors::{Failure, Hints};

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        // A bug, but a user's terminal is no place for a backtrace.
        let place = panic.location().map(ToString::to_string);
        let place = place.unwrap_or_default();
        let message = panic.payload_as_str().unwrap_or("unknown");
        let line = message.lines().next().unwrap_or_default();
        eprintln!("error: internal error at {place}, please report it: {line}");
    }));
    let outcome = config::Config::new(args::Args::parse()).and_then(run::run);
    ExitCode::from(match outcome {
        Ok(run::Outcome { problems: false }) | Err(Failure::Closed) => 0,
        Ok(run::Outcome { problems: true }) => 3,
        Err(Failure::Reported) => 1,
        Err(failure) => {
            eprintln!("error: {}", failure.text(&Hints::default()));
            match failure {
                Failure::Usage(_) => 2,
                Failure::Interrupted => 130,
                _ => 1,
            }
        }
    })
}
