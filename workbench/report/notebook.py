"""The investigation notebook: what its cells show, and writing it with the parameters filled in."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from workbench.findings import Evidence, Findings
from workbench.report import narrow, story
from workbench.report.excerpts import excerpts
from workbench.report.narrow import narrowed
from workbench.report.panel import Panel, grid, heading, listing, preformatted, say
from workbench.report.plain import count, plain, sentence
from workbench.report.sources import absolute, resolve
from workbench.trace import Trace
from workbench.views.grid import Grid, cell
from workbench.views.tables import sources_table

__all__ = [
    "evidence",
    "focus",
    "happened",
    "headline",
    "inputs",
    "narrowed",
    "next_steps",
    "resolve",
    "write",
]

_PACKAGE = Path(__file__).resolve().parents[1]
#: findings whose evidence is shown in full
_DETAILED = 25
#: problems and calls that are listed
_LISTED = 100
#: threads that are told
_THREADS = 50


def template() -> Path:
    """The notebook as it is bundled: in the installed package, else in the checkout.

    Raises `FileNotFoundError` where the package was built without it.
    """
    for folder in (_PACKAGE / "notebooks", _PACKAGE.parent / "notebooks"):
        if (folder / "investigate.ipynb").is_file():
            return folder / "investigate.ipynb"
    raise FileNotFoundError("the bundled notebook investigate.ipynb is missing from this installation")


def write(
    output: str | Path,
    sources: Iterable[str],
    *,
    thread: str = "",
    call_id: str = "",
    severity: str = "info",
    force: bool = False,
) -> Path:
    """Write the bundled notebook with its parameters filled in; it runs from any folder.

    Raises `FileExistsError` where `output` is there and `force` is not given,
    `FileNotFoundError` for a source that is not there, and `ValueError` for standard input.
    """
    target = Path(output)
    named = absolute(sources)
    if target.exists() and not force:
        raise FileExistsError(f"{target} is there already; --force replaces it")
    book = json.loads(template().read_text(encoding="utf-8"))
    values: dict[str, object] = {
        "sources": named[0] if len(named) == 1 else named,
        "thread": thread,
        "call_id": call_id,
        "severity": severity,
    }
    for part in book["cells"]:
        if "parameters" in part["metadata"].get("tags", ()):
            part["source"] = [_filled(line, values) for line in part["source"]]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(book, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return target


def headline(findings: Findings) -> Panel:
    """The answer in one line: what is wrong, or that nothing is."""
    if findings.trace.empty:
        return say(
            "Nothing to judge: no AG-UI event, no request and no agent's telemetry was found.", strong=True
        )
    if not len(findings):
        return say("Nothing wrong. Here is what happened.", strong=True)
    severities = Counter(f.severity for f in findings)
    words = [count(severities[name], name) for name in ("error", "warning") if severities[name]]
    words += [count(severities["info"], "remark")] if severities["info"] else []
    return say(f"{', '.join(words)}. The worst: {findings[0].message}", strong=True)


def inputs(trace: Trace) -> Panel:
    """The sources with their counts, and every piece of input that could not be used."""
    records = trace.records
    shown = grid(sources_table(trace))
    if not records.problems:
        return shown + say("All of it could be used." if records.sources else "No source was given.")
    rows = [
        [
            cell(_place(records.sources[p.source].path, p.member), mono=True),
            cell(p.line),
            cell(p.offset),
            cell(p.reason, most=300),
            cell(p.excerpt, mono=True, most=80),
        ]
        for p in records.problems[:_LISTED]
    ]
    told = shown + grid(Grid("Not used", ("source", "line", "byte", "why", "begins with"), rows))
    more = len(records.problems) - len(rows)
    return told + say(f"and {more:,} more in trace.problems") if more else told


def happened(trace: Trace, thread: str = "", call_id: str = "") -> Panel:
    """What became of every call and approval, in words. Raises `ValueError` for an unknown id."""
    ids = narrow.ids_of(trace, call_id, thread)
    told = Panel("", "")
    chosen = narrow.conversations(trace, thread, call_id)
    for conversation in chosen[:_THREADS]:
        fates = [f for f in story.fates(conversation) if not ids or ids & {f.call_id, f.approval_id}]
        told += heading(f"Thread {plain(conversation.thread_id, 300) or 'without an id'}")
        told += say(" ".join([*story.sentences(conversation), *conversation.notes]))
        if fates:
            told += listing(
                (
                    "  ".join(
                        (
                            plain(f.tool, 100) or "unknown tool",
                            plain(f.call_id, 100),
                            plain(f.arguments, story.EXCERPT),
                        )
                    ),
                    str(f),
                )
                for f in fates[:_LISTED]
            )
        if len(fates) > _LISTED:
            told += say(f"and {len(fates) - _LISTED:,} more in trace.calls")
    if len(chosen) > _THREADS:
        told += say(f"and {count(len(chosen) - _THREADS, 'thread')} more")
    return told if told.html else say("No AG-UI event and no request was found.")


def focus(findings: Findings, thread: str = "", call_id: str = "") -> dict[str, Any]:
    """Arguments for `wb.sequence_diagram`: what is flagged and its neighbours, or all where nothing is."""
    flagged = any(f.severity != "info" for f in findings)
    return {
        "findings": findings,
        "thread": thread or None,
        "call_id": call_id or None,
        "neighbours": 3 if flagged or call_id else None,
    }


def evidence(trace: Trace, findings: Findings, limit: int = 600) -> Panel:
    """Every finding with the records that prove it, as they stand in the capture."""
    if not len(findings):
        return say("No finding, so there is nothing to prove.")
    chosen = findings.items[:_DETAILED]
    records = excerpts(trace, chosen, limit)
    told = Panel("", "")
    for number, finding in enumerate(chosen, 1):
        told += heading(f"{number}. {finding.severity}: {finding.rule}") + say(finding.message)
        for place in dict.fromkeys(finding.evidence[:8]):
            told += preformatted(_where(place), records.get((finding, place), ""))
        if len(finding.evidence) > 8:
            told += say(f"and {count(len(finding.evidence) - 8, 'place')} more")
    left = len(findings) - len(chosen)
    return told + say(f"and {count(left, 'finding')} more, see findings.frame") if left else told


def next_steps(findings: Findings) -> Panel:
    """What to do about each kind of finding, and which questions this capture cannot answer."""
    trace = findings.trace
    advice = {f.rule: sentence(f.help).replace("`", "") for f in findings if f.help}
    steps = list(advice.items())
    if not steps and len(trace.records.events):
        steps.append(
            (
                "Nothing to repair",
                "Keep the capture beside the next one that goes wrong: loaded together they compare.",
            )
        )
    lost = [s.path for s in trace.records.sources if not s.complete]
    if lost:
        steps.append(
            (
                "Capture again",
                f"{', '.join(lost[:3])} ends too early or lost pieces; findings about missing ends may go away.",
            )
        )
    if trace.missing("requests") and len(trace.records.events):
        steps.append(
            (
                "Capture the requests too",
                "Without them a decision is only seen by what followed. A HAR file from the browser has both sides.",
            )
        )
    if len(findings):
        steps.append(
            (
                "Tell somebody",
                "print(wb.markdown(trace, findings)) is a text for an issue, with a diagram and the evidence.",
            )
        )
    told = (
        listing(steps)
        if steps
        else say("Load a capture that has AG-UI events: `workbench formats` lists what is read.")
    )
    reasons = Counter(s.reason for s in findings.skipped)
    if reasons:
        told += say(f"{count(len(findings.skipped), 'rule')} could not be asked:")
        told += listing((reason, count(number, "rule")) for reason, number in reasons.most_common())
    return told


def _place(path: str, member: str) -> str:
    return f"{path} [{member}]" if member else path


def _where(place: Evidence) -> str:
    return f"{place}" + (f", byte {place.offset:,}" if place.offset is not None else "")


def _filled(line: str, values: dict[str, object]) -> str:
    """A line of the parameters cell with its value replaced; comments stay as they are."""
    name = line.partition("=")[0].strip()
    end = "\n" if line.endswith("\n") else ""
    return f"{name} = {values[name]!r}{end}" if name in values else line
