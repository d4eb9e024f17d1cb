"""Others judge the shapes of our examples: botocore's service model, and the types of the OpenAI and Anthropic clients.

A near miss that no provider could be sent would prove nothing. `pytest tests/referees/test_shapes.py -s` prints
how many were judged.
"""

from __future__ import annotations

import copy
import json
import random
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from workbench.providers import RULES as KNOWN
from workbench.providers import bedrock
from workbench.readers.payloads import dialects

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "providers"))
from examples import RULES

EXAMPLES = [
    (rule, KNOWN[rule].provider, one.body)
    for rule, both in RULES.items()
    for one in (*both.taken, *both.refused)
]
#: refused by the shape alone, which is what these rules are about
SHAPELESS = {"R9"}


@cache
def model() -> Any:
    botocore = pytest.importorskip("botocore.session")
    return botocore.get_session().get_service_model("bedrock-runtime")


def converse_errors(body: Any) -> str:
    from botocore.validate import ParamValidator

    shape = model().operation_model("Converse").input_shape
    return str(ParamValidator().validate(body, shape).generate_report())


@cache
def judge(provider: str) -> Any:
    pydantic = pytest.importorskip("pydantic")
    if provider == "anthropic":
        params = pytest.importorskip("anthropic.types.message_create_params").MessageCreateParamsNonStreaming
    elif provider == "openai-chat":
        params = pytest.importorskip(
            "openai.types.chat.completion_create_params"
        ).CompletionCreateParamsNonStreaming
    else:
        params = pytest.importorskip(
            "openai.types.responses.response_create_params"
        ).ResponseCreateParamsNonStreaming
    return pydantic.TypeAdapter(params)


def of(*providers: str) -> list[tuple[str, str, Any]]:
    return [one for one in EXAMPLES if one[1] in providers]


def test_bedrock_bodies_are_what_botocore_would_send(capsys: pytest.CaptureFixture[str]) -> None:
    assert "Missing required parameter" in converse_errors({"modelId": "m", "messages": [{"role": "user"}]})
    judged = [rule for rule, _, body in of("bedrock") if converse_errors(body) == ""]
    assert judged == [rule for rule, _, _ in of("bedrock")]
    with capsys.disabled():
        import botocore

        print(
            f"\nbotocore {botocore.__version__}: {len(judged)} bodies of Converse have the shape of its service model"
        )


def test_ids_and_names_are_those_of_the_service_model() -> None:
    use, result = model().shape_for("ToolUseBlock").members, model().shape_for("ToolResultBlock").members
    for shape, ours in (
        (use["toolUseId"], bedrock.ID),
        (result["toolUseId"], bedrock.ID),
        (use["name"], bedrock.NAME),
    ):
        assert shape.metadata == {"min": 1, "max": bedrock.LONGEST, "pattern": ours}


@pytest.mark.parametrize("provider", ["openai-chat", "openai-responses", "anthropic"])
def test_bodies_have_the_shape_of_the_clients_types(
    provider: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from pydantic import ValidationError

    adapter, judged, refused = judge(provider), 0, []
    key = "input" if provider == "openai-responses" else "messages"
    for rule, _, body in of(provider):
        plain = {name: value for name, value in body.items() if name != "anthropic_version"}
        try:
            made = adapter.validate_python(plain)
            # the lists are lazy: their items are judged when they are asked for
            json.dumps(adapter.dump_python(made, mode="json", warnings=False))
            list(made[key]) if not isinstance(made[key], str) else None
        except ValidationError as problem:
            refused.append((rule, str(problem)[:300]))
        judged += 1
    assert [one for one in refused if one[0] not in SHAPELESS] == []
    with pytest.raises(ValidationError):
        adapter.validate_python({"model": 3, key: {"no": "list"}})
    with capsys.disabled():
        print(
            f"\n{provider}: {judged} bodies have the shape of the client's types, {len(refused)} are refused for it"
        )


def test_every_shape_of_converse_is_told_to_be_bedrocks() -> None:
    """Bodies made from the service model itself: each is read in the dialect, with all its blocks."""
    dice = random.Random(3)
    content = model().shape_for("ContentBlock").members
    assert {"text", "toolUse", "toolResult"} <= set(content)
    for number in range(300):
        calls = [f"tu_{number}_{n}" for n in range(dice.randint(1, 3))]
        spec = {"toolSpec": {"name": "water", "inputSchema": {"json": {"type": "object"}}}}
        body = {
            "modelId": "m",
            "messages": [
                {"role": "user", "content": [{"text": "x"}]},
                {"role": "assistant", "content": [{"toolUse": {"toolUseId": c, "name": "water", "input": {}}} for c in calls]},
                {"role": "user", "content": [
                    {"toolResult": {"toolUseId": c, "content": [dice.choice([{"text": "wet"}, {"json": {"wet": True}}])],
                                    "status": dice.choice(["success", "error"])}} for c in calls]},
            ],
            "toolConfig": {"tools": [spec]},
        }  # fmt: skip
        assert converse_errors(copy.deepcopy(body)) == ""
        history = dialects.read_body(body)
        assert history is not None
        assert history.dialect == "bedrock"
        assert [b.call_id for b in history.blocks("call")] == calls
        assert [b.call_id for b in history.blocks("result")] == calls
