//! Every command of README.md runs, and prints what stands there.
//!
//! A block marked `sh` holds one command; a block marked `text` right behind it is what it prints,
//! standard output first, then standard error. `BLESS=1 cargo test --test sql readme` writes the
//! blocks anew.

use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Held by who reads the README to write it anew.
pub static WRITING: Mutex<()> = Mutex::new(());

/// A `sh` block and the `text` block behind it, as ranges of lines of the README.
struct Example {
    command: String,
    output: Option<std::ops::Range<usize>>,
}

fn examples(lines: &[&str]) -> Vec<Example> {
    let mut found = Vec::new();
    let mut at = 0;
    let end_of = |from: usize| from + lines[from..].iter().position(|l| *l == "```").unwrap();
    while at < lines.len() {
        if lines[at] != "```sh" {
            at += 1;
            continue;
        }
        let end = end_of(at + 1);
        let command = lines[at + 1..end].join("\n");
        at = end + 1;
        let mut output = None;
        if lines.get(at) == Some(&"```text") {
            let end = end_of(at + 1);
            output = Some(at + 1..end);
            at = end + 1;
        }
        found.push(Example { command, output });
    }
    found
}

/// Runs a command of the README in `folder`, where `tests` is the project's.
fn run(command: &str, folder: &Path) -> (String, bool) {
    let binary = Path::new(env!("CARGO_BIN_EXE_binlogsql"));
    let path = format!(
        "{}:{}",
        binary.parent().unwrap().display(),
        std::env::var("PATH").unwrap()
    );
    let command = command.replace("cargo run -- ", "binlogsql ");
    let output = Command::new("sh")
        .arg("-c")
        .arg(&command)
        .current_dir(folder)
        .env("PATH", path)
        .env("XDG_STATE_HOME", folder)
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let mut text = String::from_utf8(output.stdout).unwrap();
    text.push_str(&String::from_utf8(output.stderr).unwrap());
    (text, matches!(output.status.code(), Some(0 | 3)))
}

#[test]
fn every_command_prints_what_the_readme_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = root.join("README.md");
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let text = std::fs::read_to_string(&readme).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(root.join("tests"), folder.path().join("tests")).unwrap();
    let bless = std::env::var_os("BLESS").is_some();
    let mut blessed = lines.clone();
    let mut outputs = Vec::new();
    let mut wrong = Vec::new();
    let mut ran = 0;
    for example in examples(&lines) {
        // These are what runs this test, or needs the network.
        if example.command == "cargo test" || example.command.starts_with("cargo install") {
            continue;
        }
        let (output, fine) = run(&example.command, folder.path());
        ran += 1;
        let Some(range) = example.output else {
            if !fine {
                wrong.push(format!("$ {}\nfails:\n{output}", example.command));
            }
            continue;
        };
        let want = lines[range.clone()].join("\n");
        if output.trim_end() != want.trim_end() {
            wrong.push(format!(
                "$ {}\nprints:\n{output}\nbut the README says:\n{want}",
                example.command
            ));
        }
        outputs.push((range, output));
    }
    if bless {
        for (range, output) in outputs.iter().rev() {
            blessed.splice(range.clone(), output.trim_end().lines());
        }
        std::fs::write(&readme, blessed.join("\n") + "\n").unwrap();
        return;
    }
    assert!(ran >= 10, "only {ran} commands found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
