"""Parameters of a replay notebook as papermill passes them: `'false'`, `'007'` and lists as texts included."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from workbench.replay.arms import MODES
from workbench.replay.engine import releases as known
from workbench.replay.engine.errors import ReplayError
from workbench.replay.scenarios import family, scenario


def names(value: object) -> list[str]:
    """A list of names from a list, a text, a list written as a text, or nothing.

    `-p releases 1.10` arrives as the number 1.1 and cannot be told from that: numbers are refused.
    """
    if (
        value is None
        or value is False
        or (isinstance(value, str) and value.strip().lower() in ("", "none", "false"))
    ):
        return []
    if isinstance(value, str):
        text = value.strip()
        if text.startswith(("[", "(")):
            try:
                value = ast.literal_eval(text)
            except (ValueError, SyntaxError):
                value = [part.strip(" '\"") for part in text.strip("[]()").split(",")]
        else:
            value = [part.strip() for part in text.split(",")]
    if isinstance(value, bool | int | float):
        raise ReplayError(f"{value!r} is a number; pass names as texts: -y 'releases: [\"1.5.0\"]'")
    if not isinstance(value, Iterable):
        raise ReplayError(f"{value!r} is no list of names")
    listed = list(value)
    wrong = [item for item in listed if not isinstance(item, str)]
    if wrong:
        raise ReplayError(f"{wrong[0]!r} is no text; pass names as texts: -y 'releases: [\"1.5.0\"]'")
    return [item for item in listed if item]


def mode(value: object) -> str:
    """`recorded` or `live`."""
    text = str(value).strip().lower()
    if text not in MODES:
        raise ReplayError(f"mode is one of {', '.join(MODES)}, not {value!r}")
    return text


def releases(name: str, value: object) -> list[str]:
    """Releases of a notebook; the reported one is always among them."""
    asked = names(value)
    for release in asked:
        known.packages(release, family(name))
    reported = str(scenario(name)["release"])
    return asked if reported in asked else [reported, *asked]


def arms(name: str, value: object) -> list[str]:
    """Arms that are looked at; none named means all."""
    asked = names(value)
    declared = scenario(name)["arms"]
    for arm in asked:
        if arm not in declared:
            raise ReplayError(f"{name} has no arm {arm!r}; there are: {', '.join(declared)}")
    return asked
