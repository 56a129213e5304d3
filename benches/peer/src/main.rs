//! mysql_common's framing loop over a log, as a whole process: `binlog-peer frame FILE` counts
//! events by type and adds up their sizes; `binlog-peer rows FILE` decodes every row to values too.

use mysql_common::binlog::EventStreamReader;
use mysql_common::binlog::consts::BinlogVersion;
use mysql_common::binlog::events::{EventData, RowsEventData};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};

fn main() {
    let mut args = std::env::args().skip(1);
    let (mode, path) = (
        args.next().expect("frame or rows"),
        args.next().expect("a file"),
    );
    let mut file = BufReader::with_capacity(1 << 20, File::open(path).expect("the file"));
    let mut magic = [0; 4];
    file.read_exact(&mut magic).expect("a log");
    let mut reader = EventStreamReader::new(BinlogVersion::Version4);
    let mut counts = BTreeMap::<u8, (u64, u64)>::new();
    let mut values = 0u64;
    while let Some(event) = reader.read(&mut file).expect("an event") {
        let header = event.header();
        let count = counts.entry(header.event_type_raw()).or_default();
        count.0 += 1;
        count.1 += u64::from(header.event_size());
        if mode == "rows"
            && let Ok(Some(EventData::RowsEvent(rows))) = event.read_data()
        {
            values += decode(&reader, &rows);
        }
    }
    for (code, (n, size)) in counts {
        println!("{code}\t{n}\t{size}");
    }
    if mode == "rows" {
        println!("values\t{values}");
    }
}

fn decode(reader: &EventStreamReader, rows: &RowsEventData<'_>) -> u64 {
    let Some(map) = reader.get_tme(rows.table_id()) else {
        return 0;
    };
    let mut values = 0;
    for row in rows.rows(map) {
        let (before, after) = row.expect("a row");
        for image in [before, after].into_iter().flatten() {
            values += image.unwrap().len() as u64;
        }
    }
    values
}
