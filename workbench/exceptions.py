"""The exceptions of the workbench.

    WorkbenchError          anything the workbench raises on purpose
    ├── LoadError           input that could not be read, in `load(…, strict=True)` only
    ├── RunFailedError      a notebook that did not run to its end (`python -m workbench.report.run`)
    └── DiagramError        a Mermaid text longer than renderers draw (also a ValueError)

Bad input is data, not an exception: without `strict=True` it ends up in the table `problems`.
"""

from __future__ import annotations

from collections.abc import Sequence


class WorkbenchError(Exception):
    """Anything the workbench raises on purpose."""


class LoadError(WorkbenchError):
    """Input that could not be read, where the caller asked for `strict=True`.

    `problems` holds one line of text per problem, in the order they were met; the
    message is the first of them.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        first = self.problems[0] if self.problems else "input that could not be read"
        more = len(self.problems) - 1
        super().__init__(f"{first} (and {more} more)" if more > 0 else first)


class DiagramError(WorkbenchError, ValueError):
    """A diagram that nobody could draw as asked; the message says what to ask for instead."""
