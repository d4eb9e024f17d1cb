"""The committed pages about providers are what their rules say today (`python -m workbench.providers.docs`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.providers import RULES, docs

PAGES = Path(__file__).parents[2] / "docs" / "providers"
MADE = docs.pages()


@pytest.mark.parametrize("name", MADE)
def test_a_page_is_up_to_date(name):
    assert (PAGES / name).read_text(encoding="utf-8") == MADE[name]


def test_every_rule_has_its_place():
    text = "".join(MADE.values())
    assert all(f"\n## {rule}\n" in text for rule in RULES)
    assert {path.name for path in PAGES.glob("*.md")} == set(MADE)
