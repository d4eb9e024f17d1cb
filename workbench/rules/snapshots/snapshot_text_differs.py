"""snapshot-text-differs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.findings import Finding
from workbench.rules.registry import rule
from workbench.rules.slips import quoted
from workbench.rules.snapshots.compare import comparisons
from workbench.rules.snapshots.known import same
from workbench.rules.snapshots.report import finding

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("snapshot-text-differs", code="SNP003", severity="warning", needs=("snapshots",))
def snapshot_text_differs(trace: Trace) -> Iterator[Finding]:
    """A streamed message has another text in a snapshot.

    Why it hurts: the text that the user read is replaced; the model goes on from words that
        nobody saw.
    No fault when: only white space differs; the message was still open; the stream is cut, so
        that its text is not whole; the text stands under another id (`snapshot-rekeyed`).
    What to do: collect the text of the snapshot from the same deltas that were sent.
    Example:
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m1", "delta": "Seven left."}
        {"type": "TEXT_MESSAGE_END", "messageId": "m1"}
        {"type": "MESSAGES_SNAPSHOT", "messages": [{"id": "m1", "role": "assistant", "content": "Six left."}]}
    Sources: AG-UI events, MessagesSnapshot.
    """
    for compared in comparisons(trace):
        for known, entry in compared.kept:
            if entry.mixed or not all(message.run.complete for message in known.streamed):
                continue
            # As streamed last, or as in an earlier snapshot, where it was judged.
            if same(entry.text) == same(known.text):
                continue
            texts = [trace.text(message.deltas) for message in known.streamed]
            if same(entry.text) in {*map(same, texts), same("".join(texts))}:
                continue
            message = f"Message {entry.id} was streamed as {quoted(texts[-1])}; the snapshot has {quoted(entry.text)}."
            places = [m.start for m in known.streamed]
            yield finding(trace, compared.items, message, *places, other_ids=(entry.id,))
