//! Which text it is.

use crate::source::segment::split_number;

/// A noun phrase for a text that begins with `head` in a file called `name`.
pub(super) fn kind(head: &[u8], name: &str) -> &'static str {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let text = String::from_utf8_lossy(head);
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty())
        .take(60)
        .collect();
    let first = lines.first().copied().unwrap_or("");
    let any = |test: &dyn Fn(&str) -> bool| lines.iter().any(|line| test(line));

    // A binary log that was turned into text.
    if first.starts_with("/mJpb") {
        return "text (a binary log in base64); decode it first: base64 -d FILE | binlogsql -";
    }
    if first
        .get(..8)
        .is_some_and(|hex| hex.eq_ignore_ascii_case("fe62696e"))
    {
        return "text (a binary log in hexadecimal); decode it first: xxd -r -p FILE | binlogsql -";
    }
    // The output of mysqlbinlog begins as a dump does.
    if any(&|l| l.starts_with("BINLOG '") || l == "DELIMITER /*!*/;" || is_at(l))
        || any(&|l| l.contains("PSEUDO_SLAVE_MODE") || l.contains("max_insert_delayed_threads"))
    {
        return "text (the output of mysqlbinlog); give the binary log itself";
    }
    if first.starts_with("-- MySQL dump")
        || first.starts_with("-- MariaDB dump")
        || first.starts_with("-- mysqldump")
        || any(&is_sql)
    {
        return "text (an SQL dump)";
    }
    if is_relay_info(&lines) || name.ends_with("relay-log.info") {
        return "text (a replica's relay-log.info)";
    }
    if is_master_info(&lines) || name.ends_with("master.info") {
        return "text (a replica's master.info)";
    }
    // The last line may be cut where the head ends.
    let whole = lines.get(..lines.len().saturating_sub(1)).unwrap_or(&[]);
    if is_log_line(first) && whole.iter().all(|line| is_log_line(line)) {
        return "text (the index of a binary log); give it a name that ends in .index to read the \
                files it lists";
    }
    if any(&|l| l.starts_with("# Query_time:") || l.starts_with("# User@Host:")) {
        return "text (a slow query log)";
    }
    if any(&|l| l.starts_with("Time ") && l.contains(" Id ") && l.contains("Command")) {
        return "text (a general query log)";
    }
    if any(&|l| l.contains("[Note]") || l.contains("[Warning]") || l.contains("[ERROR]"))
        || any(&|l| l.contains("[System] [MY-") || l.contains("[Server]"))
    {
        return "text (a server's error log)";
    }
    if whole
        .iter()
        .chain([&first])
        .all(|line| is_mariadb_gtid(line))
    {
        return "text (MariaDB's binary log state)";
    }
    match first.as_bytes().first() {
        Some(b'{' | b'[') if first.contains('"') || first.len() == 1 => "text (JSON)",
        Some(b'<') => "text (XML or HTML)",
        None => "text (nothing but white space)",
        _ => "text",
    }
}

/// `# at 4`, which mysqlbinlog prints before each event.
fn is_at(line: &str) -> bool {
    line.strip_prefix("# at ")
        .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

fn is_sql(line: &str) -> bool {
    const WORDS: &[&str] = &[
        "CREATE TABLE",
        "CREATE DATABASE",
        "INSERT INTO",
        "DROP TABLE",
        "LOCK TABLES",
        "REPLACE INTO",
        "ALTER TABLE",
        "UPDATE `",
        "DELETE FROM",
        "SET NAMES",
        "START TRANSACTION",
        "USE `",
        "/*!40",
        "/*!50",
        "/*M!",
    ];
    WORDS.iter().any(|word| {
        line.as_bytes()
            .get(..word.len())
            .is_some_and(|l| l.eq_ignore_ascii_case(word.as_bytes()))
    })
}

fn is_number(line: &str) -> bool {
    !line.is_empty() && line.bytes().all(|b| b.is_ascii_digit())
}

fn is_log_line(line: &str) -> bool {
    split_number(line).is_some_and(|(stem, digits)| !stem.is_empty() && digits.len() >= 6)
}

/// Lines of relay-log.info: since 5.6 the number of lines, then relay log, position, source log,
/// position; before, without the number.
fn is_relay_info(lines: &[&str]) -> bool {
    let body = match lines {
        [count, body @ ..] if is_number(count) => body,
        body => body,
    };
    matches!(body, [relay, at, log, log_at, ..]
        if is_log_line(relay) && is_number(at) && is_log_line(log) && is_number(log_at))
}

/// Lines of master.info: the number of lines, source log, position, host.
fn is_master_info(lines: &[&str]) -> bool {
    matches!(lines, [count, log, at, ..] if is_number(count) && is_log_line(log) && is_number(at))
}

/// `0-1-100`
fn is_mariadb_gtid(line: &str) -> bool {
    line.split('-').filter(|part| is_number(part)).count() == 3 && line.split('-').count() == 3
}
