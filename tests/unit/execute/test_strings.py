"""Numbers of strings among constants, in every form in which they may lie in memory."""

import time
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

from eddyline.execute.locating import strings
from eddyline.execute.locating.strings import SEEDS, StringTable
from eddyline.functions.evaluate import Evaluation
from eddyline.index.cutting import cut
from eddyline.kernels import strings as kernels
from eddyline.model.expression import Column
from eddyline.model.regions import Regions
from eddyline.model.types import BINARY, STRING

MISSING, NULL = 1000, 2000
LONG = "https://example.org/"
TEXTS = [
    "",
    "a",
    "ab",
    "ab\0",
    "\0",
    "sevenab",
    "eight888",
    "eight889",
    "nine99999",
    "é",
    "sixteen_sixteen_",
    "seventeen17171717",
]
TEXTS += [LONG + middle + "/index.html" for middle in ("left", "rite", "right")]


@pytest.fixture(params=["hashed", "listed"], autouse=True)
def finder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test also without a hash table, as if no seed had made one."""
    if request.param == "listed":
        monkeypatch.setattr(strings, "SEEDS", ())


def answers(values: pa.Array, constants: list) -> list[int]:
    kind = BINARY if isinstance(constants[0], bytes) else STRING
    cutting = cut(Column("x", kind), [Regions.points(constants)])
    found = np.empty(len(values), np.uint32)
    StringTable(cutting, step=1, first=0, missing=MISSING, null=NULL).find(values, found)
    return found.tolist()


def expected(values: pa.Array, constants: list) -> list[int]:
    places = {value: place for place, value in enumerate(sorted(constants))}
    return [NULL if value is None else places.get(value, MISSING) for value in values.to_pylist()]


def check(values: pa.Array, constants: list) -> None:
    assert answers(values, constants) == expected(values, constants)


@pytest.mark.parametrize("text", TEXTS)
def test_every_length_alone(text: str) -> None:
    """The data ends with the string: nothing past it may be read, and no neighbour helps."""
    check(pa.array([text]), [text])
    check(pa.array([text]), [text + "x", "y"])


@pytest.mark.parametrize("copies", [1, 40])
def test_all_at_once(copies: int) -> None:
    values = pa.array(([*TEXTS, None, "other", LONG + "LEFT" + "/index.html"]) * copies)
    check(values, TEXTS)
    check(values, TEXTS[::2])


def test_binaries() -> None:
    constants = [b"", b"\xff\xfe", b"\0\0", b"0123456789abcdef!"]
    check(pa.array([*constants, b"\0", None], pa.binary()), constants)


def test_parts_of_arrays() -> None:
    values = pa.array(["ab", None, "a", "eight888", "", "nine99999"])
    for start in range(6):
        for length in range(6 - start):
            check(values.slice(start, length), TEXTS)


def test_many_constants_that_look_alike() -> None:
    constants = [f"{i:06d}" for i in range(5000)]
    check(pa.array(constants + [f"x{i}" for i in range(5000)]), constants)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5, 70_000])
def test_any_number_of_constants(size: int) -> None:
    constants = [f"constant {i}" for i in range(size)]
    cutting = cut(Column("x", STRING), [Regions.points(constants)])
    table = StringTable(cutting, step=2, first=1, missing=0, null=0)
    found = np.empty(size + 3, np.uint32)
    table.find(pa.array([*cutting.constants, "", None, "constant"], pa.string()), found)
    assert found.tolist() == [*range(1, 2 * size, 2), 0, 0, 0]


def test_two_equal_hashes_have_no_factor() -> None:
    """Another seed is taken then."""
    members, starts, order = np.arange(2), np.array([0, 2]), np.array([0])
    for hashes, possible in (([1, 2], True), ([7, 7], False)):
        factors, slots = np.ones(1, np.uint64), np.full(4, 2, np.uint16)
        given = np.array(hashes, np.uint64)
        assert kernels.build(given, members, starts, order, 62, 2, factors, slots) is possible
        assert sorted(slots.tolist()) == ([0, 1, 2, 2] if possible else [2, 2, 2, 2])


ORDINARY = {
    "decimals": [f"{i}.5" for i in range(50)],
    "numbers": [str(i) for i in range(100)],
    "characters": [chr(i) for i in range(256)],
    "two characters": [chr(i % 128) + chr(i // 128) for i in range(4000)],
    "blanks": [" " * i for i in range(40)],
    "zeros": ["\0" * i + end for i in range(40) for end in ("", "a")],
    "addresses": [LONG + str(i) for i in range(300)],
    "words that differ by their length": [chr(ord("A") ^ i) + "bc" for i in range(16)],
}


@pytest.mark.parametrize("constants", ORDINARY.values(), ids=ORDINARY)
def test_the_first_seed_serves_ordinary_texts(constants: list[str]) -> None:
    check(pa.array([*constants, "other", None]), constants)
    table = strings._table(*strings._buffers(pa.array(constants)), 1, 0)
    assert table is None if not strings.SEEDS else table is not None and table[0] == SEEDS[0]


def colliding(seed: int, count: int) -> Iterator[bytes]:
    """Strings of 16 bytes with one hash under a seed: their head makes the first factor zero."""
    head = (seed ^ 16).to_bytes(8, "little")
    return (head + number.to_bytes(8, "big") for number in range(count))


def test_strings_made_to_defeat_some_seeds_are_served_by_another() -> None:
    constants = [text for seed in SEEDS[:-1] for text in colliding(seed, 3)]
    table = strings._table(*strings._buffers(pa.array(constants, pa.binary())), 1, 0)
    assert table is None if not strings.SEEDS else table is not None and table[0] == SEEDS[-1]
    check(pa.array([*constants, b"other", None], pa.binary()), constants)


@pytest.mark.parametrize("count", [2, 3000])
def test_strings_made_to_defeat_every_seed_are_found_without_a_table(count: int) -> None:
    constants = [text for seed in SEEDS for text in colliding(seed, count)]
    started = time.process_time()
    assert strings._table(*strings._buffers(pa.array(constants, pa.binary())), 1, 0) is None
    assert time.process_time() - started < 2
    check(pa.array([*constants, b"other", None, constants[0][:8]] * 2, pa.binary()), constants)


def test_text_that_is_no_utf8_is_found_without_a_table() -> None:
    broken = pa.Array.from_buffers(pa.string(), 2, pa.array([b"\xff", b"a"], pa.binary()).buffers())
    assert answers(broken, ["a", "b"]) == [MISSING, 0]


def test_dictionaries() -> None:
    texts = pa.array(["b", None, "zzz", "a", "b"])
    for kind in (pa.int8(), pa.uint16(), pa.int64()):
        indices = pa.array([0, 1, None, 3, 2, 4, 0], kind)
        values = pa.DictionaryArray.from_arrays(indices, texts)
        assert answers(values, ["a", "b"]) == [1, NULL, NULL, 0, MISSING, 1, 1]
        assert answers(values.slice(3, 2), ["a", "b"]) == [0, MISSING]


def test_whatever_lies_under_a_null_index_is_not_looked_at() -> None:
    garbage = np.array([1, 1 << 30, -5], np.int32)
    bitmap = pa.py_buffer(bytes([0b001]))
    indices = pa.Array.from_buffers(pa.int32(), 3, [bitmap, pa.py_buffer(garbage)])
    values = pa.DictionaryArray.from_arrays(indices, pa.array(["a", "b"]), safe=False)
    assert answers(values, ["a", "b"]) == [1, NULL, NULL]


def test_dictionary_without_values() -> None:
    values = pa.DictionaryArray.from_arrays(pa.array([None, None], pa.int32()), pa.array([], pa.string()))
    assert answers(values, ["a"]) == [NULL, NULL]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_columns_stay_dictionaries_whatever_their_values_type(kind: pa.DataType) -> None:
    texts = pa.array(["b", "a"]).cast(kind)
    column = pa.DictionaryArray.from_arrays(pa.array([0, None, 1, 0], pa.int32()), texts)
    encoded = Evaluation({"x": column}).encoded(Column("x", STRING))
    assert pa.types.is_dictionary(encoded.type) and encoded.dictionary.type == pa.string()
    assert answers(encoded, ["a", "b"]) == [1, NULL, 0, 1]
    plain = Evaluation({"x": texts}).encoded(Column("x", STRING))
    assert answers(plain, ["a", "b"]) == [1, 0]


def test_a_dictionary_larger_than_its_column_is_decoded() -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([2], pa.int32()), pa.array(["a", "b", "c"]))
    assert Evaluation({"x": column}).encoded(Column("x", STRING)).type == pa.string()


def test_chunks_with_dictionaries_of_their_own() -> None:
    column = pa.chunked_array(
        [pa.array(["a", "b"]).dictionary_encode(), pa.array(["c", "b"]).dictionary_encode()]
    )
    encoded = Evaluation({"x": column}, rows=4).encoded(Column("x", STRING))
    assert answers(encoded, ["b", "c"]) == [MISSING, 0, 1, 0]
