"""Replay reported bugs on the released packages, unpatched and patched.

    arm = wb.replay("provider-tool-approval", arm="unpatched", release="1.0.0rc7")
    arm.step()                      # the first turn; look at it
    arm.run().findings              # the rest of it

`engine` builds environments and runs processes in them, `guest` is what runs there, `scenarios` are the
bugs, `arms` puts them together, `outcome` and `claims` judge, `compare` lays two of them side by side.

The package can be called, because `wb.replay` is the name of the function and of the folder.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Replay(ModuleType):
    def __call__(self, name: str, **options: Any) -> Any:
        """Prepare an arm: `workbench.replay.arms.replay`, which says what can be given."""
        from workbench.replay.arms import replay

        return replay(name, **options)


sys.modules[__name__].__class__ = _Replay
