"""What a registry holds and what may be done to it, as frozen values."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any, Final, Literal

from eddyline.errors import NameRefusedError, QueryError, RegistryError
from eddyline.model.catalog import Stream
from eddyline.model.names import NAME_RULE, is_name, is_unicode, short_repr
from eddyline.model.query import Query, check_query
from eddyline.model.query_state import State, Verdict

LONGEST_REASON: Final = 10_000  # characters


class Keep(Enum):
    """Stands for "as it is": the default of what an edit does not speak about."""

    KEEP = "keep"


KEEP: Final = Keep.KEEP


@dataclass(frozen=True, slots=True)
class Entry:
    """One registered query as of one version.

    `number` is new whenever the text changes and is never reused; `revision` counts the texts of one id from one.
    `spark_only` says that the text needs functions which only Spark has, so that it is unverified here. `same_as` is the
    query whose alias it was let in as. `digest` is that of its normal form, for the newest declarations of its streams; it
    follows from the text, so that it makes no difference between entries, and is None where nobody has found it out yet.
    """

    id: str
    sql: str
    revision: int = 1
    number: int = 0
    state: State = State.ENABLED
    tags: tuple[str, ...] = ()
    owner: str | None = None
    destination: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    spark_only: bool = False
    same_as: str | None = None
    digest: str | None = field(default=None, compare=False, repr=False)

    @property
    def query(self) -> Query:
        """The id and the text, as the compiler takes them."""
        return Query(self.id, self.sql)


@dataclass(frozen=True, slots=True)
class Put:
    """Enter a query, or give one another text; what is not said stays as it is, or is the default for a new one.

    >>> Put("cheap", " SELECT * FROM quotes WHERE price < 10 ", tags=("b", "a", "b")).tags
    ('a', 'b')
    """

    id: str
    sql: str
    state: State | Keep = KEEP
    tags: Iterable[str] | Keep = KEEP
    owner: str | Keep | None = KEEP
    destination: str | Keep | None = KEEP
    metadata: Mapping[str, Any] | Keep = KEEP
    new: bool = False  # refused where the id is taken

    def __post_init__(self) -> None:
        check_query(self.id, self.sql)
        text = self.sql.strip()
        if not text:
            raise RegistryError(f'query "{self.id}" has no text')
        object.__setattr__(self, "sql", storable(f'the text of query "{self.id}"', text))
        _settle(self)


@dataclass(frozen=True, slots=True)
class Set:
    """Change what stands beside a query's text; its revision and number stay."""

    id: str
    state: State | Keep = KEEP
    tags: Iterable[str] | Keep = KEEP
    owner: str | Keep | None = KEEP
    destination: str | Keep | None = KEEP
    metadata: Mapping[str, Any] | Keep = KEEP

    def __post_init__(self) -> None:
        _settle(self)


@dataclass(frozen=True, slots=True)
class Drop:
    """Take a query out; its history stays."""

    id: str


Edit = Put | Set | Drop


# Looks at a query before it is entered: a verdict, or a `QueryError` with the reason why it is refused.
Check = Callable[[Query], Verdict]


@dataclass(frozen=True, slots=True)
class Version:
    """One change of a registry: who made it, when, why, and how many queries it touched."""

    number: int
    at: datetime
    author: str
    reason: str
    added: int
    changed: int
    removed: int


@dataclass(frozen=True, slots=True)
class Change:
    """What became of some edits: the version in force after them, and what each of them did.

    Where nothing changed, there is no new version. `refused` holds the edits that were left out, with the reason, `streams`
    those that are declared otherwise, as pairs of before and after.
    """

    version: int
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    refused: tuple[QueryError, ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)
    spark_only: tuple[str, ...] = ()
    streams: tuple[tuple[Stream | None, Stream | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a query's history: the version that made it, and the query since; None where it was removed."""

    version: Version
    what: Literal["added", "changed", "removed"]
    entry: Entry | None


@dataclass(frozen=True, slots=True)
class Diff:
    """What is different in version `new` from version `old`; what was changed as pairs of before and after."""

    old: int
    new: int
    added: tuple[Entry, ...] = ()
    removed: tuple[Entry, ...] = ()
    changed: tuple[tuple[Entry, Entry], ...] = ()
    streams: tuple[tuple[Stream | None, Stream | None], ...] = ()
    join_window: tuple[str | int | None, str | int | None] | None = None  # None: it is the same


@dataclass(frozen=True, slots=True)
class Budget:
    """What one query, or each query of one owner, may cost; a limit that is None is none.

    `over` says what becomes of a query that costs more.
    """

    scope: Literal["query", "owner"]
    name: str
    bytes: int | None = None
    nanoseconds: float | None = None  # a tuple
    over: Literal["refuse", "shadow"] = "refuse"

    def __post_init__(self) -> None:
        if self.scope not in ("query", "owner") or self.over not in ("refuse", "shadow"):
            raise RegistryError(
                f"a budget is for a query or an owner and says refuse or shadow, not {self.scope}, {self.over}"
            )
        if not is_name(self.name):
            _refuse(f"the {self.scope} of a budget", self.name)
        for limit in (self.bytes, self.nanoseconds):
            if limit is not None and not 0 <= limit < float("inf"):
                raise RegistryError(f"a budget's limit is a number from zero, not {limit}")


def _settle(edit: Put | Set) -> None:
    """Check what an edit says, and bring it into the form in which it is kept."""
    if not isinstance(edit.state, Keep):
        object.__setattr__(edit, "state", state_of(edit.state))
    if not isinstance(edit.tags, Keep):
        object.__setattr__(edit, "tags", tags_of(edit.tags))
    for name in ("owner", "destination"):
        value = getattr(edit, name)
        if isinstance(value, str) and not is_name(value):
            _refuse(f"the {name}", value)
    if not isinstance(edit.metadata, Keep):
        object.__setattr__(edit, "metadata", metadata_of(edit.metadata))


def state_of(text: str) -> State:
    """The state of a name.

    >>> state_of("shadow")
    <State.SHADOW: 'shadow'>
    """
    try:
        return State(text)
    except ValueError:
        raise RegistryError(
            f'"{text}" is no state of a query', hint=f"states are {', '.join(State)}"
        ) from None


def tags_of(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags in order, each once: words without blanks and commas."""
    if isinstance(tags, str):
        raise RegistryError(f"tags are several texts, not {tags!r}", hint=f"write [{tags!r}]")
    found = tuple(sorted(set(tags)))
    for tag in found:
        if not is_name(tag) or " " in tag or "," in tag:
            _refuse("the tag", tag, "a tag is one word without commas")
    return found


def metadata_of(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata as JSON gives it back."""
    if not metadata and isinstance(metadata, Mapping):
        return {}
    try:
        kept = json.loads(json.dumps(metadata, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise RegistryError(f"the metadata cannot be kept as JSON: {error}") from None
    if not isinstance(kept, dict):
        raise RegistryError("metadata is an object of names and values", hint='{"ticket": "OPS-7"}')
    return kept


def author_name(author: str) -> str:
    """An author's name, which is one line that every terminal shows."""
    author = author.strip()
    if not author:
        raise NameRefusedError("the author has no name", hint="say who makes the change")
    if not is_name(author):
        _refuse("the author", author)
    return author


def reason_text(reason: str) -> str:
    """A reason as it is kept: lines of printable text, not without end."""
    reason = reason.strip()
    if len(reason) > LONGEST_REASON:
        raise NameRefusedError(
            f"the reason has {len(reason):,} characters, and at most {LONGEST_REASON:,} are kept",
            hint="say it in short, and where more can be read",
        )
    if not reason.isprintable() and not all(c.isprintable() or c in "\n\t" for c in reason):
        raise NameRefusedError(
            f"the reason has a character that is no text: {reason[:60]!r}",
            hint="control characters and halves of characters are refused",
        )
    return reason


def fitting_reason(reason: str) -> str:
    r"""A reason that nobody typed, made to be one that is kept: what a failing part says may hold anything.

    >>> fitting_reason("bad row: \x1b[2J\ud800")
    'bad row: \\x1b[2J\\ud800'
    """
    readable = "".join(
        c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in reason.strip()
    )
    return readable if len(readable) <= LONGEST_REASON else readable[: LONGEST_REASON - 3] + "..."


def storable(what: str, text: str) -> str:
    """A text that every database takes: no NUL, and nothing that is no Unicode character."""
    if "\0" in text or not is_unicode(text):
        raise NameRefusedError(
            f"{what} has a character that cannot be stored", hint="NUL bytes and halves of characters"
        )
    return text


def what_differs(old: Stream, new: Stream) -> str:
    """What one declaration of a stream has that another has not."""
    if old.schema != new.schema:
        return "other columns"
    if old.name != new.name:
        return "another spelling of its name"
    if old.event_time != new.event_time:
        return "another event time"
    lengths = [name for name in ("lateness", "ahead", "idle") if getattr(old, name) != getattr(new, name)]
    return f"other lengths for {' and '.join(lengths)}"


def _refuse(what: str, text: object, hint: str = NAME_RULE) -> None:
    raise NameRefusedError(f"{what} {short_repr(text)} is not accepted", hint=hint)
