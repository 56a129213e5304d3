//! QUERY: a statement, as text. QUERY_COMPRESSED: the same, compressed by MariaDB.
//!
//! ```text
//! QUERY             thread_id 4 │ exec_time 4 │ schema_len 1 │ error_code 2 │ (status_vars_len 2)
//!                   │ status variables │ schema │ NUL │ statement to the end
//! QUERY_COMPRESSED  the same, but the statement is compressed (see `compressed`)
//! ```
//!
//! Versions 1 and 3 have a post-header of 11 bytes and no status variables.
//!
//! Source: MySQL `libs/mysql/binlog/event/statement_events.{h,cpp}`; MariaDB `sql/log_event.cc`.

use super::status_vars::StatusVars;
use super::{Cursor, Describe, Details, Event, EventContext, EventDef, Flavor, Vendor};
use crate::binlog::charset::{Text, charset_of};
use crate::binlog::compressed::{MAX_UNCOMPRESSED, claimed_len, uncompress};
use crate::error::{Error, Result};
use std::borrow::Cow;
use std::fmt::Write;

pub(super) const DEFS: &[EventDef] = &[
    EventDef {
        code: 2,
        name: "QUERY",
        vendor: Vendor::Both,
        since: "3.23",
        doc: "a statement as text: DDL, BEGIN and COMMIT, and DML in statement format",
        decode: |body, cx| {
            let fixed = body.sub(post_header_len(cx)?)?;
            Query::read(fixed, body, cx, false).map(Event::Query)
        },
    },
    EventDef {
        code: 165,
        name: "QUERY_COMPRESSED",
        vendor: Vendor::MariaDb,
        since: "10.2",
        doc: "a statement as text, compressed (log_bin_compress)",
        decode: |body, cx| {
            let fixed = body.sub(post_header_len(cx)?)?;
            Query::read(fixed, body, cx, true).map(Event::Query)
        },
    },
];

/// Header flag: the statement does not depend on the default schema.
const SUPPRESS_USE: u16 = 0x8;

/// Length of the post-header, without which nothing behind it can be found.
pub(super) fn post_header_len(cx: &EventContext<'_>) -> Result<usize> {
    cx.post_header_len().ok_or_else(|| {
        let code = cx.header.type_code;
        Error::corrupt(format!(
            "the log's format description has no event type {code}"
        ))
    })
}

/// A statement, and the session state that it ran under.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// Connection that ran the statement; tells temporary tables of the same name apart.
    pub thread_id: u32,
    /// Seconds from the start of the statement to its logging.
    pub exec_time: u32,
    /// Error that the statement ended with on the server, 0 for none.
    pub error_code: u16,
    /// Session state; none in versions 1 and 3.
    pub status_vars: StatusVars<'a>,
    /// Default schema, in UTF-8; empty for none.
    pub schema: &'a [u8],
    /// The statement as it stands in the log: compressed in QUERY_COMPRESSED.
    pub raw_query: &'a [u8],
    /// Whether `raw_query` is compressed.
    pub compressed: bool,
    suppress_use: bool,
}

impl<'a> Query<'a> {
    /// Length of the post-header that has a length of status variables.
    const LEN_V4: usize = 13;

    /// Reads the post-header `fixed`, then the `body` behind it.
    pub(super) fn read(
        mut fixed: Cursor<'a>,
        body: &mut Cursor<'a>,
        cx: &EventContext<'_>,
        compressed: bool,
    ) -> Result<Self> {
        let has_vars = fixed.len() >= Self::LEN_V4;
        let thread_id = fixed.u32()?;
        let exec_time = fixed.u32()?;
        let schema_len = usize::from(fixed.u8()?);
        let error_code = fixed.u16()?;
        let vars_len = if has_vars { fixed.u16()? } else { 0 };
        let vars = body.bytes(usize::from(vars_len))?;
        let schema = body.bytes(schema_len)?;
        match body.u8()? {
            0 => {}
            other => {
                return Err(Error::corrupt(format!(
                    "the schema name ends with byte 0x{other:02x}, not with NUL"
                )));
            }
        }
        Ok(Self {
            thread_id,
            exec_time,
            error_code,
            status_vars: StatusVars::new(vars, cx.format.flavor),
            schema,
            raw_query: body.rest(),
            compressed,
            suppress_use: cx.header.flags & SUPPRESS_USE != 0,
        })
    }

    /// The statement's bytes, uncompressed.
    ///
    /// # Errors
    /// The compressed data is damaged.
    pub fn query(&self) -> Result<Cow<'a, [u8]>> {
        if self.compressed {
            uncompress(self.raw_query, MAX_UNCOMPRESSED).map(Cow::Owned)
        } else {
            Ok(Cow::Borrowed(self.raw_query))
        }
    }

    /// The statement's text, by the session's `character_set_client`. Where the log does not tell
    /// that (before 5.0.3) or it is `binary`, the text is UTF-8 if it can be.
    ///
    /// # Errors
    /// The compressed data is damaged. Bytes that are no characters are not an error here: see
    /// [`Text::undecodable_at`].
    pub fn text(&self) -> Result<Text<'a>> {
        let charset = self.status_vars.client_charset().and_then(charset_of);
        Ok(match self.query()? {
            Cow::Borrowed(bytes) => Text::of(bytes, charset),
            Cow::Owned(bytes) => Text::of(&bytes, charset).into_owned(),
        })
    }

    /// Writes the statement after `use`, if it needs that.
    pub(super) fn write_with_use(&self, out: &mut String) -> Result<()> {
        if !self.suppress_use {
            write_use(self.schema, out);
        }
        out.push_str(&self.text()?.text);
        Ok(())
    }
}

/// Writes `` use `schema`;  `` unless there is no schema.
pub(super) fn write_use(schema: &[u8], out: &mut String) {
    if !schema.is_empty() {
        out.push_str("use ");
        write_name(schema, out);
        out.push_str("; ");
    }
}

/// Writes an identifier in backticks.
pub(super) fn write_name(name: &[u8], out: &mut String) {
    out.push('`');
    out.push_str(&Text::utf8(name).text.replace('`', "``"));
    out.push('`');
}

impl Describe for Query<'_> {
    fn info(&self, out: &mut String) -> Result<()> {
        self.write_with_use(out)?;
        // MariaDB does not print it.
        if self.status_vars.flavor() == Flavor::MySql
            && let Some(xid) = self.status_vars.ddl_xid()
        {
            let _ = write!(out, " /* xid={xid} */");
        }
        Ok(())
    }

    fn details(&self, out: &mut Details<'_>) -> Result<()> {
        self.status_vars.describe(out)?;
        if self.compressed {
            out.str("compression", "ZLIB");
            out.num("compressed_size", self.raw_query.len());
            out.num("uncompressed_size", claimed_len(self.raw_query)?);
        }
        if let Some(offset) = self.text()?.undecodable_at {
            out.num("query_undecodable_at", offset);
        }
        Ok(())
    }

    fn undecoded(&self) -> usize {
        self.status_vars.undecoded().map_or(1, <[u8]>::len)
    }
}

#[cfg(test)]
mod tests;
