//! What the tests of the event families share.

use super::{Details, Event, EventContext, Flavor, FormatDescription};
use crate::binlog::header::Header;
use crate::error::Result;

/// Decodes one body under a format.
pub(crate) fn decode<'a>(
    code: u8,
    body: &'a [u8],
    format: &FormatDescription,
) -> Result<Event<'a>> {
    let header = Header {
        type_code: code,
        ..Header::default()
    };
    let cx = EventContext {
        header: &header,
        format,
    };
    Event::decode(body, &cx)
}

/// A format of MariaDB that announces types up to 171.
pub(crate) fn maria_format() -> FormatDescription {
    let mut format = FormatDescription::assumed();
    format.flavor = Flavor::MariaDb;
    format.post_header_lens.resize(171, 0);
    format.post_header_lens[164] = 13;
    format
}

/// The bytes of a text of hexadecimal digits and white space.
pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    assert!(digits.len().is_multiple_of(2));
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

/// What `info` writes.
pub(crate) fn info(event: &Event<'_>) -> String {
    let mut out = String::new();
    event.info(&mut out).unwrap();
    out
}

/// What `details` writes.
pub(crate) fn details(event: &Event<'_>) -> String {
    let mut out = String::new();
    Details::object(&mut out, |out| event.details(out)).unwrap();
    out
}
