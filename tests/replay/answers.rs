//! What a server answered to a workload.

use super::types::Server;
use super::workload::Workload;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Number of a log, and a position in it.
pub type Position = (u32, u64);

/// What a server showed at one checkpoint.
pub struct Shown {
    pub at: Position,
    /// By id of the table: the texts of its rows.
    pub tables: HashMap<usize, Vec<Vec<String>>>,
}

pub struct Answers {
    pub checkpoints: Vec<Shown>,
    /// In order.
    pub logs: Vec<PathBuf>,
    /// Statements that were refused, most for a duplicate key.
    pub refused: usize,
}

/// Why no server can be started here; `None`: they can.
pub fn missing(server: Server) -> Option<String> {
    // What `servers.sh` does first: a namespace of mounts and processes of its own.
    let namespace = Command::new("unshare")
        .args([
            "--mount",
            "--pid",
            "--fork",
            "--kill-child",
            "--mount-proc",
            "true",
        ])
        .output();
    if !namespace.is_ok_and(|unshare| unshare.status.success()) {
        return Some("root on Linux, where unshare may make namespaces".to_owned());
    }
    if std::env::var("BINLOG_SERVERS").is_ok_and(|how| how == "install") {
        return None;
    }
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
    let cache = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(home)?;
    let tree = cache.join("binlogsql/servers").join(server.name());
    if tree.join(".complete").exists() {
        return None;
    }
    Some(format!(
        "{} (BINLOG_SERVERS=install installs it)",
        tree.display()
    ))
}

/// Runs a workload.
pub fn run(workload: &Workload, directory: &Path) -> Answers {
    std::fs::write(directory.join("script.sql"), &workload.script).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/replay/run.sh");
    let name = workload.server.name();
    let output = Command::new("bash")
        .arg(script)
        .arg(name)
        .arg(directory)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{name}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let refused = complaints(workload, directory);
    let answers = std::fs::read(directory.join("answers.tsv")).unwrap();
    let mut logs: Vec<PathBuf> = std::fs::read_dir(directory.join("logs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    logs.sort();
    let checkpoints = parse(std::str::from_utf8(&answers).unwrap());
    assert_eq!(checkpoints.len(), workload.checkpoints.len(), "{name}");
    Answers {
        checkpoints,
        logs,
        refused,
    }
}

/// Statements may meet a duplicate key; little else may go wrong.
fn complaints(workload: &Workload, directory: &Path) -> usize {
    let complaints = std::fs::read(directory.join("complaints.txt")).unwrap();
    let complaints = String::from_utf8_lossy(&complaints);
    let statements: Vec<&str> = workload.script.lines().collect();
    let mut refused = 0;
    let mut unexpected = Vec::new();
    // MariaDB's client repeats the statement in between.
    for line in complaints.lines().filter(|line| line.starts_with("ERROR ")) {
        let code = line
            .strip_prefix("ERROR ")
            .and_then(|rest| rest.split(' ').next());
        // 4025: MariaDB's own JSON functions made what it does not take as JSON.
        if matches!(code, Some("1062" | "1586" | "4025")) {
            refused += 1;
            continue;
        }
        let number = line
            .split("at line ")
            .nth(1)
            .and_then(|rest| rest.split(':').next());
        let number: Option<usize> = number.and_then(|n| n.parse().ok());
        let statement = number.and_then(|n| statements.get(n - 1)).unwrap_or(&"");
        unexpected.push(format!(
            "{line}\n    {}",
            statement.chars().take(1500).collect::<String>()
        ));
    }
    assert!(
        unexpected.is_empty(),
        "{} refused {} statements:\n{}",
        workload.server.name(),
        unexpected.len(),
        unexpected
            .iter()
            .take(10)
            .cloned()
            .collect::<Vec<_>>()
            .join("\n")
    );
    refused
}

fn parse(answers: &str) -> Vec<Shown> {
    let mut checkpoints: Vec<Shown> = Vec::new();
    let mut table = 0;
    let mut lines = answers.lines();
    while let Some(line) = lines.next() {
        let mut fields = line.split('\t');
        match fields.next() {
            Some("#C") => {
                let mut status = lines.next().unwrap().split('\t');
                let log = status.next().unwrap().rsplit('.').next().unwrap();
                let at = (
                    log.parse().unwrap(),
                    status.next().unwrap().parse().unwrap(),
                );
                checkpoints.push(Shown {
                    at,
                    tables: HashMap::new(),
                });
            }
            Some("#T") => {
                table = fields.next().unwrap().parse().unwrap();
                checkpoints
                    .last_mut()
                    .unwrap()
                    .tables
                    .insert(table, Vec::new());
            }
            Some("#R") => {
                let row = fields.map(str::to_owned).collect();
                checkpoints
                    .last_mut()
                    .unwrap()
                    .tables
                    .get_mut(&table)
                    .unwrap()
                    .push(row);
            }
            _ => panic!("an answer to nothing: {line}"),
        }
    }
    checkpoints
}
