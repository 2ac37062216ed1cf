"""The one signal that an operation has no value for a tuple."""

from __future__ import annotations


class Failure(Exception):
    """The operation fails for these arguments: it yields NULL there, and the failure is counted.

    Where Spark in ANSI mode raises an error (overflow, division by zero, text that is no number). `value` is what the
    operation yields: NULL, unless only parts of a nested value have failed.
    """

    def __init__(self, message: str, value: object = None) -> None:
        super().__init__(message)
        self.value = value
