"""The raw record behind a step: its bytes, where they stand, and nothing that acts."""

from __future__ import annotations

import json
from typing import Any

from workbench.calls.conversation import At
from workbench.trace import Trace
from workbench.views.explorer.flow import places
from workbench.views.steps import Step
from workbench.views.tables import advice
from workbench.views.text import clean

#: characters of one record, and records of one step, that are shown
MAX_CHARACTERS, MAX_RECORDS = 60_000, 50


def of_step(trace: Trace, step: Step) -> dict[str, Any]:
    """The records of a step as the page shows them: title, what deltas say together, bytes and their places."""
    at = places(step)
    shown = [_record(trace, place) for place in at[:MAX_RECORDS]]
    return {
        "title": clean(f"{step.type} {step.call_id or step.message_id}", 200),
        "joined": visible(step.label) if len(step.rows) > 1 else "",
        "records": shown,
        "more": len(at) - len(shown),
        "findings": [
            {"severity": m.finding.severity, "rule": m.finding.rule, "message": clean(m.finding.message, 1000), "help": advice(m.finding.help)}
            for m in step.marks
        ],
    }  # fmt: skip


def _record(trace: Trace, at: At) -> dict[str, Any]:
    evidence = trace.evidence(at)
    try:
        raw = trace.raw(at)
    except (OSError, ValueError, IndexError):
        raw = b""
    text = raw[: MAX_CHARACTERS * 4].decode("utf-8", "replace")
    cut = len(raw) > MAX_CHARACTERS * 4 or len(text) > MAX_CHARACTERS
    where = evidence[0] if evidence else None
    place = clean(str(where), 400) if where is not None else ""
    if where is not None and where.offset is not None:
        place += f" · byte {where.offset:,}"
    return {
        "kind": at.kind,
        "place": place,
        "raw": visible(text[:MAX_CHARACTERS]) or "The format keeps no bytes of its own for this.",
        "pretty": "" if cut else visible(_pretty(text)),
        "note": f"the first {MAX_CHARACTERS:,} characters of {len(raw):,} bytes" if cut else "",
    }


def _pretty(text: str) -> str:
    """JSON with a line for each value; empty for anything else."""
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return ""


def visible(text: str) -> str:
    """Text of many lines in which every character that is not seen or turns the direction is written by its number."""
    if text.isascii() and text.isprintable():
        return text
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(
        "\t".join(_line(part) for part in line.split("\t")) if "\t" in line else _line(line) for line in lines
    )


def _line(line: str) -> str:
    if line.isprintable():
        return line
    return "".join(char if char == " " else clean(char, 1) or char for char in line)
