"""Stages: machine code that lasts as long as the stage does."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest

from eddyline.kernels import stages
from eddyline.kernels.stages import stage


def test_threads_that_ask_at_once_get_the_code_that_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a second compilation gave would be freed while its address is in use."""
    compiled: list[Any] = []

    def slowly(_: object) -> Any:
        time.sleep(0.05)
        compiled.append(SimpleNamespace(address=len(compiled) + 1))
        return compiled[-1]

    monkeypatch.setattr(stages, "cfunc", lambda *_, **__: slowly)
    asked = stage(int)(lambda call, own, block: None)
    with ThreadPoolExecutor(4) as threads:
        addresses = set(threads.map(lambda _: asked.address, range(4)))
    assert addresses == {1} and len(compiled) == 1
