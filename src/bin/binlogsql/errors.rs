//! Says what went wrong, the way a database says it: one or two lines, the candidates of a
//! misspelt name, the place of a syntax error. DataFusion's own words about plans and rules are
//! taken away; an error of the log (file, offset, event) stays as it is.

use std::error::Error as StdError;
use std::fmt::Write as _;
use std::io;

use datafusion::arrow::error::ArrowError;
use datafusion::common::{Column, SchemaError};
use datafusion::error::DataFusionError;
use datafusion::object_store;
use datafusion::sql::sqlparser::parser::ParserError;

use crate::names::{closest, in_quotes, nearest_relation, quoted};

/// Why the command, or one statement, came to an end.
#[derive(Debug)]
pub enum Failure {
    /// The query failed, or a source could not be opened.
    Query(Box<DataFusionError>),
    /// Results could not be written.
    Output(io::Error),
    /// Anything else that ends with status 1; the text is ready to print.
    Message(String),
    /// The command line makes no sense; status 2.
    Usage(String),
    /// Ctrl-C.
    Interrupted,
    /// Whoever read our output has gone: not a failure at all.
    Closed,
    /// A failure whose text has been printed, with the statement at hand.
    Reported,
}

impl From<DataFusionError> for Failure {
    fn from(error: DataFusionError) -> Self {
        if is_broken_pipe(&error) {
            Self::Closed
        } else {
            Self::Query(Box::new(error))
        }
    }
}

impl From<ArrowError> for Failure {
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::IoError(_, error) => error.into(),
            error => DataFusionError::from(error).into(),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if is_broken_pipe(&error) {
            Self::Closed
        } else {
            Self::Output(error)
        }
    }
}

/// Looks through an error and its causes for a pipe that its reader has closed.
fn is_broken_pipe(error: &(dyn StdError + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(io) = error.downcast_ref::<io::Error>()
            && io.kind() == io::ErrorKind::BrokenPipe
        {
            return true;
        }
        // `io::Error::source` passes over the error that it wraps.
        next = match error.downcast_ref::<io::Error>() {
            Some(io) => io.get_ref().map(|inner| inner as &(dyn StdError + 'static)),
            None => error.source(),
        };
    }
    false
}

/// What a message may draw on: the statement that failed and the names that exist.
pub struct Hints<'a> {
    /// The statement's text.
    pub sql: &'a str,
    /// The line of its script that it begins on, from 1.
    pub line: usize,
    /// Relations of a catalog as one would write them now (`binlog`, `prod.binlog.files`). To know
    /// them logs may have to be read, so they are asked for only where a relation is not found.
    pub relations: &'a dyn Fn(&str) -> Vec<String>,
    /// Functions that exist.
    pub functions: Vec<String>,
    /// `catalog.schema.` that a bare name is looked up in.
    pub home: String,
}

impl Default for Hints<'_> {
    fn default() -> Self {
        Self {
            sql: "",
            line: 0,
            relations: &|_| Vec::new(),
            functions: Vec::new(),
            home: String::new(),
        }
    }
}

impl Failure {
    /// The text to print behind `error: `; several lines for a syntax error.
    pub fn text(&self, hints: &Hints<'_>) -> String {
        match self {
            Self::Query(error) => describe(error, hints),
            Self::Output(error) => format!("cannot write results: {}", plain_io(error)),
            Self::Message(text) | Self::Usage(text) => text.clone(),
            Self::Interrupted => "interrupted".to_owned(),
            Self::Closed => "the reader of the output has gone".to_owned(),
            Self::Reported => "the query failed".to_owned(),
        }
    }
}

/// Says what a DataFusion error means.
pub fn describe(error: &DataFusionError, hints: &Hints<'_>) -> String {
    match error {
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => {
            describe(inner, hints)
        }
        DataFusionError::Shared(inner) => describe(inner, hints),
        DataFusionError::Collection(errors) => match errors.first() {
            Some(first) => describe(first, hints),
            None => "the query failed".to_owned(),
        },
        DataFusionError::External(inner) => match inner.downcast_ref::<DataFusionError>() {
            Some(inner) => describe(inner, hints),
            None => inner.to_string(),
        },
        DataFusionError::ArrowError(inner, _) => describe_arrow(inner, hints),
        DataFusionError::ParquetError(inner) => {
            let text = inner.to_string();
            let text = text.strip_prefix("Parquet error: ").unwrap_or(&text);
            format!("Parquet: {}", brief(text))
        }
        DataFusionError::ObjectStore(inner) => describe_store(inner),
        DataFusionError::IoError(inner) => plain_io(inner),
        DataFusionError::SQL(inner, _) => describe_syntax(inner, hints),
        DataFusionError::SchemaError(inner, _) => describe_schema(inner),
        DataFusionError::NotImplemented(text) => format!("not supported: {}", brief(text)),
        DataFusionError::Plan(text) => describe_plan(text, hints),
        DataFusionError::ResourcesExhausted(text) => {
            match between(text, "Failed to allocate additional ", " for ") {
                Some(more) => format!("out of memory: {more} more are wanted; see --memory-limit"),
                None => format!("out of memory: {}; see --memory-limit", brief(text)),
            }
        }
        DataFusionError::Internal(text) => {
            format!("internal error, please report it: {}", brief(text))
        }
        DataFusionError::ExecutionJoin(inner) => {
            format!("internal error, please report it: {inner}")
        }
        DataFusionError::Execution(text) => {
            match text.strip_prefix("Unable to find factory for ") {
                Some(format) => format!("no file format {}", brief(format)),
                None => brief(text),
            }
        }
        DataFusionError::Configuration(text)
        | DataFusionError::Substrait(text)
        | DataFusionError::Ffi(text) => brief(text),
    }
}

fn describe_arrow(error: &ArrowError, hints: &Hints<'_>) -> String {
    match error {
        ArrowError::ExternalError(inner) => match inner.downcast_ref::<DataFusionError>() {
            Some(inner) => describe(inner, hints),
            None => inner.to_string(),
        },
        ArrowError::IoError(_, inner) => plain_io(inner),
        ArrowError::CastError(text)
        | ArrowError::ParseError(text)
        | ArrowError::ComputeError(text)
        | ArrowError::InvalidArgumentError(text)
        | ArrowError::SchemaError(text)
        | ArrowError::JsonError(text)
        | ArrowError::CsvError(text)
        | ArrowError::NotYetImplemented(text) => brief(text),
        ArrowError::ArithmeticOverflow(text) => format!("number out of range: {}", brief(text)),
        ArrowError::DivideByZero => "division by zero".to_owned(),
        other => brief(&other.to_string()),
    }
}

fn describe_store(error: &object_store::Error) -> String {
    use object_store::Error;
    match error {
        Error::NotFound { path, .. } => format!("no such file: {path}"),
        Error::PermissionDenied { path, .. } => format!("permission denied: {path}"),
        other => {
            let text = other.to_string();
            let text = text.strip_prefix("Generic ").unwrap_or(&text);
            brief(text.strip_prefix("LocalFileSystem error: ").unwrap_or(text))
        }
    }
}

/// The system's words without its error number.
pub fn plain_io(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut chars = text.chars();
    // "No such file": it stands behind a colon, so it begins small; a path or acronym does not.
    match (chars.next(), text.chars().nth(1)) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}

/// The first line of a message, without advice about DataFusion's settings and bug tracker.
fn brief(text: &str) -> String {
    let text = text
        .split(DataFusionError::BACK_TRACE_SEP)
        .next()
        .unwrap_or(text);
    let line = text.lines().next().unwrap_or_default();
    let line = line
        .split(".\u{20}This issue was likely caused by a bug")
        .next();
    line.unwrap_or_default()
        .trim_end_matches(['.', ' '])
        .to_owned()
}

/// A parser's message, the line it speaks of and a mark under the place.
fn describe_syntax(error: &ParserError, hints: &Hints<'_>) -> String {
    let text = match error {
        ParserError::ParserError(text) | ParserError::TokenizerError(text) => text.as_str(),
        ParserError::RecursionLimitExceeded => return "the statement is nested too deeply".into(),
    };
    let text = brief(text);
    let (message, place) = match text.rsplit_once(" at Line: ") {
        Some((message, place)) => (message, parse_place(place)),
        None => (text.as_str(), None),
    };
    let message = message
        .trim_start_matches("Expected: ")
        .trim_start_matches("Expected ");
    let message = match message.split_once(", found: ") {
        Some((expected, "EOF")) => format!("expected {expected}, but the statement ends"),
        Some((expected, found)) => format!("expected {expected}, found {found}"),
        None => message.to_owned(),
    };
    let Some((line, column)) = place else {
        return format!("syntax error: {message}");
    };
    let number = hints.line.max(1) + line.saturating_sub(1);
    let mut out = format!("syntax error at line {number}, column {column}: {message}");
    if let Some(source) = hints.sql.lines().nth(line.saturating_sub(1)) {
        let (cut, mark) = excerpt(source, column);
        // Writing to a string cannot fail.
        let _ = write!(out, "\n  {cut}\n  {mark}^");
    }
    out
}

/// Reads `3, Column: 17`.
fn parse_place(text: &str) -> Option<(usize, usize)> {
    let (line, column) = text.split_once(", Column: ")?;
    let line: usize = line.parse().ok()?;
    let column: usize = column.parse().ok()?;
    // The parser has no place for the end of the input.
    (line > 0 && column > 0).then_some((line, column))
}

/// At most 76 columns of a line around a column (from 1), and the blanks before its mark.
fn excerpt(line: &str, column: usize) -> (String, String) {
    use unicode_width::UnicodeWidthChar;
    let column = column.saturating_sub(1);
    let skip = column.saturating_sub(50);
    let shown: String = line
        .chars()
        .skip(skip)
        .take(76)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let before = shown.chars().take(column - skip);
    let width = before.map(|c| c.width().unwrap_or(0)).sum();
    (shown, " ".repeat(width))
}

fn describe_schema(error: &SchemaError) -> String {
    match error {
        SchemaError::FieldNotFound {
            field,
            valid_fields,
        } => no_column(field, valid_fields),
        SchemaError::AmbiguousReference { field } => {
            let name = &field.name;
            format!("column '{name}' is ambiguous: write which relation's, as in x.{name}")
        }
        SchemaError::DuplicateQualifiedField { name, .. }
        | SchemaError::DuplicateUnqualifiedField { name } => {
            format!("two columns are called '{name}': rename one with AS")
        }
    }
}

/// Columns that are listed where one is not found.
const MOST_NAMES: usize = 100;

fn no_column(field: &Column, valid: &[Column]) -> String {
    let mut out = format!("no column '{}'", field.flat_name());
    // Behind `f.` only the columns of f are candidates.
    let wanted = field.relation.as_ref().map(|relation| relation.table());
    let mut names: Vec<&str> = Vec::new();
    for column in valid {
        let of = column.relation.as_ref().map(|relation| relation.table());
        if (wanted.is_none() || wanted == of) && !names.contains(&column.name.as_str()) {
            names.push(&column.name);
        }
    }
    if let Some(relation) = wanted
        && names.is_empty()
    {
        let _ = write!(out, ": '{relation}' is not in the FROM clause");
        return out;
    }
    if let Some(near) = closest(&field.name, names.iter().copied()) {
        let written = quoted(near);
        let _ = write!(out, "; did you mean {}?", in_quotes(&written));
        if written != near && near.to_lowercase() == field.name.to_lowercase() {
            out.push_str(" Capitals count in double quotes only");
        }
    }
    if !names.is_empty() {
        let more = names.len().saturating_sub(MOST_NAMES);
        names.truncate(MOST_NAMES);
        let names: Vec<String> = names.into_iter().map(quoted).collect();
        let _ = write!(out, "\ncolumns: {}", names.join(", "));
        if more > 0 {
            let _ = write!(out, " and {more} more");
        }
    }
    out
}

fn describe_plan(text: &str, hints: &Hints<'_>) -> String {
    if let Some(name) = between(text, "table '", "' not found") {
        return no_relation(name, hints);
    }
    if let Some(name) = between(text, "table function '", "' not found") {
        return format!("no table function '{name}'");
    }
    for (what, start) in [
        ("catalog", "failed to resolve catalog: "),
        ("schema", "failed to resolve schema: "),
    ] {
        if let Some(name) = text.strip_prefix(start) {
            return format!("no {what} '{}'; .tables lists what there is", brief(name));
        }
    }
    if let Some(name) = between(text, "Invalid function '", "'") {
        return match closest(name, hints.functions.iter().map(String::as_str)) {
            Some(near) if near == name => {
                format!("{name} is a window function: write {name}(…) over (…)")
            }
            Some(near) => format!("no function '{name}'; did you mean '{near}'?"),
            None => format!("no function '{name}'"),
        };
    }
    if let Some(column) = between(text, "column \"", "\" must appear in the GROUP BY") {
        return format!("column '{column}' must be in GROUP BY or inside an aggregate function");
    }
    if text.contains("have the same name")
        && let Some(expression) = between(text, "expression \"", "\" at position")
    {
        let name = expression
            .rsplit_once(" AS ")
            .map_or(expression, |(_, name)| name);
        return format!("two columns are called '{name}': rename one with AS");
    }
    if let Some(call) = between(text, "argument types '", "'") {
        let mut out = format!("no function takes {call}");
        let candidates: Vec<&str> = text
            .lines()
            .skip_while(|line| !line.contains("Candidate functions"))
            .skip(1)
            .map(str::trim)
            .take(4)
            .collect();
        if !candidates.is_empty() {
            let _ = write!(out, "\ncandidates: {}", candidates.join(", "));
        }
        return out;
    }
    brief(text)
}

fn no_relation(full: &str, hints: &Hints<'_>) -> String {
    let catalog = hints
        .home
        .split_once('.')
        .map_or("", |(catalog, _)| catalog);
    let in_catalog = full
        .strip_prefix(catalog)
        .and_then(|rest| rest.strip_prefix('.'));
    let bare = full.strip_prefix(&hints.home);
    let name = bare.or(in_catalog).unwrap_or(full);
    // A bare name with these in it was written in quotes: 'mysql-bin.000001'.
    let file = bare.is_some_and(|name| name.contains(['.', '/', '*', '\\']));
    let or_file = if file { "or file " } else { "" };
    let mut out = format!("no relation {or_file}'{name}'");
    let of = full.split_once('.').map_or("", |(catalog, _)| catalog);
    let mut names = (hints.relations)(of);
    if names.is_empty() {
        names = (hints.relations)(catalog);
    }
    if let Some(near) = nearest_relation(name, &names) {
        let _ = write!(out, "; did you mean {near}?");
    }
    if !names.is_empty() {
        let more = names.len().saturating_sub(20);
        names.truncate(20);
        let _ = write!(out, "\nrelations: {}", names.join(", "));
        if more > 0 {
            let _ = write!(out, " and {more} more; see .tables");
        }
    } else {
        let _ = write!(
            out,
            "\nno source is open: name one, as in binlogsql mysql-bin.000001"
        );
    }
    out
}

/// The text between `start` and the next `end`.
fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let from = text.find(start)? + start.len();
    let rest = text.get(from..)?;
    rest.get(..rest.find(end)?)
}

#[cfg(test)]
mod tests;
