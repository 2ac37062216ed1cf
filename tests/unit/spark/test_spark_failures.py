"""What errors of Spark say in short, and which of them mean that workers lack the package."""

from __future__ import annotations

import pytest

from eddyline.runtime.spark.base.failures import in_words, missing_package
from eddyline.runtime.spark.base.secrets import Secret

STREAM = """[STREAM_FAILED] Query [id = 1bc0, runId = 5e9e] terminated with exception: Timed out waiting for a node SQLSTATE: XXKST
=== Streaming Query ===
Identifier: eddyline market quotes e4aabc66 [id = 1bc0, runId = 5e9e]
"""
JAVA = """An error occurred while calling o77.save.
: org.apache.spark.SparkException: Job aborted
\tat org.apache.spark.Foo(Foo.scala:1)
Caused by: java.io.IOException: disk
\tat x.y(Z.java:2)
Caused by: java.net.SocketException: Broken pipe
\t... 3 more
"""
TASK = """An error occurred while calling o1049.save.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 12.0 failed 4 times, most recent \
failure: Lost task 0.3 in stage 12.0 (TID 18) (localhost executor driver): \
org.apache.kafka.common.errors.TimeoutException: Expiring 8 record(s)

Driver stacktrace:
\tat x.y(Z.java:2)
Caused by: org.apache.kafka.common.errors.TimeoutException: Expiring 8 record(s)
"""
WORKER = """An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "/x/matcher.py", line 3, in match
    raise KeyError("a") from None
KeyError: 'a'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/x/worker.py", line 23, in rows
    return run(batches)
           ^^^^^^^^^^^^
ValueError: two lines:
that is all
\tat org.apache.spark.Foo(Foo.scala:1)
"""
LACKING = """An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "/x/carrying.py", line 53, in run
    raise ImportError(...)
ImportError: the Python of the Spark workers (/usr/bin/python3) cannot import eddyline: No module named 'eddyline'
hint: install it
"""
DAEMON = """An error occurred while calling o80.collectToPython.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 0.0 failed 1 times:
Error from python worker:
  /usr/bin/python3: Error while finding module specification for 'eddyline.runtime.spark.daemon' \
(ModuleNotFoundError: No module named 'eddyline')
PYTHONPATH was:
  /x/pyspark.zip
org.apache.spark.SparkException: EOFException occurred while reading the port number
\tat org.apache.spark.Foo(Foo.scala:1)
"""
CSV = """An error occurred while calling o97.collectToPython.
: org.apache.spark.SparkException: [FAILED_READ_FILE.NO_HINT] Encountered error while reading file file:///in/a.csv.  \
SQLSTATE: KD001
\tat org.apache.spark.Foo(Foo.scala:1)
Caused by: org.apache.spark.SparkIllegalArgumentException: CSV header does not conform to the schema.
 Header: id, venue
 Schema: id, symbol
Expected: symbol but found: venue
CSV file: file:///in/a.csv
\tat org.apache.spark.Foo(Foo.scala:1)
\t... 22 more
"""
CSV_WORDS = (
    "org.apache.spark.SparkException: [FAILED_READ_FILE.NO_HINT] Encountered error while reading file "
    "file:///in/a.csv. Caused by: org.apache.spark.SparkIllegalArgumentException: CSV header does not conform to the "
    "schema. Header: id, venue Schema: id, symbol Expected: symbol but found: venue CSV file: file:///in/a.csv"
)
FOREACH = f"""[STREAM_FAILED] Query [id = 1bc0, runId = 5e9e] terminated with exception: Reason: Traceback (most recent call last):
  File "/x/clientserver.py", line 644, in _call_proxy
    return_value = getattr(self.pool[obj_id], method)(*params)
py4j.protocol.Py4JJavaError: {CSV}"""
OTHER = WORKER.replace(
    "ValueError: two lines:", "ImportError: the Python has another eddyline than the driver: x"
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "RuntimeError"),
        (STREAM, "Timed out waiting for a node"),
        (
            JAVA,
            "org.apache.spark.SparkException: Job aborted Caused by: java.net.SocketException: Broken pipe",
        ),
        (TASK, "org.apache.kafka.common.errors.TimeoutException: Expiring 8 record(s)"),
        (WORKER, "ValueError: two lines: that is all"),
        (CSV, CSV_WORDS),
        (FOREACH, CSV_WORDS),
        ("Traceback (most recent call last):\n  File", "RuntimeError"),
    ],
)
def test_in_words(text: str, words: str) -> None:
    assert in_words(RuntimeError(text)) == words
    assert missing_package(RuntimeError(text)) is None


def test_secrets_go_first() -> None:
    """A secret of several lines, and one where the text is cut, are gone before lines are chosen and cut."""
    secret = Secret("one\n  two hunter2")
    assert (
        in_words(RuntimeError(f"login as {secret.reveal()} failed"), secrets=[secret])
        == "login as *** failed"
    )
    cut = in_words(RuntimeError("x" * 95 + "hunter2"), 100, [Secret("hunter2")])
    assert cut == "x" * 95 + "***"


def test_workers_without_the_package() -> None:
    for text in (LACKING, DAEMON):
        found = missing_package(RuntimeError(text))
        assert found is not None and found.hint is not None
        assert found.message.startswith('the workers of Spark have no package "eddyline": ')
        assert "/usr/bin/python3" in found.message and "hint" not in found.message
        assert "--py-files" in found.hint
    other = missing_package(RuntimeError(OTHER))
    assert other is not None and "another eddyline" in other.message
