"""A back-test as a page: one HTML file that needs nothing else, readable in light and dark, safe to open."""

from eddyline.backtest.report.page import to_html

__all__ = ["to_html"]
