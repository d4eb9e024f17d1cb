"""What a model provider would refuse, what it refused, and where the two differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.findings import Finding
from workbench.providers import PROVIDERS, Refusal, Verdict, verdicts
from workbench.rules.calls.words import finding
from workbench.rules.registry import rule
from workbench.rules.slips import listed, named, quoted

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("provider-rejects", code="PRV001", severity="error", needs=("judged",))
def provider_rejects(trace: Trace) -> Iterator[Finding]:
    """A model provider would refuse this payload or history.

    Why it hurts: the turn ends with an error that names no cause, and because the history is
        sent again with every turn, so does every turn after it.
    No fault when: the provider took the payload (`provider-disagrees`), or what is missing
        stands in the provider's own storage. A payload is judged by the provider that its
        address shows, else by the family of its shape; other message lists only where a
        provider is asked for. A warning where only some models or versions refuse, or where
        the source is weak.
    What to do: look at the place that the finding names, in the framework's own list first:
        most of these faults are made before the request is.
    Example:
        {"model": "m", "messages": [
            {"role": "user", "content": "book desk 4"},
            {"role": "assistant", "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "book", "arguments": "{}"}}]},
            {"role": "user", "content": "thanks"}]}
    Sources: the page of each provider under docs/providers names one for every rule.
    """
    for verdict in verdicts(trace, trace.provider):
        if verdict.word == "disagrees":
            continue
        for refusal in verdict.refusals:
            yield _finding(trace, verdict, refusal, _message(verdict, refusal), refusal.severity)


@rule("provider-disagrees", code="PRV002", severity="info", needs=("payloads",))
def provider_disagrees(trace: Trace) -> Iterator[Finding]:
    """A payload breaks a rule of its provider, and the provider took it all the same.

    Why it hurts: it does not. It says that the rule is not true, or not any more, for this model.
    No fault when: the provider refused, or its answer is not in the capture (`provider-rejects`).
    What to do: nothing; or tell us, so that the rule can be corrected.
    Example:
        {"url": "https://api.openai.com/v1/chat/completions", "status": 200, "request": {"model": "m",
            "messages": [{"role": "tool", "tool_call_id": "call_1", "content": "9"}]}, "response": {"id": "r1"}}
    Sources: status codes of the providers.
    """
    for verdict in verdicts(trace):
        if verdict.word == "disagrees" and verdict.record is not None and verdict.record.answer is not None:
            for refusal in verdict.refusals:
                status = verdict.record.answer.status
                message = f"{_who(verdict)} answered {status} to a payload that its rule {refusal.rule.id} refuses: {refusal.rule.says}"
                yield _finding(trace, verdict, refusal, message, "info")


@rule("provider-refused", code="PRV003", severity="error", needs=("payloads",))
def provider_refused(trace: Trace) -> Iterator[Finding]:
    """A model provider refused a payload, and none of its rules says why.

    Why it hurts: the turn failed; the provider's own words are all there is to go by.
    No fault when: a rule predicted it: then `provider-rejects` quotes the answer.
    What to do: read the answer. It may be about anything in the request: a model, a tool's
        schema, a parameter.
    Example:
        {"url": "https://api.openai.com/v1/chat/completions", "status": 400, "request": {"model": "m",
            "messages": [{"role": "user", "content": "hello"}]},
            "response": {"error": {"message": "Unsupported value: 'temperature'"}}}
    Sources: status codes of the providers.
    """
    for verdict in verdicts(trace):
        record = verdict.record
        if verdict.word == "unpredicted" and record is not None and record.answer is not None:
            answer = record.answer
            named_ids = [p.call_id for p in verdict.items.parts if p.call_id and p.call_id in answer.error]
            status = f" with {answer.status}" if answer.status else ""
            message = f"{_who(verdict)} refused the payload of {named(verdict.items.run)}{status}: {quoted(answer.error, 300)}."
            yield finding(trace, verdict.items.run, message, verdict.items.at, calls=named_ids,
                          other_ids=(verdict.provider,), place="payload")  # fmt: skip


def _who(verdict: Verdict) -> str:
    return PROVIDERS[verdict.provider]


def _message(verdict: Verdict, refusal: Refusal) -> str:
    places = f" at {listed(refusal.paths)}" if refusal.paths else ""
    ids = f" for {listed(refusal.call_ids)}" if refusal.call_ids else ""
    note = f" ({refusal.note})" if refusal.note else ""
    word = "would refuse" if refusal.severity == "error" else "may refuse"
    answer = verdict.record.answer if verdict.record is not None else None
    said = ""
    if verdict.word == "confirmed" and answer is not None:
        status = f"{answer.status}: " if answer.status else ""
        said = f" It did: {status}{quoted(answer.error, 300)}."
    sources = ", ".join(refusal.rule.sources)
    return (
        f"{_who(verdict)} {word} the {verdict.items.place} of {named(verdict.items.run)} by {refusal.rule.id}{ids}{places}{note}: "
        f"{quoted(refusal.error, 400)}.{said} {refusal.rule.says} Source: {sources}."
    )


def _finding(trace: Trace, verdict: Verdict, refusal: Refusal, message: str, severity: str) -> Finding:
    others = (verdict.provider, refusal.rule.id, *refusal.others)
    return finding(trace, verdict.items.run, message, verdict.items.at, calls=refusal.call_ids, other_ids=others,
                   place=verdict.items.place, severity=severity)  # fmt: skip
