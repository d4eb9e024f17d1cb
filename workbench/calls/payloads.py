"""Which run caused a request to the model provider: told by the call ids it holds, else by time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.calls.conversation import Conversation, Run
from workbench.readers.records import Records


def join(records: Records, conversations: list[Conversation]) -> Iterator[tuple[int, Run]]:
    """Each payload with its run. A payload that fits no thread is left to itself, unless there is just one."""
    by_call = {call.id: c for c in conversations for call in c.calls if call.id}
    for number, payload in enumerate(records.payloads):
        owner = next((by_call[i] for i in call_ids(payload.body) if i in by_call), None)
        if owner is None and len(conversations) == 1:
            owner = conversations[0]
        run = _run_at(records, owner, payload.time) if owner is not None else None
        if run is not None:
            yield number, run


def _run_at(records: Records, conversation: Conversation, time: int | None) -> Run | None:
    """The last run that had begun by then; the last of all where times are missing."""
    if not conversation.runs:
        return None
    begun = [
        run
        for run in conversation.runs
        if time is not None
        and run.request is not None
        and (asked := records.requests[run.request].time) is not None
        and asked <= time
    ]
    return begun[-1] if begun else conversation.runs[-1]


def call_ids(body: dict[str, Any]) -> Iterator[str]:
    """Call ids in a Chat Completions message list, latest first (early ones may be of another thread)."""
    messages = body.get("messages")
    for message in reversed(messages if isinstance(messages, list) else []):
        if not isinstance(message, dict):
            continue
        if isinstance(message.get("tool_call_id"), str):
            yield message["tool_call_id"]
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict) and isinstance(call.get("id"), str):
                yield call["id"]
