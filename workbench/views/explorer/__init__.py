"""The explorer: look through a capture in JupyterLab, from threads to raw records.

`explore` shows it; `session` answers what the page (`explorer.js`) asks, and works without one.
"""

from __future__ import annotations

from workbench.views.explorer.show import Explorer, explore

__all__ = ["Explorer", "explore"]
