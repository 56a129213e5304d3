-- question: Which kinds of statement does each schema log, and how many?
-- params:   none
-- reads:    binlog (QUERY)         cost: event headers, bodies of QUERY events
-- see:      ddl-history.sql, event-mix.sql
--
-- Row changes are no statements: a transaction in row format shows here as its BEGIN only, which
-- is left out. The kind is the first word behind any comments.
select
  schema_name,
  upper(
    coalesce(
      regexp_match(query, '^(?:\s|/\*.*?\*/|--[^\n]*\n|#[^\n]*\n)*([a-z]+)', 'is')[1],
      ''
    )
  ) as statement,
  count(*) as statements,
  sum(size) as bytes,
  sum(exec_time) as exec_seconds,
  count(*) filter (where error_code <> 0) as with_error,
  min(timestamp) as first_seen,
  max(timestamp) as last_seen
from binlog
where type in ('QUERY', 'QUERY_COMPRESSED', 'EXECUTE_LOAD_QUERY')
  and query not in ('BEGIN', 'COMMIT', 'ROLLBACK')
group by 1, 2
order by statements desc, schema_name, statement
