"""The fix of the report: a resume that brings messages finds what of them is stored already."""

from __future__ import annotations

from typing import Any

WHAT = "On a resume with messages the overlap of stored and sent ones is found, as on any other request."
WHERE = "agent_framework_ag_ui._agent:run_agent_stream"
WHY = "Stored and sent messages were put one after the other, as if a resume came without any."
EFFECTS = (
    "A retry with the transcript is answered from the results that were kept, and the model is not asked."
)

_PLAIN = "raw_messages = snapshot_session.resume_seeded_messages(raw_messages)\n            else:"
_JOINED = """raw_messages = (
                    _reconstruct_messages_from_thread_snapshot(
                        stored_messages=stored_snapshot.messages,
                        incoming_messages=raw_messages,
                        stored_interrupt=stored_snapshot.interrupt,
                    )
                    if raw_messages
                    else snapshot_session.resume_seeded_messages([])
                )
            else:"""
_OTHER = "elif not config.use_service_session:\n            raw_messages"
_MARKED = """elif not config.use_service_session:
            seeded_resume_from_snapshot = resume_payload is not None and bool(raw_messages)
            raw_messages"""
_RETAINED = "if retained_approval_results and not raw_messages:"
_HANDLED = "if retained_approval_results and not approval_resume_messages and not resume_messages:"


def apply(tools: Any) -> None:
    """Change the two branches that put messages together, and the one that answers a retry."""
    tools.rewrite(WHERE, _PLAIN, _JOINED)
    tools.rewrite(WHERE, _OTHER, _MARKED)
    tools.rewrite(WHERE, _RETAINED, _HANDLED)
