"""What the tests of replays share: recordings that were tampered with, and environments for live runs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from workbench.replay import recordings
from workbench.replay.engine.errors import BuildError, ReplayError


@pytest.fixture
def without_patch(tmp_path):
    """Recordings in which an arm was run without its patch, for all options: what a patch that does nothing gives."""

    def make(name: str, arm: str) -> Path:
        target = tmp_path / f"{name}-{arm}"
        shutil.copytree(recordings.BUNDLED / name, target / name)
        for release in (target / name).iterdir():
            if not release.is_dir():
                continue
            for folder in list(release.iterdir()):
                label, _, options = folder.name.partition(",")
                twin = release / ",".join(filter(None, ["unpatched", options]))
                if label == arm:
                    shutil.rmtree(folder)
                    if twin.exists():
                        shutil.copytree(twin, folder)
        return target

    return make


@pytest.fixture(scope="session")
def environment():
    """Build environments; skips where that cannot be, with the reason."""
    from workbench.replay.engine import environments

    def build(release: str, python: str | None = None, **named: str):
        try:
            return environments.build(release, python=python, **named)
        except BuildError as problem:
            pytest.skip(f"no environment for {release} here: {str(problem).splitlines()[-2][:200]}")
        except ReplayError as problem:
            pytest.skip(str(problem)[:200])

    return build
