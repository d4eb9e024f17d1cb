"""Check many captures: with a journal to go on from, progress to look at, and one answer at the end."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from workbench.fleet.captures import captures
from workbench.fleet.engines import Engine, local
from workbench.fleet.journal import Journal
from workbench.fleet.one import Asked
from workbench.fleet.summary import Fleet

#: told after each capture: done, all, seconds since the beginning, captures that were done before
Progress = Callable[[int, int, float, int], None]


def check_each(
    *sources: str,
    asked: Asked | None = None,
    engine: Engine | None = None,
    journal: str | Path | None = None,
    progress: Progress | None = None,
) -> Fleet:
    """Check every capture of the sources by itself.

    `engine` is `engines.local()` or `engines.dask()`; `journal` a file that the rows go to as they come, and
    that a later call with the same question goes on from. The rows of the answer are in the order of the
    captures' names, whatever the engine and however often it was interrupted.
    Raises `LoadError` for a source that is not there, `WorkbenchError` for a journal of another question.
    """
    question = asked or Asked()
    some = captures(sources)
    began = time.monotonic()
    with Journal(Path(journal), question) if journal else nullcontext() as kept:
        known = {row["key"]: row for row in kept.of(some)} if kept else {}
        before = len(known)
        left = kept.left(some) if kept else some
        for row in (engine or local())(left, question) if left else ():
            known[row["key"]] = row
            if kept:
                kept.add(row)
            if progress:
                progress(len(known), len(some), time.monotonic() - began, before)
    return Fleet([known[capture.key] for capture in some])
