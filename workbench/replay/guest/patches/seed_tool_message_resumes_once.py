"""Ours: a decision in a tool message becomes a resume after the stored messages were put in front."""

from __future__ import annotations

from typing import Any

WHAT = "A decision that came in a tool message is no resume whose messages still lack what is stored."
WHERE = "agent_framework_ag_ui._agent:run_agent_stream"
#: where the function of newer releases keeps its body
INNER = "agent_framework_ag_ui._agent_run:_run_agent_stream"
WHY = "It is made a resume after the overlap was found, and at the end the stored messages are put in front again."
EFFECTS = "None known; the branch is reached by decisions in tool messages alone."

_MADE = "resume_payload, translated_message_ids, legacy_resume_error = legacy_resume\n"


def apply(tools: Any) -> None:
    """Say that the messages of such a run are seeded."""
    import agent_framework_ag_ui._agent_run as module

    where = INNER if hasattr(module, "_run_agent_stream") else WHERE
    tools.rewrite(
        where, _MADE, f"{_MADE}            seeded_resume_from_snapshot = stored_snapshot is not None\n"
    )
