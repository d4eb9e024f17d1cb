"""What the command line prints: findings by thread and call, the story of a capture, rules, formats.

Everything from a capture goes through `plain`, and rich gets `Text`, never markup.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from workbench.findings import Finding, Findings
from workbench.report import story
from workbench.report.plain import count, plain

if TYPE_CHECKING:
    from workbench.calls.conversation import Conversation, Run
    from workbench.readers.registry import Format
    from workbench.rules import Rule
    from workbench.trace import Trace

STYLES = {"error": "bold red", "warning": "yellow", "info": "cyan"}
#: calls and approvals told by `check` on a healthy capture; `show` tells all
FATES = 30
#: runs whose ids are listed under a thread
RUNS = 8
#: places named under one finding
PLACES = 4
#: columns that are used even where there are fewer
NARROW = 20
#: threads told by `check` on a healthy capture
THREADS = 30
#: longest id, and longest paragraph, in characters: a hostile one has a million
ID, PARAGRAPH = 200, 2000


def console() -> Console:
    """Standard output as rich sees it: no markup, no emoji, no highlighting of what looks like code."""
    out = Console(markup=False, emoji=False, highlight=False)
    if out.width < NARROW:
        # COLUMNS=0 and terminals that do not know their size would show nothing at all
        out.width = NARROW if out.width else 80
    return out


def findings(out: Console, found: Findings, chosen: Iterable[Conversation] | None = None) -> None:
    """Print findings grouped by thread and call, then the totals; on a healthy capture what happened.

    `chosen` are the conversations to tell about where nothing is wrong; all by default.
    """
    trace = found.trace
    advised: set[str] = set()
    for thread, calls in _groups(found).items():
        talks = [c for c in trace.conversations if thread in (c.thread_id, *c.thread_ids)] if thread else []
        out.print(Text(f"thread {plain(thread, ID)}" if thread else "the capture", style="bold"))
        _runs(out, talks)
        occurrences = {call.id: call for talk in talks for call in talk.calls}
        for call, items in calls.items():
            seen = occurrences.get(call)
            _heading(out, call, items, story.fate(seen) if seen else None)
            for item in items:
                _finding(out, item, advise=item.rule not in advised)
                advised.add(item.rule)
        out.print()
    for one in found.known:
        _inside(out, plain(str(one), PARAGRAPH), 0, "bold")
    if not found.at_least("warning"):
        if trace.empty:
            out.print(
                Text(
                    "Nothing to judge: no AG-UI event, no request and no agent's telemetry was found.",
                    style="yellow",
                )
            )
        else:
            told = list(trace.conversations if chosen is None else chosen)
            _healthy(out, found, told)
            fates(out, told, FATES)
    totals(out, found)


def _healthy(out: Console, found: Findings, told: Iterable[Conversation]) -> None:
    """Say that nothing is wrong; not in green where the answers to approvals are out of sight."""
    if any(story.answers_unseen(conversation) for conversation in told):
        out.print(Text("Nothing wrong that can be seen without the requests.", style="bold yellow"))
    else:
        said = "Nothing wrong, only remarks." if len(found) else "Nothing wrong."
        out.print(Text(said, style="bold green"))


def fates(
    out: Console,
    conversations: Iterable[Conversation],
    limit: int | None = None,
    call_ids: frozenset[str] = frozenset(),
) -> None:
    """Print what became of every call and approval, one or two lines each; with `call_ids` only of these."""
    left = limit
    cut = silent = 0
    for number, conversation in enumerate(conversations):
        if limit is not None and number >= THREADS:
            silent += 1
            continue
        told = [f for f in story.fates(conversation) if not call_ids or {f.call_id, f.approval_id} & call_ids]
        out.print(
            Text.assemble(("thread ", "bold"), (plain(conversation.thread_id, ID) or "(no id)", "bold"))
        )
        _inside(out, " ".join(story.sentences(conversation)), 2)
        for note in conversation.notes:
            _inside(out, plain(note, PARAGRAPH), 2, "dim")
        shown = told if left is None else told[:left]
        for fate in shown:
            _inside(out, _call(fate.call_id, fate), 2)
            _inside(out, str(fate), 4)
        cut += len(told) - len(shown)
        left = None if left is None else left - len(shown)
    if cut:
        _inside(out, f"… and {count(cut, 'call or approval', 'calls and approvals')} more: workbench show", 2)
    if silent:
        _inside(out, f"… and {count(silent, 'thread')} more: workbench show", 2)


def conversation(
    out: Console, trace: Trace, told: Conversation, call_ids: frozenset[str] = frozenset()
) -> None:
    """Print a conversation line by line, run by run."""
    run = None
    for step in story.steps(trace, told, call_ids):
        if run is not step.run:
            run = step.run
            parts = [f"run {run.number + 1}", _run_id(run), _outcome(run)]
            if run.outcome == "error":
                parts.append(f"{plain(run.error_code, ID)} {plain(run.error, 120)}".strip())
            _inside(out, " · ".join(filter(None, parts)), 2, "bold")
        line = Text(_ARROWS[step.kind], style="dim")
        line.append(step.text)
        if step.call_id:
            line.append(f"  [{plain(step.call_id, ID)}]", style="cyan")
        _inside(out, line, 4)


_ARROWS = {"text": "   ", "call": "-> ", "result": "<- ", "ask": "?  ", "answer": "!  ", "work": "*  "}


def totals(out: Console, found: Findings) -> None:
    """Print one line of counts, and which rules could not be asked."""
    severities = Counter(f.severity for f in found)
    words = [count(severities[name], name) for name in ("error", "warning")] + [
        f"{severities['info']:,} info"
    ]
    summary = found.trace.summary()
    seen = [
        count(summary["threads"], "thread"),
        count(summary["runs"], "run"),
        _calls(found.trace),
        count(summary["approvals"], "approval"),
        count(len(summary["sources"]), "source"),
    ]
    _inside(out, f"{', '.join(words)} in {', '.join(seen)}.", 0, "bold")
    reasons = Counter(s.reason for s in found.skipped)
    if reasons:
        # a reason of its own may be a list: `no approval; no requests`
        told = ((plain(reason).replace("; ", " and "), number) for reason, number in reasons.most_common())
        why = "; ".join(f"{reason} ({number})" for reason, number in told)
        _inside(out, f"{count(len(found.skipped), 'rule')} not asked: {why}.", 0, "dim")


def _calls(trace: Trace) -> str:
    """How many calls there are; those that only ask a person about another call are named apart."""
    listed = [call for talk in trace.conversations for call in talk.calls]
    asking = sum(call.synthetic_for is not None for call in listed)
    return count(len(listed), "call") + (f" ({asking} to ask a person)" if asking else "")


def findings_table(out: Console, found: Findings) -> None:
    """Print the findings as a table, then the totals; on a healthy capture what happened."""
    from rich import box
    from rich.table import Table

    if not len(found):
        findings(out, found)
        return
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("severity", no_wrap=True)
    table.add_column("rule", no_wrap=True)
    table.add_column("what is wrong, and where", overflow="fold")
    for item in found:
        said = Text(plain(item.message, PARAGRAPH))
        if item.evidence:
            said.append(f"\n{plain(item.evidence[0])}", style="dim")
        table.add_row(Text(item.severity, style=STYLES[item.severity]), Text(item.rule, style="bold"), said)
    out.print(table)
    out.print()
    totals(out, found)


def formats(out: Console, known: Iterable[Format]) -> None:
    """Print the formats that are read, then those that are only recognised."""
    listed = list(known)
    for title, chosen in (
        ("Read", [f for f in listed if f.read]),
        ("Recognised, not read", [f for f in listed if not f.read]),
    ):
        if chosen:
            out.print(Text(title, style="bold"))
        for one in chosen:
            line = Text(f"  {one.name}", style="bold")
            if one.extensions:
                line.append(f"  {' '.join(one.extensions)}", style="dim")
            out.print(line)
            told = one.title if not one.advice else f"{one.title}: {one.advice}"
            _inside(out, told, 4)


def rules(out: Console, listed: Iterable[Rule]) -> None:
    """Print a list of rules: code, name, severity, and the first sentence of what each means."""
    for made in listed:
        line = Text(f"{made.code}  ", style="dim")
        line.append(f"{made.name}  ", style="bold")
        line.append(made.severity, style=STYLES[made.severity])
        out.print(line)
        _inside(out, " ".join(made.meaning.split()), 8)


def rule(out: Console, made: Rule) -> None:
    """Print everything a rule says about itself."""
    line = Text(f"{made.name}  ", style="bold")
    line.append(f"{made.code}  ", style="dim")
    line.append(made.severity, style=STYLES[made.severity])
    line.append(f"  judges a {made.scope}; needs {', '.join(made.needs) or 'nothing'}", style="dim")
    out.print(line)
    out.print()
    _inside(out, " ".join(made.meaning.split()), 2)
    for heading, text in made.sections.items():
        out.print()
        out.print(Text(heading, style="bold"))
        if "\n" in text and heading == "Example":
            _inside(out, text, 2)
        else:
            _inside(out, " ".join(text.split()), 2)


def _groups(found: Findings) -> dict[str, dict[str, list[Finding]]]:
    """Findings by thread, then by the call they are about first; the order of the findings is kept."""
    groups: dict[str, dict[str, list[Finding]]] = {}
    for item in found:
        call = item.call_ids[0] if item.call_ids else ""
        groups.setdefault(item.thread_id, {}).setdefault(call, []).append(item)
    return groups


def _heading(out: Console, call: str, items: list[Finding], fate: story.Fate | None) -> None:
    if not call:
        runs = list(dict.fromkeys(item.run_id for item in items if item.run_id))
        shown = ", ".join(plain(run, 60) for run in runs[:3]) + (" …" if len(runs) > 3 else "")
        out.print(
            Text(f"  {'runs' if len(runs) > 1 else 'run'} {shown}" if runs else "  no run", style="bold")
        )
        return
    _inside(out, _call(call, fate), 2)
    if fate:
        _inside(out, str(fate), 4, "dim")


def _call(call_id: str, fate: story.Fate | None) -> Text:
    """`save_note  call_1  {"title":"…"}`: the line that names a call."""
    line = Text(plain(fate.tool, ID) or "(tool unknown)" if fate else "call", style="bold")
    line.append(f"  {plain(call_id, ID)}", style="not bold cyan")
    if fate and fate.arguments not in ("", "{}"):
        line.append(f"  {plain(fate.arguments, story.EXCERPT)}", style="not bold dim")
    return line


def _runs(out: Console, conversations: Iterable[Conversation]) -> None:
    """Print which id each run number stands for."""
    runs = [run for conversation in conversations for run in conversation.runs]
    for run in runs[:RUNS]:
        _inside(out, f"run {run.number + 1}  {_run_id(run)}  {_outcome(run)}", 2, "dim")
    if len(runs) > RUNS:
        _inside(out, f"and {count(len(runs) - RUNS, 'run')} more", 2, "dim")


def _run_id(run: Run) -> str:
    """Its id; a run that only telemetry shows has none."""
    return plain(run.run_id, ID) or (
        "(telemetry only)" if run.row is None and (run.spans or run.logs) else ""
    )


def _outcome(run: Run) -> str:
    """How a run ended, in a word."""
    return "no end in the capture" if run.outcome == "none" else plain(run.outcome)


def _finding(out: Console, item: Finding, *, advise: bool) -> None:
    line = Text(item.severity, style=STYLES[item.severity])
    line.append(f"  {item.rule}", style="bold")
    line.append(f"  {item.code}  {item.place}", style="not bold dim")
    _inside(out, line, 4)
    _inside(out, plain(item.message, PARAGRAPH), 6)
    places = list(dict.fromkeys(item.evidence))
    for place in places[:PLACES]:
        # one place a line and never wrapped, so that editors and terminals can follow it
        out.print(Text(f"      at {plain(place)}"), soft_wrap=True)
    if len(places) > PLACES:
        _inside(out, f"and {count(len(places) - PLACES, 'place')} more", 6, "dim")
    if item.help and advise:
        _inside(out, f"To do: {plain(item.help)}", 6, "dim")


def _inside(out: Console, text: str | Text, indent: int, style: str = "") -> None:
    """Print a paragraph indented and wrapped, without spaces at the ends of lines."""
    said = Text(text, style=style) if isinstance(text, str) else text
    said.truncate(2 * PARAGRAPH, overflow="ellipsis")
    for line in said.wrap(out, max(out.width - indent, 20), overflow="fold"):
        line.rstrip()
        line.pad_left(indent)
        out.print(line, soft_wrap=True)
