"""`workbench redact`: write captures that still show the fault and nothing that is somebody's."""

from __future__ import annotations

import re
import sys
from pathlib import Path


def run(paths: list[str], output: Path, *, rename_tools: bool, patterns: list[str], force: bool) -> int | str:
    """Redact the captures into a file or folder; the exit code, or why nothing was done.

    One input goes into the file `output`, several into the folder of that name.
    """
    from workbench.report import redact
    from workbench.report.plain import count, plain
    from workbench.report.redact import files
    from workbench.report.unread import unread, unread_altogether
    from workbench.trace import load

    held = files.held(paths)
    trace = load(*held)
    for line in unread(trace):
        print(line, file=sys.stderr)
    if unread_altogether(trace):
        return "nothing could be read"
    try:
        redactor = redact.redactor(trace, rename_tools=rename_tools, patterns=patterns)
    except re.error as error:
        return f"--pattern is no regular expression: {error}"
    made = list(files.redacted(redactor, held, trace))
    written = [item for item in made if item.data]
    if not written:
        return "none of the inputs holds events, requests, spans or logs"
    folder = output.is_dir() or len(written) > 1
    targets = _targets(output, [item.name for item in written], folder=folder)
    for target in targets:
        if target.exists() and not force:
            return f"{target} is there already; --force replaces it"
    for item in made:
        if not item.data:
            print(f"workbench: {plain(item.label)}: {plain(item.note, 300)}", file=sys.stderr)
    if folder:
        output.mkdir(parents=True, exist_ok=True)
    for item, target in zip(written, targets, strict=True):
        target.write_bytes(item.data)
        note = f" ({item.note})" if item.note else ""
        print(f"Wrote {plain(target)}{plain(note, 300)}", file=sys.stderr)
    counts = redactor.report.counts
    said = ", ".join(
        count(counts[kind], kind.removesuffix("s"))
        for kind in ("texts", "ids", "numbers", "secrets")
        if kind in counts
    )
    print(f"Exchanged: {said or 'nothing'}.", file=sys.stderr)
    return 0


def _targets(output: Path, names: list[str], *, folder: bool) -> list[Path]:
    """Where each input goes; a name that comes again gets a number."""
    if not folder:
        return [output]
    seen: dict[str, int] = {}
    targets = []
    for name in names:
        safe = re.sub(r"[^\w.+-]", "_", name).lstrip(".")[-120:] or "capture"
        number = seen[safe] = seen.get(safe, 0) + 1
        targets.append(output / (safe if number == 1 else f"{number}-{safe}"))
    return targets
