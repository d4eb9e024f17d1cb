"""Draw the picture of the README: `python -m workbench.views.picture [FILE]`.

It shows one call of the bundled capture `provider-tool-lost`: a person approves it, and a
placeholder comes back instead of a result. A test holds the file in `docs/images` to it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from workbench import rules
from workbench.trace import load
from workbench.views.sequence import SequenceDiagram, sequence_diagram

TARGET = Path("docs/images/ladder.svg")
SAMPLE = "sample:provider-tool-lost"
_RULES = ("approval-not-executed", "approval-reasked", "result-placeholder")


def diagram() -> SequenceDiagram:
    """The ladder of the README."""
    trace = load(SAMPLE)
    call = trace.conversations[0].calls[0].id
    findings = [finding for finding in rules.check(trace, select=_RULES) if call in finding.call_ids]
    return sequence_diagram(trace, call_id=call, findings=findings)


def main(arguments: list[str]) -> None:
    """Write the picture to the file given, else to its place in the checkout."""
    target = Path(arguments[0]) if arguments else TARGET
    target.parent.mkdir(parents=True, exist_ok=True)
    sys.stdout.write(f"{diagram().to_svg(target)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
