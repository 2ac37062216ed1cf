"""`eddyline run`: a pipeline from its settings, watched in the terminal."""

from eddyline.cli.run.command import run as run
