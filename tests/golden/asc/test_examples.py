"""The worked examples of the ASC papers, from SQL text to bitmaps: examples A (ASC-2) and B (ASC-1).

The tables below are the papers', with the erratum that A3's region {40} has qrb 1111. Attributes are doubles: for whole
numbers the normal form has `< 51` for `<= 50`, and so another region array with the same answers.
The text files are the constructs as `explain` prints them; `make golden` rewrites these.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from eddyline import Compiler, Query, Stream
from eddyline.execute.rowwise.rowwise import Rowwise
from eddyline.functions.evaluate import Evaluation
from eddyline.index.rowwise.asc import AscIndex, build_ascs
from eddyline.model.asc import bits, covered
from eddyline.model.expression import Column
from eddyline.model.visit_order import VisitOrder

FOLDER = Path(__file__).parent

A_QUERIES = (
    "A1 = 20 AND A3 >= 10",
    "A2 = 20 AND A4 = 80",
    "A1 <= 50 AND A3 = 40",
    "A2 >= 40 AND A4 <= 60",
)
A_TUPLES = [(12, 10, 13, 18), (70, 44, 45, 60), (50, 25, 83, 48)]
# attribute: qub, constants, qrb and cab of regions 1 to 5
A_TABLE = {
    "A1": ("1010", (20, 50), "0111 1111 0111 0111 0101", "0111 0111 0111 0111 0101"),
    "A2": ("0101", (20, 40), "1010 1110 1010 1011 1011", "1010 1011 1010 1011 1011"),
    "A3": ("1010", (10, 40), "0101 1101 1101 1111 1101", "0101 1101 1101 1101 1101"),
    "A4": ("0101", (60, 80), "1011 1011 1010 1110 1010", "1110 1110 1010 1110 1010"),
}
B_QUERIES = (
    "A1 = 20 AND A2 = 'C02' AND A3 = 50",
    "A1 > 10 AND A2 = 'C04'",
    "A1 = 30 AND A3 >= 30 AND A3 <= 50",
)
B_TUPLES = [(40, "C04", 50), (20, "C02", 50), (10, "C04", 20)]


def built(queries: tuple[str, ...], kinds: list[pa.DataType]) -> AscIndex:
    """The constructs of queries numbered from 1, attributes in their own order."""
    stream = Stream("D", pa.schema([(f"A{i}", kind) for i, kind in enumerate(kinds, start=1)]))
    compiler = Compiler([stream])
    texts = [Query(f"q{i}", f"SELECT * FROM D WHERE {where}") for i, where in enumerate(queries, start=1)]
    predicates = [compiler.compile(query).predicate for query in texts]
    subjects = [Column(name, kind) for name, kind in stream.types.items()]
    return build_ascs(predicates, range(1, len(queries) + 1), subjects=subjects)


def batch_of(tuples: list[tuple[object, ...]], kinds: list[pa.DataType]) -> Evaluation:
    columns = zip(*tuples, strict=True)
    arrays = {
        f"A{i}": pa.array(values, kind)
        for i, (values, kind) in enumerate(zip(columns, kinds, strict=True), start=1)
    }
    return Evaluation(arrays, rows=len(tuples), time_zone="UTC")


A_KINDS = [pa.float64()] * 4
B_KINDS = [pa.float64(), pa.string(), pa.float64()]


@pytest.fixture(scope="module")
def a() -> AscIndex:
    return built(A_QUERIES, A_KINDS)


@pytest.fixture(scope="module")
def b() -> AscIndex:
    return built(B_QUERIES, B_KINDS)


def minimal_covers(index: AscIndex) -> set[tuple[int, ...]]:
    numbers = range(len(index.ascs))
    for size in range(1, len(index.ascs) + 1):
        found = {some for some in combinations(numbers, size) if covered([index.ascs[i] for i in some])}
        if found:
            return found
    return set()


def traced(index: AscIndex, evaluation: Evaluation, row: int) -> list[str]:
    return [visit.grb for visit in Rowwise(index).trace(evaluation, row)]


@pytest.mark.parametrize("number", range(4))
def test_a_fields(a: AscIndex, number: int) -> None:
    asc = a.ascs[number]
    qub, constants, qrb, cab = A_TABLE[f"A{number + 1}"]
    five = asc.ra[:5]
    assert asc.subject.name == f"A{number + 1}"
    assert bits(asc.qub, 4) == qub
    assert [region.rif for region in five] == [None, constants[0], None, constants[1], None]
    assert [region.qrb for region in five] == qrb.split()
    assert [region.cab for region in five] == cab.split()
    assert [region.name for region in asc.ra[5:]] == ["NaN", "NULL"]
    assert asc.ra[6].qrb == "".join("10"[int(used)] for used in qub), (
        "NULL makes every query that uses it false"
    )


@pytest.mark.parametrize(
    ("row", "grbs"),
    [(0, "0111 0010 0000"), (1, "0101 0001 0001 0001"), (2, "0111 0010 0000")],
)
@pytest.mark.parametrize("kind", [pa.float64(), pa.int32(), pa.decimal128(6, 2)], ids=str)
def test_a_tuples(row: int, grbs: str, kind: pa.DataType) -> None:
    kinds = [kind] * 4
    index = built(A_QUERIES, kinds)
    assert traced(index, batch_of(A_TUPLES, kinds), row) == grbs.split()


@pytest.mark.parametrize("immediate", [True, False])
def test_a_matches(a: AscIndex, immediate: bool) -> None:
    found = Rowwise(a).match(batch_of(A_TUPLES, A_KINDS), 3, immediate=immediate)
    assert [column.tolist() for column in found.pairs()] == [[1], [4]]
    assert found.counters.visited == (3 + 4 + 3 if immediate else 12)
    assert found.counters.dropped == 2


def test_a_cover_sets(a: AscIndex) -> None:
    """The paper names {A1, A2} and {A3, A4}; the two others are just as small."""
    assert minimal_covers(a) == {(0, 1), (2, 3), (0, 3), (1, 2)}


def test_a_dropping_ratio(a: AscIndex) -> None:
    """Example 4: d(A1 -> A2 -> A3) = 2/3."""
    found = Rowwise(a).lineages(batch_of(A_TUPLES, A_KINDS), 3, VisitOrder((0, 1, 2)))
    assert found.counters.dropping_ratio == pytest.approx(2 / 3)
    assert found.counters.survivors == (3, 3, 1)


def test_a_selectivities_of_the_first_tuple(a: AscIndex) -> None:
    """Example 5: s(A1) = 3/4, s(A2) = 1/2, s(A3) = 3/4, s(A4) = 3/4 on t1."""
    evaluation = batch_of(A_TUPLES[:1], A_KINDS)
    ones = [
        np.bitwise_count(Rowwise(a).lineages(evaluation, 1, VisitOrder((i,))).grb).sum() for i in range(4)
    ]
    assert ones == [3, 2, 3, 3]


def test_b_fields(b: AscIndex) -> None:
    a1, a2, a3 = b.ascs
    assert [bits(asc.qub, 3) for asc in b.ascs] == ["111", "110", "101"]
    assert [region.rif for region in a1.ra[1:7:2]] == [10, 20, 30]
    assert [region.rif for region in a2.ra[1:5:2]] == ["C02", "C04"]
    assert [region.rif for region in a3.ra[1:5:2]] == [30, 50]
    assert [region.qrb for region in a1.ra[:7]] == "000 000 010 110 010 011 010".split()
    assert [region.qrb for region in a2.ra] == "001 101 001 011 001 001".split()
    assert [region.qrb for region in a3.ra[:5]] == "010 011 011 111 010".split()


def test_b_tuples(b: AscIndex) -> None:
    evaluation = batch_of(B_TUPLES, B_KINDS)
    assert [traced(b, evaluation, row)[-1] for row in range(3)] == ["010", "100", "000"]
    assert len(traced(b, evaluation, 2)) == 1, "t3 is dropped after A1"
    found = Rowwise(b).match(evaluation, 3)
    assert [column.tolist() for column in found.pairs()] == [[0, 1], [2, 1]]
    assert minimal_covers(b) == {(0,)}


@pytest.mark.parametrize(("order", "selectivity"), [((0, 1), 2 / 9), ((0, 2), 1 / 3)])
def test_b_selectivities(b: AscIndex, order: tuple[int, ...], selectivity: float) -> None:
    found = Rowwise(b).lineages(batch_of(B_TUPLES, B_KINDS), 3, VisitOrder(order))
    assert np.bitwise_count(found.grb).sum() / (3 * 3) == pytest.approx(selectivity)


@pytest.mark.parametrize("name", ["a", "b"])
def test_explained(name: str, request: pytest.FixtureRequest, rewrite_golden: bool) -> None:
    path = FOLDER / f"example_{name}.txt"
    found = request.getfixturevalue(name).explain() + "\n"
    if rewrite_golden:
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8")
