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

/// One row of what the relations of tables have beside plain values.
fn row_of_a_table() -> RecordBatch {
    let uuid = hex(b"01890a5dac96774bbcceb302099a8057");
    let bytes = FixedSizeBinaryArray::try_from_iter([uuid].into_iter()).unwrap();
    let labels: DictionaryArray<UInt16Type> = [Some("new")].into_iter().collect();
    let wide = Decimal256Array::from(vec![i256::from_i128(-12345)]);
    let wide = wide.with_precision_and_scale(65, 30).unwrap();
    let span = DurationMicrosecondArray::from(vec![-3_020_399_000_001]);
    let mut names = ListBuilder::new(StringBuilder::new());
    names.append_value([Some("a, b"), Some("c")]);
    let uuid_field = |name| {
        let extension = ("ARROW:extension:name".to_owned(), "arrow.uuid".to_owned());
        let field = Field::new(name, DataType::FixedSizeBinary(16), true);
        Arc::new(field.with_metadata([extension].into()))
    };
    let span_field = Field::new("span", span.data_type().clone(), true);
    let label_field = Field::new("label", labels.data_type().clone(), true);
    let before = StructArray::from(vec![
        (uuid_field("id"), Arc::new(bytes.clone()) as ArrayRef),
        (Arc::new(span_field.clone()), Arc::new(span.clone()) as _),
        (Arc::new(label_field), Arc::new(labels.clone()) as _),
        (
            Arc::new(Field::new("note", DataType::Utf8View, true)),
            Arc::new(StringViewArray::new_null(1)) as _,
        ),
    ]);
    let field = |name: &str, array: &dyn Array| Field::new(name, array.data_type().clone(), true);
    let names = names.finish();
    let schema = Schema::new(vec![
        uuid_field("id"),
        Arc::new(span_field),
        Arc::new(field("wide", &wide)),
        Arc::new(field("names", &names)),
        Arc::new(field("before", &before)),
    ]);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(bytes),
        Arc::new(span),
        Arc::new(wide),
        Arc::new(names),
        Arc::new(before),
    ];
    RecordBatch::try_new(Arc::new(schema), columns).unwrap()
}

fn hex(digits: &[u8]) -> Vec<u8> {
    let digit = |c: u8| char::from(c).to_digit(16).unwrap() as u8;
    digits
        .chunks(2)
        .map(|c| digit(c[0]) * 16 + digit(c[1]))
        .collect()
}

#[test]
fn values_of_tables_are_shown_as_servers_do() {
    let print = |format| printed(format, Layout::default(), &[row_of_a_table()]);
    let uuid = "01890a5d-ac96-774b-bcce-b302099a8057";
    let span = "-838:59:59.000001";
    let wide = "-0.000000000000000000000000012345";
    let plain = format!("{{id: {uuid}, span: {span}, label: new, note: NULL}}");
    let json = format!(r#"{{"id":"{uuid}","span":"{span}","label":"new","note":null}}"#);
    let eyes = [uuid, span, wide, "[a, b, c]", &plain];
    for (format, between) in [(Format::Table, " | "), (Format::Markdown, " | ")] {
        let text = print(format);
        let line = text.lines().find(|line| line.contains(uuid)).unwrap();
        assert_eq!(line, format!("| {} |", eyes.join(between)));
    }
    let vertical = print(Format::Vertical);
    for value in eyes {
        assert!(vertical.contains(&format!(": {value}\n")), "{vertical}");
    }
    assert_eq!(
        print(Format::Tsv).lines().nth(1).unwrap(),
        [uuid, span, wide, r#"["a, b","c"]"#, &json].join("\t")
    );
    let doubled = |json: &str| format!("\"{}\"", json.replace('"', "\"\""));
    assert_eq!(
        print(Format::Csv).lines().nth(1).unwrap(),
        [
            uuid,
            span,
            wide,
            &doubled(r#"["a, b","c"]"#),
            &doubled(&json)
        ]
        .join(",")
    );
    assert_eq!(
        print(Format::Ndjson),
        format!(
            "{{\"id\":\"{uuid}\",\"span\":\"{span}\",\"wide\":{wide},\
             \"names\":[\"a, b\",\"c\"],\"before\":{json}}}\n"
        )
    );
}

#[test]
fn spans_of_time() {
    let spans = |unit: &str, values: Vec<i64>| {
        let array: ArrayRef = match unit {
            "s" => Arc::new(DurationSecondArray::from(values)),
            "ms" => Arc::new(DurationMillisecondArray::from(values)),
            "ns" => Arc::new(DurationNanosecondArray::from(values)),
            _ => Arc::new(DurationMicrosecondArray::from(values)),
        };
        let batch = RecordBatch::try_from_iter([("t", array)]).unwrap();
        let text = printed(Format::Csv, Layout::default(), &[batch]);
        text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        spans(
            "us",
            vec![0, 63_000_000_000, -1, 3_020_399_000_000, 500_000]
        ),
        [
            "00:00:00",
            "17:30:00",
            "-00:00:00.000001",
            "838:59:59",
            "00:00:00.500000"
        ]
    );
    assert_eq!(spans("s", vec![360_000]), ["100:00:00"]);
    assert_eq!(spans("ms", vec![-61_001]), ["-00:01:01.001"]);
    assert_eq!(spans("ns", vec![i64::MIN]), ["-2562047:47:16.854775808"]);
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
