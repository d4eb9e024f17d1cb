"""What would make a provider accept a message list: the fewest changes, as data, never applied by themselves.

Minimal means: among the changes that are known for each kind of refusal, as few touched parts (calls, results,
messages, settings) as the search finds; of equally few those that lose least; and none that could be left out.
No words of the user are touched, and nothing is refused afterwards that was not before.
"""

from __future__ import annotations

from workbench.providers.repair import details, ids, items, pairing  # noqa: F401 - each registers its ways
from workbench.providers.repair.edits import apply
from workbench.providers.repair.repairs import Repair, Repairs, repair_suggestions
from workbench.providers.repair.suggestion import Suggestion, Unmended

__all__ = ["Repair", "Repairs", "Suggestion", "Unmended", "apply", "repair_suggestions"]
