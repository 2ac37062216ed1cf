"""People who change the registry while the pipeline runs: each step is the command `eddyline` in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

from eddyline.testing.market_queries import Standing

TRIAL: Final = 40  # queries of the experiment that is rolled back
NEWS: Final = ("watchlist", "headline")  # families whose results go to the newsroom
PATIENCE: Final = 60  # seconds for a command

Command = Callable[[list[str]], tuple[int, str]]


@dataclass(frozen=True, slots=True)
class MadeChange:
    """Something that somebody did, the registry's version since, and the command."""

    version: int
    text: str
    command: str


def in_another_process(words: list[str]) -> tuple[int, str]:
    """Run the command `eddyline`: its exit code, and what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", "from eddyline.cli import main; main()", *words],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        stdin=subprocess.DEVNULL,
    )
    return done.returncode, done.stdout or done.stderr


def destination_of(query: Standing) -> str | None:
    """Where a query's results go, if it says so."""
    return "newsroom" if query.tags[0] in NEWS else None


class People:
    """A cycle of changes. `busiest` gives the queries with the most matches so far, the first the busiest."""

    def __init__(
        self,
        registry: Path,
        fresh: Iterator[Standing],
        busiest: Callable[[], list[str]],
        *,
        version: int = 1,
        command: Command = in_another_process,
    ) -> None:
        self.version = version
        self._command = command
        self._registry = registry
        self._fresh = fresh
        self._busiest = busiest
        self._before_trial = version
        self._step = 0
        self._steps = (
            self._add,
            self._tighten,
            self._refuse,
            self._try_out,
            self._shadow,
            self._remove,
            self._roll_back,
        )

    def act(self) -> MadeChange:
        """The next step."""
        step = self._steps[self._step % len(self._steps)]
        self._step += 1
        return step()

    def _add(self) -> MadeChange:
        query = next(self._fresh)
        where = destination_of(query)
        more = () if where is None else ("--destination", where)
        self._run("add", query.id, query.sql, "--owner", "chen", *more, author="chen", reason="a client asks")
        return self._event(f"chen adds {query.id}", f"query add {query.id} ...")

    def _tighten(self) -> MadeChange:
        id = self._busiest()[0]
        shown = self._run("show", id)
        head, _, condition = shown["sql"].partition(" WHERE ")
        sql = f"{head} WHERE ({condition}) AND volume >= 500"
        self._run("add", id, sql, "--replace", author="ann", reason="too many")
        return self._event(f"ann makes {id} stricter", f"query add {id} ... --replace")

    def _refuse(self) -> MadeChange:
        sql = "SELECT symbol FROM quotes WHERE prise < 10"
        found = self._run("add", "oops", sql, author="bob", reason="in a hurry", expected=1)
        reason = found["findings"][0]["message"]
        return self._event(f"bob's query is refused: {reason}", f'query add oops "{sql}"')

    def _try_out(self) -> MadeChange:
        self._before_trial = self.version
        file = self._registry.with_name("trial.sql")
        file.write_text("".join(_entry(query) for query in islice(self._fresh, TRIAL)), encoding="utf-8")
        self._run("import", str(file), author="bob", reason="an experiment")
        return self._event(f"bob imports {TRIAL} queries on trial", f"query import {file.name}")

    def _shadow(self) -> MadeChange:
        id = self._busiest()[0]
        self._run("shadow", id, author="risk-desk", reason="too loud")
        return self._event(f"risk-desk puts {id} in shadow", f"query shadow {id}")

    def _remove(self) -> MadeChange:
        ids = self._busiest()[1:4]
        self._run("remove", *ids, author="dora", reason="nobody reads them")
        return self._event(f"dora removes {len(ids)} queries", f"query remove {' '.join(ids)}")

    def _roll_back(self) -> MadeChange:
        self._run("rollback", str(self._before_trial), author="ann", reason="the trial is over")
        return self._event(
            f"ann rolls back to version {self._before_trial}", f"query rollback {self._before_trial}"
        )

    def _event(self, text: str, command: str) -> MadeChange:
        return MadeChange(self.version, text, f"eddyline {command}")

    def _run(
        self, verb: str, *words: str, author: str | None = None, reason: str = "", expected: int = 0
    ) -> Mapping[str, Any]:
        """One command; what it printed, as JSON."""
        more = () if author is None else ("--author", author, "--reason", reason)
        command = ["query", verb, *words, "--registry", str(self._registry), *more, "--json"]
        code, printed = self._command(command)
        assert code == expected, f"eddyline {' '.join(command)} ended with {code}: {printed}"
        found: Mapping[str, Any] = json.loads(printed)
        self.version = max(self.version, int(found.get("version") or 0))
        return found


def _entry(query: Standing) -> str:
    where = destination_of(query)
    attributes = "" if where is None else f"-- destination: {where}\n"
    return f"-- name: {query.id}\n-- owner: {query.owner}\n-- tags: trial\n{attributes}{query.sql};\n\n"
