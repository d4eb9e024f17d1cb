"""From records to conversations: runs, call occurrences and approvals, joined over all signals."""

from __future__ import annotations

from workbench.calls.story import Story, build
from workbench.calls.texts import text_of

__all__ = ["Story", "build", "text_of"]
