//! The types of columns: how each is declared, and how `SELECT` shows it without ambiguity.

use std::rc::Rc;

/// A real server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub enum Server {
    MySql97,
    MariaDb105,
    MariaDb1011,
    MariaDb118,
}

impl Server {
    /// Name of its tree in the cache folder.
    pub fn name(self) -> &'static str {
        match self {
            Self::MySql97 => "mysql-9.7",
            Self::MariaDb105 => "mariadb-10.5",
            Self::MariaDb1011 => "mariadb-10.11",
            Self::MariaDb118 => "mariadb-11.8",
        }
    }

    pub fn is_mysql(self) -> bool {
        self == Self::MySql97
    }
}

/// A type of column. Texts and labels have a character set.
#[derive(Debug, Clone, PartialEq)]
pub enum Ty {
    Int {
        bytes: u8,
        unsigned: bool,
    },
    Decimal {
        precision: u8,
        scale: u8,
        unsigned: bool,
    },
    Float {
        unsigned: bool,
    },
    Double {
        unsigned: bool,
    },
    Bit(u8),
    Year,
    Date,
    Time(u8),
    DateTime(u8),
    Timestamp(u8),
    Char(u16, &'static str),
    VarChar(u16, &'static str),
    /// By bytes of the length.
    Text(u8, &'static str),
    Binary(u16),
    VarBinary(u16),
    Blob(u8),
    Enum(Rc<[String]>, &'static str),
    Set(Rc<[String]>, &'static str),
    Json,
    /// Subtype, and the reference system that the column demands.
    Geometry(&'static str, Option<u32>),
    Vector(u16),
    Uuid,
    Inet4,
    Inet6,
    /// A string or blob that MariaDB keeps compressed.
    Compressed(Box<Ty>),
}

const SIZES: [&str; 5] = ["", "TINY", "", "MEDIUM", "LONG"];

impl Ty {
    pub fn int(bytes: u8, unsigned: bool) -> Self {
        Self::Int { bytes, unsigned }
    }

    pub fn decimal(precision: u8, scale: u8) -> Self {
        Self::Decimal {
            precision,
            scale,
            unsigned: false,
        }
    }

    /// Name in the report.
    pub fn label(&self) -> String {
        let sign = |unsigned: bool| if unsigned { " UNSIGNED" } else { "" };
        match self {
            Self::Int { unsigned, .. } => format!("{}{}", self.word(), sign(*unsigned)),
            Self::Decimal { unsigned, .. }
            | Self::Float { unsigned }
            | Self::Double { unsigned } => {
                format!("{}{}", self.word(), sign(*unsigned))
            }
            Self::Time(f) | Self::DateTime(f) | Self::Timestamp(f) => {
                format!("{}({f})", self.word())
            }
            Self::Compressed(inner) => format!("{} COMPRESSED", inner.word()),
            _ => self.word(),
        }
    }

    /// The type's name alone.
    fn word(&self) -> String {
        let word = match self {
            Self::Int { bytes, .. } => match bytes {
                1 => "TINYINT",
                2 => "SMALLINT",
                3 => "MEDIUMINT",
                4 => "INT",
                _ => "BIGINT",
            },
            Self::Decimal { .. } => "DECIMAL",
            Self::Float { .. } => "FLOAT",
            Self::Double { .. } => "DOUBLE",
            Self::Bit(_) => "BIT",
            Self::Year => "YEAR",
            Self::Date => "DATE",
            Self::Time(_) => "TIME",
            Self::DateTime(_) => "DATETIME",
            Self::Timestamp(_) => "TIMESTAMP",
            Self::Char(..) => "CHAR",
            Self::VarChar(..) => "VARCHAR",
            Self::Text(n, _) => return format!("{}TEXT", SIZES[usize::from(*n)]),
            Self::Binary(_) => "BINARY",
            Self::VarBinary(_) => "VARBINARY",
            Self::Blob(n) => return format!("{}BLOB", SIZES[usize::from(*n)]),
            Self::Enum(..) => "ENUM",
            Self::Set(..) => "SET",
            Self::Json => "JSON",
            Self::Geometry(name, _) => name,
            Self::Vector(_) => "VECTOR",
            Self::Uuid => "UUID",
            Self::Inet4 => "INET4",
            Self::Inet6 => "INET6",
            Self::Compressed(inner) => return inner.word(),
        };
        word.to_owned()
    }

    /// Character set of its text.
    pub fn charset(&self) -> Option<&'static str> {
        match self {
            Self::Char(_, set) | Self::VarChar(_, set) | Self::Text(_, set) => Some(set),
            Self::Enum(_, set) | Self::Set(_, set) => Some(set),
            Self::Compressed(inner) => inner.charset(),
            _ => None,
        }
    }

    /// The labels of an ENUM or SET.
    pub fn labels(&self) -> &[String] {
        match self {
            Self::Enum(labels, _) | Self::Set(labels, _) => labels,
            _ => &[],
        }
    }

    /// Whether an image NOBLOB may leave it out.
    pub fn is_blob(&self) -> bool {
        match self {
            Self::Text(..) | Self::Blob(_) | Self::Json | Self::Geometry(..) | Self::Vector(_) => {
                true
            }
            Self::Compressed(inner) => inner.is_blob(),
            _ => false,
        }
    }

    /// The declaration, without NULL and DEFAULT.
    pub fn sql(&self) -> String {
        let word = self.word();
        let length = match self {
            Self::Decimal {
                precision, scale, ..
            } => format!("({precision},{scale})"),
            Self::Bit(n) => format!("({n})"),
            Self::Time(f) | Self::DateTime(f) | Self::Timestamp(f) if *f > 0 => format!("({f})"),
            Self::Char(n, _)
            | Self::VarChar(n, _)
            | Self::Binary(n)
            | Self::VarBinary(n)
            | Self::Vector(n) => {
                format!("({n})")
            }
            Self::Enum(labels, _) | Self::Set(labels, _) => {
                let quoted: Vec<String> = labels
                    .iter()
                    .map(|l| format!("'{}'", l.replace('\'', "''")))
                    .collect();
                format!("({})", quoted.join(","))
            }
            Self::Geometry(_, Some(srid)) => format!(" SRID {srid}"),
            Self::Compressed(inner) => {
                let plain = inner.sql();
                return match plain.split_once(" CHARACTER SET") {
                    Some((ty, set)) => format!("{ty} COMPRESSED CHARACTER SET{set}"),
                    None => format!("{plain} COMPRESSED"),
                };
            }
            _ => String::new(),
        };
        let sign = match self {
            Self::Int { unsigned: true, .. }
            | Self::Decimal { unsigned: true, .. }
            | Self::Float { unsigned: true }
            | Self::Double { unsigned: true } => " UNSIGNED",
            _ => "",
        };
        let set = self
            .charset()
            .map(|set| format!(" CHARACTER SET {set}"))
            .unwrap_or_default();
        format!("{word}{length}{sign}{set}")
    }

    /// The expression that shows a column's values: text and bytes in hexadecimal, so that the
    /// word NULL stands for nothing else.
    pub fn shown(&self, column: &str, server: Server) -> String {
        match self {
            // All digits: FLOAT alone shows six.
            Self::Float { .. } => format!("{column} * 1e0"),
            Self::Bit(_) | Self::Year => format!("{column} + 0"),
            Self::Json if server.is_mysql() => format!("HEX(CAST({column} AS CHAR))"),
            Self::Json => format!("HEX(CONVERT({column} USING utf8mb4))"),
            Self::Binary(_)
            | Self::VarBinary(_)
            | Self::Blob(_)
            | Self::Geometry(..)
            | Self::Vector(_) => {
                format!("HEX({column})")
            }
            Self::Compressed(inner) => inner.shown(column, server),
            _ if self.charset().is_some() => format!("HEX(CONVERT({column} USING utf8mb4))"),
            _ => column.to_owned(),
        }
    }
}

/// Labels of an ENUM or SET: some of them awkward.
fn labels(count: usize, set: &str) -> Rc<[String]> {
    let awkward: &[&str] = match set {
        "latin1" => &["é", "it's", "", " lead", "(a)", "\"q\""],
        "utf8mb4" | "utf16" => &["日本", "it's", "ключ", "😀", "x;y", "`t`"],
        "gbk" | "sjis" => &["日本", "it's", "表", "-- no", "/*", "#"],
        _ => &[],
    };
    let label = |n: usize| {
        awkward
            .get(n)
            .map_or_else(|| format!("label {n}"), |l| (*l).to_owned())
    };
    (0..count).map(label).collect()
}

/// One of each type that a server has, and more where lengths change the encoding.
pub fn catalogue(server: Server) -> Vec<Ty> {
    let mut all = Vec::new();
    for bytes in [1, 2, 3, 4, 8] {
        all.extend([false, true].map(|unsigned| Ty::int(bytes, unsigned)));
    }
    for (precision, scale) in [
        (65, 30),
        (10, 0),
        (1, 1),
        (65, 0),
        (30, 30),
        (9, 9),
        (18, 9),
        (23, 5),
        (38, 10),
        (39, 2),
    ] {
        all.push(Ty::decimal(precision, scale));
    }
    all.push(Ty::Decimal {
        precision: 12,
        scale: 3,
        unsigned: true,
    });
    for unsigned in [false, true] {
        all.extend([Ty::Float { unsigned }, Ty::Double { unsigned }]);
    }
    all.extend([1, 7, 8, 9, 17, 33, 63, 64].map(Ty::Bit));
    all.extend([Ty::Year, Ty::Date, Ty::Date]);
    for f in [0, 1, 2, 3, 4, 5, 6] {
        all.extend([Ty::Time(f), Ty::DateTime(f), Ty::Timestamp(f)]);
    }
    for set in charsets(server) {
        all.push(match set.len() % 3 {
            0 => Ty::Char(12, set),
            1 => Ty::VarChar(40, set),
            _ => Ty::VarChar(80, set),
        });
    }
    all.extend([
        Ty::Char(255, "utf8mb4"),
        Ty::Char(1, "latin1"),
        Ty::Char(63, "utf8mb4"),
        Ty::Char(64, "utf8mb4"),
    ]);
    all.extend([
        Ty::Char(0, "utf8mb4"),
        Ty::VarChar(63, "utf8mb4"),
        Ty::VarChar(64, "utf8mb4"),
        Ty::VarChar(255, "latin1"),
    ]);
    all.extend([Ty::VarChar(256, "latin1"), Ty::VarChar(3000, "utf8mb4")]);
    for n in [1, 2, 3, 4] {
        all.extend([Ty::Text(n, "utf8mb4"), Ty::Blob(n)]);
    }
    all.extend([
        Ty::Text(2, "gbk"),
        Ty::Text(3, "utf16"),
        Ty::Text(2, "sjis"),
    ]);
    all.extend([
        Ty::Binary(1),
        Ty::Binary(16),
        Ty::Binary(255),
        Ty::VarBinary(255),
        Ty::VarBinary(256),
    ]);
    for (count, set) in [
        (1, "latin1"),
        (5, "latin1"),
        (255, "utf8mb4"),
        (256, "latin1"),
        (700, "utf8mb4"),
        (6, "gbk"),
        (8, "sjis"),
    ] {
        all.push(Ty::Enum(labels(count, set), set));
    }
    for (count, set) in [
        (1, "utf8mb4"),
        (8, "latin1"),
        (9, "utf8mb4"),
        (17, "gbk"),
        (33, "utf16"),
        (64, "utf8mb4"),
    ] {
        all.push(Ty::Set(labels(count, set), set));
    }
    all.extend([Ty::Json, Ty::Json]);
    let geometries = [
        "GEOMETRY",
        "POINT",
        "LINESTRING",
        "POLYGON",
        "MULTIPOINT",
        "MULTILINESTRING",
        "MULTIPOLYGON",
    ];
    all.extend(geometries.map(|name| Ty::Geometry(name, None)));
    all.push(Ty::Geometry("GEOMETRYCOLLECTION", None));
    if server.is_mysql() {
        all.extend([
            Ty::Geometry("POINT", Some(4326)),
            Ty::Vector(3),
            Ty::Vector(300),
            Ty::Json,
            Ty::Json,
        ]);
    } else {
        let strings = [
            Ty::VarChar(200, "utf8mb4"),
            Ty::VarChar(100, "latin1"),
            Ty::Text(2, "utf8mb4"),
            Ty::Text(3, "gbk"),
        ];
        let blobs = [Ty::VarBinary(300), Ty::Blob(1), Ty::Blob(2), Ty::Blob(4)];
        all.extend(
            strings
                .into_iter()
                .chain(blobs)
                .map(|ty| Ty::Compressed(Box::new(ty))),
        );
        all.push(Ty::Inet6);
    }
    if server >= Server::MariaDb1011 {
        all.extend([Ty::Uuid, Ty::Inet4]);
    }
    if server >= Server::MariaDb118 {
        all.extend([Ty::Vector(3), Ty::Vector(300)]);
    }
    all
}

/// The character sets of a server.
pub fn charsets(server: Server) -> Vec<&'static str> {
    let mut sets = vec![
        "armscii8", "ascii", "big5", "cp1250", "cp1251", "cp1256", "cp1257", "cp850", "cp852",
        "cp866", "cp932", "dec8", "eucjpms", "euckr", "gb2312", "gbk", "geostd8", "greek",
        "hebrew", "hp8", "keybcs2", "koi8r", "koi8u", "latin1", "latin2", "latin5", "latin7",
        "macce", "macroman", "sjis", "swe7", "tis620", "ucs2", "ujis", "utf16", "utf16le", "utf32",
        "utf8mb4",
    ];
    sets.push(if server == Server::MariaDb105 {
        "utf8"
    } else {
        "utf8mb3"
    });
    if server.is_mysql() {
        sets.push("gb18030");
    }
    sets
}
