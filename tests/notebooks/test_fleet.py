"""The notebook about many captures runs from top to bottom, and finds what was put in."""

from __future__ import annotations

import json
from pathlib import Path

import papermill
import pytest

pytestmark = pytest.mark.slow


def test_it_finds_the_release_the_tools_and_one_conversation(root: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.ipynb"
    papermill.execute_notebook(
        root / "notebooks" / "fleet.ipynb", target, {"number": 160, "jobs": 2}, progress_bar=False, cwd=root
    )
    book = json.loads(target.read_text(encoding="utf-8"))
    told = {
        cell["id"]: {
            kind: "".join(text)
            for out in cell["outputs"]
            for kind, text in (out.get("data") or {"text": out["text"]}).items()
        }
        for cell in book["cells"]
        if cell["cell_type"] == "code" and cell["outputs"]
    }
    assert "Index of 160 captures" in told["index"]["text/plain"]
    assert "approval-not-executed" in told["what"]["text/plain"]
    release = [line.split() for line in told["since"]["text/plain"].splitlines() if line.startswith("2.")]
    assert [row[0] for row in release if row[2] != "0"] == ["2.4.1"]
    assert "data:image/svg+xml;base64," in told["days"]["text/html"]
    assert "data:image/svg+xml;base64," in told["ladder"]["text/html"]
    assert "0 differ" in told["truth"]["text"]
