"""Progress of anything that takes over a second, on a terminal's standard error and nowhere else."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import Self

from workbench.report.plain import plain


class Progress:
    """Says what is going on once a second has passed; wipes its line when done.

    As a context manager around the work. An instance is called as the `progress` of
    `workbench.load`; `phase(text)` names what has no measure of its own.
    """

    def __init__(self, *, after: float = 1.0, every: float = 0.5) -> None:
        self._after, self._every = after, every
        self._shown = sys.stderr.isatty()
        self._text = "working"
        self._done = threading.Event()
        self._thread: threading.Thread | None = None
        self._written = False

    def __enter__(self) -> Self:
        if self._shown:
            self._started = time.monotonic()
            self._thread = threading.Thread(target=self._tell, daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        if self._thread:
            self._thread.join()
        if self._written:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def __call__(self, path: str, done: int, total: int) -> None:
        """Note how far reading has come, in bytes."""
        share = f" {100 * done // total} %" if total else f" {done:,} bytes"
        self._text = f"reading {path}{share}"

    def phase(self, text: str) -> None:
        """Note what is being done now."""
        self._text = text

    def _tell(self) -> None:
        if self._done.wait(self._after):
            return
        while True:
            seconds = time.monotonic() - self._started
            sys.stderr.write(f"\r\x1b[K{plain(self._text, 60)} … {seconds:.0f} s")
            sys.stderr.flush()
            self._written = True
            if self._done.wait(self._every):
                return
