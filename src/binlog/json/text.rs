//! Values as the server prints them.
//!
//! `{"key": value, "key": value}`, `[1, 2]`; the order is the stored one. Source: MySQL
//! `json_dom.cc` (`Json_wrapper::to_string`, `double_quote`).

use super::node::{Container, Node};
use super::{Budget, MAX_DEPTH, corrupt};
use crate::binlog::types::write_f64;
use crate::error::Result;
use std::fmt::Write;

/// Writes a value that stands in `outer` objects and arrays, the innermost at offset `at`. Returns
/// the greatest depth in it, counted from the outermost.
pub(super) fn write(
    node: Node<'_>,
    outer: usize,
    at: usize,
    budget: &mut Budget,
    out: &mut String,
) -> Result<usize> {
    let container = match node {
        Node::Array(container) | Node::Object(container) => container,
        scalar => {
            budget.claim(scalar.payload_len(), at)?;
            return write_scalar(scalar, out).map(|()| outer);
        }
    };
    let depth = outer.saturating_add(1);
    enter(container, depth, budget)?;
    let mut deepest = depth;
    let mut separator = "";
    if matches!(node, Node::Object(_)) {
        out.push('{');
        for member in container.members() {
            let (key, value) = member?;
            budget.claim(key.len(), container.at())?;
            out.push_str(separator);
            write_string(key, out);
            out.push_str(": ");
            deepest = deepest.max(write(value, depth, container.at(), budget, out)?);
            separator = ", ";
        }
        out.push('}');
    } else {
        out.push('[');
        for element in container.elements() {
            out.push_str(separator);
            deepest = deepest.max(write(element?, depth, container.at(), budget, out)?);
            separator = ", ";
        }
        out.push(']');
    }
    Ok(deepest)
}

/// Finds the errors of [`write()`] without writing.
pub(super) fn check(
    node: Node<'_>,
    outer: usize,
    at: usize,
    budget: &mut Budget,
    scratch: &mut String,
) -> Result<()> {
    let container = match node {
        Node::Array(container) | Node::Object(container) => container,
        scalar => {
            budget.claim(scalar.payload_len(), at)?;
            return match scalar {
                Node::Opaque(opaque) => {
                    scratch.clear();
                    opaque.write(scratch)
                }
                _ => Ok(()),
            };
        }
    };
    let depth = outer.saturating_add(1);
    enter(container, depth, budget)?;
    if matches!(node, Node::Object(_)) {
        for member in container.members() {
            let (key, value) = member?;
            budget.claim(key.len(), container.at())?;
            check(value, depth, container.at(), budget, scratch)?;
        }
    } else {
        for element in container.elements() {
            check(element?, depth, container.at(), budget, scratch)?;
        }
    }
    Ok(())
}

/// Claims the header of an object or array, `depth` deep.
fn enter(container: Container<'_>, depth: usize, budget: &mut Budget) -> Result<()> {
    if depth > MAX_DEPTH {
        return Err(corrupt(
            container.at(),
            format_args!("nested deeper than {MAX_DEPTH}"),
        ));
    }
    budget.claim(container.header_len(), container.at())
}

/// Writes a value that is no object and no array, and whose bytes are claimed.
pub(super) fn write_scalar(node: Node<'_>, out: &mut String) -> Result<()> {
    match node {
        Node::Null => out.push_str("null"),
        Node::Bool(true) => out.push_str("true"),
        Node::Bool(false) => out.push_str("false"),
        Node::Int(value) => {
            let _ = write!(out, "{value}");
        }
        Node::Uint(value) => {
            let _ = write!(out, "{value}");
        }
        Node::Double(value) => write_double(value, out),
        Node::String(value) => write_string(value, out),
        Node::Opaque(opaque) => return opaque.write(out),
        // Not reached: `write` keeps them to itself.
        Node::Array(container) | Node::Object(container) => {
            return Err(corrupt(container.at(), "no scalar"));
        }
    }
    Ok(())
}

/// Writes a string in quotes.
pub(in crate::binlog) fn write_string(value: &str, out: &mut String) {
    out.push('"');
    write_escaped(value, out);
    out.push('"');
}

/// Writes the inside of a string. What JSON needs escaped is; other characters, 7f and U+2028 too,
/// stand as they are.
pub(in crate::binlog) fn write_escaped(value: &str, out: &mut String) {
    let mut rest = value;
    // None of them is part of a longer character.
    let special = |&byte: &u8| byte < b' ' || byte == b'"' || byte == b'\\';
    while let Some(n) = rest.as_bytes().iter().position(special) {
        let (plain, from) = rest.split_at(n);
        out.push_str(plain);
        let mut chars = from.chars();
        match chars.next() {
            Some('\u{8}') => out.push_str("\\b"),
            Some('\u{c}') => out.push_str("\\f"),
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            Some(c @ ('"' | '\\')) => out.extend(['\\', c]),
            Some(c) => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            None => {}
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
}

/// Writes a double as a column has it, but with a point: `100.0`, `1e-16`. `value` is finite.
fn write_double(value: f64, out: &mut String) {
    let begin = out.len();
    write_f64(value, out);
    let text = out.get(begin..).unwrap_or_default();
    if !text.contains(['.', 'e']) {
        out.push_str(".0");
    }
}
