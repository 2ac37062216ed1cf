"""The text of a scrape, read back by a small parser, and the endpoint that serves it."""

from __future__ import annotations

import http.client
import re
import urllib.error
import urllib.request
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from eddyline.errors import SetupError
from eddyline.runtime.spark.watching import BatchReport, PipelineTotals
from eddyline.runtime.spark.watching.endpoint import Answers, Endpoint
from eddyline.runtime.spark.watching.prometheus import CONTENT_TYPE, exposition
from eddyline.runtime.spark.watching.totals import total_of
from eddyline.runtime.spark.watching.vitals import PipelineVitals, SourceVitals
from tests.missing import missing

Series = dict[tuple[str, frozenset[tuple[str, str]]], float]
SAMPLE = re.compile(r'^([a-z_]+)\{((?:[a-z]+="(?:[^"\\]|\\.)*",?)*)\} (\S+)$')
LABEL = re.compile(r'([a-z]+)="((?:[^"\\]|\\.)*)"')


def parsed(text: str) -> Series:
    """Every sample; each family has its help and type once, in front of its samples, which stand together."""
    assert text.endswith("\n")
    found: Series = {}
    families: list[str] = []
    for line in text.splitlines():
        if line.startswith("# HELP "):
            families.append(line.split()[2])
        elif line.startswith("# TYPE "):
            assert line.split()[2] == families[-1]
            assert line.split()[3] in ("counter", "gauge", "histogram")
        else:
            match = SAMPLE.match(line)
            assert match, line
            name, labels, value = match.groups()
            assert re.sub("_(bucket|sum|count)$", "", name) == families[-1] or name == families[-1]
            key = (
                name,
                frozenset(
                    (label, re.sub(r"\\(.)", lambda m: {"n": "\n"}.get(m[1], m[1]), content))
                    for label, content in LABEL.findall(labels)
                ),
            )
            assert key not in found, "each series once"
            found[key] = float(value)
    assert len(families) == len(set(families))
    return found


def of(found: Series, name: str, **labels: str) -> float:
    return found[name, frozenset(labels.items())]


def reports() -> list[BatchReport]:
    return [
        BatchReport(
            source="quotes",
            batch_id=number,
            version=3,
            queries=1_000,
            rows=500,
            matched_rows=20,
            dropped_rows=2,
            dropped_files=1,
            matches=30,
            failures=1,
            delivered={"results": 30, "alerts": 3},
            seconds={"pin": 0.01, "match": 0.5, "deliver": 0.2, "commit": 0.1, "total": 0.2 + number},
            top=(('odd "name"\\\n', 20), ("dear", 10)),
            at=datetime(2026, 1, 5, 12, tzinfo=UTC),
        )
        for number in range(3)
    ]


def test_the_sums_of_three_batches() -> None:
    found = parsed(exposition(total_of(reports()), pipeline="market"))
    assert of(found, "eddyline_info", pipeline="market") == 1
    for name, value in {
        "rows_total": 1_500,
        "matched_rows_total": 60,
        "matches_total": 90,
        "dead_letters_total": 6,
        "dropped_files_total": 3,
        "failures_total": 3,
        "batches_total": 3,
        "version": 3,
        "queries": 1_000,
        "last_batch": 2,
        "last_batch_timestamp_seconds": 1_767_614_400,
    }.items():
        assert of(found, f"eddyline_{name}", source="quotes") == value
    assert of(found, "eddyline_delivered_rows_total", sink="alerts") == 9
    assert of(found, "eddyline_batch_stage_seconds_total", source="quotes", stage="match") == 1.5
    assert of(found, "eddyline_query_matches_total", query='odd "name"\\\n') == 60


def test_the_histogram_is_cumulative() -> None:
    found = parsed(exposition(total_of(reports()), pipeline="market"))
    buckets = {
        le: of(found, "eddyline_batch_seconds_bucket", source="quotes", le=le)
        for le in ("0.1", "0.25", "2.5", "+Inf")
    }
    assert buckets == {"0.1": 0, "0.25": 1, "2.5": 3, "+Inf": 3}
    assert of(found, "eddyline_batch_seconds_count", source="quotes") == 3
    assert of(found, "eddyline_batch_seconds_sum", source="quotes") == pytest.approx(3.6)


def test_queries_are_few_whatever_their_number() -> None:
    counts = {f"q{n:05}": n for n in range(10_000)}
    found = parsed(exposition(total_of(reports()), pipeline="market", queries=counts, queries_shown=5))
    shown = {dict(labels)["query"] for name, labels in found if name == "eddyline_query_matches_total"}
    assert shown == {"q09999", "q09998", "q09997", "q09996", "q09995"}


def test_before_the_first_batch() -> None:
    assert list(parsed(exposition(PipelineTotals(), pipeline="market"))) == [
        ("eddyline_info", frozenset({("pipeline", "market")}))
    ]


def answer(endpoint: Endpoint, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(endpoint.url.replace("/metrics", path), timeout=5) as found:
            return found.status, found.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_the_endpoint_serves_and_closes() -> None:
    troubles: list[str | None] = [None, "the source has ended"]
    answers = Answers(lambda: "eddyline_info{} 1\n", unhealthy=lambda: troubles.pop(0))
    with Endpoint(0, answers) as endpoint:
        with urllib.request.urlopen(endpoint.url, timeout=5) as found:
            assert found.headers["Content-Type"] == CONTENT_TYPE
            assert found.read() == b"eddyline_info{} 1\n"
        assert answer(endpoint, "/healthz") == (200, "ok\n")
        assert answer(endpoint, "/healthz") == (503, "the source has ended\n")
        assert answer(endpoint, "/readyz") == (200, "ready\n")
        assert answer(endpoint, "/metrics/../etc")[0] == 404
        asked = urllib.request.Request(endpoint.url, method="HEAD")
        with urllib.request.urlopen(asked, timeout=5) as found:
            assert found.status == 200 and found.read() == b""
        endpoint.answers = Answers(str, not_ready=lambda: "starting")
        assert answer(endpoint, "/readyz") == (503, "starting\n")
        port = endpoint.port
    with pytest.raises(OSError):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5)
    Endpoint(port, Answers(str)).close()


@pytest.mark.parametrize("where", ["0.0.0.0:0", "127.0.0.2:0", "[::1]:0"])
def test_the_endpoint_listens_on_a_named_address(where: str) -> None:
    try:
        endpoint = Endpoint(where, Answers(lambda: "here\n"))
    except SetupError:
        if where != "[::1]:0":
            raise
        missing("this machine has no loopback address of IPv6, on which the endpoint could listen")
    with endpoint:
        assert answer(endpoint, "/metrics") == (200, "here\n")
        assert where.rpartition(":")[0] == str(endpoint.address).rpartition(":")[0]


def test_a_scrape_that_fails_is_logged_and_the_next_is_served(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    texts = iter(["fine\n"])

    def text() -> str:
        return next(texts) if caplog.records else str(1 / 0)

    with Endpoint(0, Answers(text)) as endpoint:
        with pytest.raises((OSError, http.client.HTTPException)):
            urllib.request.urlopen(endpoint.url, timeout=5)
        with urllib.request.urlopen(endpoint.url, timeout=5) as answer:
            assert answer.read() == b"fine\n"
    assert "a request for metrics failed" in "\n".join(caplog.messages)
    assert capfd.readouterr().err == ""


def test_a_port_in_use_is_said() -> None:
    answers = Answers(str)
    with Endpoint(0, answers) as first, pytest.raises(SetupError, match=r"cannot listen on 127\.0\.0\.1:"):
        Endpoint(first.port, answers)
    for nowhere in ("203.0.113.9:0", "no.such.host.invalid:0", ":9108"):
        with pytest.raises(SetupError, match=f"cannot listen on {nowhere}"):
            Endpoint(nowhere, answers)
    with pytest.raises(SetupError, match="70000"):
        Endpoint(70_000, answers)


def test_how_the_pipeline_is() -> None:
    """An idle source: its last commit is long ago, and nothing of what alerts go by says that it hangs."""
    last = reports()[-1]
    now = last.end.timestamp() + 5_000
    idle = SourceVitals(name="quotes", idle=True, between=now - 1, restarts=3, backlog={"files": 0})
    hangs = SourceVitals(name="trades", trigger=1_200.0, failures_in_a_row=2, executors=0)
    vitals = PipelineVitals(
        pipeline="market",
        host="here",
        pid=7,
        since=1_767_614_000.0,
        now=now,
        sources=(idle, hangs),
        newest_version=4,
        left_out=2,
    )
    found = parsed(exposition(total_of(reports()), pipeline="market", vitals=vitals, stalled_after=900))
    for name, value in {"healthy": 0, "ready": 0, "newest_version": 4, "queries_left_out": 2}.items():
        assert of(found, f"eddyline_{name}") == value
    assert of(found, "eddyline_owner", host="here", pid="7") == 1_767_614_000
    for name, quotes, trades in (
        ("idle", 1, 0),
        ("trigger_seconds", 0, 1_200),
        ("restarts_total", 3, 0),
        ("failures_in_a_row", 0, 2),
        ("source_running", 1, 1),
    ):
        assert of(found, f"eddyline_{name}", source="quotes") == quotes
        assert of(found, f"eddyline_{name}", source="trades") == trades
    assert of(found, "eddyline_seconds_since_commit", source="quotes") == pytest.approx(5_000)
    assert of(found, "eddyline_last_trigger_timestamp_seconds", source="quotes") == pytest.approx(now - 1)
    assert of(found, "eddyline_backlog_files", source="quotes") == 0
    assert of(found, "eddyline_executors", source="trades") == 0
    assert ("eddyline_executors", frozenset({("source", "quotes")})) not in found, "nobody counts them"


def test_queries_that_fail_and_the_newest_event() -> None:
    one = replace(
        reports()[0],
        failing=(("divides", 7), ("casts", 2)),
        newest_event=datetime(2026, 1, 5, 11, 59, tzinfo=UTC),
    )
    vitals = PipelineVitals(pipeline="market", host="here", pid=7, since=0.0)
    found = parsed(exposition(total_of([one]), pipeline="market", queries_shown=1, vitals=vitals))
    assert of(found, "eddyline_query_failures_total", query="divides") == 7
    assert not [name for name, labels in found if ("query", "casts") in labels], "series are bounded"
    assert of(found, "eddyline_event_time_lag_seconds", source="quotes") == pytest.approx(60.2)
