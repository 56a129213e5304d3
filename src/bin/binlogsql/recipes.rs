//! The recipes of `queries/`, compiled in from one list.

use crate::params::{Declared, Preset, declared, head};

/// A question and the SQL that answers it.
#[derive(Debug)]
pub struct Recipe {
    /// Name of its file, without `.sql`.
    pub name: &'static str,
    /// The whole file.
    pub sql: &'static str,
}

macro_rules! recipes {
    ($($name:literal),* $(,)?) => {
        &[$(Recipe {
            name: $name,
            sql: include_str!(concat!("../../../queries/", $name, ".sql")),
        }),*]
    };
}

/// All of them, by name.
pub const RECIPES: &[Recipe] = recipes![
    "biggest-statements",
    "biggest-transactions",
    "ddl-history",
    "event-mix",
    "gtid-ranges-per-file",
    "hottest-columns",
    "hottest-tables",
    "row-history",
    "statements-by-schema",
    "tables-without-key",
    "timeline-per-minute",
    "who-deleted",
];

/// The recipe of this name (`.sql` may stand behind it).
pub fn find(name: &str) -> Option<&'static Recipe> {
    let name = name.strip_suffix(".sql").unwrap_or(name);
    RECIPES.iter().find(|recipe| recipe.name == name)
}

impl Recipe {
    /// The question that it answers.
    pub fn question(&self) -> &'static str {
        head(self.sql)
            .find_map(|line| line.strip_prefix("question:"))
            .map_or("", str::trim)
    }

    /// Its parameters; a test holds that each recipe's head can be read.
    pub fn params(&self) -> Vec<Declared> {
        declared(self.sql).unwrap_or_default()
    }

    /// Its parameters as its head has them.
    pub fn params_text(&self) -> String {
        let one = |d: Declared| {
            let Declared { name, kind, preset } = d;
            match preset {
                Preset::Required => format!("{name} ({kind}, required)"),
                Preset::Null => format!("{name} ({kind})"),
                Preset::Text(text) => format!("{name}={text} ({kind})"),
            }
        };
        let all: Vec<String> = self.params().into_iter().map(one).collect();
        all.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    fn folder() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("queries")
    }

    #[test]
    fn each_file_is_in_the_list_and_in_the_readme() {
        let files: BTreeSet<String> = std::fs::read_dir(folder())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter_map(|name| name.strip_suffix(".sql").map(str::to_owned))
            .collect();
        let listed: BTreeSet<String> = RECIPES.iter().map(|r| r.name.to_owned()).collect();
        assert_eq!(files, listed, "files of queries/ and RECIPES");
        assert!(RECIPES.is_sorted_by_key(|r| r.name));
        let readme = std::fs::read_to_string(folder().join("README.md")).unwrap();
        for recipe in RECIPES {
            let line = format!("[{0}]({0}.sql)", recipe.name);
            assert!(readme.contains(&line), "queries/README.md lacks {line}");
            assert!(
                readme.contains(recipe.question()),
                "queries/README.md asks another question than {}",
                recipe.name
            );
        }
    }

    #[test]
    fn each_head_is_complete() {
        for recipe in RECIPES {
            let starts: Vec<&str> = head(recipe.sql)
                .filter_map(|line| line.split_once(':').map(|(key, _)| key))
                .collect();
            assert_eq!(
                starts[..3],
                ["question", "params", "reads"],
                "{}",
                recipe.name
            );
            assert!(recipe.question().ends_with('?'), "{}", recipe.name);
            let params = declared(recipe.sql).unwrap_or_else(|e| panic!("{}: {e}", recipe.name));
            for param in params {
                let uses = recipe.sql.matches(&format!("${}", param.name)).count();
                assert!(uses > 1, "{} does not use ${}", recipe.name, param.name);
            }
            assert!(recipe.sql.contains("cost:"), "{}", recipe.name);
        }
    }
}
