"""Record the bundled arms anew: `python -m workbench.replay.record`, which is `make record`.

It runs everything that the notebooks look at, on every release of their tables, and puts the result into
the place of the bundled recordings; `--locks` resolves the pinned requirements anew before that.
"""

from __future__ import annotations

import argparse
import ast
import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from workbench.replay import claims, recordings
from workbench.replay.engine import releases
from workbench.replay.engine.errors import ReplayError
from workbench.replay.scenarios import names


def shown_releases(name: str) -> list[str]:
    """The releases that the notebook of a scenario shows, from its parameters cell."""
    book = Path(__file__).resolve().parents[2] / "notebooks" / f"{name.replace('-', '_')}.ipynb"
    for cell in json.loads(book.read_text(encoding="utf-8"))["cells"]:
        if "parameters" in cell["metadata"].get("tags", ()):
            for statement in ast.parse("".join(cell["source"])).body:
                if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "releases":
                    return list(ast.literal_eval(statement.value))
    raise ReplayError(f"{book} has no parameter `releases`")


def record(name: str, folder: Path) -> None:
    """Run all arms of a scenario and record them below a folder."""
    claims.gather(name, mode="live", releases=shown_releases(name), folder=folder, progress=_say)


def main(arguments: Sequence[str] | None = None) -> int:
    """Record from the command line."""
    parser = argparse.ArgumentParser(prog="python -m workbench.replay.record", description=__doc__)
    parser.add_argument("name", nargs="*", help="scenarios to record; all by default")
    parser.add_argument(
        "--locks", action="store_true", help="resolve the pinned requirements of all releases anew"
    )
    parser.add_argument("-o", "--output", type=Path, default=recordings.BUNDLED, metavar="FOLDER")
    given = parser.parse_args(arguments)
    try:
        if given.locks:
            known = [
                *releases.pairs(),
                *(release for family in releases.others().values() for release in family),
            ]
            for release in known:
                _say(f"resolving {release}")
                releases.bundled(release).write_text(releases.resolve(release), encoding="utf-8")
        for name in given.name or names():
            with tempfile.TemporaryDirectory(prefix="workbench-record-") as folder:
                record(name, Path(folder))
                target = given.output / name
                shutil.rmtree(target, ignore_errors=True)
                shutil.copytree(Path(folder) / name, target)
            _say(f"recorded {name} in {target}")
    except ReplayError as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    return 0


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main())
