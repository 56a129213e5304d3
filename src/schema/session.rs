//! What a statement depends on beside its text.

use crate::binlog::event::{Flavor, Query, StatusVar};

/// The session in which a statement ran.
#[derive(Debug, Clone, Copy, Default)]
pub struct Session<'a> {
    /// Default schema; empty for none.
    pub schema: &'a str,
    /// Bits of `sql_mode`.
    pub sql_mode: u64,
    /// A collation of the character set that new schemas get; `None`: it is not known.
    pub server_collation: Option<u16>,
    /// Whose server ran it.
    pub flavor: Flavor,
}

impl<'a> Session<'a> {
    /// The session that a QUERY tells of. `schema`: its default schema as text.
    pub fn of(query: &Query<'_>, schema: &'a str) -> Self {
        let mut session = Self {
            schema,
            flavor: query.status_vars.flavor(),
            ..Self::default()
        };
        for var in query.status_vars.iter().map_while(Result::ok) {
            match var {
                StatusVar::SqlMode(mode) => session.sql_mode = mode,
                StatusVar::Charset { server, .. } => session.server_collation = Some(server),
                _ => {}
            }
        }
        session
    }
}
