use super::*;
use crate::schema::Dictionary;
use crate::source::{Resolver, resolve};
use std::path::PathBuf;

fn fixtures() -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");
    let files = std::fs::read_dir(folder).unwrap();
    let mut logs: Vec<PathBuf> = files
        .map(|file| file.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|ext| ext.to_str().unwrap().starts_with("00"))
        })
        .collect();
    logs.sort();
    logs
}

async fn whole(segment: &Segment, options: &BinlogOptions) -> FileTables {
    let bounds = Bounds {
        start: 0,
        end: u64::MAX,
        framer: Framer::new(),
    };
    let piece = read_piece(segment, options, bounds).await.unwrap();
    piece.map(|piece| piece.tables).unwrap_or_default()
}

/// Everything that a dictionary tells of the tables.
fn told(tables: FileTables) -> Vec<String> {
    let dictionary = Dictionary::new([(Arc::from("log"), Arc::new(tables))], None);
    let mut lines = Vec::new();
    for (name, versions) in dictionary.tables() {
        for version in versions {
            let names = version
                .plan
                .columns()
                .iter()
                .map(|column| column.display_name());
            let columns: Vec<_> = names.collect();
            lines.push(format!(
                "{name:?} {:?} {:?} {:?} {columns:?}",
                version.ids, version.first, version.last
            ));
        }
    }
    let lost = dictionary
        .lost()
        .iter()
        .map(|lost| format!("{:?} {}", lost.place, lost.message));
    lines.extend(lost);
    lines
}

#[tokio::test]
async fn pieces_tell_what_the_whole_tells() {
    let mut in_pieces = 0;
    for path in fixtures() {
        let options = BinlogOptions::default();
        let locations = [path.to_str().unwrap().to_owned()];
        let segments = resolve(&locations, &Resolver::default()).await.unwrap();
        let segment = Arc::new(segments.into_iter().next().unwrap());
        let expected = told(whole(&segment, &options).await);
        for pieces in [2, 3, 7] {
            if let Some(tables) = read_in(&segment, &options, pieces).await.unwrap() {
                assert_eq!(told(tables), expected, "{} in {pieces}", path.display());
                in_pieces += 1;
            }
        }
    }
    assert!(in_pieces > 40, "only {in_pieces} were read in pieces");
}

/// A log may hold bytes that look like events of it: a piece that begins there is not believed.
#[tokio::test]
async fn a_piece_that_does_not_join_the_one_before_it_is_not_believed() {
    let log = std::fs::read(
        fixtures()
            .iter()
            .find(|path| {
                path.file_name()
                    .is_some_and(|name| name == "mysql-9.7-shop.000001")
            })
            .unwrap(),
    )
    .unwrap();
    // A huge event with a copy of a stretch of events in its body, at positions that fit.
    let mut forged = log[..].to_vec();
    let at = forged.len();
    let body_len = 200_000usize;
    let mut body = vec![0u8; body_len];
    let mut offset = at + 19 + 100_000;
    let mut put = 100_000;
    let mut from = 4;
    while put < 190_000 {
        let size = u32::from_le_bytes(log[from + 9..from + 13].try_into().unwrap()) as usize;
        let mut event = log[from..from + size].to_vec();
        offset += size;
        event[13..17].copy_from_slice(&(offset as u32).to_le_bytes());
        let crc = crc32fast::hash(&event[..size - 4]);
        event[size - 4..].copy_from_slice(&crc.to_le_bytes());
        if put + size > body_len {
            break;
        }
        body[put..put + size].copy_from_slice(&event);
        put += size;
        from = if from + size + 19 < log.len() {
            from + size
        } else {
            4
        };
    }
    let size = 19 + body_len + 4;
    let mut event = Vec::new();
    event.extend_from_slice(&0u32.to_le_bytes());
    event.push(28); // IGNORABLE
    event.extend_from_slice(&1u32.to_le_bytes());
    event.extend_from_slice(&(size as u32).to_le_bytes());
    event.extend_from_slice(&((at + size) as u32).to_le_bytes());
    event.extend_from_slice(&0x80u16.to_le_bytes());
    event.extend_from_slice(&body);
    let crc = crc32fast::hash(&event);
    event.extend_from_slice(&crc.to_le_bytes());
    forged.extend_from_slice(&event);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("binlog.000001");
    std::fs::write(&path, &forged).unwrap();
    let locations = [path.to_str().unwrap().to_owned()];
    let segments = resolve(&locations, &Resolver::default()).await.unwrap();
    let segment = Arc::new(segments.into_iter().next().unwrap());
    let options = BinlogOptions::default();
    let expected = told(whole(&segment, &options).await);
    for pieces in 2..9 {
        if let Some(tables) = read_in(&segment, &options, pieces).await.unwrap() {
            assert_eq!(told(tables), expected, "in {pieces}");
        }
    }
    // The last bound of two pieces is in the middle of the forged events.
    assert!(read_in(&segment, &options, 2).await.unwrap().is_none());
}
