"""Back-tests over files: the history read here, in this process."""

from eddyline.runtime.embedded.backtest.run import History, run

__all__ = ["History", "run"]
