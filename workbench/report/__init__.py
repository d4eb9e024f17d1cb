"""What is told about a check: text, Markdown for an issue, pages, files for build servers, the notebook.

The package can be called, because `wb.report` is the name of the function and of the folder.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Report(ModuleType):
    def __call__(self, shown: Any, *arguments: Any, **options: Any) -> str:
        """Write a report: `workbench.report.reports.report`, which says what can be given."""
        from workbench.report.reports import report

        return report(shown, *arguments, **options)


sys.modules[__name__].__class__ = _Report
