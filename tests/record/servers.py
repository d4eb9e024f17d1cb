"""Processes for the tests of recording: a server, and `workbench record` before it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent


def until(what, seconds=20):
    """Wait for something to be true; what it gave."""
    end = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
    return found


class Upstream:
    def __init__(self, notes):
        self.notes_path = notes
        environment = {**os.environ, "UPSTREAM_NOTES": str(notes)}
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "upstream.py")], stdout=subprocess.PIPE, text=True, env=environment
        )
        self.url = f"http://127.0.0.1:{int(self.process.stdout.readline())}"

    def notes(self):
        text = self.notes_path.read_text() if self.notes_path.exists() else ""
        return [json.loads(line) for line in text.splitlines()]


class Recorder:
    """`workbench record` with ports that are free."""

    def __init__(self, folder, *options):
        self.folder = folder
        command = [sys.executable, "-m", "workbench", "record", *options, "--folder", str(folder)]
        self.process = subprocess.Popen(
            [*command, "--port", "0", "--provider-port", "0", "--otlp-port", "0"],
            stderr=subprocess.PIPE,
            text=True,
        )
        self.said = []
        while not self.said or "Ctrl-C" not in self.said[-1]:
            line = self.process.stderr.readline()
            assert line, self.said
            self.said.append(line)
        self.urls = re.findall(r"http://127\.0\.0\.1:\d+$", "".join(self.said), re.MULTILINE)

    @property
    def url(self):
        return self.urls[0]

    def stop(self):
        """Ask it to end, and wait for it."""
        self.process.terminate()
        self.process.wait(15)
        return self.process.returncode
