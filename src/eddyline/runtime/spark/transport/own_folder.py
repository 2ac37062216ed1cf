"""A folder of this user's own among the machine's temporary files, for what can be made again at any time."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from eddyline.errors import SetupError


def own_folder(name: str) -> Path:
    """The folder, made if it is not there; refused if somebody else could write into it."""
    user = os.getuid()
    root = Path(tempfile.gettempdir()) / f"eddyline-{user}"
    root.mkdir(mode=0o700, exist_ok=True)
    found = root.stat(follow_symlinks=False)
    if root.is_symlink() or found.st_uid != user or found.st_mode & 0o022:
        raise SetupError(
            f"the folder {root} can be changed by other users",
            hint="remove it, or set TMPDIR to a folder of your own",
        )
    folder = root / name
    folder.mkdir(exist_ok=True)
    return folder
