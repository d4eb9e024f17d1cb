"""What the report on approvals of provider tools states, and what the released packages do.

The report names agent-framework-ag-ui 1.0.0rc7 with agent-framework-core 1.10.0.
"""

from __future__ import annotations

from workbench.replay.claims import Claims
from workbench.replay.scenarios.provider_tool_approval import observed, remedies
from workbench.replay.scenarios.provider_tool_approval.evidence import ARMS, SURVEY

__all__ = ["ARMS", "CLAIMS", "SURVEY"]

CLAIMS = Claims(*observed.claim.all, *remedies.claim.all)
