"""The live notebook runs by papermill, and what it tells is what happened."""

from __future__ import annotations

import json

import papermill
import pytest

import workbench as wb

pytestmark = pytest.mark.slow


def test_it_runs_and_tells_the_four_answers(root, tmp_path):
    target, folder = tmp_path / "live.ipynb", tmp_path / "recording"
    papermill.execute_notebook(
        root / "notebooks/live.ipynb",
        target,
        {"folder": str(folder)},
        progress_bar=False,
        kernel_name="python3",
    )
    outputs = {
        cell["id"]: "".join(text for out in cell["outputs"] for text in out.get("text", ()))
        for cell in json.loads(target.read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == "code"
    }
    assert "deployed: [('shop', 8)]\n" in outputs["reject"]
    assert "deployed: [('shop', 8), ('search', 9)]\n" in outputs["edit"]
    assert "APPROVAL_RESUME_REQUIRED" in outputs["else"]
    trace = wb.load(folder)
    decisions = trace.approvals.set_index("thread_id").decision.to_dict()
    assert decisions["yes"] == "approved"
    assert decisions["no"] == "rejected"
    assert decisions["edit"] == "edited"
    assert not len(trace.problems)
    assert {"agent-recording", "agui-devtools"} == set(trace.sources.format)


def test_it_is_committed_without_outputs(root):
    for path in (root / "notebooks").glob("*.ipynb"):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            assert not cell.get("outputs"), path.name
