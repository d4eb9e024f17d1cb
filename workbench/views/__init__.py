"""Tables in, displayable objects out: the ladder, the timeline and the tables.

Each view is a function of a trace that gives an object with its forms as properties (`svg`,
`html`, `figure`, `mermaid()`, …) and one fixed way to show itself in a notebook.
"""

from __future__ import annotations

from workbench.views.grid import Grid
from workbench.views.sequence import SequenceDiagram, sequence_diagram
from workbench.views.tables import approvals_table, calls_table, findings_table, sources_table
from workbench.views.timeline import Timeline, timeline

__all__ = [
    "Grid",
    "SequenceDiagram",
    "Timeline",
    "approvals_table",
    "calls_table",
    "findings_table",
    "sequence_diagram",
    "sources_table",
    "timeline",
]
