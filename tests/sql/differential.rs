//! Filters, projections, orders and limits that the scan does itself, against DataFusion doing
//! the same on a copy of all rows in memory.

use crate::support::{config, over, rows, try_query};
use datafusion::datasource::MemTable;
use datafusion::prelude::SessionContext;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;
use proptest::test_runner::{Config, TestRunner};
use std::sync::Arc;

/// Logs of every kind: both servers, two files in a row, payloads, compressed events, relay logs,
/// no checksums.
const LOGS: &[&str] = &[
    "mysql-9.7-shop.000001",
    "mysql-9.7-shop.000002",
    "mysql-9.7-payload.000001",
    "mysql-9.7-relay.000004",
    "mysql-9.7-anonymous.000001",
    "mariadb-11.8-shop.000002",
    "mariadb-10.11-compressed.000001",
    "mariadb-10.11-nochecksum.000001",
];

/// The source as it is, and a copy of its rows that knows nothing of logs.
struct Pair {
    source: SessionContext,
    copy: SessionContext,
}

impl Pair {
    async fn new() -> Self {
        let source = over(LOGS).await;
        let frame = source.table("binlog").await.unwrap();
        let schema = frame.schema().as_arrow().clone();
        let batches = frame.collect().await.unwrap();
        let copy =
            SessionContext::new_with_config(config().with_create_default_catalog_and_schema(true));
        let table = MemTable::try_new(Arc::new(schema), vec![batches]).unwrap();
        copy.register_table("binlog", Arc::new(table)).unwrap();
        Self { source, copy }
    }

    /// Both answers; in order where the query says so, else sorted.
    async fn answers(
        &self,
        sql: &str,
    ) -> (Result<Vec<String>, String>, Result<Vec<String>, String>) {
        let ordered = sql.contains("order by") && !sql.contains("over (");
        let answer = async |ctx| {
            let mut rows = rows(&try_query(ctx, sql).await?);
            if !ordered {
                rows.sort();
            }
            Ok(rows)
        };
        (answer(&self.source).await, answer(&self.copy).await)
    }

    /// The number of rows, which are the same; `None` if both answers are errors.
    async fn compare(&self, sql: &str) -> Result<Option<usize>, String> {
        match self.answers(sql).await {
            (Ok(source), Ok(copy)) if source == copy => Ok(Some(copy.len())),
            (Err(_), Err(_)) => Ok(None),
            (source, copy) => {
                let short = |rows: Result<Vec<String>, String>| match rows {
                    Ok(rows) => format!("{} rows: {:#?}", rows.len(), &rows[..rows.len().min(5)]),
                    Err(error) => error,
                };
                let (source, copy) = (short(source), short(copy));
                Err(format!("{sql}\nscan: {source}\ncopy: {copy}"))
            }
        }
    }

    /// The number of rows, which are the same.
    async fn same(&self, sql: &str) -> usize {
        match self.compare(sql).await {
            Ok(Some(rows)) => rows,
            Ok(None) => panic!("{sql}\nis an error, here and there"),
            Err(different) => panic!("{different}"),
        }
    }
}

/// Conditions, each of which some rows fulfil and some do not.
const CONDITIONS: &[&str] = &[
    "file = 'mysql-9.7-shop.000002'",
    "file <> 'mysql-9.7-shop.000002'",
    "file like 'mariadb%'",
    "file in ('mysql-9.7-shop.000001', 'mysql-9.7-payload.000001')",
    "right(file, 6) = '000004'",
    "cast(right(file, 6) as int) > 1",
    "pos = 4",
    "4 = pos",
    "pos < 1000",
    "1000 > pos",
    "pos >= 8000",
    "pos between 1000 and 2000",
    "pos not between 1000 and 20000",
    "pos > 1000 and pos < 1500",
    "pos in (4, 158, 256)",
    "pos % 2 = 0",
    "pos > 1000.5",
    "pos > -1 and pos < 200",
    "pos > end_pos - 40",
    "end_pos < 500",
    "payload_index is null",
    "payload_index is not null",
    "payload_index = 3",
    "payload_index is distinct from 3",
    "timestamp < '2026-11-15T00:00:00Z'",
    "timestamp >= '2026-11-02T09:01:00Z' and timestamp < '2026-11-02T09:02:00Z'",
    "timestamp > '2026-11-02T09:00:59.999999Z'",
    "timestamp = '2026-11-02T09:01:00Z'",
    "timestamp <> '2026-11-02T09:01:00Z'",
    "timestamp is distinct from timestamp '2026-11-02T09:01:00Z'",
    "timestamp is not distinct from timestamp '2026-11-02T09:01:00Z'",
    "timestamp is null",
    "timestamp is not null",
    "timestamp is null or timestamp > '2026-11-15T00:00:00Z'",
    "date_trunc('day', timestamp) = '2026-11-02T00:00:00Z'",
    "timestamp::date = '2026-11-02'",
    "type = 'QUERY'",
    "type <> 'QUERY'",
    "type in ('XID', 'GTID')",
    "type not in ('XID', 'GTID')",
    "type like '%ROWS%'",
    "type ilike '%rows%' and type not like '%COMPRESSED%'",
    "lower(type) = 'xid'",
    "type > 'T'",
    "type_code = 2",
    "type_code >= 160",
    "type = 'GTID' or type_code = 2",
    "type = 'GTID' and type_code = 162",
    "type = 'GTID' or pos = 4",
    "100 / (type_code - 200) <> 0",
    "case when type = 'QUERY' then pos < 2000 else size > 300 end",
    "server_id = 2",
    "server_id <> 2",
    "size > 300",
    "flags <> 0",
    "flags & 8 = 8",
    "log_pos <> end_pos",
    "gtid = '3e11fa47-71ca-11e1-9e33-c80aa9429562:40'",
    "gtid in ('3e11fa47-71ca-11e1-9e33-c80aa9429562:40', '3e11fa47-71ca-11e1-9e33-c80aa9429562:2')",
    "gtid in ('3e11fa47-71ca-11e1-9e33-c80aa9429562:40', '0-1-20', 'none')",
    "gtid = '0-1-20' or gtid = '3e11fa47-71ca-11e1-9e33-c80aa9429562:3'",
    "gtid not in ('3e11fa47-71ca-11e1-9e33-c80aa9429562:40')",
    "gtid like '%:deploy:%'",
    "gtid is null",
    "gtid is not null and pos > tx_pos",
    "upper(gtid) = '3E11FA47-71CA-11E1-9E33-C80AA9429562:40'",
    "tx_pos = pos",
    "tx_pos is null",
    "commit_timestamp > timestamp",
    "commit_timestamp is null",
    "xid is not null",
    "xid % 2 = 0",
    "thread_id = 10",
    "thread_id is null",
    "schema_name = 'shop'",
    "schema_name <> 'shop'",
    "schema_name is null",
    "coalesce(schema_name, 'none') = 'none'",
    "table_name = 'orders'",
    "table_name in ('orders', 'customers') and type like 'UPDATE%'",
    "table_name like '%s'",
    "query like 'INSERT%'",
    "query ilike '%orders%'",
    "query not like 'INSERT%'",
    "length(query) > 100",
    "query ~ '^(BEGIN|COMMIT)$'",
    "error_code = 0",
    "exec_time > 0",
    "row_count > 2",
    "row_count between 2 and 4",
    "info like '%STMT_END_F%'",
    "details like '%utf8mb4%'",
    "details is null",
    "checksum_ok",
    "checksum_ok is null",
    "not checksum_ok",
    "encode(body, 'hex') like '%00'",
    "type = 'QUERY' and query like '%orders%' and pos > 2000 and schema_name = 'shop'",
    "not (type = 'QUERY' or gtid is null)",
    "(type = 'QUERY' and pos < 1000) or (type = 'XID' and pos > 5000)",
    "type = 'NO SUCH TYPE'",
    "null",
    "false",
    "true",
    "type = null",
    "pos = null or type = 'XID'",
];

const ALL: &str = "select * from binlog";

#[tokio::test]
async fn a_condition_means_what_datafusion_means() {
    let pair = Pair::new().await;
    let total = pair.same(ALL).await;
    assert!(total > 600, "{total}");
    for condition in CONDITIONS {
        let found = pair.same(&format!("{ALL} where {condition}")).await;
        let not = format!("{ALL} where not coalesce({condition}, false)");
        assert_eq!(found + pair.same(&not).await, total, "{condition}");
    }
    // What cannot be computed for an event that is there is an error, as it is without a scan.
    let sql = format!("{ALL} where 100 / (type_code - 2) > 7");
    assert_eq!(pair.compare(&sql).await, Ok(None));
}

#[tokio::test]
async fn queries_mean_what_datafusion_means() {
    let pair = Pair::new().await;
    for sql in [
        "select count(*) from binlog",
        "select count(*) from binlog where type = 'QUERY'",
        "select count(gtid), count(distinct gtid), count(timestamp) from binlog",
        "select min(pos), max(pos), min(file), max(file) from binlog",
        "select min(pos), max(end_pos), min(timestamp), max(timestamp) from binlog where pos > 100",
        "select file, min(pos), max(end_pos), count(*) from binlog group by file order by file",
        "select type, count(*), sum(size) from binlog group by type order by type",
        "select type, schema_name, table_name, sum(row_count) from binlog group by 1, 2, 3",
        "select 1 from binlog where pos < 1000",
        "select pos, pos as again, type, pos + 1 from binlog where pos < 1000",
        "select upper(query), length(query) from binlog where query is not null",
        "select * from binlog order by file, pos, payload_index",
        "select * from binlog order by file desc, pos desc, payload_index desc",
        "select * from binlog order by pos, file, payload_index",
        "select * from binlog order by pos desc, file, payload_index",
        "select * from binlog order by file, pos desc, payload_index",
        "select * from binlog order by file desc, pos, payload_index",
        "select file, pos from binlog order by file, pos",
        "select pos from binlog order by pos",
        "select pos from binlog order by pos desc",
        "select file from binlog order by file",
        "select file from binlog order by file desc",
        "select file, pos from binlog order by file, pos limit 7",
        "select file, pos from binlog order by file, pos limit 7 offset 140",
        "select file, pos from binlog where type = 'XID' order by file, pos limit 20 offset 10",
        "select file, pos from binlog order by file desc, pos desc limit 3",
        "select pos, file from binlog order by pos desc, file limit 5",
        "select pos, file from binlog where file like 'mysql%' order by pos, file limit 5",
        "select timestamp, file, pos, payload_index from binlog order by timestamp desc nulls last, file, pos, payload_index limit 9",
        "select count(*) from (select * from binlog limit 10)",
        "select count(*) from (select * from binlog where type = 'QUERY' limit 10)",
        "select count(*) from (select * from binlog where query like '%orders%' limit 10 offset 3)",
        "select a.pos, b.pos from binlog a join binlog b on a.file = b.file and a.tx_pos = b.tx_pos \
         where a.type = 'XID' and b.type = 'TABLE_MAP'",
        "select file, pos from binlog where tx_pos in (select tx_pos from binlog where table_name = 'orders')",
        "select file, pos from binlog a where exists (select 1 from binlog b where b.type = 'ROTATE' and b.file = a.file)",
        "select file, pos, row_number() over (partition by file order by pos, payload_index) from binlog where type = 'XID'",
        "select distinct schema_name, table_name from binlog where type = 'TABLE_MAP'",
        "select type from binlog where pos < 500 union all select type from binlog where pos > 10000",
        "select gtid, max(end_pos) - min(pos) from binlog group by gtid having count(*) > 5",
        "with t as (select * from binlog where type = 'QUERY') select count(*) from t where pos > 1000",
    ] {
        pair.same(sql).await;
    }
}

fn is_a_number(name: &str) -> bool {
    !matches!(
        name,
        "file" | "type" | "gtid" | "schema_name" | "table_name" | "query" | "info"
    )
}

/// A comparison of a column with a value that the column often has.
fn atom() -> impl Strategy<Value = String> {
    let values: &[(&str, &[&str])] = &[
        (
            "file",
            &[
                "'mysql-9.7-shop.000001'",
                "'mariadb-11.8-shop.000002'",
                "'x'",
                "null",
            ],
        ),
        (
            "pos",
            &[
                "0",
                "4",
                "158",
                "1000",
                "5302",
                "12000",
                "18446744073709551615",
                "-1",
                "null",
            ],
        ),
        ("end_pos", &["127", "1245", "5302", "10000"]),
        ("payload_index", &["0", "1", "5", "null"]),
        (
            "type",
            &[
                "'QUERY'",
                "'XID'",
                "'GTID'",
                "'WRITE_ROWS'",
                "'TABLE_MAP'",
                "'query'",
                "null",
            ],
        ),
        ("type_code", &["2", "15", "16", "30", "162", "300"]),
        ("server_id", &["0", "1", "2"]),
        ("size", &["31", "79", "200", "1000"]),
        ("flags", &["0", "8", "128"]),
        ("log_pos", &["0", "127", "1000"]),
        (
            "gtid",
            &[
                "'3e11fa47-71ca-11e1-9e33-c80aa9429562:11'",
                "'3e11fa47-71ca-11e1-9e33-c80aa9429562:40'",
                "'0-1-70'",
                "'x'",
            ],
        ),
        ("tx_pos", &["158", "995", "4027"]),
        ("xid", &["15", "28", "100"]),
        ("thread_id", &["9", "10", "12"]),
        ("schema_name", &["'shop'", "'none'", "null"]),
        ("table_name", &["'orders'", "'customers'", "'totals'"]),
        ("query", &["'BEGIN'", "'COMMIT'"]),
        ("row_count", &["1", "2", "5"]),
        ("error_code", &["0", "1"]),
        (
            "timestamp",
            &[
                "timestamp '2026-11-02T09:01:00Z'",
                "timestamp '2026-11-02T09:00:59.999999Z'",
                "timestamp '2026-11-02T09:01:00.000001Z'",
                "timestamp '1960-01-01T00:00:00Z'",
                "timestamp '2200-01-01T00:00:00Z'",
                "'2026-11-30T20:53:09Z'",
            ],
        ),
    ];
    let operators = select(vec![
        "=",
        "<>",
        "<",
        "<=",
        ">",
        ">=",
        "is distinct from",
        "is not distinct from",
    ]);
    let compared = select(values.to_vec()).prop_flat_map(move |(column, values)| {
        (
            Just(column),
            operators.clone(),
            select(values.to_vec()),
            any::<bool>(),
        )
            .prop_map(|(column, operator, value, swapped)| match swapped {
                true => format!("({value} {operator} {column})"),
                false => format!("({column} {operator} {value})"),
            })
    });
    let listed = select(values.to_vec()).prop_flat_map(|(column, values)| {
        let list = proptest::collection::vec(select(values.to_vec()), 1..5);
        (Just(column), list, any::<bool>()).prop_map(|(column, list, negated)| {
            let not = if negated { "not " } else { "" };
            format!("{column} {not}in ({})", list.join(", "))
        })
    });
    let between = select(values.to_vec()).prop_flat_map(|(column, values)| {
        (
            Just(column),
            select(values.to_vec()),
            select(values.to_vec()),
        )
            .prop_map(|(column, low, high)| format!("{column} between {low} and {high}"))
    });
    let null = select(values.to_vec()).prop_flat_map(|(column, _)| {
        (Just(column), select(vec!["is null", "is not null"]))
            .prop_map(|(column, test)| format!("{column} {test}"))
    });
    let texts: Vec<&str> = values
        .iter()
        .map(|v| v.0)
        .filter(|c| !is_a_number(c))
        .collect();
    let like = (
        select(texts),
        select(vec!["%o%", "mysql%", "%ROWS%", "%1", "____", "%"]),
    )
        .prop_map(|(column, pattern)| format!("{column} like '{pattern}'"));
    let computed = select(vec![
        "pos % 3 = 1",
        "pos + 100 > end_pos",
        "size = end_pos - pos",
        "lower(type) like 'w%'",
        "type_code & 1 = 1",
        "length(query) > 50",
        "coalesce(table_name, schema_name, type) > 'o'",
        "checksum_ok",
        "date_part('second', timestamp) > 30",
        "type || '/' || schema_name = 'QUERY/shop'",
        "nullif(type, 'QUERY') is null",
    ])
    .prop_map(str::to_owned);
    Union::new_weighted(vec![
        (8, compared.boxed()),
        (3, listed.boxed()),
        (2, between.boxed()),
        (2, null.boxed()),
        (2, like.boxed()),
        (2, computed.boxed()),
    ])
}

fn predicate() -> impl Strategy<Value = String> {
    atom().prop_recursive(4, 12, 3, |inner| {
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            4 => pair.clone().prop_map(|(a, b)| format!("({a} and {b})")),
            3 => pair.clone().prop_map(|(a, b)| format!("({a} or {b})")),
            1 => inner.clone().prop_map(|a| format!("(not {a})")),
            1 => (inner, select(vec!["is true", "is not true", "is false", "is null", "is unknown"]))
                .prop_map(|(a, test)| format!("(({a}) {test})")),
            1 => pair.prop_map(|(a, b)| format!("(case when {a} then {b} else {a} end)")),
        ]
    })
}

/// What is selected, and what behind the condition.
fn shapes() -> impl Strategy<Value = (&'static str, &'static str)> {
    select(vec![
        ("*", ""),
        ("file, pos, payload_index", ""),
        ("count(*)", ""),
        ("type, gtid, query", ""),
        (
            "file, pos, payload_index, info",
            " order by file, pos, payload_index",
        ),
        ("file, pos", " order by file, pos limit 5"),
        (
            "pos, file, payload_index",
            " order by pos desc, file, payload_index limit 4",
        ),
    ])
}

#[test]
fn random_conditions_mean_what_datafusion_means() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let pair = runtime.block_on(Pair::new());
    let config = Config {
        cases: 300,
        failure_persistence: None,
        ..Config::default()
    };
    let (found, failed) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    let result = TestRunner::new(config).run(&(predicate(), shapes()), |(condition, shape)| {
        let sql = format!(
            "select {} from binlog where {condition}{}",
            shape.0, shape.1
        );
        let rows = runtime.block_on(pair.compare(&sql));
        match rows.map_err(TestCaseError::fail)? {
            None => failed.set(failed.get() + 1),
            Some(rows) => found.set(found.get() + usize::from(rows > 1)),
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    // The conditions are neither all false nor all errors.
    assert!(found.get() > 60, "{}", found.get());
    assert!(failed.get() < 15, "{}", failed.get());
}

#[tokio::test]
async fn every_column_alone_is_what_it_is_among_all() {
    let pair = Pair::new().await;
    let schema = pair.source.table("binlog").await.unwrap();
    let names: Vec<String> = schema
        .schema()
        .fields()
        .iter()
        .map(|f| f.name().clone())
        .collect();
    for name in names {
        let sql = format!("select {name} from binlog");
        assert!(pair.same(&sql).await > 600, "{name}");
    }
}
