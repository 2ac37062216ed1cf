"""What a failed delivery is called."""

from __future__ import annotations

import errno

import pytest

from eddyline.errors import DeliveryError, FullDiskError
from eddyline.runtime.spark.base.secrets import Secret
from eddyline.runtime.spark.sinks.base import RowsRefusedError, delivering
from tests.spark.sink_rows import batch_of, settings_of

SETTINGS = settings_of("jdbc", options={"password": Secret("hunter2")})
JAVA = """An error occurred while calling o77.save.
: org.apache.spark.SparkException: Job aborted
\tat org.apache.spark.Foo(Foo.scala:1)
Caused by: java.sql.SQLException: login as ann:hunter2 failed
\tat x.y(Z.java:2)
\t... 3 more
"""


def failed(error: BaseException) -> DeliveryError:
    with pytest.raises(DeliveryError) as found, delivering(SETTINGS, batch_of(7)):
        raise error
    return found.value


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        OSError(errno.EDQUOT, "quota"),
        RuntimeError("Caused by: java.io.IOException: No space left on device\n\tat x"),
    ],
)
def test_a_full_disk(error: Exception) -> None:
    found = failed(error)
    assert isinstance(found, FullDiskError)
    assert 'no room left for batch 7 of source "quotes" in sink "out"' in found.message


def test_javas_stack_and_secrets_are_left_out() -> None:
    found = failed(RuntimeError(JAVA))
    assert not isinstance(found, FullDiskError)
    assert found.message == (
        'sink "out" did not take batch 7 of source "quotes": '
        "org.apache.spark.SparkException: Job aborted "
        "Caused by: java.sql.SQLException: login as ann:*** failed"
    )
    assert found.__suppress_context__


def test_what_has_a_name_keeps_it() -> None:
    refusal = RowsRefusedError("no", (), 3)
    with pytest.raises(RowsRefusedError) as found, delivering(SETTINGS, batch_of()):
        raise refusal
    assert found.value is refusal
    assert failed(DeliveryError("as it was")).message == "as it was"


def test_long_messages_are_cut() -> None:
    assert len(failed(RuntimeError("x" * 5000)).message) < 1200
