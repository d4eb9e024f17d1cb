"""What became of an arm, in one word: computed from the findings of the rules and the executions alone.

| outcome | when |
|---|---|
| affected | the signature of the scenario is there |
| refused | the endpoint did not accept the person's answer |
| executed twice | a call was executed more than once |
| never executed | an approved call was not even tried, without the scenario's signature |
| other fault | a rule reports an error, or the provider refused a request; the rules are named |
| clean | none of these |
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass

from workbench.replay.arms import Replay
from workbench.replay.recordings import Step
from workbench.replay.scenarios import scenario

WORDS = ("clean", "affected", "refused", "never executed", "executed twice", "other fault", "not applicable")


@dataclass(frozen=True)
class Outcome:
    """One word, and what it was computed from."""

    word: str
    #: rules that report an error or a warning that counts, with how often
    rules: dict[str, int]
    executions: int
    questions: int
    #: words with which a model provider refused a request
    refusals: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.word


def outcome(arm: Replay) -> Outcome:
    """The outcome of an arm that was run to its end."""
    units = [step.told["unit"] for step in arm.steps if "unit" in step.told]
    if units:
        # a snippet says itself whether it shows the fault
        fits = all("error" not in told for told in units)
        shown = any(told.get("affected") for told in units)
        return Outcome("affected" if shown else "clean" if fits else "not applicable", {}, 0, 0)
    declared = scenario(arm.arm.scenario)
    signature = declared["signature"]
    errors = Counter(finding.rule for finding in arm.findings if finding.severity == "error")
    all_rules = Counter(finding.rule for finding in arm.findings)
    ran = Counter(told["call"] for told in arm.effects if "error" not in told)
    questions = len({call for step in arm.steps for call in step.told.get("cards", ())})
    refusals = tuple(
        _reason(text) for step in arm.steps for _, status, text in step.payloads if status >= 400
    )
    approved = any(step.told["form"] for step in arm.steps) and arm.arm.options.get("decision") != "reject"
    rejected_by_endpoint = any(step.told["form"] and _unheard(step) for step in arm.steps)
    # results that stood in a list already when it was handed to a connector
    settled = {call for step in arm.steps for call in step.told.get("settled", ())}
    if any(count > 1 or call in settled for call, count in ran.items()):
        word = "executed twice"
    elif all(rule in all_rules for rule in signature["rules"]) and len(ran) <= signature.get(
        "executions", len(ran)
    ):
        word = "affected"
    elif rejected_by_endpoint and not ran and not refusals:
        word = "refused"
    elif approved and not arm.effects and not refusals:
        word = "never executed"
    elif errors or refusals:
        word = "other fault"
    else:
        word = "clean"
    return Outcome(word, dict(errors), sum(ran.values()), questions, refusals)


def _unheard(step: Step) -> bool:
    """Whether the endpoint turned the request of a step down, by its status or by an error in the stream."""
    return any(status >= 400 or '"RUN_ERROR"' in text for _, status, text in step.runs)


def _reason(text: str) -> str:
    try:
        return str(json.loads(text)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return text
