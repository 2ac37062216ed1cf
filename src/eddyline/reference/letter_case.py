"""Lower and upper case of text."""

from __future__ import annotations


def lower(text: str) -> str:
    return text.lower()


def upper(text: str) -> str:
    return text.upper()
