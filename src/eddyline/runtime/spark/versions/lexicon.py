"""Distinct texts by number, written once: a version that needs one more writes that one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from eddyline.standing.pages import Page, extend_pages, joined
from eddyline.storage.storage import Storage


class Lexicon:
    """Texts, or None, that are given numbers in the order in which they come.

    >>> lexicon = Lexicon()
    >>> lexicon.number("a"), lexicon.number(None), lexicon.number("a"), lexicon.texts
    (0, 1, 0, ['a', None])
    """

    def __init__(self, texts: Iterable[str | None] = (), pages: Sequence[Page] = ()) -> None:
        self.texts = list(texts)
        self.pages = tuple(pages)
        self._numbers = {text: number for number, text in enumerate(self.texts)}

    def number(self, text: str | None) -> int:
        """The number of a text."""
        number = self._numbers.setdefault(text, len(self.texts))
        if number == len(self.texts):
            self.texts.append(text)
        return number

    def save(self, storage: Storage) -> list[tuple[str, int]]:
        """Write what is new; the pages that hold everything."""

        def rows(first: int, end: int) -> pa.Table:
            return pa.table({"text": pa.array(self.texts[first:end], pa.string())})

        self.pages = extend_pages(storage, self.pages, len(self.texts), rows)
        return [(page.name, page.rows) for page in self.pages]


def read_texts(pages: Sequence[pa.Table]) -> list[str | None]:
    """The texts of a saved lexicon."""
    texts: list[str | None] = joined(pages, "text").to_pylist()
    return texts
