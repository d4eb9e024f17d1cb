"""A message list after some suggestions, as its provider sees it: what it refuses now, and where things stood before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from workbench.calls.conversation import Call
from workbench.providers.catalogue import Refusal, judge
from workbench.providers.repair.edits import Edited, edited, resolve, steps
from workbench.providers.repair.suggestion import Suggestion
from workbench.providers.request import Request
from workbench.providers.verdicts import Verdict
from workbench.readers.payloads.dialects import read_as
from workbench.readers.payloads.history import Block, Turn, text

#: rules whose places are copies of one thing, of which one may stay
_COPIES = ("R4", "R5", "R13", "R17", "R18", "R38")
#: rules whose places are one fault
_ONE = ("R3", "R20", "R21", "R23", "R25", "R39")


@dataclass(slots=True)
class Case:
    """One list before one provider: what the repair starts from."""

    verdict: Verdict
    request: Request
    items: list[Any]
    within: str
    #: results and calls that the capture shows elsewhere, by id
    calls: dict[str, list[Call]] = field(default_factory=dict)

    @property
    def provider(self) -> str:
        """The provider that judges."""
        return self.verdict.provider

    @property
    def dialect(self) -> str:
        """The dialect that the list is written in."""
        return self.request.history.dialect

    def known_result(self, call_id: str) -> tuple[str, str] | None:
        """What the capture shows as the result of a call before this list, and in which place; None if it is unclear."""
        found = self.calls.get(call_id, ())
        if len(found) != 1:
            return None
        items = self.verdict.items
        seen = [
            r
            for r in found[0].results
            if not r.decision
            and r.cls in ("ok", "error", "refusal")
            and r.sequence <= items.sequence
            and r.at != items.at
        ]
        return (seen[0].content, seen[0].place) if len({r.content for r in seen}) == 1 else None

    def known_call(self, call_id: str) -> tuple[str, str] | None:
        """Tool and arguments of a call that the capture shows elsewhere; None if it is unclear."""
        found = [c for c in self.calls.get(call_id, ()) if c.tool and c.arguments is not None and c.starts]
        return (found[0].tool, found[0].arguments or "{}") if len(found) == 1 else None

    def open_approval(self, call_id: str) -> str:
        """`open` or `rejected`: what is known of the decision on a call without a result."""
        for call in self.calls.get(call_id, ()):
            for approval in call.approvals:
                if approval.decision in ("rejected", "cancelled"):
                    return "rejected"
                if approval.decision in ("none", "unseen") and not approval.answers:
                    return "open"
        return ""


class Sheet:
    """A list with suggestions applied, judged."""

    def __init__(self, case: Case, suggestions: tuple[Suggestion, ...] = ()) -> None:
        self.case = case
        self.suggestions = suggestions
        self.made = edited(case.items, suggestions, case.within)
        before = case.request
        if suggestions:
            history = replace(
                before.history,
                turns=read_as(before.history.dialect, self.made.items, case.within).turns,
                settings={**before.history.settings, **self.made.settings},
            )
            self.request = Request(
                history, url=before.url, sent=before.sent, stored=before.stored, answered=before.answered
            )
        else:
            self.request = before
        self.refusals: list[Refusal] = judge(case.provider, self.request, family=case.verdict.family)

    @property
    def turns(self) -> list[Turn]:
        """The messages, or items."""
        return self.request.history.turns

    @cached_property
    def places(self) -> dict[str, tuple[int, Block | None]]:
        """Number of the turn and block by position; the position of a turn alone gives no block."""
        found: dict[str, tuple[int, Block | None]] = {
            turn.path: (n, None) for n, turn in enumerate(self.turns)
        }
        found.update({b.path: (n, b) for n, turn in enumerate(self.turns) for b in turn.blocks})
        return found

    def origin(self, path: str) -> str:
        """Where that which now stands at a position stood in the list as captured; "" for what is new."""
        if not self.suggestions:
            return path
        keys = steps(path, self.case.within)
        try:
            value = resolve(self._found.items, keys)[2] if keys else None
        except LookupError:
            return ""
        return self._found.origins.get(id(value), "") if isinstance(value, dict) else ""

    @cached_property
    def _found(self) -> Edited:
        """The same once more, with an eye on every part: most lists are only judged, and never asked for this."""
        return edited(self.case.items, self.suggestions, self.case.within, case_paths(self.case))

    @cached_property
    def _by_call(self) -> dict[str, list[tuple[int, Block]]]:
        found: dict[str, list[tuple[int, Block]]] = {}
        for n, block in self.blocks("call", "result", "approval-request", "approval-response"):
            found.setdefault(block.call_id, []).append((n, block))
        return found

    def of_call(self, call_id: str) -> list[tuple[int, Block]]:
        """Everything that carries a call id: calls, results, approvals."""
        return self._by_call.get(call_id, [])

    @cached_property
    def taken(self) -> set[str]:
        """Call ids that a new one must differ from."""
        return {b.call_id for _, b in self.blocks("call", "result")}

    def as_captured(self, call_id: str) -> str:
        """The id that a call had before it was renamed."""
        renamed = (s.was for s in self.suggestions if s.action == "rename" and s.becomes == call_id and s.was)
        return next(map(text, renamed), call_id)

    def blocks(self, *kinds: str) -> Iterator[tuple[int, Block]]:
        """Blocks of some kinds with the numbers of their turns, in order."""
        for n, turn in enumerate(self.turns):
            for block in turn.blocks:
                if block.kind in kinds:
                    yield n, block

    def units(self, given_up: Iterable[str] = ()) -> Counter[str]:
        """How much is still refused, by rule: about one for each part that is wrong."""
        left: Counter[str] = Counter()
        for refusal in self.refusals:
            if refusal_key(refusal) not in given_up:
                left[refusal.rule.id] += weight(refusal)
        return left

    @cached_property
    def said(self) -> list[Any]:
        """All that the user says, which no repair may touch."""
        return [b.content for turn in self.turns if turn.role == "user" for b in turn.of("text", "data")]


def case_paths(case: Case) -> list[str]:
    """Every position of a list that its provider reads."""
    return [p for turn in case.request.history.turns for p in (turn.path, *(b.path for b in turn.blocks))]


def refusal_key(refusal: Refusal) -> str:
    """Tells one refusal from another while positions shift."""
    return " ".join((refusal.rule.id, *refusal.call_ids, *refusal.others))


def weight(refusal: Refusal) -> int:
    """About how many parts have to be touched for it."""
    if refusal.rule.id in _ONE:
        return 1
    return max(1, len(refusal.paths) - (refusal.rule.id in _COPIES))
