//! Whether a table map can be of a declared table.
//!
//! It is what keeps a statement that is not of *this* table from giving it names: a definition is
//! used only where the number of columns, every type ([`ColumnHint::fits`]) and the length of every
//! string agree.
//!
//! [`ColumnHint::fits`]: crate::binlog::row::ColumnHint::fits

use super::decl::ColumnDecl;
use crate::binlog::charset::{Charset, UTF8MB3, charset_of};
use crate::binlog::types::{ColumnType, code};

impl ColumnDecl {
    /// Whether the longest value takes as many bytes as the type's metadata says.
    pub(super) fn length_fits(&self, ty: ColumnType) -> bool {
        let Some(length) = self.length else {
            return true;
        };
        if !matches!(ty.code, code::STRING | code::VARCHAR) {
            return true;
        }
        let fits = |bytes: u32| length.checked_mul(bytes) == Some(u32::from(ty.meta));
        match self.charset.collation().and_then(charset_of) {
            Some(charset) if !may_be_utf8mb4(charset) => fits(u32::from(charset.max_len)),
            _ => (1..=4).any(fits),
        }
    }
}

/// `utf8` is utf8mb3 or, by `old_mode` of MariaDB, utf8mb4.
fn may_be_utf8mb4(charset: &Charset) -> bool {
    charset.name == UTF8MB3.name
}
