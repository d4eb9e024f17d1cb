"""How a view shows itself in a notebook: one fixed set of forms, the same everywhere.

JupyterLab and nbconvert pick one of the forms that an output offers. A picture inside
`text/html` is the only one that both show, trusted or not and without a network; Markdown or
Mermaid in the bundle would be preferred to it by one of them, so they are methods instead.
"""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

from workbench.views.text import escape

_WIDTH = re.compile(r'^<svg\b[^>]*? width="([0-9.]+)"')
#: the part of its width below which a picture is not drawn smaller: letters of 12 pixels are 9 then
_LEAST = 0.75


class Picture:
    """A view that is an SVG. Subclasses give `svg`, `alt` and the size in pixels."""

    @property
    def svg(self) -> str:
        """The picture, self-contained: no script, no outside reference."""
        raise NotImplementedError

    @property
    def alt(self) -> str:
        """What the picture shows, in a sentence."""
        raise NotImplementedError

    @property
    def html(self) -> str:
        """The picture as an `<img>`: as wide as its place lets it, to where it is still read; then it scrolls."""
        svg = self.svg
        data = base64.b64encode(svg.encode()).decode()
        own = _WIDTH.search(svg)
        width = float(own[1]) if own else 0.0
        size = f"width:100%;max-width:{width:.0f}px;min-width:{width * _LEAST:.0f}px;height:auto"
        return (
            f'<div style="overflow-x:auto"><img alt="{escape(self.alt)}" style="{size if own else "max-width:none"}" '
            f'src="data:image/svg+xml;base64,{data}"></div>'
        )

    def to_svg(self, path: str | Path) -> Path:
        """Write the picture to a file; returns its path."""
        target = Path(path)
        target.write_text(self.svg, encoding="utf-8")
        return target

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        bundle = {"text/html": self.html, "image/svg+xml": self.svg, "text/plain": self.alt}
        return chosen(bundle, include, exclude)

    def __repr__(self) -> str:
        return f"<{self.alt}>"


def chosen(bundle: dict[str, str], include: Any, exclude: Any) -> dict[str, str]:
    """The forms that the caller of `_repr_mimebundle_` asked for."""
    return {
        key: value
        for key, value in bundle.items()
        if (not include or key in include) and not (exclude and key in exclude)
    }
