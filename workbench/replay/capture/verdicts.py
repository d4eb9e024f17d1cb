"""What became of each finding of a recording on another release.

| verdict | when |
|---|---|
| same | the finding is there, before anything took another course |
| gone | it is not there, and what it needs was reached: its calls were made, answered, and given a result |
| not decidable | the conversation took another course before that; or readings disagree |
| injected | it is about an error of the model, which the replay brings along itself |
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from workbench.replay.capture.findings import Seen
from workbench.replay.capture.running import Run
from workbench.replay.guest.turns import FILLER

SAME, GONE, OPEN, INJECTED = "same", "gone", "not decidable", "injected"

_ERRORS = ("run-error", "run-error-hidden", "provider-refused", "provider-rejects")
#: Rules that speak of the form of an answer, which is not always that of the recording
_ABOUT_FORMS = ("result-is-decision",)
#: Rules that miss something: an end of the conversation before its time makes them speak
_MISSING = re.compile(r"unanswered|pending|not-executed|missing|not-closed|not-ended|lost|unbalanced|reasked")
_PLACEHOLDER = re.compile(r"^Error: Tool call invocation failed\.|^Tool execution skipped")


@dataclass(frozen=True)
class Verdict:
    """The verdict on one finding of the recording, with the reason."""

    finding: Seen
    word: str
    because: str = ""

    def __str__(self) -> str:
        calls = (
            f" {', '.join(self.finding.calls)}" if self.finding.calls else f" in step {self.finding.step + 1}"
        )
        return f"{self.word:13}  {self.finding.rule}{calls}" + (f": {self.because}" if self.because else "")


def judge(recorded: list[Seen], run: Run) -> tuple[list[Verdict], list[Seen]]:
    """Verdicts on the findings of a recording, and the findings of the run that are new."""
    live = {finding.key: finding for finding in run.findings}
    course = _Course(run)
    verdicts = [Verdict(finding, *course.verdict(finding, live.get(finding.key))) for finding in recorded]
    known = {finding.key for finding in recorded}
    new = [finding for finding in run.findings if finding.key not in known and course.solid(finding)]
    return verdicts, new


class _Course:
    """The course that a run took: up to where it is the recorded one."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._why = run.diverged or run.error
        #: the step in which it took another course; beyond all where it did not
        self._until = len(run.steps) - 1 if self._why else len(run.spec["steps"])
        self._row = self._divergence()
        rows = [
            (row, event)
            for exchange in run.exchanges
            for row, event in zip(exchange.rows, exchange.events, strict=True)
        ]
        rows = [(row, event) for row, event in rows if self._row is None or row < self._row]
        self._made = {event.get("toolCallId") for _, event in rows if event.get("type") == "TOOL_CALL_START"}
        self._given = {
            event.get("toolCallId")
            for _, event in rows
            if event.get("type") == "TOOL_CALL_RESULT" and not _PLACEHOLDER.match(str(event.get("content")))
        }
        self._forms = {number for number, step in enumerate(run.spec["steps"]) if "other_form" in step}
        self._injected = {
            number
            for number, turns in enumerate(run.spec["model"]["turns"])
            if any(
                "error" in content and turn.get("when") != "refused"
                for turn in turns
                for content in turn["contents"]
            )
        }

    def _divergence(self) -> int | None:
        """The row of the filler."""
        for exchange in self._run.exchanges:
            for row, event in zip(exchange.rows, exchange.events, strict=True):
                if event.get("type") == "TEXT_MESSAGE_CONTENT" and event.get("delta") == FILLER:
                    return row
        return None

    def solid(self, finding: Seen) -> bool:
        """Whether a finding of the run was there before it took another course."""
        if not self._why or finding.step < self._until:
            return not (self._why and _MISSING.search(finding.rule))
        return finding.step == self._until and self._before(finding) and not _MISSING.search(finding.rule)

    def _before(self, finding: Seen) -> bool:
        return self._row is not None and 0 <= finding.row < self._row

    def verdict(self, finding: Seen, live: Seen | None) -> tuple[str, str]:
        """The verdict on a finding of the recording, which `live` is in this run."""
        if finding.rule in _ERRORS and finding.step in self._injected:
            return INJECTED, "the replayed model fails because it did in the recording"
        if live is not None:
            return (SAME, "") if self.solid(live) else (OPEN, self._reason())
        if finding.rule in _ABOUT_FORMS and self._forms & set(range(finding.step + 1)):
            return OPEN, "the answer was given in another form"
        if not self._why:
            return GONE, ""
        unmade = [call for call in finding.calls if call not in self._made]
        if unmade:
            return OPEN, f"{unmade[0]} was not called"
        given = bool(finding.calls) and all(call in self._given for call in finding.calls)
        if 0 <= finding.step < self._until:
            # what was missing at the end is only there for certain if it was seen to come
            if _MISSING.search(finding.rule) and not given:
                return OPEN, self._reason()
            return GONE, ""
        if finding.step == self._until and given:
            return GONE, f"{finding.calls[0]} got a result"
        if finding.step == self._until and finding.rule in _ERRORS and self._unrefused():
            return GONE, "the history gives the provider no reason to refuse it"
        return OPEN, self._reason()

    def _unrefused(self) -> bool:
        """The model was called in the last step, with a history that a provider takes."""
        asked = self._run.inputs[-1] if self._run.steps else []
        return bool(asked) and not asked[-1]["refusal"]

    def _reason(self) -> str:
        return f"step {self._until + 1} takes another course"


def together(readings: list[list[Verdict]]) -> list[Verdict]:
    """One verdict for each finding where all readings say the same; else it is not decidable."""
    made = []
    for verdicts in zip(*readings, strict=True):
        words = list(dict.fromkeys(verdict.word for verdict in verdicts))
        first: Any = verdicts[0]
        made.append(
            first
            if len(words) == 1
            else Verdict(first.finding, OPEN, f"readings disagree: {', '.join(words)}")
        )
    return made
