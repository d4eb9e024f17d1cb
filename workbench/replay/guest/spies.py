"""Watch functions of the framework while they run: who was called, with what, and where it stands.

A spy is `{"at": "package.module:name", "tells": "tools"}`; `tells` names how arguments and result
become a line (`TELLERS`), and `by` who calls it, where that matters. A function that a release does not have is not watched, which is said.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import re
from collections.abc import Callable
from typing import Any

Note = Callable[[dict[str, Any]], None]


class NotThereError(LookupError):
    """The release has no function of that name."""


def locate(at: str) -> tuple[Any, str, Any]:
    """The owner, the name and the function of `package.module:Class.name`."""
    module, _, path = at.partition(":")
    try:
        owner: Any = importlib.import_module(module)
        *outer, name = path.split(".")
        for part in outer:
            owner = getattr(owner, part)
        return owner, name, getattr(owner, name)
    except (ImportError, AttributeError) as problem:
        raise NotThereError(f"{at} is not in this release") from problem


def place(function: Any) -> str:
    """File and line of a function, as `agent_framework/_tools.py:1625`."""
    code = inspect.unwrap(function).__code__
    if code.co_filename.startswith("<"):
        return str(code.co_filename.strip("<>"))
    file = code.co_filename.replace("\\", "/").rpartition("site-packages/")[2]
    return f"{file}:{code.co_firstlineno}"


def watch(spies: list[dict[str, Any]], note: Note) -> list[str]:
    """Put the spies in place; the ones that do not fit this release."""
    missing = []
    for spy in spies:
        try:
            owner, name, function = locate(spy["at"])
        except NotThereError:
            missing.append(spy["at"])
            continue
        setattr(owner, name, _spied(function, spy, note))
    return missing


def _spied(function: Any, spy: dict[str, Any], note: Note) -> Any:
    signature = inspect.signature(function)
    told = {"function": spy["at"].rpartition(":")[2], "by": spy.get("by", ""), "place": place(function)}
    tell = TELLERS[spy["tells"]]

    def arguments(given: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        try:
            return dict(signature.bind(*given, **named).arguments)
        except TypeError:
            return dict(named)

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def spied(*given: Any, **named: Any) -> Any:
            before = tell(arguments(given, named), None)
            result = await function(*given, **named)
            _note(note, {**told, **before, **tell({}, result)})
            return result

    else:

        @functools.wraps(function)
        def spied(*given: Any, **named: Any) -> Any:
            before = tell(arguments(given, named), None)
            result = function(*given, **named)
            _note(note, {**told, **before, **tell({}, result)})
            return result

    return spied


def _note(note: Note, told: dict[str, Any]) -> None:
    """Note what was seen; a teller marks as `quiet` what is of no interest."""
    if not told.get("quiet"):
        note(told)


def _names(tools: Any) -> list[str]:
    return [str(getattr(tool, "name", type(tool).__name__)) for tool in tools or ()]


def _call(content: Any) -> dict[str, Any]:
    inner = getattr(content, "function_call", None) or content
    return {
        "type": content.type,
        "call": getattr(inner, "call_id", None),
        "tool": getattr(inner, "name", None),
    }


def _tell_tools(arguments: dict[str, Any], result: Any) -> dict[str, Any]:
    """Tools offered, calls to execute, what came back."""
    told: dict[str, Any] = {}
    if "tools" in arguments:
        told["tools"] = _names(arguments["tools"])
    if "function_calls" in arguments:
        told["calls"] = [_call(content) for content in arguments["function_calls"]]
    if isinstance(result, tuple):
        result = result[0]
    if isinstance(result, list | tuple):
        flat = [item for part in result for item in (part if isinstance(part, list) else [part])]
        contents = [item for item in flat if hasattr(item, "type") and hasattr(item, "call_id")]
        if contents:
            told["returned"] = [
                {**_call(c), **({"result": str(c.result)} if c.type == "function_result" else {})}
                for c in contents
            ]
        elif flat or result == []:
            told["returned"] = _names(flat)
    return told


def _tell_provider(arguments: dict[str, Any], result: Any) -> dict[str, Any]:
    """A context provider that adds its tools; those are read from the context when it is done."""
    del result
    return {"provider": type(arguments["self"]).__name__} if "self" in arguments else {}


def _tell_emitted(arguments: dict[str, Any], result: Any) -> dict[str, Any]:
    """A content on its way to events: the call, what the flow remembers, and the events."""
    told: dict[str, Any] = {}
    content, flow = arguments.get("content"), arguments.get("flow")
    if content is not None:
        told["call"] = content.call_id
        told["arguments"] = str(content.arguments or "")
        told["replayed"] = bool(getattr(content, "user_input_request", False))
    if flow is not None:
        told["last"] = flow.tool_call_id
        told["known"] = sorted(flow.tool_calls_by_id)
    if result is not None:
        told["events"] = [re.sub(r".*\.", "", str(event.type)) for event in result]
    return told


def _tell_approvals(arguments: dict[str, Any], result: Any) -> dict[str, Any]:
    """Results and decisions of a list in their order, and the decisions that are taken from it."""
    told: dict[str, Any] = {}
    if "messages" in arguments:
        kinds = ("function_call", "function_result", "function_approval_response")
        told["list"] = [
            f"{content.type} {_call(content)['call']}"
            for message in arguments["messages"]
            for content in message.contents
            if content.type in kinds
        ]
    if isinstance(result, dict):
        told["taken"] = [_call(content)["call"] for content in result.values()]
    return told


TELLERS: dict[str, Callable[[dict[str, Any], Any], dict[str, Any]]] = {
    "tools": _tell_tools,
    "provider": _tell_provider,
    "emitted": _tell_emitted,
    "approvals": _tell_approvals,
}
