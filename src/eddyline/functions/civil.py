"""The proleptic Gregorian calendar on whole days since 1970-01-01, for any year."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

Numbers: TypeAlias = np.ndarray[Any, np.dtype[Any]]

_MONTH_DAYS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_EPOCH_DAY: Final = 719_468  # days from 0000-03-01 to 1970-01-01


class Fields(NamedTuple):
    """Year, month (1 to 12) and day (1 to 31) of each of many days."""

    year: Numbers
    month: Numbers
    day: Numbers


def is_leap(year: int) -> bool:
    """Whether February has 29 days.

    >>> is_leap(2000), is_leap(1900), is_leap(0)
    (True, False, True)
    """
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def days_of(year: int, month: int, day: int) -> int | None:
    """The number of a day, or None if there is no such day.

    >>> days_of(1970, 1, 2), days_of(2021, 2, 29), days_of(-1, 3, 1)
    (1, None, -719834)
    """
    if not 1 <= month <= 12 or not 1 <= day <= _MONTH_DAYS[month - 1] + (month == 2 and is_leap(year)):
        return None
    return int(days_from(np.array([year]), np.array([month]), np.array([day]))[0])


def days_from(year: Numbers, month: Numbers, day: Numbers) -> Numbers:
    """Numbers of days that exist; counted in years that begin in March, so that the leap day is last."""
    year = year.astype(np.int64) - (month <= 2)
    era = year // 400
    year_of_era = year - era * 400
    day_of_year = (153 * (month + np.where(month > 2, -3, 9)) + 2) // 5 + day - 1
    leap_days = year_of_era // 4 - year_of_era // 100
    return np.asarray(era * 146_097 + year_of_era * 365 + leap_days + day_of_year - _EPOCH_DAY)


def fields_of(days: Numbers) -> Fields:
    """Year, month and day of day numbers.

    >>> [field.tolist() for field in fields_of(np.array([0, -1, 59]))]
    [[1970, 1969, 1970], [1, 12, 3], [1, 31, 1]]
    """
    shifted = days.astype(np.int64) + _EPOCH_DAY
    era = shifted // 146_097
    day_of_era = shifted - era * 146_097
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month_from_march = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month_from_march + 2) // 5 + 1
    month = month_from_march + np.where(month_from_march < 10, 3, -9)
    return Fields(year_of_era + era * 400 + (month <= 2), month, day)


def month_length(year: Numbers, month: Numbers) -> Numbers:
    """Number of days of months.

    >>> month_length(np.array([2020, 2021]), np.array([2, 2])).tolist()
    [29, 28]
    """
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    return np.asarray(np.asarray(_MONTH_DAYS)[month - 1] + (leap & (month == 2)))


def add_months(days: Numbers, months: Numbers) -> Numbers:
    """Days moved by months; a day beyond the end of the new month becomes its last.

    >>> str(np.datetime64(int(add_months(np.array([18_292]), np.array([1]))[0]), "D"))  # 2020-01-31
    '2020-02-29'
    """
    year, month, day = fields_of(days)
    total = year * 12 + (month - 1) + months
    year, month = total // 12, total % 12 + 1
    return days_from(year, month, np.minimum(day, month_length(year, month)))
