"""What never ends, dies or raises in a process of its own is an answer, and the next call is served again."""

import os
import time

import pytest

from tests.fuzz.bounded import Bounded


def _act(what: str) -> str:
    while what == "spin":
        pass
    if what == "die":
        os._exit(3)
    if what == "raise":
        raise ValueError("no")
    return what


def test_a_hang_is_an_answer() -> None:
    bounded = Bounded(_act, lambda: time.sleep(0))
    for what, error in (("spin", TimeoutError), ("die", EOFError), ("raise", RuntimeError)):
        assert bounded.call("fine", seconds=5) == "fine"
        with pytest.raises(error):
            bounded.call(what, seconds=1)
