"""Record a running app into a folder that `workbench.load` opens, also while it is being written.

`workbench.record(app)` is ASGI middleware, `workbench.recorder()` sits inside of an agent-framework agent, and
`workbench record` is a proxy and a receiver of telemetry (docs/recording.md).
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Package(ModuleType):
    """This package, which can be called: `workbench.record` is its name and that of the function.

    Importing any module from here makes Python set `workbench.record` to the package; the call stays the same.
    """

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """See `workbench.record.middleware.record`."""
        from workbench.record.middleware import record

        return record(*arguments, **named)


sys.modules[__name__].__class__ = _Package
