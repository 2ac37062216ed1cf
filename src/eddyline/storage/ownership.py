"""What can be asked of whoever owns a folder, whether a lock makes it the owner or a lease."""

from __future__ import annotations

from typing import Final, Protocol


class Ownership(Protocol):
    """A folder that this process owns until it closes this."""

    @property
    def number(self) -> int:
        """The fencing number: an owner after this one has a higher one."""

    def check(self) -> None:
        """Refuse to go on where another process has taken over; nobody is asked as long as that cannot have happened."""

    def ask_store(self) -> None:
        """The same, but the store is asked in any case: something has happened that an owner does not expect."""

    def close(self) -> None:
        """Let go, so that the next owner need not wait."""


class _Unowned:
    """Nothing to lose: who only reads, and processes of a pipeline whose state another one of its processes owns."""

    number = 0

    def check(self) -> None:
        """Nobody can have taken over."""

    def ask_store(self) -> None:
        """Nobody can have taken over."""

    def close(self) -> None:
        """There is nothing to let go of."""


UNOWNED: Final[Ownership] = _Unowned()
