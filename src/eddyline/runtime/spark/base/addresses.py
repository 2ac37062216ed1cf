"""Where something listens: a port of this machine alone, or an address of it with a port."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

THIS_MACHINE: Final = "127.0.0.1"
LAST_PORT: Final = 65535
_ANY: Final = {"0.0.0.0": THIS_MACHINE, "::": "::1"}  # what a client on this machine asks instead


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """An address and a port; port 0 is any that is free.

    >>> [str(ListenAddress.of(given)) for given in (9108, "9108", "0.0.0.0:9108", "[::1]:9108")]
    ['127.0.0.1:9108', '127.0.0.1:9108', '0.0.0.0:9108', '[::1]:9108']
    """

    host: str
    port: int

    @staticmethod
    def of(given: int | str) -> ListenAddress:
        """A port alone, or `address:port`; a `ValueError` says what is wrong with it."""
        host, colon, port = str(given).strip().rpartition(":")
        if colon and not host:
            raise ValueError(f'"{given}" has no address in front of its port; write "0.0.0.0:9108" for all')
        if not (port.isascii() and port.isdigit() and int(port) <= LAST_PORT):
            raise ValueError(f'"{given}" is neither a port (0 to {LAST_PORT}) nor an address with a port')
        bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
        if ":" in bare and bare == host:
            raise ValueError(f'"{given}": write an address of IPv6 in brackets, "[::1]:9108"')
        return ListenAddress(bare or THIS_MACHINE, int(port))

    def url(self, path: str) -> str:
        """Where a path of it is found from this machine.

        >>> ListenAddress.of("0.0.0.0:9108").url("/healthz")
        'http://127.0.0.1:9108/healthz'
        """
        return f"http://{ListenAddress(_ANY.get(self.host, self.host), self.port)}{path}"

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"
