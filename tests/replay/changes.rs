//! Changes of rows: every kind of statement, alone and in transactions.

use super::json;
use super::model::Table;
use super::types::Ty;
use super::workload::{Config, Image, Workload};

/// Fills the tables with about `each` rows, edges first.
pub fn fill(w: &mut Workload, tables: &mut [Table], each: usize) {
    for table in tables {
        let mut left = each;
        while left > 0 {
            let rows = w.rng.between(1, 4).min(left as u64) as usize;
            let sql = insert(w, table, rows, "INSERT", true);
            w.run(sql);
            left -= rows;
        }
    }
}

/// About `each` changes of each table, of every kind.
pub fn mixed(w: &mut Workload, config: &Config, tables: &mut [Table], each: usize) {
    let mut left = vec![each as i64; tables.len()];
    while let Some(open) = some_open(w, &left) {
        match w.rng.below(10) {
            0..=5 => {
                let sql = statement(w, config, &mut tables[open], &mut left[open]);
                w.run(sql);
            }
            kind => transaction(w, config, tables, &mut left, kind),
        }
    }
}

/// A table with changes to come.
fn some_open(w: &mut Workload, left: &[i64]) -> Option<usize> {
    let open: Vec<usize> = (0..left.len()).filter(|&n| left[n] > 0).collect();
    if open.is_empty() {
        None
    } else {
        Some(*w.rng.pick(&open))
    }
}

fn transaction(
    w: &mut Workload,
    config: &Config,
    tables: &mut [Table],
    left: &mut [i64],
    kind: u64,
) {
    // What is rolled back counts for nothing, except for the end of the loop.
    let xa = kind == 9;
    w.run(if xa { "XA START 'x'" } else { "BEGIN" });
    let mut savepoint = false;
    for _ in 0..w.rng.between(1, 6) {
        let n = w.rng.index(tables.len());
        if tables[n].engine != "InnoDB" {
            continue;
        }
        if !xa && w.rng.chance(30) {
            w.run("SAVEPOINT s");
            savepoint = true;
        }
        let sql = statement(w, config, &mut tables[n], &mut left[n]);
        w.run(sql);
        if savepoint && w.rng.chance(30) {
            w.run("ROLLBACK TO s");
        }
    }
    if xa {
        w.run("XA END 'x'");
        if w.rng.chance(50) {
            w.run("XA PREPARE 'x'");
            w.run("XA COMMIT 'x'");
        } else {
            w.run("XA COMMIT 'x' ONE PHASE");
        }
    } else {
        let end = if w.rng.chance(25) {
            "ROLLBACK"
        } else {
            "COMMIT"
        };
        w.run(end);
    }
}

/// One statement, and what it takes from what is left.
fn statement(w: &mut Workload, config: &Config, table: &mut Table, left: &mut i64) -> String {
    let (sql, changes) = match w.rng.below(100) {
        0..=24 => {
            let rows = w.rng.between(1, 4);
            (insert(w, table, rows as usize, "INSERT", true), rows)
        }
        25..=34 => {
            // MariaDB logs a REPLACE as an UPDATE whose after image lacks the columns that the
            // statement does not name, although they change to their defaults.
            let sparse = w.server.is_mysql() || config.image == Image::Full;
            (insert(w, table, 2, "REPLACE", sparse), 3)
        }
        35..=41 => (
            format!(
                "{} ON DUPLICATE KEY UPDATE {}",
                insert(w, table, 1, "INSERT", true),
                assignments(w, config, table)
            ),
            1,
        ),
        42..=76 => (
            format!(
                "UPDATE {} SET {}{}",
                table.quoted(),
                assignments(w, config, table),
                condition(w, table)
            ),
            1,
        ),
        77..=84 => (key_update(w, config, table), 1),
        85..=94 => (
            format!("DELETE FROM {}{}", table.quoted(), condition(w, table)),
            1,
        ),
        _ => (copy(w, config, table), 1),
    };
    *left -= changes as i64;
    sql
}

/// An INSERT or REPLACE of several rows, some columns left to their defaults.
fn insert(w: &mut Workload, table: &mut Table, rows: usize, verb: &str, sparse: bool) -> String {
    let optional = |n: &usize| {
        let column = &table.columns[*n];
        column.nullable || column.default.is_some()
    };
    let sparse = sparse && w.rng.chance(25);
    let mut columns = Vec::new();
    for n in 0..table.columns.len() {
        let column = &table.columns[n];
        let left_out = sparse && !table.key.contains(&n) && optional(&n) && w.rng.chance(50);
        let counted =
            column.auto_increment && table.key.contains(&n) && verb == "INSERT" && w.rng.chance(30);
        if column.assignable() && !left_out && !counted {
            columns.push(n);
        }
    }
    let id = table.int_key();
    let mut lists = Vec::new();
    for _ in 0..rows {
        let mut values = Vec::new();
        for &n in &columns {
            values.push(if id == Some(n) {
                let old = verb == "REPLACE" || w.rng.chance(10);
                let id = if old {
                    table.some_id(&mut w.rng)
                } else {
                    table.fresh_id()
                };
                id.to_string()
            } else {
                table.columns[n].value(w.server, &mut w.rng)
            });
        }
        lists.push(format!("({})", values.join(", ")));
    }
    let names: Vec<String> = columns.iter().map(|&n| table.columns[n].quoted()).collect();
    format!(
        "{verb} INTO {} ({}) VALUES {}",
        table.quoted(),
        names.join(", "),
        lists.join(", ")
    )
}

/// New values for some columns that are not of the key.
fn assignments(w: &mut Workload, config: &Config, table: &mut Table) -> String {
    let free = table.free_columns();
    if free.is_empty() {
        let key = table.columns[table.key[0]].quoted();
        return format!("{key} = {key}");
    }
    let mut parts = Vec::new();
    for _ in 0..w.rng.between(1, 3) {
        let n = *w.rng.pick(&free);
        let column = &mut table.columns[n];
        let part = w.rng.chance(if config.partial_json { 85 } else { 50 });
        let value = if column.ty == Ty::Json && part {
            json::update(&column.quoted(), w.server, &mut w.rng)
        } else {
            column.value(w.server, &mut w.rng)
        };
        parts.push(format!("{} = {value}", column.quoted()));
    }
    parts.join(", ")
}

/// A WHERE clause for a few rows.
fn condition(w: &mut Workload, table: &Table) -> String {
    if let Some(n) = table.int_key() {
        let key = table.columns[n].quoted();
        let id = table.some_id(&mut w.rng);
        return match w.rng.below(8) {
            0..=4 => format!(" WHERE {key} = {id}"),
            5 => format!(" WHERE {key} IN ({id}, {})", table.some_id(&mut w.rng)),
            6 => format!(" WHERE {key} BETWEEN {id} AND {}", id + 2),
            _ => format!(" WHERE {key} % 5 = {} LIMIT 4", id % 5),
        };
    }
    if let Some(&n) = table.key.first() {
        let key = &mut table.columns[n].clone();
        return format!(
            " WHERE {} = {} LIMIT 3",
            key.quoted(),
            key.value(w.server, &mut w.rng)
        );
    }
    let sortable = |ty: &Ty| {
        matches!(
            ty,
            Ty::Int { .. } | Ty::Date | Ty::Double { .. } | Ty::DateTime(_) | Ty::VarBinary(_)
        )
    };
    let by = table.columns.iter().find(|column| sortable(&column.ty));
    let order = match by {
        Some(column) if w.rng.chance(60) => format!(" ORDER BY {} DESC", column.quoted()),
        _ => String::new(),
    };
    format!("{order} LIMIT {}", w.rng.between(1, 3))
}

/// An UPDATE of the key itself.
fn key_update(w: &mut Workload, config: &Config, table: &mut Table) -> String {
    let condition = condition(w, table);
    let value = match (table.int_key(), table.key.clone().as_slice()) {
        (Some(n), _) if !table.columns[n].implicit => {
            format!("{} = {}", table.columns[n].quoted(), table.fresh_id())
        }
        (None, [.., n]) => format!(
            "{} = {}",
            table.columns[*n].quoted(),
            table.columns[*n].value(w.server, &mut w.rng)
        ),
        _ => assignments(w, config, table),
    };
    let condition = match condition.contains("LIMIT") || table.key.is_empty() {
        true => condition,
        false => condition + " LIMIT 1",
    };
    format!("UPDATE {} SET {value}{condition}", table.quoted())
}

/// INSERT … SELECT of a table's own rows.
fn copy(w: &mut Workload, config: &Config, table: &mut Table) -> String {
    let int = table.int_key();
    if int.is_none() && !table.key.is_empty() {
        return format!(
            "UPDATE {} SET {}{}",
            table.quoted(),
            assignments(w, config, table),
            condition(w, table)
        );
    }
    let columns: Vec<usize> = (0..table.columns.len())
        .filter(|&n| table.columns[n].assignable())
        .collect();
    let names: Vec<String> = columns.iter().map(|&n| table.columns[n].quoted()).collect();
    let shift = w.rng.between(1, 9) * 1000;
    let values = columns.iter().map(|&n| {
        let name = table.columns[n].quoted();
        if Some(n) == int {
            format!("{name} + {shift}")
        } else {
            name
        }
    });
    let values: Vec<String> = values.collect();
    format!(
        "INSERT INTO {0} ({1}) SELECT {2} FROM {0} LIMIT 2",
        table.quoted(),
        names.join(", "),
        values.join(", ")
    )
}
