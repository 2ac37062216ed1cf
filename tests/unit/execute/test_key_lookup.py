"""Numbers of keys that were chosen to belong into one slot of their map."""

import secrets
import time

import numpy as np
import pytest

from eddyline.execute.keyed.key_lookup import FACTOR, FAR, Map
from eddyline.kernels import keyed as kernels


def defeating(count: int) -> np.ndarray:
    """Keys that all belong into the first slot under FACTOR."""
    inverse = pow(FACTOR, -1, 2**64)
    mixed = [place * inverse % 2**64 for place in range(1, count + 1)]
    return np.array([key ^ key >> 32 for key in mixed], np.uint64).view(np.int64)


def numbers(found: Map, keys: np.ndarray) -> list[int]:
    places = np.empty(len(keys), np.uint32)
    kernels.look_up(keys.view(np.uint64), *found.entries, 9_999_999, places)
    return places.tolist()


@pytest.mark.parametrize("count", [1, FAR, FAR + 2, 5000])
def test_another_factor_serves_keys_that_defeat_the_first(count: int) -> None:
    keys = defeating(count)
    found = Map(keys)
    assert (found.entries[0] == FACTOR) == (count <= FAR)
    assert numbers(found, keys) == list(range(count))
    assert numbers(found, keys + 1) == [9_999_999] * count


def test_keys_that_defeat_every_factor_are_found_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "randbits", lambda bits: FACTOR)
    keys = defeating(3 * FAR)
    assert numbers(Map(keys), keys) == list(range(3 * FAR))


def test_many_keys_that_defeat_the_first_factor_take_no_longer_than_others() -> None:
    keys = defeating(100_000)
    Map(keys[:2])
    started = time.process_time()
    Map(keys)
    assert time.process_time() - started < 1


def test_ordinary_keys_lie_near_their_slots() -> None:
    for step in (1, 10**6, 1 << 32, 86_400_000_000):
        assert Map(np.arange(20_000, dtype=np.int64) * step).entries[0] == FACTOR
