"""The console script `eddyline`: what importing costs is kept low before anything is imported.

It stands outside of the package because importing anything of that imports all of it. Measured: `eddyline query show` in a
registry of 100,000 queries takes 2.2 s by way of `eddyline.cli`, and 1.9 s by this one.
"""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run one command."""
    gc.disable()  # modules make many objects that stay
    _hide_pandas_from_pyarrow()
    from eddyline.cli import main as run

    gc.enable()
    run()


class _NoPandas:
    """An importer in front of all others, for which pandas does not exist."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name=name)


def _hide_pandas_from_pyarrow() -> None:
    """Keep pyarrow from importing pandas where both are installed, which it does at the first array that is made.

    It looks only once, and later where somebody asks for pandas by name. Everybody else finds pandas as ever.
    """
    sys.meta_path.insert(0, _NoPandas)
    try:
        import pyarrow as pa

        pa.array([0])
    finally:
        sys.meta_path.remove(_NoPandas)


if __name__ == "__main__":
    main()
