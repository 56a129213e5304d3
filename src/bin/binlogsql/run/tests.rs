use super::*;
use crate::args::Args;
use crate::params::Preset;
use crate::session::tests::LOG;
use clap::Parser;

/// A log of MariaDB.
const MARIADB: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/fixtures/mariadb-11.8-shop.000001"
);

/// Runs a command line and gives what it wrote to a file of this name.
fn output_of(name: &str, args: &[&str]) -> Result<(Outcome, Vec<u8>), Failure> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let file = ["binlogsql", LOG, "-o", path.to_str().unwrap()];
    let args = Args::try_parse_from(file.iter().chain(args)).unwrap();
    let outcome = run(Config::new(args)?);
    let left: Vec<_> = std::fs::read_dir(&folder).unwrap().collect();
    match outcome {
        Ok(outcome) => {
            assert_eq!(left.len(), 1);
            Ok((outcome, std::fs::read(path).unwrap()))
        }
        Err(failure) => {
            assert!(left.is_empty(), "a failed run leaves no file");
            Err(failure)
        }
    }
}

fn text_of(name: &str, args: &[&str]) -> String {
    String::from_utf8(output_of(name, args).unwrap().1).unwrap()
}

#[test]
fn the_name_of_the_file_says_the_format() {
    let sql = "select 1 as a, 'x,y' as b";
    assert_eq!(text_of("x.csv", &["-c", sql]), "a,b\n1,\"x,y\"\n");
    assert_eq!(text_of("x.tsv", &["-c", sql]), "a\tb\n1\tx,y\n");
    assert_eq!(
        text_of("x.jsonl", &["-c", sql]),
        "{\"a\":1,\"b\":\"x,y\"}\n"
    );
    assert_eq!(
        text_of("x.csv", &["-c", sql, "--format", "ndjson"]),
        "{\"a\":1,\"b\":\"x,y\"}\n"
    );
    assert!(text_of("x.txt", &["-c", sql]).starts_with("+---+"));
}

#[test]
fn statements_and_commands_of_a_script_share_the_output() {
    let script = "select 1 as a;\n.format ndjson\nselect 2 as b;;\nselect 3 as c\\G -- the end";
    assert_eq!(
        text_of("x.csv", &["-c", script]),
        format!("a\n1\n{{\"b\":2}}\n{0} 1. row {0}\nc: 3\n", "*".repeat(27))
    );
    assert_eq!(
        text_of("x.csv", &["-c", "select 1 as a; quit;\nselect 2"]),
        "a\n1\n"
    );
    assert_eq!(
        text_of("x.csv", &["-c", "create view v as select 1"]).len(),
        0
    );
}

#[test]
fn a_failure_ends_the_run() {
    for sql in [
        "select 1; selct 2",
        "copy (select 1) to '/dev/null' stored as csv",
        "select nothing",
        ".recipe none",
        ".nothing",
    ] {
        assert!(output_of("x.csv", &["-c", sql]).is_err(), "{sql}");
    }
    let two = output_of("x.parquet", &["-c", "select 1; select 2"]);
    assert!(matches!(two, Err(Failure::Reported)));
}

#[test]
fn parquet_reads_back_equal() {
    let sql = "select * from binlog";
    let (_, bytes) = output_of("x.parquet", &["-c", sql]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    std::fs::write(&path, bytes).unwrap();
    let there = format!("select * from '{}'", path.display());
    let back = read_back(&there);
    let session = crate::session::tests::session();
    let frame = session.block_on(session.context.sql(sql)).unwrap();
    let want = session.block_on(frame.collect()).unwrap();
    let lines = |batches: &[RecordBatch]| {
        let mut out = Vec::new();
        for batch in batches {
            let mut printer = printer(Format::Csv, &batch.schema(), Layout::default());
            printer.batch(&mut out, batch).unwrap();
        }
        String::from_utf8(out).unwrap()
    };
    assert!(lines(&want).lines().count() > 100);
    assert_eq!(lines(&back), lines(&want));
}

fn read_back(sql: &str) -> Vec<RecordBatch> {
    use datafusion::prelude::SessionContext;
    let context = SessionContext::new().enable_url_table();
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { context.sql(sql).await.unwrap().collect().await.unwrap() })
}

#[test]
fn each_recipe_plans_and_runs() {
    for recipe in recipes::RECIPES {
        let mut args = vec!["-q", recipe.name, MARIADB];
        let required = [("table", "table=orders"), ("key", "key=1")];
        for param in recipe.params() {
            if param.preset == Preset::Required {
                let given = required.iter().find(|(name, _)| *name == param.name);
                args.extend(["--param", given.unwrap().1]);
            }
        }
        let text = text_of("x.csv", &args);
        assert!(text.lines().count() > 1, "{}: {text}", recipe.name);
    }
}

#[test]
fn rows_are_found_by_their_key() {
    let lines = |recipe: &str, table: &str, key: &str| {
        let (table, key) = (format!("table={table}"), format!("key={key}"));
        let text = text_of("x.csv", &["-q", recipe, "--param", &table, "--param", &key]);
        // The header, and rows: their texts have line breaks.
        text.matches("mysql-9.7-shop.000001").count()
    };
    // Both ways to write a key; one that no row has.
    assert_eq!(lines("who-deleted", "shop.carts", "2"), 1);
    assert_eq!(lines("who-deleted", "carts", r#"{"id":2}"#), 1);
    assert_eq!(lines("who-deleted", "carts", "1"), 0);
    assert_eq!(lines("who-deleted", "orders", "2"), 0);
    let key = r#"{"order_id":1,"line":1}"#;
    assert_eq!(lines("row-history", "shop.order_items", key), 1);
    assert_eq!(lines("row-history", "shop.order_items", "1"), 0);
    assert_eq!(lines("row-history", "products", "BK-00001"), 3);
}

#[test]
fn tables_of_the_log_are_listed_beside_the_relations() {
    let text = text_of("x.csv", &["-c", ".tables"]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "source,schema,relation,versions,columns,names,write"
    );
    assert!(
        lines.contains(&"log,binlog,changes,\"\",\"\",built in,changes"),
        "{text}"
    );
    assert!(
        lines.contains(&"log,shop,products,2,11,ddl,shop.products"),
        "{text}"
    );
    // A view is neither, and does not keep the tables from being listed.
    let text = text_of(
        "x.csv",
        &["-c", "create view v as select 1 as one; .tables"],
    );
    assert!(text.contains("\nlog,binlog,v,"), "{text}");
    let text = text_of(
        "x.csv",
        &["-c", "create view v as select 1 as one;\n.schema v"],
    );
    assert_eq!(text, "column,type,null\none,Int64,no\n");
}

#[test]
fn schema_tells_where_the_names_of_columns_come_from() {
    let text = text_of("x.csv", &["-c", ".schema shop.products"]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "column,type,in MySQL,null,name from,versions");
    for line in [
        "_op,Utf8,\"\",no,built in,\"\"",
        "price,\"Decimal128(9, 2)\",\"DECIMAL(9,2) UNSIGNED\",no,ddl,1-2",
        "embedding,List(Float32),VECTOR,yes,ddl,2",
        "_before,Struct of 11 columns,\"\",yes,built in,\"\"",
    ] {
        assert!(lines.contains(&line), "{line} in {text}");
    }
    // Capitals do not matter, quotes may be there.
    for name in ["Shop.PRODUCTS", "shop.\"products\"", "log.shop.products"] {
        assert_eq!(text_of("x.csv", &["-c", &format!(".schema {name}")]), text);
    }
    let all = text_of("x.csv", &["-c", ".schema"]);
    assert!(all.contains("\nchanges,key,Utf8,yes\n"), "{all}");
    assert!(!all.contains("products"), "{all}");
    let none = output_of("x.csv", &["-c", ".schema shop.product"]).unwrap_err();
    assert!(
        matches!(&none, Failure::Message(text)
            if text == "no relation 'shop.product'; did you mean 'shop.products'?"),
        "{none:?}"
    );
}

#[test]
fn parameters_reach_the_statement() {
    let all = text_of(
        "x.csv",
        &["-q", "biggest-transactions", "--param", "limit=3"],
    );
    assert_eq!(all.lines().count(), 4, "{all}");
    let sql = "select count(*) as n from binlog where type = $type and pos > $pos";
    let args = ["-c", sql, "--param", "type=XID", "--param", "pos=1000"];
    let text = text_of("x.csv", &args);
    let count: u64 = text.lines().nth(1).unwrap().parse().unwrap();
    assert!(count > 0, "{text}");
}

#[test]
fn scripts_are_read_but_not_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a b.sql");
    let read = format!(".read '{}'", path.display());
    std::fs::write(&path, "select 1 as a;").unwrap();
    assert_eq!(text_of("x.csv", &["-c", &read]), "a\n1\n");
    std::fs::write(&path, &read).unwrap();
    let error = output_of("x.csv", &["-c", &read]).unwrap_err();
    assert!(matches!(error, Failure::Message(text) if text.contains("more than 16 deep")));
}

#[test]
fn output_can_be_redirected_in_between() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner.csv");
    let script = format!(
        "select 1 as a;\n.output {}\nselect 2 as b;\n.output stdout",
        inner.display()
    );
    // The first file is completed when the second begins.
    let first = folder.path().join("first.ndjson");
    let args = ["binlogsql", "-o", first.to_str().unwrap(), "-c", &script];
    let outcome = run(Config::new(Args::parse_from(args)).unwrap());
    assert_eq!(outcome.unwrap(), Outcome { problems: false });
    assert_eq!(std::fs::read_to_string(&first).unwrap(), "{\"a\":1}\n");
    assert_eq!(std::fs::read_to_string(&inner).unwrap(), "b\n2\n");
}

#[test]
fn memory_limit_and_threads_are_kept() {
    let sorted = text_of(
        "x.csv",
        &[
            "--memory-limit",
            "64M",
            "--threads",
            "1",
            "-c",
            "select pos from binlog order by size, pos",
        ],
    );
    assert!(sorted.lines().count() > 100, "{sorted}");
}
