"""Words and symbols of Spark's expressions that our own grammar may not know, by the places in which they may stand."""

from __future__ import annotations

from typing import Final

OPERATORS: Final = frozenset("+ - * / % = == <> != < <= > >= <=> || & | ^ ~ !".split())
SIGNS: Final = frozenset("+ - ~ !".split())  # may stand in front of a value
GLUED: Final = frozenset({"<<", ">>", ">>>"})

VALUES: Final = frozenset({"NULL", "TRUE", "FALSE", "UNKNOWN"})
KEYWORDS: Final = frozenset(
    "AND OR NOT IN LIKE ILIKE RLIKE REGEXP BETWEEN DIV IS ESCAPE CASE WHEN THEN ELSE END".split()
)
TYPED: Final = frozenset("DATE TIME TIMESTAMP TIMESTAMP_LTZ TIMESTAMP_NTZ".split())  # in front of a text
UNITS: Final = frozenset(
    f"{unit}{plural}"
    for unit in (
        "MICROSECOND MILLISECOND SECOND MINUTE HOUR DAY WEEK MONTH QUARTER YEAR DAYOFYEAR DOW DOY DAYOFWEEK "
        "DAYOFWEEK_ISO DOW_ISO YEAROFWEEK EPOCH".split()
    )
    for plural in ("", "S")
)
SIDES: Final = frozenset({"BOTH", "LEADING", "TRAILING"})
TYPES: Final = frozenset(
    "BOOLEAN TINYINT BYTE SMALLINT SHORT INT INTEGER BIGINT LONG FLOAT REAL DOUBLE STRING VARCHAR CHAR CHARACTER BINARY "
    "DATE TIME TIMESTAMP TIMESTAMP_LTZ TIMESTAMP_NTZ DECIMAL DEC NUMERIC VOID VARIANT INTERVAL ARRAY MAP STRUCT".split()
)

# Functions that Spark's grammar knows, not its list of functions.
GRAMMAR_FUNCTIONS: Final = frozenset({"cast", "try_cast", "timestampadd", "timestampdiff"})
TAKES_UNIT: Final = frozenset(
    "extract timestampadd timestampdiff dateadd date_add datediff date_diff".split()
)
# Words that stand between the arguments of some functions.
INFIX: Final = {
    "FROM": frozenset({"extract", "trim", "substring", "substr", "overlay"}),
    "FOR": frozenset({"substring", "substr", "overlay"}),
    "PLACING": frozenset({"overlay"}),
}

# Words with which a query inside of a query starts.
QUERIES: Final = frozenset({"SELECT", "WITH", "TABLE", "VALUES", "FROM"})
