//! What is run on a server: configurations, tables, changes, and the SELECTs between.

use super::model::Table;
use super::random::Rng;
use super::types::{Server, catalogue};
use super::{alter, changes};
use std::fmt::Write;

/// The rows that a log has of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Image {
    Full,
    Minimal,
    NoBlob,
    FullNoDup,
}

/// Settings of one group of logs.
#[derive(Debug, Clone)]
pub struct Config {
    pub image: Image,
    /// `binlog_row_metadata`.
    pub metadata: &'static str,
    /// `binlog_transaction_compression`, `log_bin_compress`.
    pub compressed: bool,
    pub partial_json: bool,
    /// MySQL gives tables without a key one that is invisible.
    pub hidden_key: bool,
}

impl Config {
    /// The groups of a server.
    pub fn all(server: Server) -> Vec<Self> {
        use Image::{Full, FullNoDup, Minimal, NoBlob};
        let config = |image, metadata, compressed, partial_json, hidden_key| Self {
            image,
            metadata,
            compressed,
            partial_json,
            hidden_key,
        };
        if server.is_mysql() {
            return vec![
                config(Full, "FULL", false, false, false),
                config(Minimal, "FULL", false, false, true),
                config(NoBlob, "MINIMAL", true, false, false),
                config(Full, "MINIMAL", false, true, false),
                config(Minimal, "MINIMAL", true, true, false),
                config(Full, "FULL", true, true, true),
                config(NoBlob, "FULL", false, true, false),
            ];
        }
        let mut all = vec![
            config(Full, "FULL", false, false, false),
            config(Minimal, "FULL", true, false, false),
            config(NoBlob, "NO_LOG", false, false, false),
            config(Full, "MINIMAL", true, false, false),
            config(Minimal, "NO_LOG", false, false, false),
            config(NoBlob, "FULL", true, false, false),
        ];
        if server >= Server::MariaDb118 {
            all.push(config(FullNoDup, "FULL", false, false, false));
            all.push(config(FullNoDup, "NO_LOG", true, false, false));
        }
        all
    }

    fn settings(&self, server: Server) -> Vec<String> {
        let on = |on: bool| if on { "ON" } else { "OFF" };
        let image = match self.image {
            Image::Full => "FULL",
            Image::Minimal => "MINIMAL",
            Image::NoBlob => "NOBLOB",
            Image::FullNoDup => "FULL_NODUP",
        };
        let mut all = vec![
            format!("SET SESSION binlog_row_image = {image}"),
            format!("SET GLOBAL binlog_row_metadata = {}", self.metadata),
        ];
        if server.is_mysql() {
            all.push(format!(
                "SET SESSION binlog_transaction_compression = {}",
                on(self.compressed)
            ));
            all.push(format!(
                "SET SESSION binlog_row_value_options = '{}'",
                if self.partial_json {
                    "PARTIAL_JSON"
                } else {
                    ""
                }
            ));
            all.push(format!(
                "SET SESSION sql_generate_invisible_primary_key = {}",
                on(self.hidden_key)
            ));
        } else {
            all.push(format!(
                "SET GLOBAL log_bin_compress = {}",
                on(self.compressed)
            ));
        }
        all.push("FLUSH BINARY LOGS".to_owned());
        all
    }
}

/// A moment at which the server showed tables.
#[derive(Debug, Clone)]
pub struct Checkpoint {
    pub group: usize,
    pub tables: Vec<Table>,
    /// The tables must be what the log made of them; else they were changed by a statement, and
    /// what is shown is where changes begin.
    pub verify: bool,
}

/// A script, and what its answers mean.
pub struct Workload {
    pub server: Server,
    pub configs: Vec<Config>,
    pub script: String,
    pub checkpoints: Vec<Checkpoint>,
    pub rng: Rng,
    group: usize,
}

impl Workload {
    /// A workload of about `changes` row changes.
    pub fn new(server: Server, seed: u64, changes: usize) -> Self {
        let configs = Config::all(server);
        let mut workload = Self {
            server,
            configs: configs.clone(),
            script: String::new(),
            checkpoints: Vec::new(),
            rng: Rng::new(seed ^ (server as u64) << 32),
            group: 0,
        };
        workload.run("SET NAMES utf8mb4");
        workload.run("SET time_zone = '+00:00'");
        workload.run("SET sql_mode = 'ALLOW_INVALID_DATES'");
        if !server.is_mysql() {
            workload.run("SET GLOBAL log_bin_compress_min_len = 30");
        }
        for (group, config) in configs.iter().enumerate() {
            workload.group = group;
            workload.group(config, changes / configs.len());
        }
        workload
    }

    /// Appends a statement; it is a line of its own.
    pub fn run(&mut self, sql: impl AsRef<str>) {
        debug_assert!(!sql.as_ref().contains('\n'));
        writeln!(self.script, "{};", sql.as_ref()).unwrap();
    }

    pub fn checkpoint(&mut self, tables: &[Table], verify: bool) {
        let number = self.checkpoints.len();
        self.run(format!("SELECT '#C', {number}"));
        let position = if self.server.is_mysql() {
            "SHOW BINARY LOG STATUS"
        } else {
            "SHOW MASTER STATUS"
        };
        self.run(position);
        for table in tables {
            self.run(format!("SELECT '#T', {}", table.id));
            self.run(table.select(self.server));
        }
        self.checkpoints.push(Checkpoint {
            group: self.group,
            tables: tables.to_vec(),
            verify,
        });
    }

    fn group(&mut self, config: &Config, changes: usize) {
        for setting in config.settings(self.server) {
            self.run(setting);
        }
        let schema = schema_of(self.group);
        self.run(format!("CREATE DATABASE {schema} CHARACTER SET utf8mb4"));
        let mut tables = self.tables(&schema, config);
        for table in &tables {
            self.run(table.create(self.server));
        }
        self.checkpoint(&tables, false);
        // Every table sees every phase; changes are shared out evenly.
        let share = changes.div_ceil(tables.len()).max(12);
        changes::fill(self, &mut tables, share / 3);
        changes::mixed(self, config, &mut tables, share / 3);
        self.checkpoint(&tables, true);
        alter::some(self, config, &mut tables);
        changes::mixed(self, config, &mut tables, share - share / 3 * 2);
        self.checkpoint(&tables, true);
    }

    /// Tables that together have every type.
    fn tables(&mut self, schema: &str, config: &Config) -> Vec<Table> {
        let mut types = catalogue(self.server);
        self.rng.shuffle(&mut types);
        let mut tables = Vec::new();
        let mut rest = types.as_slice();
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(self.rng.between(6, 16) as usize));
            rest = later;
            let mut table = Table::new(
                tables.len(),
                schema,
                now.to_vec(),
                self.server,
                &mut self.rng,
            );
            if config.hidden_key && table.key.is_empty() && table.engine == "InnoDB" {
                table.give_hidden_key();
            }
            tables.push(table);
        }
        tables
    }
}

/// The schema of a group's tables.
pub fn schema_of(group: usize) -> String {
    format!("g{group}")
}
