"""The pages about formats and limits say what the code has."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from workbench.readers import Limits, formats
from workbench.readers.limits import KIB, MIB

ROW = re.compile(r"^\| `([a-z0-9_-]+)` \|", re.MULTILINE)


def test_every_format_has_its_row_in_the_right_table(root: Path) -> None:
    page = (root / "docs" / "formats.md").read_text(encoding="utf-8")
    read, _, named = page.partition("## Recognised, and not read")
    assert sorted(ROW.findall(read)) == sorted(known.name for known in formats() if known.read)
    assert sorted(ROW.findall(named)) == sorted(known.name for known in formats() if not known.read)


def test_every_limit_has_its_row_with_its_default(root: Path) -> None:
    page = (root / "docs" / "limits.md").read_text(encoding="utf-8")
    said = {
        row[0]: row[1]
        for row in re.findall(r"^\| `(max_\w+)` \| ([\d,]+(?: [KM]iB)?) \|", page, re.MULTILINE)
    }
    sizes = {"KiB": KIB, "MiB": MIB}
    for field in fields(Limits):
        number, _, unit = said.pop(field.name).partition(" ")
        assert int(number.replace(",", "")) * sizes.get(unit, 1) == field.default, field.name
    assert not said
