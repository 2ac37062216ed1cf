"""Addresses that are allowed, and tricks that must not get past."""

from __future__ import annotations

import pytest

from eddyline.delivery.addresses import AddressError, Allowed, read_address

ALLOWED = Allowed.read(
    ["https://hooks.example.com/alerts", "http://127.0.0.1:8080/", "https://[2001:db8::1]/x"]
)


@pytest.mark.parametrize(
    "text",
    [
        "https://hooks.example.com/alerts",
        "https://hooks.example.com/alerts/",
        "https://hooks.example.com/alerts/a/b?c=%2e%2e",
        "https://HOOKS.example.com:443/alerts/a",
        "http://127.0.0.1:8080",
        "http://127.0.0.1:8080/anything",
        "https://[2001:db8::1]/x/y",
    ],
)
def test_covered(text: str) -> None:
    assert ALLOWED.covers(read_address(text))


@pytest.mark.parametrize(
    "text",
    [
        "https://hooks.example.com/",
        "https://hooks.example.com/alertsx",
        "https://hooks.example.com/ALERTS",
        "http://hooks.example.com/alerts",
        "https://hooks.example.com:8443/alerts",
        "https://hooks.example.com.evil.test/alerts",
        "https://evil.test/hooks.example.com/alerts",
        "https://evil.test/?https://hooks.example.com/alerts",
        "http://127.0.0.1/",
        "http://127.0.0.1:8081/",
    ],
)
def test_not_covered(text: str) -> None:
    assert not ALLOWED.covers(read_address(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hooks.example.com/alerts",
        "ftp://hooks.example.com/alerts",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https:///alerts",
        "https://hooks.example.com@evil.test/alerts",
        "https://hooks.example.com:pw@evil.test/alerts",
        "https://evil.test\\@hooks.example.com/alerts",
        "https://hooks.example.com\\.evil.test/alerts",
        "https://hooks.example.com/alerts/../admin",
        "https://hooks.example.com/alerts/./x",
        "https://hooks.example.com/alerts/%2e%2e/admin",
        "https://hooks.example.com/alerts/%2E%2e/admin",
        "https://hooks.example.com/alerts%2f..%2fadmin",
        "https://hooks.example.com/alerts/%252e%252e/admin",
        "https://hooks.example.com/alerts/..%5cadmin",
        "https://hooks.example.com//alerts",
        "https://hooks.example.com/alerts#x",
        "https://hooks.example.com/alerts#",
        "https://hooks.example.com./alerts",
        "https://hooks.example.com:/alerts",
        "https://hooks.example.com:0/alerts",
        "https://hooks.example.com:99999/alerts",
        "https://hooks.example.com:4a/alerts",
        "https://hooks.exаmple.com/alerts",
        "https://hooks.example.com/alerts\r\nX-Evil: 1",
        "https://hooks.example.com/alerts HTTP/1.1",
        " https://hooks.example.com/alerts",
        "https://hooks.example.com\t/alerts",
        "https://hooks.example.com/%zz",
        "https://[::1%25eth0]/",
        "https://exa_mple..com/",
        "https://hooks.example.com/" + "a" * 3000,
    ],
)
def test_not_accepted(text: str) -> None:
    with pytest.raises(AddressError) as refusal:
        read_address(text)
    assert not text or text not in str(refusal.value)


def test_prefixes_with_a_query_are_refused() -> None:
    with pytest.raises(AddressError, match="question mark"):
        Allowed.read(["https://example.com/a?b=1"])


def test_parts() -> None:
    address = read_address("https://[2001:db8::1]:8443/a?b=1&c=2")
    assert address.target == "/a?b=1&c=2"
    assert address.place == "https://[2001:db8::1]:8443"
    assert read_address("http://example.com").target == "/"
