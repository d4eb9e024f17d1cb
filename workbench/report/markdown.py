"""The findings as a text for an issue: short, complete in itself, and harmless wherever it is pasted."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.report import story
from workbench.report.escape import code, fenced, prose
from workbench.report.excerpts import excerpts
from workbench.report.facts import again, made_with, named, short_name
from workbench.report.plain import count, sentence

if TYPE_CHECKING:
    from workbench.calls.conversation import Conversation
    from workbench.findings import Evidence, Finding, Findings
    from workbench.trace import Trace

#: characters that an issue may have, in UTF-16 units as GitHub counts them
LIMIT = 65_536
#: characters of a Mermaid text above which GitHub shows an error instead
DIAGRAM = 50_000
#: characters kept for what stands after the parts that are cut
_RESERVE = 1800
_ROWS = 60
_THREADS = 5
_FATES = 12
#: characters that the evidence of a finding has at least
_LEAST = 80


def markdown(
    trace: Trace, findings: Findings, *, diagram: bool = True, limit: int = LIMIT, redaction: str = ""
) -> str:
    """Write the findings of a check as Markdown for an issue.

    What happened in a few sentences, a table of the findings, a Mermaid diagram of the flagged
    calls, and for each finding its places and short excerpts. At most `limit` UTF-16 units:
    the least severe findings lose their excerpts first, then their rows, and the text says so.
    Ids, names and contents of the capture are quoted so that they cannot act as markup,
    mention anybody or refer to anything. `redaction` is what to say about it. Raises nothing that depends on the capture.
    """
    body = _Body(limit - _RESERVE)
    threads = {finding.thread_id for finding in findings}
    flagged = [c for c in trace.conversations if threads.intersection((c.thread_id, *c.thread_ids))]
    body.add(_headline(findings))
    for one in findings.known:
        body.add(prose(str(one), 1000))
    for conversation in (flagged or trace.conversations)[:_THREADS]:
        body.add(_happened(conversation, findings))
    more = len(flagged or trace.conversations) - _THREADS
    if more > 0:
        body.add(f"And {count(more, 'more thread')}.")
    body.add(_input(trace))
    if len(findings):
        _table(body, findings)
        if diagram:
            _diagram(body, trace, findings)
        _timeline(body, trace, findings)
        _evidence(body, trace, findings)
    body.note(f"{prose(made_with(trace), 600)} See it again: {code(again(trace), 300)}. {redaction}".rstrip())
    if findings.skipped:
        reasons = Counter(s.reason for s in findings.skipped)
        why = "; ".join(f"{prose(reason, 200)} ({number})" for reason, number in reasons.most_common(5))
        body.add(f"{count(len(findings.skipped), 'rule')} could not be asked: {why}.")
    return body.text()


class _Body:
    """Paragraphs up to a number of UTF-16 units; what does not fit is refused, not cut in the middle."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.paragraphs: list[str] = []

    def add(self, paragraph: str, *, spare: int = 0) -> bool:
        size = units(paragraph) + 2
        if not paragraph or size + spare > self.room:
            return not paragraph
        self.room -= size
        self.paragraphs.append(paragraph)
        return True

    def note(self, paragraph: str) -> None:
        """A short remark, for which there is always room (`_RESERVE`)."""
        self.room -= units(paragraph) + 2
        self.paragraphs.append(paragraph)

    def text(self) -> str:
        return "\n\n".join(self.paragraphs) + "\n"


def units(text: str) -> int:
    """Length in UTF-16 units."""
    return len(text.encode("utf-16-le", "replace")) // 2


def _headline(findings: Findings) -> str:
    severities = Counter(f.severity for f in findings)
    if not severities:
        if findings.trace.empty:
            return "**Nothing to judge:** no AG-UI event, no request and no agent's telemetry was found."
        return "**Nothing wrong.** Here is what happened."
    words = [
        count(severities[name], word)
        for name, word in (("error", "error"), ("warning", "warning"), ("info", "remark"))
        if severities[name]
    ]
    rules = list(dict.fromkeys(f.rule for f in findings))
    named = ", ".join(code(rule) for rule in rules[:6]) + (" and others" if len(rules) > 6 else "")
    return f"**{', '.join(words)}:** {named}."


def _happened(conversation: Conversation, findings: Findings) -> str:
    name = code(conversation.thread_id, 80) or "without an id"
    told = [f"Thread {name}: " + " ".join(prose(s, 300) for s in story.sentences(conversation))]
    ids = {i for f in findings for i in (*f.call_ids, *f.approval_ids)}
    fates = story.fates(conversation)
    chosen = [f for f in fates if ids & {f.call_id, f.approval_id} - {""}] if ids else fates
    for fate in chosen[:_FATES]:
        call = f"{fate.tool}({fate.arguments})" if fate.tool else fate.call_id
        told.append(f"- {code(call, 120)} {code(fate.call_id, 60)}: {prose(str(fate), 400)}")
    if len(chosen) > _FATES:
        told.append(f"- and {count(len(chosen) - _FATES, 'more call', 'more calls')}")
    return "\n".join([told[0], "", *told[1:]]) if len(told) > 1 else told[0]


def _input(trace: Trace) -> str:
    records = trace.records
    told = []
    if records.problems:
        first = records.problems[0]
        where = f", line {first.line}" if first.line is not None else ""
        told.append(
            f"{count(len(records.problems), 'piece')} of the input could not be used; the first, in "
            f"{code(short_name(records.sources[first.source].path), 120)}{where}: {prose(first.reason, 200)}."
        )
    cut = [source for source in records.sources if not source.complete]
    told += [
        f"{code(short_name(source.path), 120)} is incomplete: {prose(source.note, 200)}."
        for source in cut[:3]
    ]
    return " ".join(told)


def _table(body: _Body, findings: Findings) -> None:
    rows = ["| | rule | ids | what is wrong | where |", "|---|---|---|---|---|"]
    room = body.room // 3
    shown = 0
    for finding in findings.items[:_ROWS]:
        row = _row(finding)
        room -= units(row) + 1
        if room < 0:
            break
        rows.append(row)
        shown += 1
    body.add("\n".join(rows))
    if shown < len(findings):
        body.note(
            f"{count(len(findings) - shown, 'more finding')} not in the table, none worse than its last row."
        )


def _row(finding: Finding) -> str:
    ids = finding.call_ids or finding.approval_ids or finding.other_ids
    cells = (
        finding.severity,
        code(finding.rule, table=True),
        ", ".join(code(i, 60, table=True) for i in ids[:3]) + (" …" if len(ids) > 3 else ""),
        prose(finding.message, 400, table=True),
        code(_short(finding.evidence[0]), 120, table=True) if finding.evidence else "",
    )
    return f"| {' | '.join(cells)} |"


def _diagram(body: _Body, trace: Trace, findings: Findings) -> None:
    """The calls of the findings; where they are too many, those of the worst that fit."""
    from workbench.views import sequence_diagram

    shown = len(findings)
    while shown:
        chosen = findings if shown == len(findings) else findings.items[:shown]
        try:
            drawn = sequence_diagram(trace, findings=chosen, neighbours=1).mermaid()
        except ValueError:
            drawn = ""
        if (
            drawn
            and units(drawn) <= DIAGRAM
            and body.add(fenced(drawn.rstrip(), "mermaid"), spare=body.room // 4)
        ):
            if shown < len(findings):
                body.note(
                    f"The diagram shows the calls of the {count(shown, 'worst finding')}; "
                    f"{count(len(findings) - shown, 'more finding')} would not fit into an issue."
                )
            return
        shown //= 2
    body.note(
        "The diagram of the flagged calls is too long for an issue; `workbench show --svg FILE` draws it."
    )


def _timeline(body: _Body, trace: Trace, findings: Findings) -> None:
    """The steps of the flagged calls as a table, folded away; beyond 60 rows it says how many are missing."""
    from workbench.views import sequence_diagram
    from workbench.views.ladder import offset

    steps = sequence_diagram(trace, findings=findings.items, neighbours=1).steps
    if not steps:
        return
    zero = min((s.time for s in steps if s.time is not None), default=None)
    rows = [
        "<details>",
        "<summary>Timeline of the flagged calls</summary>",
        "",
        "| event | time | from → to | what |",
        "|---|---|---|---|",
    ]
    room = body.room // 3
    shown = 0
    for step in steps[:_ROWS]:
        number = (
            ""
            if step.first is None
            else f"{step.first}" + ("" if step.last == step.first else f"–{step.last}")
        )
        time = "" if step.time is None or zero is None else offset(step.time - zero)
        what = code(f"{step.type} {step.label}".strip(), 160, table=True)
        flags = " ".join(f"**{m.finding.severity}**" for m in step.marks[:3])
        way = f"{code(named(step.source), 40, table=True)} → {code(named(step.target), 40, table=True)}"
        row = f"| {number} | {time} | {way} | {what} {flags} |"
        room -= units(row) + 1
        if room < 0:
            break
        rows.append(row)
        shown += 1
    if shown < len(steps):
        rows += ["", f"And {count(len(steps) - shown, 'more step')}."]
    body.add("\n".join([*rows, "", "</details>"]), spare=body.room // 3)


def _evidence(body: _Body, trace: Trace, findings: Findings) -> None:
    # more than ever fit
    chosen = findings.items[: body.room // _LEAST]
    told = excerpts(trace, chosen, 300)
    left = len(findings)
    for finding in chosen:
        lines = [
            "<details>",
            f"<summary>{finding.severity}: {finding.rule}</summary>",
            "",
            prose(finding.message, 1000),
        ]
        if finding.help:
            lines += ["", prose(sentence(finding.help), 1000)]
        places = list(dict.fromkeys(finding.evidence))
        for place in places[:3]:
            lines += ["", f"{code(_short(place), 200)}:"]
            if (finding, place) in told:
                lines += ["", fenced(told[finding, place])]
        if len(places) > 3:
            more = ", ".join(code(_short(place), 200) for place in places[3:12])
            lines += ["", f"Also {more}" + (" …" if len(places) > 12 else "")]
        lines += ["", "</details>"]
        if not body.add("\n".join(lines)):
            break
        left -= 1
    if left:
        body.note(
            f"The evidence of {count(left, 'finding')} is left out to keep the text within the size of an issue."
        )


def _short(place: Evidence) -> str:
    return str(replace(place, path=short_name(place.path)))
