"""Two different calls under one id."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from workbench.calls.arguments import canonical, differs, documents, is_document
from workbench.calls.conversation import At, Call, Run, Start
from workbench.findings import Finding
from workbench.rules.calls.words import finding, named_call
from workbench.rules.registry import rule
from workbench.rules.slips import named, quoted

if TYPE_CHECKING:
    from workbench.trace import Trace


class Clash(NamedTuple):
    """Where a second call under one id shows, and what it says."""

    run: Run
    at: tuple[At | int | None, ...]
    what: str
    place: str
    #: START events that belong to the second call
    starts: tuple[int, ...] = ()


def spans(call: Call) -> list[list[Start]]:
    """The STARTs of a call from opening to END: those that were open together stand together."""
    groups: list[list[Start]] = []
    for start in call.starts:
        last = groups[-1][-1] if groups else None
        if last is not None and last.run is start.run and last.end == start.end:
            groups[-1].append(start)
        else:
            groups.append([start])
    return groups


def text_of(span: list[Start]) -> str:
    """The arguments as a client glues them."""
    return "".join(start.arguments for start in span)


def distinct(text: str) -> list[str]:
    """The different JSON documents in an argument text; a leading `{}` is an initial value."""
    found = documents(text) or []
    forms = list(
        dict.fromkeys(canonical(piece if isinstance(piece, dict | list) else text) for piece in found)
    )
    return [form for form in forms if form != "{}"]


def clashes(call: Call) -> Iterator[Clash]:
    """Every sign in the stream that two calls share the id of this one."""
    if len(call.starts) == 1 and is_document(call.starts[0].arguments):
        return
    groups = spans(call)
    if not groups:
        return
    edited = {id(a.run) for p in call.approvals for a in p.accepted if a.decision in ("edited", "unseen")}
    name, arguments, first = "", "", groups[0][0]
    for number, span in enumerate(groups):
        text = text_of(span)
        forms = distinct(text)
        own = next((s.tool for s in span if s.tool), "")
        renamed = len({s.tool for s in span if s.tool}) > 1
        if len(forms) > 1 and not renamed:
            starts = tuple(s.event for s in span[1:])
            what = f"is given two different arguments: {quoted(forms[0])} and {quoted(forms[1])}"
            yield Clash(span[0].run, (span[0].event, *starts, *_rows(span)), what, "stream", starts)
        form = forms[0] if len(forms) == 1 else ""
        if number:
            what = ""
            if own and name and own != name:
                what = f"is started again with the name {own} instead of {name}"
            elif form and arguments and form != arguments and id(span[0].run) not in edited:
                what = f"is started again with {quoted(form)} instead of {quoted(arguments)}"
            if what:
                starts = tuple(s.event for s in span)
                yield Clash(span[0].run, (first.event, *starts), what, "stream", starts)
        name, arguments = name or own, arguments or form


def _rows(span: list[Start]) -> list[int]:
    """Where the pieces of the arguments stand: the first and the last of them."""
    rows = [row for start in span for first, last in start.deltas for row in (first, last)]
    return sorted({rows[0], rows[-1]}) if rows else []


def collided_starts(call: Call) -> set[int]:
    """START events that `call-id-collision` reports, so that nobody else does."""
    return {row for clash in clashes(call) for row in clash.starts}


def _in_lists(call: Call) -> Iterator[Clash]:
    """A list that holds the id twice in one turn, or under another name than the stream."""
    streamed = next((s.tool for s in call.starts if s.tool), "")
    for items, entry in call.listed:
        part = entry.part
        if streamed and part.name and part.name != streamed:
            what = f"is called {part.name} in the {items.place} and {streamed} in the stream"
            yield Clash(items.run, (call.starts[0].event, items.at), what, items.place)
        for copy in entry.copies:
            if differs(part.name, part.arguments, copy.name, copy.arguments):
                what = (
                    f"stands twice in the {items.place}, as {part.name} {quoted(part.arguments)} "
                    f"and as {copy.name} {quoted(copy.arguments)}"
                )
                yield Clash(items.run, (items.at,), what, items.place)


@rule("call-id-collision", code="CAL008", severity="error", needs=("calls",))
def call_id_collision(trace: Trace) -> Iterator[Finding]:
    r"""Two different calls, by name or arguments, share one id within one user turn.

    Why it hurts: results, approvals and traces are joined by the id: one call gets the other's
        answer, and a person approves arguments that are not the ones that run.
    No fault when: the first call is settled and the user has spoken since (some providers
        count ids anew in each turn); a lone `{}` before the real arguments is an initial
        value; arguments that a person edited differ on purpose.
    What to do: make ids unique at the place that turns the provider's response into calls.
        Providers that use the function name as id (Ollama, llama.cpp, Gemini without ids)
        need an id made by the client library.
    Example:
        {"type": "TOOL_CALL_START", "toolCallId": "find", "toolCallName": "find"}
        {"type": "TOOL_CALL_ARGS", "toolCallId": "find", "delta": "{\"q\": \"tea\"}"}
        {"type": "TOOL_CALL_ARGS", "toolCallId": "find", "delta": "{\"q\": \"milk\"}"}
        {"type": "TOOL_CALL_END", "toolCallId": "find"}
    Sources: microsoft/agent-framework#6788.
    """
    for conversation in trace.conversations:
        for call in conversation.calls:
            if not call.id:
                continue
            for clash in (*clashes(call), *_in_lists(call)):
                message = f"{named_call(call.tool, call.id)} {clash.what}, in {named(clash.run)}."
                yield finding(trace, clash.run, message, *clash.at, calls=(call,), place=clash.place)
