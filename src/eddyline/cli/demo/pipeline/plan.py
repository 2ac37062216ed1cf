"""What a demo of the pipeline is asked for, where its files are, and its settings as a file that can be run again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROWS: Final = 100_000  # in a file: what a batch costs by itself is little beside them
FILES_A_SECOND: Final = 1

SETTINGS: Final = """\
# The demo's pipeline. Run it again, and put files into incoming: eddyline run {file}
[pipeline]
name = "market"
registry = "registry.db"
checkpoint = "state"
trigger = "0 seconds"

[session]
"spark.sql.shuffle.partitions" = 1
"spark.default.parallelism" = 1
"spark.driver.memory" = "1g"

[[source]]
name = "quotes"
format = "json"
path = "incoming"
options = {{ maxFilesPerTrigger = 1 }}

[[sink]]
name = "results"                      # takes what goes nowhere else
format = "parquet"
path = "results"
columns = "payload"
default = true

[[sink]]
name = "newsroom"                     # queries about news name it as their destination
format = "json"
path = "newsroom"
columns = "payload"
"""


@dataclass(frozen=True, slots=True)
class PipelineDemoPlan:
    """What is asked for."""

    seconds: int
    queries: int
    seed: int
    folder: Path
    rows: int = ROWS

    @property
    def files(self) -> int:
        """How many files come in."""
        return self.seconds * FILES_A_SECOND

    @property
    def registry(self) -> Path:
        return self.folder / "registry.db"

    @property
    def incoming(self) -> Path:
        return self.folder / "incoming"

    @property
    def settings(self) -> Path:
        return self.folder / "pipeline.toml"

    @property
    def metrics(self) -> Path:
        return self.folder / "state" / "metrics.jsonl"

    def write_settings(self) -> None:
        """Make the folders, and the file that `eddyline run` takes."""
        self.incoming.mkdir(parents=True)
        self.settings.write_text(SETTINGS.format(file=self.settings), encoding="utf-8")
