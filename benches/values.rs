//! How fast values become Arrow arrays, type by type: batches of 8192 rows, of which every eighth
//! is NULL or none. `cargo bench --no-default-features --features arrow --bench values`.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use datafusion_binlog::batch::values::{Stretch, TypeOptions, build, field_of};
use datafusion_binlog::binlog::event::{Event, EventContext, FormatDescription, TableMapOwned};
use datafusion_binlog::binlog::header::Header;
use datafusion_binlog::binlog::reader::Block;
use datafusion_binlog::binlog::row::Place;
use std::hint::black_box;

const ROWS: usize = 8192;

/// A table `s.t` with one column.
fn table(code: u8, metadata: &[u8], optional: &[u8]) -> TableMapOwned {
    let mut body = b"\x5d\0\0\0\0\0\x01\0\x01s\0\x01t\0".to_vec();
    body.extend([1, code, metadata.len() as u8]);
    body.extend(metadata);
    body.push(1);
    body.extend(optional);
    let (header, format) = (
        Header {
            type_code: 19,
            ..Header::default()
        },
        FormatDescription::assumed(),
    );
    let cx = EventContext {
        header: &header,
        format: &format,
    };
    match Event::decode(&body, &cx).unwrap() {
        Event::TableMap(map) => TableMapOwned::new(&map).unwrap(),
        _ => unreachable!(),
    }
}

/// A text of `len` bytes behind its length.
fn text(n: usize, len: usize) -> Vec<u8> {
    let text = format!("{:0>len$}", n.wrapping_mul(2_654_435_761) % 99_999_999);
    let mut out = vec![text.len() as u8];
    out.extend(text.bytes());
    out
}

/// Name, type code, metadata, optional metadata, and value n.
type Case = (
    &'static str,
    u8,
    &'static [u8],
    &'static [u8],
    fn(usize) -> Vec<u8>,
);

const UTF8MB4: &[u8] = &[2, 1, 45];
const LATIN1: &[u8] = &[2, 1, 8];
const BYTES: &[u8] = &[2, 1, 63];

const CASES: &[Case] = &[
    ("int", 3, &[], &[1, 1, 0], |n| {
        (n as u32).to_le_bytes().to_vec()
    }),
    ("bigint of unknown sign", 8, &[], &[], |n| {
        (n as u64).to_le_bytes().to_vec()
    }),
    ("double", 5, &[8], &[], |n| {
        (n as f64).to_le_bytes().to_vec()
    }),
    ("decimal(10,2)", 246, &[10, 2], &[], |n| {
        let mut out = (0x8000_0000 | n as u32).to_be_bytes().to_vec();
        out.push(n as u8 % 100);
        out
    }),
    ("decimal(30,10)", 246, &[30, 10], &[], |n| {
        let mut out = vec![0x80];
        for _ in 0..3 {
            out.extend((n as u32).to_be_bytes());
        }
        out.push(9);
        out
    }),
    ("date", 10, &[], &[], |n| {
        let date = (2026 << 9) | ((n as u32 % 12 + 1) << 5) | (n as u32 % 28 + 1);
        date.to_le_bytes()[..3].to_vec()
    }),
    ("datetime", 18, &[0], &[], |n| {
        let n = n as u64;
        let date = (1 << 39) | ((2026 * 13 + n % 12 + 1) << 22) | ((n % 28 + 1) << 17);
        (date | ((n % 24) << 12) | ((n % 60) << 6)).to_be_bytes()[3..].to_vec()
    }),
    ("datetime(6)", 18, &[6], &[], |n| {
        let n = n as u64;
        let date = (1 << 39) | ((2026 * 13 + n % 12 + 1) << 22) | ((n % 28 + 1) << 17);
        let mut out = (date | ((n % 24) << 12) | ((n % 60) << 6)).to_be_bytes()[3..].to_vec();
        out.extend(&(n as u32).to_be_bytes()[1..]);
        out
    }),
    ("timestamp", 17, &[0], &[], |n| {
        (1_700_000_000 + n as u32).to_be_bytes().to_vec()
    }),
    ("time", 19, &[0], &[], |n| {
        (0x0080_0000 | (n as u32 % 60)).to_be_bytes()[1..].to_vec()
    }),
    ("char of 8 bytes", 254, &[254, 40], UTF8MB4, |n| text(n, 8)),
    ("varchar of 40 bytes", 15, &[160, 0], UTF8MB4, |n| {
        text(n, 40)
    }),
    ("varchar of 40 bytes, latin1", 15, &[160, 0], LATIN1, |n| {
        text(n, 40)
    }),
    ("varchar of nothing known", 15, &[160, 0], &[], |n| {
        text(n, 40)
    }),
    ("binary(16)", 254, &[254, 16], BYTES, |n| text(n, 16)),
    (
        "enum",
        254,
        &[247, 1],
        &[6, 9, 4, 1, b'a', 1, b'b', 1, b'c', 1, b'd'],
        |n| vec![n as u8 % 4 + 1],
    ),
    (
        "set",
        254,
        &[248, 1],
        &[5, 9, 4, 1, b'a', 1, b'b', 1, b'c', 1, b'd'],
        |n| vec![n as u8 % 16],
    ),
    ("json", 245, &[4], &[], |n| {
        let mut out = vec![16, 0, 0, 0, 0, 1, 0, 15, 0, 11, 0, 1, 0, 5];
        out.extend((n as u16).to_le_bytes());
        out.push(b'a');
        // The document ends with its key; the size counts from behind the type.
        out[0] = out.len() as u8 - 4;
        out[7] = out.len() as u8 - 5;
        out
    }),
];

fn values(c: &mut Criterion) {
    let mut group = c.benchmark_group("values");
    group.throughput(Throughput::Elements(ROWS as u64));
    let options = TypeOptions::default();
    for (name, code, metadata, optional, value) in CASES {
        let map = table(*code, metadata, optional);
        let column = &map.plan().unwrap().columns()[0];
        let mut block = Vec::new();
        let places: Vec<Place> = (0..ROWS)
            .map(|n| {
                if n % 8 == 7 {
                    return Place::NULL;
                }
                // Other columns lie between.
                block.extend([0; 8]);
                let place = Place::at(block.len()).unwrap();
                block.extend(value(n));
                place
            })
            .collect();
        let field = field_of(column, &options);
        for (with, places) in [
            ("an eighth NULL", places.clone()),
            (
                "no NULL",
                places
                    .iter()
                    .copied()
                    .filter(|&p| p != Place::NULL)
                    .collect(),
            ),
        ] {
            let block = Block::new(block.clone());
            let blocks = [block.clone()];
            let stretch = Stretch {
                column: Some(column),
                block: &block,
                number: 0,
                places: &places,
                bases: &[],
            };
            group.bench_function(BenchmarkId::new(*name, with), |b| {
                b.iter(|| {
                    let note = &mut |row, note| panic!("{row}: {note:?}");
                    black_box(build(&field, &options, &[stretch], &blocks, note))
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, values);
criterion_main!(benches);
