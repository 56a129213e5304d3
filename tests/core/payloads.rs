//! TRANSACTION_PAYLOADs that lie, end early, or are bombs: what can be read is read, memory and time
//! are bounded, and the log behind them is not touched.

use crate::forge::{Forge, Frame, gtid, inner, payload, query, xid, zstd};
use crate::support::peak_of;
use datafusion_binlog::binlog::frame::Framer;
use datafusion_binlog::binlog::problem::{Problem, ProblemKind, Severity};
use datafusion_binlog::binlog::reader::read_all;

/// The events of a transaction.
fn transaction() -> Vec<Vec<u8>> {
    vec![
        inner(2, &query("BEGIN")),
        inner(2, &query("INSERT INTO t VALUES (1)")),
        inner(
            2,
            &query("INSERT INTO t VALUES (2), (3), (4), (5), (6), (7), (8)"),
        ),
        inner(16, &xid(7)),
    ]
}

/// A log with this body of a TRANSACTION_PAYLOAD and an XID behind it; and where both stand.
fn log(body: &[u8]) -> (Vec<u8>, u64, u64) {
    let mut forge = Forge::new();
    forge.event(33, &gtid(1));
    let start = forge.len();
    forge.event(40, body);
    let end = forge.len();
    (forge.event(16, &xid(99)).build(), start, end)
}

/// An event inside a payload: index, type, body.
type Inner = (u32, u8, Vec<u8>);

/// Reads such a log: the events inside the payload and the problems. The events around it must be
/// there in any case, and each problem be at the payload.
fn read(body: &[u8]) -> (Vec<Inner>, Vec<Problem>) {
    let (log, start, end) = log(body);
    let mut outer = Vec::new();
    let mut inner = Vec::new();
    let framer = Framer::new().with_verify(true);
    let problems = read_all(framer, log, |item, block, _| {
        let raw = item.raw(block);
        match item.payload_index {
            None => outer.push(item.header.type_code),
            Some(index) => {
                assert_eq!((item.pos, item.end_pos), (start, end));
                inner.push((index, item.header.type_code, raw.body().to_vec()));
            }
        }
    })
    .unwrap();
    assert_eq!(outer, [15, 33, 40, 16], "the log around the payload");
    for (at, (index, ..)) in inner.iter().enumerate() {
        assert_eq!(*index, at as u32);
    }
    for problem in &problems {
        assert_eq!(
            (problem.pos, problem.length),
            (start, end - start),
            "{problem}"
        );
        assert_eq!(problem.kind, ProblemKind::BadEvent, "{problem}");
        assert_eq!(problem.severity, Severity::Error, "{problem}");
        assert_eq!(problem.payload_index, Some(inner.len() as u32), "{problem}");
    }
    (inner, problems)
}

fn expected(events: &[Vec<u8>]) -> Vec<Inner> {
    let inner = events.iter().enumerate();
    inner
        .map(|(at, event)| (at as u32, event[4], event[19..].to_vec()))
        .collect()
}

fn only(problems: &[Problem]) -> &str {
    let [problem] = problems else {
        panic!("{problems:?}");
    };
    &problem.message
}

#[test]
fn buglog_84_payloads_of_either_compression() {
    let events = transaction();
    let plain = events.concat();
    let size = plain.len() as u64;
    for body in [
        payload(0, size, &zstd(&plain)),
        payload(255, size, &plain),
        // Two frames, as a streaming compressor may make them; without a claim in the frame.
        payload(0, size, &[zstd(&plain[..30]), zstd(&plain[30..])].concat()),
        payload(0, size, &Frame::new(None).raw(&plain).build()),
    ] {
        let (inner, problems) = read(&body);
        assert_eq!(inner, expected(&events));
        assert_eq!(problems, []);
    }
    // No transaction at all.
    assert_eq!(read(&payload(255, 0, &[])), (vec![], vec![]));
    assert_eq!(read(&payload(0, 0, &zstd(&[]))), (vec![], vec![]));
}

#[test]
fn a_claim_of_a_tebibyte_takes_no_memory() {
    const TEBIBYTE: u64 = 1 << 40;
    let events = transaction();
    let plain = events.concat();
    let size = plain.len();
    let peak = peak_of(|| {
        // In the event's field, and in the frame's own header too.
        let frame = Frame::new(Some(TEBIBYTE)).raw(&plain).build();
        for (compression, data) in [(0, zstd(&plain)), (255, plain.clone()), (0, frame)] {
            let (inner, problems) = read(&payload(compression, TEBIBYTE, &data));
            assert_eq!(inner, expected(&events));
            assert_eq!(
                only(&problems),
                format!("TRANSACTION_PAYLOAD: {TEBIBYTE} bytes claimed, {size} unpacked")
            );
        }
        // A frame in one segment needs a buffer of the size that it claims.
        let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0xe0];
        frame.extend(TEBIBYTE.to_le_bytes());
        frame.extend(&Frame::new(None).raw(&plain).build()[6..]);
        let (inner, problems) = read(&payload(0, TEBIBYTE, &frame));
        assert_eq!(inner, []);
        assert!(only(&problems).contains("does not unpack"), "{problems:?}");
        // And the fields of the event: the payload's own size, and a length of a field.
        let mut body = vec![1, 9, 0xfe];
        body.extend(TEBIBYTE.to_le_bytes());
        body.extend([2, 3, 0xfc, 255, 0, 0]);
        body.extend(&plain);
        assert_eq!(read(&body), (expected(&events), vec![]));
        let mut body = vec![3, 0xfe];
        body.extend(TEBIBYTE.to_le_bytes());
        let (inner, problems) = read(&body);
        assert_eq!(inner, []);
        assert!(only(&problems).contains("0 on are lost"), "{problems:?}");
    });
    assert!(peak < 64 << 20, "{peak} bytes");
}

#[test]
fn buglog_84_an_unknown_compression_is_reported_and_the_log_goes_on() {
    let (inner, problems) = read(&payload(7, 100, b"what is this"));
    assert_eq!(inner, []);
    assert_eq!(
        only(&problems),
        "TRANSACTION_PAYLOAD: compression 7 is not known; its events from index 0 on are lost"
    );
    // No compression is named.
    let (inner, problems) = read(&[0, 1, 2, 3]);
    assert_eq!(inner, []);
    assert!(
        only(&problems).contains("no compression type"),
        "{problems:?}"
    );
}

#[test]
fn a_payload_cut_anywhere_gives_its_whole_events_and_a_problem() {
    let events = transaction();
    let plain = events.concat();
    let ends: Vec<usize> = events
        .iter()
        .scan(0, |end, event| {
            *end += event.len();
            Some(*end)
        })
        .collect();
    for cut in 0..plain.len() {
        let whole = ends.iter().filter(|&&end| end <= cut).count();
        let (inner, problems) = read(&payload(255, plain.len() as u64, &plain[..cut]));
        assert_eq!(inner, expected(&events[..whole]), "cut at {cut}");
        let message = only(&problems);
        if ends.contains(&cut) || cut == 0 {
            assert!(message.contains("claimed"), "cut at {cut}: {message}");
        } else {
            let lost = format!("events from index {whole} on are lost");
            assert!(message.contains(&lost), "cut at {cut}: {message}");
        }
    }
    let packed = zstd(&plain);
    for cut in 0..packed.len() {
        let (inner, problems) = read(&payload(0, plain.len() as u64, &packed[..cut]));
        assert_eq!(inner, expected(&events[..inner.len()]), "cut at {cut}");
        assert_eq!(problems.len(), 1, "cut at {cut}: {problems:?}");
    }
    // Bytes behind the frame that are none.
    let (inner, problems) = read(&payload(
        0,
        plain.len() as u64,
        &[&packed[..], b"garbage"].concat(),
    ));
    assert_eq!(inner, expected(&events[..inner.len()]));
    assert_eq!(problems.len(), 1, "{problems:?}");
}

#[test]
fn every_byte_of_a_payload_flipped() {
    let events = transaction();
    let plain = events.concat();
    for body in [
        payload(0, plain.len() as u64, &zstd(&plain)),
        payload(255, plain.len() as u64, &plain),
    ] {
        for at in 0..body.len() {
            for bits in [0x01, 0x80, 0xff] {
                let mut flipped = body.clone();
                flipped[at] ^= bits;
                // `read` asserts what must hold; the checksum of the outer event is true.
                let (inner, _) = read(&flipped);
                assert!(inner.len() <= plain.len() / 19);
            }
        }
    }
}

#[test]
fn a_payload_inside_a_payload_is_not_unpacked() {
    let core = transaction().concat();
    let events = [
        inner(2, &query("BEGIN")),
        inner(40, &payload(255, core.len() as u64, &core)),
        inner(16, &xid(1)),
    ];
    let plain = events.concat();
    let (inner, problems) = read(&payload(0, plain.len() as u64, &zstd(&plain)));
    assert_eq!(inner, expected(&events[..2]));
    assert!(
        only(&problems).contains("a payload inside a payload"),
        "{problems:?}"
    );
}

#[test]
fn a_bomb_of_zeros_is_no_event() {
    let peak = peak_of(|| {
        // 16 GiB of zeros from half a megabyte.
        let bomb = Frame::new(None).repeat(0, 16 << 30).build();
        let (inner, problems) = read(&payload(0, 16 << 30, &bomb));
        assert_eq!(inner, []);
        assert!(
            only(&problems).contains("zeros where an event"),
            "{problems:?}"
        );
    });
    assert!(peak < 64 << 20, "{peak} bytes");
}

#[test]
fn buglog_85_many_events_are_unpacked_block_by_block() {
    const EVENTS: usize = 400;
    const BODY: usize = 256 << 10;
    let mut frame = Frame::new(None);
    for _ in 0..EVENTS {
        frame.raw(&inner(28, &[])[..9]);
        frame.raw(&((19 + BODY) as u32).to_le_bytes());
        frame.raw(&[0; 6]);
        frame.repeat(b'x', BODY as u64);
    }
    let body = payload(0, (EVENTS * (19 + BODY)) as u64, &frame.build());
    assert!(body.len() < 32 << 10, "{}", body.len());
    let (log, ..) = log(&body);
    let mut inner = 0;
    let peak = peak_of(|| {
        let problems = read_all(Framer::new(), log, |item, block, _| {
            if item.payload_index.is_some() {
                let body = item.raw(block);
                assert_eq!(body.body().len(), BODY);
                assert_eq!(body.body()[BODY - 1], b'x');
                inner += 1;
            }
        })
        .unwrap();
        assert_eq!(problems, []);
    });
    assert_eq!(inner, EVENTS);
    assert!(peak < 64 << 20, "{peak} bytes for 100 MiB");
}

#[test]
fn an_event_that_is_longer_than_what_follows() {
    let begin = inner(2, &query("BEGIN"));
    let mut long = inner(28, b"");
    let peak = peak_of(|| {
        // 1 GiB is claimed and 1 MiB arrives.
        long[9..13].copy_from_slice(&(1u32 << 30).to_le_bytes());
        let frame = Frame::new(None)
            .raw(&begin)
            .raw(&long)
            .repeat(b'x', 1 << 20)
            .build();
        let (inner, problems) = read(&payload(0, 1 << 30, &frame));
        assert_eq!(inner, expected(std::slice::from_ref(&begin)));
        assert!(
            only(&problems).contains("index 1 on are lost"),
            "{problems:?}"
        );
    });
    assert!(peak < 64 << 20, "{peak} bytes");
}

/// An event of more than 1 GiB, which no server writes, is not unpacked; what follows it is not
/// taken for events, though it looks like some.
#[test]
fn an_event_of_three_gib_ends_its_payload() {
    let begin = inner(2, &query("BEGIN"));
    let mut long = inner(28, b"");
    long[9..13].copy_from_slice(&(3u32 << 30).to_le_bytes());
    let peak = peak_of(|| {
        let mut frame = Frame::new(None);
        frame.raw(&begin).raw(&long);
        for _ in 0..20_000 {
            frame.raw(&inner(16, &xid(5)));
        }
        let (log, start, _) = log(&payload(0, 3 << 30, &frame.build()));
        let mut inner = Vec::new();
        let problems = read_all(Framer::new(), log, |item, _, _| {
            if item.payload_index.is_some() {
                inner.push((item.header.type_code, item.len));
            }
        })
        .unwrap();
        assert_eq!(inner, [(2, begin.len())]);
        assert_eq!(problems[0].pos, start);
        let message = only(&problems);
        assert!(message.contains("more than any server writes"), "{message}");
        assert!(message.contains("index 1 on are lost"), "{message}");
    });
    assert!(peak < 64 << 20, "{peak} bytes");
}
