use super::*;
use crate::binlog::event::FormatDescription;
use crate::binlog::event::testing::{decode, details, hex, info};
use proptest::prelude::*;

/// The post-header of LOAD: connection 5, 2 s, skip 1 line, 2 fields.
fn load_header(table: &str, schema: &str) -> Vec<u8> {
    let mut bytes = hex("05000000 02000000 01000000");
    bytes.extend([table.len() as u8, schema.len() as u8, 2, 0, 0, 0]);
    bytes
}

fn names(table: &str, schema: &str, file: &str) -> Vec<u8> {
    format!("\u{1}\u{2}a\0bc\0{table}\0{schema}\0{file}").into_bytes()
}

#[test]
fn load_of_3_23() {
    for version in [1, 3] {
        let format = FormatDescription::assumed_old(version);
        // , "" \n (no STARTING BY) \ ; OPTIONALLY and REPLACE
        let separators = [b',', b'"', b'\n', 0, b'\\', 0x06, 0x08];
        let body = [
            load_header("t", "test"),
            separators.to_vec(),
            names("t", "test", "/tmp/f"),
        ]
        .concat();
        let event = decode(LOAD, &body, &format).unwrap();
        assert_eq!(
            info(&event),
            r#"use `test`; LOAD DATA INFILE '/tmp/f' REPLACE INTO TABLE `t` FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '"' ESCAPED BY '\\' LINES TERMINATED BY '\n' IGNORE 1 LINES (`a`, `bc`)"#
        );
        assert_eq!(
            details(&event),
            r#"{"file_name":"/tmp/f","skip_lines":1,"field_term":",","enclosed":"\"","escaped":"\\","line_term":"\n","line_start":"","opt_flags":6,"fields":["a","bc"]}"#
        );
        let Event::LoadData(load) = event else {
            panic!()
        };
        assert_eq!((load.thread_id, load.exec_time), (5, 2));
        assert_eq!((load.schema, load.table), (&b"test"[..], &b"t"[..]));
        let optional = "/tmp/f".len(); // the name ends with the event
        for cut in 0..body.len() - optional {
            assert!(decode(LOAD, &body[..cut], &format).is_err(), "{cut}");
        }
    }
}

#[test]
fn create_file_of_4_1() {
    let format = FormatDescription::assumed_old(3);
    let separators = b"\x02||\0\x02\r\n\x01>\x01\\\x08";
    let file_id = [9, 0, 0, 0];
    let before = [
        load_header("t`x", ""),
        file_id.to_vec(),
        separators.to_vec(),
    ]
    .concat();
    let body = [before, names("t`x", "", "f"), b"\0block".to_vec()].concat();
    let event = decode(CREATE_FILE, &body, &format).unwrap();
    assert_eq!(
        info(&event),
        r"LOAD DATA INFILE 'f' IGNORE INTO TABLE `t``x` FIELDS TERMINATED BY '||' ENCLOSED BY '' ESCAPED BY '\\' LINES TERMINATED BY '\r\n' STARTING BY '>' IGNORE 1 LINES (`a`, `bc`) ;file_id=9;block_len=5"
    );
    assert!(details(&event).ends_with(r#""file_id":9,"block_length":5}"#));
    for cut in 0..body.len() - b"block".len() {
        assert!(decode(CREATE_FILE, &body[..cut], &format).is_err(), "{cut}");
    }
}

#[test]
fn buglog_102_blocks_and_statement_of_mysql_9_have_one_file_id() {
    let format = FormatDescription::assumed();
    let begin = hex("02000000 780a790a");
    let begin = decode(17, &begin, &format).unwrap();
    assert_eq!(info(&begin), ";file_id=2;block_len=4");
    assert_eq!(details(&begin), r#"{"file_id":2,"block_length":4}"#);
    let Event::BlockOfFile(block) = begin else {
        panic!()
    };
    assert_eq!(block.data, b"x\ny\n");

    let statement = b"LOAD DATA LOCAL INFILE '/srv/l.txt' REPLACE INTO TABLE `t` (`b`)";
    let body = [
        &hex("08000000 00000000 02 0000 0700 02000000 09000000 24000000 02")[..],
        &hex("04 ff00 ff00 ff00 7171 00"),
        statement,
    ]
    .concat();
    let event = decode(18, &body, &format).unwrap();
    assert_eq!(
        info(&event),
        "use `qq`; LOAD DATA LOCAL INFILE '/srv/l.txt' REPLACE INTO TABLE `t` (`b`) ;file_id=2"
    );
    assert!(details(&event).starts_with(
        r#"{"file_id":2,"file_name_start":9,"file_name_end":36,"dup_handling":"REPLACE","character_set_client":"utf8mb4""#
    ));
    let Event::ExecuteLoadQuery(load) = event else {
        panic!()
    };
    assert_eq!((load.query.thread_id, load.query.schema), (8, &b"qq"[..]));
    for cut in 0..body.len() - statement.len() + 36 {
        assert!(decode(18, &body[..cut], &format).is_err(), "{cut}");
    }
    for file_event in [10, 11] {
        let event = decode(file_event, &[2, 0, 0, 0], &format).unwrap();
        assert_eq!(info(&event), ";file_id=2");
        assert_eq!(details(&event), r#"{"file_id":2}"#);
        assert!(decode(file_event, &[2, 0, 0], &format).is_err());
    }
}

#[test]
fn a_statement_that_ends_before_its_file_name_is_refused() {
    let format = FormatDescription::assumed();
    for own in [
        "04000000 02000000 00",
        "00000000 03000000 00",
        "00000000 01000000 03",
    ] {
        let fixed = "00000000 00000000 00 0000 0000 01000000";
        let body = hex(&format!("{fixed} {own} 00 4142"));
        assert!(decode(18, &body, &format).is_err(), "{own}");
    }
    let mut format = FormatDescription::assumed();
    format.post_header_lens[17] = 12;
    assert!(decode(18, &[0; 64], &format).is_err());
}

#[test]
fn field_counts_are_no_reason_to_allocate() {
    let mut header = load_header("t", "d");
    header[14..18].copy_from_slice(&[0xff; 4]);
    let body = [header, vec![0; 64]].concat();
    assert!(decode(12, &body, &FormatDescription::assumed()).is_err());
}

proptest! {
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..100), fields in 0..4u8) {
        let tame = [load_header("", ""), vec![0; 10], bytes.clone()].concat();
        let mut few = tame.clone();
        few[14] = fields;
        for code in [6, 8, 9, 10, 11, 12, 17, 18] {
            for body in [&bytes, &tame, &few] {
                if let Ok(event) = decode(code, body, &FormatDescription::assumed()) {
                    let _ = event.info(&mut String::new());
                    let _ = Details::object(&mut String::new(), |out| event.details(out));
                }
            }
        }
    }
}
