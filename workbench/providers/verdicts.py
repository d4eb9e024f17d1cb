"""What providers would say to the payloads and histories of a trace, beside what they did say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.calls.conversation import Conversation, MessageList, Part
from workbench.providers.address import FAMILIES, by_address
from workbench.providers.catalogue import Refusal, judge
from workbench.providers.request import Request, Stored
from workbench.readers.payloads import agui_list
from workbench.readers.payloads.history import Block, History, Turn
from workbench.readers.records import PayloadRecord

if TYPE_CHECKING:
    import pandas as pd

    from workbench.trace import Trace


@dataclass(slots=True)
class Verdict:
    """One message list before one provider. `family`: told by the shape alone."""

    conversation: Conversation
    items: MessageList
    provider: str
    family: bool
    refusals: list[Refusal] = field(default_factory=list)
    record: PayloadRecord | None = None

    @property
    def word(self) -> str:
        """accepted, refused (predicted), confirmed, disagrees (predicted, but taken), unpredicted (refused all the same)."""
        answer = self.record.answer if self.record is not None else None
        firm = [r for r in self.refusals if r.severity == "error"]
        if answer is not None and answer.taken:
            return "disagrees" if self.refusals else "accepted"
        if answer is not None and answer.refused:
            return "confirmed" if self.refusals else "unpredicted"
        return "refused" if firm else "doubtful" if self.refusals else "accepted"


def verdicts(trace: Trace, provider: str = "") -> Iterator[Verdict]:
    """Every payload before its own provider; with `provider`, every message list as if it were sent there."""
    for conversation in trace.conversations:
        for items in conversation.lists:
            record = trace.records.payloads[items.at.row] if items.at.kind == "payload" else None
            if provider:
                yield _verdict(trace, conversation, items, provider, record)
            elif record is not None and record.place == "payload":
                own = by_address(record.history.dialect, record.url)
                to = own or FAMILIES.get(record.history.dialect, "")
                if to:
                    yield _verdict(trace, conversation, items, to, record, family=not own)
        for items in conversation.told if provider else ():
            if not items.output:
                yield _verdict(trace, conversation, items, provider, None)


def _verdict(trace: Trace, conversation: Conversation, items: MessageList, provider: str,
             record: PayloadRecord | None, *, family: bool = False) -> Verdict:  # fmt: skip
    request = request_of(trace, items, record)
    return Verdict(conversation, items, provider, family, judge(provider, request, family=family), record)


def request_of(trace: Trace, items: MessageList, record: PayloadRecord | None = None) -> Request:
    """A message list of a trace as a request."""
    history = items.history or (
        _from_parts(items) if items.place == "telemetry" else agui_list.history(items.messages)
    )
    earlier = trace.records.payloads[: items.at.row] if items.at.kind == "payload" else []
    if record is None or history.dialect != "openai-responses":
        return Request(history, url=record.url if record else "", sent=items.place == "payload")
    answered = [_blocks(p.answer.turns) for p in earlier if p.answer is not None and p.answer.turns]
    return Request(
        history,
        url=record.url,
        sent=record.place == "payload",
        stored=_stored(history, earlier),
        answered=answered,
    )


def _blocks(turns: list[Turn]) -> list[Block]:
    return [block for turn in turns for block in turn.blocks]


def _stored(history: History, earlier: list[PayloadRecord]) -> Stored | None:
    """What the service keeps behind previous_response_id, as far back as the capture shows it."""
    if not history.stored:
        return None
    stored = Stored()
    named = history.settings.get("previous_response_id")
    by_id = {p.answer.id: p for p in earlier if p.answer is not None and p.answer.id}
    seen: set[str] = set()
    while isinstance(named, str) and named in by_id and named not in seen:
        seen.add(named)
        before = by_id[named]
        assert before.answer is not None
        stored.blocks += [*_blocks(before.history.turns), *_blocks(before.answer.turns)]
        named = before.history.settings.get("previous_response_id")
        if not before.history.stored and before.history.whole:
            stored.known = True
    return stored


def _from_parts(items: MessageList) -> History:
    """A list of telemetry, whose content is in its parts."""
    turns = [Turn(str(m.get("role") or ""), f"messages[{n}]") for n, m in enumerate(items.messages)]
    for part in items.parts:
        turns[part.position].blocks.append(_block(part))
    return History("ag-ui", turns)


def _block(part: Part) -> Block:
    kinds = ("text", "data", "reasoning", "call", "result", "approval-request", "approval-response")
    kind = part.kind if part.kind in kinds else "other"
    return Block(kind, part.path or f"messages[{part.position}]", kind, call_id=part.call_id, name=part.name,  # type: ignore[arg-type]
                 arguments=part.arguments, content=part.content, approval_id=part.approval_id, hosted=part.hosted)  # fmt: skip


def frame(trace: Trace, provider: str = "") -> pd.DataFrame:
    """One row per message list and refusal (one for a list that is taken), with what the provider answered."""
    import pandas as pd

    rows = []
    for verdict in verdicts(trace, provider):
        answer = verdict.record.answer if verdict.record is not None else None
        shared = {
            "provider": verdict.provider, "list": verdict.items.number, "place": verdict.items.place,
            "thread_id": verdict.items.run.thread_id, "run_id": verdict.items.run.run_id, "verdict": verdict.word,
            "status": answer.status if answer else None, "answer": answer.error if answer else "",
        }  # fmt: skip
        rows += [shared | _row(refusal) for refusal in (verdict.refusals or (None,))]
    columns = ["provider", "list", "place", "thread_id", "run_id", "verdict", "rule", "severity", "call_ids", "item", "error",
               "status", "answer"]  # fmt: skip
    return pd.DataFrame(rows, columns=columns).astype({"status": "Int64"})


def _row(refusal: Refusal | None) -> dict[str, str]:
    if refusal is None:
        return dict.fromkeys(("rule", "severity", "call_ids", "item", "error"), "")
    first = next(iter(refusal.paths), "")
    return {"rule": refusal.rule.id, "severity": refusal.severity, "call_ids": ", ".join(refusal.call_ids),
            "item": first, "error": refusal.error}  # fmt: skip
