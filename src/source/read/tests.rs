use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use object_store::memory::InMemory;
use object_store::{ObjectStore, ObjectStoreExt as _};
use proptest::prelude::*;

use super::*;
use crate::error::ErrorKind;
use crate::source::testing::{gzip, log, one, resolver, zst};
use crate::source::{Resolver, resolve};

struct Dir(tempfile::TempDir);

impl Dir {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

async fn stored(bytes: &[u8]) -> Segment {
    let store = Arc::new(InMemory::new());
    store
        .put(&"l/m.000001".into(), bytes.to_vec().into())
        .await
        .unwrap();
    from_store(store).await
}

async fn from_store(store: Arc<InMemory>) -> Segment {
    let stores = move |_: &str| Ok(Arc::clone(&store) as Arc<dyn ObjectStore>);
    let resolver = Resolver {
        stores: Some(Arc::new(stores)),
        ..resolver(std::io::empty())
    };
    resolve(&["s3://b/l/m.000001".to_owned()], &resolver)
        .await
        .unwrap()
        .remove(0)
}

async fn piped(bytes: &[u8]) -> Segment {
    let resolver = resolver(std::io::Cursor::new(bytes.to_vec()));
    resolve(&["-".to_owned()], &resolver)
        .await
        .unwrap()
        .remove(0)
}

/// All that is there, in blocks of which `keep(len)` bytes are carried over each time.
async fn read_all(
    segment: &Segment,
    block_size: usize,
    keep: impl Fn(usize) -> usize,
) -> (Vec<u8>, Option<Error>) {
    let mut reader = BlockReader::open(segment, 0, block_size).await.unwrap();
    let (mut all, mut tail) = (Vec::new(), Vec::new());
    loop {
        match reader.next(&tail, 0).await {
            Ok(Some(block)) => {
                assert!(block.len() > tail.len() && block.starts_with(&tail));
                assert_eq!(reader.offset(), (all.len() + block.len()) as u64);
                let used = block.len() - keep(block.len()).min(block.len());
                all.extend_from_slice(&block[..used]);
                tail = block[used..].to_vec();
            }
            Ok(None) => {
                all.extend(tail);
                return (all, None);
            }
            Err(error) => {
                all.extend(tail);
                return (all, Some(error));
            }
        }
    }
}

#[tokio::test]
async fn blocks_give_the_file_back_wherever_it_is() {
    let (dir, bytes) = (Dir::new(), log(300_000));
    let segments = [
        one(&dir.file("a.000001", &bytes)).await,
        one(&dir.file("a.000001.gz", &gzip(&bytes))).await,
        one(&dir.file("a.000001.zst", &zst(&bytes))).await,
        stored(&bytes).await,
        stored(&gzip(&bytes)).await,
        stored(&zst(&bytes)).await,
        piped(&bytes).await,
        piped(&zst(&bytes)).await,
    ];
    for segment in &segments {
        for (block_size, kept) in [
            (1 << 20, 0),
            (65_536, 0),
            (65_536, 1_000),
            (4_000, 3_999),
            (7_919, 40_000),
        ] {
            let (all, error) = read_all(segment, block_size, |_| kept).await;
            assert!(error.is_none(), "{error:?}");
            assert!(all == bytes, "{segment:?} {block_size} {kept}");
        }
        let mut reader = BlockReader::open(segment, 0, 65_536).await.unwrap();
        while reader.next(&[], 0).await.unwrap().is_some() {}
        assert_eq!(reader.bytes_read(), segment.size);
        let packed = segment.encoding != Encoding::Plain;
        assert_eq!(reader.size(), (!packed).then_some(300_000));
        assert!(reader.next(b"tail", 10).await.unwrap().is_none());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_blocks_tails_and_jumps_keep_to_the_file(
        len in 4_usize..20_000,
        block_size in 1_usize..5_000,
        steps in proptest::collection::vec((any::<bool>(), 0_usize..3_000, 0_usize..6_000), 1..60),
        form in 0..5,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (dir, bytes) = (Dir::new(), log(len));
            let segment = match form {
                0 => one(&dir.file("a", &bytes)).await,
                1 => one(&dir.file("a.gz", &gzip(&bytes))).await,
                2 => one(&dir.file("a.zst", &zst(&bytes))).await,
                3 => stored(&bytes).await,
                _ => piped(&bytes).await,
            };
            let mut reader = BlockReader::open(&segment, 0, block_size).await.unwrap();
            let mut at = 0;
            for (jump, kept, at_least) in steps {
                if jump {
                    let went = reader.skip(kept as u64).await.unwrap() as usize;
                    prop_assert_eq!(went, kept.min(len - at));
                    at += went;
                } else {
                    let tail = &bytes[at - kept.min(at)..at];
                    match reader.next(tail, at_least).await.unwrap() {
                        Some(block) => {
                            let start = at - tail.len();
                            prop_assert_eq!(&block[..], &bytes[start..start + block.len()]);
                            prop_assert!(block.len() >= at_least.max(block_size).min(len - start));
                            at = start + block.len();
                        }
                        None => prop_assert_eq!(at, len),
                    }
                }
                prop_assert_eq!(reader.offset(), at as u64);
            }
            Ok(())
        })?;
    }
}

#[tokio::test]
async fn a_plain_log_is_opened_anywhere() {
    let (dir, bytes) = (Dir::new(), log(5_000));
    for segment in [
        one(&dir.file("a", &bytes)).await,
        stored(&bytes).await,
        piped(&bytes).await,
    ] {
        let mut reader = BlockReader::open(&segment, 4_990, 100).await.unwrap();
        assert_eq!(
            reader.next(b"ab", 0).await.unwrap().unwrap(),
            [b"ab", &bytes[4_990..]].concat()
        );
        assert!(reader.next(&[], 0).await.unwrap().is_none());
        let mut behind = BlockReader::open(&segment, 6_000, 100).await.unwrap();
        assert!(behind.next(&[], 0).await.unwrap().is_none());
        assert_eq!(behind.skip(9).await.unwrap(), 0);
        assert_eq!(read_range(&segment, 10..20).await.unwrap(), bytes[10..20]);
        assert_eq!(
            read_range(&segment, 4_990..9_999).await.unwrap(),
            bytes[4_990..]
        );
        assert!(read_range(&segment, 9_000..9_999).await.unwrap().is_empty());
    }
    let packed = one(&dir.file("a.gz", &gzip(&bytes))).await;
    let text = "a: an archive can only be read from its start";
    assert_eq!(
        BlockReader::open(&packed, 4, 100)
            .await
            .unwrap_err()
            .to_string(),
        text
    );
    assert_eq!(
        read_range(&packed, 0..4).await.unwrap_err().to_string(),
        text
    );
}

#[tokio::test]
async fn a_claimed_size_takes_no_memory() {
    let dir = Dir::new();
    for (name, bytes) in [("a", log(5_000)), ("a.gz", gzip(&log(5_000)))] {
        let segment = one(&dir.file(name, &bytes)).await;
        let mut reader = BlockReader::open(&segment, 0, 64).await.unwrap();
        let block = reader.next(&[], usize::MAX).await.unwrap().unwrap();
        assert_eq!(block.len(), 5_000);
        assert!(block.capacity() <= 10_000, "{}", block.capacity());
    }
}

#[tokio::test]
async fn archives_of_several_parts() {
    let (dir, bytes) = (Dir::new(), log(200_000));
    let cut = bytes.split_at(70_000);
    let gz = [gzip(cut.0), gzip(&[]), gzip(cut.1)].concat();
    let zs = [
        zst(cut.0),
        b"\x50\x2a\x4d\x18\x04\0\0\0skip".to_vec(),
        zst(&[]),
        zst(cut.1),
    ]
    .concat();
    let padded = [gz.clone(), vec![0; 1_000]].concat();
    for (name, packed) in [("a.gz", gz), ("a.zst", zs), ("b.gz", padded)] {
        let segment = one(&dir.file(name, &packed)).await;
        for block_size in [100_000, 1_000] {
            let (all, error) = read_all(&segment, block_size, |_| 10).await;
            assert!(error.is_none() && all == bytes, "{name}: {error:?}");
        }
    }
}

#[tokio::test]
async fn a_cut_or_damaged_archive_gives_what_it_has_and_then_an_error() {
    let (dir, bytes) = (Dir::new(), log(500_000));
    for (name, packed) in [("a.000001.gz", gzip(&bytes)), ("a.000001.zst", zst(&bytes))] {
        // Cut in the middle, and before the last byte of the checksum or block.
        for len in [packed.len() / 2, packed.len() - 1] {
            let segment = one(&dir.file(name, &packed[..len])).await;
            let (all, error) = read_all(&segment, 50_000, |_| 0).await;
            let error = error.unwrap();
            assert!(
                bytes.starts_with(&all) && all.len() > 50_000,
                "{name} {len}: {}",
                all.len()
            );
            assert_eq!(error.kind(), ErrorKind::Truncated, "{error}");
            let text = error.to_string();
            let want = format!("ends after {} bytes of the log", all.len());
            assert!(
                text.starts_with("a.000001: the ") && text.contains(&want),
                "{text}"
            );
        }
        // A flipped byte: never the right number of wrong bytes without an error.
        let mut damaged = packed.clone();
        damaged[packed.len() / 2] ^= 0x10;
        let segment = one(&dir.file(name, &damaged)).await;
        let (all, error) = read_all(&segment, 50_000, |_| 0).await;
        assert!(error.is_some() || all == bytes, "{name}: {}", all.len());
    }
    // gzip's checksum stands behind the data: the error follows the last byte, once and again.
    let mut packed = gzip(&bytes);
    let crc = packed.len() - 8;
    packed[crc] ^= 1;
    let segment = one(&dir.file("c.000001.gz", &packed)).await;
    let mut reader = BlockReader::open(&segment, 0, 1 << 20).await.unwrap();
    assert!(reader.next(&[], 0).await.unwrap().unwrap() == bytes);
    for _ in 0..2 {
        let error = reader.next(&[], 0).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(
            error
                .to_string()
                .contains("damaged after 500000 bytes of the log"),
            "{error}"
        );
    }
    assert!(reader.skip(1).await.is_err());
    let trailing = [gzip(&bytes), b"more".to_vec()].concat();
    let segment = one(&dir.file("d.gz", &trailing)).await;
    let (all, error) = read_all(&segment, 50_000, |_| 0).await;
    assert!(all == bytes);
    assert!(
        error
            .unwrap()
            .to_string()
            .contains("what follows the last gzip member is not gzip")
    );
}

#[tokio::test]
async fn a_bomb_is_unpacked_in_blocks() {
    let mut bytes = log(4);
    bytes.resize(64 << 20, 0);
    let dir = Dir::new();
    for (name, packed) in [("a.gz", gzip(&bytes)), ("a.zst", zst(&bytes))] {
        assert!(packed.len() < bytes.len() / 100);
        let segment = one(&dir.file(name, &packed)).await;
        let mut reader = BlockReader::open(&segment, 0, 100_000).await.unwrap();
        let block = reader.next(&[], 0).await.unwrap().unwrap();
        assert_eq!((block.len(), block.capacity()), (100_000, 100_000));
        assert_eq!(reader.skip(u64::MAX).await.unwrap(), (64 << 20) - 100_000);
        assert!(reader.next(&[], 0).await.unwrap().is_none());
    }
}

#[tokio::test]
async fn a_growing_file_is_a_snapshot_and_a_cut_one_ends() {
    let dir = Dir::new();
    let path = dir.file("a.000001", &log(10_000));
    let segment = one(&path).await;
    let mut reader = BlockReader::open(&segment, 0, 6_000).await.unwrap();
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .unwrap();
    file.write_all(&[1; 500]).unwrap();
    assert_eq!(reader.next(&[], 0).await.unwrap().unwrap().len(), 6_000);
    assert_eq!(reader.next(&[], 0).await.unwrap().unwrap().len(), 4_000);
    assert!(reader.next(&[], 0).await.unwrap().is_none());
    assert_eq!(reader.size(), Some(10_000));
    // Opened again, it is longer.
    let mut reader = BlockReader::open(&segment, 0, 6_000).await.unwrap();
    assert_eq!(reader.size(), Some(10_500));
    reader.next(&[], 0).await.unwrap();
    file.set_len(7_000).unwrap();
    assert_eq!(reader.next(&[], 0).await.unwrap().unwrap().len(), 1_000);
    assert!(reader.next(&[], 0).await.unwrap().is_none());
    assert_eq!(reader.size(), Some(7_000));
}

#[tokio::test]
async fn an_object_that_is_replaced_is_an_error() {
    let store = Arc::new(InMemory::new());
    let path = object_store::path::Path::from("l/m.000001");
    store.put(&path, log(10_000).into()).await.unwrap();
    let segment = from_store(Arc::clone(&store)).await;
    let mut reader = BlockReader::open(&segment, 0, 1_000).await.unwrap();
    reader.next(&[], 0).await.unwrap();
    store.put(&path, log(20_000).into()).await.unwrap();
    let error = reader.next(&[], 0).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Source);
    assert!(
        error
            .to_string()
            .starts_with("m.000001: the object was replaced"),
        "{error}"
    );
}

#[tokio::test]
async fn a_rejected_segment_is_not_opened() {
    let dir = Dir::new();
    let segment = one(&dir.file("x.sql", b"-- MySQL dump 10.13\n")).await;
    let text = "x.sql: not a binary log: this is text (an SQL dump)";
    assert_eq!(
        BlockReader::open(&segment, 0, 100)
            .await
            .unwrap_err()
            .to_string(),
        text
    );
    assert_eq!(
        read_range(&segment, 0..4).await.unwrap_err().to_string(),
        text
    );
}
