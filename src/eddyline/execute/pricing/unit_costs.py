"""What one unit of work costs, in nanoseconds a tuple: every figure in one place, with the measurement it comes from.

Measured on one AVX-512 core with batches of 65,536 tuples, the least of sixty runs. They are for comparing queries and for
budgets; what a set takes on other machines and other rows, `QuerySet.cost(batches)` tells.
"""

from __future__ import annotations

from typing import Final

from eddyline.execute.locating.locate import TABLE_LIMIT
from eddyline.index.cutting import Cutting, Offsets
from eddyline.index.sliced.pattern_groups import PatternGroup
from eddyline.index.sliced.patterns import build_patterns
from eddyline.model import types as t
from eddyline.model.expression import Call, Expression, walk

# `index/sliced/direct.py`: 0.55, 0.14 and 0.39 ns for 64 tuples
MASK: Final = 0.0086  # one range of ids of one byte becomes a mask; ids of two bytes take twice as long
AND: Final = 0.0022  # one mask is read into a conjunction
COMPARISON: Final = 0.0061  # a range of ids is compared inside of a conjunction, without a mask
# one AND or OR of two masks in a tree; 5,000 trees of one step each took 32 ns with all the rest
STEP: Final = 0.005

# one subject, alone
WHOLE_NUMBERS: Final = 0.5  # by an offset or a table
FAR_NUMBERS: Final = 20.0  # constants too far apart for a table: binary search
FRACTIONS: Final = 5.0  # by cells; 4 to 8, as constants lie
TEXTS: Final = 9.0  # by one hash look-up
OTHERS: Final = 22.0  # each distinct value by binary search
ORDINALS: Final = 0.5  # a value that is compared as it is
CALL: Final = 2.0  # one function on numbers
TEXT_CALL: Final = 8.0  # one function on texts

# `index/keyed/choose.py`, and 2,000 against 20,000 queries by one of 2,000 texts
TABLE: Final = 2.5  # a tuple's key is looked for in one table
ENTRY: Final = 0.5  # one entry of the tuple's own key
RANGES: Final = 500.0  # `index/keyed/ranges.py`: all entries of a table without a key, of which ten match

# texts of 60 bytes
PASS: Final = 52.0  # one pass over a text, for all of its patterns
PATTERN: Final = 0.003  # one pattern more in the pass
REGEX: Final = 3.0  # a regular expression that is found by its literals
SEARCH: Final = 150.0  # a regular expression without literals: searched for in every text
LENGTH: Final = 20.0  # a pattern that asks for a number of characters

VISIT: Final = 0.4  # row by row: 512 queries at one subject

# joins of 65,536 tuples with as many: 1 to 50 joins, sides that all tuples satisfy, one partner for each tuple
KEPT: Final = 60.0  # a tuple is put into a SteM
LOOK_UP: Final = 40.0  # a tuple is looked up in one
LIST_ENTRY: Final = 6.0  # a role is written into the list of a tuple, and read there
LIST_ENTRY_BYTES: Final = 4
RESIDUAL: Final = 90.0  # a residual of a pair, beside its operations
ROLE_BYTES: Final = 34  # one row of `standing/rows/join_columns.py`

# attoseconds in a nanosecond: shares are whole numbers of these, so that sums are exact
ATTO: Final = 1_000_000_000


def attoseconds(nanoseconds: float) -> int:
    """A time as a whole number.

    >>> attoseconds(AND)
    2200000
    """
    return round(nanoseconds * ATTO)


def locating(cutting: Cutting) -> float:
    """What it takes to tell in which region of a subject a value lies; the ways are those of `execute/locating/locate.py`."""
    kind, constants = cutting.subject.type, cutting.constants
    if not len(constants) or isinstance(cutting, Offsets):
        return WHOLE_NUMBERS
    if t.is_fractional(kind):
        return FRACTIONS
    if isinstance(constants, tuple):
        return TEXTS if cutting.points_only and kind in (t.STRING, t.BINARY) else OTHERS
    near = int(constants[-1]) - int(constants[0]) < TABLE_LIMIT
    return WHOLE_NUMBERS if near else FAR_NUMBERS


def computing(subject: Expression) -> float:
    """What it takes to work out a subject's values; a column's are there."""
    calls = [node for node in walk(subject) if isinstance(node, Call)]
    return sum(
        TEXT_CALL if any(argument.type == t.STRING for argument in call.arguments) else CALL for call in calls
    )


def pattern_costs(group: PatternGroup) -> tuple[list[float], int]:
    """What each pattern on a text adds to the pass, and the bytes of all of them."""
    index = build_patterns(group.calls)
    costs = [PATTERN] * index.size
    for numbers, cost in ((index.filtered, REGEX), (index.searched, SEARCH), (index.counted, LENGTH)):
        for number in numbers.tolist():
            costs[number] = cost
    arrays = [index.codes, index.code_starts, *(array for table in index.tables for array in table[3:])]
    return costs, sum(array.nbytes for array in arrays)
