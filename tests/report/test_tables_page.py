"""docs/tables.md is what the declared tables say."""

from __future__ import annotations

from workbench import model
from workbench.report import table_docs


def test_the_page_is_up_to_date(root):
    written = (root / "docs" / "tables.md").read_text(encoding="utf-8")
    assert written == table_docs.page(), "run: python -m workbench.report.table_docs > docs/tables.md"


def test_every_table_and_column_is_there():
    page = table_docs.page()
    for name, table in model.TABLES.items():
        section = page.split(f"\n## {name}\n")[1].split("\n## ")[0]
        rows = [line for line in section.splitlines() if line.startswith("| `")]
        assert len(rows) == len(table.columns)
