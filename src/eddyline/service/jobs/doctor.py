"""What Eddyline needs of a machine, one function a part; none of them raises."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final, Literal

from eddyline.errors import EddylineError, SetupError
from eddyline.functions.zones import find_zone
from eddyline.service.registries import DEFAULT, is_there

OLDEST: Final = (3, 11)
PACKAGES: Final = ("eddyline", "numba", "numpy", "pyarrow", "sqlalchemy", "sqlglot")
PATIENCE: Final = 5.0  # seconds to wait for a registry


@dataclass(frozen=True, slots=True)
class Checkup:
    """One thing that Eddyline uses: `needed` is False for what most can do without."""

    name: str
    state: Literal["ok", "missing", "broken"]
    found: str
    needed: bool = True
    to_do: str = ""


def look_at_machine() -> Iterator[Checkup]:
    """Python, packages, the cache of compiled code, and what the Spark runtime and PostgreSQL need."""
    yield _python()
    for name in PACKAGES:
        yield _package(name)
    yield _zones()
    yield _compiled()
    yield from _spark()
    yield _optional("psycopg", "only for a registry in PostgreSQL: pip install 'eddyline[postgres]'")


def compile_kernels() -> Checkup:
    """Have the kernels of matching compiled for this user and machine; how long that took, and where they lie."""
    from eddyline import kernels
    from eddyline.queryset import warming

    start, before = time.perf_counter(), _functions()
    try:
        warming.warm(thorough=True)
    # what failed to compile fails again where it is needed, with more to say about it
    except Exception as error:
        return Checkup("warm-up", "broken", f"kernels do not compile: {error!r}")
    seconds, made = time.perf_counter() - start, _functions() - before
    found = f"{made} functions compiled in {seconds:.1f} s, kept in {kernels.cache_folder()}"
    if made or before:
        return Checkup("warm-up", "ok", found)
    to_do = "set XDG_CACHE_HOME to a folder that can be written: nothing that was compiled could be kept"
    return Checkup("warm-up", "broken", found, to_do=to_do)


def _functions() -> int:
    """Compiled functions on the disk."""
    from eddyline import kernels

    return sum(1 for _ in kernels.cache_folder().rglob("*.nbi"))


def look_at_registry(where: str | None) -> Iterator[Checkup]:
    """A registry that was named, or the one of this folder."""
    if where is None and not is_there(DEFAULT):
        yield Checkup(
            "registry",
            "missing",
            f"no {DEFAULT} in this folder",
            needed=False,
            to_do="query add and query import make one; --registry looks at another",
        )
        return
    where = where or DEFAULT
    if not is_there(where):
        yield Checkup("registry", "missing", where, to_do="query add and query import make it")
        return
    try:
        yield _registry(where)
    except EddylineError as error:
        yield Checkup("registry", "broken", error.message.split("\n")[0], to_do=error.hint or "")


def _python() -> Checkup:
    found = f"{platform.python_version()} ({platform.system()}, {platform.machine()})"
    if sys.version_info < OLDEST:
        return Checkup("Python", "broken", found, to_do="install Python 3.11 or later")
    return Checkup("Python", "ok", found)


def _package(name: str) -> Checkup:
    try:
        return Checkup(name, "ok", version(name))
    except PackageNotFoundError:
        return Checkup(name, "missing", "", to_do="pip install eddyline")


def _optional(name: str, to_do: str) -> Checkup:
    try:
        return Checkup(name, "ok", version(name), needed=False)
    except PackageNotFoundError:
        return Checkup(name, "missing", "", needed=False, to_do=to_do)


def _zones() -> Checkup:
    if find_zone("Europe/Vienna") is None:
        return Checkup("time zones", "missing", "no tz database", to_do="pip install tzdata")
    return Checkup("time zones", "ok", "tz database")


def _compiled() -> Checkup:
    """Machine code that numba keeps on disk: without it every process compiles for seconds."""
    from eddyline import kernels

    config = vars(kernels)["numba"].config  # numba belongs to kernels; this asks what they have set
    if config.DISABLE_JIT:
        return Checkup(
            "compiled code",
            "broken",
            "numba compiles nothing",
            to_do="unset NUMBA_DISABLE_JIT: matching crawls",
        )
    folder = Path(config.CACHE_DIR)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        to_do = "set XDG_CACHE_HOME to a folder that can be written: every process compiles anew, for seconds"
        return Checkup("compiled code", "broken", f"{folder}: {error.strerror}", to_do=to_do)
    functions = _functions()
    if not functions:
        to_do = (
            "nothing: the first match compiles, which takes some seconds; eddyline doctor --warm does it now"
        )
        return Checkup("compiled code", "ok", f"none yet in {folder}", to_do=to_do)
    to_do = "set XDG_CACHE_HOME to a folder that can be written and stays" if _is_passing(folder) else ""
    return Checkup("compiled code", "ok", f"{functions} functions in {folder}", to_do=to_do)


def _is_passing(folder: Path) -> bool:
    """Whether the cache had to go to a temporary folder."""
    return folder.parent == Path(tempfile.gettempdir()) / f"eddyline-{os.getuid()}"


def _spark() -> Iterator[Checkup]:
    pyspark = _optional("pyspark", "only for the Spark runtime: pip install 'eddyline[spark,java]'")
    yield pyspark
    if pyspark.state == "ok":
        yield _java()


def _java() -> Checkup:
    from eddyline.runtime.spark.sessions.java import find_java

    try:
        java = find_java()
    except SetupError as error:
        return Checkup("Java", "missing", error.message.split("\n")[0], to_do=error.hint or "")
    return Checkup("Java", "ok", f"version {java.version}, from {java.origin}")


def _registry(where: str) -> Checkup:
    """Reachable, of a format that is known, and what it holds."""
    from eddyline.registry import Registry
    from eddyline.registry.migrations import FORMAT
    from eddyline.service.files.event_times import times_text, window_text

    with Registry.open(where, timeout=PATIENCE) as registry:
        newest = registry.version
        states = Counter(str(entry.state) for entry in registry.entries())
        said = {stream.name: times_text(stream) for stream in registry.streams()}
        window = registry.join_window()
    streams = ", ".join(f"{name} ({times})" if times else name for name, times in said.items()) or "none"
    held = ", ".join(f"{count:,} {state}" for state, count in sorted(states.items())) or "none"
    found = f"{registry.where}: format {FORMAT}, version {newest}, queries: {held}, streams: {streams}"
    found += "" if window is None else f", {window_text(window)}"
    file = Path(where.removeprefix("sqlite:///"))
    if "://" not in str(file) and not (
        os.access(file, os.W_OK) and os.access(file.absolute().parent, os.W_OK)
    ):
        return Checkup(
            "registry",
            "ok",
            found,
            to_do="it can be read, not changed: you may not write the file or its folder",
        )
    return Checkup("registry", "ok", found)
