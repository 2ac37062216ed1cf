"""Atoms with their constants as conditions: which values of the subject give the answer asked for.

Everything that does not depend on the constants is settled once a template; what is left for each query is to put a
value between two cuts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from eddyline.model import types as t
from eddyline.model.expression import Literal, parameters_of
from eddyline.model.predicate import ALWAYS, NEVER, Condition, Predicate
from eddyline.model.regions import NOTHING, Regions
from eddyline.normalize.atom import COMPARISONS, Atom, Mode
from eddyline.normalize.constants import Getter, Values, getter
from eddyline.normalize.domain import Domain, Numbered, Text, domain_of

Maker = Callable[[Values], Predicate]
ToRegions = Callable[[Any], Regions]

_NEGATION: Final = {"eq": "ne", "lt": "ge", "le": "gt", "gt": "le", "ge": "lt"}


def condition_maker(atom: Atom, time_zone: str) -> Maker:
    """A function from the parameters' values to the atom's condition, or ALWAYS or NEVER.

    >>> from eddyline.model.expression import Column, Literal
    >>> a = Column("a", t.INT)
    >>> print(condition_maker(Atom(a, "gt", Mode.IS_NOT_TRUE, (Literal(3, t.INT),)), "UTC")(()).regions)
    (-inf, 4) or NULL
    """
    compared = domain_of(atom.compared_type)
    if atom.operation in COMPARISONS:
        general = comparison(atom.operation, atom.mode, compared)
        get = getter(atom.constants[0], time_zone)
        if not atom.steps and type(atom.constants[0]) is not Literal:
            return _quick_maker(atom, general, quick(atom.operation, atom.mode, compared), get)
        return _stepped(atom, general, get, time_zone)
    if atom.operation == "in":
        getters = [getter(constant, time_zone) for constant in atom.constants]
        members = membership(atom.mode, compared)
        return _stepped(atom, members, lambda values: [get(values) for get in getters], time_zone)
    regions = _without_constants(atom.operation, atom.mode, compared)
    return _stepped(atom, lambda _: regions, lambda _: None, time_zone)


def is_static(atom: Atom) -> bool:
    """Whether an atom's condition is the same for all values of the parameters."""
    constants = [*atom.constants, *[step.constant for step in atom.steps if step.constant is not None]]
    return all(type(constant) is Literal or not parameters_of(constant) for constant in constants)


def _quick_maker(atom: Atom, general: ToRegions, fast: Callable[[Any], Regions | None], get: Getter) -> Maker:
    subject = atom.subject

    def make(values: Values) -> Predicate:
        value = get(values)
        if value is not None:
            regions = fast(value)
            if regions is not None:
                return Condition(subject, regions)
        return _conclude(atom, general(value))

    return make


def _stepped(atom: Atom, to_regions: ToRegions, get: Getter, time_zone: str) -> Maker:
    steps = [
        (step.pull, None if step.constant is None else getter(step.constant, time_zone))
        for step in reversed(atom.steps)
    ]

    def make(values: Values) -> Predicate:
        regions = to_regions(get(values))
        for pull, constant in steps:
            regions = pull(regions, None if constant is None else constant(values))
        return _conclude(atom, regions)

    return make


def _conclude(atom: Atom, regions: Regions) -> Predicate:
    if regions.cuts:
        return Condition(atom.subject, regions)
    if regions.is_empty:
        return NEVER
    return ALWAYS if regions == domain_of(atom.subject.type).everything else Condition(atom.subject, regions)


def _shape(operation: str, mode: Mode) -> tuple[str, bool]:
    """The comparison that holds where the subject is not NULL, and whether NULL is an answer too."""
    if operation == "null_safe_eq":
        return ("eq", False) if mode in (Mode.IS_TRUE, Mode.IS_NOT_FALSE) else ("ne", True)
    negated = mode in (Mode.IS_FALSE, Mode.IS_NOT_TRUE)
    return _NEGATION[operation] if negated else operation, mode in (Mode.IS_NOT_TRUE, Mode.IS_NOT_FALSE)


def comparison(operation: str, mode: Mode, domain: Domain) -> ToRegions:
    """Regions of the compared value, for any constant."""
    shape, null = _shape(operation, mode)

    def regions(value: Any) -> Regions:
        if value is None:
            return _with_null(operation, shape, null, domain)
        if value != value:
            return domain.canonical(
                Regions(shape in ("ne", "lt", "le"), (), null, shape in ("eq", "le", "ge"))
            )
        if domain.nan:
            value += 0.0  # -0.0 and 0.0 are one value
        if shape == "eq":
            return Regions(False, ((value, 0), (value, 1)), null)
        if shape == "ne":
            return domain.canonical(Regions(True, ((value, 0), (value, 1)), null, True))
        side = 1 if shape in ("le", "gt") else 0
        below = shape in ("lt", "le")
        return domain.canonical(Regions(below, ((value, side),), null, not below))

    return regions


def _with_null(operation: str, shape: str, null: bool, domain: Domain) -> Regions:
    """Regions for the constant NULL, with which any comparison is NULL, and only NULL is the same as."""
    if operation == "null_safe_eq":
        return domain.filled if shape == "ne" else Regions(null=True)
    return domain.everything if null else NOTHING


def membership(mode: Mode, domain: Domain) -> Callable[[Sequence[Any]], Regions]:
    """Regions for a list of constants. A NULL among them means that nothing is known not to be in the list."""

    def regions(values: Sequence[Any]) -> Regions:
        points = {value for value in values if value is not None}
        unknown = len(points) < len(values) and None in values
        nan = False
        if domain.nan:
            nan = any(value != value for value in points)
            points = {value + 0.0 for value in points if value == value}
        inside = domain.canonical(Regions.points(points, nan=nan))
        if mode is Mode.IS_TRUE:
            return inside
        if mode is Mode.IS_NOT_TRUE:
            return domain.complement(inside)
        if mode is Mode.IS_FALSE:
            return NOTHING if unknown else domain.intersection([domain.complement(inside), domain.filled])
        return domain.everything if unknown else domain.union([inside, Regions(null=True)])

    return regions


def _without_constants(operation: str, mode: Mode, domain: Domain) -> Regions:
    holds = mode in (Mode.IS_TRUE, Mode.IS_NOT_FALSE)
    if operation == "is_null":
        return Regions(null=True) if holds else domain.filled
    if operation == "isnan":
        return Regions(nan=True) if holds else domain.complement(Regions(nan=True))
    assert operation == "truth", f'there is no operation "{operation}"'
    return Regions.points([holds], null=mode in (Mode.IS_NOT_TRUE, Mode.IS_NOT_FALSE))


def quick(operation: str, mode: Mode, domain: Domain) -> Callable[[Any], Regions | None]:
    """As `comparison`, for constants that are neither NULL nor NaN nor near an end of the type; None for those."""
    shape, null = _shape(operation, mode)
    if isinstance(domain, Text):
        return _quick_text(shape, null)
    if isinstance(domain, Numbered) and domain.nan:
        return _quick_floating(shape, null, domain.value(domain.low + 1), domain.value(domain.high - 1))
    if isinstance(domain, Numbered) and domain.kind in t.RANGE:
        return _quick_integers(shape, null, domain.low + 2, domain.high - 2)
    return lambda _: None


def _quick_integers(shape: str, null: bool, low: int, high: int) -> Callable[[int], Regions | None]:
    if shape in ("eq", "ne"):
        outside = shape == "ne"
        return lambda v: Regions(outside, ((v, 0), (v, 1)), null) if low < v < high else None
    below = shape in ("lt", "le")
    shift = 1 if shape in ("le", "gt") else 0
    return lambda v: Regions(below, ((v + shift, 0),), null) if low < v < high else None


def _quick_floating(shape: str, null: bool, low: float, high: float) -> Callable[[float], Regions | None]:
    if shape in ("eq", "ne"):
        outside = shape == "ne"
        return lambda v: (
            Regions(outside, ((v + 0.0, 0), (v + 0.0, 1)), null, outside) if low < v < high else None
        )
    below = shape in ("lt", "le")
    side = 1 if shape in ("le", "gt") else 0
    return lambda v: Regions(below, ((v + 0.0, side),), null, not below) if low < v < high else None


def _quick_text(shape: str, null: bool) -> Callable[[Any], Regions | None]:
    zeros = ("\0", 0)  # the last character of a string, the last number of a binary
    if shape in ("eq", "ne"):
        outside = shape == "ne"
        return lambda v: Regions(outside, ((v, 0), (v, 1)), null) if v and v[-1] not in zeros else None
    below = shape in ("lt", "le")
    side = 1 if shape in ("le", "gt") else 0
    return lambda v: Regions(below, ((v, side),), null) if v and v[-1] not in zeros else None
