use super::*;
use crate::binlog::frame::Framer;
use crate::binlog::reader::read_all;
use arrow::array::{Array, AsArray, UInt32Array as Indices};
use arrow::compute::{concat, take};
use arrow::datatypes::{DataType, TimestampMicrosecondType, UInt16Type, UInt32Type, UInt64Type};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(fixtures().join(name)).unwrap()
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// Names of the fixture logs that can be read.
fn logs() -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(fixtures())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| {
            let (_, seq) = name.rsplit_once('.').unwrap_or_default();
            seq.len() == 6 && seq.parse::<u32>().is_ok() && !name.contains("encrypted")
        })
        .collect();
    names.sort();
    assert!(names.len() > 20, "{names:?}");
    names
}

/// Reads a log into a batcher, and gives the items too.
fn gather(log: Vec<u8>, columns: &[EventColumn]) -> (EventBatcher, Vec<Item>) {
    let mut batcher = EventBatcher::new(Arc::from("a.000001"), columns);
    let mut items = Vec::new();
    read_all(Framer::new(), log, |item, block, format| {
        batcher.observe(item, block, format);
        batcher.push(item, block, format);
        items.push(*item);
    })
    .unwrap();
    assert_eq!(batcher.len(), items.len());
    (batcher, items)
}

fn columns(batcher: &EventBatcher, of: &[EventColumn], rows: Option<&[u32]>) -> Vec<ArrayRef> {
    let arrays = batcher.columns(of, rows, &mut Vec::new());
    let len = rows.map_or(batcher.len(), <[u32]>::len);
    assert_eq!(arrays.len(), of.len());
    for (column, array) in of.iter().zip(&arrays) {
        assert_eq!(array.data_type(), column.field().data_type(), "{column:?}");
        assert_eq!(array.len(), len, "{column:?}");
        if !column.field().is_nullable() {
            assert_eq!(array.null_count(), 0, "{column:?}");
        }
    }
    arrays
}

fn strings(array: &ArrayRef) -> Vec<Option<String>> {
    let plain = arrow::compute::cast(array, &DataType::Utf8).unwrap();
    let texts = plain.as_string::<i32>().iter();
    texts.map(|text| text.map(str::to_owned)).collect()
}

#[test]
fn some_rows_are_those_rows_of_all() {
    for name in logs() {
        let (batcher, _) = gather(fixture(&name), EventColumn::ALL);
        let all = columns(&batcher, EventColumn::ALL, None);
        let len = batcher.len() as u32;
        let choices: [Vec<u32>; 5] = [
            vec![],
            (0..len).collect(),
            (0..len).filter(|n| n % 3 == 1).collect(),
            vec![0, len - 1],
            (len / 2..len).collect(),
        ];
        for chosen in choices {
            let some = columns(&batcher, EventColumn::ALL, Some(&chosen));
            let indices = Indices::from(chosen);
            for ((column, some), all) in EventColumn::ALL.iter().zip(&some).zip(&all) {
                let want = take(all, &indices, None).unwrap();
                assert_eq!(&plain(some), &plain(&want), "{name}: {column:?}");
            }
        }
    }
}

/// The values, without the form in which they are kept.
fn plain(array: &ArrayRef) -> ArrayRef {
    match array.data_type() {
        DataType::Dictionary(_, value) => arrow::compute::cast(array, value).unwrap(),
        _ => Arc::clone(array),
    }
}

#[test]
fn each_column_alone_is_as_among_all() {
    for name in ["mysql-9.7-payload.000001", "mariadb-11.8-shop.000002"] {
        let (batcher, _) = gather(fixture(name), EventColumn::ALL);
        let all = columns(&batcher, EventColumn::ALL, None);
        for (&column, want) in EventColumn::ALL.iter().zip(&all) {
            // Nothing else is asked for, so nothing else is gathered.
            let (batcher, _) = gather(fixture(name), &[column]);
            let alone = columns(&batcher, &[column], None);
            assert_eq!(&plain(&alone[0]), &plain(want), "{name}: {column:?}");
        }
    }
}

#[test]
fn header_columns_are_the_headers() {
    use EventColumn::*;
    for name in logs() {
        let of = [
            File,
            Pos,
            EndPos,
            PayloadIndex,
            Timestamp,
            Type,
            TypeCode,
            ServerId,
            Size,
            Flags,
            LogPos,
        ];
        let (batcher, items) = gather(fixture(&name), &of);
        let arrays = columns(&batcher, &of, None);
        let (file, kind) = (strings(&arrays[0]), strings(&arrays[5]));
        for (at, item) in items.iter().enumerate() {
            let header = item.header;
            assert_eq!(file[at].as_deref(), Some("a.000001"));
            let u64s = |n: usize| arrays[n].as_primitive::<UInt64Type>().value(at);
            let u32s = |n: usize| arrays[n].as_primitive::<UInt32Type>().value(at);
            assert_eq!((u64s(1), u64s(2)), (item.pos, item.end_pos));
            let index = arrays[3].as_primitive::<UInt32Type>();
            let index = index.is_valid(at).then(|| index.value(at));
            assert_eq!(index, item.payload_index);
            let time = arrays[4].as_primitive::<TimestampMicrosecondType>();
            let time = time.is_valid(at).then(|| time.value(at));
            let seconds = i64::from(header.timestamp);
            assert_eq!(
                time,
                (seconds != 0).then_some(seconds * 1_000_000),
                "{name}"
            );
            assert_eq!(
                kind[at].as_deref(),
                Some(event::type_name(header.type_code))
            );
            let code = arrays[6].as_primitive::<UInt8Type>();
            assert_eq!(code.value(at), header.type_code);
            assert_eq!(u32s(7), header.server_id);
            assert_eq!(u32s(8), header.event_size);
            assert_eq!(
                arrays[9].as_primitive::<UInt16Type>().value(at),
                header.flags
            );
            assert_eq!(u32s(10), header.log_pos);
        }
    }
}

#[test]
fn the_dictionary_of_types_has_one_key_for_a_name() {
    let codes: Vec<u8> = (0..=255).collect();
    let array = type_array(codes);
    let array = array.as_dictionary::<UInt8Type>();
    assert_eq!(array.values().len(), 256);
    let key = |code: usize| array.keys().value(code);
    let mut names: BTreeMap<&str, u8> = BTreeMap::new();
    let values = array.values().as_string::<i32>();
    for code in 0..256 {
        let name = values.value(usize::from(key(code)));
        assert_eq!(name, event::type_name(code as u8));
        let first = *names.entry(name).or_insert(key(code));
        assert_eq!(key(code), first, "{name} has two keys");
    }
    // GTID is a type of MySQL and one of MariaDB; no other name is taken twice.
    assert_eq!(key(33), key(162));
    assert_eq!(names.len(), 255);
    assert_eq!(names["UNKNOWN(200)"], 200);
}

#[test]
fn events_inside_a_payload_carry_its_place_and_its_transaction() {
    use EventColumn::*;
    let of = [
        Pos,
        EndPos,
        PayloadIndex,
        Type,
        Gtid,
        TxPos,
        CommitTimestamp,
    ];
    let (batcher, items) = gather(fixture("mysql-9.7-payload.000001"), &of);
    let arrays = columns(&batcher, &of, None);
    let u64s = |n: usize, at: usize| arrays[n].as_primitive::<UInt64Type>().value(at);
    let gtids = strings(&arrays[4]);
    let times = arrays[6].as_primitive::<TimestampMicrosecondType>();
    let kinds = strings(&arrays[3]);
    let mut outer = 0;
    let mut inner = 0;
    for (at, item) in items.iter().enumerate() {
        let Some(index) = item.payload_index else {
            outer = at;
            continue;
        };
        inner += 1;
        assert_eq!(kinds[outer].as_deref(), Some("TRANSACTION_PAYLOAD"));
        assert_eq!(index as usize, at - outer - 1);
        assert_eq!((u64s(0, at), u64s(1, at)), (u64s(0, outer), u64s(1, outer)));
        assert!(gtids[at].is_some());
        assert_eq!(gtids[at], gtids[outer]);
        // The GTID event stands before the payload.
        assert_eq!(u64s(5, at), u64s(5, outer));
        assert_eq!(u64s(5, at), items[outer - 1].pos);
        assert_eq!(times.value(at), times.value(outer));
        assert!(times.is_valid(at));
    }
    assert_eq!(inner, 39);
}

#[test]
fn texts_and_bodies_outlive_the_log() {
    use EventColumn::*;
    for name in ["mysql-9.7-payload.000001", "mysql-9.7-shop.000001"] {
        let log = fixture(name);
        let of = [Query, Info, Body];
        let (batcher, items) = gather(log.clone(), &of);
        let arrays = columns(&batcher, &of, None);
        drop(batcher);
        let copied = columns(&gather(log.clone(), &of).0, &of, None);
        let bodies = arrays[2].as_binary_view();
        let mut seen = 0;
        for (at, item) in items.iter().enumerate() {
            if item.payload_index.is_none() {
                let body = &log[item.pos as usize + 19..item.end_pos as usize - 4];
                assert_eq!(bodies.value(at), body, "{name} @ {}", item.pos);
                seen += 1;
            }
        }
        assert!(seen > 20);
        for (ours, other) in arrays.iter().zip(&copied) {
            assert_eq!(ours, other);
            // Every view is a range of a buffer that is there, and text is UTF-8.
            ours.to_data().validate_full().unwrap();
            // What another consumer of Arrow does first.
            concat(&[ours.as_ref(), other.as_ref()]).unwrap();
        }
    }
}

#[test]
fn what_does_not_decode_is_null_and_a_problem() {
    use EventColumn::*;
    let log = fixture("mysql-9.7-anonymous.000001");
    let of = [Query, ThreadId, Info, Details, ChecksumOk, Body];
    let (batcher, items) = gather(log.clone(), &of);
    let (at, query) = items
        .iter()
        .enumerate()
        .find(|(_, item)| item.header.type_code == 2)
        .unwrap();
    drop(batcher);
    // The length of its status variables reaches beyond the event.
    let mut bad = log;
    let place = query.pos as usize + 19 + 11;
    bad[place..place + 2].copy_from_slice(&[0xff, 0xff]);
    let (batcher, bad_items) = gather(bad, &of);
    assert_eq!(bad_items.len(), items.len());
    let mut problems = Vec::new();
    let arrays = batcher.columns(&of, Some(&[at as u32]), &mut problems);
    assert!(!arrays[4].as_boolean().value(0));
    for array in &arrays[..4] {
        assert!(array.is_null(0));
    }
    assert!(!arrays[5].as_binary_view().value(0).is_empty());
    let [problem] = problems.as_slice() else {
        panic!("{problems:?}");
    };
    assert_eq!(problem.pos, query.pos);
    assert_eq!(problem.kind, crate::ProblemKind::BadEvent);
    // Nobody asks for what is damaged: there is nothing to report.
    let (batcher, _) = gather(fixture("mysql-9.7-anonymous.000001"), &[Pos]);
    let mut problems = Vec::new();
    batcher.columns(&[Pos], None, &mut problems);
    assert_eq!(problems, []);
}

/// Types that stand in no transaction.
const OF_THE_LOG: &[&str] = &[
    "FORMAT_DESCRIPTION",
    "PREVIOUS_GTIDS",
    "GTID_LIST",
    "BINLOG_CHECKPOINT",
    "ROTATE",
    "STOP",
    "START_V3",
    "INCIDENT",
];

/// An event as the model of transactions sees it.
struct Told {
    pos: u64,
    payload_index: Option<u32>,
    kind: String,
    query: Option<String>,
    info: String,
}

/// `tx_pos` and `gtid`.
type Belongs = (Option<u64>, Option<String>);

/// What the batcher says of the transactions of a log, and what the model may know.
fn told(log: Vec<u8>) -> (Vec<Told>, Vec<Belongs>) {
    use EventColumn::*;
    let of = [Type, Query, Info, TxPos, Gtid];
    let (batcher, items) = gather(log, &of);
    let arrays = columns(&batcher, &of, None);
    let [kind, query, info] = [0, 1, 2].map(|n| strings(&arrays[n]));
    let told = items.iter().enumerate().map(|(at, item)| Told {
        pos: item.pos,
        payload_index: item.payload_index,
        kind: kind[at].clone().unwrap(),
        query: query[at].clone(),
        info: info[at].clone().unwrap_or_default(),
    });
    let tx_pos = arrays[3].as_primitive::<UInt64Type>();
    let gtids = strings(&arrays[4]);
    let answers = (0..items.len()).map(|at| {
        let pos = tx_pos.is_valid(at).then(|| tx_pos.value(at));
        (pos, gtids[at].clone())
    });
    (told.collect(), answers.collect())
}

/// Where every transaction begins with a GTID event, all events up to the next one are of it, but
/// for those of the log; and its last event is one that ends a transaction.
#[test]
fn transactions_of_logs_with_gtids() {
    let mut transactions = 0;
    for name in logs() {
        let (events, answers) = told(fixture(&name));
        let mut current: Option<(u64, Option<String>)> = None;
        for (at, event) in events.iter().enumerate() {
            let begins = event.payload_index.is_none()
                && matches!(&*event.kind, "GTID" | "ANONYMOUS_GTID" | "GTID_TAGGED");
            if begins {
                // `… GTID_NEXT= 'uuid:1'`, `BEGIN GTID 0-1-2`, `GTID 0-1-2 cid=5`.
                let gtid = match event.info.split_once("GTID_NEXT= ") {
                    Some((_, gtid)) => gtid.trim_matches('\''),
                    None => {
                        let (_, rest) = event.info.split_once("GTID ").unwrap();
                        rest.split(' ').next().unwrap()
                    }
                };
                let gtid = (gtid != "ANONYMOUS").then(|| gtid.to_owned());
                current = Some((event.pos, gtid));
                transactions += 1;
            }
            let of_the_log = OF_THE_LOG.contains(&&*event.kind);
            let want = match &current {
                Some((pos, gtid)) if !of_the_log => (Some(*pos), gtid.clone()),
                _ => {
                    assert!(of_the_log, "{name} @ {}", event.pos);
                    (None, None)
                }
            };
            assert_eq!(answers[at], want, "{name} @ {} {}", event.pos, event.kind);
        }
    }
    // GTID events of all logs in MANIFEST.md, the encrypted ones left out.
    assert!(transactions > 300, "{transactions}");
}

/// Logs without GTIDs, by their statements: BEGIN to COMMIT or XID, or what a statement needs and
/// the statement.
#[test]
fn transactions_of_logs_without_gtids() {
    let Some(corpus) = std::env::var_os("BINLOG_CORPUS").map(PathBuf::from) else {
        eprintln!("SKIPPED: BINLOG_CORPUS is not set, so the public logs are not read");
        return;
    };
    let manifest = std::fs::read_to_string(corpus.join("MANIFEST.tsv")).unwrap();
    let mut logs = 0;
    let mut transactions = 0;
    for line in manifest.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let old = !fields[11].contains("GTID") && fields[11].contains("QUERY");
        if !old {
            continue;
        }
        let (events, answers) = told(std::fs::read(corpus.join(fields[0])).unwrap());
        logs += 1;
        let mut first = None;
        let mut block = false;
        for (event, answer) in events.iter().zip(&answers) {
            let at = format!("{} @ {} {}", fields[0], event.pos, event.info);
            if OF_THE_LOG.contains(&&*event.kind) {
                assert_eq!(*answer, (None, None), "{at}");
                if event.kind == "FORMAT_DESCRIPTION" {
                    (first, block) = (None, false);
                }
                continue;
            }
            let pos = *first.get_or_insert(event.pos);
            assert_eq!(*answer, (Some(pos), None), "{at}");
            let query = event.query.as_deref().unwrap_or_default();
            let ends = match &*event.kind {
                "QUERY" if query.eq_ignore_ascii_case("BEGIN") => {
                    block = true;
                    false
                }
                "QUERY" => !block || ["COMMIT", "ROLLBACK"].contains(&query),
                "XID" => true,
                "EXECUTE_LOAD_QUERY" | "EXEC_LOAD" | "DELETE_FILE" | "LOAD" => !block,
                kind if kind.contains("_ROWS") => !block && event.info.contains("STMT_END_F"),
                _ => false,
            };
            if ends {
                (first, block) = (None, false);
                transactions += 1;
            }
        }
    }
    println!("{logs} logs, {transactions} transactions");
    assert!(logs >= 26 && transactions >= 297, "{logs}, {transactions}");
}

#[test]
fn clear_forgets_the_candidates_but_not_the_transaction() {
    let log = fixture("mysql-9.7-shop.000002");
    let of = [
        EventColumn::TxPos,
        EventColumn::TableName,
        EventColumn::Body,
    ];
    let (whole, items) = gather(log.clone(), &of);
    let want = columns(&whole, &of, None);
    let mut batcher = EventBatcher::new(Arc::from("a.000001"), &of);
    let mut parts: Vec<Vec<ArrayRef>> = Vec::new();
    let mut flush = |batcher: &mut EventBatcher| {
        parts.push(columns(batcher, &of, None));
        batcher.clear();
        assert!(batcher.is_empty());
        assert_eq!(batcher.held(), 0);
    };
    read_all(Framer::new(), log, |item, block, format| {
        batcher.observe(item, block, format);
        batcher.push(item, block, format);
        assert!(batcher.held() > 0);
        if batcher.len() == 7 {
            flush(&mut batcher);
        }
    })
    .unwrap();
    flush(&mut batcher);
    assert!(parts.len() > items.len() / 8);
    for (column, want) in want.iter().enumerate() {
        let arrays: Vec<ArrayRef> = parts.iter().map(|part| plain(&part[column])).collect();
        let refs: Vec<&dyn Array> = arrays.iter().map(AsRef::as_ref).collect();
        assert_eq!(&concat(&refs).unwrap(), &plain(want));
    }
}

#[test]
fn only_wanted_bodies_are_asked_for() {
    let header = EventBatcher::new(Arc::from("a"), &[EventColumn::Pos, EventColumn::Type]);
    assert_eq!(header.bodies(TypeSet::ALL), TypeSet::NONE);
    let gtid = EventBatcher::new(Arc::from("a"), &[EventColumn::Gtid]);
    let bodies = gtid.bodies(TypeSet::NONE);
    assert!(bodies.contains(33) && bodies.contains(162) && bodies.contains(2));
    assert!(!bodies.contains(16) && !bodies.contains(29));
    let query = EventBatcher::new(Arc::from("a"), &[EventColumn::Query]);
    let wanted: TypeSet = [2u8, 29].into_iter().collect();
    assert_eq!(query.bodies(wanted), wanted);
}
