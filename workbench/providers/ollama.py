"""Ollama: its server checks types and pairs nothing; agent-framework's connector wants words from the user.

R30 is what is not checked: a call without a result, or a result without a call, only confuses the model
(ollama/ollama#11704), so that there is no rule for it here, and a test that there is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.providers.catalogue import Hit, provider_rule
from workbench.providers.request import Request, names, shown

_ME = "ollama"


@provider_rule(
    "R28", _ME, sure="A", sources=["agent-framework-ollama b260521 to b261022, run"],
    says="A user message has text or data. agent-framework's connector raises this itself, before anything is sent.",
    error="Ollama connector currently only supports user messages with TextContent or DataContent.",
)  # fmt: skip
def wordless(request: Request) -> Iterator[Hit]:
    """User messages with neither text nor data: what is left of an approval answer."""
    if request.dialect not in ("ollama", "agent-framework"):
        return
    for turn in request.history.turns:
        if turn.role == "user" and not turn.of("text", "data", "result"):
            approvals = turn.of("approval-request", "approval-response")
            yield Hit(tuple(b.approval_id or b.call_id for b in approvals), (turn.path,))


@provider_rule(
    "R29", _ME, sure="B", sources=["neuron-core/neuron-ai#219", "aliasrobotics/cai#76"],
    says="The arguments of a call are an object; its OpenAI-compatible address takes text.",
    error="json: cannot unmarshal string into Go struct field {place}.function.arguments of type "
    "api.ToolCallFunctionArguments",
)  # fmt: skip
def arguments(request: Request) -> Iterator[Hit]:
    """Arguments as JSON text, on Ollama's own address."""
    if request.dialect != _ME:
        return
    for block in request.history.blocks("call"):
        if isinstance(block.arguments, str):
            place = re.sub(r"\[\d+\]", "", f"ChatRequest.{block.path}")
            yield Hit(shown([block]), (block.path,), {"place": place}, others=names([block]))
