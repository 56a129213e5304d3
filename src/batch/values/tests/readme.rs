//! The README's table of types comes from the code.

use super::*;
use crate::binlog::types::{TYPES, code};
use std::collections::BTreeSet;
use std::fmt::Write;

const BEGIN: &str = "<!-- types:begin -->\n";
const END: &str = "<!-- types:end -->";

/// A column, as SQL and as a table map have it.
struct Sample {
    sql: &'static str,
    code: u8,
    metadata: &'static str,
    /// Optional metadata.
    optional: &'static str,
    declared: Option<DeclaredType>,
    note: &'static str,
}

fn sample(sql: &'static str, code: u8, metadata: &'static str) -> Sample {
    Sample {
        sql,
        code,
        metadata,
        optional: "",
        declared: None,
        note: "",
    }
}

impl Sample {
    fn with(self, optional: &'static str) -> Self {
        Self { optional, ..self }
    }

    fn declared(self, ty: DeclaredType) -> Self {
        Self {
            declared: Some(ty),
            ..self
        }
    }

    fn note(self, note: &'static str) -> Self {
        Self { note, ..self }
    }

    fn field(&self, options: &TypeOptions) -> Field {
        let map = table(&[self.code], &bytes(self.metadata), &bytes(self.optional));
        match self.declared {
            Some(ty) => {
                let plan = declared(self.code, self.metadata, ty, &["a"]);
                field_of(&plan.columns()[0], options)
            }
            None => field_of(&map.plan().unwrap().columns()[0], options),
        }
    }
}

fn samples() -> Vec<Sample> {
    let labels = "06 03 01 01 61";
    let set_labels = "05 03 01 01 61";
    let signedness = "where nothing tells the sign: signed, with a warning where it matters";
    let zero = "zero and partial dates: null, or all of the column as text";
    let charset =
        "from the column's character set; `\\xNN`, with a warning, for bytes that are no character";
    let unknown = "the same as text, where neither the log nor a declaration tells what it is";
    let label = "where labels are known: all of them in the dictionary, '' for 0";
    vec![
        sample("TINYINT", 1, "").with(SIGNED).note(signedness),
        sample("TINYINT UNSIGNED", 1, "").with(UNSIGNED),
        sample("SMALLINT", 2, "").with(SIGNED),
        sample("SMALLINT UNSIGNED", 2, "").with(UNSIGNED),
        sample("MEDIUMINT", 9, "").with(SIGNED),
        sample("MEDIUMINT UNSIGNED", 9, "").with(UNSIGNED),
        sample("INT", 3, "").with(SIGNED),
        sample("INT UNSIGNED", 3, "").with(UNSIGNED),
        sample("BIGINT", 8, "").with(SIGNED),
        sample("BIGINT UNSIGNED", 8, "").with(UNSIGNED),
        sample("DECIMAL(10,2)", 246, "0a 02").note("up to 38 digits"),
        sample("DECIMAL(65,30)", 246, "41 1e").note("39 digits and more"),
        sample("FLOAT", 4, "04"),
        sample("DOUBLE", 5, "08"),
        sample("BIT(n)", 16, "00 08").note("as a number"),
        sample("YEAR", 13, "").note("0000 is 0"),
        sample("DATE", 10, "").note(zero),
        sample("DATETIME(n)", 18, "06").note("no zone; dates as of DATE"),
        sample("TIMESTAMP(n)", 17, "06").note("dates as of DATE"),
        sample("TIME(n)", 19, "06").note("-838:59:59 to 838:59:59"),
        sample("CHAR, VARCHAR", 15, "10 00")
            .with(UTF8MB4)
            .note(charset),
        sample("TEXT of every size", 252, "02")
            .with(UTF8MB4)
            .note("as VARCHAR"),
        sample("BINARY", 254, "fe 10")
            .with(BINARY)
            .note("with the zeros at its end, which no log has"),
        sample("VARBINARY", 15, "10 00").with(BINARY),
        sample("BLOB of every size", 252, "02").with(BINARY),
        sample("CHAR or BINARY, TEXT or BLOB, …", 252, "02").note(unknown),
        sample("… COMPRESSED", 140, "02").note("MariaDB; as the uncompressed type"),
        sample("ENUM", 254, "f7 01").with(labels).note(label),
        sample("ENUM without labels", 254, "f7 01").note("the number of the label"),
        sample("SET", 254, "f8 01")
            .with(set_labels)
            .note("`a,b`, where labels are known"),
        sample("SET without labels", 254, "f8 01").note("bit n for label n"),
        sample("JSON", 245, "04")
            .note("as the server prints it; partial updates applied to the value before"),
        sample("JSON of MariaDB", 252, "04")
            .declared(DeclaredType::Json)
            .note("where it is declared; else as TEXT"),
        sample("GEOMETRY and its subtypes", 255, "04")
            .note("WKB; the SRID, which differs by value, is in `before` and `after` of `changes`"),
        sample("VECTOR", 242, "04").note("of MariaDB where it is declared; else as VARBINARY"),
        sample("UUID", 254, "fe 10")
            .declared(DeclaredType::Uuid)
            .note("MariaDB, where it is declared; else as BINARY(16)"),
        sample("INET4", 254, "fe 04")
            .declared(DeclaredType::Inet4)
            .note("the same"),
        sample("INET6", 254, "fe 10")
            .declared(DeclaredType::Inet6)
            .note("the same"),
    ]
}

/// Types that are the same as one of the table, or that no row has.
const NOT_SHOWN: &[(u8, &str)] = &[
    (0, "DECIMAL of MySQL 4 has no length in the log"),
    (6, "NULL has no values"),
    (7, "TIMESTAMP before MySQL 5.6"),
    (11, "TIME before MySQL 5.6"),
    (12, "DATETIME before MySQL 5.6"),
    (14, "DATE in memory"),
    (code::TYPED_ARRAY, "is in no row"),
    (code::VARCHAR_COMPRESSED, "as 140"),
    (243, "INVALID is written by no server"),
    (244, "BOOL is written by no server"),
    (code::ENUM, "inside 254"),
    (code::SET, "inside 254"),
    (249, "TINYBLOB is written as 252"),
    (250, "MEDIUMBLOB is written as 252"),
    (251, "LONGBLOB is written as 252"),
    (code::VAR_STRING, "VARCHAR before MySQL 5.0"),
];

/// An Arrow type in few words.
fn name(field: &Field) -> String {
    let name = field.data_type().to_string().replace('"', "");
    match field.metadata().get(EXTENSION_NAME) {
        Some(extension) => format!("{name}, `{extension}`"),
        None => name,
    }
}

fn type_table() -> String {
    let mut text = "| MySQL, MariaDB | Arrow | note |\n|---|---|---|\n".to_owned();
    for sample in samples() {
        let field = sample.field(&NULL_DATES);
        writeln!(
            text,
            "| {} | {} | {} |",
            sample.sql,
            name(&field),
            sample.note
        )
        .unwrap();
    }
    text.replace("|  |", "| |")
}

#[test]
fn the_readme_lists_every_type() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let readme = std::fs::read_to_string(path).unwrap();
    let (_, behind) = readme
        .split_once(BEGIN)
        .expect("README.md has a line <!-- types:begin -->");
    let (found, _) = behind
        .split_once(END)
        .expect("types:end behind types:begin");
    let wanted = type_table();
    assert!(
        found.trim() == wanted.trim(),
        "between types:begin and types:end README.md should say\n\n{wanted}"
    );
}

#[test]
fn the_table_has_every_type_of_a_table_map() {
    let mut codes: BTreeSet<u8> = samples().iter().map(|sample| sample.code).collect();
    codes.extend(NOT_SHOWN.iter().map(|(code, _)| *code));
    let known: BTreeSet<u8> = TYPES.iter().flatten().map(|def| def.code).collect();
    assert_eq!(codes, known);
}

#[test]
fn every_type_has_one_definition_that_claims_it() {
    for sample in samples() {
        let map = table(&[sample.code], &bytes(sample.metadata), &[]);
        let column = &map.plan().unwrap().columns()[0];
        let claims = DEFS.iter().copied().flatten();
        let claims = claims.filter(|def| (def.claims)(column)).count();
        assert_eq!(claims, 1, "{}", sample.sql);
    }
}

#[test]
fn zero_dates_as_text_change_only_dates() {
    for sample in samples() {
        let (null, text) = (sample.field(&NULL_DATES), sample.field(&TEXT_DATES));
        if matches!(sample.code, 10 | 17 | 18) {
            assert_eq!(*text.data_type(), DataType::Utf8View);
        } else {
            assert_eq!(null, text);
        }
    }
}
