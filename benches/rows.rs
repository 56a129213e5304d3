//! How fast the rows of an event are taken apart: where values stand, and all values decoded. The
//! tables are that of sysbench (`id int, k int, c char(120), pad char(60)`), and one of twelve
//! columns of which some are NULL. `cargo bench --no-default-features --bench rows`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use datafusion_binlog::binlog::event::{
    Event, EventContext, FormatDescription, RowsEvent, RowsKind, RowsLayout, TableMapOwned,
};
use datafusion_binlog::binlog::header::Header;
use datafusion_binlog::binlog::row::{LocatePlan, Located, RowReader};
use std::hint::black_box;

const ROWS: usize = 8192;

/// A table `s.t` with columns of these types.
fn table(types: &[u8], metadata: &[u8]) -> TableMapOwned {
    let mut body = b"\x5d\0\0\0\0\0\x01\0\x01s\0\x01t\0".to_vec();
    body.push(types.len() as u8);
    body.extend(types);
    body.push(metadata.len() as u8);
    body.extend(metadata);
    body.resize(body.len() + types.len().div_ceil(8), 0xff);
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

fn event<'a>(kind: RowsKind, present: &'a [u8], columns: usize) -> RowsEvent<'a> {
    RowsEvent {
        kind,
        layout: RowsLayout::V2,
        compressed: false,
        table_id: 93,
        flags: 1,
        extra: &[],
        column_count: columns,
        columns_before: (kind == RowsKind::Update).then_some(present),
        columns_after: Some(present),
        rows: &[],
    }
}

/// One image of sysbench.
fn sysbench(n: usize, out: &mut Vec<u8>) {
    out.push(0xf0);
    out.extend((n as u32).to_le_bytes());
    out.extend((n as u32 * 7919).to_le_bytes());
    for (len, digit) in [(119, b'4'), (59, b'7')] {
        out.push(len);
        out.resize(out.len() + usize::from(len), digit);
    }
}

/// One image of twelve columns: (INT, VARCHAR(20), DATETIME) four times. Every third row has no NULL.
fn twelve(n: usize, out: &mut Vec<u8>) {
    let nulls = [0u16, 0b0001_0000_0010, 0b1000_0010_0000][n % 3] | 0xf000;
    out.extend(nulls.to_le_bytes());
    for column in 0..12 {
        if nulls >> column & 1 != 0 {
            continue;
        }
        match column % 3 {
            0 => out.extend((n as u32).to_le_bytes()),
            1 => {
                out.push(11);
                out.extend(b"hello world");
            }
            _ => out.extend([0x99, 0xb0, 0x42, 0x11, 0x22]),
        }
    }
}

struct Case {
    name: &'static str,
    map: TableMapOwned,
    kind: RowsKind,
    columns: usize,
    image: fn(usize, &mut Vec<u8>),
}

fn cases() -> [Case; 3] {
    let oltp = || table(&[3, 3, 254, 254], &[0xfe, 120, 0xfe, 60]);
    let types = [3, 15, 18].repeat(4);
    [
        Case {
            name: "sysbench insert",
            map: oltp(),
            kind: RowsKind::Insert,
            columns: 4,
            image: sysbench,
        },
        Case {
            name: "sysbench update",
            map: oltp(),
            kind: RowsKind::Update,
            columns: 4,
            image: sysbench,
        },
        Case {
            name: "twelve columns with NULL",
            map: table(&types, &[20, 0, 0].repeat(4)),
            kind: RowsKind::Insert,
            columns: 12,
            image: twelve,
        },
    ]
}

fn rows(c: &mut Criterion) {
    for case in cases() {
        let present = [0xff, 0xff];
        let present = &present[..case.columns.div_ceil(8)];
        let event = event(case.kind, present, case.columns);
        let mut block = Vec::new();
        for n in 0..ROWS {
            (case.image)(n, &mut block);
            if case.kind == RowsKind::Update {
                (case.image)(n + 1, &mut block);
            }
        }
        let (plan, shape) = (case.map.plan().unwrap(), case.map.shape());
        let mut group = c.benchmark_group(case.name);
        group.throughput(Throughput::Elements(ROWS as u64));
        let every: Vec<usize> = (0..case.columns).collect();
        for (name, row, before) in [
            ("locate all columns", &every[..], &[][..]),
            ("locate all columns and those before", &every, &every),
            ("locate one column", &[1], &[]),
            ("locate none", &[], &[]),
        ] {
            let plan = LocatePlan::new(plan, shape, &event, row, before).unwrap();
            let mut out = Located::default();
            group.bench_function(name, |b| {
                b.iter(|| {
                    out.clear();
                    let mut rows = plan.rows(0, block.len());
                    let (count, error) = plan.locate(&block, &mut rows, ROWS, &mut out);
                    assert!(count == ROWS && error.is_none());
                    black_box(&mut out);
                });
            });
        }
        // As many events of one row each, which is what most applications write.
        let one = LocatePlan::new(plan, shape, &event, &every, &[]).unwrap();
        let mut ends = Vec::new();
        let mut rows = one.rows(0, block.len());
        while one.locate(&block, &mut rows, 1, &mut Located::default()).0 > 0 {
            ends.push(rows.at());
        }
        let mut out = Located::default();
        group.bench_function("locate all columns of single rows", |b| {
            b.iter(|| {
                out.clear();
                let mut start = 0;
                for &end in &ends {
                    assert!(one.is_of(black_box(&event)));
                    let mut rows = one.rows(start, end);
                    one.locate(&block, &mut rows, ROWS, &mut out);
                    start = end;
                }
                assert_eq!(out.len(), ROWS);
                black_box(&mut out);
            });
        });
        group.bench_function("decode all columns", |b| {
            b.iter(|| {
                let mut reader = RowReader::new(&case.map, &event, &block).unwrap();
                while let Some(row) = reader.next().unwrap() {
                    black_box(row);
                }
            });
        });
        group.finish();
    }
}

criterion_group!(benches, rows);
criterion_main!(benches);
