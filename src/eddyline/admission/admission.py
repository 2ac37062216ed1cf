"""The check of one change: the compiler's verdict first, then what policies and budgets say."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, get_args

from eddyline.admission.budgets import Budgets, OverBudget, concerned
from eddyline.admission.candidate import Candidate, Policy, candidate_of
from eddyline.admission.listener import Listener, Nobody
from eddyline.admission.present import ListedEntries, Present, RegisteredEntries
from eddyline.admission.redundancy import IfImplied, IfSame, RedundancyRules, RedundancyVerdicts
from eddyline.admission.redundant import RedundancySearch, is_compared
from eddyline.compile import Compiler
from eddyline.errors import EddylineError, QueryError
from eddyline.model.query import Query
from eddyline.model.query_state import State, Verdict
from eddyline.registry import Budget, Check, Drop, Edit, Put, Set

if TYPE_CHECKING:
    from eddyline.registry import Registry

STEP: Final = 500  # queries between two reports of how far a check is


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
        tell = _Telling(listener, len(puts))
        if self.is_open:
            return tell.each(compiler.check)
        present = present or ListedEntries()
        entries = present.by_id([edit.id for edit in puts])
        candidates = {edit.id: candidate_of(edit, entries.get(edit.id)) for edit in puts}
        budgets = None
        if concerned(self.budgets, candidates.values()):
            asking = [*candidates.values()]
            budgets = Budgets(self.budgets, asking, present.entries(), compiler, self.over_budget)
        check = _AdmissionCheck(compiler, candidates, self.policies, budgets)
        if not self.rules:
            return tell.each(check if self.policies or budgets is not None else compiler.check)
        taken = {
            edit.id for edit in puts if edit.new and edit.id in entries
        }  # refused by the registry itself
        search = partial(
            RedundancySearch,
            present=present,
            compiler=compiler,
            leaving=_leaving(edits),
            listener=listener,
            in_passing=self.rules.only_notes,
        )
        return _RedundancyCheck(check, self.rules, search, taken, tell)


class _Telling:
    """Tells now and then how many queries of a change are checked."""

    def __init__(self, listener: Listener, total: int) -> None:
        self._listener = listener
        self._total = total
        self._done = 0

    def one_more(self) -> None:
        """One query is checked."""
        self._done += 1
        if self._done % STEP == 0:
            self._listener.queries("checked", self._done, self._total)

    def each(self, check: Check) -> Check:
        """A check that tells of every query."""

        def checked(query: Query) -> Verdict:
            try:
                return check(query)
            finally:
                self.one_more()

        return checked


def _leaving(edits: Iterable[Edit]) -> set[str]:
    """Queries that edits take out, or disable."""
    return {
        edit.id
        for edit in edits
        if isinstance(edit, Drop) or (isinstance(edit, Set) and edit.state is State.DISABLED)
    }


@dataclass(frozen=True, slots=True)
class _AdmissionCheck:
    """Asks everybody about a query. One that is none of the candidates stands already, and only has to compile."""

    compiler: Compiler
    candidates: dict[str, Candidate]
    policies: Sequence[Policy]
    budgets: Budgets | None

    def __call__(self, query: Query) -> Verdict:
        return self.examine(query)[0]

    def examine(self, query: Query) -> tuple[Verdict, Candidate | None]:
        """The verdict, and the candidate as it would be let in; None for a query that stands already."""
        verdict, normal = self.compiler.examine(query)
        candidate = self.candidates.get(query.id)
        if candidate is None or candidate.entry.sql != query.sql:
            return verdict, None
        entry = replace(candidate.entry, spark_only=verdict.spark_only, digest=verdict.digest)
        candidate = replace(candidate, entry=entry, normal=normal)
        for policy in self.policies:
            try:
                verdict = _joined(verdict, policy(candidate))
            except QueryError as error:
                error.query = error.query or query.id  # policies need not say whom they refuse
                raise
        candidate = _in_state(candidate, verdict)
        if self.budgets is not None:
            verdict = _joined(verdict, self.budgets(candidate))
            candidate = _in_state(candidate, verdict)
        return verdict, candidate


class _RedundancyCheck:
    """Asks everybody about all queries of a change first, and then compares those that are let in with one another.

    So nobody is refused for the sake of a query that is refused itself, wherever that stands in the change.
    """

    def __init__(
        self,
        check: _AdmissionCheck,
        rules: RedundancyRules,
        search: Callable[[Sequence[Candidate]], RedundancySearch],
        taken: Collection[str],
        tell: _Telling,
    ) -> None:
        self._check = check
        self._rules = rules
        self._search = search
        self._taken = taken
        self._tell = tell
        self._answers: dict[str, Verdict | QueryError] | None = None

    def __call__(self, query: Query) -> Verdict:
        candidate = self._check.candidates.get(query.id)
        if candidate is None or candidate.entry.sql != query.sql:
            return self._check(query)
        if self._answers is None:
            self._answers = self._answered()
        answer = self._answers[query.id]
        if isinstance(answer, QueryError):
            raise answer
        return answer

    def _answered(self) -> dict[str, Verdict | QueryError]:
        answers: dict[str, Verdict | QueryError] = {}
        let_in: list[Candidate] = []
        for id, candidate in self._check.candidates.items():
            self._tell.one_more()
            try:
                answers[id], examined = self._check.examine(candidate.entry.query)
            except QueryError as error:
                answers[id] = error
            else:
                assert examined is not None, "it was asked about one of its candidates"
                if is_compared(examined) and id not in self._taken:
                    let_in.append(examined)
        if not let_in:
            return answers
        verdicts = RedundancyVerdicts(self._rules, self._search(let_in).found())
        for each in let_in:
            answer = answers[each.entry.id]
            assert isinstance(answer, Verdict), "who is let in has a verdict"
            try:
                answers[each.entry.id] = _joined(answer, verdicts.verdict(each.entry.id))
            except QueryError as error:
                answers[each.entry.id] = error
        return answers


def _in_state(candidate: Candidate, verdict: Verdict) -> Candidate:
    if verdict.state is None:
        return candidate
    return replace(candidate, entry=replace(candidate.entry, state=verdict.state))


def _joined(verdict: Verdict, more: Verdict | None) -> Verdict:
    """Two verdicts on one query: the later state holds, and both notes."""
    if more is None:
        return verdict
    notes = [note for note in (verdict.note, more.note) if note is not None]
    return replace(
        verdict,
        state=more.state or verdict.state,
        note="; ".join(notes) or None,
        same_as=more.same_as or verdict.same_as,
    )
