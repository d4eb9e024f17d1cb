"""What the explorer is asked to show: the filters, and which calls fit them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from workbench.calls.conversation import Call
from workbench.model import PLACES, SEVERITIES

#: characters of a filter that are looked at; nobody types more
_LONGEST = 500
_OFFSET = re.compile(r"\+\s*(\d+(?:\.\d+)?)\s*s?")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d{1,9})?))?")


@dataclass(frozen=True, slots=True)
class Choice:
    """The filters as typed: parts of ids and names in any case; an empty one lets everything through.

    `since` and `until` are UTC ns, inclusive. `severity` lets that one and worse through.
    """

    thread: str = ""
    run: str = ""
    call: str = ""
    tool: str = ""
    severity: str = ""
    signal: str = ""
    text: str = ""
    since: int | None = None
    until: int | None = None

    @property
    def narrow(self) -> bool:
        """Something besides the thread is asked for."""
        asked = (self.run, self.call, self.tool, self.severity, self.signal, self.text)
        return any(asked) or self.since is not None or self.until is not None

    @property
    def severities(self) -> tuple[str, ...]:
        """The severities that pass."""
        return SEVERITIES[: SEVERITIES.index(self.severity) + 1] if self.severity else SEVERITIES

    def in_time(self, time: int | None) -> bool:
        """Whether a moment passes; what has no time does not, once a time is asked for."""
        if self.since is None and self.until is None:
            return True
        return (
            time is not None
            and (self.since is None or time >= self.since)
            and (self.until is None or time <= self.until)
        )


def read(asked: object, first: int | None) -> tuple[Choice, dict[str, str]]:
    """The filters that a page sent, and what is wrong with some of them, by name of the field.

    `first` is the first moment of the capture, UTC ns: `+12.5` and `10:30` count from it.
    """
    given = asked if isinstance(asked, dict) else {}
    words: dict[str, Any] = {
        name: value[:_LONGEST].strip().lower()
        for name in ("thread", "run", "call", "tool", "text")
        if isinstance(value := given.get(name), str)
    }
    for name, known in (("severity", SEVERITIES), ("signal", PLACES)):
        if given.get(name) in known:
            words[name] = given[name]
    wrong: dict[str, str] = {}
    for name in ("since", "until"):
        typed = given.get(name)
        if isinstance(typed, str) and typed.strip():
            try:
                words[name] = moment(typed[:_LONGEST], first, end=name == "until")
            except ValueError as error:
                wrong[name] = str(error)
    return Choice(**words), wrong


def moment(typed: str, first: int | None, *, end: bool = False) -> int:
    """A moment as people write it, as UTC ns: `+12.5` (seconds), `10:30:05`, `2026-05-01T10:30Z`.

    With `end` a second or minute that is not finer than that means its end. Raises `ValueError` with the forms.
    """
    if first is None:
        raise ValueError("the capture has no times")
    text = typed.strip()
    if offset := _OFFSET.fullmatch(text):
        return first + round(float(offset[1]) * 1e9)
    begin = datetime.fromtimestamp(first // 10**9, tz=UTC)
    try:
        if clock := _CLOCK.fullmatch(text):
            seconds = float(clock[3] or 0)
            when = begin.replace(hour=int(clock[1]), minute=int(clock[2]), second=0, microsecond=0)
            when += timedelta(seconds=seconds)
            coarse = 60 if clock[3] is None else 1 if "." not in clock[3] else 0
        else:
            when = datetime.fromisoformat(text)
            when = when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
            coarse = 86_400 if len(text) <= 10 else 0 if "." in text else 1
    except (ValueError, OverflowError):
        raise ValueError("write +12.5 (seconds), 10:30:05 or 2026-05-01T10:30:05Z") from None
    since = when - datetime(1970, 1, 1, tzinfo=UTC)
    whole = (since.days * 86_400 + since.seconds) * 10**9 + since.microseconds * 1000
    return whole + (coarse * 10**9 - 1 if end and coarse else 0)


def holds(part: str, texts: Iterable[str | None]) -> bool:
    """Whether a lower-case text occurs in one of the others."""
    return any(text and part in text.lower() for text in texts)


def ids(call: Call) -> list[str]:
    """Everything that a call is called: its id, its approvals, the call that it confirms."""
    return [call.id, *(approval.id for approval in call.approvals), call.synthetic_for or ""]


def runs(call: Call) -> set[str]:
    """Ids of the runs in which something happened to a call."""
    found = {call.run.run_id} | {start.run.run_id for start in call.starts}
    found |= {result.run.run_id for result in call.results}
    for approval in call.approvals:
        found |= {ask.run.run_id for ask in approval.asks}
        found |= {answer.run.run_id for answer in approval.answers}
    return found


def contents(call: Call) -> Iterable[str | None]:
    """All texts of a call, deltas joined."""
    yield call.tool
    yield from ids(call)
    yield call.arguments
    for result in call.results:
        yield result.content
    for approval in call.approvals:
        yield approval.arguments
        for ask in approval.asks:
            yield ask.question
            yield ask.reason


def numbers(value: Any, most: int) -> list[int]:
    """The numbers from 0 below `most` in a list that a page sent."""
    items = value if isinstance(value, list) else []
    return [
        item for item in items if isinstance(item, int) and not isinstance(item, bool) and 0 <= item < most
    ]
