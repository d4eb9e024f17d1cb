"""OpenAI Chat Completions: every call is answered by a tool message right behind it."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.providers.catalogue import Hit, provider_rule
from workbench.providers.request import Message, Request, paths, repeated, shown
from workbench.readers.payloads.history import Block

_ME = "openai-chat"
#: characters of a call id that older and newer models take
_SHORT, _LONG = 40, 64


def _steps(request: Request) -> Iterator[tuple[int, list[Block], list[Message]]]:
    """Runs of tool messages, each with the index and the calls of the assistant message before it."""
    messages = request.messages
    position = 0
    while position < len(messages):
        message = messages[position]
        calls = message.calls if message.role == "assistant" else []
        end = position + (message.role != "tool")
        start = end
        while end < len(messages) and messages[end].role == "tool":
            end += 1
        if calls or end > start:
            yield end - 1, calls, messages[start:end]
        position = max(end, position + 1)


@provider_rule(
    "R11", _ME, sure="B", sources=["aliasrobotics/cai#111"],
    says="Every call of an assistant message is answered by a tool message before any other message.",
    error="An assistant message with 'tool_calls' must be followed by tool messages responding to each "
    "'tool_call_id'. The following tool_call_ids did not have response messages: {ids}",
)  # fmt: skip
def unanswered(request: Request) -> Iterator[Hit]:
    """Calls without a tool message right behind them."""
    for position, calls, tools in _steps(request):
        answered = {t.result.call_id for t in tools if t.result is not None}
        missing = [c for c in calls if c.call_id not in answered]
        if missing and not request.last(position, len(request.messages)):
            yield Hit(shown(missing), paths(missing))


@provider_rule(
    "R12", _ME, sure="B", sources=["microsoft/promptflow#3130"],
    says="A tool message answers a call of the assistant message that it follows.",
    error="messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
)  # fmt: skip
def uncalled(request: Request) -> Iterator[Hit]:
    """Tool messages for calls that the assistant message before them does not have."""
    for _, calls, tools in _steps(request):
        called = {c.call_id for c in calls}
        lost = [t.result for t in tools if t.result is not None and t.result.call_id not in called]
        if lost:
            yield Hit(shown(lost), paths(lost))


@provider_rule(
    "R13", _ME, sure="B", sources=["agno-agi/agno#5116"],
    says="A call has one tool message.",
    error="Invalid parameter: Duplicate value for 'tool_call_id' of '{ids}', in {places}.",
)  # fmt: skip
def twice(request: Request) -> Iterator[Hit]:
    """Two tool messages for one call."""
    for _, calls, tools in _steps(request):
        called = {c.call_id for c in calls}
        results = [t.result for t in tools if t.result is not None and t.result.call_id in called]
        for group in repeated(results):
            yield Hit(shown(group[:1]), paths(group), {"places": " and ".join(paths(group[:2]))})


@provider_rule(
    "R14", _ME, sure="B", sources=["vercel/ai#5171", "agno-agi/agno#5382"],
    says="A call id has at most 40 characters; some models take 64. A warning up to there.",
    error="Invalid '{place}.id': string too long. Expected a string with maximum length {most}, but got a string "
    "with length {length} instead.",
)  # fmt: skip
def too_long(request: Request) -> Iterator[Hit]:
    """Long call ids, each once."""
    seen: set[str] = set()
    for message in request.messages:
        for call in message.calls:
            length = len(call.call_id)
            if length > _SHORT and call.call_id not in seen:
                seen.add(call.call_id)
                words: dict[str, object] = {"place": call.path, "most": _SHORT, "length": length}
                mild = length <= _LONG
                yield Hit((call.call_id,), (call.path,), words, "warning" if mild else "",
                          "depends on the model" if mild else "")  # fmt: skip
