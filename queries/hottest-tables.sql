-- question: Which tables change most: rows inserted, updated, deleted, and in how many transactions?
-- params:   $since timestamp = null, $until timestamp = null, $limit integer = 20
-- reads:    changes                cost: rows events, whose rows are counted and not decoded
-- see:      hottest-columns.sql, biggest-statements.sql
select
  schema_name,
  table_name,
  count(*) as changes,
  count(*) filter (where op = 'INSERT') as inserted,
  count(*) filter (where op = 'UPDATE') as updated,
  count(*) filter (where op = 'DELETE') as deleted,
  count(distinct concat(file, ' ', tx_pos)) as transactions,
  min(timestamp) as first_change,
  max(timestamp) as last_change
from changes
where ($since is null or timestamp >= $since)
  and ($until is null or timestamp < $until)
group by schema_name, table_name
order by changes desc, schema_name, table_name
limit $limit
