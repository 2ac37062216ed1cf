"""Addresses to storages: paths and file: addresses are this machine's, all others are reached through Spark."""

from __future__ import annotations

from pathlib import Path

from eddyline.runtime.spark.base.hadoop_storage import HadoopStorage
from eddyline.runtime.spark.base.remote_folders import local_path
from eddyline.storage.local import LocalStorage
from eddyline.storage.storage import Storage


def open_storage(address: str | Path) -> Storage:
    """The files of a folder.

    >>> open_storage("file:///shared/state").address, open_storage("s3a://bucket/state/").address
    ('/shared/state', 's3a://bucket/state')
    """
    here = local_path(str(address))
    return HadoopStorage(str(address)) if here is None else LocalStorage(here.absolute())
