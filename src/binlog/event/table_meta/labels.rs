//! Labels of ENUM and SET as JSON. They are in the column's character set, whose id alone is known
//! here: what is not certain to be text is written in hexadecimal.

use super::Details;

/// Writes labels as text if they are certain to be it, else in hexadecimal.
pub(super) fn write_labels(out: &mut Details<'_>, labels: &[&[u8]], charset: Option<u16>) {
    let text: Option<Vec<&str>> = labels
        .iter()
        .map(|label| {
            let certain = match charset.map(encoding) {
                Some(Encoding::Utf8) => true,
                Some(Encoding::Wide) => false,
                Some(Encoding::AsciiBased) | None => label.iter().all(|b| (0x20..0x7f).contains(b)),
            };
            std::str::from_utf8(label).ok().filter(|_| certain)
        })
        .collect();
    match text {
        Some(labels) => out.strs("labels", labels),
        None => out.strs("labels_hex", labels.iter().map(|label| hex(label))),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

enum Encoding {
    Utf8,
    /// Characters of 2 or 4 bytes: bytes below 80 are no ASCII.
    Wide,
    AsciiBased,
}

/// How a collation's characters are encoded, by the ranges of ids that servers use.
fn encoding(collation: u16) -> Encoding {
    match collation {
        // MariaDB: NOPAD collations have bit 10 set.
        1024..=2047 => encoding(collation & 0x3ff),
        33 | 76 | 83 | 192..=215 | 223 | 45 | 46 | 224..=247 | 255..=323 => Encoding::Utf8,
        576..=639 | 2048..=2559 => Encoding::Utf8,
        35 | 90 | 128..=151 | 159 | 54..=56 | 60..=62 | 101..=124 | 160..=183 => Encoding::Wide,
        640..=767 | 2560..=3327 => Encoding::Wide,
        _ => Encoding::AsciiBased,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(labels: &[&[u8]], charset: Option<u16>) -> String {
        let mut out = String::new();
        let done: Result<(), ()> = Details::object(&mut out, |out| {
            write_labels(out, labels, charset);
            Ok(())
        });
        assert!(done.is_ok());
        out
    }

    #[test]
    fn only_what_is_certain_is_text() {
        let e_acute: &[&[u8]] = &[b"a", b"\xc3\xa9"];
        for utf8 in [33, 45, 46, 224, 255, 576, 608, 1057, 1069, 2048, 2304] {
            assert_eq!(
                json(e_acute, Some(utf8)),
                r#"{"labels":["a","é"]}"#,
                "{utf8}"
            );
        }
        // latin1: the same bytes are two characters.
        assert_eq!(json(e_acute, Some(8)), r#"{"labels_hex":["61","c3a9"]}"#);
        assert_eq!(json(e_acute, None), r#"{"labels_hex":["61","c3a9"]}"#);
        assert_eq!(json(&[b"a b"], Some(8)), r#"{"labels":["a b"]}"#);
        // U+6162 in UCS-2 is no "ab".
        for wide in [35, 54, 60, 101, 128, 160, 640, 1059, 2560] {
            assert_eq!(
                json(&[b"ab"], Some(wide)),
                r#"{"labels_hex":["6162"]}"#,
                "{wide}"
            );
        }
    }
}
