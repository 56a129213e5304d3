//! Things by name, where the case of a name may or may not matter.
//!
//! A server on a file system that tells no cases, or under `lower_case_table_names`, writes a name
//! in different cases into statements and table maps. Which servers do so no log tells, so a name is
//! first taken as it stands, and then in any case if only one name is so.

use std::collections::{BTreeSet, HashMap};

/// Things by name.
#[derive(Debug, Clone)]
pub(super) struct Names<T> {
    exact: HashMap<String, T>,
    folded: HashMap<String, BTreeSet<String>>,
}

impl<T> Default for Names<T> {
    fn default() -> Self {
        Self {
            exact: HashMap::new(),
            folded: HashMap::new(),
        }
    }
}

impl<T> Names<T> {
    /// The name as it is known.
    pub(super) fn resolve<'n>(&'n self, name: &'n str) -> Option<&'n str> {
        if self.exact.contains_key(name) {
            return Some(name);
        }
        let names = self.folded.get(&name.to_lowercase())?;
        match names.len() {
            1 => names.first().map(String::as_str),
            _ => None,
        }
    }

    /// What has the name, in any case if it must be.
    pub(super) fn find(&self, name: &str) -> Option<&T> {
        self.exact.get(self.resolve(name)?)
    }

    /// What has exactly this name.
    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut T> {
        self.exact.get_mut(name)
    }

    /// What has exactly this name, which is made if there is none.
    pub(super) fn entry(&mut self, name: &str) -> &mut T
    where
        T: Default,
    {
        if !self.exact.contains_key(name) {
            self.note(name);
        }
        self.exact.entry(name.to_owned()).or_default()
    }

    fn note(&mut self, name: &str) {
        let names = self.folded.entry(name.to_lowercase()).or_default();
        names.insert(name.to_owned());
    }

    /// Puts a thing in under exactly this name.
    pub(super) fn insert(&mut self, name: &str, thing: T) {
        self.note(name);
        self.exact.insert(name.to_owned(), thing);
    }

    /// Takes out what has exactly this name.
    pub(super) fn remove(&mut self, name: &str) -> Option<T> {
        let folded = name.to_lowercase();
        if let Some(names) = self.folded.get_mut(&folded) {
            names.remove(name);
            if names.is_empty() {
                self.folded.remove(&folded);
            }
        }
        self.exact.remove(name)
    }

    /// Whether there is nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.exact.is_empty()
    }

    /// All names and what has them, in no order.
    pub(super) fn into_iter(self) -> impl Iterator<Item = (String, T)> {
        self.exact.into_iter()
    }
}
