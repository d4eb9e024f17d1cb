"""The other defence that the report names, at the store: a message is kept once."""

from __future__ import annotations

from typing import Any

WHAT = "Leave out of the stored messages what stands there already under the same id."
WHERE = "agent_framework_ag_ui._snapshot_session:ThreadSnapshotSession.save"
WHY = "The list for the model is freed of duplicates, and the one that is stored is not."
EFFECTS = "The resumed run still streams the doubled list, and a client without message ids gains nothing."


def apply(tools: Any) -> None:
    """Thin out the messages on their way to the store."""

    def make(original: Any) -> Any:
        async def save(self: Any, *, messages: list[dict[str, Any]], **rest: Any) -> None:
            known: set[str] = set()
            kept = []
            for message in messages:
                name = str(message.get("id") or "")
                if name in known:
                    continue
                kept.append(message)
                if name:
                    known.add(name)
            await original(self, messages=kept, **rest)

        return save

    tools.wrap(WHERE, make, "snapshot=AGUIThreadSnapshot(\n                    messages=messages,")
