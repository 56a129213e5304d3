//! ALTER TABLE: the parts that change columns, and those that are known not to.
//!
//! ```text
//! ALTER [IGNORE] TABLE [IF EXISTS] name  part, part, …  [PARTITION …]
//! ```

use super::charset::Charset;
use super::create::Element;
use super::decl::{AlterSpec, TableDecl};
use super::lex::Kind;
use super::parser::{Parser, Result};

/// Parts that begin so change no column. Options of tables (`ENGINE = x`) are told by their `=`, or
/// stand here because it may be left out.
#[rustfmt::skip]
const NO_EFFECT: &[&str] = &[
    "ALGORITHM", "LOCK", "FORCE", "ENABLE", "DISABLE", "DISCARD", "IMPORT", "UPGRADE", "VALIDATION",
    "WITHOUT", "SECONDARY_LOAD", "SECONDARY_UNLOAD", "WAIT", "NOWAIT",
    "ENGINE", "TYPE", "AUTO_INCREMENT", "AVG_ROW_LENGTH", "CHECKSUM", "TABLE_CHECKSUM", "COMMENT",
    "COMPRESSION", "CONNECTION", "DATA", "INDEX", "DELAY_KEY_WRITE", "ENCRYPTION", "INSERT_METHOD",
    "KEY_BLOCK_SIZE", "MAX_ROWS", "MIN_ROWS", "PACK_KEYS", "PASSWORD", "ROW_FORMAT", "STATS_AUTO_RECALC",
    "STATS_PERSISTENT", "STATS_SAMPLE_PAGES", "TABLESPACE", "STORAGE", "UNION", "PAGE_CHECKSUM",
    "TRANSACTIONAL", "SEQUENCE", "SECONDARY_ENGINE", "ENGINE_ATTRIBUTE", "SECONDARY_ENGINE_ATTRIBUTE",
    "AUTOEXTEND_SIZE", "START",
];

/// Words behind which there are only partitions.
#[rustfmt::skip]
const PARTITIONS: &[&str] = &[
    "PARTITION", "COALESCE", "REORGANIZE", "EXCHANGE", "ANALYZE", "CHECK", "OPTIMIZE", "REBUILD",
    "REPAIR", "TRUNCATE", "REMOVE",
];

impl Parser<'_> {
    /// Takes the parts of an ALTER TABLE behind the table's name.
    pub(super) fn alter_specs(&mut self) -> Result<Vec<AlterSpec>> {
        let mut specs = Vec::new();
        if self.accept("WAIT") {
            self.next();
        }
        self.accept("NOWAIT");
        while !self.at_end() {
            if !self.accept_symbol(",") && self.spec(&mut specs)? {
                // Only partitions are left; what they do to other tables is looked for.
                self.partitions(&mut specs)?;
                break;
            }
        }
        Ok(specs)
    }

    /// Takes one part. `true`: what follows is about partitions.
    fn spec(&mut self, specs: &mut Vec<AlterSpec>) -> Result<bool> {
        let token = self.peek();
        let second = self.peek_second();
        if token.is_any(PARTITIONS) {
            return Ok(true);
        }
        if token.is("CONVERT") && second.is_any(&["PARTITION", "TABLE"]) {
            return Ok(true);
        }
        let mut options = TableDecl::default();
        if self.table_option(&mut options)? {
            // COLLATE of any set leaves the set as it is.
            if options.versioned {
                specs.push(AlterSpec::Versioning(true));
            } else if options.charset != Charset::Inherited {
                specs.push(AlterSpec::DefaultCharset(options.charset));
            }
            return Ok(false);
        }
        self.next();
        match token.text.to_ascii_uppercase().as_str() {
            _ if token.kind != Kind::Word => {
                return Err(format!("{:?} begins no part of an ALTER TABLE", token.text));
            }
            "ADD" => return self.add(specs),
            "DROP" => return self.drop(specs),
            "CHANGE" => {
                self.accept("COLUMN");
                let if_exists = self.if_exists();
                let old = self.identifier()?;
                self.changed(specs, Some(old), if_exists)?;
            }
            "MODIFY" => {
                self.accept("COLUMN");
                let if_exists = self.if_exists();
                self.changed(specs, None, if_exists)?;
            }
            "ALTER" => self.alter_column(specs)?,
            "RENAME" => self.rename(specs)?,
            "CONVERT" => {
                self.require("TO")?;
                let mut charset = match self.charset()? {
                    Some(charset) => charset,
                    None => return self.unexpected("CHARACTER SET"),
                };
                if let Some(name) = self.collate()? {
                    charset = charset.collated(&name);
                }
                specs.push(AlterSpec::ConvertTo(charset));
            }
            "ORDER" => {
                self.require("BY")?;
                self.order_by()?;
            }
            _ if self.peek().is_symbol("=") => {
                self.next();
                self.skip_one()?;
            }
            _ if token.is_any(NO_EFFECT) => self.no_effect()?,
            _ => {
                return Err(format!(
                    "{:?} begins no known part of an ALTER TABLE",
                    token.text
                ));
            }
        }
        Ok(false)
    }

    /// Hops over a part without effect, to the next comma or option that has one.
    fn no_effect(&mut self) -> Result<()> {
        while !self.at_item_end() {
            let token = self.peek();
            if token.is_any(&[
                "DEFAULT",
                "CHARACTER",
                "CHARSET",
                "COLLATE",
                "PARTITION",
                "REMOVE",
            ]) {
                break;
            }
            self.skip_option()?;
        }
        Ok(())
    }

    fn add(&mut self, specs: &mut Vec<AlterSpec>) -> Result<bool> {
        if self.accept_pair("SYSTEM", "VERSIONING") {
            specs.push(AlterSpec::Versioning(true));
            return Ok(false);
        }
        if self.peek().is("PARTITION") {
            return Ok(true);
        }
        let column = self.accept("COLUMN");
        if !column {
            match self.element()? {
                Some(Element::PrimaryKey(parts)) => {
                    specs.push(AlterSpec::AddPrimaryKey(parts));
                    return Ok(false);
                }
                Some(Element::Other) => return Ok(false),
                None => {}
            }
        }
        let if_not_exists = self.if_not_exists();
        let list = self.accept_symbol("(");
        loop {
            match if list { self.element()? } else { None } {
                Some(Element::PrimaryKey(parts)) => specs.push(AlterSpec::AddPrimaryKey(parts)),
                Some(Element::Other) => {}
                None => {
                    let column = self.column()?;
                    let position = self.position()?;
                    specs.push(AlterSpec::AddColumn {
                        column,
                        position,
                        if_not_exists,
                    });
                }
            }
            if !list || !self.accept_symbol(",") {
                break;
            }
        }
        if list {
            self.require_symbol(")")?;
        }
        Ok(false)
    }

    fn drop(&mut self, specs: &mut Vec<AlterSpec>) -> Result<bool> {
        if self.accept_pair("SYSTEM", "VERSIONING") {
            specs.push(AlterSpec::Versioning(false));
            return Ok(false);
        }
        let second = self.peek_second();
        if self.accept_pair("PRIMARY", "KEY") {
            specs.push(AlterSpec::DropPrimaryKey);
            return Ok(false);
        }
        if self.peek().is("PARTITION") {
            return Ok(true);
        }
        if self.peek().is("PERIOD") && second.is("FOR") {
            self.skip_item()?;
            return Ok(false);
        }
        if self.accept_any(&["INDEX", "KEY", "CONSTRAINT", "FOREIGN", "CHECK"]) {
            self.accept("KEY");
            self.if_exists();
            if self.identifier()?.eq_ignore_ascii_case("PRIMARY") {
                specs.push(AlterSpec::DropPrimaryKey);
            }
            return Ok(false);
        }
        self.accept("COLUMN");
        let if_exists = self.if_exists();
        let name = self.identifier()?;
        self.accept_any(&["RESTRICT", "CASCADE"]);
        specs.push(AlterSpec::DropColumn { name, if_exists });
        Ok(false)
    }

    /// The new definition of a column; it keeps its name where `old` is `None`.
    fn changed(
        &mut self,
        specs: &mut Vec<AlterSpec>,
        old: Option<String>,
        if_exists: bool,
    ) -> Result<()> {
        let column = self.column()?;
        let position = self.position()?;
        specs.push(AlterSpec::ChangeColumn {
            old: old.unwrap_or_else(|| column.name.clone()),
            column,
            position,
            if_exists,
        });
        Ok(())
    }

    fn alter_column(&mut self, specs: &mut Vec<AlterSpec>) -> Result<()> {
        if self.peek().is_any(&["INDEX", "KEY", "CHECK", "CONSTRAINT"]) {
            return self.skip_item();
        }
        self.accept("COLUMN");
        self.if_exists();
        let name = self.identifier()?;
        if self.peek().is("SET") && self.peek_second().is_any(&["VISIBLE", "INVISIBLE"]) {
            self.next();
            let visible = self.next().is("VISIBLE");
            specs.push(AlterSpec::SetVisible { name, visible });
            return Ok(());
        }
        if !self.peek().is_any(&["SET", "DROP"]) || !self.peek_second().is("DEFAULT") {
            return self.unexpected("SET DEFAULT or DROP DEFAULT");
        }
        self.skip_item()
    }

    fn rename(&mut self, specs: &mut Vec<AlterSpec>) -> Result<()> {
        if self.accept_any(&["INDEX", "KEY"]) {
            self.if_exists();
            return self.skip_item();
        }
        if self.accept("COLUMN") {
            let if_exists = self.if_exists();
            let old = self.identifier()?;
            self.require("TO")?;
            let new = self.identifier()?;
            specs.push(AlterSpec::RenameColumn {
                old,
                new,
                if_exists,
            });
            return Ok(());
        }
        if !self.accept_any(&["TO", "AS"]) {
            self.accept_symbol("=");
        }
        specs.push(AlterSpec::RenameTo(self.table_name()?));
        Ok(())
    }

    /// Hops over the columns of ORDER BY, to the first word that begins another part.
    fn order_by(&mut self) -> Result<()> {
        const PARTS: &[&str] = &["ADD", "DROP", "CHANGE", "ALTER", "RENAME", "CONVERT"];
        loop {
            self.skip_item()?;
            if !self.peek().is_symbol(",") || self.peek_second().is_any(PARTS) {
                return Ok(());
            }
            self.next();
        }
    }

    /// Hops over what is done to partitions, but for what it does to tables.
    fn partitions(&mut self, specs: &mut Vec<AlterSpec>) -> Result<()> {
        while !self.at_end() {
            if self.accept_pair("CONVERT", "TABLE") {
                specs.push(AlterSpec::TableToPartition(self.table_name()?));
            } else if self.accept_pair("CONVERT", "PARTITION") {
                self.identifier()?;
                self.require("TO")?;
                self.require("TABLE")?;
                specs.push(AlterSpec::PartitionToTable(self.table_name()?));
            } else {
                self.skip_one()?;
            }
        }
        Ok(())
    }
}
