"""Redacted captures show the same faults and no text of the original; over every case and recording.

`pytest tests/redact -s` prints the counts.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import workbench as wb
from workbench.findings import Finding
from workbench.report.redact import files, kept, redactor
from workbench.report.redact.document import _CODE, _ISO, _VERSION  # the closed forms that stay

sys.path.insert(0, str(Path(__file__).parent))
from values import Values, forms

KEY = b"a key for tests"
ID = re.compile(r"(?:^|[._-]|[a-z0-9])(?:[iI]ds?|ID)$")


def fault(finding: Finding, named: Callable[[str], str]) -> tuple[object, ...]:
    ids = (finding.call_ids, finding.approval_ids, finding.other_ids)
    return (
        finding.rule, finding.severity, finding.place, named(finding.thread_id), named(finding.run_id),
        *(tuple(map(named, group)) for group in ids),
    )  # fmt: skip


def may_stay(key: str, text: str, made: object, values: Values) -> bool:
    """The kept list: words of protocols and frameworks, names of fields, tools and events, times, versions."""
    low = text.lower()
    words = re.findall(r"[A-Za-z]+", text)
    return (
        low in kept.WORDS
        or text in made._tools
        or text in values.keys
        or ID.search(key) is not None
        or _ISO.fullmatch(text) is not None
        or text.isdigit()
        or (key in ("type", "event", "custom name", "role", "op", "path", "from", "name") and _plain(text))
        or (key == "code" and _CODE.fullmatch(text) is not None)
        or (_VERSION.fullmatch(text) is not None and "ersion" in key)
        or kept.ERROR_NAME.fullmatch(text) is not None
        or kept.LIBRARIES.match(text) is not None
        or not any(c.isalnum() for c in text)
        or bool(words) and all(word.lower() in kept.FRAMEWORK | {"error"} for word in words) and not re.search(r"\d", text)
        or key.lower() in ("content-type", "content-encoding", "accept", "cache-control", "transfer-encoding", "mimetype", "connection", "vary", "accept-encoding")
        or key.startswith(("gen_ai.", "ai.operationId", "langfuse.observation.type", "mlflow.spanType", "openinference.span.kind"))
        and _plain(text) and len(text) < 40
    )


def _plain(text: str) -> bool:
    return re.fullmatch(r"[\w./:-]{1,80}", text) is not None


def test_findings_stay_and_texts_go(all_captures: list[tuple[str, list[str]]], capsys: pytest.CaptureFixture[str]) -> None:
    counts: Counter[str] = Counter()
    differing: list[str] = []
    leaks: list[str] = []
    for name, paths in all_captures:
        trace = wb.load(*paths)
        made = redactor(trace, key=KEY)
        written = list(files.redacted(made, paths, trace))
        again = files.reloaded(written)
        before = Counter(fault(f, made.mapped) for f in wb.check(trace))
        after = Counter(fault(f, str) for f in wb.check(again))
        counts["captures"] += 1
        counts["findings"] += before.total()
        if before != after:
            differing.append(f"{name}: {list((before - after) or (after - before))[:2]}")
        values = Values()
        for path in paths:
            values.file(Path(path).read_bytes())
        free = {t for k, t in values.all() if len(t) >= 6 and not may_stay(k, t, made, values)}
        output = b"\n".join(_unpacked(item.data) for item in written)
        counts["texts"] += len(free)
        counts["forms"] += 8 * len(free)
        counts["bytes"] += len(output)
        leaks += [f"{name}: {text[:60]!r}" for text in free if any(form in output for form in forms(text))]
    with capsys.disabled():
        print("\nredaction:", ", ".join(f"{number:,} {word}" for word, number in counts.items()), f"; {len(differing)} differing, {len(leaks)} leaks")
    assert not differing
    assert not leaks
    assert counts["captures"] > 500
    assert counts["texts"] > 1000


def _unpacked(data: bytes) -> bytes:
    if data[:4] != b"PK\3\4":
        return data
    import io
    import zipfile

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return b"\n".join(name.encode() + b"\n" + archive.read(name) for name in archive.namelist())
