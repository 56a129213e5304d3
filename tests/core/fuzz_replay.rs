//! The fuzz targets on stable Rust: over seeds made of the fixtures, over those with random edits,
//! over random bytes, and over what a fuzzer left in `tests/fuzz/{corpus,artifacts}`.
//!
//! With `BINLOG_FUZZ_SEEDS=DIR` the seeds are written to `DIR/<target>`, where a fuzzer begins.

#[path = "../fuzz/targets.rs"]
mod targets;

use crate::support::{decode_log, fixture, fixture_logs};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

type Seeds = Vec<Vec<u8>>;

/// A way to read a log, in the first two bytes of a seed of `frame`.
const WAYS: [[u8; 2]; 4] = [[0, 100], [1, 7], [2 | 8, 255], [2 | 4 | 16, 33]];

static FRAME: LazyLock<Seeds> = LazyLock::new(|| {
    let mut seeds = Vec::new();
    for (at, name) in fixture_logs().iter().enumerate() {
        let log = std::fs::read(fixture(name)).unwrap();
        if log.starts_with(b"\xfebin") && log.len() < 4000 {
            let way = WAYS[at % WAYS.len()];
            seeds.push([&way[..], &log[4..]].concat());
        }
    }
    assert!(seeds.len() > 10);
    seeds
});

/// Of each type and each layout the first event and the longest of less than 500 bytes.
static EVENTS: LazyLock<Seeds> = LazyLock::new(|| {
    let mut seeds: BTreeMap<(u8, bool, bool), Vec<u8>> = BTreeMap::new();
    for name in fixture_logs() {
        let log = std::fs::read(fixture(&name)).unwrap();
        if !log.starts_with(b"\xfebin") {
            continue;
        }
        for event in decode_log(&log).0 {
            let mariadb = name.starts_with("mariadb");
            let layout = if mariadb { 2 | 4 } else { 2 };
            let head = [event.header.type_code, event.header.flags as u8, layout];
            let seed = [&head[..], &event.body].concat();
            let key = |longest| (event.header.type_code, mariadb, longest);
            seeds.entry(key(false)).or_insert_with(|| seed.clone());
            let longest = seeds.entry(key(true)).or_default();
            if seed.len() < 500 && seed.len() > longest.len() {
                *longest = seed;
            }
        }
    }
    let codes: Vec<u8> = seeds.keys().map(|key| key.0).collect();
    for code in [2, 14, 19, 30, 33, 34, 35, 39, 40, 42, 162, 163, 165, 166] {
        assert!(codes.contains(&code), "no seed of type {code}");
    }
    seeds
        .into_values()
        .filter(|seed| !seed.is_empty())
        .collect()
});

static GTID: LazyLock<Seeds> = LazyLock::new(|| {
    const A: &str = "3e11fa47-71ca-11e1-9e33-c80aa9429562";
    const B: &str = "11111111-1111-1111-1111-111111111111";
    [
        format!("{A}:1-26:deploy:1-2"),
        format!("{A}:1-5:7-9:11\0{A}:4-8"),
        format!("{A}:1-5,{B}:1-3\0{B}:2:blue:9,{A}:1"),
        format!("{A}:1\0{B}:deploy:5"),
        format!("{A}:9223372036854775806"),
        "0-1-100,1-2-5".to_owned(),
        "4294967295-4294967295-18446744073709551615".to_owned(),
        "\u{1}\u{2}\u{3}\u{4}\u{1}\u{3}\0\u{1}\u{2}\u{41}\u{5}".to_owned(),
    ]
    .map(String::into_bytes)
    .to_vec()
});

static PAYLOAD: LazyLock<Seeds> = LazyLock::new(|| {
    let log = std::fs::read(fixture("mysql-9.7-payload.000001")).unwrap();
    let mut seeds = Vec::new();
    let mut content = Vec::new();
    for event in decode_log(&log).0 {
        if event.header.type_code == 40 {
            seeds.push([&[0][..], &event.body].concat());
        } else if event.payload_index.is_some() && content.len() < 2000 {
            let head = crate::forge::inner(event.header.type_code, &event.body);
            content.extend(head);
        }
    }
    assert_eq!(seeds.len(), 3);
    seeds.push([&[1][..], &content].concat());
    seeds.push([&[2][..], &content].concat());
    seeds
});

/// Of each type of rows event the first and the longest of less than 700 bytes, behind the table map
/// that stands before it.
static ROWS: LazyLock<Seeds> = LazyLock::new(|| {
    let mut seeds: BTreeMap<(u8, bool, bool), Vec<u8>> = BTreeMap::new();
    for name in fixture_logs() {
        let log = std::fs::read(fixture(&name)).unwrap();
        if !log.starts_with(b"\xfebin") {
            continue;
        }
        let mariadb = name.starts_with("mariadb");
        let mut maps: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
        for event in decode_log(&log).0 {
            let (code, body) = (event.header.type_code, event.body);
            if code == 19 {
                maps.insert(body[..6].to_vec(), body);
            } else if matches!(code, 23..=25 | 30..=32 | 39 | 166..=168)
                && let Some(map) = maps.get(&body[..6])
            {
                let len = (map.len() as u16).to_le_bytes();
                let head = [code, u8::from(mariadb), len[0], len[1]];
                let seed = [&head[..], map, &body].concat();
                seeds
                    .entry((code, mariadb, false))
                    .or_insert_with(|| seed.clone());
                let longest = seeds.entry((code, mariadb, true)).or_default();
                if seed.len() < 700 && seed.len() > longest.len() {
                    *longest = seed;
                }
            }
        }
    }
    let codes: Vec<u8> = seeds.keys().map(|key| key.0).collect();
    for code in [23, 24, 25, 30, 31, 32, 39, 166] {
        assert!(codes.contains(&code), "no seed of type {code}");
    }
    seeds
        .into_values()
        .filter(|seed| !seed.is_empty())
        .collect()
});

/// A target by its name.
struct Target {
    name: &'static str,
    run: fn(&[u8]),
    seeds: &'static LazyLock<Seeds>,
}

const TARGETS: [Target; 5] = [
    Target {
        name: "frame",
        run: targets::frame,
        seeds: &FRAME,
    },
    Target {
        name: "events",
        run: targets::events,
        seeds: &EVENTS,
    },
    Target {
        name: "gtid",
        run: targets::gtid,
        seeds: &GTID,
    },
    Target {
        name: "payload",
        run: targets::payload,
        seeds: &PAYLOAD,
    },
    Target {
        name: "rows",
        run: targets::rows::rows,
        seeds: &ROWS,
    },
];

#[test]
fn seeds() {
    for target in TARGETS {
        for seed in target.seeds.iter() {
            (target.run)(seed);
        }
        let Some(folder) = std::env::var_os("BINLOG_FUZZ_SEEDS") else {
            continue;
        };
        let folder = Path::new(&folder).join(target.name);
        std::fs::create_dir_all(&folder).unwrap();
        for (at, seed) in target.seeds.iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{at:03}")), seed).unwrap();
        }
    }
}

#[test]
fn what_a_fuzzer_left() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz");
    for target in TARGETS {
        for kind in ["corpus", "artifacts"] {
            let Ok(files) = std::fs::read_dir(fuzz.join(kind).join(target.name)) else {
                continue; // Nobody has fuzzed here.
            };
            for file in files {
                let path = file.unwrap().path();
                println!("{}", path.display());
                (target.run)(&std::fs::read(path).unwrap());
            }
        }
    }
}

/// How often each property is tried: 400 times, or `PROPTEST_CASES`.
fn cases() -> u32 {
    let cases = std::env::var("PROPTEST_CASES").ok();
    cases.map_or(400, |cases| cases.parse().unwrap())
}

/// A seed with some bytes changed, left out, or doubled.
fn edited(seeds: &'static LazyLock<Seeds>) -> impl Strategy<Value = Vec<u8>> {
    let edit = (
        any::<prop::sample::Index>(),
        any::<u8>(),
        0u8..4,
        1usize..20,
    );
    (
        prop::sample::select(seeds.as_slice()),
        prop::collection::vec(edit, 1..12),
    )
        .prop_map(|(mut bytes, edits)| {
            for (at, value, kind, len) in edits {
                if bytes.is_empty() {
                    break;
                }
                let at = at.index(bytes.len());
                let end = (at + len).min(bytes.len());
                match kind {
                    0 | 1 => bytes[at] = value,
                    2 => drop(bytes.drain(at..end)),
                    _ => {
                        let copy = bytes[at..end].to_vec();
                        bytes.splice(at..at, copy);
                    }
                }
            }
            bytes
        })
}

fn noise() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..600)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn frame(seed in edited(&FRAME), noise in noise()) {
        targets::frame(&seed);
        targets::frame(&noise);
    }

    #[test]
    fn events(seed in edited(&EVENTS), noise in noise(), code in any::<u8>()) {
        targets::events(&seed);
        targets::events(&[&[code, 0, 6], &noise[..]].concat());
        targets::events(&noise);
    }

    #[test]
    fn gtid(seed in edited(&GTID), noise in noise()) {
        targets::gtid(&seed);
        targets::gtid(&noise);
    }

    #[test]
    fn payload(seed in edited(&PAYLOAD), noise in noise()) {
        targets::payload(&seed);
        targets::payload(&noise);
    }

    #[test]
    fn rows(seed in edited(&ROWS), noise in noise(), code in 20..40u8) {
        targets::rows::rows(&seed);
        targets::rows::rows(&[&[code, 0, 30, 0], &noise[..]].concat());
        targets::rows::rows(&noise);
    }
}
