//! The values at the edges of each type.

use super::json;
use super::types::{Server, Ty};
use super::values::{cut, hex, of_text, repertoire, text, vector};

/// The values at the edges of a type, as SQL.
pub fn edges(ty: &Ty, server: Server) -> Vec<String> {
    let own = |list: &[&str]| list.iter().map(|&s| s.to_owned()).collect::<Vec<_>>();
    match ty {
        Ty::Int { bytes, unsigned } => {
            let bits = u32::from(*bytes) * 8;
            let max = (1i128 << bits) - 1;
            let mut all = vec![0, 1, max / 2, max / 2 + 1, max, 127, 128, 255, 100];
            if *unsigned {
                all.retain(|n| *n <= max);
            } else {
                all.extend([-1, -max / 2 - 1, -max / 2, -128, -2]);
                all.retain(|n| (-max / 2 - 1..=max / 2).contains(n));
            }
            all.iter().map(i128::to_string).collect()
        }
        Ty::Decimal {
            precision,
            scale,
            unsigned,
        } => {
            let (p, s) = (usize::from(*precision), usize::from(*scale));
            let whole = |digit: &str, n: usize| digit.repeat(n.max(1));
            let max = match (p - s, s) {
                (0, _) => format!("0.{}", "9".repeat(s)),
                (_, 0) => "9".repeat(p),
                _ => format!("{}.{}", "9".repeat(p - s), "9".repeat(s)),
            };
            let tiny = if s == 0 {
                "1".to_owned()
            } else {
                format!("0.{}1", "0".repeat(s - 1))
            };
            let mut all = vec![
                "0".to_owned(),
                max.clone(),
                tiny.clone(),
                whole("1", p - s),
                "0.5".to_owned(),
            ];
            all.push("1".to_owned() + &"0".repeat((p - s).saturating_sub(1)));
            if !unsigned {
                all.extend([
                    format!("-{max}"),
                    format!("-{tiny}"),
                    format!("-{}", whole("7", p - s)),
                    "-0.0".to_owned(),
                ]);
            }
            all
        }
        Ty::Float { unsigned } => {
            let mut all = own(&[
                "0",
                "3.4028234663852886e38",
                "1.1754943508222875e-38",
                "1.401298464324817e-45",
            ]);
            all.extend(own(&["0.1", "16777217", "1e10", "123456.789", "1"]));
            if !unsigned {
                all.extend(own(&["-0e0", "-3.4028234663852886e38", "-1.5"]));
            }
            all
        }
        Ty::Double { unsigned } => {
            let mut all = own(&[
                "0",
                "1.7976931348623157e308",
                "2.2250738585072014e-308",
                "5e-324",
                "0.1",
            ]);
            all.extend(own(&[
                "9007199254740993",
                "3.141592653589793",
                "1e15",
                "1e16",
                "1",
            ]));
            if !unsigned {
                all.extend(own(&["-0e0", "-1.7976931348623157e308", "-0.3"]));
            }
            all
        }
        Ty::Bit(n) => {
            let ones = u64::MAX >> (64 - u32::from(*n));
            [0, 1, ones, ones ^ (ones >> 1), ones >> 1]
                .map(|bits| format!("b'{bits:b}'"))
                .to_vec()
        }
        Ty::Year => own(&["'0000'", "1901", "2155", "1970", "2000"]),
        Ty::Date => {
            let mut all = own(&[
                "'0000-00-00'",
                "'1000-01-01'",
                "'9999-12-31'",
                "'2024-02-29'",
                "'2023-02-31'",
            ]);
            all.extend(own(&[
                "'2020-00-00'",
                "'2020-05-00'",
                "'0001-01-01'",
                "'1582-10-10'",
                "'1969-12-31'",
            ]));
            all.extend(own(&["'1970-01-01'", "'0000-03-01'", "'0000-01-00'"]));
            all
        }
        Ty::Time(f) => {
            let all = [
                "-838:59:59",
                "838:59:59",
                "00:00:00",
                "-00:00:01",
                "23:59:59.999999",
                "-00:00:00.000001",
            ];
            let more = [
                "-00:00:00.100000",
                "-12:34:56.789012",
                "100:00:00.5",
                "-1:00:00.000100",
                "12:00:00.010203",
            ];
            all.iter()
                .chain(&more)
                .map(|time| format!("'{}'", cut(time, *f)))
                .collect()
        }
        Ty::DateTime(f) => {
            let all = [
                "0000-00-00 00:00:00",
                "1000-01-01 00:00:00",
                "9999-12-31 23:59:59.999999",
                "2023-02-31 10:20:30.4",
            ];
            let more = [
                "0001-01-01 00:00:00.000001",
                "2020-00-00 01:02:03.123456",
                "2020-06-00 00:00:00",
                "1969-12-31 23:59:59.9",
            ];
            let last = [
                "1970-01-01 00:00:00",
                "2024-02-29 12:00:00.000100",
                "0000-01-01 00:00:01",
            ];
            all.iter()
                .chain(&more)
                .chain(&last)
                .map(|time| format!("'{}'", cut(time, *f)))
                .collect()
        }
        Ty::Timestamp(f) => {
            let mut all = vec![
                "0000-00-00 00:00:00",
                "1970-01-01 00:00:01",
                "2038-01-19 03:14:07.999999",
                "2001-09-09 01:46:40",
            ];
            all.extend(["2024-02-29 23:59:59.123456", "1970-01-01 00:00:01.000001"]);
            if server >= Server::MariaDb118 {
                all.extend(["2106-02-07 06:28:15.999999", "2038-01-19 03:14:08"]);
            }
            all.iter()
                .map(|time| format!("'{}'", cut(time, *f)))
                .collect()
        }
        Ty::Char(n, set) | Ty::VarChar(n, set) => text_edges(usize::from(*n), set),
        Ty::Text(1, set) => text_edges(60, set),
        Ty::Text(n, set) => {
            let mut all = text_edges(80, set);
            let times = [0, 0, 9000, 60000, 90000][usize::from(*n)];
            all.push(format!(
                "REPEAT({}, {times})",
                text(&widest(set).to_string())
            ));
            all
        }
        Ty::Binary(n) | Ty::VarBinary(n) => bytes_edges(usize::from(*n)),
        Ty::Blob(n) => {
            let mut all = bytes_edges(100);
            let times = [0, 85, 21845, 90000, 110000][usize::from(*n)];
            all.push(format!("REPEAT(X'00FF41', {times})"));
            all
        }
        Ty::Enum(labels, _) => {
            let mut all = vec![
                "1".to_owned(),
                labels.len().to_string(),
                "'no such label'".to_owned(),
            ];
            all.extend(labels.iter().take(6).map(|label| text(label)));
            all.push(labels.len().div_ceil(2).to_string());
            all
        }
        Ty::Set(labels, _) => {
            let all = u64::MAX >> (64 - labels.len() as u32);
            [0, all, 1, all ^ (all >> 1), all & 0x5555_5555_5555_5555]
                .map(|bits| bits.to_string())
                .to_vec()
        }
        Ty::Json => json::edges(server),
        Ty::Geometry(name, srid) => geometry_edges(name, *srid, server),
        Ty::Vector(n) => {
            let all = |x: f32| vector(&vec![x; usize::from(*n)]);
            vec![
                all(0.0),
                all(-0.0),
                all(f32::MAX),
                all(f32::MIN_POSITIVE),
                all(0.1),
                all(-1.0),
            ]
        }
        Ty::Uuid => {
            let mut all = own(&[
                "'00000000-0000-0000-0000-000000000000'",
                "'ffffffff-ffff-ffff-ffff-ffffffffffff'",
            ]);
            // Of versions that are kept in another order, and others.
            all.extend(own(&[
                "'123e4567-e89b-12d3-a456-426655440000'",
                "'f81d4fae-7dec-41d1-8765-00a0c91e6bf6'",
            ]));
            all.extend(own(&[
                "'01890a5d-ac96-774b-bcce-b302099a8057'",
                "'00112233-4455-6677-8899-aabbccddeeff'",
            ]));
            all
        }
        Ty::Inet4 => own(&[
            "'0.0.0.0'",
            "'255.255.255.255'",
            "'10.0.0.1'",
            "'127.0.0.1'",
            "'1.0.0.0'",
        ]),
        Ty::Inet6 => {
            let mut all = own(&[
                "'::'",
                "'::1'",
                "'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'",
                "'2001:db8::ff00:42:8329'",
            ]);
            all.extend(own(&[
                "'::ffff:10.1.2.3'",
                "'::10.1.2.3'",
                "'1:0:0:2::3'",
                "'fe80::'",
                "'0:1::'",
            ]));
            all
        }
        Ty::Compressed(inner) => {
            let mut all = edges(inner, server);
            if matches!(**inner, Ty::VarBinary(_)) {
                all.push("REPEAT('ab', 140)".to_owned());
            }
            all
        }
    }
}

/// A character of the set that takes the most bytes.
fn widest(set: &str) -> char {
    match set {
        "utf8mb4" | "utf16" | "utf16le" | "utf32" | "gb18030" => '😀',
        "gbk" | "gb2312" | "big5" | "euckr" | "utf8mb3" | "utf8" | "ucs2" => '中',
        "sjis" | "cp932" | "ujis" | "eucjpms" => '表',
        "latin1" => '€',
        _ => 'Z',
    }
}

fn text_edges(n: usize, set: &str) -> Vec<String> {
    let mut all: Vec<String> = vec![
        String::new(),
        "a".into(),
        " ".into(),
        "x  ".into(),
        "NULL".into(),
        "a\0b".into(),
    ];
    all.push("\t\n\\'\"`%".into());
    all.push(widest(set).to_string().repeat(n));
    all.push("Z".repeat(n));
    // The first and last character of each range.
    let ends = repertoire(set).iter().flat_map(|&(low, high)| [low, high]);
    all.push(ends.filter_map(char::from_u32).take(n).collect());
    for all in &mut all {
        *all = all.chars().take(n).collect();
    }
    all.iter().map(|all| text(all)).collect()
}

fn bytes_edges(n: usize) -> Vec<String> {
    let all: [&[u8]; 6] = [b"", b"\0", b"a\0", b"\0\0b\0\0", b"  ", b"\xff\xfe\x80"];
    let mut all: Vec<String> = all
        .iter()
        .map(|all| format!("X'{}'", hex(&all[..all.len().min(n)])))
        .collect();
    all.push(format!("REPEAT(X'FF', {n})"));
    all.push(format!("REPEAT(X'00', {n})"));
    all
}

pub fn geometry_edges(name: &str, srid: Option<u32>, server: Server) -> Vec<String> {
    let shapes: &[&str] = match name {
        "POINT" => &["POINT(0 0)", "POINT(-90 180)", "POINT(1.5 -2.25)"],
        "LINESTRING" => &[
            "LINESTRING(0 0, 1 1)",
            "LINESTRING(0 0, 1e10 -1e-10, 3 3, 0 0)",
        ],
        "POLYGON" => &[
            "POLYGON((0 0, 10 0, 10 10, 0 10, 0 0), (2 2, 2 4, 4 4, 4 2, 2 2))",
            "POLYGON((0 0, 1 0, 1 1, 0 0))",
        ],
        "MULTIPOINT" => &["MULTIPOINT(0 0, 1 1)", "MULTIPOINT(-1 -1)"],
        "MULTILINESTRING" => &["MULTILINESTRING((0 0, 1 1), (2 2, 3 3, 4 4))"],
        "MULTIPOLYGON" => &["MULTIPOLYGON(((0 0, 1 0, 1 1, 0 0)), ((5 5, 7 5, 7 7, 5 5)))"],
        "GEOMETRYCOLLECTION" => &[
            "GEOMETRYCOLLECTION(POINT(1 2), LINESTRING(0 0, 1 1))",
            "GEOMETRYCOLLECTION(POINT(3 4))",
        ],
        _ => &["POINT(1 2)", "LINESTRING(0 0, 5 5)"],
    };
    let mut all: Vec<String> = shapes.iter().map(|shape| of_text(shape, srid)).collect();
    if srid.is_none() && server.is_mysql() {
        all.push(of_text(shapes[0], Some(3857)));
        if name.starts_with("GEOMETRY") {
            // MariaDB has neither.
            all.push(of_text("GEOMETRYCOLLECTION EMPTY", srid));
            let nested = "GEOMETRYCOLLECTION(POINT(1 2), GEOMETRYCOLLECTION(POINT(3 4)))";
            all.push(of_text(nested, srid));
        }
    }
    all
}
