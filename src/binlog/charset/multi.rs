//! The character sets of East Asia: what two, three or four bytes mean.
//!
//! The tables of the Encoding Standard (`encoding_rs`) serve as the base. What the server maps
//! otherwise, or not at all, stands here as runs.
//!
//! Source: `CONVERT(CONVERT(X'8140' USING gbk) USING utf32)` for every pair of bytes from 8000 on,
//! behind 8F for the sets of three bytes, and for the BMP part of gb18030's four bytes, on MySQL 9.7
//! and MariaDB 11.8, which agree. A code for which the server gives `?` or U+FFFD is no character here.

use encoding_rs::{
    BIG5_INIT, EUC_JP_INIT, EUC_KR_INIT, Encoding, GB18030_INIT, GBK_INIT, SHIFT_JIS_INIT,
};
use std::sync::OnceLock;

/// A set whose characters have one byte below 0x80 and more from there on.
pub(super) struct Multi {
    /// Characters of two bytes.
    two: Plane,
    /// Characters of two bytes behind 8F.
    three: Option<Plane>,
    /// Characters of four bytes, whose second is a digit.
    four: Option<&'static Encoding>,
    /// a1–df are half-width katakana by themselves.
    katakana: bool,
}

/// First and last code of a run, and the character of the first, from which the others count up;
/// 0: the codes are no characters.
type Run = (u16, u16, u16);

/// All codes of two bytes.
struct Plane {
    base: &'static Encoding,
    /// What stands before the two bytes.
    prefix: &'static [u8],
    /// First and last of the bytes that begin a character.
    leads: &'static [(u8, u8)],
    /// The first byte that can end one.
    min_trail: u8,
    runs: &'static [Run],
    /// A code, and the characters from it on; the last byte counts up.
    words: &'static [(u16, &'static str)],
    /// Characters of the codes from 8000 on, 0 where there is none: 64 KiB, made at the first use.
    table: OnceLock<Box<[u16]>>,
}

const FIRST_CODE: u16 = 0x8000;
const FIRST_KATAKANA: u32 = 0xff61;

impl Multi {
    /// The first character of `rest`, which begins with a byte from 0x80 on, and its length; or how
    /// many bytes are not one.
    #[inline]
    pub(super) fn next(&self, rest: &[u8]) -> (usize, Option<char>) {
        const BAD: (usize, Option<char>) = (1, None);
        let [lead, trail @ ..] = rest else {
            return BAD;
        };
        if self.katakana && (0xa1..=0xdf).contains(lead) {
            let at = u32::from(*lead).saturating_sub(0xa1);
            return (1, char::from_u32(FIRST_KATAKANA.saturating_add(at)));
        }
        let (len, c) = match (trail, &self.three, self.four) {
            ([b'0'..=b'9', ..], _, Some(base)) => (4, rest.get(..4).and_then(|b| one(base, b))),
            ([a, b, ..], Some(three), _) if *lead == 0x8f => (3, three.get(*a, *b)),
            ([a, ..], _, _) => (2, self.two.get(*lead, *a)),
            ([], _, _) => return BAD,
        };
        if c.is_some() { (len, c) } else { BAD }
    }
}

impl Plane {
    #[inline]
    fn get(&self, lead: u8, trail: u8) -> Option<char> {
        let table = self.table.get_or_init(|| self.build());
        let at = u16::from_be_bytes([lead, trail]).checked_sub(FIRST_CODE)?;
        match table.get(usize::from(at))? {
            0 => None,
            &c => char::from_u32(u32::from(c)),
        }
    }

    #[cold]
    fn build(&self) -> Box<[u16]> {
        (FIRST_CODE..=u16::MAX)
            .map(|code| self.character(code))
            .collect()
    }

    fn character(&self, code: u16) -> u16 {
        let [lead, trail] = code.to_be_bytes();
        let begins = self
            .leads
            .iter()
            .any(|&(first, last)| (first..=last).contains(&lead));
        if !begins || trail < self.min_trail {
            return 0;
        }
        for &(start, words) in self.words {
            let at = code.checked_sub(start).map(usize::from);
            if let Some(c) = at.and_then(|at| words.chars().nth(at)) {
                return u16::try_from(u32::from(c)).unwrap_or(0);
            }
        }
        for &(first, last, c) in self.runs {
            if (first..=last).contains(&code) {
                return if c == 0 {
                    0
                } else {
                    c.saturating_add(code.saturating_sub(first))
                };
            }
        }
        let bytes = [self.prefix, &[lead, trail]].concat();
        let c = one(self.base, &bytes).map_or(0, u32::from);
        u16::try_from(c).unwrap_or(0)
    }
}

/// The one character of `bytes`.
fn one(base: &'static Encoding, bytes: &[u8]) -> Option<char> {
    let text = base.decode_without_bom_handling_and_without_replacement(bytes)?;
    let mut chars = text.chars();
    chars.next().filter(|_| chars.next().is_none())
}

const fn plane(
    base: &'static Encoding,
    prefix: &'static [u8],
    leads: &'static [(u8, u8)],
    runs: &'static [Run],
) -> Plane {
    Plane {
        base,
        prefix,
        leads,
        min_trail: 0x40,
        runs,
        words: &[],
        table: OnceLock::new(),
    }
}

/// A set of two-byte characters only.
const fn two(base: &'static Encoding, leads: &'static [(u8, u8)], runs: &'static [Run]) -> Multi {
    Multi {
        two: plane(base, &[], leads, runs),
        three: None,
        four: None,
        katakana: false,
    }
}

/// The same with half-width katakana.
const fn shift_jis(leads: &'static [(u8, u8)], runs: &'static [Run]) -> Multi {
    let mut set = two(&SHIFT_JIS_INIT, leads, runs);
    set.katakana = true;
    set
}

pub(super) static BIG5: Multi = two(&BIG5_INIT, &[(0xa1, 0xc7), (0xc9, 0xf9)], BIG5_RUNS);
pub(super) static GBK: Multi = two(&GBK_INIT, &[(0x81, 0xfe)], GBK_RUNS);
pub(super) static GB2312: Multi = {
    let mut set = two(&GBK_INIT, &[(0xa1, 0xa9), (0xb0, 0xf7)], GB2312_RUNS);
    set.two.min_trail = 0xa1;
    set
};
pub(super) static GB18030: Multi = {
    let mut set = two(&GB18030_INIT, &[(0x81, 0xfe)], GB18030_RUNS);
    set.four = Some(&GB18030_INIT);
    set
};
pub(super) static EUCKR: Multi = two(&EUC_KR_INIT, &[(0x81, 0xc8), (0xca, 0xfd)], &[]);
pub(super) static SJIS: Multi = shift_jis(&[(0x81, 0x84), (0x88, 0x9f), (0xe0, 0xea)], SJIS_RUNS);
pub(super) static CP932: Multi = shift_jis(
    &[
        (0x81, 0x84),
        (0x87, 0x9f),
        (0xe0, 0xea),
        (0xed, 0xee),
        (0xf0, 0xfc),
    ],
    &[],
);
pub(super) static UJIS: Multi = Multi {
    two: plane(
        &EUC_JP_INIT,
        &[],
        &[(0x8e, 0x8e), (0xa1, 0xa8), (0xb0, 0xfe)],
        UJIS_RUNS,
    ),
    three: Some(plane(
        &EUC_JP_INIT,
        &[0x8f],
        &[
            (0xa2, 0xa2),
            (0xa6, 0xa7),
            (0xa9, 0xab),
            (0xb0, 0xed),
            (0xf5, 0xfe),
        ],
        UJIS_RUNS_3,
    )),
    four: None,
    katakana: false,
};
pub(super) static EUCJPMS: Multi = Multi {
    two: plane(
        &EUC_JP_INIT,
        &[],
        &[(0x8e, 0x8e), (0xa1, 0xa8), (0xad, 0xad), (0xb0, 0xfe)],
        EUCJPMS_RUNS,
    ),
    three: Some({
        let mut plane = plane(
            &EUC_JP_INIT,
            &[0x8f],
            &[
                (0xa2, 0xa2),
                (0xa6, 0xa7),
                (0xa9, 0xab),
                (0xb0, 0xed),
                (0xf3, 0xfe),
            ],
            EUCJPMS_RUNS_3,
        );
        plane.words = EUCJPMS_WORDS_3;
        plane
    }),
    four: None,
    katakana: false,
};

#[rustfmt::skip]
const BIG5_RUNS: &[Run] = &[
    (0xa145, 0xa145, 0x2022), (0xa14e, 0xa14e, 0xff64), (0xa15a, 0xa15a, 0x0000),
    (0xa1c2, 0xa1c2, 0x203e), (0xa1c3, 0xa1c3, 0x0000), (0xa1c5, 0xa1c5, 0x0000),
    (0xa1e3, 0xa1e3, 0x223c), (0xa1f2, 0xa1f2, 0x2641), (0xa1f3, 0xa1f3, 0x2609),
    (0xa1fe, 0xa240, 0x0000), (0xa241, 0xa241, 0xff0f), (0xa242, 0xa242, 0xff3c),
    (0xa244, 0xa244, 0x00a5), (0xa246, 0xa247, 0x00a2), (0xa2cc, 0xa2cc, 0x0000),
    (0xa2ce, 0xa2ce, 0x0000), (0xa3c0, 0xa3e1, 0x0000), (0xc6a1, 0xc6a1, 0x30fe),
    (0xc6a2, 0xc6a3, 0x309d), (0xc6a4, 0xc6a4, 0x3005), (0xc6a5, 0xc6f7, 0x3041),
    (0xc6f8, 0xc6fe, 0x30a1), (0xc740, 0xc77e, 0x30a8), (0xc7a1, 0xc7b0, 0x30e7),
    (0xc7b1, 0xc7b2, 0x0414), (0xc7b3, 0xc7b3, 0x0401), (0xc7b4, 0xc7ba, 0x0416),
    (0xc7bb, 0xc7cd, 0x0423), (0xc7ce, 0xc7ce, 0x0451), (0xc7cf, 0xc7e8, 0x0436),
    (0xc7e9, 0xc7f2, 0x2460), (0xc7f3, 0xc7fc, 0x2474), (0xc7fd, 0xc7fe, 0x0000),
    (0xf9dd, 0xf9fe, 0x0000),
];

#[rustfmt::skip]
const GBK_RUNS: &[Run] = &[
    (0xa140, 0xa1a0, 0x0000), (0xa240, 0xa2a0, 0x0000), (0xa2ab, 0xa2b0, 0x0000),
    (0xa2e3, 0xa2e4, 0x0000), (0xa2ef, 0xa2f0, 0x0000), (0xa2fd, 0xa3a0, 0x0000),
    (0xa440, 0xa4a0, 0x0000), (0xa4f4, 0xa5a0, 0x0000), (0xa5f7, 0xa6a0, 0x0000),
    (0xa6b9, 0xa6c0, 0x0000), (0xa6d9, 0xa6df, 0x0000), (0xa6ec, 0xa6ed, 0x0000),
    (0xa6f3, 0xa6f3, 0x0000), (0xa6f6, 0xa7a0, 0x0000), (0xa7c2, 0xa7d0, 0x0000),
    (0xa7f2, 0xa7fe, 0x0000), (0xa896, 0xa8a0, 0x0000), (0xa8bc, 0xa8bc, 0x0000),
    (0xa8bf, 0xa8bf, 0x0000), (0xa8c1, 0xa8c4, 0x0000), (0xa8ea, 0xa8fe, 0x0000),
    (0xa958, 0xa958, 0x0000), (0xa95b, 0xa95b, 0x0000), (0xa95d, 0xa95f, 0x0000),
    (0xa989, 0xa995, 0x0000), (0xa997, 0xa9a3, 0x0000), (0xa9f0, 0xa9fe, 0x0000),
    (0xaaa1, 0xaafe, 0x0000), (0xaba1, 0xabfe, 0x0000), (0xaca1, 0xacfe, 0x0000),
    (0xada1, 0xadfe, 0x0000), (0xaea1, 0xaefe, 0x0000), (0xafa1, 0xaffe, 0x0000),
    (0xd7fa, 0xd7fe, 0x0000), (0xf8a1, 0xf8fe, 0x0000), (0xf9a1, 0xf9fe, 0x0000),
    (0xfaa1, 0xfafe, 0x0000), (0xfba1, 0xfbfe, 0x0000), (0xfca1, 0xfcfe, 0x0000),
    (0xfda1, 0xfdfe, 0x0000), (0xfe50, 0xfefe, 0x0000),
];

#[rustfmt::skip]
const GB2312_RUNS: &[Run] = &[
    (0xa1a4, 0xa1a4, 0x30fb), (0xa1aa, 0xa1aa, 0x2015), (0xa2a1, 0xa2b0, 0x0000),
    (0xa2e3, 0xa2e4, 0x0000), (0xa2ef, 0xa2f0, 0x0000), (0xa2fd, 0xa2fe, 0x0000),
    (0xa4f4, 0xa4fe, 0x0000), (0xa5f7, 0xa5fe, 0x0000), (0xa6b9, 0xa6c0, 0x0000),
    (0xa6d9, 0xa6fe, 0x0000), (0xa7c2, 0xa7d0, 0x0000), (0xa7f2, 0xa7fe, 0x0000),
    (0xa8bb, 0xa8c4, 0x0000), (0xa8ea, 0xa9a3, 0x0000), (0xa9f0, 0xa9fe, 0x0000),
    (0xd7fa, 0xd7fe, 0x0000),
];

#[rustfmt::skip]
const GB18030_RUNS: &[Run] = &[
    (0xa3a0, 0xa3a0, 0xe5e5), (0xa6d9, 0xa6df, 0xe78d), (0xa6ec, 0xa6ed, 0xe794),
    (0xa6f3, 0xa6f3, 0xe796), (0xfe59, 0xfe59, 0xe81e), (0xfe61, 0xfe61, 0xe826),
    (0xfe66, 0xfe67, 0xe82b), (0xfe6d, 0xfe6d, 0xe832), (0xfe7e, 0xfe7e, 0xe843),
    (0xfe90, 0xfe90, 0xe854), (0xfea0, 0xfea0, 0xe864),
];

#[rustfmt::skip]
const SJIS_RUNS: &[Run] = &[
    (0x815f, 0x815f, 0x005c), (0x8160, 0x8160, 0x301c), (0x8161, 0x8161, 0x2016),
    (0x817c, 0x817c, 0x2212), (0x8191, 0x8192, 0x00a2), (0x81ca, 0x81ca, 0x00ac),
];

// From f5 on the codes are for private use.
#[rustfmt::skip]
const UJIS_RUNS: &[Run] = &[
    (0xa1c0, 0xa1c0, 0x005c), (0xa1c1, 0xa1c1, 0x301c), (0xa1c2, 0xa1c2, 0x2016),
    (0xa1dd, 0xa1dd, 0x2212), (0xa1f1, 0xa1f2, 0x00a2), (0xa2cc, 0xa2cc, 0x00ac),
    (0xf5a1, 0xf5fe, 0xe000), (0xf6a1, 0xf6fe, 0xe05e), (0xf7a1, 0xf7fe, 0xe0bc),
    (0xf8a1, 0xf8fe, 0xe11a), (0xf9a1, 0xf9fe, 0xe178), (0xfaa1, 0xfafe, 0xe1d6),
    (0xfba1, 0xfbfe, 0xe234), (0xfca1, 0xfcfe, 0xe292), (0xfda1, 0xfdfe, 0xe2f0),
    (0xfea1, 0xfefe, 0xe34e),
];

#[rustfmt::skip]
const UJIS_RUNS_3: &[Run] = &[
    (0xa2b7, 0xa2b7, 0x007e), (0xf5a1, 0xf5fe, 0xe3ac), (0xf6a1, 0xf6fe, 0xe40a),
    (0xf7a1, 0xf7fe, 0xe468), (0xf8a1, 0xf8fe, 0xe4c6), (0xf9a1, 0xf9fe, 0xe524),
    (0xfaa1, 0xfafe, 0xe582), (0xfba1, 0xfbfe, 0xe5e0), (0xfca1, 0xfcfe, 0xe63e),
    (0xfda1, 0xfdfe, 0xe69c), (0xfea1, 0xfefe, 0xe6fa),
];

#[rustfmt::skip]
const EUCJPMS_RUNS: &[Run] = &[
    (0xf5a1, 0xf5fe, 0xe000), (0xf6a1, 0xf6fe, 0xe05e), (0xf7a1, 0xf7fe, 0xe0bc),
    (0xf8a1, 0xf8fe, 0xe11a), (0xf9a1, 0xf9fe, 0xe178), (0xfaa1, 0xfafe, 0xe1d6),
    (0xfba1, 0xfbfe, 0xe234), (0xfca1, 0xfcfe, 0xe292), (0xfda1, 0xfdfe, 0xe2f0),
    (0xfea1, 0xfefe, 0xe34e),
];

#[rustfmt::skip]
const EUCJPMS_RUNS_3: &[Run] = &[
    (0xa2c3, 0xa2c3, 0xffe4), (0xf5a1, 0xf5fe, 0xe3ac), (0xf6a1, 0xf6fe, 0xe40a),
    (0xf7a1, 0xf7fe, 0xe468), (0xf8a1, 0xf8fe, 0xe4c6), (0xf9a1, 0xf9fe, 0xe524),
    (0xfaa1, 0xfafe, 0xe582), (0xfba1, 0xfbfe, 0xe5e0), (0xfca1, 0xfcfe, 0xe63e),
    (0xfda1, 0xfdfe, 0xe69c), (0xfea1, 0xfefe, 0xe6fa),
];

/// The extensions of NEC and IBM.
#[rustfmt::skip]
const EUCJPMS_WORDS_3: &[(u16, &str)] = &[
    (0xf3f3, "ⅰⅱⅲⅳⅴⅵⅶⅷⅸⅹⅠⅡ"),
    (0xf4a1, "ⅢⅣⅤⅥⅦⅧⅨⅩ＇＂㈱№℡炻仼僴凬匇匤\u{fa0e}咊坙\u{fa0f}\u{fa10}增寬峵嵓\u{fa11}德悅愠敎昻晥\u{fa12}\u{f929}栁\
         \u{fa13}\u{fa14}橫櫢淸淲瀨\u{fa15}\u{fa16}甁皂皞\u{fa17}礰\u{fa18}\u{fa19}\u{fa1a}\u{fa1b}竧\
         \u{fa1c}\u{fa1d}綠緖\u{fa1e}荢\u{fa1f}薰\u{fa20}\u{fa21}蠇\u{fa22}譿賴赶\u{fa23}\u{fa24}\
         \u{fa25}郞\u{fa26}鄕\u{fa27}\u{fa28}閒\u{f9dc}\u{fa29}霻靍靑\u{fa2a}\u{fa2b}\u{fa2c}馞髙魲\
         \u{fa2d}黑"),
];
