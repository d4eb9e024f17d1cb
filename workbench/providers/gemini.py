"""Gemini: a function response turn stands right behind its function call turn, part for part."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.providers.catalogue import Hit, provider_rule
from workbench.providers.request import Request, names, paths, shown
from workbench.readers.payloads.gemini import signature
from workbench.readers.payloads.history import Block, Turn

_ME = "gemini"
_STEP = (
    "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly. "
    "Additional data, function call `default_api:{name}` , position {position}."
)


def _turns(request: Request) -> list[Turn]:
    return request.turns(own=_ME, merge=False)


@provider_rule(
    "R22", _ME, sure="B", sources=["google-gemini/gemini-cli#3814"],
    says="The turn behind a call turn has as many function responses as that has function calls.",
    error="Please ensure that the number of function response parts is equal to the number of function call parts of "
    "the function call turn.",
)  # fmt: skip
def counts(request: Request) -> Iterator[Hit]:
    """Calls and responses that differ in number."""
    turns = _turns(request)
    answered = {b.call_id for t in turns for b in t.of("result") if b.call_id}
    for n, turn in enumerate(turns[:-1]):
        calls, results = turn.of("call"), turns[n + 1].of("result")
        if not calls or turn.role != "assistant" or len(calls) == len(results):
            continue
        ids = {b.call_id for b in results}
        open_calls = [b for b in calls if b.call_id not in ids]
        if not results and open_calls and all(b.call_id in answered for b in open_calls):
            continue  # the responses come too late: R24
        extra = [b for b in results if b.call_id not in {c.call_id for c in calls}] or results[len(calls) :]
        wrong = open_calls or extra or calls
        yield Hit(shown(wrong), paths(wrong), others=names(wrong))
    if request.sent and turns and turns[-1].role == "assistant" and turns[-1].of("call"):
        calls = turns[-1].of("call")
        yield Hit(shown(calls), paths(calls), others=names(calls))


@provider_rule(
    "R23", _ME, sure="B", sources=["google-gemini/gemini-cli#11814", "google-gemini/gemini-cli#26486"],
    says="A call turn comes right behind a user turn or a function response turn.",
    error="Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
)  # fmt: skip
def call_turn(request: Request) -> Iterator[Hit]:
    """Call turns at the beginning, or behind another model turn."""
    turns = _turns(request)
    for n, turn in enumerate(turns):
        calls = turn.of("call")
        if calls and turn.role == "assistant" and (n == 0 or turns[n - 1].role == "assistant"):
            yield Hit(shown(calls), paths(calls), others=names(calls))


@provider_rule(
    "R24", _ME, sure="B", sources=["langchain-ai/langchain#27799"],
    says="A function response turn comes right behind a function call turn.",
    error="Please ensure that function response turn comes immediately after a function call turn.",
)  # fmt: skip
def response_turn(request: Request) -> Iterator[Hit]:
    """Response turns behind anything else."""
    turns = _turns(request)
    for n, turn in enumerate(turns):
        results = turn.of("result")
        if results and (n == 0 or not turns[n - 1].of("call")):
            yield Hit(shown(results), paths(results), others=names(results))


@provider_rule(
    "R25", _ME, sure="B", sources=["nearai/ironclaw#1510", "junjiem/dify-plugin-agent-mcp_sse#143"],
    says="Gemini 3: in the current turn, the first function call of every step has its thought signature; further "
    "calls of the same step have none.",
    error=_STEP,
)  # fmt: skip
def unsigned(request: Request) -> Iterator[Hit]:
    """Steps since the last user message whose first call has no signature."""
    if request.dialect == "agent-framework":
        yield from _eaten(request)
    if request.dialect != _ME or "gemini-3" not in request.model:
        return
    turns = _turns(request)
    asked = max((n for n, t in enumerate(turns) if t.role == "user" and t.of("text", "data")), default=-1)
    for n, turn in enumerate(turns):
        calls = turn.of("call")
        if n > asked and turn.role == "assistant" and calls and not signature(calls[0]):
            words: dict[str, object] = {"name": calls[0].name, "position": n + 1}
            yield Hit(shown(calls[:1]), paths(calls[:1]), words, others=names(calls[:1]))


def _eaten(request: Request) -> Iterator[Hit]:
    """agent-framework gives a signature to the call right behind its carrier; an approval between takes it away."""
    for n, turn in enumerate(request.history.turns):
        carrier: Block | None = None
        between = False
        for block in turn.blocks:
            if block.kind == "reasoning" and block.raw.get("protected_data"):
                carrier, between = block, False
            elif carrier is not None and block.kind.startswith("approval-"):
                between = True
            elif carrier is not None:
                if block.kind == "call" and between:
                    note = (
                        "an approval stands between the signature and its call, where the connector loses it"
                    )
                    words: dict[str, object] = {"name": block.name, "position": n + 1}
                    yield Hit(shown([block]), (block.path,), words, note=note, others=names([block]))
                carrier = None


@provider_rule(
    "R26", _ME, sure="B", sources=["router-for-me/CLIProxyAPI#2104"],
    says="A function response names its function.",
    error="{place}.function_response.name: Name cannot be empty.",
)  # fmt: skip
def nameless(request: Request) -> Iterator[Hit]:
    """Responses without a name."""
    if request.dialect == _ME:
        for block in request.history.blocks("result"):
            if not block.name:
                yield Hit(shown([block]), (block.path,), {"place": block.path})


@provider_rule(
    "R27", _ME, sure="B", sources=["egoist/chatwise-releases#250"],
    says="Every content has parts.",
    error="contents.parts must not be empty.",
)  # fmt: skip
def empty(request: Request) -> Iterator[Hit]:
    """Contents without parts."""
    if request.dialect == _ME:
        for turn in request.history.turns:
            if not turn.raw.get("parts"):
                yield Hit((), (turn.path,))
