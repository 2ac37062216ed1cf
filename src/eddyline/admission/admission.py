"""The check of one change: the compiler's verdict first, then what policies and budgets say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, get_args

from eddyline.admission.budgets import Budgets, OverBudget, concerned
from eddyline.admission.candidate import Candidate, Policy, candidate_of
from eddyline.admission.listener import CheckProgress, Listener, Nobody
from eddyline.admission.present import ListedEntries, Present, RegisteredEntries
from eddyline.admission.redundancy import IfImplied, IfSame, RedundancyRules
from eddyline.admission.redundancy_check import RedundancyCheck, joined_verdicts
from eddyline.admission.redundant import RedundancySearch
from eddyline.compile import Compiler
from eddyline.errors import EddylineError, QueryError
from eddyline.model.query import Query
from eddyline.model.query_state import Verdict
from eddyline.registry import Budget, Check, Edit, Put

if TYPE_CHECKING:
    from eddyline.registry import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """Lets queries in, or not: the same for an engine, a registry and the commands.

    Every query is checked by a compiler, which also knows whom to ask about functions that only Spark has. Then each policy
    may refuse it or change its state. Budgets come after them, so that what a policy refused costs nothing: these here, and
    those of the registry that is changed. What is left is compared with what stands. `over_budget` overrules what each budget says becomes of a query that costs more.
    `if_same` and `if_implied` say what becomes of a query that is the same as another or covered by one; without them
    nobody looks.

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
    Verdict(spark_only=False, state=None, note=None, same_as=None)
    >>> check(Query("all", "SELECT * FROM quotes"))
    Traceback (most recent call last):
    eddyline.errors.QueryError: query "all": it has no condition
    hint: add WHERE ...
    """

    policies: Sequence[Policy] = ()
    budgets: Sequence[Budget] = ()
    over_budget: OverBudget | None = None
    if_same: IfSame | None = None
    if_implied: IfImplied | None = None

    def __post_init__(self) -> None:
        for name, value, known in (
            ("if_same", self.if_same, get_args(IfSame)),
            ("if_implied", self.if_implied, get_args(IfImplied)),
        ):
            if value is not None and value not in known:
                raise EddylineError(f"{name} must be one of {', '.join(known)}, not {value!r}")

    @property
    def rules(self) -> RedundancyRules:
        """What becomes of queries that are redundant."""
        return RedundancyRules(self.if_same, self.if_implied)

    @property
    def is_open(self) -> bool:
        """Whether it lets in whatever compiles."""
        return not self.policies and not self.budgets and not self.rules

    def of(
        self,
        registry: Registry,
        edits: Iterable[Edit],
        compiler: Compiler | None = None,
        *,
        present: RegisteredEntries | None = None,
        listener: Listener | None = None,
    ) -> Check:
        """The check for `Registry.change(edits, check=...)`: with the registry's budgets, against its streams.

        For a change that also declares streams or sets the join window, hand in a compiler that knows these. `present` is
        given by whoever keeps the registry's queries compiled. `listener` is told how far the work is.
        """
        compiler = compiler or Compiler(registry.streams(), join_window=registry.join_window())
        more = replace(self, budgets=(*self.budgets, *registry.budgets()))
        return more.check(edits, compiler, present or RegisteredEntries(registry), listener)

    def check(
        self,
        edits: Iterable[Edit],
        compiler: Compiler,
        present: Present | None = None,
        listener: Listener | None = None,
    ) -> Check:
        """The check for edits of what is `present`: a verdict on every text, or a `QueryError`."""
        edits = list(edits)
        puts = [edit for edit in edits if isinstance(edit, Put)]
        listener = listener or Nobody()
        tell = CheckProgress(listener, len(puts))
        if self.is_open:
            return tell.each(compiler.check)
        present = present or ListedEntries()
        before = present.by_id({edit.id for edit in edits})
        candidates = {(edit.id, edit.sql): candidate_of(edit, before.get(edit.id)) for edit in puts}
        budgets = None
        if concerned(self.budgets, candidates.values()):
            asking = [*candidates.values()]
            budgets = Budgets(self.budgets, asking, present.entries(), compiler, self.over_budget)
        check = _AdmissionCheck(compiler, candidates, self.policies, budgets)
        if not self.rules:
            return tell.each(check if self.policies or budgets is not None else compiler.check)
        search = partial(
            RedundancySearch,
            present=present,
            compiler=compiler,
            listener=listener,
            in_passing=self.rules.only_notes,
        )
        return RedundancyCheck(check.examine, self.rules, edits, before, search, tell)


@dataclass(frozen=True, slots=True)
class _AdmissionCheck:
    """Asks everybody about a query. One that is none of the candidates stands already, and only has to compile."""

    compiler: Compiler
    candidates: Mapping[tuple[str, str], Candidate]  # by id and text
    policies: Sequence[Policy]
    budgets: Budgets | None

    def __call__(self, query: Query) -> Verdict:
        return self.examine(query)[0]

    def examine(self, query: Query) -> tuple[Verdict, Candidate | None]:
        """The verdict, and the candidate as it would be let in; None for a query that stands already."""
        verdict, normal = self.compiler.examine(query)
        candidate = self.candidates.get((query.id, query.sql))
        if candidate is None:
            return verdict, None
        entry = replace(candidate.entry, spark_only=verdict.spark_only, digest=verdict.digest)
        candidate = replace(candidate, entry=entry, normal=normal)
        for policy in self.policies:
            try:
                verdict = joined_verdicts(verdict, policy(candidate))
            except QueryError as error:
                error.query = error.query or query.id  # policies need not say whom they refuse
                raise
        candidate = _in_state(candidate, verdict)
        if self.budgets is not None:
            verdict = joined_verdicts(verdict, self.budgets(candidate))
            candidate = _in_state(candidate, verdict)
        return verdict, candidate


def _in_state(candidate: Candidate, verdict: Verdict) -> Candidate:
    if verdict.state is None:
        return candidate
    return replace(candidate, entry=replace(candidate.entry, state=verdict.state))
