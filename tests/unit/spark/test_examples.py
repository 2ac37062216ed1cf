"""The examples for supervisors: settings that can be read, and times that fit together."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from eddyline.cli.run.stopping import AT_ONCE
from eddyline.runtime.spark.base.settings import STOP_WITHIN, read_settings

EXAMPLES = Path(__file__).parents[3] / "examples"


def test_the_pod_has_settings_probes_and_time_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (EXAMPLES / "kubernetes" / "pipeline.yaml").read_text()
    found = re.search(r"  market\.toml: \|\n(.*?)\n---", text, re.DOTALL)
    assert found is not None
    monkeypatch.setenv("REGISTRY", "postgresql://somewhere/market")
    (tmp_path / "market.toml").write_text(textwrap.dedent(found[1]))
    settings = read_settings(tmp_path / "market.toml")
    assert settings.prometheus == "0.0.0.0:9108" and "containerPort: 9108" in text
    assert _number(r"terminationGracePeriodSeconds: (\d+)", text) > settings.stop_within + AT_ONCE
    probes = dict(re.findall(r"(\w+)Probe:.*\n\s+httpGet: \{path: (/\w+)", text))
    assert probes == {"startup": "/healthz", "liveness": "/healthz", "readiness": "/readyz"}
    assert "replicas: 1 " in text and "type: Recreate" in text


def test_the_unit_stops_eddyline_alone_and_in_time() -> None:
    text = (EXAMPLES / "systemd" / "eddyline-market.service").read_text()
    assert _number(r"TimeoutStopSec=(\d+)", text) > STOP_WITHIN + AT_ONCE
    assert "\nKillMode=mixed\n" in text and "\nRestartPreventExitStatus=2\n" in text


def _number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    assert found is not None
    return int(found[1])
