"""The check of one change: the compiler's verdict first, then what policies and budgets say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from eddyline.admission.budgets import Budgets, OverBudget, concerned
from eddyline.admission.candidate import Candidate, Policy, candidate_of
from eddyline.compile import Compiler
from eddyline.errors import QueryError
from eddyline.model.query import Query
from eddyline.model.query_state import Verdict
from eddyline.registry import Budget, Check, Edit, Entry, Put

if TYPE_CHECKING:
    from eddyline.registry import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """Lets queries in, or not: the same for an engine, a registry and the commands.

    Every query is checked by a compiler, which also knows whom to ask about functions that only Spark has. Then each policy
    may refuse it or change its state. Budgets come last, so that what a policy refused costs nothing: these here, and those
    of the registry that is changed. `over_budget` overrules what each budget says becomes of a query that costs more.

    >>> from eddyline.model.catalog import Stream
    >>> import pyarrow as pa
    >>> def filters(candidate):
    ...     if candidate.normal is not None and candidate.normal.predicate == ALWAYS:
    ...         raise QueryError("it has no condition", hint="add WHERE ...")
    >>> from eddyline.model.predicate import ALWAYS
    >>> quotes = Compiler([Stream("quotes", pa.schema([("price", pa.float64())]))])
    >>> edits = [Put("cheap", "SELECT * FROM quotes WHERE price < 10"), Put("all", "SELECT * FROM quotes")]
    >>> check = Admission(policies=[filters]).check(edits, quotes)
    >>> check(Query("cheap", "SELECT * FROM quotes WHERE price < 10"))
    Verdict(spark_only=False, state=None, note=None)
    >>> check(Query("all", "SELECT * FROM quotes"))
    Traceback (most recent call last):
    eddyline.errors.QueryError: query "all": it has no condition
    hint: add WHERE ...
    """

    policies: Sequence[Policy] = ()
    budgets: Sequence[Budget] = ()
    over_budget: OverBudget | None = None

    @property
    def is_open(self) -> bool:
        """Whether it lets in whatever compiles."""
        return not self.policies and not self.budgets

    def of(self, registry: Registry, edits: Iterable[Edit], compiler: Compiler | None = None) -> Check:
        """The check for `Registry.change(edits, check=...)`: with the registry's budgets, against its streams.

        For a change that also declares streams or sets the join window, hand in a compiler that knows these.
        """
        compiler = compiler or Compiler(registry.streams(), join_window=registry.join_window())
        more = replace(self, budgets=(*self.budgets, *registry.budgets()))
        return more.check(edits, compiler, registry.entries)

    def check(
        self,
        edits: Iterable[Edit],
        compiler: Compiler,
        present: Callable[[], Iterable[Entry]] = tuple,
    ) -> Check:
        """The check for edits of what is `present`: a verdict on every text, or a `QueryError`."""
        if self.is_open:
            return compiler.check
        entries = {entry.id: entry for entry in present()}
        puts = [edit for edit in edits if isinstance(edit, Put)]
        candidates = {edit.id: candidate_of(edit, entries.get(edit.id)) for edit in puts}
        budgets = None
        if concerned(self.budgets, candidates.values()):
            asking = [*candidates.values()]
            budgets = Budgets(self.budgets, asking, entries.values(), compiler, self.over_budget)
        elif not self.policies:
            return compiler.check
        return _AdmissionCheck(compiler, candidates, self.policies, budgets)


@dataclass(frozen=True, slots=True)
class _AdmissionCheck:
    """Asks everybody about a query. One that is none of the candidates stands already, and only has to compile."""

    compiler: Compiler
    candidates: dict[str, Candidate]
    policies: Sequence[Policy]
    budgets: Budgets | None

    def __call__(self, query: Query) -> Verdict:
        verdict = self.compiler.check(query)
        candidate = self.candidates.get(query.id)
        if candidate is None or candidate.entry.sql != query.sql:
            return verdict
        entry = replace(candidate.entry, spark_only=verdict.spark_only)
        unknown = not self.policies or (verdict.spark_only and self.compiler.resolver is None)
        candidate = replace(candidate, entry=entry, normal=None if unknown else self.compiler.compile(query))
        for policy in self.policies:
            try:
                verdict = _joined(verdict, policy(candidate))
            except QueryError as error:
                error.query = error.query or query.id  # policies need not say whom they refuse
                raise
        if self.budgets is None:
            return verdict
        if verdict.state is not None:
            candidate = replace(candidate, entry=replace(entry, state=verdict.state))
        return _joined(verdict, self.budgets(candidate))


def _joined(verdict: Verdict, more: Verdict | None) -> Verdict:
    """Two verdicts on one query: the later state holds, and both notes."""
    if more is None:
        return verdict
    notes = [note for note in (verdict.note, more.note) if note is not None]
    return replace(verdict, state=more.state or verdict.state, note="; ".join(notes) or None)
