"""The bundled captures, found in a checkout and in an installed wheel."""

from __future__ import annotations

from pathlib import Path


def folder() -> Path | None:
    """Where the bundled captures are: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    for place in (package / "traces", package.parent / "traces"):
        if place.is_dir():
            return place
    return None


def _name(path: Path) -> str:
    """A capture's name: that of its file or folder, up to the first dot."""
    return path.name.partition(".")[0]


def _captures() -> list[Path]:
    place = folder()
    if place is None:
        return []
    return sorted(
        path
        for path in place.iterdir()
        if not path.name.startswith((".", "_")) and path.suffix not in (".md", ".py")
    )


def samples() -> tuple[str, ...]:
    """Names for `sample:NAME`, sorted."""
    return tuple(sorted({_name(path) for path in _captures()}))


def find(name: str) -> list[Path]:
    """The files or folders of a bundled capture, by its name or file name; empty where there is none."""
    captures = _captures()
    exact = [path for path in captures if path.name == name]
    return exact or [path for path in captures if _name(path) == name]
