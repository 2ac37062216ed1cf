"""One table of a TOML file, read key by key; a mistake names the file, the table, the key and what is allowed."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

from eddyline.errors import FileError
from eddyline.runtime.spark.base.secrets import Secret, Value, is_telling, resolved

_KINDS = {
    str: "a text",
    int: "a whole number",
    bool: "true or false",
    list: "a list of texts",
    dict: "a table",
}


class TomlTable:
    """The keys of one table; whoever has taken all that it knows calls `end`, which refuses the rest."""

    def __init__(self, file: str, title: str, values: Any) -> None:
        self.file = file
        self.title = title
        if not isinstance(values, dict):
            raise FileError(f"{file}: {title} must be a table")
        self._values = dict(values)
        self._known: list[str] = []

    def fail(self, message: str, hint: str | None = None) -> NoReturn:
        """A mistake in this table."""
        raise FileError(f"{self.file}: {self.title}: {message}", hint=hint)

    def text(self, key: str, default: str | None = None, *, allowed: Sequence[str] = ()) -> str | None:
        """A text, one of those allowed."""
        value = self._take(key, str)
        if value is None:
            return default
        if isinstance(self._resolved(key, value), Secret):
            self.fail(
                f'"{key}" cannot be read from the environment',
                "only registry, url, options and settings of the session can",
            )
        self._one_of(key, value, allowed)
        return str(value)

    def needed(self, key: str, *, allowed: Sequence[str] = ()) -> str:
        """A text that must be there and is not empty."""
        value = self.text(key, allowed=allowed)
        if not value:
            self.fail(f'"{key}" is missing' if value is None else f'"{key}" is empty', self._instead(key))
        return value

    def value(self, key: str) -> Value | None:
        """A text that may be a secret."""
        value = self._take(key, str)
        return None if value is None else self._resolved(key, value)

    def number(self, key: str, default: int | None, lowest: int, highest: int) -> int | None:
        """A whole number."""
        value = self._take(key, int)
        if value is None:
            return default
        if not lowest <= value <= highest:
            self.fail(f'"{key}" is {value}, and may be {lowest} to {highest}')
        return int(value)

    def number_or_text(self, key: str, lowest: int, highest: int) -> int | str | None:
        """A whole number, or a text that somebody else understands."""
        if isinstance(self._values.get(key), str):
            return self.text(key)
        return self.number(key, None, lowest, highest)

    def flag(self, key: str, default: bool) -> bool:
        """True or false."""
        value = self._take(key, bool)
        return default if value is None else bool(value)

    def texts(self, key: str, *, allowed: Sequence[str] = ()) -> tuple[str, ...]:
        """A list of texts, each one of those allowed."""
        values = self._take(key, list) or []
        for value in values:
            if not isinstance(value, str):
                self._wrong_kind(key, list, value)
            self._one_of(key, value, allowed)
        if len(set(values)) < len(values):
            self.fail(f'"{key}" names something twice')
        return tuple(values)

    def options(self, key: str) -> dict[str, Value]:
        """A table of options: texts, numbers and truth values as Spark takes them, secrets among them."""
        return self._flat(key, self._take(key, dict) or {})

    def rest_as_options(self) -> dict[str, Value]:
        """All keys that were not taken, as options; names with dots may be written without quotes."""
        rest = {name: value for name, value in self._values.items() if name not in self._known}
        self._known += rest
        return self._flat("", rest)

    def known(self, key: str) -> None:
        """A key that somebody else reads."""
        self._known.append(key)

    def end(self) -> None:
        """Refuse what nobody asked for."""
        for key in self._values:
            if key not in self._known:
                self.fail(f'"{key}" is not known', self._suggestion(key, self._known))

    def _take(self, key: str, kind: type) -> Any:
        self._known.append(key)
        value = self._values.get(key)
        if value is None:
            return None
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            self._wrong_kind(key, kind, value)
        return value

    def _wrong_kind(self, key: str, kind: type, value: object) -> NoReturn:
        self.fail(f'"{key}" must be {_KINDS[kind]}, not {_shown(key, value)}')

    def _one_of(self, key: str, value: str, allowed: Sequence[str]) -> None:
        if allowed and value not in allowed:
            self.fail(f'"{key}" is "{value}", which is not allowed', self._suggestion(value, allowed))

    def _suggestion(self, word: str, known: Collection[str]) -> str:
        close = get_close_matches(word.lower(), known, n=1, cutoff=0.6)
        listed = f"allowed: {', '.join(known)}"
        return f'did you mean "{close[0]}"? {listed}' if close else listed

    def _instead(self, key: str) -> str | None:
        """A key that was written, unknown and much like one that is missing."""
        close = get_close_matches(key, [name for name in self._values if name not in self._known], n=1)
        return f'"{close[0]}" is not known; did you mean "{key}"?' if close else None

    def _resolved(self, key: str, text: str) -> Value:
        def find(name: str) -> str:
            if name not in os.environ:
                self.fail(f'"{key}": the environment has no variable {name}', f"set {name} before the start")
            return os.environ[name]

        return resolved(text, find)

    def _flat(self, prefix: str, values: Mapping[str, Any]) -> dict[str, Value]:
        found: dict[str, Value] = {}
        for key, value in values.items():
            name = key if prefix in ("", "options") else f"{prefix}.{key}"
            if isinstance(value, dict):
                found.update(self._flat(name, value))
            else:
                found[name] = self._option(name, value)
        return found

    def _option(self, name: str, value: object) -> Value:
        if isinstance(value, bool):
            return "true" if value else "false"
        if not isinstance(value, str | int | float):
            self.fail(f'the option "{name}" must be a text, a number or true or false')
        text = self._resolved(name, str(value))
        return Secret(text) if isinstance(text, str) and is_telling(name) else text


def _shown(key: str, value: object) -> str:
    """A value as TOML writes it."""
    if is_telling(key) or isinstance(value, dict | list):
        return "what stands there"
    return json.dumps(value, default=str, ensure_ascii=False)
