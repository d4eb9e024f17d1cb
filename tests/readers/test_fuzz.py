"""A short run of the mutation fuzz; the long one is a command (see fuzz.py)."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

PATH = Path(__file__).with_name("fuzz.py")
spec = importlib.util.spec_from_file_location("workbench_fuzz", PATH)
assert spec is not None
assert spec.loader is not None
fuzz = importlib.util.module_from_spec(spec)
spec.loader.exec_module(fuzz)


@pytest.mark.parametrize("seed", [7, 8])
def test_mutated_captures(seed, tmp_path):
    formats, slowest = fuzz.run(30, seed, inputs=1200, keep=tmp_path)
    assert formats.total() > 100
    assert len(formats) > 10, "the mutations hit the heads of the seeds too often to be worth much"
    assert slowest < 10


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(range(len(fuzz.seeds()))), st.data())
def test_one_stretch_replaced(number, data):
    """What hypothesis makes of a capture is smaller than what chance does, and shrinks."""
    capture = fuzz.seeds()[number]
    at = data.draw(st.integers(0, len(capture)))
    size = data.draw(st.integers(0, 40))
    new = data.draw(st.one_of(st.binary(max_size=8), st.sampled_from(fuzz.STRUCTURE)))
    fuzz.check(capture[:at] + new + capture[at + size :])


def test_every_seed_passes_as_it_is():
    for capture in fuzz.seeds():
        records = fuzz.check(capture)
        assert records.sources[0].format != "unknown"
