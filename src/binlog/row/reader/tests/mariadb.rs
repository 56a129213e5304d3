//! Rows of a MariaDB 10.11 with one column of each type, and what `SELECT` shows of them.

use super::texts;
use crate::binlog::event::testing::{decode, hex, maria_format};
use crate::binlog::event::{Event, TABLE_MAP, TableMapOwned};

/// TABLE_MAP and WRITE_ROWS of a MariaDB 10.11 with `binlog_row_metadata=FULL`, as it wrote them.
fn of_mariadb(map: &str, rows: &str) -> Vec<Vec<String>> {
    let format = maria_format();
    let (map, rows) = (hex(map), hex(rows));
    let Event::TableMap(map) = decode(TABLE_MAP, &map, &format).unwrap() else {
        panic!("not a table map");
    };
    let Event::Rows(event) = decode(23, &rows, &format).unwrap() else {
        panic!("not rows");
    };
    let map = TableMapOwned::new(&map).unwrap();
    texts(&map, &event, event.rows)
}

#[test]
fn compressed_columns_of_mariadb() {
    let shown = of_mariadb(
        "120000000000010001760001630005038c8d8c8d0602d107022d011e010100030408083f3f040c\
         026964017401760162027662080100",
        "1200000000000100051fe0010000000000000000000000e00200000010008a03844b4c4a4e1c45\
         a368140d1c02000b008a01907bf972140c2600000e008a032063f8cf300a47e128c40101080089\
         c8aba8181e0000e00300000006000073686f7274020000e9020000620300000001fe04000000",
    );
    // Of the last row, the log has NULL for all but the key.
    assert_eq!(shown[0], ["1", "", "", "0x", "0x"]);
    let long = ["2", &"abc".repeat(300), &"é".repeat(400)].map(str::to_owned);
    assert_eq!(shown[1][..3], long);
    assert_eq!(
        shown[1][3..],
        [
            format!("0x{}", "00FF".repeat(400)),
            format!("0x{}", "78".repeat(200))
        ]
    );
    assert_eq!(shown[2], ["3", "short", "é", "0x62", "0x0001"]);
    assert_eq!(shown[3], ["4", "NULL", "NULL", "NULL", "NULL"]);
}

#[test]
fn one_column_of_each_type_as_select_shows_it() {
    let shown = of_mariadb(
        "1700000000000100017600017a0012030a1211130d10fefefefefefef6fffe0908160302040401\
         f701f801fe04fe10fe10fe04411e04fe14feff0301015802033f0523070100042d026964016402\
         6474027473017401790162016501730362696e01750269360269340264650167016e016d026269\
         0a01080507030178017901df060703016101fc0163080100",
        "170000000000010012ffff030000fc010000000fa00f8000000000000000000000004b9104fb2e\
         00000502050201021001890a5dac96774bbcceb302099a80571000000000000000000000000000\
         000001010a7fffffffffffffffffffffffffffffffe2329affffffffffffffffffffff19000000\
         000000000101000000000000000000f03f000000000000004004006100f1ffffffffffffffffff\
         ffff0040fc02000000000000800000000000003a7b83724e800000006401000000000000000080\
         00007b1b3a0c14149aa4350dfb38d2075bcd1500bc614e35b7bf87037a00000000000000000000\
         00000040fc030000009f1f4efef3ff7efb27067fffffff007fffffff9cff0fff030701ff0fa0ee\
         bc999c0b1ef8bb6d6bb9bd380a1020010db8000000000000ff000042832904ffffffff80000000\
         00000000000000000000000000000000000000000000000000000665e5672c8a9e010000000000\
         0000000080",
    );
    // `SELECT` on the same server, binary columns in hexadecimal; labels stood in latin1 tables.
    let zero = format!("0x{}", "00".repeat(16));
    let expected = [
        [
            "1",
            "2000-00-15",
            "0000-00-00 00:00:00.000",
            "0000-00-00 00:00:00.00",
            "-838:59:59.1234",
            "0000",
            "5",
            "ü",
            "x,ß",
            "0x01020000",
            "0x01890A5DAC96774BBCCEB302099A8057",
            "0x00000000000000000000000000000001",
            "0x0A000000",
            "-0.500000000000000000000000000000",
            "0x000000000101000000000000000000F03F0000000000000040",
            "añ",
            "16777215",
            "18446744073709551615",
        ],
        [
            "2",
            "0000-00-00",
            "0000-00-00 00:00:00.000",
            "2001-02-03 04:05:06.78",
            "00:00:00.0100",
            "1901",
            "0",
            "",
            "",
            "0x00000000",
            &zero,
            &zero,
            "0x00000000",
            "123456789012345678901234567890.123456789012345678901234567890",
            "NULL",
            "",
            "0",
            "0",
        ],
        [
            "3",
            "9999-12-31",
            "9999-12-31 23:59:59.999",
            "2038-01-19 03:14:07.00",
            "-00:00:00.0100",
            "2155",
            "4095",
            "c",
            "x,y,ß",
            "0xFF000000",
            "0xA0EEBC999C0B1EF8BB6D6BB9BD380A00",
            "0x20010DB8000000000000FF0000428329",
            "0xFFFFFFFF",
            "0.000000000000000000000000000000",
            "NULL",
            "日本語",
            "1",
            "9223372036854775808",
        ],
    ];
    assert_eq!(shown, expected);
}
