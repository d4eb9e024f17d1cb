"""The notebook about histories runs from top to bottom: on the bundled capture, on a payload, and where nothing is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import papermill
import pytest

from workbench.report.run import run

pytestmark = pytest.mark.slow
PROVIDERS = (
    "OpenAI Responses",
    "OpenAI Chat Completions",
    "Anthropic Messages",
    "Gemini",
    "Ollama",
    "Mistral",
    "Bedrock",
)


def told(root: Path, target: Path, **parameters: Any) -> dict[str, dict[str, str]]:
    """The last output of every code cell by its id."""
    papermill.execute_notebook(
        root / "notebooks" / "history.ipynb", target, parameters, progress_bar=False, cwd=root
    )
    book = json.loads(target.read_text(encoding="utf-8"))
    return {
        cell["id"]: {kind: "".join(text) for kind, text in cell["outputs"][-1].get("data", {}).items()}
        for cell in book["cells"]
        if cell["cell_type"] == "code" and cell["outputs"]
    }


def test_the_bundled_capture(root, tmp_path):
    cells = told(root, tmp_path / "out.ipynb")
    verdicts = cells["verdicts"]["text/plain"]
    assert all(name in verdicts for name in PROVIDERS)
    assert "R15, R17, R19" in verdicts
    assert "R36, R38" in verdicts
    assert "messages[1].toolCalls[1]" in verdicts
    assert "Order 5512 placed" in cells["repairs"]["text/html"]
    assert "placeholder" not in cells["repairs"]["text/plain"]
    assert "gone" in cells["before"]["text/plain"]
    assert "new" in cells["before"]["text/plain"]
    after = cells["again"]["text/plain"]
    assert "refused" not in after
    assert after.count("accepted") == len(PROVIDERS)
    assert "R19" in cells["all"]["text/plain"]


def test_a_payload_whose_result_nobody_knows(root, tmp_path):
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    body = {"model": "m", "messages": [{"role": "user", "content": "go <b>"}, {"role": "assistant", "tool_calls": [call]},
                                       {"role": "user", "content": "and?"}]}  # fmt: skip
    (tmp_path / "payload.json").write_text(json.dumps(body), encoding="utf-8")
    cells = told(root, tmp_path / "out.ipynb", sources=str(tmp_path / "payload.json"), provider="openai-chat")
    assert "placeholder" in cells["repairs"]["text/html"]
    assert "go &lt;b&gt;" in cells["before"]["text/html"]
    assert "<b>" not in cells["before"]["text/html"]


def test_a_history_that_all_but_one_take(root, tmp_path):
    cells = told(root, tmp_path / "out.ipynb", sources="sample:client-tools", provider="gemini", number=1)
    assert "takes this list as it is" in cells["before"]["text/plain"]


def test_the_page_has_the_title_of_the_notebook(root, tmp_path):
    _, page = run(root / "notebooks" / "history.ipynb", output=tmp_path)
    assert "<title>Would this history be rejected?</title>" in page.read_text(encoding="utf-8")
