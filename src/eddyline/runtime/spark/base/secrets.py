"""Secrets in settings: taken from the environment, handed to Spark and to sinks, shown to nobody."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final
from urllib.parse import quote, quote_plus

HIDDEN: Final = "***"

_REFERENCE: Final = re.compile(r"\$\{env:([^}]*)\}")
_TELLING: Final = re.compile(
    r"passw(or)?d|passphrase|secret|token|credential|jaas|api[-_.]?key|access[-_.]?key|account[-_.]?key"
    r"|private[-_.]?key|authorization|signature|\bsas\b",
    re.IGNORECASE,
)


class Secret:
    """A text that no message, log, plan or document shows; `reveal` is for the one place that needs it.

    >>> secret = Secret("hunter2")
    >>> str(secret), repr(secret), f"{secret}", secret.reveal()
    ('***', '***', '***', 'hunter2')
    """

    __slots__ = ("_parts", "_value")

    def __init__(self, value: str, parts: Iterable[str] = ()) -> None:
        """`parts` are pieces of the text that are secrets by themselves: a password in an address."""
        self._value = value
        self._parts = tuple(parts)

    def reveal(self) -> str:
        """The text itself."""
        return self._value

    def hidden(self) -> set[str]:
        """Everything that must not be shown: the text, its parts, and as addresses and Spark's messages write them."""
        plain = {text for text in (self._value, *self._parts) if text}
        return plain | {quote(text, safe="") for text in plain} | {quote_plus(text) for text in plain}

    def __repr__(self) -> str:
        return HIDDEN

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(("Secret", self._value))


Value = str | Secret


def revealed(value: Value) -> str:
    """A text, whether it is a secret or not."""
    return value.reveal() if isinstance(value, Secret) else value


def revealed_all(options: Mapping[str, Value]) -> dict[str, str]:
    """Options as Spark takes them."""
    return {name: revealed(value) for name, value in options.items()}


def is_telling(name: str) -> bool:
    """Whether an option of this name holds something that is not to be shown.

    >>> [is_telling(name) for name in ("kafka.sasl.jaas.config", "apiKey", "maxFilesPerTrigger")]
    [True, True, False]
    """
    return _TELLING.search(name) is not None


def resolved(text: str, find: Callable[[str], str]) -> Value:
    """A text with every `${env:NAME}` replaced by what `find` gives for the name; a secret if there was one.

    >>> resolved("plain", {}.__getitem__), resolved("user:${env:KEY}", {"KEY": "x"}.__getitem__).reveal()
    ('plain', 'user:x')
    """
    if not _REFERENCE.search(text):
        return text
    parts: list[str] = []

    def replaced(found: re.Match[str]) -> str:
        parts.append(find(found.group(1)))
        return parts[-1]

    return Secret(_REFERENCE.sub(replaced, text), parts)


def scrubbed(text: str, secrets: Iterable[Secret]) -> str:
    """A text of Spark's or of somebody else's in which no secret stands.

    >>> scrubbed("login as ann:hunter2 failed", [Secret("hunter2")])
    'login as ann:*** failed'
    >>> scrubbed("no table at /hook?key=a%26b", [Secret("https://x/hook?key=a&b", ["a&b"])])
    'no table at /hook?key=***'
    """
    return masked(text, set[str]().union(*(one.hidden() for one in secrets)))


def masked(text: str, hidden: Iterable[str]) -> str:
    """A text without others, however these are spelled: Spark writes values of some options in small letters.

    >>> masked("codec hunter2 is not known", ["Hunter2", "Hunter2!", ""])
    'codec *** is not known'
    """
    found = sorted({one for one in hidden if one}, key=len, reverse=True)
    if not found:
        return text
    return re.sub("|".join(map(re.escape, found)), HIDDEN, text, flags=re.IGNORECASE)


def secrets_in(value: Any) -> list[Secret]:
    """Every secret of settings, however deep."""
    if isinstance(value, Secret):
        return [value]
    if isinstance(value, Mapping):
        return [secret for item in value.values() for secret in secrets_in(item)]
    if isinstance(value, tuple | list):
        return [secret for item in value for secret in secrets_in(item)]
    if hasattr(value, "__dataclass_fields__"):
        return [secret for name in value.__dataclass_fields__ for secret in secrets_in(getattr(value, name))]
    return []
