"""The picture of the README is the one that the workbench draws."""

from __future__ import annotations

from pathlib import Path

from workbench.views import picture


def test_the_picture_in_docs_is_current(root: Path) -> None:
    kept = (root / picture.TARGET).read_text(encoding="utf-8")
    assert kept == picture.diagram().svg, "run `python -m workbench.views.picture`"


def test_the_command_writes_it(tmp_path: Path, capsys) -> None:
    target = tmp_path / "images" / "a.svg"
    picture.main([str(target)])
    assert capsys.readouterr().out == f"{target}\n"
    assert target.read_text(encoding="utf-8").startswith("<svg ")


def test_it_tells_the_story() -> None:
    drawn = picture.diagram()
    assert {finding.rule for finding in drawn.marked} >= {"approval-not-executed", "result-placeholder"}
    assert 'stroke-dasharray="6 4"' in drawn.svg
