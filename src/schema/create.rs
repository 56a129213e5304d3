//! CREATE TABLE: columns, keys, options.
//!
//! ```text
//! CREATE [OR REPLACE] [TEMPORARY] TABLE [IF NOT EXISTS] name
//!   LIKE other  |  ( column | key | check | PERIOD …, … ) options [PARTITION BY …] [AS SELECT …]
//! ```

use super::charset::Charset;
use super::decl::{KeyPart, TableDecl};
use super::lex::Kind;
use super::parser::{Parser, Result};
use std::sync::Arc;

/// Words with which a part of the statement begins that brings columns from a query.
const QUERY: &[&str] = &["SELECT", "AS", "WITH", "VALUES", "TABLE"];

/// What stands in the list of columns beside columns.
pub(super) enum Element {
    /// A key, a check, a period: nothing that columns depend on.
    Other,
    /// The primary key.
    PrimaryKey(Vec<KeyPart>),
}

impl Parser<'_> {
    /// Takes the columns in parentheses and all that follows.
    pub(super) fn table(&mut self) -> Result<TableDecl> {
        let mut table = TableDecl::default();
        self.require_symbol("(")?;
        if self.peek().is_any(&["SELECT", "WITH"]) || self.peek().is_symbol("(") {
            return Err("its columns come from a query".to_owned());
        }
        loop {
            match self.element()? {
                Some(Element::PrimaryKey(parts)) => table.primary_key = parts,
                Some(Element::Other) => {}
                None => table.columns.push(Arc::new(self.column()?)),
            }
            if !self.accept_symbol(",") {
                break;
            }
        }
        self.require_symbol(")")?;
        self.table_options(&mut table)?;
        table.finish()?;
        Ok(table)
    }

    /// Takes what stands between columns but is none; `None`: a column is next.
    pub(super) fn element(&mut self) -> Result<Option<Element>> {
        let token = self.peek();
        if token.kind != Kind::Word {
            return Ok(None);
        }
        let second = self.peek_second();
        // Words that are no names without quotes, but for the last two.
        let is_key = token.is_any(&["KEY", "INDEX", "UNIQUE", "FULLTEXT", "SPATIAL", "FOREIGN"])
            || token.is_any(&["CONSTRAINT", "PRIMARY", "CHECK"])
            || (token.is("PERIOD") && second.is("FOR"))
            || (token.is("VECTOR") && (second.is_any(&["KEY", "INDEX"]) || second.is_symbol("(")));
        if !is_key {
            return Ok(None);
        }
        if self.accept("CONSTRAINT")
            && !self
                .peek()
                .is_any(&["PRIMARY", "UNIQUE", "FOREIGN", "CHECK"])
        {
            self.identifier()?;
        }
        let primary = self.accept("PRIMARY");
        if !primary {
            self.skip_item()?;
            return Ok(Some(Element::Other));
        }
        self.require("KEY")?;
        // IF NOT EXISTS, a name that means nothing, USING BTREE
        while !self.peek().is_symbol("(") && !self.at_item_end() {
            self.next();
        }
        let parts = self.key_parts()?;
        self.skip_item()?;
        Ok(Some(Element::PrimaryKey(parts)))
    }

    /// Takes the options of a table, and looks for a query behind them.
    fn table_options(&mut self, table: &mut TableDecl) -> Result<()> {
        while !self.at_end() {
            if self.table_option(table)? {
                continue;
            }
            if self.peek().is_any(QUERY) {
                return Err("some of its columns come from a query".to_owned());
            }
            self.skip_option()?;
        }
        Ok(())
    }

    /// Takes an option that columns depend on; `false`: another is next.
    pub(super) fn table_option(&mut self, table: &mut TableDecl) -> Result<bool> {
        if let Some(charset) = self.default_charset(table.charset)? {
            table.charset = charset;
            return Ok(true);
        }
        if self.peek().is("WITH") && self.peek_second().is("SYSTEM") {
            self.next();
            self.next();
            self.require("VERSIONING")?;
            table.versioned = true;
            return Ok(true);
        }
        Ok(false)
    }

    /// Takes `[DEFAULT] CHARACTER SET x` or `[DEFAULT] COLLATE x`; `None`: neither is next.
    pub(super) fn default_charset(&mut self, so_far: Charset) -> Result<Option<Charset>> {
        let second = self.peek_second();
        if self.peek().is("DEFAULT") && second.is_any(&["CHARACTER", "CHAR", "CHARSET", "COLLATE"])
        {
            self.next();
        }
        if let Some(charset) = self.charset()? {
            return Ok(Some(charset));
        }
        let collation = self.collate()?;
        Ok(collation.map(|name| so_far.collated(&name)))
    }

    /// Hops over one option or word, with its value, so that the value is not taken for a word that
    /// means something.
    pub(super) fn skip_option(&mut self) -> Result<()> {
        self.skip_one()?;
        if self.accept_symbol("=") {
            self.skip_one()?;
        }
        Ok(())
    }
}
