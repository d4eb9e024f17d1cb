"""A trace without secrets, for reports: every door to the capture gives exchanged text.

Exchanged text is as long as the original, so offsets, lines and evidence stay what they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from workbench.findings import Evidence, Finding, Findings
from workbench.known import known
from workbench.readers.records import Events, Member, Pool, Records
from workbench.report.redact import redactor as make
from workbench.report.redact.detectors import secret_key
from workbench.report.redact.document import Redactor
from workbench.report.redact.files import text_of
from workbench.trace import Trace

_CHUNK = 1 << 20
#: lists in lists of a request body that are gone through
_DEPTH = 200


def scrubbed(trace: Trace, patterns: Iterable[str] = (), key: bytes | None = None) -> tuple[Trace, Redactor]:
    """The trace without its secrets, and what took them out."""
    redactor = make(trace, everything=False, patterns=patterns, key=key)
    old, new = trace.records, Records()
    new.pool = Pool()
    new.pool.values = [redactor.scrub(text) for text in old.pool.values]
    new.pool.codes = {text: code for code, text in enumerate(new.pool.values)}
    new.sources = [
        replace(
            s,
            path=redactor.scrub(s.path),
            member=redactor.scrub(s.member),
            notes=[redactor.scrub(n) for n in s.notes],
        )
        for s in old.sources
    ]
    new.members = [
        Member(m.source, redactor.scrub(m.name), _Reader(redactor, m.read).read) for m in old.members
    ]
    new.streams = old.streams
    new.problems = [
        replace(
            p,
            reason=redactor.scrub(p.reason),
            excerpt=redactor.scrub(p.excerpt),
            member=redactor.scrub(p.member),
        )
        for p in old.problems
    ]
    for name in Events.__slots__:
        setattr(new.events, name, getattr(old.events, name))
    new.requests = [replace(r, body=_walk(redactor, r.body), url=redactor.scrub(r.url)) for r in old.requests]
    new.payloads = [replace(r, body=_walk(redactor, r.body), url=redactor.scrub(r.url)) for r in old.payloads]
    new.spans, new.logs = _signals(redactor, old.spans), _signals(redactor, old.logs)
    new.span_rows = old.span_rows
    new.deviations = [replace(d, detail=redactor.scrub(d.detail)) for d in old.deviations]
    new.overrides = {
        row: text_of(redactor, text.decode("utf-8", "surrogateescape")) for row, text in old.overrides.items()
    }
    return Trace(new), redactor


def findings_of(findings: Findings, trace: Trace, redactor: Redactor) -> Findings:
    """The findings of the original trace as they are about the scrubbed one.

    Messages are those of a check of the scrubbed trace where it has the same finding, because a message
    may quote the beginning of a secret, which no pattern knows.
    """
    from workbench.rules import check

    asked = {finding.rule for finding in findings}
    again = {_fault(f): f.message for f in check(trace, select=sorted(asked))} if asked else {}
    made = [_finding(finding, redactor) for finding in findings]
    made = [replace(finding, message=again.get(_fault(finding), finding.message)) for finding in made]
    return Findings(trace, made, findings.skipped, known(trace, made))


def _fault(finding: Finding) -> tuple[object, ...]:
    """What tells one finding from another, without its words."""
    return (finding.rule, finding.place, finding.thread_id, finding.run_id, finding.call_ids,
            finding.approval_ids, finding.other_ids, finding.evidence)  # fmt: skip


def _finding(finding: Finding, redactor: Redactor) -> Finding:
    def all_of(ids: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(redactor.scrub, ids))

    return replace(
        finding,
        message=redactor.scrub(finding.message),
        thread_id=redactor.scrub(finding.thread_id),
        run_id=redactor.scrub(finding.run_id),
        call_ids=all_of(finding.call_ids),
        approval_ids=all_of(finding.approval_ids),
        other_ids=all_of(finding.other_ids),
        evidence=tuple(_evidence(place, redactor) for place in finding.evidence),
    )


def _evidence(place: Evidence, redactor: Redactor) -> Evidence:
    return replace(place, path=redactor.scrub(place.path), member=redactor.scrub(place.member))


def _signals(redactor: Redactor, rows: Any) -> Any:
    """The same columns, with the bytes that they keep themselves exchanged."""
    import copy

    new = copy.copy(rows)
    new.kept = {
        row: text_of(redactor, kept.decode("utf-8", "surrogateescape")) for row, kept in rows.kept.items()
    }
    return new


def _walk(redactor: Redactor, value: Any, key: str = "", depth: int = _DEPTH) -> Any:
    """A decoded value without secrets."""
    if isinstance(value, str):
        return redactor.exchange.text(value) if value and secret_key(key) else redactor.scrub(value)
    if depth < 0:
        return None
    if isinstance(value, dict):
        return {redactor.scrub(str(k)): _walk(redactor, v, str(k), depth - 1) for k, v in value.items()}
    if isinstance(value, list):
        return [_walk(redactor, item, key, depth - 1) for item in value]
    return value


class _Reader:
    """The bytes of a member, exchanged when they are first asked for."""

    def __init__(self, redactor: Redactor, read: Callable[[int, int], bytes]) -> None:
        self._redactor = redactor
        self._read = read
        self._data: bytes | None = None

    def read(self, offset: int, length: int) -> bytes:
        """See `readers.content.Bytes`. Raises `OSError` where the file is gone."""
        if self._data is None:
            self._data = self._exchanged(self._whole())
        return self._data[offset : offset + length]

    def _whole(self) -> bytes:
        pieces: list[bytes] = []
        size = 0
        while piece := self._read(size, _CHUNK):
            pieces.append(piece[:_CHUNK])
            size += len(pieces[-1])
        return b"".join(pieces)

    def _exchanged(self, data: bytes) -> bytes:
        if b"\0" in data[:4096]:
            return self._redactor.scrub(data.decode("latin-1")).encode("latin-1", "replace")
        new = text_of(self._redactor, data.decode("utf-8", "surrogateescape"))
        # a text that grew would move every offset behind it
        return new if len(new) == len(data) else b" " * len(data)
