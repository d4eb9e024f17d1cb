"""OpenAI Responses: items that are paired by call_id, wherever they stand, in the input or in stored context."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.providers.catalogue import Hit, provider_rule
from workbench.providers.request import Request, names, paths, repeated, shown
from workbench.readers.payloads.history import Block

_ME = "openai-responses"
#: characters of a call_id
_LONGEST = 64
_DEEPSEEK = re.compile(r"^[a-z]+://[^/]*\bdeepseek\.com(:\d+)?/", re.IGNORECASE)
#: ids that the service gave to its own items
_SERVED = re.compile(r"(msg|rs|fc|mcp|mcpr|mcpl|ws|fs|ci|ig)_")


def _blocks(request: Request, *kinds: str) -> list[Block]:
    return list(request.history.blocks(*kinds))


def _stored(request: Request, *kinds: str) -> list[Block]:
    return [b for b in request.stored.blocks if b.kind in kinds] if request.stored is not None else []


def _unknown(request: Request) -> bool:
    """Something may stand where the capture does not show it: storage, references, elided pieces."""
    stored = request.stored is not None and not request.stored.known
    given = {b.id for answer in request.answered for b in answer}
    referred = any(b.id not in given for b in _blocks(request, "reference"))
    return stored or referred or not request.history.whole


def _referred(request: Request) -> list[Block]:
    """Stored items that the input only names, as earlier answers in the capture gave them."""
    named = {b.id for b in _blocks(request, "reference")}
    return [b for answer in request.answered for b in answer if b.id in named]


@provider_rule(
    "R1", _ME, sure="B", sources=["continuedev/continue#10092", "microsoft/vscode#320060"],
    says="A function_call_output has its function_call, in the input or in stored context.",
    error="No tool call found for function call output with call_id {ids}.",
)  # fmt: skip
def uncalled(request: Request) -> Iterator[Hit]:
    """Outputs without a call."""
    if _unknown(request):
        return
    called = {b.call_id for b in (*_blocks(request, "call"), *_stored(request, "call"), *_referred(request))}
    for block in _blocks(request, "result"):
        if block.call_id not in called:
            yield Hit(shown([block]), (block.path,))


@provider_rule(
    "R2", _ME, sure="B", sources=["router-for-me/CLIProxyAPI#2368", "openai/openai-support-agent-demo#12"],
    says="Every function_call has its output.",
    error="No tool output found for function call {ids}.",
)  # fmt: skip
def unanswered(request: Request) -> Iterator[Hit]:
    """Calls without an output, in the input and in what is stored."""
    if not request.history.whole:
        return
    answered = {b.call_id for b in (*_blocks(request, "result"), *_stored(request, "result"))}
    ends = request.history.turns[-1].path if request.history.turns else ""
    tail = _tail(request) if not request.sent else set()
    for block in (*_blocks(request, "call"), *_stored(request, "call")):
        waits = (
            request.stored is not None and not request.stored.known and block not in _stored(request, "call")
        )
        if block.call_id not in answered and block.path not in tail and not waits:
            yield Hit(shown([block]), (block.path or ends,), others=names([block]))


def _tail(request: Request) -> set[str]:
    """The calls at the end of a list that is not sent yet."""
    found: set[str] = set()
    for turn in reversed(request.history.turns):
        if turn.role == "user" and turn.of("text", "data"):
            break
        if turn.role == "assistant" and turn.of("text") and not turn.of("call") and not found:
            break
        found |= {b.path for b in turn.of("call")}
    return found


@provider_rule(
    "R3", _ME, sure="B", sources=["microsoft/agent-framework#7452"],
    says="An mcp_approval_response has its mcp_approval_request, in the input or in stored context. A local call has none "
    "anywhere.",
    error="The following MCP approval requests have approval responses but weren't passed as input: {ids}",
)  # fmt: skip
def unasked(request: Request) -> Iterator[Hit]:
    """Approval responses without a request."""
    if request.dialect == "agent-framework":
        yield from _left_over(request)
    if request.dialect != _ME:
        return
    asked = {
        b.approval_id for b in (*_blocks(request, "approval-request"), *_stored(request, "approval-request"))
    }
    asked |= {b.id for b in (*_blocks(request, "reference"), *_referred(request))}
    for block in _blocks(request, "approval-response"):
        local = is_local(block.approval_id, request)
        if block.approval_id not in asked and (local or not _unknown(request)):
            yield Hit((block.approval_id,), (block.path,))


def _left_over(request: Request) -> Iterator[Hit]:
    """Approvals of local calls behind the result: agent-framework-openai 1.11 sends them as the provider's own."""
    done: set[str] = set()
    for block in _blocks(request, "result", "approval-response"):
        if block.kind == "result":
            done.add(block.call_id)
        elif not block.hosted and {block.call_id, block.approval_id} & done:
            yield Hit((block.approval_id or block.call_id,), (block.path,),
                      note="a settled approval of a local tool, which the connector of agent-framework 1.11 sends")  # fmt: skip


def is_local(approval_id: str, request: Request) -> bool:
    """The id is that of a call which the agent runs itself, and no approval request of the service."""
    calls = {b.call_id for b in (*_blocks(request, "call", "result"), *_stored(request, "call", "result"))}
    return approval_id in calls or approval_id.startswith(("call_", "af-"))


@provider_rule(
    "R4", _ME, sure="B", sources=["vercel/ai#7883", "vercel/ai#15492", "MacPaw/OpenAI#432"],
    says="The ids of items are unique, and items that the service keeps are not sent again with previous_response_id or "
    "conversation.",
    error="Duplicate item found with id {id}. Remove duplicate items from your input and try again.",
)  # fmt: skip
def duplicates(request: Request) -> Iterator[Hit]:
    """Item ids twice, or again."""
    if request.dialect != _ME:
        return
    kept = {b.id for b in _stored(request, "text", "reasoning", "call", "approval-request", "other") if b.id}
    known = request.stored is not None and request.stored.known
    places: dict[str, list[str]] = {}
    for turn in request.history.turns:
        if turn.id:
            places.setdefault(turn.id, []).append(turn.path)
    for own, found in places.items():
        first = next(t for t in request.history.turns if t.id == own)
        served = first.role == "assistant" and _SERVED.match(own) and not first.of("reference", "result")
        again = own in kept or (request.history.stored and not known and served)
        if len(found) > 1 or again:
            note = "" if len(found) > 1 else "the service keeps this item already"
            yield Hit(shown(first.of("call")), tuple(found), {"id": own}, note=note, others=(own,))


@provider_rule(
    "R5", _ME, sure="C", sources=["NousResearch/hermes-agent#102629"],
    says="A function_call has one output (seen at a gateway).",
    error="Duplicate function_call_output for call_id '{ids}'. Each function_call must have exactly one matching "
    "function_call_output",
)  # fmt: skip
def twice(request: Request) -> Iterator[Hit]:
    """Two outputs for one call."""
    for group in repeated(_blocks(request, "result")):
        yield Hit(shown(group[:1]), paths(group))


@provider_rule(
    "R6", _ME, sure="B", sources=["openai/codex#14355", "RooCodeInc/Roo-Code#10763"],
    says="A call_id has at most 64 characters.",
    error="Invalid '{place}.call_id': string too long. Expected a string with maximum length 64, but got a string with "
    "length {length} instead.",
)  # fmt: skip
def too_long(request: Request) -> Iterator[Hit]:
    """Long ids, each once."""
    seen: set[str] = set()
    for block in _blocks(request, "call", "result"):
        if len(block.call_id) > _LONGEST and block.call_id not in seen:
            seen.add(block.call_id)
            yield Hit((block.call_id,), (block.path,), {"place": block.path, "length": len(block.call_id)})


def lost_reasoning(request: Request) -> Iterator[tuple[Block, str]]:
    """Calls that are sent back without the reasoning item that stood before them in an answer of the capture."""
    if request.dialect != _ME or request.history.stored:
        return
    needs: dict[str, str] = {}
    for answer in request.answered:
        thought = ""
        for block in answer:
            if block.kind == "reasoning":
                thought = block.id
            elif block.id and thought:
                needs[block.id] = thought
                thought = ""
    present = {b.id for b in _blocks(request, "reasoning", "reference")}
    before: Block | None = None
    for block in _blocks(request, "text", "reasoning", "call", "result", "reference", "other"):
        thought = needs.get(block.id, "") if block.kind == "call" else ""
        carried = before is not None and before.kind == "reasoning"
        if thought and thought not in present and not carried:
            yield block, thought
        before = block


@provider_rule(
    "R7", _ME, sure="B", sources=["omnigent-ai/omnigent#5066"],
    says="A function_call that is sent back by its item id has its reasoning item before it. Told only where the answer "
    "that held both is in the capture.",
    error="Item '{call}' of type 'function_call' was provided without its required 'reasoning' item: '{reasoning}'.",
)  # fmt: skip
def thoughtless(request: Request) -> Iterator[Hit]:
    """Calls without their reasoning."""
    for block, thought in lost_reasoning(request):
        words: dict[str, object] = {"call": block.id, "reasoning": thought}
        yield Hit(shown([block]), (block.path,), words, others=(block.id, thought))


@provider_rule(
    "R8", _ME, sure="B", sources=["vercel/ai#7543", "continuedev/continue#9101"],
    says="With store: false an item cannot be named by its id alone: a reference, or reasoning without its encrypted "
    "content. The status is 400 or 404.",
    error="Item with id '{id}' not found. Items are not persisted when `store` is set to false.",
)  # fmt: skip
def unstored(request: Request) -> Iterator[Hit]:
    """Bare ids of items that nobody keeps."""
    if request.history.settings.get("store") is not False:
        return
    for block in _blocks(request, "reasoning", "reference"):
        if block.id and not block.raw.get("encrypted_content"):
            yield Hit((), (block.path,), {"id": block.id}, others=(block.id,))


@provider_rule(
    "R9", _ME, sure="A", sources=["types of the openai SDK 3.57: Required[str]"],
    says="An mcp_approval_request has a server_label, and it is text. (The rule is the schema's; the words are not.)",
    error="Missing required parameter: '{place}.server_label'.",
)  # fmt: skip
def unlabelled(request: Request) -> Iterator[Hit]:
    """Approval requests without the server's label."""
    if request.dialect != _ME:
        return
    for block in _blocks(request, "approval-request"):
        if not isinstance(block.raw.get("server_label"), str):
            yield Hit((block.approval_id,), (block.path,), {"place": block.path}, others=names([block]))


@provider_rule(
    "R10", _ME, sure="B", sources=["deepseek-ai/awesome-deepseek-integration#740", "kolega-ai/kolega-code#403"],
    says="At an address of DeepSeek, a call's output stands right behind it (or behind the calls beside it). OpenAI pairs "
    "wherever they stand.",
    error="No tool output found for tool call {ids}.",
)  # fmt: skip
def apart(request: Request) -> Iterator[Hit]:
    """Outputs that do not stand right behind their calls, at DeepSeek."""
    if not _DEEPSEEK.search(request.url):
        return
    waiting: dict[str, Block] = {}
    outputs = {b.call_id for b in _blocks(request, "result")}
    answering = False
    for turn in request.history.turns:
        results, calls = turn.of("result"), turn.of("call")
        for block in results:
            waiting.pop(block.call_id, None)
            answering = True
        if results or (calls and not (answering and waiting)) or turn.of("reasoning"):
            waiting.update({b.call_id: b for b in calls})
            answering = bool(results)
            continue
        late = [b for b in waiting.values() if b.call_id in outputs]
        if late:
            yield Hit(shown(late), paths(late), others=names(late))
        waiting = {b.call_id: b for b in calls}
        answering = False
