"""The life of a streamed message: START, content, END, for text, reasoning and thinking alike.

These rules mirror one state machine, which the walk runs; here is what each departure means.
Chunk events open and close by themselves and are never reported as left open.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.calls.conversation import Slip
from workbench.findings import Finding
from workbench.rules.registry import rule
from workbench.rules.slips import capital, cut, named, report, slips

if TYPE_CHECKING:
    from workbench.trace import Trace


def _message(slip: Slip) -> str:
    ids = [i for i in slip.ids if i]
    return f"message {ids[0]}" if ids else "a message"


@rule("message-not-open", code="MSG001", severity="error", scope="run")
def message_not_open(trace: Trace) -> Iterator[Finding]:
    """Content or an end arrives for a text, reasoning or thinking message that is not open.

    Why it hurts: verifying clients abort; others drop the text, so that the user sees an answer
        with a hole, or none.
    No fault when: the message came as CHUNK events, which open by themselves. Information where
        the capture begins in the middle of the run.
    What to do: emit START once per message id before the first content, also after a pause for
        an approval; never send content after END.
    Example:
        {"type": "RUN_STARTED", "threadId": "t1", "runId": "r1"}
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m1", "delta": "Hello"}
        {"type": "RUN_FINISHED", "threadId": "t1", "runId": "r1"}
    Sources: AG-UI events, text messages and reasoning; verifyEvents of @ag-ui/client.
    """
    # after a second START a second END is to be expected, and each further delta says the same
    doubled = {(id(slip.run), slip.ids) for _, slip in slips(trace, "message-start-duplicated")}
    seen: set[tuple[int, tuple[str, ...]]] = set()
    for conversation, slip in slips(trace, "message-not-open"):
        key = (id(slip.run), slip.ids)
        if key in seen or (key in doubled and slip.detail == "END"):
            continue
        seen.add(key)
        mild = slip.run.start is None or not slip.run.complete or conversation.starts_late
        what = slip.detail or "content or end"
        message = f"{what[:1].upper()}{what[1:]} of {_message(slip)}, which is not open."
        yield report(trace, slip, message, severity="info" if mild else "")


@rule("message-not-closed", code="MSG002", severity="error", scope="run")
def message_not_closed(trace: Trace) -> Iterator[Finding]:
    """A text, reasoning or thinking message is still open at the end of its run.

    Why it hurts: verifying clients refuse the end of the run; others leave the message in its
        "typing" state for ever.
    No fault when: the message came as CHUNK events. Information where the stream is cut or its
        run has no end (`run-end-missing` says so).
    What to do: end open messages in the code that ends the run, also on the way out of an error
        and before an interrupt.
    Example:
        {"type": "RUN_STARTED", "threadId": "t1", "runId": "r1"}
        {"type": "TEXT_MESSAGE_START", "messageId": "m1", "role": "assistant"}
        {"type": "RUN_FINISHED", "threadId": "t1", "runId": "r1"}
    Sources: AG-UI events, text messages and reasoning; verifyEvents of @ag-ui/client.
    """
    for conversation, slip in slips(trace, "message-not-closed"):
        mild = cut(slip.run, conversation) or slip.run.end is None
        message = f"{capital(_message(slip))} is still open at the end of {named(slip.run)}."
        yield report(trace, slip, message, severity="info" if mild else "")


@rule("message-start-duplicated", code="MSG003", severity="error", scope="run")
def message_start_duplicated(trace: Trace) -> Iterator[Finding]:
    """START of a text, reasoning or thinking message that is already open.

    Why it hurts: verifying clients abort; others show the text twice, or begin it anew.
    No fault when: the first message has ended: then see `message-id-reused`.
    What to do: remember every open id on the server, not only the last one.
    Example:
        {"type": "TEXT_MESSAGE_START", "messageId": "m1", "role": "assistant"}
        {"type": "TEXT_MESSAGE_START", "messageId": "m1", "role": "assistant"}
        {"type": "TEXT_MESSAGE_END", "messageId": "m1"}
    Sources: AG-UI events, text messages and reasoning; verifyEvents of @ag-ui/client.
    """
    for _, slip in slips(trace, "message-start-duplicated"):
        yield report(trace, slip, f"{capital(_message(slip))} is started again while it is open.")


@rule("messages-interleaved", code="MSG006", severity="info", scope="run")
def messages_interleaved(trace: Trace) -> Iterator[Finding]:
    """The content of two open messages alternates.

    Why it hurts: the protocol allows it, but clients up to 0.0.36 abort, and simple ones append
        everything to the last message.
    No fault when: the messages belong to different subagents.
    What to do: nothing, if all clients are newer; else buffer one message until the other ends.
    Example:
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m1", "delta": "First"}
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m2", "delta": "Second"}
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m1", "delta": " more"}
    Sources: @ag-ui/client 0.0.37, concurrent messages.
    """
    for _, slip in slips(trace, "messages-interleaved"):
        both = " and ".join(dict.fromkeys(slip.ids)) or "two messages"
        yield report(trace, slip, f"Content of {both} alternates.")
