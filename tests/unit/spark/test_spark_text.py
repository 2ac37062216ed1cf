"""Text that only Spark can read is written anew, and nothing in it goes beyond the query's own columns."""

from __future__ import annotations

import pytest

from eddyline.errors import QueryError
from eddyline.model import types as t
from eddyline.model.expression import Column
from eddyline.sql.spark_only.functions import FUNCTIONS
from eddyline.sql.spark_only.rewriting import NotReadable
from eddyline.sql.spark_only.spark_text import SparkText, check_text

KINDS = {
    "n": t.INT,
    "Name": t.STRING,
    "ts": t.TIMESTAMP,
    "day": t.DATE,
    "arr": t.ArrayType(t.INT),
    "st": t.StructType((("x", t.INT),)),
    "odd `name": t.INT,
}
COLUMNS = {name.lower(): Column(name, kind) for name, kind in KINDS.items()}


def check(text: str, **options: object) -> SparkText:
    return check_text(text, COLUMNS, functions={*FUNCTIONS, "my_udf"}, qualifiers={"s"}, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("N & 3 = 1 -- odd /* ones */", "`n` & 3 = 1"),
        ("n << 2 > 1 OR n >>> 1 = 0", "`n` << 2 > 1 OR `n` >>> 1 = 0"),
        ("exists(arr, x -> x > n)", "exists ( `arr` , `x` -> `x` > `n` )"),
        (
            "aggregate(arr, 0, (a, x) -> a + x, a -> a * 2) > 3",
            "aggregate ( `arr` , 0 , ( `a` , `x` ) -> `a` + `x` , `a` -> `a` * 2 ) > 3",
        ),
        ("extract(YEAR FROM ts) = 2020", "extract ( YEAR FROM `ts` ) = 2020"),
        ("position('a' IN name) > 0", "position ( 'a' IN `Name` ) > 0"),
        ("trim(BOTH 'x' FROM name) = ''", "trim ( BOTH 'x' FROM `Name` ) = ''"),
        ("overlay(name PLACING '_' FROM 2 FOR 1) = ''", "overlay ( `Name` PLACING '_' FROM 2 FOR 1 ) = ''"),
        ("timestampadd(HOUR, 1, ts) > ts", "timestampadd ( HOUR , 1 , `ts` ) > `ts`"),
        ("s.n & s.st.x = 1", "`n` & `st`.`x` = 1"),
        ("`odd ``name` ^ 1 = 0", "`odd ``name` ^ 1 = 0"),
        ("name COLLATE UTF8_LCASE = 'a'", "`Name` COLLATE UTF8_LCASE = 'a'"),
        ("cast(n AS DECIMAL(10, 2)) & 1", "cast ( `n` AS DECIMAL ( 10 , 2 ) ) & 1"),
        (
            "from_json(name, 'a INT')::struct<a: int>.a | 1",
            "from_json ( `Name` , 'a INT' ) :: STRUCT < `a` : INT >.`a` | 1",
        ),
        ("mask(name, lowerChar => 'q') = 'q'", "mask ( `Name` , lowerChar => 'q' ) = 'q'"),
        ("ts - INTERVAL 1 DAY 2 HOURS > ts", "`ts` - INTERVAL  1 DAY  2 HOURS > `ts`"),
        ("ts - INTERVAL '1 2' DAY TO HOUR > ts", "`ts` - INTERVAL  '1 2' DAY TO HOUR > `ts`"),
        ("ts > TIMESTAMP'2020-01-01' AND day > DATE \"2020-01-01\"", None),
        ("name LIKE ANY ('a%', 'b') AND n IS NOT DISTINCT FROM 3", None),
        ("CASE WHEN n & 1 = 1 THEN NULL ELSE arr[0] END IS NULL", None),
        ("n NOT BETWEEN ~n AND -3 AND NOT (n IN (1, 2))", None),
        ("my_udf(n) = pi()", "my_udf ( `n` ) = pi ( )"),
        ("name = 'it''s' 'x' r'\\n' \"q\"", "`Name` = 'it\\'sx\\\\nq'"),
        ("name = '${env:HOME}'", "`Name` = '$' '{env:HOME}'"),
        ("transform(arr, n -> n + 1)[0] = n", "transform ( `arr` , `n` -> `n` + 1 ) [ 0 ] = `n`"),
    ],
)
def test_written_anew(text: str, written: str | None) -> None:
    found = check(text)
    assert written is None or found.text == written
    assert check(found.text).text == found.text, "what was written is read and written alike"
    assert "${" not in found.text and "--" not in found.text and "/*" not in found.text


def test_what_it_reads_and_calls() -> None:
    found = check("exists(arr, x -> x > N) AND lower(name) = my_udf(n)")
    assert [column.name for column in found.columns] == ["arr", "n", "Name"]
    assert found.functions == ("exists", "my_udf")


def test_forms_that_do_not_fail() -> None:
    assert check("element_at(arr, n) = cast(name AS INT)", try_forms=True).text == (
        "try_element_at ( `arr` , `n` ) = try_cast ( `Name` AS INT )"
    )


# Ways in which a text could reach what is not the query's own, or run what it should not.
DANGEROUS = [
    "(SELECT 1) = 1",
    "n IN (SELECT 1)",
    "n IN (TABLE secrets)",
    "n IN (VALUES 1)",
    "exists(SELECT 1)",
    "EXISTS (FROM secrets)",
    "(WITH a AS (SELECT 1) SELECT * FROM a) = 1",
    "(FROM secrets |> SELECT a) = 1",
    "reflect('java.lang.System', 'exit', 1) = ''",
    "java_method('java.lang.System', 'getenv', 'HOME') = ''",
    "try_reflect('java.lang.System', 'getenv', 'HOME') = ''",
    "`reflect`('java.lang.System', 'exit') = ''",
    "builtin.reflect('java.lang.System', 'exit') = ''",
    "system.builtin.upper(name) = ''",
    "session.my_function(n) = 1",
    "st.upper(n) = 1",
    "IDENTIFIER('n') = 1",
    "IDENTIFIER('refl' || 'ect')('java.lang.System') = ''",
    "(upper)(name) = ''",
    "arr[0](n) = 1",
    "input_file_name() = ''",
    "current_user() = ''",
    "current_user = ''",
    "CURRENT_DATE > day",
    "current_timestamp > ts",
    "now() > ts",
    "ts > TIMESTAMP'now'",
    "ts > TIMESTAMP ' Today UTC' AND n & 1 = 1",
    "day > DATE'yesterday'",
    "unix_timestamp() > n",
    "version() = ''",
    "rand() > 0.5",
    "uuid() = ''",
    "shuffle(arr)[0] = 1",
    "raise_error('x') IS NULL",
    "assert_true(n > 1) IS NULL",
    "explode(arr) = 1",
    "count(*) > 1",
    "count(DISTINCT n) > 1",
    "sum(n) FILTER (WHERE n > 1) > 1",
    "sum(n) OVER (PARTITION BY n) > 1",
    "from_protobuf(name, 'A', '/etc/passwd') IS NULL",
    "from_xml(name, 'a INT', map('rowValidationXSDPath', '/etc/passwd')) IS NULL",
    "schema_of_xml(name, map('rowValidationXSDPath', '/etc/passwd')) = ''",
    "from_avro(name, '{}', map('avroSchemaUrl', '/etc/passwd')) IS NULL",
    "sql_keywords() IS NULL",
    "some_function(n) = 1",
    "_metadata.file_path = ''",
    "_metadata = ''",
    "session_variable = 1",
    "system.session.secret = 'x'",
    "session.secret = 'x'",
    "exists(arr, secret -> true) AND secret = 1",
    "aggregate(arr, 0, (a, x) -> a + x) > x",
    "transform(arr, x -> x)[x] = 1",
    "exists(arr, x -> x > y)",
    "struct(*) IS NULL",
    "struct(s.*) IS NULL",
    "struct(n, *) IS NULL",
    "hash(* EXCEPT (n)) = 1",
    "n = :parameter",
    "n = ?",
    "n = ${n}",
    "name = $$x$$",
    "name:a = 1",
    "n = @x",
    "{n} = 1",
    "n = 1 n",
    "n = 1 AS secret",
    "n = 1; DROP TABLE x",
    "n = 1) OR (1 = 1",
    "n = 1abc",
    "n = 1 UNION SELECT 2",
    "n TABLESAMPLE (1 ROWS) = 1",
    "day = 1 DAY",
    "year = 2020",
    "hour > 3 AND n & 1 = 1",
    "date > 3",
    "n |> SELECT 1",
    "n'x' = 'x'",
    "",
    "n =",
    "(n & 1",
    "exists(arr, x ->)",
    "x -> x",
]


@pytest.mark.parametrize("text", DANGEROUS)
def test_refused(text: str) -> None:
    with pytest.raises(QueryError):
        check(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("n & prise = 1", 'no column "prise"'),
        ("reflect('a') & 1", "reflect: the function runs arbitrary Java code"),
        ("lowr(name) & 1", 'function "lowr" is not known'),
        ("from_xml(name, 'a INT', map()) & 1", "options of the function can read files"),
        ("current_date & 1", "reads the clock"),
    ],
)
def test_refused_for_a_reason(text: str, message: str) -> None:
    with pytest.raises(QueryError, match=message) as caught:
        check(text)
    assert not isinstance(caught.value, NotReadable)


def test_names_that_spark_would_replace() -> None:
    columns = {"${a}": Column("${a}", t.INT)}
    with pytest.raises(QueryError, match="which Spark replaces"):
        check_text("`${a}` & 1", columns, functions=())
