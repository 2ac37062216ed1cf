"""Folders of a pipeline that must lie apart from one another."""

from __future__ import annotations

from os.path import realpath

from eddyline.errors import FileError
from eddyline.runtime.spark.base.remote_folders import local_path
from eddyline.runtime.spark.base.settings import PipelineSettings


def check_apart(settings: PipelineSettings) -> None:
    """Refuse what is written below a folder that a source reads, or a sink writes: readers look into all folders there."""
    sinks = [(f'the sink "{sink.name}"', sink.path) for sink in settings.sinks if sink.path]
    written = [*sinks, ("the checkpoint", settings.checkpoint), ("dead letters", settings.dead_letter_folder)]
    where = "" if settings.file is None else f"{settings.file}: "
    for sink, folder in sinks:
        for what, path in written:
            if what != sink and _lies_in(path, folder):
                raise FileError(
                    f"{where}{what} would be written into the folder of {sink}",
                    hint="give each a folder of its own, beside the others",
                )
    for source in settings.sources:
        for what, path in written:
            if source.path and _lies_in(path, source.path):
                raise FileError(
                    f'{where}{what} would be written where the source "{source.name}" reads',
                    hint="give it a folder of its own, outside of the source's",
                )


def _lies_in(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies in it, as far as names tell.

    >>> (
    ...     _lies_in("/data/in/out", "/data/in/"),
    ...     _lies_in("/data/inside", "/data/in"),
    ...     _lies_in("s3://a/b", "s3://a"),
    ...     _lies_in("file:/data/my%20in/out", "/data/my in"),
    ... )
    (True, False, True, True)
    """
    path, folder = (_plain(one) for one in (path, folder))
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _plain(path: str) -> str:
    """A path from the root on, an address without a slash at its end."""
    here = local_path(path)
    return path.rstrip("/") if here is None else realpath(here.absolute())
