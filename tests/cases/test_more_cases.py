"""More cases, one per line of `tests/data/more_cases.jsonl` and `telemetry_cases.jsonl`, judged for precision as well.

A line has the files of one capture, `must` (as in test_cases, with the severity), `must_not` (what would
be wrong to report beside it) and `may`; every other error or warning is a false alarm.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import workbench as wb

DATA = Path(__file__).parents[1] / "data"
CASES = [
    json.loads(line)
    for name in ("more_cases.jsonl", "telemetry_cases.jsonl")
    for line in (DATA / name).read_text(encoding="utf-8").splitlines()
]
SEVERITY = {"E": "error", "W": "warning", "I": "info"}


def _ids(finding: dict[str, Any]) -> set[str]:
    return {i for key in ("call_ids", "approval_ids", "other_ids") for i in finding[key]}


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_case(case: dict[str, Any], tmp_path: Path) -> None:
    paths = []
    for name, text in case["files"].items():
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        paths.append(str(path))
    found = wb.check(wb.load(*paths)).to_dict()["findings"]
    expected = set(case.get("may", ()))
    for entry in case["must"]:
        hits = [f for f in found if f["rule"] in entry["any_of"]]
        if entry["call_ids"]:
            hits = [f for f in hits if _ids(f) & set(entry["call_ids"])]
        assert hits, f"none of {entry['any_of']} for {entry['call_ids']}: {case['about']}"
        if entry.get("severity"):
            assert {f["severity"] for f in hits} & {SEVERITY[s] for s in entry["severity"]}
        expected.update(entry["any_of"])
    levels = {"error"} if case.get("clean_level") == "error" else {"error", "warning"}
    loud = [f for f in found if f["severity"] in levels]
    assert not [f["rule"] for f in loud if f["rule"] in case.get("must_not", ())]
    assert not [f["message"] for f in loud if f["rule"] not in expected]
