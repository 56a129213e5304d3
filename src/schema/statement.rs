//! Statements that change which columns tables have.

use super::charset::Charset;
use super::decl::{AlterSpec, TableDecl, TableName};
use super::lex::{Kind, Lexer};
use super::parser::{self, Parser};
use super::{DdlError, Session};
use crate::binlog::event::Flavor;

/// A statement, as far as columns of tables depend on it.
#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    /// `CREATE TABLE` with columns; `CREATE SEQUENCE`.
    CreateTable {
        /// Name of the table.
        name: TableName,
        /// The table.
        table: TableDecl,
        /// `OR REPLACE`.
        or_replace: bool,
        /// `IF NOT EXISTS`.
        if_not_exists: bool,
        /// `TEMPORARY`.
        temporary: bool,
    },
    /// `CREATE TABLE … LIKE …`.
    CreateTableLike {
        /// Name of the table.
        name: TableName,
        /// The table that it is like.
        like: TableName,
        /// `OR REPLACE`.
        or_replace: bool,
        /// `IF NOT EXISTS`.
        if_not_exists: bool,
        /// `TEMPORARY`.
        temporary: bool,
    },
    /// `ALTER TABLE`.
    AlterTable {
        /// Name of the table.
        name: TableName,
        /// Its parts.
        specs: Vec<AlterSpec>,
    },
    /// `DROP TABLE`.
    DropTables {
        /// Names of the tables.
        names: Vec<TableName>,
        /// `TEMPORARY`.
        temporary: bool,
    },
    /// `RENAME TABLE`: names so far and from now on, done one after the other.
    RenameTables(Vec<(TableName, TableName)>),
    /// `CREATE DATABASE`.
    CreateDatabase {
        /// Name of the schema.
        schema: String,
        /// Default character set of its tables.
        charset: Charset,
        /// `IF NOT EXISTS`.
        if_not_exists: bool,
        /// `OR REPLACE`.
        or_replace: bool,
    },
    /// `ALTER DATABASE`.
    AlterDatabase {
        /// Name of the schema.
        schema: String,
        /// Default character set of tables from now on.
        charset: Charset,
    },
    /// `DROP DATABASE`.
    DropDatabase {
        /// Name of the schema.
        schema: String,
    },
    /// `USE`, which stands in files only.
    Use {
        /// Name of the schema.
        schema: String,
    },
    /// Anything else.
    Other,
}

/// Words with which a statement that matters begins.
const FIRST: &[&str] = &["CREATE", "ALTER", "DROP", "RENAME"];

/// Whether a statement that begins so can change which columns tables have: a look at its first
/// word, or `true` where that is behind a comment.
pub(super) fn may_begin_ddl(sql: &[u8]) -> bool {
    let Some(first) = sql.first() else {
        return false;
    };
    if !first.is_ascii_alphabetic() {
        return matches!(first, b'/' | b'-' | b'#' | 0..=b' ');
    }
    let word = sql.iter().take_while(|byte| byte.is_ascii_alphabetic());
    let word = sql.get(..word.count()).unwrap_or_default();
    let mut words = FIRST.iter().chain(["SET"].iter());
    words.any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}

/// Whether a statement can change which columns tables have, by its first word. It reads no more
/// than that, and comments before it.
///
/// `SET STATEMENT … FOR …` of MariaDB can be before any statement.
pub fn may_be_ddl(sql: &str) -> bool {
    if !may_begin_ddl(sql.as_bytes()) {
        return false;
    }
    let any_vendor = Session {
        flavor: Flavor::MariaDb,
        ..Session::default()
    };
    let mut lexer = Lexer::new(sql, &any_vendor);
    let first = lexer.next();
    first.is_any(FIRST) || (first.is("SET") && lexer.next().is("STATEMENT"))
}

impl Statement {
    /// The table of which it tells new columns.
    pub(super) fn declares(&self) -> Option<&TableName> {
        match self {
            Self::CreateTable { name, .. }
            | Self::CreateTableLike { name, .. }
            | Self::AlterTable { name, .. } => Some(name),
            _ => None,
        }
    }
}

/// Reads one statement.
///
/// # Errors
/// A statement that changes columns of a table, but in a way that is not understood.
pub fn parse(sql: &str, session: &Session<'_>) -> Result<Statement, DdlError> {
    if !may_be_ddl(sql) {
        return Ok(Statement::Other);
    }
    parse_at(&mut Parser::new(sql, *session))
}

/// Reads the statement that begins here, and not always to its end.
pub(super) fn parse_at(parser: &mut Parser<'_>) -> Result<Statement, DdlError> {
    if parser.accept_pair("SET", "STATEMENT") {
        while !parser.at_end() && !parser.accept("FOR") {
            parser.next();
        }
    }
    let mut table = None;
    let read = if parser.accept("CREATE") {
        create(parser, &mut table)
    } else if parser.accept("ALTER") {
        alter(parser, &mut table)
    } else if parser.accept("DROP") {
        drop(parser, &mut table)
    } else if parser.accept("RENAME") {
        rename(parser)
    } else if parser.accept("USE") {
        parser.identifier().map(|schema| Statement::Use { schema })
    } else {
        Ok(Statement::Other)
    };
    read.map_err(|message| DdlError { table, message })
}

fn create(parser: &mut Parser<'_>, table: &mut Option<TableName>) -> parser::Result<Statement> {
    let or_replace = parser.accept_pair("OR", "REPLACE");
    let temporary = parser.accept_any(&["TEMPORARY", "TEMP"]);
    if parser.accept_any(&["DATABASE", "SCHEMA"]) {
        let if_not_exists = parser.if_not_exists();
        let schema = parser.identifier()?;
        return Ok(Statement::CreateDatabase {
            charset: database_charset(parser)?,
            schema,
            if_not_exists,
            or_replace,
        });
    }
    let sequence = parser.accept("SEQUENCE");
    if !sequence && !parser.accept("TABLE") {
        return Ok(Statement::Other);
    }
    let if_not_exists = parser.if_not_exists();
    let name = parser.table_name()?;
    *table = Some(name.clone()).filter(|_| !temporary);
    let in_parens = parser.peek().is_symbol("(") && parser.peek_second().is("LIKE");
    if in_parens {
        parser.next();
    }
    if parser.accept("LIKE") {
        return Ok(Statement::CreateTableLike {
            name,
            like: parser.table_name()?,
            or_replace,
            if_not_exists,
            temporary,
        });
    }
    let declared = match sequence {
        true => super::sequence::columns(parser)?,
        false if temporary => TableDecl::default(),
        false => parser.table()?,
    };
    Ok(Statement::CreateTable {
        name,
        table: declared,
        or_replace,
        if_not_exists,
        temporary,
    })
}

fn database_charset(parser: &mut Parser<'_>) -> parser::Result<Charset> {
    let mut charset = Charset::Inherited;
    while !parser.at_end() {
        match parser.default_charset(charset)? {
            Some(said) => charset = said,
            None => parser.skip_option()?,
        }
    }
    Ok(charset)
}

fn alter(parser: &mut Parser<'_>, table: &mut Option<TableName>) -> parser::Result<Statement> {
    parser.accept_any(&["ONLINE", "OFFLINE"]);
    parser.accept("IGNORE");
    if parser.accept_any(&["DATABASE", "SCHEMA"]) {
        let words = [
            "DEFAULT",
            "CHARACTER",
            "CHARSET",
            "COLLATE",
            "READ",
            "ENCRYPTION",
            "UPGRADE",
            "COMMENT",
        ];
        let schema = match parser.peek() {
            token if token.is_any(&words) || !token.is_identifier() => parser.schema.clone(),
            _ => parser.identifier()?,
        };
        let charset = database_charset(parser)?;
        return Ok(Statement::AlterDatabase { schema, charset });
    }
    if !parser.accept("TABLE") {
        return Ok(Statement::Other);
    }
    parser.if_exists();
    let name = parser.table_name()?;
    *table = Some(name.clone());
    let specs = parser.alter_specs()?;
    Ok(Statement::AlterTable { name, specs })
}

fn drop(parser: &mut Parser<'_>, table: &mut Option<TableName>) -> parser::Result<Statement> {
    if parser.accept_any(&["DATABASE", "SCHEMA"]) {
        parser.if_exists();
        let schema = parser.identifier()?;
        return Ok(Statement::DropDatabase { schema });
    }
    if parser.accept("INDEX") {
        parser.if_exists();
        let primary = parser.identifier()?.eq_ignore_ascii_case("PRIMARY");
        if !primary || !parser.accept("ON") {
            return Ok(Statement::Other);
        }
        let name = parser.table_name()?;
        *table = Some(name.clone());
        return Ok(Statement::AlterTable {
            name,
            specs: vec![AlterSpec::DropPrimaryKey],
        });
    }
    let temporary = parser.accept("TEMPORARY");
    if !parser.accept_any(&["TABLE", "TABLES", "SEQUENCE"]) {
        return Ok(Statement::Other);
    }
    parser.if_exists();
    let mut names = vec![parser.table_name()?];
    while parser.accept_symbol(",") {
        names.push(parser.table_name()?);
    }
    Ok(Statement::DropTables { names, temporary })
}

fn rename(parser: &mut Parser<'_>) -> parser::Result<Statement> {
    if !parser.accept_any(&["TABLE", "TABLES"]) {
        return Ok(Statement::Other);
    }
    parser.if_exists();
    let mut pairs = Vec::new();
    loop {
        let from = parser.table_name()?;
        if parser.accept("WAIT") {
            parser.next();
        }
        parser.accept("NOWAIT");
        parser.require("TO")?;
        pairs.push((from, parser.table_name()?));
        if !parser.accept_symbol(",") {
            return Ok(Statement::RenameTables(pairs));
        }
    }
}

/// Hops to the end of the statement, and behind it. `false`: the text ends.
pub(super) fn skip_statement(parser: &mut Parser<'_>) -> bool {
    loop {
        let token = parser.peek();
        if matches!(token.kind, Kind::End | Kind::Unterminated) {
            return false;
        }
        parser.next();
        if token.is_symbol(";") {
            return true;
        }
    }
}
