"""The application's workaround of the report: a middleware turns the failed result back into an approval."""

from __future__ import annotations

from typing import Any

WHAT = "An agent middleware that replaces the transport's placeholder by the approval it stands for."
WHERE = "the agent's own middleware; the framework stays as it is"
WHY = "Inside of the run the tools of providers are there, and approval responses are executed."
EFFECTS = (
    "The client is still told the placeholder as the result, before the run begins, and keeps it in its "
    "history; only results of the last messages may be replaced, or an old one would be executed again."
)
NEEDS_SPEC = True
_PLACEHOLDER = "Error: Tool call invocation failed."


def apply(tools: Any, spec: dict[str, Any]) -> None:
    """Add the middleware to the agent of the arm."""
    import agent_framework as af
    from agent_framework_ag_ui._orchestration._tooling import collect_server_tools

    # it matters only where the transport gives up on an approval in this way
    tools.find(
        "agent_framework_ag_ui._agent_run:_resolve_approval_responses", "if approved_responses and tools:"
    )

    class Requeue(af.AgentMiddleware):  # type: ignore[misc]
        async def process(self, context: Any, call_next: Any) -> None:
            messages = list(context.messages)
            calls = {c.call_id: c for m in messages for c in m.contents if c.type == "function_call"}
            own = {tool.name for tool in collect_server_tools(context.agent)}
            last = len(messages)
            while last and str(getattr(messages[last - 1].role, "value", messages[last - 1].role)) == "tool":
                last -= 1
            for number in range(last, len(messages)):
                kept: list[Any] = []
                again: list[Any] = []
                for content in messages[number].contents:
                    call = calls.get(content.call_id) if content.type == "function_result" else None
                    failed = call is not None and str(content.result) == _PLACEHOLDER and call.name not in own
                    (again if failed else kept).append(content)
                if again:
                    answers = [
                        af.Content.from_function_approval_response(
                            approved=True, id=c.call_id, function_call=calls[c.call_id]
                        )
                        for c in again
                    ]
                    messages[number] = af.Message(role="user", contents=[*kept, *answers])
            context.messages = messages
            await call_next()

    spec["agent"].setdefault("middleware", []).insert(0, Requeue())
