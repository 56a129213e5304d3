//! Filters on events and rows, each evaluated where it is cheapest.
//!
//! ```text
//!  predicate ─ conjuncts ─┬─ file only ────────▶ files that cannot match are not opened
//!                         ├─ type, op, pos, time ▶ Wanted: an event is dropped on its header
//!                         ├─ header columns ───┐
//!                         ├─ transaction ──────┼▶ Stage: columns of the filter first, for a batch
//!                         ├─ body, table ──────┤  of candidates; the others for what is left
//!                         └─ values of rows ───┘
//! ```
//!
//! `Wanted` is only ever a superset of what matches; every conjunct is evaluated on the rows that
//! reach its stage, by DataFusion's own expressions, so the answer is exact.

use super::meaning::{Meaning, Role};
use crate::batch::events::type_array;
use crate::batch::rows::{Op, op_array};
use crate::binlog::fields::rows_types;
use crate::binlog::frame::TypeSet;
use crate::binlog::reader::Item;
use arrow::array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, RecordBatch, StringArray, UInt8Array,
};
use arrow::datatypes::{Int32Type, SchemaRef};
use datafusion::common::{Result, ScalarValue, cast::as_boolean_array};
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{BinaryExpr, Column, InListExpr, Literal};
use datafusion::physical_expr::utils::{collect_columns, reassign_expr_columns, split_conjunction};
use datafusion::physical_plan::PhysicalExpr;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// What an event's header must be for any conjunct to hold.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wanted {
    /// Type codes.
    pub types: TypeSet,
    /// Offsets.
    pub pos: RangeInclusive<u64>,
    /// Header timestamps, seconds; `None`: any, including 0.
    pub seconds: Option<RangeInclusive<u32>>,
}

impl Wanted {
    const ALL: Self = Self {
        types: TypeSet::ALL,
        pos: 0..=u64::MAX,
        seconds: None,
    };

    /// Whether an event may match, told by its header and place.
    #[inline]
    pub fn admits(&self, item: &Item) -> bool {
        self.types.contains(item.header.type_code)
            && self.pos.contains(&item.pos)
            && self
                .seconds
                .as_ref()
                .is_none_or(|seconds| seconds.contains(&item.header.timestamp))
    }
}

/// One stage of evaluation: a conjunct over the columns that it needs.
#[derive(Debug, Clone)]
pub(super) struct Stage {
    /// Columns of the relation, in the order of the expression's schema.
    pub columns: Vec<usize>,
    /// What the costliest of them costs, see [`Meaning::cost`].
    pub cost: u8,
    schema: SchemaRef,
    expr: Arc<dyn PhysicalExpr>,
}

impl Stage {
    /// Which of the rows match; null counts as no.
    pub fn evaluate(&self, columns: Vec<ArrayRef>, rows: usize) -> Result<BooleanArray> {
        let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)?;
        let mask = self.expr.evaluate(&batch)?.into_array(rows)?;
        let mask = as_boolean_array(&mask)?;
        Ok(if mask.null_count() > 0 {
            arrow::compute::prep_null_mask_filter(mask)
        } else {
            mask.clone()
        })
    }
}

impl Stage {
    /// Leaves of `chosen` (`None`: all) those for which the stage holds. `columns` are theirs, and
    /// `count` is how many they are.
    pub fn narrow(
        &self,
        chosen: &mut Option<Vec<u32>>,
        columns: Vec<ArrayRef>,
        count: usize,
    ) -> Result<()> {
        let mask = self.evaluate(columns, count)?;
        if mask.true_count() < count {
            let at = |i: usize| chosen.as_ref().map_or(i as u32, |chosen| chosen[i]);
            *chosen = Some(mask.values().set_indices().map(at).collect());
        }
        Ok(())
    }
}

/// A predicate on a relation, taken apart.
#[derive(Debug, Clone)]
pub(super) struct Filter {
    /// The whole, as it was given; `None`: everything matches.
    pub predicate: Option<Arc<dyn PhysicalExpr>>,
    /// What headers must be.
    pub wanted: Wanted,
    /// GTIDs of which the row must have one, where the predicate says so.
    pub gtids: Option<Vec<String>>,
    /// What is evaluated on rows, cheapest first.
    pub stages: Vec<Stage>,
}

impl Filter {
    /// Takes a predicate over the columns of `meaning` apart.
    pub fn new(predicate: Option<Arc<dyn PhysicalExpr>>, meaning: &Meaning) -> Result<Self> {
        let mut filter = Self {
            predicate,
            wanted: Wanted {
                types: if meaning.of_rows {
                    rows_types()
                } else {
                    TypeSet::ALL
                },
                ..Wanted::ALL
            },
            gtids: None,
            stages: Vec::new(),
        };
        let Some(predicate) = filter.predicate.clone() else {
            return Ok(filter);
        };
        for conjunct in split_conjunction(&predicate) {
            filter.narrow(conjunct, meaning);
            filter.stages.push(stage(conjunct, meaning)?);
        }
        filter.stages.sort_by_key(|stage| stage.cost);
        Ok(filter)
    }

    /// Columns that any stage needs.
    pub fn columns(&self) -> impl Iterator<Item = usize> + '_ {
        self.stages
            .iter()
            .flat_map(|stage| stage.columns.iter().copied())
    }

    fn narrow(&mut self, conjunct: &Arc<dyn PhysicalExpr>, meaning: &Meaning) {
        let columns = columns_of(conjunct);
        let roles: Vec<Role> = columns.iter().map(|&at| meaning.role(at)).collect();
        // None at all: the conjunct is a constant.
        if roles
            .iter()
            .all(|role| matches!(role, Role::Type | Role::TypeCode | Role::Op))
        {
            // An expression that fails for some code (a division by zero) may never meet it.
            if let Ok(types) = matching_types(conjunct, meaning) {
                let both =
                    (0..=u8::MAX).filter(|&c| self.wanted.types.contains(c) && types.contains(c));
                self.wanted.types = both.collect();
            }
        }
        if roles == [Role::Gtid]
            && let Some(gtids) = equal_to_one_of(conjunct)
        {
            self.gtids.get_or_insert(gtids);
        }
        let Some((column, operator, value)) = comparison(conjunct) else {
            return;
        };
        // Others (IS DISTINCT FROM) may hold for a null.
        if !matches!(
            operator,
            Operator::Eq | Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq
        ) {
            return;
        }
        match meaning.role(column) {
            Role::Pos => {
                if let Ok(ScalarValue::UInt64(Some(value))) =
                    value.cast_to(&arrow::datatypes::DataType::UInt64)
                {
                    self.wanted.pos = narrowed(&self.wanted.pos, operator, value, 0, u64::MAX);
                }
            }
            Role::Timestamp => {
                if let ScalarValue::TimestampMicrosecond(Some(micros), _) = value {
                    let all = self.wanted.seconds.clone().unwrap_or(1..=u32::MAX);
                    self.wanted.seconds = Some(narrowed_seconds(&all, operator, micros));
                }
            }
            _ => {}
        }
    }
}

fn columns_of(expr: &Arc<dyn PhysicalExpr>) -> Vec<usize> {
    let mut columns: Vec<usize> = collect_columns(expr)
        .iter()
        .map(|column| column.index())
        .collect();
    columns.sort_unstable();
    columns.dedup();
    columns
}

fn stage(conjunct: &Arc<dyn PhysicalExpr>, meaning: &Meaning) -> Result<Stage> {
    let columns = columns_of(conjunct);
    let schema = Arc::new(meaning.schema.project(&columns)?);
    let expr = reassign_expr_columns(Arc::clone(conjunct), &schema)?;
    Ok(Stage {
        cost: columns
            .iter()
            .map(|&at| meaning.cost(at))
            .max()
            .unwrap_or(0),
        columns,
        schema,
        expr,
    })
}

/// `column op literal`, either way round.
fn comparison(expr: &Arc<dyn PhysicalExpr>) -> Option<(usize, Operator, ScalarValue)> {
    let binary = expr.downcast_ref::<BinaryExpr>()?;
    let operator = *binary.op();
    let sides = |column: &Arc<dyn PhysicalExpr>, literal: &Arc<dyn PhysicalExpr>| {
        let column = column.downcast_ref::<Column>()?;
        let literal = literal.downcast_ref::<Literal>()?;
        Some((column.index(), literal.value().clone()))
    };
    if let Some((column, value)) = sides(binary.left(), binary.right()) {
        return Some((column, operator, value));
    }
    let (column, value) = sides(binary.right(), binary.left())?;
    Some((column, operator.swap()?, value))
}

/// The texts of `column = 'a' or column = 'b' …` and `column in ('a', 'b' …)`.
fn equal_to_one_of(expr: &Arc<dyn PhysicalExpr>) -> Option<Vec<String>> {
    if let Some(list) = expr.downcast_ref::<InListExpr>() {
        let texts = list.list().iter().map(literal_text);
        return (!list.negated() && list.expr().downcast_ref::<Column>().is_some())
            .then(|| texts.collect())
            .flatten();
    }
    let binary = expr.downcast_ref::<BinaryExpr>()?;
    if *binary.op() == Operator::Or {
        let mut texts = equal_to_one_of(binary.left())?;
        texts.extend(equal_to_one_of(binary.right())?);
        return Some(texts);
    }
    match comparison(expr)? {
        (_, Operator::Eq, value) => Some(vec![scalar_text(&value)?]),
        _ => None,
    }
}

fn literal_text(expr: &Arc<dyn PhysicalExpr>) -> Option<String> {
    scalar_text(expr.downcast_ref::<Literal>()?.value())
}

fn scalar_text(value: &ScalarValue) -> Option<String> {
    value.try_as_str().flatten().map(str::to_owned)
}

fn narrowed(
    all: &RangeInclusive<u64>,
    operator: Operator,
    value: u64,
    min: u64,
    max: u64,
) -> RangeInclusive<u64> {
    let (low, high) = match operator {
        Operator::Eq => (value, value),
        Operator::Lt if value == min => return RangeInclusive::new(1, 0),
        Operator::Lt => (min, value - 1),
        Operator::LtEq => (min, value),
        Operator::Gt if value == max => return RangeInclusive::new(1, 0),
        Operator::Gt => (value + 1, max),
        Operator::GtEq => (value, max),
        _ => (min, max),
    };
    low.max(*all.start())..=high.min(*all.end())
}

/// Header timestamps are whole seconds, literals are microseconds.
fn narrowed_seconds(
    all: &RangeInclusive<u32>,
    operator: Operator,
    micros: i64,
) -> RangeInclusive<u32> {
    let floor = micros.div_euclid(1_000_000);
    let ceil = if micros.rem_euclid(1_000_000) == 0 {
        floor
    } else {
        floor.saturating_add(1)
    };
    let (min, max) = (1, i64::from(u32::MAX));
    let (low, high) = match operator {
        // `ceil` above `floor`: no whole second is equal.
        Operator::Eq => (ceil, floor),
        Operator::Lt => (min, ceil.saturating_sub(1)),
        Operator::LtEq => (min, floor),
        Operator::Gt => (floor.saturating_add(1), max),
        Operator::GtEq => (ceil, max),
        _ => (min, max),
    };
    let (low, high) = (low.max(min), high.min(max));
    if low > high {
        return RangeInclusive::new(1, 0);
    }
    (low as u32).max(*all.start())..=(high as u32).min(*all.end())
}

/// Codes for which a conjunct over `type`, `type_code` and `op` holds, found by trying all.
fn matching_types(conjunct: &Arc<dyn PhysicalExpr>, meaning: &Meaning) -> Result<TypeSet> {
    let stage = stage(conjunct, meaning)?;
    let codes: Vec<u8> = (0..=u8::MAX)
        .filter(|&code| !meaning.of_rows || Op::of(code).is_some())
        .collect();
    let columns = stage
        .columns
        .iter()
        .map(|&column| match meaning.role(column) {
            Role::Op => op_array(codes.iter().filter_map(|&code| Op::of(code))),
            Role::Type => type_array(codes.clone()),
            _ => Arc::new(UInt8Array::from(codes.clone())) as ArrayRef,
        })
        .collect();
    let mask = stage.evaluate(columns, codes.len())?;
    Ok(codes
        .iter()
        .zip(&mask)
        .filter_map(|(&code, matches)| (matches == Some(true)).then_some(code))
        .collect())
}

/// Which of the files can hold rows that match, as far as their names tell.
pub(super) fn matching_files(
    filter: &Filter,
    meaning: &Meaning,
    names: &[&str],
) -> Result<Vec<bool>> {
    let mut admitted = vec![true; names.len()];
    let Some(predicate) = &filter.predicate else {
        return Ok(admitted);
    };
    for conjunct in split_conjunction(predicate) {
        if !matches!(columns_of(conjunct)[..], [at] if meaning.role(at) == Role::File) {
            continue;
        }
        let keys = arrow::array::Int32Array::from_iter_values(0..names.len() as i32);
        let values = Arc::new(StringArray::from_iter_values(names));
        let column = DictionaryArray::<Int32Type>::try_new(keys, values)?;
        // An expression that fails for some name (a cast of its end to a number) may never meet it:
        // the file may be empty, or other conjuncts may not hold.
        let Ok(mask) = stage(conjunct, meaning)?.evaluate(vec![Arc::new(column)], names.len())
        else {
            continue;
        };
        for (admit, matches) in admitted.iter_mut().zip(mask.values().iter()) {
            *admit &= matches;
        }
    }
    Ok(admitted)
}
