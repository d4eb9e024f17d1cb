"""Repairs of generated histories, in nine dialects before all seven providers."""

from __future__ import annotations

import json
import random
import subprocess
from copy import deepcopy
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import workbench as wb
from workbench.providers import PROVIDERS, verdicts
from workbench.providers.repair import Repair, apply, repair_suggestions
from workbench.providers.verdicts import request_of
from workbench.trace import Trace

from ..referees import test_mistral  # noqa: TID252 - its generator, without a package of tests
from .histories import DIALECTS, broken
from .judged import checked, only, refused, without

KEYS = {"openai-responses": "input", "gemini": "contents"}
SETTINGS = {"bedrock": {"toolConfig": {"tools": []}}}


def document(dialect: str, items: list[Any]) -> Any:
    """The list in what it is sent or kept in."""
    if dialect == "ag-ui":
        return {
            "threadId": "t",
            "runId": "r",
            "messages": items,
            "tools": [],
            "context": [],
            "state": {},
            "forwardedProps": {},
        }
    if not DIALECTS[dialect]:
        return {"messages": items}
    return {"model": "m", KEYS.get(dialect, "messages"): items, **SETTINGS.get(dialect, {})}


def load(dialect: str, body: Any) -> Trace:
    url = DIALECTS[dialect]
    return wb.load(json.dumps({"url": url, "request": body} if url else body).encode() + b"\n")


def again(dialect: str, repair: Repair, value: Any) -> Trace:
    """A repaired document as a trace of its own."""
    return load(dialect, document(dialect, value) if isinstance(value, list) else value)


@given(broken(), st.sampled_from(sorted(PROVIDERS)))
@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
def test_what_is_repaired_is_accepted(made: tuple[str, list[Any]], provider: str) -> None:
    """The findings are gone, none is new, the user's words are the same, and nothing could be left out."""
    dialect, items = made
    trace = load(dialect, document(dialect, items))
    if not trace.conversations:
        return
    before = refused(trace, provider)
    repairs = repair_suggestions(trace, provider)
    assert bool(repairs) == bool(before)
    if not before:
        return
    repair = repairs[-1]
    after = checked(repair)
    left = sorted(u.rule for u in repair.unmended)
    assert refused(again(dialect, repair, after), provider) == left
    assert only(before, left)
    assert not left or not repair.suggestions or len(left) < len(before)
    if not left:
        for suggestion in repair.suggestions:
            assert refused(again(dialect, repair, without(repair, suggestion)), provider), (
                f"{suggestion} is not needed"
            )


@given(broken(), st.sampled_from(sorted(PROVIDERS)))
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
def test_no_fewer_parts_could_simply_be_dropped(made: tuple[str, list[Any]], provider: str) -> None:
    """All ways of dropping fewer calls and results than a repair touches, up to two, are tried: none is enough."""
    dialect, items = made
    trace = load(dialect, document(dialect, items))
    if not trace.conversations or not refused(trace, provider):
        return
    repair = repair_suggestions(trace, provider)[-1]
    if repair.unmended or any(s.action == "rename" for s in repair.suggestions):
        return  # ids of a form that is not taken are renamed, not lost
    (verdict,) = list(verdicts(trace, provider))[-1:]
    history = request_of(trace, verdict.items, verdict.record).history
    paths = [
        b.path
        for t in history.turns
        for b in t.blocks
        if b.kind in ("call", "result") and b.path.endswith("]")
    ]
    template = repair.suggestions[0]
    for count in range(1, min(repair.parts, 3)):
        for chosen in combinations(paths, count):
            drops = [
                replace(template, action="drop", at=(path,), position=path, target="", becomes=None)
                for path in chosen
            ]
            after = again(dialect, repair, apply(repair.document, drops))
            assert refused(after, provider) or strays(after, provider), f"dropping {chosen} is enough"


def strays(trace: Any, provider: str) -> set[str]:
    """Ids of results that no call has: Gemini looks at names alone, and would take the result of another call."""
    (verdict,) = list(verdicts(trace, provider))[-1:]
    blocks = [b for t in request_of(trace, verdict.items, verdict.record).history.turns for b in t.blocks]
    made = {b.id for b in blocks if b.kind == "call"}
    return {b.id for b in blocks if b.kind == "result"} - made


@pytest.mark.parametrize("seed", [1, 20260921])
def test_histories_of_the_oracle_of_mistral(seed: int) -> None:
    """The same histories on which our rules and Mistral's own validator agree."""
    chance = random.Random(seed)
    mended = 0
    for _ in range(150):
        items = test_mistral.history(chance)
        if not any(m["role"] == "user" for m in items):
            continue
        trace = load("mistral", document("mistral", items))
        for repair in repair_suggestions(trace, "mistral"):
            after = again("mistral", repair, checked(repair))
            assert refused(after, "mistral") == sorted(u.rule for u in repair.unmended)
            mended += not repair.unmended
    assert mended > 60


@pytest.mark.skipif(not test_mistral.PYTHON, reason="MISTRAL_PYTHON names no environment with mistral-common")
def test_mistral_itself_takes_what_is_repaired() -> None:
    """All five versions of its validator; see tests/referees/test_mistral.py for its environment."""
    chance = random.Random(7)
    mended: list[Any] = []
    while len(mended) < test_mistral.COUNT:
        items = test_mistral.history(chance)
        repairs = repair_suggestions(load("mistral", document("mistral", items)), "mistral")
        mended += [checked(r)["messages"] for r in repairs if not r.unmended]
    done = subprocess.run(
        [test_mistral.PYTHON, str(Path(test_mistral.__file__).with_name("mistral_oracle.py"))],
        input="\n".join(map(json.dumps, mended)), capture_output=True, text=True, check=True,
    )  # fmt: skip
    release, *answers = map(json.loads, done.stdout.splitlines())
    refusals = [(a, m) for a, m in zip(answers, mended, strict=True) if any(a.values())]
    print(
        f"\nmistral-common {release}: {len(mended)} repaired histories, {len(refusals)} refused by any version"
    )
    assert not refusals, refusals[:2]


VALUES = [None, True, 0, "", [], {}, "x" * 70, "\x00", "\ud800x", [[]], [None], {"role": 3}, "a:1"]


def _spots(value: Any) -> list[tuple[Any, Any]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [spot for key, child in list(inner) for spot in ((value, key), *_spots(child))]


@pytest.mark.parametrize("seed", range(4))
def test_damaged_documents_are_repaired_or_left_alone(seed: int) -> None:
    """Values of any type in any place: nothing raises, and what is suggested can be applied."""
    chance = random.Random(seed)
    cases = Path(__file__).parents[1] / "data" / "cases"
    given_files = [
        json.loads(path.read_text(encoding="utf-8")) for path in sorted(cases.glob("*/input.json"))
    ]
    suggested = 0
    for _ in range(25):
        value = deepcopy(chance.choice(given_files))
        for _ in range(chance.randint(1, 3)):
            holder, key = chance.choice(_spots(value) or [({}, "")])
            if isinstance(holder, list) and chance.random() < 0.3:
                holder.insert(key, deepcopy(chance.choice(holder)))
            else:
                holder[key] = deepcopy(chance.choice(VALUES))
        trace = wb.load(json.dumps(value).encode())
        for provider in ("", *PROVIDERS):
            for repair in repair_suggestions(trace, provider):
                checked(repair)
                suggested += len(repair.suggestions)
    assert suggested
