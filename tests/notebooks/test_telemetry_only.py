"""The notebook about telemetry alone runs from top to bottom, on the bundled export and on one that is healthy."""

from __future__ import annotations

import json
from pathlib import Path

import papermill
import pytest

pytestmark = pytest.mark.slow
DATA = Path(__file__).resolve().parents[1] / "data" / "telemetry"


def told(root: Path, target: Path, **parameters: str) -> dict[str, dict[str, str]]:
    """The last output of every code cell by its id."""
    papermill.execute_notebook(
        root / "notebooks" / "telemetry_only.ipynb", target, parameters, progress_bar=False, cwd=root
    )
    book = json.loads(target.read_text(encoding="utf-8"))
    return {
        cell["id"]: {kind: "".join(text) for kind, text in cell["outputs"][-1].get("data", {}).items()}
        for cell in book["cells"]
        if cell["cell_type"] == "code" and cell["outputs"]
    }


def test_the_bundled_export(root, tmp_path):
    cells = told(root, tmp_path / "out.ipynb")
    assert "3 errors" in cells["load"]["text/plain"]
    assert "execute_tool" in cells["spans"]["text/plain"]
    assert "approval-response" in cells["parts"]["text/plain"]
    assert "approved in run 2 → no result in the capture" in cells["happened"]["text/plain"]
    assert "approval-not-executed" in cells["findings"]["text/html"]
    for view in ("ladder", "timeline"):
        assert "data:image/svg+xml;base64," in cells[view]["text/html"]


def test_an_export_without_content(root, tmp_path):
    cells = told(root, tmp_path / "out.ipynb", sources=str(DATA / "af_nosens" / "all.otlp.jsonl"))
    assert "span-content-missing" in cells["findings"]["text/html"]
    assert "data:image/svg+xml;base64," in cells["ladder"]["text/html"]
