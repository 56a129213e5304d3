//! The command as a process: exit statuses, standard streams, pipes, files. What is printed is
//! tested beside the printers.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn fixture(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("tests/fixtures").join(name)
}

fn shop() -> String {
    fixture("mysql-9.7-shop.000001").display().to_string()
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_binlogsql"));
    command.args(args).stdin(Stdio::null());
    command
}

/// Runs the command with these bytes on its standard input.
fn run_with(args: &[&str], stdin: &[u8]) -> Output {
    let mut child = command(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    // A command that does not read may have left before all is written.
    let _ = pipe.write_all(stdin);
    drop(pipe);
    child.wait_with_output().unwrap()
}

/// Runs the command and gives status, standard output and standard error.
fn run(args: &[&str]) -> (i32, String, String) {
    told(command(args).output().unwrap())
}

fn told(output: Output) -> (i32, String, String) {
    (
        output.status.code().unwrap(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

const COUNT: &str = "select count(*) as n from binlog";

#[test]
fn status_0_with_results_alone_on_stdout() {
    let shop = shop();
    for args in [
        vec![&shop, "--format", "csv", "-c", COUNT],
        vec!["--source", &shop_as("prod"), "--format", "csv", "-c", COUNT],
    ] {
        let (status, out, err) = run(&args);
        assert_eq!((status, out.as_str(), err.as_str()), (0, "n\n145\n", ""));
    }
    let query = format!("select count(*) as n from '{shop}'");
    let (status, out, err) = run(&["--format", "csv", "-c", &query]);
    assert_eq!((status, out.as_str(), err.as_str()), (0, "n\n145\n", ""));
}

fn shop_as(name: &str) -> String {
    format!("{name}={}", shop())
}

#[test]
fn status_1_for_a_query_or_source_that_fails() {
    let readme = fixture("MANIFEST.md").display().to_string();
    let shop = shop();
    for (args, words) in [
        (
            vec![shop.as_str(), "-c", "select tpye from binlog"],
            "did you mean 'type'?",
        ),
        (
            vec![shop.as_str(), "-c", "selct 1"],
            "syntax error at line 1, column 1",
        ),
        (
            vec![shop.as_str(), "-f", "/nonexistent.sql"],
            "no such file",
        ),
        (vec![readme.as_str(), "-c", COUNT], "not a binary log"),
        (vec!["/nonexistent.000001", "-c", COUNT], "no such file"),
    ] {
        let (status, out, err) = run(&args);
        assert_eq!((status, out.as_str()), (1, ""), "{args:?}: {err}");
        assert!(
            err.starts_with("error: ") && err.contains(words),
            "{args:?}: {err}"
        );
        assert!(
            !err.contains("DataFusion") && !err.contains("panicked"),
            "{err}"
        );
    }
}

#[test]
fn status_2_for_wrong_usage() {
    for args in [
        vec!["--no-such-flag"],
        vec!["-q", "no-such-recipe"],
        vec!["-c", "select 1", "--param", "x=1"],
        vec!["-c", "select 1", "--format", "parquet"],
        vec!["-"],
    ] {
        let (status, out, err) = run(&args);
        assert_eq!((status, out.as_str()), (2, ""), "{args:?}: {err}");
        assert!(err.starts_with("error: "), "{args:?}: {err}");
    }
}

#[test]
fn status_3_when_a_part_could_not_be_read_and_the_rest_was_delivered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.000001");
    let whole = std::fs::read(shop()).unwrap();
    std::fs::write(&path, &whole[..5000]).unwrap();
    let path = path.display().to_string();
    let (status, out, err) = run(&[&path, "--format", "csv", "-c", COUNT]);
    assert_eq!((status, out.as_str()), (3, "n\n26\n"), "{err}");
    assert!(
        err.starts_with("problem: cut.000001 @ 4912, TRUNCATED"),
        "{err}"
    );
    // Tables behind the damage are not known, and that is told.
    for sql in [".tables", "select count(*) from columns"] {
        let (status, _, err) = run(&[&path, "-c", sql]);
        assert_eq!(status, 3, "{err}");
        assert!(
            err.starts_with("problem: cut.000001 @ 4912, TRUNCATED"),
            "{err}"
        );
        let (status, _, err) = run(&[&path, "--strict", "-c", sql]);
        assert_eq!((status, err.lines().count()), (1, 1), "{err}");
    }
    // The file of -o holds what was readable.
    let file = folder.path().join("x.csv").display().to_string();
    let (status, _, _) = run(&[&path, "-o", &file, "-c", COUNT]);
    assert_eq!(status, 3);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "n\n26\n");
    // With --strict it is an error, told once, and there is no file.
    std::fs::remove_file(&file).unwrap();
    let (status, _, err) = run(&[&path, "--strict", "-o", &file, "-c", COUNT]);
    assert_eq!((status, err.lines().count()), (1, 1), "{err}");
    assert!(!Path::new(&file).exists());
}

#[test]
fn a_schema_file_names_columns_and_is_told_what_is_wrong_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let log = fixture("mariadb-11.8-shop.000002").display().to_string();
    let names = "select distinct name_source from tables where table_name = 'orders'";
    let with = |schema: &str| run(&[&log, "--schema", schema, "--format", "csv", "-c", names]);
    let script = fixture("workload/shop-1-schema.sql").display().to_string();
    assert_eq!(
        with(&script),
        (0, "name_source\nschema file\n".into(), String::new())
    );
    // What is not understood costs its table only, and is told.
    let half = "USE shop; CREATE TABLE orders (id INT, total NONSENSE); CREATE TABLE x (a INT);";
    let half = file("half.sql", half);
    let (status, out, err) = with(&half);
    assert_eq!((status, out.as_str()), (0, "name_source\nnone\n"), "{err}");
    assert!(
        err.starts_with(&format!("warning: {half}: shop.orders: ")),
        "{err}"
    );
    for (schema, words) in [
        (file("none.sql", "select 1"), "declares no table"),
        (
            file("where.sql", "CREATE TABLE t (a INT)"),
            "put USE `schema`; before",
        ),
        (log.clone(), "is a binary log, not SQL"),
        ("/nonexistent.sql".to_owned(), "no such file or directory"),
    ] {
        let (status, out, err) = with(&schema);
        assert_eq!((status, out.as_str()), (1, ""), "{err}");
        assert!(err.contains(&schema) && err.contains(words), "{err}");
        assert_eq!(err.lines().count(), 1, "{err}");
    }
    let (status, _, _) = run(&[&log, "--zero-dates", "maybe", "-c", names]);
    assert_eq!(status, 2);
}

#[test]
fn a_relation_that_is_not_there_is_told_the_one_that_was_meant() {
    let shop = shop();
    for (sql, words) in [
        ("select * from orders", "did you mean 'shop.orders'?"),
        ("select * from shop.ordrs", "did you mean 'shop.orders'?"),
        ("select totl from shop.orders", "did you mean 'total'?"),
        ("select * from chagnes", "did you mean 'changes'?"),
    ] {
        let (status, out, err) = run(&[&shop, "-c", sql]);
        assert_eq!((status, out.as_str()), (1, ""), "{err}");
        assert!(err.contains(words), "{sql}: {err}");
    }
}

#[test]
fn sql_comes_through_a_pipe_and_so_does_a_log() {
    let shop = shop();
    let args = [shop.as_str(), "--format", "csv"];
    let script = b"select 1 as a;\n.format tsv\nselect 2 as b, 3 as c";
    let (status, out, err) = told(run_with(&args, script));
    assert_eq!(
        (status, out.as_str(), err.as_str()),
        (0, "a\n1\nb\tc\n2\t3\n", "")
    );
    let log = std::fs::read(&shop).unwrap();
    let (status, out, err) = told(run_with(&["-", "--format", "csv", "-c", COUNT], &log));
    assert_eq!((status, out.as_str(), err.as_str()), (0, "n\n145\n", ""));
    let rows = "select count(*) as n from shop.orders";
    let (status, out, err) = told(run_with(&["-", "--format", "csv", "-c", rows], &log));
    assert_eq!((status, out.as_str(), err.as_str()), (0, "n\n48\n", ""));
    // A log where SQL is awaited is not run.
    let (status, _, err) = told(run_with(&["--format", "csv"], &log));
    assert_eq!(status, 1);
    assert!(err.contains("is a binary log"), "{err}");
}

#[test]
fn a_reader_that_leaves_ends_the_command_quietly() {
    for format in [
        "table", "csv", "tsv", "json", "ndjson", "markdown", "vertical",
    ] {
        let sql = "select * from generate_series(1, 100000000)";
        let mut child = command(&["--format", format, "-c", sql])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 100];
        child
            .stdout
            .as_mut()
            .unwrap()
            .read_exact(&mut first)
            .unwrap();
        drop(child.stdout.take());
        let (status, _, err) = told(child.wait_with_output().unwrap());
        assert_eq!((status, err.as_str()), (0, ""), "{format}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = command(&["-c", "select 1"]).stdout(full).output().unwrap();
    let (status, _, err) = told(output);
    assert_eq!(status, 1);
    assert_eq!(
        err,
        "error: cannot write results: no space left on device\n"
    );
}

#[cfg(unix)]
#[test]
fn an_interrupt_cancels_and_leaves_no_half_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.csv").display().to_string();
    let sql = "select * from generate_series(1, 100000000000)";
    let mut child = command(&["-o", &file, "-c", sql]).spawn().unwrap();
    // Rows in the temporary file: the query runs, and Ctrl-C is heard.
    let begun = std::time::Instant::now();
    loop {
        let mut files = std::fs::read_dir(&folder).unwrap().flatten();
        if files.any(|f| f.metadata().is_ok_and(|m| m.len() > 0)) {
            break;
        }
        assert!(begun.elapsed().as_secs() < 30, "no row was written");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let kill = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}
