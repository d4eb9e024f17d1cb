"""The check of one capture as a row of plain data: it can be sent, stored, and compared byte by byte."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from workbench.fleet.captures import Capture, opened
from workbench.model import SEVERITIES
from workbench.readers.records import NO_TIME

if TYPE_CHECKING:
    from workbench.calls.conversation import Conversation
    from workbench.findings import Finding
    from workbench.trace import Trace

Row = dict[str, Any]

_ROW: dict[str, type] = {
    "name": str, "key": str, "problem": str, "unread": int, "events": int, "threads": int, "runs": int,
    "calls": int, "approvals": int, "release": str, "day": str, "producers": list, "findings": list,
}  # fmt: skip
_LISTS = ("calls", "approvals", "tools")
_FINDING: dict[str, type] = {
    **dict.fromkeys(("rule", "severity", "message", "thread", "run", "producer", "evidence"), str),
    **dict.fromkeys(_LISTS, list),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of every capture. `release` is a pattern that finds the release in a capture's name."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    provider: str = ""
    release: str = ""
    #: seconds after which a capture is given up; 0: never
    timeout: float = 120.0


class TooLongError(Exception):
    """The check of a capture took longer than it may."""


def check_one(capture: Capture, asked: Asked) -> Row:
    """Load and check one capture; never raises for what stands in it.

    `problem` says why a capture could not be checked. Nothing in the row depends on when, where or beside
    what it was checked.
    """
    row: Row = {key: kind() for key, kind in _ROW.items()} | {"name": capture.name, "key": capture.key}
    try:
        with _within(asked.timeout):
            _fill(row, capture, asked)
    except TooLongError:
        row["problem"] = f"given up after {asked.timeout:g} s"
    except MemoryError:
        row["problem"] = "not enough memory"
    except Exception as problem:  # noqa: BLE001 - one capture never stops the rest
        row["problem"] = f"{type(problem).__name__}: {problem}"[:500]
    made: Row = _sound(row)
    return made


def _sound(value: Any) -> Any:
    """A row that can be written down: half a surrogate pair, as in names that are no UTF-8, is told by its number."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {key: _sound(item) for key, item in value.items()}
    return [_sound(item) for item in value] if isinstance(value, list) else value


def well_formed(row: Any) -> bool:
    """Whether a value is a row: one that was stored may have been changed."""
    return (
        _has(row, _ROW)
        and all(isinstance(name, str) for name in row["producers"])
        and all(
            _has(found, _FINDING)
            and found["severity"] in SEVERITIES
            and all(isinstance(name, str) for key in _LISTS for name in found[key])
            for found in row["findings"]
        )
    )


def _has(value: Any, fields: dict[str, type]) -> bool:
    return isinstance(value, dict) and all(type(value.get(key)) is kind for key, kind in fields.items())


def _fill(row: Row, capture: Capture, asked: Asked) -> None:
    import workbench as wb

    trace = wb.load(*opened(capture))
    found = wb.check(trace, select=asked.select, ignore=asked.ignore, provider=asked.provider)
    records = trace.records
    row["unread"] = len(records.problems)
    if not (records.events.time or records.requests or records.payloads or len(records.spans.source)):
        why = records.problems[0].reason if records.problems else "nothing in it"
        row["problem"] = f"nothing could be read: {why}"[:500]
    row["events"] = len(records.events)
    row["threads"] = len(trace.conversations)
    row["runs"] = sum(len(c.runs) for c in trace.conversations)
    row["calls"] = sum(len(c.calls) for c in trace.conversations)
    row["approvals"] = sum(len(c.approvals) for c in trace.conversations)
    row["release"] = release_of(trace, capture.name, asked.release)
    row["day"] = day_of(trace)
    row["producers"] = sorted({run.producer for c in trace.conversations for run in c.runs})
    tools = {call.id: call.tool for c in trace.conversations for call in c.calls}
    producers = {t: _producer(c) for c in trace.conversations for t in (c.thread_id, *c.thread_ids)}
    row["findings"] = [_finding(f, tools, producers) for f in found]


def _finding(finding: Finding, tools: dict[str, str], producers: dict[str, str]) -> Row:
    return {
        "rule": finding.rule, "severity": finding.severity, "message": finding.message[:500], "thread": finding.thread_id,
        "run": finding.run_id, "calls": list(finding.call_ids), "approvals": list(finding.approval_ids),
        "tools": sorted({tools[i] for i in finding.call_ids if tools.get(i)}),
        "producer": producers.get(finding.thread_id, "unknown"),
        "evidence": str(finding.evidence[0]) if finding.evidence else "",
    }  # fmt: skip


def _producer(conversation: Conversation) -> str:
    return next((run.producer for run in conversation.runs if run.producer != "unknown"), "unknown")


def release_of(trace: Trace, name: str, pattern: str) -> str:
    """The release that a capture is of: what the pattern finds in its name, else `service.version` of its spans."""
    if pattern:
        found = re.search(pattern, name)
        return (found[1] if found.re.groups else found[0]) if found else ""
    records = trace.records
    for row in range(min(len(records.spans.source), 50)):
        version = records.span(row).attributes.get("service.version")
        if version:
            return str(version)[:80]
    return ""


def day_of(trace: Trace) -> str:
    """The day of the first time in a capture, as 2026-05-01; empty where it has none."""
    records = trace.records
    times = [time for time in records.events.time if time != NO_TIME]
    times += [request.time for request in (*records.requests, *records.payloads) if request.time is not None]
    times += [time for time in records.spans.start if time != NO_TIME]
    if not times:
        return ""
    try:
        return f"{datetime.fromtimestamp(min(times) // 10**9, UTC):%Y-%m-%d}"
    except (OverflowError, ValueError, OSError):
        return ""


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Give up after that time, where the system has alarms; elsewhere and beside the main thread there is no limit."""
    if (
        seconds <= 0
        or not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
    ):
        yield
        return

    def late(*_: object) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def check_some(some: Sequence[Capture], asked: Asked) -> list[Row]:
    """The rows of several captures, in their order."""
    return [check_one(capture, asked) for capture in some]
