//! The rows of every public log: as many as its manifest counts, and each table whole.

use crate::relations::read_tables;
use crate::support::{cells, number, query, session};
use datafusion::prelude::SessionContext;
use datafusion_binlog::BinlogOptions;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A log of the corpus, as its manifest tells of it.
pub struct Log {
    pub name: String,
    pub path: PathBuf,
    fields: BTreeMap<String, String>,
}

impl Log {
    /// What the manifest says.
    pub fn field(&self, name: &str) -> &str {
        &self.fields[name]
    }

    /// The text that a server's own tool printed of its rows, and whether it got to its end.
    pub fn oracle(&self, of: &str) -> Option<(Vec<u8>, bool)> {
        let code = match of {
            "my97" => "mysql9.7_vv_rc",
            _ => "maria10.11_vv_rc",
        };
        let folder = self.path.ancestors().find(|a| a.join("oracle").is_dir())?;
        let stem = folder.join(format!("oracle/{}.{of}.txt", &self.field("sha256")[..16]));
        let text = match std::fs::read(&stem) {
            Ok(text) => text,
            Err(_) => {
                let packed = std::fs::read(format!("{}.gz", stem.display())).ok()?;
                let mut text = Vec::new();
                let mut decoder = flate2::read::MultiGzDecoder::new(packed.as_slice());
                std::io::Read::read_to_end(&mut decoder, &mut text).unwrap();
                text
            }
        };
        Some((text, self.field(code) == "0"))
    }

    /// A session over it.
    pub async fn open(&self) -> SessionContext {
        session(
            &[&self.path.display().to_string()],
            BinlogOptions::default(),
        )
        .await
    }
}

/// The logs of the corpus; `None` where there is none.
pub fn logs() -> Option<Vec<Log>> {
    let Some(corpus) = std::env::var_os("BINLOG_CORPUS").map(PathBuf::from) else {
        eprintln!("SKIPPED: BINLOG_CORPUS is not set, so the public logs are not read");
        return None;
    };
    let manifest = std::fs::read_to_string(corpus.join("MANIFEST.tsv")).unwrap();
    let mut lines = manifest.lines();
    let header: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let log = |line: &str| {
        let values = line.split('\t').map(str::to_owned);
        let names = header.iter().map(|&name| name.to_owned());
        let fields: BTreeMap<String, String> = names.zip(values).collect();
        let name = fields["file"].clone();
        Log {
            path: corpus.join(&name),
            name,
            fields,
        }
    };
    Some(lines.map(log).collect())
}

/// The one log whose name ends so.
pub fn log(name: &str) -> Option<Log> {
    let mut found: Vec<Log> = logs()?
        .into_iter()
        .filter(|log| log.name.ends_with(name))
        .collect();
    assert_eq!(found.len(), 1, "{name}");
    found.pop()
}

/// The fresh logs, which the vendors' own tools cannot read: paths by name.
pub fn fresh() -> Option<BTreeMap<String, String>> {
    let corpus = std::env::var_os("BINLOG_CORPUS").map(PathBuf::from);
    let Some(corpus) = corpus else {
        eprintln!("SKIPPED: BINLOG_CORPUS is not set, so the fresh logs are not read");
        return None;
    };
    let entries = std::fs::read_dir(corpus.join("fresh")).unwrap();
    let entries = entries.map(|entry| entry.unwrap().path());
    let named = entries.map(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, path.display().to_string())
    });
    Some(named.collect())
}

/// The whole-file encryption of MySQL: there is nothing to read.
fn is_encrypted(log: &Log) -> bool {
    std::fs::read(&log.path).unwrap().starts_with(b"\xfdbin")
}

/// Rows inserted, updated and deleted.
async fn counts(ctx: &SessionContext) -> [u64; 3] {
    let sql = "select op, count(*) from changes group by op";
    let mut counts = [0; 3];
    for row in cells(&query(ctx, sql).await) {
        let ops = ["INSERT", "UPDATE", "DELETE"];
        let at = ops.iter().position(|op| *op == row[0]).unwrap();
        counts[at] = row[1].parse().unwrap();
    }
    counts
}

#[tokio::test]
async fn rows_of_every_file_are_those_of_the_manifest() {
    let Some(logs) = logs() else { return };
    let (mut compared, mut total) = (0, [0; 3]);
    let mut failures = Vec::new();
    for log in &logs {
        let (mysql, mariadb) = ("mysql9.7_vv_rc", "maria10.11_vv_rc");
        let wanted = match (log.field(mysql), log.field(mariadb)) {
            ("0", _) => log.field("rows_ins/upd/del_mysql97"),
            (_, "0") => log.field("rows_ins/upd/del_maria"),
            _ => continue,
        };
        if is_encrypted(log) {
            continue;
        }
        let found = counts(&log.open().await).await;
        let shown = format!("{}/{}/{}", found[0], found[1], found[2]);
        if shown != wanted {
            failures.push(format!("{}: {shown}, not {wanted}", log.name));
        }
        compared += 1;
        (0..3).for_each(|n| total[n] += found[n]);
    }
    println!("{compared} logs; rows inserted, updated, deleted: {total:?}");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(compared > 140, "{compared}");
}

/// What no tool could read to its end, and what fails its checksums: each says what is wrong.
#[tokio::test]
async fn a_file_that_is_not_whole_tells_of_it() {
    let Some(logs) = logs() else { return };
    let mut told = 0;
    for log in &logs {
        let refused = ["mysql9.7_vv_rc", "maria10.11_vv_rc"].map(|rc| log.field(rc) != "0");
        let bad = log.field("crc_ok/bad").ends_with("/0");
        if (refused != [true, true] && bad) || log.name.ends_with("bug40482-bin.000001") {
            continue;
        }
        if is_encrypted(log) {
            let path = log.path.display().to_string();
            let other = crate::support::fixture("mysql-9.7-nochecksum.000001");
            let ctx = session(&[&path, &other], BinlogOptions::default()).await;
            assert!(number(&ctx, "select count(*) from changes").await > 5);
            let sql = "select count(*) from problems where kind = 'ENCRYPTED'";
            assert_eq!(number(&ctx, sql).await, 1, "{}", log.name);
        } else {
            let ctx = log.open().await;
            let problems = number(&ctx, "select count(*) from problems").await;
            assert!(problems > 0, "{}", log.name);
        }
        told += 1;
    }
    assert!(told >= 10, "{told}");
}

#[tokio::test]
async fn every_table_of_every_file_can_be_read_whole() {
    let Some(logs) = logs() else { return };
    let (mut tables, mut rows, mut slowest) = (0, 0, (std::time::Duration::ZERO, ""));
    for log in &logs {
        if is_encrypted(log) {
            continue;
        }
        let start = std::time::Instant::now();
        let read = read_tables(&log.open().await, &log.name).await;
        (tables, rows) = (tables + read.0, rows + read.1);
        let took = start.elapsed();
        if took > slowest.0 {
            slowest = (took, &log.name);
        }
    }
    println!("{tables} tables, {rows} rows; slowest: {slowest:?}");
    assert!(
        tables > 200 && rows > 60_000,
        "{tables} tables, {rows} rows"
    );
}

/// EXPECTED.md §2.
#[tokio::test]
async fn sakila() {
    let Some(log) = log("mysql-bin.sakila.gz") else {
        return;
    };
    let ctx = log.open().await;
    let sql = "select op, count(*) from changes where schema_name = 'sakila' group by op";
    assert_eq!(
        cells(&query(&ctx, sql).await),
        [["INSERT".to_owned(), "47273".to_owned()]]
    );
    for (table, rows) in [
        ("actor", 200),
        ("address", 603),
        ("category", 16),
        ("city", 600),
        ("country", 109),
        ("customer", 599),
        ("film", 1000),
        ("film_actor", 5462),
        ("film_category", 1000),
        ("film_text", 1000),
        ("inventory", 4581),
        ("language", 6),
        ("payment", 16049),
        ("rental", 16044),
        ("staff", 2),
        ("store", 2),
    ] {
        let sql = format!("select count(*) from sakila.{table}");
        assert_eq!(number(&ctx, &sql).await, rows, "{table}");
    }
    // Published facts of the database: its films and what was paid for them.
    let sql = "select sum(amount), min(amount), max(amount) from sakila.payment";
    assert_eq!(
        cells(&query(&ctx, sql).await),
        [["67416.51".to_owned(), "0.00".to_owned(), "11.99".to_owned()]]
    );
    let sql = "select title, release_year, rental_rate, length, rating, special_features \
               from sakila.film where film_id = 1";
    assert_eq!(
        cells(&query(&ctx, sql).await)[0],
        [
            "ACADEMY DINOSAUR",
            "2006",
            "0.99",
            "86",
            "PG",
            "Deleted Scenes,Behind the Scenes"
        ]
    );
}

/// EXPECTED.md §1: each cell as the project's table has it.
#[tokio::test]
async fn the_matrix_of_decimals() {
    let Some(log) = log("tcb-eval002c-bin.003320") else {
        return;
    };
    let expected = log
        .path
        .ancestors()
        .find(|a| a.join("EXPECTED.md").is_file());
    let expected = std::fs::read_to_string(expected.unwrap().join("EXPECTED.md")).unwrap();
    let wanted: Vec<Vec<&str>> = expected
        .lines()
        .skip_while(|line| !line.starts_with("## 1."))
        .skip(3)
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let ctx = log.open().await;
    let found = query(
        &ctx,
        "select * from test.decodedecimal order by _pos, _row_index",
    )
    .await;
    let first = found[0].schema().index_of("_missing").unwrap() + 1;
    let found = cells(&found);
    assert_eq!((found.len(), wanted.len()), (17, 17));
    let mut compared = 0;
    for (found, wanted) in found.iter().zip(&wanted) {
        for (found, wanted) in found[first..].iter().zip(wanted) {
            assert_eq!(found, wanted, "row {}", wanted[0..1].len());
            compared += 1;
        }
    }
    assert_eq!(compared, 17 * 14);
}

/// Each row is what the statement beside it in the log wrote, no more and no less.
#[tokio::test]
async fn the_fresh_logs() {
    let Some(fresh) = fresh() else { return };
    assert_eq!(fresh.len(), 4);
    let rows = async |name: &str, sql: &str| {
        let (_, path) = fresh.iter().find(|(file, _)| file.contains(name)).unwrap();
        let options = BinlogOptions::default();
        let ctx = session(&[path], options.clone()).await;
        let lines = crate::support::lines(&ctx, sql).await;
        assert_eq!(options.problem_log().counts().0, 0, "{name}");
        assert_eq!(
            number(&ctx, "select count(*) from problems").await,
            0,
            "{name}"
        );
        lines
    };
    let all = "select schema_name || '.' || table_name, op, key, before, after, changed from changes \
               order by pos, payload_index, row_index";

    // Cascades, XA, savepoints, an invisible key.
    assert_eq!(
        rows("gipk", all).await,
        [
            r#"t.p|INSERT|{"id":1}|NULL|{"id":1}|NULL"#,
            r#"t.p|INSERT|{"id":2}|NULL|{"id":2}|NULL"#,
            r#"t.c|INSERT|{"id":10}|NULL|{"id":10,"pid":1}|NULL"#,
            r#"t.c|INSERT|{"id":11}|NULL|{"id":11,"pid":1}|NULL"#,
            r#"t.c|INSERT|{"id":20}|NULL|{"id":20,"pid":2}|NULL"#,
            r#"t.c|DELETE|{"id":10}|{"id":10,"pid":1}|NULL|NULL"#,
            r#"t.c|DELETE|{"id":11}|{"id":11,"pid":1}|NULL|NULL"#,
            r#"t.p|DELETE|{"id":1}|{"id":1}|NULL|NULL"#,
            r#"t.p|INSERT|{"id":77}|NULL|{"id":77}|NULL"#,
            r#"t.p|INSERT|{"id":88}|NULL|{"id":88}|NULL"#,
            r#"t.nokey|INSERT|NULL|NULL|{"a":1,"b":1}|NULL"#,
            r#"t.nokey|INSERT|NULL|NULL|{"a":1,"b":1}|NULL"#,
            r#"t.gipk|INSERT|{"my_row_id":1}|NULL|{"my_row_id":1,"a":5}|NULL"#,
        ]
    );

    // Every kind of type; a partial update of JSON; images MINIMAL; a column dropped and one added.
    let point = "0101000000000000000000f03f0000000000000040";
    let packed = "base64:type255:AAAAAAEBAAAAAAAAAAAA8D8AAAAAAAAAQA==";
    let row = |a: u8| {
        format!(
            r#"{{"id":1,"y":0,"e":"é","s":"x,z","l":"café","g":"{packed}","v":[1,2.5,3],"u":4000000000,"gen":2,"inv":5,"zt":"0000-00-00 00:00:00","j":{{"a": {a}, "b": [1, 2], "dec": 1.0}}}}"#
        )
    };
    let nulls = r#""e":null,"s":null,"l":null,"g":null,"v":null,"u":null"#;
    let behind = r#""inv":5,"zt":null,"j":null"#;
    assert_eq!(
        rows("partialjson", all).await,
        [
            format!(r#"t.f|INSERT|{{"id":1}}|NULL|{}|NULL"#, row(1)),
            format!(r#"t.f|UPDATE|{{"id":1}}|{}|{}|[j]"#, row(1), row(2)),
            r#"t.f|UPDATE|{"id":1}|{"id":1}|{"id":1,"u":5}|[u]"#.to_owned(),
            format!(
                r#"t.f|INSERT|{{"id":2}}|NULL|{{"id":2,"y":2024,{nulls},"gen":3,{behind}}}|NULL"#
            ),
            format!(
                r#"t.f|INSERT|{{"id":3}}|NULL|{{"id":3,"y":2025,{nulls},"gen":4,{behind}}}|NULL"#
            ),
            format!(
                r#"t.f|INSERT|{{"id":4}}|NULL|{{"z":44,"id":4,{nulls},"gen":5,{behind}}}|NULL"#
            ),
        ]
    );
    let typed =
        "select _op, id, y, z, e, s, l, encode(g, 'hex'), v, u, gen, inv, zt, j, _missing from t.f";
    let document = |a: u8| format!(r#"{{"a": {a}, "b": [1, 2], "dec": 1.0}}"#);
    let first = |op, a| {
        let document = document(a);
        format!(
            "{op}|1|0|NULL|é|x,z|café|{point}|[1.0, 2.5, 3.0]|4000000000|2|5|NULL|{document}|[]"
        )
    };
    let null = "NULL|NULL|NULL|NULL|NULL";
    assert_eq!(
        rows("partialjson", typed).await,
        [
            first("INSERT", 1),
            first("UPDATE", 2),
            format!(
                "UPDATE|1|NULL|NULL|{null}|5|NULL|NULL|NULL|NULL|[y, e, s, l, g, v, gen, inv, zt, j]"
            ),
            format!("INSERT|2|2024|NULL|{null}|NULL|3|5|NULL|NULL|[]"),
            format!("INSERT|3|2025|NULL|{null}|NULL|4|5|NULL|NULL|[]"),
            format!("INSERT|4|NULL|44|{null}|NULL|5|5|NULL|NULL|[]"),
        ]
    );

    // VECTOR and JSON inside a payload, tables of two schemas in one transaction.
    let row = |a: u8| {
        let document = document(a);
        format!(r#"{{"id":1,"v":[1,2.5,3],"j":{document},"u":4000000000,"d":"0000-00-00"}}"#)
    };
    assert_eq!(
        rows("multidb", all).await,
        [
            format!(r#"t.v|INSERT|{{"id":1}}|NULL|{}|NULL"#, row(1)),
            format!(r#"t.v|UPDATE|{{"id":1}}|{}|{}|[j]"#, row(1), row(2)),
            r#"t.v|INSERT|{"id":10}|NULL|{"id":10,"v":null,"j":null,"u":null,"d":null}|NULL"#
                .to_owned(),
            r#"t2.x|INSERT|{"a":1}|NULL|{"a":1}|NULL"#.to_owned(),
        ]
    );

    // MariaDB: compressed events and columns. What is a UUID or an address is not in this log.
    let typed = "select _op, id, cust, amt, _before['amt'], st, length(note), length(c), encode(u, 'hex'), \
                 encode(ip, 'hex'), j, y, encode(g, 'hex'), _changed from t.o";
    let (note, c) = (180, 300);
    let row = |op, amount, before, changed| {
        format!(
            "{op}|1|4000000000|{amount}|{before}|paid|{note}|{c}|123e4567e89b12d3a456426614174000|\
             00000000000000000000000000000001|{{\"a\":1}}|0|{point}|{changed}"
        )
    };
    assert_eq!(
        rows("mariadb1011", typed).await,
        [
            row("INSERT", "1.50", "NULL", "NULL"),
            row("UPDATE", "9.00", "1.50", "[amt]"),
            row("DELETE", "9.00", "9.00", "NULL"),
        ]
    );
}
