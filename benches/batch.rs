//! How fast events become batches: header columns only, and every column.
//! `cargo bench --no-default-features --features arrow --bench batch`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use datafusion_binlog::batch::{EventBatcher, EventColumn};
use datafusion_binlog::binlog::frame::{Framer, TypeSet};
use datafusion_binlog::binlog::reader::{Block, EventReader, Next, structural_types};
use std::hint::black_box;
use std::sync::Arc;

mod common;

fn batches(log: &Block, columns: &[EventColumn]) -> usize {
    let mut batcher = EventBatcher::new(Arc::from("log"), columns);
    let bodies = structural_types(true).union(batcher.bodies(TypeSet::ALL));
    let length = log.as_ref().len() as u64;
    let framer = Framer::new().with_bodies(bodies).with_length(Some(length));
    let mut reader = EventReader::new(framer);
    reader.push_block(log.clone());
    reader.finish();
    let mut rows = 0;
    let mut flush = |batcher: &mut EventBatcher| {
        rows += batcher.len();
        black_box(batcher.columns(columns, None, &mut Vec::new()));
        batcher.clear();
    };
    while let Next::Event(item) = reader.next().unwrap() {
        batcher.observe(&item, reader.block(), reader.format());
        batcher.push(&item, reader.block(), reader.format());
        if batcher.len() == 8192 {
            flush(&mut batcher);
        }
    }
    flush(&mut batcher);
    rows
}

fn batch(c: &mut Criterion) {
    use EventColumn::{Gtid, Query, Size, Type};
    for (name, log) in common::logs() {
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Bytes(log.len() as u64));
        let log = Block::new(log);
        group.bench_function("type, size", |b| b.iter(|| batches(&log, &[Type, Size])));
        group.bench_function("gtid", |b| b.iter(|| batches(&log, &[Gtid])));
        group.bench_function("query", |b| b.iter(|| batches(&log, &[Query])));
        group.bench_function("every column", |b| {
            b.iter(|| batches(&log, EventColumn::ALL));
        });
        group.finish();
    }
}

criterion_group!(benches, batch);
criterion_main!(benches);
