"""The market and its queries: the same for the same seed, and alive enough to be worth watching."""

from __future__ import annotations

import pyarrow.compute as pc

import eddyline as ed
from eddyline.testing.market import QUOTES, Market, listings
from eddyline.testing.market_queries import FAMILIES, some_standing


def test_the_seed_decides() -> None:
    one, same, other = Market(3), Market(3), Market(4)
    for _ in range(3):
        batch = one.batch(500)
        assert batch.equals(same.batch(500))
        assert not batch.equals(other.batch(500))
    assert some_standing(50, 3) == some_standing(50, 3) != some_standing(50, 4)


def test_prices_walk_on_and_time_goes_on() -> None:
    market = Market(7, symbols=1)
    first, second = market.batch(1_000), market.batch(1_000)
    assert second["at"][0].as_py() >= first["at"][-1].as_py()
    assert abs(second["price"][0].as_py() / first["price"][-1].as_py() - 1) < 0.05
    assert pc.min(first["price"]).as_py() > 0 < pc.min(first["volume"]).as_py()


def test_news_has_headlines_and_nothing_else_has() -> None:
    batch = Market(7).batch(20_000)
    assert batch["news"].equals(pc.is_valid(batch["headline"]))
    assert 5 < pc.sum(batch["news"]).as_py() < 100
    assert batch["venue"].null_count > 0


def test_symbols_are_distinct() -> None:
    for count in (1, 256, 600):
        assert len({listing.symbol for listing in listings(count)}) == count


def test_queries_of_all_kinds_are_accepted_and_fire() -> None:
    queries = some_standing(1_000)
    assert len({query.id for query in queries}) == 1_000
    assert {query.tags[0] for query in queries} == FAMILIES.keys()
    matcher = ed.QuerySet.build({query.id: query.sql for query in queries}, streams=[QUOTES])
    counts: dict[str, int] = {}
    market = Market()
    for _ in range(30):
        for id, count in matcher.match(market.batch(20_000)).counts().items():
            counts[id] = counts.get(id, 0) + count
    assert {id.partition("-")[0] for id, count in counts.items() if count} == FAMILIES.keys()
    assert 5_000 < sum(counts.values()) < 100_000
