//! Logs for the benches: this project's fixtures, repeated until they are large enough to time.

use std::path::Path;

/// Name and bytes of each log.
pub fn logs() -> Vec<(&'static str, Vec<u8>)> {
    ["mysql-9.7-shop.000001", "mariadb-11.8-shop.000001"]
        .into_iter()
        .map(|name| (name, repeated(name, 4 << 20)))
        .collect()
}

/// The events of a fixture over and over, with `log_pos` and checksum set anew so that they prove
/// themselves.
fn repeated(name: &str, size: usize) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name);
    let log = std::fs::read(path).expect("the fixture is there");
    let mut out = log[..4].to_vec();
    let mut first = 4;
    // The format description once, then the rest but the last event (ROTATE).
    let mut rest = Vec::new();
    while first + 19 <= log.len() {
        let len = u32::from_le_bytes(log[first + 9..first + 13].try_into().unwrap()) as usize;
        let event = &log[first..first + len];
        if event[4] == 15 {
            out.extend_from_slice(event);
        } else if event[4] != 4 {
            rest.push(event);
        }
        first += len;
    }
    while out.len() < size {
        for event in &rest {
            let start = out.len();
            out.extend_from_slice(event);
            let end = out.len();
            out[start + 13..start + 17].copy_from_slice(&(end as u32).to_le_bytes());
            let crc = crc32fast::hash(&out[start..end - 4]);
            out[end - 4..end].copy_from_slice(&crc.to_le_bytes());
        }
    }
    out
}
