//! ALTER TABLE.

use super::*;

/// What is left of a table of the columns `a`, `b` and `c`, with the key `a`.
fn altered(parts: &str) -> Result<String, String> {
    let table = table("CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(3), c DATE)");
    let sql = format!("ALTER TABLE t {parts}");
    let specs = match parse(&sql, &session()) {
        Ok(Statement::AlterTable { specs, .. }) => specs,
        Ok(other) => panic!("{other:?}"),
        Err(error) => return Err(error.message),
    };
    match table.altered(&specs, Charset::Unknown) {
        Ok(table) => {
            let key = table.hint(NameSource::Ddl).primary_key;
            let key: Vec<_> = key
                .iter()
                .map(|&(n, _)| table.columns[n].name.clone())
                .collect();
            Ok(format!(
                "{}; key {}",
                columns(&table).join(", "),
                key.join(",")
            ))
        }
        Err(misfit) => Err(format!("{misfit:?}")),
    }
}

#[test]
fn alter_table() {
    const SAME: &str = "a Int !, b VarChar latin1, c Date; key a";
    for (parts, want) in [
        (
            "ADD d INT UNSIGNED",
            "a Int !, b VarChar latin1, c Date, d Int u; key a",
        ),
        (
            "ADD COLUMN d INT FIRST, ADD e INT AFTER a",
            "d Int, a Int !, e Int, b VarChar latin1, c Date; key a",
        ),
        (
            "ADD (d INT, KEY (d), e INT)",
            "a Int !, b VarChar latin1, c Date, d Int, e Int; key a",
        ),
        (
            "ADD d INT, ADD e INT AFTER d, ADD f INT AFTER d",
            "a Int !, b VarChar latin1, c Date, d Int, f Int, e Int; key a",
        ),
        (
            "ADD IF NOT EXISTS a DATE, ADD COLUMN IF NOT EXISTS d INT",
            "a Int !, b VarChar latin1, c Date, d Int; key a",
        ),
        ("DROP b", "a Int !, c Date; key a"),
        (
            "DROP COLUMN IF EXISTS x, DROP COLUMN a CASCADE",
            "b VarChar latin1, c Date; key ",
        ),
        (
            "DROP a, ADD a DATE",
            "b VarChar latin1, c Date, a Date; key ",
        ),
        (
            "CHANGE a b INT, CHANGE b a DATE",
            "b Int !, a Date, c Date; key b",
        ),
        (
            "CHANGE A x INT FIRST, MODIFY c TEXT CHARSET utf8mb4 AFTER x",
            "x Int !, c Text(2) utf8mb4, b VarChar latin1; key x",
        ),
        // The column to stand behind is where it was, though it moves later.
        (
            "MODIFY a INT AFTER c, MODIFY c DATE FIRST",
            "c Date, b VarChar latin1, a Int !; key a",
        ),
        (
            "MODIFY COLUMN IF EXISTS x INT, MODIFY c INT NOT NULL",
            "a Int !, b VarChar latin1, c Int !; key a",
        ),
        (
            "RENAME COLUMN a TO b, RENAME COLUMN b TO a",
            "b Int !, a VarChar latin1, c Date; key b",
        ),
        (
            "ALTER b SET INVISIBLE, ALTER COLUMN c SET DEFAULT '2000-01-01'",
            "a Int !, b VarChar latin1 -, c Date; key a",
        ),
        (
            "DROP PRIMARY KEY, ADD CONSTRAINT k PRIMARY KEY USING HASH (c, b(2))",
            "a Int !, b VarChar latin1 !, c Date !; key c,b",
        ),
        (
            "DROP INDEX `PRIMARY`",
            "a Int !, b VarChar latin1, c Date; key ",
        ),
        (
            "CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
            "a Int !, b VarChar utf8mb4, c Date; key a",
        ),
        (
            "CONVERT TO CHARSET binary",
            "a Int !, b VarBinary binary, c Date; key a",
        ),
        (
            "ADD d TEXT, DEFAULT CHARACTER SET = ucs2",
            "a Int !, b VarChar latin1, c Date, d Text(2) ucs2; key a",
        ),
        (
            "COLLATE utf8mb4_bin, ADD d TEXT",
            "a Int !, b VarChar latin1, c Date, d Text(2) utf8mb4; key a",
        ),
        (
            "ADD d INT PARTITION BY HASH (a) PARTITIONS 3",
            "a Int !, b VarChar latin1, c Date, d Int; key a",
        ),
        (
            "ORDER BY a, b DESC, c, ADD d INT",
            "a Int !, b VarChar latin1, c Date, d Int; key a",
        ),
        (
            "ADD SYSTEM VERSIONING",
            "a Int !, b VarChar latin1, c Date, row_start Timestamp(6) ! -, row_end Timestamp(6) ! -; key a",
        ),
        (
            "ENGINE=InnoDB, ROW_FORMAT DYNAMIC COMMENT='x' KEY_BLOCK_SIZE=8, ALGORITHM INPLACE, LOCK=NONE",
            SAME,
        ),
        (
            "ADD INDEX (a), ADD UNIQUE KEY x (b), ADD FULLTEXT (b), DROP INDEX y, DROP FOREIGN KEY z",
            SAME,
        ),
        (
            "ADD CONSTRAINT f FOREIGN KEY (a) REFERENCES p (a) ON DELETE CASCADE, DROP CONSTRAINT IF EXISTS g",
            SAME,
        ),
        (
            "ADD CHECK (a > 0), DROP CHECK c, ALTER CHECK c NOT ENFORCED, ALTER INDEX i INVISIBLE",
            SAME,
        ),
        (
            "RENAME INDEX i TO j, RENAME KEY k TO l, FORCE, DISABLE KEYS",
            SAME,
        ),
        ("DROP PARTITION p0, p1", SAME),
        (
            "REORGANIZE PARTITION p0 INTO (PARTITION n0 VALUES LESS THAN (1), PARTITION n1 VALUES IN (2))",
            SAME,
        ),
        (
            "ADD PARTITION (PARTITION p VALUES LESS THAN MAXVALUE)",
            SAME,
        ),
        (
            "AUTO_INCREMENT 7, STATS_PERSISTENT=1, DISCARD TABLESPACE",
            SAME,
        ),
        ("NOWAIT ENGINE InnoDB", SAME),
    ] {
        assert_eq!(altered(parts).as_deref(), Ok(want), "{parts}");
    }
}

#[test]
fn alter_table_that_does_not_fit() {
    for parts in [
        "ADD b INT",
        "DROP x",
        "CHANGE x b INT",
        "RENAME COLUMN x TO c",
        "ADD a INT, DROP x",
    ] {
        assert_eq!(altered(parts), Err("Done".to_owned()), "{parts}");
    }
    for parts in [
        "ADD d INT, DROP x",
        "MODIFY x INT",
        "CHANGE x y INT",
        "ADD d INT AFTER x",
        "CHANGE a c INT",
        "ALTER x SET INVISIBLE",
        "DROP a, MODIFY a INT",
    ] {
        let why = altered(parts).unwrap_err();
        assert!(why.starts_with("Conflict("), "{parts}: {why}");
    }
    for parts in [
        "FROBNICATE",
        "ADD",
        "ADD d",
        "CHANGE a",
        "CONVERT TO utf8",
        "'x'",
        "ALTER a FLIP DEFAULT",
    ] {
        assert!(!altered(parts).unwrap_err().contains("Conflict"), "{parts}");
    }
}
