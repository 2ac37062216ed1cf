"""One row that a job is asked about: the N-th of a file, or the text of a JSON object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from eddyline.errors import FileError, UsageError
from eddyline.model.catalog import Stream
from eddyline.model.reject import Reject
from eddyline.runtime.embedded.json_rows import row_of
from eddyline.runtime.embedded.pipes import is_pipe
from eddyline.runtime.embedded.rejects import Rejects
from eddyline.runtime.embedded.sources import FileRows, read
from eddyline.service.data_sources import Data, split_source
from eddyline.service.files.named import split_name
from eddyline.service.files.schemas import read_source


def is_object(row: str) -> bool:
    """Whether a row is given as text."""
    return row.lstrip().startswith("{")


def object_row(text: str, stream: Stream, time_zone: str) -> tuple[FileRows, int]:
    """A row that is given as text, as that of a file without a name."""
    return FileRows(row_of(text, stream, time_zone), "", 0), 0


def declared_stream(name: str, schemas: Sequence[str], declared: Sequence[Stream]) -> Stream:
    """The stream of a row that is given as text."""
    for source in map(read_source, schemas):
        if source.name is None or source.name.lower() == name.lower():
            return source.stream(name)
    for stream in declared:
        if stream.name.lower() == name.lower():
            return stream
    raise UsageError(f'the columns of stream "{name}" are not known; state them with --schema')


def split_place(text: str) -> tuple[str, int]:
    """The file and the number of a row that is given as FILE:N."""
    file, colon, number = text.rpartition(":")
    if not colon or not file or not number.isdecimal() or int(number) < 1:
        raise UsageError(f'--row is written as FILE:N with N from 1, such as quotes.csv:17, not "{text}"')
    return file, int(number)


def find_row(data: Data, number: int, format: str | None, time_zone: str) -> tuple[FileRows, int]:
    """The piece that holds a row, numbered from 1, and the row's place in it."""
    seen = {0: ""}  # the row if it was rejected, and the last one that was

    def remember(reject: Reject) -> None:
        if reject.row == number or max(seen) != number:
            seen.clear()
            seen[reject.row] = reject.reason

    rejects = Rejects(on_reject=remember)
    files: set[str] = set()
    last = 0
    for piece in read(data.source, data.stream, format=format, rejects=rejects, time_zone=time_zone):
        files.add(piece.file)
        if len(files) > 1:
            raise FileError(f'"{data.source}" is several files', hint="name one of them")
        numbers = piece.rows
        last = int(numbers[-1]) + 1
        if last >= number:
            place = int(numbers.searchsorted(number - 1))
            if numbers[place] == number - 1:
                return piece, place
            break
    if number in seen:
        raise FileError(f'row {number} of "{data.source}" cannot be read: {seen[number]}')
    last = max(last, *seen)
    raise FileError(f'"{data.source}" has no row {number}: it has {last:,}', hint="rows count from 1")


@dataclass(frozen=True, slots=True)
class AskedRow:
    """A row that is asked about for a join of two streams, and where its partners are.

    text        a JSON object, or None for row `number` of `file`
    """

    stream: str
    partner: str
    partners: str
    text: str | None
    file: str | None = None
    number: int = 0

    @staticmethod
    def of(row: str, names: tuple[str, str], streams: Sequence[str], id: str) -> AskedRow:
        """What `--row` and `--stream` say, for a join of the streams of these names.

        The row is of the stream that it names (NAME=FILE:N), of the one whose partners are not named by --stream, or of
        the one that its file is called by.
        """
        sources = [split_source(stream) for stream in streams]
        named, text = split_name(row)
        for name in [*(name for name, _ in sources), *([named] if named else [])]:
            if name.lower() not in {each.lower() for each in names}:
                raise UsageError(
                    f'query "{id}" does not read stream "{name}"; it joins {" and ".join(names)}'
                )
        found = {name.lower(): source for name, source in sources}
        if len(found) < len(sources):
            raise UsageError("a stream has two sources; a folder or a glob takes several files")
        file, number = (None, 0) if is_object(text) else split_place(text)
        stream = _stream_of(named, file, names, found)
        partner = names[1] if stream.lower() == names[0].lower() else names[0]
        partners = found.get(partner.lower(), file if partner.lower() == stream.lower() else None)
        if partners is None or (partners == file and is_pipe(partners)):
            raise UsageError(f'the rows of stream "{partner}" are not named: add --stream {partner}=SOURCE')
        return AskedRow(stream, partner, partners, text if file is None else None, file, number)

    @property
    def is_partner_of_itself(self) -> bool:
        """Whether its stream is joined with itself."""
        return self.stream.lower() == self.partner.lower()

    def find(self, stream: Stream, format: str | None, time_zone: str) -> tuple[FileRows, int]:
        """The rows that it stands among, and its place there."""
        if self.text is not None:
            return object_row(self.text, stream, time_zone)
        assert self.file is not None, "it is a row of a file"
        return find_row(Data(stream, self.file), self.number, format, time_zone)


def _stream_of(
    named: str | None, file: str | None, names: tuple[str, str], sources: Mapping[str, str]
) -> str:
    """The stream that a row is of; `sources` are by names in lower case."""
    known = {name.lower(): name for name in names}
    if named is not None:
        return known[named.lower()]
    left = [name for name in known if name not in sources] or list(known)
    if len(left) > 1 and file is not None:
        stem = Path(file).name.split(".")[0].lower()
        left = [name for name in left if name == stem]
    if len(left) != 1:
        raise UsageError(
            f"whether the row is of {' or '.join(names)} is not clear: write it as --row {names[0]}=ROW"
        )
    return known[left[0]]
