"""Relations of SQLite's logic tests: whatever is said of two of their conditions, the rows of their table agree."""

from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import permutations

import numpy as np
import numpy.typing as npt
import pytest

from eddyline import Compiler, Query, QuerySet
from eddyline.relations.pair import side
from eddyline.relations.question import Side, ask
from tests.comparisons import compared
from tests.conftest import some
from tests.differential import data
from tests.differential.test_sqlite_logic import FILES, table
from tests.relations.agreement import PATIENT, columns_alone

FEW, DRAWN = 200, 800  # queries and pairs of a file in make test; all of them in make test-long

Truths = npt.NDArray[np.bool_]


class LogicFile:
    """The conditions of a file that differ in normal form, and which rows of its table satisfy each."""

    def __init__(self, name: str, most: int | None = None) -> None:
        head, *cases = data.lines(data.folder("sqlite-logic") / f"{name}.jsonl.gz")
        cases = cases if most is None else random.Random(name).sample(cases, most)
        self.stream, self.batch = table(head["table"], head["columns"], head["rows"])
        self.queries = QuerySet.build(
            {str(n): case["sql"] for n, case in enumerate(cases)}, streams=[self.stream]
        )
        self.truths = {id: np.zeros(len(self.batch), np.bool_) for id in self.queries}
        matches = self.queries.match(self.batch)
        for id, truth in self.truths.items():
            truth[matches.rows(id)] = True

    def different(self) -> dict[str, Side]:
        compiler = Compiler([self.stream])
        queries = [Query(id, self.queries[id].sql) for id in self.queries]
        first = {compiler.compile(query).predicate: query for query in reversed(queries)}  # type: ignore[union-attr]
        return {query.id: side(compiler, query) for query in first.values()}

    def refuted(self, pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """Pairs of which a row satisfies the first and not the second."""
        return [(one, other) for one, other in pairs if (self.truths[one] & ~self.truths[other]).any()]

    def unrefuted(self, ids: list[str]) -> list[tuple[str, str]]:
        """All other pairs."""
        truths = np.array([self.truths[id] for id in ids], np.float32)
        shown = truths @ (1 - truths).T  # how many rows satisfy the one and not the other
        return [(ids[one], ids[other]) for one, other in np.argwhere(shown == 0).tolist() if one != other]


@pytest.mark.slow
@pytest.mark.parametrize("name", some(FILES, quick=("orderby_nosort-1000-0",)))
def test_whole_files(name: str) -> None:
    file = LogicFile(name)
    found = file.queries.redundancies()
    rows = found.table.to_pylist()
    same = {(row["query"], row["other"]) for row in rows if row["relation"] == "equivalent"}
    covered = {(row["query"], row["other"]) for row in rows if row["relation"] == "implied"}
    never = {row["query"] for row in rows if row["relation"] == "never true"}
    assert not file.refuted([*same, *((other, one) for one, other in same), *covered])
    assert not any(file.truths[id].any() for id in never)
    sides = file.different()
    assert not any(
        columns_alone(sides[a], sides[b]) for a, b, _ in found.unknown if a in sides and b in sides
    )
    compared("SQLite: redundancies", len(rows))


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_pairs(name: str) -> None:
    check_pairs(LogicFile(name, FEW), DRAWN)


@pytest.mark.long
@pytest.mark.parametrize("name", FILES)
def test_all_pairs(name: str) -> None:
    check_pairs(LogicFile(name), None)


def check_pairs(file: LogicFile, drawn: int | None) -> None:
    """Half of the pairs that are drawn are such that no row of the table refutes them: there a proof may be."""
    sides = file.different()
    pairs = list(permutations(sides, 2))
    if drawn is not None:
        rng = random.Random(drawn)
        unrefuted = file.unrefuted(list(sides))
        pairs = rng.sample(pairs, drawn // 2) + rng.sample(unrefuted, drawn // 2)
    proven = []
    for one, other in pairs:
        answer = ask(file.stream, [sides[one]], [sides[other]], PATIENT)
        assert answer.reason is None or not columns_alone(sides[one], sides[other]), (one, other)
        if answer.proof is not None:
            proven.append((one, other))
    assert not file.refuted(proven)
    compared("SQLite: pairs", len(pairs))
    compared("SQLite: pairs that are implied", len(proven))
