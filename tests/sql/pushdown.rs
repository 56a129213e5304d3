//! What the scan spares itself, and that the plan says so.

use crate::logs::{self, long_log};
use crate::support::{fixture, lines, number, over, plan, run, session};
use datafusion::prelude::SessionContext;
use datafusion_binlog::BinlogOptions;
use tempfile::TempDir;

/// A log of 8 MB, and a session that reads it 64 KiB at a time.
async fn long() -> (TempDir, SessionContext, usize) {
    let directory = tempfile::tempdir().unwrap();
    let bytes = long_log("mysql-9.7-nochecksum.000001", 8 << 20);
    let path = logs::write(directory.path(), "mysql-bin.000001", &bytes);
    let options = BinlogOptions::default().with_block_size(64 << 10);
    let ctx = session(&[&path], options).await;
    (directory, ctx, bytes.len())
}

#[tokio::test]
async fn the_plan_shows_what_the_scan_does_itself() {
    let ctx = over(&["mysql-9.7-shop.00000?"]).await;
    let shown = plan(
        &ctx,
        "select type, pos from binlog where type = 'QUERY' and pos > 1000 order by file, pos limit 3",
    )
    .await;
    for part in [
        "relation=binlog",
        "predicate=type@5 = QUERY AND pos@1 > 1000",
        "limit=3",
        "output_ordering=[file@2 ASC NULLS LAST, pos@1 ASC NULLS LAST]",
        "projection=[type, pos, file]",
        "SortPreservingMergeExec",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    for name in ["FilterExec", "SortExec"] {
        assert!(!shown.contains(name), "{name}\n{shown}");
    }
}

#[tokio::test]
async fn no_filter_is_left_to_do_behind_the_scan() {
    let ctx = over(&["mysql-9.7-shop.00000?"]).await;
    for condition in [
        "query like '%orders%'",
        "pos % 7 = 1",
        "gtid is null or size > 100",
        "case when type = 'XID' then xid > 20 else false end",
        "upper(schema_name) = 'SHOP'",
        "timestamp > now() - interval '100 years'",
    ] {
        let shown = plan(&ctx, &format!("select * from binlog where {condition}")).await;
        assert!(!shown.contains("FilterExec"), "{condition}\n{shown}");
        assert!(shown.contains("predicate="), "{condition}\n{shown}");
    }
    // What is different for each row cannot be done twice.
    let shown = plan(&ctx, "select * from binlog where random() < 0.5").await;
    assert!(shown.contains("FilterExec"), "{shown}");
    // `files` and `problems` are small; DataFusion filters them.
    let shown = plan(&ctx, "select * from files where size > 10").await;
    assert!(
        shown.contains("FilterExec") && shown.contains("relation=files"),
        "{shown}"
    );
}

#[tokio::test]
async fn the_order_of_the_log_needs_no_sort() {
    let ctx = over(&["mysql-9.7-shop.00000?"]).await;
    for order in ["file, pos", "file asc, pos asc", "file"] {
        let shown = plan(&ctx, &format!("select * from binlog order by {order}")).await;
        assert!(!shown.contains("SortExec"), "{order}\n{shown}");
    }
    for order in ["pos", "file desc, pos", "file, pos desc", "file, timestamp"] {
        let shown = plan(&ctx, &format!("select * from binlog order by {order}")).await;
        assert!(shown.contains("SortExec"), "{order}\n{shown}");
    }
    let ctx = over(&["mysql-9.7-shop.000001"]).await;
    let shown = plan(&ctx, "select * from binlog order by file, pos").await;
    assert!(!shown.contains("Sort"), "{shown}");
}

#[tokio::test]
async fn only_events_of_the_wanted_type_are_decoded() {
    let ctx = over(&["mysql-9.7-shop.00000?"]).await;
    let ran = run(&ctx, "select * from binlog where type = 'ROTATE'").await;
    assert_eq!(ran.rows.len(), 1);
    assert_eq!(ran.count("events_decoded"), 1);
    assert_eq!(ran.count("events_skipped"), 274);
    let ran = run(&ctx, "select * from binlog where type in ('XID', 'ROTATE')").await;
    assert_eq!(ran.count("events_decoded"), 29);
    let ran = run(
        &ctx,
        "select * from binlog where type like 'WRITE%' and query is null",
    )
    .await;
    assert_eq!(ran.count("events_decoded"), 16);
    let ran = run(&ctx, "select * from binlog where type = 'NO SUCH TYPE'").await;
    assert_eq!(ran.count("events_decoded"), 0);
    assert_eq!(ran.count("bytes_read"), 0);
    let ran = run(
        &ctx,
        "select * from binlog where type = 'XID' and type = 'ROTATE'",
    )
    .await;
    assert_eq!((ran.rows.len(), ran.count("bytes_read")), (0, 0));
}

#[tokio::test]
async fn every_event_is_skipped_or_decoded() {
    let ctx = over(&["mysql-9.7-shop.00000?"]).await;
    for condition in [
        "true",
        "type = 'QUERY'",
        "timestamp < '2026-11-15T00:00:00Z'",
        "timestamp is distinct from timestamp '2026-11-02T09:00:00Z'",
        "query is not null",
        "pos >= 5000",
    ] {
        let ran = run(&ctx, &format!("select * from binlog where {condition}")).await;
        let sum = ran.count("events_decoded") + ran.count("events_skipped");
        assert_eq!(sum, 275, "{condition}");
    }
}

#[tokio::test]
async fn a_filter_on_timestamp_is_told_by_the_header() {
    let ctx = over(&["mysql-9.7-shop.00000?"]).await;
    let sql = "select * from binlog where timestamp >= '2026-11-30T00:00:00Z'";
    let ran = run(&ctx, sql).await;
    assert_eq!(ran.count("events_decoded"), ran.rows.len());
    assert!(ran.count("events_skipped") > 100);
}

#[tokio::test]
async fn a_bound_on_pos_ends_the_scan() {
    let (_directory, ctx, size) = long().await;
    let all = run(&ctx, "select count(*) from binlog").await;
    // All but the last bodies, which are hopped over.
    assert!(all.count("bytes_read") <= size);
    assert!(all.count("bytes_read") > size / 100 * 99);
    for condition in [
        "pos < 100000",
        "pos between 50000 and 100000",
        "pos = 4",
        "pos in (4)",
    ] {
        let ran = run(&ctx, &format!("select * from binlog where {condition}")).await;
        assert!(!ran.rows.is_empty(), "{condition}");
        assert!(ran.count("bytes_read") <= 128 << 10, "{condition}");
    }
    // A list of several is not narrowed; it is only slower.
    let ran = run(&ctx, "select * from binlog where pos in (4, 127)").await;
    assert!(!ran.rows.is_empty());
}

#[tokio::test]
async fn a_limit_ends_the_scan() {
    let (_directory, ctx, _) = long().await;
    for sql in [
        "select * from binlog limit 10",
        "select * from binlog order by file, pos limit 10",
        "select pos from (select * from binlog) limit 10",
    ] {
        let ran = run(&ctx, sql).await;
        assert_eq!(ran.rows.len(), 10, "{sql}");
        assert!(ran.count("bytes_read") <= 128 << 10, "{sql}");
        assert_eq!(ran.count("events_decoded"), 10, "{sql}");
    }
    let ran = run(
        &ctx,
        "select * from binlog where query like 'INSERT%' limit 3",
    )
    .await;
    assert_eq!(ran.rows.len(), 3);
    assert!(ran.count("bytes_read") < 4 << 20);
}

#[tokio::test]
async fn counting_needs_no_bodies() {
    let ctx = over(&["mysql-9.7-shop.00000?"]).await;
    let shown = plan(&ctx, "select count(*) from binlog").await;
    assert!(
        shown.contains("projection=[]") || !shown.contains("projection="),
        "{shown}"
    );
    assert_eq!(number(&ctx, "select count(*) from binlog").await, 275);
    // Least and greatest come from the rows, not from what the plan tells of the files' order.
    assert_eq!(
        lines(
            &ctx,
            "select min(pos), max(pos), min(file), max(file) from binlog"
        )
        .await,
        ["4|21006|mysql-9.7-shop.000001|mysql-9.7-shop.000002"]
    );
}

#[tokio::test]
async fn a_condition_on_file_opens_only_that_file() {
    let ctx = over(&["mysql-9.7-*.00000?"]).await;
    let size = number(
        &ctx,
        "select size from files where file = 'mysql-9.7-shop.000002'",
    )
    .await;
    for condition in [
        "file = 'mysql-9.7-shop.000002'",
        "file like '%shop%' and file > 'mysql-9.7-shop.000001'",
        "file in ('mysql-9.7-shop.000002', 'no such file')",
        "cast(right(file, 6) as int) = 2 and file like '%-shop.%'",
        "file = 'mysql-9.7-shop.000002' and type is not null",
    ] {
        let ran = run(&ctx, &format!("select * from binlog where {condition}")).await;
        assert_eq!(ran.rows.len(), 130, "{condition}");
        assert_eq!(ran.count("files_opened"), 1, "{condition}");
        assert_eq!(ran.count("bytes_read") as u64, size, "{condition}");
    }
    let shown = plan(&ctx, "select * from binlog where file = 'no such file'").await;
    assert!(shown.contains("EmptyExec"), "{shown}");
}

#[tokio::test]
async fn a_gtid_skips_the_files_that_cannot_have_it() {
    let ctx = over(&["mysql-9.7-shop.00000?"]).await;
    let uuid = "3e11fa47-71ca-11e1-9e33-c80aa9429562";
    for (condition, rows, skipped) in [
        // In the first file, which the second one's PREVIOUS_GTIDS says.
        (format!("gtid = '{uuid}:11'"), 6, 1),
        // In the second file: not in its PREVIOUS_GTIDS, nor in the first.
        (format!("gtid = '{uuid}:40'"), 6, 1),
        (format!("gtid in ('{uuid}:11', '{uuid}:40')"), 12, 0),
        (format!("gtid = '{uuid}:deploy:1'"), 2, 1),
        (format!("gtid = '{uuid}:99'"), 0, 1),
        (format!("gtid = '{uuid}:11' and type = 'XID'"), 1, 1),
        (format!("gtid = '{uuid}:11' or gtid is null"), 12, 0),
        (format!("gtid not in ('{uuid}:11')"), 263, 0),
        ("gtid = 'not a gtid'".to_owned(), 0, 0),
    ] {
        let ran = run(&ctx, &format!("select * from binlog where {condition}")).await;
        assert_eq!(ran.rows.len(), rows, "{condition}");
        assert_eq!(ran.count("files_skipped"), skipped, "{condition}");
    }
}

#[tokio::test]
async fn timestamps_skip_files_only_where_the_user_says_so() {
    let paths = [
        fixture("mysql-9.7-shop.000001"),
        fixture("mysql-9.7-shop.000002"),
    ];
    let paths = [paths[0].as_str(), paths[1].as_str()];
    let trusting = BinlogOptions::default().with_assume_time_order(true);
    let (careful, trusting) = (
        session(&paths, BinlogOptions::default()).await,
        session(&paths, trusting).await,
    );
    // The last events of the second file.
    let late = "select * from binlog where timestamp >= '2026-11-30T20:53:10Z'";
    let (a, b) = (run(&careful, late).await, run(&trusting, late).await);
    assert!(!a.rows.is_empty());
    assert_eq!(a.rows, b.rows);
    assert_eq!((a.count("files_skipped"), b.count("files_skipped")), (0, 1));
    // Statements with SET TIMESTAMP are older than the file: that is what the option gives up.
    let early = "select * from binlog where timestamp < '2026-11-15T00:00:00Z'";
    let (a, b) = (run(&careful, early).await, run(&trusting, early).await);
    assert!(a.rows.len() > 200);
    assert_eq!(b.rows.len(), 0);
    assert_eq!((a.count("files_skipped"), b.count("files_skipped")), (0, 2));
    // No condition on the time: nothing is skipped.
    let count = "select count(*) from binlog where timestamp is not null";
    assert_eq!(run(&trusting, count).await.rows, ["275"]);
}

#[tokio::test]
async fn problems_are_counted() {
    let ctx = over(&["mysql-9.7-shop.000002"]).await;
    let ran = run(&ctx, "select query from binlog").await;
    assert_eq!(ran.count("problems"), 1);
    // Not looked at, not met.
    assert_eq!(
        run(&ctx, "select pos from binlog").await.count("problems"),
        0
    );
    assert_eq!(
        run(&ctx, "select * from problems").await.count("problems"),
        1
    );
}

#[tokio::test]
async fn explain_analyze_shows_the_counters() {
    let ctx = over(&["mysql-9.7-shop.00000?"]).await;
    let sql = "explain analyze select pos from binlog where type = 'ROTATE'";
    let shown = lines(&ctx, sql).await.join("\n");
    for part in [
        "events_decoded=1,",
        "events_skipped=274,",
        "files_skipped=0,",
        "problems=0,",
        "bytes_read=39.65 K,",
        "output_rows=1,",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
}
