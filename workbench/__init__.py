"""See what became of every tool call and approval in an AG-UI capture.

    import workbench as wb

    trace = wb.load("capture.har")          # files, folders, globs, bytes, "-", "sample:NAME"
    findings = wb.check(trace)              # what is wrong, worst first, with evidence
    trace.calls, trace.approvals            # pandas DataFrames, see docs/tables.md
    wb.sequence_diagram(trace)              # the ladder
    wb.timeline(trace)                      # one lane per call
    wb.explore(trace)                       # look through it in JupyterLab
    print(wb.markdown(trace, findings))     # a text for an issue
    wb.replay("provider-tool-approval")     # a reported bug on released packages, step by step

Every name is imported when it is first used, so that `import workbench` stays light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.exceptions import LoadError
    from workbench.findings import Evidence, Finding, Findings
    from workbench.fleet.index import open_index, query
    from workbench.fleet.run import check_each
    from workbench.follow import follow
    from workbench.providers.repair import repair_suggestions
    from workbench.readers import formats, samples
    from workbench.record.agent_framework import recorder
    from workbench.record.middleware import record
    from workbench.replay.arms import replay
    from workbench.replay.capture.derive import scenario_from
    from workbench.replay.compare import compare
    from workbench.replay.sweep import sweep
    from workbench.report.explore import explore
    from workbench.report.markdown import markdown
    from workbench.report.reports import report
    from workbench.rules import check, rule
    from workbench.trace import Trace, load
    from workbench.views.sequence import sequence_diagram
    from workbench.views.tables import approvals_table, calls_table, findings_table
    from workbench.views.timeline import timeline

    __version__: str

__all__ = [
    "Evidence",
    "Finding",
    "Findings",
    "LoadError",
    "Trace",
    "__version__",
    "approvals_table",
    "calls_table",
    "check",
    "check_each",
    "compare",
    "explore",
    "findings_table",
    "follow",
    "formats",
    "load",
    "markdown",
    "open_index",
    "query",
    "record",
    "recorder",
    "repair_suggestions",
    "replay",
    "report",
    "rule",
    "samples",
    "scenario_from",
    "sequence_diagram",
    "sweep",
    "timeline",
]

_HOMES = {
    "Evidence": "findings",
    "Finding": "findings",
    "Findings": "findings",
    "LoadError": "exceptions",
    "Trace": "trace",
    "approvals_table": "views.tables",
    "calls_table": "views.tables",
    "check": "rules",
    "check_each": "fleet.run",
    "compare": "replay.compare",
    "explore": "report.explore",
    "findings_table": "views.tables",
    "follow": "follow",
    "formats": "readers",
    "load": "trace",
    "markdown": "report.markdown",
    "open_index": "fleet.index",
    "query": "fleet.index",
    "record": "record.middleware",
    "recorder": "record.agent_framework",
    "repair_suggestions": "providers.repair",
    "rule": "rules",
    "samples": "readers",
    "scenario_from": "replay.capture.derive",
    "sequence_diagram": "views.sequence",
    "sweep": "replay.sweep",
    "timeline": "views.timeline",
}


if not TYPE_CHECKING:
    # type checkers know the names from above, and would believe any other name too

    def __getattr__(name: str) -> Any:
        if name == "__version__":
            from importlib import metadata

            try:
                value: Any = metadata.version("agui-workbench")
            except metadata.PackageNotFoundError:
                # a checkout on the path that nobody installed
                value = "0+checkout"
        elif name in ("replay", "report"):
            # packages that can be called, so that import of their modules cannot put another thing in their place
            value = importlib.import_module(f"workbench.{name}")
        elif name in _HOMES:
            value = getattr(importlib.import_module(f"workbench.{_HOMES[name]}"), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
