"""Owners for tests: of something that they have, or have lost."""

from __future__ import annotations


class Owner:
    """An owner; with an error it has lost what it owned."""

    def __init__(self, number: int = 1, *, error: Exception | None = None) -> None:
        self.number, self.error, self.asked = number, error, False

    def check(self) -> None:
        if self.error is not None:
            raise self.error

    def ask_store(self) -> None:
        self.asked = True
        self.check()

    def close(self) -> None:
        pass
