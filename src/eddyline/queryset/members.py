"""The queries of a set by number, as executors ask for them that cannot go on without."""

from __future__ import annotations

from dataclasses import dataclass

from eddyline.compile import Compiler
from eddyline.model.book import Book
from eddyline.model.query import NormalQuery, Query


@dataclass(frozen=True, slots=True)
class BookMembers:
    """Compiles the texts of a book."""

    compiler: Compiler
    book: Book

    def normal_form(self, number: int) -> NormalQuery:
        """A query in normal form, a removed one as well: versions that still have it share the executor."""
        return self.compiler.compile(Query(self.book.id(number), self.book.text(number)))

    def name(self, number: int) -> str:
        """Its id."""
        return self.book.id(number)
