//! Rows events made by hand, for tables that no fixture has. They stand in logs without checksums.

use crate::logs::{self, events, read};

/// Code of TABLE_MAP.
const TABLE_MAP: u8 = 19;
/// Codes of rows events of version 2.
pub const WRITE: u8 = 30;
pub const UPDATE: u8 = 31;
pub const DELETE: u8 = 32;

/// A column: name, type code and metadata.
pub struct Column {
    pub name: &'static str,
    pub code: u8,
    pub metadata: Vec<u8>,
    pub unsigned: Option<bool>,
    /// Collation of a string, 63 for bytes.
    pub collation: Option<u8>,
}

/// A column of a type without metadata.
pub fn column(name: &'static str, code: u8, metadata: &[u8]) -> Column {
    Column {
        name,
        code,
        metadata: metadata.to_vec(),
        unsigned: matches!(code, 1 | 2 | 3 | 4 | 5 | 8 | 9 | 13 | 246).then_some(false),
        collation: matches!(code, 15 | 252).then_some(63),
    }
}

impl Column {
    pub fn unsigned(mut self) -> Self {
        self.unsigned = Some(true);
        self
    }

    pub fn text(mut self) -> Self {
        self.collation = Some(45);
        self
    }
}

/// An event without checksum; its place is set where the log is put together.
pub fn event(code: u8, body: &[u8]) -> Vec<u8> {
    let mut event = 1_793_600_000u32.to_le_bytes().to_vec();
    event.push(code);
    event.extend(1u32.to_le_bytes());
    event.extend(((logs::HEADER + body.len()) as u32).to_le_bytes());
    event.extend([0; 6]);
    event.extend_from_slice(body);
    event
}

/// A TABLE_MAP of `shop.name` with names, signs, character sets, and the first column as key.
pub fn table_map(id: u8, name: &str, columns: &[Column]) -> Vec<u8> {
    table_map_in("shop", id, name, columns)
}

/// The same in another schema.
pub fn table_map_in(schema: &str, id: u8, name: &str, columns: &[Column]) -> Vec<u8> {
    let mut body = vec![id, 0, 0, 0, 0, 0, 1, 0, schema.len() as u8];
    body.extend(schema.as_bytes());
    body.push(0);
    body.push(name.len() as u8);
    body.extend(name.as_bytes());
    body.push(0);
    body.push(columns.len() as u8);
    body.extend(columns.iter().map(|c| c.code));
    let metadata: Vec<u8> = columns.iter().flat_map(|c| c.metadata.clone()).collect();
    body.push(metadata.len() as u8);
    body.extend(metadata);
    body.extend(vec![0xff; columns.len().div_ceil(8)]);
    let mut optional = |field: u8, value: Vec<u8>| {
        if !value.is_empty() {
            body.push(field);
            body.push(value.len() as u8);
            body.extend(value);
        }
    };
    let signs: Vec<bool> = columns.iter().filter_map(|c| c.unsigned).collect();
    let signs = signs.chunks(8).map(|eight| {
        let bits = eight.iter().enumerate();
        bits.fold(0, |byte, (n, &unsigned)| {
            byte | u8::from(unsigned) << (7 - n)
        })
    });
    optional(1, signs.collect());
    optional(3, columns.iter().filter_map(|c| c.collation).collect());
    let names = columns.iter().flat_map(|c| {
        let mut name = vec![c.name.len() as u8];
        name.extend(c.name.as_bytes());
        name
    });
    optional(4, names.collect());
    if columns.iter().any(|c| c.code == 255) {
        // Geometries of any type.
        optional(
            7,
            columns
                .iter()
                .filter(|c| c.code == 255)
                .map(|_| 0)
                .collect(),
        );
    }
    optional(8, vec![0]);
    event(TABLE_MAP, &body)
}

/// A rows event whose images have the columns of these bitmaps; it ends the statement.
pub fn rows(code: u8, id: u8, columns: usize, bitmaps: &[&[u8]], rows: &[u8]) -> Vec<u8> {
    let mut body = vec![id, 0, 0, 0, 0, 0, 1, 0, 2, 0, columns as u8];
    bitmaps.iter().for_each(|bits| body.extend_from_slice(bits));
    body.extend_from_slice(rows);
    event(code, &body)
}

/// A log without checksums that holds these events behind what begins a log.
pub fn log<'a>(body: impl IntoIterator<Item = &'a Vec<u8>>) -> Vec<u8> {
    let source = read("mysql-9.7-nochecksum.000001");
    let of_file = |event: &&[u8]| matches!(logs::type_code(event), 15 | 35);
    let head = events(&source).into_iter().take_while(of_file);
    let body: Vec<&[u8]> = body.into_iter().map(Vec::as_slice).collect();
    logs::log(head.chain(body))
}

/// A log of one INSERT of `count` rows into `shop.numbers (n int, double_n bigint, label varchar)`,
/// all in one event.
pub fn one_event_of(count: u32) -> Vec<u8> {
    let columns = [
        column("n", 3, &[]),
        column("double_n", 8, &[]),
        column("label", 15, &[200, 0]).text(),
    ];
    let mut values = Vec::new();
    for n in 0..count {
        values.push(0);
        values.extend(n.to_le_bytes());
        values.extend((u64::from(n) * 2).to_le_bytes());
        let label = format!("row {n}");
        values.push(label.len() as u8);
        values.extend(label.as_bytes());
    }
    log(&[
        table_map(7, "numbers", &columns),
        rows(WRITE, 7, 3, &[&[0xff]], &values),
    ])
}

/// DECIMAL(65,30) as servers store it.
pub fn decimal_65_30(text: &str) -> Vec<u8> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let (whole, fraction) = (format!("{whole:0>35}"), format!("{fraction:0<30}"));
    let mut bytes = Vec::new();
    let mut group = |digits: &str, width: usize| {
        let value: u32 = digits.parse().unwrap();
        bytes.extend_from_slice(&value.to_be_bytes()[4 - width..]);
    };
    group(&whole[..8], 4);
    (0..3).for_each(|n| group(&whole[8 + n * 9..17 + n * 9], 4));
    (0..3).for_each(|n| group(&fraction[n * 9..9 + n * 9], 4));
    group(&fraction[27..], 2);
    bytes[0] |= 0x80;
    if sign {
        bytes.iter_mut().for_each(|byte| *byte = !*byte);
    }
    bytes
}

/// TIME(6) as servers store it, from microseconds.
pub fn time_6(micros: i64) -> Vec<u8> {
    let (seconds, fraction) = (micros.abs() / 1_000_000, micros.abs() % 1_000_000);
    let packed = (seconds / 3600) << 12 | (seconds / 60 % 60) << 6 | (seconds % 60);
    let packed = (packed << 24 | fraction) * micros.signum();
    (packed + (1 << 47)).to_be_bytes()[2..].to_vec()
}

/// POINT(x y) with an SRID, as servers store it.
pub fn point(srid: u32, x: f64, y: f64) -> Vec<u8> {
    let mut bytes = srid.to_le_bytes().to_vec();
    bytes.extend([1, 1, 0, 0, 0]);
    bytes.extend(x.to_le_bytes());
    bytes.extend(y.to_le_bytes());
    bytes
}

/// A log of `shop.extremes`: values at the ends of their types, all three operations, and an update
/// whose images have but some columns.
pub fn extremes() -> Vec<u8> {
    let columns = [
        column("id", 8, &[]).unsigned(),
        column("d", 246, &[65, 30]),
        column("t", 19, &[6]),
        column("g", 255, &[4]),
        column("b", 252, &[2]),
        column("y", 13, &[]).unsigned(),
    ];
    let blob = |bytes: &[u8]| {
        let mut value = (bytes.len() as u16).to_le_bytes().to_vec();
        value.extend(bytes);
        value
    };
    let row = |id: u64, d: &str, t: i64, g: Vec<u8>, b: &[u8], y: u8| {
        let mut geometry = (g.len() as u32).to_le_bytes().to_vec();
        geometry.extend(g);
        let parts = [
            vec![0],
            id.to_le_bytes().to_vec(),
            decimal_65_30(d),
            time_6(t),
            geometry,
            blob(b),
            vec![y],
        ];
        parts.concat()
    };
    let most = format!("{}.{}", "9".repeat(35), "9".repeat(30));
    let hours = 838 * 3600 + 59 * 60 + 59;
    let first = row(
        u64::MAX,
        &most,
        -hours * 1_000_000,
        point(0, 1.5, -2.5),
        &[0, 255, 39],
        0,
    );
    let second = row(
        0,
        &format!("-{most}"),
        hours * 1_000_000,
        point(4326, 0.0, 90.0),
        b"",
        255,
    );
    // All NULL but the key.
    let third = [vec![0b11_1110], 1u64.to_le_bytes().to_vec()].concat();
    let tiny = "-0.000000000000000000000000000001";
    let update = row(1, tiny, -1, point(0, 0.0, 0.0), b"bytes", 1);
    // Images of the key, and of the column that was changed.
    let minimal = [
        vec![0],
        1u64.to_le_bytes().to_vec(),
        vec![0],
        blob(b"other"),
    ]
    .concat();
    let map = |id| table_map(id, "extremes", &columns);
    let all: &[u8] = &[0xff];
    log(&[
        map(9),
        rows(
            WRITE,
            9,
            6,
            &[all],
            &[first.clone(), second, third.clone()].concat(),
        ),
        map(9),
        rows(UPDATE, 9, 6, &[all, all], &[third, update].concat()),
        map(9),
        rows(UPDATE, 9, 6, &[&[0b000_0001], &[0b001_0000]], &minimal),
        map(9),
        rows(DELETE, 9, 6, &[all], &first),
    ])
}
