"""Implications between random conditions, judged by every row of tiny streams and by z3; a finding is made small."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations

from eddyline.errors import EddylineError
from tests.fuzz.judge import Searched
from tests.relations.agreement import Judged, judged_by_rows, judged_by_z3
from tests.relations.conditions import WIDE, Atom, Tree, family, few_columns, side_of
from tests.relations.tiny import STREAMS
from tests.relations.z3_judge import Judge

MEMBERS = 8  # of a family, each of which is compared with all others
TRIES = 400  # to make a finding smaller

Check = Callable[[list[Tree]], list[tuple[Tree, Tree, str]]]


def by_rows(name: str) -> Check:
    """Judge conditions over a tiny stream by all of its rows."""
    tiny = STREAMS[name]

    def check(trees: list[Tree]) -> list[tuple[Tree, Tree, str]]:
        sides = [tiny.side(str(tree)) for tree in trees]
        truths = [tiny.truth(side) for side in sides]
        return _disagreements(
            trees, lambda i, j: judged_by_rows(tiny, sides[i], sides[j], truths[i], truths[j])
        )

    return check


def by_z3(trees: list[Tree]) -> list[tuple[Tree, Tree, str]]:
    """Judge conditions over the wide stream by z3."""
    sides = [side_of(WIDE, tree) for tree in trees]
    judge = Judge(side.bound for side in sides)
    return _disagreements(trees, lambda i, j: judged_by_z3(sides[i], sides[j], judge))


def _disagreements(trees: list[Tree], judged: Callable[[int, int], Judged]) -> list[tuple[Tree, Tree, str]]:
    found = []
    for one, other in permutations(range(len(trees)), 2):
        try:
            wrong = judged(one, other).wrong
        except Exception as error:  # whatever it is, it is no answer
            wrong = f"crash: {type(error).__name__}: {error}"
        if wrong:
            found.append((trees[one], trees[other], wrong))
    return found


@dataclass(frozen=True)
class RelationJudge:
    """Families of conditions over one stream."""

    stream: str
    check: Check
    atom: Callable[[random.Random], Atom]
    size: int = 3

    def search(self, seed: int, zone: str, most: int) -> Searched:
        """One family; the findings among its pairs, the smallest first."""
        rng = random.Random(f"{self.stream} {seed}")
        trees = family(rng, self.atom(rng), MEMBERS, self.size)
        found = sorted(self.check(trees), key=lambda finding: finding[0].size + finding[1].size)
        texts = [f"# seed {seed}\n" + self._smallest(*finding) for finding in found[: min(most, 1)]]
        return Searched(len(trees) * (len(trees) - 1), texts)

    def _smallest(self, one: Tree, other: Tree, wrong: str) -> str:
        """The pair with as few parts as it takes to stay a finding of its kind."""
        tries = 0
        shrinking = True
        while shrinking:
            shrinking = False
            pairs = [(less, other) for less in one.smaller()] + [(one, less) for less in other.smaller()]
            for first, second in pairs:
                tries += 1
                if tries > TRIES:
                    break
                again = self._repeated(first, second, wrong)
                if again is not None:
                    one, other, wrong, shrinking = first, second, again, True
                    break
        return self._as_case(one, other, wrong)

    def _repeated(self, one: Tree, other: Tree, wrong: str) -> str | None:
        try:
            found = self.check([one, other])
        except EddylineError:  # the smaller text is no query
            return None
        same = [text for first, _, text in found if first is one and _kind(text) == _kind(wrong)]
        return same[0] if same else None

    def _as_case(self, one: Tree, other: Tree, wrong: str) -> str:
        """A line for tests/relations/test_regressions.py, with what is wrong above it."""
        implied = wrong.startswith(("no row refutes", "z3 proves"))
        return f"# {wrong}\nCase({self.stream!r}, {str(one)!r}, {str(other)!r}, implied={implied}),\n"


def _kind(wrong: str) -> str:
    """What must stay the same while a finding is made smaller: the words without rows and reasons."""
    return wrong.split(",")[0].split(":")[0] if not wrong.startswith("crash") else wrong.split(":")[1]


def relation_judges() -> list[RelationJudge]:
    """One judge for each tiny stream, and z3 for columns and for expressions."""
    tiny = [
        RelationJudge(name, by_rows(name), lambda _, atom=stream.atom: atom)
        for name, stream in STREAMS.items()
    ]
    return [
        *tiny,
        RelationJudge("wide", by_z3, lambda rng: few_columns("columns", rng)),
        RelationJudge("wide", by_z3, lambda rng: few_columns("expressions", rng), size=2),
    ]
