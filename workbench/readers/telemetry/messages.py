"""Messages inside telemetry, whatever convention wrote them, in one shape.

A message is `{"role", "direction", "parts"}` with direction `input` (what a model or agent was given)
or `output` (what it gave). A part is a dict with `type` and, as far as it says them:

- `text`, `reasoning`: `content`
- `tool_call`: `id`, `name`, `arguments` (text as written; JSON where they were structured), `hosted`
- `tool_call_response`: `id`, `name`, `response`, `hosted`
- `function_approval_request`: `id`, `function_call` {`id`, `name`, `arguments`}
- `function_approval_response`: `id`, `approved` (true, false or missing), `function_call`
- anything else: `type` and `content`

JSON that was cut off is read as far as its values are whole: an id that was cut is not there. Messages of such a
list have `cut`: true.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from workbench.readers.telemetry import openai_style, values
from workbench.readers.telemetry.cut_json import loads, read
from workbench.readers.telemetry.openai_style import Message, message
from workbench.readers.telemetry.rows import LogRow, SpanRow

#: Attributes that hold whole lists of messages as JSON: key → direction
_LISTS = {
    "gen_ai.input.messages": "input",
    "gen_ai.output.messages": "output",
    "gen_ai.prompt": "input",
    "gen_ai.completion": "output",
    "ai.prompt.messages": "input",
    "pydantic_ai.all_messages": "input",
    "all_messages_events": "input",
    "langfuse.observation.input": "input",
    "langfuse.observation.output": "output",
    "mlflow.spanInputs": "input",
    "mlflow.spanOutputs": "output",
    "gcp.vertex.agent.llm_request": "input",
    "gcp.vertex.agent.llm_response": "output",
}
_INDEXED = (
    # OpenInference, OpenLLMetry
    (
        re.compile(r"llm\.(input|output)_messages\.(\d+)\.message\.(.+)"),
        {"input": "input", "output": "output"},
    ),
    (re.compile(r"gen_ai\.(prompt|completion)\.(\d+)\.(.+)"), {"prompt": "input", "completion": "output"}),
)
_EVENT = re.compile(r"gen_ai\.(system|user|assistant|tool)\.message|gen_ai\.choice")
_OPERATION_DETAILS = "gen_ai.client.inference.operation.details"


def of_span(row: SpanRow) -> list[Message]:
    """The messages in the attributes and events of a span, inputs first."""
    found = list(_in_attributes(row.attributes))
    for event in row.events:
        attributes = event.get("attributes")
        if isinstance(attributes, dict):
            found += _in_event(str(event.get("name")), attributes, attributes)
    return sorted(found, key=lambda item: item["direction"] != "input")


def of_log(row: LogRow) -> list[Message]:
    """The messages that a log record carries: an event of the GenAI conventions, or a body like one."""
    body = row.body
    if isinstance(body, str):
        body = loads(body) if body[:1] == "{" else None
    found = list(_in_event(row.event or "", row.attributes, body))
    if found or not isinstance(body, dict) or row.event:
        return found
    # Aspire's command line drops the name of the event, and bodies become text
    if isinstance(body.get("message"), dict) and ("finish_reason" in body or "index" in body):
        return _in_event("gen_ai.choice", row.attributes, body)
    if isinstance(body.get("parts"), list) and isinstance(body.get("role"), str):
        return _whole(body, "input")
    if isinstance(body.get("tool_calls"), list):
        return _in_event("gen_ai.assistant.message", row.attributes, body)
    if isinstance(body.get("id"), str) and "content" in body:
        return _in_event("gen_ai.tool.message", row.attributes, body)
    return []


def _in_event(name: str, attributes: dict[str, Any], body: Any) -> list[Message]:
    if name == _OPERATION_DETAILS:
        inner = values.flat(body) if isinstance(body, dict) else {}
        return list(_in_attributes({**inner, **attributes}))
    if name.startswith("gen_ai.content."):
        return list(_in_attributes(attributes))
    kind = _EVENT.fullmatch(name)
    if kind is None:
        return []
    content = attributes.get("gen_ai.event.content")
    if isinstance(content, str):
        body = loads(content)
    if not isinstance(body, dict):
        return []
    if name == "gen_ai.choice":
        said = body.get("message")
        said = loads(said) if isinstance(said, str) and said[:1] == "{" else said
        body = {**body, **said} if isinstance(said, dict) else body
        return _whole({"role": "assistant", **body}, "output")
    role = kind[1]
    if role == "tool" and not isinstance(body.get("parts"), list):
        body = {**body, "tool_call_id": body.get("id", body.get("tool_call_id"))}
    return _whole({"role": role, **body}, "input")


def _in_attributes(attributes: dict[str, Any]) -> Iterator[Message]:
    for key, direction in _LISTS.items():
        held = attributes.get(key)
        if held is None:
            continue
        value, complete = read(held) if isinstance(held, str) else (held, True)
        if isinstance(value, dict):
            value = openai_style.unwrapped(value)
        for item in value if isinstance(value, list) else [value]:
            for made in _whole(item, direction) if isinstance(item, dict) else ():
                yield made if complete else {**made, "cut": True}
    for pattern, directions in _INDEXED:
        yield from _indexed(attributes, pattern, directions)
    yield from _vercel(attributes)


def _whole(item: dict[str, Any], direction: str) -> list[Message]:
    made = message(item, direction)
    return [made] if made is not None else []


def _indexed(
    attributes: dict[str, Any], pattern: re.Pattern[str], directions: dict[str, str]
) -> Iterator[Message]:
    """Messages that stand flattened: `….0.role`, `….0.tool_calls.1.name`."""
    gathered: dict[tuple[str, int], dict[str, Any]] = {}
    for key, value in attributes.items():
        found = pattern.fullmatch(key)
        if found is not None and len(found[2]) < 8:
            openai_style.put(gathered.setdefault((found[1], int(found[2])), {}), found[3].split("."), value)
    for (word, _), nested in sorted(gathered.items()):
        made = message(openai_style.listed(nested), directions[word])
        if made is not None:
            yield made


def _vercel(attributes: dict[str, Any]) -> Iterator[Message]:
    """What a model gave, as the Vercel AI SDK writes it."""
    calls = attributes.get("ai.response.toolCalls", attributes.get("ai.result.toolCalls"))
    text = attributes.get("ai.response.text", attributes.get("ai.result.text"))
    calls = loads(calls) if isinstance(calls, str) else calls
    content: list[dict[str, Any]] = []
    if isinstance(text, str) and text:
        content.append({"type": "text", "text": text})
    content += [{"type": "tool-call", **call} for call in calls or () if isinstance(call, dict)]
    if content:
        made = message({"role": "assistant", "content": content}, "output")
        if made is not None:
            yield made
