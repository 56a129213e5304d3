use super::*;

mod decode;

fn read(code: u8, metadata: &[u8]) -> ColumnType {
    let mut metadata = Cursor::new(metadata);
    let column = ColumnType::read(code, &mut metadata).unwrap();
    assert!(metadata.is_empty());
    column
}

#[test]
fn every_type_has_a_name_and_the_codes_are_those_of_the_servers() {
    let known: Vec<u8> = (0..=255).filter(|&code| type_def(code).is_some()).collect();
    let mut expected: Vec<u8> = (0..=20).collect();
    expected.extend([140, 141]);
    expected.extend(242..=255);
    assert_eq!(known, expected);
    for code in known {
        let def = type_def(code).unwrap();
        assert_eq!(def.code, code);
        assert!(!def.name.is_empty());
        let len = def.meta.len();
        assert_eq!(def.meta.is_empty(), len == 0);
    }
}

#[test]
fn buglog_36_char_wider_than_255_bytes() {
    let wide = read(254, &[0xce, 0xfc]);
    assert_eq!((wide.code, wide.meta), (code::STRING, 1020));
    assert_eq!(wide.width().unwrap(), Width::Prefixed(2));
    // CHAR(128) utf8mb4 of the corpus: metadata 56832 = de 00.
    let half = read(254, &[0xde, 0x00]);
    assert_eq!((half.code, half.meta), (code::STRING, 512));
    let narrow = read(254, &[0xfe, 0x08]);
    assert_eq!(
        (narrow.meta, narrow.width().unwrap()),
        (8, Width::Prefixed(1))
    );
}

#[test]
fn buglog_37_length_bytes_of_varchar_follow_the_metadata() {
    assert_eq!(read(15, &[0xff, 0]).width().unwrap(), Width::Prefixed(1));
    let long = read(15, &[0, 1]);
    assert_eq!(long.width().unwrap(), Width::Prefixed(2));
    // A short value still has two length bytes.
    let mut row = Cursor::new(&[2, 0, b'a', b'b', 0x55]);
    long.width().unwrap().skip(&mut row).unwrap();
    assert_eq!(row.peek(), [0x55]);
}

#[test]
fn buglog_38_char_of_utf8mb4_is_told_in_bytes() {
    // CHAR(2) of utf8mb4: 8 bytes. The name does not claim CHAR(8).
    let column = read(254, &[0xfe, 8]);
    assert_eq!((column.sql().as_str(), column.meta), ("CHAR", 8));
}

#[test]
fn buglog_79_vector() {
    let vector = read(242, &[4]);
    assert_eq!(vector.sql(), "VECTOR");
    let bytes = [
        12, 0, 0, 0, 0x66, 0x66, 0x86, 0x3f, 0x66, 0x66, 0x8e, 0xc1, 0, 0, 0, 0x42,
    ];
    let mut row = Cursor::new(&bytes);
    vector.width().unwrap().skip(&mut row).unwrap();
    assert!(row.is_empty());
}

#[test]
fn enum_and_set_hide_in_string() {
    let e = read(254, &[0xf7, 2]);
    assert_eq!(
        (e.code, e.meta, e.width().unwrap()),
        (code::ENUM, 2, Width::Fixed(2))
    );
    let s = read(254, &[0xf8, 8]);
    assert_eq!(
        (s.code, s.meta, s.width().unwrap()),
        (code::SET, 8, Width::Fixed(8))
    );
    assert!(read(254, &[0xf7, 3]).width().is_err());
    assert!(read(254, &[0xf8, 5]).width().is_err());
    assert!(ColumnType::read(254, &mut Cursor::new(&[0x03, 1])).is_err());
}

#[test]
fn widths_by_metadata() {
    let fixed = |code, metadata: &[u8]| match read(code, metadata).width().unwrap() {
        Width::Fixed(n) => n,
        Width::Prefixed(_) => panic!("not fixed"),
    };
    // Packed sizes of vectors.tsv and of the manual.
    for (precision, scale, bytes) in [
        (11, 4, 6),
        (64, 16, 30),
        (10, 2, 5),
        (4, 2, 2),
        (5, 0, 3),
        (15, 14, 8),
        (30, 25, 15),
        (65, 30, 30),
        (9, 9, 4),
        (1, 0, 1),
    ] {
        assert_eq!(
            fixed(246, &[precision, scale]),
            bytes,
            "({precision},{scale})"
        );
    }
    for (digits, f) in [(0, 0), (1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (6, 3)] {
        assert_eq!(fixed(17, &[digits]), 4 + f);
        assert_eq!(fixed(18, &[digits]), 5 + f);
        assert_eq!(fixed(19, &[digits]), 3 + f);
    }
    assert_eq!(fixed(16, &[3, 0]), 1);
    assert_eq!(fixed(16, &[0, 1]), 1);
    assert_eq!(fixed(16, &[0, 8]), 8);
    assert_eq!(fixed(16, &[1, 1]), 2);
    assert_eq!(read(16, &[3, 0]).sql(), "BIT(3)");
    assert_eq!(read(16, &[0, 8]).sql(), "BIT(64)");
    assert_eq!(read(246, &[10, 2]).sql(), "DECIMAL(10,2)");
    assert_eq!(read(18, &[6]).sql(), "DATETIME(6)");
    assert_eq!(read(252, &[4]).sql(), "LONGBLOB");
}

#[test]
fn metadata_that_a_type_cannot_have_is_refused() {
    for (code, metadata) in [
        (4, &[8][..]),
        (5, &[4]),
        (16, &[8, 0]),
        (16, &[1, 8]),
        (16, &[0, 0]),
        (17, &[7]),
        (246, &[0, 0]),
        (246, &[5, 6]),
        (246, &[66, 0]),
        (252, &[0]),
        (252, &[5]),
        (140, &[9]),
    ] {
        assert!(read(code, metadata).width().is_err(), "{code} {metadata:?}");
    }
    for unsupported in [0, 243, 244] {
        assert!(read(unsupported, &[]).width().is_err());
    }
    assert!(ColumnType::read(99, &mut Cursor::new(&[0; 4])).is_err());
    assert!(ColumnType::read(15, &mut Cursor::new(&[0])).is_err());
}

#[test]
fn typed_arrays() {
    let varchar = read(20, &[15, 0x90, 1, 0]);
    assert_eq!((varchar.element, varchar.meta), (Some(15), 400));
    assert_eq!(varchar.sql(), "VARCHAR ARRAY");
    let decimal = read(20, &[246, 10, 2]);
    assert_eq!(decimal.sql(), "DECIMAL(10,2) ARRAY");
    assert_eq!(read(20, &[8]).sql(), "BIGINT ARRAY");
    assert!(read(20, &[8]).width().is_err());
}

#[test]
fn a_prefixed_value_that_does_not_fit_does_not_move() {
    let mut row = Cursor::new(&[5, 0, 0, 0, 1]);
    assert!(Width::Prefixed(4).skip(&mut row).is_err());
    assert_eq!(row.len(), 5);
}
