"""What other hosts do, by the report: messages beside a resume are not read at all."""

from __future__ import annotations

from typing import Any

WHAT = "A resume of a stored thread goes on from what is stored, whatever messages come with it."
WHERE = "agent_framework_ag_ui._agent:run_agent_stream"
WHY = "The interrupt contract gives those messages no meaning, and the stored thread is authoritative."
EFFECTS = "A new user message that comes with the decision is lost."


def apply(tools: Any) -> None:
    """Seed the run with the stored messages alone."""
    tools.rewrite(
        WHERE,
        "raw_messages = snapshot_session.resume_seeded_messages(raw_messages)\n            else:",
        "raw_messages = snapshot_session.resume_seeded_messages([])\n            else:",
    )
