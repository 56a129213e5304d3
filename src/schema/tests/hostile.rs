//! Statements that no server would take.

use super::*;
use proptest::prelude::*;
use std::time::{Duration, Instant};

/// Statements that are long in one way each are read in a time that grows with their length.
#[test]
fn long_statements() {
    let n = 100_000;
    let statements = [
        format!(
            "CREATE TABLE t (a INT DEFAULT {}{})",
            "(".repeat(n),
            ")".repeat(n)
        ),
        format!("CREATE TABLE t (a INT DEFAULT {}", "(".repeat(n)),
        format!("CREATE TABLE t (a ENUM({}'x'))", "'x',".repeat(n)),
        format!("CREATE TABLE t ({}z INT)", "a INT, ".repeat(n)),
        format!("CREATE TABLE t (a INT {})", "NOT NULL ".repeat(n)),
        format!("CREATE TABLE t (a INT) {}", "CHARSET=utf8 ".repeat(n)),
        format!("ALTER TABLE t {}FORCE", "ADD a INT AFTER b, ".repeat(n)),
        format!("ALTER TABLE t {}FORCE", "MODIFY a INT FIRST, ".repeat(n)),
        format!("DROP TABLE {}z", "a,".repeat(n)),
        format!("RENAME TABLE {}z TO y", "a TO b,".repeat(n)),
        format!("{}CREATE TABLE t (a INT)", "/* x */".repeat(n)),
        format!("{}CREATE TABLE t (a INT)", "/*!50000 */".repeat(n)),
        format!("CREATE TABLE t (a INT) {}", "/*".repeat(n)),
        format!("CREATE TABLE t (a INT DEFAULT {} 1)", "CASE ".repeat(n)),
        format!("SET STATEMENT {} FOR DROP TABLE t", "a=1,".repeat(n)),
    ];
    for sql in statements {
        let begin = Instant::now();
        let mut tables = tables::Tables::new(NameSource::Ddl);
        let known = read("CREATE TABLE t (a INT, b INT)");
        assert_eq!(tables.apply(known, &session()), None);
        match parse(&sql, &session()) {
            Ok(statement) => drop(tables.apply(statement, &session())),
            Err(error) => drop(tables.lose(&error)),
        }
        // It is less than two; a time that grows with the square of the length is hours.
        assert!(begin.elapsed() < Duration::from_secs(30), "{}", &sql[..60]);
    }
}

proptest! {
    #[test]
    fn any_text(text in ".{0,60}") {
        for sql in [text.clone(), format!("CREATE TABLE t ({text}"), format!("ALTER TABLE t {text}")] {
            let _ = parse(&sql, &session());
        }
        let _ = SchemaFile::parse(&text, Some("s"));
    }

    /// Words of the grammar in any order: nothing panics, and nothing is read for ever.
    #[test]
    fn any_words(words in prop::collection::vec(prop::sample::select(WORDS), 0..40)) {
        let text = words.join(" ");
        let mut builder = History::builder(None);
        builder.statement(Place::default(), "s", "CREATE TABLE t (a INT, b TEXT)");
        for sql in [text.clone(), format!("CREATE TABLE t ({text}"), format!("ALTER TABLE t {text}")] {
            builder.statement(Place { pos: 4, ..Place::default() }, "s", &sql);
        }
        let _ = SchemaFile::parse(&text, Some("s"));
    }
}

#[rustfmt::skip]
const WORDS: &[&str] = &[
    "CREATE", "TABLE", "t", "`a`", "(", ")", ",", ";", "INT", "ENUM", "'x'", "\"y\"", "=", ".", "1", "DEFAULT",
    "CHARSET", "COLLATE", "utf8", "ADD", "DROP", "CHANGE", "MODIFY", "COLUMN", "a", "b", "FIRST", "AFTER", "RENAME",
    "TO", "PRIMARY", "KEY", "UNIQUE", "NOT", "NULL", "IF", "EXISTS", "LIKE", "CASE", "END", "AS", "SELECT", "ON",
    "UPDATE", "/*", "*/", "/*!", "--", "#", "'", "`", "\\", "PARTITION", "CONVERT", "CHARACTER", "SET", "ORDER", "BY",
    "DELIMITER", "USE", "DATABASE", "WITH", "SYSTEM", "VERSIONING", "GENERATED", "REFERENCES", "CHECK", "TEXT", "-",
    "\n",
];
