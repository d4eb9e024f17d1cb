"""What the tests of rules share: captures made of events, and the fixture folders.

A capture is written as lines: an event as a dict, a request as `request(...)`. Both are
JSONL that the workbench reads like any file from outside.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.findings import Findings
from workbench.rules import check
from workbench.trace import Trace, load

FIXTURES = Path(__file__).parent / "fixtures"


def _wrapped(line: dict[str, Any]) -> dict[str, Any]:
    if "kind" in line:
        return line
    if "type" in line:
        return {"kind": "event", "event": line}
    return {
        "kind": "request",
        "input": {"state": {}, "tools": [], "context": [], "forwardedProps": {}, **line},
    }


def _jsonl(lines: tuple[dict[str, Any], ...]) -> bytes:
    rows = lines if all("type" in line for line in lines) else [_wrapped(line) for line in lines]
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


@pytest.fixture
def capture() -> Callable[..., Trace]:
    """`capture(*lines)`: a Trace; a line with `type` is an event, one with `threadId` alone a request body."""
    return lambda *lines: load(_jsonl(lines))


@pytest.fixture
def found(capture: Callable[..., Trace]) -> Callable[..., Findings]:
    """`found(*lines, select=(...))`: the findings of a capture."""
    return lambda *lines, select=(): check(capture(*lines), select=select)


@pytest.fixture
def names(found: Callable[..., Findings]) -> Callable[..., dict[str, str]]:
    """`names(*lines, family=...)`: worst severity by rule name, of the rules of some families or of all."""

    def ask(*lines: dict[str, Any], families: tuple[str, ...] = ()) -> dict[str, str]:
        worst: dict[str, str] = {}
        for finding in found(*lines):  # worst first
            if not families or finding.rule.partition("-")[0] in families:
                worst.setdefault(finding.rule, finding.severity)
        return worst

    return ask
