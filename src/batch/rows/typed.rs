//! One table as a relation: the union of what it looked like in the logs.

use super::columns::{BEFORE, MetaColumn};
use crate::batch::values::{TypeOptions, field_of, widened};
use crate::binlog::row::{ColumnPlan, RowPlan};
use crate::binlog::types::code;
use arrow::datatypes::Field;
use std::collections::HashMap;

/// A table: its columns in all its versions, by name.
#[derive(Debug)]
pub struct TypedTable {
    schema: String,
    table: String,
    columns: Vec<Field>,
    /// By name in lower case, as servers compare them.
    by_name: HashMap<String, usize>,
    options: TypeOptions,
}

impl TypedTable {
    /// The relation of `schema.table`, from its versions in the order of the log.
    ///
    /// A column of several versions has the narrowest type that holds the values of all, and the
    /// spelling of the last. A name that the relation has already for something else (`_file`)
    /// gets one more underscore.
    pub fn new<'p>(
        schema: &str,
        table: &str,
        versions: impl IntoIterator<Item = &'p RowPlan>,
        options: TypeOptions,
    ) -> Self {
        let mut this = Self {
            schema: schema.to_owned(),
            table: table.to_owned(),
            columns: Vec::new(),
            by_name: HashMap::new(),
            options,
        };
        for plan in versions {
            for (name, column) in named_columns(plan) {
                let field = field_of(column, &this.options)
                    .with_nullable(true)
                    .with_name(&name);
                match this.by_name.get(&name.to_lowercase()) {
                    Some(&at) => {
                        let both = widened(&this.columns[at], &field);
                        this.columns[at] = both.with_nullable(true).with_name(name);
                    }
                    None => {
                        this.by_name.insert(name.to_lowercase(), this.columns.len());
                        this.columns.push(field);
                    }
                }
            }
        }
        this
    }

    /// Schema of the table.
    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// Its name.
    pub fn table(&self) -> &str {
        &self.table
    }

    /// The table's own columns.
    pub fn columns(&self) -> &[Field] {
        &self.columns
    }

    /// How values are shown.
    pub fn options(&self) -> &TypeOptions {
        &self.options
    }

    /// For each column of the relation its number in `plan`, and the names of columns of `plan`
    /// that the relation does not have: the table has changed since it was looked at.
    pub fn mapping(&self, plan: &RowPlan) -> (Vec<Option<usize>>, Vec<String>) {
        let mut mapping = vec![None; self.columns.len()];
        let mut unknown = Vec::new();
        for (name, column) in named_columns(plan) {
            match self.by_name.get(&name.to_lowercase()) {
                Some(&at) => mapping[at] = Some(column.number as usize - 1),
                None => unknown.push(name),
            }
        }
        (mapping, unknown)
    }
}

/// The columns of a version that hold values, each under a name of its own. Hidden columns of
/// multi-valued indexes hold none.
pub fn named_columns(plan: &RowPlan) -> Vec<(String, &ColumnPlan)> {
    let mut taken: Vec<String> = MetaColumn::TYPED.iter().map(|c| c.typed_name()).collect();
    taken.push(BEFORE.to_owned());
    let mut taken: std::collections::HashSet<String> = taken.into_iter().collect();
    let columns = plan.columns().iter();
    columns
        .filter(|column| column.ty.code != code::TYPED_ARRAY)
        .map(|column| {
            let own = column.display_name().into_owned();
            let numbered = format!("{own}_{}", column.number);
            // Only a forged table has two columns of one name.
            let more = (1..).map(|n| format!("{numbered}{}", "_".repeat(n)));
            let mut names = [own.clone(), format!("_{own}"), numbered.clone()]
                .into_iter()
                .chain(more);
            let free = names.find(|name| !taken.contains(&name.to_lowercase()));
            let name = free.unwrap_or(numbered);
            taken.insert(name.to_lowercase());
            (name, column)
        })
        .collect()
}
