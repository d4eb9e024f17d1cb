"""`show`, `formats`, `rules`, `notebook`, and that docs/command-line.md has all of it."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

import pytest
import typer.main

from workbench.cli import Severity, app
from workbench.commands.check import Format
from workbench.commands.common import FailOn

FAULTY = "sample:provider-tool-lost"


def commands():
    return typer.main.get_command(app).commands


def options():
    return [
        (name, option)
        for name, command in commands().items()
        for parameter in command.params
        if parameter.param_type_name == "option"
        for option in parameter.opts
        if option not in ("--help", "-h")
    ]


@pytest.mark.parametrize("name", commands())
def test_every_command_has_a_section(root, name):
    page = (root / "docs" / "command-line.md").read_text(encoding="utf-8")
    assert f"\n## {name}\n" in page
    assert f"workbench {name}" in page


@pytest.mark.parametrize(("name", "option"), options())
def test_every_option_is_documented_in_its_section(root, name, option):
    page = (root / "docs" / "command-line.md").read_text(encoding="utf-8")
    section = page.split(f"\n## {name}\n")[1].split("\n## ")[0]
    assert re.search(rf"`[^`]*(?<![\w-]){option}(?![\w-])[^`]*`", section), f"{name} {option}"


def test_no_option_is_documented_that_is_not_there(root):
    page = (root / "docs" / "command-line.md").read_text(encoding="utf-8")
    known = {option for _, option in options()} | {"--help", "--version"}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", page)) <= known


@pytest.mark.parametrize("choices", [Format, FailOn, Severity])
def test_the_choices_are_documented(root, choices):
    page = (root / "docs" / "command-line.md").read_text(encoding="utf-8")
    assert not [word for word in choices if not re.search(rf"`[^`]*\b{word}\b[^`]*`", page)]


def test_version(cli):
    assert re.fullmatch(r"workbench \d+\S+\n", cli("--version").out)


def test_show_tells_the_fates_and_the_steps(cli):
    done = cli("show", "sample:approval")
    assert done.code == 0
    assert "approval asked" in done.out
    assert "approved in run 2" in done.out
    assert re.search(r"-> call \w+", done.out)
    assert re.search(r"<- result of", done.out)


def test_show_one_call_leaves_the_others_out(cli):
    import workbench as wb

    (talk,) = wb.load(FAULTY).conversations
    real = [call.id for call in talk.calls if call.synthetic_for is None]
    done = cli("show", FAULTY, "--call", real[0])
    assert done.code == 0
    assert real[0] in done.out
    assert all(other not in done.out for other in real[1:])
    assert cli("show", FAULTY, "--call", "nobody").code == 2


def test_show_mermaid_and_svg(cli, tmp_path):
    assert cli("show", FAULTY, "--mermaid").out.startswith("sequenceDiagram\n")
    target = tmp_path / "ladder.svg"
    assert cli("show", FAULTY, "--svg", str(target)).code == 0
    assert ET.fromstring(target.read_text(encoding="utf-8")).tag.endswith("svg")
    assert cli("show", FAULTY, "--svg", "-").out.startswith("<svg")
    assert cli("show", FAULTY, "--svg", "-", "--mermaid").code == 2
    refused = cli("show", FAULTY, "--svg", str(tmp_path / "no" / "folder.svg"))
    assert refused.code == 2
    assert "Errno" not in refused.err


def test_show_of_nothing_says_so(cli, tmp_path):
    path = tmp_path / "idle.har"
    path.write_text('{"log":{"version":"1.2","creator":{"name":"x"},"entries":[]}}')
    assert "Nothing to show" in cli("show", str(path)).out


def test_formats_lists_every_format(cli):
    import workbench as wb

    done = cli("formats")
    assert done.code == 0
    for known in wb.formats():
        assert re.search(rf"^  {known.name}\b", done.out, re.MULTILINE), known.name


def test_rules_lists_and_explains(cli):
    from workbench.rules import all_rules

    listed = cli("rules").out
    for made in all_rules().values():
        assert made.code in listed
        assert made.name in listed
    by_name, by_code = cli("rules", "approval-reasked"), cli("rules", all_rules()["approval-reasked"].code)
    assert by_name.out == by_code.out
    for heading in ("Why it hurts", "No fault when", "What to do", "Example", "Sources"):
        assert heading in by_name.out
    family = cli("rules", "approval").out
    assert "approval-reasked" in family
    assert "run-nested" not in family
    unknown = cli("rules", "aproval-reasked")
    assert unknown.code == 2
    assert "approval-reasked" in unknown.err


def test_notebook_is_written_with_its_parameters(cli, tmp_path, traces):
    target = tmp_path / "my.ipynb"
    capture = str(traces / "approval.har")
    done = cli(
        "notebook", capture, "sample:healthy", "-o", str(target), "--call", "o'\"c", "--severity", "warning"
    )
    assert done.code == 0
    book = json.loads(target.read_text(encoding="utf-8"))
    (cell,) = [c for c in book["cells"] if "parameters" in c["metadata"].get("tags", ())]
    names: dict = {}
    exec("".join(cell["source"]), names)
    assert names["sources"] == [capture, "sample:healthy"]
    assert names["call_id"] == "o'\"c"
    assert names["severity"] == "warning"


def test_notebook_replaces_nothing_unasked(cli, tmp_path):
    target = tmp_path / "my.ipynb"
    target.write_text("mine")
    done = cli("notebook", FAULTY, "-o", str(target))
    assert done.code == 2
    assert "--force" in done.err
    assert target.read_text() == "mine"
    assert cli("notebook", FAULTY, "-o", str(target), "--force").code == 0


def test_notebook_refuses_what_it_could_not_open_again(cli, tmp_path):
    target = str(tmp_path / "my.ipynb")
    assert cli("notebook", "-", "-o", target).code == 2
    assert cli("notebook", str(tmp_path / "missing.har"), "-o", target).code == 2
