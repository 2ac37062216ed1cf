"""The accepted SQL as one table: each form with an example that binds, and each refused form with one that does not.

`tools/docs.py` makes `docs/sql.md` of it, and a test binds every example. Functions have their own table,
`functions/table.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from eddyline.sql import refused

# The stream that most examples are written for.
STREAM: Final = "quotes"
COLUMNS: Final = (
    "symbol STRING, price DOUBLE, volume BIGINT, fee DECIMAL(10, 2), open BOOLEAN, day DATE, happened TIMESTAMP, "
    "local TIMESTAMP_NTZ, payload BINARY, tags ARRAY<STRING>, limits MAP<STRING, DOUBLE>, venue STRUCT<name: STRING>"
)
# The other one, for joins.
OTHER_STREAM: Final = "trades"
OTHER_COLUMNS: Final = "symbol STRING, paid DOUBLE, size BIGINT, happened TIMESTAMP"

STATEMENTS: Final = "Statements"
JOINS: Final = "Joins"
PREDICATES: Final = "Predicates"
OPERATORS: Final = "Operators"
LITERALS: Final = "Literals"
OTHERS: Final = "Other expressions"


@dataclass(frozen=True, slots=True)
class AcceptedForm:
    """An accepted form; the example is a whole query for statements and joins, else an expression."""

    group: str
    form: str
    example: str
    note: str = ""

    @property
    def query(self) -> str:
        """The example as a whole query."""
        is_whole = self.group in (STATEMENTS, JOINS)
        return self.example if is_whole else f"SELECT {self.example} AS x FROM {STREAM}"


@dataclass(frozen=True, slots=True)
class RefusedForm:
    """A form of Spark SQL that is refused by name, with a query that uses it."""

    form: str
    example: str
    reason: refused.Refusal


FORMS: Final = (
    AcceptedForm(STATEMENTS, "SELECT * FROM stream", "SELECT * FROM quotes", "every tuple matches"),
    AcceptedForm(STATEMENTS, "SELECT * FROM stream WHERE condition", "SELECT * FROM quotes WHERE price < 10"),
    AcceptedForm(
        STATEMENTS,
        "SELECT expression [AS] name, ...",
        "SELECT symbol, price * volume AS turnover FROM quotes",
        "names in results differ from one another, without regard to case",
    ),
    AcceptedForm(
        STATEMENTS,
        "SELECT alias.column FROM stream [AS] alias",
        "SELECT q.symbol FROM quotes AS q WHERE q.price < 10",
        "`alias.*` too",
    ),
    AcceptedForm(STATEMENTS, "SELECT ALL ...", "SELECT ALL symbol FROM quotes", "the same as without ALL"),
    AcceptedForm(
        STATEMENTS, "-- comment, /* comment */, ;", "SELECT * FROM quotes /* all */ WHERE open; -- end"
    ),
    AcceptedForm(
        JOINS,
        "FROM stream [AS] a [INNER] JOIN stream [AS] b ON condition",
        "SELECT q.symbol, t.size FROM quotes q JOIN trades t ON q.symbol = t.symbol "
        "AND t.happened BETWEEN q.happened AND q.happened + INTERVAL 5 SECONDS",
        "every pair of tuples that satisfies the condition; at least one equality between the two",
    ),
    AcceptedForm(
        JOINS,
        "FROM stream a JOIN stream b USING (column, ...)",
        "SELECT symbol, size FROM quotes q JOIN trades t USING (symbol) "
        "WHERE t.happened BETWEEN q.happened AND q.happened + INTERVAL 5 SECONDS",
        "equal values of columns that both have; each can be named without its stream, and comes first in `*`",
    ),
    AcceptedForm(
        JOINS,
        "FROM stream a, stream b WHERE condition",
        "SELECT price, paid FROM quotes q, trades t "
        "WHERE q.symbol = t.symbol AND t.happened BETWEEN q.happened AND q.happened + INTERVAL 5 SECONDS",
        "ON and WHERE mean the same",
    ),
    AcceptedForm(
        JOINS,
        "FROM stream a JOIN stream b, one stream twice",
        "SELECT a.symbol FROM quotes a JOIN quotes b ON a.symbol = b.symbol "
        "WHERE b.happened BETWEEN a.happened AND a.happened + INTERVAL 5 SECONDS AND b.price > a.price * 1.01",
        "a tuple is a pair with itself, too, where the condition says so",
    ),
    AcceptedForm(
        JOINS,
        "SELECT *, SELECT a.*, b.*",
        "SELECT * FROM quotes q JOIN trades t ON q.symbol = t.symbol WHERE t.happened = q.happened",
        "columns that both have are called `q_symbol` and `t_symbol`",
    ),
    AcceptedForm(PREDICATES, "a = b, a == b", "symbol = 'ACME'"),
    AcceptedForm(PREDICATES, "a <> b, a != b", "symbol <> 'ACME'"),
    AcceptedForm(
        PREDICATES, "a < b, a <= b, a > b, a >= b", "price >= 10", "all alike, from the left: `1 < 2 = true`"
    ),
    AcceptedForm(
        PREDICATES, "a <=> b", "symbol <=> NULL", "equal, with NULL equal to NULL; never NULL itself"
    ),
    AcceptedForm(PREDICATES, "a [NOT] BETWEEN low AND high", "price BETWEEN 5 AND 10", "both ends included"),
    AcceptedForm(
        PREDICATES,
        "a [NOT] IN (b, c, ...)",
        "symbol IN ('ACME', 'INIT')",
        "NULL where none is equal and one is NULL",
    ),
    AcceptedForm(PREDICATES, "a IS [NOT] NULL", "symbol IS NOT NULL"),
    AcceptedForm(
        PREDICATES, "a IS [NOT] TRUE | FALSE | UNKNOWN", "price > 1 IS TRUE", "reads as `(price > 1) IS TRUE`"
    ),
    AcceptedForm(
        PREDICATES, "a IS [NOT] DISTINCT FROM b", "symbol IS DISTINCT FROM 'ACME'", "the opposite of `<=>`"
    ),
    AcceptedForm(
        PREDICATES,
        "a [NOT] LIKE pattern [ESCAPE 'c']",
        r"symbol LIKE 'A\\_%'",
        "`%` any text, `_` one character",
    ),
    AcceptedForm(PREDICATES, "a [NOT] ILIKE pattern", "symbol ILIKE 'a%'", "both sides in lower case"),
    AcceptedForm(
        PREDICATES, "a [NOT] LIKE ANY | SOME | ALL (p, q, ...)", "symbol LIKE ANY ('A%', 'B%')", "ILIKE too"
    ),
    AcceptedForm(
        PREDICATES, "a [NOT] RLIKE pattern, REGEXP", "symbol RLIKE '^[A-M]'", "the pattern is a constant"
    ),
    AcceptedForm(PREDICATES, "a AND b, a OR b, NOT a, !a", "NOT open AND (price > 1 OR volume > 1)"),
    AcceptedForm(OPERATORS, "a + b, a - b, a * b", "price * volume + 1"),
    AcceptedForm(OPERATORS, "a / b", "volume / 2", "a double, or a decimal for decimals"),
    AcceptedForm(OPERATORS, "a % b", "volume % 10", "has the sign of `a`"),
    AcceptedForm(OPERATORS, "a DIV b", "volume DIV 10", "whole quotient, towards zero"),
    AcceptedForm(OPERATORS, "-a, +a", "-price"),
    AcceptedForm(OPERATORS, "a || b", "symbol || '.' || venue.name", "binds like `+`, from the left"),
    AcceptedForm(OPERATORS, "date + interval, timestamp - interval", "happened - INTERVAL 5 MINUTES"),
    AcceptedForm(
        OPERATORS,
        "date - date, timestamp - timestamp",
        "happened - TIMESTAMP'2026-01-31 12:00:00'",
        "an interval",
    ),
    AcceptedForm(
        LITERALS,
        "5, 5Y, 5S, 5L",
        "volume = 5L",
        "int (bigint or decimal where it is too long), tinyint, smallint, bigint",
    ),
    AcceptedForm(LITERALS, "2.5, 2.5BD", "fee = 2.5", "decimal"),
    AcceptedForm(LITERALS, "2.5D, 2.5F, 1e3", "price > 1e3", "double, float, double"),
    AcceptedForm(
        LITERALS,
        "'text', \"text\"",
        'symbol = "ACME"',
        r"escapes `\n \t \' \\ \u0041` and so on; adjacent texts are one",
    ),
    AcceptedForm(LITERALS, "r'text'", r"symbol RLIKE r'^\w+$'", "raw: a backslash is a backslash"),
    AcceptedForm(LITERALS, "X'1F'", "payload = X'1F'", "binary"),
    AcceptedForm(LITERALS, "TRUE, FALSE, NULL", "coalesce(open, FALSE)"),
    AcceptedForm(LITERALS, "DATE'...'", "day = DATE'2026-01-31'"),
    AcceptedForm(
        LITERALS,
        "TIMESTAMP'...'",
        "happened < TIMESTAMP'2026-01-31 12:00:00'",
        "in the session time zone, unless the text names one",
    ),
    AcceptedForm(
        LITERALS,
        "TIMESTAMP_NTZ'...', TIMESTAMP_LTZ'...'",
        "local < TIMESTAMP_NTZ'2026-01-31 12:00:00'",
        "without, with a time zone",
    ),
    AcceptedForm(
        LITERALS,
        "INTERVAL 5 MINUTES, INTERVAL '1' DAY",
        "happened + INTERVAL 1 DAY 2 HOURS",
        "weeks to microseconds, or years and months",
    ),
    AcceptedForm(
        LITERALS,
        "INTERVAL '1 02:03:04' DAY TO SECOND",
        "happened + INTERVAL '1-6' YEAR TO MONTH",
        "any such range",
    ),
    AcceptedForm(OTHERS, "column, `column`, stream.column", "quotes.price + `price`", "case does not matter"),
    AcceptedForm(
        OTHERS,
        "CAST(a AS type), a::type",
        "CAST(price AS INT)",
        "a value without such a form gives NULL, and the failure is counted",
    ),
    AcceptedForm(OTHERS, "TRY_CAST(a AS type)", "TRY_CAST(symbol AS INT)", "the same, not counted"),
    AcceptedForm(
        OTHERS, "CASE WHEN c THEN a ... [ELSE b] END", "CASE WHEN price > 1 THEN 'high' ELSE 'low' END"
    ),
    AcceptedForm(OTHERS, "CASE a WHEN b THEN c ... [ELSE d] END", "CASE symbol WHEN 'ACME' THEN 1 END"),
    AcceptedForm(OTHERS, "struct.field", "venue.name"),
    AcceptedForm(OTHERS, "array[index]", "tags[0]", "from 0; NULL outside of the array, and counted"),
    AcceptedForm(OTHERS, "map[key]", "limits['low']", "NULL where the key is missing"),
    AcceptedForm(OTHERS, "function(a, ...)", "lower(symbol)", "see the functions below"),
    AcceptedForm(OTHERS, "trim(BOTH | LEADING | TRAILING c FROM a)", "trim(LEADING '.' FROM symbol)"),
    AcceptedForm(OTHERS, "substring(a FROM start [FOR length])", "substring(symbol FROM 2 FOR 3)"),
)

REFUSED: Final = (
    RefusedForm("WITH ...", "WITH w AS (SELECT 1) SELECT * FROM w", refused.WITH),
    RefusedForm("INSERT, CREATE, ...", "INSERT INTO quotes VALUES (1)", refused.STATEMENTS),
    RefusedForm("SELECT DISTINCT", "SELECT DISTINCT symbol FROM quotes", refused.CLAUSES["DISTINCT"]),
    RefusedForm(
        "FROM a, b, c; a JOIN b ... JOIN c",
        "SELECT * FROM quotes a, quotes b, quotes c",
        refused.MANY_STREAMS,
    ),
    RefusedForm(
        "LEFT, RIGHT, FULL [OUTER] JOIN",
        "SELECT * FROM quotes q LEFT JOIN trades t ON q.symbol = t.symbol",
        refused.OUTER_JOIN,
    ),
    RefusedForm(
        "[LEFT] SEMI JOIN",
        "SELECT * FROM quotes q LEFT SEMI JOIN trades t ON q.symbol = t.symbol",
        refused.SEMI_JOIN,
    ),
    RefusedForm(
        "[LEFT] ANTI JOIN",
        "SELECT * FROM quotes q LEFT ANTI JOIN trades t ON q.symbol = t.symbol",
        refused.ANTI_JOIN,
    ),
    RefusedForm("CROSS JOIN", "SELECT * FROM quotes q CROSS JOIN trades t", refused.CROSS_JOIN),
    RefusedForm("NATURAL JOIN", "SELECT * FROM quotes q NATURAL JOIN trades t", refused.NATURAL_JOIN),
    RefusedForm(
        "JOIN LATERAL; , LATERAL", "SELECT * FROM quotes q, LATERAL (SELECT 1)", refused.LATERAL_JOIN
    ),
    RefusedForm(
        "EXISTS (SELECT ...)",
        "SELECT * FROM quotes q WHERE EXISTS (SELECT * FROM trades t WHERE t.symbol = q.symbol)",
        refused.EXISTS,
    ),
    RefusedForm(
        "JOIN after WHERE",
        "SELECT * FROM quotes WHERE price > 1 JOIN trades t ON true",
        refused.MISPLACED_JOIN,
    ),
    RefusedForm("GROUP BY", "SELECT symbol FROM quotes GROUP BY symbol", refused.CLAUSES["GROUP"]),
    RefusedForm("HAVING", "SELECT symbol FROM quotes HAVING price > 1", refused.CLAUSES["HAVING"]),
    RefusedForm("ORDER BY", "SELECT * FROM quotes ORDER BY price", refused.CLAUSES["ORDER"]),
    RefusedForm("SORT BY", "SELECT * FROM quotes SORT BY price", refused.CLAUSES["SORT"]),
    RefusedForm("CLUSTER BY", "SELECT * FROM quotes CLUSTER BY price", refused.CLAUSES["CLUSTER"]),
    RefusedForm("DISTRIBUTE BY", "SELECT * FROM quotes DISTRIBUTE BY price", refused.CLAUSES["DISTRIBUTE"]),
    RefusedForm("LIMIT", "SELECT * FROM quotes LIMIT 5", refused.CLAUSES["LIMIT"]),
    RefusedForm("OFFSET", "SELECT * FROM quotes OFFSET 5", refused.CLAUSES["OFFSET"]),
    RefusedForm("UNION", "SELECT * FROM quotes UNION SELECT * FROM quotes", refused.CLAUSES["UNION"]),
    RefusedForm(
        "INTERSECT", "SELECT * FROM quotes INTERSECT SELECT * FROM quotes", refused.CLAUSES["INTERSECT"]
    ),
    RefusedForm(
        "EXCEPT, MINUS", "SELECT * FROM quotes EXCEPT SELECT * FROM quotes", refused.CLAUSES["EXCEPT"]
    ),
    RefusedForm(
        "WINDOW, QUALIFY, OVER", "SELECT lower(symbol) OVER (ORDER BY price) AS x FROM quotes", refused.WINDOW
    ),
    RefusedForm(
        "LATERAL VIEW", "SELECT * FROM quotes LATERAL VIEW explode(tags) t AS tag", refused.GENERATOR
    ),
    RefusedForm(
        "PIVOT", "SELECT * FROM quotes PIVOT (max(price) FOR symbol IN ('A'))", refused.CLAUSES["PIVOT"]
    ),
    RefusedForm("UNPIVOT", "SELECT * FROM quotes UNPIVOT (a FOR b IN (price))", refused.CLAUSES["UNPIVOT"]),
    RefusedForm(
        "TABLESAMPLE", "SELECT * FROM quotes TABLESAMPLE (5 PERCENT)", refused.CLAUSES["TABLESAMPLE"]
    ),
    RefusedForm("(SELECT ...)", "SELECT * FROM quotes WHERE price > (SELECT 1)", refused.SUBQUERY),
    RefusedForm("COLLATE", "SELECT * FROM quotes WHERE symbol COLLATE UTF8_LCASE = 'a'", refused.COLLATION),
    RefusedForm(
        "'now', 'today', 'tomorrow', 'yesterday' as a date or timestamp",
        "SELECT * FROM quotes WHERE happened < 'today'",
        refused.SPECIAL_TIME,
    ),
    RefusedForm(
        "a & b, a | b, a ^ b, ~a, a << b, a >> b", "SELECT volume & 1 AS x FROM quotes", refused.BITWISE
    ),
    RefusedForm("a -> ...", "SELECT filter(tags, t -> t = 'a') AS x FROM quotes", refused.LAMBDA),
    RefusedForm("name => a", "SELECT round(number => price) AS x FROM quotes", refused.OPERATORS["=>"]),
    RefusedForm("a ** b", "SELECT * FROM quotes WHERE price ** 2 > 4", refused.PAIRS["**"]),
    RefusedForm("a =< b", "SELECT * FROM quotes WHERE price =< 4", refused.PAIRS["=<"]),
    RefusedForm("a && b", "SELECT * FROM quotes WHERE price > 1 && volume > 1", refused.OPERATORS["&&"]),
    RefusedForm("?", "SELECT * FROM quotes WHERE price > ?", refused.OPERATORS["?"]),
    RefusedForm(":name, a:path", "SELECT * FROM quotes WHERE price > :low", refused.OPERATORS[":"]),
    RefusedForm("${name}", "SELECT * FROM quotes WHERE price > ${low}", refused.OPERATORS["$"]),
    RefusedForm("@name", "SELECT * FROM quotes WHERE price > @low", refused.OPERATORS["@"]),
    RefusedForm(
        "{fn ...}, {{ ... }}", "SELECT * FROM quotes WHERE price > {{ low }}", refused.OPERATORS["{"]
    ),
)
