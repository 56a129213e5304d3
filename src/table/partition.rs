//! Files → partitions: runs of neighbouring files, and pieces of files, of about equal size.

use crate::binlog::frame::Framer;
use crate::source::{Encoding, Segment};
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, ScalarValue, Statistics};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::FileGroup;
use std::sync::Arc;

/// A file of a scan, or a piece of one, carried along with its [`PartitionedFile`].
#[derive(Debug, Clone)]
pub(super) struct ScanFile {
    pub segment: Arc<Segment>,
    /// The next file of the source: its PREVIOUS_GTIDS bound what this one holds.
    pub next: Option<Arc<Segment>>,
    /// Where the piece begins, between two transactions; `None`: with the file.
    pub begin: Option<Arc<Framer>>,
    /// Offset of the first event that is not of the piece; `None`: it goes to the end of the file.
    pub end: Option<u64>,
}

impl ScanFile {
    /// All of a file.
    pub fn whole(segment: Arc<Segment>, next: Option<Arc<Segment>>) -> Self {
        Self {
            segment,
            next,
            begin: None,
            end: None,
        }
    }

    /// Offset of the first byte.
    pub fn start(&self) -> u64 {
        self.begin.as_ref().map_or(0, |framer| framer.position())
    }

    /// Bytes of the piece.
    pub fn size(&self) -> u64 {
        let end = self.end.unwrap_or(self.segment.size);
        end.saturating_sub(self.start())
    }
}

/// Cuts the files, which are in order, so that `target` runs of them are of about equal size.
/// `cuts`: where a file can be cut. A file of less than `min_size` bytes stays whole.
pub(super) fn cut<'c>(
    files: Vec<ScanFile>,
    cuts: impl Fn(&Segment) -> &'c [Framer],
    target: usize,
    min_size: u64,
) -> Vec<ScanFile> {
    let total: u64 = files.iter().map(ScanFile::size).sum();
    let share = (total / target.max(1) as u64).max(1);
    let mut pieces = Vec::new();
    let mut done = 0u64;
    for mut file in files {
        let size = file.size();
        let behind = done.saturating_add(size);
        let places = match file.segment.encoding {
            Encoding::Plain if size >= min_size => cuts(&file.segment),
            _ => &[],
        };
        // The first multiple of the share behind the file's beginning, and those after it.
        let mut bound = (done / share + 1).saturating_mul(share);
        while bound < behind {
            let offset = bound - done;
            let at = places.partition_point(|place| place.position() < offset);
            let Some(place) = places.get(at).filter(|place| place.position() < size) else {
                break;
            };
            if place.position() > file.start() {
                pieces.push(ScanFile {
                    end: Some(place.position()),
                    ..file.clone()
                });
                file.begin = Some(Arc::new(place.clone()));
            }
            bound = bound.saturating_add(share);
        }
        pieces.push(file);
        done = behind;
    }
    pieces
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
/// their places can be declared, which are so many columns: name and position, and in a relation
/// of rows index in the payload and in the event.
pub(super) fn file_group(files: &[ScanFile], columns: usize, ordered: usize) -> FileGroup {
    FileGroup::new(
        files
            .iter()
            .map(|file| partitioned_file(file, columns, ordered))
            .collect(),
    )
}

fn partitioned_file(file: &ScanFile, columns: usize, ordered: usize) -> PartitionedFile {
    let segment = &file.segment;
    let mut partitioned = PartitionedFile::new(segment.display_location(), segment.size);
    if file.begin.is_some() || file.end.is_some() {
        let offset = |offset: u64| i64::try_from(offset).unwrap_or(i64::MAX);
        let end = file.end.unwrap_or(segment.size);
        partitioned = partitioned.with_range(offset(file.start()), offset(end));
    }
    if ordered > 0 {
        // Positions are unique within a file and names between files.
        let mut statistics = vec![ColumnStatistics::new_unknown(); columns];
        let name = ScalarValue::Dictionary(
            Box::new(arrow::datatypes::DataType::Int32),
            Box::new(ScalarValue::Utf8(Some(segment.name.to_string()))),
        );
        let index = || {
            exact(
                ScalarValue::UInt32(Some(0)),
                ScalarValue::UInt32(Some(u32::MAX)),
            )
        };
        let last = file.end.map_or(u64::MAX, |end| end.saturating_sub(1));
        let pos = exact(
            ScalarValue::UInt64(Some(file.start())),
            ScalarValue::UInt64(Some(last)),
        );
        let places = [exact(name.clone(), name), pos, index(), index()];
        for (column, place) in statistics.iter_mut().zip(places.into_iter().take(ordered)) {
            *column = place;
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
