use super::*;
use crate::source::testing::{gzip, log, zst};

/// What a head is said to be.
fn said(head: impl AsRef<[u8]>, name: &str) -> String {
    let sniffed = sniff(head.as_ref(), name);
    match sniffed.rejection() {
        None => format!("{:?} log", sniffed.encoding),
        Some(rejection) => rejection.message,
    }
}

fn check(cases: &[(&[u8], &str, &str)]) {
    for (head, name, want) in cases {
        let said = said(head, name);
        assert!(
            said.contains(want),
            "{name} {:?}\n said: {said}\n want: {want}",
            String::from_utf8_lossy(head)
        );
        assert!(!said.contains('\n'), "more than a line: {said}");
    }
}

#[test]
fn logs() {
    assert_eq!(said(b"\xfebin", "x"), "Plain log");
    assert_eq!(said(log(5000), "x.sql"), "Plain log");
    assert_eq!(said(gzip(&log(100_000)), "x"), "Gzip log");
    assert_eq!(said(zst(&log(100_000)), "x"), "Zstd log");
    assert_eq!(
        said(&gzip(&log(9_000_000))[..ARCHIVE_HEAD], "x"),
        "Gzip log"
    );
    assert_eq!(said(&zst(&log(9_000_000))[..ARCHIVE_HEAD], "x"), "Zstd log");
    // pzstd puts a skippable frame in front.
    assert_eq!(
        said(
            [b"\x50\x2a\x4d\x18\x04\0\0\0abcd".as_slice(), &zst(&log(99))].concat(),
            "x"
        ),
        "Zstd log"
    );
    assert_eq!(sniff(b"\xfdbin\x01", "x").content, Content::EncryptedBinlog);
    assert!(said(b"\xfdbin\x01", "x").contains("encrypted and only its server has the key"));
    assert!(said(gzip(b"\xfdbin\x01"), "x").contains("encrypted"));
}

#[test]
fn short_files_say_so() {
    check(&[
        (b"", "x", "not a binary log: this is an empty file"),
        (b"\xfe", "x", "only the first 1 of the 4 bytes"),
        (b"\xfebi", "x", "only the first 3 of the 4 bytes"),
        (
            b"a",
            "x",
            "this is a file of 1 byte; a log begins with the 4 bytes fe 62 69 6e",
        ),
        (b"abc", "x", "this is a file of 3 bytes"),
    ]);
    assert_eq!(
        sniff(b"\xfebi", "x").rejection().unwrap().kind,
        ErrorKind::Truncated
    );
}

#[test]
fn texts() {
    check(&[
        (b"-- MySQL dump 10.13\n--\n", "orders.sql", "not a binary log: this is text (an SQL dump)"),
        (b"/*M!999999\\- enable the sandbox mode */ \n-- MariaDB dump 10.19\n", "x", "an SQL dump"),
        (b"\xef\xbb\xbfcreate table t (a int);\n", "x", "an SQL dump"),
        (b"INSERT INTO t VALUES ('\xe9')", "x", "an SQL dump"),
        (
            b"# The proper term is pseudo_replica_mode\n/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=1*/;\nDELIMITER /*!*/;\n# at 4\n",
            "x",
            "(the output of mysqlbinlog); give the binary log itself",
        ),
        (b"./mysql-bin.000001\n./mysql-bin.000002\n", "list", "index of a binary log"),
        (b"2024-01-01T00:00:00.000000Z 0 [System] [MY-010116] [Server] mysqld\n", "x", "error log"),
        (b"2024-01-01  1:00:00 0 [Note] InnoDB: started\n", "x", "error log"),
        (b"/usr/sbin/mysqld, Version: 8.0.1\nTcp port: 0\nTime                 Id Command    Argument\n", "x", "a general query log"),
        (b"# Time: 2024-01-01\n# User@Host: root[root] @ localhost\n# Query_time: 1\n", "x", "a slow query log"),
        (b"7\n./relay-bin.000002\n274\nmysql-bin.000003\n1043\n0\n0\n1\n", "x", "relay-log.info"),
        (b"./relay-bin.000002\n274\nmysql-bin.000003\n1043\n", "x", "relay-log.info"),
        (b"25\nmysql-bin.000003\n1043\ndb1.example\nrepl\nsecret\n3306\n", "x", "master.info"),
        (b"0-1-100\n1-2-3\n", "x", "binary log state"),
        (b"{\"a\": 1}\n", "x", "text (JSON)"),
        (b"<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>", "x", "text (XML or HTML)"),
        (b"/mJpbn6NO1QP6QMAAHQAAAB4AAAA", "x", "base64 -d"),
        (b"fe62696e7e8d3b540fe9030000740000", "x", "xxd -r -p"),
        (b"\n\n\n\n", "x", "nothing but white space"),
        (b"hello world\n", "x", "this is text"),
        (b"\xff\xfe-\0-\0 \0", "x", "UTF-16 text"),
    ]);
    // `/mJpbg==` is how the bytes of the magic begin in base64.
    assert!(said(b"/mJpbg==", "x").contains("base64"));
}

#[test]
fn other_files_of_a_data_directory() {
    let mut page = vec![0; 16384];
    page[..4].copy_from_slice(&[0xde, 0xad, 0xbe, 0xef]);
    page[25] = 8;
    page[37] = 42;
    page[41] = 42;
    let mut redo = vec![0; 512];
    redo[3] = 6;
    redo[16..28].copy_from_slice(b"MySQL 8.0.30");
    let mut headless = log(100)[..0].to_vec();
    headless.extend(b"\x7e\x8d\x3b\x54\x0f\xe9\x03\0\0\x74\0\0\0\x78\0\0\0\0\0\x04\x005.6.15-log");
    check(&[
        (&page, "t.ibd", "an InnoDB tablespace"),
        (&redo, "#ib_redo1", "an InnoDB redo log"),
        (
            &[0, 0, 0, 0, 1, 2, 3],
            "ib_logfile1",
            "an InnoDB redo log, by its name",
        ),
        (
            b"\xfe\xfe\x0b\x01MARIALOG",
            "aria_log.00000001",
            "Aria engine (aria_log)",
        ),
        (
            b"\xfe\xfe\x0c\x01",
            "aria_log_control",
            "control file of MariaDB's Aria",
        ),
        (b"\xfe\xfe\x0c\x01", "m.000001.idx", "GTID index"),
        (
            b"\xfe\xfe\x0d\x01\x0e\0\0\0\x01\0\0\0",
            "binlog-000001.ibb",
            "not readable here: this is a MariaDB binary log kept by InnoDB",
        ),
        (&[0; 512], "binlog-000002.ibb", "kept by InnoDB"),
        (&[0; 512], "mysql-bin.000001", "zero bytes"),
        (b"\xfe\x01\0\0\x0a\x09", "t.frm", "table definition"),
        (&headless, "x", "a binary log without its first 4 bytes"),
        (
            b"\x01\x02\x03\x04\x05",
            "x",
            "begins with 01 02 03 04 05 (a log: fe 62 69 6e)",
        ),
    ]);
}

#[test]
fn archives_and_what_is_in_them() {
    let mut tar = vec![0; 512];
    tar[257..262].copy_from_slice(b"ustar");
    let (gz, zs) = (gzip(b"-- MySQL dump 10.13\n"), zst(&[]));
    let damaged = {
        let mut bytes = gzip(&[7; 100]);
        bytes[2] = 99;
        bytes
    };
    check(&[
        (
            &gz,
            "x",
            "not a binary log: this is a gzip archive of text (an SQL dump)",
        ),
        (
            &zs,
            "x",
            "not a binary log: this is a zstd archive of an empty file",
        ),
        (
            &gzip(&tar),
            "x",
            "not readable here: this is a gzip archive of a tar archive",
        ),
        (
            &gzip(&gzip(&log(9))),
            "x",
            "a gzip archive of a gzip archive",
        ),
        (&gz[..9], "x", "a gzip archive that is cut short"),
        (
            &zst(&log(999))[..9],
            "x",
            "a zstd archive that is cut short",
        ),
        (&damaged, "x", "a gzip archive that is damaged"),
        (b"\xfd7zXZ\0", "x", "xz -dc FILE"),
        (b"BZh91AY", "x", "bzip2 archive"),
        (b"\x04\x22\x4d\x18", "x", "lz4 archive"),
        (b"PK\x03\x04\x14", "x", "a zip archive"),
        (b"SQLite format 3\0", "x", "an SQLite database"),
        (b"PAR1\x15\x04", "x", "a Parquet file"),
        (b"\x89PNG\r\n\x1a\n", "x", "a PNG image"),
    ]);
}

#[test]
fn a_window_over_the_limit_is_refused() {
    // Frame header: window descriptor of 1 GiB (exponent 20 + 10).
    let head = b"\x28\xb5\x2f\xfd\x00\xa0\x25\0\0\xfebin";
    check(&[(head, "x", "a window over 128 MiB")]);
}

#[test]
fn any_head_is_something() {
    for len in 0..64 {
        for byte in 0..=255_u8 {
            let head = vec![byte; len];
            assert!(sniff(&head, "x").rejection().is_some());
        }
    }
}

/// Every file of the corpus, where there is one: logs are logs, and what mysqlbinlog printed is
/// known as that.
#[test]
fn the_corpus() {
    let Some(corpus) = std::env::var_os("BINLOG_CORPUS") else {
        eprintln!("skipped: BINLOG_CORPUS names no corpus");
        return;
    };
    let (mut logs, mut printed) = (0, 0);
    let mut open = vec![std::path::PathBuf::from(corpus)];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(
                std::fs::read_dir(path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let head = &bytes[..bytes.len().min(HEAD)];
        let is_log = sniff(head, "x").content == Content::Binlog;
        assert_eq!(is_log, head.starts_with(b"\xfebin"), "{}", path.display());
        logs += usize::from(is_log);
        if path.parent().unwrap().ends_with("oracle") {
            let said = said(head, "x");
            printed += usize::from(said.contains("the output of mysqlbinlog"));
            assert!(
                said.contains("this is text") || said.contains("an empty file"),
                "{}: {said}",
                path.display()
            );
        }
    }
    assert!(
        logs >= 160 && printed >= 280,
        "{logs} logs, {printed} printed"
    );
}
