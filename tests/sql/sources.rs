//! Where the bytes come from: paths, globs, folders, indexes, archives; several files, bad ones
//! among them; files that grow, and one beyond 4 GiB.

use crate::logs::{self, HEADER, events, read};
use crate::support::{
    error, fixture, fixtures, lines, number, over, run, session, try_session, value,
};
use datafusion_binlog::BinlogOptions;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

const FIRST: &str = "mysql-9.7-shop.000001";
const SECOND: &str = "mysql-9.7-shop.000002";

const ALL: &str = "select * from binlog order by file, pos, payload_index";

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// A folder with the two logs of the shop, as the server called them, and their index.
fn data_directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    logs::write(directory.path(), "mysql-bin.000001", &read(FIRST));
    logs::write(directory.path(), "mysql-bin.000002", &read(SECOND));
    let index = "./mysql-bin.000001\n/var/lib/mysql/mysql-bin.000002\n";
    logs::write(directory.path(), "mysql-bin.index", index.as_bytes());
    logs::write(directory.path(), "ibdata1", b"not a log at all");
    directory
}

#[tokio::test]
async fn a_folder_a_glob_and_an_index_are_the_same_source() {
    let directory = data_directory();
    let at = text(directory.path());
    let files = [
        format!("{at}/mysql-bin.000001"),
        format!("{at}/mysql-bin.000002"),
    ];
    let files = [files[0].as_str(), files[1].as_str()];
    let wanted = lines(&session(&files, BinlogOptions::default()).await, ALL).await;
    assert_eq!(wanted.len(), 275);
    for location in [
        at.clone(),
        format!("{at}/"),
        format!("{at}/mysql-bin.*"),
        format!("{at}/mysql-bin.00000[12]"),
        format!("{at}/mysql-bin.index"),
        format!("file://{at}/mysql-bin.*"),
    ] {
        let ctx = session(&[&location], BinlogOptions::default()).await;
        assert_eq!(lines(&ctx, ALL).await, wanted, "{location}");
        assert_eq!(
            number(&ctx, "select count(*) from files").await,
            2,
            "{location}"
        );
    }
    // Each file once, however often it is named.
    let ctx = session(&[files[1], &at, files[0]], BinlogOptions::default()).await;
    assert_eq!(lines(&ctx, ALL).await, wanted);
}

#[tokio::test]
async fn archives_are_their_logs() {
    let directory = tempfile::tempdir().unwrap();
    for name in [
        FIRST,
        "mysql-9.7-payload.000001",
        "mariadb-10.11-relay.000004",
    ] {
        let bytes = read(name);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&bytes).unwrap();
        let gzip = gzip.finish().unwrap();
        let zstd = zstd::encode_all(bytes.as_slice(), 1).unwrap();
        let plain = over(&[name]).await;
        let plain_files = "select * exclude (path, size, compression) from files";
        for (suffix, compression, packed) in [("gz", "gzip", gzip), ("zst", "zstd", zstd)] {
            let path = logs::write(directory.path(), &format!("{name}.{suffix}"), &packed);
            let ctx = session(&[&path], BinlogOptions::default()).await;
            assert_eq!(lines(&ctx, ALL).await, lines(&plain, ALL).await, "{path}");
            assert_eq!(
                lines(&ctx, plain_files).await,
                lines(&plain, plain_files).await
            );
            assert_eq!(
                value(&ctx, "select path, size, compression from files").await,
                format!("{path}|{}|{compression}", packed.len())
            );
            assert_eq!(
                lines(&ctx, "select * from problems").await,
                lines(&plain, "select * from problems").await
            );
            // A quoted path is known to be a log by what it holds.
            let sql = format!("select count(*) from '{path}' where pos > 200");
            assert_eq!(
                value(&ctx, &sql).await,
                value(&plain, "select count(*) from binlog where pos > 200").await
            );
        }
    }
}

#[tokio::test]
async fn a_bad_file_among_good_ones_is_a_problem() {
    let directory = data_directory();
    let at = directory.path();
    logs::write(at, "mysql-bin.000003", b"");
    logs::write(at, "mysql-bin.000004", b"This is some text, and no log.");
    let encrypted = read("mysql-9.7-encrypted.000001");
    logs::write(at, "mysql-bin.000005", &encrypted);
    let options = BinlogOptions::default();
    let ctx = session(&[&text(at)], options.clone()).await;
    let ran = run(
        &ctx,
        "select file, count(*) from binlog group by file order by file",
    )
    .await;
    assert_eq!(ran.rows, ["mysql-bin.000001|145", "mysql-bin.000002|130"]);
    assert_eq!(ran.count("problems"), 3);
    let problems = "select file, pos, kind, severity from problems where file > 'mysql-bin.000002' order by file";
    assert_eq!(
        lines(&ctx, problems).await,
        [
            "mysql-bin.000003|0|NOT_A_BINLOG|error",
            "mysql-bin.000004|0|NOT_A_BINLOG|error",
            "mysql-bin.000005|0|ENCRYPTED|error",
        ]
    );
    let files = "select file, size, encrypted, server_version, problem is not null from files order by file";
    assert_eq!(
        lines(&ctx, files).await,
        [
            "mysql-bin.000001|21053|false|9.7.4-2|false",
            "mysql-bin.000002|18595|false|9.7.4-2|false",
            "mysql-bin.000003|0|false|NULL|true",
            "mysql-bin.000004|30|false|NULL|true",
            &format!("mysql-bin.000005|{}|true|NULL|true", encrypted.len()),
        ]
    );
    // The log of problems has each once, though three queries met them.
    assert_eq!(options.problem_log().counts().0, 3);

    let strict = BinlogOptions::default().with_strict(true);
    let refused = try_session(&[&text(at)], strict).await.err().unwrap();
    let refused = refused.to_string();
    assert!(refused.contains("mysql-bin.000003"), "{refused}");
}

#[tokio::test]
async fn a_bad_file_alone_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    for (path, wanted) in [
        (logs::write(at, "empty.000001", b""), "empty.000001: "),
        (
            logs::write(at, "text.000001", b"some text"),
            "text.000001: not a binary log",
        ),
        (
            fixture("mysql-9.7-encrypted.000001"),
            "this binary log is encrypted",
        ),
        (text(&at.join("none.000001")), "no such file"),
        (text(&at.join("none.*")), "no file matches"),
    ] {
        let refused = try_session(&[&path], BinlogOptions::default()).await;
        let refused = refused
            .err()
            .unwrap_or_else(|| panic!("{path} is a source"));
        let refused = refused.to_string();
        assert!(refused.contains(wanted), "{refused}");
        assert!(!refused.contains('\n'), "{refused}");
    }
}

#[tokio::test]
async fn strict_ends_a_query_at_the_first_error() {
    let directory = tempfile::tempdir().unwrap();
    let mut bytes = read(FIRST);
    bytes.truncate(20000);
    let path = logs::write(directory.path(), "mysql-bin.000001", &bytes);
    let lenient = session(&[&path], BinlogOptions::default()).await;
    let ran = run(&lenient, "select count(*) from binlog").await;
    assert_eq!(ran.count("problems"), 1);
    let whole = "select count(*) from binlog where end_pos <= 20000";
    assert_eq!(ran.rows, lines(&over(&[FIRST]).await, whole).await);
    assert_eq!(
        lines(&lenient, "select kind, severity from problems").await,
        ["TRUNCATED|error"]
    );
    let strict = session(&[&path], BinlogOptions::default().with_strict(true)).await;
    let text = error(&strict, "select count(*) from binlog").await;
    assert!(
        text.contains("mysql-bin.000001 @ ") && text.contains("TRUNCATED"),
        "{text}"
    );
}

#[tokio::test]
async fn a_log_that_grows_is_seen_to_grow() {
    let directory = tempfile::tempdir().unwrap();
    let bytes = read(FIRST);
    let path = logs::write(directory.path(), "mysql-bin.000001", &bytes[..5291]);
    let ctx = session(&[&text(directory.path())], BinlogOptions::default()).await;
    assert_eq!(
        value(&ctx, "select count(*), max(end_pos) from binlog").await,
        "28|5291"
    );
    assert_eq!(value(&ctx, "select size from files").await, "5291");
    let mut file = File::options().append(true).open(&path).unwrap();
    file.write_all(&bytes[5291..]).unwrap();
    assert_eq!(
        value(&ctx, "select count(*), max(end_pos) from binlog").await,
        "145|21053"
    );
    logs::write(directory.path(), "mysql-bin.000002", &read(SECOND));
    assert_eq!(value(&ctx, "select count(*) from binlog").await, "275");
    assert_eq!(value(&ctx, "select count(*) from files").await, "2");
    std::fs::remove_file(&path).unwrap();
    assert_eq!(value(&ctx, "select count(*) from binlog").await, "130");
    std::fs::remove_file(directory.path().join("mysql-bin.000002")).unwrap();
    let gone = error(&ctx, "select count(*) from binlog").await;
    assert!(gone.contains("no binary log in this directory"), "{gone}");
}

#[tokio::test]
async fn the_millionth_log_comes_behind_the_one_before() {
    let directory = tempfile::tempdir().unwrap();
    logs::write(directory.path(), "mysql-bin.999999", &read(FIRST));
    logs::write(directory.path(), "mysql-bin.1000000", &read(SECOND));
    let ctx = session(&[&text(directory.path())], BinlogOptions::default()).await;
    // As written, where one partition reads both.
    let sql = "set datafusion.execution.target_partitions = 1";
    ctx.sql(sql).await.unwrap().collect().await.unwrap();
    let found = lines(&ctx, "select file, pos from binlog").await;
    assert_eq!(found[0], "mysql-bin.999999|4");
    assert_eq!(found[145], "mysql-bin.1000000|4");
    // By name, which is another order.
    let by_name = lines(&ctx, "select file, pos from binlog order by file, pos").await;
    assert_eq!(by_name[0], "mysql-bin.1000000|4");
    assert_eq!(by_name[130], "mysql-bin.999999|4");
    let sql = "set datafusion.execution.target_partitions = 2";
    ctx.sql(sql).await.unwrap().collect().await.unwrap();
    assert_eq!(
        lines(&ctx, "select file, pos from binlog order by file, pos").await,
        by_name
    );
    // What is skipped by GTID knows which log follows which.
    let gtid = "select count(*) from binlog where gtid = '3e11fa47-71ca-11e1-9e33-c80aa9429562:40'";
    let ran = run(&ctx, gtid).await;
    assert_eq!(
        (ran.count("files_skipped"), ran.rows),
        (1, vec!["6".to_owned()])
    );
}

#[tokio::test]
async fn logs_of_the_same_name_are_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    let paths = [
        logs::write(directory.path(), "db1/mysql-bin.000001", &read(FIRST)),
        logs::write(directory.path(), "db2/mysql-bin.000001", &read(FIRST)),
        logs::write(directory.path(), "db2/mysql-bin.000002", &read(SECOND)),
    ];
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let ctx = session(&paths, BinlogOptions::default()).await;
    let wanted = [
        "db1/mysql-bin.000001|145",
        "db2/mysql-bin.000001|145",
        "mysql-bin.000002|130",
    ];
    let sql = "select file, count(*) from binlog group by file order by file";
    assert_eq!(lines(&ctx, sql).await, wanted);
    let sql = "select file, pos from binlog order by file, pos";
    let mut sorted = lines(&ctx, "select file, pos from binlog").await;
    sorted.sort_by_key(|row| {
        let (file, pos) = row.split_once('|').unwrap();
        (file.to_owned(), pos.parse::<u64>().unwrap())
    });
    assert_eq!(lines(&ctx, sql).await, sorted);
    let sql = "select count(*) from binlog where file = 'db2/mysql-bin.000001'";
    assert_eq!(value(&ctx, sql).await, "145");
    // Only logs of the same folder tell of each other what they hold.
    for (number, rows, skipped) in [(11, "12", 1), (40, "6", 1)] {
        let gtid = format!("3e11fa47-71ca-11e1-9e33-c80aa9429562:{number}");
        let ran = run(
            &ctx,
            &format!("select count(*) from binlog where gtid = '{gtid}'"),
        )
        .await;
        assert_eq!(
            (ran.count("files_skipped"), ran.rows),
            (skipped, vec![rows.to_owned()])
        );
    }
}

#[tokio::test]
async fn all_fixtures_at_once() {
    let ctx = session(&[&text(&fixtures())], BinlogOptions::default()).await;
    let (files, encrypted) = (
        number(&ctx, "select count(*) from files").await,
        number(&ctx, "select count(*) from files where encrypted").await,
    );
    assert_eq!((files, encrypted), (36, 2));
    let each = "select sum(n), count(*) from (select file, count(*) n from binlog group by file)";
    let all = value(&ctx, "select count(*) from binlog").await;
    assert_eq!(value(&ctx, each).await, format!("{all}|35"));
}

/// Free space where temporary files go, in bytes, as `df` tells.
fn free_space(directory: &Path) -> Option<u64> {
    let output = std::process::Command::new("df")
        .arg("-Pk")
        .arg(directory)
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let kilobytes: u64 = text
        .lines()
        .nth(1)?
        .split_whitespace()
        .nth(3)?
        .parse()
        .ok()?;
    Some(kilobytes << 10)
}

/// A log beyond 4 GiB, of which hardly anything is stored: the bodies of its great events are
/// holes. Positions in headers wrap; those in the relation do not.
#[tokio::test]
async fn a_log_beyond_four_gibibytes() {
    const GREAT: u64 = 900 << 20;
    let directory = tempfile::tempdir().unwrap();
    match free_space(directory.path()) {
        Some(free) if free >= 1 << 30 => {}
        free => {
            eprintln!("SKIPPED a_log_beyond_four_gibibytes: free space is {free:?} bytes");
            return;
        }
    }
    let source = read("mysql-9.7-nochecksum.000001");
    let source = events(&source);
    let path = directory.path().join("mysql-bin.000001");
    let mut file = File::create(&path).unwrap();
    file.write_all(b"\xfebin").unwrap();
    let mut at = 4u64;
    let mut put = |file: &mut File, header: &[u8], body: &[u8], size: u64| {
        let end = at + size;
        let mut event = header.to_vec();
        event[9..13].copy_from_slice(&(size as u32).to_le_bytes());
        event[13..17].copy_from_slice(&(end as u32).to_le_bytes());
        file.seek(SeekFrom::Start(at)).unwrap();
        file.write_all(&event).unwrap();
        file.write_all(body).unwrap();
        let pos = std::mem::replace(&mut at, end);
        format!("{pos}|{end}|{}", end as u32)
    };
    let (head, behind): (Vec<&[u8]>, Vec<&[u8]>) = source
        .iter()
        .partition(|event| matches!(logs::type_code(event), 15 | 35));
    for event in head {
        let (header, body) = event.split_at(HEADER);
        put(&mut file, header, body, event.len() as u64);
    }
    // ROWS_QUERY (29) and IGNORABLE (28) by turns.
    let template = source
        .iter()
        .find(|event| logs::type_code(event) == 29)
        .unwrap();
    for n in 0..6u8 {
        let mut header = template[..HEADER].to_vec();
        header[4] = 28 + n % 2;
        put(&mut file, &header, &[], GREAT);
    }
    let mut wanted = Vec::new();
    for event in &behind {
        let (header, body) = event.split_at(HEADER);
        wanted.push(put(&mut file, header, body, event.len() as u64));
    }
    file.set_len(at).unwrap();
    drop(file);

    let ctx = session(&[&text(&path)], BinlogOptions::default()).await;
    let begun = std::time::Instant::now();
    let ran = run(
        &ctx,
        "select type, count(*) from binlog group by type order by type",
    )
    .await;
    let took = begun.elapsed();
    for line in ["IGNORABLE|3", "ROWS_QUERY|8", "STOP|1", "XID|3"] {
        assert!(
            ran.rows.iter().any(|row| row == line),
            "{line} in {:?}",
            ran.rows
        );
    }
    assert!(
        ran.count("bytes_read") < 20 << 20,
        "{}",
        ran.count("bytes_read")
    );
    assert_eq!(ran.count("problems"), 0);
    assert!(took.as_secs() < 20, "{took:?}");
    let sql = "select pos, end_pos, log_pos from binlog where pos > 4294967296 and size < 1000000 order by file, pos";
    assert_eq!(lines(&ctx, sql).await, wanted);
    let sql = format!(
        "select pos, end_pos, size from binlog where size = {GREAT} order by pos desc limit 1"
    );
    let last = at - behind.iter().map(|event| event.len() as u64).sum::<u64>();
    assert_eq!(
        value(&ctx, &sql).await,
        format!("{}|{last}|{GREAT}", last - GREAT)
    );
    let sql = "select file, size, server_version, last_gtid is not null, next_file from files";
    let ran = run(&ctx, sql).await;
    assert_eq!(
        ran.rows,
        [format!("mysql-bin.000001|{at}|9.7.4-2|true|NULL")]
    );
    assert!(
        ran.count("bytes_read") < 20 << 20,
        "{}",
        ran.count("bytes_read")
    );
    drop(directory);
    assert!(!path.exists());
}
