"""Ask the registry which releases there are, and which were released together.

    python -m workbench.replay.releases             # what is known
    python -m workbench.replay.releases --refresh   # ask, and write releases.json anew

Only the clients ask, with the configuration that they have: pip names the versions, and uv says when each
was published and what it resolves to with the packages of that day. A release is kept out where uv finds no
versions that fit. A row whose release has a lock stays as it is: recordings rest on it.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from workbench.replay.engine import releases, uv
from workbench.replay.engine.errors import BuildError, ReplayError

#: hours after which what belongs to a release is published too
_HOURS = 6
_PUBLISHED = re.compile(r"upload-time = ([0-9TZ:.+-]+)")


def published(package: str, version: str) -> datetime | None:
    """When the last file of a version was published; None where the index does not tell."""
    told = _compile([f"{package}=={version}"], "--no-deps", "--format", "pylock.toml")
    times = [datetime.fromisoformat(time) for time in _PUBLISHED.findall(told)]
    return max(times, default=None)


def paired(package: str, version: str, others: Sequence[str]) -> dict[str, str]:
    """The row of a release: `date`, and the versions of the other packages that fit and were there on that day.

    Raises `BuildError` in uv's words where none fit.
    """
    time = published(package, version)
    until: tuple[str, ...] = ()
    if time is not None:
        until = ("--exclude-newer", (time + timedelta(hours=_HOURS)).isoformat())
    told = _compile([f"{package}=={version}", *others], "--prerelease", "allow", *until)
    found = dict(re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", told, re.MULTILINE))
    day = {"date": time.date().isoformat()} if time is not None else {}
    return {**day, **{name: found[name] for name in others}}


def refreshed(family: str) -> dict[str, dict[str, str]]:
    """All rows of a family, asked anew, oldest first; the new ones are those from the oldest known on."""
    rows = releases.families()[family]
    others = [name for name in next(iter(rows.values())) if name != "date"]
    oldest = min((row["date"] for row in rows.values() if "date" in row), default="")
    made: dict[str, dict[str, str]] = {}
    for version in uv.versions(family):
        if releases.bundled(version, family).exists() and version in rows:
            made[version] = rows[version]
            continue
        try:
            row = paired(family, version, others)
        except BuildError as problem:
            _say(f"{version}: left out: {str(problem).strip().splitlines()[-1].strip()}")
            continue
        if row.get("date", "") < oldest:
            break
        _say(f"{version}: {row}")
        made[version] = row
    return dict(sorted(made.items(), key=lambda item: item[1].get("date", "")))


def _compile(wanted: Sequence[str], *options: str) -> str:
    with tempfile.TemporaryDirectory(prefix="workbench-releases-") as folder:
        asked = Path(folder) / "asked.in"
        asked.write_text("\n".join(wanted) + "\n", encoding="utf-8")
        return uv.run(
            "pip",
            "compile",
            "--quiet",
            "--no-header",
            "--no-annotate",
            "--python-version",
            "3.11",
            *options,
            asked,
        )


def _written(families: dict[str, dict[str, dict[str, str]]]) -> str:
    """A line per release, so that a difference can be read."""
    parts = []
    for family, rows in families.items():
        lines = ",\n".join(f"    {json.dumps(release)}: {json.dumps(row)}" for release, row in rows.items())
        parts.append(f"  {json.dumps(family)}: {{\n{lines}\n  }}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """List or refresh from the command line."""
    parser = argparse.ArgumentParser(prog="python -m workbench.replay.releases", description=__doc__)
    parser.add_argument("family", nargs="*", help="leading packages; all by default")
    parser.add_argument(
        "--refresh", action="store_true", help="ask the registry and write releases.json anew"
    )
    given = parser.parse_args(arguments)
    families = dict(releases.families())
    unknown = sorted(set(given.family) - set(families))
    if unknown:
        parser.error(f"no family is led by {', '.join(unknown)}; there are: {', '.join(families)}")
    try:
        for family in given.family or list(families):
            if given.refresh:
                families[family] = refreshed(family)
            for release, row in families[family].items():
                sys.stdout.write(f"{family} {release}: {', '.join(f'{k} {v}' for k, v in row.items())}\n")
    except ReplayError as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    if given.refresh:
        releases.DATA.write_text(_written(families), encoding="utf-8")
    return 0


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main())
