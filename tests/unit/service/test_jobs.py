"""Services do the work of commands without a terminal: values in, values out, errors raised, nothing printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from eddyline.errors import EddylineError, UsageError
from eddyline.service.changes import ChangeOutcome, Declaration, Signature, bring_into, enter, roll_back
from eddyline.service.edits import edit_of, read_edits
from eddyline.service.findings import Finding
from eddyline.service.jobs.backtest import BacktestRequest, backtest
from eddyline.service.jobs.check import check_files
from eddyline.service.jobs.cost import CostRequest, NewPrices, SetPrices, price
from eddyline.service.jobs.explanation import Explanation, explain
from eddyline.service.jobs.match import MatchForm, MatchRequest, match_files
from eddyline.service.jobs.why import Answer, JudgedRow, JudgedRows, WhyRequest, ask_why
from eddyline.service.watcher import Watcher

RULES = """-- name: cheap
SELECT symbol FROM quotes WHERE price < 10;
-- name: typo
SELECT symbol FROM quotes WHERE prise < 10;
"""
ROWS = "symbol,price\nA,5.0\nB,50.0\n"
SCHEMA = "quotes=symbol STRING, price DOUBLE"
CHEAP = "SELECT symbol FROM quotes WHERE price < 10"


class Ears(Watcher):
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.findings: list[Finding] = []
        self.done: list[tuple[str, int, int]] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    def finding(self, finding: Finding) -> None:
        self.findings.append(finding)

    def queries(self, what: str, done: int, total: int) -> None:
        self.done.append((what, done, total))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> object:
    (tmp_path / "rules.sql").write_text(RULES)
    (tmp_path / "quotes.csv").write_text(ROWS)
    monkeypatch.chdir(tmp_path)
    yield
    assert capfd.readouterr() == ("", ""), "a service prints nothing"


def entered() -> ChangeOutcome:
    return enter(
        "rules.db", read_edits(["rules.sql"]), Declaration(schemas=[SCHEMA]), Signature("ann", "first")
    )


def test_matching_tells_its_watcher() -> None:
    ears = Ears()
    found = match_files(MatchRequest(queries=["rules.sql"], source="quotes.csv", form=MatchForm.COUNTS), ears)
    assert (found.counts, found.totals.rows) == ({"cheap": 1}, 2)
    assert [finding.query for finding in ears.findings] == ["typo"]
    assert ears.notes == [
        "the columns of quotes are guessed from the first 2 rows of quotes.csv: symbol string, price double; "
        "--schema states them"
    ]
    assert found.as_json()["counts"] == {"cheap": 1}


def test_rows_go_to_a_file() -> None:
    request = MatchRequest(queries=["rules.sql"], source="quotes.csv", form=MatchForm.ROWS, out="rows.jsonl")
    assert match_files(request).where == "rows.jsonl"
    assert Path("rows.jsonl").read_text().count("cheap") == 1


def test_what_is_asked_wrongly_is_a_usage_error() -> None:
    for asked in (
        lambda: match_files(MatchRequest(queries=["-"], source="-")),
        lambda: ask_why(WhyRequest(id="cheap")),
        lambda: price(CostRequest(id="cheap", add=CHEAP)),
        lambda: explain("rules.sql", [SCHEMA]),
        lambda: check_files(["rules.sql"], [SCHEMA], time_zone="Mars"),
        lambda: backtest(
            BacktestRequest(files=["rules.sql"], streams=["quotes=quotes.csv"], reports=["x.txt"])
        ),
        lambda: enter("new.db", edit_of("cheap", CHEAP, {}), Declaration(), Signature()),
    ):
        with pytest.raises(UsageError):
            asked()


def test_checking_and_explaining() -> None:
    report = check_files(["rules.sql"], [SCHEMA])
    assert (report.queries, report.accepted, len(report.findings)) == (2, 1, 1)
    assert isinstance(explain(CHEAP, [SCHEMA]), Explanation)
    refused = explain("rules.sql", [SCHEMA], id="typo")
    assert isinstance(refused, Finding) and refused.line == 4


def test_changes_of_a_registry() -> None:
    outcome = entered()
    assert outcome.counts == {"added": 1, "changed": 0, "removed": 0, "unchanged": 0, "refused": 1}
    assert bring_into("rules.db", None, Signature("bob"), ids=["cheap"]).counts["removed"] == 1
    assert roll_back("rules.db", 1, Signature("bob")).counts["added"] == 1
    missing = bring_into("rules.db", None, Signature("bob"), ids=["cheep"])
    assert missing.change is None and missing.findings[0].query == "cheep"
    with pytest.raises(EddylineError, match="there is no registry"):
        bring_into("other.db", None, Signature(), ids=["cheap"])


def test_large_changes_tell_how_far_they_are() -> None:
    lines = [f"-- name: q{n}\nSELECT * FROM quotes WHERE price < {n};\n" for n in range(5_000)]
    Path("many.sql").write_text("".join(lines))
    ears = Ears()
    enter("rules.db", read_edits(["many.sql"]), Declaration(schemas=[SCHEMA]), Signature(), watcher=ears)
    checked, compared = ([told for told in ears.done if told[0] == what] for what in ("checked", "compared"))
    assert ears.done == checked + compared == sorted(ears.done)
    assert checked[0] == ("checked", 500, 5_000) and checked[-1] == ("checked", 5_000, 5_000)
    assert compared[-1] == ("compared", 5_000, 5_000)


def test_why_one_row_and_all() -> None:
    one = ask_why(WhyRequest(id="cheap", row="quotes.csv:2", queries=["rules.sql"], schemas=[SCHEMA]))
    assert isinstance(one, Answer) and isinstance(one.judged, JudgedRow)
    assert (one.judged.number, one.judged.why.matched) == (2, False)
    every = ask_why(WhyRequest(id="cheap", rows="quotes.csv", queries=["rules.sql"], schemas=[SCHEMA]))
    assert isinstance(every, Answer) and isinstance(every.judged, JudgedRows)
    assert [row.why.matched for row in every.judged] == [True, False]
    assert every.judged.verdicts.matched == 1
    refused = ask_why(WhyRequest(id="typo", rows="quotes.csv", queries=["rules.sql"], schemas=[SCHEMA]))
    assert isinstance(refused, Finding)


def test_costs_of_a_set_and_of_new_queries() -> None:
    found = price(CostRequest(queries=["rules.sql"], schemas=[SCHEMA]))
    assert isinstance(found, SetPrices) and list(found.listed) == ["cheap"]
    new = price(CostRequest(queries=["rules.sql"], schemas=[SCHEMA], add=CHEAP))
    assert isinstance(new, NewPrices) and new.present == 1 and new.costs["the query"].bytes > 0


def test_a_backtest_writes_its_reports() -> None:
    request = BacktestRequest(
        files=["rules.sql"], streams=["quotes=quotes.csv"], schemas=[SCHEMA], reports=["found.json"]
    )
    found = backtest(request)
    assert [(query.id, query.matches) for query in found.queries] == [("cheap", 1)]
    assert Path("found.json").exists()
