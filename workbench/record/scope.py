"""The request that is being served: how what happens inside of an agent knows its thread and run."""

from __future__ import annotations

from contextvars import ContextVar

#: `thread` and `run`, where they are known
Place = dict[str, str | None]
#: Set before a request is read, filled when it was: tasks that are started meanwhile see it all the same
_CURRENT: ContextVar[Place | None] = ContextVar("workbench_request", default=None)


def enter() -> Place:
    """Begin to serve a request."""
    place: Place = {}
    _CURRENT.set(place)
    return place


def current() -> tuple[str | None, str | None]:
    """Thread and run of the request that is being served; None where nothing tells them."""
    place = _CURRENT.get() or {}
    return place.get("thread"), place.get("run")
