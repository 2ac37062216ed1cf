"""Functions arrive in a Python that lacks the package, or finds no home, and say so or run."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

from eddyline import QuerySet, Stream
from eddyline.runtime.spark.dataframe.worker import MatchWork, matching_rows, query_lists
from eddyline.runtime.spark.transport.carrying import carried_column, carried_rows
from eddyline.runtime.spark.transport.shipping import ship

cloudpickle = pytest.importorskip("pyspark.cloudpickle", reason="the extra 'spark' is not installed")

HIDE = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "eddyline":
            raise ModuleNotFoundError("No module named 'eddyline'", name="eddyline")
sys.meta_path.insert(0, Hidden())
"""
RUN = """
import pickle, sys
import pyarrow as pa
function = pickle.load(open(sys.argv[1], "rb"))
print([batch.to_pylist() for batch in function(iter([pa.record_batch({"price": [1.0, 20.0]})]))])
"""


def arrive(
    function: object, folder: Path, *, hide: bool = False, **environment: str
) -> subprocess.CompletedProcess[str]:
    (folder / "function").write_bytes(cloudpickle.dumps(function))
    return subprocess.run(
        [sys.executable, "-c", (HIDE if hide else "") + RUN, str(folder / "function")],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture
def work() -> MatchWork:
    stream = Stream("quotes", pa.schema([("price", pa.float64())]))
    queries = QuerySet.build({"cheap": "SELECT * FROM quotes WHERE price < 10"}, streams=[stream])
    return MatchWork(
        ship(queries, local=False), "quotes", ("price",), "id", explode=False, keep_unmatched=False
    )


def test_a_worker_without_the_package(tmp_path: Path, work: MatchWork) -> None:
    run = arrive(carried_rows(partial(matching_rows, work, (0,))), tmp_path, hide=True)
    assert run.returncode != 0
    assert f"the Python of the Spark workers ({sys.executable}) cannot import eddyline" in run.stderr
    assert "hint: install there the eddyline that the driver has" in run.stderr


def test_a_worker_with_another_version(tmp_path: Path) -> None:
    run = arrive(carried_rows(_Gone()), tmp_path)
    assert run.returncode != 0
    assert "has another eddyline than the driver" in run.stderr


class _Gone:
    """Something that the worker's package does not have."""

    def __reduce__(self) -> tuple[object, ...]:
        return _missing, ()

    def __call__(self, batches: object) -> object:
        return batches


def _missing() -> object:
    raise AttributeError("nothing of this name")


@pytest.mark.slow
def test_a_worker_that_cannot_write_into_its_home(tmp_path: Path, work: MatchWork) -> None:
    """Compiled code is kept among the temporary files then; /proc takes no files, not even from root."""
    function = carried_rows(partial(matching_rows, work, (0,)))
    run = arrive(function, tmp_path, HOME="/proc", XDG_CACHE_HOME="", TMPDIR=str(tmp_path))
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "[[{'price': 1.0, 'queries': ['cheap']}]]"
    assert list(tmp_path.glob("eddyline-*/kernels-*"))


def test_one_column_and_several(work: MatchWork) -> None:
    column = pa.array([1.0, 20.0])
    one = carried_column(partial(query_lists, work), 1)
    assert [lists.to_pylist() for lists in one(iter([column]))] == [[["cheap"], []]]
    several = carried_column(partial(query_lists, work), 2)
    assert [lists.to_pylist() for lists in several(iter([(column, column)]))] == [[["cheap"], []]]
