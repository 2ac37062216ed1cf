"""Mistakes that the tests must notice: each is one text of the package changed into another.

A mutant is named by the text alone, which must stand exactly once in `src/eddyline`: moving code does not lose it, and
changing the code fails until the mutant is aimed anew. `killed_by` are the narrowest tests of `make test` that notice it;
choose tests that do not start Spark where such tests can.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """A mistake: `old` becomes `new`, and one of the tests `killed_by` fails."""

    name: str
    mistake: str
    old: str
    new: str
    killed_by: tuple[str, ...]


MUTANTS = (
    # normalize: predicates to sets of values
    Mutant(
        "open end",
        "a <= 3 on whole numbers leaves out 3, a > 3 takes it in",
        "Regions(below, ((v + shift, 0),), null)",
        "Regions(below, ((v, 0),), null)",
        ("tests/golden/test_normalize.py", "tests/differential/test_normal.py"),
    ),
    Mutant(
        "nan is not above",
        "x > 3 on floats does not hold for NaN, which Spark orders above all numbers",
        "Regions(below, ((v + 0.0, side),), null, not below) if",
        "Regions(below, ((v + 0.0, side),), null, False) if",
        ("tests/property/test_normalize_templates.py", "tests/unit/test_compile.py"),
    ),
    Mutant(
        "null flag",
        "(a < 3) IS NOT TRUE does not hold for NULL",
        "operation, mode in (Mode.IS_NOT_TRUE, Mode.IS_NOT_FALSE)",
        "operation, False",
        ("tests/golden/test_normalize.py", "tests/property/test_normalize.py"),
    ),
    Mutant(
        "null in a list",
        "a NOT IN (1, NULL) holds for 2",
        "NOTHING if unknown else domain.intersection",
        "domain.intersection",
        ("tests/differential/test_normal.py", "tests/property/test_normalize.py"),
    ),
    # index and execute: sets of values to ids of regions, values to the same ids
    Mutant(
        "cut off by one",
        "a range of regions begins one region too early",
        "return 2 * places + 1 + sides",
        "return 2 * places + sides",
        ("tests/unit/index", "tests/unit/execute/test_locate.py"),
    ),
    Mutant(
        "locator off by one",
        "numbers above the last constant are taken for the last constant",
        "int(cutting.constants[0]) - 1, int(cutting.constants[-1]) + 1",
        "int(cutting.constants[0]) - 1, int(cutting.constants[-1])",
        ("tests/unit/execute/test_locate.py", "tests/property/test_locate.py"),
    ),
    Mutant(
        "keyed bound",
        "the upper end of a range in a keyed query is not looked at",
        "rows[2 * place], rows[2 * place + 1] = low, ~high",
        "rows[2 * place], rows[2 * place + 1] = low, low",
        ("tests/unit/execute/test_keyed.py",),
    ),
    Mutant(
        "rows of a prefilter",
        "rows that the second subject leaves are counted from the first row of the batch",
        "kept = places if kept is None else kept[places]",
        "kept = places",
        ("tests/unit/execute/test_rowwise.py", "tests/property/test_rowwise.py"),
    ),
    # kernels
    Mutant(
        "tail of a block",
        "the first row behind the end of a batch may match",
        "keep = min(64, max(0, valid - word * 64))",
        "keep = min(64, max(0, valid - word * 64 + 1))",
        ("tests/conformance/test_conformance.py::test_batch_sizes",),
    ),
    Mutant(
        "strict bound",
        "an entry whose first bound a row just reaches is left out",
        "while at < end and bounds[at] <= first:",
        "while at < end and bounds[at] < first:",
        ("tests/unit/execute/test_keyed.py",),
    ),
    # the standing set
    Mutant(
        "lost tombstone",
        "a removed query goes on matching",
        "nothing_hidden = reading.all_alive and self.table.joins is None",
        "nothing_hidden = True",
        ("tests/conformance/test_conformance.py::test_adding_and_removing_changes_nothing_else",),
    ),
    Mutant(
        "skipped segment",
        "a segment that a merge passes by is lost",
        "return (*left, *building.segments(",
        "return (*left[1:], *building.segments(",
        ("tests/unit/queryset",),
    ),
    # engine
    Mutant(
        "removed one version late",
        "a query is still evaluated by the version that removed it",
        "segments=_without(base.segments, leaving),",
        "segments=base.segments,",
        ("tests/unit/engine/test_engine.py", "tests/property/test_engine.py"),
    ),
    Mutant(
        "wrong version",
        "deliveries carry the version after the one that made them",
        "np.full(len(selected), self._version, np.int64)",
        "np.full(len(selected), self._version + 1, np.int64)",
        ("tests/unit/engine/test_engine.py", "tests/property/test_engine.py"),
    ),
    # registry
    Mutant(
        "registry one version late",
        "a query that was removed still belongs to the version without it",
        "table.c.from_version <= version, table.c.to_version > version",
        "table.c.from_version <= version, table.c.to_version >= version",
        ("tests/unit/registry/test_registry.py",),
    ),
    Mutant(
        "revision given again",
        "a query that comes back has the revision of another text",
        "last = self._dropped.get(edit.id) or self.revisions.get(edit.id, 0)",
        "last = 0",
        ("tests/unit/registry/test_registry.py", "tests/property/test_registry.py"),
    ),
    # delivery
    Mutant(
        "swapped sink",
        "a query that names its sink is delivered to the default one",
        "            return Route(destination)",
        "            return Route(self._default)",
        ("tests/unit/delivery/test_router.py",),
    ),
    # Spark: which version serves a batch, what workers do with it
    Mutant(
        "lost replay pin",
        "a batch that runs again is pinned to the newest version, not to the one that it had",
        "self.batches[batch_id] = Served(pin) if served is None else replace(served, pin=pin)",
        "self.batches.setdefault(batch_id, Served(replace(pin, version=pin.version + 1)))",
        ("tests/unit/spark/test_version_log.py",),
    ),
    Mutant(
        "forgotten change",
        "a compiled version keeps the destination that a query had before",
        "table = table.changed(staying)",
        "table = table",
        ("tests/unit/spark/test_versions.py",),
    ),
    Mutant(
        "lists shifted",
        "workers give a row the queries of the next row that matches",
        "_lists(np.append(starts[row], starts[-1]), values)",
        "_lists(np.append(starts[row + 1], starts[-1]), values)",
        ("tests/conformance/test_faces.py::test_rows_that_match_nothing",),
    ),
    # implication: proofs about predicates
    Mutant(
        "an end of a proof opened",
        "a piece of values below a cut is taken for one above it",
        "self._below = {cut: i + 1 for i, cut",
        "self._below = {cut: i for i, cut",
        ("tests/relations/test_api.py",),
    ),
    Mutant(
        "null flag of a proof",
        "NULL belongs to no set of values, so that n < 0 OR n >= 0 is proven of every row",
        "            mask |= self._null\n",
        "            mask |= 0\n",
        ("tests/relations/test_api.py", "tests/relations/test_rewrites.py"),
    ),
    Mutant(
        "order without equality",
        "of two columns one is less than the other, and they are never equal",
        "yield any_of(*(is_true(call) for call in three), absent(three[0]))",
        "yield any_of(*(is_true(call) for call in three[::2]), absent(three[0]))",
        ("tests/relations/test_tiny.py::test_facts_are_true_of_every_row",),
    ),
)
