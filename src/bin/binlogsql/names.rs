//! The names that exist: relations and their columns, functions; and the one nearest to a
//! misspelling.

use std::sync::Arc;

use datafusion::catalog::SchemaProvider;
use datafusion::execution::FunctionRegistry;
use datafusion::prelude::SessionContext;

/// A relation and where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Relation {
    /// Catalog, that is the source.
    pub catalog: String,
    /// Schema.
    pub schema: String,
    /// Name.
    pub name: String,
}

impl Relation {
    /// The shortest text that resolves to it, given the catalog and schema that are the default.
    pub fn short(&self, home: &(String, String)) -> String {
        let name = quoted(&self.name);
        let schema = quoted(&self.schema);
        match (self.catalog == home.0, self.schema == home.1) {
            (true, true) => name,
            (true, false) => format!("{schema}.{name}"),
            _ => format!("{}.{schema}.{name}", quoted(&self.catalog)),
        }
    }
}

/// A name as SQL takes it: in double quotes where it is not plain lower case.
pub fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let starts_well = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    if starts_well && name.chars().all(plain) {
        name.to_owned()
    } else {
        format!("\"{}\"", name.replace('"', "\"\""))
    }
}

/// The catalog and schema in which a bare name is looked up.
pub fn home(context: &SessionContext) -> (String, String) {
    let state = context.state_ref();
    let state = state.read();
    let catalog = &state.config().options().catalog;
    (
        catalog.default_catalog.clone(),
        catalog.default_schema.clone(),
    )
}

/// Every relation of the session, sources in the order of their names. Waits until the tables of all
/// logs are found: their sources are read once for it.
pub fn relations(context: &SessionContext) -> Vec<Relation> {
    let mut catalogs = context.catalog_names();
    catalogs.sort();
    catalogs
        .iter()
        .flat_map(|catalog| relations_of(context, catalog))
        .collect()
}

/// Every relation of one source, those first that need no schema.
pub fn relations_of(context: &SessionContext, catalog: &str) -> Vec<Relation> {
    let mut out = Vec::new();
    let home = home(context).1;
    for_each_schema(context, catalog, &home, |schema, provider| {
        let mut names = provider.table_names();
        names.sort();
        for name in names {
            out.push(Relation {
                catalog: catalog.to_owned(),
                schema: schema.to_owned(),
                name,
            });
        }
    });
    out
}

fn for_each_schema(
    context: &SessionContext,
    catalog: &str,
    first: &str,
    mut visit: impl FnMut(&str, Arc<dyn SchemaProvider>),
) {
    let Some(catalog) = context.catalog(catalog) else {
        return;
    };
    let mut schemas = catalog.schema_names();
    schemas.sort_by(|a, b| (a != first, a).cmp(&(b != first, b)));
    for schema in schemas {
        if schema == "information_schema" {
            continue;
        }
        if let Some(provider) = catalog.schema(&schema) {
            visit(&schema, provider);
        }
    }
}

/// Names of all functions that a query may call, sorted.
pub fn functions(context: &SessionContext) -> Vec<String> {
    let state = context.state();
    let mut names: Vec<String> = state.udfs().into_iter().collect();
    names.extend(state.udafs());
    names.extend(state.udwfs());
    names.extend(state.table_functions().keys().cloned());
    names.sort();
    names.dedup();
    names
}

/// The relation that `name` was most likely meant to be, as it is written: `'binlog'`, or without
/// further quotes where it has some. A name without a schema may be that of a table.
pub fn nearest_relation(name: &str, relations: &[String]) -> Option<String> {
    let near = closest(name, relations.iter().map(String::as_str)).or_else(|| {
        let bare = |relation: &str| {
            let end = relation.rsplit('.').next().unwrap_or(relation);
            end.trim_matches('"').to_owned()
        };
        let names: Vec<String> = relations.iter().map(|relation| bare(relation)).collect();
        let near = closest(name, names.iter().map(String::as_str))?;
        let at = names.iter().position(|known| known == near)?;
        relations.get(at).map(String::as_str)
    })?;
    Some(in_quotes(near))
}

/// A name in a message: in single quotes, unless it has quotes of its own.
pub fn in_quotes(name: &str) -> String {
    if name.contains('"') {
        name.to_owned()
    } else {
        format!("'{name}'")
    }
}

/// The candidate that `name` was most likely meant to be, if one is near.
pub fn closest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name: Vec<char> = name.to_lowercase().chars().collect();
    let reach = (name.len() / 3).clamp(1, 3);
    candidates
        .map(|candidate| (distance(&name, candidate), candidate))
        .filter(|(distance, _)| *distance <= reach)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How many letters must be put in, taken out, changed or swapped with their neighbour.
fn distance(a: &[char], b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let change = above[j] + usize::from(a[i] != b[j]);
            let mut best = change.min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_name() {
        let names = ["type", "type_code", "timestamp", "size", "gtid"];
        let near = |name| closest(name, names.into_iter());
        assert_eq!(near("tpye"), Some("type"));
        assert_eq!(near("TYPE"), Some("type"));
        assert_eq!(near("typecode"), Some("type_code"));
        assert_eq!(near("timestmp"), Some("timestamp"));
        assert_eq!(near("gtids"), Some("gtid"));
        assert_eq!(near("flavour"), None);
        assert_eq!(near(""), None);
    }

    #[test]
    fn nearest_relation_may_be_in_a_schema() {
        let known = ["binlog", "changes", "shop.orders", "shop.\"Carts\""];
        let known: Vec<String> = known.map(str::to_owned).into();
        let near = |name| nearest_relation(name, &known);
        assert_eq!(near("chagnes").unwrap(), "'changes'");
        assert_eq!(near("shop.ordrs").unwrap(), "'shop.orders'");
        assert_eq!(near("orders").unwrap(), "'shop.orders'");
        assert_eq!(near("order").unwrap(), "'shop.orders'");
        assert_eq!(near("carts").unwrap(), "shop.\"Carts\"");
        assert_eq!(near("customers"), None);
    }

    #[test]
    fn short_names_resolve() {
        let home = ("log".to_owned(), "binlog".to_owned());
        let short = |catalog: &str, schema: &str, name: &str| {
            let relation = Relation {
                catalog: catalog.to_owned(),
                schema: schema.to_owned(),
                name: name.to_owned(),
            };
            relation.short(&home)
        };
        assert_eq!(short("log", "binlog", "files"), "files");
        assert_eq!(short("log", "shop", "Orders"), "shop.\"Orders\"");
        assert_eq!(short("prod", "binlog", "files"), "prod.binlog.files");
        assert_eq!(short("log", "a\"b", "9"), "\"a\"\"b\".\"9\"");
    }
}
