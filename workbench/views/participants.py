"""Who takes part: the client, the agent and the tools, as lifelines from left to right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.views.steps import AGENT, CLIENT, MODEL, Step
from workbench.views.text import clean

OTHER = "other"
#: how many participants get a lifeline of their own
MAX_PARTICIPANTS = 12


@dataclass(slots=True, eq=False)
class Participant:
    """One lifeline. `role`: client, agent, model, client-tool, tool, other."""

    key: str
    name: str
    role: str
    note: str = ""


def participants(steps: Sequence[Step], limit: int = MAX_PARTICIPANTS) -> list[Participant]:
    """The lifelines that the steps need, from left to right: tools of the client, client, agent, model, tools.

    Beyond `limit` the tools used least share one lifeline, "other tools"; the steps are
    pointed at it.
    """
    used: dict[str, int] = {}
    for step in steps:
        for key in (step.source, step.target):
            used[key] = used.get(key, 0) + 1
    fixed = {CLIENT, AGENT} | ({MODEL} & used.keys())
    tools = [key for key in used if key not in fixed]
    keep = set(tools)
    if len(tools) + len(fixed) > limit:
        ranked = sorted(tools, key=lambda key: (-used[key], tools.index(key)))
        keep = set(ranked[: max(limit - len(fixed) - 1, 0)])
        for step in steps:
            step.source = step.source if step.source in keep | fixed else OTHER
            step.target = step.target if step.target in keep | fixed else OTHER
    kept = [key for key in tools if key in keep]
    made = [tool(key) for key in kept if key.startswith("client-tool:")]
    made += [Participant(CLIENT, "client", "client"), Participant(AGENT, "agent", "agent", _producers(steps))]
    if MODEL in fixed:
        made.append(Participant(MODEL, "model", "model", "model provider"))
    made += [tool(key) for key in kept if not key.startswith("client-tool:")]
    if len(kept) < len(tools):
        made.append(Participant(OTHER, "other tools", "other", f"{len(tools) - len(kept)} tools"))
    return made


def tool(key: str) -> Participant:
    """The lifeline of a tool, by its key."""
    role, _, name = key.partition(":")
    if not name:
        return Participant(key, "unknown tool", "tool", "no call seen")
    note = "runs in the client" if role == "client-tool" else "tool"
    return Participant(key, clean(name, 80), role, note)


def _producers(steps: Sequence[Step]) -> str:
    names = dict.fromkeys(step.run.producer for step in steps if step.run.producer != "unknown")
    return ", ".join(names)
