"""A page as a browser would read it: are its tags whole, and what does it refer to?"""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "path", "rect", "circle"}


class Page(HTMLParser):
    """Checks that tags nest, and remembers them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._open.append(tag)
        for name, value in attrs:
            assert not name.startswith("on"), "no handlers inside attributes"
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "src"):
                self.links.append(value or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in VOID
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag


def check_that_it_stands_alone(text: str) -> Page:
    """Nothing runs but the one script, nothing is loaded, and links lead to places in the page."""
    page = Page(text)
    assert page.tags.count("script") == 1 and page.tags.count("style") == 1 and "img" not in page.tags
    assert "\x00" not in text and "\x1b" not in text
    assert len(page.ids) == len(set(page.ids))
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)
    assert "http://" not in text and "https://" not in text and "url(" not in text and "@import" not in text
    assert "style=" not in text, "the policy lets only the one style in"
    assert "default-src &#x27;none&#x27;" in text
    return page
