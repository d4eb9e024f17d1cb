"""The investigation notebook runs, by papermill and as written by the command line, and its page is whole offline."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.report import run as runner
from workbench.report.run import RunFailedError, main, run

FAULTY, HEALTHY = "sample:provider-tool-lost", "sample:healthy"
VIEWS = ("ladder", "timeline")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def faulty(tmp_path_factory):
    return run(sources=[FAULTY], output=tmp_path_factory.mktemp("faulty"))


@pytest.fixture(scope="module")
def healthy(tmp_path_factory):
    return run(sources=[HEALTHY], output=tmp_path_factory.mktemp("healthy"))


def outputs(executed: Path) -> dict[str, dict[str, str]]:
    """The last output of every code cell by its id."""
    book = json.loads(executed.read_text(encoding="utf-8"))
    told = {}
    for cell in book["cells"]:
        if cell["cell_type"] == "code" and cell["outputs"]:
            data = cell["outputs"][-1].get("data", {})
            told[cell["id"]] = {kind: "".join(text) for kind, text in data.items()}
    return told


def test_a_faulty_capture(faulty):
    told = outputs(faulty[0])
    assert "error" in told["load"]["text/plain"]
    assert "placeholder instead of a result" in told["happened"]["text/plain"]
    assert "result-placeholder" in told["findings"]["text/html"]
    assert "Tool call invocation failed." in told["evidence"]["text/html"]
    for view in VIEWS:
        assert "data:image/svg+xml;base64," in told[view]["text/html"]
        assert not {"text/markdown", "text/vnd.mermaid"} & set(told[view])


def test_a_healthy_capture_is_as_pleasant(healthy):
    told = outputs(healthy[0])
    assert "Nothing wrong" in told["load"]["text/plain"]
    assert "answered" in told["happened"]["text/plain"]
    for view in VIEWS:
        assert "data:image/svg+xml;base64," in told[view]["text/html"]


def test_no_cell_writes_to_the_error_stream(faulty, healthy):
    for executed, _ in (faulty, healthy):
        book = json.loads(executed.read_text(encoding="utf-8"))
        streams = [o for c in book["cells"] for o in c.get("outputs", ()) if o["output_type"] == "stream"]
        assert not streams


@pytest.mark.browser
@pytest.mark.parametrize("which", ["faulty", "healthy"])
def test_the_page_is_whole_without_a_network(which, request, offline_page):
    _, page = request.getfixturevalue(which)
    shown = offline_page.open(page)
    shown.wait_for_load_state("networkidle")
    assert offline_page.requests == []
    assert offline_page.errors == []
    sizes = shown.evaluate("[...document.images].map(i => [i.alt, i.naturalWidth, i.clientWidth])")
    assert len(sizes) >= 2
    assert all(natural > 0 and visible > 0 for _, natural, visible in sizes)
    assert any("Timeline" in alt for alt, _, _ in sizes)
    assert any("Sequence diagram" in alt for alt, _, _ in sizes)


def test_the_page_names_no_other_host(faulty):
    text = faulty[1].read_text(encoding="utf-8")
    assert not re.findall(r"""(?:src|href)=["']https?://[^"']+""", text)


def test_a_missing_file_is_said_by_the_notebook(tmp_path):
    """As papermill passes it, without the help of `run`."""
    import papermill

    from workbench.report.notebook import template

    executed = tmp_path / "out.ipynb"
    given = {"sources": str(tmp_path / "missing.har")}
    with runner._own_kernel():
        papermill.execute_notebook(
            str(template()), str(executed), given, kernel_name="python3", progress_bar=False
        )
    told = outputs(executed)
    assert "Nothing to judge" in told["load"]["text/plain"]
    assert "missing.har" in told["inputs"]["text/html"]


def test_what_the_command_writes_runs_from_anywhere(tmp_path, traces, monkeypatch):
    (tmp_path / "captures").mkdir()
    shutil.copy(traces / "healthy.sse", tmp_path / "captures")
    book = tmp_path / "books" / "my.ipynb"
    command = [sys.executable, "-m", "workbench", "notebook", "captures/healthy.sse", "-o", str(book)]
    subprocess.run(command, cwd=tmp_path, check=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    executed, page = run(book, output="reports")
    assert "Nothing wrong" in outputs(executed)["load"]["text/plain"]
    assert page.name == "my.html"


def broken(tmp_path: Path, *cells: str) -> Path:
    path = tmp_path / "broken.ipynb"
    made = [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": f"c{n}",
            "metadata": {},
            "outputs": [],
            "source": source,
        }
        for n, source in enumerate(cells)
    ]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    path.write_text(json.dumps({"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}))
    return path


def test_a_failing_cell_fails_with_its_traceback(tmp_path, capsys):
    book = broken(tmp_path, "x = 1", "1 / 0  # here")
    assert main([str(book), "-o", str(tmp_path / "out")]) == 1
    told = capsys.readouterr().err
    assert "ZeroDivisionError" in told
    assert "# here" in told
    assert "\x1b" not in told


def test_a_dead_kernel_fails(tmp_path):
    book = broken(tmp_path, "import os", "os.kill(os.getpid(), 9)", "print('never')")
    with pytest.raises(RunFailedError):
        run(book, output=tmp_path / "out")


def test_a_missing_source_is_usage(tmp_path, capsys):
    assert main(["--sources", str(tmp_path / "missing.har"), "-o", str(tmp_path / "out")]) == 2
    assert "missing.har" in capsys.readouterr().err


def test_the_findings_are_printed_as_a_table(tmp_path):
    """What `make report` runs, in a process of its own, from standard input."""
    start = {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "dig"}
    events = [{"type": "RUN_STARTED", "threadId": "t", "runId": "r"}, start, start]
    command = [sys.executable, "-m", "workbench.report.run", "--sources", "-", "-o", str(tmp_path / "out")]
    data = "\n".join(map(json.dumps, events)).encode()
    done = subprocess.run(command, input=data, capture_output=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    table = done.stdout.decode()
    assert re.search(r"^severity +rule +what is wrong", table, re.MULTILINE)
    assert re.search(r"^error +call-start-duplicated", table, re.MULTILINE)
    assert "investigate.html" in table
    assert "%|" not in done.stderr.decode()


def test_the_notebook_itself_is_never_replaced(tmp_path):
    book = broken(tmp_path, "x = 1")
    before = book.read_bytes()
    with pytest.raises(RunFailedError, match="replace the notebook"):
        run(book, output=tmp_path)
    assert book.read_bytes() == before
