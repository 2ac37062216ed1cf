"""What `query export` writes, `query import` reads back unchanged, whatever stands in the queries."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.registry import KEEP, Entry, Put, State
from eddyline.service.edits import read_edits
from eddyline.service.files.queries import fits_sql_file
from eddyline.service.files.writing import write_queries

characters = st.characters(exclude_categories=("Cs",), exclude_characters="\x00")
printable = st.characters(exclude_categories=("C", "Z"))
words = st.text(printable, min_size=1, max_size=6)
names = words | st.tuples(words, words).map(" ".join)
tags = st.text(st.characters(exclude_categories=("C", "Z"), exclude_characters=","), min_size=1, max_size=12)
pieces = st.one_of(
    st.text(characters, max_size=20),
    st.sampled_from(
        ["\n", "\r\n", ";", "'", '"', ",", "-- owner: x\n", "-- name: y\n", "-- ", "SELECT * FROM t"]
    ),
)
texts = st.lists(pieces, min_size=1, max_size=6).map("".join).map(str.strip).filter(bool)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)
entries = st.builds(
    Entry,
    id=names,
    sql=texts,
    state=st.sampled_from(State),
    tags=st.lists(tags, max_size=3).map(lambda found: tuple(sorted(set(found)))),
    owner=st.none() | names,
    destination=st.none() | names,
    metadata=st.dictionaries(st.text(max_size=5), values, max_size=3),
)


FORMS = ("jsonl", "json", "csv", "sql")
several = st.lists(entries, max_size=5, unique_by=lambda entry: entry.id)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=30)
@given(written=several)
def test_round_trip(form: str, written: list[Entry]) -> None:
    check_round_trip(form, written)


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=150)
@given(written=several)
def test_round_trip_at_length(form: str, written: list[Entry]) -> None:
    check_round_trip(form, written)


def check_round_trip(form: str, written: list[Entry]) -> None:
    if form == "sql":
        written = [entry for entry in written if fits_sql_file(entry.sql)]
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / f"queries.{form}")
        write_queries(written, path)
        found = read_edits([path])
    if written:
        assert found.findings == []
    assert [_said(edit) for edit in found.edits] == [_wanted(entry) for entry in written]


NAMES = ("id", "sql", "state", "tags", "owner", "destination", "metadata")


def _said(edit: Put) -> dict[str, Any]:
    """What an edit makes of a new query: the default where it says nothing."""
    fresh = Entry(edit.id, edit.sql)
    said = {name: getattr(edit, name) for name in NAMES}
    return {name: getattr(fresh, name) if value is KEEP else value for name, value in said.items()}


def _wanted(entry: Entry) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in NAMES}
