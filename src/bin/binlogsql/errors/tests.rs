use std::sync::Arc;

use datafusion::arrow::array::{StringArray, UInt64Array};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::prelude::SessionContext;

use super::*;

/// Runs a statement on a session with one relation and gives the text of its error.
async fn error_of(sql: &str) -> String {
    let context = SessionContext::new();
    let batch = RecordBatch::try_from_iter([
        ("file", Arc::new(StringArray::from(vec!["x"])) as _),
        ("pos", Arc::new(UInt64Array::from(vec![4])) as _),
        ("type", Arc::new(StringArray::from(vec!["QUERY"])) as _),
    ]);
    context.register_batch("binlog", batch.unwrap()).unwrap();
    let result = match context.sql(sql).await {
        Ok(frame) => frame.collect().await.map(|_| ()),
        Err(error) => Err(error),
    };
    let hints = Hints {
        sql,
        line: 1,
        relations: &|_| vec!["binlog".to_owned()],
        functions: vec![
            "cot".to_owned(),
            "count".to_owned(),
            "row_number".to_owned(),
        ],
        home: "datafusion.public.".to_owned(),
    };
    Failure::from(result.unwrap_err()).text(&hints)
}

#[tokio::test]
async fn misspelt_column_gets_candidates() {
    assert_eq!(
        error_of("select tpye from binlog").await,
        "no column 'tpye'; did you mean 'type'?\ncolumns: file, pos, type"
    );
    assert_eq!(
        error_of("select flavour from binlog").await,
        "no column 'flavour'\ncolumns: file, pos, type"
    );
    assert_eq!(
        error_of("select binlog.tpye from binlog").await,
        "no column 'binlog.tpye'; did you mean 'type'?\ncolumns: file, pos, type"
    );
    assert_eq!(
        error_of("select x.type from binlog").await,
        "no column 'x.type': 'x' is not in the FROM clause"
    );
    assert_eq!(
        error_of("select a.tpye from binlog a, (select 1 as one) b").await,
        "no column 'a.tpye'; did you mean 'type'?\ncolumns: file, pos, type"
    );
}

#[tokio::test]
async fn a_column_with_capitals_is_shown_in_its_quotes() {
    assert_eq!(
        error_of("select Name from (select 1 as \"Name\")").await,
        "no column 'name'; did you mean \"Name\"? Capitals count in double quotes only\n\
         columns: \"Name\""
    );
    assert_eq!(
        error_of("select nmae from (select 1 as \"Name\")").await,
        "no column 'nmae'; did you mean \"Name\"?\ncolumns: \"Name\""
    );
}

#[tokio::test]
async fn ambiguous_and_doubled_columns() {
    assert_eq!(
        error_of("select type from binlog a, binlog b").await,
        "column 'type' is ambiguous: write which relation's, as in x.type"
    );
    assert_eq!(
        error_of("select pos as a, type as a from binlog").await,
        "two columns are called 'a': rename one with AS"
    );
}

#[tokio::test]
async fn unknown_relation_gets_candidates() {
    assert_eq!(
        error_of("select * from binlgo").await,
        "no relation 'binlgo'; did you mean 'binlog'?\nrelations: binlog"
    );
    assert_eq!(
        error_of("select * from 'mysql-bin.000001'").await,
        "no relation or file 'mysql-bin.000001'\nrelations: binlog"
    );
    assert_eq!(
        error_of("select * from shop.orders").await,
        "no relation 'shop.orders'\nrelations: binlog"
    );
    let hints = Hints {
        home: "datafusion.public.".to_owned(),
        ..Hints::default()
    };
    let error = DataFusionError::Plan("table 'datafusion.public.binlog' not found".to_owned());
    assert_eq!(
        describe(&error, &hints),
        "no relation 'binlog'\n\
         no source is open: name one, as in binlogsql mysql-bin.000001"
    );
}

#[tokio::test]
async fn syntax_error_shows_the_place() {
    assert_eq!(
        error_of("select *\nfrom binlog\nwhere type = = 'QUERY'").await,
        "syntax error at line 3, column 14: expected an expression, found =\n  \
         where type = = 'QUERY'\n               ^"
    );
    assert_eq!(
        error_of("selct 1").await,
        "syntax error at line 1, column 1: expected an SQL statement, found selct\n  selct 1\n  ^"
    );
    assert_eq!(
        error_of("select * from").await,
        "syntax error: expected identifier, but the statement ends"
    );
    let unclosed = error_of("select 'abc").await;
    assert!(
        unclosed.starts_with("syntax error at line 1, column 8: "),
        "{unclosed}"
    );
}

#[test]
fn a_syntax_error_counts_lines_from_the_top_of_the_script() {
    let error = DataFusionError::SQL(
        Box::new(ParserError::ParserError(
            "Expected: x, found: y at Line: 2, Column: 3".to_owned(),
        )),
        None,
    );
    let hints = Hints {
        sql: "select\n\t日 y",
        line: 10,
        ..Hints::default()
    };
    assert_eq!(
        describe(&error, &hints),
        "syntax error at line 11, column 3: expected x, found y\n   日 y\n     ^"
    );
}

#[test]
fn long_lines_are_cut_around_the_place() {
    let line = format!("{}here{}", "a".repeat(500), "b".repeat(500));
    let (shown, mark) = excerpt(&line, 501);
    assert_eq!(shown.chars().count(), 76);
    assert_eq!(&shown[mark.len()..mark.len() + 4], "here");
    assert_eq!(excerpt("ab", 9), ("ab".to_owned(), "  ".to_owned()));
}

#[tokio::test]
async fn unknown_function_and_wrong_arguments() {
    assert_eq!(
        error_of("select cuont(*) from binlog").await,
        "no function 'cuont'; did you mean 'count'?"
    );
    assert_eq!(
        error_of("select row_number() from binlog").await,
        "row_number is a window function: write row_number(…) over (…)"
    );
    let text = error_of("select sum(type) from binlog").await;
    assert!(!text.contains('\t') && text.lines().count() <= 2, "{text}");
    assert!(text.contains("sum"), "{text}");
}

#[tokio::test]
async fn values_out_of_range() {
    let text = error_of("select cast(type as int) from binlog").await;
    assert_eq!(text, "Cannot cast string 'QUERY' to value of Int32 type");
    assert_eq!(
        error_of("select pos / (pos - pos) from binlog").await,
        "division by zero"
    );
}

#[tokio::test]
async fn planning_error_has_no_prefix() {
    assert_eq!(
        error_of("select type, count(*) from binlog group by pos").await,
        "column 'binlog.type' must be in GROUP BY or inside an aggregate function"
    );
    let text = error_of("select (select pos from binlog) + (select 1, 2)").await;
    assert!(!text.contains("Error during planning"), "{text}");
    assert!(text.lines().count() <= 2, "{text}");
    assert_eq!(
        error_of("create external table t stored as foo location 'x'").await,
        "no file format FOO"
    );
}

#[test]
fn errors_of_the_log_stay_as_they_are() {
    let of_log = datafusion_binlog::Error::corrupt("bad length")
        .in_event(1337, "QUERY")
        .in_file("mysql-bin.000042");
    let wrapped = DataFusionError::Context(
        "planning".to_owned(),
        Box::new(DataFusionError::ArrowError(
            Box::new(ArrowError::ExternalError(Box::new(
                DataFusionError::External(Box::new(of_log)),
            ))),
            None,
        )),
    );
    assert_eq!(
        describe(&wrapped, &Hints::default()),
        "mysql-bin.000042 @ 1337, QUERY: bad length"
    );
}

#[test]
fn system_errors_lose_their_number() {
    let error = io::Error::from_raw_os_error(2);
    assert_eq!(plain_io(&error), "no such file or directory");
    let failure = Failure::from(io::Error::from_raw_os_error(28));
    assert_eq!(
        failure.text(&Hints::default()),
        "cannot write results: no space left on device"
    );
    assert_eq!(plain_io(&io::Error::other("UTF-8 it is")), "UTF-8 it is");
}

#[test]
fn internal_errors_are_one_line() {
    let error = DataFusionError::Internal(
        "x is y.\u{20}This issue was likely caused by a bug in DataFusion's code.\nmore".to_owned(),
    );
    assert_eq!(
        describe(&error, &Hints::default()),
        "internal error, please report it: x is y"
    );
    let error = DataFusionError::Plan(format!("a\nb{}c", DataFusionError::BACK_TRACE_SEP));
    assert_eq!(describe(&error, &Hints::default()), "a");
    let error = DataFusionError::ResourcesExhausted(
        "Failed to allocate additional 10.0 MB for ExternalSorterMerge[0] with 0.0 B".to_owned(),
    );
    assert_eq!(
        describe(&error, &Hints::default()),
        "out of memory: 10.0 MB more are wanted; see --memory-limit"
    );
    let error = DataFusionError::ResourcesExhausted("no room.\nmore".to_owned());
    assert_eq!(
        describe(&error, &Hints::default()),
        "out of memory: no room; see --memory-limit"
    );
}

#[test]
fn a_closed_pipe_is_seen_through_its_wrappings() {
    let pipe = || io::Error::from(io::ErrorKind::BrokenPipe);
    let wrapped = [
        DataFusionError::IoError(pipe()),
        DataFusionError::External(Box::new(io::Error::other(pipe()))),
        DataFusionError::ArrowError(Box::new(ArrowError::IoError("x".to_owned(), pipe())), None),
    ];
    for error in wrapped {
        assert!(matches!(Failure::from(error), Failure::Closed));
    }
    assert!(matches!(Failure::from(pipe()), Failure::Closed));
    let other = DataFusionError::IoError(io::Error::from_raw_os_error(28));
    assert!(matches!(Failure::from(other), Failure::Query(_)));
}
