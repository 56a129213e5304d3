//! Relations of rows written as Parquet and read again: by DataFusion, and by readers that share no
//! code with it.

use crate::corpus;
use crate::forge;
use crate::logs;
use crate::parquet::{canonical, check_seen, copy, empty, python};
use crate::support::{cells, over, query, rows, session, value};
use arrow::datatypes::DataType;
use datafusion::prelude::{ParquetReadOptions, SessionContext};
use datafusion_binlog::BinlogOptions;
use std::path::{Path, PathBuf};

/// Fixtures, and what is written of them: every type that they have.
const SOURCES: &[(&str, &[&str])] = &[
    (
        "mysql-9.7-shop.00000?",
        &[
            "changes",
            "tables",
            "columns",
            "shop.orders",
            "shop.customers",
            "shop.products",
            "shop.order_items",
            "shop.best_customers",
        ],
    ),
    (
        "mariadb-11.8-shop.00000?",
        &["shop.customers", "shop.products", "shop.invoice_numbers"],
    ),
    ("mysql-9.7-payload.000001", &["changes", "shop.readings"]),
];

/// What is written of the source, in the order of the log.
fn whole(relation: &str) -> String {
    let order = match relation {
        "tables" => " order by table_name, version",
        "columns" => " order by table_name, version, ordinal_position",
        "changes" => " order by file, pos, payload_index, row_index",
        _ => " order by _file, _pos, _payload_index, _row_index",
    };
    format!("select * from {relation}{order}")
}

/// Writes a relation and checks that DataFusion reads the same; the answer is the rows as others
/// should see them.
async fn check(ctx: &SessionContext, relation: &str, path: &Path) -> Vec<String> {
    let sql = whole(relation);
    copy(ctx, &sql, path, "parquet").await;
    let back = empty();
    let at = path.display().to_string();
    back.register_parquet("t", &at, ParquetReadOptions::default())
        .await
        .unwrap();
    let written = query(ctx, &sql).await;
    let read = query(&back, &sql.replace(&format!("from {relation} "), "from t ")).await;
    assert!(
        written.iter().any(|batch| batch.num_rows() > 0),
        "{relation}"
    );
    assert_eq!(rows(&read), rows(&written), "{relation}");
    let fields = read[0].schema();
    for (read, written) in fields.fields().iter().zip(written[0].schema().fields()) {
        assert_eq!(read.name(), written.name());
        match (read.data_type(), written.data_type()) {
            // DataFusion reads every text as a view, and all bytes.
            (DataType::Utf8View, DataType::Utf8) => {}
            (DataType::Struct(_), DataType::Struct(_)) => {}
            (read, written) => assert_eq!(read, written, "{relation}"),
        }
    }
    canonical(&written)
}

/// Checks that readers that are not ours see what was written.
fn check_others(readers: &[&str], files: &[(PathBuf, Vec<String>)]) {
    let Some(python) = python() else {
        eprintln!(
            "SKIPPED: no Python with pyarrow and duckdb, so no other reader reads the Parquet files; \
             set BINLOG_PYTHON to one that has them"
        );
        return;
    };
    readers
        .iter()
        .for_each(|reader| check_seen(&python, reader, files));
}

#[tokio::test]
async fn rows_read_back_are_those_written() {
    let directory = tempfile::tempdir().unwrap();
    let mut written = Vec::new();
    for (source, relations) in SOURCES {
        let ctx = over(&[source]).await;
        for relation in *relations {
            let name = format!("{}.{relation}.parquet", source.replace('?', ""));
            let path = directory.path().join(name);
            let rows = check(&ctx, relation, &path).await;
            written.push((path, rows));
        }
    }
    check_others(&["pyarrow", "duckdb"], &written);
}

#[tokio::test]
async fn values_at_the_ends_of_their_types_read_back() {
    let directory = tempfile::tempdir().unwrap();
    let log = logs::write(directory.path(), "mysql-bin.000001", &forge::extremes());
    let ctx = session(&[&log], BinlogOptions::default()).await;
    let most = format!("{}.{}", "9".repeat(35), "9".repeat(30));
    // What was put into the log, first.
    let sql = "select _op, id, d, t, encode(g, 'hex'), encode(b, 'hex'), y, _missing, _changed \
               from shop.extremes order by _pos, _row_index";
    let found = cells(&query(&ctx, sql).await);
    let point = |x: f64, y: f64| {
        let hex = |n: f64| n.to_le_bytes().map(|b| format!("{b:02x}")).concat();
        format!("0101000000{}{}", hex(x), hex(y))
    };
    let wanted: [Vec<String>; 6] = [
        vec![
            "INSERT".into(),
            u64::MAX.to_string(),
            most.clone(),
            "-PT3020399S".into(),
            point(1.5, -2.5),
            "00ff27".into(),
            "0".into(),
        ],
        vec![
            "INSERT".into(),
            "0".into(),
            format!("-{most}"),
            "PT3020399S".into(),
            point(0.0, 90.0),
            "".into(),
            "2155".into(),
        ],
        ["INSERT", "1", "NULL", "NULL", "NULL", "NULL", "NULL"]
            .map(str::to_owned)
            .to_vec(),
        vec![
            "UPDATE".into(),
            "1".into(),
            "-0.000000000000000000000000000001".into(),
            "-PT0.000001S".into(),
            point(0.0, 0.0),
            "6279746573".into(),
            "1901".into(),
        ],
        ["UPDATE", "1", "NULL", "NULL", "NULL", "6f74686572", "NULL"]
            .map(str::to_owned)
            .to_vec(),
        vec![
            "DELETE".into(),
            u64::MAX.to_string(),
            most.clone(),
            "-PT3020399S".into(),
            point(1.5, -2.5),
            "00ff27".into(),
            "0".into(),
        ],
    ];
    assert_eq!(found.len(), 6);
    for (found, wanted) in found.iter().zip(&wanted) {
        assert_eq!(found[..7], wanted[..]);
    }
    let lists: Vec<String> = found.iter().map(|row| row[7..].join(" ")).collect();
    assert_eq!(lists[..3], ["[] NULL", "[] NULL", "[] NULL"]);
    assert_eq!(
        lists[3..],
        ["[] [d, t, g, b, y]", "[d, t, g, y] [b]", "[] NULL"]
    );
    let types = "select arrow_typeof(id), arrow_typeof(d), arrow_typeof(t), arrow_typeof(y) \
                 from shop.extremes limit 1";
    assert_eq!(
        value(&ctx, types).await,
        "UInt64|Decimal256(65, 30)|Duration(µs)|UInt16"
    );
    // The same as JSON: no digit is lost.
    let sql = "select after from changes order by pos, row_index limit 1";
    let json = value(&ctx, sql).await;
    assert!(
        json.starts_with(&format!(
            "{{\"id\":18446744073709551615,\"d\":{most},\"t\":\"-838:59:59.000000\""
        )),
        "{json}"
    );

    let mut written = Vec::new();
    for relation in ["shop.extremes", "changes"] {
        let path = directory.path().join(format!("{relation}.parquet"));
        let rows = check(&ctx, relation, &path).await;
        written.push((path, rows));
    }
    check_others(&["pyarrow"], &written);
    // Decimals of DuckDB end at 38 digits: as text they are whole.
    let path = directory.path().join("as_text.parquet");
    let sql = "select id, cast(d as varchar) d, t, g, b, y, _op, _missing, _changed \
               from shop.extremes order by _pos, _row_index";
    copy(&ctx, sql, &path, "parquet").await;
    written[0] = (path, canonical(&query(&ctx, sql).await));
    check_others(&["duckdb"], &written);
}

#[tokio::test]
async fn every_table_of_the_fresh_logs_reads_back() {
    let Some(fresh) = corpus::fresh() else { return };
    let directory = tempfile::tempdir().unwrap();
    let mut written = Vec::new();
    for log in fresh.values() {
        let ctx = session(&[log], BinlogOptions::default()).await;
        let tables = "select distinct schema_name || '.\"' || table_name || '\"' from tables";
        for table in cells(&query(&ctx, tables).await) {
            let path = directory.path().join(format!("{}.parquet", written.len()));
            let rows = check(&ctx, &table[0], &path).await;
            written.push((path, rows));
        }
    }
    check_others(&["pyarrow", "duckdb"], &written);
}
