//! Runs statements and commands: the work behind `-c`, `-f`, `-q`, a pipe and the prompt.

use std::io::{IsTerminal, Write, stderr};
use std::sync::Arc;
use std::time::Instant;

use datafusion::arrow::record_batch::RecordBatch;
use tokio::runtime::{Builder, Runtime};

use crate::command::{self, Flow};
use crate::config::{Config, Work};
use crate::errors::{Failure, Hints};
use crate::names;
use crate::output::Output;
use crate::params::Params;
use crate::print::{Format, Layout, printer};
use crate::progress::Progress;
use crate::recipes;
use crate::repl;
use crate::session::{Message, Session, Severity};
use crate::split::{Piece, Statement, split};

/// Problems that are printed one by one.
const PROBLEM_LINES: usize = 10;

/// How the work ended, when it did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// Parts of a log could not be read; what was readable was delivered.
    pub problems: bool,
}

/// Does the work of a command line.
pub fn run(config: Config) -> Result<Outcome, Failure> {
    let mut app = App::new(&config)?;
    match &config.work {
        Work::Prompt => {
            repl::run(&mut app)?;
            app.output.finish()?;
            return Ok(Outcome { problems: false });
        }
        Work::ListRecipes => app.print_rows(&recipe_list()?)?,
        Work::Scripts(scripts) => {
            for script in scripts {
                match app.script(script, &config.params) {
                    Ok(Flow::Continue) => {}
                    Ok(Flow::Leave) => break,
                    Err(failure) => {
                        app.report_problems();
                        return Err(failure);
                    }
                }
            }
        }
    }
    let problems = app.report_problems();
    app.output.finish()?;
    Ok(Outcome { problems })
}

/// The recipes as rows.
pub fn recipe_list() -> Result<RecordBatch, Failure> {
    use datafusion::arrow::array::StringArray;
    let text = |of: fn(&recipes::Recipe) -> String| {
        let column: StringArray = recipes::RECIPES.iter().map(|r| Some(of(r))).collect();
        Arc::new(column) as _
    };
    Ok(RecordBatch::try_from_iter([
        ("recipe", text(|r| r.name.to_owned())),
        ("question", text(|r| r.question().to_owned())),
        ("parameters", text(|r| r.params_text())),
    ])?)
}

/// A session and how it talks.
pub struct App {
    /// Sources and queries.
    pub session: Session,
    /// Where results go.
    pub output: Output,
    /// The format that was asked for.
    pub format: Option<Format>,
    /// The format that the name of the output file asks for.
    pub file_format: Option<Format>,
    /// Rows and time are printed after a result.
    pub timing: bool,
    /// At the prompt: a pager is used, problems are told after each statement.
    pub interactive: bool,
    /// Scripts that read scripts.
    pub depth: usize,
    strict: bool,
    progress: bool,
    max_rows: Option<usize>,
    /// Results in the present output.
    results: usize,
    /// Drives the main thread: prints, and hears Ctrl-C while the pool is busy.
    main: Runtime,
}

impl App {
    fn new(config: &Config) -> Result<Self, Failure> {
        let session = Session::open(config)?;
        let (output, file_format) = match &config.output {
            Some(path) => (Output::to(path)?, Format::of_file(path)),
            None => (Output::Stdout, None),
        };
        Ok(Self {
            session,
            output,
            format: config.format,
            file_format: file_format.filter(|_| config.format.is_none()),
            timing: config.timing || stderr().is_terminal(),
            interactive: config.work == Work::Prompt,
            depth: 0,
            strict: config.strict,
            progress: config.progress,
            max_rows: config.max_rows,
            results: 0,
            main: Builder::new_current_thread().enable_all().build()?,
        })
    }

    /// From here on Ctrl-C is ours: it must not end the session while a pager shows results.
    pub fn hear_interrupts(&self) {
        self.main.block_on(async {
            tokio::select! {
                biased;
                _ = tokio::signal::ctrl_c() => {}
                () = std::future::ready(()) => {}
            }
        });
    }

    /// Sends further results elsewhere; the present file is completed.
    pub fn redirect(&mut self, output: Output, format: Option<Format>) -> Result<(), Failure> {
        let before = std::mem::replace(&mut self.output, output);
        self.file_format = format;
        self.results = 0;
        before.finish()
    }

    /// Runs a script up to its first failure.
    pub fn script(&mut self, text: &str, given: &[(String, String)]) -> Result<Flow, Failure> {
        let params = Params::new(text, given)?;
        let script = split(text);
        let rest = script.rest.map(Piece::Statement);
        for piece in script.pieces.into_iter().chain(rest) {
            match piece {
                Piece::Command(line) => {
                    if command::run(self, line)? == Flow::Leave {
                        return Ok(Flow::Leave);
                    }
                }
                Piece::Statement(statement) => self.statement(statement, &params)?,
            }
        }
        Ok(Flow::Continue)
    }

    /// Runs a statement; a failure is printed here, where the statement is at hand.
    pub fn statement(&mut self, statement: Statement<'_>, params: &Params) -> Result<(), Failure> {
        let failure = match self.execute(statement, params) {
            Ok(()) => return Ok(()),
            Err(failure) => failure,
        };
        if matches!(
            failure,
            Failure::Closed | Failure::Interrupted | Failure::Reported | Failure::Usage(_)
        ) {
            return Err(failure);
        }
        let home = names::home(&self.session.context);
        let relations = |catalog: &str| {
            let relations = names::relations_of(&self.session.context, catalog);
            relations.iter().map(|r| r.short(&home)).collect()
        };
        let hints = Hints {
            sql: statement.text,
            line: statement.line,
            relations: &relations,
            functions: names::functions(&self.session.context),
            home: format!("{}.{}.", home.0, home.1),
        };
        eprintln!("error: {}", failure.text(&hints));
        Err(Failure::Reported)
    }

    fn execute(&mut self, statement: Statement<'_>, params: &Params) -> Result<(), Failure> {
        let begun = Instant::now();
        let format = self.format_of_result(statement.vertical)?;
        let layout = self.layout(statement.vertical);
        let paged = self.interactive && self.output.is_terminal();
        let limit = self.max_rows.filter(|_| self.output.is_terminal());
        let progress = self.progress();
        let mut running = self.session.start(statement.text, params.clone());
        let results = &mut self.results;
        let mut output = Some(&mut self.output);
        let work = async {
            let interrupt = tokio::signal::ctrl_c();
            tokio::pin!(interrupt);
            let mut rows = 0_usize;
            let mut more = false;
            let mut printing = None;
            // The output is opened for the first thing to print: a failed query has none.
            let mut out = None;
            loop {
                let message = tokio::select! {
                    biased;
                    _ = &mut interrupt => return Err(Failure::Interrupted),
                    message = running.next() => message?,
                };
                match message {
                    None => break,
                    Some(Message::Schema(schema)) if schema.fields().is_empty() => {}
                    Some(Message::Schema(schema)) => {
                        *results += 1;
                        if format == Format::Parquet && *results > 1 {
                            return Err(Failure::Message(
                                "a Parquet file takes one result only".to_owned(),
                            ));
                        }
                        printing = Some(printer(format, &schema, layout));
                        out = output.take().map(|output| output.open(paged, &progress));
                    }
                    Some(Message::Batch(batch)) => {
                        let (Some(printing), Some(out)) = (&mut printing, &mut out) else {
                            continue;
                        };
                        let left = limit.map_or(usize::MAX, |limit| limit - rows);
                        let count = batch.num_rows().min(left);
                        rows += count;
                        if count > 0 {
                            printing.batch(out, &batch.slice(0, count))?;
                            out.flush()?;
                        }
                        if count < batch.num_rows() {
                            more = true;
                            break;
                        }
                    }
                }
            }
            // Reading in the pager is not the query's time.
            let elapsed = begun.elapsed();
            let printed = printing.is_some();
            if let (Some(mut printing), Some(mut out)) = (printing, out) {
                printing.finish(&mut out)?;
                out.finish()?;
            }
            Ok((rows, more, printed, elapsed))
        };
        let outcome = self.main.block_on(work);
        drop(progress);
        let (rows, more, printed, elapsed) = outcome?;
        if more {
            eprintln!("… and more rows; --max-rows 0 shows all");
        }
        if self.timing {
            let seconds = elapsed.as_secs_f64();
            match (printed, rows) {
                (false, _) => eprintln!("(done, {seconds:.3} s)"),
                (true, 1) => eprintln!("(1 row, {seconds:.3} s)"),
                (true, rows) => eprintln!("({rows} rows, {seconds:.3} s)"),
            }
        }
        Ok(())
    }

    /// Waits for a task of the pool; Ctrl-C cancels it.
    pub fn wait<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Failure> {
        let _progress = self.progress();
        let mut task = self.session.handle().spawn(task);
        self.main.block_on(async {
            tokio::select! {
                biased;
                _ = tokio::signal::ctrl_c() => {
                    task.abort();
                    Err(Failure::Interrupted)
                }
                // A panic has told its message already.
                done = &mut task => done.map_err(|_| Failure::Reported),
            }
        })
    }

    /// The rows of a query of our own; Ctrl-C cancels it.
    pub fn query(&self, sql: &str) -> Result<Vec<RecordBatch>, Failure> {
        let context = self.session.context.clone();
        let sql = sql.to_owned();
        let rows = self.wait(async move { context.sql(&sql).await?.collect().await })?;
        Ok(rows?)
    }

    /// The bar for what is read from now on.
    fn progress(&self) -> Progress {
        if self.progress {
            Progress::start(&self.session.progress)
        } else {
            Progress::off()
        }
    }

    /// Prints rows that no query gave: the answer of a command.
    pub fn print_rows(&mut self, rows: &RecordBatch) -> Result<(), Failure> {
        let format = self.format_of_result(false)?;
        let layout = self.layout(false);
        let paged = self.interactive && self.output.is_terminal();
        let progress = Progress::off();
        let mut out = self.output.open(paged, &progress);
        let mut printer = printer(format, &rows.schema(), layout);
        printer.batch(&mut out, rows)?;
        printer.finish(&mut out)?;
        out.finish()?;
        Ok(())
    }

    /// Prints a text that is no result.
    pub fn print_text(&mut self, text: &str) -> Result<(), Failure> {
        let progress = Progress::off();
        let mut out = Output::Stdout;
        let mut out = out.open(self.interactive, &progress);
        out.write_all(text.as_bytes())?;
        out.finish()?;
        Ok(())
    }

    /// The format of the next result.
    fn format_of_result(&self, vertical: bool) -> Result<Format, Failure> {
        if vertical {
            return Ok(Format::Vertical);
        }
        let format = self.file_format.or(self.format).unwrap_or(Format::Table);
        if format == Format::Parquet && matches!(self.output, Output::Stdout) {
            let text = "parquet needs a file: .output FILE".to_owned();
            return Err(Failure::Message(text));
        }
        Ok(format)
    }

    fn layout(&self, vertical: bool) -> Layout {
        let width = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        Layout {
            width: self.output.is_terminal().then(width).flatten(),
            explicit: self.format.is_some() || vertical,
        }
    }

    /// Tells the problems that queries have met since the last time; says whether any is an error.
    pub fn report_problems(&mut self) -> bool {
        let (errors, warnings) = self.session.problems.counts();
        // With --strict the one error has been told already: it ended the query.
        let told = if self.strict { errors } else { 0 };
        let mut sample = self.session.problems.sample();
        self.session.problems.clear();
        sample.retain(|problem| match problem.severity {
            Severity::Error => !self.strict,
            Severity::Warning => true,
            Severity::Info => false,
        });
        // Errors first: a warning must not crowd them out.
        sample.sort_by_key(|problem| problem.severity != Severity::Error);
        sample.truncate(PROBLEM_LINES);
        let mut text = String::new();
        for problem in &sample {
            let mut line = problem.to_string();
            crate::print::escape_control(&mut line);
            text.push_str(&format!("problem: {line}\n"));
        }
        let more = (errors - told + warnings).saturating_sub(sample.len() as u64);
        if more > 0 {
            text.push_str(&format!(
                "… and {more} more; select * from problems tells all\n"
            ));
        }
        // Whether standard error can be written changes nothing about the status.
        let _ = stderr().write_all(text.as_bytes());
        errors > 0
    }
}

#[cfg(test)]
mod tests;
