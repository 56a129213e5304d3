//! Filters, projections, orders and limits that a scan of rows does itself, against DataFusion doing
//! the same on a copy of all rows in memory.

use crate::support::{config, number, over, rows, try_query};
use datafusion::datasource::MemTable;
use datafusion::prelude::SessionContext;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use std::sync::Arc;

/// Logs of every kind: both servers, two files in a row, payloads, compressed events.
const LOGS: &[&str] = &[
    "mysql-9.7-shop.000001",
    "mysql-9.7-shop.000002",
    "mysql-9.7-payload.000001",
    "mariadb-11.8-shop.000001",
    "mariadb-11.8-shop.000002",
    "mariadb-10.11-compressed.000001",
];

/// A relation of rows, the place of a row in it, and conditions that some rows fulfil.
#[derive(Debug)]
struct Relation {
    name: &'static str,
    place: &'static str,
    columns: &'static [&'static str],
    conditions: &'static [&'static str],
}

const CHANGES: Relation = Relation {
    name: "changes",
    place: "file, pos, payload_index, row_index",
    columns: &[
        "op",
        "key",
        "before",
        "after",
        "changed",
        "query",
        "gtid",
        "timestamp",
    ],
    conditions: &[
        "file = 'mysql-9.7-shop.000002'",
        "file like 'mariadb%'",
        "pos < 9000",
        "pos between 5000 and 12000",
        "pos > 1000.5",
        "payload_index is null",
        "payload_index = 3",
        "payload_index is distinct from 3",
        "row_index = 0",
        "row_index > 2",
        "row_index % 2 = 1",
        "tx_pos < 9000",
        "tx_pos is null",
        "timestamp >= '2026-11-02T09:03:00Z'",
        "timestamp = '2026-11-02T09:01:00Z'",
        "timestamp is not distinct from timestamp '2026-11-02T09:01:00Z'",
        "timestamp is null",
        "commit_timestamp > timestamp",
        "commit_timestamp is null",
        "gtid = '3e11fa47-71ca-11e1-9e33-c80aa9429562:11'",
        "gtid in ('3e11fa47-71ca-11e1-9e33-c80aa9429562:11', '0-1-12', 'none')",
        "gtid like '%:deploy:%'",
        "gtid is null",
        "server_id = 2",
        "thread_id = 10",
        "thread_id is null",
        "schema_name = 'shop'",
        "schema_name <> 'shop'",
        "table_name = 'orders'",
        "table_name in ('customers', 'products')",
        "table_name not in ('customers', 'products')",
        "table_name like '%s'",
        "op = 'UPDATE'",
        "'UPDATE' = op",
        "op <> 'UPDATE'",
        "op in ('INSERT', 'DELETE')",
        "op > 'I'",
        "lower(op) = 'delete'",
        "op = 'update'",
        "op is null",
        "op = null",
        "key is null",
        "key like '%100%'",
        "key = '{\"id\":1}'",
        "before is null",
        "before like '%paid%'",
        "after is null",
        "after like '%\"status\":\"paid\"%'",
        "length(after) > 150",
        "before = after",
        "before < after",
        "changed is null",
        "array_has(changed, 'stock')",
        "cardinality(changed) > 1",
        "query like 'UPDATE%'",
        "query ilike '%orders%'",
        "query is null",
        "case when op = 'INSERT' then row_index > 1 else key is not null end",
        "coalesce(before, after) like '%,%'",
        "op || '/' || table_name = 'UPDATE/orders'",
        "100 / (row_index + 1) > 30",
        "op = 'NO SUCH'",
        "true",
        "false",
        "null",
    ],
};

const ORDERS: Relation = Relation {
    name: "shop.orders",
    place: "_file, _pos, _payload_index, _row_index",
    columns: &[
        "id",
        "status",
        "placed",
        "delivery_at",
        "total",
        "note",
        "attributes",
        "_op",
        "_changed",
        "_missing",
        "_before",
        "_before['total']",
        "_before['note']",
    ],
    conditions: &[
        "_file like 'mysql%'",
        "_pos > 8000",
        "_op = 'UPDATE'",
        "_op <> 'INSERT'",
        "_gtid like '%:13'",
        "_row_index > 3",
        "_timestamp < '2026-11-02T09:02:00Z'",
        "_changed is not null",
        "array_has(_changed, 'note')",
        "cardinality(_missing) > 0",
        "id = 1",
        "id < 1003",
        "id % 2 = 0",
        "id in (1, 1001, 1002)",
        "customer_id = 2 or customer_id is null",
        "status = 'paid'",
        "status in ('paid', 'new')",
        "status > 'new'",
        "status like '%ed'",
        "status is null",
        "placed < '2026-11-01T00:00:00Z'",
        "placed is null",
        "date_part('minute', placed) = 1",
        "delivery_at is not null",
        "total > 20",
        "total = 12.50",
        "total between 5 and 20.25",
        "total is null",
        "total * 2 > customer_id",
        "note is null",
        "note like '%paid%'",
        "length(note) > 5",
        "attributes like '%gift%'",
        "attributes is not null",
        "_before is null",
        "_before['total'] is null",
        "_before['total'] > 10",
        "_before['status'] = 'new'",
        "_before['status'] <> status",
        "_before['note'] is distinct from note",
        "_before['id'] = id",
        "true",
        "false",
        "id = null",
    ],
};

const PRODUCTS: Relation = Relation {
    name: "shop.products",
    place: "_file, _pos, _payload_index, _row_index",
    columns: &[
        "sku",
        "title",
        "price",
        "weight",
        "stock",
        "released",
        "flags",
        "thumbnail",
        "_before",
        "embedding",
        "_op",
        "_missing",
    ],
    conditions: &[
        "sku like 'BK%'",
        "price > 20",
        "weight is null",
        "weight < 0.8",
        "stock < 0",
        "_before['stock'] > stock",
        "_before['stock'] - stock = 2",
        "released between 1960 and 1999",
        "flags & 1 = 1",
        "encode(thumbnail, 'hex') like '00%'",
        "thumbnail is null",
        "embedding is not null",
        "cardinality(embedding) = 3",
        "_op = 'INSERT'",
        "_pos < 7000",
        "array_has(_missing, 'price')",
        "true",
    ],
};

const RELATIONS: [&Relation; 3] = [&CHANGES, &ORDERS, &PRODUCTS];

/// The source as it is, and copies of its rows that know nothing of logs.
struct Pair {
    source: SessionContext,
    copy: SessionContext,
}

impl Pair {
    async fn new() -> Self {
        let source = over(LOGS).await;
        let copy =
            SessionContext::new_with_config(config().with_create_default_catalog_and_schema(true));
        try_query(&copy, "create schema shop").await.unwrap();
        for relation in RELATIONS {
            let sql = format!("select * from {}", relation.name);
            let frame = source.sql(&sql).await.unwrap();
            let schema = frame.schema().as_arrow().clone();
            let batches = frame.collect().await.unwrap();
            let table = MemTable::try_new(Arc::new(schema), vec![batches]).unwrap();
            copy.register_table(relation.name, Arc::new(table)).unwrap();
        }
        Self { source, copy }
    }

    /// The number of rows, which are the same; `None` if both answers are errors.
    async fn compare(&self, sql: &str) -> Result<Option<usize>, String> {
        let ordered = sql.rsplit(')').next().unwrap().contains("order by");
        let answer = async |ctx| {
            let mut rows = rows(&try_query(ctx, sql).await?);
            if !ordered {
                rows.sort();
            }
            Ok::<_, String>(rows)
        };
        match (answer(&self.source).await, answer(&self.copy).await) {
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

#[tokio::test]
async fn a_condition_means_what_datafusion_means() {
    let pair = Pair::new().await;
    for relation in RELATIONS {
        let all = format!("select * from {}", relation.name);
        let total = pair.same(&all).await;
        assert!(total > 20, "{total}");
        for condition in relation.conditions {
            let found = pair.same(&format!("{all} where {condition}")).await;
            let name = relation.name;
            let not = format!("select count(*) from {name} where not coalesce({condition}, false)");
            let left = number(&pair.source, &not).await as usize;
            assert_eq!(found + left, total, "{condition}");
        }
    }
}

#[tokio::test]
async fn every_column_alone_is_what_it_is_among_all() {
    let pair = Pair::new().await;
    for relation in RELATIONS {
        let frame = pair.source.table(relation.name).await.unwrap();
        for field in frame.schema().fields() {
            let sql = format!("select {} from {}", field.name(), relation.name);
            pair.same(&sql).await;
        }
        for column in relation.columns {
            pair.same(&format!("select {column} from {}", relation.name))
                .await;
            pair.same(&format!("select count({column}) from {}", relation.name))
                .await;
        }
    }
}

#[tokio::test]
async fn queries_mean_what_datafusion_means() {
    let pair = Pair::new().await;
    for sql in [
        "select count(*) from changes",
        "select count(payload_index), count(gtid), count(key), count(changed) from changes",
        "select min(pos), max(pos), min(file), max(file), min(row_index), max(row_index) from changes",
        "select min(payload_index), max(payload_index) from changes where file like '%payload%'",
        "select table_name, op, count(*), max(length(after)) from changes group by 1, 2",
        "select file, pos, row_index from changes order by file, pos, payload_index, row_index limit 9 offset 100",
        "select file, pos, payload_index, row_index from changes order by file desc, pos desc, payload_index desc, row_index desc",
        "select file, pos, payload_index, row_index from changes where op = 'DELETE' order by file, pos, payload_index, row_index",
        "select _before['total'], total from shop.orders where _op = 'UPDATE'",
        "select upper(_before['status']), _before['id'] + 1 from shop.orders",
        "select _before['status'], _before from shop.orders where id = 1",
        "select o.id, c.name from shop.orders o join changes x on o._pos = x.pos and o._file = x.file and o._row_index = x.row_index and o._payload_index is not distinct from x.payload_index \
         join (select distinct op name from changes) c on c.name = o._op",
        "select status, sum(total), min(placed), max(delivery_at) from shop.orders group by status",
        "select id, last_value(status order by _file, _pos, _payload_index, _row_index) from shop.orders group by id",
        "select count(*) from (select * from shop.orders limit 7)",
        "select count(*) from (select * from changes where key like '%1%' limit 7)",
        "select distinct released, price from shop.products where _before['stock'] is not null",
        "select unnest(changed) from changes where op = 'UPDATE'",
        "select sku, unnest(embedding) from shop.products",
    ] {
        pair.same(sql).await;
    }
}

/// A relation, and a query of it.
fn queries() -> impl Strategy<Value = String> {
    select(RELATIONS.to_vec()).prop_flat_map(|relation| {
        let atom = select(relation.conditions.to_vec()).prop_map(str::to_owned);
        let condition = atom.prop_recursive(2, 4, 2, |inner| {
            let pair = (inner.clone(), inner.clone());
            prop_oneof![
                2 => pair.clone().prop_map(|(a, b)| format!("({a}) and ({b})")),
                5 => pair.clone().prop_map(|(a, b)| format!("({a}) or ({b})")),
                1 => inner.clone().prop_map(|a| format!("not ({a})")),
                1 => inner.prop_map(|a| format!("({a}) is not true")),
                1 => pair.prop_map(|(a, b)| format!("case when {a} then {b} else {a} end")),
            ]
        });
        let columns = proptest::sample::subsequence(relation.columns.to_vec(), 1..4);
        let behind = select(vec!["", "", "order", "order limit"]);
        (condition, columns, behind, proptest::bool::weighted(0.2)).prop_map(
            move |(condition, columns, behind, counted)| {
                let (name, place) = (relation.name, relation.place);
                let order = match behind {
                    "order" => format!(" order by {place}"),
                    "order limit" => format!(" order by {place} limit 5"),
                    _ => String::new(),
                };
                match counted {
                    true if order.is_empty() => {
                        format!("select count(*) from {name} where {condition}")
                    }
                    _ => {
                        let columns = columns.join(", ");
                        format!("select {place}, {columns} from {name} where {condition}{order}")
                    }
                }
            },
        )
    })
}

#[test]
fn random_conditions_mean_what_datafusion_means() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let pair = runtime.block_on(Pair::new());
    let config = Config {
        cases: 150,
        failure_persistence: None,
        ..Config::default()
    };
    let (found, failed) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    let result = TestRunner::new(config).run(&queries(), |sql| {
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
    assert!(found.get() > 10, "{}", found.get());
    assert!(failed.get() < 15, "{}", failed.get());
}
