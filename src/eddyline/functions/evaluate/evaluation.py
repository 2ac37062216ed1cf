"""Evaluation of expressions over one batch, each distinct sub-expression once."""

from __future__ import annotations

from eddyline.model.expression import Call


def evaluate_constant(call: Call, time_zone: str = "UTC") -> object:
    raise AssertionError("not here yet")


class Evaluation: ...


class Failures: ...


def evaluate() -> None: ...
