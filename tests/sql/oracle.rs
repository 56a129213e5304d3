//! Values of `changes` against the texts that the servers' own tools print of the same rows
//! (`mysqlbinlog -vv`), for every public log that such a tool could read and whose text is kept.
//!
//! The tools are second opinions: they print ENUM and SET as numbers, text as raw bytes, FLOAT with
//! six digits and partial updates of JSON as functions. What cannot be compared is counted.

use crate::corpus::{Log, logs};
use crate::support::query;
use arrow::array::{Array, AsArray};
use arrow::compute::cast;
use arrow::compute::kernels::cast_utils::string_to_timestamp_nanos;
use arrow::datatypes::DataType;
use std::collections::BTreeMap;

/// A row as a tool prints it: `@n`, value and type of each column of the image.
#[derive(Debug, Default)]
struct Printed {
    op: &'static str,
    table: Vec<u8>,
    before: Vec<(Vec<u8>, String)>,
    after: Vec<(Vec<u8>, String)>,
}

/// The rows in a tool's text.
fn printed(text: &[u8]) -> Vec<Printed> {
    let mut rows: Vec<Printed> = Vec::new();
    let mut after = false;
    for line in text.split(|&b| b == b'\n') {
        let Some(line) = line.strip_prefix(b"### ") else {
            continue;
        };
        let start = [
            (&b"INSERT INTO "[..], "INSERT"),
            (b"UPDATE ", "UPDATE"),
            (b"DELETE FROM ", "DELETE"),
        ];
        if let Some((table, op)) = start
            .iter()
            .find_map(|(start, op)| Some((line.strip_prefix(*start)?, *op)))
        {
            rows.push(Printed {
                op,
                table: table.to_vec(),
                ..Printed::default()
            });
        } else if line == b"SET" {
            after = true;
        } else if line == b"WHERE" {
            after = false;
        } else if let (Some(row), Some(rest)) = (rows.last_mut(), line.strip_prefix(b"  @")) {
            let equals = rest.iter().position(|&b| b == b'=').unwrap();
            let value = &rest[equals + 1..];
            let comment = value.windows(4).rposition(|w| w == b" /* ").unwrap();
            let kind = String::from_utf8(value[comment + 4..].to_vec()).unwrap();
            let value = value[..comment].trim_ascii_end().to_vec();
            let image = if after {
                &mut row.after
            } else {
                &mut row.before
            };
            image.push((value, kind));
        }
    }
    rows
}

/// The values of a JSON object, in order, as they stand in it.
fn values(object: &str) -> Vec<&str> {
    let bytes = object.as_bytes();
    let (mut values, mut depth, mut text, mut start) = (Vec::new(), 0, false, None);
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if text => at += 1,
            b'"' => text = !text,
            _ if text => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth > 1 => depth -= 1,
            b',' | b'}' if depth == 1 => {
                values.extend(start.take().map(|start: usize| object[start..at].trim()));
            }
            b':' if depth == 1 => start = Some(at + 1),
            _ => {}
        }
        at += 1;
    }
    values
}

/// The text of a JSON string.
fn unquoted(value: &str) -> Option<String> {
    let inner = value.strip_prefix('"')?.strip_suffix('"')?;
    let (mut out, mut rest) = (String::new(), inner.chars());
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match rest.next()? {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'u' => {
                let code: String = rest.by_ref().take(4).collect();
                out.push(char::from_u32(u32::from_str_radix(&code, 16).ok()?)?);
            }
            other => out.push(other),
        }
    }
    Some(out)
}

fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut out, mut bits, mut count) = (Vec::new(), 0u32, 0);
    for c in text.bytes().filter(|&c| c != b'=') {
        bits = bits << 6 | DIGITS.iter().position(|&d| d == c).unwrap() as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    out
}

/// The bytes that a tool may mean by `'…'`: MySQL's escapes a backslash, MariaDB's does not.
fn printed_bytes(value: &[u8]) -> [Vec<u8>; 2] {
    [true, false].map(|escapes| {
        let inner = &value[1..value.len() - 1];
        let (mut out, mut at) = (Vec::new(), 0);
        while at < inner.len() {
            let hex = inner[at..].strip_prefix(b"\\x").and_then(|hex| {
                let hex = std::str::from_utf8(hex.get(..2)?).ok()?;
                u8::from_str_radix(hex, 16).ok()
            });
            let escaped = inner.get(at + 1).filter(|_| escapes && inner[at] == b'\\');
            if let Some(byte) = hex {
                out.push(byte);
                at += 4;
            } else if let Some(&escaped) = escaped {
                out.push(match escaped {
                    b'0' => 0,
                    b'b' => 8,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'r' => b'\r',
                    other => other,
                });
                at += 2;
            } else {
                out.push(inner[at]);
                at += 1;
            }
        }
        out
    })
}

/// Whether our text or binary value is these bytes.
fn is_bytes(ours: &str, bytes: &[u8]) -> bool {
    if let Some(packed) = ours.strip_prefix("base64:type") {
        let ours = base64(packed.split_once(':').unwrap().1);
        let trimmed = ours.iter().rposition(|&b| b != 0).map_or(0, |n| n + 1);
        // BINARY is logged without the zeros at its end.
        return ours == bytes || ours[..trimmed] == *bytes;
    }
    let decoded = |encoding: &'static encoding_rs::Encoding| {
        encoding.decode_without_bom_handling(bytes).0 == ours
    };
    ours.as_bytes() == bytes
        || (!bytes.is_ascii() && (decoded(encoding_rs::WINDOWS_1252) || decoded(encoding_rs::GBK)))
}

/// Whether our JSON `value` is what the tool printed; `None`: they cannot be compared.
fn same(value: &str, theirs: &[u8], kind: &str) -> Option<bool> {
    if theirs == b"NULL" {
        return Some(value == "null");
    }
    let text = unquoted(value);
    let name = kind.split([' ', '(']).next().unwrap_or("");
    let shown = String::from_utf8_lossy(theirs);
    let plain = shown.trim_matches('\'');
    Some(match name {
        "TINYINT" | "SHORTINT" | "MEDIUMINT" | "INT" | "LONGINT" => {
            // Both readings, where the tool does not know the sign either.
            let (signed, unsigned) = shown.split_once(" (").unwrap_or((&shown, ""));
            let unsigned = unsigned.trim_end_matches(')');
            let ours = text.as_deref().unwrap_or(value);
            ours == shown || ours == signed || ours == unsigned
        }
        "FLOAT" => {
            let (ours, theirs): (f64, f64) = (value.parse().ok()?, shown.parse().ok()?);
            (ours - theirs).abs() <= theirs.abs() * 1e-5
        }
        "DOUBLE" => value.parse::<f64>().ok()? == shown.parse::<f64>().ok()?,
        "DECIMAL" => value == shown,
        "YEAR" => value == shown || (value == "0" && shown == "0000"),
        "DATE" => text? == plain.replace(':', "-"),
        "TIME" | "DATETIME" => text? == plain,
        "TIMESTAMP" => seconds(&text?) == *shown,
        "BIT" => {
            let digits = plain.trim_start_matches("b'");
            value.parse::<u64>().ok()? == u64::from_str_radix(digits, 2).ok()?
        }
        "ENUM" | "SET" => return None,
        "JSON" if theirs.starts_with(b"'") => {
            let spaceless =
                |text: &[u8]| -> Vec<u8> { text.iter().copied().filter(|&b| b != b' ').collect() };
            let ours = spaceless(value.as_bytes());
            printed_bytes(theirs)
                .iter()
                .any(|bytes| spaceless(bytes) == ours)
        }
        "JSON" | "GEOMETRY" => return None,
        "VECTOR" => {
            let numbers = |list: &str| -> Vec<f64> {
                let list = list.trim_matches(['[', ']']).split(',');
                list.map(|n| n.trim().parse().unwrap()).collect()
            };
            let (ours, theirs) = (numbers(value), numbers(&shown));
            let close = |(a, b): (&f64, &f64)| (a - b).abs() <= b.abs() * 1e-5;
            ours.len() == theirs.len() && ours.iter().zip(&theirs).all(close)
        }
        _ if theirs.starts_with(b"'") => {
            // No text: a JSON document that the tool took for a BLOB.
            let ours = text?;
            printed_bytes(theirs)
                .iter()
                .any(|bytes| is_bytes(&ours, bytes))
        }
        _ => panic!("the tool prints a type {kind}"),
    })
}

/// A point in time as seconds since 1970, with as many digits behind the point.
fn seconds(text: &str) -> String {
    if text.starts_with("0000") {
        return "0".to_owned();
    }
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, format!(".{fraction}")),
        None => (text, String::new()),
    };
    let nanos = string_to_timestamp_nanos(whole).unwrap();
    format!("{}{fraction}", nanos / 1_000_000_000)
}

#[derive(Debug, Default)]
struct Tally {
    rows: usize,
    equal: BTreeMap<String, usize>,
    apart: BTreeMap<String, usize>,
    partial: usize,
}

/// Compares one image.
fn compare(at: &str, ours: Option<&str>, theirs: &[(Vec<u8>, String)], tally: &mut Tally) {
    let ours = ours.map_or(Vec::new(), values);
    if ours.len() != theirs.len() {
        // The row image has fewer columns, and those that it leaves out are unchanged.
        assert!(ours.len() > theirs.len(), "{at}: {ours:?} {theirs:?}");
        tally.partial += 1;
        return;
    }
    for (value, (theirs, kind)) in ours.iter().zip(theirs) {
        let name = kind.split([' ', '(']).next().unwrap_or("").to_owned();
        match same(value, theirs, kind) {
            Some(true) => *tally.equal.entry(name).or_default() += 1,
            None => *tally.apart.entry(name).or_default() += 1,
            Some(false) => panic!(
                "{at}: ours {value}, theirs {} /* {kind}",
                String::from_utf8_lossy(theirs)
            ),
        }
    }
}

/// The tool's text that can be trusted for this log, and whether it has all rows.
fn trusted(log: &Log) -> Option<(Vec<u8>, bool)> {
    let drops_rows = |text: &[u8]| {
        let remark = b"Don't know how to handle column type";
        text.windows(remark.len()).any(|window| window == remark)
    };
    let all = ["my97", "maria"].iter().filter_map(|of| log.oracle(of));
    let mut all: Vec<(Vec<u8>, bool)> = all.filter(|(text, _)| !drops_rows(text)).collect();
    // The one that got further; of two the first.
    all.sort_by_key(|(text, whole)| {
        let rows = text.windows(5).filter(|w| w == b"\n### ").count();
        std::cmp::Reverse((*whole, rows))
    });
    all.into_iter().next()
}

#[tokio::test]
async fn values_of_every_file_are_those_that_the_tools_print() {
    let Some(logs) = logs() else { return };
    let mut tally = Tally::default();
    for log in &logs {
        let Some((text, whole)) = trusted(log) else {
            continue;
        };
        let mut theirs = printed(&text);
        if !whole {
            // It breaks off inside a row.
            theirs.pop();
        }
        if theirs.is_empty() {
            continue;
        }
        let ctx = log.open().await;
        let sql = "select op, schema_name, table_name, before, after, pos from changes \
                   order by file, pos, payload_index, row_index";
        let mut theirs_at = theirs.iter();
        let mut count = 0;
        for batch in query(&ctx, sql).await {
            let text = |n: usize| cast(batch.column(n), &DataType::Utf8).unwrap();
            let (op, schema, table) = (text(0), text(1), text(2));
            let (op, schema) = (op.as_string::<i32>(), schema.as_string::<i32>());
            let (table, pos) = (table.as_string::<i32>(), text(5));
            let (before, after) = (text(3), text(4));
            let (before, after) = (before.as_string::<i32>(), after.as_string::<i32>());
            for row in 0..batch.num_rows() {
                count += 1;
                let Some(theirs) = theirs_at.next() else {
                    continue;
                };
                let pos = pos.as_string::<i32>().value(row);
                let at = format!("{} @ {pos}, row {count}", log.name);
                let name = format!("`{}`.`{}`", schema.value(row), table.value(row));
                assert_eq!(op.value(row), theirs.op, "{at}");
                assert_eq!(name.as_bytes(), theirs.table, "{at}");
                let image = |image: &arrow::array::StringArray| {
                    image.is_valid(row).then(|| image.value(row).to_owned())
                };
                compare(&at, image(before).as_deref(), &theirs.before, &mut tally);
                compare(&at, image(after).as_deref(), &theirs.after, &mut tally);
            }
        }
        if whole {
            assert_eq!(count, theirs.len(), "{}", log.name);
        }
        tally.rows += count.min(theirs.len());
    }
    println!("{tally:#?}");
    let values: usize = tally.equal.values().sum();
    assert!(tally.rows > 700 && values > 4_000, "{} rows", tally.rows);
    assert!(tally.partial < 10);
}
