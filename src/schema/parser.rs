//! What all statements are made of: keywords, names, strings, what stands in parentheses.

use super::Session;
use super::charset::Charset;
use super::decl::{KeyPart, TableName};
use super::lex::{Kind, Lexer, Token};

/// Why a statement is not understood.
pub(super) type Result<T> = std::result::Result<T, String>;

/// Reads tokens, one of which it has in its hand.
pub(super) struct Parser<'a> {
    lexer: Lexer<'a>,
    token: Token<'a>,
    pub(super) session: Session<'a>,
    /// What has no schema in its name is in this one.
    pub(super) schema: String,
}

impl<'a> Parser<'a> {
    pub(super) fn new(sql: &'a str, session: Session<'a>) -> Self {
        let mut lexer = Lexer::new(sql, &session);
        let token = lexer.next();
        Self {
            lexer,
            token,
            schema: session.schema.to_owned(),
            session,
        }
    }

    /// The token in the hand.
    pub(super) fn peek(&self) -> Token<'a> {
        self.token
    }

    /// The token after that.
    pub(super) fn peek_second(&self) -> Token<'a> {
        { self.lexer }.next()
    }

    /// Takes the token.
    pub(super) fn next(&mut self) -> Token<'a> {
        std::mem::replace(&mut self.token, self.lexer.next())
    }

    /// Whether the statement ends here.
    pub(super) fn at_end(&self) -> bool {
        self.token.kind == Kind::End || self.token.is_symbol(";")
    }

    /// Takes the keyword if it is next.
    pub(super) fn accept(&mut self, word: &str) -> bool {
        let found = self.token.is(word);
        if found {
            self.next();
        }
        found
    }

    /// Takes one of the keywords if it is next.
    pub(super) fn accept_any(&mut self, words: &[&str]) -> bool {
        let found = self.token.is_any(words);
        if found {
            self.next();
        }
        found
    }

    /// Takes the keywords if the first two are next.
    pub(super) fn accept_pair(&mut self, first: &str, second: &str) -> bool {
        let found = self.token.is(first) && self.peek_second().is(second);
        if found {
            self.next();
            self.next();
        }
        found
    }

    /// Takes the character if it is next.
    pub(super) fn accept_symbol(&mut self, symbol: &str) -> bool {
        let found = self.token.is_symbol(symbol);
        if found {
            self.next();
        }
        found
    }

    /// Takes a character that must be there.
    pub(super) fn require_symbol(&mut self, symbol: &str) -> Result<()> {
        if self.accept_symbol(symbol) {
            return Ok(());
        }
        self.unexpected(symbol)
    }

    /// Takes a keyword that must be there.
    pub(super) fn require(&mut self, word: &str) -> Result<()> {
        if self.accept(word) {
            return Ok(());
        }
        self.unexpected(word)
    }

    /// Goes on in the text behind the token in the hand, so many bytes later.
    pub(super) fn skip_bytes(&mut self, n: usize) {
        self.lexer.skip_bytes(n);
        self.token = self.lexer.next();
    }

    /// The text behind the token in the hand.
    pub(super) fn rest(&self) -> &'a str {
        self.lexer.rest()
    }

    /// The token in the hand is not what the grammar has here.
    pub(super) fn unexpected<T>(&self, wanted: &str) -> Result<T> {
        Err(match self.token.kind {
            Kind::End => format!("the statement ends where {wanted} is expected"),
            Kind::Unterminated => "a string or comment does not end".to_owned(),
            _ => {
                let text: String = self.token.text.chars().take(40).collect();
                format!("{text:?} stands where {wanted} is expected")
            }
        })
    }

    /// Takes `IF EXISTS`.
    pub(super) fn if_exists(&mut self) -> bool {
        self.accept_pair("IF", "EXISTS")
    }

    /// Takes `IF NOT EXISTS`.
    pub(super) fn if_not_exists(&mut self) -> bool {
        if self.token.is("IF") && self.peek_second().is("NOT") {
            self.next();
            self.next();
            return self.accept("EXISTS");
        }
        false
    }

    /// Takes an identifier.
    pub(super) fn identifier(&mut self) -> Result<String> {
        match self.token.identifier() {
            Some(name) => {
                self.next();
                Ok(name)
            }
            None => self.unexpected("a name"),
        }
    }

    /// Takes the name of a table: `t`, `s.t`, `.t`.
    pub(super) fn table_name(&mut self) -> Result<TableName> {
        if self.accept_symbol(".") {
            return Ok(TableName {
                schema: self.schema.clone(),
                table: self.identifier()?,
            });
        }
        let first = self.identifier()?;
        if self.accept_symbol(".") {
            return Ok(TableName {
                schema: first,
                table: self.identifier()?,
            });
        }
        Ok(TableName {
            schema: self.schema.clone(),
            table: first,
        })
    }

    /// Hops over what stands in parentheses, of which the first is next. `false`: no parenthesis.
    pub(super) fn skip_parens(&mut self) -> Result<bool> {
        if !self.accept_symbol("(") {
            return Ok(false);
        }
        let mut depth = 1usize;
        while depth > 0 {
            if self.token.is_symbol("(") {
                depth = depth.saturating_add(1);
            } else if self.token.is_symbol(")") {
                depth = depth.saturating_sub(1);
            } else if matches!(self.token.kind, Kind::End | Kind::Unterminated) {
                return self.unexpected(")");
            }
            self.next();
        }
        Ok(true)
    }

    /// Takes one token that does not end anything, or all in a pair of parentheses.
    pub(super) fn skip_one(&mut self) -> Result<()> {
        let ends = matches!(self.token.kind, Kind::End | Kind::Unterminated);
        if ends || self.token.is_symbol(")") {
            return self.unexpected("more");
        }
        if !self.skip_parens()? {
            self.next();
        }
        Ok(())
    }

    /// Hops to the next comma, closing parenthesis or end at this level.
    pub(super) fn skip_item(&mut self) -> Result<()> {
        while !self.at_item_end() {
            self.skip_one()?;
        }
        Ok(())
    }

    /// Whether an item of a list ends here.
    pub(super) fn at_item_end(&self) -> bool {
        self.at_end() || self.token.is_symbol(",") || self.token.is_symbol(")")
    }

    /// Takes a whole number in parentheses, if there is one.
    pub(super) fn length(&mut self) -> Result<Option<u32>> {
        if !self.accept_symbol("(") {
            return Ok(None);
        }
        let n = self.number()?;
        self.require_symbol(")")?;
        Ok(Some(n))
    }

    /// Takes a whole number.
    pub(super) fn number(&mut self) -> Result<u32> {
        let token = self.token;
        match token.text.parse() {
            Ok(n) if token.kind == Kind::Number => {
                self.next();
                Ok(n)
            }
            _ => self.unexpected("a number"),
        }
    }

    /// Takes the name of a character set or collation: a word or a string.
    pub(super) fn charset_name(&mut self) -> Result<String> {
        if let Some(name) = self.token.string(self.lexer.backslash_escapes) {
            self.next();
            return Ok(name);
        }
        self.identifier()
    }

    /// Takes `CHARACTER SET x` or `CHARSET x` with or without `=`; `None`: it is not next.
    pub(super) fn charset(&mut self) -> Result<Option<Charset>> {
        let second_set = self.token.is_any(&["CHARACTER", "CHAR"]) && self.peek_second().is("SET");
        if second_set {
            self.next();
        } else if !self.token.is("CHARSET") {
            return Ok(None);
        }
        self.next();
        self.accept_symbol("=");
        Ok(Some(Charset::named(&self.charset_name()?)))
    }

    /// Takes `COLLATE x` with or without `=`; `None`: it is not next.
    pub(super) fn collate(&mut self) -> Result<Option<String>> {
        if !self.accept("COLLATE") {
            return Ok(None);
        }
        self.accept_symbol("=");
        self.charset_name().map(Some)
    }

    /// Takes the labels of an ENUM or SET in parentheses.
    pub(super) fn labels(&mut self) -> Result<Vec<String>> {
        self.require_symbol("(")?;
        let mut labels = Vec::new();
        loop {
            labels.push(self.label()?);
            if !self.accept_symbol(",") {
                break;
            }
        }
        self.require_symbol(")")?;
        Ok(labels)
    }

    /// A label. Strings that stand side by side are one.
    fn label(&mut self) -> Result<String> {
        let mut label = String::new();
        // `N'…'` and `_utf8'…'`: the text has been decoded already. Bytes in hex are not taken: in
        // which character set they are text is not certain.
        if self.token.kind == Kind::Word
            && (self.token.is("N") || self.token.text.starts_with('_'))
            && self.peek_second().is_string()
        {
            self.next();
        }
        loop {
            match self.token.string(self.lexer.backslash_escapes) {
                Some(part) => label.push_str(&part),
                None => return self.unexpected("a label"),
            }
            self.next();
            if !self.token.is_string() {
                return Ok(label);
            }
        }
    }

    /// Takes the parts of a key in parentheses; none where one is no column.
    pub(super) fn key_parts(&mut self) -> Result<Vec<KeyPart>> {
        self.require_symbol("(")?;
        let mut parts = Vec::new();
        let mut certain = true;
        loop {
            if self.token.is_symbol("(") {
                self.skip_parens()?;
                certain = false;
            } else {
                let column = self.identifier()?;
                let prefix = self.length()?;
                parts.push(KeyPart { column, prefix });
            }
            self.accept_any(&["ASC", "DESC"]);
            if self.accept_pair("WITHOUT", "OVERLAPS") {
                certain = false;
            }
            if !self.accept_symbol(",") {
                break;
            }
        }
        self.require_symbol(")")?;
        if !certain {
            parts.clear();
        }
        Ok(parts)
    }
}
