"""Redundancies as a page: one HTML file that needs nothing else, readable in light and dark, safe to open."""

from eddyline.redundancy.page.page import to_html

__all__ = ["to_html"]
