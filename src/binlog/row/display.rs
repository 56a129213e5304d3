//! A value as text: what `SELECT` shows.

use super::labels::{LabelEncoding, Labels};
use super::plan::ColumnPlan;
use crate::binlog::charset::{Text, charset_of};
use crate::binlog::compressed::{MAX_UNCOMPRESSED, uncompress_column};
use crate::binlog::json::Json;
use crate::binlog::types::{Content, Value, write_f32, write_f64};
use crate::error::{Error, Result};
use std::fmt::Write;

impl ColumnPlan {
    /// Writes a value of this column as `SELECT` shows it.
    ///
    /// | type | text |
    /// |---|---|
    /// | NULL | `NULL` |
    /// | TIMESTAMP | in UTC |
    /// | FLOAT | all digits, where `SELECT` stops at six |
    /// | BIT | the number, as `SELECT col + 0` |
    /// | ENUM, SET | labels; the number where neither table map nor hint tells them |
    /// | BINARY, VARBINARY, BLOB, GEOMETRY, VECTOR | `0x` and hexadecimal digits, as `mysql --binary-as-hex` |
    /// | text of a character set that is not known | the same |
    /// | strings of which the log tells nothing | UTF-8; other bytes as `\xNN` |
    /// | integers that may be unsigned | both readings, where they differ: `-1 (255)` |
    ///
    /// # Errors
    /// A value that its type or column cannot have: digits of a DECIMAL, a label, bytes that are no
    /// character, compressed data or a JSON document that is damaged. The error names the column;
    /// what was written before may be kept.
    pub fn write_text(&self, value: Value<'_>, out: &mut String) -> Result<()> {
        self.write(value, out)
            .map_err(|error| error.in_column(self.label()))
    }

    fn write(&self, value: Value<'_>, out: &mut String) -> Result<()> {
        let written = match value {
            Value::Null => out.write_str("NULL"),
            Value::Int(n) => write!(out, "{n}"),
            Value::UInt(n) => write!(out, "{n}"),
            Value::AnyInt(n) => write!(out, "{n}"),
            Value::Float(n) => {
                write_f32(n, out);
                Ok(())
            }
            Value::Double(n) => {
                write_f64(n, out);
                Ok(())
            }
            Value::Decimal(n) => out.write_str(&n.text()?),
            Value::Bits(bits) => write!(out, "{}", bits.value),
            Value::Year(year) => write!(out, "{year:04}"),
            Value::Date(date) => write!(out, "{date}"),
            Value::Time(time) => write!(out, "{time}"),
            Value::DateTime(datetime) => write!(out, "{datetime}"),
            Value::Timestamp(timestamp) => write!(out, "{timestamp}"),
            Value::Text(bytes) => return self.write_string(bytes, out),
            Value::Bytes(bytes) => write_hex(bytes, out),
            Value::Binary(binary) => write_hex(&binary.padded(), out),
            Value::TextOrBytes(bytes) => out.write_str(&Text::utf8(bytes).text),
            Value::Compressed(bytes) => {
                let bytes = uncompress_column(bytes, MAX_UNCOMPRESSED)?;
                match self.context.content {
                    Content::Text => return self.write_string(&bytes, out),
                    Content::Bytes => write_hex(&bytes, out),
                    Content::Unknown => out.write_str(&Text::utf8(&bytes).text),
                }
            }
            Value::Enum(index) => match self.enum_label(index)? {
                Some(label) => return self.write_label(label, out),
                None => write!(out, "{index}"),
            },
            Value::Set(bits) => match self.set_labels(bits)? {
                Some(labels) => {
                    let begin = out.len();
                    for label in labels {
                        // As servers do: no comma behind empty labels at the beginning.
                        if out.len() > begin {
                            out.push(',');
                        }
                        self.write_label(label, out)?;
                    }
                    Ok(())
                }
                None => write!(out, "{bits}"),
            },
            Value::Geometry(geometry) => write_hex(geometry.bytes(), out),
            Value::Vector(vector) => write_hex(vector.bytes(), out),
            Value::Json(document) => return Json::parse(document)?.to_text(out),
        };
        // Writing to a string cannot fail.
        written.map_err(|error| Error::corrupt(error.to_string()))
    }

    /// Writes bytes in the column's character set.
    fn write_string(&self, bytes: &[u8], out: &mut String) -> Result<()> {
        write_characters(bytes, self.collation, out)
    }

    fn write_label(&self, label: &[u8], out: &mut String) -> Result<()> {
        match self.labels.as_ref().map(Labels::encoding) {
            Some(LabelEncoding::Collation(collation)) => write_characters(label, collation, out),
            // UTF-8 from the start.
            Some(LabelEncoding::Utf8) | None => {
                out.push_str(&Text::utf8(label).text);
                Ok(())
            }
        }
    }
}

/// Writes bytes in the character set of a collation.
fn write_characters(bytes: &[u8], collation: Option<u16>, out: &mut String) -> Result<()> {
    match (collation, collation.and_then(charset_of)) {
        (_, Some(charset)) if !charset.is_binary() => out.push_str(&charset.decode(bytes)?),
        // Strings of tables that tell no collation.
        (None, _) => out.push_str(&Text::utf8(bytes).text),
        _ => {
            let _ = write_hex(bytes, out);
        }
    }
    Ok(())
}

/// Writes `0x` and two digits a byte.
fn write_hex(bytes: &[u8], out: &mut String) -> std::fmt::Result {
    out.write_str("0x")?;
    bytes.iter().try_for_each(|byte| write!(out, "{byte:02X}"))
}
