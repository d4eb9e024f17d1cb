"""Apply patches at run time, inside this process only: the installed files stay as they are.

A patch is a Python file with `WHAT`, `WHERE`, `WHY`, `EFFECTS` (texts for people) and `apply(tools)`.
`apply` gets a `Patcher` and raises `DoesNotFitError` where the release is not what it was written for.
"""

from __future__ import annotations
import __future__

import importlib.util
import inspect
import linecache
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .spies import NotThereError, locate, place


class DoesNotFitError(Exception):
    """A patch that cannot be applied to this release; the message says why."""


class Patcher:
    """What a patch works with: it finds functions, tests that they are the expected ones, replaces them."""

    def __init__(self, name: str) -> None:
        self.name = name

    def find(self, at: str, *contains: str) -> Any:
        """The function at `package.module:name`, whose source has to contain these pieces."""
        try:
            _, _, function = locate(at)
        except NotThereError as problem:
            raise DoesNotFitError(f"patch {self.name}: {problem}") from problem
        source = inspect.getsource(inspect.unwrap(function))
        for piece in contains:
            if piece not in source:
                raise DoesNotFitError(
                    f"patch {self.name}: {at} of this release does not contain `{piece}`; "
                    "it was changed there, and the patch was not written for that"
                )
        return function

    def lacks(self, at: str, piece: str) -> None:
        """Refuse where a function, if there is one, has this piece of source: the release has a fix of its own."""
        try:
            _, _, function = locate(at)
        except NotThereError:
            return
        if piece in inspect.getsource(inspect.unwrap(function)):
            raise DoesNotFitError(
                f"patch {self.name}: {at} of this release has `{piece}`, which is its own fix"
            )

    def wrap(self, at: str, make: Callable[[Any], Any], *contains: str, everywhere: bool = False) -> None:
        """Put `make(original)` in place of a function; `everywhere` also where others have imported it."""
        original = self.find(at, *contains)
        changed = make(original)
        changed.__wrapped__ = original
        owner, name, _ = locate(at)
        setattr(owner, name, changed)
        if everywhere:
            for module in list(sys.modules.values()):
                if module is not owner and getattr(module, name, None) is original:
                    setattr(module, name, changed)

    def rewrite(self, at: str, old: str, new: str) -> None:
        """Compile a function again with one piece of its source replaced; `old` has to be there once."""
        self.find(at, old)
        owner, name, function = locate(at)
        plain = inspect.unwrap(function)
        source = textwrap.dedent(inspect.getsource(plain))
        if source.count(old) != 1:
            raise DoesNotFitError(f"patch {self.name}: `{old}` stands {source.count(old)} times in {at}")
        flags = __future__.annotations.compiler_flag
        changed = source.replace(old, new)
        file = f"<{place(function)} with {self.name}>"
        # so that tracebacks, spies and further patches see the source that runs
        linecache.cache[file] = (len(changed), None, changed.splitlines(keepends=True), file)
        code = compile(changed, file, "exec", flags, dont_inherit=True)
        made: dict[str, Any] = {}
        exec(code, plain.__globals__, made)  # noqa: S102 - our own patch of an installed function
        setattr(owner, name, made[plain.__name__])


def load(path: Path) -> Any:
    """The module of a patch file."""
    spec = importlib.util.spec_from_file_location(f"_patch_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise DoesNotFitError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    if not callable(getattr(module, "apply", None)):
        raise DoesNotFitError(f"{path} has no function apply(tools)")
    return module


def apply(paths: list[str], spec: dict[str, Any]) -> None:
    """Apply patches in the order given; `spec` is that of the arm, which a workaround may add to."""
    for path in map(Path, paths):
        module = load(path)
        tools = Patcher(path.stem.replace("_", "-"))
        if getattr(module, "NEEDS_SPEC", False):
            module.apply(tools, spec)
        else:
            module.apply(tools)
