"""What the row-wise executor wants: the papers' constructs of all subjects, over one table of query-result bitmaps.

A condition flips its query's bit at each of its cuts, so that all qrb of a subject are one running XOR over regions:

    q3: A1 <= 50      region     0  1  2  3  4        (inside below the first cut; flip above 50)
                      flips      1  .  .  .  1
                      qrb bit    1  1  1  1  0
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eddyline.index.cutting import Cutting, cut
from eddyline.model.asc import ASC, BLOCK_WORDS, Words
from eddyline.model.expression import Expression
from eddyline.model.pacing import paced
from eddyline.model.predicate import Predicate, conjunction
from eddyline.model.regions import Regions

Used = list[tuple[int, Regions]]  # queries of one subject, by place, and what each of them wants of it
_BLOCK = 64 * BLOCK_WORDS


@dataclass(frozen=True, slots=True, eq=False)
class AscIndex:
    """Compiled plain conjunctions; bit j belongs to the query in slot numbers[j].

    table: all qrb, (blocks of 512 queries, regions of all subjects, 8). starts[i]: the first region of subject i.
    alive[r]: whether the qrb of region r has any one; where not, every tuple is dropped at once.
    """

    cuttings: tuple[Cutting, ...]
    ascs: tuple[ASC, ...]
    numbers: npt.NDArray[np.int32]
    table: Words
    starts: npt.NDArray[np.int64]
    alive: npt.NDArray[np.bool_]

    @property
    def bytes(self) -> int:
        """Memory of all bitmaps."""
        own = sum(asc.qub.nbytes + asc.cab.nbytes for asc in self.ascs)
        return own + self.table.nbytes + self.starts.nbytes + self.alive.nbytes + self.numbers.nbytes

    def explain(self) -> str:
        """All constructs, as the papers draw them."""
        head = f"{len(self.numbers)} queries over {len(self.ascs)} subjects, {self.bytes:,} bytes"
        return "\n\n".join([head, *(asc.explain() for asc in self.ascs)])


def is_conjunction(predicate: Predicate) -> bool:
    """Whether a predicate is an AND of conditions, or one condition; always true is an AND of none."""
    return conjunction(predicate) is not None


def build_ascs(
    predicates: Sequence[Predicate],
    numbers: Sequence[int],
    *,
    subjects: Iterable[Expression] = (),
    arrows: bool = True,
) -> AscIndex:
    """Compile plain conjunctions, whose queries have the given numbers.

    Subjects are numbered as given, then in the order of their first use. Without arrows every cab is left zero.
    """
    by_subject: dict[Expression, Used] = {subject: [] for subject in subjects}
    for place, predicate in enumerate(paced(predicates)):
        parts = conjunction(predicate)
        assert parts is not None, "only plain conjunctions have one bit in an ASC"
        for part in parts:
            by_subject.setdefault(part.subject, []).append((place, part.regions))
    cuttings = tuple([cut(subject, [r for _, r in used]) for subject, used in by_subject.items()])
    sizes = [cutting.size for cutting in cuttings]
    starts = np.cumsum([0, *sizes])
    blocks = max(1, -(-len(predicates) // _BLOCK))
    table = np.empty((blocks, int(starts[-1]), BLOCK_WORDS), np.uint64)
    every = _bitmap(range(len(predicates)), blocks)
    qubs = [_bitmap([place for place, _ in used], blocks) for used in by_subject.values()]
    for cutting, used, qub, start in zip(cuttings, by_subject.values(), qubs, starts, strict=False):
        qrb = _results(cutting, used, every & ~qub)
        table[:, start : start + cutting.size] = qrb.reshape(cutting.size, blocks, -1).swapaxes(0, 1)
    cabs = _candidates(table, qubs, starts) if arrows else None
    return assemble(cuttings, np.array(qubs, np.uint64), table, np.asarray(numbers, np.int32), cabs)


def assemble(
    cuttings: tuple[Cutting, ...],
    qubs: Words,
    table: Words,
    numbers: npt.NDArray[np.int32],
    cabs: Words | None = None,
) -> AscIndex:
    """The constructs over a table of all qrb; qubs has a row for each subject. Without cabs they are zero."""
    starts = np.cumsum([0, *(cutting.size for cutting in cuttings)])
    cabs = _no_candidates(int(starts[-1]), len(cuttings)) if cabs is None else cabs
    ascs = []
    for i, cutting in enumerate(cuttings):
        own = slice(starts[i], starts[i + 1])
        shape = (len(numbers), len(cuttings))
        ascs.append(ASC(i, cutting.subject, cutting.constants, *shape, qubs[i], table[:, own], cabs[own]))
    alive = np.asarray(table.any(axis=(0, 2)))
    return AscIndex(cuttings, tuple(ascs), numbers, table, starts[:-1], alive)


def with_candidates(index: AscIndex) -> AscIndex:
    """The same with the cab of every region, for those who look for micro-arrows."""
    qubs = [asc.qub for asc in index.ascs]
    cabs = _candidates(index.table, qubs, np.append(index.starts, index.table.shape[1]))
    return assemble(index.cuttings, np.array(qubs, np.uint64), index.table, index.numbers, cabs)


def _bitmap(places: Sequence[int], blocks: int) -> Words:
    """A bitmap over queries with ones at the given places."""
    flags = np.zeros(blocks * _BLOCK, np.uint8)
    flags[np.asarray(places, np.int64)] = 1
    return np.packbits(flags, bitorder="little").view(np.uint64)


def _results(cutting: Cutting, used: Used, unused: Words) -> Words:
    """The qrb of all regions, (regions, words); queries that do not use the subject are `unused`."""
    blocks = len(unused) // BLOCK_WORDS
    qrb = np.zeros((cutting.size, len(unused)), np.uint64)
    regions = cutting.ids_of([each for _, wanted in used for each in wanted.cuts])
    cuts = np.array([len(wanted.cuts) for _, wanted in used], np.int64)
    places = np.repeat(np.array([place for place, _ in used], np.int64), cuts)
    np.bitwise_xor.at(qrb, (regions, places >> 6), np.uint64(1) << (places & 63).astype(np.uint64))
    qrb[0] = unused | _bitmap([place for place, wanted in used if wanted.inside], blocks)
    intervals = qrb[: cutting.nan]
    np.bitwise_xor.accumulate(intervals, axis=0, out=intervals)
    if cutting.nan != cutting.null:
        qrb[cutting.nan] = unused | _bitmap([place for place, wanted in used if wanted.nan], blocks)
    qrb[cutting.null] = unused | _bitmap([place for place, wanted in used if wanted.null], blocks)
    return qrb


def _no_candidates(regions: int, subjects: int) -> Words:
    return np.zeros((regions, max(1, -(-subjects // 64))), np.uint64)


def _candidates(table: Words, qubs: list[Words], starts: npt.NDArray[np.int64]) -> Words:
    """The cab of all regions of all subjects: where a query that may still be true can fail.

    Whether bitmaps meet is asked for all pairs of regions and subjects by one product of matrices a block.
    """
    cab = _no_candidates(table.shape[1], len(qubs))
    if not qubs:
        return cab
    usage = np.array(qubs).reshape(len(qubs), len(table), -1)
    meets = np.zeros((table.shape[1], len(qubs)), np.bool_)
    for block in range(len(table)):
        meets |= (_ones(table[block]) @ _ones(np.ascontiguousarray(usage[:, block])).T) > 0
    for i in range(len(qubs)):
        meets[starts[i] : starts[i + 1], i] = False
    packed = np.packbits(meets, axis=1, bitorder="little")
    cab.view(np.uint8)[:, : packed.shape[1]] = packed
    return cab


def _ones(words: Words) -> npt.NDArray[np.float32]:
    """Bits of each row as numbers 0 and 1."""
    return np.unpackbits(words.view(np.uint8), axis=1, bitorder="little").astype(np.float32)
