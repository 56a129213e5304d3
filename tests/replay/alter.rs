//! Changes of tables between the changes of rows.

use super::model::{Column, Table};
use super::random::Rng;
use super::types::Ty;
use super::workload::{Config, Workload};

/// Changes some tables, and has the server show them.
pub fn some(w: &mut Workload, config: &Config, tables: &mut Vec<Table>) {
    let mut touched = Vec::new();
    for (n, table) in tables.iter_mut().enumerate() {
        if w.rng.chance(75) {
            for _ in 0..w.rng.between(1, 2) {
                one(w, table);
            }
            touched.push(n);
        }
    }
    // Further tables, made of others.
    for n in 0..tables.len() {
        if w.rng.chance(15) && !tables[n].has_hidden_key() {
            let id = tables.len();
            if let Some(table) = made_of(w, config, &tables[n].clone(), id) {
                tables.push(table);
                touched.push(id);
            }
        }
    }
    let shown: Vec<Table> = touched.iter().map(|&n| tables[n].clone()).collect();
    w.checkpoint(&shown, false);
}

/// A copy with the rows, or without rows but with the keys.
fn made_of(w: &mut Workload, config: &Config, source: &Table, id: usize) -> Option<Table> {
    let mut table = source.clone();
    table.id = id;
    table.name = format!("t{id}");
    if w.rng.chance(50) {
        w.run(format!(
            "CREATE TABLE {} LIKE {}",
            table.quoted(),
            source.quoted()
        ));
        return Some(table);
    }
    if config.hidden_key || source.columns.iter().any(|column| column.invisible) {
        return None;
    }
    // Servers log a statement of their own making, in utf8mb3: a label is `?` in it where the table
    // has `😀`.
    let is_lost = |label: &String| label.chars().any(|c| c > '\u{ffff}');
    let mut labels = source.columns.iter().flat_map(|column| column.ty.labels());
    if labels.any(is_lost) {
        return None;
    }
    // The columns become plain ones, and the key is gone.
    w.run(format!(
        "CREATE TABLE {} AS SELECT * FROM {}",
        table.quoted(),
        source.quoted()
    ));
    table.key.clear();
    table.key_prefix = None;
    table.partitioned = false;
    table.engine = "InnoDB";
    table.indexes.clear();
    for column in &mut table.columns {
        column.generated = None;
        column.auto_increment = false;
    }
    Some(table)
}

fn one(w: &mut Workload, table: &mut Table) {
    let free = table.free_columns();
    let plain: Vec<usize> = free.into_iter().filter(|&n| !is_used(table, n)).collect();
    let quoted = table.quoted();
    match w.rng.below(10) {
        0 => {
            let mut column = added(w, table);
            column.name = format!("added{}", w.checkpoints.len());
            if table.columns.iter().any(|other| other.name == column.name) {
                return;
            }
            let declaration = column.declaration(w.server);
            let mut order: Vec<Result<usize, Column>> = (0..table.columns.len()).map(Ok).collect();
            let place = match w.rng.below(3) {
                0 => {
                    order.insert(0, Err(column));
                    " FIRST".to_owned()
                }
                1 => {
                    let n = w.rng.index(table.columns.len());
                    order.insert(n + 1, Err(column));
                    format!(" AFTER {}", table.columns[n].quoted())
                }
                _ => {
                    order.push(Err(column));
                    String::new()
                }
            };
            table.arrange(order);
            w.run(format!(
                "ALTER TABLE {quoted} ADD COLUMN {declaration}{place}"
            ));
        }
        1 | 2 if plain.len() > 2 => {
            let n = *w.rng.pick(&plain);
            let name = table.columns[n].quoted();
            table.arrange(
                (0..table.columns.len())
                    .filter(|&m| m != n)
                    .map(Ok)
                    .collect(),
            );
            w.run(format!("ALTER TABLE {quoted} DROP COLUMN {name}"));
        }
        3 if !plain.is_empty() => {
            let n = *w.rng.pick(&plain);
            let old = table.columns[n].quoted();
            table.columns[n].name += "_new";
            let new = table.columns[n].quoted();
            if w.rng.chance(50) {
                w.run(format!("ALTER TABLE {quoted} RENAME COLUMN {old} TO {new}"));
            } else {
                let declaration = table.columns[n].declaration(w.server);
                w.run(format!(
                    "ALTER TABLE {quoted} CHANGE COLUMN {old} {declaration}"
                ));
            }
        }
        4..=6 if !plain.is_empty() => {
            for _ in 0..20 {
                let n = *w.rng.pick(&plain);
                if let Some(ty) = widened(&table.columns[n].ty, &mut w.rng) {
                    table.columns[n].ty = ty;
                    if !matches!(
                        table.columns[n].ty,
                        Ty::Int { .. } | Ty::Decimal { .. } | Ty::VarChar(..)
                    ) {
                        table.columns[n].default = None;
                    }
                    w.run(format!(
                        "ALTER TABLE {quoted} MODIFY COLUMN {}",
                        table.columns[n].declaration(w.server)
                    ));
                    break;
                }
            }
        }
        7 if plain.len() > 2 && !table.has_hidden_key() => {
            let moved = *w.rng.pick(&plain);
            let rest: Vec<usize> = (0..table.columns.len()).filter(|&n| n != moved).collect();
            let after = w.rng.index(rest.len());
            let place = format!("AFTER {}", table.columns[rest[after]].quoted());
            let declaration = table.columns[moved].declaration(w.server);
            w.run(format!(
                "ALTER TABLE {quoted} MODIFY COLUMN {declaration} {place}"
            ));
            let mut order: Vec<Result<usize, Column>> = rest.into_iter().map(Ok).collect();
            order.insert(after + 1, Ok(moved));
            table.arrange(order);
        }
        8 => {
            table.name += "r";
            let new = table.quoted();
            let sql = match w.rng.chance(50) {
                true => format!("RENAME TABLE {quoted} TO {new}"),
                false => format!("ALTER TABLE {quoted} RENAME TO {new}"),
            };
            w.run(sql);
        }
        _ => {
            if w.rng.chance(50) {
                w.run(format!("TRUNCATE TABLE {quoted}"));
            } else {
                w.run(format!("DROP TABLE {quoted}"));
                if w.rng.chance(50) && !table.has_hidden_key() {
                    let order = (0..table.columns.len()).rev().map(Ok).collect();
                    table.arrange(order);
                }
                w.run(table.create(w.server));
            }
        }
    }
}

/// A generated column or an index is made of it, or its name would be too odd.
fn is_used(table: &Table, n: usize) -> bool {
    let name = table.columns[n].quoted();
    let generated = table
        .columns
        .iter()
        .filter_map(|column| column.generated.as_ref());
    generated
        .chain(&table.indexes)
        .any(|sql| sql.contains(&name))
}

fn added(w: &mut Workload, table: &Table) -> Column {
    let types = super::types::catalogue(w.server);
    let mut column = Column::new("", w.rng.pick(&types).clone());
    column.nullable = true;
    let special = matches!(column.ty, Ty::Geometry(..) | Ty::Vector(_));
    if w.rng.chance(40) || special && (table.partitioned || table.engine != "InnoDB") {
        column.ty = Ty::int(4, false);
        column.nullable = w.rng.chance(50);
        column.default = Some("42".to_owned());
    }
    column
}

/// A type that takes the values of another.
fn widened(ty: &Ty, rng: &mut Rng) -> Option<Ty> {
    Some(match ty {
        Ty::Int { bytes: 8, unsigned } => match rng.below(3) {
            0 => Ty::int(8, !unsigned),
            1 => Ty::decimal(30, 2),
            _ => Ty::VarChar(40, "latin1"),
        },
        Ty::Int { bytes, unsigned } => match rng.below(3) {
            0 => Ty::int(if *bytes == 4 { 8 } else { bytes + 1 }, *unsigned),
            1 => Ty::int(8, false),
            _ => Ty::Double { unsigned: false },
        },
        Ty::Decimal {
            precision, scale, ..
        } if *precision < 60 && *scale < 28 => Ty::decimal(precision + 5, scale + 2),
        Ty::Float { .. } => Ty::Double { unsigned: false },
        Ty::Bit(n) if *n < 60 => Ty::Bit(n + 3),
        Ty::Year => Ty::int(4, false),
        Ty::Date => Ty::DateTime(3),
        Ty::Time(f) if *f < 6 => Ty::Time(f + 1),
        Ty::DateTime(f) if *f < 6 => Ty::DateTime(6),
        Ty::Timestamp(f) => Ty::DateTime(*f),
        Ty::Char(n, set) if *n > 0 => Ty::VarChar(n + 3, set),
        Ty::VarChar(n, set) if *n < 300 => match rng.below(3) {
            0 => Ty::VarChar(n + 256, set),
            1 => Ty::VarChar(*n, "utf8mb4"),
            _ => Ty::Text(3, "utf8mb4"),
        },
        Ty::Text(n, set) if *n < 4 => Ty::Text(n + 1, set),
        Ty::Binary(n) => Ty::VarBinary(n + 1),
        Ty::VarBinary(n) if *n < 300 => Ty::Blob(3),
        Ty::Blob(n) if *n < 4 => Ty::Blob(n + 1),
        Ty::Enum(labels, set) => {
            let mut labels = labels.to_vec();
            labels.push(format!("more {}", labels.len()));
            if rng.chance(30) {
                Ty::VarChar(60, "utf8mb4")
            } else {
                Ty::Enum(labels.into(), set)
            }
        }
        Ty::Set(labels, set) if labels.len() < 64 => {
            let mut labels = labels.to_vec();
            labels.push(format!("more {}", labels.len()));
            Ty::Set(labels.into(), set)
        }
        _ => return None,
    })
}
