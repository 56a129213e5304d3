//! What the tests of the decoder share.

use datafusion_binlog::binlog::event::{self, FormatDescription, TableMaps};
use datafusion_binlog::binlog::fields::{self, Needs};
use datafusion_binlog::binlog::frame::Framer;
use datafusion_binlog::binlog::header::Header;
use datafusion_binlog::binlog::problem::Problem;
use datafusion_binlog::binlog::reader::read_all;
use peak_alloc::PeakAlloc;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Number of bytes by which memory grew at most while `work` ran. Other tests run beside it, so
/// that only large numbers mean something.
pub fn peak_of(work: impl FnOnce()) -> usize {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    work();
    MEMORY.peak_usage().saturating_sub(before)
}

/// The folder of public binary logs, or `None` where it is not given. Says so loudly.
pub fn corpus() -> Option<PathBuf> {
    let path = std::env::var_os("BINLOG_CORPUS").map(PathBuf::from);
    if path.is_none() {
        eprintln!("SKIPPED: BINLOG_CORPUS is not set, so the public logs are not read");
    }
    path
}

/// A file of the corpus by the end of its path.
pub fn corpus_file(name: &str) -> Option<Vec<u8>> {
    let corpus = corpus()?;
    let manifest = std::fs::read_to_string(corpus.join("MANIFEST.tsv")).unwrap();
    let mut paths = manifest
        .lines()
        .filter_map(|line| line.split('\t').next())
        .filter(|path| path.ends_with(name));
    let path = paths
        .next()
        .unwrap_or_else(|| panic!("the corpus has no {name}"));
    assert_eq!(paths.next(), None, "{name} is not one file");
    Some(std::fs::read(corpus.join(path)).unwrap())
}

/// The folder of the logs that this project made.
pub fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// Path of a log that this project made.
pub fn fixture(name: &str) -> PathBuf {
    fixtures().join(name)
}

/// Names of the fixture logs, in order: `mysql-9.7-shop.000001`, but not what stands beside it.
pub fn fixture_logs() -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(fixtures())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| {
            let (_, seq) = name.rsplit_once('.').unwrap_or_default();
            seq.len() == 6 && seq.bytes().all(|b| b.is_ascii_digit())
        })
        .collect();
    names.sort();
    assert!(names.len() >= 28, "{names:?}");
    names
}

/// What a log holds.
#[derive(Debug, Default)]
pub struct Census {
    /// Number of top-level events by type code.
    pub outer: BTreeMap<u8, u64>,
    /// Number of events inside payloads by type code.
    pub inner: BTreeMap<u8, u64>,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

impl Census {
    /// Reads a log, verifying checksums. An error of the whole log is returned as text.
    pub fn of(bytes: &[u8]) -> Result<Self, String> {
        let mut census = Self::default();
        let framer = Framer::new().with_verify(true);
        let problems = read_all(framer, bytes.to_vec(), |item, _, _| {
            let side = match item.payload_index {
                None => &mut census.outer,
                Some(_) => &mut census.inner,
            };
            *side.entry(item.header.type_code).or_default() += 1;
        });
        census.problems = problems.map_err(|error| error.to_string())?;
        Ok(census)
    }
}

/// `TYPE:n TYPE:n`, for messages.
pub fn histogram(counts: &BTreeMap<u8, u64>) -> String {
    counts
        .iter()
        .map(|(&code, n)| format!("{}[{code}]:{n}", event::type_name(code)))
        .collect::<Vec<_>>()
        .join(" ")
}

/// An event with its decoded fields, which owns all it has.
#[derive(Debug, Clone)]
pub struct Decoded {
    pub pos: u64,
    pub end_pos: u64,
    pub payload_index: Option<u32>,
    pub header: Header,
    pub name: &'static str,
    pub checksum_ok: Option<bool>,
    pub format: Arc<FormatDescription>,
    pub body: Vec<u8>,
    pub xid: Option<u64>,
    pub schema: Option<String>,
    pub table: Option<String>,
    pub row_count: Option<u32>,
    pub query: Option<String>,
    pub info: String,
    pub details: String,
}

/// Reads and decodes a whole log, with the problems of both.
pub fn decode_log(bytes: &[u8]) -> (Vec<Decoded>, Vec<Problem>) {
    let mut events = Vec::new();
    let mut problems = Vec::new();
    let mut maps = TableMaps::default();
    let framer = Framer::new().with_verify(true);
    let framing = read_all(framer, bytes.to_vec(), |item, block, format| {
        let raw = item.raw(block);
        let table = fields::observe_tables(&mut maps, &raw, format);
        let index = item.payload_index;
        let fields = fields::decode(
            &raw,
            index,
            format,
            table.as_ref(),
            Needs::ALL,
            &mut problems,
        );
        events.push(Decoded {
            pos: item.pos,
            end_pos: item.end_pos,
            payload_index: index,
            header: item.header,
            name: event::type_name(item.header.type_code),
            checksum_ok: raw.checksum_ok(),
            format: Arc::clone(format),
            body: raw.body().to_vec(),
            xid: fields.xid,
            schema: fields.schema.map(Into::into),
            table: fields.table.map(Into::into),
            row_count: fields.row_count,
            query: fields.query.map(Into::into),
            info: fields.info.unwrap_or_default(),
            details: fields.details.unwrap_or_default(),
        });
    })
    .unwrap();
    problems.splice(0..0, framing);
    (events, problems)
}

/// The value of a member of a JSON object as it stands there: `"text"`, `12`, `[1,2]`.
///
/// Just enough for `details`: a name is looked for at every depth.
pub fn member<'j>(json: &'j str, name: &str) -> Option<&'j str> {
    let key = format!("\"{name}\":");
    let start = json.find(&key)? + key.len();
    let rest = &json[start..];
    let (mut depth, mut quoted, mut escaped) = (0, false, false);
    for (at, c) in rest.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            '[' | '{' if !quoted => depth += 1,
            ',' | ']' | '}' if !quoted && depth == 0 => return Some(&rest[..at]),
            ']' | '}' if !quoted => depth -= 1,
            _ => {}
        }
    }
    None
}
