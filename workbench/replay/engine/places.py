"""Where things are kept: the user's cache, with its parts."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache() -> Path:
    """The folder of the workbench in the user's cache; `WORKBENCH_CACHE` puts it elsewhere."""
    chosen = os.environ.get("WORKBENCH_CACHE")
    if chosen:
        return Path(chosen).expanduser().absolute()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "agui-workbench"
