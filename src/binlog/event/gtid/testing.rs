//! What the tests of GTID events share: one event decoded, and the walk through files of the corpus.

use crate::binlog::details::Details;
use crate::binlog::event::{Event, EventContext, FormatDescription};
use crate::binlog::header::{CHECKSUM_LEN, Checksum, HEADER_LEN, Header};
use crate::error::Result;
use std::path::{Path, PathBuf};

/// Decodes a body with server id 7, and describes it: what must not fail must not fail late.
pub(in crate::binlog::event) fn decode(code: u8, body: &[u8]) -> Result<Event<'_>> {
    let header = Header {
        type_code: code,
        server_id: 7,
        ..Header::default()
    };
    decode_with(&header, &FormatDescription::assumed(), body)
}

fn decode_with<'a>(
    header: &Header,
    format: &FormatDescription,
    body: &'a [u8],
) -> Result<Event<'a>> {
    let event = Event::decode(body, &EventContext { header, format })?;
    event.info(&mut String::new())?;
    Details::object(&mut String::new(), |out| event.details(out))?;
    Ok(event)
}

pub(in crate::binlog::event) fn info(event: &Event<'_>) -> String {
    let mut out = String::new();
    event.info(&mut out).unwrap();
    out
}

pub(in crate::binlog::event) fn details(event: &Event<'_>) -> String {
    let mut out = String::new();
    Details::object(&mut out, |out| event.details(out)).unwrap();
    out
}

pub(in crate::binlog::event) fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text
        .bytes()
        .filter(|b| !b.is_ascii_whitespace())
        .map(|b| char::from(b).to_digit(16).unwrap() as u8)
        .collect();
    digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect()
}

/// The body cut at every byte: an error wherever the cut does not leave an older, shorter form.
pub(in crate::binlog::event) fn cut_everywhere(code: u8, body: &[u8], whole: &[usize]) {
    for len in 0..body.len() {
        let cut = decode(code, &body[..len]);
        assert_eq!(cut.is_ok(), whole.contains(&len), "cut at {len}: {cut:?}");
    }
}

/// The corpus; `None`, with a line on stderr, where there is none.
pub(in crate::binlog::event) fn corpus() -> Option<PathBuf> {
    let path = std::env::var_os("BINLOG_CORPUS").map(PathBuf::from);
    if path.is_none() {
        eprintln!("SKIPPED: BINLOG_CORPUS is not set");
    }
    path
}

/// Hops through a file of version 4 and decodes the events of the codes.
pub(in crate::binlog::event) fn walk(
    file: &Path,
    codes: &[u8],
    mut see: impl FnMut(&Header, Result<Event<'_>>),
) {
    let bytes = std::fs::read(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let mut rest = bytes.get(4..).unwrap_or_default();
    let mut format = FormatDescription::assumed();
    while let Some(header) = Header::read(rest) {
        let size = header.event_size as usize;
        if size < HEADER_LEN || size > rest.len() {
            break;
        }
        let mut body = &rest[HEADER_LEN..size];
        rest = &rest[size..];
        if header.type_code == 15 {
            let trailer = FormatDescription::own_checksum_len(body);
            format = FormatDescription::read(&body[..body.len() - trailer]).unwrap();
            continue;
        }
        if format.checksum == Checksum::Crc32 {
            body = &body[..body.len() - CHECKSUM_LEN];
        }
        if codes.contains(&header.type_code) {
            see(&header, decode_with(&header, &format, body));
        }
    }
}

/// `info` of the events of the codes, none of which may fail.
pub(in crate::binlog::event) fn infos(file: &Path, codes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    walk(file, codes, |_, event| {
        let event = event.unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        found.push(info(&event));
    });
    found
}

/// All files of the manifest that begin as binary logs do.
pub(in crate::binlog::event) fn files(corpus: &Path) -> Vec<PathBuf> {
    let manifest = std::fs::read_to_string(corpus.join("MANIFEST.tsv")).unwrap();
    let names = manifest
        .lines()
        .skip(1)
        .filter_map(|l| l.split('\t').next());
    let is_log = |file: &PathBuf| std::fs::read(file).is_ok_and(|b| b.starts_with(b"\xfebin"));
    names.map(|name| corpus.join(name)).filter(is_log).collect()
}

/// Files of the manifest that `mysqlbinlog` printed to the end: path, and what it printed.
/// `column` holds the exit status, `suffix` ends the name of the text.
pub(in crate::binlog::event) fn goldens(
    corpus: &Path,
    column: &str,
    suffix: &str,
) -> Vec<(PathBuf, String)> {
    let manifest = std::fs::read_to_string(corpus.join("MANIFEST.tsv")).unwrap();
    let mut lines = manifest
        .lines()
        .map(|line| line.split('\t').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let column_of = |name: &str| head.iter().position(|h| *h == name).unwrap();
    let (file, sha, status) = (column_of("file"), column_of("sha256"), column_of(column));
    lines
        .filter(|row| row[status] == "0")
        .filter_map(|row| {
            let golden = corpus.join(format!("oracle/{}.{suffix}.txt", &row[sha][..16]));
            let golden = String::from_utf8_lossy(&std::fs::read(golden).ok()?).into_owned();
            Some((corpus.join(row[file]), golden))
        })
        .collect()
}

/// Folder of the corpus with most of MySQL's own files.
pub(in crate::binlog::event) const RUST_MYSQL: &str =
    "blackbeam__rust_mysql_common/test-data/binlogs";
