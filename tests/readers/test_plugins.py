"""Readers of other distributions, found by entry point."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import workbench as wb
from workbench.exceptions import LoadError
from workbench.readers import formats, load, registry

EVENT = b'{"type":"RUN_STARTED","threadId":"t","runId":"r"}'
MODULE = """
from workbench.readers.lines import lines
from workbench.readers.registry import Format


def read(reading):
    writer = reading.writer(reading.new_stream())
    for number, (offset, line) in enumerate(lines(reading.content, reading.limits), start=1):
        if line == b"!boom":
            raise KeyError("boom")
        why = writer.add(line[1:], reading.counts.records, number, offset + 1, len(line) - 1)
        if why:
            reading.problem(why, line=number, offset=offset, data=line)
        else:
            reading.row()


def bang(name="bang-lines"):
    return Format(name, "Lines after a bang", "every line begins with !", (".bang",),
                  lambda sniff: sniff.first == b"!", read)


ONE = bang()


def two():
    return [bang(), bang("bang-other")]


def touchy(sniff):
    raise RuntimeError("touchy")


TOUCHY = Format("touchy", "x", "x", (), touchy, read)
NUMBER = [7]
TAKEN = bang("sse")
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install a distribution with these entry points: a folder with metadata on the path, as pip makes it."""

    def install(*points: str) -> None:
        (tmp_path / "bang_reader.py").write_text(MODULE)
        info = tmp_path / "bang_reader-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bang-reader\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("\n".join(["[workbench.readers]", *points]) + "\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        registry.reload_plugins()

    yield install
    monkeypatch.undo()
    sys.modules.pop("bang_reader", None)
    registry.reload_plugins()
    assert "bang-lines" not in {known.name for known in formats()}


@pytest.mark.parametrize("point", ["ONE", "bang", "two"])
def test_a_format_a_function_or_several(installed, point):
    installed(f"bang = bang_reader:{point}")
    assert formats()[0].name == "bang-lines"
    records = load([b"!" + EVENT + b"\n!x\n"])
    assert records.sources[0].format == "bang-lines"
    assert records.json(0)["threadId"] == "t"
    assert len(wb.load(b"!" + EVENT).runs) == 1
    assert len(load([b"data: " + EVENT + b"\n\n"]).events) == 1


def test_a_plugin_that_fails_while_reading_costs_its_own_capture(installed):
    installed("bang = bang_reader:ONE")
    records = load([b"!" + EVENT + b"\n!boom\n", b"data: " + EVENT + b"\n\n"])
    assert len(records.events) == 2
    assert records.sources[0].problems == 1
    assert records.problems[0].reason == "reader bang-lines failed: KeyError: 'boom'"
    assert not records.sources[0].complete
    assert records.sources[1].complete


@pytest.mark.parametrize(
    ("point", "said"),
    [
        ("bang_reader:missing", "AttributeError"),
        ("no_such_module:x", "ModuleNotFoundError"),
        ("bang_reader:NUMBER", "TypeError: int is no Format"),
        ("bang_reader:TAKEN", "format sse is already there"),
        ("bang_reader:TOUCHY", "reader touchy cannot tell its format: RuntimeError: touchy"),
    ],
)
def test_a_broken_plugin_is_said_and_the_capture_is_read(installed, point, said):
    installed(f"broken = {point}")
    records = load([b"data: " + EVENT + b"\n\n"])
    assert len(records.events) == 1
    assert records.sources[0].problems == 0
    (problem,) = records.problems
    assert said in problem.reason
    with pytest.raises(LoadError, match="reader"):
        load([b"data: " + EVENT + b"\n\n"], strict=True)


def test_the_page_says_how(root: Path):
    page = (root / "docs" / "add-a-reader.md").read_text(encoding="utf-8")
    assert f'[project.entry-points."{registry.GROUP}"]' in page
