//! UUID, INET4 and INET6 of MariaDB.
//!
//! A log has them as BINARY of 16, 4 and 16 bytes, and no table map tells them from it; only the
//! declaration of a column does.
//!
//! All are in the order of their text, UUID too: tables store most UUIDs from their end on
//! (MDEV-29959), but logs do not. Source: MariaDB `sql/sql_type_fixedbin.h`,
//! `plugin/type_inet/sql_type_inet.cc`; UUIDs of versions 0, 1, 4, 6 and 7 as 10.11.19 logs them.

use std::fmt::Write;

/// Writes a UUID: `01890a5d-ac96-774b-bcce-b302099a8057`.
pub fn write_uuid(bytes: [u8; 16], out: &mut String) {
    for (n, byte) in bytes.iter().enumerate() {
        if matches!(n, 4 | 6 | 8 | 10) {
            out.push('-');
        }
        let _ = write!(out, "{byte:02x}");
    }
}

/// Writes an INET4: `192.0.2.7`.
pub fn write_inet4([a, b, c, d]: [u8; 4], out: &mut String) {
    let _ = write!(out, "{a}.{b}.{c}.{d}");
}

/// Writes an INET6 as the server does: `2001:db8::ff00:42:8329`, `::ffff:192.0.2.7`, `::192.0.2.7`.
///
/// The longest run of zeros is left out, even where it is a single one.
pub fn write_inet6(bytes: [u8; 16], out: &mut String) {
    let mut words = [0u16; 8];
    for (word, pair) in words.iter_mut().zip(bytes.chunks_exact(2)) {
        *word = u16::from_be_bytes(pair.try_into().unwrap_or_default());
    }
    // Begin and length of the longest run of zeros, the first of them.
    let (mut gap, mut run) = ((0usize, 0usize), (0usize, 0usize));
    for (n, &word) in words.iter().enumerate() {
        run = match (word, run) {
            (0, (_, 0)) => (n, 1),
            (0, (begin, len)) => (begin, len.saturating_add(1)),
            _ => (0, 0),
        };
        if run.1 > gap.1 {
            gap = run;
        }
    }
    let (begin, len) = gap;
    let end = begin.saturating_add(len);
    let [.., fifth, _, _] = words;
    let has_inet4 = begin == 0 && (len == 6 || len == 5 && fifth == 0xffff);
    for (n, word) in words.iter().enumerate() {
        if len > 0 && n == begin {
            out.push_str(if n == 0 { "::" } else { ":" });
        }
        if (begin..end).contains(&n) {
            continue;
        }
        if n == 6 && has_inet4 {
            let [.., a, b, c, d] = bytes;
            return write_inet4([a, b, c, d], out);
        }
        let _ = write!(out, "{word:x}");
        if n < 7 {
            out.push(':');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binlog::event::testing::hex;

    #[test]
    fn buglog_46_uuid_of_mariadb() {
        for (stored, text) in [
            (
                "a0eebc999c0b1ef8bb6d6bb9bd380a00",
                "a0eebc99-9c0b-1ef8-bb6d-6bb9bd380a00",
            ),
            (
                "01890a5dac96774bbcceb302099a8057",
                "01890a5d-ac96-774b-bcce-b302099a8057",
            ),
        ] {
            let mut out = String::new();
            write_uuid(hex(stored).try_into().unwrap(), &mut out);
            assert_eq!(out, text);
        }
    }

    #[test]
    fn inet6_as_mariadb_prints_it() {
        for (bytes, text) in [
            ("20010db8000000000000ff0000428329", "2001:db8::ff00:42:8329"),
            ("00000000000000000000000000000000", "::"),
            ("00000000000000000000000000000001", "::1"),
            ("00010000000000000000000000000000", "1::"),
            ("00000000000000000000ffffc0000207", "::ffff:192.0.2.7"),
            ("000000000000000000000000c0000207", "::192.0.2.7"),
            ("00010000000200030004000500060007", "1::2:3:4:5:6:7"),
            ("00000001000200030004000500060007", "::1:2:3:4:5:6:7"),
            ("00010002000300040005000600070000", "1:2:3:4:5:6:7::"),
            ("00010000000000020000000000000003", "1:0:0:2::3"),
            ("00010002000300040005000600070008", "1:2:3:4:5:6:7:8"),
        ] {
            let mut out = String::new();
            write_inet6(hex(bytes).try_into().unwrap(), &mut out);
            assert_eq!(out, text);
        }
    }
}
