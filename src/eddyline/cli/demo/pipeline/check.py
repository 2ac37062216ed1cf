"""Every result on disk, read back by pyarrow and counted against what the embedded matcher says of the same rows.

Nothing of the pipeline is asked: the rows come from the market again, the queries from the registry, by the version that
the results themselves name. So a result that is missing, there twice, of another version or of another query is seen.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

import pyarrow.parquet as pq

from eddyline.cli.demo.pipeline.feeder import NAME
from eddyline.cli.demo.pipeline.plan import PipelineDemoPlan
from eddyline.queryset import QuerySet
from eddyline.registry import Registry, State
from eddyline.testing.market import QUOTES, Market

COLUMNS: Final = ("query_id", "version", "tuple_key")


@dataclass(frozen=True, slots=True)
class ResultKey:
    """What tells one result from another."""

    query: str
    version: int
    key: str
    batch: int

    @property
    def file(self) -> str:
        """The name of the file that the row came from."""
        return Path(unquote(urlsplit(self.key.rpartition("#")[0]).path)).name


@dataclass(frozen=True, slots=True)
class DemoVerdict:
    """How results and expectation compare."""

    results: int  # rows on disk
    expected: int
    missing: int
    too_many: int  # there again, or never expected
    kinds: tuple[Counter[str], ...]  # results of each batch, by family of queries
    queries: Counter[str]
    versions: tuple[int, ...]  # of each batch

    @property
    def is_exact(self) -> bool:
        """Whether every result that there should be is there, once."""
        return self.missing == 0 and self.too_many == 0


def check(plan: PipelineDemoPlan, files: int) -> DemoVerdict:
    """Compare what is on disk with what the first so many files should have given."""
    results = [result for sink in ("results", "newsroom") for result in read_results(plan.folder / sink)]
    versions: dict[str, int] = {}  # all results of a file are of one version: the first that is seen
    found: Counter[tuple[str, str]] = Counter()
    for result in {*results}:
        if versions.setdefault(result.file, result.version) == result.version:
            found[result.file, result.query] += 1
    expected = _expected(plan, files, versions)
    good = (found & expected).total()
    batches = {result.batch: result.version for result in results}
    kinds = [Counter[str]() for _ in range(max(batches, default=-1) + 1)]
    for result in results:
        kinds[result.batch][result.query.partition("-")[0]] += 1
    return DemoVerdict(
        results=len(results),
        expected=expected.total(),
        missing=expected.total() - good,
        too_many=len(results) - good,
        kinds=tuple(kinds),
        queries=Counter(result.query for result in results),
        versions=tuple(batches.get(number, 0) for number in range(len(kinds))),
    )


def read_results(folder: Path) -> Iterator[ResultKey]:
    """What a plain reader finds below a folder, which looks into nothing that is hidden."""
    for path in sorted(folder.rglob("part-*")):
        if any(part.startswith(("_", ".")) for part in path.relative_to(folder).parts):
            continue
        batch = int(path.parent.name.removeprefix("batch="))
        if path.suffix == ".parquet":
            rows = pq.ParquetFile(path).read(columns=list(COLUMNS)).to_pylist()
        else:
            rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        yield from (ResultKey(row["query_id"], row["version"], row["tuple_key"], batch) for row in rows)


def _expected(plan: PipelineDemoPlan, files: int, versions: dict[str, int]) -> Counter[tuple[str, str]]:
    """Matches by file and query, of the queries whose results are delivered.

    A file without any result was served by some version, and it does not matter by which: the newest is taken.
    """
    market, expected = Market(plan.seed), Counter[tuple[str, str]]()
    with Registry.open(plan.registry) as registry:

        @cache
        def queries(version: int) -> QuerySet:
            entries = registry.entries(version, state=State.ENABLED)
            return QuerySet.build({entry.id: entry.sql for entry in entries}, streams=[QUOTES])

        for number in range(files):
            name = NAME.format(number)
            counts = queries(versions.get(name, registry.version)).match(market.batch(plan.rows)).counts()
            expected.update({(name, id): count for id, count in counts.items() if count})
    return expected
