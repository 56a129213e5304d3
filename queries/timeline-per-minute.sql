-- question: How much was written in each minute: transactions, row changes, bytes?
-- params:   $since timestamp = null, $until timestamp = null
-- reads:    binlog                 cost: event headers; compressed transactions are unpacked
-- see:      biggest-transactions.sql
--
-- A transaction counts in the minute of its first event. Minutes without events are left out.
select
  date_trunc('minute', timestamp) as minute,
  count(*) as events,
  count(*) filter (where pos = tx_pos and payload_index is null) as transactions,
  sum(row_count) as row_changes,
  sum(size) filter (where payload_index is null) as bytes
from binlog
where timestamp is not null
  and ($since is null or timestamp >= $since)
  and ($until is null or timestamp < $until)
group by 1
order by 1
