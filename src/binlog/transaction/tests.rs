use super::*;
use crate::binlog::event::Flavor;
use crate::binlog::header::{HEADER_LEN, Header};

/// A log made of events of 100 bytes each, as far as positions go: event n stands at 100 n.
struct Log {
    format: FormatDescription,
    tracker: TransactionTracker,
    pos: u64,
    server_id: u32,
}

impl Log {
    fn mysql() -> Self {
        Self {
            format: FormatDescription::assumed(),
            tracker: TransactionTracker::default(),
            pos: 0,
            server_id: 1,
        }
    }

    fn mariadb() -> Self {
        Self {
            format: event::testing::maria_format(),
            ..Self::mysql()
        }
    }

    /// A log of version 3: no status variables in a QUERY.
    fn old() -> Self {
        Self {
            format: FormatDescription::assumed_old(3),
            ..Self::mysql()
        }
    }

    /// The number of the transaction's first event, as told for the next event.
    fn next(&mut self, event: &(u8, Vec<u8>)) -> Option<u64> {
        self.see(event, false)
            .map(|transaction| transaction.pos / 100)
    }

    fn see(&mut self, (code, body): &(u8, Vec<u8>), inner: bool) -> Option<Transaction> {
        let mut bytes = vec![0; HEADER_LEN];
        bytes.extend_from_slice(body);
        let raw = RawEvent {
            header: Header {
                type_code: *code,
                server_id: self.server_id,
                event_size: 100,
                ..Header::default()
            },
            offset: self.pos,
            bytes: &bytes,
            header_len: HEADER_LEN as u8,
            checksum_len: 0,
        };
        if !inner {
            self.pos += 100;
        }
        self.tracker.observe(&raw, inner, &self.format)
    }

    fn all(&mut self, events: &[(u8, Vec<u8>)]) -> Vec<Option<u64>> {
        events.iter().map(|event| self.next(event)).collect()
    }

    fn query(&self, text: &str) -> (u8, Vec<u8>) {
        let mut body = THREAD.to_le_bytes().to_vec();
        body.extend([0, 0, 0, 0, 4, 0, 0]);
        if self.format.binlog_version == 4 {
            body.extend([3, 0]); // length of the status variables, which are not looked at
            body.extend([0xff; 3]);
        }
        body.extend(b"shop\0");
        body.extend(text.as_bytes());
        (2, body)
    }
}

/// The connection of every QUERY.
const THREAD: u32 = 4242;

/// The same transaction, its connection known.
fn of_thread(transaction: Transaction, thread_id: u32) -> Transaction {
    Transaction {
        thread_id: Some(thread_id),
        ..transaction
    }
}

fn gtid(number: u64) -> (u8, Vec<u8>) {
    let mut body = vec![1];
    body.extend([0x11; 16]);
    body.extend(number.to_le_bytes());
    (33, body)
}

fn anonymous() -> (u8, Vec<u8>) {
    (34, vec![0; 25])
}

fn mariadb_gtid(number: u64, flags: u8) -> (u8, Vec<u8>) {
    let mut body = number.to_le_bytes().to_vec();
    body.extend([0, 0, 0, 0, flags]);
    body.extend([0; 6]);
    (162, body)
}

fn rows(code: u8, last: bool) -> (u8, Vec<u8>) {
    (code, vec![7, 0, 0, 0, 0, 0, u8::from(last), 0])
}

/// An event whose body is not looked at.
fn any(code: u8) -> (u8, Vec<u8>) {
    (code, Vec::new())
}

const GTID_LIST: u8 = 163;
const INTVAR: u8 = 5;
const TABLE_MAP: u8 = 19;
const XID: u8 = 16;

#[test]
fn a_block_lasts_from_its_gtid_to_its_xid() {
    let mut log = Log::mysql();
    let begin = log.query("BEGIN");
    let events = [
        any(15),
        any(35),
        gtid(1),
        begin.clone(),
        any(29),
        any(TABLE_MAP),
        rows(30, false),
        rows(31, true),
        any(TABLE_MAP),
        rows(32, true),
        any(XID),
        gtid(2),
        begin,
        any(XID),
        any(4),
    ];
    let two = Some(2);
    let eleven = Some(11);
    assert_eq!(
        log.all(&events),
        [
            None, None, two, two, two, two, two, two, two, two, two, eleven, eleven, eleven, None
        ]
    );
}

#[test]
fn each_transaction_has_its_gtid_and_its_commit_time() {
    let mut log = Log::mysql();
    let first = log.see(&gtid(7), false).unwrap();
    let text = |t: &Transaction| t.gtid.map(|gtid| gtid.to_string());
    let want = "11111111-1111-1111-1111-111111111111:7";
    assert_eq!(text(&first).as_deref(), Some(want));
    assert_eq!(first.commit_timestamp, None);
    let ddl = log.query("CREATE TABLE t (a INT)");
    assert_eq!(first.thread_id, None);
    assert_eq!(log.see(&ddl, false), Some(of_thread(first, THREAD)));

    // With the logical clock and the two timestamps of MySQL 8.
    let (code, mut body) = gtid(8);
    body.push(2);
    body.extend([0; 16]);
    body.extend(&1_793_600_000_000_000u64.to_le_bytes()[..7]);
    let second = log.see(&(code, body), false).unwrap();
    assert_eq!(second.commit_timestamp, Some(1_793_600_000_000_000));

    let third = log.see(&anonymous(), false).unwrap();
    assert_eq!((third.gtid, third.pos), (None, 300));

    let mut log = Log::mariadb();
    log.server_id = 9;
    let first = log.see(&mariadb_gtid(5, 0), false).unwrap();
    assert_eq!(text(&first).as_deref(), Some("0-9-5"));
}

#[test]
fn the_connection_is_that_of_the_first_query() {
    let mut log = Log::mysql();
    let (code, mut other) = log.query("INSERT INTO t VALUES (1)");
    other[..4].copy_from_slice(&7u32.to_le_bytes());
    let other = (code, other);
    let events = [
        gtid(1),
        log.query("BEGIN"),
        other.clone(),
        any(XID),
        any(TABLE_MAP), // a transaction without a QUERY
        rows(30, true),
        gtid(2),
        (165, other.1.clone()),
    ];
    let threads = events.map(|event| log.see(&event, false).unwrap().thread_id);
    let first = Some(THREAD);
    assert_eq!(
        threads,
        [None, first, first, first, None, None, None, Some(7)]
    );

    // MariaDB from 11.5 on: in the GTID event, before any QUERY.
    let mut log = Log::mariadb();
    let mut body = 5u64.to_le_bytes().to_vec();
    body.extend([0, 0, 0, 0, MariadbGtidEvent::TRANSACTIONAL]);
    body.push(MariadbGtidEvent::EXTRA_THREAD_ID);
    body.extend(9u32.to_le_bytes());
    for event in [(162, body), any(TABLE_MAP), other, any(XID)] {
        assert_eq!(log.see(&event, false).unwrap().thread_id, Some(9));
    }
}

#[test]
fn a_statement_is_a_transaction_of_its_own() {
    let mut log = Log::mysql();
    let create = log.query("CREATE TABLE t (a INT)");
    let drop = log.query("DROP TABLE t");
    let events = [gtid(1), create.clone(), gtid(2), drop.clone(), create, drop];
    // The last two follow no GTID: a log whose beginning is missing.
    let want = [0, 0, 2, 2, 4, 5].map(Some);
    assert_eq!(log.all(&events), want);
}

#[test]
fn buglog_97_create_table_as_select_is_one_transaction() {
    // MySQL from 8.0.21 on.
    let mut log = Log::mysql();
    let events = [
        gtid(1),
        log.query("BEGIN"),
        log.query("CREATE TABLE `t` (`id` int) START TRANSACTION"),
        any(TABLE_MAP),
        rows(30, true),
        any(XID),
        gtid(2),
    ];
    assert_eq!(log.all(&events), [0, 0, 0, 0, 0, 0, 6].map(Some));
}

#[test]
fn rollback_to_a_savepoint_does_not_end_a_transaction() {
    let mut log = Log::mysql();
    let events = [
        log.query("BEGIN"),
        log.query("SAVEPOINT `a`"),
        log.query("ROLLBACK TO `a`"),
        log.query("INSERT INTO t VALUES ('COMMIT')"),
        log.query("COMMIT"),
        log.query("BEGIN"),
        log.query("rollback"),
        log.query("DELETE FROM t"),
    ];
    assert_eq!(log.all(&events), [0, 0, 0, 0, 0, 5, 5, 7].map(Some));
}

#[test]
fn buglog_93_and_94_xa_is_prepared_in_one_transaction_and_committed_in_another() {
    let mut log = Log::mysql();
    let events = [
        gtid(1),
        log.query("XA START X'74',X'',1"),
        any(TABLE_MAP),
        rows(30, true),
        log.query("XA END X'74',X'',1"),
        any(38),
        gtid(2),
        log.query("XA COMMIT X'74',X'',1"),
        // Without GTIDs, as MySQL 5.7 may write it.
        log.query("XA START X'75',X'',1"),
        log.query("XA END X'75',X'',1"),
        any(38),
        log.query("XA ROLLBACK X'75',X'',1"),
        // In one phase: the same event ends it, and nothing else is to come.
        gtid(3),
        log.query("XA START X'76',X'',1"),
        log.query("XA END X'76',X'',1"),
        (38, b"\x01\x01\0\0\0\x01\0\0\0\0\0\0\0v".to_vec()),
        gtid(4),
    ];
    assert_eq!(
        log.all(&events),
        [0, 0, 0, 0, 0, 0, 6, 6, 8, 8, 8, 11, 12, 12, 12, 12, 16].map(Some)
    );

    // MariaDB: the GTID event itself is the XA START.
    let mut log = Log::mariadb();
    let (code, mut body) = mariadb_gtid(1, MariadbGtidEvent::PREPARED_XA);
    body.truncate(13);
    body.extend([1, 0, 0, 0, 1, 0, b't']);
    let events = [
        (code, body),
        any(TABLE_MAP),
        rows(23, true),
        log.query("XA END X'74',X'',1"),
        any(38),
        mariadb_gtid(2, 0),
        log.query("XA COMMIT X'74',X'',1"),
        any(GTID_LIST),
        any(INTVAR),
    ];
    let mut want = [0, 0, 0, 0, 0, 5, 5].map(Some).to_vec();
    want.extend([None, Some(8)]);
    assert_eq!(log.all(&events), want);
}

#[test]
fn buglog_88_what_stands_for_an_annotation_is_inside_the_transaction() {
    let mut log = Log::mariadb();
    let dummy = "# Dummy event replacing event type 160 that slave cannot handle.";
    let events = [
        mariadb_gtid(1, 0),
        log.query(dummy),
        any(TABLE_MAP),
        rows(23, true),
        any(XID),
        mariadb_gtid(2, 0),
        any(160),
        any(TABLE_MAP),
        rows(23, true),
        any(XID),
    ];
    let want = [0, 0, 0, 0, 0, 5, 5, 5, 5, 5].map(Some);
    assert_eq!(log.all(&events), want);
}

#[test]
fn a_standalone_group_of_mariadb_is_one_statement() {
    let mut log = Log::mariadb();
    let standalone = MariadbGtidEvent::STANDALONE;
    let events = [
        any(GTID_LIST),
        any(161),
        mariadb_gtid(1, standalone | MariadbGtidEvent::DDL),
        log.query("CREATE TABLE t (a INT)"),
        mariadb_gtid(2, standalone),
        any(165), // the same, compressed
        mariadb_gtid(3, 0),
        any(160),
        any(TABLE_MAP),
        rows(166, false),
        rows(23, true),
        any(165), // inside a block nothing ends but by its own word
        any(XID),
        mariadb_gtid(4, 0),
        log.query("INSERT INTO no_transactions VALUES (1)"),
        log.query("COMMIT"),
        any(161),
    ];
    let mut want = vec![None, None];
    want.extend([2, 2, 4, 4, 6, 6, 6, 6, 6, 6, 6, 13, 13, 13].map(Some));
    want.push(None);
    assert_eq!(log.all(&events), want);
}

#[test]
fn the_events_of_a_payload_belong_to_its_transaction() {
    let mut log = Log::mysql();
    let begin = log.query("BEGIN");
    let outer = [gtid(1), any(40)].map(|event| log.see(&event, false).unwrap());
    assert_eq!(outer.map(|t| t.pos), [0, 0]);
    assert_eq!(outer[0], outer[1]);
    // BEGIN is inside.
    let inside = of_thread(outer[0], THREAD);
    for event in [begin, any(TABLE_MAP), rows(30, true), any(XID)] {
        assert_eq!(log.see(&event, true), Some(inside));
    }
    assert_eq!(log.next(&gtid(2)), Some(2));
}

#[test]
fn logs_without_gtids() {
    for mut log in [Log::mysql(), Log::old()] {
        let events = [
            any(15),
            log.query("BEGIN"),
            any(INTVAR),
            log.query("INSERT INTO t VALUES (NULL)"),
            log.query("COMMIT"),
            log.query("CREATE TABLE u (a INT)"),
            // A table without transactions: what the statement needs stands before it.
            any(INTVAR),
            any(13),
            any(14),
            log.query("INSERT INTO u VALUES (RAND())"),
            log.query("begin"),
            any(TABLE_MAP),
            rows(23, true),
            any(XID),
            any(3),
        ];
        let mut want = vec![None];
        want.extend([1, 1, 1, 1, 5, 6, 6, 6, 6, 10, 10, 10, 10].map(Some));
        want.push(None);
        assert_eq!(log.all(&events), want);
    }
}

#[test]
fn rows_without_begin_end_with_their_statement() {
    let mut log = Log::mysql();
    let events = [
        any(TABLE_MAP),
        any(TABLE_MAP),
        rows(23, false),
        rows(25, true),
        any(TABLE_MAP),
        rows(24, true),
    ];
    assert_eq!(log.all(&events), [0, 0, 0, 0, 4, 4].map(Some));
}

#[test]
fn load_data_ends_with_its_statement() {
    // 5.0 and later; inside a block, and without one.
    let mut log = Log::mysql();
    let load = [any(17), any(9), any(9), any(18)];
    let mut events = load.to_vec();
    events.push(log.query("BEGIN"));
    events.extend(load.clone());
    events.push(any(XID));
    assert_eq!(log.all(&events), [0, 0, 0, 0, 4, 4, 4, 4, 4, 4].map(Some));
    // 4.x: CREATE_FILE, blocks, EXEC_LOAD or DELETE_FILE; and 3.23: LOAD alone.
    let mut log = Log::old();
    let events = [
        any(8),
        any(9),
        any(10),
        any(8),
        any(9),
        any(11),
        any(6),
        any(12),
    ];
    assert_eq!(log.all(&events), [0, 0, 0, 3, 3, 3, 6, 7].map(Some));
}

#[test]
fn an_incident_belongs_to_its_gtid_only() {
    let mut log = Log::mysql();
    let incident = any(26);
    let drop = log.query("DROP TABLE t");
    let events = [gtid(1), incident.clone(), incident, drop];
    assert_eq!(log.all(&events), [Some(0), Some(0), None, Some(3)]);
}

#[test]
fn a_new_format_description_leaves_an_open_transaction_behind() {
    let mut log = Log::mysql();
    let events = [
        gtid(1),
        log.query("BEGIN"),
        any(4), // an artificial ROTATE of a relay log
        rows(30, true),
        any(15),
        rows(30, true),
        any(XID),
    ];
    assert_eq!(
        log.all(&events),
        [Some(0), Some(0), None, Some(0), None, Some(5), Some(6)]
    );
    assert_eq!(log.format.flavor, Flavor::MySql);
}

#[test]
fn damaged_bodies_do_not_confuse_what_follows() {
    let mut log = Log::mysql();
    let events = [
        (33, vec![1, 2, 3]), // no GTID can be read, but a transaction begins
        (2, vec![0; 5]),
        gtid(2),
        (2, Vec::new()),
        (30, Vec::new()),
        gtid(3),
    ];
    let first = log.see(&events[0], false).unwrap();
    assert_eq!((first.pos, first.gtid, first.thread_id), (0, None, None));
    assert_eq!(
        log.all(&events[1..]),
        [Some(0), Some(2), Some(2), Some(4), Some(5)]
    );
}
