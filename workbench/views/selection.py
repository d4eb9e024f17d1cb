"""Which conversations a view is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.calls.conversation import Conversation
    from workbench.trace import Trace

#: ids that an error names, and characters of each
_LISTED, _LONGEST = 8, 80


def conversations(
    trace: Trace, *, thread: str | None = None, run: str | None = None, call_id: str | None = None
) -> list[Conversation]:
    """The conversations that have the thread, the run and the call; all where nothing is asked.

    Raises `ValueError` that names what there is instead.
    """
    found = list(trace.conversations)
    if thread is not None:
        names = [name for talk in found for name in (talk.thread_ids or [talk.thread_id])]
        found = [talk for talk in found if thread in (talk.thread_id, *talk.thread_ids)]
        if not found:
            raise ValueError(f"no thread {thread!r} in the trace; {_there('thread', names)}")
    if run is not None:
        names = [known.run_id for talk in found for known in talk.runs]
        found = [talk for talk in found if any(known.run_id == run for known in talk.runs)]
        if not found:
            raise ValueError(f"no run {run!r} here; {_there('run', names)}")
    if call_id is not None:
        names = [call.id for talk in found for call in talk.calls]
        found = [talk for talk in found if call_id in _ids(talk)]
        if not found:
            raise ValueError(f"no call or approval {call_id!r} here; {_there('call', names)}")
    return found


def _ids(talk: Conversation) -> set[str]:
    ids = {call.id for call in talk.calls} | {result.call_id for result in talk.orphans}
    ids |= {name for approval in talk.approvals for name in (approval.id, approval.call_id)}
    return ids | {answer.id for answer in talk.strays}


def _there(word: str, names: list[str]) -> str:
    distinct = [name for name in dict.fromkeys(names) if name]
    if not distinct:
        return f"there is no {word} with an id"
    more = f" and {len(distinct) - _LISTED} more" if len(distinct) > _LISTED else ""
    shown = [name if len(name) <= _LONGEST else f"{name[:_LONGEST]}…" for name in distinct[:_LISTED]]
    return f"known: {', '.join(map(repr, shown))}{more}"
