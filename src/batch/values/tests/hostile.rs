//! Any bytes at any place: never a panic, never a loss in silence.

use super::joins::{numbers, others};
use super::*;
use crate::binlog::cursor::Cursor;
use proptest::prelude::*;

/// Any column, also as the text that it is beside one of another type.
fn any_bytes(block: &[u8], offsets: &[usize]) {
    let block_bytes = block;
    let block = Block::new(block.to_vec());
    let places: Vec<Place> = offsets.iter().filter_map(|&at| Place::at(at)).collect();
    for kind in numbers().iter().chain(&others()) {
        let column = kind.plan();
        let own = kind.field();
        if *own.data_type() == DataType::Null {
            continue;
        }
        let text = Field::new("c", DataType::Utf8View, true);
        for field in [&own, &text] {
            for options in [NULL_DATES, TEXT_DATES] {
                let field = match options.zero_dates {
                    ZeroDates::Null => field.clone(),
                    ZeroDates::Text => widened(field, &field_of(column, &options)),
                };
                let (array, notes) = build_one(&field, &options, column, &block, &places, &[]);
                assert_eq!(array.len(), places.len());
                for (row, place) in places.iter().enumerate() {
                    let at = block_bytes.get(place.offset().unwrap()..);
                    let at = at.unwrap_or_default();
                    let mut noted = notes.iter().filter(|&&(noted, _)| noted == row);
                    let is_told =
                        noted.any(|(_, note)| note.is_error() || matches!(note, Note::ZeroDate(_)));
                    assert_eq!(array.is_null(row), is_told, "{field} {notes:?}");
                    // The decoder of single values agrees on what is a value.
                    let decode = column.ty.decode().unwrap();
                    let mut out = String::new();
                    let value = decode(&mut Cursor::new(at), column.context);
                    let value = value.and_then(|value| {
                        column.write_text(value, &mut out)?;
                        Ok(value)
                    });
                    match value {
                        Ok(Value::Date(_) | Value::DateTime(_) | Value::Timestamp(_)) => {}
                        Ok(_) => assert!(!is_told, "{field}: {out} {notes:?}"),
                        // Text with bytes that are no character is escaped.
                        Err(_) if column.charset().is_some_and(|set| !set.is_binary()) => {}
                        Err(error) => assert!(is_told, "{field}: {error}"),
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_at_any_place(
        block in prop::collection::vec(any::<u8>(), 0..80),
        offsets in prop::collection::vec(0usize..90, 0..12),
    ) {
        any_bytes(&block, &offsets);
    }

    /// Small numbers are lengths that fit.
    #[test]
    fn short_values_at_any_place(
        block in prop::collection::vec(0u8..12, 0..80),
        offsets in prop::collection::vec(0usize..90, 0..12),
    ) {
        any_bytes(&block, &offsets);
    }
}
