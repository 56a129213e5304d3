//! Tables: what the generator knows of them.

use super::edges::edges;
use super::random::Rng;
use super::types::{Server, Ty};
use super::values::{random, text};

#[derive(Debug, Clone)]
pub struct Column {
    pub name: String,
    pub ty: Ty,
    pub nullable: bool,
    /// DEFAULT clause, and what stands in it.
    pub default: Option<String>,
    /// Expression of a generated column, with VIRTUAL or STORED.
    pub generated: Option<String>,
    pub auto_increment: bool,
    pub invisible: bool,
    /// The server makes the column of its own accord.
    pub implicit: bool,
    /// How many edges of the type were used.
    step: usize,
    /// Values of a key column: few, so that statements meet rows that are there.
    pool: Vec<String>,
}

impl Column {
    pub fn new(name: impl Into<String>, ty: Ty) -> Self {
        Self {
            name: name.into(),
            ty,
            nullable: false,
            default: None,
            generated: None,
            auto_increment: false,
            invisible: false,
            implicit: false,
            step: 0,
            pool: Vec::new(),
        }
    }

    /// Name in backticks.
    pub fn quoted(&self) -> String {
        format!("`{}`", self.name.replace('`', "``"))
    }

    pub fn declaration(&self, server: Server) -> String {
        let mut sql = format!("{} {}", self.quoted(), self.ty.sql());
        if let Some(generated) = &self.generated {
            sql += &format!(" GENERATED ALWAYS AS {generated}");
        } else {
            sql += if self.nullable { " NULL" } else { " NOT NULL" };
        }
        // MariaDB wants it before DEFAULT, MySQL takes it anywhere.
        if self.invisible {
            sql += " INVISIBLE";
        }
        if let Some(default) = &self.default {
            sql += &format!(" DEFAULT {default}");
        } else if matches!(self.ty, Ty::Timestamp(_))
            && !self.nullable
            && self.generated.is_none()
            && !server.is_mysql()
        {
            // Else the first TIMESTAMP is given CURRENT_TIMESTAMP.
            sql += " DEFAULT '2001-01-01 00:00:00'";
        }
        if self.auto_increment {
            sql += " AUTO_INCREMENT";
        }
        sql
    }

    /// What an INSERT that leaves the column out gives it is not in the log.
    pub fn has_default(&self) -> bool {
        self.default.is_some() || self.generated.is_some() || matches!(self.ty, Ty::Timestamp(_))
    }

    pub fn assignable(&self) -> bool {
        self.generated.is_none() && !self.implicit
    }

    /// The next value as SQL.
    pub fn value(&mut self, server: Server, rng: &mut Rng) -> String {
        if !self.pool.is_empty() {
            return rng.pick(&self.pool).clone();
        }
        if self.nullable && rng.chance(12) {
            return "NULL".to_owned();
        }
        let edges = edges(&self.ty, server);
        self.step += 1;
        match edges.get(self.step - 1) {
            Some(edge) => edge.clone(),
            // Large values are an edge only once.
            None if rng.chance(20) => {
                let edge = rng.pick(&edges).clone();
                if edge.starts_with("REPEAT") && self.ty.is_blob() {
                    random(&self.ty, server, rng)
                } else {
                    edge
                }
            }
            None => random(&self.ty, server, rng),
        }
    }
}

#[derive(Debug, Clone)]
pub struct Table {
    /// Stays the same when the table is renamed.
    pub id: usize,
    pub schema: String,
    pub name: String,
    pub columns: Vec<Column>,
    /// Indexes of the primary key's columns.
    pub key: Vec<usize>,
    /// Of a text in the key, characters that the key covers.
    pub key_prefix: Option<u16>,
    pub engine: &'static str,
    pub partitioned: bool,
    /// Further indexes.
    pub indexes: Vec<String>,
    next_id: u64,
}

/// A key column's type, and values for it.
fn key_column(n: usize, server: Server, rng: &mut Rng) -> Column {
    let words = [
        "a",
        "b",
        "B",
        "zz",
        "Key 1",
        "key 2",
        "é",
        "",
        "x_y",
        "100%",
        "ß",
        "longer text of a key",
        "ü1",
        "q'q",
    ];
    let texts = || words.iter().map(|word| text(word)).collect::<Vec<_>>();
    let days = || {
        (1..25)
            .map(|day| format!("'2024-05-{day:02}'"))
            .collect::<Vec<_>>()
    };
    let choices: Vec<(Ty, Vec<String>)> = vec![
        (
            Ty::int(1, true),
            (0..30).map(|n: i32| (n * 8).to_string()).collect(),
        ),
        (
            Ty::int(8, false),
            (-9..9)
                .map(|n: i64| (n * 999_999_999_999).to_string())
                .collect(),
        ),
        (
            Ty::int(8, true),
            (0..15).map(|n: u64| (u64::MAX - n).to_string()).collect(),
        ),
        (Ty::VarChar(20, "utf8mb4"), texts()),
        (Ty::VarChar(30, "latin1"), texts()),
        (Ty::Char(20, "utf8mb4"), texts()),
        (Ty::Date, days()),
        (Ty::DateTime(3), days()),
        (
            Ty::decimal(12, 3),
            (-9..9).map(|n: i64| format!("{n}.125")).collect(),
        ),
        (
            Ty::Binary(5),
            ["", "61", "6100", "00", "FFFF", "2020", "6161616161"]
                .map(|hex| format!("X'{hex}'"))
                .to_vec(),
        ),
        (
            Ty::VarBinary(9),
            ["", "61", "6100", "00", "FFFF", "2020", "6161616161"]
                .map(|hex| format!("X'{hex}'"))
                .to_vec(),
        ),
        (
            Ty::Bit(12),
            (0..20).map(|n| format!("b'{:b}'", n * 200)).collect(),
        ),
        (
            Ty::Time(0),
            (0..20).map(|n| format!("'-{n}:00:00'")).collect(),
        ),
        (
            Ty::Year,
            (2000..2020).map(|year: u32| year.to_string()).collect(),
        ),
        (
            Ty::Uuid,
            (10..30)
                .map(|n| format!("'123e4567-e89b-12d3-a456-4266554400{n}'"))
                .collect(),
        ),
        (
            Ty::Inet6,
            (10..30).map(|n| format!("'2001:db8::{n}'")).collect(),
        ),
    ];
    loop {
        let (ty, pool) = rng.pick(&choices).clone();
        let there = match ty {
            Ty::Uuid => server >= Server::MariaDb1011,
            Ty::Inet6 => !server.is_mysql(),
            _ => true,
        };
        if there {
            let mut column = Column::new(format!("k{n}"), ty);
            column.pool = pool;
            return column;
        }
    }
}

/// Names that are hard to get right.
const NAMES: [&str; 9] = [
    "größe",
    "select",
    "_op",
    "with space",
    "Mixed Case",
    "back`tick",
    "_before",
    "file",
    "列",
];

impl Table {
    /// A table with columns of these types in random order, and some key.
    pub fn new(id: usize, schema: &str, types: Vec<Ty>, server: Server, rng: &mut Rng) -> Self {
        let mut columns: Vec<Column> = Vec::new();
        for (n, ty) in types.into_iter().enumerate() {
            let name = match n.checked_sub(3) {
                Some(m) if (m + id).is_multiple_of(11) => {
                    NAMES[(id + m) / 11 % NAMES.len()].to_owned()
                }
                _ => format!("c{n}"),
            };
            let mut column = Column::new(name, ty);
            column.nullable = rng.chance(70);
            column.step = 0;
            let simple = matches!(column.ty, Ty::Int { .. } | Ty::Decimal { .. });
            if simple && rng.chance(20) {
                column.default = Some("0".to_owned());
            } else if matches!(column.ty, Ty::VarChar(..))
                && column.ty.charset() != Some("swe7")
                && rng.chance(20)
            {
                column.default = Some("'dflt'".to_owned());
            } else if let Ty::Timestamp(f) | Ty::DateTime(f) = column.ty
                && rng.chance(20)
            {
                let now = if f == 0 {
                    "CURRENT_TIMESTAMP".to_owned()
                } else {
                    format!("CURRENT_TIMESTAMP({f})")
                };
                column.default = Some(format!("{now} ON UPDATE {now}"));
            }
            column.invisible = rng.chance(4) && (column.nullable || column.default.is_some());
            columns.push(column);
        }
        let mut table = Self {
            id,
            schema: schema.to_owned(),
            name: format!("t{id}"),
            columns,
            key: Vec::new(),
            key_prefix: None,
            engine: "InnoDB",
            partitioned: false,
            indexes: Vec::new(),
            next_id: 1,
        };
        table.give_key(server, rng);
        table.give_extras(server, rng);
        let plain = |column: &Column| !matches!(column.ty, Ty::Geometry(..) | Ty::Vector(_));
        if !table.columns.iter().all(plain) {
            table.partitioned = false;
        } else if rng.chance(12) && !table.partitioned {
            table.engine = "MyISAM";
            // It has none on expressions.
            table.indexes.clear();
        }
        table
    }

    fn give_key(&mut self, server: Server, rng: &mut Rng) {
        match self.id % 5 {
            // Some table without a key.
            4 => {}
            3 => {
                let keys: Vec<Column> = (0..rng.between(1, 3))
                    .map(|n| key_column(n as usize, server, rng))
                    .collect();
                for column in keys {
                    let at = rng.index(self.columns.len() + 1);
                    self.columns.insert(at, column);
                }
                self.key = (0..self.columns.len())
                    .filter(|&n| !self.columns[n].pool.is_empty())
                    .collect();
                rng.shuffle(&mut self.key);
            }
            2 if rng.chance(50) => {
                let mut column = Column::new("doc", Ty::Text(2, "utf8mb4"));
                column.pool = (0..20)
                    .map(|n| text(&format!("{n} is the beginning of a text")))
                    .collect();
                self.columns.push(column);
                self.key = vec![self.columns.len() - 1];
                self.key_prefix = Some(10);
            }
            kind => {
                let mut column = Column::new("id", Ty::int(*rng.pick(&[3, 4, 8]), rng.chance(50)));
                column.auto_increment = kind == 1;
                let at = if rng.chance(70) {
                    0
                } else {
                    rng.index(self.columns.len() + 1)
                };
                self.columns.insert(at, column);
                self.key = vec![at];
                self.partitioned = rng.chance(20);
            }
        }
    }

    fn give_extras(&mut self, server: Server, rng: &mut Rng) {
        let int = self.columns.iter().find(|column| {
            matches!(column.ty, Ty::Int { .. }) && column.assignable() && !column.auto_increment
        });
        if let Some(source) = int.map(Column::quoted) {
            if rng.chance(50) {
                let mut column = Column::new("gen", Ty::int(4, false));
                column.generated = Some(format!(
                    "(IFNULL({source}, -1) % 97) {}",
                    if rng.chance(50) { "STORED" } else { "VIRTUAL" }
                ));
                column.nullable = true;
                // Keys are known by their index.
                self.columns.push(column);
            }
            if server.is_mysql() && rng.chance(60) {
                self.indexes.push(format!("KEY f (({source} % 7))"));
            }
        }
        if server.is_mysql()
            && rng.chance(60)
            && let Some(column) = self.columns.iter().find(|column| column.ty == Ty::Json)
        {
            self.indexes.push(format!(
                "KEY m ((CAST({}->'$.tags' AS CHAR(20) ARRAY)))",
                column.quoted()
            ));
            self.partitioned = false;
        }
    }

    /// MySQL gives the table a key (`sql_generate_invisible_primary_key`).
    pub fn give_hidden_key(&mut self) {
        let mut column = Column::new("my_row_id", Ty::int(8, true));
        (column.auto_increment, column.invisible, column.implicit) = (true, true, true);
        self.columns.insert(0, column);
        self.key = vec![0];
    }

    pub fn has_hidden_key(&self) -> bool {
        self.key.iter().any(|&n| self.columns[n].implicit)
    }

    /// Name in backticks, with the schema.
    pub fn quoted(&self) -> String {
        format!("`{}`.`{}`", self.schema, self.name)
    }

    pub fn create(&self, server: Server) -> String {
        let declared = self.columns.iter().filter(|column| !column.implicit);
        let mut parts: Vec<String> = declared.map(|column| column.declaration(server)).collect();
        if !self.key.is_empty() && !self.has_hidden_key() {
            let prefix = self
                .key_prefix
                .map(|n| format!("({n})"))
                .unwrap_or_default();
            let names: Vec<String> = self
                .key
                .iter()
                .map(|&n| self.columns[n].quoted() + &prefix)
                .collect();
            parts.push(format!("PRIMARY KEY ({})", names.join(", ")));
        }
        parts.extend(self.indexes.iter().cloned());
        let mut sql = format!(
            "CREATE TABLE {} ({}) ENGINE={}",
            self.quoted(),
            parts.join(", "),
            self.engine
        );
        if self.partitioned {
            sql += &format!(
                " PARTITION BY HASH({}) PARTITIONS 3",
                self.columns[self.key[0]].quoted()
            );
        }
        sql
    }

    /// What shows all columns of its rows, in the model's order.
    pub fn select(&self, server: Server) -> String {
        let shown: Vec<String> = self
            .columns
            .iter()
            .map(|column| column.ty.shown(&column.quoted(), server))
            .collect();
        format!("SELECT '#R', {} FROM {}", shown.join(", "), self.quoted())
    }

    /// The whole number that is its key.
    pub fn int_key(&self) -> Option<usize> {
        match *self.key {
            [n] if self.columns[n].pool.is_empty() => Some(n),
            _ => None,
        }
    }

    /// A key that is new.
    pub fn fresh_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id - 1
    }

    /// A key that may be there.
    pub fn some_id(&self, rng: &mut Rng) -> u64 {
        rng.between(1, self.next_id)
    }

    /// Indexes of the columns that statements may set, key columns apart.
    pub fn free_columns(&self) -> Vec<usize> {
        (0..self.columns.len())
            .filter(|n| self.columns[*n].assignable() && !self.key.contains(n))
            .collect()
    }

    /// A new version: columns by their old index, or new ones. Keys follow.
    pub fn arrange(&mut self, order: Vec<Result<usize, Column>>) {
        let key = self.key.iter().map(|&old| {
            order
                .iter()
                .position(|new| new.as_ref().ok() == Some(&old))
                .unwrap()
        });
        self.key = key.collect();
        self.columns = order
            .into_iter()
            .map(|new| new.map_or_else(|column| column, |old| self.columns[old].clone()))
            .collect();
    }
}
