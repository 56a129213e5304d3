//! The prompt: lines are gathered until a statement is complete, history is kept in the user's
//! state folder, Ctrl-C clears the line (or cancels the running query), Ctrl-D leaves.

use std::cell::RefCell;
use std::fs::{DirBuilder, OpenOptions};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::rc::Rc;

use rustyline::config::Behavior;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{CompletionType, Config, Editor};

use crate::command::{self, Flow};
use crate::complete::Completion;
use crate::errors::{Failure, Hints};
use crate::params::Params;
use crate::run::App;
use crate::split::{Piece, split};

const PROMPT: &str = "binlog> ";
const CONTINUED: &str = "     -> ";
const HISTORY_LINES: usize = 10_000;

/// Asks until the user leaves.
pub fn run(app: &mut App) -> Result<(), Failure> {
    let failed = |error: ReadlineError| Failure::Message(format!("no prompt: {error}"));
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .completion_prompt_limit(200)
        .history_ignore_space(true)
        .max_history_size(HISTORY_LINES)
        .map_err(failed)?
        // With standard output in a pipe or file, the prompt still talks to the terminal.
        .behavior(if std::io::stdout().is_terminal() {
            Behavior::Stdio
        } else {
            Behavior::PreferTerm
        })
        .build();
    let pending = Rc::new(RefCell::new(String::new()));
    let mut editor: Editor<Completion, FileHistory> =
        Editor::with_config(config).map_err(failed)?;
    editor.set_helper(Some(Completion::new(&app.session, Rc::clone(&pending))));
    let history = history_file();
    if let Some(path) = &history {
        // An unreadable history is no reason not to work.
        let _ = editor.load_history(path);
    }
    app.hear_interrupts();
    eprintln!(
        "binlogsql {}: statements end with ; and .help lists commands",
        env!("CARGO_PKG_VERSION")
    );
    loop {
        let prompt = if pending.borrow().is_empty() {
            PROMPT
        } else {
            CONTINUED
        };
        match editor.readline(prompt) {
            Ok(line) => {
                let text = {
                    let mut pending = pending.borrow_mut();
                    pending.push_str(&line);
                    pending.push('\n');
                    pending.clone()
                };
                let script = split(&text);
                if script.rest.is_some() {
                    // What is complete in front of it runs together with the rest.
                    continue;
                }
                pending.borrow_mut().clear();
                if !text.trim().is_empty() {
                    let _ = editor.add_history_entry(text.trim_end());
                    if let Some(path) = &history {
                        let _ = editor.append_history(path);
                    }
                }
                for piece in script.pieces {
                    match answer(app, piece) {
                        Ok(Flow::Continue) => {}
                        Ok(Flow::Leave) => return Ok(()),
                        // The pager was left; a pipe that is closed stays closed.
                        Err(Failure::Closed) if std::io::stdout().is_terminal() => break,
                        Err(Failure::Closed) => return Err(Failure::Closed),
                        Err(Failure::Reported) => break,
                        Err(Failure::Interrupted) => {
                            eprintln!("interrupted");
                            break;
                        }
                        Err(failure) => {
                            eprintln!("error: {}", failure.text(&Hints::default()));
                            break;
                        }
                    }
                }
                app.report_problems();
            }
            Err(ReadlineError::Interrupted) => pending.borrow_mut().clear(),
            Err(ReadlineError::Eof) => return Ok(()),
            // A resized window.
            Err(ReadlineError::Signal(_)) => {}
            Err(error) => return Err(failed(error)),
        }
    }
}

fn answer(app: &mut App, piece: Piece<'_>) -> Result<Flow, Failure> {
    match piece {
        Piece::Command(line) => command::run(app, line),
        Piece::Statement(statement) => app
            .statement(statement, &Params::default())
            .map(|()| Flow::Continue),
    }
}

/// `$XDG_STATE_HOME/binlogsql/history`, for the user's eyes only: statements may hold secrets.
fn history_file() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/state"));
    let folder = state
        .filter(|path| path.is_absolute())
        .or_else(home)?
        .join("binlogsql");
    let mut builder = DirBuilder::new();
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        builder.mode(0o700);
        options.mode(0o600);
    }
    builder.recursive(true).create(&folder).ok()?;
    let path = folder.join("history");
    options.create(true).append(true).open(&path).ok()?;
    Some(path)
}
