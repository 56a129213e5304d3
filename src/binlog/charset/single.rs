//! The single-byte character sets: what the bytes from 0x80 on mean.
//!
//! Source: `CONVERT(CONVERT(X'80' USING cp850) USING utf32)` for every byte, on MySQL 9.7 and
//! MariaDB 11.8, which agree. `�` stands for a byte that is no character of the set: `CONVERT` gives
//! `?` for it (U+FFFD in tis620).

/// Characters of the bytes 0x80–0xff; [`UNDEFINED`] where there is none.
pub(super) type High = [u16; 128];

/// Stands for "no character".
pub(super) const UNDEFINED: u16 = 0xfffd;

/// The table for `text`, the characters from byte `first` on. The bytes before it, 0x80–0x9f in
/// ISO 8859 and its kin, are the control characters of the same numbers.
#[allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::panic
)] // runs in the compiler only
const fn high(first: u8, text: &str) -> High {
    let mut table = [UNDEFINED; 128];
    let mut byte = 0x80;
    while byte < first as usize {
        table[byte - 0x80] = byte as u16;
        byte += 1;
    }
    let utf8 = text.as_bytes();
    let mut i = 0;
    while i < utf8.len() {
        let (len, bits) = match utf8[i] {
            b @ 0..=0x7f => (1, b as u16),
            b @ 0xc0..=0xdf => (2, (b & 0x1f) as u16),
            b @ 0xe0..=0xef => (3, (b & 0x0f) as u16),
            _ => panic!("a character beyond the BMP"),
        };
        let (mut c, mut k) = (bits, 1);
        while k < len {
            c = (c << 6) | (utf8[i + k] & 0x3f) as u16;
            k += 1;
        }
        table[byte - 0x80] = c;
        byte += 1;
        i += len;
    }
    assert!(byte == 0x100, "not 256 characters");
    table
}

/// swe7 has seven bits and Swedish letters in place of some signs of ASCII.
pub(super) fn swe7(byte: u8) -> Option<char> {
    Some(match byte {
        b'@' => 'É',
        b'[' => 'Ä',
        b'\\' => 'Ö',
        b']' => 'Å',
        b'^' => 'Ü',
        b'`' => 'é',
        b'{' => 'ä',
        b'|' => 'ö',
        b'}' => 'å',
        b'~' => 'ü',
        0..=0x7e => char::from(byte),
        _ => return None,
    })
}

pub(super) static ARMSCII8: High = high(
    0xa0,
    "\
    \u{a0}❁§։)(»«—.՝,-՟…՜՛՞ԱաԲբԳգԴդԵեԶզԷէ\
    ԸըԹթԺժԻիԼլԽխԾծԿկՀհՁձՂղՃճՄմՅյՆնՇշ\
    ՈոՉչՊպՋջՌռՍսՎվՏտՐրՑցՒւՓփՔքՕօՖֆ’'\
",
);
pub(super) static CP1250: High = high(
    0x80,
    "\
    €�‚�„…†‡�‰Š‹ŚŤŽŹ�‘’“”•–—�™š›śťžź\
    \u{a0}ˇ˘Ł¤Ą¦§¨©Ş«¬\u{ad}®Ż°±˛ł´µ¶·¸ąş»Ľ˝ľż\
    ŔÁÂĂÄĹĆÇČÉĘËĚÍÎĎĐŃŇÓÔŐÖ×ŘŮÚŰÜÝŢß\
    ŕáâăäĺćçčéęëěíîďđńňóôőö÷řůúűüýţ˙\
",
);
pub(super) static CP1251: High = high(
    0x80,
    "\
    ЂЃ‚ѓ„…†‡€‰Љ‹ЊЌЋЏђ‘’“”•–—�™љ›њќћџ\
    \u{a0}ЎўЈ¤Ґ¦§Ё©Є«¬\u{ad}®Ї°±Ііґµ¶·ё№є»јЅѕї\
    АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯ\
    абвгдежзийклмнопрстуфхцчшщъыьэюя\
",
);
pub(super) static CP1256: High = high(
    0x80,
    "\
    €\u{67e}‚ƒ„…†‡ˆ‰�‹Œ\u{686}\u{698}�\u{6af}‘’“”•–—�™�›œ\u{200c}\u{200d}�\
    \u{a0}،¢£¤¥¦§¨©�«¬\u{ad}®¯°±²³´µ¶·¸¹\u{61b}»¼½¾\u{61f}\
    �\u{621}\u{622}\u{623}\u{624}\u{625}\u{626}\u{627}\u{628}\u{629}\u{62a}\u{62b}\u{62c}\u{62d}\u{62e}\u{62f}\u{630}\u{631}\u{632}\u{633}\u{634}\u{635}\u{636}×\u{637}\u{638}\u{639}\u{63a}\u{640}\u{641}\u{642}\u{643}\
    à\u{644}â\u{645}\u{646}\u{647}\u{648}çèéêë\u{649}\u{64a}îï\u{64b}\u{64c}\u{64d}\u{64e}ô\u{64f}\u{650}÷\u{651}ù\u{652}ûü\u{200e}\u{200f}�\
",
);
pub(super) static CP1257: High = high(
    0x80,
    "\
    €�‚�„…†‡�‰�‹�¨ˇ¸�‘’“”•–—�™�›�¯˛�\
    \u{a0}�¢£¤�¦§Ø©Ŗ«¬\u{ad}®Æ°±²³´µ¶·ø¹ŗ»¼½¾æ\
    ĄĮĀĆÄÅĘĒČÉŹĖĢĶĪĻŠŃŅÓŌÕÖ×ŲŁŚŪÜŻŽß\
    ąįāćäåęēčéźėģķīļšńņóōõö÷ųłśūüżž˙\
",
);
pub(super) static CP850: High = high(
    0x80,
    "\
    ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒ\
    áíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐\
    └┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀\
    ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}\
",
);
pub(super) static CP852: High = high(
    0x80,
    "\
    ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×č\
    áíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐\
    └┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀\
    ÓßÔŃńňŠšŔÚŕŰýÝţ´\u{ad}˝˛ˇ˘§÷¸°¨˙űŘř■\u{a0}\
",
);
pub(super) static CP866: High = high(
    0x80,
    "\
    АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯ\
    абвгдежзийклмноп░▒▓│┤╡╢╖╕╣║╗╝╜╛┐\
    └┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀\
    рстуфхцчшщъыьэюяЁёЄєЇїЎў°∙·√ⁿ²■\u{a0}\
",
);
pub(super) static DEC8: High = high(
    0xa0,
    "\
    \u{a0}¡¢£�¥�§¤©ª«����°±²³�µ¶·�¹º»¼½�¿\
    ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏ�ÑÒÓÔÕÖŒØÙÚÛÜŸ�ß\
    àáâãäåæçèéêëìíîï�ñòóôõöœøùúûüÿ��\
",
);
pub(super) static GEOSTD8: High = high(
    0x80,
    "\
    €�‚�„…†‡�‰�‹�����‘’“”•–—���›����\
    \u{a0}¡¢£¤¥¦§¨©ª«¬\u{ad}®¯°±²³´µ¶·¸¹º»¼½¾¿\
    აბგდევზჱთიკლმნჲოპჟრსტჳუფქღყშჩცძწ\
    ჭხჴჯჰჵ�����������������������№��\
",
);
pub(super) static GREEK: High = high(
    0xa0,
    "\
    \u{a0}ʽʼ£��¦§¨©�«¬\u{ad}�―°±²³΄΅Ά·ΈΉΊ»Ό½ΎΏ\
    ΐΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡ�ΣΤΥΦΧΨΩΪΫάέήί\
    ΰαβγδεζηθικλμνξοπρςστυφχψωϊϋόύώ�\
",
);
pub(super) static HEBREW: High = high(
    0xa0,
    "\
    \u{a0}�¢£¤¥¦§¨©×«¬\u{ad}®‾°±²³´µ¶·¸¹÷»¼½¾�\
    �������������������������������‗\
    \u{5d0}\u{5d1}\u{5d2}\u{5d3}\u{5d4}\u{5d5}\u{5d6}\u{5d7}\u{5d8}\u{5d9}\u{5da}\u{5db}\u{5dc}\u{5dd}\u{5de}\u{5df}\u{5e0}\u{5e1}\u{5e2}\u{5e3}\u{5e4}\u{5e5}\u{5e6}\u{5e7}\u{5e8}\u{5e9}\u{5ea}��\u{200e}\u{200f}�\
",
);
pub(super) static HP8: High = high(
    0xa0,
    "\
    \u{a0}ÀÂÈÊËÎÏ´ˋˆ¨˜ÙÛ₤¯Ýý°ÇçÑñ¡¿¤£¥§ƒ¢\
    âêôûáéóúàèòùäëöüÅîØÆåíøæÄìÖÜÉïßÔ\
    ÁÃãÐðÍÌÓÒÕõŠšÚŸÿÞþ·µ¶¾—¼½ªº«■»±�\
",
);
pub(super) static KEYBCS2: High = high(
    0x80,
    "\
    ČüéďäĎŤčěĚĹÍľĺÄÁÉžŽôöÓůÚýÖÜŠĽÝŘť\
    áíóúňŇŮÔšřŕŔ¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐\
    └┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀\
    αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}\
",
);
pub(super) static KOI8R: High = high(
    0x80,
    "\
    ─│┌┐└┘├┤┬┴┼▀▄█▌▐░▒▓⌠■∙√≈≤≥\u{a0}⌡°²·÷\
    ═║╒ё╓╔╕╖╗╘╙╚╛╜╝╞╟╠╡Ё╢╣╤╥╦╧╨╩╪╫╬©\
    юабцдефгхийклмнопярстужвьызшэщчъ\
    ЮАБЦДЕФГХИЙКЛМНОПЯРСТУЖВЬЫЗШЭЩЧЪ\
",
);
pub(super) static KOI8U: High = high(
    0x80,
    "\
    ─│┌┐└┘├┤┬┴┼▀▄█▌▐░▒▓⌠■•√≈≤≥\u{a0}⌡°²·÷\
    ═║╒ёє╔ії╗╘╙╚╛ґ╝╞╟╠╡ЁЄ╣ІЇ╦╧╨╩╪Ґ╬©\
    юабцдефгхийклмнопярстужвьызшэщчъ\
    ЮАБЦДЕФГХИЙКЛМНОПЯРСТУЖВЬЫЗШЭЩЧЪ\
",
);
pub(super) static LATIN1: High = high(
    0x80,
    "\
    €\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ\
    \u{a0}¡¢£¤¥¦§¨©ª«¬\u{ad}®¯°±²³´µ¶·¸¹º»¼½¾¿\
    ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞß\
    àáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ\
",
);
pub(super) static LATIN2: High = high(
    0xa0,
    "\
    \u{a0}Ą˘Ł¤ĽŚ§¨ŠŞŤŹ\u{ad}ŽŻ°ą˛ł´ľśˇ¸šşťź˝žż\
    ŔÁÂĂÄĹĆÇČÉĘËĚÍÎĎĐŃŇÓÔŐÖ×ŘŮÚŰÜÝŢß\
    ŕáâăäĺćçčéęëěíîďđńňóôőö÷řůúűüýţ˙\
",
);
pub(super) static LATIN5: High = high(
    0xa0,
    "\
    \u{a0}¡¢£¤¥¦§¨©ª«¬\u{ad}®¯°±²³´µ¶·¸¹º»¼½¾¿\
    ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏĞÑÒÓÔÕÖ×ØÙÚÛÜİŞß\
    àáâãäåæçèéêëìíîïğñòóôõö÷øùúûüışÿ\
",
);
pub(super) static LATIN7: High = high(
    0xa0,
    "\
    \u{a0}”¢£¤„¦§Ø©Ŗ«¬\u{ad}®Æ°±²³“µ¶·ø¹ŗ»¼½¾æ\
    ĄĮĀĆÄÅĘĒČÉŹĖĢĶĪĻŠŃŅÓŌÕÖ×ŲŁŚŪÜŻŽß\
    ąįāćäåęēčéźėģķīļšńņóōõö÷ųłśūüżž’\
",
);
pub(super) static MACCE: High = high(
    0x80,
    "\
    ÄĀāÉĄÖÜáąČäčĆćéŹźĎíďĒēĖóėôöõúĚěü\
    †°Ę£§•¶ß®©™ę¨≠ģĮįĪ≤≥īĶ∂∑łĻļĽľĹĺŅ\
    ņŃ¬√ńŇ∆«»…\u{a0}ňŐÕőŌ–—“”‘’÷◊ōŔŕŘ‹›řŖ\
    ŗŠ‚„šŚśÁŤťÍŽžŪÓÔūŮÚůŰűŲųÝýķŻŁżĢˇ\
",
);
pub(super) static MACROMAN: High = high(
    0x80,
    "\
    ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü\
    †°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø\
    ¿¡¬√ƒ≈∆«»…\u{a0}ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁﬂ\
    ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\u{f8ff}ÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ\
",
);
pub(super) static TIS620: High = high(
    0xa0,
    "\
    �กขฃคฅฆงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟ\
    ภมยรฤลฦวศษสหฬอฮฯะ\u{e31}าำ\u{e34}\u{e35}\u{e36}\u{e37}\u{e38}\u{e39}\u{e3a}����฿\
    เแโใไๅๆ\u{e47}\u{e48}\u{e49}\u{e4a}\u{e4b}\u{e4c}\u{e4d}\u{e4e}๏๐๑๒๓๔๕๖๗๘๙๚๛����\
",
);
