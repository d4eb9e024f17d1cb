"""Repairs of all message lists of a trace, for one provider."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from workbench.calls.conversation import Call
from workbench.providers.catalogue import PROVIDERS, Refusal
from workbench.providers.repair.edits import apply
from workbench.providers.repair.search import solve
from workbench.providers.repair.sheet import Case, Sheet
from workbench.providers.repair.suggestion import Suggestion, Unmended
from workbench.providers.verdicts import Verdict, request_of, verdicts
from workbench.readers.payloads.history import Dialect

if TYPE_CHECKING:
    import pandas as pd

    from workbench.trace import Trace

#: why a refusal has no repair, by rule; else whether anything would be left
_NONE = {"R28": "the approval in it is not carried out yet: without the message the answer would be lost"}
_UNKNOWN = "no change that is known for it makes the provider accept the list"
_NOTHING = "the user says nothing in this list: without this part nothing would be left to send"


@dataclass(frozen=True, slots=True)
class Repair:
    """What would make one provider accept one message list.

    `document` is the list as captured, of a payload the request body that holds it; nothing in it changes.
    """

    provider: str
    #: number of the list, as in `providers.frame`, and where it was seen
    list: int
    place: str
    thread_id: str
    run_id: str
    suggestions: tuple[Suggestion, ...]
    unmended: tuple[Unmended, ...]
    document: Any
    #: the dialect that the list is written in, and what it is called in its document
    dialect: Dialect = "openai-chat"
    within: str = "messages"

    @property
    def parts(self) -> int:
        """How many parts are touched."""
        return sum(s.parts for s in self.suggestions)

    @property
    def placeholders(self) -> tuple[Suggestion, ...]:
        """Suggestions that stand for something which the capture does not tell."""
        return tuple(s for s in self.suggestions if s.placeholder)

    def applied(self) -> Any:
        """The document with all suggestions applied: a new one."""
        return apply(self.document, self.suggestions)


class Repairs(Sequence[Repair]):
    """The repairs of a trace: one for each list that is refused, in the order of the lists."""

    def __init__(self, items: Sequence[Repair]) -> None:
        self.items = tuple(items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: Any) -> Any:
        return self.items[index]

    def __iter__(self) -> Iterator[Repair]:
        return iter(self.items)

    def __repr__(self) -> str:
        count = sum(len(r.suggestions) for r in self.items)
        left = sum(len(r.unmended) for r in self.items)
        return f"<Repairs: {len(self.items)} lists, {count} suggestions, {left} without a repair>"

    @property
    def frame(self) -> pd.DataFrame:
        """One row per suggestion, and one (action `none`) per refusal without an honest repair.

        `was` and `becomes` are JSON text, "" for nothing; positions are those of the list as captured.
        """
        import pandas as pd

        columns = ["provider", "list", "place", "thread_id", "run_id", "rule", "severity", "action", "position", "where",
                   "was", "becomes", "placeholder", "call_id", "why", "error"]  # fmt: skip
        return pd.DataFrame([row for repair in self.items for row in _rows(repair)], columns=columns)


def _rows(repair: Repair) -> Iterator[dict[str, Any]]:
    shared = {"provider": repair.provider, "list": repair.list, "place": repair.place, "thread_id": repair.thread_id,
              "run_id": repair.run_id}  # fmt: skip
    for s in repair.suggestions:
        yield {**shared, "rule": s.rule, "severity": s.severity, "action": s.action, "position": s.position, "where": s.where,
               "was": _json(s.was), "becomes": _json(s.becomes), "placeholder": s.placeholder, "call_id": s.call_id,
               "why": s.why, "error": s.error}  # fmt: skip
    for left in repair.unmended:
        yield {**shared, "rule": left.rule, "severity": left.severity, "action": "none",
               "position": next(iter(left.positions), ""), "where": "", "was": "", "becomes": "", "placeholder": False,
               "call_id": next(iter(left.call_ids), ""), "why": left.why, "error": left.error}  # fmt: skip


def _json(value: Any) -> str:
    if value is None:
        return ""
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError):
        return str(value)


def repair_suggestions(trace: Trace, provider: str = "") -> Repairs:
    """What would make a provider accept the message lists of a trace that it would refuse.

    With `provider` every snapshot, request, payload and history is judged as if it were sent there; without,
    every payload by its own provider. Message lists of telemetry are judged by `wb.check`, but not repaired:
    they do not hold the messages as they were sent. Raises `ValueError` for an unknown provider.
    """
    if provider and provider not in PROVIDERS:
        raise ValueError(f"no provider is called {provider!r}: {', '.join(PROVIDERS)}")
    found = []
    for verdict in verdicts(trace, provider):
        if wanting(verdict):
            made = repair_of(trace, verdict)
            if made is not None:
                found.append(made)
    return Repairs(found)


def wanting(verdict: Verdict) -> bool:
    """There is something to repair, and nobody who took it all the same."""
    return bool(verdict.refusals) and verdict.word != "disagrees" and verdict.items.place != "telemetry"


def repair_of(trace: Trace, verdict: Verdict) -> Repair | None:
    """The repair of one list; None where its document does not hold it as a list."""
    items = verdict.items
    request = request_of(trace, items, verdict.record)
    if not request.history.turns:
        return None
    within = re.sub(r"\[\d+\]\Z", "", request.history.turns[0].path)
    document = items.messages if verdict.record is None else verdict.record.body
    found = listed(document, within)
    if found is None:
        return None
    known: dict[str, list[Call]] = {}
    for call in verdict.conversation.calls:
        known.setdefault(call.id, []).append(call)
    sheet = solve(Case(verdict, request, found, within, known))
    return Repair(
        verdict.provider, items.number, items.place, items.run.thread_id, items.run.run_id, sheet.suggestions,
        tuple(_unmended(refusal, sheet) for refusal in sheet.refusals), found if verdict.record and items.place == "history" else document,
        request.history.dialect, within,
    )  # fmt: skip


def listed(document: Any, within: str) -> list[Any] | None:
    """The list in its document: a body, a wrapped body, or `{"messages": …}` around a list found deeper."""
    if isinstance(document, list):
        return document
    inner = document.get("request") if isinstance(document, dict) else None
    for holder, key in ((document, within), (inner, within), (document, "messages")):
        if isinstance(holder, dict) and isinstance(holder.get(key), list):
            found: list[Any] = holder[key]
            return found
    return None


def _unmended(refusal: Refusal, sheet: Sheet) -> Unmended:
    """A refusal that is left, with ids and positions as captured."""
    why = _NONE.get(refusal.rule.id, _UNKNOWN if sheet.said else _NOTHING)
    places = tuple(sheet.origin(path) or path for path in refusal.paths)
    ids = tuple(sheet.as_captured(call_id) for call_id in refusal.call_ids)
    return Unmended(refusal.rule.provider, refusal.rule.id, refusal.severity, refusal.error, ids, places, why)
