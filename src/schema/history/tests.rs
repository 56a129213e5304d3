//! Folding statements, with and without a schema file.

use super::*;
use crate::binlog::types::code;

const INT: ColumnType = ty(3, 0);
const BIGINT: ColumnType = ty(8, 0);
const DATE: ColumnType = ty(10, 0);

const fn ty(code: u8, meta: u16) -> ColumnType {
    ColumnType {
        code,
        meta,
        element: None,
    }
}

fn at(pos: u64) -> Place {
    Place {
        pos,
        ..Place::default()
    }
}

/// Statements at the places 10, 20, 30 …, and why tables lost their names.
fn history(file: Option<&str>, statements: &[&str]) -> (History, Vec<String>) {
    let file = file.map(|text| SchemaFile::parse(text, Some("s")).unwrap());
    let mut builder = History::builder(file.as_ref());
    let mut messages = Vec::new();
    for (statement, n) in statements.iter().zip(1..) {
        messages.extend(builder.statement(at(n * 10), "s", statement));
    }
    (builder.finish(), messages)
}

/// The names of a table's columns at a place, if it has columns of these types.
fn names_of(history: &History, table: &str, pos: u64, types: &[ColumnType]) -> Option<String> {
    let hint = history.hint("s", table, at(pos), types)?;
    let names: Vec<_> = hint
        .columns
        .iter()
        .map(|column| column.name.as_str())
        .collect();
    Some(names.join(" "))
}

/// The names at the places 5, 15, 25 … of a table of so many INT columns, or `-`.
fn course(history: &History, table: &str, columns: &[usize]) -> Vec<String> {
    let places = columns.iter().zip(0..);
    let name = |(&n, place): (&usize, u64)| names_of(history, table, place * 10 + 5, &vec![INT; n]);
    places
        .map(|pair| name(pair).unwrap_or_else(|| "-".to_owned()))
        .collect()
}

#[test]
fn names_count_from_their_statement_on() {
    let (history, messages) = history(
        None,
        &[
            "CREATE TABLE t (a INT)",
            "ALTER TABLE t ADD b INT FIRST",
            "ALTER TABLE t RENAME COLUMN a TO c",
            "DROP TABLE t",
            "CREATE TABLE t (x INT)",
            "TRUNCATE TABLE t",
        ],
    );
    assert_eq!(messages, Vec::<String>::new());
    assert_eq!(
        course(&history, "t", &[1, 1, 2, 2, 2, 1, 1]),
        ["-", "a", "b a", "b c", "-", "x", "x"]
    );
    // The statement itself is not behind itself.
    assert_eq!(names_of(&history, "t", 10, &[INT]), None);
    assert_eq!(names_of(&history, "t", 11, &[INT]).as_deref(), Some("a"));
    // What does not fit gets no names; any case of the name does where there is no other.
    assert_eq!(names_of(&history, "t", 15, &[BIGINT]), None);
    assert_eq!(names_of(&history, "T", 15, &[INT]).as_deref(), Some("a"));
    assert!(history.hint("other", "t", at(15), &[INT]).is_none());
    let first = history.hint("s", "t", at(15), &[INT]).unwrap();
    assert!(Arc::ptr_eq(
        &first,
        &history.hint("s", "t", at(16), &[INT]).unwrap()
    ));
    assert_eq!(first.source, NameSource::Ddl);
}

#[test]
fn names_in_other_cases_are_not_mixed_up() {
    let (history, _) = history(None, &["CREATE TABLE t (a INT)", "CREATE TABLE T (b INT)"]);
    assert_eq!(names_of(&history, "t", 25, &[INT]).as_deref(), Some("a"));
    assert_eq!(names_of(&history, "T", 25, &[INT]).as_deref(), Some("b"));
    assert!(history.hint("S", "t", at(25), &[INT]).is_some());
}

#[test]
fn renamed_and_swapped() {
    let (history, messages) = history(
        None,
        &[
            "CREATE TABLE a (one INT)",
            "CREATE TABLE b (two INT)",
            "RENAME TABLE a TO t, b TO a, t TO b",
            "ALTER TABLE a RENAME TO other.a, ADD x INT",
            "RENAME TABLE b TO c, unknown TO b",
        ],
    );
    assert_eq!(messages, Vec::<String>::new());
    assert_eq!(
        course(&history, "a", &[1, 1, 1, 1, 1]),
        ["-", "one", "one", "two", "-"]
    );
    assert_eq!(
        course(&history, "b", &[1, 1, 1, 1, 1, 1]),
        ["-", "-", "two", "one", "one", "-"]
    );
    assert_eq!(names_of(&history, "c", 55, &[INT]).as_deref(), Some("one"));
    let moved = history.hint("other", "a", at(45), &[INT, INT]).unwrap();
    assert_eq!(moved.columns[1].name, "x");
}

#[test]
fn like_and_if_not_exists_and_databases() {
    let (history, messages) = history(
        None,
        &[
            "CREATE DATABASE s CHARACTER SET koi8r",
            "CREATE TABLE t (a INT, b CHAR(2))",
            "CREATE TABLE IF NOT EXISTS t (x INT)",
            "CREATE TABLE l LIKE t",
            "ALTER DATABASE CHARSET utf8mb4",
            "CREATE TABLE u (c CHAR(2))",
            "CREATE TEMPORARY TABLE t (y INT)",
            "DROP TEMPORARY TABLE t",
            "DROP DATABASE s",
        ],
    );
    assert_eq!(messages, Vec::<String>::new());
    let types = [INT, ty(code::STRING, 2)];
    for (table, pos) in [("t", 25), ("t", 35), ("l", 45), ("t", 75), ("t", 85)] {
        let hint = history.hint("s", table, at(pos), &types);
        assert_eq!(
            hint.unwrap().columns[1].collation,
            Some(7),
            "{table} at {pos}"
        );
    }
    let hint = history
        .hint("s", "u", at(65), &[ty(code::STRING, 8)])
        .unwrap();
    assert_eq!(hint.columns[0].collation, Some(45));
    assert!(
        history
            .hint("s", "u", at(65), &[ty(code::STRING, 2)])
            .is_none()
    );
    assert!(history.hint("s", "t", at(95), &types).is_none());
}

#[test]
fn what_is_not_understood_costs_its_table_only() {
    let (history, messages) = history(
        None,
        &[
            "CREATE TABLE t (a INT)",
            "CREATE TABLE u (a INT)",
            "ALTER TABLE t FROBNICATE",
            "ALTER TABLE t ADD b INT",
            "CREATE TABLE IF NOT EXISTS t (wrong INT)",
            "CREATE OR REPLACE TABLE t (c INT)",
            "CREATE TABLE v AS SELECT 1",
            "CREATE TABLE w LIKE unknown",
        ],
    );
    assert_eq!(messages.len(), 3, "{messages:#?}");
    assert!(
        messages[0].starts_with("s.t: \"FROBNICATE\""),
        "{messages:#?}"
    );
    assert_eq!(
        messages[2],
        "s.w: it is like s.unknown, which is not known; \
         its columns are not known from here on, but from its table maps"
    );
    assert_eq!(
        course(&history, "t", &[1, 1, 1, 1, 2, 1, 1]),
        ["-", "a", "a", "-", "-", "-", "c"]
    );
    assert_eq!(names_of(&history, "u", 85, &[INT]).as_deref(), Some("a"));
}

#[test]
fn a_statement_without_a_readable_table_costs_all_of_them() {
    let (history, messages) = history(
        None,
        &[
            "CREATE TABLE t (a INT)",
            "RENAME TABLE t TO",
            "CREATE TABLE u (b INT)",
        ],
    );
    assert_eq!(messages.len(), 1, "{messages:#?}");
    assert_eq!(course(&history, "t", &[1, 1, 1, 1]), ["-", "a", "-", "-"]);
    assert_eq!(course(&history, "u", &[1, 1, 1, 1]), ["-", "-", "-", "b"]);
}

#[test]
fn a_temporary_table_of_the_same_name() {
    let (history, messages) = history(
        None,
        &[
            "CREATE TABLE t (a INT)",
            "CREATE TEMPORARY TABLE t (x INT)",
            "ALTER TABLE t ADD y INT",
        ],
    );
    assert_eq!(messages.len(), 1, "{messages:#?}");
    assert_eq!(course(&history, "t", &[1, 1, 1, 1]), ["-", "a", "a", "-"]);
    assert_eq!(names_of(&history, "t", 35, &[INT, INT]), None);
}

#[test]
fn the_statements_of_one_place_count_together() {
    let inner = |payload_index| Place {
        file: 1,
        pos: 4,
        payload_index,
    };
    let mut builder = History::builder(None);
    builder.statement(inner(Some(1)), "s", "CREATE TABLE t (a INT)");
    builder.statement(inner(Some(3)), "s", "ALTER TABLE t ADD b INT");
    let history = builder.finish();
    let columns = |at| [1, 2].map(|n| history.hint("s", "t", at, &vec![INT; n]).is_some());
    assert_eq!(columns(inner(None)), [false, false]);
    assert_eq!(columns(inner(Some(1))), [false, false]);
    assert_eq!(columns(inner(Some(2))), [true, false]);
    assert_eq!(columns(inner(Some(4))), [false, true]);
    assert_eq!(
        columns(Place {
            file: 2,
            ..Place::default()
        }),
        [false, true]
    );
}

#[test]
fn a_schema_file_from_before_the_log() {
    let file = "CREATE TABLE t (a INT); CREATE TABLE gone (x INT);";
    let (history, messages) = history(
        Some(file),
        &[
            "ALTER TABLE t ADD b INT",
            "RENAME TABLE t TO u",
            "DROP TABLE gone",
            "CREATE TABLE t (c INT)",
        ],
    );
    assert_eq!(messages, Vec::<String>::new());
    assert_eq!(
        course(&history, "t", &[1, 2, 2, 1, 1]),
        ["a", "a b", "-", "-", "c"]
    );
    assert_eq!(
        course(&history, "u", &[2, 2, 2, 2, 2]),
        ["-", "-", "a b", "a b", "a b"]
    );
    assert_eq!(
        course(&history, "gone", &[1, 1, 1, 1]),
        ["x", "x", "x", "-"]
    );
    let source = |table, pos, n| {
        history
            .hint("s", table, at(pos), &vec![INT; n])
            .unwrap()
            .source
    };
    assert_eq!(source("u", 25, 2), NameSource::SchemaFile);
    assert_eq!(source("t", 45, 1), NameSource::Ddl);
}

/// A file that has what a statement does is from after it, and says nothing of what was before, be
/// it as fitting as it may.
#[test]
fn a_schema_file_from_within_or_after_the_log() {
    let file = "CREATE TABLE t (a INT, b INT)";
    let (history, messages) = history(
        Some(file),
        &[
            "ALTER TABLE t MODIFY a INT",
            "ALTER TABLE t ADD b INT",
            "ALTER TABLE t RENAME COLUMN old TO a",
            "ALTER TABLE t DROP COLUMN dropped",
            "ALTER TABLE t ADD c INT",
            "ALTER TABLE t ADD d INT, ADD b INT",
            "ALTER TABLE t ADD e INT",
        ],
    );
    assert_eq!(
        course(&history, "t", &[2, 2, 2, 2, 2, 3, 3, 4]),
        ["-", "-", "-", "-", "a b", "a b c", "-", "-"]
    );
    assert_eq!(
        messages,
        [
            "s.t: ALTER TABLE does not fit: half of it is done already; \
             its columns are not known from here on, but from its table maps"
        ]
    );
}

#[test]
fn a_schema_file_from_after_a_table_was_made_or_renamed() {
    let file = "CREATE TABLE t (a INT); CREATE TABLE u (b INT); CREATE TABLE n (c INT);";
    let (history, messages) = history(
        Some(file),
        &[
            "CREATE TABLE t (a INT)",
            "RENAME TABLE v TO u",
            "RENAME TABLE n TO old, n_new TO n",
        ],
    );
    assert_eq!(messages, Vec::<String>::new());
    assert_eq!(course(&history, "t", &[1, 1, 1, 1]), ["-", "a", "a", "a"]);
    assert_eq!(course(&history, "u", &[1, 1, 1, 1]), ["-", "-", "b", "b"]);
    // Whether `n` is the old one or the new one, nothing tells.
    assert_eq!(course(&history, "n", &[1, 1, 1, 1]), ["c", "c", "c", "-"]);
}

/// An online change of a table: a copy is changed and then takes its place.
#[test]
fn an_online_change() {
    let log = [
        "CREATE TABLE _t_new LIKE t",
        "ALTER TABLE _t_new CHANGE a z INT",
        "RENAME TABLE t TO _t_old, _t_new TO t",
        "DROP TABLE _t_old",
    ];
    let (before, messages) = history(Some("CREATE TABLE t (a INT)"), &log);
    assert_eq!(messages, Vec::<String>::new());
    assert_eq!(course(&before, "t", &[1; 5]), ["a", "a", "a", "z", "z"]);
    assert_eq!(course(&before, "_t_new", &[1; 4]), ["-", "a", "z", "-"]);

    let (after, messages) = history(Some("CREATE TABLE t (z INT)"), &log);
    assert_eq!(messages, Vec::<String>::new());
    assert_eq!(course(&after, "t", &[1; 5]), ["-", "-", "-", "z", "z"]);
    assert_eq!(course(&after, "_t_new", &[1; 4]), ["-", "-", "z", "-"]);
}

#[test]
fn dumps() {
    let text = "-- MySQL dump 10.13\n--\n-- Host: localhost    Database: shop\n\
        /*!40101 SET @saved_cs_client = @@character_set_client */;\n\
        CREATE TABLE `t` (`a` int NOT NULL, `d` date, PRIMARY KEY (`a`)) ENGINE=InnoDB;\n\
        INSERT INTO `t` VALUES (1,'CREATE TABLE x (y INT);');\n\
        /*!50001 CREATE TABLE `v` (`a` tinyint NOT NULL) ENGINE=MyISAM */;\n\
        DELIMITER ;;\n/*!50003 CREATE*/ /*!50003 TRIGGER x BEFORE INSERT ON t FOR EACH ROW BEGIN\n\
        CREATE TABLE no1 (a INT); END */;;\nDELIMITER ;\n\
        /*!50001 DROP TABLE IF EXISTS `v`*/;\n/*!50001 CREATE VIEW `v` AS select 1 */;\n\
        CREATE TABLE odd (a HYPERINT);\n\
        USE `other`;\nCREATE TABLE `t` (`b` int);\nALTER TABLE t ADD c INT;\n";
    let file = SchemaFile::parse(text, None).unwrap();
    let names: Vec<_> = file.table_names().map(ToString::to_string).collect();
    assert_eq!(names, ["other.t", "shop.t"]);
    assert_eq!(file.problems().len(), 1, "{:?}", file.problems());
    assert!(
        file.problems()[0].starts_with("shop.odd: data type HYPERINT of column a is not known")
    );
    let history = History::builder(Some(&file)).finish();
    let hint = history.hint("shop", "t", at(4), &[INT, DATE]).unwrap();
    assert_eq!(
        (hint.source, &hint.primary_key),
        (NameSource::SchemaFile, &vec![(0, None)])
    );
    assert!(history.hint("other", "t", at(4), &[INT, INT]).is_some());

    let given = SchemaFile::parse(text, Some("mine")).unwrap();
    assert_eq!(given.table_names().next().unwrap().schema, "mine");
    let error = SchemaFile::parse("CREATE TABLE t (a INT)", None).unwrap_err();
    assert!(error.to_string().contains("USE `schema`"), "{error}");
    let error = SchemaFile::parse("CREATE TABLE t (a HYPERINT)", Some("s")).unwrap_err();
    assert!(error.to_string().contains("HYPERINT"), "{error}");
    assert!(SchemaFile::parse("", Some("s")).is_err());
}
