"""Reasoning items and the calls that they belong to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.findings import Finding
from workbench.providers.openai_responses import lost_reasoning
from workbench.providers.verdicts import request_of
from workbench.rules.calls.words import finding
from workbench.rules.registry import rule
from workbench.rules.slips import named

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("reasoning-missing", code="PAY003", severity="error", needs=("payloads",))
def reasoning_missing(trace: Trace) -> Iterator[Finding]:
    """A call is sent back to the model without the reasoning item that came with it.

    Why it hurts: the provider refuses the payload, or the model thinks everything over again.
    No fault when: the answer that held both is not in the capture, the call is sent without its
        item id, or the provider keeps the items.
    What to do: keep reasoning items beside their calls when a history is stored or shortened.
    Example:
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "dock", "arguments": "{}"}
    Sources: omnigent-ai/omnigent#5066.
    """
    for conversation in trace.conversations:
        for items in conversation.lists:
            if items.at.kind != "payload" or items.history is None:
                continue
            request = request_of(trace, items, trace.records.payloads[items.at.row])
            for block, thought in lost_reasoning(request):
                message = (
                    f"Call {block.call_id} at {block.path} in the {items.place} of {named(items.run)} lacks its reasoning "
                    f"item {thought}."
                )
                yield finding(trace, items.run, message, items.at, calls=(block.call_id,), other_ids=(block.id, thought),
                              place=items.place)  # fmt: skip


@rule("reasoning-orphaned", code="PAY004", severity="error", needs=("payloads",))
def reasoning_orphaned(trace: Trace) -> Iterator[Finding]:
    """A payload holds a reasoning item without the call or message that it led to.

    Why it hurts: the provider refuses it: "Item was provided without its required following item".
    No fault when: a call, a message of the assistant, another item of the model or a reference
        follows, or the provider keeps the items. Only Responses payloads are judged.
    What to do: when a call is taken out of a history, take its reasoning item out too.
    Example:
        {"model": "m", "input": [
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {"type": "message", "role": "user", "content": "and now?"}]}
    Sources: OpenAI Responses, reasoning items.
    """
    for conversation in trace.conversations:
        for items in conversation.lists:
            history = items.history
            if items.place != "payload" or history is None or history.dialect != "openai-responses":
                continue
            if history.stored or not history.whole:
                continue
            turns = history.turns
            for n, turn in enumerate(turns):
                after = turns[n + 1] if n + 1 < len(turns) else None
                alone = after is None or after.role in ("user", "tool", "system")
                if turn.of("reasoning") and turn.id and alone:
                    message = (
                        f"Reasoning item {turn.id} at {turn.path} in the payload of {named(items.run)} leads to no call and "
                        "no message."
                    )
                    yield finding(trace, items.run, message, items.at, other_ids=(turn.id,), place="payload")
