-- question: Which statements changed the most rows?
-- params:   $table text = null, $limit integer = 20
-- reads:    changes                cost: rows events, whose rows are counted and not decoded
-- see:      biggest-transactions.sql, hottest-tables.sql
--
-- $table is shop.orders or orders. Where the log has no statements (see who-deleted.sql), the changes
-- of one kind that a transaction made to a table count as one.
select
  count(*) as changes,
  op,
  schema_name,
  table_name,
  query,
  min(timestamp) as timestamp,
  min(gtid) as gtid,
  min(thread_id) as thread_id,
  file,
  tx_pos
from changes
where $table is null or $table in (table_name, concat(schema_name, '.', table_name))
group by file, tx_pos, schema_name, table_name, op, query
order by changes desc, file, tx_pos, schema_name, table_name, op
limit $limit
