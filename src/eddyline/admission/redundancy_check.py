"""The check of a change whose queries are also compared with what stands, and with one another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from eddyline.admission.candidate import Candidate
from eddyline.admission.listener import CheckProgress
from eddyline.admission.present import is_evaluated
from eddyline.admission.redundancy import RedundancyRules, RedundancyVerdicts
from eddyline.admission.redundant import RedundancySearch, is_compared
from eddyline.errors import QueryError
from eddyline.model.query import Query
from eddyline.model.query_state import Verdict
from eddyline.registry import Edit, Entry, Put
from eddyline.registry.editing import CheckedEdits, EntryDraft

Examine = Callable[[Query], tuple[Verdict, Candidate | None]]
_Key = tuple[str, str]  # id and text


class RedundancyCheck:
    """Asks everybody about all queries of a change first, and then compares those that are let in with one another.

    The edits are tried out before: only what would stand after all of them counts. So no query is refused because of one
    that is refused itself, or that the same change removes, disables or gives another text, wherever that stands in it.
    """

    def __init__(
        self,
        examine: Examine,
        rules: RedundancyRules,
        edits: Sequence[Edit],
        before: Mapping[str, Entry],
        search: Callable[..., RedundancySearch],
        progress: CheckProgress,
    ) -> None:
        """`before` is what stands under the ids of the edits."""
        self._examine = examine
        self._rules = rules
        self._edits = edits
        self._before = before
        self._search = search
        self._progress = progress
        self._answers: dict[_Key, Verdict | QueryError] | None = None

    def __call__(self, query: Query) -> Verdict:
        if self._answers is None:
            self._answers = self._answered()
        answer = self._answers.get((query.id, query.sql))
        if answer is None:  # it stands already, and only has to compile
            return self._examine(query)[0]
        if isinstance(answer, QueryError):
            raise answer
        return answer

    def _answered(self) -> dict[_Key, Verdict | QueryError]:
        answers, examined = self._examined()
        after = self._after(answers)
        let_in = []
        for each in examined:
            entry = after.get(each.entry.id)
            if entry is not None and entry.sql == each.entry.sql:
                final = replace(each, entry=replace(each.entry, state=entry.state))
                let_in += [final] if is_compared(final) else []
        if not let_in:
            return answers
        leaving = [id for id, was in self._before.items() if not _stays(was, after.get(id))]
        verdicts = RedundancyVerdicts(self._rules, self._search(let_in, leaving=leaving).found())
        for each in let_in:
            key = each.entry.id, each.entry.sql
            answer = answers[key]
            assert isinstance(answer, Verdict), "who is let in has a verdict"
            try:
                answers[key] = joined_verdicts(answer, verdicts.verdict(each.entry.id))
            except QueryError as error:
                answers[key] = error
        return answers

    def _examined(self) -> tuple[dict[_Key, Verdict | QueryError], list[Candidate]]:
        """What everybody says of each text by itself, and the candidates that are let in so far."""
        answers: dict[_Key, Verdict | QueryError] = {}
        examined: list[Candidate] = []
        for edit in self._edits:
            if not isinstance(edit, Put) or (edit.id, edit.sql) in answers:
                continue
            self._progress.one_more()
            try:
                answers[edit.id, edit.sql], candidate = self._examine(Query(edit.id, edit.sql))
            except QueryError as error:
                answers[edit.id, edit.sql] = error
            else:
                assert candidate is not None, "it was asked about one of its candidates"
                examined.append(candidate)
        return answers, examined

    def _after(self, answers: Mapping[_Key, Verdict | QueryError]) -> Mapping[str, Entry]:
        """What would stand under the ids of the edits after all of them, if nobody looked for what is redundant."""
        seen = CheckedEdits(self._edits)
        for place, edit in enumerate(self._edits):
            if isinstance(edit, Put):
                answer = answers[edit.id, edit.sql]
                if isinstance(answer, QueryError):
                    seen.refused[place] = answer
                else:
                    seen.verdicts[place] = answer
        draft = EntryDraft(self._before, {}, 0)
        draft.apply(seen)
        return draft.after


def _stays(before: Entry, after: Entry | None) -> bool:
    """Whether a query is evaluated after a change with the text that it had."""
    return after is not None and after.sql == before.sql and is_evaluated(after)


def joined_verdicts(verdict: Verdict, more: Verdict | None) -> Verdict:
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
