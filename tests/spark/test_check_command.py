"""`eddyline query check --runtime spark` asks Spark about what only it knows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from typer.testing import CliRunner

from eddyline.cli import app

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUERIES = """
-- name: good
SELECT * FROM cards WHERE luhn_check(number) AND exists(tags, tag -> tag LIKE 'x%')
;
-- name: bad
SELECT * FROM cards WHERE levenshtein(number, tags) > 1
;
-- name: ours
SELECT * FROM cards WHERE number = '1'
"""


def test_check(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "rules.sql"
    file.write_text(QUERIES)
    schema = "cards=number STRING, tags ARRAY<STRING>"
    command = ["query", "check", str(file), "--schema", schema, "--runtime", "spark", "--json"]
    result = CliRunner().invoke(app, command)
    findings = {finding["query"]: finding for finding in json.loads(result.stdout)["findings"]}
    assert result.exit_code == 1
    assert sorted(findings) == ["bad", "good"]
    assert findings["good"]["severity"] == "note"
    assert findings["good"]["message"].startswith("runs on Spark only: luhn_check, exists")
    assert findings["bad"]["severity"] == "error" and "Spark refuses it" in findings["bad"]["message"]
    assert spark.range(1).count() == 1, "the session goes on"
