//! Values of each type from their bytes, with the cases of public bug reports.

use super::*;
use crate::binlog::event::testing::hex;
use crate::binlog::types::testing::{column, decode, decode_as};
use proptest::prelude::*;

fn integer<'a>(code: u8, signedness: Signedness, bytes: &'a [u8]) -> Value<'a> {
    let (ty, context) = column(code, &[]);
    decode_as(
        ty,
        Context {
            signedness,
            ..context
        },
        bytes,
    )
    .unwrap()
}

fn string<'a>(code: u8, metadata: &[u8], content: Content, bytes: &'a [u8]) -> Value<'a> {
    let (ty, context) = column(code, metadata);
    decode_as(ty, Context { content, ..context }, bytes).unwrap()
}

#[test]
fn values_are_small() {
    assert!(size_of::<Value<'_>>() <= 32);
}

#[test]
fn buglog_11_year() {
    for (byte, year) in [(0, 0), (1, 1901), (126, 2026), (255, 2155)] {
        assert_eq!(decode(13, &[], &[byte]).unwrap(), Value::Year(year));
    }
}

#[test]
fn buglog_17_to_20_unsigned() {
    let unsigned = |code, bytes: &[u8]| match integer(code, Signedness::Unsigned, bytes) {
        Value::UInt(n) => n,
        other => panic!("{other:?}"),
    };
    assert_eq!(unsigned(2, &41_002u16.to_le_bytes()), 41_002);
    assert_eq!(unsigned(3, &4_294_967_293u32.to_le_bytes()), 4_294_967_293);
    for n in [
        9_223_372_036_854_775_817,
        15_506_708_318_740_857_342,
        9_323_372_036_854_775_807,
        u64::MAX,
    ] {
        assert_eq!(unsigned(8, &n.to_le_bytes()), n);
    }
    assert_eq!(unsigned(3, &2_247_483_647u32.to_le_bytes()), 2_247_483_647);
    assert_eq!(unsigned(9, &8_888_607u32.to_le_bytes()[..3]), 8_888_607);
    assert_eq!(unsigned(2, &33_000u16.to_le_bytes()), 33_000);
    assert_eq!(unsigned(1, &[200]), 200);
}

#[test]
fn buglog_17_without_metadata_both_readings_are_kept() {
    let any = |code, bytes: &[u8]| match integer(code, Signedness::Unknown, bytes) {
        Value::AnyInt(n) => n,
        other => panic!("{other:?}"),
    };
    let n = any(8, &15_506_708_318_740_857_342u64.to_le_bytes());
    assert_eq!((n.bits, n.bytes), (15_506_708_318_740_857_342, 8));
    assert_eq!(
        (n.signed(), n.certain()),
        (-2_940_035_754_968_694_274, None)
    );
    let n = any(9, &[0xff, 0xff, 0xff]);
    assert_eq!((n.signed(), n.to_string().as_str()), (-1, "-1 (16777215)"));
    let n = any(1, &[0x7f]);
    assert_eq!((n.certain(), n.to_string().as_str()), (Some(127), "127"));
}

#[test]
fn buglog_21_bit_64_has_no_sign() {
    let Value::Bits(bits) = decode(16, &[0, 8], &hex("8000000000000000")).unwrap() else {
        panic!("not bits");
    };
    assert_eq!((bits.value, bits.len), (9_223_372_036_854_775_808, 64));
    assert_eq!(bits.to_string(), format!("b'1{}'", "0".repeat(63)));
    // EXPECTED.md §11: BIT(3) and BIT(8).
    let text = |metadata: &[u8], bytes: &[u8]| match decode(16, metadata, bytes).unwrap() {
        Value::Bits(bits) => bits.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(text(&[3, 0], &[4]), "b'100'");
    assert_eq!(text(&[0, 1], &[0x20]), "b'00100000'");
    assert!(decode(16, &[3, 0], &[8]).is_err());
}

#[test]
fn buglog_24_signed_integers_keep_their_sign() {
    for (code, len) in [(1u8, 1usize), (2, 2), (9, 3), (3, 4), (8, 8)] {
        for n in [-1i64, -100, 0, 100] {
            let bytes = &n.to_le_bytes()[..len];
            assert_eq!(integer(code, Signedness::Signed, bytes), Value::Int(n));
        }
    }
}

#[test]
fn buglog_25_to_27_decimals() {
    let text = |precision, scale, bytes: &[u8]| {
        let bytes = bytes.to_vec();
        match decode(246, &[precision, scale], &bytes).unwrap() {
            Value::Decimal(n) => (n.text().unwrap(), n.unscaled_128().unwrap()),
            other => panic!("{other:?}"),
        }
    };
    let minus = text(11, 4, &hex("7fffffc6fb2d"));
    assert_eq!(minus, ("-57.1234".to_owned(), Some(-571_234)));
    let mut zero = [0; 30];
    zero[0] = 0x80;
    assert_eq!(
        text(64, 16, &zero),
        ("0.0000000000000000".to_owned(), Some(0))
    );
    // 2.7182818284590452354 in DECIMAL(20,19): 2 │ 718281828 459045235 4
    let e = text(20, 19, &hex("82 2ad01c64 1b5c7973 04"));
    assert_eq!(
        e,
        (
            "2.7182818284590452354".to_owned(),
            Some(27_182_818_284_590_452_354)
        )
    );
}

#[test]
fn buglog_29_and_30_floats_by_their_type() {
    let bytes = 0.03f32.to_le_bytes();
    assert_eq!(decode(4, &[4], &bytes).unwrap(), Value::Float(0.03));
    let bytes = 0.03f64.to_le_bytes();
    assert_eq!(decode(5, &[8], &bytes).unwrap(), Value::Double(0.03));
}

#[test]
fn buglog_31_sets_and_enums_are_little_endian() {
    // SET of 18 in 3 bytes: '1,3'. ENUM of 300 in 2: '256'.
    assert_eq!(decode(254, &[0xf8, 3], &[5, 0, 0]).unwrap(), Value::Set(5));
    assert_eq!(decode(254, &[0xf7, 2], &[1, 1]).unwrap(), Value::Enum(257));
    let all = [0xff; 8];
    assert_eq!(decode(254, &[0xf8, 8], &all).unwrap(), Value::Set(u64::MAX));
}

#[test]
fn buglog_35_binary_gets_its_zeros_back_and_varbinary_none() {
    let stored = string(254, &[0xfe, 4], Content::Bytes, &[2, 1, 2]);
    let Value::Binary(binary) = stored else {
        panic!("{stored:?}");
    };
    assert_eq!(
        (binary.stored, &*binary.padded()),
        (&[1, 2][..], &[1, 2, 0, 0][..])
    );
    let full = string(254, &[0xfe, 2], Content::Bytes, &[2, 1, 2]);
    let Value::Binary(binary) = full else {
        panic!("{full:?}");
    };
    assert!(matches!(binary.padded(), std::borrow::Cow::Borrowed(_)));
    let var = string(15, &[4, 0], Content::Bytes, &[2, 1, 2]);
    assert_eq!(var, Value::Bytes(&[1, 2]));
    // Without a collation nobody knows whether zeros are missing.
    let unknown = string(254, &[0xfe, 4], Content::Unknown, &[2, 1, 2]);
    assert_eq!(unknown, Value::TextOrBytes(&[1, 2]));
}

#[test]
fn buglog_36_and_37_length_bytes_follow_the_metadata() {
    let wide = [2, 0, b'a', b'b'];
    assert_eq!(
        decode(254, &[0xce, 0xfc], &wide).unwrap(),
        Value::Text(b"ab")
    );
    assert_eq!(decode(15, &[0, 1], &wide).unwrap(), Value::Text(b"ab"));
    assert_eq!(
        decode(15, &[0xff, 0], &[2, b'a', b'b']).unwrap(),
        Value::Text(b"ab")
    );
    // More bytes than the column can have.
    assert!(decode(15, &[1, 0], &[2, b'a', b'b']).is_err());
}

#[test]
fn buglog_46_uuid_and_inet_of_mariadb_are_binary() {
    // MariaDB 10.11: '01890a5d-…-b302099a8057', and one that ends with 00, which the log lacks.
    let mut bytes = hex("10 01890a5dac96774bbcceb302099a8057");
    let Value::Binary(uuid) = string(254, &[0xfe, 16], Content::Bytes, &bytes) else {
        panic!("not binary");
    };
    assert_eq!(*uuid.padded(), bytes[1..]);
    bytes = hex("0f a0eebc999c0b1ef8bb6d6bb9bd380a");
    let Value::Binary(uuid) = string(254, &[0xfe, 16], Content::Bytes, &bytes) else {
        panic!("not binary");
    };
    assert_eq!(*uuid.padded(), [&bytes[1..], &[0]].concat());
}

#[test]
fn buglog_79_vector() {
    let bytes = hex("0c000000 6666863f 66668ec1 00000042");
    let Value::Vector(vector) = decode(242, &[4], &bytes).unwrap() else {
        panic!("not a vector");
    };
    assert_eq!(vector.iter().collect::<Vec<f32>>(), [1.05, -17.8, 32.0]);
    assert!(decode(242, &[4], &hex("03000000 666686")).is_err());
}

#[test]
fn buglog_80_geometry_is_srid_and_wkb() {
    // MariaDB 10.11: POINT(1 2).
    let bytes = hex("19000000 00000000 0101000000 000000000000f03f 0000000000000040");
    let Value::Geometry(point) = decode(255, &[4], &bytes).unwrap() else {
        panic!("not a geometry");
    };
    assert_eq!((point.srid(), point.wkb()), (Some(0), &bytes[8..]));
    let Value::Geometry(empty) = decode(255, &[4], &[0; 4]).unwrap() else {
        panic!("not a geometry");
    };
    assert_eq!((empty.srid(), empty.wkb()), (None, &[][..]));
    assert!(decode(255, &[4], &hex("03000000 010203")).is_err());
}

#[test]
fn buglog_82_decimal_before_5_0_is_refused() {
    let (ty, context) = column(0, &[]);
    let error = ty.decode().unwrap()(&mut Cursor::new(b"      37.00"), context).unwrap_err();
    assert_eq!(error.kind(), crate::error::ErrorKind::Unsupported);
    assert!(ty.width().unwrap_err().message().contains("ALTER TABLE"));
}

#[test]
fn blobs_of_every_size() {
    for length_bytes in 1..=4u8 {
        let mut bytes = vec![0; usize::from(length_bytes)];
        bytes[0] = 3;
        bytes.extend(b"abc");
        let value = |content| string(252, &[length_bytes], content, &bytes);
        assert_eq!(value(Content::Text), Value::Text(b"abc"));
        assert_eq!(value(Content::Bytes), Value::Bytes(b"abc"));
        assert_eq!(value(Content::Unknown), Value::TextOrBytes(b"abc"));
        let json = string(245, &[length_bytes], Content::Unknown, &bytes);
        assert_eq!(json, Value::Json(b"abc"));
    }
}

proptest! {
    /// No bytes of any type panic, and no value takes another number of bytes than its width.
    #[test]
    fn any_bytes_of_any_type(
        code: u8, metadata: [u8; 4], unsigned: bool, text: bool,
        bytes in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let Ok(ty) = ColumnType::read(code, &mut Cursor::new(&metadata)) else { return Ok(()) };
        let Ok(width) = ty.width() else { return Ok(()) };
        let context = Context {
            meta: ty.meta,
            signedness: if unsigned { Signedness::Unsigned } else { Signedness::Unknown },
            content: if text { Content::Text } else { Content::Bytes },
        };
        let mut row = Cursor::new(&bytes);
        let decoded = ty.decode().unwrap()(&mut row, context);
        let mut hopped = Cursor::new(&bytes);
        let width = width.skip(&mut hopped);
        if let Ok(value) = decoded {
            prop_assert!(width.is_ok(), "{:?}", value);
            prop_assert_eq!(row.len(), hopped.len());
            if let Value::Decimal(n) = value {
                prop_assert_eq!(n.text().is_ok(), n.unscaled_256().is_ok());
            }
        }
    }
}
