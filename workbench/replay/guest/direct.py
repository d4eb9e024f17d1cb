"""Messages of the framework from data, handed to a connector as an application would do it by itself.

`{"role": "tool", "contents": [{"type": "function_result", "call": "call_1", "result": "done"}]}`; the types are
the framework's: `text`, `text_reasoning`, `function_call`, `function_result`, `function_approval_request`,
`function_approval_response`.
"""

from __future__ import annotations

import json
from typing import Any


async def send(
    client: Any, messages: list[dict[str, Any]], options: dict[str, Any], *, kept: bool
) -> dict[str, Any]:
    """Send messages; with `kept` they come out of a history provider, which filters them before."""
    made = [_message(message) for message in messages]
    if kept:
        made = await _from_history(made)
    settled = [part["call"] for m in messages for part in m["contents"] if part["type"] == "function_result"]
    told: dict[str, Any] = {
        "sent": [[content.type for content in message.contents] for message in made],
        "settled": settled,
    }
    try:
        response = await client.get_response(made, stream=True, options=options).get_final_response()
    except Exception as problem:  # noqa: BLE001 - what the connector raises is what is looked for
        return {**told, "error": f"{type(problem).__name__}: {problem}"}
    return {**told, "text": response.text}


async def _from_history(messages: list[Any]) -> list[Any]:
    import agent_framework as af

    class Kept(af.HistoryProvider):  # type: ignore[misc]
        async def get_messages(self, *_: Any, **__: Any) -> list[Any]:
            return messages

        async def save_messages(self, *_: Any, **__: Any) -> None:
            return

    session = af.AgentSession(session_id="s")
    context = af.SessionContext(session_id="s", input_messages=[])
    await Kept("kept").before_run(agent=None, session=session, context=context, state={})
    return list(context.get_messages())


def _message(told: dict[str, Any]) -> Any:
    import agent_framework as af

    return af.Message(role=told["role"], contents=[_content(part) for part in told["contents"]])


def _content(part: dict[str, Any]) -> Any:
    from agent_framework import Content

    kind = part["type"]
    if kind == "text":
        return Content.from_text(part["text"])
    if kind == "text_reasoning":
        return Content.from_text_reasoning(protected_data=part["data"])
    if kind == "function_result":
        return Content.from_function_result(call_id=part["call"], result=part["result"])
    call = Content.from_function_call(
        call_id=part["call"], name=part["tool"], arguments=json.dumps(part.get("arguments", {})),
        **({"additional_properties": {"server_label": part["server"]}} if "server" in part else {}),
    )  # fmt: skip
    if kind == "function_approval_request":
        return Content.from_function_approval_request(id=part["call"], function_call=call)
    if kind == "function_approval_response":
        approved = part.get("approved", True)
        return Content.from_function_approval_response(approved=approved, id=part["call"], function_call=call)
    return call
