//! Every fixture log beside what its own server says is in it (`SHOW BINLOG EVENTS`).
//!
//! | column | rule |
//! |---|---|
//! | `Pos` | our `pos`; of events inside a TRANSACTION_PAYLOAD the server gives the payload's end |
//! | `End_log_pos` | the header's `log_pos` as it is: in a relay log it is a place in the source's log, MariaDB ≥ 11.4 writes 0 inside transactions; of events inside a TRANSACTION_PAYLOAD the payload's end |
//! | `Server_id` | the header's |
//! | `Event_type` | [`SERVER_NAMES`] |
//! | `Info` | ours, exactly, but for [`expected_info`] |
//!
//! An encrypted log is compared by its `.plain` twin, whose events the server sent to a replica.

use crate::support::{Decoded, decode_log, fixture, fixture_logs, fixtures};
use std::collections::BTreeMap;

/// What `SHOW BINLOG EVENTS` calls the event types of the fixtures.
const SERVER_NAMES: &[(u8, &str)] = &[
    (2, "Query"),
    (3, "Stop"),
    (4, "Rotate"),
    (5, "Intvar"),
    (9, "Append_block"),
    (13, "RAND"),
    (14, "User var"),
    (15, "Format_desc"),
    (16, "Xid"),
    (17, "Begin_load_query"),
    (18, "Execute_load_query"),
    (19, "Table_map"),
    (23, "Write_rows_v1"),
    (24, "Update_rows_v1"),
    (25, "Delete_rows_v1"),
    (29, "Rows_query"),
    (30, "Write_rows"),
    (31, "Update_rows"),
    (32, "Delete_rows"),
    (33, "Gtid"),
    (34, "Anonymous_Gtid"),
    (35, "Previous_gtids"),
    (38, "XA_prepare"),
    (39, "Update_rows_partial"),
    (40, "Transaction_payload"),
    (42, "Gtid_tagged_log_event"),
    (160, "Annotate_rows"),
    (161, "Binlog_checkpoint"),
    (162, "Gtid"),
    (163, "Gtid_list"),
    (164, "Start_encryption"),
    (165, "Query_compressed"),
    (166, "Write_rows_compressed_v1"),
    (167, "Update_rows_compressed_v1"),
    (168, "Delete_rows_compressed_v1"),
];

/// A row of `SHOW BINLOG EVENTS`.
#[derive(Debug)]
struct Listed {
    pos: u64,
    kind: String,
    server_id: u32,
    end_log_pos: u64,
    info: Vec<u8>,
}

fn listing(name: &str) -> Vec<Listed> {
    let bytes = std::fs::read(fixtures().join(format!("{name}.events.tsv"))).unwrap();
    let mut lines = bytes.split(|&b| b == b'\n');
    let head = lines.next().unwrap();
    assert_eq!(
        head, b"Log_name\tPos\tEvent_type\tServer_id\tEnd_log_pos\tInfo",
        "{name}"
    );
    lines
        .filter(|line| !line.is_empty())
        .map(|line| {
            let fields: Vec<&[u8]> = line.split(|&b| b == b'\t').collect();
            let text = |at: usize| std::str::from_utf8(fields[at]).unwrap();
            assert_eq!(fields.len(), 6, "{name}: {line:?}");
            Listed {
                pos: text(1).parse().unwrap(),
                kind: text(2).to_owned(),
                server_id: text(3).parse().unwrap(),
                end_log_pos: text(4).parse().unwrap(),
                info: unescape(fields[5]),
            }
        })
        .collect()
}

/// Takes back what the batch client escapes: `\t`, `\n`, `\0` and `\\`.
fn unescape(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut bytes = bytes.iter();
    while let Some(&byte) = bytes.next() {
        out.push(match byte {
            b'\\' => match bytes.next().unwrap() {
                b't' => b'\t',
                b'n' => b'\n',
                b'0' => 0,
                b'\\' => b'\\',
                other => panic!("an escape \\{}", char::from(*other)),
            },
            byte => byte,
        });
    }
    out
}

/// The log whose events `NAME.events.tsv` lists: the plain twin of an encrypted one.
fn log(name: &str) -> Vec<u8> {
    let plain = fixtures().join(format!("{name}.plain"));
    if plain.exists() {
        return std::fs::read(plain).unwrap();
    }
    std::fs::read(fixture(name)).unwrap()
}

/// Why our `info` is not the server's, and what it then must be.
///
/// | reason | server | ours |
/// |---|---|---|
/// | `Hex` | `_utf8mb4 0x5A… COLLATE …`, MariaDB `X'5A…'` | the text; the collation is in `details` |
/// | `SetFlags` | MariaDB puts `set foreign_key_checks=…;` before the statement, 10.5 with the wrong value | the statement; the flags are in `details` |
/// | `Utf8mb3` | MariaDB sends the text in utf8mb3: each byte that is not of it is a `?` | the characters of the log |
/// | `Raw` | MySQL sends latin1 text as it stands in the log, though the connection is UTF-8 | the same text in UTF-8 |
/// | `NoCharset` | ROWS_QUERY and ANNOTATE_ROWS: the bytes as they are; no event tells their character set | bytes that are not UTF-8 as `\xNN` |
/// | `Encryption` | nothing | the version of the key |
/// | `ListOrder` | MariaDB 10.5 lists the domains in any order, later servers sorted | sorted |
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reason {
    Hex,
    SetFlags,
    Utf8mb3,
    Raw,
    NoCharset,
    Encryption,
    ListOrder,
}

fn expected_info(event: &Decoded, server: &[u8]) -> (String, Vec<Reason>) {
    let text = || String::from_utf8(server.to_vec()).unwrap();
    let mariadb = event.format.server_version.contains("MariaDB");
    match event.header.type_code {
        164 => {
            assert_eq!(server, b"");
            (
                "encrypted with key version 1".into(),
                vec![Reason::Encryption],
            )
        }
        163 => {
            let text = text();
            let mut gtids: Vec<&str> = text
                .trim_matches(['[', ']'])
                .split(',')
                .filter(|gtid| !gtid.is_empty())
                .collect();
            gtids.sort_by_key(|gtid| gtid.split('-').next().unwrap().parse::<u32>().unwrap());
            let ours = format!("[{}]", gtids.join(","));
            let differ = (ours != text).then_some(Reason::ListOrder);
            (ours, differ.into_iter().collect())
        }
        14 if server.windows(9).any(|w| w == b" COLLATE ") => {
            let text = text();
            let (value, _) = text.rsplit_once(" COLLATE ").unwrap();
            let (head, literal) = value.rsplit_once(' ').unwrap();
            let digits = literal.trim_start_matches("0x");
            let digits = digits.trim_start_matches("X'").trim_end_matches('\'');
            let ours = if head.ends_with("=_binary") {
                format!("{head} X'{digits}'")
            } else {
                let bytes = (0..digits.len()).step_by(2);
                let bytes = bytes.map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap());
                format!("{head} '{}'", String::from_utf8(bytes.collect()).unwrap())
            };
            (ours, vec![Reason::Hex])
        }
        29 | 160 if std::str::from_utf8(server).is_err() => {
            let mut ours = String::new();
            for chunk in server.utf8_chunks() {
                ours.push_str(chunk.valid());
                for byte in chunk.invalid() {
                    ours.push_str(&format!("\\x{byte:02x}"));
                }
            }
            (ours, vec![Reason::NoCharset])
        }
        2 if !mariadb && std::str::from_utf8(server).is_err() => {
            let ours = server.iter().map(|&byte| char::from(byte)).collect();
            (ours, vec![Reason::Raw])
        }
        2 | 165 if mariadb => {
            let mut reasons = Vec::new();
            let mut ours = text();
            if let Some((before, after)) = ours.split_once("; set foreign_key_checks=") {
                reasons.push(Reason::SetFlags);
                ours = format!("{before}; {}", after.split_once("; ").unwrap().1);
            }
            if ours.contains('?') && as_utf8mb3(&event.info) == ours {
                reasons.push(Reason::Utf8mb3);
                ours.clone_from(&event.info);
            }
            (ours, reasons)
        }
        _ => (text(), Vec::new()),
    }
}

/// The text as MariaDB prints it: characters of the log that are not of utf8mb3 are lost. Latin1
/// bytes are none, and a character of four bytes is four of them.
fn as_utf8mb3(text: &str) -> String {
    text.chars()
        .flat_map(|c| match c {
            '\u{80}'..='\u{ff}' => vec!['?'],
            '\u{10000}'.. => vec!['?'; 4],
            c => vec![c],
        })
        .collect()
}

#[test]
fn events_are_those_that_the_server_lists() {
    let mut reasons: BTreeMap<Reason, usize> = BTreeMap::new();
    let mut compared = 0;
    for name in fixture_logs() {
        let listed = listing(&name);
        let (events, _) = decode_log(&log(&name));
        assert_eq!(events.len(), listed.len(), "{name}");
        for (event, listed) in events.iter().zip(&listed) {
            let at = format!("{name} @ {} {:?}", event.pos, event.payload_index);
            let kind = SERVER_NAMES
                .iter()
                .find(|(code, _)| *code == event.header.type_code)
                .unwrap_or_else(|| panic!("{at}: {} is not in the table", event.name));
            assert_eq!(kind.1, listed.kind, "{at}");
            assert_eq!(event.header.server_id, listed.server_id, "{at}");
            if event.payload_index.is_some() {
                assert_eq!(
                    (listed.pos, listed.end_log_pos),
                    (event.end_pos, event.end_pos),
                    "{at}"
                );
            } else {
                assert_eq!(listed.pos, event.pos, "{at}");
                assert_eq!(listed.end_log_pos, u64::from(event.header.log_pos), "{at}");
            }
            let (info, why) = expected_info(event, &listed.info);
            assert_eq!(
                event.info,
                info,
                "{at}, {}: the server's info is {:?}",
                event.name,
                String::from_utf8_lossy(&listed.info)
            );
            for reason in why {
                *reasons.entry(reason).or_default() += 1;
            }
            compared += 1;
        }
    }
    // All of them: the tables of MANIFEST.md, in which a row begins with the log's name or with
    // the words "inside its payloads", and has the number of events in its third cell.
    let manifest = std::fs::read_to_string(fixtures().join("MANIFEST.md")).unwrap();
    let counts = manifest
        .lines()
        .filter(|line| line.starts_with("| `") || line.starts_with("| inside its payloads"))
        .map(|line| {
            line.split('|')
                .nth(3)
                .unwrap()
                .trim()
                .parse::<usize>()
                .unwrap()
        });
    assert_eq!(compared, counts.sum::<usize>());
    assert_eq!(
        reasons,
        BTreeMap::from([
            (Reason::Hex, 8),
            (Reason::SetFlags, 3),
            (Reason::Utf8mb3, 6),
            (Reason::Raw, 1),
            (Reason::NoCharset, 4),
            (Reason::Encryption, 1),
            (Reason::ListOrder, 1),
        ])
    );
}

#[test]
fn buglog_87_positions_are_where_the_events_stand() {
    for name in fixture_logs() {
        let bytes = log(&name);
        let (events, _) = decode_log(&bytes);
        let relay = name.contains("relay");
        let mut end = 4;
        for event in events.iter().filter(|event| event.payload_index.is_none()) {
            let at = format!("{name} @ {}", event.pos);
            assert_eq!(event.pos, end, "{at}");
            end = event.end_pos;
            assert_eq!(end - event.pos, u64::from(event.header.event_size), "{at}");
            let log_pos = u64::from(event.header.log_pos);
            // MariaDB 11.4 and later write no position inside transactions.
            let unplaced = name.contains("mariadb-11.8") && log_pos == 0;
            if !relay && !unplaced {
                assert_eq!(log_pos, end, "{at}");
            }
            let checksum = match event.header.type_code {
                // A format description always has one.
                15 => Some(true),
                _ if name.contains("nochecksum") => None,
                _ => Some(true),
            };
            assert_eq!(event.checksum_ok, checksum, "{at}");
        }
        assert_eq!(end, bytes.len() as u64, "{name}");
    }
}
