"""`selective`: tuples that match nothing should cost next to nothing, and still so when the stream drifts."""

from __future__ import annotations

from collections.abc import Iterator

from bench import measure
from bench.measure import Setting
from bench.record import Record
from bench.suites.selects import Comparison
from bench.workloads import selective

BATCH = 100_000
SIZES = (100_000, 400_000)
PHASES = 4


def run(setting: Setting) -> Iterator[Record]:
    """The steady stream and the drifting one."""
    queries = setting.sizes(1_000)[0]
    steady = Comparison.of(selective.workload(queries), setting.rows(100_000))
    yield steady.marginal(*SIZES)
    yield _drifting(queries, setting)


def _drifting(queries: int, setting: Setting) -> Record:
    """Four phases in batches of 100,000, all of every call of ours counted, against Polars' marginal rate."""
    sides = [Comparison.of(selective.workload(queries, phase=p), setting.rows(100_000)) for p in (0, 1)]
    batches = [side.workload.batch(BATCH) for side in sides]
    calls = setting.rows(selective.PHASE) // BATCH
    queryset = sides[0].ours

    def stream() -> None:
        for phase in range(PHASES):
            for _ in range(calls):
                queryset.match(batches[phase % 2])

    rows = PHASES * calls * BATCH
    mine = rows / measure.seconds(stream, warm_ups=1)
    marginals = [side.marginal(*SIZES).peer_value for side in sides]
    theirs = 2 / sum(1 / value for value in marginals)
    equal = all(side.equal for side in sides)
    return Record.rates("selective drifting", queries, rows, "marginal", mine, "polars", theirs, equal)
