//! The dot commands, one table: names, arguments, help, and what each does.

use std::path::PathBuf;

use clap::ValueEnum;

use crate::config::read_script;
use crate::describe;
use crate::errors::Failure;
use crate::names::closest;
use crate::output::Output;
use crate::print::Format;
use crate::recipes::{self, RECIPES};
use crate::run::{App, recipe_list};

/// Scripts may read scripts, but not themselves for ever.
const DEEPEST: usize = 16;

/// What comes after a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// The next statement.
    Continue,
    /// The end.
    Leave,
}

/// A dot command.
pub struct Def {
    /// Its name without the dot.
    pub name: &'static str,
    /// What it takes, for the help and for completion.
    pub takes: &'static str,
    help: &'static str,
    run: fn(&mut App, &[String]) -> Result<Flow, Failure>,
}

/// All of them, in the order of the help.
pub const COMMANDS: &[Def] = &[
    Def {
        name: "help",
        takes: "",
        help: "this list",
        run: help,
    },
    Def {
        name: "tables",
        takes: "",
        help: "the relations of each source, the tables of its logs with them",
        run: tables,
    },
    Def {
        name: "schema",
        takes: "[RELATION]",
        help: "columns, their types, and where their names come from",
        run: schema,
    },
    Def {
        name: "recipes",
        takes: "",
        help: "ready-made questions",
        run: list_recipes,
    },
    Def {
        name: "recipe",
        takes: "NAME [KEY=VALUE…]",
        help: "run one",
        run: recipe,
    },
    Def {
        name: "format",
        takes: "[FORMAT]",
        help: "how results look",
        run: format,
    },
    Def {
        name: "output",
        takes: "[FILE|stdout]",
        help: "where results go; stdout completes a file",
        run: output,
    },
    Def {
        name: "timing",
        takes: "[on|off]",
        help: "rows and time after each result",
        run: timing,
    },
    Def {
        name: "read",
        takes: "FILE",
        help: "run the SQL of a file",
        run: read,
    },
    Def {
        name: "quit",
        takes: "",
        help: "leave (also \\q, exit, Ctrl-D)",
        run: |_, _| Ok(Flow::Leave),
    },
];

/// Runs the command on this line.
pub fn run(app: &mut App, line: &str) -> Result<Flow, Failure> {
    let words = words(line.trim()).map_err(Failure::Message)?;
    let Some((first, arguments)) = words.split_first() else {
        return Ok(Flow::Continue);
    };
    // `exit`, `quit` and `\q` are all that comes without a dot.
    let name = first.strip_prefix('.').unwrap_or("quit");
    match COMMANDS.iter().find(|def| def.name == name) {
        Some(def) => (def.run)(app, arguments),
        None => {
            let near = closest(name, COMMANDS.iter().map(|def| def.name));
            let near = near.map(|near| format!("; did you mean .{near}?"));
            let near = near.unwrap_or_else(|| "; .help lists them".to_owned());
            Err(Failure::Message(format!("no command .{name}{near}")))
        }
    }
}

/// Cuts a line into words at blanks; quotes keep blanks, a doubled quote is a quote.
pub fn words(line: &str) -> Result<Vec<String>, String> {
    let mut out = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => {
                if chars.peek() == Some(&open) {
                    chars.next();
                    word.get_or_insert_default().push(c);
                } else {
                    quote = None;
                }
            }
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => out.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    if let Some(open) = quote {
        return Err(format!("a quote is open: {open}"));
    }
    out.extend(word);
    Ok(out)
}

fn wrong(usage: &str) -> Failure {
    Failure::Message(format!("usage: {usage}"))
}

fn help(app: &mut App, _: &[String]) -> Result<Flow, Failure> {
    let mut text = String::new();
    for def in COMMANDS {
        let left = format!(".{} {}", def.name, def.takes);
        text.push_str(&format!("{left:<27}{}\n", def.help));
    }
    text.push_str(
        "A statement ends with ; or, to print it vertically, with \\G.\n\
         Ctrl-C clears the line or cancels the query.\n",
    );
    app.print_text(&text)?;
    Ok(Flow::Continue)
}

fn tables(app: &mut App, _: &[String]) -> Result<Flow, Failure> {
    let answer = describe::tables(app)?;
    app.print_rows(&answer)?;
    Ok(Flow::Continue)
}

fn schema(app: &mut App, arguments: &[String]) -> Result<Flow, Failure> {
    let answer = match arguments {
        [] => describe::schemas(app)?,
        [name] => describe::schema(app, name)?,
        _ => return Err(wrong(".schema [RELATION]")),
    };
    app.print_rows(&answer)?;
    Ok(Flow::Continue)
}

fn list_recipes(app: &mut App, _: &[String]) -> Result<Flow, Failure> {
    app.print_rows(&recipe_list()?)?;
    Ok(Flow::Continue)
}

fn recipe(app: &mut App, arguments: &[String]) -> Result<Flow, Failure> {
    let usage = || wrong(".recipe NAME [KEY=VALUE…]");
    let (name, values) = arguments.split_first().ok_or_else(usage)?;
    let Some(recipe) = recipes::find(name) else {
        let near = closest(name, RECIPES.iter().map(|r| r.name));
        let near = near.map(|near| format!("; did you mean '{near}'?"));
        let near = near.unwrap_or_else(|| "; .recipes lists them".to_owned());
        return Err(Failure::Message(format!("no recipe '{name}'{near}")));
    };
    let mut given = Vec::new();
    for value in values {
        let (key, value) = value.split_once('=').ok_or_else(usage)?;
        let key = key.strip_prefix('$').unwrap_or(key);
        given.push((key.to_owned(), value.to_owned()));
    }
    app.script(recipe.sql, &given)
}

fn format(app: &mut App, arguments: &[String]) -> Result<Flow, Failure> {
    match arguments {
        [] => {
            let format = app.file_format.or(app.format).unwrap_or(Format::Table);
            eprintln!("format is {}", format.name());
        }
        [name] => {
            let format = Format::from_str(name, true).map_err(|_| {
                let names: Vec<String> =
                    Format::value_variants().iter().map(|f| f.name()).collect();
                Failure::Message(format!(
                    "no format '{name}'; there are {}",
                    names.join(", ")
                ))
            })?;
            app.format = Some(format);
            app.file_format = None;
        }
        _ => return Err(wrong(".format [FORMAT]")),
    }
    Ok(Flow::Continue)
}

fn output(app: &mut App, arguments: &[String]) -> Result<Flow, Failure> {
    match arguments {
        [] => match &app.output {
            Output::Stdout => eprintln!("results go to standard output"),
            Output::File(file) => eprintln!("results go to {}", file.path().display()),
        },
        [name] if name == "stdout" || name == "-" => app.redirect(Output::Stdout, None)?,
        [name] => {
            let path = PathBuf::from(name);
            // Completed first: the new file may be the old one.
            app.redirect(Output::Stdout, None)?;
            let output = Output::to(&path)?;
            app.redirect(output, Format::of_file(&path))?;
        }
        _ => return Err(wrong(".output [FILE|stdout]")),
    }
    Ok(Flow::Continue)
}

fn timing(app: &mut App, arguments: &[String]) -> Result<Flow, Failure> {
    app.timing = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => !app.timing,
        ["on"] => true,
        ["off"] => false,
        _ => return Err(wrong(".timing [on|off]")),
    };
    if arguments.is_empty() {
        eprintln!("timing is {}", if app.timing { "on" } else { "off" });
    }
    Ok(Flow::Continue)
}

fn read(app: &mut App, arguments: &[String]) -> Result<Flow, Failure> {
    let [name] = arguments else {
        return Err(wrong(".read FILE"));
    };
    if app.depth >= DEEPEST {
        let text = format!("{name}: scripts read scripts more than {DEEPEST} deep");
        return Err(Failure::Message(text));
    }
    let script = read_script(name.as_ref())?;
    app.depth += 1;
    let flow = app.script(&script, &[]);
    app.depth -= 1;
    flow
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_quotes() {
        let cut = |line| words(line).unwrap();
        assert_eq!(cut("  .read  a b "), [".read", "a", "b"]);
        assert_eq!(
            cut("x 'a b' \"c''d\" k='it''s' ''"),
            ["x", "a b", "c''d", "k=it's", ""]
        );
        assert!(words("x 'a").is_err());
        assert!(cut("").is_empty());
    }
}
