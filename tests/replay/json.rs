//! JSON documents, and updates of a part of one.

use super::random::Rng;
use super::types::Server;
use super::values::text;

/// Keys of objects. `tags` is an array of texts, which a multi-valued index is on.
const KEYS: [&str; 9] = [
    "a",
    "b",
    "c",
    "long key with spaces",
    "ключ",
    "",
    "q\"uote",
    "k",
    "z",
];

/// Documents with every kind of value, and of both sizes of the binary format.
pub fn edges(server: Server) -> Vec<String> {
    let plain = [
        "null",
        "true",
        "false",
        "0",
        "-1",
        "32767",
        "32768",
        "-32769",
        "2147483648",
        "-2147483649",
        "18446744073709551615",
        "-9223372036854775808",
        "1.5",
        "1.0",
        "1e300",
        "-0.0",
        "0.1",
        "\"\"",
        "\"text \\u0000 \\\\ \\\" \\n é 😀\"",
        "[]",
        "{}",
        "[1, [2, [3, [4, {\"a\": [null]}]]]]",
        "{\"b\": 1, \"a\": 2, \"aa\": 3, \"\": {}, \"ключ\": [true, 2.5]}",
        "[\"x\", 70000, null, false]",
    ];
    let mut all: Vec<String> = plain.iter().map(|doc| text(doc)).collect();
    // MariaDB takes 32 levels, MySQL 100.
    let depth = if server.is_mysql() { 99 } else { 30 };
    let nested = format!("{}7{}", "[".repeat(depth), "]".repeat(depth));
    all.push(text(&nested));
    let wide: Vec<String> = (0..400)
        .map(|n| format!("\"key {n}\": {}", n * 700))
        .collect();
    all.push(text(&format!("{{{}}}", wide.join(", "))));
    all.push(
        "CONCAT('{\"large\": \"', REPEAT('x', 66000), '\", \"n\": [1, 2.5, \"y\"]}')".to_owned(),
    );
    if server.is_mysql() {
        // Values that JSON's own text does not have.
        all.push("JSON_OBJECT('d', CAST('2024-02-29' AS DATE), 't', CAST('-12:34:56.789' AS TIME(3)), 'dt', CAST('2024-01-02 03:04:05.678901' AS DATETIME(6)))".to_owned());
        all.push("JSON_ARRAY(CAST(1.10 AS DECIMAL(5,2)), CAST('-99999999999999999999.123456789' AS DECIMAL(40,9)), X'00FF', b'101', CAST(18446744073709551615 AS UNSIGNED))".to_owned());
        all.push("JSON_OBJECT('bin', CAST(REPEAT(X'AB', 300) AS BINARY), 'geo', ST_GeomFromText('POINT(1 2)'), 'y', CAST(2024 AS YEAR))".to_owned());
        all.push("CAST(CAST('0000-00-00 00:00:00' AS DATETIME) AS JSON)".to_owned());
        all.push("JSON_ARRAY(1e0, 1e22, 123456789012345678e0, 1.7976931348623157e308, 5e-324, 0.1e0 + 0.2e0)".to_owned());
    }
    all
}

/// A random document, mostly an object large enough that changing a part of it is worth a diff.
pub fn random(server: Server, rng: &mut Rng) -> String {
    if server.is_mysql() && rng.chance(10) {
        let n = rng.next() as i32;
        return format!(
            "JSON_OBJECT('a', CAST({n}.25 AS DECIMAL(20,2)), 'b', CAST('2020-01-{:02}' AS DATE), 'c', '{}')",
            rng.between(1, 28),
            "pad ".repeat(20)
        );
    }
    text(&document(rng))
}

fn document(rng: &mut Rng) -> String {
    let mut members = vec![
        format!(
            "\"pad\": \"{}\"",
            "0123456789".repeat(rng.between(1, 30) as usize)
        ),
        format!("\"tags\": [\"t{}\", \"t{}\"]", rng.below(9), rng.below(9)),
    ];
    for key in KEYS {
        if rng.chance(50) {
            members.push(format!(
                "\"{}\": {}",
                key.replace('"', "\\\""),
                value(rng, 3)
            ));
        }
    }
    rng.shuffle(&mut members);
    format!("{{{}}}", members.join(", "))
}

fn value(rng: &mut Rng, depth: u32) -> String {
    match rng.below(if depth == 0 { 7 } else { 9 }) {
        0 => "null".to_owned(),
        1 => rng.chance(50).to_string(),
        2 => ((rng.next() as i64) >> rng.below(64)).to_string(),
        3 => (rng.next() >> rng.below(64)).to_string(),
        4 => format!(
            "{:e}",
            (rng.next() as i64 as f64) / 2f64.powi(rng.below(80) as i32)
        ),
        5 => format!(
            "\"{}\"",
            "äß€ 😀 text"
                .chars()
                .take(rng.index(12))
                .collect::<String>()
        ),
        6 => format!("\"{}\"", "y".repeat(rng.index(300))),
        7 => {
            let items: Vec<String> = (0..rng.below(5)).map(|_| value(rng, depth - 1)).collect();
            format!("[{}]", items.join(", "))
        }
        _ => {
            let mut items = Vec::new();
            for key in ["a", "b", "k", "deep"] {
                if rng.chance(50) {
                    items.push(format!("\"{key}\": {}", value(rng, depth - 1)));
                }
            }
            format!("{{{}}}", items.join(", "))
        }
    }
}

/// An expression that changes a part of `column`.
pub fn update(column: &str, server: Server, rng: &mut Rng) -> String {
    let path = |rng: &mut Rng| {
        let paths = [
            "$.a",
            "$.b",
            "$.c",
            "$.k",
            "$.z",
            "$.new",
            "$.a.b",
            "$.b.k",
            "$.c[0]",
            "$.tags[0]",
            "$.tags[1]",
            "$[0]",
            "$.pad",
            "$.\"long key with spaces\"",
            "$.a.deep",
            "$.k.a",
        ];
        format!("'{}'", rng.pick(&paths))
    };
    let scalar = |rng: &mut Rng| match rng.below(if server.is_mysql() { 8 } else { 5 }) {
        0 => "NULL".to_owned(),
        1 => ((rng.next() as i64) >> rng.below(64)).to_string(),
        2 => "'short'".to_owned(),
        3 => format!("REPEAT('w', {})", rng.below(400)),
        4 => format!("{:e}", rng.next() as f64 / 1e9),
        5 => "CAST('[1, {\"x\": 2}]' AS JSON)".to_owned(),
        6 => "CAST('{\"a\": {\"b\": [true]}, \"k\": 1}' AS JSON)".to_owned(),
        _ => "CAST(12.50 AS DECIMAL(6,2))".to_owned(),
    };
    // `tags` is left an array of texts.
    let set = |rng: &mut Rng| {
        let path = path(rng);
        if path.contains("tags") {
            format!("{path}, 't{}'", rng.below(20))
        } else {
            format!("{path}, {}", scalar(rng))
        }
    };
    match rng.below(5) {
        0 => format!("JSON_REMOVE({column}, {})", path(rng)),
        1 => format!("JSON_REPLACE({column}, {})", set(rng)),
        2 => format!("JSON_SET({column}, {}, {})", set(rng), set(rng)),
        3 => format!("JSON_REMOVE(JSON_SET({column}, {}), '$.b')", set(rng)),
        _ => format!("JSON_SET({column}, {})", set(rng)),
    }
}
