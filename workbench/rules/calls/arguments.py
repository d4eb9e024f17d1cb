"""The arguments of calls as texts: one JSON object each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from workbench.calls.arguments import canonical, documents, is_document
from workbench.calls.conversation import At, Call, Run, Start
from workbench.findings import Finding
from workbench.rules.calls.call_id_collision import spans, text_of
from workbench.rules.calls.words import finding, is_real, named_call
from workbench.rules.registry import rule
from workbench.rules.slips import cut, named, quoted

if TYPE_CHECKING:
    from workbench.trace import Trace


class Text(NamedTuple):
    """Arguments that are not blank, and where they stand."""

    call: Call
    text: str
    run: Run
    place: str
    at: tuple[At | int | None, ...]


def _is_object(text: str) -> bool:
    return text[:1] == "{" and is_document(text)


def _texts(trace: Trace) -> Iterator[Text]:
    """The argument texts of all calls, in stream and lists; each different text of a call once.

    The usual case, an object that is streamed once, is passed over: nothing is wrong with it.
    """
    for conversation in trace.conversations:
        for call in conversation.calls:
            seen: set[str] = set()
            if len(call.starts) == 1 and not call.listed and _is_object(call.starts[0].arguments):
                continue
            for span in spans(call):
                text = text_of(span)
                if text.strip() and text not in seen and _whole(span):
                    seen.add(text)
                    rows = [row for start in span for pair in start.deltas for row in pair]
                    yield Text(
                        call,
                        text,
                        span[0].run,
                        "stream",
                        (span[0].event, *dict.fromkeys(rows[:1] + rows[-1:])),
                    )
            for items, entry in call.listed:
                for part in (entry.part, *entry.copies):
                    if part.arguments.strip() and part.arguments not in seen:
                        seen.add(part.arguments)
                        yield Text(call, part.arguments, items.run, items.place, (items.at,))


def _whole(span: list[Start]) -> bool:
    """The arguments came to their end: by END, or for chunks by a run that ended as it should."""
    last = span[-1]
    if last.end is not None:
        return True
    return last.chunked and last.run.complete and last.run.end is not None and last.run.outcome != "error"


@rule("call-args-invalid", code="CAL013", severity="error", needs=("calls",))
def call_args_invalid(trace: Trace) -> Iterator[Finding]:
    r"""The arguments of a call are no JSON.

    Why it hurts: clients replace them by `{}` without a word, so the tool runs with nothing,
        or the approval card shows no arguments.
    No fault when: they are empty (a tool without parameters), or the call never ended, which
        is `call-not-closed`.
    What to do: compare with what the model sent. Look for lost or doubled deltas, single
        quotes of a Python dict, or an answer that hit the token limit in the middle.
    Example:
        {"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": "{\"host\": \"web-3"}
        {"type": "TOOL_CALL_END", "toolCallId": "c1"}
    Sources: the reducer of @ag-ui/client; ogx-ai/ogx#5462.
    """
    for call, text, run, place, at in _texts(trace):
        if documents(text) is None:
            message = f"The arguments of {named_call(call.tool, call.id)} are no JSON: {quoted(text)}."
            yield finding(trace, run, message, *at, calls=(call,), place=place)


@rule("call-args-concatenated", code="CAL014", severity="error", needs=("calls",))
def call_args_concatenated(trace: Trace) -> Iterator[Finding]:
    r"""The arguments of a call are two or more JSON documents in a row.

    Why it hurts: the text is no JSON any more, so clients fall back to `{}`.
    No fault when: one document comes in pieces.
    What to do: equal documents mean that the arguments were sent twice, most often once as
        deltas and once whole; a leading `{}` is an initial value that was streamed as if it
        were a delta; different documents are two calls under one id (`call-id-collision`).
    Example:
        {"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": "{}"}
        {"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": "{\"city\": \"Cork\"}"}
        {"type": "TOOL_CALL_END", "toolCallId": "c1"}
    Sources: ogx-ai/ogx#5462; agent-framework-ag-ui 1.0.0 with two client-side calls.
    """
    for call, text, run, place, at in _texts(trace):
        found = documents(text)
        if found is not None and len(found) > 1:
            forms = list(dict.fromkeys(canonical(d if isinstance(d, dict | list) else text) for d in found))
            kind = (
                "equal"
                if len(forms) == 1
                else "an initial {} before the real ones"
                if forms[0] == "{}"
                else "different"
            )
            name = named_call(call.tool, call.id)
            message = (
                f"The arguments of {name} are {len(found)} JSON documents in a row ({kind}): {quoted(text)}."
            )
            yield finding(trace, run, message, *at, calls=(call,), place=place)


@rule("call-args-not-object", code="CAL015", severity="warning", needs=("calls",))
def call_args_not_object(trace: Trace) -> Iterator[Finding]:
    """The arguments of a call are JSON, but no object.

    Why it hurts: tools take named arguments; a list, a string or null makes the call fail, and
        providers refuse it in the history.
    No fault when: they are empty or an object.
    What to do: a JSON string that itself holds JSON was encoded twice: encode once. Else look
        at the tool's schema and what the model made of it.
    Example:
        {"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": "[1, 2]"}
        {"type": "TOOL_CALL_END", "toolCallId": "c1"}
    Sources: JSON Schema of function tools at OpenAI, Anthropic and Gemini.
    """
    for call, text, run, place, at in _texts(trace):
        found = documents(text)
        if found is not None and len(found) == 1 and not isinstance(found[0], dict):
            message = (
                f"The arguments of {named_call(call.tool, call.id)} are JSON, but no object: {quoted(text)}."
            )
            yield finding(trace, run, message, *at, calls=(call,), place=place)


@rule("call-args-missing", code="CAL016", severity="warning", needs=("calls",))
def call_args_missing(trace: Trace) -> Iterator[Finding]:
    """A call is streamed without arguments, and an approval or a message list knows some.

    Why it hurts: a client that builds its card from the stream shows an action without its
        content, and the person approves what they cannot see.
    No fault when: the tool has no parameters: nothing, or `{}`, stands everywhere.
    What to do: emit TOOL_CALL_ARGS before TOOL_CALL_END. Look for arguments that the provider
        delivers whole with the last chunk.
    Example:
        {"type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "water"}
        {"type": "TOOL_CALL_END", "toolCallId": "c1"}
        {"type": "CUSTOM", "name": "function_approval_request", "value":
            {"id": "i1", "function_call": {"call_id": "c1", "name": "water", "arguments": {"bed": 4}}}}
    Sources: agent-framework approval requests, which carry the whole call.
    """
    for conversation in trace.conversations:
        for call in conversation.calls:
            ended = call.starts and all(s.end is not None or s.chunked for s in call.starts)
            if not ended or not is_real(call) or any(s.arguments.strip() for s in call.starts):
                continue
            known = _known_elsewhere(call)
            if known is None:
                continue
            where, arguments, at = known
            run = call.starts[0].run
            message = (
                f"{named_call(call.tool, call.id)} is streamed without arguments in {named(run)}, "
                f"but {where} has {quoted(arguments)}."
            )
            yield finding(trace, run, message, call.starts[0].event, at, calls=(call,), approvals=call.approvals,
                          severity="info" if cut(run, conversation) else "")  # fmt: skip


def _known_elsewhere(call: Call) -> tuple[str, str, At] | None:
    for approval in call.approvals:
        for ask in approval.asks:
            if ask.arguments and canonical(ask.arguments) != "{}":
                return "the approval request", ask.arguments, ask.at
    for items, entry in call.listed:
        if canonical(entry.part.arguments) != "{}":
            return f"the {items.place}", entry.part.arguments, items.at
    return None
