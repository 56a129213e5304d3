//! `parquet`: one result, one file, compressed with zstd. A row group ends at 128 MiB, so that
//! memory stays bounded whatever the rows are.

use std::io::{self, Write};

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::error::DataFusionError;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::errors::ParquetError;
use datafusion::parquet::file::properties::WriterProperties;

use super::Printer;
use crate::errors::Failure;

/// Encoded bytes of a row group that are held in memory at most.
const ROW_GROUP_BYTES: usize = 128 << 20;

/// Writes a result as a Parquet file.
pub struct Parquet {
    schema: SchemaRef,
    /// The encoder writes into this buffer, which is emptied into the output after each batch.
    writer: Option<ArrowWriter<Vec<u8>>>,
}

impl Parquet {
    pub fn new(schema: &SchemaRef) -> Self {
        Self {
            schema: SchemaRef::clone(schema),
            writer: None,
        }
    }

    fn writer(&mut self) -> Result<&mut ArrowWriter<Vec<u8>>, Failure> {
        if self.writer.is_none() {
            let level = ZstdLevel::try_new(3).map_err(failed)?;
            let properties = WriterProperties::builder()
                .set_compression(Compression::ZSTD(level))
                .build();
            let schema = SchemaRef::clone(&self.schema);
            let writer = ArrowWriter::try_new(Vec::new(), schema, Some(properties));
            self.writer = Some(writer.map_err(failed)?);
        }
        self.writer
            .as_mut()
            .ok_or_else(|| Failure::Output(io::Error::other("the Parquet file is closed")))
    }
}

fn failed(error: ParquetError) -> Failure {
    DataFusionError::from(error).into()
}

impl Printer for Parquet {
    fn batch(&mut self, out: &mut dyn Write, batch: &RecordBatch) -> Result<(), Failure> {
        let writer = self.writer()?;
        writer.write(batch).map_err(failed)?;
        if writer.in_progress_size() >= ROW_GROUP_BYTES {
            writer.flush().map_err(failed)?;
        }
        drain(writer.inner_mut(), out)
    }

    fn finish(&mut self, out: &mut dyn Write) -> Result<(), Failure> {
        self.writer()?;
        if let Some(writer) = self.writer.take() {
            let mut rest = writer.into_inner().map_err(failed)?;
            drain(&mut rest, out)?;
        }
        Ok(())
    }
}

fn drain(buffer: &mut Vec<u8>, out: &mut dyn Write) -> Result<(), Failure> {
    out.write_all(buffer)?;
    buffer.clear();
    Ok(())
}
