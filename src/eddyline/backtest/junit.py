"""A back-test as JUnit XML: one case for each query that is accepted or not, and one for each expectation."""

from __future__ import annotations

import re
from typing import Final
from xml.etree import ElementTree

from eddyline.backtest.values import Backtest

_SUITE: Final = "eddyline backtest"
# XML 1.0 has no place for these
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_junit(found: Backtest) -> str:
    """The document, as text.

    >>> to_junit(Backtest(streams=(), queries=())).splitlines()[1]
    '<testsuites name="eddyline backtest" tests="0" failures="0" errors="0">'
    """
    refused = [refusal for refusal in found.refused if not refusal.existing]
    totals = {
        "name": _SUITE,
        "tests": str(len(found.queries) + len(refused) + len(found.checks)),
        "failures": str(len(found.failed)),
        "errors": str(len(refused)),
    }
    root = ElementTree.Element("testsuites", totals)
    suite = ElementTree.SubElement(root, "testsuite", totals | {"skipped": "0"})
    for query in found.queries:
        _case(suite, query.id, "is accepted")
    for refusal in refused:
        case = _case(suite, refusal.id, "is accepted")
        _note(case, "error", refusal.message, "QueryError", refusal.text)
    for check in found.checks:
        case = _case(suite, check.query, check.expected)
        if not check.passed:
            _note(case, "failure", check.message, check.kind, f"{check.message}\n{check.place}")
    ElementTree.indent(root)
    return "<?xml version='1.0' encoding='utf-8'?>\n" + ElementTree.tostring(root, encoding="unicode") + "\n"


def _case(suite: ElementTree.Element, query: str, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(
        suite, "testcase", {"classname": f"backtest.{_clean(query)}", "name": _clean(name)}
    )


def _note(case: ElementTree.Element, tag: str, message: str, kind: str, text: str) -> None:
    note = ElementTree.SubElement(case, tag, {"message": _clean(message), "type": kind})
    note.text = _clean(text)


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
