//! The library in someone else's program: what an embedder calls.

use crate::logs::{self, long_log, read};
use crate::support::{fixture, lines, number, query, rows, try_query};
use datafusion::catalog::TableProvider;
use datafusion::prelude::{SessionConfig, SessionContext, col, lit};
use datafusion_binlog::{
    BinlogOptions, BinlogTable, Error, ErrorKind, ProblemLog, Relation, ScanProgress,
    SessionContextBinlogExt, Severity,
};
use futures::StreamExt;
use std::sync::Arc;

const FIRST: &str = "mysql-9.7-shop.000001";
const SECOND: &str = "mysql-9.7-shop.000002";

fn truncated(directory: &tempfile::TempDir) -> String {
    let bytes = read(FIRST);
    logs::write(directory.path(), "cut.000001", &bytes[..20000])
}

#[tokio::test]
async fn a_source_is_a_catalog() {
    let ctx = SessionContext::new_with_config(SessionConfig::new().with_information_schema(true));
    let options = BinlogOptions::default();
    ctx.register_binlog("prod", fixture("mysql-9.7-shop.00000?"), options.clone())
        .await
        .unwrap();
    let mariadb = fixture("mariadb-11.8-shop.000001");
    ctx.register_binlog("replica", [mariadb.as_str()].as_slice(), options)
        .await
        .unwrap();
    assert_eq!(
        number(&ctx, "select count(*) from prod.binlog.binlog").await,
        275
    );
    assert_eq!(
        number(&ctx, "select count(*) from prod.binlog.files").await,
        2
    );
    assert_eq!(
        number(&ctx, "select count(*) from prod.binlog.problems").await,
        1
    );
    assert_eq!(
        number(&ctx, "select count(*) from replica.binlog.binlog").await,
        151
    );
    let sql = "select table_catalog, table_schema, table_name, table_type from \
               information_schema.tables where table_schema = 'binlog' order by 1, 2, 3";
    assert_eq!(
        lines(&ctx, sql).await,
        [
            "prod|binlog|binlog|BASE TABLE",
            "prod|binlog|changes|BASE TABLE",
            "prod|binlog|columns|BASE TABLE",
            "prod|binlog|files|BASE TABLE",
            "prod|binlog|problems|BASE TABLE",
            "prod|binlog|tables|BASE TABLE",
            "replica|binlog|binlog|BASE TABLE",
            "replica|binlog|changes|BASE TABLE",
            "replica|binlog|columns|BASE TABLE",
            "replica|binlog|files|BASE TABLE",
            "replica|binlog|problems|BASE TABLE",
            "replica|binlog|tables|BASE TABLE",
        ]
    );
    let catalog = ctx.catalog("prod").unwrap();
    assert_eq!(catalog.schema_names(), ["binlog", "shop"]);
    let schema = catalog.schema("binlog").unwrap();
    assert_eq!(
        schema.table_names(),
        [
            "binlog", "changes", "columns", "files", "problems", "tables"
        ]
    );
    assert!(schema.table_exist("files") && !schema.table_exist("orders"));
    assert!(schema.table("orders").await.unwrap().is_none());
    // The tables of the server, by its own schemas.
    let shop = catalog.schema("shop").unwrap();
    assert_eq!(
        shop.table_names(),
        [
            "best_customers",
            "carts",
            "customers",
            "order_items",
            "orders",
            "products"
        ]
    );
    let orders = shop.table("orders").await.unwrap().unwrap();
    assert!(orders.schema().index_of("customer_id").is_ok());
    assert!(shop.table("no_such_table").await.unwrap().is_none());
    let sql = "select table_name, count(*) from information_schema.columns where \
               table_catalog = 'replica' and table_schema = 'shop' group by 1 order by 1";
    let columns = lines(&ctx, sql).await;
    assert!(
        columns.contains(&"invoice_numbers|22".to_owned()),
        "{columns:?}"
    );
    for sql in [
        "select count(*) from prod.shop.orders",
        "select count(*) from replica.shop.orders where _op <> 'UPDATE' or total is not null",
    ] {
        assert!(number(&ctx, sql).await > 40, "{sql}");
    }
    // Two sources in one query.
    let sql = "select p.type, p.n, r.n from \
               (select type, count(*) n from prod.binlog.binlog group by type) p join \
               (select type, count(*) n from replica.binlog.binlog group by type) r \
               on p.type = r.type where p.type in ('XID', 'ROTATE') order by 1";
    assert_eq!(lines(&ctx, sql).await, ["ROTATE|1|1", "XID|28|19"]);
    // A name that is taken is replaced.
    ctx.register_binlog("prod", fixture(FIRST), BinlogOptions::default())
        .await
        .unwrap();
    assert_eq!(
        number(&ctx, "select count(*) from prod.binlog.binlog").await,
        145
    );
}

#[tokio::test]
async fn events_without_registration() {
    let ctx = SessionContext::new();
    let frame = ctx
        .read_binlog(
            vec![fixture(FIRST), fixture(SECOND)],
            BinlogOptions::default(),
        )
        .await
        .unwrap();
    let counted = frame
        .filter(col("type").eq(lit("ROTATE")))
        .unwrap()
        .select_columns(&["file", "pos"])
        .unwrap();
    assert_eq!(
        rows(&counted.collect().await.unwrap()),
        [format!("{FIRST}|21006")]
    );
    // Nothing was registered by that.
    assert!(ctx.sql("select * from read_binlog('x')").await.is_err());
}

#[tokio::test]
async fn a_table_by_itself() {
    let ctx = SessionContext::new();
    for (relation, count) in [
        (Relation::Binlog, 275),
        (Relation::Changes, 254),
        (Relation::Tables, 12),
        (Relation::Columns, 91),
        (Relation::Files, 2),
        (Relation::Problems, 1),
    ] {
        let locations = [fixture("mysql-9.7-shop.00000?")];
        let table = BinlogTable::new(Relation::Binlog, locations, BinlogOptions::default());
        let table = table.with_relation(relation);
        assert_eq!(table.relation(), Some(relation));
        assert_eq!(table.schema(), relation.schema());
        assert_eq!(table.segments(&ctx.state()).await.unwrap().len(), 2);
        ctx.register_table(relation.name(), Arc::new(table))
            .unwrap();
        let sql = format!("select count(*) from {}", relation.name());
        assert_eq!(number(&ctx, &sql).await, count);
    }
}

#[tokio::test]
async fn a_wrong_location_is_told_at_once() {
    let ctx = SessionContext::new();
    let options = BinlogOptions::default;
    let refused = ctx
        .register_binlog("x", fixture("none.000001"), options())
        .await;
    let refused = refused.unwrap_err();
    assert!(refused.to_string().contains("no such file"), "{refused}");
    assert!(ctx.catalog("x").is_none());
    let refused = ctx.read_binlog("Cargo.toml", options()).await.unwrap_err();
    // The cause is our own error, with its kind.
    let root = refused.find_root();
    let datafusion::error::DataFusionError::External(inner) = root else {
        panic!("{root:?}");
    };
    let ours = inner.downcast_ref::<Error>().unwrap();
    assert_ne!(ours.kind(), ErrorKind::Source, "{ours}");
    assert_eq!(ours.at().file.as_deref(), Some("Cargo.toml"));
    let refused = ctx
        .read_binlog(Vec::<String>::new(), options())
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("no source"), "{refused}");
}

#[tokio::test]
async fn problems_are_gathered_in_the_log() {
    let directory = tempfile::tempdir().unwrap();
    let path = truncated(&directory);
    let ctx = SessionContext::new();
    let log = ProblemLog::new();
    let options = BinlogOptions::default().with_problem_log(log.clone());
    ctx.register_binlog("cut", path.as_str(), options)
        .await
        .unwrap();
    assert_eq!(log.counts(), (0, 0));
    let count = number(&ctx, "select count(*) from cut.binlog.binlog").await;
    assert_eq!(log.counts(), (1, 0));
    let sample = log.sample();
    assert_eq!(&*sample[0].file, "cut.000001");
    assert_eq!(sample[0].severity, Severity::Error);
    let wanted = "select max(end_pos) from cut.binlog.binlog";
    assert_eq!(number(&ctx, wanted).await, sample[0].pos);
    // The same again is the same problem.
    assert_eq!(
        number(&ctx, "select count(*) from cut.binlog.binlog").await,
        count
    );
    assert_eq!(log.counts(), (1, 0));
    log.clear();
    assert_eq!((log.counts(), log.sample().len()), ((0, 0), 0));
}

#[tokio::test]
async fn strict_turns_the_first_problem_into_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = truncated(&directory);
    let ctx = SessionContext::new();
    let options = BinlogOptions::default().with_strict(true);
    ctx.register_binlog("cut", path.as_str(), options)
        .await
        .unwrap();
    for sql in [
        "select count(*) from cut.binlog.binlog",
        "select * from cut.binlog.binlog where type = 'XID'",
        "select * from cut.binlog.problems",
    ] {
        let text = try_query(&ctx, sql).await.unwrap_err();
        assert!(text.contains("cut.000001 @ 19"), "{sql}: {text}");
        assert!(text.contains("TRUNCATED"), "{sql}: {text}");
    }
    // What is before it can be read.
    let sql = "select * from cut.binlog.binlog where pos < 10000 limit 5";
    assert_eq!(rows(&query(&ctx, sql).await).len(), 5);
}

#[tokio::test]
async fn progress_counts_up_to_the_total() {
    let directory = tempfile::tempdir().unwrap();
    let log = long_log("mysql-9.7-nochecksum.000001", 1 << 20);
    let plain = logs::write(directory.path(), "mysql-bin.000001", &log);
    let packed = zstd::encode_all(log.as_slice(), 1).unwrap();
    let archive = logs::write(directory.path(), "mysql-bin.000002.zst", &packed);
    let text = logs::write(directory.path(), "mysql-bin.000003", b"no log");
    let shop = fixture("mysql-9.7-shop.00000?");
    let total = log.len() + packed.len() + 6 + 21053 + 18595;
    let progress = ScanProgress::default();
    let options = BinlogOptions::default()
        .with_block_size(64 << 10)
        .with_progress(progress.clone());
    let ctx = SessionContext::new();
    ctx.register_binlog("all", vec![plain, archive, text, shop], options)
        .await
        .unwrap();
    assert_eq!((progress.bytes_done(), progress.bytes_total()), (0, 0));
    for sql in [
        "select count(*) from all.binlog.binlog",
        "select * from all.binlog.binlog",
        "select * from all.binlog.binlog where type = 'XID' and xid > 5",
        "select * from all.binlog.binlog where pos < 1000",
        "select * from all.binlog.binlog where type = 'NO SUCH TYPE'",
        "select * from all.binlog.binlog where gtid = '3e11fa47-71ca-11e1-9e33-c80aa9429562:40'",
        "select * from all.binlog.files",
        "select count(*) from all.binlog.changes where table_name = 'orders'",
        "select file, pos, op from all.binlog.changes where op = 'DELETE' and pos < 1000",
    ] {
        progress.clear();
        query(&ctx, sql).await;
        assert_eq!(progress.bytes_total(), total as u64, "{sql}");
        assert_eq!(progress.bytes_done(), total as u64, "{sql}");
    }
    // What needs to know the tables reads the logs once more, but only the first time.
    for (sql, passes) in [
        ("select before, after from all.binlog.changes", 2),
        ("select * from all.binlog.problems", 1),
        ("select * from all.shop.orders where total > 10", 1),
        ("select * from all.binlog.columns", 0),
    ] {
        progress.clear();
        query(&ctx, sql).await;
        assert_eq!(progress.bytes_total(), passes * total as u64, "{sql}");
        assert_eq!(progress.bytes_done(), passes * total as u64, "{sql}");
    }
    // Files that the names exclude are not part of the work.
    progress.clear();
    query(
        &ctx,
        "select * from all.binlog.binlog where file like '%shop%'",
    )
    .await;
    assert_eq!(
        (progress.bytes_done(), progress.bytes_total()),
        (39648, 39648)
    );
}

#[tokio::test]
async fn a_stream_that_is_dropped_stops_reading() {
    let directory = tempfile::tempdir().unwrap();
    let log = long_log("mysql-9.7-nochecksum.000001", 16 << 20);
    let path = logs::write(directory.path(), "mysql-bin.000001", &log);
    let progress = ScanProgress::default();
    let options = BinlogOptions::default()
        .with_block_size(64 << 10)
        .with_progress(progress.clone());
    let config = SessionConfig::new()
        .with_batch_size(100)
        .with_target_partitions(2);
    let ctx = SessionContext::new_with_config(config);
    let frame = ctx.read_binlog(path, options).await.unwrap();
    let mut stream = frame.execute_stream().await.unwrap();
    for _ in 0..5 {
        let batch = stream.next().await.unwrap().unwrap();
        assert!(batch.num_rows() <= 100);
    }
    let read = progress.bytes_done();
    assert!(read > 0 && read < 1 << 20, "{read}");
    drop(stream);
    // The file is done with, though not read.
    assert_eq!(progress.bytes_done(), log.len() as u64);
}

#[tokio::test]
async fn a_query_can_be_cancelled_while_it_finds_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let log = long_log("mysql-9.7-nochecksum.000001", 64 << 20);
    let path = logs::write(directory.path(), "mysql-bin.000001", &log);
    drop(log);
    let progress = ScanProgress::default();
    let options = BinlogOptions::default().with_progress(progress.clone());
    let ctx = SessionContext::new();
    let frame = ctx.read_binlog(path, options).await.unwrap();
    let frame = frame
        .filter(col("query").eq(lit("no such statement")))
        .unwrap();
    // On this very thread: the scan must yield for the timer to be heard.
    let work = frame.collect();
    let limit = std::time::Duration::from_millis(100);
    let cancelled = tokio::time::timeout(limit, work).await;
    assert!(cancelled.is_err(), "the log is too short for this test");
}

#[tokio::test]
async fn many_files() {
    let directory = tempfile::tempdir().unwrap();
    let bytes = read(FIRST);
    for n in 1..=200 {
        logs::write(directory.path(), &format!("mysql-bin.{n:06}"), &bytes);
    }
    let config = SessionConfig::new().with_target_partitions(2);
    let ctx = SessionContext::new_with_config(config);
    let location = directory.path().display().to_string();
    ctx.register_binlog("many", location, BinlogOptions::default())
        .await
        .unwrap();
    assert_eq!(
        number(&ctx, "select count(*) from many.binlog.binlog").await,
        200 * 145
    );
    assert_eq!(
        number(&ctx, "select count(*) from many.binlog.files").await,
        200
    );
    assert_eq!(
        number(&ctx, "select count(*) from many.binlog.problems").await,
        0
    );
    let sql = "select file, pos from many.binlog.binlog order by file, pos";
    let found = lines(&ctx, sql).await;
    assert_eq!(found.len(), 200 * 145);
    assert!(
        found
            .windows(145)
            .step_by(145)
            .all(|file| { file[0].ends_with("|4") && file[144].ends_with("|21006") })
    );
    let sql = "select file, count(*) from many.binlog.binlog where type = 'XID' \
               group by file having count(*) <> 17";
    assert_eq!(lines(&ctx, sql).await, Vec::<String>::new());
    let sql = "select file from many.binlog.binlog order by file desc, pos desc limit 1";
    assert_eq!(lines(&ctx, sql).await, ["mysql-bin.000200"]);
}
