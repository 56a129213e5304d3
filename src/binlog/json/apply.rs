//! Partial updates: a document and the changes to it → the document after.
//!
//! Only the objects and arrays on the path of a change are taken apart; all others are printed as
//! they are stored. Source: MySQL `json_diff.cc` (`apply_json_diffs`).

use super::diff::{JsonDiff, JsonDiffs, JsonOp};
use super::node::Node;
use super::path::{self, Leg};
use super::text::{self, write_string};
use super::{Budget, Json, MAX_DEPTH};
use crate::error::{Error, Result};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Elements of an array that changes may move, for each byte of input, and in any case. Servers
/// write a document anew rather than more changes than it is long.
const MOVES_PER_BYTE: usize = 32;
const MOVES: usize = 1 << 24;

/// The text of the document `before` (as it is stored) after the changes `diffs` (without the length
/// before them), as the server prints it.
///
/// # Errors
/// A damaged document or change; a change that does not fit the document, which the server refuses
/// as well: one that replaces or removes what is not there, inserts a member that is, leads through
/// a value without members, or concerns the whole document. A great many changes of one array.
pub fn apply(before: &[u8], diffs: &[u8]) -> Result<String> {
    let len = before.len().saturating_add(diffs.len());
    let mut document = Document {
        budget: Budget::new(len),
        moves: MOVES.saturating_add(len.saturating_mul(MOVES_PER_BYTE)),
    };
    let mut root = Tree::Stored(Json::parse(before)?.root());
    let mut scratch = String::new();
    JsonDiffs::unchecked(diffs).each(|_, diff| {
        let legs = path::parse(diff.path)?;
        let depth = match diff.value {
            Some(value) => {
                scratch.clear();
                value.write(&mut scratch)?
            }
            None => 0,
        };
        if legs.len().saturating_add(depth) > MAX_DEPTH {
            return Err(Error::corrupt(format!(
                "it nests the document deeper than {MAX_DEPTH}"
            )));
        }
        document.apply(&mut root, &legs, &diff)
    })?;
    let mut out = String::new();
    document.write(&root, 0, &mut out)?;
    Ok(out)
}

/// A value, taken apart where a change leads.
enum Tree<'a> {
    Stored(Node<'a>),
    Array(Vec<Tree<'a>>),
    Object(BTreeMap<Key<'a>, Tree<'a>>),
}

/// A key; the order is that of stored keys.
#[derive(PartialEq, Eq)]
struct Key<'a>(Cow<'a, str>);

impl Ord for Key<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b) = (self.0.as_bytes(), other.0.as_bytes());
        a.len().cmp(&b.len()).then_with(|| a.cmp(b))
    }
}

impl PartialOrd for Key<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

struct Document {
    budget: Budget,
    moves: usize,
}

impl Document {
    /// Makes one change.
    fn apply<'a>(
        &mut self,
        root: &mut Tree<'a>,
        legs: &[Leg<'a>],
        diff: &JsonDiff<'a>,
    ) -> Result<()> {
        let refused = |why: &str| {
            Error::corrupt(format!(
                "{} {}: {why}; was the document before another one?",
                diff.op.name(),
                diff.path
            ))
        };
        let nothing_there = || refused("nothing is there");
        let Some((last, outer)) = legs.split_last() else {
            return Err(refused("the whole document cannot be changed"));
        };
        let mut parent = root;
        for leg in outer {
            parent = self.child(parent, leg)?.ok_or_else(nothing_there)?;
        }
        let value = diff.value.map(|value| Tree::Stored(value.root()));
        match (diff.op, value) {
            (JsonOp::Replace, Some(value)) => {
                *self.child(parent, last)?.ok_or_else(nothing_there)? = value;
            }
            (JsonOp::Insert, Some(value)) => match (self.open(parent)?, last) {
                (Tree::Object(members), Leg::Member(name)) => {
                    if members.insert(Key(name.clone()), value).is_some() {
                        return Err(refused("the member exists"));
                    }
                }
                (Tree::Array(elements), Leg::Cell { .. }) => {
                    let len = elements.len();
                    let position = last.insertion(len).ok_or_else(nothing_there)?;
                    self.moved(len.saturating_sub(position))?;
                    elements.insert(position, value);
                }
                _ => return Err(nothing_there()),
            },
            _ => match (self.open(parent)?, last) {
                (Tree::Object(members), Leg::Member(name)) => {
                    members
                        .remove(&Key(name.clone()))
                        .ok_or_else(nothing_there)?;
                }
                (Tree::Array(elements), Leg::Cell { .. }) => {
                    let len = elements.len();
                    let position = last.existing(len).ok_or_else(nothing_there)?;
                    self.moved(len.saturating_sub(position))?;
                    elements.remove(position);
                }
                _ => return Err(nothing_there()),
            },
        }
        Ok(())
    }

    /// What a step leads to; `None` where there is nothing.
    fn child<'t, 'a>(
        &mut self,
        tree: &'t mut Tree<'a>,
        leg: &Leg<'a>,
    ) -> Result<Option<&'t mut Tree<'a>>> {
        Ok(match (self.open(tree)?, leg) {
            (Tree::Array(elements), Leg::Cell { .. }) => {
                let position = leg.existing(elements.len());
                position.and_then(|position| elements.get_mut(position))
            }
            (Tree::Object(members), Leg::Member(name)) => members.get_mut(&Key(name.clone())),
            _ => None,
        })
    }

    /// Takes a stored object or array apart.
    fn open<'t, 'a>(&mut self, tree: &'t mut Tree<'a>) -> Result<&'t mut Tree<'a>> {
        let Tree::Stored(node @ (Node::Array(container) | Node::Object(container))) = *tree else {
            return Ok(tree);
        };
        let at = container.at();
        self.budget.claim(container.header_len(), at)?;
        if matches!(node, Node::Array(_)) {
            let mut elements = Vec::new();
            for element in container.elements() {
                elements.push(self.part(element?, at)?);
            }
            *tree = Tree::Array(elements);
        } else {
            let mut members = BTreeMap::new();
            for member in container.members() {
                let (key, value) = member?;
                self.budget.claim(key.len(), at)?;
                let value = self.part(value, at)?;
                if members.insert(Key(Cow::Borrowed(key)), value).is_some() {
                    return Err(super::corrupt(at, "an object has a key twice"));
                }
            }
            *tree = Tree::Object(members);
        }
        Ok(tree)
    }

    /// A value of what is taken apart. It claims what it has for itself.
    fn part<'a>(&mut self, node: Node<'a>, at: usize) -> Result<Tree<'a>> {
        self.budget.claim(node.payload_len(), at)?;
        Ok(Tree::Stored(node))
    }

    fn moved(&mut self, elements: usize) -> Result<()> {
        match self.moves.checked_sub(elements) {
            Some(left) => {
                self.moves = left;
                Ok(())
            }
            None => Err(Error::unsupported(
                "the JSON changes move the elements of an array too often",
            )),
        }
    }

    fn write(&mut self, tree: &Tree<'_>, outer: usize, out: &mut String) -> Result<()> {
        let depth = outer.saturating_add(1);
        let mut separator = "";
        match tree {
            Tree::Stored(node @ (Node::Array(_) | Node::Object(_))) => {
                text::write(*node, outer, 0, &mut self.budget, out)?;
            }
            Tree::Stored(scalar) => text::write_scalar(*scalar, out)?,
            Tree::Array(elements) => {
                out.push('[');
                for element in elements {
                    out.push_str(separator);
                    self.write(element, depth, out)?;
                    separator = ", ";
                }
                out.push(']');
            }
            Tree::Object(members) => {
                out.push('{');
                for (key, value) in members {
                    out.push_str(separator);
                    write_string(&key.0, out);
                    out.push_str(": ");
                    self.write(value, depth, out)?;
                    separator = ", ";
                }
                out.push('}');
            }
        }
        Ok(())
    }
}
