"""Write `docs/tables.md` from the declared tables: `python -m workbench.report.table_docs > docs/tables.md`."""

from __future__ import annotations

import sys

from workbench import model

_KINDS = {
    "id": "an identifier; any two of them can be compared and merged",
    "text": "text as the capture has it, or as the column says",
    "word": "one of a few words",
    "int": "a whole number, or missing",
    "ms": "milliseconds",
    "time": "UTC, nanoseconds; missing where nothing says when",
    "bool": "true, false, or missing",
}

_INTRODUCTION = """\
`trace.<table>` is a pandas DataFrame, computed at first use. An empty capture gives every table
with all its columns. `trace.raw(row)` gives the bytes of a row of `events`."""


def page() -> str:
    """The page, as Markdown."""
    told = [
        "# The tables of a trace",
        "<!-- Written by `python -m workbench.report.table_docs` from workbench/model.py; change it there. -->",
        _INTRODUCTION,
        "Findings are not a table of the trace: `wb.check(trace).frame` has them.",
        "\n".join(f"- [{name}](#{name}): one row per {table.row}" for name, table in model.TABLES.items()),
        "## Kinds of columns",
        _rows(
            ("kind", "pandas dtype", "what it holds"),
            [(kind, f"`{model.PANDAS_DTYPES[kind]}`", _KINDS[kind]) for kind in model.PANDAS_DTYPES],
        ),
    ]
    for name, table in model.TABLES.items():
        told += [f"## {name}", f"One row per {table.row}."]
        told.append(
            _rows(
                ("column", "kind", "unit", "meaning"),
                [(f"`{c.name}`", c.dtype, c.unit, c.meaning) for c in table.columns],
            )
        )
    return "\n\n".join(told) + "\n"


def _rows(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [columns, tuple("---" for _ in columns), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


if __name__ == "__main__":
    sys.stdout.write(page())
