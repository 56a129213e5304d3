-- question: Which tables with row changes have no primary key, so that replicas search for each row?
-- params:   none
-- reads:    tables, changes        cost: rows events, whose rows are counted and not decoded
-- see:      hottest-tables.sql
--
-- Tables of which the log does not tell the key (tables.name_source is none) are left out: a file of
-- CREATE TABLE statements, --schema dump.sql, tells it. UPDATE and DELETE are what is slow.
with newest as (
  select
    schema_name,
    table_name,
    primary_key,
    name_source,
    row_number() over (partition by schema_name, table_name order by version desc) as age
  from tables
)
select
  n.schema_name,
  n.table_name,
  n.name_source,
  count(*) filter (where c.op = 'INSERT') as inserted,
  count(*) filter (where c.op = 'UPDATE') as updated,
  count(*) filter (where c.op = 'DELETE') as deleted
from newest n
join changes c on c.schema_name = n.schema_name and c.table_name = n.table_name
where n.age = 1 and n.primary_key is null and n.name_source <> 'none'
group by n.schema_name, n.table_name, n.name_source
order by updated + deleted desc, n.schema_name, n.table_name
