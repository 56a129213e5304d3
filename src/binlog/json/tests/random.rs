//! Random documents, changes and damage.

use super::model::{Step, Value, encode_change};
use super::*;
use proptest::prelude::*;

pub fn value() -> impl Strategy<Value = Value> {
    let finite = any::<f64>().prop_filter("finite", |value| value.is_finite());
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        (-70_000i64..70_000).prop_map(Value::Int),
        any::<u64>().prop_map(Value::Uint),
        (0u64..70_000).prop_map(Value::Uint),
        finite.prop_map(Value::Double),
        (-1e6..1e6f64).prop_map(|value| Value::Double(value.round() / 64.0)),
        key().prop_map(Value::Str),
        "\\PC{0,200}".prop_map(Value::Str),
        prop::collection::vec(any::<u8>(), 0..=57).prop_map(Value::Binary),
    ];
    leaf.prop_recursive(6, 60, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::Array),
            prop::collection::vec((key(), inner), 0..8).prop_map(Value::object),
        ]
    })
}

/// Few and short, so that changes meet them; with all that must be escaped.
fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ab]{0,2}",
        r#"[a"\\/\n\t\r\x08\x0c\x00\x1f\x7f é漢😀$.\[\]*]{0,4}"#,
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        key().prop_map(Step::Key),
        (0usize..6).prop_map(Step::At),
        (0usize..6).prop_map(Step::Last),
    ]
}

/// A path that mostly leads somewhere in `value`, by `choices`.
fn path_in(value: &Value, choices: &[(usize, Step)]) -> Vec<Step> {
    let mut at = Some(value);
    let mut path = Vec::new();
    for (choice, random) in choices {
        let (step, next) = match at {
            Some(Value::Array(elements)) if !elements.is_empty() && choice % 7 > 0 => {
                let n = choice % elements.len();
                (Step::At(n), Some(&elements[n]))
            }
            Some(Value::Object(members)) if !members.is_empty() && choice % 7 > 0 => {
                let (key, value) = &members[choice % members.len()];
                (Step::Key(key.clone()), Some(value))
            }
            _ => (random.clone(), None),
        };
        path.push(step);
        if next.is_none() {
            break;
        }
        at = next;
    }
    path
}

fn op() -> impl Strategy<Value = JsonOp> {
    prop_oneof![
        Just(JsonOp::Replace),
        Just(JsonOp::Insert),
        Just(JsonOp::Remove)
    ]
}

/// Decodes whatever it is. The work is bounded, so the text is.
fn decode_anything(document: &[u8]) {
    let mut out = String::new();
    if Json::parse(document).is_ok_and(|json| json.to_text(&mut out).is_ok()) {
        assert!(out.len() <= 64 + 16 * document.len(), "{}", out.len());
    } else {
        assert_eq!(out, "");
    }
}

#[test]
#[allow(clippy::excessive_precision)] // every digit is meant: the middle between two texts
fn of_two_texts_equally_near_the_even_one() {
    // Exactly …899.25 and …902.75: found by chance.
    for (value, want) in [
        (-1299709906990899.25, "-1299709906990899.2"),
        (1299709906990902.75, "1299709906990902.8"),
    ] {
        let value = Value::Double(value);
        assert_eq!(text(&value.encode()), want);
        assert_eq!(value.text(), want);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_document_has_the_text_of_the_model(value in value()) {
        prop_assert_eq!(text(&value.encode()), value.text());
    }

    #[test]
    fn doubles_read_back(bits in any::<u64>()) {
        let value = f64::from_bits(bits);
        prop_assume!(value.is_finite());
        let text = text(&Value::Double(value).encode());
        prop_assert_eq!(text.parse::<f64>().unwrap().to_bits(), bits);
        prop_assert!(text.contains(['.', 'e']));
        prop_assert!(text.len() <= 34, "{}", text);
    }

    #[test]
    fn changes_do_what_the_model_does(
        before in value(),
        changes in prop::collection::vec(
            (op(), prop::collection::vec((any::<usize>(), step()), 1..4), value()),
            0..6,
        ),
    ) {
        let mut model = before.clone();
        let (mut bytes, mut accepted) = (Vec::new(), true);
        for (op, choices, value) in &changes {
            let path = path_in(&model, choices);
            let value = (*op != JsonOp::Remove).then_some(value);
            bytes.extend(encode_change(*op, &path, value));
            let changed = accepted && model.change(*op, &path, value).is_some();
            accepted &= changed;
        }
        let applied = apply(&before.encode(), &bytes);
        if accepted {
            prop_assert_eq!(applied.unwrap(), model.text());
        } else {
            prop_assert!(applied.is_err());
        }
    }

    #[test]
    fn random_bytes(mut document in prop::collection::vec(any::<u8>(), 0..400), kind in 0u8..4) {
        decode_anything(&document);
        if let Some(first) = document.first_mut() {
            *first = kind;
        }
        decode_anything(&document);
        let _ = JsonDiffs::parse(&document);
        let _ = apply(&[], &document);
    }

    #[test]
    fn random_damage(
        value in value(),
        change in (op(), prop::collection::vec((any::<usize>(), step()), 1..4), value()),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let path = path_in(&value, &change.1);
        let diffs = encode_change(change.0, &path, Some(&change.2));
        let harm = |bytes: &[u8]| {
            let mut bytes = bytes.to_vec();
            for (at, byte) in &damage {
                let len = bytes.len();
                bytes[at.index(len)] = *byte;
            }
            bytes
        };
        let document = value.encode();
        let damaged = harm(&document);
        decode_anything(&damaged);
        decode_anything(&document[..cut.index(document.len())]);
        let _ = apply(&damaged, &diffs);
        let _ = apply(&document, &harm(&diffs));
        let _ = apply(&document, &diffs[..cut.index(diffs.len())]);
    }
}
