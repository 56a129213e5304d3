use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

const A: &str = "3e11fa47-71ca-11e1-9e33-c80aa9429562";
const B: &str = "b9b88c66-0755-11f1-9899-4a9da94c4d71";

fn set(text: &str) -> GtidSet {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

#[test]
fn buglog_92_an_interval_of_one_number() {
    let text = format!("{A}:1-5:11:13-42");
    let set = set(&text);
    assert_eq!(set.to_string(), text);
    assert_eq!(set.count(), 36);
    let has = |gno: u64| set.contains(&format!("{A}:{gno}").parse().unwrap());
    assert_eq!(
        [5, 6, 10, 11, 12, 13, 42, 43].map(has),
        [true, false, false, true, false, true, true, false]
    );
}

#[test]
fn text_is_read_in_any_form_and_written_in_one() {
    let upper = A.to_ascii_uppercase();
    let bare = A.replace('-', "");
    for (text, canonical) in [
        (String::new(), String::new()),
        (" , ,".into(), String::new()),
        (format!("\n{upper} : 3 : 1 - 2 ,\n"), format!("{A}:1-3")),
        (format!("{bare}:7"), format!("{A}:7")),
        (format!("{B}:1,{A}:9:5-7:6-8:1"), format!("{A}:1:5-9,{B}:1")),
        (
            format!("{A}:Zeta:1:_a1:2-3,{A}:5:zeta:2"),
            format!("{A}:5:_a1:2-3:zeta:1-2"),
        ),
        (
            format!("{A}:1-{MAX_GNO}"),
            format!("{A}:1-9223372036854775806"),
        ),
    ] {
        assert_eq!(set(&text).to_string(), canonical, "{text:?}");
    }
}

#[test]
fn what_is_no_set_is_an_error_that_names_it() {
    let long = "x".repeat(33);
    for (text, names) in [
        ("3e11fa47:1".to_owned(), "'3e11fa47' is not a valid UUID"),
        (A.replace('-', "_") + ":1", "is not a valid UUID"),
        (A.to_owned(), "no interval ends"),
        (format!("{A}:"), "'' is not a valid interval"),
        (format!("{A}:tag"), "no interval ends"),
        (format!("{A}:1:tag"), "no interval ends"),
        (format!("{A}:one:two:1"), "'two' is not a valid interval"),
        (format!("{A}:{long}:1"), "is not a valid tag"),
        (format!("{A}:ta-g:1"), "'ta-g' is not a valid tag"),
        (format!("{A}:0"), "'0' is not a valid interval"),
        (format!("{A}:0-3"), "'0-3' is not a valid interval"),
        (format!("{A}:5-4"), "'5-4' is not a valid interval"),
        (format!("{A}:+5"), "'+5' is not a valid interval"),
        (format!("{A}:1-"), "'1-' is not a valid interval"),
        (format!("{A}:1-2-3"), "'1-2-3' is not a valid interval"),
        (
            format!("{A}:9223372036854775807"),
            "is not a valid interval",
        ),
        (
            format!("{A}:99999999999999999999"),
            "is not a valid interval",
        ),
    ] {
        let error = text.parse::<GtidSet>().unwrap_err().to_string();
        assert!(error.contains(names), "{text:?}: {error}");
    }
}

#[test]
fn an_error_shows_no_more_than_the_beginning_of_a_long_text() {
    let error = "é".repeat(1_000_000).parse::<GtidSet>().unwrap_err();
    assert!(error.to_string().len() < 500);
}

#[test]
fn one_gtid() {
    for text in [format!("{A}:23"), format!("{A}:batch:7")] {
        assert_eq!(text.parse::<Gtid>().unwrap().to_string(), text);
    }
    for text in [String::new(), format!("{A}:1-2"), format!("{A}:1,{B}:1")] {
        let error = text.parse::<Gtid>().unwrap_err().to_string();
        assert!(error.contains("is not one GTID"), "{error}");
    }
}

#[test]
fn tags_follow_the_rule_of_the_server() {
    for good in ["", "a", "_", "a1", "_9z"] {
        assert_eq!(Tag::new(good.as_bytes()).unwrap().as_str(), good);
    }
    for bad in ["1a", "A", "a-b", "a b", "é", "a\0"] {
        assert_eq!(Tag::new(bad.as_bytes()), None, "{bad:?}");
    }
    assert!(Tag::new(&[b'a'; 32]).is_some());
    assert!(Tag::new(&[b'a'; 33]).is_none());
    let mut tags = ["b", "ab", "a", ""].map(|tag| Tag::new(tag.as_bytes()).unwrap());
    tags.sort();
    assert_eq!(
        tags.map(|tag| tag.as_str().to_owned()),
        ["", "a", "ab", "b"]
    );
}

#[test]
fn subtraction_splits_and_drops() {
    let whole = set(&format!("{A}:1-100:tag:1-3,{B}:1-2"));
    let part = set(&format!("{A}:1:10-20:50:99-200:tag:1-3"));
    assert_eq!(
        whole.subtract(&part).to_string(),
        format!("{A}:2-9:21-49:51-98,{B}:1-2")
    );
    assert!(whole.subtract(&whole).is_empty());
    // One hole over several intervals.
    let pieces = set(&format!("{A}:1-3:5-7:9-11"));
    assert_eq!(
        pieces.subtract(&set(&format!("{A}:2-10"))).to_string(),
        format!("{A}:1:11")
    );
    assert!(!whole.contains_set(&part));
    assert!(whole.contains_set(&set(&format!("{A}:5-6:9:tag:2"))));
}

/// A GTID of a small world: TSIDs 0 to 4, numbers from 1.
type Small = (usize, u64);

fn tsid(i: usize) -> Tsid {
    let tag = ["", "a", "ab", "", "b"][i];
    Tsid {
        uuid: [[1; 16], [9; 16]][i / 3],
        tag: Tag::new(tag.as_bytes()).unwrap(),
    }
}

fn gtid((i, gno): Small) -> Gtid {
    Gtid { tsid: tsid(i), gno }
}

fn spans() -> impl Strategy<Value = Vec<(usize, u64, u64)>> {
    prop::collection::vec((0..5usize, 1..40u64, 0..6u64), 0..20)
}

fn both(spans: &[(usize, u64, u64)]) -> (GtidSet, BTreeSet<Small>) {
    let set = spans
        .iter()
        .map(|&(i, first, more)| (tsid(i), Interval::new(first, first + more).unwrap()))
        .collect();
    let model = spans
        .iter()
        .flat_map(|&(i, first, more)| (first..=first + more).map(move |gno| (i, gno)))
        .collect();
    (set, model)
}

fn from_model(model: &BTreeSet<Small>) -> GtidSet {
    model
        .iter()
        .map(|&(i, gno)| (tsid(i), Interval::new(gno, gno).unwrap()))
        .collect()
}

proptest! {
    #[test]
    fn a_set_is_what_its_members_are(a in spans(), b in spans()) {
        let (a, a_model) = both(&a);
        let (b, b_model) = both(&b);
        prop_assert_eq!(&a, &from_model(&a_model));
        prop_assert_eq!(a.count(), a_model.len() as u128);
        prop_assert_eq!(a.is_empty(), a_model.is_empty());
        for i in 0..5 {
            for gno in 1..48 {
                prop_assert_eq!(a.contains(&gtid((i, gno))), a_model.contains(&(i, gno)));
            }
        }
        let union = a.union(&b);
        prop_assert_eq!(&union, &from_model(&(&a_model | &b_model)));
        let difference = a.subtract(&b);
        prop_assert_eq!(&difference, &from_model(&(&a_model - &b_model)));
        prop_assert_eq!(a.contains_set(&b), b_model.is_subset(&a_model));

        prop_assert_eq!(&union, &b.union(&a));
        prop_assert!(union.contains_set(&a) && union.contains_set(&b));
        prop_assert_eq!(&difference.union(&a), &a);
        prop_assert_eq!(&difference.subtract(&b), &difference);
        prop_assert_eq!(&union.subtract(&b), &difference);
    }

    #[test]
    fn inserting_one_by_one_in_any_order_gives_the_same_set(a in spans()) {
        let (a, _) = both(&a);
        let mut members: Vec<Gtid> = a
            .intervals()
            .flat_map(|(tsid, i)| (i.first..=i.last).map(move |gno| Gtid { tsid, gno }))
            .collect();
        members.sort_by_key(|gtid| (gtid.gno.wrapping_mul(0x9e37_79b9_7f4a_7c15), gtid.tsid));
        let mut grown = GtidSet::new();
        for gtid in members {
            grown.insert(gtid);
            grown.insert(gtid);
        }
        prop_assert_eq!(grown, a);
    }

    #[test]
    fn text_set_text(a in spans()) {
        let (a, _) = both(&a);
        let text = a.to_string();
        let again: GtidSet = text.parse().unwrap();
        prop_assert_eq!(again.to_string(), text);
        prop_assert_eq!(again, a);
    }

    #[test]
    fn any_text_is_a_set_or_an_error(text in ".{0,80}") {
        if let Ok(set) = text.parse::<GtidSet>() {
            prop_assert_eq!(set.to_string().parse::<GtidSet>().unwrap(), set);
        }
    }

    #[test]
    fn text_much_like_a_set_is_a_set_or_an_error(tail in "[0-9:a-f, _\\-]{0,60}") {
        if let Ok(set) = format!("{A}:{tail}").parse::<GtidSet>() {
            prop_assert_eq!(set.to_string().parse::<GtidSet>().unwrap(), set);
        }
    }
}
