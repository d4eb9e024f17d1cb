"""The bundled cases: each wanted finding is reported, and clean captures give no error and no warning.

A case is a folder with `input*` and `expect.json`: for each entry of `must`, one rule of `any_of` has
to be reported (for one of `call_ids`, if any are named).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import workbench as wb

CASES = Path(__file__).parents[1] / "data" / "cases"


def _cases() -> list[Path]:
    return sorted(path.parent for path in CASES.glob("*/expect.json"))


def _ids(finding: dict[str, Any]) -> set[str]:
    return {i for key in ("call_ids", "approval_ids", "other_ids") for i in finding[key]}


@pytest.mark.parametrize("folder", _cases(), ids=lambda folder: folder.name)
def test_case(folder: Path) -> None:
    expect = json.loads((folder / "expect.json").read_text(encoding="utf-8"))
    trace = wb.load(*sorted(str(path) for path in folder.glob("input*")))
    found = wb.check(trace).to_dict()["findings"]
    for entry in expect["must"]:
        hits = [f for f in found if f["rule"] in entry["any_of"]]
        if entry["call_ids"]:
            hits = [f for f in hits if _ids(f) & set(entry["call_ids"])]
        assert hits, f"none of {entry['any_of']} for {entry['call_ids']}: {expect['about']}"
        assert all(f["evidence"] for f in hits)
    if expect.get("clean"):
        levels = {"error"} if expect.get("clean_level") == "error" else {"error", "warning"}
        assert not [f["message"] for f in found if f["severity"] in levels]


def test_there_are_cases() -> None:
    assert len(_cases()) >= 115
