"""The committed pages about rules are what the rules say today (`python -m workbench.rules.docs`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.rules import all_rules, docs

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "rules"
FIXTURES = Path(__file__).parent / "fixtures"


@pytest.fixture(scope="module")
def made():
    return docs.pages(FIXTURES)


@pytest.mark.parametrize("rule", sorted(all_rules()))
def test_the_page_of_a_rule_is_up_to_date(rule, made):
    assert (PAGES / f"{rule}.md").read_text(encoding="utf-8") == made[f"{rule}.md"]


def test_the_index_is_up_to_date(made):
    assert (PAGES / "README.md").read_text(encoding="utf-8") == made["README.md"]


def test_no_page_is_left_of_a_rule_that_is_gone(made):
    assert {path.name for path in PAGES.glob("*.md")} == set(made)


def test_a_page_shows_the_fault_and_what_is_found(made):
    page = made["run-nested.md"]
    for piece in (
        "RUN002",
        "Why it hurts",
        "No fault when",
        "Run 2 (r2) starts while run r1 is still active",
        "lines 2, 1",
    ):
        assert piece in page


def test_writing_deletes_pages_of_rules_that_are_gone(tmp_path):
    (tmp_path / "no-such-rule.md").write_text("old")
    docs.write(FIXTURES, tmp_path)
    assert not (tmp_path / "no-such-rule.md").exists()
    assert (tmp_path / "README.md").exists()
