-- question: Who deleted rows: by which statement, in which transaction, on which connection?
-- params:   $table text = null, $key text = null
-- reads:    changes (DELETE)       cost: rows events of the table, and the keys of their rows
-- see:      row-history.sql
--
-- $table is shop.orders or orders; $key is the primary key: its value (4, ada), or all of it as JSON
-- ({"order_id":1,"line":2}). The statement is in the log with binlog_rows_query_log_events of MySQL,
-- binlog_annotate_row_events of MariaDB. TRUNCATE and DROP are no changes of rows: see ddl-history.sql.
select
  timestamp,
  schema_name,
  table_name,
  key,
  gtid,
  server_id,
  thread_id,
  query,
  before,
  file,
  pos,
  row_index
from changes
where op = 'DELETE'
  and ($table is null or $table in (table_name, concat(schema_name, '.', table_name)))
  and ($key is null or $key in (key, regexp_replace(key, '^\{"[^"]*":"?(.*?)"?\}$', '$1')))
order by file, pos, payload_index, row_index
