"""The sliced executor: every distinct condition once per block, all queries by AND and OR of masks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.execute.locating.locate import Locator, locator
from eddyline.execute.pool import LINE, POOL
from eddyline.execute.sliced.family_index import with_families
from eddyline.execute.sliced.formulas import Formulas
from eddyline.execute.sliced.patterns import Patterns
from eddyline.execute.sliced.stages import BlockCall, Stages
from eddyline.functions.evaluate import Evaluation
from eddyline.index.sliced.hull import Hull
from eddyline.index.sliced.patterns import build_patterns
from eddyline.index.sliced.sliced import WIDTHS, SlicedIndex
from eddyline.model.expression import Expression
from eddyline.model.masks import BLOCK, WORDS, Masks

Words = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int64]
MIN_ROWS: Final = 2_048  # smaller batches are not worth a look at hulls
SAMPLE: Final = 256
LARGEST_SHARE: Final = 0.6
STREAMED: Final = 1 << 24  # bytes from which results go past the caches, which they would not stay in anyway
SHARES: Final = 4  # pieces of work for each thread
_NO_COUNTS: Final = np.empty(0, np.int64)


@dataclass(slots=True)
class Located:
    """Region ids of a batch, one two-dimensional array a shelf, padded to whole blocks; and the hits of patterns.

    hits: rows and slots, by block, and where the hits of each block start.
    """

    rows: int
    blocks: int
    ids: list[npt.NDArray[Any]]
    hits: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]
    selected: Rows | None = None


class Sliced:
    """Evaluates the sliced part of a segment."""

    def __init__(self, index: SlicedIndex) -> None:
        self._locators: list[Locator] = [locator(cutting) for cutting in index.cuttings]
        index, self._families = with_families(index, self._locators)
        self.index = index
        # formulas are truth values, whose ids are small
        subjects = dict(enumerate(index.shelves[0].subjects))
        self._formulas = Formulas(
            {row: index.cuttings[s].subject for row, s in subjects.items()},
            {row: self._locators[s] for row, s in subjects.items()},
        )
        self._patterns = [Patterns(build_patterns(group.calls)) for group in index.patterns]
        self._stages = Stages(index)

    def match(
        self, evaluation: Evaluation, rows: int, *, threads: int = 1, selected: Rows | None = None
    ) -> Masks:
        """All results of a batch, kept as masks; if rows are selected, the others are known to match nothing."""
        located = self.locate(evaluation, rows, selected)
        results = self.index.program.results
        out = POOL.take(located.blocks * results * WORDS, np.uint64)
        self._in_threads(
            located.blocks, threads, lambda a, b: self._run(located, a, b, out, True, _NO_COUNTS)
        )
        return Masks(located.rows, results, self.index.numbers, out, located.selected)

    def count(
        self, evaluation: Evaluation, rows: int, *, threads: int = 1, selected: Rows | None = None
    ) -> Counts:
        """How many tuples of a batch match each result; each block is counted while it is in cache."""
        located = self.locate(evaluation, rows, selected)
        results = self.index.program.results

        def run(first: int, last: int) -> Counts:
            counts = np.zeros(results, np.int64)
            self._run(located, first, last, POOL.take(results * WORDS, np.uint64), False, counts)
            return counts

        found = self._in_threads(located.blocks, threads, run)
        total: Counts = np.sum([np.zeros(results, np.int64), *found], axis=0)
        return total

    def blocks(self, evaluation: Evaluation, rows: int) -> Iterator[Masks]:
        """The results block by block, in one buffer that is used again: consume each before the next."""
        located = self.locate(evaluation, rows)
        results, selected = self.index.program.results, located.selected
        out = POOL.take(results * WORDS, np.uint64)
        for first in range(0, located.rows, BLOCK):
            last = min(first + BLOCK, located.rows)
            self._run(located, first // BLOCK, first // BLOCK + 1, out, False, _NO_COUNTS)
            rows_of = np.arange(first, last) if selected is None else selected[first:last]
            yield Masks(last - first, results, self.index.numbers, out, rows_of)

    def locate(self, evaluation: Evaluation, rows: int, selected: Rows | None = None) -> Located:
        """Region ids of all subjects, for those rows alone that are selected, or that a hull leaves if it leaves few."""
        selected = self._survivors(evaluation, rows) if selected is None else selected
        places = None if selected is None else pa.array(selected)
        rows = rows if selected is None else len(selected)

        def values(subject: Expression) -> pa.Array:
            found = evaluation.values(subject)
            return found if places is None else found.take(places)

        blocks = -(-rows // BLOCK)
        arrays = []
        for shelf, width in zip(self.index.shelves, WIDTHS, strict=True):
            lines = len(shelf.subjects) + (len(self._families.families) if width == WIDTHS[1] else 0)
            ids = POOL.take(lines * blocks * BLOCK, width).reshape(lines, blocks * BLOCK)
            ids[:, rows:] = 0
            formulas = self._formulas.rows if shelf is self.index.shelves[0] else ()
            for row, subject in enumerate(shelf.subjects):
                if row in formulas:
                    continue
                self._locators[subject].locate(values(self.index.cuttings[subject].subject), ids[row, :rows])
            arrays.append(ids)
        self._formulas.locate(values, rows, arrays[0])
        self._families.locate(values, rows, arrays[1])
        return Located(rows, blocks, arrays, self._hits(values, blocks), selected)

    def _survivors(self, evaluation: Evaluation, rows: int) -> Rows | None:
        """Rows that lie in the tightest hull; None where there is none, or where it leaves most rows.

        Which hull is tightest is asked of a few rows first. Measured: leaving rows out pays while fewer than about 60%
        remain.
        """
        if not self.index.hulls or rows < MIN_ROWS:
            return None
        step = max(1, rows // SAMPLE)
        shares = [self._alive(hull, evaluation, slice(0, rows, step)).mean() for hull in self.index.hulls]
        best = int(np.argmin(shares))
        if shares[best] > LARGEST_SHARE:
            return None
        return np.flatnonzero(self._alive(self.index.hulls[best], evaluation, slice(0, rows)))

    def _alive(self, hull: Hull, evaluation: Evaluation, rows: slice) -> npt.NDArray[np.uint8]:
        cutting = self.index.cuttings[hull.subject]
        values = evaluation.values(cutting.subject)
        if rows.step is not None:
            values = values.take(pa.array(np.arange(rows.start, rows.stop, rows.step)))
        ids = np.empty(len(values), cutting.id_type)
        self._locators[hull.subject].locate(values, ids)
        return hull.alive[ids]

    def _hits(self, values: Callable[[Expression], pa.Array], blocks: int) -> tuple[Any, Any, Any]:
        """All hits of all patterns, by block."""
        rows, slots = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for group, patterns in zip(self.index.patterns, self._patterns, strict=True):
            row, number = patterns.find(values(group.text))
            rows.append(row)
            slots.append(group.slots[number])
        row, slot = np.concatenate(rows), np.concatenate(slots)
        order = np.argsort(row // BLOCK, kind="stable")
        row, slot = row[order], slot[order]
        return row, slot, np.searchsorted(row // BLOCK, np.arange(blocks + 1)).astype(np.int64)

    def _run(self, located: Located, first: int, last: int, out: Words, keep: bool, counts: Counts) -> None:
        """All results of blocks first .. last - 1; if `counts` has a place for each, ones are added up in it."""
        program = self.index.program
        scratch = POOL.take((program.slots + 1) * WORDS, np.uint64)
        scratch[:] = 0
        call = BlockCall(
            located.ids,
            located.blocks * BLOCK,
            located.hits,
            scratch,
            out,
            counts,
            program.results,
            keep,
            keep and out.nbytes > STREAMED and out.ctypes.data % LINE == 0,
        )
        whole = min(last, located.rows // BLOCK) if len(counts) == program.results else first
        self._stages.count(call, first, whole)
        self._stages.run(call, whole, last, located.rows)

    @staticmethod
    def _in_threads(blocks: int, threads: int, run: Callable[[int, int], Any]) -> list[Any]:
        """Run over consecutive shares of the blocks; the kernels hold no lock of the interpreter.

        Each thread takes the next share when it is done with one: a core that has other work delays only its own.
        """
        if threads == 1 or blocks < 2:
            return [run(0, blocks)]
        edges = np.linspace(0, blocks, min(threads * SHARES, blocks) + 1).astype(int).tolist()
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(run, edges[:-1], edges[1:]))
