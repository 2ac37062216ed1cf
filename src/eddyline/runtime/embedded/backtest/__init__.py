"""Back-tests: what queries would have matched in a history, told as values that reports are made of."""

from eddyline.runtime.embedded.backtest.prepare import prepare
from eddyline.runtime.embedded.backtest.run import History, Settings, run
from eddyline.runtime.embedded.backtest.values import Backtest

__all__ = ["Backtest", "History", "Settings", "prepare", "run"]
