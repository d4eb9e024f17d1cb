"""Reads a content of telemetry in JSON: lines, documents, or values amid other output."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from workbench.readers.reading import Reading
from workbench.readers.telemetry.dispatch import Telemetry
from workbench.readers.telemetry.framing import frames


@contextmanager
def without_gc() -> Iterator[None]:
    """Decoding makes nothing that needs the collector, which would cost more than the decoding."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def read(reading: Reading) -> None:
    """Read every value; lines of other text are counted and passed over."""
    telemetry = Telemetry(reading)
    with without_gc():
        for frame in frames(reading):
            if not frame.value:
                reading.ignore("other lines")
                continue
            why = telemetry.take(frame.data, frame.line, frame.offset)
            if why and not telemetry.damaged(why, frame.data, frame.line, frame.offset):
                reading.problem(why, line=frame.line, offset=frame.offset, data=frame.data)
            if why and frame.cut:
                reading.cut("the capture ends inside a JSON value")
