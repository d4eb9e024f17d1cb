"""The check as one HTML page: what happened, findings with evidence, ladders, a timeline, filters.

The page asks for nothing: style, script and pictures stand in it, and its Content-Security-Policy allows
only these (by hash) and no connection. Everything from the capture is escaped by the template.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib import resources
from typing import TYPE_CHECKING, Any

from workbench.calls.conversation import At
from workbench.report import story
from workbench.report.excerpts import excerpts
from workbench.report.facts import again, made_with, named, short_name
from workbench.report.plain import count, lines, plain

if TYPE_CHECKING:
    from workbench.calls.conversation import Conversation
    from workbench.findings import Evidence, Finding, Findings
    from workbench.trace import Trace
    from workbench.views.sequence import SequenceDiagram
    from workbench.views.steps import Step

_FINDINGS = 500
_LADDERS = 20
_FATES = 1000
_PLACES = 5
#: characters of one record, and of all records that can be clicked on
_RECORD, _RECORDS = 4000, 4_000_000
_STEP_TAG = re.compile(r'<g class="step (k-[a-z-]+)" id="(L\d+-step-(\d+))"')


def html(findings: Findings, *, redaction: str = "") -> str:
    """The report as HTML. At most 500 findings, 20 ladders and 1,000 calls; what is left out is said.

    `redaction` is what to say about it at the foot. Raises nothing that depends on the capture.
    """
    import jinja2
    from markupsafe import Markup

    trace = findings.trace
    page = _Page(trace, findings)
    shown = page.fill()
    folder = resources.files("workbench.report.page")
    style, script, template = (
        (folder / name).read_text(encoding="utf-8") for name in ("style.css", "script.js", "page.html.j2")
    )
    styles = {style, *re.findall(r"<style>(.*?)</style>", "".join(item["svg"] for item in shown["ladders"]))}
    for item in shown["ladders"]:
        item["svg"] = Markup(item["svg"])  # noqa: S704 - the ladder escapes what it draws
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, keep_trailing_newline=True
    )
    environment.filters["short"] = lambda text: plain(text, 60)
    records = json.dumps(page.records).translate({ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"})
    return environment.from_string(template).render(
        **shown,
        policy=_policy(styles, script),
        style=Markup(style),  # noqa: S704 - our own
        script=Markup(script),  # noqa: S704 - our own
        records=Markup(records),  # noqa: S704 - JSON without a character of markup
        redaction=redaction,
        made=made_with(trace),
        again=again(trace),
    )


def _policy(styles: Iterable[str], script: str) -> str:
    """Nothing may be loaded, sent or framed; only this style and this script count."""
    allowed = " ".join(sorted(map(_hash, styles)))
    return (
        f"default-src 'none'; style-src {allowed}; script-src {_hash(script)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


class _Page:
    """What the template is given."""

    def __init__(self, trace: Trace, findings: Findings) -> None:
        self.trace = trace
        self.findings = findings
        self.records: dict[str, tuple[str, str]] = {}
        self._room = _RECORDS
        #: steps by finding, for the links
        self._steps: dict[int, list[tuple[str, str]]] = {}
        self._first_step: dict[tuple[str, str], str] = {}

    def fill(self) -> dict[str, Any]:
        """All values, in the order in which they depend on each other."""
        trace, findings = self.trace, self.findings
        flagged = {f.thread_id for f in findings}
        talks = trace.conversations
        worst_first = sorted(talks, key=lambda c: not flagged & {c.thread_id, *c.thread_ids})
        drawn = [self._ladder(number, talk) for number, talk in enumerate(worst_first[:_LADDERS])]
        fates = [(talk, fate) for talk in talks for fate in story.fates(talk)]
        severities = Counter(f.severity for f in findings)
        shown = findings.items[:_FINDINGS]
        summary = trace.summary()
        return {
            "title": "Agent run report",
            "verdict": _verdict(findings, severities),
            "known": [plain(str(one), 1000) for one in findings.known],
            "counts": [
                count(severities["error"], "error"), count(severities["warning"], "warning"),
                count(severities["info"], "remark"),
                *(count(summary[f"{word}s"], word) for word in ("thread", "run", "call", "approval")),
                count(len(trace.records.events), "event"),
            ],
            "happened": [
                {"thread": plain(c.thread_id, 80) or "(no id)", "text": plain(" ".join(story.sentences(c)), 600)}
                for c in worst_first[:5]
            ],
            "notes": [plain(note, 300) for c in worst_first[:5] for note in c.notes][:10],
            "threads": [c.thread_id for c in talks if c.thread_id][:200],
            "runs": list(dict.fromkeys(r.run_id for c in talks for r in c.runs if r.run_id))[:500],
            "calls": self._options(fates),
            "findings": list(self._findings(shown)),
            "left_out": f"{count(len(findings) - len(shown), 'more finding')}, none worse than these." if len(findings) > len(shown) else "",
            "nothing": "Nothing to judge: no AG-UI event and no request was found."
            if not trace.records.events.type and not trace.records.requests
            else "Nothing was found.",
            "fates": [self._fate(number, talk, fate) for number, (talk, fate) in enumerate(fates[:_FATES])],
            "fates_left": f"And {count(len(fates) - _FATES, 'more call')}." if len(fates) > _FATES else "",
            "ladders": [item for item, _ in drawn if item],
            "ladders_left": f"{count(len(talks) - _LADDERS, 'more thread')} not drawn." if len(talks) > _LADDERS else "",
            "rows": [row for _, rows in drawn for row in rows],
            "sources": [
                {**source, "path": plain(short_name(source["path"]), 200), "note": plain(source["note"], 300)}
                for source in summary["sources"][:200]
            ],
            "problems": [
                plain(f"{short_name(p['path'])}{'' if p['line'] is None else ':' + str(p['line'])}: {p['reason']}", 300)
                for p in summary["problems"][:200]
            ],
            "skipped": [{"rule": s.rule, "reason": plain(s.reason, 200)} for s in findings.skipped],
        }  # fmt: skip

    def _options(self, fates: Iterable[tuple[Conversation, story.Fate]]) -> list[dict[str, str]]:
        ids = {i: f"{fate.tool} {i}" for _, fate in fates for i in (fate.call_id, fate.approval_id) if i}
        return [{"id": i, "name": plain(name, 80)} for i, name in list(ids.items())[:1000]]

    def _ladder(self, number: int, talk: Conversation) -> tuple[dict[str, str], list[dict[str, Any]]]:
        """The ladder of a thread, with its steps made reachable, and the same steps as rows."""
        from workbench.views import sequence_diagram

        try:
            diagram = sequence_diagram(
                self.trace, thread=talk.thread_id, findings=self.findings.items, id_prefix=f"L{number}-"
            )
        except ValueError:
            return {}, []
        if not diagram.steps:
            return {}, []
        rows = [self._row(f"L{number}-step-{index}", step) for index, step in enumerate(diagram.steps)]
        zero = min((s.time for s in diagram.steps if s.time is not None), default=None)
        for row, step in zip(rows, diagram.steps, strict=True):
            row["time"] = _moment(step, zero)
        return {"thread": talk.thread_id, "svg": _reachable(diagram, rows), "alt": diagram.alt}, rows

    def _row(self, name: str, step: Step) -> dict[str, Any]:
        number = (
            ""
            if step.first is None
            else f"#{step.first}" + ("" if step.last == step.first else f"–{step.last}")
        )
        for mark in step.marks:
            self._steps.setdefault(id(mark.finding), []).append((name, number or "request"))
        ids = [i for i in (step.call_id, step.approval_id) if i]
        for i in ids:
            self._first_step.setdefault((step.conversation.thread_id, i), name)
        return {
            "id": name,
            "number": number,
            "way": plain(f"{named(step.source)} → {named(step.target)}", 120),
            "type": plain(step.type, 60),
            "label": plain(step.label, 300) + (f" × {step.events}" if step.events > 1 else ""),
            "thread": step.conversation.thread_id,
            "run": step.run.run_id,
            "ids": ids,
            "kind": step.kind,
            "marks": [{"severity": m.finding.severity, "rule": m.finding.rule} for m in step.marks],
            "record": self._record(name, step),
        }

    def _record(self, name: str, step: Step) -> bool:
        """Keep the bytes behind a step for a click; false where there are none, or no room is left."""
        places: list[At | int] = list(step.rows[:3])
        if not places and step.request is not None:
            places = [At("request", step.request)]
        elif not places and step.payload is not None:
            places = [At("payload", step.payload)]
        texts = []
        for place in places:
            try:
                raw = self.trace.raw(place)
            except (OSError, IndexError):
                continue
            where = self.trace.evidence(place)
            at = f"{_where(where[0])}\n" if where else ""
            if raw:
                texts.append(at + lines(raw[: _RECORD * 4].decode("utf-8", "replace"), _RECORD))
        text = "\n\n".join(texts)
        if len(step.rows) > 3:
            text += f"\n\n… and {count(len(step.rows) - 3, 'more event')} of the same kind"
        self._room -= len(text)
        if not texts or self._room < 0:
            return False
        self.records[name] = (f"{plain(step.type, 60)} {plain(step.label, 80)}", text)
        return True

    def _findings(self, shown: list[Finding]) -> Iterator[dict[str, Any]]:
        told = excerpts(self.trace, shown, 1500)
        for finding in shown:
            places = list(dict.fromkeys(finding.evidence))
            yield {
                "severity": finding.severity,
                "rule": plain(finding.rule, 100),
                "code": finding.code,
                "place": finding.place,
                "thread": finding.thread_id,
                "run": finding.run_id,
                "ids": list(dict.fromkeys((*finding.call_ids, *finding.approval_ids))),
                "message": plain(finding.message, 2000),
                "help": plain(finding.help, 1000),
                "steps": [
                    {"id": name, "name": number} for name, number in self._steps.get(id(finding), [])[:12]
                ],
                "proof": [
                    {"where": _where(place), "text": told.get((finding, place), "")}
                    for place in places[:_PLACES]
                ],
            }

    def _fate(self, number: int, talk: Conversation, fate: story.Fate) -> dict[str, Any]:
        step = self._first_step.get((talk.thread_id, fate.call_id)) or self._first_step.get(
            (talk.thread_id, fate.approval_id)
        )
        return {
            "anchor": f"call-{number}",
            "tool": plain(fate.tool, 80) or "(unknown)",
            "call": plain(fate.call_id, 80),
            "arguments": plain(fate.arguments, 200),
            "way": plain(str(fate), 1000),
            "thread": talk.thread_id,
            "ids": [i for i in (fate.call_id, fate.approval_id) if i],
            "step": step,
        }


def _reachable(diagram: SequenceDiagram, rows: list[dict[str, Any]]) -> str:
    """The picture with a name and a place in the tab order for every arrow that has a record."""
    from workbench.views.text import escape

    def opened(match: re.Match[str]) -> str:
        row = rows[int(match[3])]
        ids = "\u001f".join(row["ids"])
        data = f' data-f="step" data-thread="{escape(row["thread"])}" data-run="{escape(row["run"])}" data-calls="{escape(ids)}"'
        if row["record"]:
            name = escape(f"{row['number']} {row['type']} {row['way']} {row['label']}".strip()[:300])
            data += f' data-record="{match[2]}" tabindex="0" role="button" aria-label="{name}"'
        return f'<g class="step {match[1]}" id="{match[2]}"{data}'

    # a picture is one image to a screen reader; this one has buttons in it
    return _STEP_TAG.sub(opened, diagram.svg.replace('role="img"', 'role="group"', 1))


def _verdict(findings: Findings, severities: Counter[str]) -> str:
    if not severities:
        return "Nothing wrong was found."
    rules = list(dict.fromkeys(f.rule for f in findings))
    more = f" and {count(len(rules) - 6, 'other rule')}" if len(rules) > 6 else ""
    words = [
        count(severities[s], w)
        for s, w in (("error", "error"), ("warning", "warning"), ("info", "remark"))
        if severities[s]
    ]
    return f"{', '.join(words)}: {', '.join(rules[:6])}{more}."


def _where(place: Evidence) -> str:
    return plain(str(replace(place, path=short_name(place.path))), 300)


def _moment(step: Step, zero: int | None) -> str:
    from workbench.views.ladder import offset

    return "" if step.time is None or zero is None else offset(step.time - zero)
