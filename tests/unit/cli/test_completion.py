"""What shells complete."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from eddyline.registry import Put, Registry
from eddyline.testing.market import QUOTES


@pytest.fixture(autouse=True)
def _registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EDDYLINE_REGISTRY", raising=False)
    with Registry.open("eddyline.db") as registry:
        sql = "SELECT * FROM quotes WHERE price < 10"
        registry.change(
            [Put(id, sql) for id in ("cheap", "cheaper", "dear", "the-cheapest")], streams=[QUOTES]
        )


Offered = Callable[..., list[str]]


@pytest.fixture
def offered(warm_programs: Path) -> Offered:
    """What is offered for the last word of a line."""

    def ask(line: str, **variables: str) -> list[str]:
        environment = {
            **os.environ,
            "_EDDYLINE_COMPLETE": "complete_bash",
            "COMP_WORDS": line,
            "COMP_CWORD": str(line.count(" ")),
            **variables,
        }
        done = subprocess.run([warm_programs / "eddyline"], capture_output=True, text=True, env=environment)
        assert done.stderr == ""
        return done.stdout.split()

    return ask


def test_commands(offered: Offered) -> None:
    assert set(offered("eddyline query sh")) == {"show", "shadow"}


@pytest.mark.parametrize("command", ["remove", "why"])
def test_ids(offered: Offered, command: str) -> None:
    assert offered(f"eddyline query {command} ch") == ["cheap", "cheaper"]


@pytest.mark.slow
def test_ids_of_another_registry(offered: Offered) -> None:
    Path("eddyline.db").rename("other.db")
    assert offered("eddyline query show --registry other.db d") == ["dear"]
    assert offered("eddyline query show d", EDDYLINE_REGISTRY="other.db") == ["dear"]
    assert offered("eddyline query show d") == []
    assert offered("eddyline query show d", EDDYLINE_REGISTRY="postgresql://ann@127.0.0.1:1/x") == []
    assert not Path("eddyline.db").exists()


def test_a_broken_registry_offers_nothing(offered: Offered) -> None:
    Path("eddyline.db").write_text("no database" * 999)
    assert offered("eddyline query show d") == []


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_scripts(shell: str) -> None:
    code = "from eddyline.cli import main; import sys; sys.argv[0] = 'eddyline'; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "--show-completion", shell],
        capture_output=True,
        text=True,
        env={**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
    )
    assert done.returncode == 0 and "_EDDYLINE_COMPLETE" in done.stdout
