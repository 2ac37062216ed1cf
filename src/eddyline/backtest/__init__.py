"""Back-tests: what queries would have matched in a history, told as values that reports are made of.

A runtime reads the history and collects; everything else is the same for all of them.
"""

from eddyline.backtest.prepare import prepare
from eddyline.backtest.settings import Settings
from eddyline.backtest.values import Backtest

__all__ = ["Backtest", "Settings", "prepare"]
