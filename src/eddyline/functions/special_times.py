"""Words that Spark reads as moments where a constant text is cast to a date or a timestamp: `epoch`, `today` and others.

    CAST('epoch' AS DATE), day = 'epoch', TIMESTAMP'epoch UTC'     1970-01-01
    day < 'today', to_timestamp('now'), date_add('tomorrow', 1)    moments that the clock decides

Only constants: the same words in a column are no dates, for Spark as for us.
"""

from __future__ import annotations

import re
from typing import Final

from eddyline.functions.zones import find_zone

EPOCH: Final = "epoch"
# One match without anything before it: every text constant of every query comes here.
_SPECIAL: Final = re.compile(
    r"[\x00-\x20]*(epoch|now|today|tomorrow|yesterday)(?![a-z])[ \t]*(.*?)[\x00-\x20]*", re.IGNORECASE
)


def special_time(text: str) -> str | None:
    """The word of a text that stands for a moment, in lower case; a time zone behind it changes nothing. None for others.

    >>> (
    ...     special_time(" Epoch "),
    ...     special_time("today Europe/Paris"),
    ...     special_time("now UTC"),
    ...     special_time("epochs"),
    ... )
    ('epoch', 'today', None, None)
    """
    found = _SPECIAL.fullmatch(text)
    if found is None:
        return None
    word, zone = found[1].lower(), found[2]
    return word if not zone or (word != "now" and find_zone(zone) is not None) else None
