use super::super::gtid::testing::*;
use super::*;
use proptest::prelude::*;

const STD_DATA: &str = "MariaDB__server/std_data";

fn gtid<'a>(body: &'a [u8]) -> MariadbGtidEvent<'a> {
    match decode(162, body).unwrap() {
        Event::MariadbGtid(event) => event,
        other => panic!("{other:?}"),
    }
}

#[test]
fn buglog_89_whether_a_group_stands_alone() {
    let alone = unhex("0500000000000000 00000000 29 000000000000");
    let event = decode(162, &alone).unwrap();
    assert_eq!(info(&event), "GTID 0-7-5");
    assert_eq!(event.gtid().unwrap().to_string(), "0-7-5");
    assert_eq!(
        details(&event),
        "{\"gtid_flags\":[\"STANDALONE\",\"ALLOW_PARALLEL\",\"DDL\"]}"
    );
    assert!(gtid(&alone).has(MariadbGtidEvent::STANDALONE));

    let group = unhex("0600000000000000 02000000 0e 2a00000000000000");
    let event = decode(162, &group).unwrap();
    assert_eq!(info(&event), "BEGIN GTID 2-7-6 cid=42");
    assert_eq!(
        details(&event),
        "{\"gtid_flags\":[\"GROUP_COMMIT_ID\",\"TRANSACTIONAL\",\"ALLOW_PARALLEL\"],\
         \"commit_id\":42}"
    );
    assert!(!gtid(&group).has(MariadbGtidEvent::STANDALONE));
}

/// Every field: group commit, XA, all extra flags with a field.
const FULL: &str = "0600000000000000 02000000 42 2a00000000000000
    01000000 02 01 6162 63  1d 01 0900000000000000 0b000000";

#[test]
fn every_field_of_a_gtid() {
    let body = unhex(FULL);
    let event = gtid(&body);
    assert_eq!(event.thread_id, Some(11));
    assert_eq!(event.start_alter_seq_no, Some(9));
    assert_eq!(event.extra_engines, Some(1));
    assert_eq!(event.xid.unwrap().to_string(), "X'6162',X'63',1");
    let event = Event::MariadbGtid(event);
    assert_eq!(
        info(&event),
        "XA START X'6162',X'63',1 GTID 2-7-6 cid=42 COMMIT ALTER id=9 ROLLBACK ALTER id=9"
    );
    assert_eq!(
        details(&event),
        "{\"gtid_flags\":[\"GROUP_COMMIT_ID\",\"PREPARED_XA\"],\
         \"flags_extra\":[\"MULTI_ENGINE\",\"COMMIT_ALTER\",\"ROLLBACK_ALTER\",\"THREAD_ID\"],\
         \"commit_id\":42,\"xa_xid\":\"X'6162',X'63',1\",\"extra_engines\":1,\
         \"start_alter_seq_no\":9}"
    );
    // An event may end before the extra flags.
    cut_everywhere(162, &body, &[30]);
}

#[test]
fn buglog_90_extra_flags_without_their_fields() {
    let head = "0600000000000000 02000000 02 2a00000000000000";
    for (extra, need) in [("01", 1), ("04", 8), ("08", 8), ("10", 4), ("15", 13)] {
        let short = unhex(&format!("{head} {extra} {}", "00".repeat(need - 1)));
        assert!(decode(162, &short).is_err(), "{extra}");
        let whole = unhex(&format!("{head} {extra} {}", "00".repeat(need)));
        assert!(decode(162, &whole).is_ok(), "{extra}");
    }
    // A bit of a later server: what it brings is shown.
    let later = unhex(&format!("{head} 22 0102"));
    assert!(details(&decode(162, &later).unwrap()).ends_with(
        "\"flags_extra\":[\"START_ALTER\",\"0x20\"],\"commit_id\":42,\"rest\":\"0102\"}"
    ));
}

#[test]
fn damaged_gtids_are_errors() {
    let xid = format!(
        "0600000000000000 00000000 40 01000000 4100 {}",
        "61".repeat(65)
    );
    for (body, says) in [
        ("0000000000000000 00000000 00 000000000000", "number is 0"),
        (&xid, "an XID with parts of 65 and 0 bytes"),
    ] {
        let body = unhex(body);
        let error = decode(162, &body).unwrap_err();
        assert!(error.message().contains(says), "{error}");
    }
}

#[test]
fn a_gtid_list() {
    let body = unhex(
        "03000010 00000000 01000000 6400000000000000
         00000000 02000000 6500000000000000 01000000 03000000 ffffffffffffffff",
    );
    let event = decode(163, &body).unwrap();
    assert_eq!(info(&event), "[0-1-100,0-2-101,1-3-18446744073709551615]");
    assert_eq!(
        details(&event),
        "{\"gtid_list_flags\":[\"UNTIL_REACHED\"],\
         \"gtid_list\":[\"0-1-100\",\"0-2-101\",\"1-3-18446744073709551615\"]}"
    );
    let Event::MariadbGtidList(list) = event else {
        panic!("not a GTID list")
    };
    assert_eq!(
        list.position().to_string(),
        "0-2-101,1-3-18446744073709551615"
    );
    cut_everywhere(163, &body, &[]);

    let empty = unhex("00000000 0000");
    assert_eq!(info(&decode(163, &empty).unwrap()), "[]");
    let hostile = unhex("ffffff0f");
    assert!(decode(163, &hostile).is_err());
}

#[test]
fn checkpoints_and_statements() {
    let body = unhex("03000000 61622e");
    let event = decode(161, &body).unwrap();
    assert_eq!(info(&event), "ab.");
    assert_eq!(details(&event), "{\"checkpoint_file\":\"ab.\"}");
    cut_everywhere(161, &body, &[]);

    let event = decode(160, b"INSERT INTO t VALUES (1)").unwrap();
    assert_eq!(info(&event), "INSERT INTO t VALUES (1)");
    assert_eq!(details(&event), "{}");
}

#[test]
fn corpus_facts_of_mariadb() {
    let Some(corpus) = corpus() else { return };
    let of = |file: &str| infos(&corpus.join(STD_DATA).join(file), &[162]);
    let long = of("mdev6020-mysql-bin.000001");
    assert_eq!(long.len(), 1381);
    for (i, gtid) in long.iter().enumerate() {
        let gtid = gtid.split(" cid=").next().unwrap();
        assert!(gtid.ends_with(&format!("GTID 0-1-{}", i + 1)), "{gtid}");
    }
    assert_eq!(
        of("rpl/master-bin-seq_10.3.36.000001"),
        [
            "GTID 0-1-1",
            "BEGIN GTID 0-1-100 cid=7",
            "BEGIN GTID 0-1-101 cid=7",
            "GTID 0-1-102"
        ]
    );
    let fresh = corpus.join("fresh/mariadb1011_compressed_events_compressed_cols_uuid_inet6.bin");
    assert_eq!(infos(&fresh, &[163]), ["[0-9-2]"]);
}

#[test]
fn buglog_90_the_corpus_event_of_mdev_39404() {
    let Some(corpus) = corpus() else { return };
    let mut errors = Vec::new();
    let file = corpus.join(STD_DATA).join("mdev-39404-binlog.000001");
    walk(&file, &[162], |_, event| {
        errors.push(event.unwrap_err().to_string());
    });
    assert_eq!(
        errors,
        ["an XID with parts of 170 and 187 bytes, of at most 64 each"]
    );
}

#[test]
fn corpus_events_are_what_mysqlbinlog_prints() {
    let Some(corpus) = corpus() else { return };
    let (mut files, mut events) = (0, 0);
    for (file, golden) in goldens(&corpus, "maria10.11_vv_rc", "maria") {
        let mut ours = Vec::new();
        walk(&file, &[161, 162, 163], |_, event| {
            let event = event.unwrap_or_else(|e| panic!("{}: {e}", file.display()));
            ours.push(match &event {
                Event::MariadbGtid(gtid) => {
                    let mut text = format!("GTID {}", gtid.gtid);
                    if let Some(commit_id) = gtid.commit_id {
                        text += &format!(" cid={commit_id}");
                    }
                    for (bit, name) in [
                        (MariadbGtidEvent::DDL, " ddl"),
                        (MariadbGtidEvent::TRANSACTIONAL, " trans"),
                        (MariadbGtidEvent::WAITED, " waited"),
                    ] {
                        if gtid.has(bit) {
                            text += name;
                        }
                    }
                    text
                }
                Event::BinlogCheckpoint(_) => format!("Binlog checkpoint {}", info(&event)),
                _ => format!("Gtid list {}", info(&event)),
            });
        });
        let theirs: Vec<_> = golden
            .lines()
            .filter_map(|line| line.split_once('\t').filter(|_| line.starts_with('#')))
            .map(|(_, text)| text.trim_end().to_owned())
            .filter(|text| {
                ["GTID ", "Gtid list ", "Binlog checkpoint "]
                    .iter()
                    .any(|start| text.starts_with(start))
            })
            .collect();
        assert_eq!(ours, theirs, "{}", file.display());
        files += usize::from(!ours.is_empty());
        events += ours.len();
    }
    println!("{files} files, {events} events compared");
    assert!(files >= 3 && events >= 15);
}

proptest! {
    #[test]
    fn any_bytes_are_an_event_or_an_error(body in prop::collection::vec(any::<u8>(), 0..80)) {
        for code in 160..=163 {
            let _ = decode(code, &body);
        }
    }

    #[test]
    fn damaged_bytes_are_an_event_or_an_error(
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut body = unhex(FULL);
        let at = at.index(body.len());
        body[at] = byte;
        let _ = decode(162, &body);
    }
}
