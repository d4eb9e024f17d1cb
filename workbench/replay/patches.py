"""What a patch says of itself, read without running it: the workbench never imports what a guest runs."""

from __future__ import annotations

import ast

from workbench.replay.engine.errors import ReplayError
from workbench.replay.specs import PATCHES, patch_file

_TOLD = ("WHAT", "WHERE", "WHY", "EFFECTS")


def names() -> list[str]:
    """The patches that come with the workbench."""
    return sorted(path.stem.replace("_", "-") for path in PATCHES.glob("[!_]*.py"))


def described(patch: str) -> dict[str, str]:
    """What a patch does, where, why, and with which side effects; keys in lower case."""
    path = patch_file(patch)
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, UnicodeDecodeError) as problem:
        raise ReplayError(f"{path} is no Python file: {problem}") from problem
    told = dict.fromkeys((name.lower() for name in _TOLD), "")
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            name = statement.targets[0].id
            if name in _TOLD:
                told[name.lower()] = str(ast.literal_eval(statement.value))
    return told
