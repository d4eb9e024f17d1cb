"""The command line where its streams are closed, full or left early."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hostile_captures import call, finished, jsonl, started

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    file = tmp_path_factory.mktemp("capture") / "run.jsonl"
    file.write_bytes(
        jsonl([started(), *(e for i in range(400) for e in call(f"c{i}", end=False)), finished()])
    )
    return file


def ran(arguments, redirected):
    line = f"{sys.executable} -m workbench {arguments} {redirected}"
    return subprocess.run(line, shell=True, capture_output=True)


def test_a_closed_standard_input_is_said():
    done = ran("check -", "<&-")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"workbench: standard input is closed\n"


def test_a_closed_standard_error_sends_nothing_to_standard_output():
    done = ran("check nowhere.jsonl --format json", "2>&-")
    assert (done.returncode, done.stdout) == (2, b"")


def test_a_closed_standard_output_is_no_fault(capture):
    done = ran(f"check {capture}", ">&-")
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.parametrize("wanted", ["check", "check --format json", "show"])
def test_a_reader_that_stops_early_is_no_fault(capture, wanted):
    done = ran(f"{wanted} {capture}", "| head -c 10")
    assert done.stdout
    assert done.stderr == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_is_said(capture):
    done = ran(f"check {capture}", ">/dev/full")
    assert (done.returncode, done.stderr) == (2, b"workbench: No space left on device\n")
