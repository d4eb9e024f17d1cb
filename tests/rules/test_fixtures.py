"""Every rule has a faulty capture that it names, and the nearest legal neighbour that it leaves alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench.findings import Finding
from workbench.rules import all_rules, check
from workbench.trace import load

FIXTURES = Path(__file__).parent / "fixtures"
FOLDERS = sorted(p.name for p in FIXTURES.iterdir() if p.is_dir())
KEYS = ("call_ids", "approval_ids", "other_ids")


def findings_of(folder: str, stem: str) -> list[Finding]:
    """All files `stem*` of a folder are one investigation, as they would be on a command line."""
    files = sorted(str(p) for p in (FIXTURES / folder).glob(f"{stem}*"))
    assert files, f"{folder} has no {stem} capture"
    trace = load(*files)
    assert not trace.records.problems, [p.reason for p in trace.records.problems]
    return list(check(trace))


def plain(finding: Finding) -> dict[str, object]:
    found = finding.to_dict()
    return {"rule": found["rule"], "severity": found["severity"], **{key: found[key] for key in KEYS}}


def in_order(items: list[dict[str, object]]) -> list[dict[str, object]]:
    return sorted(items, key=lambda item: json.dumps(item, sort_keys=True))


@pytest.mark.parametrize("rule", sorted(all_rules()))
def test_every_rule_has_a_fixture(rule):
    assert rule in FOLDERS


@pytest.mark.parametrize("folder", FOLDERS)
def test_folder_belongs_to_a_rule(folder):
    assert folder in all_rules()


@pytest.mark.parametrize("folder", FOLDERS)
def test_faulty(folder):
    """Own findings of any severity and everybody's errors and warnings are exactly those expected."""
    expected = json.loads((FIXTURES / folder / "expected.json").read_text())
    found = [plain(f) for f in findings_of(folder, "faulty") if f.rule == folder or f.severity != "info"]
    assert any(item["rule"] == folder for item in expected)
    assert in_order(found) == in_order(expected)


@pytest.mark.parametrize("folder", FOLDERS)
def test_clean(folder):
    loud = [plain(f) for f in findings_of(folder, "clean") if f.rule == folder or f.severity != "info"]
    assert loud == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_findings_say_where_and_what_to_do(folder):
    for finding in findings_of(folder, "faulty"):
        assert finding.evidence
        assert finding.message.strip()
        assert finding.help.strip()
        assert finding.place in {"stream", "snapshot", "request", "payload", "history", "telemetry"}
