"""A run as one picture: an SVG that needs nothing else, in light and in dark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

WIDTH: Final = 1_040
HEIGHT: Final = 784
LEFT: Final = 64
RIGHT: Final = 824  # where the chart ends and its legend begins
TOP: Final = 214
BOTTOM: Final = 460
SHOWN: Final = 7  # families with a colour of their own
EVENTS: Final = 10

STYLE: Final = """
svg { font: 13px system-ui, sans-serif; background: #fcfcfb }
.ground { fill: #fcfcfb } .ink { fill: #1c2024 } .pale { fill: #667079 } .tile { fill: #f0f1f2 }
.rule { stroke: #d9dcdf } .mark { stroke: #667079; stroke-dasharray: 2 4 } .bar { fill: #0b6e99 }
.title { font-size: 24px; font-weight: 650 } .big { font-size: 22px; font-weight: 600 } .head { font-weight: 600 }
.small { font-size: 11px } .end { text-anchor: end } .middle { text-anchor: middle }
.f0 { fill: #0b6e99 } .f1 { fill: #e69f00 } .f2 { fill: #2a9d6f } .f3 { fill: #cc5f85 }
.f4 { fill: #6f5fc4 } .f5 { fill: #5bb4e5 } .f6 { fill: #b5651d } .f7 { fill: #9aa3ab }
@media (prefers-color-scheme: dark) {
  svg { background: #16191c } .ground { fill: #16191c } .ink { fill: #e8eaec } .pale { fill: #98a1a9 }
  .tile { fill: #22272b } .rule { stroke: #343a40 } .mark { stroke: #98a1a9 } .bar, .f0 { fill: #3d9dc7 }
}
""".strip()


@dataclass(frozen=True, slots=True)
class RunPicture:
    """What stands on the picture."""

    title: str
    about: str  # a line under the title
    figures: tuple[tuple[str, str], ...]  # numbers and what they are
    chart: str  # what the chart shows
    beats: tuple[Counter[str], ...]  # one a batch: matches by kind of query
    ticks: tuple[tuple[float, str], ...]  # places along the chart, in batches, and their names
    marks: tuple[tuple[int, int], ...]  # from which batch on which version held
    busiest: tuple[tuple[str, int], ...]
    events: tuple[tuple[int, str], ...]  # the version since, and what happened

    @property
    def kinds(self) -> list[str]:
        """Kinds of queries, the most frequent first."""
        return [name for name, _ in sum(self.beats, Counter[str]()).most_common()]


def draw(sheet: RunPicture) -> str:
    """The SVG's text."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img" aria-label="What the standing queries matched">',
        f"<style>{STYLE}</style>",
        f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>',
        *_head(sheet),
        *_chart(sheet),
        *_busiest(sheet),
        *_changes(sheet),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _text(x: float, y: float, text: str, classes: str = "ink") -> str:
    return f'<text x="{x:g}" y="{y:g}" class="{classes}">{escape(text)}</text>'


def _head(sheet: RunPicture) -> list[str]:
    width = (WIDTH - 2 * 32 + 12) / len(sheet.figures)
    parts = [
        _text(32, 48, sheet.title, "title ink"),
        _text(32, 72, sheet.about, "pale"),
    ]
    for place, (figure, name) in enumerate(sheet.figures):
        x = 32 + place * width
        parts += [
            f'<rect class="tile" x="{x:g}" y="92" width="{width - 12:g}" height="64" rx="6"/>',
            _text(x + 14, 122, figure, "big ink"),
            _text(x + 14, 143, name, "pale"),
        ]
    return parts


def _chart(sheet: RunPicture) -> list[str]:
    """Matches of every batch, the kinds of queries on top of each other; dashed where a version began."""
    order = sheet.kinds
    named, rest = order[:SHOWN], order[SHOWN:]
    layers = [(name, [beat[name] for beat in sheet.beats]) for name in named]
    if rest:
        layers.append(("others", [sum(beat[name] for name in rest) for beat in sheet.beats]))
    most = max((beat.total() for beat in sheet.beats), default=0) or 1
    step = _step(most)
    scale = (BOTTOM - TOP) / (step * -(-most // step))
    parts = [_text(32, 192, sheet.chart, "head ink")]
    for value in range(0, step * -(-most // step) + 1, step):
        y = BOTTOM - value * scale
        parts.append(f'<line class="rule" x1="{LEFT}" x2="{RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(_text(LEFT - 8, y + 4, f"{value:,}", "small pale end"))
    below = [0] * len(sheet.beats)
    for place, (name, counts) in enumerate(layers):
        above = [low + count for low, count in zip(below, counts, strict=True)]
        parts.append(_area(below, above, scale, place, name))
        below = above
    for place, (name, counts) in enumerate(reversed(layers)):
        number, y = len(layers) - 1 - place, TOP + 8 + 26 * place
        parts.append(f'<rect class="f{number}" x="{RIGHT + 24}" y="{y - 10}" width="12" height="12" rx="2"/>')
        parts.append(_text(RIGHT + 44, y, name))
        parts.append(_text(WIDTH - 32, y, f"{sum(counts):,}", "pale end"))
    return parts + _marks(sheet) + _ticks(sheet)


def _x(beat: float, beats: int) -> float:
    return LEFT + (RIGHT - LEFT) * beat / max(beats, 1)


def _area(below: Sequence[int], above: Sequence[int], scale: float, place: int, name: str) -> str:
    """Steps, one a batch: nothing is smoothed that was not smooth."""
    count = len(below)
    there = [f"{_x(i + j, count):.1f},{BOTTOM - above[i] * scale:.1f}" for i in range(count) for j in (0, 1)]
    back = [f"{_x(i + j, count):.1f},{BOTTOM - below[i] * scale:.1f}" for i in range(count) for j in (0, 1)]
    return f'<polygon class="f{place}" points="{" ".join(there + back[::-1])}"><title>{escape(name)}</title></polygon>'


def _marks(sheet: RunPicture) -> list[str]:
    parts, last = [], -100.0
    for batch, version in sheet.marks:
        x = _x(batch, len(sheet.beats))
        parts.append(f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 4}" y2="{BOTTOM}"/>')
        if x - last >= 26:
            parts.append(_text(x, TOP - 8, f"v{version}", "small pale middle"))
            last = x
    return parts


def _ticks(sheet: RunPicture) -> list[str]:
    return [
        _text(_x(at, len(sheet.beats)), BOTTOM + 18, name, "small pale middle") for at, name in sheet.ticks
    ]


def _busiest(sheet: RunPicture) -> list[str]:
    parts = [_text(32, 524, "busiest queries", "head ink")]
    most = max((count for _, count in sheet.busiest), default=0) or 1
    for place, (id, count) in enumerate(sheet.busiest):
        y = 550 + 22 * place
        parts.append(_text(172, y, _cut(id, 20), "ink end"))
        parts.append(
            f'<rect class="bar" x="182" y="{y - 11}" width="{max(1, 220 * count / most):.1f}" height="14" rx="2">'
            f"<title>{escape(id)}</title></rect>"
        )
        parts.append(_text(190 + 220 * count / most, y, f"{count:,}", "pale"))
    return parts


def _changes(sheet: RunPicture) -> list[str]:
    parts = [_text(500, 524, "what happened on the way", "head ink")]
    for place, (version, text) in enumerate(sheet.events[:EVENTS]):
        y = 550 + 22 * place
        parts.append(_text(500, y, f"v{version}", "pale"))
        parts.append(_text(536, y, _cut(text, 72)))
    if len(sheet.events) > EVENTS:
        parts.append(_text(536, 550 + 22 * EVENTS, f"and {len(sheet.events) - EVENTS} more", "pale"))
    return parts


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 3] + "..."


def _step(most: int) -> int:
    """A round number of which four or five reach up to `most`.

    >>> _step(2_300), _step(7), _step(1)
    (500, 2, 1)
    """
    size = 1
    while True:
        for factor in (1, 2, 5):
            if most <= 5 * factor * size:
                return factor * size
        size *= 10
