use super::*;
use proptest::prelude::*;

#[test]
fn positions_are_read_and_written() {
    let position: MariadbPosition = " 1-2-5 , 0-1-100".parse().unwrap();
    assert_eq!(position.to_string(), "0-1-100,1-2-5");
    assert_eq!(position.last(1).unwrap().seq_no, 5);
    assert_eq!(position.last(7), None);
    let empty: MariadbPosition = " ".parse().unwrap();
    assert!(empty.is_empty());
    assert_eq!(empty.to_string(), "");
}

#[test]
fn what_is_no_position_is_an_error_that_names_it() {
    for (text, names) in [
        ("0-1", "'0-1' is not a MariaDB GTID"),
        ("0-1-2-3", "'0-1-2-3' is not"),
        ("0-1-", "'0-1-' is not"),
        ("0--1-2", "'0--1-2' is not"),
        ("+0-1-2", "'+0-1-2' is not"),
        ("4294967296-1-2", "is not"),
        ("0-1-18446744073709551616", "is not"),
        ("0-1-5,", "'' is not"),
        ("0-1-5,0-2-6", "0-1-5 and 0-2-6 are of one domain"),
    ] {
        let error = text.parse::<MariadbPosition>().unwrap_err().to_string();
        assert!(error.contains(names), "{text:?}: {error}");
    }
}

#[test]
fn a_domain_moves_with_whatever_server_writes() {
    let mut position: MariadbPosition = "0-1-100,1-2-5".parse().unwrap();
    position.advance("0-3-101".parse().unwrap());
    assert_eq!(position.to_string(), "0-3-101,1-2-5");
    let has = |gtid: &str| position.contains(&gtid.parse().unwrap());
    assert!(has("0-1-100") && has("0-3-101") && has("1-9-1"));
    assert!(!has("0-1-102") && !has("2-1-1"));
}

proptest! {
    #[test]
    fn text_position_text(gtids in prop::collection::vec(any::<(u32, u32, u64)>(), 0..9)) {
        let position: MariadbPosition = gtids
            .into_iter()
            .map(|(domain_id, server_id, seq_no)| MariadbGtid { domain_id, server_id, seq_no })
            .collect();
        let text = position.to_string();
        prop_assert_eq!(text.parse::<MariadbPosition>().unwrap(), position);
    }

    #[test]
    fn any_text_is_a_position_or_an_error(text in "[0-9, \\-]{0,40}|.{0,40}") {
        if let Ok(position) = text.parse::<MariadbPosition>() {
            prop_assert_eq!(position.to_string().parse::<MariadbPosition>().unwrap(), position);
        }
    }
}
