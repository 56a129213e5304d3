use super::*;
use crate::binlog::event::testing::hex;
use crate::binlog::types::testing::decode;
use proptest::prelude::*;

fn text(code: u8, metadata: &[u8], bytes: &[u8]) -> String {
    match decode(code, metadata, bytes).unwrap() {
        Value::Date(date) => date.to_string(),
        Value::Time(time) => time.to_string(),
        Value::DateTime(datetime) => datetime.to_string(),
        Value::Timestamp(timestamp) => timestamp.to_string(),
        other => panic!("{other:?}"),
    }
}

fn old_time(number: i32) -> String {
    text(11, &[], &number.to_le_bytes()[..3])
}

#[test]
fn buglog_1_old_time_keeps_its_sign() {
    assert_eq!(old_time(-8385959), "-838:59:59");
    assert_eq!(old_time(8385959), "838:59:59");
    assert_eq!(old_time(-1), "-00:00:01");
    assert_eq!(old_time(0), "00:00:00");
    assert_eq!(old_time(160804), "16:08:04");
}

#[test]
fn buglog_2_and_3_a_small_negative_time_keeps_its_sign() {
    assert_eq!(text(19, &[2], &hex("7fffffff")), "-00:00:00.01");
    assert_eq!(text(19, &[2], &hex("7ffffff4")), "-00:00:00.12");
    assert_eq!(text(19, &[1], &hex("7ffffff6")), "-00:00:00.1");
}

#[test]
fn buglog_4_the_least_time() {
    assert_eq!(text(19, &[6], &hex("4b9105000000")), "-838:59:59.000000");
    assert_eq!(text(19, &[0], &hex("b46efb")), "838:59:59");
}

#[test]
fn buglog_5_the_sign_covers_whole_and_fraction() {
    assert_eq!(text(19, &[0], &hex("7fffff")), "-00:00:01");
    assert_eq!(text(19, &[0], &hex("7efdfc")), "-16:08:04");
    assert_eq!(text(19, &[3], &hex("7efdfbf63c")), "-16:08:04.250");
    assert_eq!(text(19, &[6], &hex("7efdfbfc2f70")), "-16:08:04.250000");
    let Value::Time(time) = decode(19, &[3], &hex("7efdfbf63c")).unwrap() else {
        panic!("not a time");
    };
    assert_eq!(time.total_micros(), -58_084_250_000);
}

#[test]
fn buglog_6_every_negative_time_of_every_width_is_read() {
    for digits in 0..=6u8 {
        let len = 3 + usize::from(digits.div_ceil(2));
        let mut bytes = vec![0xff; len];
        bytes[0] = 0x7f;
        assert!(text(19, &[digits], &bytes).starts_with("-00:00:0"));
    }
}

#[test]
fn buglog_7_microseconds_are_kept() {
    assert_eq!(text(19, &[6], &hex("800010000018")), "00:00:16.000024");
    assert_eq!(
        text(18, &[6], &hex("999ab8f7aa000018")),
        "2016-10-28 15:30:42.000024"
    );
}

#[test]
fn buglog_8_and_9_an_impossible_old_datetime_is_an_error_that_says_why() {
    // MariaDB 10.0: DATETIME(6) '2016-12-21 17:57:16.000000' under code 12, high byte first.
    let hires = hex("017f49f73a5b9b80");
    let error = decode(12, &[], &hires).unwrap_err();
    assert!(error.message().contains("MariaDB"), "{error}");
    assert_eq!(
        text(12, &[], &20_161_221_175_716u64.to_le_bytes()),
        "2016-12-21 17:57:16"
    );
    for impossible in [
        20161321175716u64,
        20161232175716,
        20161221245716,
        20161221176016,
        u64::MAX,
    ] {
        assert!(decode(12, &[], &impossible.to_le_bytes()).is_err());
    }
}

#[test]
fn buglog_12_and_13_zero_is_not_the_epoch() {
    assert_eq!(text(18, &[0], &hex("8000000000")), "0000-00-00 00:00:00");
    assert_eq!(text(12, &[], &[0; 8]), "0000-00-00 00:00:00");
    assert_eq!(text(17, &[3], &[0; 6]), "0000-00-00 00:00:00.000");
    assert_eq!(text(7, &[], &[0; 4]), "0000-00-00 00:00:00");
    assert_eq!(text(10, &[], &[0; 3]), "0000-00-00");
    assert_eq!(text(7, &[], &[1, 0, 0, 0]), "1970-01-01 00:00:01");
    for (code, metadata, len) in [(17, &[0][..], 4), (18, &[0], 5)] {
        let mut zero = vec![0; len];
        if code == 18 {
            zero[0] = 0x80;
        }
        let since = match decode(code, metadata, &zero).unwrap() {
            Value::Timestamp(timestamp) => timestamp.micros_since_1970(),
            Value::DateTime(datetime) => datetime.micros_since_1970(),
            other => panic!("{other:?}"),
        };
        assert_eq!(since, None);
    }
}

#[test]
fn buglog_14_a_timestamp_is_an_instant_in_utc() {
    assert_eq!(text(17, &[0], &hex("7fffffff")), "2038-01-19 03:14:07");
    assert_eq!(text(17, &[2], &hex("3a7b83724e")), "2001-02-03 04:05:06.78");
    // MariaDB from 11.5.
    assert_eq!(text(17, &[0], &hex("ffffffff")), "2106-02-07 06:28:15");
    let Value::Timestamp(instant) = decode(17, &[6], &hex("3a7b83720beb58")).unwrap() else {
        panic!("not a timestamp");
    };
    assert_eq!(instant.micros_since_1970(), Some(981_173_106_781_144));
}

#[test]
fn partial_and_impossible_dates_keep_their_text() {
    let date = |year: u32, month: u32, day: u32| {
        let packed = year << 9 | month << 5 | day;
        text(10, &[], &packed.to_le_bytes()[..3])
    };
    assert_eq!(date(2000, 0, 15), "2000-00-15");
    assert_eq!(date(2000, 12, 0), "2000-12-00");
    assert_eq!(date(0, 0, 1), "0000-00-01");
    assert_eq!(date(2001, 2, 31), "2001-02-31");
    assert_eq!(date(9999, 12, 31), "9999-12-31");
    assert!(decode(10, &[], &[0, 0xff, 0xff]).is_err());
    assert!(decode(14, &[], &(2000u32 << 9 | 13 << 5).to_le_bytes()[..3]).is_err());
    // Neither has a day in the calendar.
    for (year, month, day) in [
        (2000, 0, 15),
        (2000, 12, 0),
        (2001, 2, 29),
        (1900, 2, 29),
        (0, 0, 0),
    ] {
        assert_eq!(Date { year, month, day }.days(), None);
    }
}

#[test]
fn bytes_that_are_no_time_are_refused() {
    for (code, metadata, bytes) in [
        (19, 0, "bfffff"),         // 1023 hours
        (19, 0, "800f00"),         // 60 minutes
        (19, 2, "80000064"),       // 100 hundredths
        (19, 4, "8000002710"),     // 10000 ten-thousandths
        (19, 6, "8000000f4240"),   // a million millionths
        (18, 0, "7fffffffff"),     // negative
        (18, 0, "ffffffffff"),     // the year 10000 and later
        (18, 0, "999ab98000"),     // 24 o'clock
        (17, 6, "000000010f4240"), // a million millionths
    ] {
        let error = decode(code, &[metadata], &hex(bytes)).unwrap_err();
        assert_eq!(error.kind(), crate::error::ErrorKind::Corrupt, "{bytes}");
    }
    assert!(decode(11, &[], &9_999_999i32.to_le_bytes()[..3]).is_err());
}

#[test]
fn vectors_of_the_corpus() {
    let Some(corpus) = std::env::var_os("BINLOG_CORPUS") else {
        eprintln!("SKIPPED: BINLOG_CORPUS is not set");
        return;
    };
    let vectors = std::path::Path::new(&corpus).join("vectors.tsv");
    let vectors = std::fs::read_to_string(vectors).unwrap();
    let mut checked = 0;
    for line in vectors.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let code = match fields[0] {
            "TIME2" => 19,
            "DATETIME2" => 18,
            _ => continue,
        };
        let digits: u8 = fields[1].strip_prefix("fsp=").unwrap().parse().unwrap();
        assert_eq!(text(code, &[digits], &hex(fields[2])), fields[3], "{line}");
        checked += 1;
    }
    assert_eq!(checked, 23);
}

/// A number with the first bit inverted, high byte first.
fn stored(number: i64, len: usize) -> Vec<u8> {
    let number = number + (1i64 << (len * 8 - 1));
    number.to_be_bytes()[8 - len..].to_vec()
}

/// Hundredths, ten-thousandths or millionths, and how many bits they take.
fn parts(micros: u32, digits: u8) -> (i64, u32) {
    let unit = [1_000_000, 10_000, 100, 1][usize::from(digits.div_ceil(2))];
    (i64::from(micros / unit), u32::from(digits.div_ceil(2)) * 8)
}

/// A fraction of so many digits.
fn cut(micros: u32, digits: u8) -> u32 {
    let unit = 10u32.pow(6 - u32::from(digits));
    micros / unit * unit
}

proptest! {
    #[test]
    fn every_time_comes_back(
        negative: bool, hours in 0..=838u16, minutes in 0..60u8, seconds in 0..60u8,
        micros in 0..1_000_000u32, digits in 0..=6u8,
    ) {
        let micros = cut(micros, digits);
        let (part, bits) = parts(micros, digits);
        let whole = i64::from(hours) << 12 | i64::from(minutes) << 6 | i64::from(seconds);
        let number = whole << bits | part;
        let number = if negative { -number } else { number };
        let bytes = stored(number, 3 + bits as usize / 8);
        let expected = Time { negative: number < 0, digits, hours, minutes, seconds, micros };
        prop_assert_eq!(decode(19, &[digits], &bytes).unwrap(), Value::Time(expected));
    }

    #[test]
    fn every_datetime_comes_back(
        year in 0..=9999u16, month in 0..=12u8, day in 0..=31u8, hour in 0..24u8,
        minute in 0..60u8, second in 0..60u8, micros in 0..1_000_000u32, digits in 0..=6u8,
    ) {
        let micros = cut(micros, digits);
        let (part, bits) = parts(micros, digits);
        let date = (i64::from(year) * 13 + i64::from(month)) << 5 | i64::from(day);
        let time = i64::from(hour) << 12 | i64::from(minute) << 6 | i64::from(second);
        let bytes = stored((date << 17 | time) << bits | part, 5 + bits as usize / 8);
        let date = Date { year, month, day };
        let expected = DateTime { date, hour, minute, second, digits, micros };
        prop_assert_eq!(decode(18, &[digits], &bytes).unwrap(), Value::DateTime(expected));
        let packed = u32::from(year) << 9 | u32::from(month) << 5 | u32::from(day);
        let bytes = packed.to_le_bytes();
        prop_assert_eq!(decode(10, &[], &bytes[..3]).unwrap(), Value::Date(date));
        let number = format!("{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}");
        let bytes = number.parse::<u64>().unwrap().to_le_bytes();
        let expected = DateTime { digits: 0, micros: 0, ..expected };
        prop_assert_eq!(decode(12, &[], &bytes).unwrap(), Value::DateTime(expected));
    }

    #[test]
    fn any_bytes(code in prop::sample::select(vec![7u8, 10, 11, 12, 14, 17, 18, 19]),
                 digits in 0..=6u8, bytes: [u8; 8]) {
        let metadata: &[u8] = if code >= 17 { &[digits] } else { &[] };
        let (ty, context) = crate::binlog::types::testing::column(code, metadata);
        if let Ok(value) = ty.decode().unwrap()(&mut Cursor::new(&bytes), context) {
            prop_assert_ne!(value, Value::Null);
        }
    }
}

#[test]
fn every_day_of_the_calendar() {
    // From 1970 to the end of TIMESTAMP, and DATE to 9999: each day follows the one before.
    let mut date = Date {
        year: 1970,
        month: 1,
        day: 1,
    };
    let mut days = 0;
    while date.year < 10_000 {
        assert_eq!(date.days(), Some(days));
        if date.year < 2200 {
            assert_eq!(Date::from_days(days as u32), date);
        }
        days += 1;
        date.day += 1;
        if date.days().is_none() {
            (date.month, date.day) = (date.month + 1, 1);
        }
        if date.month > 12 {
            (date.year, date.month) = (date.year + 1, 1);
        }
    }
    assert_eq!(days, 2_932_897);
    assert_eq!(
        Date {
            year: 0,
            month: 1,
            day: 1
        }
        .days(),
        Some(-719_528)
    );
    assert_eq!(
        Date {
            year: 1815,
            month: 12,
            day: 10
        }
        .days(),
        Some(-56_270)
    );
}
