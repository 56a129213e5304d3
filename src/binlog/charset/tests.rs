use super::*;
use proptest::prelude::*;

/// What a code is in a set: the character, or 0.
fn character(set: &Charset, bytes: &[u8]) -> u32 {
    match set.decode(bytes) {
        Ok(text) => match text.chars().collect::<Vec<_>>()[..] {
            [c] => u32::from(c),
            _ => 0, // two characters of one byte
        },
        Err(_) => 0,
    }
}

/// The four-byte code of gb18030 number `n`, counted from `lead` 30 81 30.
fn four_bytes(lead: u32, n: u32) -> Vec<u8> {
    let digits = [
        lead + n / 12600,
        0x30 + n / 1260 % 10,
        0x81 + n / 10 % 126,
        0x30 + n % 10,
    ];
    digits.map(|d| d as u8).to_vec()
}

/// Codes of a kind: 1, 2 or 3 bytes; 4: all of gb18030 in the BMP; 5: every 97th beyond it.
fn codes(kind: u8) -> Box<dyn Iterator<Item = Vec<u8>>> {
    match kind {
        1 => Box::new((0..=255u8).map(|b| vec![b])),
        2 => Box::new((0x8000..=0xffffu16).map(|c| c.to_be_bytes().to_vec())),
        3 => Box::new((0x8000..=0xffffu16).map(|c| [&[0x8f], &c.to_be_bytes()[..]].concat())),
        4 => Box::new((0..50400).map(|n| four_bytes(0x81, n))),
        _ => Box::new((0..14000).map(|n| four_bytes(0x90, n * 97))),
    }
}

type Answers = &'static [(u8, usize, u32)];

/// Kind of codes, how many of them are characters, and the CRC32 of the characters as 4-byte
/// big-endian integers (0 for none), computed from what MySQL 9.7 answers to
/// `SELECT HEX(CONVERT(CONVERT(X'…' USING set) USING utf32))`.
#[rustfmt::skip]
const SERVER: &[(&str, Answers)] = &[
    ("armscii8", &[(1, 255, 0x10a30420)]),
    ("ascii", &[(1, 127, 0xad86e8d7)]),
    ("big5", &[(1, 127, 0xad86e8d7), (2, 13710, 0xe56e95fb)]),
    ("cp1250", &[(1, 250, 0xe4d85c1b)]),
    ("cp1251", &[(1, 254, 0x8102cd9b)]),
    ("cp1256", &[(1, 247, 0x64d28026)]),
    ("cp1257", &[(1, 243, 0x5ffd60f7)]),
    ("cp850", &[(1, 255, 0x48938e20)]),
    ("cp852", &[(1, 255, 0x1787f7b6)]),
    ("cp866", &[(1, 255, 0x9dd9ed0d)]),
    ("cp932", &[(1, 190, 0xe873b65c), (2, 9604, 0xaddbfc0b)]),
    ("dec8", &[(1, 241, 0x7dc86215)]),
    ("eucjpms", &[(1, 127, 0xad86e8d7), (2, 7965, 0x826523fc), (3, 7113, 0xeaaa1d04)]),
    ("euckr", &[(1, 127, 0xad86e8d7), (2, 17048, 0x15d85bb8)]),
    ("gb18030", &[(1, 127, 0xad86e8d7), (2, 23940, 0x68df5c31), (4, 39420, 0x3dda73f2), (5, 10811, 0x03315c31)]),
    ("gb2312", &[(1, 127, 0xad86e8d7), (2, 7445, 0xa5cd3e51)]),
    ("gbk", &[(1, 127, 0xad86e8d7), (2, 21791, 0x88f03f26)]),
    ("geostd8", &[(1, 214, 0x9d9798a9)]),
    ("greek", &[(1, 249, 0x31091d18)]),
    ("hebrew", &[(1, 219, 0x77f694f5)]),
    ("hp8", &[(1, 254, 0x60d98bac)]),
    ("keybcs2", &[(1, 255, 0xbddecc52)]),
    ("koi8r", &[(1, 255, 0xe204a4d2)]),
    ("koi8u", &[(1, 255, 0x43273966)]),
    ("latin1", &[(1, 255, 0xd2082a94)]),
    ("latin2", &[(1, 255, 0x01b17166)]),
    ("latin5", &[(1, 255, 0xf87b73e6)]),
    ("latin7", &[(1, 255, 0x4c20c96a)]),
    ("macce", &[(1, 255, 0xb628228c)]),
    ("macroman", &[(1, 255, 0xc047aab6)]),
    ("sjis", &[(1, 190, 0xe873b65c), (2, 6879, 0xa31215be)]),
    ("swe7", &[(1, 126, 0xd1be6a86)]),
    ("tis620", &[(1, 246, 0x76084c4b)]),
    ("ujis", &[(1, 127, 0xad86e8d7), (2, 7882, 0x56e8706b), (3, 7007, 0x8dfcfe24)]),
];

#[test]
fn every_code_of_every_set_is_the_servers_character() {
    for &(name, kinds) in SERVER {
        let set = CHARSETS.iter().find(|set| set.name == name).unwrap();
        for &(kind, count, crc) in kinds {
            let chars: Vec<u32> = codes(kind).map(|code| character(set, &code)).collect();
            let found = chars.iter().filter(|&&c| c != 0).count();
            let mut hash = crc32fast::Hasher::new();
            for c in chars {
                hash.update(&c.to_be_bytes());
            }
            assert_eq!(
                (found, hash.finalize()),
                (count, crc),
                "{name}, kind {kind}"
            );
        }
    }
    // The others are Unicode or have no characters.
    assert_eq!(SERVER.len() + 7, CHARSETS.len());
}

#[test]
fn collations_find_their_set() {
    for (id, name) in [
        (8, "latin1"),
        (33, "utf8mb3"),
        (45, "utf8mb4"),
        (63, "binary"),
        (28, "gbk"),
        (76, "utf8mb3"),
        (255, "utf8mb4"),
        (248, "gb18030"),
        (323, "utf8mb4"),
        (576, "utf8mb3"),  // utf8mb3_croatian_ci of MariaDB
        (738, "utf32"),    // utf32_thai_520_w2
        (1032, "latin1"),  // latin1_swedish_nopad_ci
        (1270, "utf8mb4"), // utf8mb4_unicode_520_nopad_ci
        (2048, "utf8mb3"), // utf8mb3_uca1400_ai_ci
        (2304, "utf8mb4"), // utf8mb4_uca1400_ai_ci
        (3271, "utf32"),
    ] {
        assert_eq!(charset_of(id).map(|c| c.name), Some(name), "{id}");
    }
    for id in [
        0,
        17,
        100,
        125,
        152,
        272,
        324,
        575,
        1024,
        1041,
        1400,
        3328,
        u16::MAX,
    ] {
        assert!(charset_of(id).is_none(), "{id}");
    }
}

#[test]
fn buglog_039_gbk_and_041_latin1_text() {
    let gbk = GBK.decode(&[0xb2, 0xe2, 0xca, 0xd4]).unwrap();
    assert_eq!(gbk, "测试");
    assert_eq!(LATIN1.decode(b"\x80\x81caf\xe9").unwrap(), "€\u{81}café");
    assert_eq!(SJIS.decode(b"\x83\x5c\xb1").unwrap(), "ソｱ");
    assert_eq!(
        GB18030
            .decode(b"a\x84\x31\xa4\x37\x90\x30\x81\x30")
            .unwrap(),
        "a\u{fffd}\u{10000}"
    );
    assert_eq!(EUCJPMS.decode(b"\x8f\xf4\xfe\x8e\xb1").unwrap(), "黑ｱ");
}

#[test]
fn unicode_in_two_and_four_bytes() {
    assert_eq!(UCS2.decode(b"\x20\xac\0a").unwrap(), "€a");
    assert_eq!(UTF16.decode(b"\xd8\x3d\xde\x00").unwrap(), "😀");
    assert_eq!(UTF16LE.decode(b"\x3d\xd8\x00\xde").unwrap(), "😀");
    assert_eq!(UTF32.decode(b"\0\x01\xf6\0").unwrap(), "😀");
    let bad = |set: &Charset, bytes: &[u8]| set.decode(bytes).unwrap_err().offset;
    assert_eq!(bad(&UCS2, b"\0a\xd8\x3d\xde\x00"), 2);
    assert_eq!(bad(&UTF16, b"\0a\xd8\x3d"), 2);
    assert_eq!(bad(&UTF16, b"\0a\0"), 2);
    assert_eq!(bad(&UTF32, b"\0\0\0a\0\x11\0\0"), 4);
    assert_eq!(bad(&UTF32, b"\0\0\0a\0"), 4);
}

#[test]
fn buglog_043_bytes_that_are_no_character_are_kept() {
    // "query text with d6 c6 db": latin1 has characters for them, UTF-8 has not.
    let bytes = b"select '\xd6\xc6\xdb'";
    assert_eq!(Text::of(bytes, charset_of(8)).text, "select 'ÖÆÛ'");
    let text = Text::utf8(bytes);
    assert_eq!(text.text, r"select '\xd6\xc6\xdb'");
    assert_eq!(text.undecodable_at, Some(8));
    let error = UTF8MB4.decode(bytes).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the bytes at offset 8 are no utf8mb4 character"
    );
    // A lead byte without its trail is one byte; what follows is read again.
    let text = GBK.decode_lossless(b"\xb2\xe2\xca'\xff");
    assert_eq!(
        (text.text.as_ref(), text.undecodable_at),
        (r"测\xca'\xff", Some(2))
    );
    // `binary` says nothing of the text.
    assert_eq!(Text::of("é".as_bytes(), charset_of(63)).text, "é");
    assert!(BINARY.decode("é".as_bytes()).is_err());
}

#[test]
fn ascii_and_utf8_are_borrowed() {
    for set in [&LATIN1, &GBK, &UTF8MB3, &UTF8MB4, &BINARY] {
        assert!(
            matches!(set.decode(b"select 1"), Ok(Cow::Borrowed(_))),
            "{set:?}"
        );
    }
    assert!(matches!(
        UTF8MB4.decode("é".as_bytes()),
        Ok(Cow::Borrowed("é"))
    ));
    assert_eq!(SWE7.decode(b"[}").unwrap(), "Äå");
}

proptest! {
    #[test]
    fn any_bytes_in_any_set(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        for set in CHARSETS {
            let text = set.decode_lossless(&bytes);
            match set.decode(&bytes) {
                Ok(exact) => prop_assert_eq!(Text { text: exact, undecodable_at: None }, text),
                Err(error) => {
                    prop_assert_eq!(Some(error.offset), text.undecodable_at);
                    prop_assert!(set.decode(&bytes[..error.offset]).is_ok());
                }
            }
        }
    }
}

#[test]
fn collations_by_name() {
    for (name, set) in [
        ("utf8mb4", "utf8mb4"),
        ("UTF8MB4_ja_0900_as_cs_ks", "utf8mb4"),
        ("utf8", "utf8mb3"),
        ("utf8_general_ci", "utf8mb3"),
        ("utf8mb3_uca1400_ai_ci", "utf8mb3"),
        ("latin1_swedish_ci", "latin1"),
        ("utf16le_bin", "utf16le"),
        ("binary", "binary"),
        ("geostd8", "geostd8"),
    ] {
        let charset = collation_named(name).and_then(charset_of).unwrap();
        assert_eq!(charset.name, set, "{name}");
    }
    for set in CHARSETS {
        let found = collation_named(set.name).and_then(charset_of);
        assert_eq!(found.map(|found| found.name), Some(set.name));
    }
    for name in ["", "klingon", "uca1400_ai_ci", "utf9_bin"] {
        assert_eq!(collation_named(name), None, "{name}");
    }
}
