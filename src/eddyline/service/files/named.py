"""Values of options that may say which stream they are for: NAME=VALUE."""

from __future__ import annotations

import re
from typing import Final

_NAMED: Final = re.compile(r"([A-Za-z_][\w.]*)=(.+)", re.DOTALL)


def split_name(text: str) -> tuple[str | None, str]:
    """The stream that an option names, if it names one, and what it says.

    >>> split_name("quotes=quotes.csv"), split_name("10 seconds")
    (('quotes', 'quotes.csv'), (None, '10 seconds'))
    """
    found = _NAMED.fullmatch(text)
    return (found[1], found[2]) if found else (None, text)
