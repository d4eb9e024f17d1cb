"""Other checkers on all bundled captures: each diagnostic is ours too, or excused in docs/referees.md."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from ag_ui_validate.engine import create_validator

import workbench as wb
from workbench.trace import Trace

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "referees.md").read_text(encoding="utf-8")
CLIENT = Path(os.environ.get("WORKBENCH_NODE", ROOT / ".node"))


class Judged(NamedTuple):
    """One stream of one capture, with the rules that we report for the capture."""

    capture: str
    trace: Trace
    events: list[dict[str, Any]]
    rules: frozenset[str]


@cache
def streams() -> list[Judged]:
    captures = [
        sorted(p.parent.glob("input*")) for p in sorted((ROOT / "tests/data/cases").glob("*/expect.json"))
    ]
    captures += [[path] for path in sorted((ROOT / "traces").iterdir()) if path.suffix != ".md"]
    found = []
    for paths in captures:
        trace = wb.load(*map(str, paths))
        rules = frozenset(f.rule for f in wb.check(trace))
        by_stream: dict[int, list[dict[str, Any]]] = {}
        for row, stream in enumerate(trace.records.events.stream):
            by_stream.setdefault(stream, []).append(json.loads(trace.records.json_bytes(row)))
        name = paths[0].parent.name if paths[0].parent.name != "traces" else paths[0].name
        found += [Judged(name, trace, events, rules) for events in by_stream.values()]
    return found


def table(heading: str, pattern: str) -> dict[str, frozenset[str]]:
    """Diagnostic → our rules, from the table under a heading of the page."""
    section = PAGE.split(f"## {heading}")[1].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if re.match(r"\| [`A]", line)]
    return {
        key: frozenset(re.findall(r"[a-z-]+", ours))
        for cell, ours, *_ in rows
        for key in re.findall(pattern, cell)
    }


def excused(judged: Judged, code: str, message: str) -> bool:
    """AGUI207 on a resume: the call is known from an earlier run, a request or a snapshot."""
    if code != "AGUI207":
        return False
    call = re.search(r"toolCallId '(.*?)'", message)
    return call is not None and any(c.id == call[1] for k in judged.trace.conversations for c in k.calls)


def test_every_diagnostic_of_ag_ui_validate_is_ours_or_excused() -> None:
    ours = table("ag-ui-validate", r"AGUI\d+")
    left = []
    compared = 0
    for judged in streams():
        validator = create_validator()
        for event in judged.events:
            validator.feed(event)
        validator.finalize()
        for diagnostic in validator.report().diagnostics:
            if diagnostic.severity == "info":
                continue
            compared += 1
            if ours.get(diagnostic.rule, frozenset()) & judged.rules:
                continue
            if not excused(judged, diagnostic.rule, diagnostic.message):
                left.append((judged.capture, diagnostic.rule, diagnostic.message))
    assert compared > 60
    assert left == []


def test_every_error_of_verify_events_is_ours() -> None:
    node = shutil.which("node")
    if node is None or not (CLIENT / "node_modules" / "@ag-ui" / "client").exists():
        pytest.skip("Node.js or @ag-ui/client is missing: npm install --prefix .node @ag-ui/client@1.0.0")
    judged = streams()
    answers = json.loads(
        subprocess.run(
            [node, str(Path(__file__).with_name("verify.mjs")), str(CLIENT)],
            input=json.dumps([stream.events for stream in judged]).encode(),
            capture_output=True,
            check=True,
            timeout=120,
        ).stdout
    )
    ours = table("verifyEvents of @ag-ui/client", r"`([^`]+)`")
    left = []
    for stream, error in zip(judged, answers, strict=True):
        if error is None:
            continue
        rules = next((rules for text, rules in ours.items() if text in error), frozenset())
        if not rules & stream.rules:
            left.append((stream.capture, error))
    assert any(answers)
    assert left == []
