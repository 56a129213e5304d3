//! What the tests of the column types share.

use super::*;

/// A column of type `code` with its metadata as it stands in a table map, signed, of text.
pub(crate) fn column(code: u8, metadata: &[u8]) -> (ColumnType, Context) {
    let ty = ColumnType::read(code, &mut Cursor::new(metadata)).unwrap();
    let context = Context {
        meta: ty.meta,
        signedness: Signedness::Signed,
        content: Content::Text,
    };
    (ty, context)
}

/// The value that `bytes` are, all of them, and as many as the width says.
pub(crate) fn decode_as<'a>(
    ty: ColumnType,
    context: Context,
    bytes: &'a [u8],
) -> Result<Value<'a>> {
    let mut row = Cursor::new(bytes);
    let value = ty.decode().unwrap()(&mut row, context)?;
    assert!(row.is_empty(), "{} bytes are left", row.len());
    let mut row = Cursor::new(bytes);
    ty.width().unwrap().skip(&mut row).unwrap();
    assert!(row.is_empty(), "the width is another");
    Ok(value)
}

/// As [`decode_as`], of a signed column of text.
pub(crate) fn decode<'a>(code: u8, metadata: &[u8], bytes: &'a [u8]) -> Result<Value<'a>> {
    let (ty, context) = column(code, metadata);
    decode_as(ty, context, bytes)
}
