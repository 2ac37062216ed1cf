"""What the property test against the reference does not show: sharing, counting, lengths, and text that is not UTF-8."""

from __future__ import annotations

import pyarrow as pa
import pytest

from eddyline.functions.evaluate import Evaluation, Failures, evaluate
from eddyline.functions.evaluate.evaluation import KERNELS
from eddyline.functions.operations import OPERATIONS
from eddyline.model import types as t
from eddyline.model.expression import Call, Column, Expression, Literal

A = Column("a", t.INT)
B = Column("b", t.BOOLEAN)
ZERO, ONE = Literal(0, t.INT), Literal(1, t.INT)
TEN_BY_A = Call("int_div", (Literal(10, t.LONG), Call("cast", (A,), t.LONG)), t.LONG)
NONE = Literal(None, t.LONG)


def test_every_operation_has_a_kernel() -> None:
    assert set(KERNELS) == set(OPERATIONS)


def positive(expression: Expression) -> Call:
    return Call("gt", (expression, ZERO), t.BOOLEAN)


@pytest.mark.parametrize(
    ("subject", "failures"),
    [
        (TEN_BY_A, 2),
        (Call("if", (positive(A), TEN_BY_A, NONE), t.LONG), 0),
        (Call("if", (positive(A), NONE, TEN_BY_A), t.LONG), 2),
        (Call("case", (positive(A), NONE, B, TEN_BY_A), t.LONG), 1),
        (Call("case", (positive(A), NONE, B, NONE, TEN_BY_A), t.LONG), 1),
        (Call("and", (B, Call("is_null", (TEN_BY_A,), t.BOOLEAN)), t.BOOLEAN), 1),
        (Call("or", (B, Call("is_null", (TEN_BY_A,), t.BOOLEAN)), t.BOOLEAN), 1),
        (Call("coalesce", (Call("cast", (A,), t.LONG), TEN_BY_A), t.LONG), 0),
        (Call("in", (ZERO, A, Call("cast", (TEN_BY_A,), t.INT)), t.BOOLEAN), 0),
        (Call("coalesce", (TEN_BY_A, TEN_BY_A), t.LONG), 2),
        (Call("try_cast", (Call("cast", (A,), t.STRING),), t.DATE), 0),
    ],
)
def test_failures_count_where_they_are_met(subject: Expression, failures: int) -> None:
    counted = Failures()
    batch = {"a": pa.array([0, 1, 0, None], pa.int32()), "b": pa.array([True, True, False, None])}
    evaluate(subject, batch, failures=counted)
    assert counted.total(subject) == counted.total() == failures
    assert dict(counted.operations(subject)) == ({TEN_BY_A: failures} if failures else {})


def test_two_subjects_count_their_own_failures() -> None:
    counted = Failures()
    evaluation = Evaluation({"a": pa.array([0, 1], pa.int32())}, failures=counted)
    double = Call("add", (TEN_BY_A, TEN_BY_A), t.LONG)
    evaluation.values(TEN_BY_A)
    evaluation.values(double)
    assert [counted.total(subject) for subject in counted] == [1, 1]


def test_shared_parts_are_computed_once() -> None:
    class Columns(dict[str, pa.Array]):
        reads = 0

        def __getitem__(self, name: str) -> pa.Array:
            self.reads += 1
            return super().__getitem__(name)

    columns = Columns(a=pa.array([1, 2], pa.int32()))
    evaluation = Evaluation(columns)
    evaluation.values(Call("add", (A, A), t.INT))
    evaluation.values(Call("mul", (A, ONE), t.INT))
    assert columns.reads == 1


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_constants_fill_the_batch(rows: int) -> None:
    batch = pa.RecordBatch.from_arrays([pa.array(range(rows), pa.int32())], names=["a"])
    for value, kind in ((True, t.BOOLEAN), (None, t.STRING), ([1], t.ArrayType(t.INT)), ("x", t.STRING)):
        assert evaluate(Literal(value, kind), batch).to_pylist() == [value] * rows
    assert evaluate(Call("upper", (Literal("x", t.STRING),), t.STRING), batch).to_pylist() == ["X"] * rows


def test_text_that_is_not_utf8_is_kept() -> None:
    column = Column("x", t.BINARY)
    text = Call("cast", (column,), t.STRING)
    batch = {"x": pa.array([b"\xff\xfe", b"a"])}
    back = Call("cast", (Call("concat", (text, Literal("!", t.STRING)), t.STRING),), t.BINARY)
    assert evaluate(back, batch).to_pylist() == [b"\xff\xfe!", b"a!"]
    upper = Call("cast", (Call("upper", (text,), t.STRING),), t.BINARY)
    assert evaluate(upper, batch).to_pylist() == [
        2 * "\ufffd".encode(),
        b"A",
    ]  # mended before, as Spark does it


def test_a_like_pattern_that_spark_refuses_fails() -> None:
    counted = Failures()
    text = Column("s", t.STRING)
    subject = Call("like", (text, Literal("a\\", t.STRING), Literal("\\", t.STRING)), t.BOOLEAN)
    assert evaluate(subject, {"s": pa.array(["a", None])}, failures=counted).to_pylist() == [None, None]
    assert counted.total(subject) == 1


@pytest.mark.parametrize("function", ["upper", "lower"])
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_case_of_texts_that_lie_in_the_middle_of_a_buffer(function: str, kind: pa.DataType) -> None:
    column = pa.array(["before", "Some Text", None, "ß", "after"], kind).slice(1, 3)
    changed = evaluate(Call(function, (Column("text", t.STRING),), t.STRING), {"text": column})
    changed.validate(full=True)
    texts = ["Some Text", None, "ß"]
    assert changed.to_pylist() == [None if text is None else getattr(text, function)() for text in texts]
