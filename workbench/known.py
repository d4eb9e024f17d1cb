"""Known bugs: whether findings are those that a replayed bug leaves, and on which releases it was seen.

A signature is `known.json` beside a replay scenario, and the releases are the `sweep.json` that `make sweep`
wrote there. Both are small data; nothing of the replays is imported, and nothing is read unless a rule of
the signature has fired.

| certainty | when |
|---|---|
| exact | the capture says which release ran, and the sweep found the bug on it |
| likely | the signature is there, and the capture does not say which release ran |

Where the capture names a release on which the sweep did not find the bug, nothing is said.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.findings import Evidence, Finding
    from workbench.trace import Trace

_SCENARIOS = Path(__file__).resolve().parent / "replay" / "scenarios"
#: bytes of every member of a capture in which versions are looked for
_MOST = 4_000_000
_PACKAGE = re.compile(rb'(agent-framework(?:-[a-z-]{1,40}+)?)(?:"\s*:\s*"|==|/)([0-9][0-9A-Za-z.]{0,30})')
#: how the framework names itself in telemetry and to a model provider: its core package
_CORE = re.compile(
    rb'"name"\s*:\s*"agent_framework"\s*,\s*"version"\s*:\s*"([0-9][0-9A-Za-z.]{0,30})"'
    rb"|agent-framework-python/([0-9][0-9A-Za-z.]{0,30})"
)


@dataclass(frozen=True)
class Known:
    """A known bug in a capture."""

    name: str
    title: str
    #: exact or likely
    certainty: str
    #: on which releases the sweep found it, in words
    affected: str
    calls: tuple[str, ...]
    #: rules whose findings make the signature
    rules: tuple[str, ...]
    #: release that the capture names, as `agent-framework-core 1.10.0`; empty where it names none
    release: str
    evidence: tuple[Evidence, ...]
    #: the command that replays it
    replay: str

    def __str__(self) -> str:
        seen = f"; the capture names {self.release}" if self.release else "; the capture names no release"
        return f"known: {self.name} ({self.affected}). {self.title}. {self.certainty}{seen}. See it: {self.replay}"

    def to_dict(self) -> dict[str, Any]:
        """As plain data, as in the JSON of a check."""
        return {**asdict(self), "calls": list(self.calls), "rules": list(self.rules),
                "evidence": [asdict(place) for place in self.evidence]}  # fmt: skip


@cache
def signatures() -> tuple[dict[str, Any], ...]:
    """The signatures of all scenarios that have one, with the span of their sweep."""
    made = []
    for file in sorted(_SCENARIOS.glob("*/known.json")):
        swept = file.with_name("sweep.json")
        if swept.exists():
            told = json.loads(file.read_text(encoding="utf-8"))
            made.append({**told, "span": json.loads(swept.read_text(encoding="utf-8"))["span"]})
    return tuple(made)


def known(trace: Trace, findings: Sequence[Finding]) -> tuple[Known, ...]:
    """The known bugs that findings are signs of."""
    fired = {finding.rule for finding in findings}
    found = (
        _fits(signature, trace, findings) for signature in signatures() if fired >= set(signature["rules"])
    )
    return tuple(one for one in found if one is not None)


def _fits(signature: dict[str, Any], trace: Trace, findings: Sequence[Finding]) -> Known | None:
    wanted: dict[str, list[str]] = signature["rules"]
    signs: dict[tuple[str, str], dict[str, list[Finding]]] = defaultdict(lambda: defaultdict(list))
    for finding in findings:
        if finding.severity == "error" and finding.place in wanted.get(finding.rule, ()):
            for call in finding.call_ids:
                signs[finding.thread_id, call][finding.rule].append(finding)
    threads: dict[str, list[str]] = defaultdict(list)
    for (thread, call), by_rule in signs.items():
        said = any(signature["says"] in f.message for listed in by_rule.values() for f in listed)
        if by_rule.keys() >= wanted.keys() and said and _producer(trace, thread) in signature["producers"]:
            threads[thread].append(call)
    chosen = {thread: calls for thread, calls in threads.items() if len(calls) >= signature["calls"]}
    if not chosen:
        return None
    span = signature["span"]
    release, shows = _release(trace, span)
    if shows is False:
        return None
    calls = tuple(call for listed in chosen.values() for call in listed)
    evidence = [
        finding.evidence[0]
        for thread, listed in chosen.items()
        for call in listed
        for named in signs[thread, call].values()
        for finding in named[:1]
        if finding.evidence
    ]
    return Known(
        signature["name"], signature["title"], "exact" if shows else "likely", span["summary"], calls,
        tuple(wanted), release, tuple(dict.fromkeys(evidence))[:8], _command(signature, release),
    )  # fmt: skip


def _command(signature: dict[str, Any], release: str) -> str:
    package, _, version = release.partition(" ")
    on = f" --release {version}" if package == signature["span"]["package"] else ""
    return f"workbench replay {signature['name']}{on}"


def _producer(trace: Trace, thread: str) -> str:
    for conversation in trace.conversations:
        if thread in (conversation.thread_id, *conversation.thread_ids):
            return next((run.producer for run in conversation.runs if run.producer != "unknown"), "unknown")
    return "unknown"


def _release(trace: Trace, span: dict[str, Any]) -> tuple[str, bool | None]:
    """A release that the capture names, and whether the bug was found on it; None where that is not known."""
    seen: dict[str, set[str]] = defaultdict(set)
    for member in trace.records.members:
        try:
            data = member.read(0, _MOST)
        except (OSError, ValueError):
            continue
        for package, version in _PACKAGE.findall(data):
            seen[package.decode()].add(version.decode())
        for first, second in _CORE.findall(data):
            seen["agent-framework-core"].add((first or second).decode())
    for package in (span["package"], *span["versions"]):
        versions = seen.get(package, set())
        if len(versions) != 1:
            continue
        version = next(iter(versions))
        shows = version in span["versions"].get(package, ())
        clean = version in span["unaffected"].get(package, ())
        if shows != clean:
            return f"{package} {version}", shows
    return "", None


__all__ = ["Known", "known", "signatures"]
