"""Prints a Parquet file as a reader that is not ours sees it: check_parquet.py pyarrow|duckdb FILE

One row a line, values between tabs: null as \\N, points in time as microseconds since 1970,
bytes in hexadecimal, texts with backslash, tab and line ends escaped.
"""

import sys


def with_pyarrow(path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    columns = []
    for column in table.columns:
        if pa.types.is_timestamp(column.type):
            assert column.type.tz == "UTC", column.type
            column = column.cast(pa.timestamp("us", "UTC")).cast(pa.int64())
        columns.append(column.to_pylist())
    return zip(*columns)


def with_duckdb(path):
    import duckdb

    db = duckdb.connect()
    columns = []
    for name, kind, *_ in db.execute("describe select * from read_parquet(?)", [path]).fetchall():
        if kind.startswith("TIMESTAMP"):
            assert kind == "TIMESTAMP WITH TIME ZONE", kind
            columns.append(f'epoch_us("{name}")')
        else:
            columns.append(f'"{name}"')
    return db.execute(f"select {', '.join(columns)} from read_parquet(?)", [path]).fetchall()


def canonical(value):
    if value is None:
        return "\\N"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    assert isinstance(value, str), type(value)
    for raw, escaped in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r")):
        value = value.replace(raw, escaped)
    return value


def main():
    reader, path = sys.argv[1:]
    rows = {"pyarrow": with_pyarrow, "duckdb": with_duckdb}[reader](path)
    out = "".join("\t".join(map(canonical, row)) + "\n" for row in rows)
    sys.stdout.buffer.write(out.encode())


main()
