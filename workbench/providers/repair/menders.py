"""What can be done about a refusal: the registry of candidates, and the ways to touch one part of a list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from workbench.providers.catalogue import Refusal
from workbench.providers.repair import forms
from workbench.providers.repair.edits import resolve, steps
from workbench.providers.repair.sheet import Sheet
from workbench.providers.repair.suggestion import Suggestion
from workbench.readers.payloads.history import Block, Turn

#: what a candidate loses of the conversation: candidates that touch as many parts are told apart by it
NOTHING, A_COPY, A_THOUGHT, A_GUESS, A_RESULT, A_CALL = range(6)


class Candidate(NamedTuple):
    """Suggestions that belong together, and what is lost by them."""

    suggestions: tuple[Suggestion, ...]
    loss: int


Mender = Callable[["Desk"], Iterator[Candidate]]
MENDERS: dict[str, list[Mender]] = {}


def mends(*rules: str) -> Callable[[Mender], Mender]:
    """Register a source of candidates for rules of providers."""

    def register(mender: Mender) -> Mender:
        for rule in rules:
            MENDERS.setdefault(rule, []).append(mender)
        return mender

    return register


def candidates(sheet: Sheet, refusal: Refusal) -> list[Candidate]:
    """Everything that might mend a refusal, in no order of merit; the judge decides."""
    desk = Desk(sheet, refusal)
    return [made for mender in MENDERS.get(refusal.rule.id, ()) for made in mender(desk) if made.suggestions]


class Desk:
    """One refusal with the list that it is about; its methods make suggestions. None where a part is new itself."""

    def __init__(self, sheet: Sheet, refusal: Refusal) -> None:
        self.sheet = sheet
        self.refusal = refusal
        self.case = sheet.case
        self.dialect = sheet.case.dialect
        rule = refusal.rule
        self._for = Suggestion("drop", "", provider=rule.provider, rule=rule.id, severity=refusal.severity,
                               error=refusal.error, within=sheet.case.within)  # fmt: skip

    def blocks(self, *kinds: str) -> list[tuple[int, Block]]:
        """The blocks that the refusal names, of some kinds or of all."""
        found = []
        for path in dict.fromkeys(self.refusal.paths):
            n, block = self.sheet.places.get(path, (-1, None))
            if block is not None and (not kinds or block.kind in kinds):
                found.append((n, block))
        return found

    def turns(self) -> list[Turn]:
        """The messages that the refusal names."""
        return [self.sheet.turns[self.sheet.places[p][0]] for p in dict.fromkeys(self.refusal.paths)
                if p in self.sheet.places]  # fmt: skip

    def captured(self, path: str) -> Any:
        """What stood at a position in the list as captured."""
        keys = steps(path, self.case.within)
        try:
            return resolve(self.case.items, keys)[2] if keys else None
        except LookupError:
            return None

    def call_id(self, block: Block) -> str:
        """The call id of a block, as captured."""
        return self.sheet.as_captured(forms.real_id(block))

    def place(self, block: Block) -> str:
        """Where a block stands in the list as captured, for people."""
        return self.sheet.origin(block.path) or "a new part"

    def with_its_thought(self, n: int, call: Block) -> list[tuple[int, Block]]:
        """A call, and the thought beside it where that led to nothing else."""
        turns, parts = self.sheet.turns, [(n, call)]
        rest = [b for b in turns[n].blocks if b is not call]
        if rest and all(b.kind == "reasoning" and b.raw for b in rest):
            parts += [(n, b) for b in rest]
        if self.dialect == "openai-responses" and n and turns[n - 1].of("reasoning"):
            after = turns[n + 1] if n + 1 < len(turns) else None
            if after is None or after.role != "assistant":
                parts.append((n - 1, turns[n - 1].blocks[0]))
        return parts

    def drop(self, why: str, *parts: tuple[int, Block]) -> Suggestion | None:
        """Take parts out that only make sense together; the first is what it is about."""
        at: list[str] = []
        for n, block in parts:
            paths = [block.path, *forms.repeats(self.dialect, self.sheet.turns[n], block)]
            at += [self.sheet.origin(path) for path in paths]
        if not at or not all(at):
            return None
        return replace(self._for, action="drop", position=at[0], at=tuple(at), was=self.captured(at[0]),
                       why=why, call_id=self.call_id(parts[0][1]), parts=len(parts))  # fmt: skip

    def drop_turn(self, turn: Turn, why: str) -> Suggestion | None:
        """Take a whole message out."""
        at = self.sheet.origin(turn.path)
        if not at:
            return None
        return replace(self._for, action="drop", position=at, at=(at,), was=self.captured(at), why=why)

    def insert(self, value: Any, target: str, side: Any, why: str, *, placeholder: bool = False, call_id: str = "") -> Suggestion:  # fmt: skip
        """Put something new beside a part; at the front of the list where there is no target."""
        value = forms.dressed(value, self.dialect, self._neighbour())
        return replace(self._for, action="insert", position=target or self.case.within, target=target, side=side if target else "",
                       becomes=value, why=why, placeholder=placeholder, call_id=self.sheet.as_captured(call_id))  # fmt: skip

    def _neighbour(self) -> Any:
        return next(iter(self.case.items), None)

    def move(
        self, block: Block, target: str, side: Any, why: str, *, becomes: Any = None
    ) -> Suggestion | None:
        """Put a part beside another; `becomes` is a message around it."""
        at = self.sheet.origin(block.path)
        if not at or not target or at == target:
            return None
        return replace(self._for, action="move", position=at, at=(at,), target=target, side=side, was=self.captured(at),
                       becomes=becomes, why=why, call_id=self.call_id(block))  # fmt: skip

    def fields(self, block: Block, fields: Iterable[str], becomes: Any, why: str, *, action: Any = "replace",
               placeholder: bool = False) -> Suggestion | None:  # fmt: skip
        """Give fields of a part another value; None takes them away."""
        listed = list(fields)
        home = self.sheet.origin(block.path)
        if not home or not listed:
            return None
        at = tuple(
            home + field.removeprefix(block.path) if field.startswith(block.path) else field
            for field in listed
        )
        return replace(self._for, action=action, position=home, at=at, was=self.captured(at[0]), becomes=becomes, why=why,
                       placeholder=placeholder, call_id=self.call_id(block))  # fmt: skip

    def rename(self, n: int, block: Block, new: str, why: str) -> Suggestion | None:
        """Give a call, result or approval another call id."""
        listed = forms.id_fields(self.dialect, block)
        home = self.sheet.origin(self.sheet.turns[n].path)
        old = self.sheet.turns[n].path
        listed += [
            f"{home}{p.removeprefix(old)}.id" for p in forms.repeats(self.dialect, self.sheet.turns[n], block)
        ]
        return self.fields(block, listed, new, why, action="rename")

    def setting(self, key: str, value: Any, why: str, *, placeholder: bool = False) -> Suggestion:
        """Change what is sent beside the list."""
        was = self.sheet.request.history.settings.get(key)
        return replace(
            self._for, action="insert" if was is None else "replace", position=key, at=(key,), was=was, becomes=value,
            why=why, placeholder=placeholder,
        )  # fmt: skip


def together(loss: int, *suggestions: Suggestion | None) -> Iterator[Candidate]:
    """A candidate out of suggestions; none where one of them cannot be made."""
    made = tuple(s for s in suggestions if s is not None)
    if made and len(made) == len(suggestions):
        yield Candidate(made, loss)
