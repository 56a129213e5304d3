//! Cuts a script into statements and dot commands.
//!
//! A statement ends at `;` outside quotes and comments, or at `\G` (as in the `mysql` client: print
//! the result vertically). A line that begins with `.` where no statement is open is a command; so
//! is `exit`, `quit` or `\q`. What is left open at the end is the [`rest`](Script::rest): the prompt
//! asks for more of it, a script runs it as it is.

/// One statement, without its terminator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statement<'a> {
    /// From its first character (a comment in front of it belongs to it).
    pub text: &'a str,
    /// Line of the script that it begins on, from 1.
    pub line: usize,
    /// It ended with `\G`.
    pub vertical: bool,
}

/// What a script is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A statement for DataFusion.
    Statement(Statement<'a>),
    /// A dot command: its line, or what of that stands in front of a `;`.
    Command(&'a str),
}

/// A script in pieces.
#[derive(Debug, Default)]
pub struct Script<'a> {
    /// What is complete, in order.
    pub pieces: Vec<Piece<'a>>,
    /// The statement that is still open at the end; comments alone are none.
    pub rest: Option<Statement<'a>>,
}

/// Cuts `script` into pieces.
pub fn split(script: &str) -> Script<'_> {
    let bytes = script.as_bytes();
    let mut out = Script::default();
    let mut at = 0;
    let mut line = 1;
    loop {
        // Between statements: blank space, then a command or the first byte of a statement.
        while let Some(byte) = bytes.get(at).filter(|b| b.is_ascii_whitespace()) {
            line += usize::from(*byte == b'\n');
            at += 1;
        }
        if at >= bytes.len() {
            return out;
        }
        let end_of_line = script[at..].find('\n').map_or(bytes.len(), |n| at + n);
        let this_line = script[at..end_of_line].trim_end();
        if is_command(this_line) {
            let (command, length) = end_of_command(this_line);
            out.pieces.push(Piece::Command(command));
            at += length;
            continue;
        }
        let start = at;
        let (end, next, ending, blank) = scan(bytes, at);
        let statement = Statement {
            text: script[start..end].trim_end(),
            line,
            vertical: ending == Ending::Vertical,
        };
        line += script[start..next].matches('\n').count();
        at = next;
        match ending {
            _ if blank => {}
            Ending::Open => out.rest = Some(statement),
            Ending::Semicolon | Ending::Vertical => out.pieces.push(Piece::Statement(statement)),
        }
    }
}

/// Whether a line is a command, where a statement could begin.
fn is_command(line: &str) -> bool {
    let dotted = line
        .strip_prefix('.')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()));
    let word = line.trim_end_matches(';').trim_end();
    let leave = word == "\\q"
        || ["exit", "quit"]
            .iter()
            .any(|w| word.eq_ignore_ascii_case(w));
    dotted || leave
}

/// A command without the `;` that may end it before its line does, and its length with that.
fn end_of_command(line: &str) -> (&str, usize) {
    let mut quote = None;
    for (at, c) in line.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == ';' => return (line[..at].trim_end(), at + 1),
            None if matches!(c, '\'' | '"') => quote = Some(c),
            None => {}
        }
    }
    (line, line.len())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Semicolon,
    Vertical,
    Open,
}

/// Finds the end of the statement that begins at `from`: where its text ends, where to go on, how
/// it ended, and whether it was nothing but comments.
fn scan(bytes: &[u8], from: usize) -> (usize, usize, Ending, bool) {
    let mut at = from;
    let mut blank = true;
    while let Some(&byte) = bytes.get(at) {
        let two = (byte, bytes.get(at + 1).copied().unwrap_or(0));
        match two {
            (b';', _) => return (at, at + 1, Ending::Semicolon, blank),
            (b'\\', b'G' | b'g') => {
                let ending = if two.1 == b'G' {
                    Ending::Vertical
                } else {
                    Ending::Semicolon
                };
                return (at, at + 2, ending, blank);
            }
            (b'-', b'-') => at = skip_to(bytes, at, b'\n'),
            (b'/', b'*') => {
                let (end, closed) = skip_comment(bytes, at);
                // An open comment is unfinished input even when nothing else is there.
                blank &= closed;
                at = end;
            }
            (b'\'' | b'"' | b'`', _) => {
                blank = false;
                at = skip_to(bytes, at + 1, byte) + 1;
            }
            _ => {
                blank &= byte.is_ascii_whitespace();
                at += 1;
            }
        }
    }
    (bytes.len(), bytes.len(), Ending::Open, blank)
}

/// Offset of the next `stop` at or behind `from`, or the end. A doubled quote needs no care here:
/// it closes one quoted text and opens the next.
fn skip_to(bytes: &[u8], from: usize, stop: u8) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    rest.iter()
        .position(|b| *b == stop)
        .map_or(bytes.len(), |n| from + n)
}

/// Offset behind the comment that begins at `from`, and whether it is closed; comments nest.
fn skip_comment(bytes: &[u8], from: usize) -> (usize, bool) {
    let mut depth = 0_usize;
    let mut at = from;
    while at + 1 < bytes.len() {
        match (bytes[at], bytes[at + 1]) {
            (b'/', b'*') => {
                depth += 1;
                at += 2;
            }
            (b'*', b'/') => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return (at, true);
                }
            }
            _ => at += 1,
        }
    }
    (bytes.len(), false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(script: &str) -> Vec<String> {
        let split = split(script);
        let mut out: Vec<String> = split
            .pieces
            .iter()
            .map(|piece| match piece {
                Piece::Statement(s) if s.vertical => format!("{}|vertical", s.text),
                Piece::Statement(s) => s.text.to_owned(),
                Piece::Command(c) => format!("command {c}"),
            })
            .collect();
        out.extend(split.rest.map(|s| format!("rest {}", s.text)));
        out
    }

    #[test]
    fn semicolons_outside_quotes_and_comments_end_statements() {
        assert_eq!(
            texts("select 1; select ';'';' , \";\", `;` -- ;\n/* ; /* ; */ ; */ from t;\n\n;;"),
            [
                "select 1",
                "select ';'';' , \";\", `;` -- ;\n/* ; /* ; */ ; */ from t"
            ]
        );
    }

    #[test]
    fn what_is_open_is_the_rest() {
        assert_eq!(texts("select 1;\nselect 2"), ["select 1", "rest select 2"]);
        assert_eq!(texts("select 'a;"), ["rest select 'a;"]);
        assert_eq!(texts("/* a ;"), ["rest /* a ;"]);
        assert_eq!(texts("select 1; -- the end"), ["select 1"]);
        assert_eq!(texts(" \n\t"), [""; 0]);
    }

    #[test]
    fn commands_stand_where_a_statement_could_begin() {
        assert_eq!(
            texts(".timing on\nselect 1\n.5 + 1;\n.read x.sql\nquit;"),
            [
                "command .timing on",
                "select 1\n.5 + 1",
                "command .read x.sql",
                "command quit"
            ]
        );
        assert_eq!(
            texts(".tables; select 1; .read 'a;b' ; .quit;"),
            [
                "command .tables",
                "select 1",
                "command .read 'a;b'",
                "command .quit"
            ]
        );
        assert_eq!(texts("\\q"), ["command \\q"]);
        assert_eq!(texts("EXIT"), ["command EXIT"]);
        assert_eq!(texts("exit from;"), ["exit from"]);
    }

    #[test]
    fn backslash_g_ends_a_statement_and_turns_it_vertical() {
        assert_eq!(
            texts("select 1\\G select 2\\g"),
            ["select 1|vertical", "select 2"]
        );
        assert_eq!(texts("select '\\G';"), ["select '\\G'"]);
    }

    #[test]
    fn lines_are_counted_from_the_top_of_the_script() {
        let script = "\n-- head\nselect 1;\n.timing on\n\nselect\n2; select 3";
        let script = split(script);
        let lines: Vec<usize> = script
            .pieces
            .iter()
            .filter_map(|p| match p {
                Piece::Statement(s) => Some(s.line),
                Piece::Command(_) => None,
            })
            .chain(script.rest.map(|s| s.line))
            .collect();
        assert_eq!(lines, [2, 6, 7]);
    }

    #[test]
    fn any_bytes_are_cut_without_panic() {
        for script in ["é;'ü", "--", "/*", "/", "\\", "'", ";", "/*/", "-", "é\\Gé"] {
            for end in 0..=script.len() {
                if script.is_char_boundary(end) {
                    let _ = split(&script[..end]);
                }
            }
        }
    }
}
