"""What Spark SQL has and Eddyline refuses, by name, with what to write instead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Refusal:
    """A construct that is understood but not supported, and the way out."""

    message: str
    instead: str


SUBQUERY: Final = Refusal("subqueries are not supported", "list the values: x IN (1, 2, 3)")
AGGREGATE: Final = Refusal(
    "aggregate functions are not supported: a query sees one tuple at a time",
    "aggregate the results in the system that receives them",
)
WINDOW: Final = Refusal(
    "window functions are not supported: a query sees one tuple at a time",
    "compute them on the results",
)
LAMBDA: Final = Refusal("lambda functions are not supported", "use array_contains or an element such as a[0]")
COLLATION: Final = Refusal(
    "collations other than the default are not supported", "compare lower(x) with lower-case text"
)
NOT_DETERMINISTIC: Final = Refusal(
    "the function is not deterministic: the same tuple would match one time and not the next",
    "add a column with the random value to the stream",
)
CLOCK: Final = Refusal(
    "the function reads the clock, so the same tuple would match one time and not the next",
    "compare with a column of the stream, or with a constant such as TIMESTAMP'2026-01-01 00:00:00'",
)
SPECIAL_TIME: Final = Refusal(
    "the word stands for a moment that the clock decides, so the same tuple would match one time and not the next",
    CLOCK.instead,
)
SESSION: Final = Refusal(
    "the function depends on the session that runs the query", "write the value as a constant"
)
RAISES: Final = Refusal("the function is made to fail", "use CASE or IF to choose a value")
FOREIGN: Final = Refusal("the function runs arbitrary Java code", "use a function of the documented list")
GENERATOR: Final = Refusal(
    "functions that make several rows of one are not supported", "use array_contains or a[0]"
)
FILES: Final = Refusal(
    "the function can read files or load classes on the machine that runs the query",
    "decode the column before it reaches the stream",
)
OPTIONS: Final = Refusal("options of the function can read files", "call it without options")
BITWISE: Final = Refusal("bitwise operators are not supported", "use % and div on numbers")

OPERATORS: Final = {
    "&": BITWISE,
    "|": BITWISE,
    "^": BITWISE,
    "~": BITWISE,
    "->": LAMBDA,
    "=>": Refusal(
        "named arguments are not supported", 'give the arguments in their order; or did you mean ">="?'
    ),
    "&&": Refusal('there is no operator "&&"', "write AND"),
    "?": Refusal("parameter markers are not supported", "write the value itself"),
    ":": Refusal(
        "parameter markers and JSON paths are not supported", "write the value itself, or name the field a.b"
    ),
    "$": Refusal("variables are not supported", "write the value itself"),
    "@": Refusal("variables are not supported", "write the value itself"),
    "{": Refusal("variables and templates are not supported", "write the value itself"),
}

PAIRS: Final = {  # operators that come as two tokens
    "<<": BITWISE,
    ">>": BITWISE,
    "**": Refusal("the power operator is not supported", "multiply: a * a"),
    "=<": Refusal('there is no operator "=<"', 'did you mean "<="?'),
}


def _all(reason: Refusal, names: str) -> dict[str, Refusal]:
    return dict.fromkeys(names.split(), reason)


FUNCTIONS: Final = {
    **_all(
        AGGREGATE,
        "count sum avg mean min max first last any_value collect_list collect_set stddev variance median percentile "
        "approx_count_distinct count_if bool_and bool_or every some any min_by max_by mode listagg string_agg sumdistinct "
        "approx_percentile approx_top_k approx_top_k_accumulate approx_top_k_combine array_agg bit_and bit_or bit_xor "
        "bitmap_and_agg bitmap_construct_agg bitmap_or_agg corr count_min_sketch covar_pop covar_samp first_value "
        "grouping grouping_id histogram_numeric hll_sketch_agg hll_union_agg kll_merge_agg_bigint kll_merge_agg_double "
        "kll_merge_agg_float kll_sketch_agg_bigint kll_sketch_agg_double kll_sketch_agg_float kurtosis last_value "
        "measure percentile_approx percentile_cont percentile_disc regr_avgx regr_avgy regr_count regr_intercept "
        "regr_r2 regr_slope regr_sxx regr_sxy regr_syy schema_of_variant_agg skewness std stddev_pop stddev_samp "
        "theta_intersection_agg theta_sketch_agg theta_union_agg try_avg try_sum tuple_intersection_agg_double "
        "tuple_intersection_agg_integer tuple_sketch_agg_double tuple_sketch_agg_integer tuple_union_agg_double "
        "tuple_union_agg_integer var_pop var_samp vector_avg vector_sum",
    ),
    **_all(
        WINDOW,
        "row_number rank dense_rank percent_rank ntile lag lead nth_value cume_dist window session_window "
        "window_time",
    ),
    **_all(
        NOT_DETERMINISTIC,
        "rand random randn uuid shuffle randstr uniform monotonically_increasing_id spark_partition_id "
        "aes_encrypt",
    ),
    **_all(
        CLOCK,
        "now current_timestamp current_date curdate current_time current_timezone localtimestamp current_localtime",
    ),
    **_all(
        SESSION,
        "current_user user session_user current_database current_schema current_catalog version input_file_name "
        "input_file_block_start input_file_block_length current_path",
    ),
    **_all(RAISES, "raise_error assert_true"),
    **_all(FOREIGN, "reflect java_method try_reflect"),
    **_all(FILES, "from_protobuf to_protobuf"),
    **_all(
        GENERATOR,
        "explode explode_outer posexplode posexplode_outer inline inline_outer stack json_tuple variant_explode "
        "variant_explode_outer range collations sql_keywords python_worker_logs",
    ),
    "collate": COLLATION,
}

MISPLACED_JOIN: Final = Refusal(
    "JOIN stands between FROM and WHERE",
    "SELECT ... FROM quotes q JOIN trades t ON q.symbol = t.symbol WHERE ...",
)
MANY_STREAMS: Final = Refusal(
    "joins of more than two streams are not supported yet",
    "join two streams, and their results where they arrive",
)
OUTER_JOIN: Final = Refusal(
    "outer joins are not supported: a result comes when both of its tuples are there",
    "write JOIN, which gives the pairs",
)
SEMI_JOIN: Final = Refusal("LEFT SEMI JOIN is not supported yet", "write JOIN, which gives every pair")
ANTI_JOIN: Final = Refusal("LEFT ANTI JOIN is not supported yet", "write JOIN, which gives the pairs")
CROSS_JOIN: Final = Refusal(
    "CROSS JOIN is not supported: every tuple would meet every other",
    "write JOIN ... ON q.symbol = t.symbol",
)
NATURAL_JOIN: Final = Refusal(
    "NATURAL JOIN is not supported: a new column would change what it means",
    "name the columns: JOIN trades t USING (symbol)",
)
LATERAL_JOIN: Final = Refusal("LATERAL joins are not supported", "write JOIN, which gives the pairs")
EXISTS: Final = Refusal("EXISTS is not supported", "write JOIN, which gives the pairs")

CLAUSES: Final = {
    "DISTINCT": Refusal("SELECT DISTINCT is not supported: every match is delivered", "leave DISTINCT out"),
    "GROUP": Refusal("GROUP BY is not supported: a query sees one tuple at a time", "group the results"),
    "HAVING": Refusal("HAVING is not supported: there are no groups", "write the condition into WHERE"),
    "ORDER": Refusal("ORDER BY is not supported: results come as the tuples come", "sort the results"),
    "SORT": Refusal("SORT BY is not supported: results come as the tuples come", "sort the results"),
    "CLUSTER": Refusal("CLUSTER BY is not supported", "leave it out"),
    "DISTRIBUTE": Refusal("DISTRIBUTE BY is not supported", "leave it out"),
    "LIMIT": Refusal(
        "LIMIT is not supported: a standing query has no end", "take the first results where they arrive"
    ),
    "OFFSET": Refusal(
        "OFFSET is not supported: a standing query has no end", "skip results where they arrive"
    ),
    "UNION": Refusal("UNION is not supported", "register two queries, or combine the conditions with OR"),
    "INTERSECT": Refusal("INTERSECT is not supported", "combine the conditions with AND"),
    "EXCEPT": Refusal("EXCEPT is not supported", "combine the conditions with AND NOT"),
    "MINUS": Refusal("MINUS is not supported", "combine the conditions with AND NOT"),
    "WINDOW": WINDOW,
    "QUALIFY": WINDOW,
    "LATERAL": GENERATOR,
    "PIVOT": Refusal("PIVOT is not supported", "leave it out"),
    "UNPIVOT": Refusal("UNPIVOT is not supported", "leave it out"),
    "TABLESAMPLE": Refusal("TABLESAMPLE is not supported: it is not deterministic", "filter by a column"),
    **dict.fromkeys(("JOIN", "INNER"), MISPLACED_JOIN),
    **dict.fromkeys(("LEFT", "RIGHT", "FULL"), OUTER_JOIN),
    "SEMI": SEMI_JOIN,
    "ANTI": ANTI_JOIN,
    "CROSS": CROSS_JOIN,
    "NATURAL": NATURAL_JOIN,
}

STATEMENTS: Final = Refusal("only SELECT queries can be registered", "SELECT ... FROM stream WHERE ...")
WITH: Final = Refusal("WITH is not supported", "write the condition into WHERE")
