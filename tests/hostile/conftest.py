"""The tests of this folder share `hostile_captures`, a module beside them, and the command line in two forms."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@dataclass
class Done:
    code: int
    out: str
    err: str


@pytest.fixture
def cli():
    """The command in this process."""
    from typer.testing import CliRunner

    from workbench.cli import app

    def run(*arguments, stdin=None):
        result = CliRunner().invoke(app, list(arguments), input=stdin)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Done(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def process():
    """The command in a process of its own."""

    def run(*arguments, stdin=b"", **environment):
        return subprocess.run(
            [sys.executable, "-m", "workbench", *arguments],
            input=stdin,
            capture_output=True,
            env={**os.environ, **environment},
        )

    return run
