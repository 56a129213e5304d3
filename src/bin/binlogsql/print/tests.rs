use std::sync::Arc;

use datafusion::arrow::array::*;
use datafusion::arrow::datatypes::*;

use super::*;

/// One row of plain values and one of awkward ones, then one of NULLs.
fn batch() -> RecordBatch {
    let labels: DictionaryArray<UInt8Type> =
        [Some("QUERY"), Some("A|B"), None].into_iter().collect();
    let times = TimestampMicrosecondArray::from(vec![
        Some(1_413_188_990_000_000),
        Some(1_413_188_990_120_000),
        None,
    ]);
    let local = times.clone();
    let decimals = Decimal128Array::from(vec![Some(12345), Some(-5), None]);
    let columns: [(&str, ArrayRef); 7] = [
        (
            "n",
            Arc::new(UInt64Array::from(vec![Some(7), Some(u64::MAX), None])),
        ),
        ("label", Arc::new(labels)),
        ("utc", Arc::new(times.with_timezone("UTC"))),
        ("local", Arc::new(local)),
        (
            "price",
            Arc::new(decimals.with_precision_and_scale(10, 2).unwrap()),
        ),
        (
            "text",
            Arc::new(StringViewArray::from(vec![
                Some(""),
                Some("a\tb\n\"c\",\\ \u{1b}[31m<日>"),
                None,
            ])),
        ),
        (
            "bytes",
            Arc::new(BinaryViewArray::from(vec![
                Some(&b""[..]),
                Some(b"\x00\xffz"),
                None,
            ])),
        ),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true)))
        .unwrap()
}

fn printed(format: Format, layout: Layout, batches: &[RecordBatch]) -> String {
    let schema = batches[0].schema();
    let mut printer = printer(format, &schema, layout);
    let mut out = Vec::new();
    for batch in batches {
        printer.batch(&mut out, batch).unwrap();
    }
    printer.finish(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn plain(format: Format) -> String {
    printed(format, Layout::default(), &[batch()])
}

#[test]
fn table() {
    assert_eq!(
        plain(Format::Table),
        r#"+----------------------+-------+-------------------------+-------------------------+--------+--------------------------+----------+
|                    n | label | utc                     | local                   |  price | text                     | bytes    |
+----------------------+-------+-------------------------+-------------------------+--------+--------------------------+----------+
|                    7 | QUERY | 2014-10-13 08:29:50     | 2014-10-13 08:29:50     | 123.45 |                          | 0x       |
| 18446744073709551615 | A|B   | 2014-10-13 08:29:50.120 | 2014-10-13 08:29:50.120 |  -0.05 | a\tb\n"c",\ \x1b[31m<日> | 0x00ff7a |
|                 NULL | NULL  | NULL                    | NULL                    |   NULL | NULL                     | NULL     |
+----------------------+-------+-------------------------+-------------------------+--------+--------------------------+----------+
"#
    );
}

#[test]
fn csv_tells_null_from_the_empty_text() {
    assert_eq!(
        plain(Format::Csv),
        "n,label,utc,local,price,text,bytes\n\
         7,QUERY,2014-10-13 08:29:50,2014-10-13 08:29:50,123.45,\"\",0x\n\
         18446744073709551615,A|B,2014-10-13 08:29:50.120,2014-10-13 08:29:50.120,-0.05,\
         \"a\tb\n\"\"c\"\",\\ \u{1b}[31m<日>\",0x00ff7a\n\
         ,,,,,,\n"
    );
}

#[test]
fn tsv_escapes_like_mysql() {
    assert_eq!(
        plain(Format::Tsv),
        "n\tlabel\tutc\tlocal\tprice\ttext\tbytes\n\
         7\tQUERY\t2014-10-13 08:29:50\t2014-10-13 08:29:50\t123.45\t\t0x\n\
         18446744073709551615\tA|B\t2014-10-13 08:29:50.120\t2014-10-13 08:29:50.120\t-0.05\t\
         a\\tb\\n\"c\",\\\\ \u{1b}[31m<日>\t0x00ff7a\n\
         \\N\t\\N\t\\N\t\\N\t\\N\t\\N\t\\N\n"
    );
}

#[test]
fn json_keeps_digits_and_nulls() {
    let rows = [
        "{\"n\":7,\"label\":\"QUERY\",\"utc\":\"2014-10-13T08:29:50Z\",\"local\":\"2014-10-13T08:29:50\",\
         \"price\":123.45,\"text\":\"\",\"bytes\":\"\"}",
        "{\"n\":18446744073709551615,\"label\":\"A|B\",\"utc\":\"2014-10-13T08:29:50.120Z\",\
         \"local\":\"2014-10-13T08:29:50.120\",\"price\":-0.05,\
         \"text\":\"a\\tb\\n\\\"c\\\",\\\\ \\u001b[31m<日>\",\"bytes\":\"00ff7a\"}",
        "{\"n\":null,\"label\":null,\"utc\":null,\"local\":null,\"price\":null,\"text\":null,\"bytes\":null}",
    ];
    assert_eq!(plain(Format::Ndjson), format!("{}\n", rows.join("\n")));
    assert_eq!(plain(Format::Json), format!("[\n{}\n]\n", rows.join(",\n")));
}

#[test]
fn json_joins_batches_and_closes_an_empty_array() {
    let rows = batch();
    let batches = [rows.slice(0, 0), rows.slice(2, 1), rows.slice(2, 1)];
    let text = printed(Format::Json, Layout::default(), &batches);
    assert_eq!(text.matches(",\n").count(), 1, "{text}");
    assert!(
        text.starts_with("[\n{") && text.ends_with("}\n]\n"),
        "{text}"
    );
    assert_eq!(
        printed(Format::Json, Layout::default(), &batches[..1]),
        "[]\n"
    );
    assert_eq!(
        printed(Format::Ndjson, Layout::default(), &batches[..1]),
        ""
    );
}

#[test]
fn markdown_keeps_a_row_on_its_line() {
    assert_eq!(
        plain(Format::Markdown),
        "| n | label | utc | local | price | text | bytes |\n\
         | ---: | --- | --- | --- | ---: | --- | --- |\n\
         | 7 | QUERY | 2014-10-13 08:29:50 | 2014-10-13 08:29:50 | 123.45 |  | 0x |\n\
         | 18446744073709551615 | A\\|B | 2014-10-13 08:29:50.120 | 2014-10-13 08:29:50.120 | -0.05 \
         | a\\tb<br>\"c\",\\ \\x1b[31m&lt;日> | 0x00ff7a |\n\
         | NULL | NULL | NULL | NULL | NULL | NULL | NULL |\n"
    );
}

#[test]
fn vertical_indents_the_lines_of_a_text() {
    let text = plain(Format::Vertical);
    let stars = "*".repeat(27);
    assert!(
        text.starts_with(&format!("{stars} 1. row {stars}\n    n: 7\nlabel: QUERY\n")),
        "{text}"
    );
    assert!(
        text.contains("\n text: a\tb\n       \"c\",\\ \\x1b[31m<日>\nbytes: 0x00ff7a\n"),
        "{text}"
    );
    assert!(text.ends_with("bytes: NULL\n"), "{text}");
}

#[test]
fn a_result_without_rows_has_its_header() {
    let none = [batch().slice(0, 0)];
    let print = |format| printed(format, Layout::default(), &none);
    assert_eq!(print(Format::Table).lines().count(), 4);
    assert_eq!(print(Format::Csv), "n,label,utc,local,price,text,bytes\n");
    assert_eq!(print(Format::Tsv).lines().count(), 1);
    assert_eq!(print(Format::Markdown).lines().count(), 2);
    assert_eq!(print(Format::Vertical), "");
}

#[test]
fn values_are_cut_on_a_terminal_only() {
    let text: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(500)]));
    let number: ArrayRef = Arc::new(Int32Array::from(vec![42]));
    let batch = RecordBatch::try_from_iter([("n", number), ("text", text)]).unwrap();
    let terminal = Layout {
        width: Some(40),
        explicit: false,
    };
    let cut = printed(Format::Table, terminal, std::slice::from_ref(&batch));
    assert!(cut.lines().all(|line| line.chars().count() == 40), "{cut}");
    assert!(
        cut.contains(&format!("| 42 | {}… |", "x".repeat(30))),
        "{cut}"
    );
    let whole = printed(Format::Table, Layout::default(), &[batch]);
    assert!(whole.contains(&"x".repeat(500)));
}

#[test]
fn a_table_too_wide_for_the_terminal_turns_vertical_unless_asked_for() {
    let terminal = |explicit| Layout {
        width: Some(50),
        explicit,
    };
    assert_eq!(
        printed(Format::Table, terminal(false), &[batch()]),
        plain(Format::Vertical)
    );
    let table = printed(Format::Table, terminal(true), &[batch()]);
    assert!(table.starts_with("+--------+"), "{table}");
}

#[test]
fn widths_come_from_the_first_rows_and_later_ones_are_not_lost() {
    let of = |text: &str, rows: usize| {
        let column: ArrayRef = Arc::new(StringArray::from(vec![text; rows]));
        RecordBatch::try_from_iter([("text", column)]).unwrap()
    };
    let batches = [of("short", 999), of("longer", 1), of("much longer", 1)];
    let schema = batches[0].schema();
    let mut table = printer(Format::Table, &schema, Layout::default());
    let mut out = Vec::new();
    table.batch(&mut out, &batches[0]).unwrap();
    assert!(out.is_empty(), "the sample is not complete");
    table.batch(&mut out, &batches[1]).unwrap();
    assert_eq!(String::from_utf8_lossy(&out).lines().count(), 1003);
    table.batch(&mut out, &batches[2]).unwrap();
    table.finish(&mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.contains("| short  |\n") && text.contains("| longer |\n"));
    assert!(text.ends_with("| much longer |\n+--------+\n"), "{text}");
}

#[test]
fn a_plan_is_printed_as_it_is() {
    let kind: ArrayRef = Arc::new(StringArray::from(vec!["logical_plan"]));
    let plan: ArrayRef = Arc::new(StringArray::from(vec!["Projection: a\n  TableScan: b"]));
    let batch = RecordBatch::try_from_iter([("plan_type", kind), ("plan", plan)]).unwrap();
    assert_eq!(
        printed(Format::Table, Layout::default(), &[batch]),
        "logical_plan:\n  Projection: a\n    TableScan: b\n"
    );
}

#[test]
fn file_names_and_formats() {
    let of = |name: &str| Format::of_file(Path::new(name));
    assert_eq!(of("a/x.CSV"), Some(Format::Csv));
    assert_eq!(of("x.tsv"), Some(Format::Tsv));
    assert_eq!(of("x.json"), Some(Format::Json));
    assert_eq!(of("x.jsonl"), Some(Format::Ndjson));
    assert_eq!(of("x.md"), Some(Format::Markdown));
    assert_eq!(of("x.parquet"), Some(Format::Parquet));
    assert_eq!(of("mysql-bin.000001"), None);
    assert_eq!(of("x"), None);
    assert_eq!(Format::Ndjson.name(), "ndjson");
}
