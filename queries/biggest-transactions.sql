-- question: Which transactions take the most bytes of the log?
-- params:   $limit integer = 20
-- reads:    binlog                 cost: event headers and GTID events; compressed ones are unpacked
-- see:      timeline-per-minute.sql
--
-- Bytes are those in the file: a compressed transaction counts as it is stored.
select
  file,
  tx_pos,
  min(gtid) as gtid,
  sum(size) filter (where payload_index is null) as bytes,
  count(*) as events,
  sum(row_count) as row_changes,
  min(timestamp) as first_event,
  max(timestamp) as last_event
from binlog
where tx_pos is not null
group by file, tx_pos
order by bytes desc, file, tx_pos
limit $limit
