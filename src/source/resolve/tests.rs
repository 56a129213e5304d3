use std::path::Path;

use object_store::ObjectStoreExt as _;
use object_store::memory::InMemory;

use super::*;
use crate::error::ErrorKind;
use crate::source::segment::{Encoding, Location};
use crate::source::testing::{gzip, log, names, resolve_all, resolver, zst};

struct Dir(tempfile::TempDir);

impl Dir {
    fn with(files: &[(&str, &[u8])]) -> Self {
        let dir = Self(tempfile::tempdir().unwrap());
        for (name, bytes) in files {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        dir
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn at(&self, name: &str) -> String {
        self.path().join(name).to_str().unwrap().to_owned()
    }

    async fn resolve(&self, patterns: &[&str]) -> Result<Vec<Segment>> {
        let patterns: Vec<String> = patterns.iter().map(|pattern| self.at(pattern)).collect();
        resolve_all(&patterns).await
    }

    /// The error, without the directory's random name.
    async fn error(&self, patterns: &[&str]) -> String {
        let error = self.resolve(patterns).await.unwrap_err().to_string();
        error.replace(self.path().to_str().unwrap(), "DIR")
    }
}

const LOG: &[u8] = b"\xfebin\0\0\0\0";

fn data_directory() -> Dir {
    Dir::with(&[
        ("mysql-bin.999999", LOG),
        ("mysql-bin.1000000", LOG),
        ("mysql-bin.000003.gz", &gzip(LOG)),
        (
            "mysql-bin.index",
            b"./mysql-bin.999999\n/var/lib/mysql/mysql-bin.1000000\n\n",
        ),
        ("mysql-bin.state", b"0-1-7\n"),
        ("mysql-bin.1000000.idx", b"\xfe\xfe\x0c\x01"),
        ("odd-name", LOG),
        ("packed", &zst(LOG)),
        ("ibdata1", &[0; 5000]),
        ("aria_log.00000001", b"\xfe\xfe\x0b\x01MARIALOG"),
        ("db.pid", b"17\n"),
        ("shop/orders.ibd", &[0; 50]),
    ])
}

#[tokio::test]
async fn a_directory_gives_its_logs() {
    let dir = data_directory();
    let found = dir.resolve(&[""]).await.unwrap();
    assert_eq!(
        names(&found),
        [
            "mysql-bin.000003",
            "mysql-bin.999999",
            "mysql-bin.1000000",
            "odd-name",
            "packed"
        ]
    );
    assert_eq!(found[0].encoding, Encoding::Gzip);
    assert_eq!(found[4].encoding, Encoding::Zstd);
    assert!(
        found
            .iter()
            .all(|segment| segment.rejected.is_none() && segment.modified.is_some())
    );
    assert_eq!(found[1].size, 8);
    let text = dir.error(&["shop"]).await;
    assert!(
        text.starts_with("DIR/shop: no binary log in this directory: none of its 1 files"),
        "{text}"
    );
}

#[tokio::test]
async fn a_file_with_a_logs_name_is_reported_even_if_it_is_none() {
    let dir = Dir::with(&[
        ("b.000001", LOG),
        ("b.000002", b""),
        ("b.000003", b"\xfdbin"),
        ("binlog-000001.ibb", &[0; 64]),
        ("notes.txt", b"hi"),
    ]);
    std::os::unix::fs::symlink(dir.at("nowhere"), dir.at("b.000004")).unwrap();
    let found = dir.resolve(&[""]).await.unwrap();
    assert_eq!(
        names(&found),
        [
            "b.000001",
            "b.000002",
            "b.000003",
            "b.000004",
            "binlog-000001.ibb"
        ]
    );
    let kinds: Vec<_> = found
        .iter()
        .map(|s| s.rejected.as_ref().map(|r| r.kind))
        .collect();
    use ErrorKind::{Source, Truncated, Unsupported};
    assert_eq!(
        kinds,
        [
            None,
            Some(Truncated),
            Some(Unsupported),
            Some(Source),
            Some(Unsupported)
        ]
    );

    // Among others they stay; strict, or alone, they are errors.
    assert_eq!(admit(found.clone(), false).unwrap().len(), 5);
    let error = admit(found.clone(), true).unwrap_err().to_string();
    assert_eq!(
        error,
        "b.000002: not a binary log: this is an empty file (and 3 more that cannot be read)"
    );
    let error = admit(found[4..].to_vec(), false).unwrap_err().to_string();
    assert!(
        error.starts_with("binlog-000001.ibb: not readable here"),
        "{error}"
    );
    assert!(admit(found[1..].to_vec(), false).is_err());
    assert!(admit(found[..1].to_vec(), true).is_ok());
}

#[tokio::test]
async fn globs() {
    let dir = data_directory();
    let logs = ["mysql-bin.000003", "mysql-bin.999999", "mysql-bin.1000000"];
    assert_eq!(names(&dir.resolve(&["mysql-bin.*"]).await.unwrap()), logs);
    assert_eq!(
        names(&dir.resolve(&["mysql-bin.[0-9]*"]).await.unwrap()),
        logs
    );
    assert_eq!(names(&dir.resolve(&["*.ind?x"]).await.unwrap()), logs[1..]);
    assert_eq!(
        dir.error(&["mysql-bin.2*"]).await,
        "DIR/mysql-bin.2*: no file matches"
    );
    assert!(
        dir.error(&["s*p"])
            .await
            .contains("only directories match (1)")
    );
    assert!(dir.error(&["a***"]).await.contains("not a glob"));
    // A file that is called like a glob is itself.
    let dir = Dir::with(&[("a[1]", LOG), ("a1", LOG)]);
    assert_eq!(names(&dir.resolve(&["a[1]"]).await.unwrap()), ["a[1]"]);
}

#[tokio::test]
async fn an_index_gives_the_files_it_lists() {
    let dir = data_directory();
    let found = dir.resolve(&["mysql-bin.index"]).await.unwrap();
    // The second is listed under the server's own path, and found beside the index.
    assert_eq!(names(&found), ["mysql-bin.999999", "mysql-bin.1000000"]);

    let dir = Dir::with(&[
        ("a.000002.gz", &gzip(LOG)),
        ("a.index", b"./a.000001\r\nlogs/a.000002\r\n./a.000003"),
        ("w.index", b".\\a.000002\n"),
        ("empty.index", b"\n"),
        ("binary.index", b"a\0b"),
        ("log.index", LOG),
    ]);
    assert_eq!(
        dir.error(&["a.index"]).await,
        "DIR/a.index: lists 2 files that are not there: ./a.000001, ./a.000003; name the logs to \
         read without them"
    );
    assert_eq!(
        names(&dir.resolve(&["w.index"]).await.unwrap()),
        ["a.000002"]
    );
    assert!(dir.error(&["empty.index"]).await.contains("lists no files"));
    assert!(
        dir.error(&["binary.index"])
            .await
            .contains("it is not text")
    );
    assert_eq!(
        names(&dir.resolve(&["log.index"]).await.unwrap()),
        ["log.index"]
    );
}

#[tokio::test]
async fn what_the_shell_makes_of_a_glob() {
    let dir = Dir::with(&[
        ("a.000002", LOG),
        ("a.000003", LOG),
        ("a.index", b"./a.000001\n./a.000002\n./a.000003\n"),
        ("a.state", b"0-1-7\n"),
    ]);
    let found = dir
        .resolve(&["a.000002", "a.000003", "a.index", "a.state"])
        .await
        .unwrap();
    assert_eq!(names(&found), ["a.000001", "a.000002", "a.000003"]);
    let rejected = found[0].rejected.as_ref().unwrap();
    assert!(
        rejected
            .message
            .contains("no such file, though it was listed")
    );
    assert!(found[1].rejected.is_none() && found[2].rejected.is_none());
}

#[tokio::test]
async fn each_file_once() {
    let dir = Dir::with(&[("a.000001", LOG), ("d/a.000001", LOG), ("d/a.000002", LOG)]);
    std::os::unix::fs::symlink(dir.at("a.000001"), dir.at("link")).unwrap();
    let found = dir
        .resolve(&["a.000001", "./a.000001", "d/../a.000001", "link", "a.0*"])
        .await
        .unwrap();
    assert_eq!(names(&found), ["a.000001"]);
    let found = dir.resolve(&["d", "a.000001"]).await.unwrap();
    assert_eq!(names(&found)[1..], ["d/a.000001", "a.000002"]);
    assert!(names(&found)[0].ends_with("/a.000001"));
}

#[tokio::test]
async fn missing_paths_say_what_is_near() {
    let dir = Dir::with(&[
        ("mysql-bin.000042", LOG),
        ("orders.sql", b"x"),
        ("mysql-bin.000100", LOG),
    ]);
    for (path, want) in [
        (
            "mysql-bin.000043",
            "DIR/mysql-bin.000043: no such file; did you mean mysql-bin.000042 or mysql-bin.000100?",
        ),
        (
            "msql-bin.000042",
            "DIR/msql-bin.000042: no such file; did you mean mysql-bin.000042?",
        ),
        ("nothing-like-it", "DIR/nothing-like-it: no such file"),
        (
            "logs/a.000001",
            "DIR/logs/a.000001: no such file: there is no directory DIR/logs",
        ),
        (
            "orders.sql/x",
            "DIR/orders.sql/x: no such file: there is no directory DIR/orders.sql",
        ),
    ] {
        assert_eq!(dir.error(&[path]).await, want);
    }
    let error = resolve_all(&["~/a.000001".to_owned()]).await.unwrap_err();
    assert!(error.to_string().contains("home directory"), "{error}");
    assert_eq!(error.kind(), ErrorKind::Source);
    assert!(
        resolve_all(&[])
            .await
            .unwrap_err()
            .to_string()
            .starts_with("no source")
    );
    assert!(
        resolve_all(&[String::new()])
            .await
            .unwrap_err()
            .to_string()
            .starts_with("an empty path")
    );
}

#[test]
fn no_permission_says_what_to_do() {
    let error = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
    let error = local::unreadable(&error).error("a.000001");
    assert_eq!(
        error.to_string(),
        "a.000001: no permission to read it; run as a user who has it (mysql, root), or copy the file"
    );
}

#[tokio::test]
async fn standard_input_and_pipes() {
    let dir = Dir::with(&[("a.000001", LOG)]);
    let resolver = resolver(std::io::Cursor::new(gzip(&log(1_000))));
    let found = resolve(&["-".into(), dir.at("a.000001"), "-".into()], &resolver)
        .await
        .unwrap();
    assert_eq!(names(&found), ["a.000001", "stdin"]);
    assert_eq!(
        (found[1].encoding, found[1].modified),
        (Encoding::Gzip, None)
    );
    // A second use reads what was kept.
    let again = resolve(&["-".into()], &resolver).await.unwrap();
    assert_eq!(again[0].size, found[1].size);
    assert!(again[0].rejected.is_none());

    let pipe = dir.at("pipe");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let writer = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::write(pipe, log(100_000)).unwrap()
    });
    let found = resolve_all(&[pipe]).await.unwrap();
    writer.join().unwrap();
    assert_eq!((names(&found), found[0].size), (vec!["pipe"], 100_000));
    assert!(matches!(found[0].location, Location::Spool(_)));

    let device = resolve_all(&["/dev/null".into()]).await.unwrap();
    assert!(
        device[0]
            .rejected
            .as_ref()
            .unwrap()
            .message
            .contains("a device")
    );
}

#[tokio::test]
async fn file_urls() {
    let dir = Dir::with(&[("a b.000001", LOG)]);
    let url = format!("file://{}", dir.at("a%20b.000001"));
    assert_eq!(names(&resolve_all(&[url]).await.unwrap()), ["a b.000001"]);
    let url = format!("FILE://localhost{}", dir.at("a%20b.*"));
    assert_eq!(names(&resolve_all(&[url]).await.unwrap()), ["a b.000001"]);
    for url in ["file://host/a", "file:///a%2", "file:///a%ff"] {
        assert_eq!(
            resolve_all(&[url.into()]).await.unwrap_err().kind(),
            ErrorKind::Invalid
        );
    }
    let error = resolve_all(&["s3://bucket/a".into()]).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "s3://bucket/a: a URL, but there is no object store to ask"
    );
}

async fn bucket(urls: &[&str]) -> Result<Vec<Segment>> {
    let store = InMemory::new();
    let archive = gzip(&log(50_000));
    for (path, bytes) in [
        ("logs/m.999999", LOG),
        ("logs/m.1000000", LOG),
        ("logs/m.000007.gz", &archive),
        ("logs/m.index", b"/var/lib/mysql/m.000007\n./m.999999\n"),
        ("logs/old.index", b"./m.000001\n"),
        ("logs/dump.sql", b"-- MySQL dump\n"),
        ("logs/empty", b""),
        ("logs/deep/m.000001", LOG),
        ("other/x", b"x"),
    ] {
        store
            .put(&path.into(), bytes.to_vec().into())
            .await
            .unwrap();
    }
    let store: Arc<dyn ObjectStore> = Arc::new(store);
    let stores = move |base: &str| match base {
        "s3://b" => Ok(Arc::clone(&store)),
        _ => Err(Error::invalid("no such bucket")),
    };
    let resolver = Resolver {
        stores: Some(Arc::new(stores)),
        ..resolver(std::io::empty())
    };
    let urls: Vec<String> = urls.iter().map(|url| (*url).to_owned()).collect();
    resolve(&urls, &resolver).await
}

#[tokio::test]
async fn object_stores() {
    let logs = ["m.000007", "m.999999", "m.1000000"];
    for url in [
        "s3://b/logs/",
        "s3://b/logs",
        "s3://b/logs/m.*",
        "s3://b/logs/m.[0-9]*",
    ] {
        assert_eq!(names(&bucket(&[url]).await.unwrap()), logs, "{url}");
    }
    assert_eq!(
        names(&bucket(&["s3://b/logs/m.index"]).await.unwrap()),
        logs[..2]
    );
    assert_eq!(
        names(&bucket(&["s3://b/logs/m.ind*"]).await.unwrap()),
        logs[..2]
    );
    let twice = bucket(&[
        "s3://b/logs/m.999999",
        "s3://b/logs/m.9*",
        "s3://b/logs/deep/",
    ])
    .await
    .unwrap();
    assert_eq!(names(&twice), ["m.000001", "m.999999"]);
    let one = &bucket(&["s3://b/logs/m.000007.gz"]).await.unwrap()[0];
    assert_eq!(
        (one.encoding, one.rejected.is_none()),
        (Encoding::Gzip, true)
    );
    assert_eq!(one.display_location(), "s3://b/logs/m.000007.gz");

    let bad = bucket(&["s3://b/logs/dump.sql", "s3://b/logs/empty"])
        .await
        .unwrap();
    assert_eq!(
        admit(bad, false).unwrap_err().to_string(),
        "dump.sql: not a binary log: this is text (an SQL dump) (and 1 more that cannot be read)"
    );
    for (url, want) in [
        (
            "s3://b/logs/m.999998",
            "s3://b/logs/m.999998: no such object; did you mean m.999999",
        ),
        ("s3://b/logs/z.*", "s3://b/logs/z.*: no object matches"),
        ("s3://b/l*/m.1", "only the last part of a URL can be a glob"),
        (
            "s3://b/other/",
            "none of the 1 objects here has a name like mysql-bin.000001",
        ),
        (
            "s3://b/logs/old.index",
            "lists 1 file that is not there: ./m.000001",
        ),
        ("s3://c/x", "s3://c/x: no such bucket"),
    ] {
        let error = bucket(&[url]).await.unwrap_err().to_string();
        assert!(error.contains(want), "{error}");
    }
}

#[test]
fn resolving_can_move_between_threads() {
    fn is_send(_: &impl Send) {}
    let resolver = resolver(std::io::empty());
    is_send(&resolve(&[], &resolver));
}
