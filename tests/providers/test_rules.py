"""Each rule that can refuse, on requests that its provider refuses and on near ones that it takes (`examples.py`)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from workbench.providers import RULES as KNOWN

sys.path.insert(0, str(Path(__file__).parent))
import examples
from examples import HI, OLLAMA, OPENAI, RULES, Refused, Taken, item, output, responses

REFUSED = [(rule, n, one) for rule, both in RULES.items() for n, one in enumerate(both.refused)]
TAKEN = [(rule, n, one) for rule, both in RULES.items() for n, one in enumerate(both.taken)]


def named(cases: list[Any]) -> list[str]:
    return [f"{rule}-{n}" for rule, n, _ in cases]


def har(url: str, body: Any, status: int = 0, answer: Any = None) -> bytes:
    """A capture between server and provider; with status 0 the answer is not in it."""
    content = {"mimeType": "application/json", "text": json.dumps(answer) if answer is not None else ""}
    entry = {
        "startedDateTime": "2026-03-01T10:00:00.000Z", "time": 5,
        "request": {"method": "POST", "url": url, "headers": [], "postData": {"mimeType": "application/json", "text": json.dumps(body)}},
        "response": {"status": status, "headers": [], "content": content},
    }  # fmt: skip
    return json.dumps({"log": {"version": "1.2", "entries": [entry]}}).encode()


def entrances(url: str, body: Any, provider: str) -> dict[str, wb.Findings]:
    """The same request through every door."""
    bare = json.dumps(body).encode()
    line = json.dumps({"url": url, "request": body}).encode() + b"\n"
    log = f"DEBUG:x:Request options: {{'url': {url!r}, 'json_data': {body!r}}}\n".encode()
    return {
        "a file, and the provider named": wb.check(wb.load(bare), provider=provider),
        "a HAR, by its address": wb.check(wb.load(har(url, body))),
        "a line of JSON with its address": wb.check(wb.load(line)),
        "a client's log": wb.check(wb.load(log)),
    }


def rejected(found: wb.Findings) -> list[Any]:
    return [f for f in found if f.rule == "provider-rejects"]


def test_every_rule_has_both_kinds_of_examples() -> None:
    elsewhere = {"R7"}  # needs two requests: below
    assert set(RULES) | elsewhere == set(KNOWN)
    assert all(both.refused and both.taken for both in RULES.values())


@pytest.mark.parametrize(("rule", "n", "one"), REFUSED, ids=named(REFUSED))
def test_it_is_refused_in_the_words_of_the_provider(rule: str, n: int, one: Refused) -> None:
    provider = KNOWN[rule].provider
    for door, found in entrances(one.url, one.body, provider).items():
        if one.url in (examples.GOOGLE_3, examples.DEEPSEEK, examples.BEDROCK_CLAUDE) and "named" in door:
            continue  # the address is what tells
        said = rejected(found)
        ours = [f for f in said if f"by {rule} " in f.message or f"by {rule}:" in f.message]
        assert len(ours) == 1, (door, [f.message for f in said])
        assert {f.message.split(" by ")[1].split()[0].strip(":") for f in said} <= {rule, *one.also}, door
        (finding,) = ours
        assert finding.severity == one.severity
        assert set(one.ids) <= set(finding.call_ids) | set(finding.approval_ids) | set(finding.other_ids)
        assert one.words in finding.message
        assert one.place in finding.message
        assert all(source in finding.message for source in KNOWN[rule].sources[:1])


@pytest.mark.parametrize(("rule", "n", "one"), TAKEN, ids=named(TAKEN))
def test_it_is_taken(rule: str, n: int, one: Taken) -> None:
    provider = KNOWN[rule].provider
    for door, found in entrances(one.url, one.body, provider).items():
        if "named" in door and one.url.endswith(":11434/v1/chat/completions"):
            continue  # the address is what tells
        assert rejected(found) == [], (door, one.why)


def test_a_call_without_its_reasoning_is_told_where_the_answer_is_in_the_capture() -> None:
    """R7: the first exchange gives reasoning and call, the second sends the call alone."""
    given = {"id": "resp_1", "output": [
        {"type": "reasoning", "id": "rs_1", "summary": []}, item("call_1", id="fc_1")]}  # fmt: skip
    for kept in ([], [{"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "eA=="}]):
        first = {"url": OPENAI, "status": 200, "request": responses(HI), "response": given}
        second = {"url": OPENAI, "request": responses(HI, *kept, item("call_1", id="fc_1"), output("call_1"))}
        found = rejected(
            wb.check(wb.load("".join(json.dumps(one) + "\n" for one in (first, second)).encode()))
        )
        assert [("R7" in f.message, f.call_ids) for f in found] == ([] if kept else [(True, ("call_1",))])
        assert all("without its required 'reasoning' item: 'rs_1'" in f.message for f in found)


@pytest.mark.parametrize("left_out", ["the call", "the result", "both ids"])
def test_ollama_pairs_nothing(left_out: str) -> None:
    """R30: its server takes calls without results and results without calls, so we stay silent."""
    messages = [
        examples.user(),
        examples.ollama_call({"bed": 3}),
        examples.ollama_result(),
        examples.user("Well?"),
    ]
    if left_out != "both ids":
        del messages[1 if left_out == "the call" else 2]
    body = examples.ollama(*messages)
    for found in entrances(OLLAMA, body, "ollama").values():
        assert rejected(found) == []


def test_deepseeks_rule_is_asked_at_its_address_alone() -> None:
    body = RULES["R10"].refused[0].body
    assert rejected(wb.check(wb.load(json.dumps(body).encode()))) == []
    assert rejected(wb.check(wb.load(json.dumps(body).encode()), provider="openai-responses")) == []
    for url in (
        "https://deepseek.com.example.test/v1/responses",
        "https://example.test/deepseek.com/v1/responses",
    ):
        assert rejected(wb.check(wb.load(har(url, body)))) == []
    assert len(rejected(wb.check(wb.load(har(examples.DEEPSEEK, body))))) == 1


def test_a_real_refusal_confirms_the_rule_that_predicted_it() -> None:
    one = RULES["R11"].refused[0]
    answer = {"error": {"message": one.words, "type": "invalid_request_error"}}
    (finding,) = rejected(wb.check(wb.load(har(one.url, one.body, 400, answer))))
    assert "R11" in finding.message
    assert "400" in finding.message


def test_a_refusal_that_nothing_predicted_is_shown_itself() -> None:
    answer = {"error": {"message": "The weather is bad today.", "type": "invalid_request_error"}}
    one = RULES["R11"].taken[0]
    found = wb.check(wb.load(har(one.url, one.body, 400, answer)))
    assert rejected(found) == []
    (finding,) = (f for f in found if f.rule == "provider-refused")
    assert "The weather is bad today." in finding.message
    assert finding.severity == "error"


def test_what_a_provider_took_is_no_finding_but_a_disagreement() -> None:
    from workbench.providers import verdicts

    one = RULES["R11"].refused[0]
    trace = wb.load(har(one.url, one.body, 200, {"choices": []}))
    assert rejected(wb.check(trace)) == []
    assert [verdict.word for verdict in verdicts(trace)] == ["disagrees"]
