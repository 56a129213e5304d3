//! Logs beyond 4 GiB: only headers are shown to the reader, as over a wire on which bodies are
//! skipped.

use crate::forge::{Forge, header};
use crate::support::{fixture, fixture_logs, peak_of};
use datafusion_binlog::binlog::frame::{Framer, TypeSet};
use datafusion_binlog::binlog::problem::{Problem, ProblemKind};
use datafusion_binlog::binlog::reader::{Block, EventReader, Item, Next, structural_types};

/// A log of a format description and of events that are all zeros but for their headers.
struct Sparse {
    head: Vec<u8>,
    /// Offset and header of each event behind `head`.
    headers: Vec<(u64, [u8; 19])>,
    len: u64,
}

impl Sparse {
    fn new(sizes: &[u32]) -> Self {
        let head = Forge::new().build();
        let mut len = head.len() as u64;
        let mut headers = Vec::new();
        for &size in sizes {
            let end = len + u64::from(size);
            headers.push((len, header(28, size as usize, end as u32)));
            len = end;
        }
        Self { head, headers, len }
    }

    /// The bytes from `offset` on, at most `n`.
    fn bytes(&self, offset: u64, n: usize) -> Vec<u8> {
        let n = self.len.saturating_sub(offset).min(n as u64);
        let mut out = vec![0; n as usize];
        let mut place = |at: u64, bytes: &[u8]| {
            for (i, byte) in bytes.iter().enumerate() {
                if let Some(to) = (at + i as u64).checked_sub(offset)
                    && let Some(to) = out.get_mut(to as usize)
                {
                    *to = *byte;
                }
            }
        };
        place(0, &self.head);
        for (at, header) in &self.headers {
            place(*at, header);
        }
        out
    }

    /// Reads it from where `framer` stands, and tells how many bytes were shown.
    fn read(&self, framer: Framer) -> (Vec<Item>, Vec<Problem>, u64) {
        let mut reader = EventReader::new(framer.with_length(Some(self.len)));
        let (mut items, mut problems, mut shown) = (Vec::new(), Vec::new(), 0);
        loop {
            match reader.next().unwrap() {
                Next::Event(item) => items.push(item),
                Next::Problem(problem) => problems.push(problem),
                Next::NeedMore { at_least, .. } => {
                    let from = reader.position();
                    let block = self.bytes(from, at_least.max(64));
                    shown += block.len() as u64;
                    if from + block.len() as u64 >= self.len {
                        reader.finish();
                    }
                    reader.push_block(Block::new(block));
                }
                Next::End => return (items, problems, shown),
            }
        }
    }
}

const GIB: u32 = 1 << 30;

/// Six events of about 1 GiB. One ends exactly at 4 GiB, where `log_pos` is 0 again.
fn six_gib() -> Sparse {
    let head = Forge::new().len() as u32;
    Sparse::new(&[GIB, GIB, GIB, GIB - head, 100, GIB - 100, GIB, 19])
}

#[test]
fn positions_go_on_beyond_4_gib() {
    let log = six_gib();
    let peak = peak_of(|| {
        let framer = Framer::new().with_bodies(structural_types(false));
        let (items, problems, shown) = log.read(framer);
        assert_eq!(problems, []);
        assert_eq!(items.len(), 9);
        let mut end = 4;
        for item in &items {
            assert_eq!(item.pos, end);
            end = item.end_pos;
            assert_eq!(end - item.pos, u64::from(item.header.event_size));
            assert_eq!(item.header.log_pos, end as u32);
        }
        assert_eq!(items[4].end_pos, 1 << 32);
        assert_eq!(items[4].header.log_pos, 0);
        assert_eq!((items[5].pos, items[5].end_pos), (1 << 32, (1 << 32) + 100));
        assert_eq!(items[5].header.log_pos, 100);
        assert_eq!(end, (6 << 30) + 19);
        assert!(shown < 4096, "{shown} bytes were shown of {end}");
    });
    assert!(peak < 64 << 20, "{peak} bytes");
}

#[test]
fn reading_begins_anywhere_beyond_4_gib() {
    let log = six_gib();
    let (all, ..) = log.read(Framer::new().with_bodies(structural_types(false)));
    let mut format = EventReader::new(Framer::new());
    format.push(&log.head);
    format.next().unwrap();
    let format = format.format();
    for from in 5..all.len() {
        // At an event.
        let framer = Framer::resume(std::sync::Arc::clone(format), all[from].pos);
        let (items, problems, _) = log.read(framer.with_bodies(TypeSet::NONE));
        assert_eq!(problems, []);
        let places = |items: &[Item]| items.iter().map(|i| (i.pos, i.end_pos)).collect::<Vec<_>>();
        assert_eq!(places(&items), places(&all[from..]));
    }
    // In the middle of an event, where the next one proves itself by its wrapped log_pos.
    let from = (1 << 32) - 5000;
    let framer = Framer::search(std::sync::Arc::clone(format), from);
    let (items, problems, shown) = log.read(framer.with_bodies(TypeSet::NONE));
    assert_eq!(problems, []);
    assert_eq!(items[0].pos, 1 << 32);
    assert_eq!(items.len(), all.len() - 5);
    assert!(shown < 64 << 10, "{shown}");
}

#[test]
fn a_cut_beyond_4_gib_is_named_with_its_place() {
    let mut log = Sparse::new(&[GIB, GIB, GIB, GIB, GIB, 5000]);
    log.len -= 7;
    let framer = Framer::new().with_bodies(structural_types(false));
    let (items, problems, _) = log.read(framer);
    assert_eq!(items.len(), 6);
    let [problem] = problems.as_slice() else {
        panic!("{problems:?}");
    };
    assert_eq!(problem.kind, ProblemKind::Truncated);
    assert_eq!(problem.pos, items[5].end_pos);
    assert_eq!(problem.pos, (5 << 30) + log.head.len() as u64);
    assert_eq!(problem.length, 5000 - 7);
}

/// Bytes that nobody wants may be pushed or left out: the events are the same.
#[test]
fn skipped_bodies_in_pieces() {
    for name in fixture_logs() {
        if name.contains("encrypted") {
            continue;
        }
        let log = std::fs::read(fixture(&name)).unwrap();
        let read = |piece: usize, skips: bool, bodies: TypeSet| {
            let framer = Framer::new().with_length(Some(log.len() as u64));
            let mut reader = EventReader::new(framer.with_bodies(bodies));
            let (mut seen, mut at, mut hopped) = (Vec::new(), 0, 0);
            loop {
                match reader.next().unwrap() {
                    Next::Event(item) => {
                        seen.push((item.pos, item.end_pos, item.header, item.payload_index));
                        hopped += usize::from(item.len == 0);
                    }
                    Next::Problem(problem) => panic!("{name}: {problem}"),
                    Next::NeedMore { .. } if at >= log.len() => reader.finish(),
                    Next::NeedMore { skip, .. } => {
                        if skips && skip > 0 {
                            // As a reader of a file does it: go there.
                            at = reader.position() as usize;
                            let end = (at + piece).min(log.len());
                            let block = log[at..end].to_vec();
                            at = end;
                            reader.push_block(Block::new(block));
                        } else {
                            let end = (at + piece).min(log.len());
                            reader.push(&log[at..end]);
                            at = end;
                        }
                    }
                    Next::End => return (seen, hopped),
                }
            }
        };
        let (all, _) = read(log.len(), false, TypeSet::ALL);
        for piece in [1, 20, 64, 500] {
            for skips in [false, true] {
                let (seen, hopped) = read(piece, skips, structural_types(true));
                assert_eq!(seen, all, "{name} in pieces of {piece}, {skips}");
                // Where positions are another log's, the bytes behind an event prove it.
                let hops = hopped > 0 || name.contains("relay");
                assert!(piece > 64 || hops, "{name}: nothing was hopped over");
            }
        }
    }
}
