//! LOAD DATA in statement format. The file travels in blocks that the `file_id` joins.
//!
//! ```text
//! 3.23       LOAD                                    the file is on the server only
//! 4.0, 4.1   CREATE_FILE, APPEND_BLOCK …, EXEC_LOAD or DELETE_FILE    (NEW_LOAD: never in a log)
//! 5.0 …      BEGIN_LOAD_QUERY, APPEND_BLOCK …, EXECUTE_LOAD_QUERY or DELETE_FILE
//!
//! LOAD, NEW_LOAD     thread_id 4 │ exec_time 4 │ skip_lines 4 │ table_len 1 │ schema_len 1 │ fields 4
//!                    │ separators │ field lengths 1 × fields │ (field name │ NUL) × fields
//!                    │ table │ NUL │ schema │ NUL │ file name
//! CREATE_FILE        post-header of LOAD │ file_id 4 │ body of NEW_LOAD │ NUL │ first block
//! separators         LOAD: 5 × byte │ opt_flags 1 │ empty_flags 1
//!                    else: 5 × (length 1 │ text) │ opt_flags 1
//! APPEND_BLOCK, BEGIN_LOAD_QUERY   file_id 4 │ block
//! EXEC_LOAD, DELETE_FILE           file_id 4
//! EXECUTE_LOAD_QUERY               post-header of QUERY │ file_id 4 │ name_start 4 │ name_end 4
//!                                  │ dup_handling 1 │ body of QUERY
//! ```
//!
//! Source: MySQL `libs/mysql/binlog/event/load_data_events.cpp`; for the old types MySQL 5.7
//! `libbinlogevents/src/load_data_events.cpp`.

use super::query::{Query, post_header_len, write_name, write_use};
use super::session::write_quoted_bytes;
use super::{Cursor, Describe, Details, Event, EventContext, EventDef, Vendor};
use crate::binlog::charset::Text;
use crate::error::{Error, Result};
use std::fmt::Write;

const LOAD: u8 = 6;
const CREATE_FILE: u8 = 8;

pub(super) const DEFS: &[EventDef] = &[
    EventDef {
        code: LOAD,
        name: "LOAD",
        vendor: Vendor::Both,
        since: "3.23",
        doc: "LOAD DATA, whose file is not in the log",
        decode: |body, cx| LoadData::read(body, cx).map(Event::LoadData),
    },
    EventDef {
        code: CREATE_FILE,
        name: "CREATE_FILE",
        vendor: Vendor::Both,
        since: "4.0",
        doc: "LOAD DATA and the first block of its file",
        decode: |body, cx| LoadData::read(body, cx).map(Event::LoadData),
    },
    EventDef {
        code: 9,
        name: "APPEND_BLOCK",
        vendor: Vendor::Both,
        since: "4.0",
        doc: "a further block of a file of LOAD DATA",
        decode: |body, _| BlockOfFile::read(body).map(Event::BlockOfFile),
    },
    EventDef {
        code: 10,
        name: "EXEC_LOAD",
        vendor: Vendor::Both,
        since: "4.0",
        doc: "the file of LOAD DATA is complete: load it",
        decode: |body, _| {
            Ok(Event::LoadFile(LoadFile {
                file_id: body.u32()?,
            }))
        },
    },
    EventDef {
        code: 11,
        name: "DELETE_FILE",
        vendor: Vendor::Both,
        since: "4.0",
        doc: "LOAD DATA failed: the file is not needed",
        decode: |body, _| {
            Ok(Event::DeleteFile(DeleteFile {
                file_id: body.u32()?,
            }))
        },
    },
    EventDef {
        code: 12,
        name: "NEW_LOAD",
        vendor: Vendor::Both,
        since: "4.0",
        doc: "LOAD with separators of more than one byte",
        decode: |body, cx| LoadData::read(body, cx).map(Event::LoadData),
    },
    EventDef {
        code: 17,
        name: "BEGIN_LOAD_QUERY",
        vendor: Vendor::Both,
        since: "5.0",
        doc: "first block of a file of LOAD DATA",
        decode: |body, _| BlockOfFile::read(body).map(Event::BlockOfFile),
    },
    EventDef {
        code: 18,
        name: "EXECUTE_LOAD_QUERY",
        vendor: Vendor::Both,
        since: "5.0",
        doc: "the statement LOAD DATA, whose file stands before it",
        decode: |body, cx| ExecuteLoadQuery::read(body, cx).map(Event::ExecuteLoadQuery),
    },
];

/// LOAD DATA of MySQL 3.23 to 4.1, in its parts. All names and texts are in a character set that
/// the log does not tell.
#[derive(Debug, Clone, Copy)]
pub struct LoadData<'a> {
    /// Connection that ran the statement.
    pub thread_id: u32,
    /// Seconds from the start of the statement to its logging.
    pub exec_time: u32,
    /// Lines at the start of the file that are not loaded.
    pub skip_lines: u32,
    /// Separators and options.
    pub format: LoadFormat<'a>,
    /// Table that is loaded.
    pub table: &'a [u8],
    /// Its schema.
    pub schema: &'a [u8],
    /// Path of the file on the server that ran the statement.
    pub file_name: &'a [u8],
    /// The first block of the file; `None` where the log does not have the file.
    pub block: Option<BlockOfFile<'a>>,
    field_lens: &'a [u8],
    field_names: &'a [u8],
}

/// Separators and options of LOAD DATA.
#[derive(Debug, Clone, Copy)]
pub struct LoadFormat<'a> {
    /// `FIELDS TERMINATED BY`.
    pub field_term: &'a [u8],
    /// `ENCLOSED BY`.
    pub enclosed: &'a [u8],
    /// `LINES TERMINATED BY`.
    pub line_term: &'a [u8],
    /// `LINES STARTING BY`.
    pub line_start: &'a [u8],
    /// `ESCAPED BY`.
    pub escaped: &'a [u8],
    /// 1: dump file, 2: `OPTIONALLY` enclosed, 4: `REPLACE`, 8: `IGNORE`.
    pub opt_flags: u8,
}

impl<'a> LoadFormat<'a> {
    const OPTIONALLY: u8 = 2;
    const REPLACE: u8 = 4;
    const IGNORE: u8 = 8;

    /// Separators of one byte each; a flag tells which are empty.
    fn read_old(body: &mut Cursor<'a>) -> Result<Self> {
        let bytes = body.bytes(5)?;
        let opt_flags = body.u8()?;
        let empty = body.u8()?;
        let mut texts = bytes.chunks(1).zip(0..).map(|(byte, bit)| {
            let is_empty = empty & 1u8.unbounded_shl(bit) != 0;
            if is_empty { &[][..] } else { byte }
        });
        let mut next = || texts.next().unwrap_or_default();
        // The order of the bytes; that of the flags is the same.
        Ok(Self {
            field_term: next(),
            enclosed: next(),
            line_term: next(),
            line_start: next(),
            escaped: next(),
            opt_flags,
        })
    }

    fn read_new(body: &mut Cursor<'a>) -> Result<Self> {
        let mut text = || {
            let len = body.u8()?;
            body.bytes(usize::from(len))
        };
        Ok(Self {
            field_term: text()?,
            enclosed: text()?,
            line_term: text()?,
            line_start: text()?,
            escaped: text()?,
            opt_flags: body.u8()?,
        })
    }
}

impl<'a> LoadData<'a> {
    fn read(body: &mut Cursor<'a>, cx: &EventContext<'_>) -> Result<Self> {
        let code = cx.header.type_code;
        let load_len = cx.format.post_header_len(LOAD);
        let mut fixed = match load_len {
            Some(len) => body.sub(len)?,
            None => return Err(Error::corrupt("the log's format description has no LOAD")),
        };
        let thread_id = fixed.u32()?;
        let exec_time = fixed.u32()?;
        let skip_lines = fixed.u32()?;
        let table_len = usize::from(fixed.u8()?);
        let schema_len = usize::from(fixed.u8()?);
        let fields = fixed.u32()? as usize;
        let file_id = match code {
            CREATE_FILE => Some(body.sub(post_header_len(cx)?)?.u32()?),
            _ => None,
        };
        let format = match code {
            LOAD => LoadFormat::read_old(body)?,
            _ => LoadFormat::read_new(body)?,
        };
        let field_lens = body.bytes(fields)?;
        let names_len = field_lens
            .iter()
            .fold(fields, |sum, &len| sum.saturating_add(usize::from(len)));
        let field_names = body.bytes(names_len)?;
        let table = name(body, table_len)?;
        let schema = name(body, schema_len)?;
        let (file_name, block) = match file_id {
            Some(file_id) => {
                let file_name = body.until_nul()?;
                let data = body.rest();
                (file_name, Some(BlockOfFile { file_id, data }))
            }
            None => {
                let file_name = body.rest();
                let file_name = file_name.strip_suffix(&[0]).unwrap_or(file_name);
                (file_name, None)
            }
        };
        Ok(Self {
            thread_id,
            exec_time,
            skip_lines,
            format,
            table,
            schema,
            file_name,
            block,
            field_lens,
            field_names,
        })
    }

    /// The columns that the file's fields go to; none: all columns of the table.
    pub fn fields(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let mut names = Cursor::new(self.field_names);
        self.field_lens.iter().map_while(move |&len| {
            let name = names.bytes(usize::from(len)).ok();
            names.skip(1).ok()?; // NUL
            name
        })
    }

    fn write_statement(&self, out: &mut String) {
        write_use(self.schema, out);
        out.push_str("LOAD DATA INFILE ");
        write_quoted_bytes(self.file_name, out);
        if self.format.opt_flags & LoadFormat::REPLACE != 0 {
            out.push_str(" REPLACE");
        } else if self.format.opt_flags & LoadFormat::IGNORE != 0 {
            out.push_str(" IGNORE");
        }
        out.push_str(" INTO TABLE ");
        write_name(self.table, out);
        out.push_str(" FIELDS TERMINATED BY ");
        write_quoted_bytes(self.format.field_term, out);
        if self.format.opt_flags & LoadFormat::OPTIONALLY != 0 {
            out.push_str(" OPTIONALLY");
        }
        out.push_str(" ENCLOSED BY ");
        write_quoted_bytes(self.format.enclosed, out);
        out.push_str(" ESCAPED BY ");
        write_quoted_bytes(self.format.escaped, out);
        out.push_str(" LINES TERMINATED BY ");
        write_quoted_bytes(self.format.line_term, out);
        if !self.format.line_start.is_empty() {
            out.push_str(" STARTING BY ");
            write_quoted_bytes(self.format.line_start, out);
        }
        if self.skip_lines > 0 {
            let _ = write!(out, " IGNORE {} LINES", self.skip_lines);
        }
        for (i, field) in self.fields().enumerate() {
            out.push_str(if i == 0 { " (" } else { ", " });
            write_name(field, out);
        }
        if !self.field_lens.is_empty() {
            out.push(')');
        }
    }
}

/// A name of a known length, and the NUL behind it.
fn name<'a>(body: &mut Cursor<'a>, len: usize) -> Result<&'a [u8]> {
    let name = body.bytes(len)?;
    match body.u8()? {
        0 => Ok(name),
        other => Err(Error::corrupt(format!(
            "a name ends with byte 0x{other:02x}, not with NUL"
        ))),
    }
}

impl Describe for LoadData<'_> {
    fn info(&self, out: &mut String) -> Result<()> {
        self.write_statement(out);
        if let Some(block) = self.block {
            out.push(' ');
            block.info(out)?;
        }
        Ok(())
    }

    fn details(&self, out: &mut Details<'_>) -> Result<()> {
        out.text("file_name", self.file_name);
        out.num("skip_lines", self.skip_lines);
        out.text("field_term", self.format.field_term);
        out.text("enclosed", self.format.enclosed);
        out.text("escaped", self.format.escaped);
        out.text("line_term", self.format.line_term);
        out.text("line_start", self.format.line_start);
        out.num("opt_flags", self.format.opt_flags);
        out.strs("fields", self.fields().map(|name| Text::utf8(name).text));
        if let Some(block) = self.block {
            block.details(out)?;
        }
        Ok(())
    }
}

/// A block of a file that LOAD DATA loads.
#[derive(Debug, Clone, Copy)]
pub struct BlockOfFile<'a> {
    /// Joins the blocks of one file and the event that loads it.
    pub file_id: u32,
    /// Bytes of the file.
    pub data: &'a [u8],
}

impl<'a> BlockOfFile<'a> {
    fn read(body: &mut Cursor<'a>) -> Result<Self> {
        Ok(Self {
            file_id: body.u32()?,
            data: body.rest(),
        })
    }
}

impl Describe for BlockOfFile<'_> {
    fn info(&self, out: &mut String) -> Result<()> {
        let _ = write!(
            out,
            ";file_id={};block_len={}",
            self.file_id,
            self.data.len()
        );
        Ok(())
    }

    fn details(&self, out: &mut Details<'_>) -> Result<()> {
        out.num("file_id", self.file_id);
        out.num("block_length", self.data.len());
        Ok(())
    }
}

/// The file of LOAD DATA is complete: load it (4.0, 4.1).
#[derive(Debug, Clone, Copy)]
pub struct LoadFile {
    /// The file, see [`BlockOfFile::file_id`].
    pub file_id: u32,
}

/// LOAD DATA failed: the file is not needed.
#[derive(Debug, Clone, Copy)]
pub struct DeleteFile {
    /// The file, see [`BlockOfFile::file_id`].
    pub file_id: u32,
}

fn describe_file_id(file_id: u32, out: &mut String) -> Result<()> {
    let _ = write!(out, ";file_id={file_id}");
    Ok(())
}

impl Describe for LoadFile {
    fn info(&self, out: &mut String) -> Result<()> {
        describe_file_id(self.file_id, out)
    }

    fn details(&self, out: &mut Details<'_>) -> Result<()> {
        out.num("file_id", self.file_id);
        Ok(())
    }
}

impl Describe for DeleteFile {
    fn info(&self, out: &mut String) -> Result<()> {
        describe_file_id(self.file_id, out)
    }

    fn details(&self, out: &mut Details<'_>) -> Result<()> {
        out.num("file_id", self.file_id);
        Ok(())
    }
}

/// The statement LOAD DATA, whose file stands before it.
#[derive(Debug, Clone, Copy)]
pub struct ExecuteLoadQuery<'a> {
    /// The statement, as in QUERY.
    pub query: Query<'a>,
    /// The file, see [`BlockOfFile::file_id`].
    pub file_id: u32,
    /// Offset in the statement where the file's name begins, with `LOCAL` if that is there.
    pub name_start: u32,
    /// Offset behind the name.
    pub name_end: u32,
    /// What happens to rows whose key is there already. 0: an error, 1: `IGNORE`, 2: `REPLACE`.
    pub dup_handling: u8,
}

impl<'a> ExecuteLoadQuery<'a> {
    /// Length of the part of the post-header that QUERY does not have.
    const OWN_LEN: usize = 13;

    fn read(body: &mut Cursor<'a>, cx: &EventContext<'_>) -> Result<Self> {
        let len = post_header_len(cx)?;
        let query_len = len.checked_sub(Self::OWN_LEN).ok_or_else(|| {
            Error::corrupt(format!(
                "a post-header of {len} bytes in EXECUTE_LOAD_QUERY"
            ))
        })?;
        let query_fixed = body.sub(query_len)?;
        let mut own = body.sub(Self::OWN_LEN)?;
        let file_id = own.u32()?;
        let name_start = own.u32()?;
        let name_end = own.u32()?;
        let dup_handling = own.u8()?;
        let query = Query::read(query_fixed, body, cx, false)?;
        let statement = query.raw_query.len();
        if name_start > name_end || name_end as usize > statement || dup_handling > 2 {
            return Err(Error::corrupt(format!(
                "file name at {name_start}..{name_end} of {statement} bytes, \
                 duplicate handling {dup_handling}"
            )));
        }
        Ok(Self {
            query,
            file_id,
            name_start,
            name_end,
            dup_handling,
        })
    }

    fn dup_handling_name(&self) -> &'static str {
        match self.dup_handling {
            0 => "ERROR",
            1 => "IGNORE",
            _ => "REPLACE",
        }
    }
}

impl Describe for ExecuteLoadQuery<'_> {
    fn info(&self, out: &mut String) -> Result<()> {
        self.query.write_with_use(out)?;
        let _ = write!(out, " ;file_id={}", self.file_id);
        Ok(())
    }

    fn details(&self, out: &mut Details<'_>) -> Result<()> {
        out.num("file_id", self.file_id);
        out.num("file_name_start", self.name_start);
        out.num("file_name_end", self.name_end);
        out.str("dup_handling", self.dup_handling_name());
        self.query.details(out)
    }

    fn undecoded(&self) -> usize {
        self.query.undecoded()
    }
}

#[cfg(test)]
mod tests;
