"""The proleptic Gregorian calendar over all integers: days since 1970-01-01 and (year, month, day)."""

from __future__ import annotations

from typing import Final

DAYS_PER_ERA: Final = 146_097  # days in 400 years, which are whole weeks
_EPOCH: Final = 719_468  # days from 0000-03-01 to 1970-01-01


def to_days(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01; year 0 is before year 1.

    >>> to_days(1970, 1, 1), to_days(1, 1, 1), to_days(-1, 12, 31)
    (0, -719162, -719529)
    """
    shifted = year - (month <= 2)  # years begin in March here, so that the leap day is the last
    era, year_of_era = divmod(shifted, 400)
    day_of_year = (153 * ((month - 3) % 12) + 2) // 5 + day - 1
    day_of_era = year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year
    return era * DAYS_PER_ERA + day_of_era - _EPOCH


def from_days(days: int) -> tuple[int, int, int]:
    """Year, month and day.

    >>> from_days(-1), from_days(-719529)
    ((1969, 12, 31), (-1, 12, 31))
    """
    era, day_of_era = divmod(days + _EPOCH, DAYS_PER_ERA)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    march_month = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * march_month + 2) // 5 + 1
    month = march_month + 3 if march_month < 10 else march_month - 9
    return era * 400 + year_of_era + (month <= 2), month, day


def is_date(year: int, month: int, day: int) -> bool:
    """Whether there is such a day."""
    return 1 <= month <= 12 and 1 <= day <= days_in_month(year, month)


def days_in_month(year: int, month: int) -> int:
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def plus_months(days: int, months: int) -> int:
    """The same day so many months later, or the month's last where it has no such day."""
    year, month, day = from_days(days)
    total = year * 12 + month - 1 + months
    year, month = total // 12, total % 12 + 1
    return to_days(year, month, min(day, days_in_month(year, month)))
