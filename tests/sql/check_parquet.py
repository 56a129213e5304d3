"""Prints a Parquet file as a reader that is not ours sees it: check_parquet.py pyarrow|duckdb FILE…

Behind each file a line with a form feed. One row a line, values between tabs: null as \\N, points in time as microseconds since 1970, lengths
of time as microseconds, bytes in hexadecimal, floating point numbers as the bits of a double,
texts with backslash, tab and line ends escaped, lists as [a,b], structs as {name=value}.
"""

import datetime
import decimal
import struct
import sys
import uuid


def with_pyarrow(path):
    import pyarrow.parquet as pq

    return pq.read_table(path)


def with_duckdb(path):
    import duckdb

    db = duckdb.connect()
    db.execute("set timezone = 'UTC'")
    return db.sql("select * from read_parquet(?)", params=[path]).to_arrow_table()


EPOCH = datetime.datetime(1970, 1, 1)
MICROSECOND = datetime.timedelta(microseconds=1)


def canonical(value):
    if value is None:
        return "\\N"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return struct.pack(">d", value).hex()
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None:
            assert value.utcoffset() == datetime.timedelta(0), value
            value = value.replace(tzinfo=None)
        return str((value - EPOCH) // MICROSECOND)
    if isinstance(value, datetime.timedelta):
        return str(value // MICROSECOND)
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, uuid.UUID):
        return value.bytes.hex()
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{name}={canonical(of)}" for name, of in value.items()) + "}"
    assert isinstance(value, str), type(value)
    for raw, escaped in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r")):
        value = value.replace(raw, escaped)
    return value


def main():
    reader, *paths = sys.argv[1:]
    for path in paths:
        table = {"pyarrow": with_pyarrow, "duckdb": with_duckdb}[reader](path)
        rows = zip(*(column.to_pylist() for column in table.columns))
        out = "".join("\t".join(map(canonical, row)) + "\n" for row in rows)
        sys.stdout.buffer.write(out.encode() + b"\f\n")


main()
