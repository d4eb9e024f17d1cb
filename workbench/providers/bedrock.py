"""Amazon Bedrock Converse: results stand in the next message, complete, once each."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.providers.catalogue import Hit, provider_rule
from workbench.providers.request import Request, names, paths, repeated, shown
from workbench.readers.payloads.chat import MADE_UP
from workbench.readers.payloads.history import Block, Turn, dict_of

_ME = "bedrock"
#: of botocore's service model bedrock-runtime: ToolUseBlock$toolUseId and $name
ID, NAME, LONGEST = r"[a-zA-Z0-9_.:-]+", r"[a-zA-Z0-9_-]+", 64
_ID, _NAME = re.compile(ID), re.compile(NAME)


def _turns(request: Request) -> list[Turn]:
    return request.turns(own=_ME, merge=False)


def _pairs(request: Request) -> Iterator[tuple[int, list[Block], list[Block]]]:
    turns = _turns(request)
    for n in range(-1, len(turns)):
        calls = turns[n].of("call") if n >= 0 and turns[n].role == "assistant" else []
        yield n, calls, turns[n + 1].of("result") if n + 1 < len(turns) else []


@provider_rule(
    "R35", _ME, sure="A", sources=["service model bedrock-runtime of botocore 1.44.8"],
    says="A toolUseId has 1 to 64 characters out of letters, digits and _ . : -; a tool's name 1 to 64 out of letters, "
    "digits, _ and -.",
    error="1 validation error detected: Value '{value}' at '{place}' failed to satisfy constraint: Member must satisfy "
    "regular expression pattern: {pattern} and have a length of 1 to 64",
)  # fmt: skip
def characters(request: Request) -> Iterator[Hit]:
    """Ids and names with other characters or too many, each once."""
    seen: set[str] = set()
    for turn in _turns(request):
        for block in turn.of("call"):
            for value, pattern, key in ((block.call_id, _ID, "toolUseId"), (block.name, _NAME, "name")):
                if value.startswith(MADE_UP) or f"{key} {value}" in seen:
                    continue
                seen.add(f"{key} {value}")
                if len(value) > LONGEST or not pattern.fullmatch(value):
                    words: dict[str, object] = {
                        "value": value,
                        "place": f"{block.path}.toolUse.{key}",
                        "pattern": pattern.pattern,
                    }
                    yield Hit(
                        shown([block]), (block.path,), words, others=names([block]) if key == "name" else ()
                    )


@provider_rule(
    "R36", _ME, sure="B", sources=["camel-ai/camel#3954", "genkit-ai/aws-bedrock-js-plugin#664"],
    says="The message behind calls holds a toolResult for each of them.",
    error="Expected toolResult blocks at {place} for the following Ids: {ids}",
)  # fmt: skip
def unanswered(request: Request) -> Iterator[Hit]:
    """Calls without a result in the next message."""
    count = len(_turns(request))
    for n, calls, results in _pairs(request):
        answered = {b.call_id for b in results}
        missing = [b for b in calls if b.call_id not in answered]
        if missing and not request.last(n, count):
            yield Hit(shown(missing), paths(missing), {"place": f"messages.{n + 1}.content"})


@provider_rule(
    "R37", _ME, sure="B", sources=["strands-agents/harness-sdk#1435", "pydantic/pydantic-ai#2327"],
    says="A message has no toolResult for which the message before it has no toolUse.",
    error="The number of toolResult blocks at messages.{n}.content exceeds the number of toolUse blocks of previous turn.",
)  # fmt: skip
def uncalled(request: Request) -> Iterator[Hit]:
    """Results without a call in the message before."""
    for n, calls, results in _pairs(request):
        called = {b.call_id for b in calls}
        lost = [b for b in results if b.call_id not in called]
        if lost:
            yield Hit(shown(lost), paths(lost), {"n": n + 1})


@provider_rule(
    "R38", _ME, sure="B", sources=["BerriAI/litellm#20047"],
    says="The toolResult blocks of a message have different ids.",
    error="The toolResult blocks at messages.{n}.content contain duplicate Ids: {ids}",
)  # fmt: skip
def twice(request: Request) -> Iterator[Hit]:
    """Two results for one call."""
    for n, _, results in _pairs(request):
        for group in repeated(results):
            yield Hit(shown(group[:1]), paths(group), {"n": n + 1})


@provider_rule(
    "R39", _ME, sure="B", sources=["langgenius/dify#17545"],
    says="toolConfig is there whenever the history has tool blocks, also where no tool is offered any more.",
    error="The toolConfig field must be defined when using toolUse and toolResult content blocks.",
)  # fmt: skip
def unconfigured(request: Request) -> Iterator[Hit]:
    """Tool blocks without toolConfig; only a request can tell."""
    blocks = list(request.history.blocks("call", "result"))
    bare = request.dialect == _ME and request.sent and not request.history.settings.get("toolConfig")
    if bare and blocks:
        yield Hit(shown(blocks), paths(blocks[:2]))


@provider_rule(
    "R40", _ME, sure="B", sources=["aws-samples/sample-multi-agent-orchestration-chat-on-agentcore#15"],
    says="A toolResult of status error has content.",
    error="The content field at {place} cannot be empty when status value is error.",
)  # fmt: skip
def empty_error(request: Request) -> Iterator[Hit]:
    """Error results without a word."""
    for block in request.history.blocks("result"):
        result = dict_of(block.raw.get("toolResult"))
        if request.dialect == _ME and result.get("status") == "error" and not result.get("content"):
            place = block.path.replace("[", ".").replace("]", "")
            yield Hit(shown([block]), (block.path,), {"place": f"{place}.toolResult"})
