//! What was typed.

use std::path::PathBuf;

use clap::{ArgAction, Parser, ValueEnum};

use crate::print::Format;

/// MySQL and MariaDB binary logs as SQL tables
#[derive(Debug, Parser)]
#[command(name = "binlogsql", version, max_term_width = 100, after_help = EXAMPLES)]
pub struct Args {
    /// Logs to open: paths, globs, directories, *.index files, or - for standard input
    #[arg(value_name = "SOURCE")]
    pub sources: Vec<String>,

    /// Run this SQL and leave (repeatable); without it there is a prompt
    #[arg(short = 'c', long = "command", value_name = "SQL", action = ArgAction::Append, allow_hyphen_values = true)]
    pub commands: Vec<String>,

    /// Run the SQL of this file and leave
    #[arg(short = 'f', long = "file", value_name = "FILE.sql", conflicts_with_all = ["commands", "recipe"])]
    pub file: Option<PathBuf>,

    /// Run a recipe and leave; see --list-recipes
    #[arg(
        short = 'q',
        long = "recipe",
        value_name = "RECIPE",
        conflicts_with = "commands"
    )]
    pub recipe: Option<String>,

    /// Give the statement's $KEY a value (repeatable)
    #[arg(long = "param", value_name = "KEY=VALUE", action = ArgAction::Append, value_parser = key_value)]
    pub params: Vec<(String, String)>,

    /// List the recipes with their questions and parameters
    #[arg(long)]
    pub list_recipes: bool,

    /// How results look; the default is table, or what the name of the -o file says
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<Format>,

    /// Write results to FILE, which appears (or is replaced) only when all went well
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Open a further source as the catalog NAME: NAME.shop.orders (repeatable)
    #[arg(long = "source", value_name = "NAME=PATTERN", action = ArgAction::Append, value_parser = key_value)]
    pub named: Vec<(String, String)>,

    /// Take names of columns that the logs do not tell from this file of CREATE TABLE statements:
    /// what mysqldump --no-data writes
    #[arg(long, value_name = "FILE.sql")]
    pub schema: Option<PathBuf>,

    /// What becomes of dates that no calendar has: 0000-00-00, 2024-00-15
    #[arg(long, value_enum, value_name = "null|text", default_value_t = ZeroDates::Null)]
    pub zero_dates: ZeroDates,

    /// Make the first problem of a log an error that ends the query
    #[arg(long)]
    pub strict: bool,

    /// Threads to work with [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,

    /// Memory for sorts, groups and joins, which spill to disk beyond it: 512M, 2G
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub memory_limit: Option<usize>,

    /// Print the number of rows and the time to standard error even when it is not a terminal
    #[arg(long)]
    pub timing: bool,

    /// Never show a progress bar
    #[arg(long)]
    pub no_progress: bool,

    /// Show at most N rows of each result on a terminal; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub max_rows: usize,
}

/// What becomes of dates that no calendar has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ZeroDates {
    /// They are NULL, and a warning
    Null,
    /// DATE, DATETIME and TIMESTAMP columns are text
    Text,
}

const EXAMPLES: &str = "\
Examples:
  binlogsql mysql-bin.000042 -c \"select * from binlog where type = 'QUERY'\"
  binlogsql 'mysql-bin.*'                              a prompt over many files
  binlogsql 'mysql-bin.*' -c 'select _op, count(*) from shop.orders group by _op'
  binlogsql 'mysql-bin.*' -q who-deleted --param table=shop.orders --param key=1003
  binlogsql 'mysql-bin.*' -o mix.csv -c 'select type, count(*) from binlog group by type'
  echo 'select count(*) from binlog;' | binlogsql mysql-bin.000042

Exit status:
  0 fine   1 a query or source failed   2 wrong usage
  3 finished, but parts of a log could not be read: select * from problems
  130 interrupted";

/// Reads `KEY=VALUE`; the value may be empty.
fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("it takes the form NAME=VALUE".to_owned()),
    }
}

/// Reads a size in bytes: a number with an optional K, M, G or T (powers of 1024).
pub fn size(text: &str) -> Result<usize, String> {
    let wrong = || "a size is a number with K, M, G or T behind it, such as 512M".to_owned();
    let upper = text.trim().to_ascii_uppercase();
    let bare = upper.strip_suffix('B').unwrap_or(&upper);
    let bare = bare.strip_suffix('I').unwrap_or(bare);
    let (digits, shift) = match bare.strip_suffix(['K', 'M', 'G', 'T']) {
        Some(digits) => match bare.as_bytes().last() {
            Some(b'K') => (digits, 10),
            Some(b'M') => (digits, 20),
            Some(b'G') => (digits, 30),
            _ => (digits, 40),
        },
        None => (bare, 0),
    };
    let number: usize = digits.trim().parse().map_err(|_| wrong())?;
    let bytes = number.checked_mul(1 << shift).ok_or_else(wrong)?;
    if bytes < 1 << 20 {
        return Err("less than 1M is too little to work with".to_owned());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn definition_holds_together() {
        Args::command().debug_assert();
    }

    #[test]
    fn sizes() {
        assert_eq!(size("512M"), Ok(512 << 20));
        assert_eq!(size("2g"), Ok(2 << 30));
        assert_eq!(size("1GiB"), Ok(1 << 30));
        assert_eq!(size("3 MB"), Ok(3 << 20));
        assert_eq!(size("1048576"), Ok(1 << 20));
        for wrong in ["", "M", "-1M", "1X", "1.5G", "99999999999T", "1K", "0"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn pairs() {
        assert_eq!(key_value("a=b=c"), Ok(("a".to_owned(), "b=c".to_owned())));
        assert_eq!(key_value("a="), Ok(("a".to_owned(), String::new())));
        assert!(key_value("=b").is_err());
        assert!(key_value("a").is_err());
    }

    #[test]
    fn sources_and_sql_mix() {
        let args = Args::try_parse_from(["binlogsql", "a", "-c", "select -1", "b", "-c", "-- x"]);
        let args = args.unwrap();
        assert_eq!(args.sources, ["a", "b"]);
        assert_eq!(args.commands, ["select -1", "-- x"]);
        for wrong in [
            vec!["binlogsql", "-c", "x", "-f", "y"],
            vec!["binlogsql", "-q", "x", "-f", "y"],
            vec!["binlogsql", "--threads", "0"],
            vec!["binlogsql", "--format", "xml"],
            vec!["binlogsql", "--param", "x"],
        ] {
            assert_eq!(Args::try_parse_from(&wrong).unwrap_err().exit_code(), 2);
        }
    }
}
