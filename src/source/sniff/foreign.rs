//! What a file is that does not begin as a binary log does: a short table of marks, and a look at
//! the lines of a text.
//!
//! Sources of the marks: MariaDB `storage/maria/ma_loghandler.c` (Aria log), `sql/gtid_index.cc`
//! (GTID index), `storage/innobase/include/innodb_binlog.h` (`.ibb`), MySQL
//! `storage/innobase/include/{fil0types,fsp0fsp,log0constants}.h` (tablespaces, redo log),
//! `include/my_base.h` (MyISAM, Aria, `.frm`), and each format's own specification.

use super::MAGIC;
use crate::error::ErrorKind;

/// Marks of files: offset, bytes, kind, what it is.
const MARKS: &[(usize, &[u8], ErrorKind, &str)] = {
    use ErrorKind::{Invalid, Unsupported};
    &[
        // MariaDB 12.3 and later, binlog_storage_engine=innodb; 0x010dfefe, little-endian.
        (0, b"\xfe\xfe\x0d\x01", Unsupported, IBB),
        (0, b"\xfe\xfe\x0b", Invalid, ARIA_LOG),
        (
            0,
            b"\xfe\xfe\x0c",
            Invalid,
            "a MariaDB GTID index of a binary log",
        ),
        (
            0,
            b"MDBBLIDX",
            Invalid,
            "a MariaDB GTID index of a binary log",
        ),
        (0, b"\xfe\xfe\x07", Invalid, "a MyISAM index (.MYI)"),
        (
            0,
            b"\xfe\xfe",
            Invalid,
            "a file of the Aria or MyISAM engine",
        ),
        (0, b"\xfe\x01", Invalid, "a table definition (.frm)"),
        // The redo log: its creator stands at offset 16, `PHYS` begins MariaDB's from 10.8 on.
        (16, b"MySQL ", Invalid, REDO),
        (16, b"MariaDB ", Invalid, REDO),
        (16, b"Percona", Invalid, REDO),
        (0, b"PHYS", Invalid, REDO),
        (
            0,
            b"\xfd7zXZ\0",
            Unsupported,
            "an xz archive; unpack it first: xz -dc FILE | binlogsql -",
        ),
        (
            0,
            b"BZh",
            Unsupported,
            "a bzip2 archive; unpack it first: bzip2 -dc FILE | binlogsql -",
        ),
        (
            0,
            b"\x04\x22\x4d\x18",
            Unsupported,
            "an lz4 archive; unpack it first: lz4 -dc FILE | binlogsql -",
        ),
        (
            0,
            b"\x89LZO\0",
            Unsupported,
            "an lzop archive; unpack it first: lzop -dc FILE | binlogsql -",
        ),
        (
            0,
            b"\x1f\x9d",
            Unsupported,
            "a compress (.Z) archive; unpack it first: gzip -dc FILE | binlogsql -",
        ),
        (
            0,
            b"7z\xbc\xaf\x27\x1c",
            Unsupported,
            "a 7-Zip archive; unpack it first",
        ),
        (
            0,
            b"PK\x03\x04",
            Unsupported,
            "a zip archive; unpack it first: unzip -p FILE | binlogsql -",
        ),
        (0, b"PK\x05\x06", Invalid, "an empty zip archive"),
        (
            0,
            b"Rar!\x1a\x07",
            Unsupported,
            "a RAR archive; unpack it first",
        ),
        (
            0,
            b"\xff\x06\0\0sNaPpY",
            Unsupported,
            "a framed Snappy archive; unpack it first",
        ),
        (
            0,
            b"qpress10",
            Unsupported,
            "a qpress archive; unpack it first",
        ),
        (
            0,
            b"XBSTCK01",
            Unsupported,
            "an xbstream archive; unpack it first with xbstream -x",
        ),
        (
            0,
            b"Salted__",
            Unsupported,
            "an OpenSSL-encrypted file; decrypt it first",
        ),
        (
            0,
            b"\x1f\x8b",
            Unsupported,
            "a gzip archive; unpack the outer archive first",
        ),
        (
            0,
            b"\x28\xb5\x2f\xfd",
            Unsupported,
            "a zstd archive; unpack the outer archive first",
        ),
        (
            257,
            b"ustar",
            Unsupported,
            "a tar archive; unpack it first and name the logs inside",
        ),
        (0, b"SQLite format 3\0", Invalid, "an SQLite database"),
        (0, b"PAR1", Invalid, "a Parquet file"),
        (0, b"ARROW1", Invalid, "an Arrow IPC file"),
        (0, b"Obj\x01", Invalid, "an Avro file"),
        (0, b"ORC", Invalid, "an ORC file"),
        (0, b"PGDMP", Invalid, "a PostgreSQL dump"),
        (0, b"REDIS0", Invalid, "a Redis dump"),
        (0, b"\x89PNG\r\n\x1a\n", Invalid, "a PNG image"),
        (0, b"\xff\xd8\xff", Invalid, "a JPEG image"),
        (0, b"GIF8", Invalid, "a GIF image"),
        (0, b"%PDF-", Invalid, "a PDF document"),
        (0, b"\x7fELF", Invalid, "an ELF program or library"),
        (0, b"MZ\x90\0", Invalid, "a Windows program or library"),
        (0, b"\xd4\xc3\xb2\xa1", Invalid, "a packet capture (pcap)"),
        (0, b"\x0a\x0d\x0d\x0a", Invalid, "a packet capture (pcapng)"),
        (
            0,
            b"\xff\xfe",
            Invalid,
            "UTF-16 text (PowerShell's > writes it, and destroys a binary log)",
        ),
    ]
};

const IBB: &str = "a MariaDB binary log kept by InnoDB (.ibb): pages of the engine, not events; \
                   ask the server for it with mariadb-binlog --read-from-remote-server";
const ARIA_LOG: &str = "a log of MariaDB's Aria engine (aria_log)";
const REDO: &str = "an InnoDB redo log";
const TABLESPACE: &str = "an InnoDB tablespace (ibdata, .ibd, undo)";

/// Whose fault it is, and a noun phrase that completes "this is …".
pub(super) fn describe(head: &[u8], name: &str) -> (ErrorKind, String) {
    let (kind, what) = match head.len() {
        0 if is_ibb_name(name) => (ErrorKind::Unsupported, IBB),
        0 => (ErrorKind::Truncated, "an empty file"),
        len if len < MAGIC.len() => {
            let cut = MAGIC.starts_with(head);
            let what = if cut {
                format!(
                    "only the first {len} of the 4 bytes that begin one; it was cut, or has just been created"
                )
            } else {
                format!(
                    "a file of {len} byte{}; a log begins with the 4 bytes fe 62 69 6e",
                    if len == 1 { "" } else { "s" }
                )
            };
            let kind = if cut {
                ErrorKind::Truncated
            } else {
                ErrorKind::Invalid
            };
            return (kind, what);
        }
        _ => match marked(head, name) {
            Some(found) => found,
            None if is_text(head) => {
                return (ErrorKind::Invalid, text::kind(head, name).to_owned());
            }
            None => return unknown(head, name),
        },
    };
    (kind, what.to_owned())
}

fn marked(head: &[u8], name: &str) -> Option<(ErrorKind, &'static str)> {
    // Aria's control file and MariaDB's GTID index begin alike (version 1 of either).
    if name.starts_with("aria_log_control") {
        return Some((
            ErrorKind::Invalid,
            "the control file of MariaDB's Aria engine",
        ));
    }
    if is_tablespace(head) {
        return Some((ErrorKind::Invalid, TABLESPACE));
    }
    MARKS
        .iter()
        .find(|(at, mark, ..)| head.get(*at..).is_some_and(|rest| rest.starts_with(mark)))
        .map(|&(_, _, kind, what)| (kind, what))
}

/// Page 0 of a tablespace: page number 0 at 4, type 8 (`FIL_PAGE_TYPE_FSP_HDR`) at 24, and the
/// space id twice, at 34 in the page header and at 38 in the space header (all big-endian).
fn is_tablespace(head: &[u8]) -> bool {
    head.get(4..8) == Some(&[0; 4])
        && head.get(24..26) == Some(&[0, 8])
        && head.get(34..38).is_some()
        && head.get(34..38) == head.get(38..42)
}

/// Events whose file has lost its first four bytes: the header of a format description (type 15
/// at 4, its size at 9, binlog version at 19).
fn is_headless(head: &[u8]) -> bool {
    let size = head
        .get(9..13)
        .and_then(|b| b.try_into().ok())
        .map(u32::from_le_bytes);
    head.get(4) == Some(&15)
        && size.is_some_and(|size| (76..=65_536).contains(&size))
        && head.get(19..21) == Some(&[4, 0])
}

/// `binlog-000001.ibb`
pub(in crate::source) fn is_ibb_name(name: &str) -> bool {
    name.strip_prefix("binlog-")
        .and_then(|rest| rest.strip_suffix(".ibb"))
        .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// Bytes without a mark, and not text: the name may tell.
fn unknown(head: &[u8], name: &str) -> (ErrorKind, String) {
    if is_headless(head) {
        let what = "a binary log without its first 4 bytes; put them back: \
                    (printf '\\376bin'; cat FILE) | binlogsql -";
        return (ErrorKind::Corrupt, what.to_owned());
    }
    // A preallocated .ibb is all zeros.
    if is_ibb_name(name) {
        return (ErrorKind::Unsupported, IBB.to_owned());
    }
    let named: &[(bool, &str)] = &[
        (
            name.starts_with("ib_logfile") || name.starts_with("#ib_redo"),
            REDO,
        ),
        (
            name.starts_with("ibdata") || name.ends_with(".ibd") || name.starts_with("undo_"),
            TABLESPACE,
        ),
        (name.ends_with(".dblwr"), "InnoDB's doublewrite buffer"),
        (name.ends_with(".MYD"), "the rows of a MyISAM table (.MYD)"),
        (name.starts_with("aria_log."), ARIA_LOG),
    ];
    if let Some((_, what)) = named.iter().find(|(hit, _)| *hit) {
        return (ErrorKind::Invalid, format!("{what}, by its name"));
    }
    if head.iter().all(|byte| *byte == 0) {
        let what = "zero bytes at least at its beginning: never written, or lost in a crash";
        return (ErrorKind::Corrupt, what.to_owned());
    }
    let first: Vec<String> = head.iter().take(8).map(|b| format!("{b:02x}")).collect();
    (
        ErrorKind::Invalid,
        format!(
            "something that begins with {} (a log: fe 62 69 6e)",
            first.join(" ")
        ),
    )
}

/// Text has no control characters but white space, form feed and escape; not in its first bytes,
/// that is, and few behind: a dump may quote binary values. Bytes over 7f are allowed, for the text
/// may be in any character set.
fn is_text(head: &[u8]) -> bool {
    let control =
        |byte: &&u8| !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b | 0x20..=0x7e | 0x80..);
    !head.iter().take(200).any(|byte| control(&byte))
        && head.iter().filter(control).count() <= head.len() / 16
}

mod text;
