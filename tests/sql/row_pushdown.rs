//! What a scan of rows spares itself, and that the plan says so.

use crate::forge;
use crate::logs::{self, long_log};
use crate::support::{cells, fixture, number, over, plan, query, run, session, value};
use datafusion::prelude::SessionContext;
use datafusion_binlog::{BinlogOptions, SessionContextBinlogExt};
use futures::StreamExt;
use tempfile::TempDir;

const SHOP: &str = "mysql-9.7-shop.00000?";

/// Events of the shop, those with rows, and its size.
const EVENTS: usize = 275;
const ROWS_EVENTS: usize = 43;
const SIZE: usize = 21053 + 18595;

/// A log of 8 MB, and a session that reads it 64 KiB at a time and has looked at its tables.
async fn long() -> (TempDir, SessionContext, usize) {
    let directory = tempfile::tempdir().unwrap();
    let bytes = long_log("mysql-9.7-nochecksum.000001", 8 << 20);
    let path = logs::write(directory.path(), "mysql-bin.000001", &bytes);
    let options = BinlogOptions::default().with_block_size(64 << 10);
    let ctx = session(&[&path], options).await;
    query(&ctx, "select * from tables").await;
    (directory, ctx, bytes.len())
}

#[tokio::test]
async fn the_plan_shows_what_the_scan_does_itself() {
    let ctx = over(&[SHOP]).await;
    let shown = plan(
        &ctx,
        "select op, key from changes where table_name = 'orders' and op = 'DELETE' limit 3",
    )
    .await;
    for part in [
        "relation=changes",
        "predicate=table_name@",
        "limit=3",
        "projection=[op, key]",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    let shown = plan(
        &ctx,
        "select id from shop.orders where total > 10 and _before['total'] < 5",
    )
    .await;
    for part in [
        "relation=shop.orders",
        "predicate=total@",
        "projection=[id]",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    for condition in [
        "op = 'DELETE'",
        "key like '%1001%' and before is null",
        "array_has(changed, 'stock')",
        "timestamp > now() - interval '100 years' or gtid is null",
        "case when op = 'UPDATE' then row_index > 0 else false end",
    ] {
        let shown = plan(&ctx, &format!("select * from changes where {condition}")).await;
        assert!(!shown.contains("FilterExec"), "{condition}\n{shown}");
        assert!(shown.contains("predicate="), "{condition}\n{shown}");
    }
    // What is different for each row cannot be done twice.
    let shown = plan(&ctx, "select * from changes where random() < 0.5").await;
    assert!(shown.contains("FilterExec"), "{shown}");
}

#[tokio::test]
async fn the_order_of_the_log_needs_no_sort() {
    let ctx = over(&[SHOP]).await;
    for (relation, u) in [
        ("changes", ""),
        ("shop.orders", "_"),
        ("shop.customers", "_"),
    ] {
        let place = format!("{u}file, {u}pos, {u}payload_index, {u}row_index");
        for order in [
            place.as_str(),
            &format!("{u}file, {u}pos"),
            &format!("{u}file"),
        ] {
            let shown = plan(&ctx, &format!("select * from {relation} order by {order}")).await;
            assert!(!shown.contains("SortExec"), "{order}\n{shown}");
            let shown = plan(
                &ctx,
                &format!("select * from {relation} order by {order} limit 5"),
            )
            .await;
            assert!(!shown.contains("SortExec"), "{order}\n{shown}");
        }
        for order in [
            format!("{u}pos"),
            format!("{u}file desc"),
            format!("{u}file, {u}row_index"),
        ] {
            let shown = plan(&ctx, &format!("select * from {relation} order by {order}")).await;
            assert!(shown.contains("SortExec"), "{order}\n{shown}");
        }
    }
    let ctx = over(&["mysql-9.7-shop.000001"]).await;
    let sql = "select * from changes order by file, pos, payload_index, row_index";
    let shown = plan(&ctx, sql).await;
    assert!(!shown.contains("Sort"), "{shown}");
}

#[tokio::test]
async fn what_the_event_tells_drops_it_before_its_rows_are_looked_at() {
    let ctx = over(&[SHOP]).await;
    let uuid = "3e11fa47-71ca-11e1-9e33-c80aa9429562";
    let of_table =
        "select count(*) from binlog where table_name = 'orders' and row_count is not null";
    let orders = number(&ctx, of_table).await as usize;
    assert!(orders > 5 && orders < 15, "{orders}");
    for (condition, decoded) in [
        ("true".to_owned(), ROWS_EVENTS),
        ("op = 'DELETE'".to_owned(), 11),
        ("op <> 'DELETE'".to_owned(), ROWS_EVENTS - 11),
        ("op in ('UPDATE', 'DELETE') and op > 'E'".to_owned(), 16),
        ("op = 'NO SUCH OPERATION'".to_owned(), 0),
        ("table_name = 'orders'".to_owned(), orders),
        (
            "table_name = 'orders' and schema_name = 'none'".to_owned(),
            0,
        ),
        ("pos = 4912".to_owned(), 1),
        ("timestamp < '2026-11-02T09:01:00Z'".to_owned(), 0),
        (format!("gtid = '{uuid}:11'"), 1),
        (format!("gtid = '{uuid}:11' and op = 'DELETE'"), 0),
        ("query like 'INSERT INTO customers%'".to_owned(), 2),
        ("server_id = 99".to_owned(), 0),
        ("thread_id = 18 and table_name = 'customers'".to_owned(), 2),
    ] {
        let sql = format!("select * from changes where {condition}");
        let ran = run(&ctx, &sql).await;
        assert_eq!(ran.count("events_decoded"), decoded, "{condition}");
        assert_eq!(ran.rows.is_empty(), decoded == 0, "{condition}");
        assert_eq!(ran.count("rows_skipped"), 0, "{condition}");
        // The scan ends behind the last position, and leaves out a file or all.
        if !["pos", "gtid", "NO SUCH"]
            .iter()
            .any(|part| condition.contains(part))
        {
            let skipped = ran.count("events_skipped");
            assert_eq!(skipped, EVENTS - decoded, "{condition}");
        }
    }
    // Nothing can match: nothing is read.
    let ran = run(&ctx, "select * from changes where op = 'NO SUCH OPERATION'").await;
    assert_eq!(ran.count("bytes_read"), 0);
    let ran = run(
        &ctx,
        "select * from changes where op = 'INSERT' and op = 'UPDATE'",
    )
    .await;
    assert_eq!(ran.count("bytes_read"), 0);
    // A file that cannot have the transaction is left out.
    let ran = run(
        &ctx,
        &format!("select * from changes where gtid = '{uuid}:11'"),
    )
    .await;
    assert_eq!((ran.rows.len(), ran.count("files_skipped")), (5, 1));
    let ran = run(
        &ctx,
        "select * from changes where file = 'mysql-9.7-shop.000002'",
    )
    .await;
    assert_eq!(ran.count("files_opened"), 1);
}

#[tokio::test]
async fn the_relation_of_a_table_drops_the_events_of_others() {
    let ctx = over(&[SHOP]).await;
    let of = "select count(*) from binlog where table_name = 'customers' and row_count is not null";
    let customers = number(&ctx, of).await as usize;
    let ran = run(&ctx, "select * from shop.customers").await;
    assert_eq!(ran.rows.len(), 10);
    assert_eq!(ran.count("events_decoded"), customers);
    assert_eq!(ran.count("events_skipped"), EVENTS - customers);
    let ran = run(&ctx, "select * from shop.customers where _op = 'INSERT'").await;
    assert_eq!((ran.rows.len(), ran.count("events_decoded")), (6, 2));
}

#[tokio::test]
async fn a_filter_on_a_value_leaves_rows_out_before_the_others_are_decoded() {
    let ctx = over(&[SHOP]).await;
    let total = number(&ctx, "select count(*) from shop.order_items").await as usize;
    for (condition, rows) in [
        ("quantity > 4", None),
        ("order_id = 1001 and line = 1", None),
        ("price between 1 and 5 and _before['price'] is null", None),
        ("false or discount = -1", Some(0)),
        ("_row_index = 0", None),
    ] {
        let ran = run(
            &ctx,
            &format!("select * from shop.order_items where {condition}"),
        )
        .await;
        assert_eq!(
            ran.rows.len() + ran.count("rows_skipped"),
            total,
            "{condition}"
        );
        assert!(ran.count("rows_skipped") > 0, "{condition}");
        assert!(
            rows.is_none_or(|rows| rows == ran.rows.len()),
            "{condition}"
        );
    }
    let ran = run(&ctx, "select * from changes where key = '{\"id\":1001}'").await;
    assert!(!ran.rows.is_empty());
    assert_eq!(ran.rows.len() + ran.count("rows_skipped"), 254);

    // A value that no type can have is met only where it is looked at: the row is left out before.
    let mut log = forge::one_event_of(2);
    let at = log.windows(5).position(|w| w == b"row 1").unwrap();
    log[at] = 0xff;
    let directory = tempfile::tempdir().unwrap();
    let path = logs::write(directory.path(), "bad.000001", &log);
    let ctx = session(&[&path], BinlogOptions::default()).await;
    for (sql, problems) in [
        ("select label from shop.numbers", 1),
        ("select label from shop.numbers where n = 0", 0),
        ("select label from shop.numbers where n = 1", 1),
        ("select n, double_n from shop.numbers", 0),
        (
            "select n from shop.numbers where _before['label'] is null",
            0,
        ),
    ] {
        assert_eq!(run(&ctx, sql).await.count("problems"), problems, "{sql}");
    }
}

#[tokio::test]
async fn what_needs_no_names_reads_the_log_once() {
    for (sql, passes) in [
        ("select count(*) from changes", 1),
        ("select op, count(*) from changes group by op", 1),
        (
            "select schema_name, table_name, count(*) from changes group by 1, 2",
            1,
        ),
        ("select file, pos, row_index, gtid, query from changes", 1),
        (
            "select count(*) from changes where table_name = 'orders' and op = 'DELETE'",
            1,
        ),
        ("select key from changes", 2),
        ("select op from changes where after like '%ada%'", 2),
    ] {
        // A session of its own: what was found of a log is kept.
        let options = BinlogOptions::default();
        let ctx = session(&[&fixture(SHOP)], options.clone()).await;
        query(&ctx, sql).await;
        let done = options.progress().bytes_done() as usize;
        assert_eq!(done, passes * SIZE, "{sql}");
        assert_eq!(done as u64, options.progress().bytes_total(), "{sql}");
        // The second time it is known.
        options.progress().clear();
        query(&ctx, sql).await;
        assert_eq!(options.progress().bytes_done() as usize, SIZE, "{sql}");
    }
}

#[tokio::test]
async fn counting_rows_decodes_none() {
    let ctx = over(&[SHOP]).await;
    for relation in ["changes", "shop.orders"] {
        let shown = plan(&ctx, &format!("select count(*) from {relation}")).await;
        assert!(
            shown.contains("projection=[]") || !shown.contains("projection="),
            "{shown}"
        );
    }
    assert_eq!(number(&ctx, "select count(*) from changes").await, 254);
    assert_eq!(
        value(
            &ctx,
            "select min(pos), max(pos), max(row_index), count(payload_index) from changes"
        )
        .await,
        "4912|20877|36|0"
    );
}

#[tokio::test]
async fn a_limit_ends_the_scan() {
    let (_directory, ctx, size) = long().await;
    let all = run(&ctx, "select count(*) from changes").await;
    assert!(all.count("bytes_read") > size / 2);
    for sql in [
        "select * from changes limit 10",
        "select * from changes order by file, pos, payload_index, row_index limit 10",
        "select * from changes where op = 'UPDATE' limit 10",
        "select _op, _before from shop.notes limit 10",
    ] {
        let ran = run(&ctx, sql).await;
        assert_eq!(ran.rows.len(), 10, "{sql}");
        assert!(ran.count("bytes_read") <= 256 << 10, "{sql}");
    }
    for condition in ["pos < 100000", "pos between 50000 and 100000"] {
        let ran = run(&ctx, &format!("select * from changes where {condition}")).await;
        assert!(!ran.rows.is_empty(), "{condition}");
        assert!(ran.count("bytes_read") <= 256 << 10, "{condition}");
    }
}

#[tokio::test]
async fn a_batch_has_no_more_rows_than_asked_for_whatever_the_event_has() {
    const COUNT: u32 = 100_000;
    let directory = tempfile::tempdir().unwrap();
    let path = logs::write(directory.path(), "one.000001", &forge::one_event_of(COUNT));
    for size in [1000, 8192] {
        let config = crate::support::config().with_batch_size(size);
        let ctx = SessionContext::new_with_config(config);
        ctx.register_binlog("logs", path.as_str(), BinlogOptions::default())
            .await
            .unwrap();
        for sql in [
            "select * from shop.numbers",
            "select * from changes",
            "select n from shop.numbers where n % 3 > 0",
        ] {
            let mut stream = ctx.sql(sql).await.unwrap().execute_stream().await.unwrap();
            let (mut rows, mut batches) = (0, 0);
            while let Some(batch) = stream.next().await {
                let batch = batch.unwrap();
                assert!(batch.num_rows() <= size && batch.num_rows() > 0, "{sql}");
                rows += batch.num_rows();
                batches += 1;
            }
            let wanted = if sql.contains("where") {
                COUNT - COUNT.div_ceil(3)
            } else {
                COUNT
            };
            assert_eq!(rows, wanted as usize, "{sql}");
            assert!(batches >= COUNT as usize / size, "{sql}");
        }
        let sql = "select count(*), sum(n), sum(double_n), max(_row_index), count(distinct label) \
                   from shop.numbers";
        assert_eq!(
            value(&ctx, sql).await,
            "100000|4999950000|9999900000|99999|100000"
        );
        // A limit inside the event.
        let ran = run(&ctx, "select n, label from shop.numbers limit 3").await;
        assert_eq!(ran.rows, ["0|row 0", "1|row 1", "2|row 2"]);
        let ran = run(&ctx, "select n from shop.numbers where n >= 70000 limit 2").await;
        assert_eq!(ran.rows, ["70000", "70001"]);
        assert!(ran.count("rows_skipped") < 90_000);
    }
}

#[tokio::test]
async fn one_field_of_the_values_before_is_read_alone() {
    let ctx = over(&[SHOP]).await;
    let sql = "select _before['total'], _before['status'] from shop.orders where _op = 'UPDATE'";
    let alone = cells(&query(&ctx, sql).await);
    let whole = "select b['total'], b['status'] from \
                 (select _before b, _op from shop.orders order by _file, _pos, _row_index limit 1000) where _op = 'UPDATE'";
    let mut whole = cells(&query(&ctx, whole).await);
    let mut sorted = alone.clone();
    sorted.sort();
    whole.sort();
    assert_eq!(sorted, whole);
    assert!(
        alone.len() > 4 && alone.iter().all(|row| row[1] != "NULL"),
        "{alone:?}"
    );
    // Another field's broken value is not met.
    let mut log = forge::extremes();
    let at = log.windows(3).position(|w| w == [0, 255, 39]).unwrap();
    log[at] = 1;
    let directory = tempfile::tempdir().unwrap();
    let path = logs::write(directory.path(), "x.000001", &log);
    let ctx = session(&[&path], BinlogOptions::default()).await;
    let shown = plan(&ctx, "select _before['id'] from shop.extremes").await;
    assert!(shown.contains("get_field(_before@"), "{shown}");
    assert!(!shown.contains("ProjectionExec"), "{shown}");
}
