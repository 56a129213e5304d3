//! The rules of the code: who may use whom (design §4), how long a file may be, and that the table
//! of event types is whole.

use datafusion_binlog::binlog::event::{EVENTS, EventDef, Vendor};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// No file has more lines.
const MAX_LINES: usize = 550;

/// A folder or file of `src`, what its code must not mention, and why.
const RULES: &[(&str, &[&str], &str)] = &[
    (
        "binlog/",
        &[
            "arrow::",
            "datafusion::",
            "tokio::",
            "object_store::",
            "futures::",
            "bytes::",
            "std::fs",
            "std::net",
            "std::time",
            "std::env",
            "std::process",
            "std::thread",
            "println!",
            "print!",
            "eprintln!",
            "eprint!",
            "dbg!",
            "crate::batch",
            "crate::source",
            "crate::table",
            "crate::sql",
            "crate::session",
        ],
        "the decoder has bytes and nothing else: no Arrow, no DataFusion, no I/O, no clock",
    ),
    (
        "binlog/",
        // `panic!` and `assert!` are there too, but only where the compiler runs them; clippy sees
        // to the others.
        &[".unwrap()", ".expect(", "unreachable!"],
        "input is hostile, and the decoder never panics",
    ),
    (
        "schema/",
        &[
            "arrow::",
            "datafusion::",
            "tokio::",
            "object_store::",
            "futures::",
            "bytes::",
            "std::fs",
            "std::net",
            "std::time",
            "std::env",
            "std::process",
            "std::thread",
            "println!",
            "print!",
            "eprintln!",
            "eprint!",
            ".unwrap()",
            ".expect(",
            "unreachable!",
            "crate::batch",
            "crate::source",
            "crate::table",
            "crate::sql",
            "crate::session",
        ],
        "statements are text and hostile: no Arrow, no I/O, no panic",
    ),
    (
        "batch/",
        &[
            "datafusion::",
            "tokio::",
            "object_store::",
            "futures::",
            "std::fs",
            "std::net",
            "std::time",
            "println!",
            "print!",
            "eprintln!",
            "crate::source",
            "crate::table",
            "crate::sql",
            "crate::session",
        ],
        "batches are made of events: no I/O, nothing asynchronous, no DataFusion",
    ),
    (
        "source/",
        &[
            "arrow::",
            "datafusion::",
            "println!",
            "print!",
            "eprintln!",
            "binlog::event",
            "crate::batch",
            "crate::table",
            "crate::sql",
            "crate::session",
        ],
        "a source has bytes, and looks into no event",
    ),
    (
        "table/",
        &[
            "clap::",
            "rustyline::",
            "indicatif::",
            "println!",
            "print!",
            "eprintln!",
            "crate::sql",
            "crate::session",
        ],
        "a plan prints nothing and knows no terminal",
    ),
    (
        "sql/",
        &[
            "clap::",
            "println!",
            "print!",
            "eprintln!",
            "crate::source",
            "crate::session",
        ],
        "functions stand on tables",
    ),
    (
        "session.rs",
        &["clap::", "rustyline::", "println!", "print!", "eprintln!"],
        "the library knows no terminal",
    ),
    (
        "error.rs",
        &[
            "crate::binlog",
            "crate::batch",
            "crate::source",
            "crate::table",
            "crate::session",
        ],
        "errors stand below everything",
    ),
    (
        "bin/",
        &["crate::binlog", "#[path"],
        "the command has only the public API",
    ),
    (
        "",
        &[
            "todo!",
            "unimplemented!",
            "unsafe {",
            "unsafe fn",
            "#[ignore",
        ],
        "nothing is left for later, and nothing is unsafe",
    ),
];

/// A file of `src`: its path in there, and its text.
struct Source {
    path: String,
    text: String,
}

impl Source {
    /// Whether all of it is test code.
    fn is_test(&self) -> bool {
        self.path
            .split('/')
            .any(|part| ["tests.rs", "testing.rs", "corpus_tests.rs", "tests"].contains(&part))
    }

    /// The lines of code with their numbers: no comments, and no tests at the end of the file.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let end = self.text.find("#[cfg(test)]\nmod tests {");
        let text = &self.text[..end.unwrap_or(self.text.len())];
        let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
        lines.filter(|(_, line)| !line.trim_start().starts_with("//"))
    }
}

fn rust_files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, out);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            out.push(path);
        }
    }
}

fn files_of(folder: &str) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut paths = Vec::new();
    rust_files(&root, &mut paths);
    paths.sort();
    let source = |path: &PathBuf| Source {
        path: path
            .strip_prefix(&root)
            .unwrap()
            .to_str()
            .unwrap()
            .replace('\\', "/"),
        text: std::fs::read_to_string(path).unwrap(),
    };
    paths.iter().map(source).collect()
}

fn sources() -> Vec<Source> {
    let files = files_of("src");
    assert!(files.len() > 100, "{} files", files.len());
    files
}

/// Whether a line has the token, not as the end of a longer word: `narrow::` is not `arrow::`.
fn mentions(line: &str, token: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let starts_word = token.starts_with(word);
    line.match_indices(token).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !starts_word || !before.is_some_and(word)
    })
}

#[test]
fn modules_use_only_what_they_may() {
    let mut offences = String::new();
    for source in sources().iter().filter(|source| !source.is_test()) {
        for (folder, tokens, why) in RULES {
            if !source.path.starts_with(folder) {
                continue;
            }
            for (number, line) in source.code() {
                for token in tokens.iter().filter(|token| mentions(line, token)) {
                    writeln!(
                        offences,
                        "src/{}:{number}: {token} — {why}\n    {}",
                        source.path,
                        line.trim()
                    )
                    .unwrap();
                }
            }
        }
    }
    assert!(offences.is_empty(), "\n{offences}");
}

#[test]
fn every_rule_is_about_something() {
    let files = sources();
    for (folder, ..) in RULES {
        let there = files.iter().any(|source| source.path.starts_with(folder));
        assert!(there, "src/{folder} is gone; is its rule too?");
    }
    // The words are found where they are, and only there.
    assert!(mentions("use arrow::array;", "arrow::"));
    assert!(!mentions("let x = narrow::y;", "arrow::"));
    assert!(mentions("x.unwrap()", ".unwrap()"));
    assert!(!mentions("eprintln!(\"\")", "println!"));
}

/// The command is a user of the library like any other: it has what the crate's root gives.
#[test]
fn the_command_uses_the_root_of_the_library_only() {
    for source in sources()
        .iter()
        .filter(|source| source.path.starts_with("bin/"))
    {
        for (number, line) in source.code() {
            for (at, name) in line.match_indices("datafusion_binlog::") {
                let next = line[at + name.len()..].chars().next();
                assert!(
                    next.is_some_and(|c| c.is_ascii_uppercase() || c == '{'),
                    "src/{}:{number}: {line}",
                    source.path
                );
            }
        }
    }
}

#[test]
fn every_file_says_what_it_is_and_is_short() {
    let mut offences = String::new();
    for source in sources() {
        let test_module = source.path.ends_with("tests.rs");
        if !source.text.starts_with("//!") && !test_module {
            writeln!(offences, "src/{}: does not begin with //!", source.path).unwrap();
        }
        let lines = source.text.lines().count();
        if lines > MAX_LINES {
            writeln!(offences, "src/{}: {lines} lines", source.path).unwrap();
        }
    }
    for source in files_of("tests") {
        let lines = source.text.lines().count();
        if lines > MAX_LINES {
            writeln!(offences, "tests/{}: {lines} lines", source.path).unwrap();
        }
        let explained = source.text.starts_with("//!") || source.text.starts_with("#![no_main]");
        if !explained {
            writeln!(offences, "tests/{}: does not begin with //!", source.path).unwrap();
        }
    }
    assert!(offences.is_empty(), "\n{offences}");
}

fn event_defs() -> impl Iterator<Item = &'static EventDef> {
    EVENTS.iter().copied().flatten()
}

/// MySQL 9.7: 1 to 42. MariaDB 12.3: 160 to 172. None of 0, the "unknown event" of both.
#[test]
fn every_event_type_of_both_servers_is_known() {
    let codes: Vec<u8> = event_defs().map(|def| def.code).collect();
    let want: Vec<u8> = (1..=42).chain(160..=172).collect();
    assert_eq!(codes, want);
    for (code, def) in EVENTS.iter().enumerate() {
        assert!(def.is_none_or(|def| usize::from(def.code) == code));
    }
    for def in event_defs() {
        let mariadb = def.vendor == Vendor::MariaDb;
        assert_eq!(mariadb, def.code >= 160, "{}", def.name);
    }
}

#[test]
fn names_of_event_types_are_the_servers_and_unique() {
    let mut names: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
    for def in event_defs() {
        names.entry(def.name).or_default().push(def.code);
        let form = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        assert!(def.name.chars().all(form), "{}", def.name);
        assert!(!def.name.ends_with("_EVENT"), "{}", def.name);
        assert!(
            !def.doc.is_empty() && !def.doc.ends_with('.'),
            "{}",
            def.name
        );
        assert!(!def.doc.contains(['|', '\n']), "{}", def.name);
        let version = def.since.chars().all(|c| c.is_ascii_digit() || c == '.');
        assert!(
            version && def.since.contains('.'),
            "{}: {}",
            def.name,
            def.since
        );
    }
    names.retain(|_, codes| codes.len() > 1);
    // Both vendors call it GTID; no event of one is in a log of the other.
    assert_eq!(names, BTreeMap::from([("GTID", vec![33, 162])]));
}

/// The README's table of event types.
fn event_table() -> String {
    let mut table = "| code | `type` | written by | since | what it is for |\n\
                     |---|---|---|---|---|\n"
        .to_owned();
    for def in event_defs() {
        let vendor = match def.vendor {
            Vendor::Both => "both",
            Vendor::MySql => "MySQL",
            Vendor::MariaDb => "MariaDB",
        };
        writeln!(
            table,
            "| {} | `{}` | {vendor} | {} | {} |",
            def.code, def.name, def.since, def.doc
        )
        .unwrap();
    }
    table
}

#[test]
fn the_readme_lists_every_event_type() {
    const BEGIN: &str = "<!-- events:begin -->\n";
    const END: &str = "<!-- events:end -->";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let readme = std::fs::read_to_string(path).unwrap();
    let (_, behind) = readme
        .split_once(BEGIN)
        .expect("README.md has a line <!-- events:begin -->");
    let (found, _) = behind
        .split_once(END)
        .expect("events:end behind events:begin");
    let wanted = event_table();
    assert!(
        found.trim() == wanted.trim(),
        "between events:begin and events:end README.md should say\n\n{wanted}"
    );
}
