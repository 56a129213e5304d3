//! What an ALTER TABLE makes of a table.

use super::charset::Charset;
use super::decl::{
    AlterSpec, ColumnDecl, KeyPart, MAX_COLUMNS, Position, TableDecl, folded, same_name,
};
use std::collections::HashMap;
use std::sync::Arc;

/// Why an ALTER TABLE does not fit to what is known of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Misfit {
    /// All that it does is done already: what is known is from after the statement.
    Done,
    /// Anything else.
    Conflict(String),
}

/// What a statement does to each column that there was.
enum Fate<'s> {
    Dropped,
    Changed(&'s ColumnDecl),
    Renamed(&'s str),
    Visible(bool),
}

/// A statement taken apart: by old columns, and the columns to put in.
struct Plan<'s> {
    fates: HashMap<String, Fate<'s>>,
    /// Columns to put in, in order; `true`: one that is there already and moves.
    placed: Vec<(&'s ColumnDecl, &'s Position, bool)>,
}

/// Counts what a statement does that can be seen in the names of the columns.
#[derive(Default)]
struct Evidence {
    /// Is still to be done.
    open: usize,
    /// Is done already.
    done: usize,
}

impl<'s> Plan<'s> {
    fn new(table: &TableDecl, specs: &'s [AlterSpec]) -> Result<Self, Misfit> {
        let columns: HashMap<String, ()> = table
            .columns
            .iter()
            .map(|column| (folded(&column.name), ()))
            .collect();
        let has = |name: &str| columns.contains_key(&folded(name));
        let mut evidence = Evidence::default();
        let mut plan = Self {
            fates: HashMap::new(),
            placed: Vec::new(),
        };
        // Columns that leave their name free for another one.
        for spec in specs {
            match spec {
                AlterSpec::DropColumn { name, if_exists } => match has(name) {
                    true => {
                        evidence.open = evidence.open.saturating_add(1);
                        plan.decide(name, Fate::Dropped)?;
                    }
                    false if *if_exists => {}
                    false => evidence.done = evidence.done.saturating_add(1),
                },
                AlterSpec::ChangeColumn {
                    old,
                    column,
                    position,
                    if_exists,
                } => {
                    let same = same_name(old, &column.name);
                    if has(old) {
                        evidence.open = evidence.open.saturating_add(usize::from(!same));
                        plan.decide(old, Fate::Changed(column))?;
                        if *position != Position::Default {
                            plan.placed.push((column, position, true));
                        }
                    } else if !*if_exists {
                        evidence.renamed(old, has(&column.name))?;
                    }
                }
                AlterSpec::RenameColumn {
                    old,
                    new,
                    if_exists,
                } => {
                    if has(old) {
                        let same = same_name(old, new);
                        evidence.open = evidence.open.saturating_add(usize::from(!same));
                        plan.decide(old, Fate::Renamed(new))?;
                    } else if !*if_exists {
                        evidence.renamed(old, has(new))?;
                    }
                }
                AlterSpec::SetVisible { name, visible } => {
                    if !has(name) {
                        return Err(Misfit::missing(name));
                    }
                    plan.decide(name, Fate::Visible(*visible))?;
                }
                AlterSpec::AddColumn {
                    column,
                    position,
                    if_not_exists,
                } if !*if_not_exists || !has(&column.name) => {
                    plan.placed.push((column, position, false));
                }
                _ => {}
            }
        }
        for spec in specs {
            let AlterSpec::AddColumn {
                column,
                if_not_exists,
                ..
            } = spec
            else {
                continue;
            };
            if !has(&column.name) {
                evidence.open = evidence.open.saturating_add(1);
            } else if !*if_not_exists && !plan.frees(&column.name) {
                evidence.done = evidence.done.saturating_add(1);
            }
        }
        match evidence {
            Evidence { done: 0, .. } => Ok(plan),
            Evidence { open: 0, .. } => Err(Misfit::Done),
            _ => Err(Misfit::Conflict("half of it is done already".to_owned())),
        }
    }

    fn decide(&mut self, name: &str, fate: Fate<'s>) -> Result<(), Misfit> {
        match self.fates.insert(folded(name), fate) {
            None => Ok(()),
            Some(_) => Err(Misfit::Conflict(format!("it changes column {name} twice"))),
        }
    }

    fn frees(&self, name: &str) -> bool {
        match self.fates.get(&folded(name)) {
            Some(Fate::Dropped) => true,
            Some(Fate::Changed(column)) => !same_name(&column.name, name),
            Some(Fate::Renamed(new)) => !same_name(new, name),
            Some(Fate::Visible(_)) | None => false,
        }
    }
}

impl Misfit {
    fn missing(column: &str) -> Self {
        Self::Conflict(format!("there is no column {column}"))
    }
}

impl Evidence {
    /// A column that is to get another name is not there; is the one that it becomes?
    fn renamed(&mut self, old: &str, new_is_there: bool) -> Result<(), Misfit> {
        if !new_is_there {
            return Err(Misfit::missing(old));
        }
        self.done = self.done.saturating_add(1);
        Ok(())
    }
}

impl TableDecl {
    /// The table after an ALTER TABLE.
    ///
    /// As on the server, names of old columns in it mean the table before the statement, and names
    /// behind AFTER the table as it becomes.
    pub(super) fn altered(&self, specs: &[AlterSpec], of_schema: Charset) -> Result<Self, Misfit> {
        let plan = Plan::new(self, specs)?;
        let mut new = Self {
            columns: Vec::with_capacity(self.columns.len()),
            primary_key: Vec::new(),
            ..*self
        };
        let mut key = self.primary_key.clone();
        let mut convert = false;
        for spec in specs {
            match spec {
                AlterSpec::DefaultCharset(charset) => new.charset = charset.or(of_schema),
                AlterSpec::ConvertTo(charset) => {
                    new.charset = charset.or(of_schema);
                    convert = true;
                }
                AlterSpec::DropPrimaryKey => key.clear(),
                AlterSpec::Versioning(on) => new.versioned = *on,
                _ => {}
            }
        }
        new.primary_key = plan.key(key);
        for old in &self.columns {
            let column = match plan.fates.get(&folded(&old.name)) {
                None => Arc::clone(old),
                Some(Fate::Dropped) => continue,
                Some(Fate::Changed(column)) => Arc::new(ColumnDecl::clone(column)),
                Some(Fate::Renamed(to)) => Arc::new(ColumnDecl {
                    name: (*to).to_owned(),
                    ..ColumnDecl::clone(old)
                }),
                Some(Fate::Visible(visible)) => Arc::new(ColumnDecl {
                    visible: *visible,
                    ..ColumnDecl::clone(old)
                }),
            };
            new.columns.push(column);
        }
        for &(column, position, moves) in &plan.placed {
            let old = match moves {
                true => new.columns.iter().position(|old| old.name == column.name),
                false => None,
            };
            let column = match old {
                Some(old) => new.columns.remove(old),
                None => Arc::new(ColumnDecl::clone(column)),
            };
            new.insert(column, position)?;
        }
        for spec in specs {
            if let AlterSpec::AddPrimaryKey(parts) = spec {
                new.primary_key.clone_from(parts);
            }
        }
        new.finish().map_err(Misfit::Conflict)?;
        new.inherit(of_schema);
        if convert {
            for column in &mut new.columns {
                Arc::make_mut(column).convert(new.charset);
            }
        }
        Ok(new)
    }

    fn insert(&mut self, column: Arc<ColumnDecl>, position: &Position) -> Result<(), Misfit> {
        if self.columns.len() >= MAX_COLUMNS {
            return Err(Misfit::Conflict(format!("more than {MAX_COLUMNS} columns")));
        }
        let at = match position {
            Position::Default => self.columns.len(),
            Position::First => 0,
            Position::After(after) => {
                let mut columns = self.columns.iter();
                match columns.position(|column| same_name(&column.name, after)) {
                    Some(at) => at.saturating_add(1),
                    None => return Err(Misfit::missing(after)),
                }
            }
        };
        self.columns.insert(at, column);
        Ok(())
    }
}

impl Plan<'_> {
    /// The primary key with the new names of its columns.
    fn key(&self, mut key: Vec<KeyPart>) -> Vec<KeyPart> {
        key.retain_mut(|part| match self.fates.get(&folded(&part.column)) {
            None | Some(Fate::Visible(_)) => true,
            Some(Fate::Dropped) => false,
            Some(Fate::Changed(column)) => {
                part.column.clone_from(&column.name);
                true
            }
            Some(Fate::Renamed(new)) => {
                (*new).clone_into(&mut part.column);
                true
            }
        });
        key
    }
}
