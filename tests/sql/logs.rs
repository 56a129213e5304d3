//! Logs that the tests make: parts of fixtures, put together anew.

use std::path::Path;

/// Length of an event's header.
pub const HEADER: usize = 19;

/// The bytes of a fixture.
pub fn read(fixture: &str) -> Vec<u8> {
    std::fs::read(crate::support::fixture(fixture)).unwrap()
}

/// The events of a plain log.
pub fn events(log: &[u8]) -> Vec<&[u8]> {
    let mut events = Vec::new();
    let mut rest = &log[4..];
    while rest.len() >= HEADER {
        let size = u32::from_le_bytes(rest[9..13].try_into().unwrap()) as usize;
        let (event, behind) = rest.split_at(size);
        events.push(event);
        rest = behind;
    }
    assert!(rest.is_empty(), "the fixture ends inside an event");
    events
}

/// The type code of an event.
pub fn type_code(event: &[u8]) -> u8 {
    event[4]
}

/// A log of these events, at their new places. Only of events without checksums.
pub fn log<'a>(events: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut log = b"\xfebin".to_vec();
    for event in events {
        let end = log.len() + event.len();
        log.extend_from_slice(&event[..13]);
        log.extend_from_slice(&(end as u32).to_le_bytes());
        log.extend_from_slice(&event[17..]);
    }
    log
}

/// A log of at least `bytes`: the events of `fixture`, which has no checksums, again and again
/// behind one format description.
pub fn long_log(fixture: &str, bytes: usize) -> Vec<u8> {
    let source = read(fixture);
    let events = events(&source);
    let is_of_the_file = |event: &&[u8]| matches!(type_code(event), 3 | 15 | 35);
    let head = events.iter().copied().take_while(is_of_the_file);
    let body: Vec<&[u8]> = events
        .iter()
        .copied()
        .filter(|event| !is_of_the_file(event))
        .collect();
    let length: usize = body.iter().map(|event| event.len()).sum();
    let bodies = std::iter::repeat_n(body, bytes.div_ceil(length)).flatten();
    log(head.chain(bodies))
}

/// Writes a file and gives its path as text.
pub fn write(directory: &Path, name: &str, bytes: &[u8]) -> String {
    let path = directory.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, bytes).unwrap();
    path.display().to_string()
}
