-- question: What is the log made of: how many events of each type, and how many bytes?
-- params:   none
-- reads:    binlog                 cost: event headers; compressed transactions are unpacked
-- see:      timeline-per-minute.sql
--
-- Events inside a compressed transaction have no bytes of their own in the file: theirs are
-- counted as unpacked_bytes, those of the file belong to TRANSACTION_PAYLOAD.
select
  type,
  count(*) as events,
  sum(case when payload_index is null then size else 0 end) as file_bytes,
  round(
    100.0 * sum(case when payload_index is null then size else 0 end)
      / sum(sum(case when payload_index is null then size else 0 end)) over (),
    1
  ) as percent,
  sum(case when payload_index is not null then size else 0 end) as unpacked_bytes,
  min(timestamp) as first_seen,
  max(timestamp) as last_seen
from binlog
group by type
order by file_bytes desc, events desc, type
