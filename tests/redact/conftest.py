"""Every case and recording that the tests know, as named sets of files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"


def captures(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Cases as they stand, the recordings, and the cases of `more_cases.jsonl` written into `folder`."""
    for path in sorted((DATA / "cases").glob("*/")):
        yield path.name, sorted(map(str, path.glob("input*")))
    for pattern in ("formats/*", "formats/more/*", "telemetry/*/*"):
        for path in sorted(DATA.glob(pattern)):
            if path.is_file() and path.suffix != ".tsv":
                yield str(path.relative_to(DATA)), [str(path)]
    for path in sorted((ROOT / "traces").iterdir()):
        if path.suffix != ".md":
            yield f"traces/{path.name}", [str(path)]
    for number, line in enumerate((DATA / "more_cases.jsonl").read_text(encoding="utf-8").splitlines()):
        case = json.loads(line)
        home = folder / str(number)
        home.mkdir()
        for name, text in case["files"].items():
            (home / name).write_text(text, encoding="utf-8")
        yield case["name"], [str(home / name) for name in case["files"]]


@pytest.fixture(scope="session")
def all_captures(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, list[str]]]:
    return list(captures(tmp_path_factory.mktemp("cases")))
