//! Random values as SQL literals.

use super::edges::geometry_edges;
use super::json;
use super::random::Rng;
use super::types::{Server, Ty};

/// A random value.
pub fn random(ty: &Ty, server: Server, rng: &mut Rng) -> String {
    match ty {
        Ty::Int { bytes, unsigned } => {
            // As many small numbers as large ones.
            let bits = rng.between(1, u64::from(*bytes) * 8);
            let n = rng.next() >> (64 - bits);
            let half = (1u64 << (u32::from(*bytes) * 8 - 1)) - 1;
            match unsigned {
                true => n.to_string(),
                false if rng.chance(50) => (n & half).to_string(),
                false => format!("-{}", n & half),
            }
        }
        Ty::Decimal {
            precision,
            scale,
            unsigned,
        } => {
            let (p, s) = (u64::from(*precision), u64::from(*scale));
            let (whole, fraction) = (rng.between(0, p - s), rng.between(0, s));
            let mut digits = |n: u64| {
                (0..n)
                    .map(|_| char::from(b'0' + rng.below(10) as u8))
                    .collect::<String>()
            };
            let (whole, fraction) = (digits(whole), digits(fraction));
            let sign = if !unsigned && rng.chance(50) { "-" } else { "" };
            format!("{sign}0{whole}.{fraction}0")
        }
        Ty::Float { unsigned } => loop {
            let x = f32::from_bits(rng.next() as u32);
            if x.is_finite() {
                return format!("{:e}", if *unsigned { x.abs() } else { x });
            }
        },
        Ty::Double { unsigned } => loop {
            let x = match rng.chance(50) {
                true => f64::from_bits(rng.next()),
                false => (rng.next() as f64 / 2f64.powi(40)).round() / 1000.0,
            };
            if x.is_finite() {
                return format!("{:e}", if *unsigned { x.abs() } else { x });
            }
        },
        Ty::Bit(n) => format!("b'{:b}'", rng.next() >> (64 - u32::from(*n))),
        Ty::Year => rng.between(1901, 2155).to_string(),
        Ty::Date => format!("'{}'", date(rng)),
        Ty::Time(f) => {
            let sign = if rng.chance(50) { "-" } else { "" };
            format!("'{sign}{}:{}'", rng.below(838), cut(&minutes(rng), *f))
        }
        Ty::DateTime(f) => format!(
            "'{} {}:{}'",
            date(rng),
            rng.below(24),
            cut(&minutes(rng), *f)
        ),
        Ty::Timestamp(f) => {
            let year = rng.between(
                1971,
                if server >= Server::MariaDb118 {
                    2105
                } else {
                    2037
                },
            );
            let day = format!("{year}-{}-{}", rng.between(1, 12), rng.between(1, 28));
            format!("'{day} {}:{}'", rng.below(24), cut(&minutes(rng), *f))
        }
        Ty::Char(n, set) | Ty::VarChar(n, set) => random_text(usize::from(*n), set, rng),
        Ty::Text(1, set) => random_text(60, set, rng),
        Ty::Text(_, set) => random_text(300, set, rng),
        Ty::Binary(n) | Ty::VarBinary(n) => random_bytes(usize::from(*n), rng),
        Ty::Blob(1) => random_bytes(255, rng),
        Ty::Blob(_) => random_bytes(700, rng),
        Ty::Enum(labels, _) => rng.between(1, labels.len() as u64).to_string(),
        Ty::Set(labels, _) => (rng.next() >> (64 - labels.len() as u32)).to_string(),
        Ty::Json => json::random(server, rng),
        Ty::Geometry(name, srid) => geometry(name, *srid, server, rng),
        Ty::Vector(n) => {
            let floats: Vec<f32> = (0..*n)
                .map(|_| (rng.next() as i32 as f32) / 65536.0)
                .collect();
            vector(&floats)
        }
        Ty::Uuid => {
            let hex = format!("{:016x}{:016x}", rng.next(), rng.next());
            format!(
                "'{}-{}-{}-{}-{}'",
                &hex[..8],
                &hex[8..12],
                &hex[12..16],
                &hex[16..20],
                &hex[20..]
            )
        }
        Ty::Inet4 => {
            let bytes = (rng.next() as u32).to_be_bytes();
            format!("'{}'", std::net::Ipv4Addr::from(bytes))
        }
        Ty::Inet6 => {
            // With runs of zero groups at any place.
            let groups: [u16; 8] = std::array::from_fn(|_| {
                if rng.chance(50) {
                    0
                } else {
                    rng.next() as u16 >> rng.below(16)
                }
            });
            let groups = groups.map(|group| format!("{group:x}"));
            format!("'{}'", groups.join(":"))
        }
        Ty::Compressed(inner) if rng.chance(50) => match **inner {
            Ty::VarChar(n, _) => format!("REPEAT('ab', {})", rng.between(1, u64::from(n) / 2)),
            Ty::VarBinary(n) => format!("REPEAT(X'00FF', {})", rng.between(1, u64::from(n) / 2)),
            _ => format!("REPEAT('xyz', {})", rng.between(1, 80)),
        },
        Ty::Compressed(inner) => random(inner, server, rng),
    }
}

/// A text as a literal of plain ASCII.
pub fn text(text: &str) -> String {
    format!("_utf8mb4 X'{}'", hex(text.as_bytes()))
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

/// Leaves `f` digits of a fraction.
pub fn cut(time: &str, f: u8) -> String {
    match time.split_once('.') {
        Some((time, _)) if f == 0 => time.to_owned(),
        Some((time, fraction)) => {
            format!("{time}.{}", &fraction[..fraction.len().min(usize::from(f))])
        }
        None => time.to_owned(),
    }
}

fn date(rng: &mut Rng) -> String {
    let year = if rng.chance(80) {
        rng.between(1900, 2100)
    } else {
        rng.between(1, 9999)
    };
    format!(
        "{year:04}-{:02}-{:02}",
        rng.between(1, 12),
        rng.between(1, 28)
    )
}

fn minutes(rng: &mut Rng) -> String {
    format!(
        "{:02}:{:02}.{:06}",
        rng.below(60),
        rng.below(60),
        rng.below(1_000_000)
    )
}

/// Characters outside ASCII that a character set is for; the server makes `?` of what it lacks.
pub fn repertoire(set: &str) -> &'static [(u32, u32)] {
    match set {
        "ascii" => &[(0x21, 0x7e)],
        "greek" => &[(0x384, 0x3ce)],
        "cp1251" | "koi8r" | "koi8u" | "cp866" => &[(0x401, 0x45f), (0xa0, 0xbf)],
        "hebrew" => &[(0x5d0, 0x5ea)],
        "tis620" => &[(0xe01, 0xe5b)],
        "cp1256" => &[(0x600, 0x6ff), (0xa0, 0xff)],
        "gbk" | "gb2312" | "big5" => &[
            (0x4e00, 0x9fff),
            (0x3000, 0x303f),
            (0xff01, 0xff5e),
            (0x391, 0x3c9),
            (0x2500, 0x25ff),
        ],
        "gb18030" => &[
            (0x4e00, 0x9fff),
            (0x80, 0xd7ff),
            (0xe000, 0xffff),
            (0x10000, 0x10ffff),
        ],
        "sjis" | "cp932" | "ujis" | "eucjpms" => &[
            (0x3041, 0x30ff),
            (0x4e00, 0x9fff),
            (0xff01, 0xff9f),
            (0x391, 0x3c9),
            (0x2010, 0x22ff),
        ],
        "euckr" => &[(0xac00, 0xd7a3), (0x4e00, 0x9fff), (0x3131, 0x318e)],
        "ucs2" | "utf8mb3" | "utf8" => &[(0x80, 0xd7ff), (0xe000, 0xffff)],
        "utf8mb4" | "utf16" | "utf16le" | "utf32" => &[
            (0x80, 0x7ff),
            (0x800, 0xd7ff),
            (0xe000, 0xffff),
            (0x10000, 0x10ffff),
        ],
        "armscii8" => &[(0x531, 0x58a)],
        "geostd8" => &[(0x10d0, 0x10f6)],
        "latin1" => &[(0xa0, 0xff), (0x2013, 0x203a), (0x152, 0x178)],
        _ => &[(0xa0, 0x17f), (0x2013, 0x203a)],
    }
}

fn random_text(n: usize, set: &str, rng: &mut Rng) -> String {
    let ranges = repertoire(set);
    let length = rng.between(0, n as u64);
    let char = |_| match rng.chance(40) {
        true => char::from(rng.between(32, 126) as u8),
        false => {
            let &(low, high) = rng.pick(ranges);
            char::from_u32(rng.between(low.into(), high.into()) as u32).unwrap_or('?')
        }
    };
    text(&(0..length).map(char).collect::<String>())
}

fn random_bytes(n: usize, rng: &mut Rng) -> String {
    let length = rng.between(0, n as u64);
    let mut bytes: Vec<u8> = (0..length).map(|_| rng.next() as u8).collect();
    if rng.chance(30) {
        // Zeros at the end, which BINARY strips in the log.
        let keep = rng.index(bytes.len() + 1);
        bytes[keep..].fill(0);
    }
    format!("X'{}'", hex(&bytes))
}

pub fn vector(floats: &[f32]) -> String {
    let bytes: Vec<u8> = floats.iter().flat_map(|x| x.to_le_bytes()).collect();
    format!("X'{}'", hex(&bytes))
}

pub fn of_text(text: &str, srid: Option<u32>) -> String {
    match srid {
        Some(srid) => format!("ST_GeomFromText('{text}', {srid})"),
        None => format!("ST_GeomFromText('{text}')"),
    }
}

fn geometry(name: &str, srid: Option<u32>, server: Server, rng: &mut Rng) -> String {
    let mut point = || {
        format!(
            "{} {}",
            rng.below(180) as f64 - 90.0,
            rng.below(100_000) as f64 / 1000.0
        )
    };
    let text = match name {
        "POINT" | "GEOMETRY" => format!("POINT({})", point()),
        "LINESTRING" => {
            let points: Vec<String> = (0..12).map(|_| point()).collect();
            format!("LINESTRING({})", points.join(", "))
        }
        "MULTIPOINT" => format!("MULTIPOINT({}, {})", point(), point()),
        _ => return rng.pick(&geometry_edges(name, srid, server)).clone(),
    };
    of_text(&text, srid)
}
