-- question: Which statements changed schemas, tables or accounts, when, and on which connection?
-- params:   $schema text = null
-- reads:    binlog (QUERY)         cost: event headers, bodies of QUERY events
-- see:      statements-by-schema.sql
--
-- $schema is the default schema of the connection, which a statement may have overridden.
select
  timestamp,
  schema_name,
  query,
  gtid,
  server_id,
  thread_id,
  error_code,
  file,
  pos
from binlog
where type in ('QUERY', 'QUERY_COMPRESSED')
  and ($schema is null or schema_name = $schema)
  and regexp_like(
    query,
    '^(\s|/\*.*?\*/|--[^\n]*\n|#[^\n]*\n)*(create|alter|drop|rename|truncate|grant|revoke)\b',
    'is'
  )
order by file, pos, payload_index
