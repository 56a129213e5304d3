//! Which character set a statement gives to text.

use crate::binlog::charset::collation_named;

/// The character set of a column, or the default of a table or schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Charset {
    /// That of the table, or of the schema.
    #[default]
    Inherited,
    /// Nobody told; also of columns that have none.
    Unknown,
    /// Identifier of a collation of the set.
    Id(u16),
}

impl Charset {
    /// The set of bytes that are no characters.
    pub const BINARY: Self = Self::Id(63);

    /// This, or what is inherited.
    #[must_use]
    pub fn or(self, inherited: Self) -> Self {
        match self {
            Self::Inherited => inherited,
            own => own,
        }
    }

    /// Identifier of a collation of the set, if it is known.
    pub fn collation(self) -> Option<u16> {
        match self {
            Self::Id(id) => Some(id),
            Self::Inherited | Self::Unknown => None,
        }
    }

    /// The set that a name in a statement means.
    pub(super) fn named(name: &str) -> Self {
        if name.eq_ignore_ascii_case("default") {
            return Self::Inherited;
        }
        collation_named(name).map_or(Self::Unknown, Self::Id)
    }

    /// The set after `COLLATE name`, which may be of any set (`uca1400_ai_ci` of MariaDB): then
    /// what was said before stays.
    #[must_use]
    pub(super) fn collated(self, name: &str) -> Self {
        let any_set = ["uca1400", "default"];
        match Self::named(name) {
            Self::Unknown | Self::Inherited
                if any_set.iter().any(|any| {
                    let head = name.get(..any.len());
                    head.is_some_and(|head| head.eq_ignore_ascii_case(any))
                }) =>
            {
                self
            }
            named => named,
        }
    }
}
