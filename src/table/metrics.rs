//! What a scan counts; EXPLAIN ANALYZE shows it.

use datafusion::physical_plan::metrics::{Count, ExecutionPlanMetricsSet, MetricBuilder};

/// Counters of one partition.
#[derive(Debug, Clone)]
pub(super) struct ScanMetrics {
    /// Stored bytes read (hopped-over bytes are not).
    pub bytes_read: Count,
    /// Events dropped on their header.
    pub events_skipped: Count,
    /// Events that became candidates: their columns were looked at.
    pub events_decoded: Count,
    /// Rows that were located, and left out for a value in them.
    pub rows_skipped: Count,
    /// Files that were not opened, or not read past their head.
    pub files_skipped: Count,
    /// Problems met, of any severity.
    pub problems: Count,
}

impl ScanMetrics {
    pub fn new(set: &ExecutionPlanMetricsSet, partition: usize) -> Self {
        let counter = |name: &'static str| MetricBuilder::new(set).counter(name, partition);
        Self {
            bytes_read: counter("bytes_read"),
            events_skipped: counter("events_skipped"),
            events_decoded: counter("events_decoded"),
            rows_skipped: counter("rows_skipped"),
            files_skipped: counter("files_skipped"),
            problems: counter("problems"),
        }
    }
}
