use super::testing::*;
use super::*;
use crate::error::ErrorKind;
use proptest::prelude::*;

/// Flags, UUID 11…, number 5, clock, both timestamps, length 300, both versions, ticket.
const FULL: &str = "01 11111111111111111111111111111111 0500000000000000
    02 0300000000000000 0400000000000000
    a0ce438c836186 1cf3b814244a06 fc2c01 d0390180 50620100 0900000000000000";

/// The tagged event of buglog 91's kind, as MySQL 9.6 wrote it.
const TAGGED: &str = "02 78 00 0000 02aaee25020804650222c503c502e1029cc1031103 55 02dead0304
    0c 06 0a 6d79746167 0800 0a04 0c7f1cf3b814244a06 10a104 12430f0b";

#[test]
fn every_field_of_a_gtid() {
    let body = unhex(FULL);
    let event = decode(33, &body).unwrap();
    let uuid = "11111111-1111-1111-1111-111111111111";
    assert_eq!(info(&event), format!("SET @@SESSION.GTID_NEXT= '{uuid}:5'"));
    assert_eq!(event.gtid().unwrap().to_string(), format!("{uuid}:5"));
    assert_eq!(event.commit_timestamp(), Some(1_796_067_482_128_032));
    assert_eq!(
        details(&event),
        "{\"gtid_flags\":[\"MAY_HAVE_SBR\"],\"last_committed\":3,\"sequence_number\":4,\
         \"immediate_commit_timestamp\":1796067482128032,\
         \"original_commit_timestamp\":1770368687207196,\"transaction_length\":300,\
         \"immediate_server_version\":80336,\"original_server_version\":90704,\
         \"commit_group_ticket\":9}"
    );
}

#[test]
fn older_servers_write_less() {
    let body = unhex(FULL);
    let Event::Gtid(old) = decode(33, &body[..25]).unwrap() else {
        panic!("not a GTID")
    };
    assert!(old.gtid.is_some() && old.last_committed.is_none());
    let Event::Gtid(newer) = decode(33, &body[..42]).unwrap() else {
        panic!("not a GTID")
    };
    assert_eq!(newer.sequence_number, Some(4));
    assert_eq!(newer.immediate_commit_timestamp, None);
    assert_eq!(newer.original_commit_timestamp, None);
    // One timestamp, one version: the other is the same.
    let body = unhex(
        "00 11111111111111111111111111111111 0500000000000000 02 0300000000000000
         0400000000000000 1cf3b814244a06 fa 50620100",
    );
    let Event::Gtid(own) = decode(33, &body).unwrap() else {
        panic!("not a GTID")
    };
    assert_eq!(own.original_commit_timestamp, Some(1_770_368_687_207_196));
    assert_eq!(own.transaction_length, Some(250));
    assert_eq!(own.original_server_version, Some(90_704));
    assert_eq!(own.commit_group_ticket, None);
}

#[test]
fn anonymous_transactions_have_no_gtid() {
    let mut body = vec![0; 25];
    let event = decode(34, &body).unwrap();
    assert_eq!(info(&event), "SET @@SESSION.GTID_NEXT= 'ANONYMOUS'");
    assert_eq!(details(&event), "{\"gtid_flags\":[]}");
    assert_eq!((event.gtid(), event.commit_timestamp()), (None, None));
    body[17] = 1;
    assert_eq!(decode(34, &body).unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn numbers_that_no_server_gives_are_errors() {
    for gno in [0, u64::MAX, MAX_GNO + 1] {
        let body = [&[0; 17][..], &gno.to_le_bytes()].concat();
        let error = decode(33, &body).unwrap_err();
        assert!(error.message().contains("transaction number"), "{error}");
    }
}

#[test]
fn bytes_that_are_not_known_are_shown() {
    // A clock of a development release.
    let mut body = vec![0; 25];
    body[17] = 1;
    body.extend([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    let event = decode(33, &body).unwrap();
    assert_eq!(
        details(&event),
        "{\"gtid_flags\":[],\"rest\":\"010203040506070809\"}"
    );
    // Behind the last field.
    let mut body = unhex(FULL);
    body.extend([0xaa, 0xbb]);
    assert!(details(&decode(33, &body).unwrap()).ends_with("\"rest\":\"aabb\"}"));
    assert!(flag_names(0x41, &["ONE"]).eq(["ONE", "0x40"]));
}

#[test]
fn cut_gtids_are_errors() {
    cut_everywhere(33, &unhex(FULL), &[25, 42, 56, 59, 67]);
    cut_everywhere(42, &unhex(TAGGED), &[]);
}

#[test]
fn buglog_91_a_tagged_gtid() {
    let body = unhex(TAGGED);
    let event = decode(42, &body).unwrap();
    assert_eq!(
        info(&event),
        "SET @@SESSION.GTID_NEXT= '55778904-0299-11f1-b1b8-4ef0c4956feb:mytag:3'"
    );
    assert_eq!(event.commit_timestamp(), Some(1_770_368_687_207_196));
    assert_eq!(
        details(&event),
        "{\"gtid_flags\":[],\"last_committed\":0,\"sequence_number\":1,\
         \"immediate_commit_timestamp\":1770368687207196,\
         \"original_commit_timestamp\":1770368687207196,\"transaction_length\":296,\
         \"immediate_server_version\":90600,\"original_server_version\":90600}"
    );
}

/// A tagged event: version 1, `must_know` as it stands in the log, and fields.
fn tagged(must_know: u8, fields: &str) -> Vec<u8> {
    let fields = unhex(fields);
    let mut body = vec![2, ((fields.len() + 3) << 1) as u8, must_know << 1];
    body.extend(fields);
    body
}

/// Field 1, a UUID of bytes 01.
const UUID_FIELD: &str = "02 02020202020202020202020202020202";

#[test]
fn optional_and_unknown_fields_of_a_tagged_gtid() {
    // Number 1, no tag, original timestamp and version, ticket.
    let known = format!("{UUID_FIELD} 0404 0600 0c0a 0e08 1206 1404 1602");
    let body = tagged(12, &known);
    let event = decode(42, &body).unwrap();
    assert_eq!(
        event.gtid().unwrap().to_string(),
        "01010101-0101-0101-0101-010101010101:1"
    );
    assert_eq!(
        details(&event),
        "{\"gtid_flags\":[],\"immediate_commit_timestamp\":5,\"original_commit_timestamp\":4,\
         \"immediate_server_version\":3,\"original_server_version\":2,\"commit_group_ticket\":1}"
    );
    // Field 12 is not known here: skipped with all behind it, but shown.
    let mut body = tagged(12, &format!("{known} 18 0a 1a0a"));
    body.push(0xee);
    let event = decode(42, &body).unwrap();
    assert!(details(&event).ends_with("\"rest\":\"180a1a0aee\"}"));
    // The same where the event says that it must be understood.
    let body = tagged(13, &format!("{known} 18 0a"));
    let error = decode(42, &body).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("up to number 12"), "{error}");
}

#[test]
fn damaged_tagged_gtids_are_errors() {
    let long_tag = format!("{UUID_FIELD} 0404 06 42 {}", "61".repeat(33));
    for (body, says) in [
        (tagged(0, UUID_FIELD), "is missing"),
        (tagged(0, "0404"), "is missing"),
        (tagged(0, ""), "is missing"),
        (tagged(0, &format!("{UUID_FIELD} 0400")), "number 0"),
        (tagged(0, &format!("{UUID_FIELD} 0406")), "number -2"),
        (
            tagged(0, &format!("{UUID_FIELD} 0404 0404")),
            "out of order",
        ),
        (
            tagged(0, &format!("{UUID_FIELD} 0404 06 02 41")),
            "'A' is no tag",
        ),
        (tagged(0, &long_tag), "a tag of 33"),
        (tagged(0, "02 fdff"), "too large for a byte"),
        (tagged(0, "00 fdff"), "too large for flags"),
        (unhex("04 06 00"), "version 2"),
        (unhex("02 02 00"), "a message of 1 bytes"),
        (unhex("02 ffffffffffffffffff 00"), "bytes"),
    ] {
        let error = decode(42, &body).unwrap_err();
        assert!(error.message().contains(says), "{body:02x?}: {error}");
    }
}

#[test]
fn corpus_facts_of_mysql() {
    let Some(corpus) = corpus() else { return };
    let at = |name: &str| corpus.join(RUST_MYSQL).join(name);
    let tagged = at("binlog_transaction_with_GTID_TAG.000001");
    assert_eq!(
        infos(&tagged, &[35, 42]),
        [
            "55778904-0299-11f1-b1b8-4ef0c4956feb:1-13:mytag:1-2",
            "SET @@SESSION.GTID_NEXT= '55778904-0299-11f1-b1b8-4ef0c4956feb:mytag:3'"
        ]
    );
    let untagged = at("binlog_transaction_previous_GTID_no_tag.000001");
    assert_eq!(
        infos(&untagged, &[35]),
        ["b9b88c66-0755-11f1-9899-4a9da94c4d71:1-2"]
    );
    let fresh = corpus.join("fresh/mysql97_fk_xa_savepoint_gipk.bin");
    assert_eq!(
        infos(&fresh, &[35]),
        ["55b989b8-ecf5-11f1-be1c-02fc00000001:1-22:mytag:1"]
    );
    let reserved = at("binlog_56_gtid_reserved_word.000001");
    assert_eq!(
        infos(&reserved, &[33]),
        (1..=6)
            .map(|n| format!("SET @@SESSION.GTID_NEXT= '11111111-1111-1111-1111-111111111111:{n}'"))
            .collect::<Vec<_>>()
    );
}

/// What `mysqlbinlog` prints of a GTID event, without the time.
fn printed(event: &GtidEvent<'_>) -> String {
    format!(
        "last_committed={}\tsequence_number={}\trbr_only={}\toriginal_committed_timestamp={}\t\
         immediate_commit_timestamp={}\ttransaction_length={}",
        event.last_committed.unwrap_or(0),
        event.sequence_number.unwrap_or(0),
        if event.flags & GtidEvent::MAY_HAVE_SBR == 0 {
            "yes"
        } else {
            "no"
        },
        event.original_commit_timestamp.unwrap_or(0),
        event.immediate_commit_timestamp.unwrap_or(0),
        event.transaction_length.unwrap_or(0),
    )
}

#[test]
fn corpus_gtids_are_what_mysqlbinlog_prints() {
    let Some(corpus) = corpus() else { return };
    let (mut files, mut gtids, mut sets) = (0, 0, 0);
    for (file, golden) in goldens(&corpus, "mysql9.7_vv_rc", "my97") {
        let (mut ours, mut our_sets) = (Vec::new(), Vec::new());
        walk(&file, &[33, 34, 35, 42], |_, event| {
            match event.unwrap_or_else(|e| panic!("{}: {e}", file.display())) {
                Event::Gtid(event) => {
                    ours.push(printed(&event));
                    // Its way to say "not known" depends on how much it knows.
                    let unknown = event.immediate_commit_timestamp.map_or(0, |_| 999_999);
                    for (key, version) in [
                        ("original", event.original_server_version),
                        ("immediate", event.immediate_server_version),
                    ] {
                        ours.push(format!("{key}={}", version.unwrap_or(unknown)));
                    }
                    ours.push(info(&Event::Gtid(event)));
                }
                event => our_sets.push(info(&event)),
            }
        });
        let (mut theirs, mut their_sets) = (Vec::new(), Vec::new());
        let mut lines = golden.lines().peekable();
        while let Some(line) = lines.next() {
            if let Some(at) = line.find("\tlast_committed=") {
                theirs.push(line[at + 1..].trim_end().to_owned());
            } else if let Some(rest) = line.strip_prefix("/*!80014 SET @@session.") {
                let (key, version) = rest.split_once("_server_version=").unwrap();
                let version = version.split('*').next().unwrap();
                theirs.push(format!("{key}={version}"));
            } else if line.starts_with("SET @@SESSION.GTID_NEXT=") && !line.contains("AUTOMATIC") {
                theirs.push(line.split("/*").next().unwrap().to_owned());
            } else if line.ends_with("\tPrevious-GTIDs") {
                let mut set = String::new();
                while let Some(part) =
                    lines.next_if(|l| l.starts_with("# ") && !l.starts_with("# at"))
                {
                    set += part[2..].trim();
                }
                their_sets.push(set.replace("[empty]", ""));
            }
        }
        assert_eq!(ours, theirs, "{}", file.display());
        assert_eq!(our_sets, their_sets, "{}", file.display());
        files += 1;
        gtids += ours.len() / 4;
        sets += our_sets.len();
    }
    println!("{files} files, {gtids} GTID events, {sets} sets compared");
    assert!(files > 130 && gtids > 900 && sets > 120);
}

#[test]
fn every_gtid_event_of_the_corpus_decodes_but_one() {
    let Some(corpus) = corpus() else { return };
    let (mut events, mut failed) = (0, Vec::new());
    for file in files(&corpus) {
        walk(&file, &[33, 34, 35, 42, 160, 161, 162, 163], |_, event| {
            events += 1;
            if event.is_err() {
                failed.push(file.file_name().unwrap().to_owned());
            }
        });
    }
    println!("{events} events");
    assert!(events > 8000);
    assert_eq!(failed, ["mdev-39404-binlog.000001"]);
}

proptest! {
    #[test]
    fn any_bytes_are_an_event_or_an_error(body in prop::collection::vec(any::<u8>(), 0..120)) {
        for code in [33, 34, 42] {
            let _ = decode(code, &body);
        }
    }

    #[test]
    fn damaged_bytes_are_an_event_or_an_error(
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        for (code, mut body) in [(33, unhex(FULL)), (42, unhex(TAGGED))] {
            let at = at.index(body.len());
            body[at] = byte;
            let _ = decode(code, &body);
        }
    }
}
