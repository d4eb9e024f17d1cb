"""Servers for the tests of recording, ended by their own handles."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from servers import Recorder, Upstream


@pytest.fixture
def ended():
    """Processes that are ended after the test, whatever becomes of it."""
    started = []
    yield started.append
    for one in started:
        one.process.kill()
        one.process.wait()


@pytest.fixture
def upstream(tmp_path, ended):
    made = Upstream(tmp_path / "notes.jsonl")
    ended(made)
    return made


@pytest.fixture
def recorder(tmp_path, ended):
    """Start `workbench record`, into the folder `recording` of the test."""

    def start(*options):
        made = Recorder(tmp_path / "recording", *options)
        ended(made)
        return made

    return start
