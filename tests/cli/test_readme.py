"""The README is true: its example is what the command prints, its code runs, its formats are read."""

from __future__ import annotations

import re

import workbench as wb


def fences(root, language):
    text = (root / "README.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_the_example_is_what_the_command_prints(root, process):
    (shown,) = fences(root, "console")
    command, _, expected = shown.partition("\n")
    assert command.startswith("$ workbench ")
    done = process(*command.split()[2:], COLUMNS="90", NO_COLOR="1")
    assert done.stdout.decode() == expected
    assert done.returncode == 1


def test_the_python_of_the_readme_runs(root, capsys):
    (code,) = fences(root, "python")
    exec(code, {})
    assert "```mermaid" in capsys.readouterr().out


def test_the_commands_of_the_readme_exist(root):
    from typer.main import get_command

    from workbench.cli import app

    text = (root / "README.md").read_text(encoding="utf-8")
    used = set(re.findall(r"(?:^|`|\$ )workbench ([a-z]+)", text, re.MULTILINE))
    assert used
    assert used <= set(get_command(app).commands)


def test_the_changelog_counts_the_samples(root):
    words = {12: "Twelve", 13: "Thirteen", 14: "Fourteen", 15: "Fifteen", 16: "Sixteen"}
    assert f"{words[len(wb.samples())]} bundled captures" in (root / "CHANGELOG.md").read_text(
        encoding="utf-8"
    )
