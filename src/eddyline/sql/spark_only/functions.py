"""Functions that Spark has and Eddyline does not: a query that needs them is fine for the Spark runtime, unverified."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from eddyline.errors import QueryError
from eddyline.model import types as t
from eddyline.model.catalog import Stream
from eddyline.model.expression import Expression
from eddyline.model.query import Query
from eddyline.sql.bind import bind
from eddyline.sql.spark_only.rewriting import NotReadable
from eddyline.sql.spark_only.spark_text import SparkText

# Spark's deterministic scalar functions by its own groups, less those of `functions/` and of `refused.py`.
FUNCTIONS: Final = frozenset(
    """
    acos acosh asin asinh atan atan2 atanh bin bround cbrt conv cos cosh cot csc degrees e exp expm1 factorial hex
    hypot ln log log10 log1p log2 mod pi pmod positive pow power radians rint sec sign signum sin sinh sqrt tan tanh
    try_add try_divide try_mod try_multiply try_subtract unhex width_bucket

    add_months convert_timezone date_format date_from_unix_date date_part datepart dayname dayofyear extract
    from_unixtime from_utc_timestamp last_day make_date make_dt_interval make_interval make_time make_timestamp
    make_timestamp_ltz make_timestamp_ntz make_ym_interval monthname months_between next_day quarter time time_bucket
    time_diff time_from_micros time_from_millis time_from_seconds time_to_micros time_to_millis time_to_seconds
    time_trunc timestamp_micros timestamp_millis timestamp_seconds to_time to_timestamp_ltz to_timestamp_ntz
    to_utc_timestamp trunc try_make_interval try_make_timestamp try_make_timestamp_ltz try_make_timestamp_ntz
    try_to_date try_to_time try_to_timestamp unix_date unix_micros unix_millis unix_seconds weekday weekofyear

    aes_decrypt bitmap_bit_position bitmap_bucket_number bitmap_count try_aes_decrypt typeof

    array array_append array_compact array_distinct array_except array_insert array_intersect array_join array_max
    array_min array_position array_prepend array_remove array_repeat array_size array_sort array_union arrays_overlap
    arrays_zip element_at flatten get reverse sequence slice sort_array try_element_at
    map map_concat map_contains_key map_entries map_from_arrays map_from_entries map_keys map_values named_struct
    str_to_map struct

    ascii base64 bit_length char chr collation concat_ws decode elt encode find_in_set format_number format_string
    initcap instr is_valid_utf8 levenshtein locate lpad luhn_check make_valid_utf8 mask octet_length overlay position
    printf quote regexp_count regexp_extract regexp_extract_all regexp_instr regexp_replace regexp_substr repeat
    replace rpad sentences soundex space split split_part substring_index to_binary to_char to_number to_varchar
    translate try_to_binary try_to_number try_validate_utf8 unbase64 validate_utf8

    bit_count bit_get getbit shiftleft shiftright shiftrightunsigned
    crc32 hash md5 sha sha1 sha2 xxhash64
    nanvl nullifzero zeroifnull
    parse_url try_parse_url try_url_decode url_decode url_encode

    aggregate exists filter forall map_filter map_zip_with reduce transform transform_keys transform_values when
    zip_with

    from_avro schema_of_avro to_avro from_csv schema_of_csv to_csv from_json get_json_object json_array_length
    json_object_keys schema_of_json to_json from_xml schema_of_xml to_xml xpath
    xpath_boolean xpath_double xpath_float xpath_int xpath_long xpath_number xpath_short xpath_string
    is_valid_variant is_variant_null parse_json schema_of_variant to_variant_object try_parse_json try_variant_get
    variant_get

    st_asbinary st_geogfromwkb st_geomfromwkb st_setsrid st_srid
    approx_top_k_estimate hll_sketch_estimate hll_union kll_sketch_get_n_bigint kll_sketch_get_n_double
    kll_sketch_get_n_float kll_sketch_get_quantile_bigint kll_sketch_get_quantile_double
    kll_sketch_get_quantile_float kll_sketch_get_rank_bigint kll_sketch_get_rank_double kll_sketch_get_rank_float
    kll_sketch_merge_bigint kll_sketch_merge_double kll_sketch_merge_float kll_sketch_to_string_bigint
    kll_sketch_to_string_double kll_sketch_to_string_float theta_difference theta_intersection theta_sketch_estimate
    theta_union tuple_difference_double tuple_difference_integer tuple_difference_theta_double
    tuple_difference_theta_integer tuple_intersection_double tuple_intersection_integer
    tuple_intersection_theta_double tuple_intersection_theta_integer tuple_sketch_estimate_double
    tuple_sketch_estimate_integer tuple_sketch_summary_double tuple_sketch_summary_integer
    tuple_sketch_theta_double tuple_sketch_theta_integer tuple_union_double tuple_union_integer
    tuple_union_theta_double tuple_union_theta_integer

    vector_cosine_similarity vector_inner_product vector_l2_distance vector_norm vector_normalize
    """.split()
)

# Result types that are tried in turn, since only Spark knows the true one: VOID goes wherever any type goes.
_GUESSES: Final = (t.VOID, t.ArrayType(t.VOID), t.MapType(t.STRING, t.VOID))
# Signs that a piece of text is not just a mistake.
_SIGNS: Final = ("->", "&", "|", "^", "~", "<<", ">>", ">>>", "=>", "COLLATE", "PLACING")
_FORMS: Final = ("extract", "overlay")


class _Guess:
    """Says of everything that only Spark has that it is of one type, and remembers what it was asked."""

    functions = FUNCTIONS
    judges = False

    def __init__(self, kind: t.DataType) -> None:
        self._kind = kind
        self.asked: dict[str, None] = {}

    def call(self, name: str, arguments: Sequence[Expression]) -> t.DataType | None:
        """The type, for a function that Spark has."""
        if name not in FUNCTIONS:
            return None
        self.asked[name] = None
        return self._kind

    def expression(self, piece: SparkText) -> t.DataType:
        """The type, for a piece with something in it that Spark is known to read."""
        written = piece.text.split()
        signs = [sign for sign in _SIGNS if sign in written]
        if not signs and not set(_FORMS) & set(piece.functions):
            raise NotReadable("Spark is not known to read this")
        self.asked |= dict.fromkeys(piece.functions or signs)
        return self._kind


def spark_functions(query: Query, streams: Iterable[Stream], *, time_zone: str = "UTC") -> list[str]:
    """The functions and signs of a query that only Spark has; `QueryError` where anything else is wrong with it.

    >>> import pyarrow as pa
    >>> cards = Stream("cards", pa.schema([("number", pa.string())]))
    >>> spark_functions(Query("valid", "SELECT * FROM cards WHERE luhn_check(number)"), [cards])
    ['luhn_check']
    """
    known = list(streams)
    first: QueryError | None = None
    for kind in _GUESSES:
        guess = _Guess(kind)
        try:
            bind(query, known, time_zone=time_zone, resolver=guess)
            return list(guess.asked)
        except QueryError as error:
            first = first or error
            if not guess.asked:
                break
    assert first is not None, "the loop ends early only with an error"
    raise first
