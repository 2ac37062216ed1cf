"""Query sets with the papers' parameters: numbers of queries, predicates and p-attributes, cover sets, deviation of qrb.

`covers` disjoint groups of `cover` attributes are laid out so that every query uses one attribute of each; the rest of
the predicates is spread evenly over queries and by weights over attributes. Sets are drawn until the least cover sets
are as many and as large as asked (with `covers` 0 they are as they come).

The papers' "standard deviation for the number of 1's in the query-result bitmap of each region" is taken over all
regions of all ASCs, ones counted as a share of the queries: with 173 predicates of 50 queries on 15 attributes 0.2 could
not be reached inside of single ASCs. `ranges`, the share of inequalities, and `skew`, how unevenly attributes are used,
move it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Final

import numpy as np
import pyarrow as pa

from bench.baselines.asc import ascs_of
from bench.baselines.conjunctions import Conjunction
from bench.experiments.data import VALUES
from bench.workloads.predicates import Compare
from eddyline.index.rowwise.asc import AscIndex
from eddyline.model.asc import subject_text

STRETCH: Final = 0.4  # part of an attribute's domain in which its constants lie


@dataclass(frozen=True)
class Spec:
    """What a paper says of a query set, and what it leaves open.

    bands: share of the uses of an attribute that are two predicates, a range. ranges: share of the others that are
    inequalities. skew: how unevenly attributes are used. affinity: how much queries prefer the attributes of their family.
    strict: inequalities hold for less than half of the domain, as they point away from the constants' stretch.
    deviation: the one asked for, which is met by 0.03. values: sizes of the attributes' domains.
    """

    queries: int
    predicates: int
    attributes: int
    cover: int
    covers: int = 1
    bands: float = 0.5
    ranges: float = 0.2
    skew: float = 0.0
    affinity: float = 1.0
    strict: bool = False
    deviation: float | None = None
    values: tuple[int, ...] = (VALUES,) * 20
    seed: int = 1

    @property
    def uses(self) -> int:
        """Pairs of a query and an attribute; a band takes two predicates."""
        return round(self.predicates / (1 + self.bands))


@dataclass(frozen=True)
class QuerySet:
    """Queries over attributes a0, a1, ...; `index` has their ASCs, subject i being attribute `attributes[i]`."""

    spec: Spec
    queries: tuple[Conjunction, ...]
    index: AscIndex
    attributes: tuple[int, ...]

    @property
    def deviation(self) -> float:
        """The papers' standard deviation of this set."""
        return deviation(self.index)


def schema(attributes: int) -> pa.Schema:
    """Attributes a0, a1, ... of whole numbers."""
    return pa.schema([(f"a{i}", pa.int32()) for i in range(attributes)])


@cache
def query_set(spec: Spec) -> QuerySet:
    """The set of a spec: the first draw whose cover sets are as asked."""
    for attempt in range(3_000):
        rng = np.random.default_rng((spec.seed, attempt))
        usage = _usage(spec, rng)
        if usage is not None and _is_covered(usage, spec):
            made = indexed(spec, tuple(_conjunctions(spec, usage, rng)))
            complete = len(made.index.numbers) == spec.queries and len(made.attributes) == spec.attributes
            if complete and _deviates(made):
                return made
    raise ValueError(f"no query set found for {spec}")


def indexed(spec: Spec, queries: tuple[Conjunction, ...]) -> QuerySet:
    """Queries and their ASCs; of another spec only the domains of the attributes matter."""
    index = ascs_of(queries, schema(len(spec.values)))
    return QuerySet(spec, queries, index, tuple([int(subject_text(asc.subject)[1:]) for asc in index.ascs]))


def deviation(index: AscIndex) -> float:
    """Standard deviation of the share of ones over all regions of all ASCs, NULL left out."""
    ones = [np.bitwise_count(asc.qrb[:-1]).sum(axis=1) / asc.queries for asc in index.ascs]
    return float(np.concatenate(ones).std())


def cover_sets(usage: np.ndarray) -> list[tuple[int, ...]]:
    """All cover sets of least size; usage is (queries, attributes)."""
    for size in range(1, usage.shape[1] + 1):
        found = [
            chosen
            for chosen in combinations(range(usage.shape[1]), size)
            if usage[:, chosen].any(axis=1).all()
        ]
        if found:
            return found
    return []


def _deviates(made: QuerySet) -> bool:
    wanted = made.spec.deviation
    return wanted is None or abs(made.deviation - wanted) <= 0.03


def _is_covered(usage: np.ndarray, spec: Spec) -> bool:
    found = cover_sets(usage)
    return spec.covers == 0 or (len(found) == spec.covers and len(found[0]) == spec.cover)


def _usage(spec: Spec, rng: np.random.Generator) -> np.ndarray | None:
    """Which query uses which attribute; None if an attribute is left without any."""
    usage = np.zeros((spec.queries, spec.attributes), bool)
    order = rng.permutation(spec.attributes)
    family = np.empty(spec.attributes, int)
    family[order] = np.arange(spec.attributes) % spec.cover
    homes = rng.permutation(np.arange(spec.queries) % spec.cover)
    for group in range(spec.covers):
        own = order[group * spec.cover : (group + 1) * spec.cover]
        usage[np.arange(spec.queries), own[homes if group == 0 else rng.permutation(homes)]] = True
    weights = np.exp(spec.skew * rng.normal(size=spec.attributes))
    weights[order[: spec.covers * spec.cover]] *= 0.7  # these are used by many queries already
    wanted = np.bincount(np.arange(spec.uses) % spec.queries, minlength=spec.queries)
    for query, count in enumerate(wanted - usage.sum(axis=1)):
        free = np.flatnonzero(~usage[query])
        chance = weights[free] * np.where(family[free] == homes[query], spec.affinity, 1.0)
        usage[query, rng.choice(free, count, replace=False, p=chance / chance.sum())] = True
    return usage if usage.any(axis=0).all() else None


def _conjunctions(spec: Spec, usage: np.ndarray, rng: np.random.Generator) -> Iterator[Conjunction]:
    """Comparisons for each use: a band of a tenth to a fifth of the domain, an inequality or an equality.

    Each attribute has a stretch of its domain that queries ask about, and a direction of its inequalities.
    """
    upwards = rng.random(spec.attributes) < 0.5
    lowest = rng.uniform(0.0, 1 - STRETCH, spec.attributes)
    if spec.strict:
        lowest = np.where(upwards, 0.55, 0.05)
    banded = rng.permutation(spec.uses) < spec.predicates - spec.uses
    use = iter(banded.tolist())
    for used in usage:
        parts: list[Compare] = []
        for attribute in np.flatnonzero(used).tolist():
            name, size = f"a{attribute}", spec.values[attribute]
            constant = int(size * rng.uniform(lowest[attribute], lowest[attribute] + STRETCH))
            if next(use):
                width = max(1, int(size * rng.uniform(0.1, 0.2)))
                low = max(0, min(constant - width // 2, size - 1 - width))
                parts += [Compare(name, ">=", low), Compare(name, "<=", low + width)]
            elif rng.random() < spec.ranges:
                up = upwards[attribute] ^ (rng.random() < 0.1)
                inside = min(max(constant, 1), size - 2)  # so that it is neither always nor never true
                parts.append(
                    Compare(name, ((">", ">=") if up else ("<", "<="))[int(rng.integers(2))], inside)
                )
            else:
                parts.append(Compare(name, "=", constant))
        yield tuple(parts)
