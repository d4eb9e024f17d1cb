"""The search for the fewest changes that make a provider accept a list; its judge verifies every step."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace

from workbench.providers.catalogue import Refusal
from workbench.providers.repair.ids import FORM_RULES
from workbench.providers.repair.menders import Candidate, candidates
from workbench.providers.repair.sheet import Case, Sheet, refusal_key, weight
from workbench.providers.repair.suggestion import Suggestion

#: states that are kept at each step where little is wrong, and where more is
_WIDE, _NARROW = 8, 2
#: how much may be wrong for the one and for the other, and how many messages there may be
_FEW, _MOST, _LONG = 6, 20, 400
#: suggestions up to which each is tried without, and up to which renames are
_TRIED, _RENAMES = 200, 40


@dataclass(slots=True)
class _State:
    sheet: Sheet
    loss: int = 0
    given_up: frozenset[str] = frozenset()

    @property
    def parts(self) -> int:
        return sum(s.parts for s in self.sheet.suggestions)

    @property
    def left(self) -> int:
        return self.sheet.units(self.given_up).total()

    @property
    def rank(self) -> tuple[int, int, int, int]:
        left, refused = self.left, self.sheet.units().total()
        return (refused - left, self.parts + left, self.loss, left)


def solve(case: Case) -> Sheet:
    """The list with the fewest parts touched that is accepted; what has no honest repair is refused all the same."""
    first = Sheet(case)
    state = _forms(_State(first))
    for search in (_widely, _strictly):
        found = search(state)
        if found is not None and not _adds(first, found.sheet):
            after = _anchored(_without_needless(found).sheet)
            if len(after.refusals) < len(first.refusals):
                return after
    return first


def _widely(state: _State) -> _State | None:
    """The best of many ways, step by step; None for lists that are too long for it."""
    units = state.left
    if units > _MOST or len(state.sheet.case.items) > _LONG:
        return None
    width = _WIDE if units <= _FEW else _NARROW
    beam, best = [state], None
    for _ in range(2 * units + 4):
        done = [s for s in beam if not s.left]
        best = min([*done, *([best] if best else [])], key=lambda s: s.rank, default=None)
        waiting = [s for s in beam if s.left and (best is None or s.rank < best.rank)]
        if not waiting:
            break
        grown = {_key(s): s for state in waiting for s in _grow(state, 3 if width == _WIDE else 1)}
        ranked = sorted(grown.values(), key=lambda s: s.rank)
        # the best state that has given something up stays: the others may lead nowhere
        beam = ranked[:width] + [s for s in ranked[width:] if s.given_up][:1]
    return best


def _forms(state: _State) -> _State:
    """Ids that have a form which is not taken are renamed first, all of them: what is inserted later has the new ones."""
    wrong = [r for r in state.sheet.refusals if r.rule.id in FORM_RULES]
    found = [made[0] for refusal in wrong if (made := candidates(state.sheet, refusal))]
    at_once = Candidate(tuple(s for c in found for s in c.suggestions), sum(c.loss for c in found))
    after = _after(state, at_once) if found else None
    if after is not None and after.left < state.left:
        return after
    for candidate in found:
        after = _after(state, candidate)
        state = after if after is not None and after.left < state.left else state
    return state


def _grow(state: _State, most: int = 1) -> list[_State]:
    """What becomes of a state by each candidate for the first refusals in it."""
    waiting = [r for r in state.sheet.refusals if refusal_key(r) not in state.given_up]
    made = [
        (r, s)
        for r in waiting[:most]
        for c in candidates(state.sheet, r)
        if (s := _after(state, c)) is not None
    ]
    better = [s for r, s in made if _of(s, r) < _of(state, r) or s.left < state.left]
    if better:
        return better
    # a count that is wrong by several may take a step that does not show yet
    level = [s for _, s in made if s.left == state.left]
    return [*level, _State(state.sheet, state.loss, state.given_up | {refusal_key(waiting[0])})]


def _of(state: _State, refusal: Refusal) -> int:
    return state.sheet.units(state.given_up)[refusal.rule.id]


def _after(state: _State, candidate: Candidate) -> _State | None:
    """A state with a candidate added; None where that touches what the user says, or leaves nothing."""
    if any(s in state.sheet.suggestions for s in candidate.suggestions):
        return None
    try:
        sheet = Sheet(state.sheet.case, (*state.sheet.suggestions, *candidate.suggestions))
    except (LookupError, StopIteration):
        return None  # two changes of one part
    if sheet.said != state.sheet.said or not any(turn.role != "system" for turn in sheet.turns):
        return None
    return _State(sheet, state.loss + candidate.loss, state.given_up)


def _strictly(state: _State) -> _State:
    """The way without detours: every step leaves less, and nothing new; what no step mends is given up."""
    while state.left:
        refusal = next(r for r in state.sheet.refusals if refusal_key(r) not in state.given_up)
        best: _State | None = None
        for candidate in sorted(candidates(state.sheet, refusal), key=_cost):
            after = _after(state, candidate)
            if after is None or after.left >= state.left or _adds(state.sheet, after.sheet):
                continue
            best = after if best is None else min(best, after, key=lambda s: s.rank)
            if state.left - after.left >= _cost(candidate)[0]:
                break  # every part that it touches mends something
        state = best or _State(state.sheet, state.loss, state.given_up | {refusal_key(refusal)})
    return state


def _cost(candidate: Candidate) -> tuple[int, int]:
    return sum(s.parts for s in candidate.suggestions), candidate.loss


def _without_needless(state: _State) -> _State:
    """Whatever can be left out again is, until nothing can."""
    if len(state.sheet.suggestions) > _TRIED:
        return state
    while True:
        chosen = state.sheet.suggestions
        fewer = next((s for n in reversed(range(len(chosen))) if (s := _less(state, n)) is not None), None)
        if fewer is None:
            return state
        state = fewer


def _less(state: _State, n: int) -> _State | None:
    """The state without one of its suggestions, where that is as good."""
    chosen = state.sheet.suggestions
    if len(chosen) > _RENAMES and chosen[n].action == "rename":
        # of many new ids only those are in doubt whose part changes once more
        again = [
            s for k, s in enumerate(chosen) if k != n and set(s.at) & {chosen[n].position, *chosen[n].at}
        ]
        if not again:
            return None
    try:
        sheet = Sheet(state.sheet.case, chosen[:n] + chosen[n + 1 :])
    except (LookupError, StopIteration):
        return None
    if sheet.units(state.given_up).total() or _adds(state.sheet, sheet):
        return None
    return _State(sheet, state.loss, state.given_up)


def _anchored(sheet: Sheet) -> Sheet:
    """In the order of the list; what is put beside a part that goes is put beside its neighbour, which is still there."""
    gone = {path for s in sheet.suggestions if s.action in ("drop", "move") for path in s.at}
    chosen = sorted(sheet.suggestions, key=_in_list)
    for n, suggestion in enumerate(chosen):
        target = suggestion.target
        while target in gone and (near := _beside(target, -1 if suggestion.side == "behind" else 1)):
            target = near
        if target != suggestion.target:
            position = target if suggestion.action == "insert" else suggestion.position
            chosen[n] = replace(suggestion, target=target, position=position)
    if chosen == list(sheet.suggestions):
        return sheet
    try:
        after = Sheet(sheet.case, tuple(chosen))
    except (LookupError, StopIteration):
        return sheet
    return sheet if _adds(sheet, after) else after


def _in_list(suggestion: Suggestion) -> tuple[bool, list[int]]:
    """Where it stands in the list; settings last."""
    numbers = [int(number) for number in re.findall(r"\[(\d+)\]", suggestion.position)]
    return not numbers, numbers


def _beside(path: str, step: int) -> str:
    """The position one before or behind in the same list; "" at its beginning."""
    found = re.fullmatch(r"(.*)\[(\d+)\]", path)
    return f"{found[1]}[{int(found[2]) + step}]" if found and int(found[2]) + step >= 0 else ""


def _adds(before: Sheet, after: Sheet) -> bool:
    """Something is refused that was not before."""
    had = Counter[str]()
    has = Counter[str]()
    for counter, sheet in ((had, before), (has, after)):
        for refusal in sheet.refusals:
            counter[refusal.rule.id] += weight(refusal)
    return bool(has - had)


def _key(state: _State) -> tuple[object, ...]:
    return (state.given_up, *sorted(_sign(s) for s in state.sheet.suggestions))


def _sign(suggestion: Suggestion) -> str:
    return f"{suggestion.action} {suggestion.at} {suggestion.where} {suggestion.becomes!r}"
