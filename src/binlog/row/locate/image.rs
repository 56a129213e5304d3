//! One image: which of its values go into which lists, and where they are in a row.
//!
//! ```text
//! columns   INT id*   INT   CHAR c   DECIMAL d*   INT          * wanted
//! steps     note id │ skip 8, hop c │ note d │ skip the rest
//! ```
//!
//! Columns go in groups of eight, as their null bits do. Where none of a group is NULL, the steps
//! are taken, in which columns are fused; else it goes from column to column.

use super::super::plan::{ColumnPlan, RowPlan};
use super::super::{Place, bit};
use super::Located;
use crate::binlog::cursor::Cursor;
use crate::binlog::types::{Width, code};
use crate::error::{Error, Result};

/// A list of [`Located`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Target(u32);

/// Kind of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    Row,
    Before,
    Base,
}

impl Target {
    const NONE: Self = Self(u32::MAX);

    pub(super) fn new(list: List, slot: usize) -> Result<Self> {
        let kind = match list {
            List::Row => 0,
            List::Before => 1,
            List::Base => 2,
        };
        match u32::try_from(slot) {
            Ok(slot) if slot < 1 << 24 => Ok(Self(slot << 2 | kind)),
            _ => Err(Error::invalid(format!("{slot} wanted columns"))),
        }
    }

    #[inline]
    pub(super) fn parts(self) -> (List, usize) {
        let list = match self.0 & 3 {
            0 => List::Row,
            1 => List::Before,
            _ => List::Base,
        };
        (list, (self.0 >> 2) as usize)
    }
}

/// Bytes of a value.
#[derive(Debug, Clone, Copy)]
enum Span {
    Fixed(u16),
    /// Bytes of the length, and the longest that it may be.
    Prefixed(u8, u32),
}

/// Moves over fixed bytes, notes the place of a value, and hops over one with a length.
#[derive(Debug, Clone, Copy)]
struct Step {
    skip: u32,
    /// [`Target::NONE`]: no place is noted.
    target: Target,
    /// Bytes of the length; 0: nothing is hopped over.
    prefix: u8,
    longest: u32,
}

/// A column that the image has.
#[derive(Debug)]
struct Column {
    span: Span,
    /// Range of its lists.
    targets: (u32, u32),
    /// Index among the JSON columns of the table.
    json: Option<u32>,
    /// Name for people.
    label: Box<str>,
}

/// Up to eight columns whose null bits are in one byte.
#[derive(Debug, Default)]
struct Group {
    /// Bits of that byte that stand for columns.
    used: u8,
    steps: Vec<Step>,
    /// Fixed bytes behind the last step.
    tail: u32,
    columns: Vec<Column>,
}

/// The columns of an image and where their places go.
#[derive(Debug)]
pub(super) struct Image {
    groups: Box<[Group]>,
    targets: Box<[Target]>,
}

impl Image {
    pub(super) fn new(
        plan: &RowPlan,
        present: &[u8],
        mut wanted: Vec<(usize, Target)>,
    ) -> Result<Self> {
        wanted.sort_by_key(|&(n, _)| n);
        let mut wanted = wanted.into_iter().peekable();
        let (mut groups, mut targets) = (Vec::new(), Vec::new());
        let mut group = Group::default();
        let mut json_columns = 0..;
        for (n, column) in plan.columns().iter().enumerate() {
            // Absent JSON columns are counted too.
            let json = column.is_json().then(|| json_columns.next()).flatten();
            if !bit(present, n) {
                continue;
            }
            if group.columns.len() == 8 {
                groups.push(std::mem::take(&mut group));
            }
            let first = targets.len();
            while let Some((_, target)) = wanted.next_if(|&(wanted, _)| wanted == n) {
                targets.push(target);
            }
            let column = Column {
                span: Span::of(column)?,
                targets: (index(first), index(targets.len())),
                json,
                label: column.label().into(),
            };
            group.push(column, targets.get(first..).unwrap_or_default());
        }
        if !group.columns.is_empty() {
            groups.push(group);
        }
        Ok(Self {
            groups: groups.into(),
            targets: targets.into(),
        })
    }

    /// Whether the image has no column.
    pub(super) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Notes the places of one image and returns where it ends; `None` if it does not fit.
    ///
    /// `partial` has a bit for each JSON column of the table: there are only changes to it.
    #[inline]
    pub(super) fn locate(
        &self,
        bytes: &[u8],
        at: usize,
        partial: Option<&[u8]>,
        out: &mut Located,
    ) -> Option<usize> {
        let nulls = bytes.get(at..)?.get(..self.groups.len())?;
        let mut at = at.saturating_add(self.groups.len());
        for (group, &nulls) in self.groups.iter().zip(nulls) {
            at = if nulls & group.used == 0 && partial.is_none() {
                group.take_steps(bytes, at, out)?
            } else {
                self.go_through(group, bytes, at, nulls, partial, out)?
            };
        }
        (at <= bytes.len()).then_some(at)
    }

    /// For a group with NULL, or one of a partial update.
    fn go_through(
        &self,
        group: &Group,
        bytes: &[u8],
        mut at: usize,
        mut nulls: u8,
        partial: Option<&[u8]>,
        out: &mut Located,
    ) -> Option<usize> {
        for column in &group.columns {
            let is_null = nulls & 1 != 0;
            nulls >>= 1;
            let (first, last) = column.targets;
            let targets = self.targets.get(first as usize..last as usize);
            let targets = targets.unwrap_or_default();
            if is_null {
                for &target in targets {
                    out.push(target, Place::NULL);
                }
                continue;
            }
            for &target in targets {
                let place = Place::unchecked(at);
                let place = match (partial, column.json) {
                    (Some(partial), Some(n)) if bit(partial, n as usize) => place.diff(),
                    _ => place,
                };
                out.push(target, place);
            }
            at = match column.span {
                Span::Fixed(width) => at.saturating_add(usize::from(width)),
                Span::Prefixed(prefix, longest) => behind(bytes, at, prefix, longest)?,
            };
        }
        Some(at)
    }

    /// Hops over the image, to say which column does not fit.
    pub(super) fn hop(&self, rows: &mut Cursor<'_>) -> Result<()> {
        let nulls = rows.bytes(self.groups.len())?;
        let columns = self.groups.iter().flat_map(|group| &group.columns);
        for (n, column) in columns.enumerate() {
            if !bit(nulls, n) {
                column
                    .span
                    .hop(rows)
                    .map_err(|error| error.in_column(&*column.label))?;
            }
        }
        Ok(())
    }
}

impl Group {
    fn push(&mut self, column: Column, targets: &[Target]) {
        self.used = self.used << 1 | 1;
        for &target in targets {
            let skip = std::mem::take(&mut self.tail);
            self.steps.push(Step::note(skip, target));
        }
        match column.span {
            Span::Fixed(width) => self.tail = self.tail.saturating_add(u32::from(width)),
            Span::Prefixed(prefix, longest) => {
                if targets.is_empty() {
                    let skip = std::mem::take(&mut self.tail);
                    self.steps.push(Step::note(skip, Target::NONE));
                }
                if let Some(step) = self.steps.last_mut() {
                    (step.prefix, step.longest) = (prefix, longest);
                }
            }
        }
        self.columns.push(column);
    }

    /// For a group without NULL.
    #[inline]
    fn take_steps(&self, bytes: &[u8], mut at: usize, out: &mut Located) -> Option<usize> {
        for step in &self.steps {
            at = at.saturating_add(step.skip as usize);
            if step.target != Target::NONE {
                out.push(step.target, Place::unchecked(at));
            }
            if step.prefix != 0 {
                at = behind(bytes, at, step.prefix, step.longest)?;
            }
        }
        Some(at.saturating_add(self.tail as usize))
    }
}

impl Step {
    fn note(skip: u32, target: Target) -> Self {
        Self {
            skip,
            target,
            prefix: 0,
            longest: 0,
        }
    }
}

impl Span {
    fn of(column: &ColumnPlan) -> Result<Self> {
        let width = column.ty.width();
        let width = width.map_err(|error| error.in_column(column.label()))?;
        Ok(match width {
            Width::Fixed(n) => Self::Fixed(n),
            Width::Prefixed(n) => {
                let longest = match column.ty.code {
                    code::STRING | code::VARCHAR | code::VAR_STRING | code::VARCHAR_COMPRESSED => {
                        u32::from(column.ty.meta)
                    }
                    _ => u32::MAX,
                };
                Self::Prefixed(n, longest)
            }
        })
    }

    fn hop(self, rows: &mut Cursor<'_>) -> Result<()> {
        match self {
            Self::Fixed(n) => rows.skip(usize::from(n)),
            Self::Prefixed(n, longest) => {
                let before = rows.len();
                Width::Prefixed(n).skip(rows)?;
                let taken = before.saturating_sub(rows.len());
                let len = taken.saturating_sub(usize::from(n));
                if len > longest as usize {
                    return Err(Error::corrupt(format!(
                        "{len} bytes in a column of at most {longest}"
                    )));
                }
                Ok(())
            }
        }
    }
}

/// Where a value with a length ends, perhaps behind the end of the bytes.
#[inline]
fn behind(bytes: &[u8], at: usize, prefix: u8, longest: u32) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let len = match prefix {
        1 => u32::from(*rest.first()?),
        2 => u32::from(u16::from_le_bytes(*rest.first_chunk()?)),
        3 => {
            let [a, b, c] = *rest.first_chunk()?;
            u32::from_le_bytes([a, b, c, 0])
        }
        _ => u32::from_le_bytes(*rest.first_chunk()?),
    };
    let end = at
        .saturating_add(usize::from(prefix))
        .saturating_add(len as usize);
    (len <= longest).then_some(end)
}

/// Columns are fewer than 2^32: an event is shorter.
fn index(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
