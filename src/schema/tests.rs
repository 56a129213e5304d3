//! Statements, one construct after the other. What real servers make of them is in
//! `tests/core/schema.rs`.

use super::*;
use crate::binlog::charset::charset_of;
use crate::binlog::event::Flavor;
use crate::binlog::row::NameSource;

mod alter;
mod hostile;

fn session() -> Session<'static> {
    Session {
        schema: "s",
        flavor: Flavor::MariaDb,
        ..Session::default()
    }
}

fn read(sql: &str) -> Statement {
    parse(sql, &session()).unwrap_or_else(|error| panic!("{sql}: {error}"))
}

fn error(sql: &str) -> String {
    let error = parse(sql, &session()).expect_err(sql);
    let table = error.table.map(|table| table.to_string());
    format!("{}: {}", table.unwrap_or_default(), error.message)
}

/// A table in a schema of latin1.
fn table(sql: &str) -> TableDecl {
    match read(sql) {
        Statement::CreateTable { mut table, .. } => {
            table.inherit(Charset::named("latin1"));
            table
        }
        other => panic!("{sql}: {other:?}"),
    }
}

/// The columns in short: `name TYPE charset`, `u` unsigned, `!` NOT NULL, `-` invisible.
fn columns(table: &TableDecl) -> Vec<String> {
    let hint = table.hint(NameSource::Ddl);
    let column = |column: &crate::binlog::row::ColumnHint| {
        let mut text = format!("{} {:?}", column.name, column.ty);
        let charset = column.collation.and_then(charset_of);
        text += &charset.map_or(String::new(), |charset| format!(" {}", charset.name));
        for (on, mark) in [
            (column.unsigned, " u"),
            (!column.nullable, " !"),
            (!column.visible, " -"),
        ] {
            text += if on { mark } else { "" };
        }
        if !column.labels.is_empty() {
            text += &format!(" {:?}", column.labels);
        }
        text
    };
    hint.columns.iter().map(column).collect()
}

fn one(definition: &str) -> String {
    let table = table(&format!("CREATE TABLE t (x {definition})"));
    let columns = columns(&table);
    assert_eq!(columns.len(), 1, "{definition}");
    columns[0].strip_prefix("x ").unwrap().to_owned()
}

#[test]
fn types_and_their_synonyms() {
    for (definition, want) in [
        ("INT", "Int"),
        ("int(11) unsigned zerofill", "Int u"),
        ("INTEGER SIGNED", "Int"),
        ("INT1", "TinyInt"),
        ("bool", "TinyInt"),
        ("INT2 ZEROFILL", "SmallInt u"),
        ("MIDDLEINT", "MediumInt"),
        ("INT8", "BigInt"),
        ("SERIAL", "BigInt u !"),
        ("BIGINT SERIAL DEFAULT VALUE", "BigInt !"),
        ("DECIMAL", "Decimal { precision: 10, scale: 0 }"),
        ("DEC(5)", "Decimal { precision: 5, scale: 0 }"),
        (
            "NUMERIC(65, 30) UNSIGNED",
            "Decimal { precision: 65, scale: 30 } u",
        ),
        ("FLOAT(24)", "Float"),
        ("FLOAT(25)", "Double"),
        ("FLOAT(30,4)", "Float"),
        ("DOUBLE PRECISION", "Double"),
        ("REAL(5,1)", "Double"),
        ("BIT", "Bit { len: 1 }"),
        ("BIT(64) DEFAULT b'101'", "Bit { len: 64 }"),
        ("YEAR(4)", "Year u"),
        ("TIME", "Time(0)"),
        (
            "DATETIME(6) DEFAULT NOW(6) ON UPDATE NOW(6) NOT NULL",
            "DateTime(6) !",
        ),
        ("TIMESTAMP(3) NULL DEFAULT NULL", "Timestamp(3)"),
        ("CHAR", "Char latin1"),
        ("CHAR(3) CHARACTER SET binary", "Binary binary"),
        ("CHAR(3) BYTE", "Binary binary"),
        ("CHAR(3) ASCII BINARY", "Char latin1"),
        ("CHAR(3) BINARY CHARSET utf8", "Char utf8mb3"),
        ("CHAR(3) UNICODE", "Char ucs2"),
        (
            "CHARACTER VARYING(3) COLLATE utf8mb4_0900_ai_ci",
            "VarChar utf8mb4",
        ),
        ("NATIONAL CHARACTER VARYING(3)", "VarChar utf8mb3"),
        ("NCHAR(3)", "Char utf8mb3"),
        ("NVARCHAR(3)", "VarChar utf8mb3"),
        (
            "VARCHAR(3) CHARACTER SET utf8mb4 COLLATE uca1400_ai_ci",
            "VarChar utf8mb4",
        ),
        ("VARCHAR(30) COMPRESSED=zlib", "VarChar latin1"),
        ("TEXT", "Text(2) latin1"),
        ("TEXT(5)", "Text(0) latin1"),
        ("TEXT CHARACTER SET binary", "Blob(2) binary"),
        ("LONG VARCHAR", "Text(3) latin1"),
        ("LONG VARBINARY", "Blob(3) binary"),
        ("LONG NOT NULL", "Text(3) latin1 !"),
        ("TINYBLOB", "Blob(1) binary"),
        ("VARBINARY(4)", "VarBinary binary"),
        ("JSON DEFAULT (json_array(1, ')'))", "Json utf8mb4"),
        ("POINT NOT NULL SRID 4326", "Geometry !"),
        ("VECTOR(3)", "Vector"),
        ("UUID DEFAULT uuid()", "Uuid"),
        ("INET4", "Inet4"),
        ("INET6", "Inet6"),
    ] {
        assert_eq!(one(definition), want, "{definition}");
    }
}

#[test]
fn labels() {
    for (definition, want) in [
        ("ENUM('a','b')", r#"Enum latin1 ["a", "b"]"#),
        (
            r"ENUM('it''s', 'a\'b', 'x\\', 'n\n')",
            r#"Enum latin1 ["it's", "a'b", "x\\", "n\n"]"#,
        ),
        (r"ENUM('\f\a', '\%')", r#"Enum latin1 ["fa", "\\%"]"#),
        (
            r#"ENUM("d""q", 'with ) and , in it')"#,
            r#"Enum latin1 ["d\"q", "with ) and , in it"]"#,
        ),
        ("SET('cut   ', ' kept')", r#"Set latin1 ["cut", " kept"]"#),
        (
            "ENUM('as it is ') CHARACTER SET binary",
            r#"Enum binary ["as it is "]"#,
        ),
        (
            "SET(N'x', _utf8'y') CHARSET koi8r",
            r#"Set koi8r ["x", "y"]"#,
        ),
        ("ENUM('') NOT NULL DEFAULT ''", r#"Enum latin1 ! [""]"#),
    ] {
        assert_eq!(one(definition), want, "{definition}");
    }
    assert!(error("CREATE TABLE t (x ENUM(x'41'))").starts_with("s.t: "));
}

#[test]
fn what_is_said_of_a_column() {
    for (definition, want) in [
        ("INT DEFAULT -1.5e-3 NOT NULL", "Int !"),
        ("INT DEFAULT .5 COMMENT 'NOT NULL'", "Int"),
        ("INT DEFAULT (1 + (2)) INVISIBLE", "Int -"),
        ("INT /*!80023 INVISIBLE */", "Int -"),
        ("INT /* NOT NULL */ -- NOT NULL\n # NOT NULL\n", "Int"),
        (
            "INT DEFAULT CASE WHEN 1 THEN CASE 1 WHEN 1 THEN 2 END END NOT NULL",
            "Int !",
        ),
        ("INT DEFAULT NEXT VALUE FOR `s`.`q` NOT NULL", "Int !"),
        ("INT GENERATED ALWAYS AS (a + 1) STORED NOT NULL", "Int !"),
        ("INT AS (concat(')', a)) PERSISTENT", "Int"),
        (
            "INT REFERENCES p (a, b) MATCH FULL ON DELETE SET NULL ON UPDATE NO ACTION NOT NULL",
            "Int !",
        ),
        ("INT CONSTRAINT c CHECK (x > 0) NOT ENFORCED", "Int"),
        ("INT UNIQUE KEY COMMENT 'a, b'", "Int"),
        ("INT PRIMARY KEY", "Int !"),
        ("INT KEY", "Int !"),
        (
            "INT COLUMN_FORMAT FIXED STORAGE DISK ENGINE_ATTRIBUTE = '{}' NOT NULL",
            "Int !",
        ),
        ("INT `my option`=yes NOT NULL", "Int !"),
        ("VARCHAR(3) DEFAULT 'a' 'b' NOT NULL", "VarChar latin1 !"),
        (
            "VARCHAR(3) DEFAULT _utf8mb4'a' COLLATE utf8mb4_bin",
            "VarChar utf8mb4",
        ),
        ("DATE DEFAULT DATE '2000-01-01' NOT NULL", "Date !"),
    ] {
        assert_eq!(one(definition), want, "{definition}");
    }
    for definition in [
        "INT WHATEVER",
        "HYPERINT",
        "",
        "INT )",
        "INT DEFAULT (1",
        "BIT(999)",
        "TIME(9)",
    ] {
        let sql = format!("CREATE TABLE t (x {definition})");
        assert!(error(&sql).starts_with("s.t: "), "{sql}");
    }
}

#[test]
fn whole_tables() {
    let sql = "/*!40101 CREATE */ TABLE IF NOT EXISTS `a``b`.\"c\" (
        id INT, `key` CHAR(2), first DATE, period INT, `check` INT,
        PRIMARY KEY USING BTREE (`KEY`(1) DESC, id), UNIQUE KEY u (first), INDEX ((id + 1)),
        FULLTEXT KEY f (`key`) WITH PARSER ngram, CONSTRAINT FOREIGN KEY (id) REFERENCES p (id),
        CONSTRAINT c CHECK (id IN (1, 2)), VECTOR INDEX (v), PERIOD FOR p (a, b)
      ) ENGINE=InnoDB AUTO_INCREMENT=3 DEFAULT CHARSET = utf8mb3 COLLATE=utf8mb3_bin
      COMMENT='CHARSET=x' UNION=(a, b) PARTITION BY HASH (id) PARTITIONS 2;";
    let Statement::CreateTable {
        name,
        table,
        if_not_exists,
        ..
    } = read(sql)
    else {
        panic!();
    };
    assert_eq!((name.schema.as_str(), name.table.as_str()), ("a`b", "c"));
    assert!(if_not_exists);
    let mut table = table;
    table.inherit(Charset::Unknown);
    assert_eq!(
        columns(&table),
        [
            "id Int !",
            "key Char utf8mb3 !",
            "first Date",
            "period Int",
            "check Int"
        ]
    );
    let hint = table.hint(NameSource::Ddl);
    assert_eq!(hint.primary_key, [(1, Some(1)), (0, None)]);

    for (sql, why) in [
        (
            "CREATE TABLE t AS SELECT 1",
            "s.t: \"AS\" stands where ( is expected",
        ),
        (
            "CREATE TABLE t (a INT) SELECT 1",
            "s.t: some of its columns come from a query",
        ),
        (
            "CREATE TABLE t (a INT) ENGINE=x AS (SELECT 1)",
            "s.t: some of its columns come from a query",
        ),
        (
            "CREATE TABLE t (SELECT 1)",
            "s.t: its columns come from a query",
        ),
        (
            "CREATE TABLE t (a INT, A INT)",
            "s.t: two columns are named A",
        ),
        (
            "CREATE TABLE t (a INT",
            "s.t: the statement ends where ) is expected",
        ),
        (
            "CREATE TABLE t (a INT COMMENT 'x",
            "s.t: a string or comment does not end",
        ),
        (
            "CREATE TABLE t (a INT) /* x",
            "s.t: a string or comment does not end",
        ),
    ] {
        assert_eq!(error(sql), why, "{sql}");
    }
}

#[test]
fn statements_that_matter_and_those_that_do_not() {
    for sql in [
        "BEGIN",
        "COMMIT",
        "",
        ";",
        "INSERT INTO t VALUES ('CREATE TABLE t (a INT)')",
        "SET @x = 1",
        "/* CREATE */ INSERT INTO t VALUES (1)",
        "-- CREATE TABLE t (a INT)",
    ] {
        assert!(!may_be_ddl(sql), "{sql}");
    }
    for sql in [
        "create table",
        "/* x */ALTER x",
        " DROP",
        "/*!50001 RENAME */",
        "SET STATEMENT a=1 FOR DROP",
    ] {
        assert!(may_be_ddl(sql), "{sql}");
    }
    for sql in [
        "CREATE VIEW v AS SELECT 1",
        "CREATE DEFINER=`a`@`b` TRIGGER t BEFORE INSERT ON x FOR EACH ROW SET @a = 1",
        "CREATE UNIQUE INDEX i ON t (a)",
        "DROP INDEX i ON t",
        "DROP VIEW v",
        "DROP USER x",
        "RENAME USER a TO b",
        "ALTER USER x IDENTIFIED BY 'y'",
        "ALTER EVENT e DISABLE",
        "CREATE TABLESPACE ts ADD DATAFILE 'x'",
    ] {
        assert_eq!(read(sql), Statement::Other, "{sql}");
    }
    // To MySQL it is a comment, to MariaDB code.
    let maria = "CREATE TABLE t (a INT, /*M! b INT, */ c INT)";
    assert_eq!(columns(&table(maria)), ["a Int", "b Int", "c Int"]);
    let Ok(Statement::CreateTable { table, .. }) = parse(maria, &Session::default()) else {
        panic!();
    };
    assert_eq!(columns(&table), ["a Int", "c Int"]);
}

#[test]
fn sql_modes() {
    let ansi = Session {
        sql_mode: 1 | 1 << 2 | 1 << 20,
        ..session()
    };
    let sql = r#"CREATE TABLE "t""" ("a\" REAL, b ENUM('x\','y'))"#;
    let Ok(Statement::CreateTable { name, table, .. }) = parse(sql, &ansi) else {
        panic!();
    };
    assert_eq!(name.table, "t\"");
    assert_eq!(columns(&table), [r#"a\ Float"#, r#"b Enum ["x\\", "y"]"#]);
}
