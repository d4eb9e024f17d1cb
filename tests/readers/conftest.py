"""What the tests of readers may ask for."""

from __future__ import annotations

import os

import pytest


@pytest.fixture
def extremes() -> bool:
    """Whether the largest generated captures are wanted: they take minutes and gigabytes of disk."""
    return bool(os.environ.get("WORKBENCH_EXTREMES"))
