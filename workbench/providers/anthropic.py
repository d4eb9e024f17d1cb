"""Anthropic Messages: results stand in the user turn right behind their calls.

User turns in a row count as one, as the API takes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.providers.catalogue import Hit, provider_rule
from workbench.providers.request import Request, paths, repeated, shown
from workbench.readers.payloads.chat import MADE_UP
from workbench.readers.payloads.history import Block, Turn, dict_of

_ME = "anthropic"
_ID = re.compile(r"[a-zA-Z0-9_-]+\Z")
_LONGEST = 64
_BEDROCK = re.compile(r"bedrock|amazonaws\.com")


def _turns(request: Request) -> list[Turn]:
    return request.turns(own=_ME, merge=True)


def _pairs(request: Request) -> Iterator[tuple[int, list[Block], list[Block]]]:
    """Each turn's calls with the results of the next one, by the index of the turn; -1 for before the first."""
    turns = _turns(request)
    for n in range(-1, len(turns)):
        calls = turns[n].of("call") if n >= 0 and turns[n].role == "assistant" else []
        results = turns[n + 1].of("result") if n + 1 < len(turns) else []
        yield n, calls, results


@provider_rule(
    "R15", _ME, sure="B", sources=["anthropics/claude-code#3632"],
    says="A tool_use is answered by a tool_result in the very next message.",
    error="`tool_use` ids were found without `tool_result` blocks immediately after: {ids}. Each `tool_use` block "
    "must have a corresponding `tool_result` block in the next message.",
)  # fmt: skip
def unanswered(request: Request) -> Iterator[Hit]:
    """Calls without a result in the next turn."""
    count = len(_turns(request))
    for n, calls, results in _pairs(request):
        answered = {b.call_id for b in results}
        missing = [b for b in calls if b.call_id not in answered]
        if missing and not request.last(n, count):
            yield Hit(shown(missing), paths(missing))


@provider_rule(
    "R16", _ME, sure="B", sources=["anthropics/claude-code#18947"],
    says="A tool_result answers a tool_use of the message before it.",
    error="unexpected `tool_use_id` found in `tool_result` blocks: {ids}. Each `tool_result` block must have a "
    "corresponding `tool_use` block in the previous message.",
)  # fmt: skip
def uncalled(request: Request) -> Iterator[Hit]:
    """Results without a call in the turn before."""
    for _, calls, results in _pairs(request):
        called = {b.call_id for b in calls}
        lost = [b for b in results if b.call_id not in called]
        if lost:
            yield Hit(shown(lost), paths(lost))


@provider_rule(
    "R17", _ME, sure="B", sources=["sipeed/picoclaw#1792"],
    says="A tool_use has one tool_result.",
    error="each tool_use must have a single result. Found multiple `tool_result` blocks with id: {ids}",
)  # fmt: skip
def twice(request: Request) -> Iterator[Hit]:
    """Two results for one call."""
    for _, calls, results in _pairs(request):
        called = {b.call_id for b in calls}
        for group in repeated([b for b in results if b.call_id in called]):
            yield Hit(shown(group[:1]), paths(group))


@provider_rule(
    "R18", _ME, sure="B", sources=["trycua/cua#524"],
    says="The ids of tool_use blocks are unique in the whole request.",
    error="`tool_use` ids must be unique",
)  # fmt: skip
def not_unique(request: Request) -> Iterator[Hit]:
    """One id for two calls, also in different turns."""
    for group in repeated([b for turn in _turns(request) for b in turn.of("call")]):
        yield Hit(shown(group[:1]), paths(group))


@provider_rule(
    "R19", _ME, sure="B", sources=["maximhq/bifrost#5097", "LibreChat-AI/agents#153"],
    says="An id consists of letters, digits, _ and -; more than 64 characters are refused by some (a warning).",
    error="{place}: String should match pattern '^[a-zA-Z0-9_-]+$'",
)  # fmt: skip
def characters(request: Request) -> Iterator[Hit]:
    """Ids with other characters, each once."""
    seen: set[str] = set()
    for turn in _turns(request):
        for block in turn.of("call"):
            own = block.call_id
            if own in seen or own.startswith(MADE_UP):
                continue
            seen.add(own)
            place = block.path.replace("[", ".").replace("]", "")
            if not _ID.match(own):
                yield Hit((own,), (block.path,), {"place": f"{place}.tool_use.id"})
            elif len(own) > _LONGEST:
                note = f"{len(own)} characters: more than 64 were seen refused"
                yield Hit((own,), (block.path,), {"place": f"{place}.tool_use.id"}, "warning", note)


@provider_rule(
    "R20", _ME, sure="B", sources=["aws/language-servers#1235", "langchain-ai/langchain-aws#451"],
    says="On Bedrock, tool_result blocks come first in their message; the plain Anthropic address takes any order.",
    error="Did not find {n} `tool_result` block(s) at the beginning of this message",
)  # fmt: skip
def not_first(request: Request) -> Iterator[Hit]:
    """Text before results, sent to a model hosted on Bedrock."""
    version = str(request.history.settings.get("anthropic_version") or "")
    if request.dialect != _ME or not (_BEDROCK.search(request.url) or version.startswith("bedrock")):
        return
    for turn in request.history.turns:
        results = turn.of("result")
        if results and [b.kind for b in turn.blocks[: len(results)]] != ["result"] * len(results):
            yield Hit(shown(results), paths(results))


@provider_rule(
    "R21", _ME, sure="B",
    sources=["RooCodeInc/Roo-Code#10351", "anthropics/claude-code#10627", "dirge-code/dirge#821"],
    says="With thinking enabled, the assistant turn that opens the current round of tools begins with its thinking "
    "block, and every thinking block has its signature.",
    error="{what}",
)  # fmt: skip
def thinking(request: Request) -> Iterator[Hit]:
    """The thinking block is gone, or its signature."""
    settings = dict_of(request.history.settings.get("thinking"))
    if request.dialect != _ME:
        return
    for turn in request.history.turns:
        for block in turn.of("reasoning"):
            if block.type == "thinking" and not block.raw.get("signature"):
                place = block.path.replace("[", ".").replace("]", "")
                yield Hit((), (block.path,), {"what": f"{place}.thinking.signature: Field required"})
    if settings.get("type") != "enabled":
        return
    turns = _turns(request)
    asked = max((n for n, t in enumerate(turns) if t.role == "user" and not t.of("result")), default=-1)
    opening = next((t for t in turns[asked + 1 :] if t.role == "assistant"), None)
    if opening is not None and opening.of("call") and opening.blocks[0].kind != "reasoning":
        found = opening.blocks[0].type
        what = (
            f"Expected `thinking` or `redacted_thinking`, but found `{found}`. When `thinking` is enabled, a final "
            "`assistant` message must start with a thinking block"
        )
        yield Hit(shown(opening.of("call")), (opening.blocks[0].path,), {"what": what})
