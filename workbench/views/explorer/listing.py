"""The lists of the explorer: threads, calls with their fate, findings. Rows are made for what is in view."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

from workbench.calls.conversation import Call, Conversation
from workbench.calls.tables import signals
from workbench.findings import Finding
from workbench.readers.records import NO_TIME
from workbench.trace import Trace
from workbench.views import order, tables
from workbench.views.explorer import choice as filters
from workbench.views.explorer.choice import Choice
from workbench.views.explorer.search import Search
from workbench.views.ladder import offset
from workbench.views.marks import SEVERITY_RANK
from workbench.views.text import clean

Row = dict[str, Any]


class Listing:
    """One trace as lists: `talks`, `calls` (with the number of their talk) and `findings`, each by number."""

    def __init__(self, trace: Trace, findings: Sequence[Finding]) -> None:
        self.trace = trace
        self.findings = list(findings)
        self.talks: list[Conversation] = list(trace.conversations)
        self.calls: list[Call] = [call for talk in self.talks for call in talk.calls]
        self.talk_of: list[int] = [number for number, talk in enumerate(self.talks) for _ in talk.calls]
        self.names: list[tuple[str, ...]] = [
            tuple(dict.fromkeys((talk.thread_id, *talk.thread_ids))) for talk in self.talks
        ]
        self.number_of = {id(call): number for number, call in enumerate(self.calls)}
        self.finding_number = {id(finding): number for number, finding in enumerate(self.findings)}
        self.search = Search(trace)
        self._columns: dict[str, list[str]] = {}

    @cached_property
    def first(self) -> int | None:
        """The first moment of the capture, UTC ns; None where it has no times."""
        records = self.trace.records
        times = [time for time in records.events.time if time != NO_TIME]
        times += [request.time for request in records.requests if request.time is not None]
        if not times:
            times = [
                time for rows in (records.spans.start, records.logs.time) for time in rows if time != NO_TIME
            ]
        return min(times, default=None)

    @cached_property
    def of_thread(self) -> list[list[Finding]]:
        """The findings of each talk; what names no thread belongs to all of them."""
        talk_of = {name: number for number, names in enumerate(self.names) for name in names}
        found: list[list[Finding]] = [[] for _ in self.talks]
        everywhere = []
        for finding in self.findings:
            number = talk_of.get(finding.thread_id)
            if number is not None:
                found[number].append(finding)
            elif not finding.thread_id:
                everywhere.append(finding)
        return [[*mine, *everywhere] for mine in found] if everywhere else found

    @cached_property
    def worst(self) -> list[str]:
        """The worst severity of the findings about each call; empty where there is none."""
        about: dict[tuple[int, str], str] = {}
        for number, findings in enumerate(self.of_thread):
            for finding in findings:
                for name in (*finding.call_ids, *finding.approval_ids):
                    about[number, name] = worse(about.get((number, name), ""), finding.severity)
        if not about:
            return [""] * len(self.calls)
        found = []
        for talk, call in zip(self.talk_of, self.calls, strict=True):
            word = ""
            for name in (call.id, *(approval.id for approval in call.approvals)):
                word = worse(word, about.get((talk, name), ""))
            found.append(word)
        return found

    def fitting(self, choice: Choice) -> list[int]:
        """Numbers of the calls that pass the filters, cheap questions first."""
        left: Iterable[int] = range(len(self.calls))
        if choice.thread:
            talks = {n for n, names in enumerate(self.names) if filters.holds(choice.thread, names)}
            left = [n for n in left if self.talk_of[n] in talks]
        if choice.severity:
            left = [n for n in left if self.worst[n] in choice.severities]
        for part, column in ((choice.call, "ids"), (choice.tool, "tools"), (choice.run, "runs")):
            if part:
                texts = self._column(column)
                left = [n for n in left if part in texts[n]]
        if choice.since is not None or choice.until is not None:
            records = self.trace.records
            left = [n for n in left if choice.in_time(order.time_at(records, self.calls[n].at))]
        if choice.signal:
            left = [n for n in left if choice.signal in signals(self.calls[n]).split(", ")]
        if choice.text:
            left = [n for n in left if filters.holds(choice.text, filters.contents(self.calls[n]))]
        return list(left)

    def _column(self, name: str) -> list[str]:
        """What a filter looks into, in lower case, for every call; made when it is first asked."""
        made = self._columns.get(name)
        if made is None:
            told: Callable[[Call], Iterable[str]] = {
                "ids": filters.ids, "runs": filters.runs, "tools": lambda call: [call.tool],
            }[name]  # fmt: skip
            # no id holds a line feed that somebody could type
            made = self._columns[name] = ["\n".join(told(call)).lower() for call in self.calls]
        return made

    def about(self, choice: Choice, calls: Sequence[int]) -> list[int]:
        """Numbers of the findings that pass: of the threads, runs and calls that do."""
        of_calls = bool(choice.call or choice.tool or choice.signal or choice.text) or not choice.in_time(
            None
        )
        named: dict[str, set[str]] = defaultdict(set)
        for number in calls if of_calls else ():
            for name in filters.ids(self.calls[number]):
                named[name].update(self.names[self.talk_of[number]])
        return [
            number
            for number, finding in enumerate(self.findings)
            if (not choice.severity or finding.severity in choice.severities)
            and (not choice.thread or choice.thread in finding.thread_id.lower())
            and (not choice.run or choice.run in finding.run_id.lower())
            and (
                not of_calls
                or any(
                    name in named and (not finding.thread_id or finding.thread_id in named[name])
                    for name in (*finding.call_ids, *finding.approval_ids)
                )
            )
        ]

    def thread_rows(self, wanted: Iterable[int]) -> list[Row]:
        """Threads as the page shows them."""
        rows = []
        for number in wanted:
            talk, findings = self.talks[number], self.of_thread[number]
            rows.append(
                {
                    "n": number,
                    "name": clean(talk.thread_id, 120) or "without id",
                    "runs": len(talk.runs),
                    "calls": len(talk.calls),
                    "findings": len(findings),
                    "worst": min((f.severity for f in findings), key=_rank, default=""),
                }
            )
        return rows

    def call_rows(self, wanted: Iterable[int]) -> list[Row]:
        """Calls as the page shows them."""
        rows = []
        for number in wanted:
            call = self.calls[number]
            fate = tables.fate(call)
            said = list(dict.fromkeys(approval.decision for approval in call.approvals))
            time = order.time_at(self.trace.records, call.at)
            rows.append(
                {
                    "n": number,
                    "time": "" if time is None or self.first is None else offset(time - self.first),
                    "tool": clean(call.tool, 80) or "unnamed",
                    "id": clean(call.id, 120) + (f" ({call.occurrence + 1})" if call.occurrence else ""),
                    "arguments": clean(call.arguments or "", 160),
                    "decision": ", ".join("pending" if word == "none" else word for word in said),
                    "fate": [fate.symbol, fate.tone, clean(fate.text, 120)],
                    "thread": clean(call.thread_id, 80),
                    "worst": self.worst[number],
                }
            )
        return rows

    def finding_rows(self, wanted: Iterable[int]) -> list[Row]:
        """Findings as the page shows them."""
        return [
            {
                "n": number,
                "severity": finding.severity,
                "rule": finding.rule,
                "message": clean(finding.message, 400),
            }
            for number in wanted
            for finding in (self.findings[number],)
        ]


def _rank(severity: str) -> int:
    return SEVERITY_RANK.get(severity, 3)


def worse(one: str, other: str) -> str:
    """The worse of two severities; an empty one is none."""
    return one if one and (not other or _rank(one) <= _rank(other)) else other
