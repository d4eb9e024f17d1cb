"""What stands where in the installed packages: reports name lines, and wheels have others."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any


def look(module: str, *, lines: list[int] | None = None, words: list[str] | None = None) -> dict[str, Any]:
    """The text of these lines of a module, by number, and the numbers of the lines that hold these words."""
    found = find_spec(module)
    if found is None or found.origin is None:
        return {"error": f"no module {module}"}
    text = Path(found.origin).read_text(encoding="utf-8").splitlines()
    return {
        "file": Path(found.origin).name,
        "lines": {str(n): text[n - 1].strip() if n <= len(text) else "" for n in lines or ()},
        "words": {word: [n for n, line in enumerate(text, 1) if word in line] for word in words or ()},
    }
