//! Collation identifiers → character sets.
//!
//! Source: `information_schema.collations` of MySQL 9.7 and of MariaDB 11.8, which do not contradict
//! each other anywhere.

use super::Charset;
use super::sets::*;

/// First identifier of MariaDB's UCA 14.0.0 collations: a block of 256 for each character set.
const UCA1400: u16 = 2048;
const UCA1400_BLOCK: u16 = 256;
/// MariaDB gives the NOPAD twin of a collation the identifier of the collation plus this.
const NOPAD: u16 = 1024;

/// The character set of a collation; `None` for an identifier that no server gives.
pub(super) fn charset_of(id: u16) -> Option<&'static Charset> {
    if let Some(at) = id.checked_sub(UCA1400) {
        let block = [&UTF8MB3, &UTF8MB4, &UCS2, &UTF16, &UTF32];
        return block.get(usize::from(at / UCA1400_BLOCK)).copied();
    }
    let id = if id >= NOPAD { id & !NOPAD } else { id };
    let at = RANGES.partition_point(|&(_, last, _)| last < id);
    let &(first, _, charset) = RANGES.get(at)?;
    (first <= id).then_some(charset)
}

/// Identifier of a collation of the character set that a name of a set or collation means, in any
/// case; `None` for a name of neither.
///
/// A collation's name begins with that of its set, so that `utf8mb4_ja_0900_as_cs` gives some
/// collation of utf8mb4. `utf8` is utf8mb3, as it has been for all servers so far.
pub(super) fn collation_named(name: &str) -> Option<u16> {
    let name = name.to_ascii_lowercase();
    let set = name.split('_').next()?;
    let set = if set == "utf8" { UTF8MB3.name } else { set };
    let ranges = RANGES.iter().find(|(.., charset)| charset.name == set);
    ranges.map(|&(first, ..)| first)
}

/// First and last identifier of a run, in ascending order.
#[rustfmt::skip]
static RANGES: &[(u16, u16, &Charset)] = &[
    (1, 1, &BIG5), (2, 2, &LATIN2), (3, 3, &DEC8), (4, 4, &CP850), (5, 5, &LATIN1), (6, 6, &HP8),
    (7, 7, &KOI8R), (8, 8, &LATIN1), (9, 9, &LATIN2), (10, 10, &SWE7), (11, 11, &ASCII),
    (12, 12, &UJIS), (13, 13, &SJIS), (14, 14, &CP1251), (15, 15, &LATIN1), (16, 16, &HEBREW),
    (18, 18, &TIS620), (19, 19, &EUCKR), (20, 20, &LATIN7), (21, 21, &LATIN2), (22, 22, &KOI8U),
    (23, 23, &CP1251), (24, 24, &GB2312), (25, 25, &GREEK), (26, 26, &CP1250), (27, 27, &LATIN2),
    (28, 28, &GBK), (29, 29, &CP1257), (30, 30, &LATIN5), (31, 31, &LATIN1), (32, 32, &ARMSCII8),
    (33, 33, &UTF8MB3), (34, 34, &CP1250), (35, 35, &UCS2), (36, 36, &CP866), (37, 37, &KEYBCS2),
    (38, 38, &MACCE), (39, 39, &MACROMAN), (40, 40, &CP852), (41, 42, &LATIN7), (43, 43, &MACCE),
    (44, 44, &CP1250), (45, 46, &UTF8MB4), (47, 49, &LATIN1), (50, 52, &CP1251),
    (53, 53, &MACROMAN), (54, 55, &UTF16), (56, 56, &UTF16LE), (57, 57, &CP1256), (58, 59, &CP1257),
    (60, 61, &UTF32), (62, 62, &UTF16LE), (63, 63, &BINARY), (64, 64, &ARMSCII8), (65, 65, &ASCII),
    (66, 66, &CP1250), (67, 67, &CP1256), (68, 68, &CP866), (69, 69, &DEC8), (70, 70, &GREEK),
    (71, 71, &HEBREW), (72, 72, &HP8), (73, 73, &KEYBCS2), (74, 74, &KOI8R), (75, 75, &KOI8U),
    (76, 76, &UTF8MB3), (77, 77, &LATIN2), (78, 78, &LATIN5), (79, 79, &LATIN7), (80, 80, &CP850),
    (81, 81, &CP852), (82, 82, &SWE7), (83, 83, &UTF8MB3), (84, 84, &BIG5), (85, 85, &EUCKR),
    (86, 86, &GB2312), (87, 87, &GBK), (88, 88, &SJIS), (89, 89, &TIS620), (90, 90, &UCS2),
    (91, 91, &UJIS), (92, 93, &GEOSTD8), (94, 94, &LATIN1), (95, 96, &CP932), (97, 98, &EUCJPMS),
    (99, 99, &CP1250), (101, 124, &UTF16), (128, 151, &UCS2), (159, 159, &UCS2), (160, 183, &UTF32),
    (192, 215, &UTF8MB3), (223, 223, &UTF8MB3), (224, 247, &UTF8MB4), (248, 250, &GB18030),
    (255, 271, &UTF8MB4), (273, 275, &UTF8MB4), (277, 294, &UTF8MB4), (296, 298, &UTF8MB4),
    (300, 300, &UTF8MB4), (303, 323, &UTF8MB4), (576, 579, &UTF8MB3), (608, 611, &UTF8MB4),
    (640, 642, &UCS2), (672, 674, &UTF16), (736, 738, &UTF32),
];
