//! A value as JSON, for `before`, `after` and `key` of the relation `changes`.

use super::hint::DeclaredType;
use super::labels::{LabelEncoding, Labels};
use super::note::ValueNote;
use super::plan::ColumnPlan;
use crate::binlog::charset::{Charset, Text, UTF8MB4, Undecodable, charset_of};
use crate::binlog::compressed::{MAX_UNCOMPRESSED, uncompress_column};
use crate::binlog::json::{Json, write_base64, write_escaped, write_string};
use crate::binlog::types::{
    Binary, Content, Signedness, Value, Vector, code, write_f32, write_f64, write_inet4,
    write_inet6, write_uuid,
};
use crate::error::Result;
use std::fmt::{Display, Write};

/// How the bytes of a string are characters.
enum Reading {
    /// In a character set.
    Text(&'static Charset),
    /// Nothing tells in which; if they are UTF-8, they are taken as that.
    Untold,
    /// In one that is not known.
    Unknown(u16),
}

impl ColumnPlan {
    /// Writes a value of this column as JSON. The answer is what is not exact about it; where it
    /// does not decode, `null` is written.
    ///
    /// | type | JSON |
    /// |---|---|
    /// | NULL | `null` |
    /// | integers, DECIMAL, FLOAT, DOUBLE, BIT, YEAR | number, with all digits |
    /// | integers that may be unsigned | the same; a string of both readings, where they differ: `"-1 (255)"` |
    /// | text | string; bytes that are no characters stand in it as `\xNN` |
    /// | DATE, TIME, DATETIME, TIMESTAMP | string as `SELECT` shows it, TIMESTAMP in UTC |
    /// | ENUM, SET | string; number where the labels are not known |
    /// | JSON | the document as the server prints it |
    /// | BINARY, VARBINARY, BLOB, GEOMETRY | `"base64:type254:…"`, 15, 252, 255: what the server makes of them in JSON |
    /// | text of a character set that is not known | the same, by its type |
    /// | VECTOR | array of numbers |
    /// | UUID, INET4, INET6 of MariaDB, where they are declared | string as `SELECT` shows it |
    /// | strings of which the log tells nothing | string, read as UTF-8 |
    ///
    /// Numbers that are no numbers of JSON, which no server stores, are strings: `"NaN"`. The
    /// server breaks long base64: after each 76 characters follows `\n`.
    pub fn write_json(&self, value: Value<'_>, out: &mut String) -> Option<ValueNote> {
        let begin = out.len();
        self.try_json(value, out).unwrap_or_else(|error| {
            out.truncate(begin);
            out.push_str("null");
            Some(ValueNote::Undecoded(error.in_column(self.label())))
        })
    }

    fn try_json(&self, value: Value<'_>, out: &mut String) -> Result<Option<ValueNote>> {
        match value {
            Value::Null => out.push_str("null"),
            Value::Int(n) => plain(n, out),
            Value::UInt(n) => plain(n, out),
            Value::AnyInt(n) => match n.certain() {
                Some(n) => plain(n, out),
                None => {
                    quoted(n, out);
                    return Ok(Some(ValueNote::TwoReadings(n)));
                }
            },
            Value::Float(n) if n.is_finite() => write_f32(n, out),
            Value::Double(n) if n.is_finite() => write_f64(n, out),
            Value::Float(n) => quoted(n, out),
            Value::Double(n) => quoted(n, out),
            Value::Decimal(n) => n.write(out)?,
            Value::Bits(bits) => plain(bits.value, out),
            Value::Year(year) => plain(year, out),
            Value::Date(date) => quoted(date, out),
            Value::Time(time) => quoted(time, out),
            Value::DateTime(datetime) => quoted(datetime, out),
            Value::Timestamp(timestamp) => quoted(timestamp, out),
            Value::Text(bytes) => return Ok(self.json_text(bytes, out)),
            Value::Bytes(bytes) => self.json_bytes(bytes, out),
            Value::Binary(binary) => self.json_binary(binary, out),
            Value::TextOrBytes(bytes) => return Ok(untold_text(bytes, out)),
            Value::Compressed(bytes) => {
                let bytes = uncompress_column(bytes, MAX_UNCOMPRESSED)?;
                return Ok(match self.context.content {
                    Content::Text => self.json_text(&bytes, out),
                    Content::Bytes => {
                        write_base64(self.json_code(), &bytes, out);
                        None
                    }
                    Content::Unknown => untold_text(&bytes, out),
                });
            }
            Value::Enum(index) => match self.enum_text(index)? {
                Some(label) => {
                    write_string(label, out);
                    return self.try_check(value);
                }
                None => plain(index, out),
            },
            Value::Set(bits) => match self.set_texts(bits)? {
                Some(labels) => {
                    out.push('"');
                    let begin = out.len();
                    for label in labels {
                        // As servers do: no comma behind empty labels at the beginning.
                        if out.len() > begin {
                            out.push(',');
                        }
                        write_escaped(label, out);
                    }
                    out.push('"');
                    return self.try_check(value);
                }
                None => plain(bits, out),
            },
            Value::Geometry(geometry) => write_base64(code::GEOMETRY, geometry.bytes(), out),
            Value::Vector(vector) => write_vector(vector, out),
            Value::Json(document) => Json::parse(document)?.to_text(out)?,
        }
        Ok(None)
    }

    /// What [`ColumnPlan::write_json`] and [`ColumnPlan::write_text`] would find of a value, without
    /// writing it.
    pub fn check(&self, value: Value<'_>) -> Option<ValueNote> {
        self.try_check(value)
            .unwrap_or_else(|error| Some(ValueNote::Undecoded(error.in_column(self.label()))))
    }

    /// Whether a value of this column that has its place in a row can be other than exact.
    pub(in crate::binlog) fn can_be_inexact(&self) -> bool {
        match self.ty.code {
            code::TINYINT | code::SMALLINT | code::INT | code::BIGINT | code::MEDIUMINT => {
                self.context.signedness == Signedness::Unknown
            }
            code::FLOAT | code::DOUBLE | code::YEAR => false,
            _ => true,
        }
    }

    #[inline]
    fn try_check(&self, value: Value<'_>) -> Result<Option<ValueNote>> {
        match value {
            Value::AnyInt(n) if n.certain().is_none() => {
                return Ok(Some(ValueNote::TwoReadings(n)));
            }
            Value::Decimal(n) => n.check()?,
            Value::Text(bytes) => return Ok(self.check_text(bytes)),
            Value::TextOrBytes(bytes) => return Ok(check_untold(bytes)),
            Value::Compressed(bytes) => {
                let bytes = uncompress_column(bytes, MAX_UNCOMPRESSED)?;
                return Ok(match self.context.content {
                    Content::Text => self.check_text(&bytes),
                    Content::Bytes => None,
                    Content::Unknown => check_untold(&bytes),
                });
            }
            Value::Enum(index) => {
                if let Some(label) = self.enum_label(index)? {
                    return Ok(self.check_label(label));
                }
            }
            Value::Set(bits) => {
                if let Some(labels) = self.set_labels(bits)? {
                    return Ok(labels.filter_map(|label| self.check_label(label)).next());
                }
            }
            Value::Json(document) => Json::parse(document)?.check()?,
            Value::AnyInt(_)
            | Value::Null
            | Value::Int(_)
            | Value::UInt(_)
            | Value::Float(_)
            | Value::Double(_)
            | Value::Bits(_)
            | Value::Year(_)
            | Value::Date(_)
            | Value::Time(_)
            | Value::DateTime(_)
            | Value::Timestamp(_)
            | Value::Bytes(_)
            | Value::Binary(_)
            | Value::Geometry(_)
            | Value::Vector(_) => {}
        }
        Ok(None)
    }

    /// The type code that JSON tells of bytes.
    fn json_code(&self) -> u8 {
        match self.ty.code {
            code::VARCHAR | code::VAR_STRING | code::VARCHAR_COMPRESSED => code::VARCHAR,
            code::STRING => code::STRING,
            _ => code::BLOB,
        }
    }

    fn reading(&self) -> Reading {
        match (self.charset(), self.collation) {
            (Some(charset), _) => Reading::Text(charset),
            (None, None) => Reading::Untold,
            (None, Some(id)) => Reading::Unknown(id),
        }
    }

    fn check_text(&self, bytes: &[u8]) -> Option<ValueNote> {
        match self.reading() {
            Reading::Text(charset) => not_text(charset.check(bytes)),
            Reading::Untold => check_untold(bytes),
            Reading::Unknown(id) => Some(ValueNote::UnknownCollation(id)),
        }
    }

    fn json_text(&self, bytes: &[u8], out: &mut String) -> Option<ValueNote> {
        match self.reading() {
            Reading::Text(charset) => text_in(charset, bytes, out),
            Reading::Untold => untold_text(bytes, out),
            Reading::Unknown(id) => {
                write_base64(self.json_code(), bytes, out);
                Some(ValueNote::UnknownCollation(id))
            }
        }
    }

    fn check_label(&self, label: &[u8]) -> Option<ValueNote> {
        match self.labels.as_ref().map(Labels::encoding) {
            Some(LabelEncoding::Collation(Some(id))) => match charset_of(id) {
                Some(charset) if !charset.is_binary() => not_text(charset.check(label)),
                Some(_) => not_text(UTF8MB4.check(label)),
                None => Some(ValueNote::UnknownCollation(id)),
            },
            Some(LabelEncoding::Collation(None)) => check_untold(label),
            Some(LabelEncoding::Utf8) | None => None,
        }
    }

    fn json_bytes(&self, bytes: &[u8], out: &mut String) {
        // VECTOR of MariaDB.
        if self.declared() == Some(DeclaredType::Vector)
            && let Ok(vector) = Vector::new(bytes)
        {
            return write_vector(vector, out);
        }
        write_base64(self.json_code(), bytes, out);
    }

    fn json_binary(&self, binary: Binary<'_>, out: &mut String) {
        let bytes = binary.padded();
        match (self.declared(), &*bytes) {
            (Some(DeclaredType::Uuid), bytes) if bytes.len() == 16 => {
                out.push('"');
                write_uuid(bytes.try_into().unwrap_or_default(), out);
                out.push('"');
            }
            (Some(DeclaredType::Inet6), bytes) if bytes.len() == 16 => {
                out.push('"');
                write_inet6(bytes.try_into().unwrap_or_default(), out);
                out.push('"');
            }
            (Some(DeclaredType::Inet4), &[a, b, c, d]) => {
                out.push('"');
                write_inet4([a, b, c, d], out);
                out.push('"');
            }
            (_, bytes) => write_base64(code::STRING, bytes, out),
        }
    }
}

/// What is JSON as it is displayed.
fn plain(value: impl Display, out: &mut String) {
    let _ = write!(out, "{value}");
}

/// What needs nothing but quotes to be JSON.
fn quoted(value: impl Display, out: &mut String) {
    let _ = write!(out, "\"{value}\"");
}

fn write_vector(vector: Vector<'_>, out: &mut String) {
    out.push('[');
    for (n, number) in vector.iter().enumerate() {
        if n > 0 {
            out.push(',');
        }
        if number.is_finite() {
            write_f32(number, out);
        } else {
            quoted(number, out);
        }
    }
    out.push(']');
}

/// A string of characters; other bytes as `\xNN`.
fn text_in(charset: &'static Charset, bytes: &[u8], out: &mut String) -> Option<ValueNote> {
    let text = charset.decode_lossless(bytes);
    write_string(&text.text, out);
    text.undecodable_at.map(|offset| {
        ValueNote::NotText(Undecodable {
            charset: charset.name,
            offset,
        })
    })
}

/// The same of bytes of which nothing is told.
fn untold_text(bytes: &[u8], out: &mut String) -> Option<ValueNote> {
    let text = Text::utf8(bytes);
    write_string(&text.text, out);
    text.undecodable_at.map(ValueNote::NoCharset)
}

fn check_untold(bytes: &[u8]) -> Option<ValueNote> {
    let undecodable = UTF8MB4.check(bytes).err()?;
    Some(ValueNote::NoCharset(undecodable.offset))
}

fn not_text(checked: Result<(), Undecodable>) -> Option<ValueNote> {
    checked.err().map(ValueNote::NotText)
}

#[cfg(test)]
mod tests;
