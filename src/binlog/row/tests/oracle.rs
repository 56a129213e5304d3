//! Every value of the public logs, compared with the text that two versions of mysqlbinlog print.
//!
//! Their known faults are undone, each where the comment says so: what they print is turned into
//! what it stands for, never the other way round.

use super::*;
use crate::binlog::row::testing::each_rows_event;
use crate::binlog::types::{Signedness, Value};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// One image in a text of mysqlbinlog: `schema.table`, and value and comment by column number.
struct Printed {
    table: Vec<u8>,
    cells: BTreeMap<usize, (Vec<u8>, String)>,
}

fn oracle(path: &Path) -> Option<Vec<u8>> {
    if let Ok(text) = std::fs::read(path) {
        return Some(text);
    }
    let mut name = path.as_os_str().to_owned();
    name.push(".gz");
    let packed = std::fs::File::open(name).ok()?;
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(packed)
        .read_to_end(&mut text)
        .unwrap();
    Some(text)
}

fn parse(text: &[u8]) -> Vec<Printed> {
    let mut images: Vec<Printed> = Vec::new();
    let mut table = Vec::new();
    for line in text.split(|&byte| byte == b'\n') {
        let Some(line) = line.strip_prefix(b"### ") else {
            continue;
        };
        if line == b"SET" || line == b"WHERE" {
            images.push(Printed {
                table: table.clone(),
                cells: BTreeMap::new(),
            });
        } else if let Some(cell) = line.strip_prefix(b"  @") {
            let equals = cell.iter().position(|&b| b == b'=').unwrap();
            let number: usize = std::str::from_utf8(&cell[..equals])
                .unwrap()
                .parse()
                .unwrap();
            // The comment is the last one of the line.
            let comment = (0..cell.len())
                .rev()
                .find(|&n| cell[n..].starts_with(b" /* "))
                .unwrap();
            let value = cell[equals + 1..comment].to_vec();
            let comment = String::from_utf8_lossy(&cell[comment..]).into_owned();
            images
                .last_mut()
                .unwrap()
                .cells
                .insert(number, (value, comment));
        } else if let Some(at) = line.iter().position(|&b| b == b'`') {
            table = line[at..].iter().copied().filter(|&b| b != b'`').collect();
        }
    }
    images
}

/// Compares one value; `None`: the text cannot tell.
fn equal(column: &ColumnPlan, value: Value<'_>, printed: &[u8]) -> Option<bool> {
    let ascii = || std::str::from_utf8(printed).unwrap().trim_end();
    let unquoted = || {
        let inner = printed
            .strip_prefix(b"'")
            .and_then(|rest| rest.strip_suffix(b"'"));
        inner.unwrap_or_else(|| panic!("{printed:?}"))
    };
    let mut text = String::new();
    column.write_text(value, &mut text).unwrap();
    Some(match value {
        Value::Null => printed == b"NULL",
        // The signed reading first, and the unsigned in parentheses if it differs.
        Value::AnyInt(n) => ascii() == n.to_string(),
        Value::Int(n) => ascii().split(' ').next() == Some(&n.to_string()),
        Value::UInt(n) => {
            let all = ascii();
            let unsigned = all
                .split_once(" (")
                .map(|(_, rest)| rest.trim_end_matches(')'));
            unsigned.unwrap_or(all) == n.to_string()
        }
        // 20 digits, more than the number has.
        Value::Float(n) => ascii().parse::<f32>().unwrap().to_bits() == n.to_bits(),
        Value::Double(n) => ascii().parse::<f64>().unwrap().to_bits() == n.to_bits(),
        Value::Decimal(_) | Value::Date(_) | Value::Time(_) | Value::DateTime(_) => {
            // The date has colons.
            let shown = ascii().trim_matches('\'');
            match (value, shown.split_once(' ')) {
                (Value::Date(_), _) => text == shown.replace(':', "-"),
                (Value::DateTime(_), Some((date, time))) => {
                    text == format!("{} {time}", date.replace(':', "-"))
                }
                _ => text == shown,
            }
        }
        // Seconds since 1970.
        Value::Timestamp(t) => {
            let shown = ascii();
            let (seconds, fraction) = shown.split_once('.').unwrap_or((shown, ""));
            let fraction = format!("{fraction:0<6}");
            seconds == t.seconds.to_string() && fraction == format!("{:06}", t.micros)
        }
        // 0000 is shown as 1900.
        Value::Year(year) => ascii() == if year == 0 { 1900 } else { year }.to_string(),
        Value::Bits(bits) => ascii() == bits.to_string(),
        Value::Enum(index) => ascii() == index.to_string(),
        // All bits of the bytes, the high one first.
        Value::Set(bits) => {
            let width = usize::from(column.ty.meta) * 8;
            ascii() == format!("b'{bits:0width$b}'")
        }
        // The bytes as they stand in the log: no character set, no zeros put back.
        Value::Text(bytes) | Value::Bytes(bytes) | Value::TextOrBytes(bytes) => {
            quoted(bytes, unquoted())
        }
        Value::Binary(binary) => quoted(binary.stored, unquoted()),
        Value::Vector(vector) => {
            let numbers = ascii().trim_matches(['[', ']']).split(',');
            let numbers: Vec<f32> = numbers.map(|n| n.parse().unwrap()).collect();
            // Six digits.
            let close = |(a, b): (f32, &f32)| (a - b).abs() <= a.abs() * 1e-5;
            numbers.len() == vector.iter().len() && vector.iter().zip(&numbers).all(close)
        }
        Value::Json(_) => quoted(text.as_bytes(), unquoted()),
        // Neither prints GEOMETRY, and MariaDB's prints no compressed column.
        Value::Geometry(_) | Value::Compressed(_) => return None,
    })
}

/// Bytes below a space are `\xNN`; MySQL's of today escapes as C does, quotes and backslashes too.
fn quoted(bytes: &[u8], printed: &[u8]) -> bool {
    let escape = |c_like: bool| -> Vec<u8> {
        let escape = |&byte: &u8| match byte {
            b'\'' | b'\\' if c_like => vec![b'\\', byte],
            b'\n' if c_like => b"\\n".to_vec(),
            b'\r' if c_like => b"\\r".to_vec(),
            b'\t' if c_like => b"\\t".to_vec(),
            0x08 if c_like => b"\\b".to_vec(),
            0x0c if c_like => b"\\f".to_vec(),
            0..0x20 => format!("\\x{byte:02x}").into_bytes(),
            _ => vec![byte],
        };
        bytes.iter().flat_map(escape).collect()
    };
    printed == escape(false) || printed == escape(true)
}

#[derive(Default, Debug)]
struct Count {
    files: u32,
    rows: u64,
    cells: u64,
    absent: u64,
    uncompared: u64,
    no_text: Vec<String>,
    by_type: BTreeMap<&'static str, u64>,
}

fn compare(log: &Path, text: &[u8], count: &mut Count) -> Vec<String> {
    let mut printed = parse(text).into_iter();
    let mut differences = Vec::new();
    let mut errors = each_rows_event(std::fs::read(log).unwrap(), |map, event, rows| {
        let columns = map.plan()?.columns();
        let mut reader = RowReader::new(map, event, rows)?;
        while let Some(row) = reader.next()? {
            count.rows += 1;
            for cells in [row.before, row.after].into_iter().flatten() {
                let Some(printed) = printed.next() else {
                    differences.push("more rows than mysqlbinlog prints".to_owned());
                    return Ok(());
                };
                assert_eq!(printed.table, map.full_name().as_bytes());
                for (column, cell) in columns.iter().zip(cells) {
                    let shown = printed.cells.get(&(column.number as usize));
                    let same = match (cell, shown) {
                        (Cell::Absent, None) => {
                            count.absent += 1;
                            continue;
                        }
                        (Cell::JsonDiff(_), Some(_)) => None,
                        (Cell::Value(value), Some((shown, _))) => equal(column, *value, shown),
                        _ => Some(false),
                    };
                    match same {
                        None => count.uncompared += 1,
                        Some(true) => {
                            count.cells += 1;
                            *count.by_type.entry(column.ty.name()).or_default() += 1;
                        }
                        Some(false) => differences.push(format!(
                            "{} {}: {cell:?}, but mysqlbinlog prints {:?}",
                            map.full_name(),
                            column.label(),
                            shown.map(|(v, c)| (String::from_utf8_lossy(v), c))
                        )),
                    }
                }
            }
        }
        Ok(())
    });
    if printed.next().is_some() {
        errors.push("fewer rows than mysqlbinlog prints".to_owned());
    }
    count.files += 1;
    errors.extend(differences);
    errors
}

#[test]
fn every_value_of_the_corpus_equals_that_of_mysqlbinlog() {
    let Some(corpus) = std::env::var_os("BINLOG_CORPUS") else {
        eprintln!("SKIPPED: BINLOG_CORPUS does not name the corpus of binary logs");
        return;
    };
    let corpus = Path::new(&corpus);
    let manifest = std::fs::read_to_string(corpus.join("MANIFEST.tsv")).unwrap();
    let mut lines = manifest.lines();
    let head: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let column = |name: &str| head.iter().position(|&h| h == name).unwrap();
    let (file, sha, version) = (column("file"), column("sha256"), column("binlog_version"));
    let tools = [
        (
            "maria",
            column("maria10.11_vv_rc"),
            column("rows_ins/upd/del_maria"),
        ),
        (
            "my97",
            column("mysql9.7_vv_rc"),
            column("rows_ins/upd/del_mysql97"),
        ),
    ];
    let mut counts = [Count::default(), Count::default()];
    for line in lines {
        let fields: Vec<&str> = line.split('\t').collect();
        for ((tool, rc, rows), count) in tools.iter().zip(&mut counts) {
            // An exit status other than 0 ends the text early; logs before version 4 have no rows.
            if fields[version] != "v4" || fields[*rc] != "0" || fields[*rows] == "0/0/0" {
                continue;
            }
            let path = corpus
                .join("oracle")
                .join(format!("{}.{tool}.txt", &fields[sha][..16]));
            let Some(text) = oracle(&path) else {
                count.no_text.push(fields[file].to_owned());
                continue;
            };
            let errors = compare(&corpus.join(fields[file]), &text, count);
            assert!(errors.is_empty(), "{} {tool}: {errors:#?}", fields[file]);
        }
    }
    for ((tool, ..), count) in tools.iter().zip(&counts) {
        eprintln!("{tool}: {count:?}");
        assert!(count.files >= 60 && count.cells > 3500, "{tool}: {count:?}");
    }
}

#[test]
fn every_value_of_the_fixtures_equals_that_of_mysqlbinlog() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut count = Count::default();
    for entry in std::fs::read_dir(&fixtures).unwrap() {
        let path = entry.unwrap().path();
        let name = path.to_str().unwrap();
        if let Some(log) = name.strip_suffix(".mysqlbinlog.txt.gz") {
            let text = oracle(Path::new(name.strip_suffix(".gz").unwrap())).unwrap();
            let errors = compare(Path::new(log), &text, &mut count);
            assert!(errors.is_empty(), "{log}: {errors:#?}");
        }
    }
    eprintln!("{count:?}");
    assert!(count.files >= 6 && count.cells > 1000, "{count:?}");
}

#[test]
fn signedness_follows_the_metadata() {
    // MySQL 8 tells it even with MINIMAL metadata, so no integer of these logs is uncertain.
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let log = std::fs::read(fixtures.join("mysql-9.7-shop.000001")).unwrap();
    let mut columns = 0;
    let errors = each_rows_event(log, |map, _, _| {
        for column in map.plan()?.columns() {
            if matches!(column.ty.code, 1..=3 | 8 | 9) {
                assert_ne!(column.context.signedness, Signedness::Unknown);
                columns += 1;
            }
        }
        Ok(())
    });
    assert_eq!(errors, [""; 0]);
    assert!(columns > 40, "{columns}");
}
