//! How fast the bytes of a log become events: hopping headers, verifying checksums, and the whole
//! decode of every event. The bare rung is enough: `cargo bench --no-default-features --bench frame`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use datafusion_binlog::binlog::event::TableMaps;
use datafusion_binlog::binlog::fields::{Needs, decode, observe_tables};
use datafusion_binlog::binlog::frame::{Framer, TypeSet};
use datafusion_binlog::binlog::reader::read_all;
use std::hint::black_box;
use std::sync::Arc;

mod common;

fn frame(c: &mut Criterion) {
    for (name, log) in common::logs() {
        let log: Arc<[u8]> = log.into();
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Bytes(log.len() as u64));
        group.bench_function("hop headers", |b| {
            b.iter(|| {
                let framer = Framer::new().with_bodies(TypeSet::NONE);
                let mut sum = 0u64;
                read_all(framer, Shared(Arc::clone(&log)), |item, _, _| {
                    sum += u64::from(item.header.event_size);
                })
                .unwrap();
                black_box(sum)
            });
        });
        group.bench_function("verify checksums", |b| {
            b.iter(|| {
                let framer = Framer::new().with_verify(true);
                read_all(framer, Shared(Arc::clone(&log)), |item, _, _| {
                    black_box(item.pos);
                })
                .unwrap()
            });
        });
        group.bench_function("decode every event", |b| {
            b.iter(|| {
                let mut maps = TableMaps::default();
                let mut problems = Vec::new();
                read_all(
                    Framer::new(),
                    Shared(Arc::clone(&log)),
                    |item, block, format| {
                        let raw = item.raw(block);
                        let table = observe_tables(&mut maps, &raw, format);
                        let index = item.payload_index;
                        let fields = decode(
                            &raw,
                            index,
                            format,
                            table.as_ref(),
                            Needs::ALL,
                            &mut problems,
                        );
                        black_box(fields.row_count);
                    },
                )
                .unwrap()
            });
        });
        group.finish();
    }
}

struct Shared(Arc<[u8]>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

criterion_group!(benches, frame);
criterion_main!(benches);
