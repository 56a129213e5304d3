-- question: What happened to one row, from its INSERT on?
-- params:   $table text, $key text
-- reads:    changes                cost: rows events of the table, and the keys of their rows
-- see:      who-deleted.sql
--
-- $table is shop.orders or orders; $key is the primary key: its value (4, ada), or all of it as JSON
-- ({"order_id":1,"line":2}). An UPDATE that changes the key stands under the key before it.
select
  timestamp,
  op,
  key,
  changed,
  before,
  after,
  gtid,
  thread_id,
  query,
  file,
  pos,
  row_index
from changes
where $table in (table_name, concat(schema_name, '.', table_name))
  and $key in (key, regexp_replace(key, '^\{"[^"]*":"?(.*?)"?\}$', '$1'))
order by file, pos, payload_index, row_index
