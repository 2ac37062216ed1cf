"""Dates and times that are likely to satisfy conditions on their parts, such as a year, a day of the week or an hour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from itertools import product
from typing import Final

_EPOCH: Final = date(1970, 1, 1)
_SUNDAY: Final = date(2000, 1, 2)
_DAY: Final = 86_400_000_000  # microseconds
_HOUR: Final = _DAY // 24


def suggested_times(constants: Sequence[object], *, in_days: bool) -> Iterator[int]:
    """Days since 1970, or microseconds, for expressions with these constants.

    Constants may be years, months and days; what they are not is the first of its kind. Then a week and a year in steps of
    a month, for what is asked of weekdays and quarters; and all hours of a day, for what is asked of a time, in any zone.

    >>> [str(_EPOCH + timedelta(days)) for days in suggested_times([2024, 5], in_days=True)][:2]
    ['2024-05-05', '2024-05-01']
    """
    numbers = [number for number in constants if isinstance(number, int) and not isinstance(number, bool)]
    years = [number for number in numbers if 1_000 <= number <= 9_999]
    months = [number for number in numbers if 1 <= number <= 12]
    days = [number for number in numbers if 1 <= number <= 28]
    dates = [date(*parts) for parts in product([*years, 2000], [*months, 1], [*days, 1])][:12]
    dates += [_SUNDAY + timedelta(number) for number in range(7)]
    dates += [date(years[0] if years else 2000, month, 15) for month in range(1, 13)]
    for number in ((each - _EPOCH).days for each in dates):
        yield number if in_days else number * _DAY
    if not in_days:
        start = (dates[0] - _EPOCH).days * _DAY
        yield from [start + hour * _HOUR + _HOUR // 2 for hour in range(24)]
