//! `table`: columns in a frame. Widths come from the first rows; from then on rows are written as
//! they come, and a wider value pushes its row out of line rather than being lost. Only on a
//! terminal values are cut (`…`) so that a row fits; where even narrow columns would not fit, the
//! result is written vertically, unless a table was asked for by name.

use std::io::Write;

use datafusion::arrow::datatypes::{Field, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::value::{Cells, Nested, escape_control};
use super::vertical::Vertical;
use super::{Layout, Printer, is_right_aligned};
use crate::errors::Failure;

/// Rows that are held back to learn the widths.
const SAMPLE_ROWS: usize = 1000;
/// No column of a terminal's table is cut to less than this.
const NARROWEST: usize = 6;

/// Writes a result as a table.
pub struct Table {
    schema: SchemaRef,
    layout: Layout,
    held: Vec<RecordBatch>,
    held_rows: usize,
    state: State,
}

enum State {
    /// Rows are held back.
    Sampling,
    /// The head is written; widths are known.
    Framed(Frame),
    /// The columns do not fit on the terminal side by side.
    Vertical(Vertical),
}

/// Widths, and whether values are cut to them.
struct Frame {
    columns: Vec<(usize, bool)>,
    cut: bool,
}

impl Table {
    pub fn new(schema: &SchemaRef, layout: Layout) -> Self {
        Self {
            schema: SchemaRef::clone(schema),
            layout,
            held: Vec::new(),
            held_rows: 0,
            state: State::Sampling,
        }
    }

    /// Decides on the widths and writes what was held back.
    fn settle(&mut self, out: &mut dyn Write) -> Result<(), Failure> {
        let mut natural: Vec<usize> = self
            .schema
            .fields()
            .iter()
            .map(|f| head(f).width())
            .collect();
        let mut text = String::new();
        for batch in &self.held {
            let cells = Cells::new(batch, Nested::Plain)?;
            for row in 0..batch.num_rows() {
                for (column, width) in natural.iter_mut().enumerate() {
                    let shown = shown(&cells, row, column, &mut text)?;
                    *width = (*width).max(shown.width());
                }
            }
        }
        let fitted = match self.layout.width {
            Some(limit) => fit(&natural, limit),
            None => Some(natural.clone()),
        };
        let held = std::mem::take(&mut self.held);
        if fitted.is_none() && !self.layout.explicit {
            self.state = State::Vertical(Vertical::new(&self.schema));
        } else {
            let narrow = || natural.iter().map(|w| (*w).min(NARROWEST)).collect();
            let widths = fitted.unwrap_or_else(narrow);
            let right = self.schema.fields().iter();
            let right = right.map(|f| is_right_aligned(f.data_type()));
            let frame = Frame {
                columns: widths.into_iter().zip(right).collect(),
                cut: self.layout.width.is_some(),
            };
            frame.rule(out)?;
            let heads: Vec<String> = self.schema.fields().iter().map(|f| head(f)).collect();
            let mut line = String::new();
            for (column, head) in heads.iter().enumerate() {
                frame.cell(&mut line, column, head);
            }
            frame.line(out, &mut line)?;
            frame.rule(out)?;
            self.state = State::Framed(frame);
        }
        for batch in &held {
            self.write(out, batch)?;
        }
        Ok(())
    }

    fn write(&mut self, out: &mut dyn Write, batch: &RecordBatch) -> Result<(), Failure> {
        match &mut self.state {
            State::Sampling => Ok(()),
            State::Vertical(vertical) => vertical.batch(out, batch),
            State::Framed(frame) => {
                let cells = Cells::new(batch, Nested::Plain)?;
                let (mut line, mut text) = (String::new(), String::new());
                for row in 0..batch.num_rows() {
                    for column in 0..cells.width() {
                        let shown = shown(&cells, row, column, &mut text)?;
                        frame.cell(&mut line, column, shown);
                    }
                    frame.line(out, &mut line)?;
                }
                Ok(())
            }
        }
    }
}

impl Printer for Table {
    fn batch(&mut self, out: &mut dyn Write, batch: &RecordBatch) -> Result<(), Failure> {
        if !matches!(self.state, State::Sampling) {
            return self.write(out, batch);
        }
        self.held_rows += batch.num_rows();
        self.held.push(batch.clone());
        if self.held_rows >= SAMPLE_ROWS {
            self.settle(out)?;
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> Result<(), Failure> {
        if matches!(self.state, State::Sampling) {
            self.settle(out)?;
        }
        match &mut self.state {
            State::Sampling => Ok(()),
            State::Framed(frame) => frame.rule(out),
            State::Vertical(vertical) => vertical.finish(out),
        }
    }
}

impl Frame {
    fn rule(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let mut line = String::from("+");
        for (width, _) in &self.columns {
            line.push_str(&"-".repeat(width + 2));
            line.push('+');
        }
        line.push('\n');
        out.write_all(line.as_bytes())?;
        Ok(())
    }

    /// Appends one value, cut and padded.
    fn cell(&self, line: &mut String, column: usize, text: &str) {
        let (width, right) = self.columns[column];
        let kept = if self.cut { prefix(text, width) } else { text };
        let ellipsis = if kept.len() < text.len() { "…" } else { "" };
        let pad = width.saturating_sub(kept.width() + ellipsis.width());
        line.push_str("| ");
        if right {
            line.extend(std::iter::repeat_n(' ', pad));
        }
        line.push_str(kept);
        line.push_str(ellipsis);
        if !right {
            line.extend(std::iter::repeat_n(' ', pad));
        }
        line.push(' ');
    }

    fn line(&self, out: &mut dyn Write, line: &mut String) -> Result<(), Failure> {
        line.push_str("|\n");
        out.write_all(line.as_bytes())?;
        line.clear();
        Ok(())
    }
}

fn head(field: &Field) -> String {
    let mut name = field.name().clone();
    escape_control(&mut name);
    name
}

fn shown<'t>(
    cells: &Cells<'_>,
    row: usize,
    column: usize,
    text: &'t mut String,
) -> Result<&'t str, Failure> {
    if !cells.read(row, column, text)? {
        return Ok("NULL");
    }
    escape_control(text);
    Ok(text)
}

/// The part of a text that stands in `width` columns: all of it, or less by room for `…`.
fn prefix(text: &str, width: usize) -> &str {
    // A byte is never wider than a column.
    if text.len() <= width {
        return text;
    }
    let mut used = 0;
    let mut end = 0;
    for (at, c) in text.char_indices() {
        let next = used + c.width().unwrap_or(0);
        if next > width {
            return &text[..end];
        }
        used = next;
        if used < width {
            end = at + c.len_utf8();
        }
    }
    text
}

/// Widths that fit side by side in `limit` columns: the widest are cut first, all to one width.
/// None where even columns of [`NARROWEST`] do not fit.
fn fit(natural: &[usize], limit: usize) -> Option<Vec<usize>> {
    let room = limit.checked_sub(3 * natural.len() + 1)?;
    let total = |cap: usize| natural.iter().map(|w| (*w).min(cap)).sum::<usize>();
    if total(usize::MAX) <= room {
        return Some(natural.to_vec());
    }
    if total(NARROWEST) > room {
        return None;
    }
    let (mut low, mut high) = (NARROWEST, room);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if total(middle) <= room {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    // What is left goes to the columns that were cut, from the left.
    let mut left = room - total(low);
    Some(
        natural
            .iter()
            .map(|natural| {
                let more = left.min(natural.saturating_sub(low)).min(1);
                left -= more;
                (*natural).min(low + more)
            })
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widest_columns_are_cut_first() {
        assert_eq!(fit(&[3, 4], 80), Some(vec![3, 4]));
        assert_eq!(fit(&[3, 100, 100], 40), Some(vec![3, 14, 13]));
        assert_eq!(fit(&[100], 30), Some(vec![26]));
        assert_eq!(fit(&[100; 10], 80), None);
        assert_eq!(fit(&[1; 10], 20), None);
        assert_eq!(fit(&[], 80), Some(vec![]));
        for limit in 0..60 {
            if let Some(widths) = fit(&[2, 30, 7, 9], limit) {
                assert!(widths.iter().sum::<usize>() + 13 <= limit);
            }
        }
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(prefix("abc", 3), "abc");
        assert_eq!(prefix("abcd", 3), "ab");
        assert_eq!(prefix("日本語", 6), "日本語");
        assert_eq!(prefix("日本語", 5), "日本");
        assert_eq!(prefix("日本語", 4), "日");
        assert_eq!(prefix("日本語", 1), "");
        assert_eq!(prefix("ééé", 3), "ééé");
        assert_eq!(prefix("éééé", 3), "éé");
    }
}
