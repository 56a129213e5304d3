//! What is fuzzed: one function a target, of any bytes. A target must not panic, must end, and what
//! it asserts must hold whatever the bytes are.
//!
//! `cargo fuzz` calls them from `fuzz_targets/`; the test `fuzz_replay` calls them on stable Rust.
#![allow(dead_code)] // each binary has one target

use datafusion_binlog::binlog::event::{Event, EventContext, Flavor, FormatDescription};
use datafusion_binlog::binlog::fields::Checker;
use datafusion_binlog::binlog::frame::{Framer, RawEvent, TypeSet};
use datafusion_binlog::binlog::gtid::{Gtid, GtidSet, Tag, Tsid};
use datafusion_binlog::binlog::gtid_mariadb::MariadbPosition;
use datafusion_binlog::binlog::header::{HEADER_LEN, Header};
use datafusion_binlog::binlog::problem::{Problem, ProblemKind, Severity};
use datafusion_binlog::binlog::reader::{EventReader, Item, Next, read_all, structural_types};

pub mod rows;

/// An event as far as two readings of a log can be compared.
type Seen = (u64, u64, u8, Option<u32>);

fn seen(item: &Item) -> Seen {
    let code = item.header.type_code;
    (item.pos, item.end_pos, code, item.payload_index)
}

/// A log: the first two bytes say how it is read, the others are the log behind its magic.
///
/// Events follow each other in order, every byte is in an event or in a problem, and a log in
/// pieces has the same events as in one.
pub fn frame(data: &[u8]) {
    let [how, piece, rest @ ..] = data else {
        return;
    };
    let mut log = b"\xfebin".to_vec();
    log.extend_from_slice(rest);
    let bodies = match how & 3 {
        0 => TypeSet::NONE,
        1 => structural_types(true),
        _ => TypeSet::ALL,
    };
    let framer = || {
        let length = (how & 4 == 0).then_some(log.len() as u64);
        Framer::new()
            .with_length(length)
            .with_bodies(bodies)
            .with_verify(how & 8 != 0)
    };
    let (events, problems) = read(framer(), &log, log.len(), how & 16 == 0);
    let mut end = 4;
    let mut covered = 0;
    for event in events.iter().filter(|event| event.3.is_none()) {
        assert!(event.0 >= end && event.1 > event.0, "{events:?}");
        end = event.1;
        covered += event.1 - event.0;
    }
    assert!(end <= log.len() as u64, "{events:?}");
    for problem in &problems {
        assert_one_line(problem);
        assert!(
            problem.pos >= 4 && problem.pos + problem.length <= log.len() as u64,
            "{problem}"
        );
        let passed_over = matches!(
            problem.kind,
            ProblemKind::Truncated | ProblemKind::Resync | ProblemKind::Encrypted
        );
        // What is only odd, or wrong inside an event, is in that event.
        if passed_over || !events.iter().any(|event| event.0 == problem.pos) {
            covered += problem.length;
        }
    }
    assert!(covered >= log.len() as u64 - 4, "{events:?} {problems:?}");
    let piece = usize::from(*piece).max(1);
    let pieces = read(framer(), &log, piece, how & 16 == 0);
    assert_eq!(pieces, (events, problems), "in pieces of {piece}");
}

/// What is shown to people is one line, whatever the log says.
fn assert_one_line(problem: &Problem) {
    let message = &problem.message;
    assert!(
        !message.is_empty() && !message.contains(char::is_control),
        "{message:?}"
    );
}

/// Pushes a log in pieces.
fn read(framer: Framer, log: &[u8], piece: usize, expand: bool) -> (Vec<Seen>, Vec<Problem>) {
    let mut reader = EventReader::new(framer).with_expand(expand);
    let (mut events, mut problems) = (Vec::new(), Vec::new());
    let mut rest = log;
    // Each turn gives something that takes at least one byte of the log or of a payload, or
    // consumes a piece; a payload of n bytes cannot hold more than 2^17 n.
    loop {
        match reader.next() {
            Ok(Next::Event(item)) => events.push(seen(&item)),
            Ok(Next::Problem(problem)) => problems.push(problem),
            Ok(Next::NeedMore { .. }) if rest.is_empty() => reader.finish(),
            Ok(Next::NeedMore { .. }) => {
                let (head, tail) = rest.split_at(piece.min(rest.len()));
                reader.push(head);
                rest = tail;
            }
            Ok(Next::End) => return (events, problems),
            Err(error) => panic!("a log with its magic is readable: {error}"),
        }
    }
}

/// One event: its type code, its flags, the layout of the log, then its body.
///
/// It decodes or not; what it says of itself is text and JSON, and the check for `problems` agrees.
pub fn events(data: &[u8]) {
    let [code, flags, how, body @ ..] = data else {
        return;
    };
    let mut format = match how & 3 {
        0 => FormatDescription::assumed_old(1),
        1 => FormatDescription::assumed_old(3),
        _ => FormatDescription::assumed(),
    };
    if how & 4 != 0 {
        format = mariadb(format);
    }
    if how & 8 != 0 {
        // The table ids of 4 bytes of early 5.1.
        for at in [18, 19, 20, 21, 22, 23, 24] {
            if let Some(len) = format.post_header_lens.get_mut(at) {
                *len = 6;
            }
        }
    }
    let mut bytes = vec![0; HEADER_LEN];
    bytes.extend_from_slice(body);
    let header = Header {
        type_code: *code,
        server_id: 1,
        event_size: bytes.len() as u32,
        flags: u16::from(*flags),
        ..Header::default()
    };
    let raw = RawEvent {
        header,
        offset: 4,
        bytes: &bytes,
        header_len: HEADER_LEN as u8,
        checksum_len: 0,
    };
    let cx = EventContext {
        header: &header,
        format: &format,
    };
    let decoded = Event::decode_with_rest(raw.body(), &cx);
    let problems = Checker::default().check(&raw, None, &format);
    for problem in &problems {
        assert_one_line(problem);
        assert_eq!((problem.pos, problem.length), (4, bytes.len() as u64));
    }
    let Ok((event, rest)) = decoded else {
        assert!(
            problems.iter().any(|p| p.severity == Severity::Error),
            "what does not decode is an error in problems"
        );
        return;
    };
    assert!(rest.len() <= body.len());
    let mut info = String::new();
    let told = event.info(&mut info);
    let mut details = String::new();
    let fields =
        datafusion_binlog::binlog::details::Details::object(&mut details, |out| event.details(out));
    if told.is_err() || fields.is_err() {
        assert!(problems.iter().any(|p| p.severity == Severity::Error));
    } else {
        let mut json = Json(details.as_bytes());
        json.value(0);
        assert!(json.0.is_empty(), "{details}");
    }
}

fn mariadb(mut format: FormatDescription) -> FormatDescription {
    format.flavor = Flavor::MariaDb;
    format.post_header_lens.resize(171, 0);
    format.post_header_lens[164] = 13;
    format
}

/// Just enough of a parser to tell JSON from what is none.
struct Json<'a>(&'a [u8]);

impl Json<'_> {
    fn next(&mut self) -> u8 {
        let (&first, rest) = self.0.split_first().expect("JSON ends too early");
        self.0 = rest;
        first
    }

    fn eat(&mut self, byte: u8) -> bool {
        let there = self.0.first() == Some(&byte);
        if there {
            self.next();
        }
        there
    }

    fn list(&mut self, end: u8, mut item: impl FnMut(&mut Self)) {
        if self.eat(end) {
            return;
        }
        loop {
            item(self);
            match self.next() {
                b',' => {}
                byte => {
                    assert_eq!(byte, end);
                    return;
                }
            }
        }
    }

    fn string(&mut self) {
        assert_eq!(self.next(), b'"');
        loop {
            match self.next() {
                b'"' => return,
                b'\\' => match self.next() {
                    b'u' => (0..4).for_each(|_| assert!(self.next().is_ascii_hexdigit())),
                    escape => assert!(b"\"\\/bfnrt".contains(&escape)),
                },
                byte => assert!(byte >= 0x20, "a control character in a string"),
            }
        }
    }

    fn value(&mut self, depth: usize) {
        assert!(depth < 20);
        match *self.0.first().expect("a value") {
            b'{' => {
                self.next();
                self.list(b'}', |json| {
                    json.string();
                    assert_eq!(json.next(), b':');
                    json.value(depth + 1);
                });
            }
            b'[' => {
                self.next();
                self.list(b']', |json| json.value(depth + 1));
            }
            b'"' => self.string(),
            _ => {
                let end = self.0.iter().position(|b| b",]}".contains(b));
                let (word, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
                let word = std::str::from_utf8(word).expect("text");
                let number = word.parse::<f64>().is_ok_and(f64::is_finite);
                assert!(
                    number || ["null", "true", "false"].contains(&word),
                    "{word}"
                );
                self.0 = rest;
            }
        }
    }
}

/// Two GTID sets: as text, on both sides of a zero byte, and from the bytes themselves.
///
/// A set that is read is printed and read again the same; union, difference and containment agree.
pub fn gtid(data: &[u8]) {
    let mut parts = data.splitn(2, |&byte| byte == 0);
    let [a, b] = [(); 2].map(|()| parts.next().unwrap_or_default());
    for text in [a, b] {
        let Ok(text) = std::str::from_utf8(text) else {
            continue;
        };
        if let Ok(set) = text.parse::<GtidSet>() {
            let again = set.to_string().parse::<GtidSet>().unwrap();
            assert_eq!(set, again, "{text}");
        }
        if let Ok(gtid) = text.parse::<Gtid>() {
            assert_eq!(gtid.to_string().parse::<Gtid>().unwrap(), gtid);
        }
        if let Ok(position) = text.parse::<MariadbPosition>() {
            let again = position.to_string().parse::<MariadbPosition>().unwrap();
            assert_eq!(position, again, "{text}");
        }
    }
    let text = |bytes| std::str::from_utf8(bytes).ok()?.parse::<GtidSet>().ok();
    if let (Some(a), Some(b)) = (text(a), text(b)) {
        algebra(&a, &b);
    }
    algebra(&small_set(a), &small_set(b));
}

/// A set of few servers and small numbers, so that two of them meet.
fn small_set(bytes: &[u8]) -> GtidSet {
    let mut set = GtidSet::new();
    for pair in bytes.chunks_exact(2).take(200) {
        let tag = match pair[0] >> 6 {
            0 => Tag::new(b"blue").unwrap(),
            _ => Tag::NONE,
        };
        let uuid = [pair[0] & 3; 16];
        let gno = u64::from(pair[1] % 64) + 1;
        set.insert(Gtid {
            tsid: Tsid { uuid, tag },
            gno,
        });
    }
    set
}

fn algebra(a: &GtidSet, b: &GtidSet) {
    let union = a.union(b);
    let (a_only, b_only) = (a.subtract(b), b.subtract(a));
    assert!(union.contains_set(a) && union.contains_set(b));
    assert_eq!(union, b.union(a));
    assert_eq!(union.count(), a.count() + b_only.count());
    assert_eq!(union.subtract(b), a_only);
    assert_eq!(a_only.union(b), union);
    assert_eq!(a_only.is_empty(), b.contains_set(a));
    assert!(a.subtract(a).is_empty());
    for set in [a, b, &union, &a_only] {
        assert_eq!(&set.to_string().parse::<GtidSet>().unwrap(), set);
        let sum: u128 = set.intervals().map(|(_, i)| u128::from(i.count())).sum();
        assert_eq!(sum, set.count());
    }
}

/// A TRANSACTION_PAYLOAD: the first byte says how it is packed, the others are its body (0), its
/// content as it is (1), or its content yet to be packed (2).
///
/// Whatever it holds, the events around it are there, and what is wrong is at its place.
pub fn payload(data: &[u8]) {
    let [how, data @ ..] = data else {
        return;
    };
    let body = match how % 3 {
        0 => data.to_vec(),
        1 => [&[2, 3, 0xfc, 255, 0, 0][..], data].concat(),
        _ => {
            let packed = pack(data);
            [&[2, 1, 0, 0][..], &packed].concat()
        }
    };
    let mut log = FORMAT.to_vec();
    let start = log.len() as u64;
    push_event(&mut log, 40, &body);
    let end = log.len() as u64;
    push_event(&mut log, 16, &7u64.to_le_bytes());
    let mut outer = Vec::new();
    let mut next = 0;
    let framer = Framer::new().with_verify(true);
    let mut checker = Checker::default();
    let problems = read_all(framer, log, |item, block, format| {
        match item.payload_index {
            None => outer.push(item.header.type_code),
            Some(index) => {
                assert_eq!(index, next);
                next += 1;
                assert_eq!((item.pos, item.end_pos), (start, end));
                checker.check(&item.raw(block), Some(index), format);
            }
        }
    });
    for problem in problems.expect("a log with a format description is readable") {
        assert_eq!(
            (problem.pos, problem.length),
            (start, end - start),
            "{problem}"
        );
    }
    assert_eq!(outer, [15, 40, 16]);
}

/// A Zstandard frame of blocks that are not compressed, so that fuzzing goes on behind it.
fn pack(content: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 7 << 3];
    for chunk in content.chunks(100_000) {
        frame.extend_from_slice(&((chunk.len() as u32) << 3).to_le_bytes()[..3]);
        frame.extend_from_slice(chunk);
    }
    frame.extend([1, 0, 0]);
    frame
}

fn push_event(log: &mut Vec<u8>, code: u8, body: &[u8]) {
    let size = (HEADER_LEN + body.len() + 4) as u32;
    let end = log.len() as u32 + size;
    let start = log.len();
    log.extend([1, 2, 3, 4, code, 1, 0, 0, 0]);
    log.extend(size.to_le_bytes());
    log.extend(end.to_le_bytes());
    log.extend([0, 0]);
    log.extend_from_slice(body);
    let crc = crc32(&log[start..]);
    log.extend(crc.to_le_bytes());
}

/// CRC-32 (IEEE), bit by bit: the fuzz package has no other dependency.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = !0u32;
    for &byte in bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
    }
    !crc
}

/// A log of MySQL 5.6.15 that has nothing but its format description.
const FORMAT: &[u8] = b"\
    \xfebin~\x8d;T\x0f\xe9\x03\0\0t\0\0\0x\0\0\0\0\0\x04\x005.6.15-log\0\0\0\0\0\0\0\0\0\0\0\0\0\0\
    \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0~\x8d;T\x138\r\0\x08\0\x12\0\x04\x04\x04\
    \x04\x12\0\0\\\0\x04\x1a\x08\0\0\0\x08\x08\x08\x02\0\0\0\n\n\n\x19\x19\0\x01\xfa\xd5\x17/";
