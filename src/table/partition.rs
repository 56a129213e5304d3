//! Files → partitions: runs of neighbouring files of about equal size.

use crate::source::Segment;
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, ScalarValue, Statistics};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::FileGroup;
use std::sync::Arc;

/// A file of a scan, carried along with its [`PartitionedFile`].
#[derive(Debug, Clone)]
pub(super) struct ScanFile {
    pub segment: Arc<Segment>,
    /// The next file of the source: its PREVIOUS_GTIDS bound what this one holds.
    pub next: Option<Arc<Segment>>,
}

/// Cuts the files, which are in order, into at most `target` runs of about equal size. A run is
/// contiguous, so that each partition is in the order of the log and their order is that of the
/// whole.
pub(super) fn runs(sizes: &[u64], target: usize) -> Vec<std::ops::Range<usize>> {
    let target = target.clamp(1, sizes.len().max(1)) as u64;
    let total: u64 = sizes.iter().map(|size| size.saturating_add(1)).sum();
    let mut runs = Vec::new();
    let (mut start, mut done) = (0, 0u64);
    for (i, size) in sizes.iter().enumerate() {
        done = done.saturating_add(size.saturating_add(1));
        let filled = runs.len() as u64 + 1;
        if u128::from(done) * u128::from(target) >= u128::from(total) * u128::from(filled)
            && filled < target
        {
            runs.push(start..i + 1);
            start = i + 1;
        }
    }
    if start < sizes.len() {
        runs.push(start..sizes.len());
    }
    runs
}

/// The partition of a run of files. `ordered`: the files' names are in the order of the log, so
/// their places can be declared.
pub(super) fn file_group(files: &[ScanFile], columns: usize, ordered: bool) -> FileGroup {
    FileGroup::new(
        files
            .iter()
            .map(|file| partitioned_file(file, columns, ordered))
            .collect(),
    )
}

fn partitioned_file(file: &ScanFile, columns: usize, ordered: bool) -> PartitionedFile {
    let segment = &file.segment;
    let mut partitioned = PartitionedFile::new(segment.display_location(), segment.size);
    if ordered {
        // Positions are unique within a file and names between files.
        let mut statistics = vec![ColumnStatistics::new_unknown(); columns];
        let name = ScalarValue::Dictionary(
            Box::new(arrow::datatypes::DataType::Int32),
            Box::new(ScalarValue::Utf8(Some(segment.name.to_string()))),
        );
        if let [file_column, pos_column, ..] = statistics.as_mut_slice() {
            *file_column = exact(name.clone(), name);
            *pos_column = exact(
                ScalarValue::UInt64(Some(0)),
                ScalarValue::UInt64(Some(u64::MAX)),
            );
        }
        partitioned.statistics = Some(Arc::new(Statistics {
            num_rows: Precision::Absent,
            total_byte_size: Precision::Absent,
            column_statistics: statistics,
        }));
    }
    partitioned.with_extension(file.clone())
}

fn exact(min: ScalarValue, max: ScalarValue) -> ColumnStatistics {
    let mut column = ColumnStatistics::new_unknown();
    column.min_value = Precision::Exact(min);
    column.max_value = Precision::Exact(max);
    column.null_count = Precision::Exact(0);
    column
}

#[cfg(test)]
mod tests {
    use super::runs;

    #[test]
    fn runs_are_contiguous_complete_and_balanced() {
        assert_eq!(runs(&[], 4), Vec::<std::ops::Range<usize>>::new());
        assert_eq!(runs(&[10], 4), vec![0..1]);
        assert_eq!(runs(&[10, 10, 10, 10], 2), vec![0..2, 2..4]);
        assert_eq!(runs(&[100, 1, 1, 1], 2), vec![0..1, 1..4]);
        for target in 1..8 {
            let sizes: Vec<u64> = (0..23).map(|i| i * 7 % 13).collect();
            let runs = runs(&sizes, target);
            assert!(runs.len() <= target);
            let joined: Vec<usize> = runs.into_iter().flatten().collect();
            assert_eq!(joined, (0..23).collect::<Vec<_>>());
        }
    }
}
