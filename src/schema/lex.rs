//! SQL text → tokens, as the servers' own lexers cut it.
//!
//! A token borrows the text, so that nothing is copied until a name or label is wanted, and a
//! statement of any length takes no memory. Comments are left out; the text inside a versioned
//! comment (`/*!50100 … */`, `/*M!100700 … */`) is code: a server rewrites those that it does not
//! run into plain comments before it logs a statement.
//!
//! Source: MySQL `sql/sql_lex.cc`, MariaDB `sql/sql_lex.cc` (what a word, string or comment is).

use super::Session;
use crate::binlog::event::Flavor;

/// Bit of `sql_mode`: `"…"` is an identifier.
const ANSI_QUOTES: u64 = 1 << 2;
/// Bit of `sql_mode`: a backslash is a character like any other.
const NO_BACKSLASH_ESCAPES: u64 = 1 << 20;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A keyword or an identifier without quotes.
    Word,
    /// Digits.
    Number,
    /// `'…'`.
    Single,
    /// `"…"`: an identifier or a string, as the place in the grammar has it.
    Double,
    /// `` `…` ``.
    Backtick,
    /// One character of any other sort.
    Symbol,
    /// A string or comment that does not end.
    Unterminated,
    /// The end of the text.
    End,
}

/// A token: its text is without quotes, but still with escapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
}

impl<'a> Token<'a> {
    /// Whether it is this keyword.
    pub(super) fn is(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text.eq_ignore_ascii_case(word)
    }

    /// Whether it is one of these keywords.
    pub(super) fn is_any(&self, words: &[&str]) -> bool {
        self.kind == Kind::Word
            && words
                .iter()
                .any(|word| self.text.eq_ignore_ascii_case(word))
    }

    /// Whether it is this character.
    pub(super) fn is_symbol(&self, symbol: &str) -> bool {
        self.kind == Kind::Symbol && self.text == symbol
    }

    /// Whether it can be an identifier.
    pub(super) fn is_identifier(&self) -> bool {
        matches!(self.kind, Kind::Word | Kind::Backtick | Kind::Double)
    }

    /// Whether it can be a string.
    pub(super) fn is_string(&self) -> bool {
        matches!(self.kind, Kind::Single | Kind::Double)
    }

    /// The identifier that it is; `None`: it is none.
    pub(super) fn identifier(&self) -> Option<String> {
        match self.kind {
            Kind::Word => Some(self.text.to_owned()),
            Kind::Backtick => Some(self.text.replace("``", "`")),
            Kind::Double => Some(self.text.replace("\"\"", "\"")),
            _ => None,
        }
    }

    /// The string that it is; `None`: it is none.
    pub(super) fn string(&self, backslash_escapes: bool) -> Option<String> {
        let quote = match self.kind {
            Kind::Single => '\'',
            Kind::Double => '"',
            _ => return None,
        };
        let mut out = String::with_capacity(self.text.len());
        let mut chars = self.text.chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' if backslash_escapes => match chars.next() {
                    Some('0') => out.push('\0'),
                    Some('b') => out.push('\u{8}'),
                    Some('n') => out.push('\n'),
                    Some('r') => out.push('\r'),
                    Some('t') => out.push('\t'),
                    Some('Z') => out.push('\u{1a}'),
                    // Both characters stay, for LIKE.
                    Some(c @ ('%' | '_')) => out.extend(['\\', c]),
                    Some(c) => out.push(c),
                    None => {}
                },
                c if c == quote => {
                    chars.next(); // the second of two
                    out.push(c);
                }
                c => out.push(c),
            }
        }
        Some(out)
    }
}

/// Where a text is read, and how.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lexer<'a> {
    rest: &'a str,
    /// Whether a backslash escapes (not under `NO_BACKSLASH_ESCAPES`).
    pub(super) backslash_escapes: bool,
    /// Whether `"…"` are identifiers, in which a backslash is a character (`ANSI_QUOTES`).
    pub(super) ansi_quotes: bool,
    /// Whether `/*M! … */` is code; to MySQL it is a comment.
    pub(super) mariadb: bool,
    in_code_comment: bool,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str, session: &Session<'_>) -> Self {
        Self {
            rest: text,
            backslash_escapes: session.sql_mode & NO_BACKSLASH_ESCAPES == 0,
            ansi_quotes: session.sql_mode & ANSI_QUOTES != 0,
            mariadb: session.flavor == Flavor::MariaDb,
            in_code_comment: false,
        }
    }

    /// What is not read yet.
    pub(super) fn rest(&self) -> &'a str {
        self.rest
    }

    /// Goes on so many bytes later.
    pub(super) fn skip_bytes(&mut self, n: usize) {
        self.rest = self.rest.get(n..).unwrap_or_default();
    }

    /// Hops over spaces and comments. `false`: a comment does not end.
    pub(super) fn skip_blank(&mut self) -> bool {
        loop {
            self.rest = self
                .rest
                .trim_start_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c', '\0']);
            let rest = self.rest;
            if self.in_code_comment
                && let Some(behind) = rest.strip_prefix("*/")
            {
                self.in_code_comment = false;
                self.rest = behind;
            } else if rest.starts_with('#') || is_dash_comment(rest) {
                let end = rest.find('\n').unwrap_or(rest.len());
                self.rest = rest.get(end..).unwrap_or_default();
            } else if let Some(comment) = rest.strip_prefix("/*") {
                match self.code_of(comment) {
                    Some(code) => {
                        self.in_code_comment = true;
                        self.rest = code;
                    }
                    _ => {
                        let Some(end) = comment.find("*/") else {
                            self.rest = "";
                            return false;
                        };
                        self.rest = comment.get(end.saturating_add(2)..).unwrap_or_default();
                    }
                }
            } else {
                return true;
            }
        }
    }

    /// The next token.
    pub(super) fn next(&mut self) -> Token<'a> {
        if !self.skip_blank() {
            return Token {
                kind: Kind::Unterminated,
                text: "",
            };
        }
        let Some(first) = self.rest.chars().next() else {
            return Token {
                kind: Kind::End,
                text: "",
            };
        };
        match first {
            '\'' => self.quoted(Kind::Single, b'\'', self.backslash_escapes),
            '"' => {
                let escapes = self.backslash_escapes && !self.ansi_quotes;
                self.quoted(Kind::Double, b'"', escapes)
            }
            '`' => self.quoted(Kind::Backtick, b'`', false),
            c if is_word(c) => {
                let text = self.take(self.rest.find(|c| !is_word(c)));
                let digits = text.bytes().all(|b| b.is_ascii_digit());
                let kind = if digits { Kind::Number } else { Kind::Word };
                Token { kind, text }
            }
            c => Token {
                kind: Kind::Symbol,
                text: self.take(Some(c.len_utf8())),
            },
        }
    }

    /// The code in a comment, of which `/*` is read: behind `!` or `M!` and the version. `None`: it
    /// is a plain comment, or code for a version that no server has (`/*M!999999\- …`).
    fn code_of(&self, comment: &'a str) -> Option<&'a str> {
        if self.in_code_comment {
            return None;
        }
        let mariadb = comment.strip_prefix("M!").filter(|_| self.mariadb);
        let code = mariadb.or_else(|| comment.strip_prefix('!'))?;
        let digits = code.bytes().take(6).take_while(u8::is_ascii_digit).count();
        if digits < 5 {
            return Some(code);
        }
        let (version, code) = code.split_at_checked(digits)?;
        (version < "99").then_some(code)
    }

    fn take(&mut self, len: Option<usize>) -> &'a str {
        let len = len.unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at_checked(len).unwrap_or((self.rest, ""));
        self.rest = rest;
        text
    }

    fn quoted(&mut self, kind: Kind, quote: u8, escapes: bool) -> Token<'a> {
        let inner = self.rest.get(1..).unwrap_or_default();
        let bytes = inner.as_bytes();
        let mut at = 0usize;
        loop {
            match bytes.get(at) {
                None => {
                    self.rest = "";
                    let kind = Kind::Unterminated;
                    return Token { kind, text: inner };
                }
                Some(b'\\') if escapes => at = at.saturating_add(2),
                Some(&byte) if byte == quote => {
                    let next = at.saturating_add(1);
                    if bytes.get(next) != Some(&quote) {
                        self.rest = inner.get(next..).unwrap_or_default();
                        let text = inner.get(..at).unwrap_or_default();
                        return Token { kind, text };
                    }
                    at = at.saturating_add(2);
                }
                Some(_) => at = at.saturating_add(1),
            }
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$' || !c.is_ascii()
}

/// Two dashes begin a comment only before a space or control character.
fn is_dash_comment(rest: &str) -> bool {
    rest.strip_prefix("--")
        .is_some_and(|rest| rest.bytes().next().is_none_or(|byte| byte <= b' '))
}
