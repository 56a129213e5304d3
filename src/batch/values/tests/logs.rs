//! Every value of the public logs and of the fixtures: arrays against values decoded one by one.

use super::*;
use crate::binlog::cursor::Cursor;
use crate::binlog::event::{RowsEvent, RowsKind};
use crate::binlog::json::apply;
use crate::binlog::row::testing::each_rows_event;
use crate::binlog::row::{Cell, RowReader};
use crate::binlog::types::{Content, code};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

/// Places by row and column.
type Images = Vec<Vec<Place>>;

/// The places of all values, found by hopping: those of the before and of the after image.
fn places(columns: &[ColumnPlan], event: &RowsEvent<'_>, rows: &[u8]) -> (Images, Images) {
    let mut cursor = Cursor::new(rows);
    let (mut befores, mut afters) = (Vec::new(), Vec::new());
    let bit = |bits: &[u8], n: usize| bits[n / 8] & (1 << (n % 8)) != 0;
    let image = |present: &[u8], partial: &[u8], cursor: &mut Cursor<'_>| {
        let present: Vec<usize> = (0..columns.len()).filter(|&n| bit(present, n)).collect();
        let nulls = cursor.bytes(present.len().div_ceil(8)).unwrap();
        let mut image = vec![Place::ABSENT; columns.len()];
        for (k, &n) in present.iter().enumerate() {
            if bit(nulls, k) {
                image[n] = Place::NULL;
                continue;
            }
            image[n] = Place::at(rows.len() - cursor.len()).unwrap();
            let is_json = |column: &&ColumnPlan| column.ty.code == code::JSON;
            let json = columns[..n].iter().filter(is_json).count();
            if is_json(&&columns[n]) && !partial.is_empty() && bit(partial, json) {
                image[n] = image[n].diff();
            }
            columns[n].ty.width().unwrap().skip(cursor).unwrap();
        }
        image
    };
    while !cursor.is_empty() {
        if let Some(present) = event.columns_before {
            befores.push(image(present, &[], &mut cursor));
        }
        let mut partial: &[u8] = &[];
        if event.kind == RowsKind::PartialUpdate && cursor.lenenc().unwrap() == 1 {
            let json = columns.iter().filter(|column| column.ty.code == code::JSON);
            partial = cursor.bytes(json.count().div_ceil(8)).unwrap();
        }
        if let Some(present) = event.columns_after {
            afters.push(image(present, partial, &mut cursor));
        }
    }
    (befores, afters)
}

/// What the array should say of a cell.
fn expected(column: &ColumnPlan, cell: &Cell<'_>, base: Option<&Cell<'_>>) -> Option<String> {
    let value = match cell {
        Cell::Absent | Cell::Value(Value::Null) => return None,
        Cell::JsonDiff(diffs) => match base {
            Some(Cell::Value(Value::Json(document))) => {
                return Some(apply(document, diffs).unwrap());
            }
            _ => return None,
        },
        Cell::Value(value) => *value,
    };
    let mut text = String::new();
    let written = column.write_text(value, &mut text);
    match value {
        Value::AnyInt(n) => return Some(n.signed().to_string()),
        Value::Text(bytes) => {
            let Some(charset) = column.charset() else {
                return Some(text);
            };
            return Some(charset.decode_lossless(bytes).text.into_owned());
        }
        Value::Date(date) if date.days().is_none() => return None,
        Value::DateTime(value) if value.date.days().is_none() => return None,
        Value::Timestamp(value) if value.is_zero() => return None,
        Value::DateTime(value) => text.push_str(fraction_left(value.digits)),
        Value::Timestamp(value) => text.push_str(fraction_left(value.digits)),
        Value::Time(value) => text.push_str(fraction_left(value.digits)),
        Value::Year(year) => return Some(year.to_string()),
        // `-0` and the like are not what is compared.
        Value::Float(n) => return Some(n.to_string()),
        Value::Double(n) => return Some(n.to_string()),
        Value::Geometry(value) => return Some(hex(value.wkb())),
        _ => {}
    }
    written.unwrap();
    Some(text)
}

/// What of `.000000` the column does not have.
fn fraction_left(digits: u8) -> &'static str {
    match digits {
        0 => ".000000",
        n => &"000000"[usize::from(n)..],
    }
}

#[derive(Default)]
struct Count {
    events: u64,
    cells: u64,
    notes: BTreeMap<&'static str, u64>,
    types: BTreeMap<String, u64>,
    differences: Vec<String>,
}

fn compare(log: Vec<u8>, count: &mut Count) -> Vec<String> {
    let options = TypeOptions::default();
    each_rows_event(log, |map, event, rows| {
        count.events += 1;
        let columns = map.plan()?.columns();
        let mut reader = RowReader::new(map, event, rows)?;
        let block = Block::new(rows.to_vec());
        // Cells by row.
        let mut befores: Vec<Vec<Cell<'_>>> = Vec::new();
        let mut afters: Vec<Vec<Cell<'_>>> = Vec::new();
        while let Some(row) = reader.next()? {
            befores.extend(row.before.map(<[_]>::to_vec));
            afters.extend(row.after.map(<[_]>::to_vec));
        }
        let (before_places, after_places) = places(columns, event, rows);
        for (cells, all_places, bases) in [
            (&befores, &before_places, None),
            (&afters, &after_places, Some((&befores, &before_places))),
        ] {
            // A row without a column takes no bytes.
            if all_places.is_empty() {
                continue;
            }
            assert_eq!(cells.len(), all_places.len());
            for (n, column) in columns.iter().enumerate() {
                let of = |all: &Images| all.iter().map(|row| row[n]).collect::<Vec<Place>>();
                let column_places = of(all_places);
                let base_places = match bases {
                    Some((_, bases)) if column.ty.code == code::JSON => of(bases),
                    _ => Vec::new(),
                };
                let field = field_of(column, &options);
                let built = build_one(
                    &field,
                    &options,
                    column,
                    &block,
                    &column_places,
                    &base_places,
                );
                let (array, notes) = built;
                *count.types.entry(type_key(&field)).or_default() += 1;
                for (_, note) in &notes {
                    let name = match note {
                        Note::Undecoded(_) => "undecoded",
                        Note::Escaped(_) => "escaped",
                        Note::Signedness(_) => "signedness",
                        Note::ZeroDate(_) => "zero date",
                    };
                    *count.notes.entry(name).or_default() += 1;
                }
                for (row, cells) in cells.iter().enumerate() {
                    let base = bases.and_then(|(cells, _)| Some(&cells.get(row)?[n]));
                    let wanted = expected(column, &cells[n], base);
                    let found = text_of(&array, row);
                    count.cells += 1;
                    if wanted != found {
                        count.differences.push(format!(
                            "{} {} row {row} ({field:?}): {found:?}, not {wanted:?}",
                            map.full_name(),
                            column.label()
                        ));
                    }
                    let told = notes.iter().any(|&(at, ref note)| {
                        at == row && matches!(note, Note::Undecoded(_) | Note::ZeroDate(_))
                    });
                    let lost = found.is_none()
                        && matches!(cells[n], Cell::Value(value) if value != Value::Null);
                    assert_eq!(lost, told, "{} {notes:?}", column.label());
                }
                in_pieces(&field, column, &block, &column_places, &base_places, &array);
                as_text(column, &block, &column_places, cells, n);
            }
        }
        Ok(())
    })
}

fn type_key(field: &Field) -> String {
    match field.metadata().get(EXTENSION_NAME) {
        Some(name) => format!("{} {name}", field.data_type()),
        None => field.data_type().to_string(),
    }
}

/// The same values in several stretches, with one without a column between them.
fn in_pieces(
    field: &Field,
    column: &ColumnPlan,
    block: &Block,
    places: &[Place],
    bases: &[Place],
    whole: &ArrayRef,
) {
    let middle = places.len() / 2;
    let stretch = |range: std::ops::Range<usize>| Stretch {
        column: Some(column),
        block,
        number: 1,
        places: &places[range.clone()],
        bases: bases.get(range).unwrap_or_default(),
    };
    let none = Stretch {
        column: None,
        places: &[Place::ABSENT; 3],
        bases: &[],
        ..stretch(0..0)
    };
    let stretches = [
        none,
        stretch(0..middle),
        none,
        stretch(middle..places.len()),
    ];
    let blocks = [Block::new(Vec::new()), block.clone()];
    let (array, _) = build_all(field, &TypeOptions::default(), &stretches, &blocks);
    let mut wanted = texts_of(&array.slice(3, middle));
    wanted.extend(texts_of(&array.slice(6 + middle, places.len() - middle)));
    assert_eq!(texts_of(whole), wanted);
    assert_eq!(array.slice(0, 3).null_count(), 3);
}

/// The column of a relation in which another version has another type.
fn as_text(
    column: &ColumnPlan,
    block: &Block,
    places: &[Place],
    cells: &[Vec<Cell<'_>>],
    n: usize,
) {
    let options = TypeOptions::default();
    let field = Field::new("x", DataType::Utf8View, true);
    let (array, notes) = build_one(&field, &options, column, block, places, &[]);
    for (row, cells) in cells.iter().enumerate() {
        let Cell::Value(value) = cells[n] else {
            continue;
        };
        let mut wanted = String::new();
        let lossless = match (value, column.charset()) {
            (Value::Null, _) => None,
            (Value::Text(bytes), Some(charset)) => {
                Some(charset.decode_lossless(bytes).text.into_owned())
            }
            _ => {
                column.write_text(value, &mut wanted).unwrap();
                Some(wanted)
            }
        };
        assert_eq!(text_of(&array, row), lossless, "{notes:?}");
    }
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

#[test]
fn every_value_of_the_fixtures() {
    let mut count = Count::default();
    let mut files = 0;
    for entry in std::fs::read_dir(fixtures()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let is_log = name
            .rsplit_once('.')
            .is_some_and(|(_, number)| number.len() == 6 && number.parse::<u32>().is_ok());
        if !is_log || name.contains("encrypted") {
            continue;
        }
        files += 1;
        let errors = compare(std::fs::read(&path).unwrap(), &mut count);
        assert_eq!(errors, [""; 0], "{name}");
    }
    eprintln!(
        "{files} files, {} events, {} cells, {:?} {:?}",
        count.events, count.cells, count.notes, count.types
    );
    assert_eq!(count.differences, [""; 0]);
    assert!(count.cells > 10_000);
}

#[test]
fn every_value_of_the_corpus() {
    let Some(corpus) = std::env::var_os("BINLOG_CORPUS").map(PathBuf::from) else {
        eprintln!("SKIPPED: BINLOG_CORPUS does not name the corpus of binary logs");
        return;
    };
    let manifest = std::fs::read_to_string(corpus.join("MANIFEST.tsv")).unwrap();
    let mut count = Count::default();
    let mut unread = Vec::new();
    for path in manifest
        .lines()
        .skip(1)
        .filter_map(|line| line.split('\t').next())
    {
        let log = std::fs::read(corpus.join(path)).unwrap();
        if !log.starts_with(b"\xfebin") {
            continue;
        }
        unread.extend(compare(log, &mut count));
    }
    eprintln!(
        "{} events, {} cells, {:?} {:#?}",
        count.events, count.cells, count.notes, count.types
    );
    eprintln!("{} events or logs not read: {unread:#?}", unread.len());
    assert_eq!(count.differences, [""; 0]);
    assert!(count.cells > 100_000);
}

/// What a statement declares of a column of which the table map tells only the type.
fn declared_type(column: &ColumnPlan) -> DeclaredType {
    let text = column.context.content == Content::Text;
    let meta = column.ty.meta;
    let digits = u8::try_from(meta).unwrap_or(0);
    let [high, low] = meta.to_be_bytes();
    match column.ty.code {
        1 => DeclaredType::TinyInt,
        2 => DeclaredType::SmallInt,
        3 => DeclaredType::Int,
        4 => DeclaredType::Float,
        5 => DeclaredType::Double,
        8 => DeclaredType::BigInt,
        9 => DeclaredType::MediumInt,
        10 | 14 => DeclaredType::Date,
        13 => DeclaredType::Year,
        15 if text => DeclaredType::VarChar,
        15 => DeclaredType::VarBinary,
        16 => DeclaredType::Bit {
            len: high * 8 + low,
        },
        17 => DeclaredType::Timestamp(digits),
        18 => DeclaredType::DateTime(digits),
        19 => DeclaredType::Time(digits),
        246 => DeclaredType::Decimal {
            precision: high,
            scale: low,
        },
        247 => DeclaredType::Enum,
        248 => DeclaredType::Set,
        140 | 252 if text => DeclaredType::Text(digits),
        140 | 252 => DeclaredType::Blob(digits),
        254 if text => DeclaredType::Char,
        254 => DeclaredType::Binary,
        255 => DeclaredType::Geometry,
        other => panic!("{other}"),
    }
}

/// buglog 46: UUID and INET6 columns, declared, against what the server itself selects.
#[test]
fn uuids_and_addresses_of_the_fixtures_are_what_the_server_shows() {
    for server in ["mariadb-10.11", "mariadb-11.8"] {
        let tables = std::fs::read_to_string(fixtures().join(format!("{server}-shop.tables.tsv")));
        let tables = tables.unwrap();
        let selected = |table: &str, column: &str| -> BTreeSet<String> {
            let part = tables.split("## ").find(|part| part.starts_with(table));
            let mut lines = part.unwrap().lines().skip(1);
            let names = lines.next().unwrap().split('\t');
            let at = names.into_iter().position(|name| name == column).unwrap();
            let cells = lines.filter_map(|line| line.split('\t').nth(at));
            let cells = cells.filter(|cell| *cell != "NULL" && !cell.is_empty());
            cells.map(str::to_owned).collect()
        };
        let wanted = [
            ("customers", "token", DeclaredType::Uuid),
            ("products", "seen_from", DeclaredType::Inet6),
        ];
        // The columns were added behind all others that are in the log then.
        let mut found: BTreeMap<&str, HashSet<String>> = BTreeMap::new();
        for file in ["000001", "000002"] {
            let log = std::fs::read(fixtures().join(format!("{server}-shop.{file}"))).unwrap();
            let errors = each_rows_event(log, |map, event, rows| {
                let columns = map.plan()?.columns();
                let Some(&(_, name, ty)) = wanted.iter().find(|(table, ..)| map.table() == *table)
                else {
                    return Ok(());
                };
                // The only column of 16 bytes.
                let is_it =
                    |column: &ColumnPlan| (column.ty.code, column.ty.meta) == (code::STRING, 16);
                let Some(n) = columns.iter().position(is_it) else {
                    return Ok(());
                };
                let hints = columns.iter().enumerate().map(|(k, column)| ColumnHint {
                    name: match column.name() {
                        Some(name) => String::from_utf8(name.to_vec()).unwrap(),
                        None => format!("c{k}"),
                    },
                    ty: if k == n { ty } else { declared_type(column) },
                    unsigned: false,
                    collation: None,
                    labels: vec!["x".to_owned(); 4],
                    nullable: true,
                    visible: true,
                });
                let hint = TableHint {
                    source: NameSource::Ddl,
                    columns: hints.collect(),
                    primary_key: Vec::new(),
                };
                let plan = RowPlan::with_hint(map, &hint)?;
                let (_, after) = places(columns, event, rows);
                let places: Vec<Place> = after.iter().map(|row| row[n]).collect();
                let column = &plan.columns()[n];
                let field = Field::new(name, DataType::Utf8View, true);
                let block = Block::new(rows.to_vec());
                let (array, notes) = build_one(&field, &NULL_DATES, column, &block, &places, &[]);
                assert!(notes.is_empty(), "{notes:?}");
                let array = array.as_string_view();
                let texts = found.entry(name).or_default();
                texts.extend(array.iter().flatten().map(str::to_owned));
                Ok(())
            });
            assert_eq!(errors, [""; 0]);
        }
        for (table, column, _) in wanted {
            let selected = selected(table, column);
            let found = found.get(column).cloned().unwrap_or_default();
            eprintln!("{server} {column}: {selected:?}");
            assert!(!selected.is_empty());
            assert!(
                selected.iter().all(|text| found.contains(text)),
                "{found:?}"
            );
        }
    }
}
