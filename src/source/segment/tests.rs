use super::*;

fn at(path: &str) -> Segment {
    let name = path.rsplit('/').next().unwrap();
    let sniffed = Sniff {
        encoding: if name.ends_with(".gz") {
            Encoding::Gzip
        } else {
            Encoding::Plain
        },
        content: crate::source::Content::Binlog,
    };
    Segment::new(Location::Local(path.into()), name, 4, None, Ok(sniffed))
}

fn named(paths: &[&str]) -> Vec<String> {
    let mut segments: Vec<Segment> = paths.iter().map(|path| at(path)).collect();
    segments.sort_by(order);
    name_apart(&mut segments);
    segments
        .iter()
        .map(|segment| segment.name.to_string())
        .collect()
}

#[test]
fn numbers_order_as_numbers() {
    assert_eq!(
        named(&[
            "b.1000000",
            "b.999999",
            "a.000010",
            "b.000009",
            "b.10",
            "a.000009",
            "notes",
            "b.99999999999999999999999"
        ]),
        [
            "a.000009",
            "a.000010",
            "b.000009",
            "b.10",
            "b.999999",
            "b.1000000",
            "b.99999999999999999999999",
            "notes"
        ]
    );
}

#[test]
fn archives_order_by_the_name_inside() {
    assert_eq!(
        named(&["x/m.000003", "x/m.000002.gz", "x/m.000001.gz"]),
        ["m.000001", "m.000002", "m.000003"]
    );
}

#[test]
fn equal_names_show_what_tells_them_apart() {
    assert_eq!(
        named(&[
            "/logs/db2/m.000001",
            "/logs/db1/m.000001",
            "/logs/db1/m.000002"
        ]),
        ["db1/m.000001", "db2/m.000001", "m.000002"]
    );
    assert_eq!(
        named(&["/a/x/m.000001", "/b/x/m.000001", "/b/y/m.000001"]),
        ["a/x/m.000001", "b/x/m.000001", "y/m.000001"]
    );
    assert_eq!(
        named(&["d/m.000001", "d/m.000001.gz"]),
        ["m.000001", "m.000001.gz"]
    );
    assert_eq!(
        named(&["m.000001", "./d/m.000001", "/x/d/m.000001"]),
        ["d/m.000001", "x/d/m.000001", "m.000001"]
    );
}

#[test]
fn log_names() {
    for name in [
        "mysql-bin.000001",
        "binlog.1234567",
        "a.b.000042.gz",
        "relay-bin.000002.zst",
    ] {
        assert!(is_log_name(name), "{name}");
    }
    for name in [
        "ibdata1",
        "mysql-bin.index",
        "a.00001",
        ".000001",
        "a.000001.bak",
        "000001",
        "a.",
        "a.00000x",
    ] {
        assert!(!is_log_name(name), "{name}");
    }
    for name in [
        "m.index",
        "m.state",
        "m.000001.idx",
        "m.~rec~",
        "m.index_crash_safe",
    ] {
        assert!(is_companion(name), "{name}");
    }
    for name in ["m.000001", "m.idx", "index"] {
        assert!(!is_companion(name), "{name}");
    }
}

#[test]
fn a_rejection_keeps_the_cause_of_its_error() {
    let error = Error::source("cannot read", std::io::Error::other("disk on fire")).in_file("a");
    let rejection = Rejection::from(&error);
    assert_eq!(
        rejection.error("b").to_string(),
        "b: cannot read: disk on fire"
    );
}
