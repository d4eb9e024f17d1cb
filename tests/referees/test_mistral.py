"""Mistral's own validator (mistral-common, mode serving) against ours, in both directions.

It runs in an environment of its own, which `make referee` makes; MISTRAL_PYTHON names another interpreter.
`MISTRAL_HISTORIES=5000 pytest -s tests/referees/test_mistral.py` prints the figures of docs/referees.md.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from workbench.providers import Request
from workbench.providers.mistral import VERSIONS, refused
from workbench.readers.payloads import chat

_OWN = Path(__file__).resolve().parents[2] / ".tools" / "mistral" / "bin" / "python"
PYTHON = os.environ.get("MISTRAL_PYTHON") or (str(_OWN) if _OWN.exists() else "")
COUNT = int(os.environ.get("MISTRAL_HISTORIES", "500"))


def history(chance: random.Random) -> list[dict[str, Any]]:
    """A conversation that keeps the rules, then perhaps broken in one or two places."""
    messages: list[dict[str, Any]] = (
        [{"role": "system", "content": "Be brief."}] if chance.random() < 0.3 else []
    )
    number = 0
    for _ in range(chance.randint(1, 3)):
        messages.append({"role": "user", "content": "go on"})
        for _ in range(chance.randint(0, 2)):
            ids = [f"Call{number + n:05d}" for n in range(chance.randint(1, 3))]
            number += len(ids)
            calls = [
                {"id": i, "type": "function", "function": {"name": "find", "arguments": "{}"}} for i in ids
            ]
            messages.append({"role": "assistant", "content": "", "tool_calls": calls})
            chance.shuffle(ids)
            messages += [{"role": "tool", "tool_call_id": i, "name": "find", "content": "9"} for i in ids]
        messages.append({"role": "assistant", "content": "done"})
    if chance.random() < 0.8:
        messages.pop()
    for _ in range(chance.choice((0, 1, 1, 2))):
        _break(messages, chance)
    return messages


def _break(messages: list[dict[str, Any]], chance: random.Random) -> None:
    if not messages:
        return
    at = chance.randrange(len(messages))
    message = messages[at]
    how = chance.randrange(6)
    if how == 0:
        del messages[at]
    elif how == 1:
        messages.insert(at, json.loads(json.dumps(message)))
    elif how == 2:
        messages.insert(chance.randrange(len(messages)), messages.pop(at))
    elif how == 3:
        messages.insert(at, {"role": chance.choice(("user", "system")), "content": "and"})
    else:
        own = chance.choice(("null", "", "call_12345678901234567890", "Call00000", "Call00001", "A-1"))
        if message["role"] == "tool":
            message["tool_call_id"] = own
        elif message.get("tool_calls"):
            chance.choice(message["tool_calls"])["id"] = own


def ours(messages: list[dict[str, Any]], version: int) -> list[str]:
    return refused(Request(chat.history({"messages": messages}, "mistral")), version)


@pytest.mark.skipif(not PYTHON, reason="no environment with mistral-common: make referee")
def test_ours_and_theirs_agree() -> None:
    chance = random.Random(20260921)
    histories = [h for h in (history(chance) for _ in range(2 * COUNT)) if h][:COUNT]
    done = subprocess.run(
        [PYTHON, str(Path(__file__).with_name("mistral_oracle.py"))],
        input="\n".join(map(json.dumps, histories)), capture_output=True, text=True, check=True,
    )  # fmt: skip
    release, *answers = map(json.loads, done.stdout.splitlines())
    assert len(answers) == len(histories) == COUNT
    counts: Counter[str] = Counter()
    differ = []
    for messages, answer in zip(histories, answers, strict=True):
        for version in VERSIONS:
            mine, theirs = ours(messages, version), answer[f"v{version}"]
            counts[
                "both refuse" if mine and theirs else "both accept" if not mine and not theirs else "differ"
            ] += 1
            if bool(mine) != bool(theirs):
                differ.append((version, mine, theirs, messages))
    print(f"\nmistral-common {release}, serving, V{VERSIONS}: {COUNT} histories, {dict(counts)}")
    assert not differ, differ[:3]
    assert min(counts["both refuse"], counts["both accept"]) > COUNT


def test_what_ours_says_of_plain_cases() -> None:
    call = {"id": "Call00001", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    result = {"role": "tool", "tool_call_id": "Call00001", "content": "9"}
    start = [{"role": "user", "content": "go"}, {"role": "assistant", "content": "", "tool_calls": [call]}]
    assert [ours([*start, result], v) for v in VERSIONS] == [[]] * len(VERSIONS)
    assert all(ours(start, v) == ["R31"] or "R31" in ours(start, v) for v in VERSIONS)
    assert [ours([*start, result, {**result, "tool_call_id": "x"}], v)[-1] for v in VERSIONS][-1] == "R33"
