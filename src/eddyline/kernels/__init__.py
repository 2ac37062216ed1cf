"""The only numba: arrays in, arrays out, nothing allocated inside.

Compiled code is cached on disk under a folder named by a hash of this folder's sources: numba's own cache does not
notice a changed callee in another module, and a stale kernel gives wrong results.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

import numba


def _cache_folder() -> Path:
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "eddyline"
    folder = root / f"kernels-{digest.hexdigest()[:16]}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:  # a read-only home still runs
        return _own_temporary_folder() / folder.name


def _own_temporary_folder() -> Path:
    """A folder that nobody else can write to: what is cached is run when it is loaded."""
    root = Path(tempfile.gettempdir()) / f"eddyline-{os.getuid()}"
    root.mkdir(mode=0o700, exist_ok=True)
    found = root.stat(follow_symlinks=False)
    is_own = not root.is_symlink() and found.st_uid == os.getuid() and not found.st_mode & 0o022
    return root if is_own else Path(tempfile.mkdtemp(prefix="eddyline-"))


numba.config.CACHE_DIR = str(_cache_folder())


def cache_folder() -> Path:
    """Where compiled code of these kernels lies."""
    return Path(numba.config.CACHE_DIR)
