"""Settings as frozen values, one for each stage, every option explained where it is declared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from eddyline.errors import SettingsError

ExecutorName = Literal["auto", "sliced", "keyed", "rowwise"]
Direct = Literal["auto", "always", "never"]
StrategyName = Literal["fixed", "macs", "sas", "macssas", "macro", "hybrid", "ticket", "adaptive"]
Drift = Literal["dropping", "selectivity", "visits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderSettings:
    """In which order tuples visit subjects, and when that is reconsidered. No setting changes a match.

    >>> OrderSettings(strategy="alphabetical")
    Traceback (most recent call last):
    eddyline.errors.SettingsError: strategy "alphabetical" is not known
    hint: one of fixed, macs, sas, macssas, macro, hybrid, ticket, adaptive
    """

    strategy: StrategyName = "adaptive"
    """Who proposes the order (see `order/`): `adaptive` by expected time; `macro` and `hybrid` as in ASC-2; `macs`, `sas`
    and `macssas` as in ASC-1; `ticket` as in CACQ; `fixed` keeps the first one."""

    period: int = 1_000
    """The papers' tau, in sampled tuples: what one step of a strategy looks at, such as the choice of one subject more."""

    check_every: int = 10_000
    """The papers' lambda, in tuples: how often it is asked whether the sequence in force still fits."""

    threshold: float = 0.1
    """The papers' mu: by which part of its first value the measure of `drift` must change for a rearrangement; 0 rearranges
    at every check."""

    drift: Drift = "visits"
    """What is watched for changes: `visits`, the ASCs that a tuple visits; `dropping`, the share of dropped tuples (ASC-2);
    `selectivity` (ASC-1). Of a whole sequence the last two tell of the data only, whatever the order; the first tells of
    the order too, and that is what another one could make better."""

    sample_rate: float = 0.01
    """Which part of the tuples is looked at by the monitor; above 0, at most 1."""

    monitor_share: float = 0.03
    """Which part of the time of matching the monitor may take: where it would take more, it looks at fewer tuples and
    waits before it computes; 1 lets it take what it wants."""

    seed: int = 0
    """What the strategies that draw lots start from."""

    def __post_init__(self) -> None:
        for name, kind in (("strategy", StrategyName), ("drift", Drift)):
            allowed = get_args(kind)
            if getattr(self, name) not in allowed:
                raise SettingsError(
                    f'{name} "{getattr(self, name)}" is not known', hint=f"one of {', '.join(allowed)}"
                )
        for name, least in (("period", 1), ("check_every", 1), ("seed", 0)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise SettingsError(
                    f"{name} {value!r} makes no sense", hint=f"a whole number from {least} on"
                )
        if not _is_number(self.threshold) or not 0 <= self.threshold < float("inf"):
            raise SettingsError(f"threshold {self.threshold!r} makes no sense", hint="a number from 0 on")
        for name in ("sample_rate", "monitor_share"):
            value = getattr(self, name)
            if not _is_number(value) or not 0 < value <= 1:
                raise SettingsError(f"{name} {value!r} makes no sense", hint="a number above 0, at most 1")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


DEFAULT_ORDER: Final = OrderSettings()
FIXED_ORDER: Final = OrderSettings(strategy="fixed")


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSettings:
    """How queries are compiled for matching. No setting changes a match, only what it costs."""

    executor: ExecutorName = "auto"
    """Which executor serves a query: `auto` by measured cost; `sliced` always; `keyed` wherever a key exists; `rowwise`
    every plain conjunction. What the last two cannot serve is sliced."""

    min_keys: int = 360
    """With `auto`: how many distinct constants a key needs, and how many queries a table, beside queries that are sliced;
    fewer are enough where all queries are found by key (see `index/keyed/choose.py`)."""

    rowwise_bytes: int = 32 << 20
    """With `auto`: how many bytes a segment may take to hold its plain conjunctions once more for batches of a few rows,
    row by row (see `index/rowwise/rowwise.py`); 0 leaves these to the executor of large ones."""

    prefilter: Literal["auto", "off"] = "auto"
    """Whether rows outside of what every query of a segment asks for are left out first: `auto` where a few rows of the
    batch show that it pays; `off` never."""

    direct: Direct = "auto"
    """Which sliced conjunctions are compared without masks in between: `auto` those whose conditions few queries share
    (see `index/sliced/direct.py`); `always` all that can be."""

    segment_size: int | None = None
    """At most so many queries go into one segment; None leaves it to the merging of segments."""

    largest_merge: int | None = None
    """Segments of more queries are left alone when a new one takes in the small ones, so that no addition waits for the
    compilation of many; None merges whatever saves work in the long run."""

    order: OrderSettings = DEFAULT_ORDER
    """In which order tuples that are evaluated row by row visit the subjects (see `OrderSettings`); `adaptive` also chooses
    between row by row, sliced, and sliced behind a filter of the first subjects, by the time that each takes."""

    @staticmethod
    def of(values: Mapping[str, Any]) -> IndexSettings:
        """Settings as `dataclasses.asdict` wrote them; what is missing is as it is by default."""
        order = OrderSettings(**values.get("order", {}))
        return IndexSettings(**{**values, "order": order})


DEFAULT_INDEX: Final = IndexSettings()


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinSettings:
    """How much of their streams joins may hold. No setting changes a result.

    >>> JoinSettings(max_pairs=0)
    Traceback (most recent call last):
    eddyline.errors.SettingsError: max_pairs 0 makes no sense
    hint: a whole number from 1 on
    """

    max_bytes: int | None = None
    """At most so many bytes of tuples are held in memory; None: as many as windows ask for. Older ones go to `folder`; without
    one, a batch that would need more is refused before any of it is taken."""

    folder: str | None = None
    """Where tuples beyond `max_bytes` go, in files that are mapped into memory and gone with the process. It is made, and
    written to once, when the engine is made."""

    max_pairs: int = 4_000_000
    """So many pairs of one batch are found at once, at 16 bytes each and some more while they are checked; a batch with more, as
    a key that very many tuples share may have, is joined in parts, and the log says so."""

    def __post_init__(self) -> None:
        for name in ("max_bytes", "max_pairs"):
            value = getattr(self, name)
            if value is None and name == "max_bytes":
                continue
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise SettingsError(f"{name} {value!r} makes no sense", hint="a whole number from 1 on")
        folder: object = self.folder
        if folder is not None and (not isinstance(folder, str) or not folder):
            raise SettingsError(f"folder {self.folder!r} makes no sense", hint="the path of a folder")


DEFAULT_JOINS: Final = JoinSettings()
