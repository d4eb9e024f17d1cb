"""Sources as a notebook gives them, the template and its panels."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import workbench as wb
from workbench.report import notebook
from workbench.report.sources import absolute, resolve


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "given",
    [
        ["a.sse", "b.sse"],
        ("a.sse", "b.sse"),
        '["a.sse", "b.sse"]',
        "[a.sse, b.sse]",
        "- a.sse\n- b.sse",
        "  - a.sse\n  - b.sse\n",
    ],
)
def test_a_list_in_any_spelling(elsewhere, given):
    assert resolve(given) == ["a.sse", "b.sse"]


@pytest.mark.parametrize("given", ["a.sse", "sample:healthy", "-", "*.sse", b"data", Path("a.sse"), 7])
def test_one_source_is_a_list_of_one(elsewhere, given):
    assert resolve(given) == [given]


def test_numbers_and_words_of_yaml_stay_texts(elsewhere):
    assert resolve("[007, yes, null]") == ["007", "yes", "null"]


def test_a_file_called_like_a_list_is_a_file(elsewhere):
    (elsewhere / "[a]").touch()
    assert resolve("[a]") == ["[a]"]
    (elsewhere / "a1.sse").touch()
    assert resolve("[ab]*.sse") == ["[ab]*.sse"]


@pytest.mark.parametrize("given", ["[a.sse", '[{"a": 1}]', "- a: [1"])
def test_what_is_no_list_is_an_error_with_the_text(elsewhere, given):
    with pytest.raises(ValueError, match="neither a path nor a list"):
        resolve(given)


def test_the_caller_comes_before_the_notebook_and_the_repository(tmp_path, monkeypatch):
    repository, caller = tmp_path / "repository", tmp_path / "repository" / "caller"
    folder = tmp_path / "books"
    for place in (caller, folder, repository / ".git"):
        place.mkdir(parents=True)
    monkeypatch.chdir(caller)

    def where():
        (found,) = resolve("x.sse", folder / "my.ipynb")
        return found

    assert where() == "x.sse"
    (repository / "x.sse").touch()
    assert where() == str(repository / "x.sse")
    (folder / "x.sse").touch()
    assert where() == str(folder / "x.sse")
    (caller / "x.sse").touch()
    assert where() == "x.sse"


def test_the_folder_that_lab_names_is_looked_in(tmp_path, monkeypatch):
    folder, caller = tmp_path / "books", tmp_path / "caller"
    folder.mkdir()
    caller.mkdir()
    (folder / "x.sse").touch()
    monkeypatch.chdir(caller)
    monkeypatch.setenv("JPY_SESSION_NAME", str(folder / "my.ipynb"))
    assert resolve("x.sse") == [str(folder / "x.sse")]


def test_absolute_names_are_found_from_anywhere(elsewhere):
    (elsewhere / "a.sse").touch()
    assert absolute(["a.sse", "sample:healthy"]) == [str(elsewhere / "a.sse"), "sample:healthy"]
    assert absolute(["*.sse"]) == [str(elsewhere / "*.sse")]
    with pytest.raises(FileNotFoundError):
        absolute(["b.sse"])
    with pytest.raises(ValueError, match="standard input"):
        absolute(["-"])


def test_the_template_is_clean(root):
    book = json.loads(notebook.template().read_text(encoding="utf-8"))
    assert book["metadata"]["kernelspec"]["name"] == "python3"
    ids = [cell["id"] for cell in book["cells"]]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z-]+", name) for name in ids)
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] or cell["execution_count"] for cell in code)
    tagged = [cell for cell in code if cell["metadata"].get("tags") == ["parameters"]]
    assert len(tagged) == 1
    assert sum(len(cell["source"]) for cell in code if cell not in tagged) <= 20


def test_parameters_are_filled_and_comments_kept(tmp_path):
    target = notebook.write(tmp_path / "new" / "my.ipynb", ["sample:healthy"], thread="t\n", severity="error")
    book = json.loads(target.read_text(encoding="utf-8"))
    (cell,) = [c for c in book["cells"] if "parameters" in c["metadata"].get("tags", ())]
    source = "".join(cell["source"])
    names: dict = {}
    exec(source, names)
    assert (names["sources"], names["thread"], names["severity"]) == ("sample:healthy", "t\n", "error")
    assert source.count("#") >= 4


EVIL = '<img src=x onerror="alert(1)">\x1b[31m\u202e'


def panels(trace):
    findings = wb.check(trace)
    return [
        notebook.headline(findings),
        notebook.inputs(trace),
        notebook.happened(trace),
        notebook.evidence(trace, findings),
        notebook.next_steps(findings),
    ]


def test_panels_escape_what_they_show(tmp_path):
    start = {"type": "TOOL_CALL_START", "toolCallId": EVIL, "toolCallName": EVIL}
    events = [{"type": "RUN_STARTED", "threadId": EVIL, "runId": EVIL}, start, start]
    path = tmp_path / "<b>evil.jsonl"
    path.write_text("\n".join([*map(json.dumps, events), "{" + EVIL]))
    for panel in panels(wb.load(path)):
        assert "<img" not in panel.html
        assert "<b>evil" not in panel.html
        assert "\x1b" not in panel.html + panel.text
        assert "\u202e" not in panel.html + panel.text
        assert set(panel._repr_mimebundle_()) == {"text/html", "text/plain"}


def test_panels_of_a_faulty_capture():
    trace = wb.load("sample:provider-tool-lost")
    shown = [panel.text for panel in panels(trace)]
    assert "error" in shown[0]
    assert "sample:provider-tool-lost" in panels(trace)[1].html
    assert "placeholder instead of a result" in shown[2]
    assert "Tool call invocation failed." in shown[3]
    assert "Tell somebody" in shown[4]


def test_panels_of_a_healthy_capture():
    shown = [panel.text for panel in panels(wb.load("sample:healthy"))]
    assert "Nothing wrong" in shown[0]
    assert "All of it could be used." in shown[1]
    assert "answered" in shown[2]
    assert "nothing to prove" in shown[3]
    assert "Nothing to repair" in shown[4]


def test_panels_of_nothing(tmp_path):
    trace = wb.load(tmp_path / "missing.har")
    shown = [panel.html for panel in panels(trace)]
    assert "Nothing to judge" in shown[0]
    assert "missing.har" in shown[1]
    assert notebook.focus(wb.check(trace))["neighbours"] is None
