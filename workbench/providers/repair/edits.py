"""Suggestions applied to a message list: a new list, nothing in place, no dialect needed to know how.

All positions are resolved before anything changes, so that suggestions do not shift each other.
Messages that are not touched are shared with the list that was given.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from workbench.providers.repair.suggestion import Suggestion

_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
#: keys under which a message holds what it says; one without any of them is dropped when it has lost a part
_SAYING = ("content", "contents", "parts", "tool_calls", "toolCalls", "function_approvals", "functionApprovals",
           "images", "refusal", "audio", "function_call")  # fmt: skip
#: lists that providers refuse to get empty
_NOT_EMPTY = ("tool_calls", "toolCalls")
#: what dumps of frameworks put around a message
_WRAPPERS = ("value", "kwargs", "data")


def steps(path: str, within: str) -> list[str | int] | None:
    """A position as keys and indexes inside its list; None for one outside of it."""
    if not path.startswith(f"{within}["):
        return None
    return [int(m[2]) if m[2] is not None else m[1] for m in _STEP.finditer(path, len(within))]


def inside(holder: Any, key: str) -> Any:
    """The object that has a key: a message itself, or the one inside of a framework's wrapper."""
    while isinstance(holder, dict) and key not in holder:
        inner = next((holder[w] for w in _WRAPPERS if isinstance(holder.get(w), dict)), None)
        if inner is None:
            break
        holder = inner
    return holder


def resolve(items: Any, keys: Sequence[str | int]) -> tuple[Any, str | int, Any]:
    """Holder, key and value at the end of a path. Raises `LookupError` where it leads nowhere."""
    holder: Any = None
    value: Any = items
    for key in keys:
        holder = inside(value, key) if isinstance(key, str) else value
        if isinstance(holder, dict) and isinstance(key, str):
            value = holder.get(key)
        elif isinstance(holder, list) and isinstance(key, int) and key < len(holder):
            value = holder[key]
        else:
            raise LookupError("".join(f"[{k}]" if isinstance(k, int) else f".{k}" for k in keys))
    return holder, keys[-1], value


@dataclass(slots=True)
class Edited:
    """The new list, the new settings beside it, and where each object of it stood before."""

    items: list[Any]
    settings: dict[str, Any] = field(default_factory=dict)
    origins: dict[int, str] = field(default_factory=dict)
    #: keeps what was taken out alive, so that no new object gets its identity
    gone: list[Any] = field(default_factory=list)


def edited(
    items: list[Any], suggestions: Sequence[Suggestion], within: str, known: Iterable[str] = ()
) -> Edited:
    """Apply suggestions to a list. `known` are positions to be found again in `origins`, by identity."""
    made = Edited(list(items))
    opened: set[int] = set()
    for suggestion in suggestions:
        for path in (*suggestion.at, *([suggestion.target] if suggestion.target else [])):
            keys = steps(path, within)
            if keys and isinstance(keys[0], int) and len(keys) > 1 and keys[0] not in opened:
                if keys[0] >= len(items):
                    raise LookupError(path)
                opened.add(keys[0])
                made.items[keys[0]] = deepcopy(items[keys[0]])
    # a message that goes as a whole must be told from an equal one that stays
    for path in known:
        keys = steps(path, within)
        if keys:
            try:
                value = resolve(made.items, keys)[2]
            except LookupError:
                continue
            if isinstance(value, dict):
                made.origins.setdefault(id(value), path)
    _Edits(made, within).apply(suggestions)
    return made


class _Edits:
    def __init__(self, made: Edited, within: str) -> None:
        self.made = made
        self.within = within
        self.new: set[int] = set()
        self.lost: list[Any] = []
        self.behind: dict[int, Any] = {}

    def apply(self, suggestions: Sequence[Suggestion]) -> None:
        """Values first, then what comes, then what goes."""
        before = list(self.made.items)
        found = [[self._at(path) for path in s.at] for s in suggestions]
        targets = [self._at(s.target) if s.target else None for s in suggestions]
        for suggestion, places in zip(suggestions, found, strict=True):
            if suggestion.action in ("rename", "replace") or (places and places[0][0] is self.made.settings):
                for place in places:
                    self._set(place, suggestion.becomes)
        going: list[tuple[Any, Any]] = []
        for suggestion, places in zip(suggestions, found, strict=True):
            if suggestion.action in ("drop", "move"):
                going += [(holder, value) for holder, _, value in places]
                deep = [k for p in suggestion.at if (k := steps(p, self.within)) and len(k) > 1]
                self.lost += [before[keys[0]] for keys in deep if isinstance(keys[0], int)]
        taken = [(holder, _index(holder, value)) for holder, value in going]
        for holder, at in taken:
            holder[at] = _Hole(holder[at])
        for suggestion, places, target in zip(suggestions, found, targets, strict=True):
            if suggestion.action == "insert" and not suggestion.at:
                self._put(deepcopy(suggestion.becomes), target, suggestion.side)
            elif suggestion.action == "move":
                self._put(_wrapped(suggestion.becomes, places[0][2]), target, suggestion.side)
        for holder, _ in going:
            holder[:] = [v for v in holder if not isinstance(v, _Hole)]
        self.made.gone += [value for _, value in going]
        self._tidy()

    def _at(self, path: str) -> tuple[Any, str | int, Any]:
        keys = steps(path, self.within)
        return resolve(self.made.items, keys) if keys else (self.made.settings, path, None)

    def _set(self, place: tuple[Any, str | int, Any], value: Any) -> None:
        holder, key, old = place
        if isinstance(holder, list):
            holder[_index(holder, old)] = deepcopy(value)
        elif value is None and holder is not self.made.settings:
            holder.pop(key, None)
        else:
            holder[key] = deepcopy(value)

    def _put(self, value: Any, target: tuple[Any, str | int, Any] | None, side: str) -> None:
        """Beside its neighbour; what goes behind the same one keeps its order."""
        if target is None:
            self.made.items.insert(0, value)
        else:
            holder, _, neighbour = target
            after = self.behind.get(id(neighbour), neighbour) if side == "behind" else neighbour
            holder.insert(_index(holder, after) + (side == "behind"), value)
            if side == "behind":
                self.behind[id(neighbour)] = value
        self.new.add(id(value))

    def _tidy(self) -> None:
        """Messages that have nothing more to say go; new ones that belong together become one."""
        for message in self.lost:
            inner = next((m for key in _SAYING if key in (m := inside(message, key))), message)
            for key in _NOT_EMPTY:
                if inner.get(key) == []:
                    del inner[key]
            if not any(inner.get(key) for key in _SAYING):
                self.made.items[:] = [m for m in self.made.items if m is not message]
                self.made.gone.append(message)
        kept: list[Any] = []
        for message in self.made.items:
            before = kept[-1] if kept else None
            if before is not None and {id(before), id(message)} <= self.new and _alike(before, message):
                key = next(k for k, v in message.items() if isinstance(v, list))
                before[key].extend(message[key])
            else:
                kept.append(message)
        self.made.items[:] = kept


class _Hole:
    """The place of something that goes: neighbours still find it."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _index(holder: list[Any], value: Any) -> int:
    return next(n for n, v in enumerate(holder) if v is value or (isinstance(v, _Hole) and v.value is value))


def _wrapped(wrapper: Any, value: Any) -> Any:
    """A block in a message of its own, where the move says so."""
    key = (
        next((k for k, v in wrapper.items() if isinstance(v, list)), "") if isinstance(wrapper, dict) else ""
    )
    return {**wrapper, key: [value]} if key else value


def _alike(one: Any, two: Any) -> bool:
    """Two new messages of content blocks with the same role and nothing else to tell them apart."""
    if not isinstance(one, dict) or not isinstance(two, dict) or one.keys() != two.keys():
        return False
    lists = [k for k, v in one.items() if isinstance(v, list)]
    return lists in (["content"], ["parts"]) and all(one[k] == two[k] for k in one if k not in lists)


def apply(document: Any, suggestions: Iterable[Suggestion]) -> Any:
    """A message list, or the document (request body, session, …) that holds it, with suggestions applied: a new one.

    The document that is given does not change. Raises `ValueError` where a suggestion is about something that
    is not there: suggestions belong to the list that they were made for.
    """
    chosen = list(suggestions)
    if not chosen:
        return document
    within = chosen[0].within
    if any(s.within != within for s in chosen):
        raise ValueError("suggestions for several lists: apply those of one list to that list")
    keys = [] if isinstance(document, list) else _list_keys(document, within)
    items = resolve(document, keys)[2] if keys else document
    if not isinstance(items, list):
        raise ValueError(f"there is no list {within} in the document")  # noqa: TRY004 - a wrong value, not a wrong type
    try:
        made = edited(items, chosen, within)
    except (LookupError, StopIteration) as error:
        raise ValueError(f"there is no {error} in the list: it is not the one that was judged") from error
    if not keys:
        if made.settings:
            raise ValueError(
                f"{', '.join(made.settings)} is outside of the list: give the whole request body"
            )
        return made.items
    return {**_with(document, keys, made.items), **made.settings}


def _list_keys(document: Any, within: str) -> list[str | int]:
    """Where a document keeps the list."""
    for path in (f".{within}", f".request.{within}", ".messages"):
        keys: list[str | int] = [int(m[2]) if m[2] is not None else m[1] for m in _STEP.finditer(path)]
        try:
            if isinstance(resolve(document, keys)[2], list):
                return keys
        except LookupError:
            continue
    raise ValueError(f"there is no list {within} in the document")


def _with(document: Any, keys: Sequence[str | int], value: Any) -> Any:
    """A copy of a document with another value at a path."""
    if not keys:
        return value
    key, *rest = keys
    made: Any = dict(document) if isinstance(document, dict) else list(document)
    made[key] = _with(document[key], rest, value)
    return made
