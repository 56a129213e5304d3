//! What the command line means: which sources, what work, how results look and where they go.

use std::fs;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

use crate::args::{Args, ZeroDates};
use crate::errors::{Failure, plain_io};
use crate::names::closest;
use crate::params::declared;
use crate::print::Format;
use crate::recipes;

/// Catalog of the sources that are given without a name.
pub const UNNAMED: &str = "log";

/// What is to be done.
#[derive(Debug, PartialEq, Eq)]
pub enum Work {
    /// Ask at a prompt.
    Prompt,
    /// Run scripts one after another, up to the first failure.
    Scripts(Vec<String>),
    /// List the recipes.
    ListRecipes,
}

/// Everything the command line settles.
#[derive(Debug)]
pub struct Config {
    /// Catalogs and their paths or patterns; the first is the default catalog.
    pub sources: Vec<(String, Vec<String>)>,
    /// What is to be done.
    pub work: Work,
    /// Values of `$name` in statements.
    pub params: Vec<(String, String)>,
    /// The format, if one was asked for.
    pub format: Option<Format>,
    /// The file that takes the results.
    pub output: Option<PathBuf>,
    /// The file of CREATE TABLE statements, and its text.
    pub schema: Option<(PathBuf, String)>,
    /// What becomes of dates that no calendar has.
    pub zero_dates: ZeroDates,
    /// The first problem of a log is an error.
    pub strict: bool,
    /// Worker threads and partitions.
    pub threads: usize,
    /// Bytes for operators that can spill.
    pub memory_limit: Option<usize>,
    /// Rows and time are printed even where standard error is no terminal.
    pub timing: bool,
    /// A bar may be shown.
    pub progress: bool,
    /// Rows of a result on a terminal, if limited.
    pub max_rows: Option<usize>,
}

impl Config {
    /// Reads what the arguments name (a script, a recipe, SQL on standard input); opens no log.
    pub fn new(args: Args) -> Result<Self, Failure> {
        let sources = sources(&args)?;
        let reads_log = sources
            .iter()
            .any(|(_, paths)| paths.iter().any(|p| p == "-"));
        let work = work(&args, reads_log)?;
        if let Work::Scripts(scripts) = &work {
            for (name, _) in &args.params {
                let used = |script: &String| script.contains(&format!("${name}"));
                if !scripts.iter().any(used) {
                    let known = scripts.iter().flat_map(|script| declared(script));
                    let known: Vec<String> = known.flatten().map(|d| d.name).collect();
                    let near = closest(name, known.iter().map(String::as_str));
                    let near = near.map(|near| format!("; did you mean ${near}?"));
                    let near = near.unwrap_or_default();
                    let usage = format!("no statement has the parameter ${name}{near}");
                    return Err(Failure::Usage(usage));
                }
            }
        } else if !args.params.is_empty() {
            return Err(Failure::Usage("--param needs -c, -f or -q".to_owned()));
        }
        let named = args.output.as_deref().and_then(Format::of_file);
        if args.format.or(named) == Some(Format::Parquet)
            && args
                .output
                .as_deref()
                .is_none_or(|path| path == Path::new("-"))
        {
            return Err(Failure::Usage("parquet needs a file: -o FILE".to_owned()));
        }
        let schema = match args.schema {
            Some(path) => {
                let text = read_schema(&path)?;
                Some((path, text))
            }
            None => None,
        };
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            sources,
            work,
            params: args.params,
            format: args.format,
            output: args.output,
            schema,
            zero_dates: args.zero_dates,
            strict: args.strict,
            threads: args.threads.map_or_else(cores, usize::from),
            memory_limit: args.memory_limit,
            timing: args.timing,
            progress: !args.no_progress,
            max_rows: Some(args.max_rows).filter(|rows| *rows > 0),
        })
    }
}

/// Gathers the sources under their names.
fn sources(args: &Args) -> Result<Vec<(String, Vec<String>)>, Failure> {
    let mut out: Vec<(String, Vec<String>)> = Vec::new();
    if !args.sources.is_empty() {
        out.push((UNNAMED.to_owned(), args.sources.clone()));
    }
    for (name, pattern) in &args.named {
        if pattern.is_empty() {
            let usage = format!("--source {name}= names no files");
            return Err(Failure::Usage(usage));
        }
        if ["datafusion", "information_schema"].contains(&name.as_str())
            || (name == UNNAMED && !args.sources.is_empty())
        {
            let usage = format!("--source {name}=: this name is taken, choose another");
            return Err(Failure::Usage(usage));
        }
        match out.iter_mut().find(|(known, _)| known == name) {
            Some((_, patterns)) => patterns.push(pattern.clone()),
            None => out.push((name.clone(), vec![pattern.clone()])),
        }
    }
    let logs_on_stdin = out.iter().flat_map(|(_, paths)| paths);
    if logs_on_stdin.filter(|path| *path == "-").count() > 1 {
        let usage = "standard input (-) can be read once only".to_owned();
        return Err(Failure::Usage(usage));
    }
    Ok(out)
}

fn work(args: &Args, reads_log: bool) -> Result<Work, Failure> {
    if args.list_recipes {
        return Ok(Work::ListRecipes);
    }
    if let Some(name) = &args.recipe {
        let recipe = recipes::find(name).ok_or_else(|| {
            let near = closest(name, recipes::RECIPES.iter().map(|r| r.name));
            let near = near.map(|near| format!("; did you mean '{near}'?"));
            let near = near.unwrap_or_else(|| "; see --list-recipes".to_owned());
            Failure::Usage(format!("no recipe '{name}'{near}"))
        })?;
        return Ok(Work::Scripts(vec![recipe.sql.to_owned()]));
    }
    if !args.commands.is_empty() {
        return Ok(Work::Scripts(args.commands.clone()));
    }
    let twice = || {
        let usage = "standard input is the log, so the SQL must come with -c, -f or -q";
        Failure::Usage(usage.to_owned())
    };
    if let Some(path) = &args.file {
        if path == Path::new("-") {
            return if reads_log {
                Err(twice())
            } else {
                read_stdin()
            };
        }
        return Ok(Work::Scripts(vec![read_script(path)?]));
    }
    if reads_log {
        Err(twice())
    } else if io::stdin().is_terminal() {
        Ok(Work::Prompt)
    } else {
        read_stdin()
    }
}

fn read_stdin() -> Result<Work, Failure> {
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .read_to_end(&mut bytes)
        .map_err(|error| {
            Failure::Message(format!("cannot read standard input: {}", plain_io(&error)))
        })?;
    let script = utf8(bytes, "standard input")?;
    Ok(Work::Scripts(vec![script]))
}

/// Reads a file of SQL.
pub fn read_script(path: &Path) -> Result<String, Failure> {
    let name = path.display();
    let bytes = fs::read(path)
        .map_err(|error| Failure::Message(format!("cannot read {name}: {}", plain_io(&error))))?;
    utf8(bytes, &name.to_string())
}

/// Reads a file of CREATE TABLE statements.
fn read_schema(path: &Path) -> Result<String, Failure> {
    /// A dump without data has a few hundred bytes a column.
    const LARGEST: u64 = 1 << 30;
    if fs::metadata(path).is_ok_and(|known| known.len() > LARGEST) {
        let text = format!(
            "{} is larger than 1 GiB: --schema takes what mysqldump --no-data writes",
            path.display()
        );
        return Err(Failure::Message(text));
    }
    read_script(path).map_err(|failure| match failure {
        Failure::Message(text) if text.ends_with("UTF-8") => Failure::Message(format!(
            "{text}: --schema takes what mysqldump --no-data writes"
        )),
        failure => failure,
    })
}

fn utf8(bytes: Vec<u8>, name: &str) -> Result<String, Failure> {
    if bytes.starts_with(b"\xfebin") {
        let text = format!("{name} is a binary log, not SQL: give it as SOURCE (- for a pipe)");
        return Err(Failure::Message(text));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::Message(format!("{name} is not text in UTF-8")))?;
    // A byte order mark is no part of the SQL.
    Ok(text
        .strip_prefix('\u{feff}')
        .map(str::to_owned)
        .unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn config(args: &[&str]) -> Result<Config, Failure> {
        let args = std::iter::once(&"binlogsql").chain(args);
        Config::new(Args::try_parse_from(args).unwrap())
    }

    fn usage(args: &[&str]) -> String {
        match config(args) {
            Err(Failure::Usage(text)) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn sources_are_gathered_under_their_names() {
        let config = config(&["a", "b", "--source", "x=c", "--source", "x=d", "-c", ""]).unwrap();
        let names: Vec<(&str, usize)> = config
            .sources
            .iter()
            .map(|(name, paths)| (name.as_str(), paths.len()))
            .collect();
        assert_eq!(names, [("log", 2), ("x", 2)]);
    }

    #[test]
    fn wrong_usage_is_told_apart() {
        assert!(usage(&["-"]).contains("standard input is the log"));
        assert!(usage(&["-", "-f", "-"]).contains("standard input is the log"));
        assert!(usage(&["-", "-", "-c", "x"]).contains("once only"));
        assert!(usage(&["--source", "datafusion=x", "-c", "x"]).contains("taken"));
        assert!(usage(&["a", "--source", "log=x", "-c", "x"]).contains("taken"));
        assert!(usage(&["--source", "a=", "-c", "x"]).contains("names no files"));
        assert!(usage(&["-c", "x", "--format", "parquet"]).contains("-o FILE"));
        assert_eq!(
            usage(&["-c", "x", "--param", "a=1"]),
            "no statement has the parameter $a"
        );
        assert_eq!(
            usage(&["-q", "biggest-transactions", "--param", "limt=1"]),
            "no statement has the parameter $limt; did you mean $limit?"
        );
        assert_eq!(
            usage(&["-q", "evnt-mix"]),
            "no recipe 'evnt-mix'; did you mean 'event-mix'?"
        );
    }

    #[test]
    fn a_log_is_not_taken_for_sql() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.sql");
        for (bytes, words) in [(&b"\xfebin\0"[..], "binary log"), (b"\xff", "UTF-8")] {
            fs::write(&path, bytes).unwrap();
            let error = read_script(&path).unwrap_err();
            assert!(matches!(error, Failure::Message(text) if text.contains(words)));
        }
        fs::write(&path, "\u{feff}select 1").unwrap();
        assert_eq!(read_script(&path).unwrap(), "select 1");
    }
}
