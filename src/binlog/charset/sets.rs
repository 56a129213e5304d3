//! The character sets, under the server's names.
//!
//! Source: `information_schema.character_sets` of MySQL 9.7 and MariaDB 11.8.

use super::Encoding::{self, *};
use super::{Charset, multi, single};

macro_rules! charsets {
    ($($id:ident = $name:literal, $max_len:literal, $encoding:expr;)*) => {
        $(
            #[doc = concat!("`", $name, "`.")]
            pub static $id: Charset = charset($name, $max_len, $encoding);
        )*
        /// Every character set, in the order of the names.
        pub static CHARSETS: &[&Charset] = &[$(&$id),*];
    };
}

const fn charset(name: &'static str, max_len: u8, encoding: Encoding) -> Charset {
    Charset {
        name,
        max_len,
        encoding,
    }
}

charsets! {
    ARMSCII8 = "armscii8", 1, Single(&single::ARMSCII8);
    ASCII = "ascii", 1, Ascii;
    BIG5 = "big5", 2, Multi(&multi::BIG5);
    BINARY = "binary", 1, Ascii;
    CP1250 = "cp1250", 1, Single(&single::CP1250);
    CP1251 = "cp1251", 1, Single(&single::CP1251);
    CP1256 = "cp1256", 1, Single(&single::CP1256);
    CP1257 = "cp1257", 1, Single(&single::CP1257);
    CP850 = "cp850", 1, Single(&single::CP850);
    CP852 = "cp852", 1, Single(&single::CP852);
    CP866 = "cp866", 1, Single(&single::CP866);
    CP932 = "cp932", 2, Multi(&multi::CP932);
    DEC8 = "dec8", 1, Single(&single::DEC8);
    EUCJPMS = "eucjpms", 3, Multi(&multi::EUCJPMS);
    EUCKR = "euckr", 2, Multi(&multi::EUCKR);
    GB18030 = "gb18030", 4, Multi(&multi::GB18030);
    GB2312 = "gb2312", 2, Multi(&multi::GB2312);
    GBK = "gbk", 2, Multi(&multi::GBK);
    GEOSTD8 = "geostd8", 1, Single(&single::GEOSTD8);
    GREEK = "greek", 1, Single(&single::GREEK);
    HEBREW = "hebrew", 1, Single(&single::HEBREW);
    HP8 = "hp8", 1, Single(&single::HP8);
    KEYBCS2 = "keybcs2", 1, Single(&single::KEYBCS2);
    KOI8R = "koi8r", 1, Single(&single::KOI8R);
    KOI8U = "koi8u", 1, Single(&single::KOI8U);
    LATIN1 = "latin1", 1, Single(&single::LATIN1);
    LATIN2 = "latin2", 1, Single(&single::LATIN2);
    LATIN5 = "latin5", 1, Single(&single::LATIN5);
    LATIN7 = "latin7", 1, Single(&single::LATIN7);
    MACCE = "macce", 1, Single(&single::MACCE);
    MACROMAN = "macroman", 1, Single(&single::MACROMAN);
    SJIS = "sjis", 2, Multi(&multi::SJIS);
    SWE7 = "swe7", 1, Swe7;
    TIS620 = "tis620", 1, Single(&single::TIS620);
    UCS2 = "ucs2", 2, Ucs2;
    UJIS = "ujis", 3, Multi(&multi::UJIS);
    UTF16 = "utf16", 4, Utf16 { little_endian: false };
    UTF16LE = "utf16le", 4, Utf16 { little_endian: true };
    UTF32 = "utf32", 4, Utf32;
    UTF8MB3 = "utf8mb3", 3, Utf8;
    UTF8MB4 = "utf8mb4", 4, Utf8;
}
