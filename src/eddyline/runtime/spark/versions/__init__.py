"""What a running pipeline keeps on disk: whose folder it is, compiled versions, which version serves which batch."""

from eddyline.runtime.spark.versions.deliverables import Deliverables, open_deliverables
from eddyline.runtime.spark.versions.log import VersionLog
from eddyline.runtime.spark.versions.pin_file import Pin, Served, SetAside
from eddyline.runtime.spark.versions.state import StateFolder
from eddyline.runtime.spark.versions.versions import Versions

__all__ = [
    "Deliverables",
    "Pin",
    "Served",
    "SetAside",
    "StateFolder",
    "VersionLog",
    "Versions",
    "open_deliverables",
]
