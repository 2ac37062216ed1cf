"""The accepted subset of Java's regular expressions, searched for with the same answers to RLIKE.

Accepted: literals, `.`, `^`, `$`, groups (plain, named, non-capturing, atomic), alternatives, quantifiers (greedy,
lazy, possessive), classes with unions and intersections, `\\d \\w \\s \\h \\v \\R` and their opposites, `\\b \\A \\z \\Z`,
`\\Q..\\E`, `\\t \\n \\r \\f \\a \\e \\cX \\0n \\xhh \\x{h} \\uhhhh`, listed `\\p{..}`, the flags `i`, `s` and `m`, look-ahead,
look-behind of fixed length, and back references (but not to a group inside of a look, an atomic group or a possessive
repetition, of which Java may remember a path that it has given up). Everything else is refused by name, `\\B` too: Java finds it inside
of a character beyond U+FFFF.

Where versions of Java differ, Java 19 and later are followed: `\\b` looks at ASCII word characters only.

Most patterns are read once: a text takes as many steps as it has characters. Those that have a back reference, look
around at more than one character, have an atomic group or a possessive repetition of more than one character before
something else, have `$` before something else, or more than some thousand repetitions need backtracking: they are tried
out as Java does, in at most 1,000,000 steps per text. Refused are more than 100 levels of nesting and more than 50,000
characters.
"""

from eddyline.functions.java_regex.linear import MOST_MOVES, LinearSearch, SearchResult
from eddyline.functions.java_regex.parse import check
from eddyline.functions.java_regex.reader import Unsupported
from eddyline.functions.java_regex.search import MOST_STEPS, BacktrackingSearch, compiled, needs_backtracking

__all__ = [
    "MOST_MOVES",
    "MOST_STEPS",
    "BacktrackingSearch",
    "SearchResult",
    "LinearSearch",
    "Unsupported",
    "check",
    "compiled",
    "needs_backtracking",
]
