-- question: Which GTIDs does each file hold, and are numbers missing in between?
-- params:   none
-- reads:    binlog                 cost: event headers and GTID events
-- see:      biggest-transactions.sql
--
-- gtid_source is all of a GTID but its number: server UUID (and tag), or MariaDB's domain and server.
-- Numbers missing here may stand in another file: gaps are normal where sources are interleaved.
with transactions as (
  select
    file,
    regexp_match(gtid, '^(.*)[:-]([0-9]+)$') as parts
  from binlog
  where pos = tx_pos and payload_index is null and gtid is not null
),
numbered as (
  select file, parts[1] as gtid_source, cast(parts[2] as bigint unsigned) as number
  from transactions
)
select
  file,
  gtid_source,
  min(number) as first,
  max(number) as last,
  count(distinct number) as transactions,
  max(number) - min(number) + 1 - count(distinct number) as missing
from numbered
group by file, gtid_source
order by file, gtid_source
