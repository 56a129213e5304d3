//! What Tab offers: relations, columns, functions and keywords in SQL, file names in quotes, dot
//! commands and their arguments.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clap::ValueEnum;
use datafusion::common::TableReference;
use datafusion::prelude::SessionContext;
use rustyline::completion::{Completer, Pair};
use rustyline::{Context, Helper, Highlighter, Hinter, Validator};
use tokio::runtime::Handle;

use crate::command::COMMANDS;
use crate::known::Known;
use crate::names;
use crate::print::Format;
use crate::recipes::RECIPES;
use crate::session::Session;

const KEYWORDS: &[&str] = &[
    "all",
    "analyze",
    "and",
    "any",
    "as",
    "asc",
    "between",
    "by",
    "case",
    "cast",
    "copy",
    "create",
    "cross",
    "current row",
    "desc",
    "describe",
    "distinct",
    "drop",
    "else",
    "end",
    "except",
    "exists",
    "explain",
    "external",
    "false",
    "filter",
    "first",
    "following",
    "from",
    "full",
    "group",
    "having",
    "ilike",
    "in",
    "inner",
    "intersect",
    "interval",
    "into",
    "is",
    "join",
    "last",
    "left",
    "like",
    "limit",
    "location",
    "not",
    "null",
    "nulls",
    "offset",
    "on",
    "options",
    "or",
    "order",
    "outer",
    "over",
    "partition",
    "partitioned",
    "preceding",
    "qualify",
    "range",
    "recursive",
    "right",
    "rows",
    "select",
    "set",
    "show",
    "similar",
    "stored",
    "table",
    "then",
    "timestamp",
    "to",
    "true",
    "unbounded",
    "union",
    "using",
    "values",
    "view",
    "when",
    "where",
    "with",
];

/// Tab waits so long for names that logs have to be read for. What is found later is offered later.
const PATIENCE: Duration = Duration::from_millis(300);

/// rustyline's helper: it completes, and leaves the rest alone.
#[derive(Helper, Hinter, Highlighter, Validator)]
pub struct Completion {
    context: SessionContext,
    handle: Handle,
    /// Lines of the statement above the one that is being edited.
    pending: Rc<RefCell<String>>,
    relations: Arc<Known>,
    /// Columns of the relations that were looked at.
    columns: Arc<Mutex<HashMap<String, Vec<String>>>>,
}

/// Where the cursor is, as far as it matters.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    /// In a quoted text that began at this offset of the line (behind the quote).
    Quoted(usize),
    /// In SQL; the word begins here.
    Word(usize),
    /// In a comment, or in a text that began on another line.
    Nowhere,
}

impl Completion {
    pub fn new(session: &Session, pending: Rc<RefCell<String>>) -> Self {
        Self {
            context: session.context.clone(),
            handle: session.handle(),
            pending,
            relations: Arc::new(Known::new(session)),
            columns: Arc::default(),
        }
    }

    /// Relations as one would write them now.
    fn relations(&self) -> Vec<String> {
        let home = names::home(&self.context);
        let known = self.relations.relations(PATIENCE);
        known.iter().map(|relation| relation.short(&home)).collect()
    }

    /// Columns of a relation; none where it cannot be opened, or not soon.
    fn columns_of(&self, relation: &str) -> Vec<String> {
        let known = |columns: &Mutex<HashMap<String, Vec<String>>>| {
            let columns = columns.lock().unwrap_or_else(PoisonError::into_inner);
            columns.get(relation).cloned()
        };
        if let Some(known) = known(&self.columns) {
            return known;
        }
        let (context, columns) = (self.context.clone(), Arc::clone(&self.columns));
        let name = relation.to_owned();
        let task = self.handle.spawn(async move {
            let reference = TableReference::parse_str(&name);
            let table = context.table_provider(reference).await;
            let found = table.map_or_else(
                |_| Vec::new(),
                |table| {
                    let fields = table.schema();
                    let fields = fields.fields().iter();
                    fields.map(|field| names::quoted(field.name())).collect()
                },
            );
            let mut columns = columns.lock().unwrap_or_else(PoisonError::into_inner);
            columns.insert(name, found);
        });
        // The task goes on when nobody waits for it any more.
        let wait = async { tokio::time::timeout(PATIENCE, task).await };
        let _ = self.handle.block_on(wait);
        known(&self.columns).unwrap_or_default()
    }

    /// What may stand at a word of a statement: `text` is the statement up to the word.
    fn sql(&self, text: &str, word: &str) -> Vec<String> {
        let relations = self.relations();
        let last = text.split_whitespace().next_back().unwrap_or_default();
        let after = |words: &[&str]| words.iter().any(|w| last.eq_ignore_ascii_case(w));
        if after(&["from", "join", "describe", "table", "into"]) {
            return with_schema(word, &relations);
        }
        // Columns of the relations that the statement names, else of those at hand.
        let named = |relation: &&String| {
            text.split(|c: char| !is_word(c))
                .any(|w| w.eq_ignore_ascii_case(relation))
        };
        let mut looked_at: Vec<&String> = relations.iter().filter(named).collect();
        if looked_at.is_empty() {
            looked_at = relations.iter().filter(|r| !r.contains('.')).collect();
        }
        let mut columns: Vec<String> = Vec::new();
        for relation in looked_at {
            columns.extend(self.columns_of(relation));
        }
        // Behind an alias: `b.ti`.
        if let Some((alias, part)) = word.rsplit_once('.') {
            let mut out = matching(word, &relations);
            let found = matching(part, &columns);
            out.extend(found.into_iter().map(|column| format!("{alias}.{column}")));
            return out;
        }
        let mut out = matching(word, &columns);
        out.extend(with_schema(word, &relations));
        if !word.is_empty() {
            out.extend(matching(word, &names::functions(&self.context)));
            let upper = word.chars().all(|c| c.is_ascii_uppercase());
            let keywords: Vec<String> = KEYWORDS
                .iter()
                .map(|k| {
                    if upper {
                        k.to_ascii_uppercase()
                    } else {
                        (*k).to_owned()
                    }
                })
                .collect();
            out.extend(matching(word, &keywords));
        }
        let mut seen = std::collections::HashSet::new();
        out.retain(|candidate| seen.insert(candidate.clone()));
        out
    }

    /// What may stand at a word of a dot command.
    fn command(&self, line: &str, word: &str) -> Vec<String> {
        let strings = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        let mut words = line.split_whitespace();
        let candidates = match (words.next(), words.next()) {
            (None, _) => COMMANDS
                .iter()
                .map(|def| format!(".{}", def.name))
                .collect(),
            (Some(".format"), None) => Format::value_variants().iter().map(|f| f.name()).collect(),
            (Some(".timing"), None) => strings(&["on", "off"]),
            (Some(".recipe"), None) => RECIPES.iter().map(|r| r.name.to_owned()).collect(),
            (Some(".recipe"), Some(name)) => {
                let params = RECIPES.iter().find(|r| r.name == name).map(|r| r.params());
                let params = params.unwrap_or_default().into_iter();
                params.map(|param| format!("{}=", param.name)).collect()
            }
            (Some(".schema"), None) => self.relations(),
            (Some(".read" | ".output"), None) => return files(word),
            _ => Vec::new(),
        };
        matching(word, &candidates)
    }
}

impl Completer for Completion {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        pos: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let line = line.get(..pos).unwrap_or(line);
        let pending = self.pending.borrow();
        if pending.is_empty() && line.trim_start().starts_with('.') {
            let start = line.rfind(char::is_whitespace).map_or(0, |at| at + 1);
            let found = self.command(&line[..start], &line[start..]);
            return Ok((start, pairs(found)));
        }
        Ok(match place(&pending, line) {
            Place::Nowhere => (pos, Vec::new()),
            Place::Quoted(start) => (start, pairs(files(&line[start..]))),
            Place::Word(start) => {
                let text = format!("{pending}{}", &line[..start]);
                (start, pairs(self.sql(&text, &line[start..])))
            }
        })
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '$')
}

/// Reads the statement up to the cursor: what is open there?
fn place(pending: &str, line: &str) -> Place {
    let text = format!("{pending}{line}");
    let mut open: Option<(char, usize)> = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, c)| *c);
        match open {
            None if matches!(c, '\'' | '"' | '`') => open = Some((c, at + 1)),
            None if c == '-' && next == Some('-') => open = Some(('\n', at)),
            None if c == '/' && next == Some('*') => open = Some(('*', at)),
            Some(('*', _)) if c == '*' && next == Some('/') => {
                open = None;
                chars.next();
            }
            Some(('*', _)) => {}
            Some((end, _)) if c == end => open = None,
            _ => {}
        }
    }
    match open {
        Some(('\'', at)) => match at.checked_sub(pending.len()) {
            Some(start) => Place::Quoted(start),
            None => Place::Nowhere,
        },
        Some(_) => Place::Nowhere,
        None => {
            let before = line.char_indices().rev().take_while(|(_, c)| is_word(*c));
            Place::Word(before.last().map_or(line.len(), |(at, _)| at))
        }
    }
}

/// Candidates that begin with the word, whatever the case.
fn matching(word: &str, candidates: &[String]) -> Vec<String> {
    let lower = word.to_lowercase();
    let begins = |candidate: &&String| {
        // The quote comes with the name that needs it.
        let bare = candidate.strip_prefix('"').unwrap_or(candidate);
        bare.to_lowercase().starts_with(&lower)
    };
    candidates.iter().filter(begins).cloned().collect()
}

/// Relations that begin with the word; and those of which only the name behind the schema does.
fn with_schema(word: &str, relations: &[String]) -> Vec<String> {
    let mut out = matching(word, relations);
    if !word.is_empty() {
        let bare = |relation: &&String| {
            let name = relation.rsplit('.').next().unwrap_or(relation);
            !matching(word, &[name.to_owned()]).is_empty() && !out.contains(relation)
        };
        let found: Vec<String> = relations.iter().filter(bare).cloned().collect();
        out.extend(found);
    }
    out
}

/// Files and folders whose path begins so.
fn files(word: &str) -> Vec<String> {
    let (folder, part) = match word.rfind('/') {
        Some(at) => word.split_at(at + 1),
        None => ("", word),
    };
    let place = if folder.is_empty() { "." } else { folder };
    let Ok(entries) = std::fs::read_dir(Path::new(place)) else {
        return Vec::new();
    };
    let mut out: Vec<String> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let hidden = name.starts_with('.') && !part.starts_with('.');
            if hidden || !name.starts_with(part) {
                return None;
            }
            let slash = if entry.path().is_dir() { "/" } else { "" };
            Some(format!("{folder}{name}{slash}"))
        })
        .collect();
    out.sort();
    out
}

fn pairs(candidates: Vec<String>) -> Vec<Pair> {
    candidates
        .into_iter()
        .map(|text| Pair {
            // Of a path, only the end tells the candidates apart.
            display: text.trim_end_matches('/').rsplit_once('/').map_or_else(
                || text.clone(),
                |(folder, _)| text[folder.len() + 1..].to_owned(),
            ),
            replacement: text,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::tests::session;
    use rustyline::history::DefaultHistory;

    fn offers(pending: &str, line: &str) -> (usize, Vec<String>) {
        let session = session();
        let completion = Completion::new(&session, Rc::new(RefCell::new(pending.to_owned())));
        let history = DefaultHistory::new();
        let context = Context::new(&history);
        let (start, pairs) = completion.complete(line, line.len(), &context).unwrap();
        (start, pairs.into_iter().map(|p| p.replacement).collect())
    }

    #[test]
    fn the_place_of_the_cursor() {
        assert_eq!(place("", "select ty"), Place::Word(7));
        assert_eq!(place("", "select a.ty"), Place::Word(7));
        assert_eq!(place("", "select "), Place::Word(7));
        assert_eq!(place("", "from 'a/b"), Place::Quoted(6));
        assert_eq!(place("", "x 'it''s' y"), Place::Word(10));
        assert_eq!(place("select '\n", "abc"), Place::Nowhere);
        assert_eq!(place("select '\n", "' 'x"), Place::Quoted(3));
        assert_eq!(place("", "x -- it's"), Place::Nowhere);
        assert_eq!(place("x -- it's\n", "y"), Place::Word(0));
        assert_eq!(place("", "/* it's */ y"), Place::Word(11));
        assert_eq!(place("", "größe"), Place::Word(0));
    }

    #[test]
    fn relations_columns_functions_and_keywords() {
        assert_eq!(offers("", "select * from bin").1, ["binlog"]);
        let all = offers("", "select * from ").1;
        assert_eq!(
            all[..6],
            [
                "binlog", "changes", "columns", "files", "problems", "tables"
            ]
        );
        assert!(all.contains(&"shop.orders".to_owned()), "{all:?}");
        assert_eq!(offers("", "select * from Shop.OrderS").1, ["shop.orders"]);
        assert_eq!(offers("", "select * from orders").1, ["shop.orders"]);
        assert_eq!(
            offers("", "select delivery_at from shop.orders where deli").1,
            ["delivery_at"]
        );
        assert_eq!(
            offers("select * from binlog\n", "where serv").1,
            ["server_id"]
        );
        assert_eq!(offers("", "select type_").1, ["type_code"]);
        assert_eq!(offers("", "select b.type_").1, ["b.type_code"]);
        assert!(
            offers("", "select date_tr")
                .1
                .contains(&"date_trunc".to_owned())
        );
        assert_eq!(offers("", "SEL").1, ["SELECT"]);
        assert_eq!(offers("", "sele").1, ["select"]);
    }

    #[test]
    fn commands_and_their_arguments() {
        assert_eq!(offers("", ".ti").1, [".timing"]);
        assert_eq!(offers("", ".format nd"), (8, vec!["ndjson".to_owned()]));
        assert_eq!(offers("", ".recipe event").1, ["event-mix"]);
        assert_eq!(offers("", ".recipe biggest-transactions l").1, ["limit="]);
        assert_eq!(offers("", ".schema pro").1, ["problems"]);
        assert!(
            !offers("select 1\n", ".ti")
                .1
                .contains(&".timing".to_owned())
        );
    }

    #[test]
    fn file_names_in_quotes() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| format!("{}/{name}", folder.path().display());
        std::fs::write(at("mysql-bin.000001"), "").unwrap();
        std::fs::write(at(".hidden"), "").unwrap();
        std::fs::create_dir(at("more")).unwrap();
        let line = format!("select * from '{}", at("m"));
        let (start, found) = offers("", &line);
        assert_eq!(start, 15);
        assert_eq!(found, [at("more/"), at("mysql-bin.000001")]);
        assert_eq!(files(&at("")).len(), 2);
        assert_eq!(files(&at("none/x")).len(), 0);
        assert_eq!(pairs(vec![at("more/")])[0].display, "more/");
    }
}
