"""Applying STATE_DELTA and ACTIVITY_DELTA in order, as a client does, and noting what goes wrong.

A document is known from its snapshot on (the state also from a request, an activity from a
message list). Before that a patch cannot be judged, only be called early.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary

import msgspec

from workbench.calls.conversation import At, Conversation, Run

if TYPE_CHECKING:
    from workbench.trace import Trace

_DELTAS = {"STATE_DELTA": "delta", "ACTIVITY_DELTA": "patch"}
_BAD_ESCAPE = re.compile(r"~(?![01])")
#: Bounds, because captures may be hostile: problems noted per conversation, operations of one
#: patch, failures of one document, patches done again after a failure, bytes of a document
#: that `copy` operations may make.
_NOTED, _OPERATIONS, _FAILURES, _REDONE, _BYTES = 100, 10_000, 20, 5_000, 64_000_000


@dataclass(frozen=True, slots=True)
class PatchProblem:
    """One patch that went wrong. `document` is "" for the shared state, else the activity's message id."""

    kind: Literal["failed", "invalid", "early"]
    run: Run
    row: int
    document: str
    detail: str = ""
    #: the snapshot that the patch builds on
    base: At | None = None


@dataclass(slots=True)
class _Document:
    """A document as the client has it. `fresh` makes its first value anew, `applied` are rows of the patches since."""

    fresh: Callable[[], Any]
    base: At
    value: Any = None
    applied: list[int] = field(default_factory=list)
    failures: int = 0
    #: bytes written to see how large it is
    measured: int = 0
    #: too large or too broken to be followed further
    lost: bool = False

    def __post_init__(self) -> None:
        self.value = self.fresh()


_cache: WeakKeyDictionary[Trace, list[PatchProblem]] = WeakKeyDictionary()


def problems(trace: Trace) -> list[PatchProblem]:
    """All patches of a trace that failed, are malformed or came early; worked out once."""
    found = _cache.get(trace)
    if found is None:
        codes = trace.records.pool.codes
        deltas = [c for c in trace.conversations if c.states] if codes.keys() & _DELTAS.keys() else []
        found = _cache[trace] = [problem for c in deltas for problem in _Replay(trace, c).run()]
    return found


class _Replay:
    """The documents of one conversation while its events pass by."""

    def __init__(self, trace: Trace, conversation: Conversation) -> None:
        self.trace = trace
        self.conversation = conversation
        self.documents: dict[str, _Document] = {}
        self.early: set[str] = set()
        self.requested: set[int] = set()

    def run(self) -> Iterator[PatchProblem]:
        noted = 0
        for run, row in self.conversation.states:
            self._request(run)
            event = self.trace.json(row)
            problem = self._event(run, row, event)
            late = run.end is not None and row > run.end
            if problem is not None and not late and noted < _NOTED:
                noted += 1
                yield problem

    def _request(self, run: Run) -> None:
        """The state that the client sent is what it will patch, where it sent any."""
        if id(run) in self.requested or run.request is None:
            return
        self.requested.add(id(run))
        state = self.trace.records.requests[run.request].body.get("state")
        if isinstance(state, dict | list) and state:
            self.documents[""] = _Document(lambda: copy.deepcopy(state), At("request", run.request))

    def _event(self, run: Run, row: int, event: dict[str, Any]) -> PatchProblem | None:
        kind = event.get("type")
        records = self.trace.records
        name = (
            ""
            if kind in ("STATE_SNAPSHOT", "STATE_DELTA")
            else records.pool.text(records.events.message[row]) or ""
        )
        if kind == "STATE_SNAPSHOT":
            self.documents[""] = _Document(lambda: self.trace.json(row).get("snapshot"), At("event", row))
        elif kind == "ACTIVITY_SNAPSHOT" and name:
            if event.get("replace") is not False or name not in self.documents:
                self.documents[name] = _Document(
                    lambda: self.trace.json(row).get("content"), At("event", row)
                )
        elif kind in _DELTAS and (name or kind == "STATE_DELTA") and _DELTAS[kind] in event:
            return self._patch(run, row, name, event[_DELTAS[kind]])
        return None

    def _patch(self, run: Run, row: int, name: str, patch: Any) -> PatchProblem | None:
        document = self.documents.get(name)
        base = document.base if document else None
        malformed = _malformed(patch)
        if malformed:
            return PatchProblem("invalid", run, row, name, malformed, base)
        if document is None and name:
            document = self._listed(name, row)
        if document is None:
            # Say it once; what the patches make of an unknown document is nobody's guess.
            first = name not in self.early
            self.early.add(name)
            return PatchProblem("early", run, row, name) if first else None
        if document.lost or not _bounded(document, patch):
            document.lost = True
            return None
        failure = _apply(document, patch)
        if failure is None:
            document.applied.append(row)
            return None
        self._undo(document, "patch" if name else "delta")
        return PatchProblem("failed", run, row, name, failure, document.base)

    def _undo(self, document: _Document, key: str) -> None:
        """A patch counts wholly or not at all: after a failure the value is made again."""
        document.failures += 1
        if document.failures >= _FAILURES or len(document.applied) > _REDONE:
            document.lost = True
            return
        document.value = document.fresh()
        for row in document.applied:
            _apply(document, self.trace.json(row).get(key) or [])

    def _listed(self, message_id: str, row: int) -> _Document | None:
        """An activity that is known only as a message of an earlier snapshot or request."""
        sequence = self.trace.sequence_of(row)
        for items in reversed(self.conversation.lists):
            for message in items.messages if items.sequence <= sequence else ():
                if message.get("role") == "activity" and message.get("id") == message_id:
                    found = self.documents[message_id] = _Document(partial(_content, message), items.at)
                    return found
        return None


def _content(message: dict[str, Any]) -> Any:
    return copy.deepcopy(message.get("content"))


def _bounded(document: _Document, patch: list[dict[str, Any]]) -> bool:
    """Whether applying is safe: every `copy` may double the document."""
    copies = sum(operation["op"] == "copy" for operation in patch[:_OPERATIONS])
    if len(patch) > _OPERATIONS or copies > 26:
        return False
    try:
        if not copies:
            return True
        size = len(msgspec.json.encode(document.value))
    except (TypeError, ValueError, RecursionError):
        return False
    document.measured += size
    return size << copies <= _BYTES and document.measured <= 4 * _BYTES


def _apply(document: _Document, patch: list[dict[str, Any]]) -> str | None:
    """Apply a patch in place; why it failed, or None. A failure may leave half of it."""
    import jsonpatch
    import jsonpointer

    try:
        document.value = jsonpatch.apply_patch(document.value, patch, in_place=True)
    except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException) as problem:
        return str(problem) or type(problem).__name__
    except (TypeError, ValueError, KeyError, IndexError, AttributeError, RecursionError) as problem:
        # The library assumes that a path ends in an object or list.
        return f"{type(problem).__name__}: {problem}"
    return None


def _malformed(patch: Any) -> str:
    """Why a value is no RFC 6902 patch; "" if it is one."""
    if not isinstance(patch, list):
        return f"a patch is a list of operations, not {_kind(patch)}"
    for number, operation in enumerate(patch[:_OPERATIONS]):
        if not isinstance(operation, dict):
            return f"operation {number} is {_kind(operation)}, not an object"
        word = operation.get("op")
        if word not in ("add", "remove", "replace", "move", "copy", "test"):
            return (
                f"operation {number} has no op"
                if word is None
                else f"operation {number} has the unknown op {word!r}"
            )
        for key in ("path", "from") if word in ("move", "copy") else ("path",):
            pointer = operation.get(key)
            if not isinstance(pointer, str):
                return f"operation {number} ({word}) has no {key}"
            if pointer and not pointer.startswith("/"):
                return f"operation {number}: {key} {pointer!r} does not begin with “/”"
            if _BAD_ESCAPE.search(pointer):
                return f"operation {number}: {key} {pointer!r} has “~” without 0 or 1 after it"
        if word in ("add", "replace", "test") and "value" not in operation:
            return f"operation {number} ({word}) has no value"
    return ""


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    names = {dict: "an object", list: "a list", str: "text", bool: "a truth value"}
    return names.get(type(value), "a number")
