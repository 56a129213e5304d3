-- question: Which columns do updates really change, and how often?
-- params:   $table text = null, $limit integer = 50
-- reads:    changes (UPDATE)       cost: rows events of the table; all values are compared
-- see:      hottest-tables.sql
--
-- $table is shop.orders or orders. An UPDATE that sets a column to the value that it has already does
-- not change it. updates counts those of the table, times_changed those that changed the column.
with updates as (
  select schema_name, table_name, changed
  from changes
  where op = 'UPDATE'
    and ($table is null or $table in (table_name, concat(schema_name, '.', table_name)))
),
totals as (
  select schema_name, table_name, count(*) as updates
  from updates
  group by schema_name, table_name
),
columns_changed as (
  select schema_name, table_name, unnest(changed) as column_name
  from updates
)
select
  c.schema_name,
  c.table_name,
  c.column_name,
  count(*) as times_changed,
  t.updates
from columns_changed c
join totals t on t.schema_name = c.schema_name and t.table_name = c.table_name
group by c.schema_name, c.table_name, c.column_name, t.updates
order by times_changed desc, c.schema_name, c.table_name, c.column_name
limit $limit
