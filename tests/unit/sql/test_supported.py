"""Every example of the table of accepted SQL binds, and every refused form is refused with its reason."""

from __future__ import annotations

import pytest

from eddyline.errors import QueryError
from eddyline.functions.table import FUNCTIONS
from eddyline.model.catalog import Stream
from eddyline.model.join import BoundJoin
from eddyline.model.query import Query
from eddyline.service.files.schemas import ddl_schema
from eddyline.sql import bind, refused
from eddyline.sql.supported import (
    COLUMNS,
    FORMS,
    JOINS,
    OTHER_COLUMNS,
    OTHER_STREAM,
    REFUSED,
    STREAM,
    AcceptedForm,
    RefusedForm,
)

STREAMS = [Stream(STREAM, ddl_schema(COLUMNS)), Stream(OTHER_STREAM, ddl_schema(OTHER_COLUMNS))]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.form)
def test_accepted(form: AcceptedForm) -> None:
    bound = bind(Query("example", form.query), STREAMS)
    assert isinstance(bound, BoundJoin) == (form.group == JOINS)
    assert STREAM in bound.stream


@pytest.mark.parametrize("form", REFUSED, ids=lambda form: form.form)
def test_refused(form: RefusedForm) -> None:
    with pytest.raises(QueryError) as caught:
        bind(Query("example", form.example), STREAMS)
    assert caught.value.message.endswith(form.reason.message)
    assert caught.value.hint == form.reason.instead
    assert caught.value.span is not None


@pytest.mark.parametrize("name", refused.FUNCTIONS)
def test_refused_functions(name: str) -> None:
    with pytest.raises(QueryError) as caught:
        bind(Query("example", f"SELECT {name}(price) AS x FROM quotes"), STREAMS)
    assert caught.value.message == f"{name}: {refused.FUNCTIONS[name].message}"
    assert caught.value.hint == refused.FUNCTIONS[name].instead


def test_every_refused_clause_is_in_the_table() -> None:
    shown = {id(form.reason) for form in REFUSED}
    reasons = {**refused.CLAUSES, **refused.OPERATORS, **refused.PAIRS}
    same = {word for word, reason in reasons.items() if id(reason) in shown}
    assert set(reasons) - same <= {"MINUS"}  # shown with EXCEPT


def test_nothing_is_both_accepted_and_refused() -> None:
    assert not FUNCTIONS.keys() & refused.FUNCTIONS.keys()
