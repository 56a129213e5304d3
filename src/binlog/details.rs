//! A small writer of JSON objects, for the column `details`.
//!
//! Bytes that are not UTF-8 are never replaced: text that a decoder could not turn into characters
//! is written as `{"hex":"d6c6db"}`.

use std::fmt::Write;

/// Writes the members of one JSON object, in the order of the calls.
///
/// The opening brace is written by [`Details::object`], the closing one when the closure returns.
pub struct Details<'o> {
    out: &'o mut String,
    first: bool,
}

impl<'o> Details<'o> {
    /// Writes one object to `out`: `{` members `}`.
    pub fn object<E>(
        out: &mut String,
        members: impl FnOnce(&mut Details<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        out.push('{');
        let result = members(&mut Details { out, first: true });
        out.push('}');
        result
    }

    /// Whether no member was written.
    pub fn is_empty(&self) -> bool {
        self.first
    }

    fn key(&mut self, key: &str) {
        if !self.first {
            self.out.push(',');
        }
        self.first = false;
        write_json_string(self.out, key);
        self.out.push(':');
    }

    /// A number, or anything else whose `Display` is valid JSON.
    pub fn num(&mut self, key: &str, value: impl std::fmt::Display) {
        self.key(key);
        let _ = write!(self.out, "{value}");
    }

    /// `true` or `false`.
    pub fn bool(&mut self, key: &str, value: bool) {
        self.num(key, value);
    }

    /// A string.
    pub fn str(&mut self, key: &str, value: &str) {
        self.key(key);
        write_json_string(self.out, value);
    }

    /// `null`.
    pub fn null(&mut self, key: &str) {
        self.num(key, "null");
    }

    /// Bytes that the server writes as UTF-8: a string, or `{"hex":…}` where they are not.
    pub fn text(&mut self, key: &str, value: &[u8]) {
        match std::str::from_utf8(value) {
            Ok(value) => self.str(key, value),
            Err(_) => self.nested(key, |d| d.hex("hex", value)),
        }
    }

    /// Bytes in hexadecimal, as a string.
    pub fn hex(&mut self, key: &str, value: &[u8]) {
        self.key(key);
        self.out.push('"');
        for byte in value {
            let _ = write!(self.out, "{byte:02x}");
        }
        self.out.push('"');
    }

    /// An object.
    pub fn nested(&mut self, key: &str, members: impl FnOnce(&mut Details<'_>)) {
        let _ = self.try_nested(key, |d| {
            members(d);
            Ok::<(), ()>(())
        });
    }

    /// An object whose members may fail to decode.
    pub fn try_nested<E>(
        &mut self,
        key: &str,
        members: impl FnOnce(&mut Details<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.key(key);
        Details::object(self.out, members)
    }

    /// An array of objects, one for each item.
    pub fn objects<T, E>(
        &mut self,
        key: &str,
        items: impl IntoIterator<Item = T>,
        mut members: impl FnMut(&mut Details<'_>, T) -> Result<(), E>,
    ) -> Result<(), E> {
        self.key(key);
        self.out.push('[');
        let mut result = Ok(());
        for (i, item) in items.into_iter().enumerate() {
            if i > 0 {
                self.out.push(',');
            }
            result = Details::object(self.out, |d| members(d, item));
            if result.is_err() {
                break;
            }
        }
        self.out.push(']');
        result
    }

    /// An array of numbers, or of anything else whose `Display` is valid JSON.
    pub fn nums<T: std::fmt::Display>(&mut self, key: &str, values: impl IntoIterator<Item = T>) {
        self.key(key);
        self.out.push('[');
        for (i, value) in values.into_iter().enumerate() {
            let _ = write!(self.out, "{}{value}", if i > 0 { "," } else { "" });
        }
        self.out.push(']');
    }

    /// An array of strings.
    pub fn strs<S: AsRef<str>>(&mut self, key: &str, values: impl IntoIterator<Item = S>) {
        self.key(key);
        self.out.push('[');
        for (i, value) in values.into_iter().enumerate() {
            if i > 0 {
                self.out.push(',');
            }
            write_json_string(self.out, value.as_ref());
        }
        self.out.push(']');
    }
}

/// Writes `value` as a JSON string.
pub fn write_json_string(out: &mut String, value: &str) {
    out.push('"');
    let mut plain = value;
    while let Some(at) = plain
        .bytes()
        .position(|b| b < 0x20 || b == b'"' || b == b'\\')
    {
        let (head, tail) = plain.split_at(at);
        out.push_str(head);
        let mut chars = tail.chars();
        match chars.next() {
            Some('"') => out.push_str("\\\""),
            Some('\\') => out.push_str("\\\\"),
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            Some(c) => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            None => {}
        }
        plain = chars.as_str();
    }
    out.push_str(plain);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_and_escapes() {
        let mut out = String::new();
        let done: Result<(), ()> = Details::object(&mut out, |d| {
            d.num("n", 7);
            d.str("s", "a\"b\\c\n\u{1}é");
            d.text("bad", &[0xd6, 0xc6]);
            d.nums("list", [1, 2]);
            d.strs("names", ["x", "y"]);
            d.null("none");
            d.objects("objects", [1, 2], |d, i| {
                d.num("i", i);
                Ok(())
            })
        });
        assert!(done.is_ok());
        assert_eq!(
            out,
            r#"{"n":7,"s":"a\"b\\c\n\u0001é","bad":{"hex":"d6c6"},"list":[1,2],"names":["x","y"],"none":null,"objects":[{"i":1},{"i":2}]}"#
        );
    }
}
