"""Reports: HTML that nothing can escape into, JSON with a stable shape, JUnit XML that parses."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from eddyline import Query
from eddyline.backtest.as_json import as_json
from eddyline.backtest.check import check
from eddyline.backtest.expectations import parse_toml
from eddyline.backtest.junit import to_junit
from eddyline.backtest.report import to_html
from eddyline.backtest.report.charts import heat, level, merged
from eddyline.backtest.values import Backtest
from eddyline.model.reject import Reject
from eddyline.pages.markup import join, tag
from eddyline.runtime.embedded.backtest.fetch import fetch_row
from tests.html_page import Page
from tests.unit.backtest.histories import TESTED, outcome, quotes

EVIL = '"><script>alert(1)</script><img src=x onerror=alert(2)>\x00\x1b'


def whole() -> Backtest:
    found, prepared = outcome(
        quotes(3000),
        queries=[
            *TESTED,
            Query(EVIL[:-2], "SELECT * FROM quotes"),
            Query("typo", "SELECT <b> FROM quotes"),
            # an id with control characters is refused, and shown as such
            Query(EVIL, "SELECT * FROM quotes"),
        ],
    )
    [track] = found.streams
    reject = Reject(EVIL, 3, 2, EVIL, EVIL.encode())
    found = replace(found, streams=(replace(track, source=EVIL, rejected=1, rejects=(reject,)),))
    return check(
        found, prepared, parse_toml('["*"]\nmin = 1\n[cheap]\nmatch = [{symbol = "<i>"}]'), fetch=fetch_row
    )


def test_a_page_is_whole_and_safe() -> None:
    text = to_html(whole())
    page = Page(text)
    assert page.tags.count("script") == 1 and "img" not in page.tags and "i" not in page.tags
    assert "<script>alert" not in text and "\x00" not in text and "\x1b" not in text
    assert len(page.ids) == len(set(page.ids))
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)
    assert "http://" not in text and "https://" not in text and "url(" not in text
    for heading in (
        "Expectations",
        "Refused",
        "When they fire",
        "Queries",
        "Overlap",
        "One by one",
        "Rejected rows",
    ):
        assert f"<h2>{heading}</h2>" in text
    assert "prefers-color-scheme: dark" in text and "can never fire" in text
    assert "style=" not in text, "the policy lets only the one style in"


def test_the_same_run_gives_the_same_page() -> None:
    assert to_html(whole()) == to_html(whole())


def test_small_pages() -> None:
    Page(to_html(Backtest(streams=(), queries=())))
    for queries in ((), TESTED):
        found, _ = outcome(quotes(0), queries=queries, existing=())
        Page(to_html(found))
    assert "nothing was expected" in to_html(found)


def test_many_queries_are_cut_and_the_page_says_so() -> None:
    queries = [Query(f"q{i}", f"SELECT * FROM quotes WHERE volume = {i}") for i in range(700)]
    found, _ = outcome(quotes(2000), queries=queries)
    text = to_html(found)
    assert "500 of 700 queries" in text and "400 of 700 queries" in text
    Page(text)
    silent = next(query.id for query in found.queries if not query.matches)
    assert f">{silent}</a>" in text, "the odd ones are not left out"


def test_json() -> None:
    found = json.loads(json.dumps(as_json(whole()), allow_nan=False))
    assert (found["format"], found["version"], found["passed"]) == ("eddyline.backtest", 1, False)
    assert found["matches"] == sum(query["matches"] for query in found["queries"])
    [track] = found["streams"]
    for query in found["queries"]:
        assert len(query["counts"]) == len(track["axis"]["starts"]) == len(track["axis"]["rows"])
        assert sum(query["counts"]) + query["counts_without"] == query["matches"]
    assert set(found["queries"][0]) == {
        *(
            "id",
            "sql",
            "stream",
            "verdict",
            "matches",
            "rows",
            "share",
            "counts",
            "counts_without",
            "first",
            "last",
        ),
        *("samples", "covered", "overlaps", "replaces", "is_join"),
    }
    assert set(found["queries"][0]["first"]) == {"file", "number", "at", "values"}
    assert found["refused"][0]["id"] == "typo" and found["rejected"] == 1


def test_junit() -> None:
    text = to_junit(whole())
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f]", text)
    root = ElementTree.fromstring(text)
    assert root.tag == "testsuites"
    [suite] = root
    cases = list(suite)
    assert {case.tag for case in cases} == {"testcase"} and all(
        {"classname", "name"} <= set(c.attrib) for c in cases
    )
    failures, errors = suite.findall("testcase/failure"), suite.findall("testcase/error")
    counted = [int(suite.attrib[name]) for name in ("tests", "failures", "errors", "skipped")]
    assert counted == [len(cases), len(failures), len(errors), 0]
    assert len({(case.attrib["classname"], case.attrib["name"]) for case in cases}) == len(cases)
    messages = [failure.attrib["message"] for failure in failures]
    assert 'query "silent" matched 0 rows, but at least 1 were expected' in messages
    assert errors[0].text is not None and "line 1, column 8" in errors[0].text


def test_charts() -> None:
    assert merged([], 4) == [] and merged([1] * 9, 4) == [3, 3, 3]
    assert [level(n, 1) for n in (0, 1)] == [0, 1]
    assert 'd="M1 0h2v1h-2z"' in heat([0, 5, 5], 5, "q")


@pytest.mark.parametrize("text", ["<b>", "&amp;", '"', "'"])
def test_markup_escapes(text: str) -> None:
    assert "<b>" not in join(text) and '"' not in tag("a", text, title=text).replace('title="', "").replace(
        '">', ""
    )
