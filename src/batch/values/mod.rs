//! Values of rows → Arrow: one table of what each type becomes, and how its columns are built.
//!
//! ```text
//! ColumnPlan ── field_of ─▶ Field                       of one version of a table
//! Field, Field ─ widened ─▶ Field                       of the relation: all versions
//! Field + Stretch … ─ build ─▶ array
//!           │ places of one column, all in one block and of one plan
//!           ├ its own type is the relation's: one loop a stretch, which no value leaves
//!           ├ a number that fits a wider type: the same, then Arrow's cast
//!           └ else: its text
//! ```
//!
//! Each family file has a `ValueDef` a type: what it claims, which Arrow type it is, and how to
//! build it. `DEFS` is the only list of them, and the first that claims a column has it.
//!
//! **Invariant:** a place that holds a value either becomes that value or is told to the caller as
//! a [`Note`]: nothing becomes null in silence.

use crate::binlog::reader::Block;
use crate::binlog::row::{ColumnPlan, Place};
use crate::binlog::types::{AnyInt, Date, Value};
use crate::error::{Error, Result};
use arrow::array::{Array, ArrayRef, new_empty_array, new_null_array};
use arrow::compute::{CastOptions, cast_with_options, concat};
use arrow::datatypes::{DataType, Field};
use std::collections::HashMap;
use std::sync::Arc;

mod bits;
mod decimal;
mod document;
mod mariadb;
mod number;
mod run;
mod spatial;
mod string;
mod temporal;
mod text;
mod view;
mod widen;

use run::Run;
pub use widen::widened;

/// What a user may choose about types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct TypeOptions {
    /// What becomes of dates that no calendar has.
    pub zero_dates: ZeroDates,
}

/// What becomes of `0000-00-00`, of dates with month or day 0, and of days that a month does not
/// have (`ALLOW_INVALID_DATES`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ZeroDates {
    /// Null, and a [`Note::ZeroDate`].
    #[default]
    Null,
    /// All DATE, DATETIME and TIMESTAMP columns are text, as `SELECT` shows it.
    Text,
}

/// A run of rows of one column, whose values stand in one block under one plan.
#[derive(Debug, Clone, Copy)]
pub struct Stretch<'a> {
    /// The column in this version of its table; `None`: this version has none, all rows are null.
    pub column: Option<&'a ColumnPlan>,
    /// Where the values stand.
    pub block: &'a Block,
    /// Index of `block` among the blocks of the batch.
    pub number: u32,
    /// Where the value of each row begins.
    pub places: &'a [Place],
    /// For JSON of which a row has only the changes: where the value before stands. As many as
    /// `places`, or none.
    pub bases: &'a [Place],
}

/// What has to be told about a value.
#[derive(Debug)]
pub enum Note {
    /// The value does not decode, and is null. An error.
    Undecoded(Error),
    /// Some bytes of a text are no characters and stand in it as `\xNN`. A warning.
    Escaped(Error),
    /// Nothing tells whether the integer is signed, and it is another one when it is not. It is
    /// given as signed. A warning.
    Signedness(AnyInt),
    /// A date that no calendar has, and is null. A warning.
    ZeroDate(Date),
}

impl Note {
    /// Whether the value is lost, which makes this an error.
    pub fn is_error(&self) -> bool {
        matches!(self, Self::Undecoded(_))
    }

    /// The note as an error, without a place but for the column that an error names.
    pub fn into_error(self) -> Error {
        match self {
            Self::Undecoded(error) | Self::Escaped(error) => error,
            Self::Signedness(n) => Error::unsupported(format!(
                "the log does not tell whether the column is unsigned: {} is {} if it is; give \
                 the table's definition to know",
                n.signed(),
                n.bits
            )),
            Self::ZeroDate(date) => Error::unsupported(format!(
                "the date {date} is in no calendar, and shown as null; zero_dates = 'text' shows it"
            )),
        }
    }
}

/// An Arrow type and the extension that tells more about it.
#[derive(Debug, Clone, PartialEq)]
struct ArrowType {
    data_type: DataType,
    extension: Option<&'static Extension>,
}

impl From<DataType> for ArrowType {
    fn from(data_type: DataType) -> Self {
        Self {
            data_type,
            extension: None,
        }
    }
}

/// Name and metadata of an extension type.
#[derive(Debug, PartialEq)]
struct Extension {
    name: &'static str,
    metadata: Option<&'static str>,
}

/// Keys of field metadata, as Arrow defines them.
const EXTENSION_NAME: &str = "ARROW:extension:name";
const EXTENSION_METADATA: &str = "ARROW:extension:metadata";

/// What a type becomes.
struct ValueDef {
    /// Whether it is the type of this column.
    claims: fn(&ColumnPlan) -> bool,
    /// The Arrow type of the column.
    arrow: fn(&ColumnPlan, &TypeOptions) -> ArrowType,
    /// Builds an array of that type from stretches whose columns it claims.
    build: fn(&mut Run<'_>) -> ArrayRef,
    /// Writes a value as text, where the column shares a relation with one of another type.
    text: fn(&ColumnPlan, Value<'_>, &mut String) -> Result<()>,
}

/// Every type. What a declaration tells comes before what the table map tells.
static DEFS: &[&[ValueDef]] = &[
    mariadb::DEFS,
    document::DEFS,
    spatial::DEFS,
    number::DEFS,
    decimal::DEFS,
    bits::DEFS,
    temporal::DEFS,
    string::DEFS,
];

/// The type of a column; there is one for every column.
fn def_of(column: &ColumnPlan) -> &'static ValueDef {
    let mut defs = DEFS.iter().copied().flatten();
    defs.find(|def| (def.claims)(column))
        .unwrap_or(&number::NOTHING)
}

/// The Arrow field of a column in a typed relation. It is always nullable: a row image may lack
/// any column.
///
/// | column | type |
/// |---|---|
/// | of a type whose values have no length in the log, so that no row can have one | Null |
/// | integer of unknown signedness | signed |
/// | string of unknown content | Utf8View |
/// | text of an unknown character set | BinaryView |
///
/// All others: see the README's table of types.
pub fn field_of(column: &ColumnPlan, options: &TypeOptions) -> Field {
    let ArrowType {
        data_type,
        extension,
    } = (def_of(column).arrow)(column, options);
    let field = Field::new(column.display_name(), data_type, true);
    match extension {
        None => field,
        Some(extension) => {
            let name = (EXTENSION_NAME.to_owned(), extension.name.to_owned());
            let metadata = extension.metadata;
            let metadata = metadata.map(|text| (EXTENSION_METADATA.to_owned(), text.to_owned()));
            field.with_metadata(HashMap::from_iter(std::iter::once(name).chain(metadata)))
        }
    }
}

/// How the values of a column become those of the relation's type.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// They are of that type.
    Own,
    /// By Arrow's cast from their own type, which is exact.
    Cast,
    /// As text.
    Text,
    /// Not at all: the field is not the relation's.
    None,
}

impl Way {
    fn of(own: &DataType, wanted: &DataType) -> Self {
        if own == wanted {
            return Self::Own;
        }
        match (own, wanted) {
            (DataType::Dictionary(..) | DataType::Utf8, DataType::Utf8View) => Self::Cast,
            (_, DataType::Utf8View) => Self::Text,
            _ if widen::is_exact(own, wanted) => Self::Cast,
            _ => Self::None,
        }
    }
}

/// How the columns of some stretches, all alike, become an array.
struct Plan<'a> {
    column: &'a ColumnPlan,
    def: &'static ValueDef,
    own: DataType,
    way: Way,
}

impl<'a> Plan<'a> {
    fn new(column: &'a ColumnPlan, options: &TypeOptions, wanted: &DataType) -> Self {
        let def = def_of(column);
        let own = (def.arrow)(column, options).data_type;
        Self {
            way: Way::of(&own, wanted),
            column,
            def,
            own,
        }
    }

    /// Whether one loop over the stretches builds both.
    fn is_like(&self, other: &Self) -> bool {
        std::ptr::eq(self.def, other.def) && self.own == other.own
    }
}

/// Builds an array of the type of `field`, which is that of the column or a [`widened`] one, with
/// one element for each place. Blocks are those that `stretches` count; long texts and bytes stay
/// in them.
///
/// A place without a value is null, and so are all rows of a stretch without a column. `note` is
/// called with the row and what has to be told of its value. Changes of a JSON value whose value
/// before is not there are null without a note: the caller knows from the places.
pub fn build(
    field: &Field,
    options: &TypeOptions,
    stretches: &[Stretch<'_>],
    blocks: &[Block],
    note: &mut dyn FnMut(usize, Note),
) -> ArrayRef {
    let wanted = field.data_type();
    let mut parts: Vec<ArrayRef> = Vec::new();
    let (mut first, mut row) = (0, 0);
    let mut current: Option<Plan<'_>> = None;
    let mut flush = |plan: &Option<Plan<'_>>, stretches: &[Stretch<'_>], row: &mut usize| {
        let rows = stretches.iter().map(|stretch| stretch.places.len()).sum();
        if rows > 0 {
            let mut run = Run {
                stretches,
                blocks,
                options,
                data_type: wanted,
                first_row: *row,
                rows,
                note,
            };
            parts.push(match plan {
                Some(plan) => run_of(plan, &mut run, wanted),
                None => new_null_array(wanted, rows),
            });
        }
        *row += rows;
    };
    for (at, stretch) in stretches.iter().enumerate() {
        if let Some(column) = stretch.column {
            let known = current
                .as_ref()
                .is_some_and(|plan| std::ptr::eq(plan.column, column));
            if !known {
                let plan = Plan::new(column, options, wanted);
                if current.as_ref().is_some_and(|other| !other.is_like(&plan)) {
                    flush(&current, &stretches[first..at], &mut row);
                    first = at;
                }
                current = Some(plan);
            }
        }
    }
    flush(&current, &stretches[first..], &mut row);
    match parts.as_slice() {
        [] => new_empty_array(wanted),
        [one] => Arc::clone(one),
        all => {
            let all: Vec<&dyn Array> = all.iter().map(AsRef::as_ref).collect();
            concat(&all).unwrap_or_else(|error| {
                for row in 0..row {
                    note(row, Note::Undecoded(Error::unsupported(error.to_string())));
                }
                new_null_array(wanted, row)
            })
        }
    }
}

/// The array of stretches whose columns are alike.
fn run_of<'r>(plan: &'r Plan<'_>, run: &mut Run<'r>, wanted: &DataType) -> ArrayRef {
    match plan.way {
        Way::Own => (plan.def.build)(run),
        Way::Text => text::build(run, plan.def.text),
        Way::Cast => {
            run.data_type = &plan.own;
            let own = (plan.def.build)(run);
            let strict = CastOptions {
                safe: false,
                ..CastOptions::default()
            };
            match cast_with_options(&own, wanted, &strict) {
                Ok(array) => array,
                Err(error) => run.give_up(wanted, &error.to_string()),
            }
        }
        Way::None => run.give_up(
            wanted,
            &format!("a value of type {} does not fit", plan.own),
        ),
    }
}

#[cfg(test)]
mod tests;
