"""The scripted model: what it says depends on what it was sent, by rules that are data.

An answer is `{"when": {...}, "text": "...", "calls": [{"tool": ..., "arguments": {...}}]}`. The first
one whose conditions all hold is given; each is given once unless it says `"repeat": true`:

- `calls`: how many tool calls the model has made so far
- `users`: how many user messages it was sent
- `result`: a regular expression that a result of its latest calls matches
- `missing`: true where its latest calls have no result in what it was sent

Where none fits, it answers with a marked filler instead of something that was meant for another
course of events.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

FILLER = "(The script has no answer for this input.)"


@dataclass
class View:
    """What a model was sent, whatever the provider: user texts, and the results by call id."""

    users: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    results: dict[str, str] = field(default_factory=dict)


@dataclass
class Call:
    """A call that the model makes."""

    id: str
    name: str
    arguments: str


@dataclass
class Answer:
    """One turn of the model."""

    text: str
    calls: list[Call]
    filler: bool = False


class Script:
    """The answers of one arm, and what has been said so far."""

    def __init__(self, answers: list[dict[str, Any]]) -> None:
        self._answers = answers
        self._used: set[int] = set()
        self._made: list[Call] = []
        self._latest: list[str] = []
        #: one entry per model call: the answer that was given and the results it was based on
        self.log: list[dict[str, Any]] = []

    def answer(self, view: View) -> Answer:
        """The answer to an input."""
        results = {call: view.results.get(call) for call in self._latest}
        for number, option in enumerate(self._answers):
            if number in self._used or not self._holds(option.get("when", {}), view, results):
                continue
            if not option.get("repeat"):
                self._used.add(number)
            made = [self._call(call) for call in option.get("calls", ())]
            self._latest = [call.id for call in made] or self._latest
            self.log.append({"answer": number, "results": results})
            return Answer(option.get("text", ""), made)
        self.log.append({"answer": None, "results": results})
        return Answer(FILLER, [], filler=True)

    def _holds(self, when: dict[str, Any], view: View, results: dict[str, str | None]) -> bool:
        known = [result for result in results.values() if result is not None]
        tests: dict[str, Callable[[Any], bool]] = {
            "calls": lambda wanted: len(self._made) == wanted,
            "users": lambda wanted: len(view.users) == wanted,
            "result": lambda wanted: any(re.search(wanted, result) for result in known),
            "missing": lambda wanted: wanted == bool(results and not known),
        }
        return all(tests[name](wanted) for name, wanted in when.items())

    def _call(self, call: dict[str, Any]) -> Call:
        number = sum(made.name == call["tool"] for made in self._made) + 1
        identity = call.get("id") or f"call_{call['tool']}_{number}"
        made = Call(identity, call["tool"], json.dumps(call.get("arguments", {}), ensure_ascii=False))
        self._made.append(made)
        return made
