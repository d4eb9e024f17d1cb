"""snapshot-order-differs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.findings import Finding
from workbench.rules.registry import rule
from workbench.rules.slips import capital
from workbench.rules.snapshots.compare import Comparison, comparisons
from workbench.rules.snapshots.report import finding

if TYPE_CHECKING:
    from workbench.trace import Trace


@dataclass(frozen=True, slots=True)
class _Piece:
    """A streamed message or call that the snapshot has."""

    begin: int
    end: int
    position: int
    row: int
    lane: str
    current: bool
    message_id: str = ""
    call_id: str = ""

    @property
    def said(self) -> str:
        return f"call {self.call_id}" if self.call_id else f"message {self.message_id}"


@rule("snapshot-order-differs", code="SNP007", severity="warning", needs=("snapshots",))
def snapshot_order_differs(trace: Trace) -> Iterator[Finding]:
    """Messages stand in a snapshot in another order than they were streamed in.

    Why it hurts: the conversation jumps on the screen, and the model reads an answer before its
        question, or a text after the calls that it announced.
    No fault when: the two were open at the same time; they are results, which may come in the
        order of completion; they belong to different subagents.
    What to do: append to the history in the order of the START events; do not collect texts and
        calls in two lists.
    Example:
        {"type": "TEXT_MESSAGE_START", "messageId": "m1", "role": "assistant"}
        {"type": "TEXT_MESSAGE_START", "messageId": "m2", "role": "assistant"}
        {"type": "MESSAGES_SNAPSHOT", "messages": [{"id": "m2", "role": "assistant", "content": "Then."}, {"id": "m1", "role": "assistant", "content": "First."}]}
    Sources: AG-UI events, MessagesSnapshot; microsoft/agent-framework#7223.
    """
    for compared in comparisons(trace):
        lanes: dict[str, list[_Piece]] = {}
        for piece in _pieces(trace, compared):
            lanes.setdefault(piece.lane, []).append(piece)
        swapped = [pair for pieces in lanes.values() for pair in _swapped(pieces)]
        if swapped:
            early, late = swapped[0]
            more = f" ({len(swapped)} such pairs)" if len(swapped) > 1 else ""
            message = f"{capital(late.said)} stands before {early.said} in the snapshot, but was streamed after it{more}."
            both = [piece for pair in swapped[:10] for piece in pair]
            yield finding(trace, compared.items, message, *dict.fromkeys(p.row for p in both),
                          call_ids=tuple(p.call_id for p in both), other_ids=tuple(p.message_id for p in both))  # fmt: skip


def _pieces(trace: Trace, compared: Comparison) -> Iterator[_Piece]:
    run, conversation, sequence = compared.items.run, compared.conversation, trace.sequence_of
    for message in conversation.messages:
        position = compared.positions.get(id(message))
        last = message.end if message.end is not None else message.deltas[-1][1] if message.deltas else None
        if position is not None and message.start is not None and last is not None and message.kind == "text":
            yield _Piece(message.sequence, sequence(last), position, message.start, message.lane,
                         message.run is run, message.id)  # fmt: skip
    for call in conversation.calls:
        position = compared.positions.get(id(call))
        if position is None or not call.starts or call.synthetic_for is not None:
            continue
        start = call.starts[0]
        last = start.end if start.end is not None else start.deltas[-1][1] if start.deltas else None
        if last is not None:
            yield _Piece(start.sequence, sequence(last), position, start.event, start.lane,
                         start.run is run, call_id=call.id)  # fmt: skip


def _swapped(pieces: list[_Piece]) -> Iterator[tuple[_Piece, _Piece]]:
    """Pairs where the first ended before the second began, but stands after it; one per second piece."""
    by_end = sorted(pieces, key=lambda p: p.end)
    number, furthest = 0, None
    for piece in sorted(pieces, key=lambda p: p.begin):
        while number < len(by_end) and by_end[number].end < piece.begin:
            ended = by_end[number]
            furthest = ended if furthest is None or ended.position > furthest.position else furthest
            number += 1
        if furthest is not None and piece.current and furthest.position > piece.position:
            yield furthest, piece
