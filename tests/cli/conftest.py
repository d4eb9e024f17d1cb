"""The command line, run in this process (fast) or in one of its own (as people run it)."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass

import pytest


@dataclass
class Done:
    code: int
    out: str
    err: str


@pytest.fixture
def cli():
    from typer.testing import CliRunner

    from workbench.cli import app

    def run(*arguments: str, stdin: bytes | None = None) -> Done:
        result = CliRunner().invoke(app, list(arguments), input=stdin)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Done(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def process():
    def run(*arguments: str, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "workbench", *arguments],
            input=stdin,
            capture_output=True,
            env={**os.environ, **environment},
        )

    return run
