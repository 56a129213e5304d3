//! What the tests of this module share.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use super::{Resolver, Segment, Stdin, resolve};
use crate::error::Result;

/// The beginning of a log and `len - 4` bytes that do not repeat soon.
pub(super) fn log(len: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let noise = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // Half of the bytes are alike, so that it can be packed.
        if state & 0x100 == 0 {
            0
        } else {
            (state >> 24) as u8
        }
    });
    b"\xfebin".iter().copied().chain(noise).take(len).collect()
}

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(super) fn zst(bytes: &[u8]) -> Vec<u8> {
    // With a checksum, as the zstd command writes it.
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(super) fn resolver(stdin: impl Read + Send + 'static) -> Resolver {
    Resolver {
        stores: None,
        stdin: Arc::new(Stdin::from_reader(stdin)),
    }
}

pub(super) async fn resolve_all(patterns: &[String]) -> Result<Vec<Segment>> {
    resolve(patterns, &resolver(std::io::empty())).await
}

/// The one segment of a file.
pub(super) async fn one(path: &Path) -> Segment {
    let pattern = path.to_str().unwrap().to_owned();
    let mut segments = resolve_all(&[pattern]).await.unwrap();
    assert_eq!(segments.len(), 1);
    segments.remove(0)
}

pub(super) fn names(segments: &[Segment]) -> Vec<&str> {
    segments.iter().map(|segment| &*segment.name).collect()
}
