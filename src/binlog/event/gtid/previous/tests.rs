use super::super::testing::*;
use super::*;
use crate::binlog::event::Event;
use proptest::prelude::*;

fn previous(body: &[u8]) -> PreviousGtids<'_> {
    match decode(35, body).unwrap() {
        Event::PreviousGtids(event) => event,
        other => panic!("{other:?}"),
    }
}

/// A PREVIOUS_GTIDS body as a server writes it.
fn encode(set: &GtidSet, tagged: bool) -> Vec<u8> {
    let mut sources = std::collections::BTreeMap::<Tsid, Vec<Interval>>::new();
    for (tsid, interval) in set.intervals() {
        sources.entry(tsid).or_default().push(interval);
    }
    let count = sources.len() as u64;
    let head = if tagged {
        1 << 56 | count << 8 | 1
    } else {
        count
    };
    let mut body = head.to_le_bytes().to_vec();
    for (tsid, intervals) in sources {
        body.extend(tsid.uuid);
        if tagged {
            body.push((tsid.tag.as_str().len() << 1) as u8);
            body.extend(tsid.tag.as_str().bytes());
        }
        body.extend((intervals.len() as u64).to_le_bytes());
        for interval in intervals {
            body.extend(interval.first.to_le_bytes());
            body.extend((interval.last + 1).to_le_bytes());
        }
    }
    body
}

const SET: &str = "11111111-1111-1111-1111-111111111111:1-5:11:13-42,\
                   22222222-2222-2222-2222-222222222222:7";
const TAGGED_SET: &str = "11111111-1111-1111-1111-111111111111:1-5:11:mytag:1-2,\
                          22222222-2222-2222-2222-222222222222:other:9223372036854775806";

#[test]
fn buglog_92_ends_are_exclusive_in_the_log() {
    for (text, tagged) in [(SET, false), (SET, true), (TAGGED_SET, true), ("", false)] {
        let set: GtidSet = text.parse().unwrap();
        let body = encode(&set, tagged);
        let event = decode(35, &body).unwrap();
        assert_eq!(info(&event), text);
        assert_eq!(
            details(&event),
            format!("{{\"previous_gtids\":\"{text}\"}}")
        );
        assert_eq!(previous(&body).is_tagged(), tagged);
        assert_eq!(previous(&body).to_set().unwrap(), set);
        cut_everywhere(35, &body, &[]);
    }
}

#[test]
fn damaged_previous_gtids_are_errors() {
    let good = encode(&SET.parse().unwrap(), false);
    let with = |at: usize, value: u64| {
        let mut body = good.clone();
        body[at..at + 8].copy_from_slice(&value.to_le_bytes());
        body
    };
    for (body, says) in [
        (with(0, 1), "bytes follow"),
        (with(0, 3), "needs"),
        (with(0, u64::MAX >> 8), "needs"),
        (with(0, 2 << 56), "format 2"),
        (with(24, u64::MAX), "intervals"),
        (with(24, 1 << 40), "needs"),
        (with(32, 0), "empty or out of order"),
        (with(32, 6), "empty or out of order"),
        (with(40, 11), "empty or out of order"),
        (with(40, u64::MAX), "empty or out of order"),
        ([&good[..], &[0]].concat(), "1 bytes follow"),
    ] {
        let error = decode(35, &body).unwrap_err();
        assert!(error.message().contains(says), "{says}: {error}");
    }
    // No byte of hostile counts is believed: this returns at once.
    assert!(decode(35, &unhex("ffffffffffffff00")).is_err());
    assert!(decode(35, &unhex("01ffffffffffff01")).is_err());
}

proptest! {
    #[test]
    fn any_bytes_are_an_event_or_an_error(body in prop::collection::vec(any::<u8>(), 0..120)) {
        let _ = decode(35, &body);
    }

    #[test]
    fn damaged_bytes_are_an_event_or_an_error(
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut body = encode(&TAGGED_SET.parse().unwrap(), true);
        let at = at.index(body.len());
        body[at] = byte;
        if let Ok(Event::PreviousGtids(event)) = decode(35, &body) {
            prop_assert_eq!(event.to_set().unwrap().to_string(), info(&Event::PreviousGtids(event)));
        }
    }

    #[test]
    fn previous_gtids_give_the_set_that_was_written(
        spans in prop::collection::vec((0..3u8, 0..3usize, 1..40u64, 0..6u64), 0..20),
    ) {
        let set: GtidSet = spans
            .into_iter()
            .map(|(uuid, tag, first, more)| {
                let tag = Tag::new(["", "a", "b2"][tag].as_bytes()).unwrap();
                let tsid = Tsid { uuid: [uuid; 16], tag };
                (tsid, Interval::new(first, first + more).unwrap())
            })
            .collect();
        let body = encode(&set, true);
        prop_assert_eq!(previous(&body).to_set().unwrap(), set);
    }
}
