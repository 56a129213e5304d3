//! Status variables of a QUERY: the session state that the statement ran under.
//!
//! ```text
//! (code 1 │ value) …          the length of a value is known from its code alone
//! ```
//!
//! Whoever meets an unknown code cannot hop over it: the rest of the block is then
//! [`StatusVars::undecoded`]. The statement itself is found by the length of the block. MySQL
//! writes the codes in ascending order; MariaDB writes 131 before 4.
//!
//! Source: MySQL `libs/mysql/binlog/event/statement_events.{h,cpp}`; MariaDB `sql/log_event.{h,cc}`;
//! codes 21, 128–131 and all flags also from logs of MySQL 9.7 and MariaDB 11.8.

use super::{Cursor, Details, Flavor};
use crate::binlog::charset::{Text, charset_of};
use crate::error::{Error, Result};

/// The status variables of one statement, not yet read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StatusVars<'a> {
    bytes: &'a [u8],
    flavor: Flavor,
}

/// One status variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StatusVar<'a> {
    /// 0: session options, see [`flag_names`].
    Flags2(u32),
    /// 1: `sql_mode`, see [`sql_mode_names`].
    SqlMode(u64),
    /// 2 (MySQL 5.0.0 to 5.0.3, NUL at the end), 6: catalog, always `std`.
    Catalog(&'a [u8]),
    /// 3: `auto_increment_increment` and `auto_increment_offset`.
    AutoIncrement {
        /// `auto_increment_increment`.
        increment: u16,
        /// `auto_increment_offset`.
        offset: u16,
    },
    /// 4: collation identifiers.
    Charset {
        /// A collation of `character_set_client`, which the statement's text is in.
        client: u16,
        /// `collation_connection`.
        connection: u16,
        /// `collation_server`.
        server: u16,
    },
    /// 5: `time_zone`: `SYSTEM`, `+03:00`, `Europe/Rome`.
    TimeZone(&'a [u8]),
    /// 7: number of the locale `lc_time_names`; not written for 0, `en_US`.
    LcTimeNames(u16),
    /// 8: identifier of `collation_database`.
    CharsetDatabase(u16),
    /// 9: bit map of the tables that a multi-table UPDATE changes.
    TableMapForUpdate(u64),
    /// 10: length of the event in the log of the source server, which was older than 5.0.
    MasterDataWritten(u32),
    /// 11: definer of a routine, trigger, event or view that names none.
    Invoker {
        /// User name.
        user: &'a [u8],
        /// Host name; empty for a role.
        host: &'a [u8],
    },
    /// 12: the schemas that the statement touches.
    UpdatedDbs(UpdatedDbs<'a>),
    /// 13 (MySQL), 128 (MariaDB): microseconds of the time when the statement began; the seconds
    /// are the header's.
    Microseconds(u32),
    /// 16: `explicit_defaults_for_timestamp`.
    ExplicitDefaultsForTimestamp(bool),
    /// 17 (MySQL), 129 (MariaDB): number of the transaction that a DDL statement is.
    DdlXid(u64),
    /// 18: identifier of `default_collation_for_utf8mb4`.
    DefaultCollationForUtf8mb4(u16),
    /// 19: `sql_require_primary_key`.
    SqlRequirePrimaryKey(u8),
    /// 20: `default_table_encryption`.
    DefaultTableEncryption(u8),
    /// 21: `enable_cascade_triggers` (MySQL 9.7).
    EnableCascadeTriggers(u8),
    /// 130 (MariaDB): `flags_extra` of the statement's GTID.
    GtidFlags3 {
        /// 2: START ALTER, 4: COMMIT ALTER, 8: ROLLBACK ALTER.
        flags: u8,
        /// Sequence number of the START ALTER that a COMMIT or ROLLBACK ALTER ends.
        start_alter: Option<u64>,
    },
    /// 131 (MariaDB): `character_set_collations`.
    CharacterSetCollations(CharsetCollations<'a>),
}

/// The schemas that a statement touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpdatedDbs<'a> {
    /// The statement touches more than 16: none is named.
    pub too_many: bool,
    names: &'a [u8],
}

impl<'a> UpdatedDbs<'a> {
    /// Count that stands for "too many to name".
    const TOO_MANY: u8 = 254;

    fn read(block: &mut Cursor<'a>) -> Result<Self> {
        let count = block.u8()?;
        let names = block.peek();
        let too_many = count == Self::TOO_MANY;
        if !too_many {
            for _ in 0..count {
                block.until_nul()?;
            }
        }
        let len = names.len().saturating_sub(block.len());
        Ok(Self {
            too_many,
            names: names.get(..len).unwrap_or_default(),
        })
    }

    /// The names, in utf8mb3.
    pub fn names(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let mut rest = Cursor::new(self.names);
        std::iter::from_fn(move || rest.until_nul().ok())
    }
}

/// The default collations that the session gives to character sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CharsetCollations<'a> {
    pairs: &'a [u8],
}

impl<'a> CharsetCollations<'a> {
    /// Pairs of a collation identifier that stands for the character set, and the identifier of
    /// the collation that it gets.
    pub fn pairs(&self) -> impl Iterator<Item = (u16, u16)> + use<'a> {
        let mut rest = Cursor::new(self.pairs);
        std::iter::from_fn(move || Some((rest.u16().ok()?, rest.u16().ok()?)))
    }
}

impl<'a> StatusVar<'a> {
    /// Reads the value of the variable `code`; `None` for an unknown code.
    fn read(code: u8, block: &mut Cursor<'a>) -> Option<Result<Self>> {
        Some(match code {
            0 => block.u32().map(Self::Flags2),
            1 => block.u64().map(Self::SqlMode),
            2 => short_text(block).and_then(|text| block.u8().map(|_| Self::Catalog(text))),
            3 => pair(block).map(|(increment, offset)| Self::AutoIncrement { increment, offset }),
            4 => (|| {
                Ok(Self::Charset {
                    client: block.u16()?,
                    connection: block.u16()?,
                    server: block.u16()?,
                })
            })(),
            5 => short_text(block).map(Self::TimeZone),
            6 => short_text(block).map(Self::Catalog),
            7 => block.u16().map(Self::LcTimeNames),
            8 => block.u16().map(Self::CharsetDatabase),
            9 => block.u64().map(Self::TableMapForUpdate),
            10 => block.u32().map(Self::MasterDataWritten),
            11 => (|| {
                Ok(Self::Invoker {
                    user: short_text(block)?,
                    host: short_text(block)?,
                })
            })(),
            12 => UpdatedDbs::read(block).map(Self::UpdatedDbs),
            13 | 128 => block.uint(3).map(|n| Self::Microseconds(n as u32)),
            16 => block
                .u8()
                .map(|b| Self::ExplicitDefaultsForTimestamp(b != 0)),
            17 | 129 => block.u64().map(Self::DdlXid),
            18 => block.u16().map(Self::DefaultCollationForUtf8mb4),
            19 => block.u8().map(Self::SqlRequirePrimaryKey),
            20 => block.u8().map(Self::DefaultTableEncryption),
            21 => block.u8().map(Self::EnableCascadeTriggers),
            130 => (|| {
                let flags = block.u8()?;
                let ends_alter = flags & 0x0c != 0;
                Ok(Self::GtidFlags3 {
                    flags,
                    start_alter: ends_alter.then(|| block.u64()).transpose()?,
                })
            })(),
            131 => (|| {
                let count = usize::from(block.u8()?);
                let pairs = block.bytes(count.saturating_mul(4))?;
                Ok(Self::CharacterSetCollations(CharsetCollations { pairs }))
            })(),
            // 14 and 15, COMMIT_TS and COMMIT_TS2, were never written; their lengths are unknown.
            _ => return None,
        })
    }

    fn describe(&self, flavor: Flavor, out: &mut Details<'_>) {
        match *self {
            Self::Flags2(flags) => {
                out.num("flags2", flags);
                out.strs("flags2_names", flag_names(flags, flavor));
            }
            Self::SqlMode(mode) => {
                out.num("sql_mode", mode);
                out.strs("sql_mode_names", sql_mode_names(mode, flavor));
            }
            Self::Catalog(name) => out.text("catalog", name),
            Self::AutoIncrement { increment, offset } => {
                out.num("auto_increment_increment", increment);
                out.num("auto_increment_offset", offset);
            }
            Self::Charset {
                client,
                connection,
                server,
            } => {
                if let Some(charset) = charset_of(client) {
                    out.str("character_set_client", charset.name);
                }
                out.num("collation_client_id", client);
                out.num("collation_connection_id", connection);
                out.num("collation_server_id", server);
            }
            Self::TimeZone(name) => out.text("time_zone", name),
            Self::LcTimeNames(number) => out.num("lc_time_names", number),
            Self::CharsetDatabase(id) => out.num("collation_database_id", id),
            Self::TableMapForUpdate(map) => out.num("table_map_for_update", map),
            Self::MasterDataWritten(len) => out.num("master_data_written", len),
            Self::Invoker { user, host } => {
                out.text("invoker_user", user);
                out.text("invoker_host", host);
            }
            Self::UpdatedDbs(dbs) if dbs.too_many => out.str("updated_dbs", "too many"),
            Self::UpdatedDbs(dbs) => {
                out.strs("updated_dbs", dbs.names().map(|name| Text::utf8(name).text));
            }
            Self::Microseconds(n) => out.num("microseconds", n),
            Self::ExplicitDefaultsForTimestamp(on) => {
                out.bool("explicit_defaults_for_timestamp", on);
            }
            Self::DdlXid(xid) => out.num("ddl_xid", xid),
            Self::DefaultCollationForUtf8mb4(id) => {
                out.num("default_collation_for_utf8mb4_id", id);
            }
            Self::SqlRequirePrimaryKey(n) => out.num("sql_require_primary_key", n),
            Self::DefaultTableEncryption(n) => out.num("default_table_encryption", n),
            Self::EnableCascadeTriggers(n) => out.num("enable_cascade_triggers", n),
            Self::GtidFlags3 { flags, start_alter } => {
                out.num("gtid_flags_extra", flags);
                if let Some(number) = start_alter {
                    out.num("start_alter_seq_no", number);
                }
            }
            Self::CharacterSetCollations(collations) => {
                let item = |out: &mut Details<'_>, (of, gets): (u16, u16)| {
                    if let Some(charset) = charset_of(of) {
                        out.str("character_set", charset.name);
                    }
                    out.num("character_set_id", of);
                    out.num("collation_id", gets);
                    Ok::<(), ()>(())
                };
                let _ = out.objects("character_set_collations", collations.pairs(), item);
            }
        }
    }
}

fn short_text<'a>(block: &mut Cursor<'a>) -> Result<&'a [u8]> {
    let len = block.u8()?;
    block.bytes(usize::from(len))
}

fn pair(block: &mut Cursor<'_>) -> Result<(u16, u16)> {
    Ok((block.u16()?, block.u16()?))
}

impl<'a> StatusVars<'a> {
    /// The variables in `bytes`, of a server of `flavor`.
    pub(super) fn new(bytes: &'a [u8], flavor: Flavor) -> Self {
        Self { bytes, flavor }
    }

    /// Whose server wrote them.
    pub fn flavor(&self) -> Flavor {
        self.flavor
    }

    /// The variables, in the order of the log, to the first one that is unknown or cut.
    pub fn iter(&self) -> StatusVarIter<'a> {
        StatusVarIter {
            rest: Cursor::new(self.bytes),
            undecoded: &[],
        }
    }

    /// What an unknown variable makes unreadable, its code included; empty where all is read.
    ///
    /// # Errors
    /// A variable is cut.
    pub fn undecoded(&self) -> Result<&'a [u8]> {
        let mut vars = self.iter();
        for var in vars.by_ref() {
            var?;
        }
        Ok(vars.undecoded)
    }

    /// The first variable that `pick` wants.
    fn find<T>(&self, pick: impl FnMut(StatusVar<'a>) -> Option<T>) -> Option<T> {
        self.iter().map_while(Result::ok).find_map(pick)
    }

    /// Identifier of a collation of the character set that the statement's text is in. `None` in
    /// logs before 5.0.3.
    pub fn client_charset(&self) -> Option<u16> {
        self.find(|var| match var {
            StatusVar::Charset { client, .. } => Some(client),
            _ => None,
        })
    }

    /// The session's time zone; `None` where the statement does not depend on it.
    pub fn time_zone(&self) -> Option<&'a [u8]> {
        self.find(|var| match var {
            StatusVar::TimeZone(name) => Some(name),
            _ => None,
        })
    }

    /// Microseconds of the time when the statement began; `None` where the statement does not use
    /// them.
    pub fn microseconds(&self) -> Option<u32> {
        self.find(|var| match var {
            StatusVar::Microseconds(n) => Some(n),
            _ => None,
        })
    }

    /// Number of the transaction that a DDL statement is; `None` for other statements.
    pub fn ddl_xid(&self) -> Option<u64> {
        self.find(|var| match var {
            StatusVar::DdlXid(xid) => Some(xid),
            _ => None,
        })
    }

    /// Writes all variables.
    pub(super) fn describe(&self, out: &mut Details<'_>) -> Result<()> {
        let mut vars = self.iter();
        for var in vars.by_ref() {
            var?.describe(self.flavor, out);
        }
        if !vars.undecoded.is_empty() {
            out.hex("undecoded", vars.undecoded);
        }
        Ok(())
    }
}

/// Reads one status variable after the other.
#[derive(Debug, Clone)]
pub struct StatusVarIter<'a> {
    rest: Cursor<'a>,
    undecoded: &'a [u8],
}

impl<'a> Iterator for StatusVarIter<'a> {
    type Item = Result<StatusVar<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let all = self.rest.peek();
        let code = self.rest.u8().ok()?;
        match StatusVar::read(code, &mut self.rest) {
            Some(Ok(var)) => Some(Ok(var)),
            Some(Err(error)) => {
                self.rest = Cursor::new(&[]);
                let message = error.message();
                Some(Err(Error::corrupt(format!(
                    "status variable {code}: {message}"
                ))))
            }
            None => {
                self.rest = Cursor::new(&[]);
                self.undecoded = all;
                None
            }
        }
    }
}

/// Names of the options in [`StatusVar::Flags2`], lower bits first; unnamed bits are left out.
pub fn flag_names(flags: u32, flavor: Flavor) -> impl Iterator<Item = &'static str> {
    let own: &[(u32, &str)] = match flavor {
        Flavor::MySql => &[],
        Flavor::MariaDb => &[
            (15, "NO_CHECK_CONSTRAINT_CHECKS"),
            (24, "EXPLICIT_DEF_TIMESTAMP"),
            (28, "IF_EXISTS"),
            (30, "INSERT_HISTORY"),
        ],
    };
    let both = [
        (14, "AUTO_IS_NULL"),
        (19, "NOT_AUTOCOMMIT"),
        (26, "NO_FOREIGN_KEY_CHECKS"),
        (27, "RELAXED_UNIQUE_CHECKS"),
    ];
    (0..32)
        .filter(move |&bit| flags & 1u32.unbounded_shl(bit) != 0)
        .filter_map(move |bit| {
            both.iter()
                .chain(own)
                .find(|&&(at, _)| at == bit)
                .map(|n| n.1)
        })
}

/// Names of the modes in [`StatusVar::SqlMode`], lower bits first; unnamed bits are left out.
pub fn sql_mode_names(mode: u64, flavor: Flavor) -> impl Iterator<Item = &'static str> {
    let own: [&str; 3] = match flavor {
        Flavor::MySql => ["TIME_TRUNCATE_FRACTIONAL", "INTERPRET_UTF8_AS_UTF8MB4", ""],
        Flavor::MariaDb => [
            "EMPTY_STRING_IS_NULL",
            "SIMULTANEOUS_ASSIGNMENT",
            "TIME_ROUND_FRACTIONAL",
        ],
    };
    let names = SQL_MODES.iter().copied().chain(own);
    names.zip(0..).filter_map(move |(name, bit)| {
        let set = mode & 1u64.unbounded_shl(bit) != 0;
        (set && !name.is_empty()).then_some(name)
    })
}

/// Names of the bits 0–31, which both vendors share as far as they have them.
const SQL_MODES: [&str; 32] = [
    "REAL_AS_FLOAT",
    "PIPES_AS_CONCAT",
    "ANSI_QUOTES",
    "IGNORE_SPACE",
    "IGNORE_BAD_TABLE_OPTIONS", // MariaDB only
    "ONLY_FULL_GROUP_BY",
    "NO_UNSIGNED_SUBTRACTION",
    "NO_DIR_IN_CREATE",
    "POSTGRESQL",
    "ORACLE",
    "MSSQL",
    "DB2",
    "MAXDB",
    "NO_KEY_OPTIONS",
    "NO_TABLE_OPTIONS",
    "NO_FIELD_OPTIONS",
    "MYSQL323",
    "MYSQL40",
    "ANSI",
    "NO_AUTO_VALUE_ON_ZERO",
    "NO_BACKSLASH_ESCAPES",
    "STRICT_TRANS_TABLES",
    "STRICT_ALL_TABLES",
    "NO_ZERO_IN_DATE",
    "NO_ZERO_DATE",
    "ALLOW_INVALID_DATES",
    "ERROR_FOR_DIVISION_BY_ZERO",
    "TRADITIONAL",
    "NO_AUTO_CREATE_USER",
    "HIGH_NOT_PRECEDENCE",
    "NO_ENGINE_SUBSTITUTION",
    "PAD_CHAR_TO_FULL_LENGTH",
];
