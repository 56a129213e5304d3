use super::*;
use crate::binlog::event::FormatDescription;
use crate::binlog::event::testing::{self, details, hex, info, maria_format};
use proptest::prelude::*;

fn decode(code: u8, body: &[u8]) -> Result<Event<'_>> {
    testing::decode(code, body, &FormatDescription::assumed())
}

fn shown(code: u8, body: &str) -> (String, String) {
    let body = hex(body);
    let event = decode(code, &body).unwrap();
    (info(&event), details(&event))
}

#[test]
fn intvar_and_rand() {
    let (info, details) = shown(5, "02 0500000000000000");
    assert_eq!(info, "INSERT_ID=5");
    assert_eq!(details, r#"{"variable":"INSERT_ID","value":5}"#);
    assert_eq!(
        shown(5, "01 ffffffffffffffff").0,
        "LAST_INSERT_ID=18446744073709551615"
    );
    assert!(decode(5, &hex("03 0500000000000000")).is_err());
    let (info, details) = shown(13, "0100000000000000 0200000000000000");
    assert_eq!(info, "rand_seed1=1,rand_seed2=2");
    assert_eq!(details, r#"{"rand_seed1":1,"rand_seed2":2}"#);
}

/// Each as MySQL 9.7.4 wrote it, and what its SHOW BINLOG EVENTS prints (but for strings, which it
/// prints in hexadecimal).
#[test]
fn user_variables_of_every_type() {
    for (body, line, members) in [
        (
            "01000000 73 00 00 ff000000 03000000 68c3a9",
            "@`s`=_utf8mb4 'hé'",
            r#""name":"s","type":"STRING","value":"hé","character_set":"utf8mb4","collation_id":255"#,
        ),
        (
            "01000000 69 00 02 ff000000 08000000 fbffffffffffffff 00",
            "@`i`=-5",
            r#""name":"i","type":"INT","value":-5,"character_set":"utf8mb4","collation_id":255"#,
        ),
        (
            "01000000 75 00 02 ff000000 08000000 ffffffffffffffff 01",
            "@`u`=18446744073709551615",
            r#""name":"u","type":"INT UNSIGNED","value":18446744073709551615,"character_set":"utf8mb4","collation_id":255"#,
        ),
        (
            "01000000 64 00 04 ff000000 08000000 0c03 7ffffff3feab",
            "@`d`=-12.340",
            r#""name":"d","type":"DECIMAL","value":"-12.340","precision":12,"scale":3,"character_set":"utf8mb4","collation_id":255"#,
        ),
        (
            "01000000 72 00 01 ff000000 08000000 355800662deb417e",
            "@`r`=1.5e300",
            r#""name":"r","type":"REAL","value":1.5e300,"character_set":"utf8mb4","collation_id":255"#,
        ),
        (
            "01000000 6e 01",
            "@`n`=NULL",
            r#""name":"n","type":"NULL","value":null"#,
        ),
    ] {
        let (info, details) = shown(14, body);
        assert_eq!(info, line);
        assert_eq!(details, format!("{{{members}}}"));
    }
}

#[test]
fn buglog_104_decimal_and_unsigned() {
    // @d := 1.00 → 03 02 81 00
    assert_eq!(
        shown(14, "01000000 64 00 04 08000000 04000000 03028100").0,
        "@`d`=1.00"
    );
    // Logs before 5.1.23 end with the value.
    assert_eq!(
        shown(14, "01000000 69 00 02 08000000 08000000 0500000000000000").0,
        "@`i`=5"
    );
    for bad in [
        "01000000 64 00 04 08000000 03000000 030281",     // cut
        "01000000 64 00 04 08000000 05000000 0302810000", // too long
        "01000000 64 00 04 08000000 04000000 02038100",   // scale above precision
        "01000000 69 00 02 08000000 04000000 05000000",   // integer of four bytes
        "01000000 69 00 03 08000000 00000000",            // ROW
    ] {
        assert!(decode(14, &hex(bad)).is_err(), "{bad}");
    }
}

#[test]
fn strings_that_are_no_text_are_kept_in_hexadecimal() {
    let (info, details) = shown(14, "01000000 73 00 00 2d000000 01000000 ff");
    assert_eq!(info, "@`s`=_utf8mb4 X'FF'");
    assert!(details.contains(r#""value":{"hex":"ff"}"#));
    // A collation that nobody knows (buglog 047).
    assert_eq!(
        shown(14, "01000000 73 00 00 ffff0100 01000000 61").0,
        "@`s`=X'61'"
    );
    assert_eq!(
        shown(14, "01000000 73 00 00 08000000 04000000 27e95c0a").0,
        r"@`s`=_latin1 '\'é\\\n'"
    );
}

#[test]
fn attributes_of_mariadb() {
    let body = hex("01000000 78 00 00 08000000 03000000 3a3a31 02 05 696e657436");
    let event = testing::decode(14, &body, &maria_format()).unwrap();
    assert_eq!(info(&event), "@`x`=_latin1 '::1'");
    assert!(details(&event).ends_with(r#""data_type":"inet6"}"#));
    let body = hex("01000000 78 00 00 08000000 00000000 01 77 00");
    assert!(details(&decode(14, &body).unwrap()).ends_with(r#""undecoded":"7700"}"#));
}

#[test]
fn cut_at_every_byte() {
    for (code, body, optional) in [
        (5, "02 0500000000000000", 0),
        (13, "0100000000000000 0200000000000000", 0),
        (
            14,
            "01000000 75 00 02 ff000000 08000000 ffffffffffffffff 01",
            1,
        ),
        (
            14,
            "01000000 64 00 04 ff000000 08000000 0c03 7ffffff3feab",
            0,
        ),
        (14, "02000000 6e6e 01", 0),
    ] {
        let body = hex(body);
        for cut in 0..body.len() - optional {
            assert!(decode(code, &body[..cut]).is_err(), "{code} at {cut}");
        }
        assert!(decode(code, &body).is_ok());
    }
}

proptest! {
    #[test]
    fn any_bytes(tail in prop::collection::vec(any::<u8>(), 0..64), kind in 0..6u8, len in 0..20u8) {
        let tame = [&[1, 0, 0, 0, b'a', 0, kind, 8, 0, 0, 0, len, 0, 0, 0][..], &tail].concat();
        for (code, body) in [(5, &tail), (13, &tail), (14, &tail), (14, &tame)] {
            if let Ok(event) = decode(code, body) {
                let _ = event.info(&mut String::new());
                let _ = Details::object(&mut String::new(), |out| event.details(out));
            }
        }
    }
}
