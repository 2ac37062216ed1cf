"""What a binding rule may know beside its arguments: the session's time zone, and the value of a constant."""

from __future__ import annotations

from dataclasses import dataclass, field

from eddyline.functions.coercion import TypeMismatch
from eddyline.model.expression import Expression, Literal, Parameter


@dataclass(slots=True)
class Context:
    """Bookkeeping of one binding.

    `pinned` collects the parameters whose value a rule has looked at: what was bound then holds for that value only.
    """

    time_zone: str = "UTC"
    pinned: set[int] = field(default_factory=set)

    def constant(self, expression: Expression, what: str, argument: int) -> object:
        """The value of an argument that has to be a constant."""
        if not isinstance(expression, Literal):
            raise TypeMismatch(f"{what} wants a constant as argument {argument + 1}", argument=argument)
        if isinstance(expression, Parameter):
            self.pinned.add(expression.index)
        return expression.value
