"""What is measured on Spark: how much matching adds to a job, and how it stands beside what users have today."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bench import ours as embedded
from bench.measure import Setting
from bench.record import Record, TableName
from bench.spark import results
from bench.spark.capacity.suite import predictions
from bench.spark.cluster import Cluster, drain, medians, seconds
from bench.spark.ours import Matcher, pass_through
from bench.spark.peers import BooleanColumns, IfArray, Peer, PythonUdf, RulesJoin
from bench.spark.pipelines import Files, OurJob, PlainJob, Triggers, filtered, passed_through, triggers
from bench.spark.pipelines import medians as medians_of_batches
from bench.spark.starting import beside_plain_start
from bench.spark.streams import NAME, Streams
from bench.workloads import alerts, expressions, paper
from bench.workloads.predicates import sql
from bench.workloads.workload import Workload

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PASSED: Final = 3_000_000  # rows beside a pass-through
# rows of `paper` by queries: so many that what a job costs anyway is small beside them
COMPARED: Final = {
    100: {"counts": 1_000_000, "numbers": 1_000_000},
    1_000: {"counts": 2_000_000, "numbers": 1_000_000},
    10_000: {"counts": 1_000_000, "numbers": 200_000},
}
WARM_UPS: Final = 2  # Java compiles what is run again and again
STREAMED: Final = (200_000, 1_000_000)
ASKED: Final = ("counts", "numbers")
TRIGGERED: Final = (1_000, 100_000, 1_000_000)  # rows of a pipeline's batches
BATCHES: Final = 12  # of a pipeline's run
# rows of a peer's two runs: as few as give a difference that is not noise, the plan costing seconds anyway
RUNS: Final = {
    100: {
        "boolean-columns": (100_000, 1_000_000),
        "if-array": (20_000, 200_000),
        "rules-join": (100_000, 1_000_000),
        "python-udf": (5_000, 50_000),
    },
    1_000: {
        "boolean-columns": (5_000, 50_000),
        "if-array": (1_000, 20_000),
        "rules-join": (10_000, 100_000),
        "python-udf": (1_000, 10_000),
    },
    10_000: {"rules-join": (1_000, 10_000), "python-udf": (200, 1_000)},
}


def beside_pass_through(setting: Setting, cluster: Cluster) -> Iterator[Record]:
    """`alerts`, then `expressions`: whole jobs with query numbers for each tuple that matches."""
    rows = setting.rows(PASSED)
    for _ in range(WARM_UPS):
        drain(pass_through(cluster.tuples(alerts.workload(1), rows)))
    for queries in setting.sizes(1_000, 10_000, 100_000, 1_000_000):
        yield _beside(alerts.workload(queries), cluster, rows, 20_000 if queries <= 10_000 else 2_000)
    yield _beside(expressions.workload(setting.sizes(1_000)[0]), cluster, rows, 2_000)


def _beside(workload: Workload, cluster: Cluster, rows: int, sample: int) -> Record:
    """Jobs of ours and pass-throughs in turns; matches are compared on a sample with those that Spark itself finds."""
    matcher, tuples = Matcher(embedded.build(workload)), cluster.tuples(workload, rows)
    few = cluster.tuples(workload, sample)
    equal = results.digest(matcher.numbers(few), few.columns) == _expected(workload, cluster, few)
    taken = medians(
        {
            "pass-through": lambda: drain(pass_through(tuples)),
            "ours": lambda: drain(matcher.numbers(tuples)),
        }
    )
    mine, theirs = rows / taken["ours"], rows / taken["pass-through"]
    return Record.rates(workload.name, workload.queries, rows, "numbers", mine, "pass-through", theirs, equal)


def _expected(workload: Workload, cluster: Cluster, tuples: DataFrame) -> results.Digest:
    """The matches that Spark finds, by a join where there are rules to join."""
    if not workload.rules:
        return results.digest(BooleanColumns(workload).numbers(tuples), tuples.columns)
    rules = cluster.table("rules", workload.rules["alerts"]).withColumnRenamed("query", "query_number")
    inside = "price > low AND price < high AND volume >= least"
    pairs = tuples.join(rules.hint("broadcast"), "symbol").where(inside)
    return results.digest(pairs, tuples.columns)


def beside_users(setting: Setting, cluster: Cluster) -> Iterator[Record]:
    """`paper`: matches counted, and query numbers for each tuple, beside the ways that users have today."""
    per_rule = _PerRule(cluster, setting)
    for queries in setting.sizes(*RUNS):
        workload = paper.workload(queries)
        matcher = Matcher(embedded.build(workload))
        few = cluster.tuples(workload, 200)
        for asked in ASKED:
            rows = setting.rows(COMPARED[_nearest(workload)][asked])
            tuples = cluster.tuples(workload, rows)
            mine = rows / _in_turns([matcher], tuples, asked)[0]
            for peer in _peers(workload, cluster):
                equal = _found(matcher, few, asked) == _found(peer, few, asked)
                runs = _runs(workload, setting)[peer.name]
                if runs[-1] == rows:  # quick enough to be near us, where a few percent matter
                    own, theirs = (rows / taken for taken in _in_turns([matcher, peer], tuples, asked))
                else:
                    own, theirs = mine, rows / _extrapolated(peer, cluster, workload, asked, runs, rows)
                yield Record.rates("paper", queries, rows, asked, own, peer.name, theirs, equal)
            theirs = rows / (queries * per_rule.seconds(asked, rows))
            yield Record.rates("paper", queries, rows, asked, mine, NAME, theirs, per_rule.equal)


def _nearest(workload: Workload) -> int:
    return min(RUNS, key=lambda size: abs(size - workload.queries))


def _runs(workload: Workload, setting: Setting) -> dict[str, tuple[int, int]]:
    """Rows of the runs of each peer, a tenth of them if there are many and the run is quick."""
    found = RUNS[_nearest(workload)]
    if not setting.quick:
        return found
    return {name: (a // 10, b // 10) if a >= 10_000 else (a, b) for name, (a, b) in found.items()}


def _in_turns(ways: Sequence[Peer], tuples: DataFrame, asked: str) -> list[float]:
    """Median seconds of each way, all of them taking turns."""
    jobs = {way.name: lambda way=way: drain(getattr(way, asked)(tuples)) for way in ways}
    return list(medians(jobs, warm_ups=WARM_UPS).values())


def _peers(workload: Workload, cluster: Cluster) -> Iterator[Peer]:
    for name in RUNS[_nearest(workload)]:
        if name == "boolean-columns":
            yield BooleanColumns(workload)
        elif name == "if-array":
            yield IfArray(workload)
        elif name == "rules-join":
            yield RulesJoin(cluster.table("ranges", workload.rules["ranges"]))
        else:
            yield PythonUdf(workload)


def _found(way: Peer, tuples: DataFrame, asked: str) -> object:
    if asked == "counts":
        return results.counts(way.counts(tuples))
    return results.digest(way.numbers(tuples), tuples.columns)


def _extrapolated(
    peer: Peer, cluster: Cluster, workload: Workload, asked: str, runs: tuple[int, int], rows: int
) -> float:
    """Seconds that a peer would take for so many rows: what two shorter jobs say, the quicker of two runs each.

    The rate of the longer one alone would charge the plan, which costs seconds for many rules, to few rows.
    """
    frames = [cluster.tuples(workload, run) for run in runs]
    ask = getattr(peer, asked)
    drain(ask(frames[0]))
    times = [[seconds(lambda df=df: drain(ask(df))) for df in frames] for _ in range(2)]
    short, long = (min(both) for both in zip(*times, strict=True))
    slope = max(long - short, 0.0) / (runs[1] - runs[0])
    return long + slope * (rows - runs[1])


class _PerRule:
    """One streaming query a rule: seconds that one of them takes, by what is asked for."""

    def __init__(self, cluster: Cluster, setting: Setting) -> None:
        workload = paper.workload(1_000)
        streams = Streams(cluster, workload)
        self._rows = tuple(setting.rows(rows) for rows in STREAMED)
        streams.numbers(self._rows[0])  # warms up
        self._seconds = {"numbers": [streams.numbers(rows) for rows in self._rows]}
        counted = [streams.counts(rows) for rows in self._rows]
        self._seconds["counts"] = [taken for taken, _ in counted]
        mine = results.counts(
            Matcher(embedded.build(workload)).counts(cluster.tuples(workload, self._rows[0]))
        )
        found = {number: matches for number, matches in mine.items() if number < streams.rules}
        self.equal = found == counted[0][1]

    def seconds(self, asked: str, rows: int) -> float:
        """Seconds of one rule for so many rows."""
        (short, long), (first, second) = self._rows, self._seconds[asked]
        slope = max(second - first, 0.0) / (long - short)
        return max(second + slope * (rows - long), 1e-3)


def beside_jobs(setting: Setting, cluster: Cluster) -> Iterator[Record]:
    """`alerts` in a whole pipeline: seconds of a batch beside jobs that do little, more queries, a second sink."""
    with triggers(cluster.spark) as heard:
        for rows in map(setting.rows, TRIGGERED):
            yield from _batches(Files(cluster, alerts.workload(1_000), rows, BATCHES), heard)
        many, rows = setting.sizes(10_000)[-1], setting.rows(TRIGGERED[-1])
        yield from _more(Files(cluster, alerts.workload(many), rows, BATCHES), heard)


def _batches(files: Files, heard: Triggers) -> Iterator[Record]:
    """One size of batches beside both jobs, and with a second sink."""
    ours, two = OurJob(files, heard), OurJob(files, heard, sinks=2)
    expected = _pairs(files)
    ours.run()  # says how many rows the pass-through has to write
    passing = PlainJob("pass-through-job", files, heard, passed_through(files.rows, ours.written))
    plain = PlainJob("plain-job", files, heard, filtered(sql(files.workload.predicate(0))))
    for job in (two, plain, passing):
        job.run()  # Java compiles what is run again and again, also of jobs that come first
    taken = medians_of_batches([ours, two, plain, passing])
    for peer in ("plain-job", "pass-through-job"):
        yield _trigger(files, taken[ours.name], peer, taken[peer], ours.written == expected)
    yield _trigger(
        files, taken[two.name], "one sink", taken[ours.name], two.written == expected, name="two sinks"
    )


def _more(files: Files, heard: Triggers) -> Iterator[Record]:
    """More queries, beside the usual ones."""
    usual = OurJob(replace(files, workload=alerts.workload(1_000)), heard)
    many = OurJob(files, heard)
    taken = medians_of_batches([usual, many])
    equal = many.written == _pairs(files)
    yield _trigger(files, taken[many.name], "at 1,000", taken[usual.name], equal)


def _pairs(files: Files) -> int:
    """How many results a batch has, as the embedded runtime finds them."""
    return len(embedded.build(files.workload).match(files.workload.batch(files.rows)))


def _trigger(
    files: Files, ours: float, peer: str, theirs: float, equal: bool, *, name: str = "pipeline"
) -> Record:
    queries = files.workload.queries
    return Record(name, queries, files.rows, "trigger", ours, peer, theirs, theirs / ours, bool(equal))


SUITES: Final = {
    "alerts": beside_pass_through,
    "paper": beside_users,
    "pipeline": beside_jobs,
    "start": beside_plain_start,
    "capacity": predictions,
}
TABLES: Final[dict[str, TableName]] = {
    "pipeline": "pipelines",
    "start": "pipelines",
    "capacity": "capacity",
}  # all other suites have one together
CORES: Final = {"pipeline": 2}  # where it is not one: a pipeline's driver works beside its workers
