"""Option 1 of the report: the tools of context providers are known before approvals are carried out."""

from __future__ import annotations

from typing import Any

WHAT = "Ask the agent's context providers for their tools before approved calls are executed."
WHERE = "agent_framework_ag_ui._agent_run:_resolve_approval_responses"
WHY = "The transport executes approvals with the agent's own tools; those of providers exist only in the run."
EFFECTS = "`before_run` of every provider runs once more in a turn that carries an approval."


def apply(tools: Any) -> None:
    """Replace the function by one that extends its tools first."""
    import agent_framework as af

    def make(original: Any) -> Any:
        async def resolve(
            messages: Any, offered: Any, agent: Any, run_kwargs: Any, *rest: Any, **named: Any
        ) -> Any:
            answered = any(c.type == "function_approval_response" for m in messages for c in m.contents)
            session = run_kwargs.get("session")
            if answered and session is not None:
                context = af.SessionContext(session_id=session.session_id, input_messages=list(messages))
                for provider in getattr(agent, "context_providers", None) or ():
                    if isinstance(provider, af.HistoryProvider):
                        continue
                    state = session.state.setdefault(provider.source_id, {})
                    await provider.before_run(agent=agent, session=session, context=context, state=state)
                known = {tool.name for tool in offered or ()}
                offered = [*(offered or ()), *(tool for tool in context.tools if tool.name not in known)]
            return await original(messages, offered, agent, run_kwargs, *rest, **named)

        return resolve

    tools.wrap(WHERE, make, "if approved_responses and tools:")
