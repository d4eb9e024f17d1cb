"""What a kept file may be made of. It comes from a stranger: each value is looked at, and what has no use is left out.

`MalformedError` names the place of what cannot be used. What a guest does not need from the file, it does not get from there:
names of steps become names of files, schemas of tools are compiled, packages are asked for by name.
"""

from __future__ import annotations

from typing import Any

from workbench.replay.capture.derive import PACKAGES
from workbench.replay.capture.readings import KINDS, MOST, ORIGINS
from workbench.replay.capture.shapes import Json
from workbench.replay.capture.tools import described
from workbench.replay.guest.client import FORMS


class MalformedError(ValueError):
    """A value of a kept file that cannot be used."""


def of(value: Any, kind: type, place: str) -> Any:
    """The value, if it is of a kind; `bool` is no `int` here."""
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        names = {str: "a text", list: "a list", dict: "an object", int: "a number", bool: "true or false"}
        raise MalformedError(f"{place} is not {names[kind]}")
    return value


def each(value: Any, kind: type, place: str) -> list[Any]:
    """A list of values of one kind."""
    return [of(item, kind, f"{place}[{number}]") for number, item in enumerate(of(value, list, place))]


def one_of(value: Any, words: Any, place: str) -> str:
    """One of some words."""
    if not isinstance(value, str) or value not in words:
        raise MalformedError(f"{place} is none of {', '.join(words)}")
    return value


def member(held: Json, key: str, kind: type, place: str) -> Any:
    """A member that has to be there."""
    if key not in held:
        raise MalformedError(f"{place} has no {key}")
    return of(held[key], kind, f"{place}.{key}")


def lines(value: Any, steps: int, place: str) -> list[list[str]]:
    """Lines of text for each step."""
    made = [each(step, str, f"{place}[{number}]") for number, step in enumerate(of(value, list, place))]
    if len(made) != steps:
        raise MalformedError(f"{place} is of {len(made)} steps, and the conversation has {steps}")
    return made


def spec(told: Any) -> Json:
    """The parts of a spec that say something again; patches, snippets and middleware are code, and stay out."""
    told = of(told, dict, "spec")
    steps = [_step(step, number) for number, step in enumerate(member(told, "steps", list, "spec"))]
    if not steps:
        raise MalformedError("spec.steps is empty")
    turns = member(member(told, "model", dict, "spec"), "turns", list, "spec.model")
    if len(turns) != len(steps):
        raise MalformedError(
            f"spec.model.turns is of {len(turns)} steps, and the conversation has {len(steps)}"
        )
    endpoint = member(told, "endpoint", dict, "spec")
    kind = member(member(told, "agent", dict, "spec"), "kind", str, "spec.agent")
    calls = member(told, "calls", dict, "spec")
    return {
        "agent": {"kind": one_of(kind, KINDS, "spec.agent.kind")},
        "endpoint": {
            key: of(endpoint[key], bool, f"spec.endpoint.{key}")
            for key in ("require_confirmation", "snapshots")
            if key in endpoint
        },
        "tools": _tools(told),
        "packages": list(PACKAGES),
        "model": {
            "client": "recorded",
            "turns": [
                [_turn(turn, f"spec.model.turns[{number}]") for turn in each(step, dict, f"spec.model.turns[{number}]")]
                for number, step in enumerate(turns)
            ],
        },
        "steps": steps,
        "calls": {call: of(name, str, f"spec.calls.{call}") for call, name in calls.items()},
    }  # fmt: skip


def _tools(told: Json) -> list[Json]:
    made = [
        _tool(tool, f"spec.tools[{number}]")
        for number, tool in enumerate(each(told.get("tools"), dict, "spec.tools"))
    ]
    if len({tool["name"] for tool in made}) < len(made):
        raise MalformedError("spec.tools has two of one name")
    return made


def _tool(told: Json, place: str) -> Json:
    given = member(told, "calls", dict, place)
    made = {
        **described(member(told, "name", str, place)),
        "origin": one_of(told.get("origin"), ("static", "provider"), f"{place}.origin"),
        "gated": member(told, "gated", bool, place),
        "result": member(told, "result", str, place),
        "calls": {call: _given(what, f"{place}.calls.{call}") for call, what in given.items()},
    }
    if of(told.get("declared", False), bool, f"{place}.declared"):
        made["declared"] = True
    if "doubted" in told:
        made["doubted"] = each(told["doubted"], str, f"{place}.doubted")
    return made


def _given(told: Any, place: str) -> Json:
    key = "error" if "error" in of(told, dict, place) else "result"
    return {key: member(told, key, str, place)}


def _turn(told: Json, place: str) -> Json:
    contents = each(told.get("contents"), dict, f"{place}.contents")
    made: Json = {"contents": [_content(content, f"{place}.contents") for content in contents]}
    return made | {
        key: of(told[key], str, f"{place}.{key}") for key in ("response_id", "conversation_id") if key in told
    }


def _content(told: Json, place: str) -> Json:
    if "error" in told:
        error = member(told, "error", dict, place)
        return {"error": {key: member(error, key, str, f"{place}.error") for key in ("code", "message")}}
    if "usage" in told:
        return {"usage": told["usage"]}
    for keys in (("call", "name", "arguments"), ("reasoning", "id"), ("text",)):
        if keys[0] in told:
            return {key: member(told, key, str, place) for key in keys}
    raise MalformedError(f"{place} has something that a model does not say")


def _step(told: Any, number: int) -> Json:
    place = f"spec.steps[{number}]"
    request = member(of(told, dict, place), "request", dict, place)
    messages = request.get("messages")
    if isinstance(messages, dict):
        view = messages.get("view")
        if view is not None and not 0 <= of(view, int, f"{place}.request.messages.view") < number:
            raise MalformedError(f"{place}.request.messages.view is no earlier step")
        messages = {"view": view, "then": each(messages.get("then"), dict, f"{place}.request.messages.then")}
    else:
        each(messages, dict, f"{place}.request.messages")
    made: Json = {"name": f"step-{number + 1}", "request": {**request, "messages": messages}}
    if "answers" in told:
        answers = each(told["answers"], dict, f"{place}.answers")
        if not answers:
            raise MalformedError(f"{place}.answers is empty")
        made["form"] = one_of(told.get("form"), FORMS, f"{place}.form")
        made["answers"] = [_answer(answer, f"{place}.answers") for answer in answers]
    return made


def _answer(told: Json, place: str) -> Json:
    made = {
        "call": member(told, "call", str, place),
        "accepted": member(told, "accepted", bool, place),
        "payload": told.get("payload"),
    }
    return made | ({"only": True} if told.get("only") else {})


def readings(told: Any) -> list[Json]:
    """Readings with what the model was sent in each."""
    made = each(told, dict, "readings")
    # the gate tries as many again, with an endpoint that stores threads
    if not 0 < len(made) <= 2 * MOST:
        raise MalformedError(f"there are {len(made)} readings; the gate tries 1 to {2 * MOST}")
    return [_reading(reading, f"readings[{number}]") for number, reading in enumerate(made)]


def _reading(told: Json, place: str) -> Json:
    tools: Json = {}
    for name, how in member(told, "tools", dict, place).items():
        if len(of(how, list, f"{place}.tools.{name}")) != 2:
            raise MalformedError(f"{place}.tools.{name} is not an origin, and whether it is gated")
        origin = one_of(how[0], ORIGINS, f"{place}.tools.{name}")
        tools[name] = [origin, of(how[1], bool, f"{place}.tools.{name}")]
    flags = {
        key: of(told.get(key, False), bool, f"{place}.{key}") for key in ("idle", "doubt", "stored")
    }  # fmt: skip
    inputs = [
        [_input(asked, f"{place}.inputs[{number}]") for asked in each(step, dict, f"{place}.inputs[{number}]")]
        for number, step in enumerate(member(told, "inputs", list, place))
    ]  # fmt: skip
    return {
        "kind": one_of(told.get("kind"), KINDS, f"{place}.kind"), "tools": tools, **flags, "inputs": inputs,
    }  # fmt: skip


def _input(told: Json, place: str) -> Json:
    results = member(told, "results", dict, place)
    for call, result in results.items():
        if result is not None:
            of(result, str, f"{place}.results.{call}")
    refusal = told.get("refusal")
    return {
        "results": results,
        "refusal": refusal if refusal is None else of(refusal, str, f"{place}.refusal"),
    }


def finding(told: Json, place: str) -> Json:
    """The fields of a finding."""
    made = {key: member(told, key, str, place) for key in ("rule", "severity", "message")}
    made |= {key: member(told, key, int, place) for key in ("step", "nth")}
    return {**made, "calls": tuple(each(told.get("calls"), str, f"{place}.calls"))}


def assumption(told: Json, place: str) -> Json:
    """The fields of an assumption."""
    return {key: member(told, key, str, place) for key in ("about", "assumed", "evidence", "override")}
