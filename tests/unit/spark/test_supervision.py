"""A source that fails is started again after a pause, with a clock that does not tick."""

from __future__ import annotations

from threading import Timer
from types import SimpleNamespace
from typing import Any

import pytest

from eddyline.errors import EddylineError, PipelineError, SparkGoneError
from eddyline.runtime.spark.pipeline import supervision
from eddyline.runtime.spark.pipeline.supervision import Supervisor

RETRIES = 3


class Scripted(Supervisor):
    """Runs a script instead of Spark: "f" fails at once, "b" fails after a batch was served, the end of it ends well.

    "g" is a Java process that has ended.
    """

    def __init__(self, script: str) -> None:
        self.served = 0
        self.pauses: list[float] = []
        self._script = iter(script)
        context: Any = SimpleNamespace(
            settings=SimpleNamespace(retries=RETRIES), log=SimpleNamespace(last_served=lambda _: self.served)
        )
        source: Any = SimpleNamespace(settings=SimpleNamespace(name="quotes"))
        super().__init__(SimpleNamespace(), context, source)  # type: ignore[arg-type]
        self._stopping.wait = self.pauses.append  # type: ignore[assignment, method-assign]

    def _run_once(self) -> EddylineError | None:
        step = next(self._script, None)
        self.served += step == "b"
        if step == "g":
            return SparkGoneError("the Java process of Spark has ended")
        return None if step is None else PipelineError("the broker is away")


@pytest.mark.parametrize(
    ("script", "pauses"),
    [
        ("", []),
        ("fff", [1.0, 2.0, 4.0]),
        ("ffbffbf", [1.0, 2.0, 1.0, 2.0, 4.0, 1.0, 2.0]),  # what went well meanwhile starts the count anew
        ("bbbbbbbb", [1.0] * 8),
    ],
)
def test_a_source_that_comes_back(script: str, pauses: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervision.random, "random", lambda: 0.0)  # type: ignore[attr-defined]
    one = Scripted(script)
    one._run()
    assert one.pauses == pauses and one.failure is None and one.state == "ended"
    assert one.restarts == one.vitals.restarts == len(pauses)


def test_a_source_that_does_not_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervision.random, "random", lambda: 0.0)  # type: ignore[attr-defined]
    one = Scripted("b" + "f" * 10)
    one._run()
    assert one.pauses == [1.0, 2.0, 4.0] and one.state == "failed"
    assert "failed 4 times in a row, the last time: the broker is away" in str(one.failure)


@pytest.mark.parametrize(("script", "pauses"), [("gfff", 0), ("ffgff", 2)])
def test_a_java_that_has_ended_is_not_asked_again(script: str, pauses: int) -> None:
    one = Scripted(script)
    one._run()
    assert isinstance(one.failure, SparkGoneError) and len(one.pauses) == pauses
    assert one.vitals.failure == one.failure.message


class Query:
    """A query that Spark is asked about; its batch ends after so many looks, or when it is stopped."""

    lastProgress = None

    def __init__(self, one: Supervisor, looks: int) -> None:
        self.isActive = True
        self.looks = 0
        self._one = one
        self._until = looks

    @property
    def status(self) -> dict[str, object]:
        self.looks += 1
        self._one._function.busy = self.looks < self._until
        return {"isTriggerActive": True, "isDataAvailable": True}

    def stop(self) -> None:
        self.isActive = False


def test_an_orderly_stop_goes_on_looking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits for a long batch to end must not be told that Spark does not answer."""
    monkeypatch.setattr(supervision, "LOOK_CLOSER", 0.0)
    one = Scripted("")
    one._function.busy = True
    query: Any = Query(one, looks=3)
    timer = Timer(5.0, one._at_once.set)
    timer.start()
    one._stop(query)
    timer.cancel()
    assert query.looks == 3 and not query.isActive and not one._at_once.is_set()
