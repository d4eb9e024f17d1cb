"""Text, reasoning and thinking messages, the phases around them, and steps of a run."""

from __future__ import annotations

from typing import Any

from workbench.calls import producers
from workbench.calls.conversation import At, Message, Run, Slip
from workbench.calls.opened import Open, extend
from workbench.calls.sightings import Sightings

KINDS = {"TEXT": "text", "REASONING": "reasoning", "THINKING": "thinking"}
#: THINKING events carry no message id: one nameless message may be open at a time.
NAMELESS = ""


class MessageEvents:
    """Takes the message and step events of one conversation in."""

    def __init__(self, known: Sightings) -> None:
        self.known = known
        self.message_ids: dict[str, Message] = {}

    def event(self, row: int, kind: Any, tail: str, run: Run, state: Open) -> None:
        """One event of a text, reasoning or thinking message; `tail` is what stands behind the prefix."""
        events = self.known.records.events
        lane = self.known.text(events.subagent, row) or ""
        message_id = self.known.text(events.message, row)
        if kind == "thinking":
            message_id = NAMELESS
        if tail == "CHUNK":
            message_id = message_id if message_id is not None else state.chunked_message.get(f"{kind}{lane}")
        if message_id is None:
            return  # the schema rules report the missing key
        key = (kind, message_id)
        message = state.messages.get(key)
        if tail == "CHUNK":
            state.chunked_message[f"{kind}{lane}"] = message_id
            if message is None:
                message = self._message(row, kind, run, state, message_id, lane, chunked=True)
            extend(message.deltas, row)
        elif tail == "START":
            if message is not None:
                self.known.slip("message-start-duplicated", run, row, ids=(message_id,), variant=kind,
                          other=At("event", message.start if message.start is not None else row))  # fmt: skip
            else:
                self._message(row, kind, run, state, message_id, lane)
            self._inside(row, run, state, kind, lane)
        elif (
            message is None
            and tail == "END"
            and self.known.late_end("message-not-closed", run, message_id=message_id)
        ):
            pass
        elif message is None:
            self.known.slip("message-not-open", run, row, ids=(message_id,), variant=kind, detail=tail)
        elif tail == "CONTENT":
            extend(message.deltas, row)
            self._content(row, run, state, message)
            self._inside(row, run, state, kind, lane)
        else:
            message.end = row
            del state.messages[key]

    def _message(self, row: int, kind: Any, run: Run, state: Open, message_id: str, lane: str, *,
                 chunked: bool = False) -> Message:  # fmt: skip
        role = self.known.text(self.known.records.events.role, row) or (
            "assistant" if kind == "text" else kind
        )
        message = Message(message_id, role, kind, run, self.known.sequence, lane, row, None, chunked)
        state.messages[kind, message_id] = message
        self.known.conversation.messages.append(message)
        producers.by_message(run, message_id)
        earlier = self.message_ids.get(message_id) if message_id and kind != "thinking" else None
        if earlier is not None and earlier.kind == kind and not (chunked and earlier.run is run):
            self.known.slip("message-id-reused", run, row, ids=(message_id,), variant=kind,
                      other=At("event", earlier.start if earlier.start is not None else row))  # fmt: skip
        self.message_ids[message_id] = message
        return message

    def _content(self, row: int, run: Run, state: Open, message: Message) -> None:
        last = state.content.get(message.lane)
        state.content[message.lane] = message
        if last is None or last is message or len(message.deltas) < 2:
            return
        pair = (min(last.id, message.id), max(last.id, message.id))
        if (last.kind, last.id) in state.messages and pair not in state.interleaved:
            state.interleaved.add(pair)
            self.known.slip("messages-interleaved", run, row, ids=(last.id, message.id))

    def _inside(self, row: int, run: Run, state: Open, kind: str, lane: str) -> None:
        if kind != "text" or not state.calls or self.known.quiet:
            return
        for call_id, start in state.bare.pop(lane, {}).items():
            starts = state.calls.get(call_id)
            if starts and starts[-1] is start:
                slip = Slip(
                    "text-inside-call", run, At("event", row), call_id, other=At("event", start.event)
                )
                state.pending.append((slip, start))

    def phase(self, row: int, kind: str, tail: str, run: Run, state: Open) -> None:
        """REASONING_START or _END and THINKING_START or _END: the bracket around messages of thought."""
        message_id = (
            self.known.text(self.known.records.events.message, row) if kind == "reasoning" else NAMELESS
        )
        if message_id is None:
            return  # the schema rules report the missing key
        key = (kind, message_id)
        if tail == "START":
            if key in state.phases:
                other = At("event", state.phases[key])
                self.known.slip(
                    "message-start-duplicated", run, row, ids=(message_id,), variant=kind, other=other
                )
            state.phases[key] = row
        elif state.phases.pop(key, None) is None:
            self.known.slip("message-not-open", run, row, ids=(message_id,), variant=kind, detail=tail)

    def step(self, row: int, kind: str, run: Run, state: Open) -> None:
        """STEP_STARTED or STEP_FINISHED."""
        steps = state.steps
        name = self.known.text(self.known.records.events.name, row) or ""
        if kind == "STEP_STARTED":
            if name in steps:
                other = At("event", steps[name])
                self.known.slip(
                    "step-unbalanced", run, row, ids=(name,), variant="started-twice", other=other
                )
            steps[name] = row
        elif steps.pop(name, None) is None:
            self.known.slip("step-unbalanced", run, row, ids=(name,), variant="never-started")
