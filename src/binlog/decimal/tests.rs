use super::*;
use crate::binlog::event::testing::hex;
use proptest::prelude::*;

#[test]
fn the_example_above() {
    let bytes = hex("81 0dfb38d2 04d2");
    assert_eq!(decimal_text(&bytes, 14, 4).unwrap(), "1234567890.1234");
    let negative: Vec<u8> = bytes.iter().map(|b| !b).collect();
    assert_eq!(decimal_text(&negative, 14, 4).unwrap(), "-1234567890.1234");
}

#[test]
fn buglog_025_sign_is_that_of_the_whole_number() {
    let bytes = hex("7f ff ff c6 fb 2d");
    assert_eq!(decimal_text(&bytes, 11, 4).unwrap(), "-57.1234");
}

#[test]
fn buglog_026_zero_keeps_its_scale() {
    let mut bytes = vec![0; 30];
    bytes[0] = 0x80;
    assert_eq!(decimal_len(64, 16).unwrap(), 30);
    assert_eq!(decimal_text(&bytes, 64, 16).unwrap(), "0.0000000000000000");
}

#[test]
fn buglog_104_value_of_a_user_variable() {
    assert_eq!(decimal_text(&hex("81 00"), 3, 2).unwrap(), "1.00");
}

#[test]
fn impossible_values_are_refused() {
    assert!(decimal_text(&hex("8a"), 1, 0).is_err()); // ten in one digit
    assert!(decimal_text(&hex("bb9aca00"), 9, 0).is_err()); // 10⁹ in nine
    assert!(decimal_text(&hex("80"), 3, 0).is_err()); // cut
    for (precision, scale) in [(0, 0), (66, 0), (5, 6), (65, 39), (255, 255)] {
        assert!(decimal_len(precision, scale).is_err());
    }
}

#[test]
fn vectors_of_the_corpus() {
    let Some(corpus) = std::env::var_os("BINLOG_CORPUS") else {
        eprintln!("SKIPPED: BINLOG_CORPUS is not set");
        return;
    };
    let vectors = std::path::Path::new(&corpus).join("vectors.tsv");
    let vectors = std::fs::read_to_string(vectors).unwrap();
    let mut checked = 0;
    for line in vectors.lines().filter(|line| line.starts_with("DECIMAL\t")) {
        let fields: Vec<&str> = line.split('\t').collect();
        let mut parameters = fields[1].split([' ', '=']).skip(1).step_by(2);
        let precision: u8 = parameters.next().unwrap().parse().unwrap();
        let scale: u8 = parameters.next().unwrap().parse().unwrap();
        let text = decimal_text(&hex(fields[2]), precision, scale).unwrap();
        assert_eq!(text, fields[3], "{line}");
        checked += 1;
    }
    assert_eq!(checked, 187);
}

/// Packs `digits`, an integer and a fraction part of exactly the declared lengths.
pub fn pack(negative: bool, whole: &str, fraction: &str) -> Vec<u8> {
    let mut bytes: Vec<u8> = Vec::new();
    let (short, long) = whole.split_at(whole.len() % 9);
    let mut groups = vec![short];
    groups.extend((0..long.len() / 9).map(|i| &long[i * 9..i * 9 + 9]));
    let full = fraction.len() / 9;
    groups.extend((0..full).map(|i| &fraction[i * 9..i * 9 + 9]));
    groups.push(&fraction[full * 9..]);
    for group in groups.into_iter().filter(|group| !group.is_empty()) {
        let value: u32 = group.parse().unwrap();
        let len = group_len(group.len() as u8);
        bytes.extend(&value.to_be_bytes()[4 - len..]);
    }
    bytes[0] ^= 0x80;
    if negative {
        bytes.iter_mut().for_each(|b| *b = !*b);
    }
    bytes
}

proptest! {
    #[test]
    fn what_is_packed_is_read(
        negative: bool,
        whole in "[0-9]{0,35}",
        fraction in "[0-9]{0,30}",
    ) {
        prop_assume!(!whole.is_empty() || !fraction.is_empty());
        let bytes = pack(negative, &whole, &fraction);
        let (precision, scale) = ((whole.len() + fraction.len()) as u8, fraction.len() as u8);
        prop_assert_eq!(decimal_len(precision, scale).unwrap(), bytes.len());
        let digits = whole.trim_start_matches('0');
        let mut text = String::from(if digits.is_empty() { "0" } else { digits });
        if scale > 0 {
            text = format!("{text}.{fraction}");
        }
        if negative && text != "0" {
            text.insert(0, '-');
        }
        prop_assert_eq!(decimal_text(&bytes, precision, scale).unwrap(), text);
        for cut in 0..bytes.len() {
            prop_assert!(decimal_text(&bytes[..cut], precision, scale).is_err());
        }
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..40), precision: u8, scale: u8) {
        let _ = decimal_text(&bytes, precision, scale);
    }
}

#[test]
fn the_unscaled_number_of_65_digits() {
    let bytes = pack(true, &"9".repeat(35), &"9".repeat(30));
    let wide = decimal_unscaled(&bytes, 65, 30).unwrap();
    // 1 − 10⁶⁵
    let expected = "0100000000000000f6c9da8510bac6b1\
                    b91074756f3c80e3d8e90cffffffffff";
    assert_eq!(wide[..], hex(expected));
}

proptest! {
    #[test]
    fn every_number_comes_back(
        negative: bool, digits in "[0-9]{1,65}", scale in 0..=38usize,
    ) {
        let scale = scale.min(digits.len());
        let (precision, places) = (digits.len() as u8, scale as u8);
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        let bytes = pack(negative, whole, fraction);
        prop_assert_eq!(bytes.len(), decimal_len(precision, places).unwrap());
        let text = decimal_text(&bytes, precision, places).unwrap();
        let plain: String = text.chars().filter(char::is_ascii_digit).collect();
        prop_assert_eq!(plain.trim_start_matches('0'), digits.trim_start_matches('0'));
        let wide = decimal_unscaled(&bytes, precision, places).unwrap();
        if digits.len() <= 38 {
            let number: i128 = digits.parse().unwrap();
            let number = if negative { -number } else { number };
            prop_assert_eq!(&wide[..16], &number.to_le_bytes()[..]);
            let sign = if number < 0 { 0xff } else { 0 };
            prop_assert!(wide[16..].iter().all(|&byte| byte == sign));
        }
    }
}
