"""Rows of many types, conditions that only Spark can compute, and who matches what: by us, and by Spark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from eddyline import QuerySet
from eddyline.runtime.spark.functions import external_name, externals_of, with_externals

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# One condition a line, each with something that only Spark has; after ## the same for Spark, where it would fail.
CONDITIONS = """
levenshtein(a, b) < 3
levenshtein(a, b) BETWEEN 2 AND 5 OR soundex(a) = soundex(b)
initcap(a) = a
ascii(a) > 97
char(n + 65) = 'D'
base64(bin) = 'AQI='
unbase64(base64(bin)) = bin
hex(n) IN ('3', '7')
length(bin(n)) = 2
unhex(hex(a)) = cast(a AS BINARY)
concat_ws('-', a, b) = 'kitten-sitting'
elt(2, a, b) = b
find_in_set(a, 'kitten,x') = 1
format_number(d, 1) = '2.5'
format_string('%s/%s', a, n) LIKE '%/3'
instr(a, 'tt') > 0
locate('t', a, 4) = 4
lpad(a, 8, '*') LIKE '*%'
rpad(a, 3, '*') = 'kit'
luhn_check('4539578763621486')
mask(a) = 'xxxxxx'
octet_length(a) > bit_length(b) div 16
overlay(a, 'ZZ', 2) LIKE '_ZZ%'
position('t', a) = 3
regexp_count(a, 't') = 2
regexp_extract(a, '(t+)', 1) = 'tt'
regexp_extract_all(a, '(t)', 1)[1] = 't' ## get(regexp_extract_all(a, '(t)', 1), 1) = 't'
regexp_instr(a, 't') = 3
regexp_replace(a, 't+', '') = 'kien'
regexp_substr(a, 'i.') = 'it'
repeat(a, 2) = concat(a, a)
replace(a, 't', '') = 'kien'
reverse(a) = 'nettik'
split(a, 't')[0] = 'ki'
split_part(a, 't', 3) = 'en'
substring_index(a, 't', 1) = 'ki'
translate(a, 'kt', 'xy') = 'xiyyen'
to_char(cast(n AS DECIMAL(5, 0)), '999') IS NOT NULL
to_number('12', '99') = 12
acos(d) IS NOT NULL AND NOT isnan(acos(d))
atan2(d, n) > 0.5
cbrt(d) > 1
conv(n, 10, 2) = '11'
exp(d) > 10 AND ln(d) > 0
factorial(n) > 5
hypot(d, n) > 3
log(2, n) > 1
log10(n) < 1
pmod(-n, 5) = 2
pow(n, 2) > 8
bround(d, 0) = 2
rint(d) = 2.0
signum(d) > 0
sqrt(n) > 1
sin(d) > cos(d)
width_bucket(d, 0, 10, 5) = 2
greatest(pi(), d) > 3.1
e() > d
try_divide(n, n - 3) IS NULL
make_date(2020, n * 4, 1) IS NULL ## n = 7 OR n IS NULL
pmod(5, n - 3) IS NULL ## n = 3 OR n IS NULL
add_months(day, 1) > DATE'2020-03-01'
date_format(ts, 'yyyy') = '2020'
date_part('MONTH', ts) = 2
dayofyear(day) = 60
from_unixtime(n, 'yyyy') = '1970'
from_utc_timestamp(ts, 'Europe/Berlin') > ts
last_day(day) = day
make_date(2020, n, 1) > DATE'2020-02-01'
months_between(ts, TIMESTAMP'2020-01-01 00:00:00') > 1
next_day(day, 'MO') > day
quarter(day) = 1
to_timestamp_ntz('2020-02-29') = ntz
trunc(day, 'YEAR') = DATE'2020-01-01'
unix_date(day) > 18000
unix_micros(ts) > 0
weekday(day) = 5
monthname(day) = 'Feb'
timestamp_seconds(n) < ts
array_contains(array_distinct(arr), 3)
array_join(arr, ',') = '1,2,3'
array_max(arr) > 2
array_position(arr, 2) = 2
array_remove(arr, 1)[0] = 2 ## get(array_remove(arr, 1), 0) = 2
array_union(arr, array(9))[3] = 9 ## get(array_union(arr, array(9)), 3) = 9
arrays_overlap(arr, array(3, 4))
cardinality(array_except(arr, array(1))) = 2
element_at(arr, 1) = 1 ## try_element_at(arr, 1) = 1
element_at(m, 'k') = 7
flatten(array(arr, arr))[5] = 3 ## get(flatten(array(arr, arr)), 5) = 3
get(arr, 1) = 2
sequence(1, n)[0] = 1
slice(arr, 2, 1)[0] = 2 ## get(slice(arr, 2, 1), 0) = 2
sort_array(arr, false)[0] = 3 ## get(sort_array(arr, false), 0) = 3
map_contains_key(m, 'k')
map_keys(m)[0] = 'k'
map_values(m)[0] > 6
named_struct('x', n).x = 3
str_to_map(a, 't', 'i')['k'] = ''
crc32(a) > 0
md5(a) > '2'
sha2(a, 256) RLIKE '^[0-9a-f]+$'
hash(a, n) <> xxhash64(a)
from_json('{"x": 3}', 'x INT').x = n
get_json_object('{"x": 3}', '$.x') = '3'
json_array_length('[1, 2]') < n
to_json(named_struct('x', n)) = '{"x":3}'
from_csv('3', 'x INT').x = n
xpath_int('<a><b>3</b></a>', 'a/b') = n
parse_url('http://x.org/p?q=1', 'HOST') = 'x.org'
url_encode(a) = a
bit_count(n) = 2
shiftleft(n, 1) = 6
getbit(n, 0) = 1
nanvl(d, 0) > 2
nullifzero(n - 3) IS NULL
zeroifnull(n) = 0
typeof(n) = 'int'
try_variant_get(parse_json('{"a": 3}'), '$.a', 'int') = n
vector_norm(array(cast(d AS FLOAT)), 2.0F) > 2
decode(encode(a, 'UTF-8'), 'UTF-8') = a
exists(arr, x -> x > 2)
NOT forall(arr, x -> x > n - 3) OR a IS NULL
size(filter(arr, x -> x % 2 = 1)) = 2
transform(arr, (x, i) -> x + i)[2] = 5 ## get(transform(arr, (x, i) -> x + i), 2) = 5
aggregate(arr, 0, (acc, x) -> acc + x) = 6
aggregate(arr, 0, (acc, x) -> acc + x, acc -> acc * 10) = 60
reduce(arr, 0, (acc, x) -> acc + x) = n * 2
zip_with(arr, arr, (x, y) -> x * y)[2] = 9 ## get(zip_with(arr, arr, (x, y) -> x * y), 2) = 9
size(map_filter(m, (k, v) -> v > 6)) = 1
transform_values(m, (k, v) -> v + 1)['k'] = 8
n > 2 AND exists(arr, x -> x > n) OR n & 1 = 1 AND a LIKE 'k%'
exists(arr, x -> exists(arr, y -> y > x AND y = n))
n & 2 = 2
n | 4 = 7 OR n ^ 1 = 0
~n < -2
n << 1 = 6 AND n >> 1 = 1 AND n >>> 1 = 1
extract(YEAR FROM ts) = 2020
extract(DAY FROM ts) = 29 AND a LIKE '%n'
position('t' IN a) = 3
trim(BOTH 'k' FROM a) = 'itten'
overlay(a PLACING '_' FROM 1 FOR 1) = '_itten'
timestampadd(HOUR, 1, ts) > ts
timestampdiff(DAY, TIMESTAMP'2020-01-01 00:00:00', ts) = 59
a COLLATE UTF8_LCASE = 'KITTEN'
mask(a, lowerChar => 'q') = 'qqqqqq'
a RLIKE '(t)\\\\1'
make_ym_interval(1, 2) > make_ym_interval(1, 1) AND n = 3
parse_json('{"a": 1}') IS NOT NULL AND n = 3
(n, a) = (3, 'kitten')
CASE WHEN n & 1 = 1 THEN a ELSE b END = 'kitten'
abs(n & 3) + 1 > 3
a = 'kitten' AND md5('$' || '{x}') = md5('${x}')
substring(a FROM 2 FOR 2) = 'it' AND n & 1 = 1
st.x & 1 = 1
s.n & 1 = 1 AND `s`.a LIKE 'k%'
octet_length(concat('\x01', ' || repeat(a, 9) || ', a)) > 20
typeof(cast(NULL AS STRUCT<`x: INT>) || repeat(a, 9); --`: INT>)) LIKE 'struct<%'
exists(arr, x -> a = 'kitten' AND ' || repeat(a, 9) || "' <> "it's \\\\")
""".strip().split("\n")


def some_rows(spark: SparkSession) -> DataFrame:
    """A few rows; the last has NULLs alone."""
    columns = (
        "id INT, n INT, a STRING, b STRING, d DOUBLE, bin BINARY, day STRING, ts STRING, arr ARRAY<INT>, "
        "m MAP<STRING, INT>, st STRUCT<x: INT>"
    )
    nan, midnight = float("nan"), "2020-02-29 00:00:00"
    values: list[tuple[Any, ...]] = [
        (0, 3, "kitten", "sitting", 2.5, b"\1\2", "2020-02-29", midnight, [1, 2, 3], {"k": 7}, (3,)),
        (1, 7, "Robert", "Rupert", 0.5, b"\xff", "2021-01-01", "1999-12-31 23:59:59", [9], {"z": 1}, (4,)),
        (2, 1, "", "x", nan, b"", "1969-07-20", "1969-07-20 20:17:40", [], {"k": None}, None),
        (3, *[None] * 10),
    ]
    return spark.createDataFrame(values, columns).selectExpr(
        "* EXCEPT (day, ts)",
        "cast(day AS DATE) AS day",
        "cast(ts AS TIMESTAMP) AS ts",
        "cast(ts AS TIMESTAMP_NTZ) AS ntz",
    )


def matched(qs: QuerySet, df: DataFrame, **options: Any) -> dict[str, list[int]]:
    """Rows by query, the way a worker finds them."""
    calls = externals_of(qs, "s")
    table = with_externals(df, calls, **options).toArrow()
    known = {call: table.column(external_name(place)) for place, call in enumerate(calls)}
    found = qs.match(table, stream="s", known=known)
    return {query.id: found.rows(query.id).tolist() for _, query in qs.queries()}


def judged(df: DataFrame, conditions: dict[str, str]) -> dict[str, list[int]]:
    """Rows by query, the way Spark finds them; the qualifier is a name of the DataFrame."""
    told = df.alias("s").selectExpr(*(f"({text}) AS `{id}`" for id, text in conditions.items())).toArrow()
    return {id: [row for row, yes in enumerate(told[id].to_pylist()) if yes] for id in conditions}


@contextmanager
def interpreted(spark: SparkSession) -> Iterator[None]:
    """For a few rows and many expressions: compiling them is what takes Spark long."""
    settings = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
    before = {name: spark.conf.get(name) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    yield
    for name, old in before.items():
        spark.conf.set(name, str(old))
