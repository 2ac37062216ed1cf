"""What queries that are found by key use: the key's subjects, tables, keys and entries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from eddyline.execute.pricing import unit_costs as unit
from eddyline.execute.pricing.cost_items import Bill, Label, Sheet
from eddyline.execute.pricing.cost_text import constant_text
from eddyline.index.cutting import Cutting, codes
from eddyline.index.keyed.choose import is_key
from eddyline.index.keyed.keyed import KeyedIndex, KeyedTable, strides
from eddyline.index.keyed.ordinals import has_ordinals
from eddyline.index.keyed.terms import Term, pieces, terms_of
from eddyline.model import types as t
from eddyline.model.expression import Expression
from eddyline.model.predicate import Predicate
from eddyline.model.regions import Cut
from eddyline.normalize.explain import show
from eddyline.sql.render import render

NUMBER_BYTES: Final = 4
WORD_BYTES: Final = 8


class KeyedItems:
    """Prices the queries of one keyed index into a sheet."""

    def __init__(self, sheet: Sheet, segment: int, index: KeyedIndex) -> None:
        self._sheet, self._segment, self._index = sheet, segment, index

    def _item(self, kind: str, what: object, nanoseconds: float, size: int) -> int:
        label = Label(kind, self._segment, "keyed", what)
        return self._sheet.item(label, unit.attoseconds(nanoseconds), size)

    @classmethod
    def of(cls, bill: Bill, index: KeyedIndex) -> KeyedItems:
        """The items of a segment, entered with the queries that use them."""
        items = cls(bill.sheet, bill.segment, index)
        items._enter(bill.owners)
        return items

    def _enter(self, owners_of: Mapping[int, int]) -> None:
        live = np.full(int(max(owners_of, default=0)) + 1, -1, np.int64)
        live[list(owners_of)] = list(owners_of.values())
        subjects: dict[tuple[str, int], set[int]] = {}
        for number, table in enumerate(self._index.tables):
            inside = table.results < len(live)
            owners = np.where(inside, live[np.where(inside, table.results, 0)], -1)
            used = sorted(set(owners.tolist()) - {-1})
            self._enter_table(number, table, owners, used)
            for kind, several in (("key", table.keys), ("check", table.checks)):
                for subject in several:
                    subjects.setdefault((kind, subject), set()).update(used)
        for (kind, subject), users in subjects.items():
            item = self._subject(kind, subject)
            for owner in users:
                self._sheet.use(owner, [item])

    def _subject(self, kind: str, place: int) -> int:
        cutting = (self._index.keys if kind == "key" else self._index.checks)[place]
        plain = kind == "check" and has_ordinals(cutting.subject.type)
        cost = unit.ORDINALS if plain else unit.locating(cutting)
        return self._item(f"{kind} subject", place, cost + unit.computing(cutting.subject), cutting.bytes)

    def _enter_table(
        self,
        number: int,
        table: KeyedTable,
        owners: np.ndarray[tuple[int], np.dtype[np.int64]],
        used: list[int],
    ) -> None:
        sizes = np.diff(table.starts)
        keys = np.repeat(np.arange(len(sizes)), sizes)
        alive = owners >= 0
        found = np.unique(np.stack([keys[alive], owners[alive]]), axis=1)
        keys_used = np.unique(found[0]).tolist() if table.keys else []
        items = {key: self._key(number, table, key) for key in keys_used}
        if items:
            translated = np.full(len(sizes), -1, np.int64)
            translated[list(items)] = list(items.values())
            self._sheet.use_many(translated[found[0]], found[1])
        entry = self._entry_bytes(table)
        for owner, count in zip(*np.unique(owners[alive], return_counts=True), strict=True):
            self._sheet.use(int(owner), [self._entries((int(owner), number), table, int(count), entry)])
        rest = table.bytes - len(items) * self._key_bytes(table) - int(alive.sum()) * entry
        whole = self._item("table", number, unit.TABLE, rest)
        for owner in used:
            self._sheet.use(owner, [whole])

    def _entries(self, what: object, table: KeyedTable, count: int, size: int) -> int:
        time = unit.ENTRY / max(1, len(table.starts) - 2) if table.keys else unit.RANGES / len(table.results)
        return self._item("entries", what, time * count, size * count)

    def _key(self, number: int, table: KeyedTable, key: int) -> int:
        return self._item("key", (number, key), 0.0, self._key_bytes(table))

    @staticmethod
    def _key_bytes(table: KeyedTable) -> int:
        """Of one key: where its entries start, and its least bounds or its combination."""
        return NUMBER_BYTES + (WORD_BYTES if len(table.keys) > 1 else 2 * WORD_BYTES * bool(table.columns))

    @staticmethod
    def _entry_bytes(table: KeyedTable) -> int:
        return NUMBER_BYTES + WORD_BYTES * len(table.columns)

    def marginal(self, owner: object, predicate: Predicate, trial: Sheet, kept: int) -> bool:
        """Whether the tables could take a query in; then what it needs is entered."""
        terms = terms_of(predicate) or []
        fitting = [
            next((n for n, each in enumerate(self._index.tables) if self._fits(term, each)), None)
            for term in terms
        ]
        if not terms or None in fitting:
            return False
        other = KeyedItems(trial, self._segment, self._index)
        entries: dict[int, int] = {}
        for term, number in zip(terms, fitting, strict=True):
            assert number is not None, "every term has a table"
            count = other._enter_term(term, number)
            entries[number] = entries.get(number, 0) + count
        for number, count in entries.items():
            table = self._index.tables[number]
            other._entries((owner, number), table, count, self._entry_bytes(table))
        return True

    def _enter_term(self, term: Term, number: int) -> int:
        """What one alternative needs beside its entries in a table; gives the number of these."""
        table = self._index.tables[number]
        points, count = self._points(term, table)
        for subject in table.keys:
            self._subject("key", subject)
        for subject in table.checks:
            self._subject("check", subject)
        self._item("table", number, unit.TABLE, 0)
        for point in points if table.keys else ():
            key = self._find(point, table)
            if key is None:
                size = self._key_bytes(table) + self._new(point, table)
                self._item("key", (number, point), 0.0, size)
            else:
                self._key(number, table, key)
        return len(points) * count

    def _fits(self, term: Term, table: KeyedTable) -> bool:
        keys = {self._index.keys[key].subject for key in table.keys}
        checks = {self._index.checks[check].subject for check in table.checks}
        return (
            set(term) == keys | checks
            and all(is_key(term[subject]) for subject in keys)
            and not any(term[subject].null for subject in checks)
        )

    def _points(self, term: Term, table: KeyedTable) -> tuple[list[tuple[Cut, ...]], int]:
        """The combinations of key values that a term names, and how many entries each of them gets."""
        points: list[tuple[Cut, ...]] = [()]
        for key in table.keys:
            cuts = term[self._index.keys[key].subject].cuts[0::2]
            points = [(*point, each) for point in points for each in cuts]
        count = 1
        for check in table.checks:
            count *= len(pieces(term[self._index.checks[check].subject]))
        return points, count

    def _find(self, point: tuple[Cut, ...], table: KeyedTable) -> int | None:
        """The place of a key that has entries."""
        cuttings = [self._index.keys[key] for key in table.keys]
        places = [_place(cutting, each) for cutting, each in zip(cuttings, point, strict=True)]
        known = [place for place in places if place is not None]
        if len(known) < len(places):
            return None
        key = known[0]
        if len(places) > 1:
            digits = strides([len(cutting.constants) for cutting in cuttings])
            packed = sum(place * digit for place, digit in zip(known, digits, strict=True))
            key = int(np.searchsorted(table.packed, np.uint64(packed)))
            if key == len(table.packed) or int(table.packed[key]) != packed:
                return None
        return key if table.starts[key + 1] > table.starts[key] else None

    def _new(self, point: tuple[Cut, ...], table: KeyedTable) -> int:
        """Bytes of the constants that nobody has yet."""
        cuttings = [self._index.keys[key] for key in table.keys]
        return sum(
            len(str(each[0])) + WORD_BYTES if isinstance(cutting.constants, tuple) else WORD_BYTES
            for cutting, each in zip(cuttings, point, strict=True)
            if _place(cutting, each) is None
        )


def _place(cutting: Cutting, point: Cut) -> int | None:
    """The place of a value among the constants of a cutting."""
    coded = codes(cutting.subject.type, [point[0]])
    if coded is None:
        constants: tuple[object, ...] = tuple(cutting.constants)
        return constants.index(point[0]) if point[0] in constants else None
    place = int(np.searchsorted(np.asarray(cutting.constants), coded[0]))
    return place if place < len(cutting.constants) and cutting.constants[place] == coded[0] else None


def keyed_text(label: Label, index: KeyedIndex) -> str:
    """What an item is."""
    match label.kind:
        case "key subject":
            return f"{render(index.keys[label.what].subject)} looked up"
        case "check subject":
            return f"{render(index.checks[label.what].subject)} read"
        case "entries":
            has_key = bool(index.tables[label.what[1]].keys)
            return "its own entries under its keys" if has_key else "its own entries"
        case "table":
            table = index.tables[label.what]
            keys = [render(index.keys[key].subject) for key in table.keys]
            checks = [render(index.checks[check].subject) for check in table.checks]
            return f"the table by {' and '.join(keys) or 'ranges of ' + checks[0]}"
        case _:
            assert label.kind == "key", f"an item of unknown kind {label.kind}"
            return _key_text(index, *label.what)


def _key_text(index: KeyedIndex, number: int, key: object) -> str:
    """The values of a key: by place, or by themselves where nobody has them yet."""
    table = index.tables[number]
    cuttings = [index.keys[subject] for subject in table.keys]
    if isinstance(key, tuple):
        texts = [constant_text(c.subject, cut[0]) for c, cut in zip(cuttings, key, strict=True)]
    else:
        assert isinstance(key, int), "a key is a place or values"
        sizes = [len(cutting.constants) for cutting in cuttings]
        packed = key if len(sizes) == 1 else int(table.packed[key])
        places = [packed // stride % (size + 1) for stride, size in zip(strides(sizes), sizes, strict=True)]
        texts = [_coded(c.subject, c.constants[place]) for c, place in zip(cuttings, places, strict=True)]
    parts = [f"{render(c.subject)} = {text}" for c, text in zip(cuttings, texts, strict=True)]
    return f"the key {' and '.join(parts)}"


def _coded(subject: Expression, code: object) -> str:
    """A constant as a cutting holds it."""
    value = code.item() if hasattr(code, "item") else code
    if isinstance(subject.type, t.DecimalType) and isinstance(value, int):
        return f"{value / 10**subject.type.scale:.{subject.type.scale}f}"
    return show(value, subject.type)
